"""The reference and every right solution of rope, against complex numbers in extended precision.

The oracle multiplies complex long doubles, whose pairs are given by two lists of entries; nothing
of the drill's own algorithm is repeated.
The figures that prompt, hints, feedback and follow-ups quote are at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.explain.session import GradingSession
from tests import corpus
from tests.harness import Array, Program, assert_close, each, named, normal, variants

variant = variants(__file__)
# Right solutions are off by 6e-15 and 3e-7 near position 0, and by 1.2e-10 and 8e-8 far out.
NEAR = {"float64": 1e-13, "float32": 1e-6}
FAR = {"float64": 1e-8, "float32": 1e-6}


def drawn(seed: int, *shape: int, count: int = 3, dtype: str = "float64") -> list[Array]:
    return normal([seed, *shape], *[shape] * count, dtype=dtype)


def oracle(
    x: Array, positions: Array, base: float = 1e4, width: int | None = None, *, gap: int = 0
) -> Array:
    """X with its pairs turned, as long doubles; pairs are `gap` apart, half the width if 0."""
    width = x.shape[-1] if width is None else width
    gap = gap or width // 2
    first = [i for i in range(width) if i // gap % 2 == 0]
    second = [i + gap for i in first]
    rows = np.broadcast_to(positions, (x.shape[0], x.shape[2])).astype(np.longdouble)
    speed = np.longdouble(base) ** (-2 * np.arange(width // 2, dtype=np.longdouble) / width)
    turn = np.exp(1j * (rows[:, None, :, None] * speed))
    out = x.astype(np.longdouble)
    z = (out[..., first] + 1j * out[..., second]) * turn
    out[..., first], out[..., second] = z.real, z.imag
    return out


def neighbors(x: Array, positions: Array) -> Array:
    """X with its neighbors turned, as the checkpoint of part 3 does, in float64."""
    return oracle(x, positions, gap=1).astype(np.float64)


UP = np.arange(5)
PLACES = [
    (UP, {}),
    (np.array([3, 0, 12, 5, 5]), {}),
    (np.array([[7, 8, 9, 10, 11], [0, 2, 4, 1, 3]]), {}),
    (UP + 30, {"base": 5e5}),
    (UP, {"width": 2}),
    (np.array([[7, 8, 9, 10, 11], [0, 2, 4, 1, 3]]), {"base": 700.0, "width": 6}),
    (UP, {"width": 10}),
]


@each("dtype", ["float64", "float32"])
@each(("positions", "settings"), PLACES)
def test_every_right_solution_turns_as_complex_numbers_do(
    program: Program, positions: Array, settings: dict[str, Any], dtype: str
) -> None:
    q, k, v = drawn(0, 2, 3, 5, 10, dtype=dtype)
    new_q, new_k, same = program.rotate(q, k, v, positions, **settings)
    for new, old in ((new_q, q), (new_k, k)):
        assert new.dtype == dtype
        assert new.shape == old.shape
        assert np.abs(new - oracle(old, positions, **settings)).max() < NEAR[dtype]
        width = settings.get("width", 10)
        np.testing.assert_array_equal(new[..., width:], old[..., width:])
    np.testing.assert_array_equal(same, v)


@each("dtype", ["float64", "float32"])
@each("d", [2, 6, 64])
def test_every_right_solution_is_right_far_out(program: Program, d: int, dtype: str) -> None:
    q, k, v = drawn(1, 1, 2, 4, d, dtype=dtype)
    positions = np.array([4097, 100003, 999983, 1000003])
    q_turned, k_turned, _ = program.rotate(q, k, v, positions)
    for new, old in ((q_turned, q), (k_turned, k)):
        assert np.abs(new - oracle(old, positions)).max() < FAR[dtype] * np.abs(old).max()


@each(("heads", "d", "rows"), [(3, 8, 24), (2, 6, 7), (1, 10, 3), (4, 2, 5)])
def test_every_right_solution_converts_to_the_scores_of_the_checkpoint(
    program: Program, heads: int, d: int, rows: int
) -> None:
    (x,) = drawn(3, 2, 5, rows, count=1)
    weights = drawn(4, rows, heads * d, count=2)
    biases = drawn(5, heads * d, count=2)
    old, new = [], []
    for w, b in zip(weights, biases, strict=True):
        old.append(neighbors(split(x @ w + b, heads), UP))
        new.append(split(x @ program.convert(w, heads) + program.convert(b, heads), heads))
    q, k, _ = program.rotate(*new, new[0], UP)
    wanted = old[0] @ old[1].swapaxes(2, 3)
    assert np.abs(q @ k.swapaxes(2, 3) - wanted).max() < 1e-13 * np.abs(wanted).max()
    assert program.convert(weights[0].astype("float32"), heads).dtype == "float32"


def split(a: Array, heads: int) -> Array:
    batch, n, width = a.shape
    return a.reshape(batch, n, heads, width // heads).transpose(0, 2, 1, 3)


# What the text says.

SOUND = [
    "interleaved",
    "exponent-per-pair",
    "exponent-doubled",
    "exponent-from-one",
    "exponent-to-the-end",
    "base-inverted",
    "angle-sign",
    "position-from-one",
    "partial-at-the-end",
]
UNSOUND = ["mixed-pairing", "mixed-pairing-of-neighbors", "half-unsigned", "half-overwritten"]


def lengths_change(program: Program) -> float:
    q, k, v = drawn(10, 2, 3, 5, 8)
    new = program.rotate(q, k, v, UP)[0]
    return float(np.abs(np.linalg.norm(new, axis=-1) - np.linalg.norm(q, axis=-1)).max())


def scores_change(program: Program, by: int = 37) -> float:
    q, k, v = drawn(10, 2, 3, 5, 8)
    near, far = program.rotate(q, k, v, UP), program.rotate(q, k, v, UP + by)
    return float(np.abs(near[0] @ near[1].swapaxes(2, 3) - far[0] @ far[1].swapaxes(2, 3)).max())


def test_what_lengths_and_distances_catch_and_what_not(reference: Program) -> None:
    for sound in (reference, *map(variant, SOUND)):
        assert lengths_change(sound) < 1e-14
        assert scores_change(sound) < 1e-9
    for name in UNSOUND:
        assert lengths_change(variant(name)) > 0.1
        assert scores_change(variant(name)) > 0.1
    assert lengths_change(variant("queries-only")) < 1e-14
    assert scores_change(variant("queries-only")) > 0.1
    wrong = [*SOUND[:-1], *UNSOUND, "queries-only"]
    q, k, v = drawn(11, 2, 3, 5, 8)
    right = reference.rotate(q, k, v, UP)
    for name in wrong:
        new = variant(name).rotate(q, k, v, UP)
        assert max(np.abs(a - b).max() for a, b in zip(new, right, strict=True)) > 0.05


def matrix(program: Program, position: int, d: int) -> Array:
    """What turns a vector to a position, (d, d)."""
    rows = np.eye(d)[:, None, None]
    turned: Array = program.rotate(rows, rows, rows, np.array([position]))[0][:, 0, 0]
    return turned


def agreement(programs: tuple[Program, Program], m: int, s: int, d: int) -> float:
    """The correlation of right and wrong scores of random vectors at two positions.

    For independent normal q and k, those of q A k and q B k correlate by <A, B> / (|A| |B|).
    """
    both = []
    for program in programs:
        both.append(matrix(program, m, d) @ matrix(program, s, d).T)
    a, b = both
    return float((a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b))


def test_the_scores_of_the_prompt(starter: Program, reference: Program) -> None:
    both = starter, reference
    found = [round(agreement(both, *at, 128), 2) for at in ((1, 0), (20, 10), (10, 20))]
    assert found == [0.98, 0.47, 0.47]


@each("d", [2, 8, 128])
def test_tables_in_float32_are_close_enough_for_part_1(d: int) -> None:
    (q,) = drawn(19, 2, 3, 100, d, count=1)
    angles = np.arange(100, dtype="float32")[:, None] * (
        1 / np.float32(1e4) ** (np.arange(0, d, 2, dtype="float32") / d)
    )
    cos, sin = np.cos(np.tile(angles, 2)), np.sin(np.tile(angles, 2))
    assert cos.dtype == np.float32
    half = np.concatenate([-q[..., d // 2 :], q[..., : d // 2]], axis=-1)
    assert np.abs(q * cos + half * sin - oracle(q, np.arange(100))).max() < 1e-4 / 2


def test_what_was_tried_of_the_starter_is_right(starter: Program, reference: Program) -> None:
    for d, positions in ((2, np.arange(2000)), (64, np.zeros(3, int))):
        q, k, v = drawn(12, 2, 3, len(positions), d)
        found, right = (p.rotate(q, k, v, positions) for p in (starter, reference))
        assert_close(found, right, 1e-12, least=1)
    for d in (4, 8):
        q, k, v = drawn(13, 1, 1, 1, d)
        one = np.array([1])
        wrong, right = starter.rotate(q, k, v, one)[0], reference.rotate(q, k, v, one)[0]
        assert np.abs(wrong - right).max() > 0.05


def angles(program: Program, position: int, d: int, dtype: str) -> Array:
    """The angles by which a program turns, (d / 2,), within one turn."""
    x = np.zeros((1, 1, 1, d), dtype)
    x[..., : d // 2] = 1
    new = program.rotate(x, x, x, np.array([position]))[0][0, 0, 0].astype("float64")
    result: Array = np.arctan2(new[d // 2 :], new[: d // 2])
    return result


def off(name: str, position: int, dtype: str = "float32") -> float:
    """By how many radians the worst of 32 angles of a variant is off."""
    wrong = angles(variant(name), position, 64, dtype)
    speed = 1e4 ** (-np.arange(32) / 32)
    right = np.arctan2(np.sin(position * speed), np.cos(position * speed))
    return float(np.abs((wrong - right + np.pi) % (2 * np.pi) - np.pi).max())


def test_angles_are_off_by_what_feedback_says() -> None:
    for name in (
        "low-precision-angles",
        "low-precision-angles / rounded",
        "low-precision-angles / low-precision-frequencies",
    ):
        assert 0.0095 < off(name, 1_000_003) < 0.0225
        assert off(name, 4097) < 0.0001
    assert round(off("frequencies-in-float32", 1_000_003, dtype="float64"), 2) == 0.01
    assert 1e-9 < off("frequencies-in-float32", 1, dtype="float64") < 3e-8
    halves = np.array([2049.0, 65519.0, 65520.0])
    with np.errstate(over="ignore"):
        assert halves.astype(np.float16).tolist() == [2048.0, 65504.0, np.inf]
    q, k, v = drawn(14, 1, 1, 1, 8)
    with np.errstate(invalid="ignore"):
        nan = variant("positions-in-float16").rotate(q, k, v, np.array([100_003]))[0]
    assert np.isnan(nan).all()


def test_frequencies_end_and_tables_are_as_large_as_the_texts_say(reference: Program) -> None:
    d, base = 128, 1e4
    right = reference._frequencies(d, base)
    assert right[0] == 1
    assert 0.8 < 1 / base / right[-1] < 1
    ends = {
        "exponent-per-pair": base**-0.5,
        "exponent-doubled": base**-2,
        "base-inverted": base,
        "exponent-to-the-end": 1 / base,
    }
    for name, end in ends.items():
        found = variant(name)._frequencies(d, base)
        assert found[0] == 1
        assert 0.7 < found[-1] / end < 1.5
    to_the_end = variant("exponent-to-the-end")._frequencies(d, base)
    np.testing.assert_allclose(to_the_end, base ** (-np.arange(64) / 63), rtol=1e-12)
    too_fast = variant("partial-full-exponent").rotate
    x = np.zeros((1, 1, 1, 10))
    x[..., :3] = 1
    new = too_fast(x, x, x, np.array([1]), width=6)[0][0, 0, 0]
    faster = np.arctan2(new[3:6], new[:3]) > reference._frequencies(6, base) * 1.5
    assert faster.tolist() == [False, True, True]
    assert round(2 * 131_072 * 64 * 4 / 1e6, 1) == 67.1
    slowest = [2 * np.pi * base ** (1 - 2 / 128) for base in (1e4, 5e5)]
    assert (round(slowest[0], -3), round(slowest[1] / 1e6, 1)) == (54_000, 2.6)


def test_keys_in_a_cache_can_be_reordered(reference: Program) -> None:
    (k,) = drawn(15, 2, 3, 5, 8, count=1)
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    new = reference.rotate(k[..., order], k[..., order], k, UP)[0]
    np.testing.assert_allclose(neighbors(k, UP)[..., order], new, rtol=0, atol=1e-14)


def test_conversions_are_the_same_where_feedback_says(reference: Program) -> None:
    (four,) = drawn(16, 7, 12, count=1)
    (eight,) = drawn(17, 7, 8, count=1)
    right = reference.convert
    np.testing.assert_array_equal(variant("convert-inverse").convert(four, 3), right(four, 3))
    assert not np.array_equal(variant("convert-inverse").convert(eight, 1), right(eight, 1))
    np.testing.assert_array_equal(
        variant("convert-across-heads").convert(eight, 1), right(eight, 1)
    )
    with pytest.raises(ValueError, match="reshape"):
        variant("convert-rows").convert(eight, 2)
    # With odd columns first the scores are those of turning the other way.
    (x,) = drawn(18, 1, 4, 7, count=1)
    up = np.arange(4)
    back = variant("convert-odd-first").convert(eight, 1)
    new = reference.rotate(*[split(x @ back, 1)] * 3, up)[0]
    old = neighbors(split(x @ eight, 1), -up)
    np.testing.assert_allclose(new @ new.swapaxes(2, 3), old @ old.swapaxes(2, 3), atol=1e-13)


def test_neighbors_are_named_though_tables_are_float32(session: GradingSession) -> None:
    wrong = corpus.wrong_programs("rope")["neighbors_by_float32_tables"]
    assert named(session.grade(wrong.source, seed=3)) == {"interleaved"}
