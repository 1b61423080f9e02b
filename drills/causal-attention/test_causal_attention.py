"""The reference and every right solution of causal-attention, against torch and closed forms.

Torch's own layer, `MultiheadAttention`, is the oracle of part 1, its fused attention that of
padding and of shared heads, in float64. For a query that sees no real token 0 stands in.
"""

from __future__ import annotations

import itertools

import numpy as np
import torch
import torch.nn.functional as F

from tests.harness import Array, Program, assert_close, each, variants

variant = variants(__file__)
BAND = {"float64": 1e-12, "float32": 2e-5}


def drawn(
    shape: tuple[int, int, int],
    heads: int,
    groups: int | None = None,
    dtype: str = "float64",
    scale: float = 1.0,
) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng([*shape, heads, groups or 0])
    size = shape[2]
    columns = size + 2 * (groups or heads) * (size // heads)
    return (
        (rng.standard_normal(shape) * scale).astype(dtype),
        (rng.standard_normal((size, columns)) * size**-0.5).astype(dtype),
        (rng.standard_normal((size, size)) * size**-0.5).astype(dtype),
    )


def layer(x: Array, w_qkv: Array, w_out: Array, heads: int) -> Array:
    one = torch.nn.MultiheadAttention(x.shape[2], heads, bias=False, batch_first=True).double()
    with torch.no_grad():
        one.in_proj_weight.copy_(torch.tensor(w_qkv.T.astype(np.float64)))
        one.out_proj.weight.copy_(torch.tensor(w_out.T.astype(np.float64)))
        hidden = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        t = torch.tensor(x.astype(np.float64))
        y, _ = one(t, t, t, attn_mask=hidden, need_weights=False)
    return np.asarray(y.numpy())


def fused(
    x: Array, w_qkv: Array, w_out: Array, heads: int, keep: Array | None, groups: int
) -> Array:
    """Return what torch's fused attention gives, in float64, and 0 where nobody is seen."""
    batch, tokens, size = x.shape
    dh = size // heads
    columns = torch.tensor(x.astype(np.float64) @ w_qkv.astype(np.float64))
    by_heads = columns.reshape(batch, tokens, heads + 2 * groups, dh).transpose(1, 2)
    q, k, v = by_heads[:, :heads], by_heads[:, heads:-groups], by_heads[:, -groups:]
    seen = np.tri(tokens, dtype=bool) & (True if keep is None else keep[:, None, :])
    mask = torch.tensor(np.broadcast_to(seen, (batch, tokens, tokens)))[:, None]
    o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    o = torch.where(mask.any(-1, keepdim=True), o, 0.0)
    return np.asarray(o.transpose(1, 2).reshape(x.shape).numpy() @ w_out.astype(np.float64))


SIZES = [((2, 5, 4), 1), ((2, 5, 12), 3), ((1, 7, 10), 5), ((3, 1, 12), 2), ((1, 1, 1), 1)]


@each("dtype", ["float64", "float32"])
@each(("shape", "heads"), [*SIZES, ((2, 6, 6), 6)])
def test_the_layer_is_that_of_torch(
    program: Program, shape: tuple[int, int, int], heads: int, dtype: str
) -> None:
    x, w_qkv, w_out = drawn(shape, heads, dtype=dtype)
    found = program.attention(x, w_qkv, w_out, heads)
    assert_close(found, layer(x, w_qkv, w_out, heads), BAND, dtype)


@each("groups", [1, 2, 3, 6])
@each("padded", [False, True])
def test_shared_heads_are_those_of_torch(program: Program, groups: int, padded: bool) -> None:
    x, w_qkv, w_out = drawn((2, 70, 12), 6, groups)
    keep = np.random.default_rng(groups).random((2, 70)) > 0.5 if padded else None
    found = program.attention(x, w_qkv, w_out, 6, keep, groups)
    assert_close(found, fused(x, w_qkv, w_out, 6, keep, groups), BAND, x.dtype)
    assert np.array_equal(program.attention(x, w_qkv, w_out, 6, keep=keep, kv_heads=groups), found)


EVERY_PADDING = np.array(list(itertools.product([False, True], repeat=4)))


@each("dtype", ["float64", "float32"])
def test_any_padding_gives_what_torch_gives_and_zeros(program: Program, dtype: str) -> None:
    x, w_qkv, w_out = drawn((16, 4, 6), 3, dtype=dtype)
    found = program.attention(x, w_qkv, w_out, 3, EVERY_PADDING)
    assert_close(found, fused(x, w_qkv, w_out, 3, EVERY_PADDING, 3), BAND, x.dtype)
    assert not found[0].any()


def test_scores_in_the_thousands_are_those_of_torch(program: Program) -> None:
    x, w_qkv, w_out = drawn((2, 6, 12), 3, scale=100.0)
    q, k, _ = np.split((x @ w_qkv)[0], 3, axis=-1)
    assert np.abs(q[:, :4] @ k[:, :4].T / 2).max() > 3000
    found = program.attention(x, w_qkv, w_out, 3)
    np.testing.assert_allclose(found, layer(x, w_qkv, w_out, 3), rtol=0, atol=1e-8)


def test_the_starter_passes_what_a_colleague_ran(starter: Program, driver: Program) -> None:
    """The shapes, the round trip, a single head, and the leak test."""
    for shape, heads in SIZES:
        x, w_qkv, w_out = drawn(shape, heads)
        assert starter.attention(x, w_qkv, w_out, heads).shape == x.shape
        assert np.array_equal(starter.merge_heads(starter.split_heads(x, heads)), x)
        for token in range(1, shape[1]):
            moved = driver.later_moved(starter, x, w_qkv, w_out, heads, token)
            assert not driver.leak(*moved, token).any()
    x, w_qkv, w_out = drawn((2, 9, 4), 1)
    assert_close(starter.attention(x, w_qkv, w_out, 1), layer(x, w_qkv, w_out, 1), BAND, x.dtype)


def test_with_nine_tokens_and_three_heads_token_0_reaches_the_first_three_only(
    starter: Program, reference: Program, driver: Program
) -> None:
    x, w_qkv, w_out = drawn((1, 9, 12), 3)
    moved = driver.reach(*driver.first_moved(starter, x, w_qkv, w_out, 3))
    assert (moved[:3] > 0).all()
    assert not moved[3:].any()
    assert (driver.reach(*driver.first_moved(reference, x, w_qkv, w_out, 3)) > 0.01).all()
    # And not with four layers either: they cut at the same places.
    deep, other = x, x.copy()
    other[:, 0] += 1
    for _ in range(4):
        deep = deep + starter.attention(deep, w_qkv, w_out, 3)
        other = other + starter.attention(other, w_qkv, w_out, 3)
    assert np.array_equal(deep[:, 3:], other[:, 3:])


def test_half_a_repair_of_the_starter_leaks(driver: Program) -> None:
    x, w_qkv, w_out = drawn((2, 5, 12), 3)
    for name in ("split-by-reshape", "merge-by-reshape"):
        moved = driver.later_moved(variant(name), x, w_qkv, w_out, 3, 3)
        assert driver.leak(*moved, 3).max() > 0.01


def test_the_second_hint_shows_two_tokens_in_head_0() -> None:
    head = np.arange(24).reshape(4, 6).reshape(2, 4, 3)[0]
    assert set((head // 6).ravel()) == {0, 1}


@each("name", ["finite-fill", "finite-fill / for-padding"])
def test_a_finite_fill_spreads_evenly_where_nobody_is_seen(name: str) -> None:
    x, w_qkv, w_out = drawn((1, 5, 12), 3)
    keep = np.zeros((1, 5), bool)
    v = (x @ w_qkv)[0, :, 24:]
    last = variant(name).attention(x, w_qkv, w_out, 3, keep)[0, -1]
    np.testing.assert_allclose(last, v.mean(axis=0) @ w_out, rtol=0, atol=1e-12)


def test_with_padding_at_the_end_the_causal_mask_hides_it_from_real_tokens(
    reference: Program,
) -> None:
    x, w_qkv, w_out = drawn((2, 5, 12), 3)
    keep = np.array([[True, True, True, False, False], [True, True, False, False, False]])
    right = reference.attention(x, w_qkv, w_out, 3, keep)
    careless = variant("padding-ignored").attention(x, w_qkv, w_out, 3, keep)
    assert np.array_equal(right[keep], careless[keep])
    assert not np.allclose(right[~keep], careless[~keep])
    at_the_start = keep[:, ::-1]
    right = reference.attention(x, w_qkv, w_out, 3, at_the_start)
    assert not np.allclose(right[at_the_start], careless[at_the_start])


def test_the_spread_of_a_dot_product_is_the_root_of_its_length() -> None:
    q, k = np.random.default_rng(3).standard_normal((2, 5_000, 64))
    assert abs((q * k).sum(axis=1).std() / 8 - 1) < 0.05


def test_exp_overflows_beyond_709_and_88() -> None:
    with np.errstate(over="ignore"):
        for top, kind in ((709, np.float64), (88, np.float32)):
            assert np.isfinite(np.exp(kind(top)))
            assert np.isinf(np.exp(kind(top + 1)))
