"""Drawing inputs: a draw depends on seed, case, input and number, and fits its generator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.cases.draw import Array, DrawError, draw_inputs, round_to_dtype
from grader.cases.recipe import CaseRecipe, read_cases
from grader.model.limits import MAX_CASE_ENTRIES


def no_result(name: str, drawn: Mapping[str, Any]) -> tuple[int, ...]:
    """Stand for a question without results."""
    raise DrawError(f"{name} is no result of {', '.join(drawn)}")


def case(name: str = "c", /, **inputs: Any) -> CaseRecipe:
    """Return one case as YAML would give it."""
    cases, faults = read_cases({name: inputs})
    assert faults == []
    return cases[name]


def draw_one(x: Any, seed: int = 0, **more: Any) -> Array:
    """Draw one input."""
    drawn = draw_inputs(case(x=x, **more), seed, no_result)["x"]
    assert isinstance(drawn, np.ndarray)
    return drawn


NORMAL = {"normal": [40]}


def test_a_draw_depends_only_on_seed_case_input_and_number_of_the_draw() -> None:
    plain = draw_inputs(case(x=NORMAL), 7, no_result)["x"]
    others = {
        "seed": draw_inputs(case(x=NORMAL), 8, no_result)["x"],
        "case": draw_inputs(case("d", x=NORMAL), 7, no_result)["x"],
        "input": draw_inputs(case(z=NORMAL), 7, no_result)["z"],
        "draw index": draw_inputs(case(x=NORMAL), 7, no_result, draw_index=1)["x"],
    }
    for what, other in others.items():
        assert not np.array_equal(plain, other), what
    same = [
        draw_inputs(case(x=NORMAL), 7, no_result)["x"],
        draw_inputs(case(w={"uniform": [3]}, x=NORMAL, z=3), 7, no_result)["x"],
        draw_inputs(case(z=NORMAL, x=NORMAL, about="other words"), 7, no_result)["x"],
    ]
    for other in same:
        assert np.array_equal(plain, other)


def test_scalars_and_literals_do_not_change_with_the_seed() -> None:
    written = case(x=[[1, 2.5]], k=3, on=True, name="same", none=None)
    drawn = draw_inputs(written, 5, no_result, draw_index=9)
    assert list(drawn) == ["x", "k", "on", "name", "none"]
    assert np.array_equal(drawn["x"], [[1.0, 2.5]])
    assert (drawn["k"], drawn["on"], drawn["name"], drawn["none"]) == (3, True, "same", None)


def test_integers_include_both_ends_and_are_floats_unless_asked_otherwise() -> None:
    x = draw_one({"integers": [500], "from": -1, "to": 2})
    assert x.dtype == np.float64
    assert set(x) == {-1.0, 0.0, 1.0, 2.0}


@settings(deadline=None)
@given(st.integers(0, 99), st.integers(1, 60), st.sampled_from([0.25, 1e-9, 3.0]))
def test_distinct_values_keep_their_gap_and_are_centred(seed: int, size: int, gap: float) -> None:
    x = np.sort(draw_one({"distinct": [size], "gap": gap}, seed))
    assert np.allclose(np.diff(x), gap, rtol=1e-6)
    assert abs(float(x.sum())) <= 1e-9 * gap * size**2


@pytest.mark.parametrize(
    ("written", "drawn"),
    [
        ({"zeros": [2]}, [0.0, 0.0]),
        ({"ones": [2]}, [1.0, 1.0]),
        ({"full": [2], "value": -1.5}, [-1.5, -1.5]),
        ({"array": [1, 2], "scale": 10, "shift": 1}, [11.0, 21.0]),
        ({"integers": [2], "from": 1, "to": 1, "dtype": "int64"}, [1, 1]),
    ],
)
def test_constants(written: dict[str, Any], drawn: list[float]) -> None:
    assert draw_one(written).tolist() == drawn


def test_rows_of_a_simplex_are_positive_and_sum_to_one() -> None:
    x = draw_one({"simplex": [3, 4, 5]})
    assert (x > 0).all()
    assert np.allclose(x.sum(-1), 1.0)


@pytest.mark.parametrize("generator", ["normal", "uniform", "distinct", "zeros", "simplex"])
@pytest.mark.parametrize("shape", [[0], [0, 3], [3, 0], [2, 0, 4]])
def test_empty_arrays_have_the_shape_asked_for(generator: str, shape: list[int]) -> None:
    assert draw_one({generator: shape}).shape == tuple(shape)


def test_modifiers_are_applied_in_their_order() -> None:
    x = draw_one({"distinct": [50], "gap": 1, "scale": 2, "shift": 100, "sort": True})
    assert np.array_equal(x, np.arange(50) * 2 - 49 + 100)
    y = draw_one(
        {"ones": [400], "scale": 5, "sprinkle": {"value": -np.inf, "share": 0.25}, "sort": True}
    )
    hidden = int(np.isneginf(y).sum())
    assert 60 < hidden < 140
    assert np.isneginf(y[:hidden]).all()
    assert (y[hidden:] == 5).all()
    z = draw_one({"normal": [30], "dtype": "float32", "scale": 1e-3})
    assert z.dtype == np.float32
    assert np.array_equal(z, z.astype(np.float64).astype(np.float32))


def test_the_dtype_of_an_input_comes_before_that_of_its_case() -> None:
    drawn = draw_inputs(
        case(x=[1.5], t={"array": [2], "dtype": "int32"}, b={"array": [0, 3], "dtype": "bool"},
             dtype="float32"),
        0, no_result,
    )  # fmt: skip
    assert [str(drawn[n].dtype) for n in "xtb"] == ["float32", "int32", "bool"]


def test_a_broadcast_input_repeats_its_first_entry() -> None:
    x = draw_one({"normal": [4, 3], "layout": "broadcast"})
    assert np.array_equal(x, np.broadcast_to(x[:1], (4, 3)))
    assert x[0].std() > 0
    assert draw_one({"normal": [0, 3], "layout": "broadcast"}).shape == (0, 3)
    assert draw_one({"normal": []}, layout="broadcast").shape == ()


def test_like_takes_the_shape_of_an_input_however_they_are_ordered() -> None:
    drawn = draw_inputs(
        case(a={"normal": "like b"}, b={"ones": "like c"}, c={"zeros": [2, 3]}), 0, no_result
    )
    assert list(drawn) == ["a", "b", "c"]
    assert {v.shape for v in drawn.values()} == {(2, 3)}


def test_like_a_result_waits_for_every_other_input() -> None:
    asked = []

    def shape_of(name: str, drawn: Mapping[str, Any]) -> tuple[int, ...]:
        asked.append((name, sorted(drawn)))
        return (3, 1)

    drawn = draw_inputs(
        case(h={"ones": "like g"}, g={"normal": "like y"}, x=[1.0], k=2), 0, shape_of
    )
    assert asked == [("y", ["k", "x"])]
    assert drawn["g"].shape == drawn["h"].shape == (3, 1)


def test_a_case_has_no_more_entries_than_its_inputs_may_have_together() -> None:
    half = {"distinct": [MAX_CASE_ENTRIES // 2]}
    several = {"x": half, "y": {"ones": "like x"}, "z": {"zeros": "like y"}}
    _, faults = read_cases({"c": {"x": half, "y": {"ones": "like x"}}, "d": several})
    message = "expected at most 4,000,000 entries in all inputs, found 6,000,000"
    assert faults == [(("cases", "d"), message)]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"x": {"full": [2], "value": math.inf, "dtype": "int64"}}, "infinite values cannot be of"),
        ({"g": {"distinct": "like y"}}, "more than 4,000,000 entries, g included"),
        ({"x": {"simplex": "like s"}, "s": {"zeros": []}}, "needs at least one dimension"),
    ],
)
def test_an_input_that_cannot_be_drawn_is_a_fault_of_the_bank(
    inputs: dict[str, Any], message: str
) -> None:
    with pytest.raises(DrawError, match=message):
        draw_inputs(case(**inputs), 0, lambda _, __: (MAX_CASE_ENTRIES, MAX_CASE_ENTRIES))


BITS = hnp.arrays(np.uint32, 8, elements=st.integers(0, 2**32 - 1))


@settings(deadline=None)
@given(BITS)
def test_bfloat16_rounds_as_torch_does(bits: Array) -> None:
    torch = pytest.importorskip("torch")
    values = bits.view(np.float32)
    ours = round_to_dtype(values, "bfloat16")
    theirs = torch.from_numpy(values.copy()).to(torch.bfloat16).to(torch.float32).numpy()
    assert np.array_equal(ours, theirs, equal_nan=True)
    is_number = ~np.isnan(ours)
    assert np.array_equal(np.signbit(ours[is_number]), np.signbit(theirs[is_number]))


def test_bfloat16_ties_go_to_the_even_neighbour() -> None:
    step = 2.0**-7
    rounded = round_to_dtype(
        np.array([1 + step / 2, 1 + 3 * step / 2, -1 - step / 2, 3.4e38]), "bfloat16"
    )
    assert rounded.dtype == np.float32
    assert rounded.tolist() == [1.0, 1 + 2 * step, -1.0, math.inf]
