"""The reference and every right solution of kv-cache, against torch's own attention in float64.

The oracle knows no cache: it keeps the tokens of every sequence, turns queries and keys with
complex numbers, and asks torch for causal attention over all of them each time.
"""

from __future__ import annotations

import math
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.harness import Array, Program, assert_close, each, load, variants

variant = variants(__file__)
BAND = {"float64": 1e-12, "float32": 3e-5}


class Layer:
    """Weights, and what torch makes of a text; scores are of order 1."""

    def __init__(self, width: int, heads: int, dtype: str = "float64", seed: int = 0) -> None:
        rng = np.random.default_rng([width, heads, seed])
        self.heads, self.width = heads, width
        self.w_qkv = (rng.standard_normal((width, 3 * width)) / width**0.5).astype(dtype)
        self.w_out = (rng.standard_normal((width, width)) / width**0.5).astype(dtype)
        self.rng, self.dtype = rng, np.dtype(dtype)

    def tokens(self, batch: int, n: int) -> Array:
        return self.rng.standard_normal((batch, n, self.width)).astype(self.dtype)

    def empty(self, program: Program, batch: int, capacity: int) -> Any:
        dh = self.width // self.heads
        return program.new_cache(batch, self.heads, dh, capacity, self.dtype)

    def extend(self, program: Program, cache: Any, x: Array) -> tuple[Array, Any]:
        y, cache = program.extend(cache, x, self.w_qkv, self.w_out)
        assert isinstance(y, np.ndarray)
        assert y.dtype == self.dtype
        return y, cache

    def feed(self, program: Program, x: Array, pieces: list[int], spare: int = 0) -> Array:
        cache = self.empty(program, len(x), x.shape[1] + spare)
        outputs = []
        for piece in np.split(x, np.cumsum(pieces)[:-1], axis=1):
            y, cache = self.extend(program, cache, piece)
            outputs.append(y)
        return np.concatenate(outputs, axis=1)

    def oracle(self, x: Array, origin: int = 0) -> Array:
        """Causal attention over x (B, T, D) by torch, positions counted from `origin`."""
        wide = [torch.tensor(a.astype(np.float64)) for a in (x, self.w_qkv, self.w_out)]
        tokens, w_qkv, w_out = wide
        q, k, v = (tokens @ w_qkv).view(*x.shape[:2], 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        at = torch.arange(origin, origin + x.shape[1], dtype=torch.float64)
        turned = F.scaled_dot_product_attention(_turn(q, at), _turn(k, at), v, is_causal=True)
        return np.asarray((turned.transpose(1, 2).flatten(2) @ w_out).numpy())


def _turn(a: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    half = a.shape[-1] // 2
    rates = torch.tensor([10000.0 ** (-2 * i / (2 * half)) for i in range(half)], dtype=a.dtype)
    phases = torch.outer(positions, rates)
    pairs = torch.complex(a[..., :half].contiguous(), a[..., half:].contiguous())
    z = pairs * torch.polar(torch.ones_like(phases), phases)
    return torch.cat([z.real, z.imag], dim=-1)


@each("dtype", ["float64", "float32"])
@each(
    ("batch", "width", "heads", "pieces", "spare"),
    [
        (1, 2, 1, [1], 0),
        (2, 18, 3, [7], 0),
        (2, 18, 3, [1] * 7, 4),
        (3, 8, 2, [4, 3, 2], 0),
        (1, 12, 1, [1, 6, 1, 3], 1),
        (1, 8, 4, [20, 1, 19], 24),
    ],
)
def test_however_a_text_is_cut_the_outputs_are_those_of_torch(
    program: Program,
    batch: int,
    width: int,
    heads: int,
    pieces: list[int],
    spare: int,
    dtype: str,
) -> None:
    layer = Layer(width, heads, dtype)
    x = layer.tokens(batch, sum(pieces))
    assert_close(layer.feed(program, x, pieces, spare), layer.oracle(x), BAND)


def test_beams_go_on_as_if_each_had_its_whole_text_to_itself(program: Program) -> None:
    """Every cache is extended and reordered at random, old ones too; each has its own history."""
    layer = Layer(12, 2, seed=1)
    rng = np.random.default_rng(2)
    prompt = layer.tokens(3, 4)
    _, first = layer.extend(program, layer.empty(program, 3, 16), prompt)
    alive: list[tuple[Any, Array]] = [(first, prompt)]
    for turn in range(8):
        which = turn % len(alive)
        cache, history = alive[which]
        index = rng.integers(0, len(history), size=int(rng.integers(1, 5)))
        alive.append((program.reorder(cache, index), history[index]))
        for chosen in {which, len(alive) - 1}:
            cache, history = alive[chosen]
            x = layer.tokens(len(history), int(rng.integers(1, 3)))
            history = np.concatenate([history, x], axis=1)
            y, cache = layer.extend(program, cache, x)
            assert_close(y, layer.oracle(history)[:, -x.shape[1] :], BAND)
            alive[chosen] = cache, history
    assert len({len(history) for _, history in alive}) > 1


def test_scores_of_thousands_are_attended_to_as_torch_does(program: Program) -> None:
    layer = Layer(18, 3, seed=5)
    x = 60 * layer.tokens(2, 7)
    assert_close(layer.feed(program, x, [4, 1, 2]), layer.oracle(x), 1e-10)


@each("name", ["exponentials-unshifted", "one-maximum-for-all"])
def test_the_starter_shifts_its_scores_and_without_that_they_are_nan(
    starter: Program, name: str
) -> None:
    idea, layer = variant(name), Layer(18, 3, seed=5)
    x = layer.tokens(2, 7)
    assert_close(layer.feed(idea, x, [7]), layer.oracle(x), BAND)
    with np.errstate(all="ignore"):
        assert np.isnan(layer.feed(idea, 60 * x, [7])).any()
    assert_close(layer.feed(starter, 60 * x, [7]), layer.oracle(60 * x), 1e-10)


def test_the_given_rotation_is_that_of_complex_numbers() -> None:
    rope = load(Path(__file__).with_name("rotary.py")).rope
    rng = np.random.default_rng(3)
    for dh in (2, 6):
        x, positions = rng.standard_normal((2, 3, 5, dh)), np.array([0, 1, 7, 100, 4000])
        wanted = _turn(torch.tensor(x), torch.tensor(positions)).numpy()
        assert_close(rope(x, positions), wanted, BAND)
        assert rope(x.astype("float32"), positions).dtype == np.float32


def test_a_wrong_origin_changes_nothing() -> None:
    layer = Layer(12, 3)
    x = layer.tokens(2, 6)
    assert_close(layer.oracle(x, origin=100), layer.oracle(x), 1e-12)


def test_the_second_row_of_two_tokens_is_its_weights_which_the_starter_has_wrong(
    reference: Program, starter: Program
) -> None:
    eye, x = np.eye(2), np.eye(2)[None]
    shares = []
    for one in (reference, starter):
        cache, rows = one.new_cache(1, 1, 2, 2, np.dtype(float)), []
        for t in range(2):
            y, cache = one.extend(cache, x[:, t : t + 1], np.hstack([eye] * 3), eye)
            rows.append(y[0, 0])
        assert rows[0] == pytest.approx([1, 0])
        shares.append(rows[1])
    # Scores are (-sin 1, 1) / sqrt 2, and with a distance of 0 (0, 1) / sqrt 2.
    gaps = [(1 + math.sin(1)) / math.sqrt(2), 1 / math.sqrt(2)]
    for share, gap in zip(shares, gaps, strict=True):
        assert share[1] == pytest.approx(1 / (1 + math.exp(-gap)))
    assert [round(float(share[1]), 2) for share in shares] == [0.79, 0.67]


def test_the_starter_is_right_in_one_piece_and_in_every_first_one(starter: Program) -> None:
    layer = Layer(18, 3)
    x = layer.tokens(2, 9)
    assert_close(layer.feed(starter, x, [9]), layer.oracle(x), BAND)
    found, wanted = layer.feed(starter, x, [4, 3, 2]), layer.oracle(x)
    assert_close(found[:, :4], wanted[:, :4], BAND)
    off = np.abs(found - wanted).max(axis=(0, 2)) / np.abs(wanted).max()
    assert (off[4:] > 0.01).all()


def test_the_starter_allocates_a_megabyte_for_one_token(starter: Program) -> None:
    layer = Layer(128, 4, "float32")
    cache = {name: np.zeros((1, 4, 1000, 32), np.float32) for name in "kv"}
    x = layer.tokens(1, 1)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        layer.extend(starter, cache, x)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert 1.0e6 < peak < 1.15e6
    assert 2 * 128 * 1001 * 4 == 1_025_024  # of them keys and values


def test_the_figures_of_the_texts() -> None:
    assert 513 * 16 * 8 == 65_664 > 64_000  # a copy of the keys alone, and the budget of a step
    per_token = 2 * 80 * 8 * 128 * 2  # keys and values, layers, heads, width, bytes of bfloat16
    assert per_token == 327_680
    assert round(per_token * 8192 / 1e9, 2) == 2.68
    assert sum(range(1, 513)) == 512 * 513 // 2 == 131_328
