"""The reference and every right solution of attention-backward, against torch and closed forms.

Torch's float64 autograd is the oracle: its own layer where nothing is hidden, and attention written
query by query over the keys that each of them sees, which needs neither a mask nor a guard.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F

from tests.harness import (
    Array,
    Program,
    assert_close,
    by_autograd,
    each,
    leaves,
    normal,
    variants,
)

variant = variants(__file__)
BAND = {"float64": 1e-12, "float32": 2e-5}
SIZES = [
    (2, 5, 5, 3, 4),
    (1, 6, 6, 5, 5),
    (2, 3, 7, 5, 4),
    (2, 6, 4, 5, 3),
    (1, 1, 3, 2, 2),
    (3, 4, 1, 1, 1),
]


def drawn(seed: int, sizes: tuple[int, ...], dtype: str = "float64") -> list[Array]:
    """q, k, v and grad_o for N, T, S, d and e."""
    n, t, s, d, e = sizes
    return normal(seed, (n, t, d), (n, s, d), (n, s, e), (n, t, e), dtype=dtype)


def oracle(inputs: Sequence[Array], *, causal: bool) -> list[Array]:
    """The output and the gradients of q, k and v, in float64: query by query."""
    q, k, v, grad_o = inputs
    queries, keys, values = given = leaves(q, k, v)
    total, rows = torch.zeros(()), []
    for n, t in np.ndindex(*q.shape[:2]):
        seen = range(k.shape[1])
        if causal:
            seen = range(max(0, t + k.shape[1] - q.shape[1] + 1))
        row = torch.zeros(v.shape[2], dtype=torch.float64)
        if seen:
            scores = keys[n, : len(seen)] @ queries[n, t] / q.shape[2] ** 0.5
            row = scores.softmax(0) @ values[n, : len(seen)]
        rows.append(row)
        total = total + row @ torch.tensor(grad_o[n, t].astype(np.float64))
    grads = torch.autograd.grad(total, given)
    o = torch.stack(rows).reshape(*q.shape[:2], -1)
    return [tensor.detach().numpy() for tensor in (o, *grads)]


def agrees(program: Program, inputs: list[Array], *causal: bool) -> None:
    *qkv, grad_o = inputs
    o, ctx = program.attention_forward(*qkv, *causal)
    found = [o, *program.attention_backward(grad_o, ctx)]
    wanted = oracle(inputs, causal=any(causal))
    # The gradients are held against the largest of them: with one key, those of q and k are 0.
    scale = max(np.abs(a).max() for a in wanted)
    assert_close(found, wanted, BAND, grad_o.dtype, least=scale)


@each("dtype", ["float64", "float32"])
@each("causal", [False, True])
@each("sizes", SIZES)
def test_output_and_gradients_are_those_of_torch(
    program: Program, sizes: tuple[int, ...], causal: bool, dtype: str
) -> None:
    agrees(program, drawn(1, sizes, dtype), causal)


def test_the_oracle_is_torchs_own_layer_where_every_query_sees_a_key() -> None:
    for sizes, causal in itertools.product(SIZES[:3], [False, True]):
        inputs = drawn(2, sizes)
        n, m = sizes[1:3]
        mask = torch.ones(n, m, dtype=torch.bool).tril(m - n) if causal else None
        layer = partial(F.scaled_dot_product_attention, attn_mask=mask)
        right = by_autograd(layer, *inputs[:3], grad_y=inputs[3])
        assert_close(oracle(inputs, causal=causal), right, 1e-14, least=1)


def test_is_causal_in_torch_begins_at_the_first_key_as_the_feedback_says() -> None:
    inputs = drawn(2, (2, 3, 7, 5, 4))
    q, k, v = (torch.tensor(a) for a in inputs[:3])
    o = F.scaled_dot_product_attention(q, k, v, is_causal=True).numpy()
    found, _ = variant("mask-top-left").attention_forward(*inputs[:3], causal=True)
    np.testing.assert_allclose(found, o, rtol=0, atol=1e-14)


@each("causal", [False, True])
@each("lift", [1e4, -1e4, 1.7e5])
def test_scores_may_be_large(program: Program, lift: float, causal: bool) -> None:
    q, k, v, grad_o = drawn(4, (1, 3, 4, 3, 5))
    q[:, :, 0], k[:, :, 0] = lift, 1.0  # up to 98,000
    o, ctx = program.attention_forward(q, k, v, causal=causal)
    found = [o, *program.attention_backward(grad_o, ctx)]
    wanted = oracle((q, k, v, grad_o), causal=causal)
    assert_close([a[..., 1:] for a in found], [a[..., 1:] for a in wanted], 1e-9, least=1)


def test_a_query_without_a_key_harms_nobody(program: Program) -> None:
    q, k, v, grad_o = drawn(5, (2, 6, 4, 5, 3))
    o, ctx = program.attention_forward(q, k, v, causal=True)
    grads = program.attention_backward(grad_o, ctx)
    assert not o[:, :2].any()
    assert not grads[0][:, :2].any()
    rest = q[:, 2:], k, v, grad_o[:, 2:]
    assert_close(grads[1:], oracle(rest, causal=True)[2:], BAND, least=1)


# What the text says.

KINDS = [
    "row-dot-dropped",
    "diagonal",
    "dot-over-queries",
    "row-mean",
    "dot-outside",
    "dk-untransposed",
]
SCALES = ["scale-forgotten", "scale-twice", "scale-in-dq-only"]


def gradients(program: Program, inputs: list[Array]) -> list[Array]:
    _, ctx = program.attention_forward(*inputs[:3])
    return list(program.attention_backward(inputs[3], ctx))


def test_the_keys_sum_finds_the_softmax_errors_and_not_the_scale(reference: Program) -> None:
    inputs = drawn(9, (2, 5, 5, 3, 4))
    assert np.abs(gradients(reference, inputs)[1].sum(axis=1)).max() < 1e-14
    for name in KINDS:
        assert np.abs(gradients(variant(name), inputs)[1].sum(axis=1)).max() > 0.05
    for name in SCALES:
        assert np.abs(gradients(variant(name), inputs)[1].sum(axis=1)).max() < 1e-14
    # Letter c of the first question: the sums over queries and over keys do not cancel.
    assert np.abs(gradients(reference, inputs)[0].sum(axis=1)).max() > 0.05
    assert reference.WHY == {"sum-is-zero": "b", "blind-spot": "d"}


def test_the_scale_errors_are_off_by_the_root_of_d(reference: Program) -> None:
    inputs = drawn(10, (2, 5, 5, 3, 4))
    right, root = gradients(reference, inputs), 3**0.5
    for name, factors in zip(SCALES, [(root, root), (1 / root, 1 / root), (1, root)], strict=True):
        wanted = [grad * factor for grad, factor in zip(right[:2], factors, strict=True)]
        assert_close(gradients(variant(name), inputs)[:2], wanted, 1e-12)


def run(program: Program, steps: int) -> tuple[list[float], list[float], list[float]]:
    """Losses, largest and mean scores of a layer that learns another's outputs."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((16, 6, 5))
    teacher = [
        rng.standard_normal((5, width)) * size
        for width, size in ((3, 0.5**0.5), (3, 0.5**0.5), (4, 1))
    ]
    target = oracle([*(x @ w for w in teacher), np.zeros((16, 6, 4))], causal=False)[0]
    weights = [rng.standard_normal(w.shape) * 0.5 for w in teacher]
    losses, largest, common = [], [], []
    with np.errstate(all="ignore"):
        for _ in range(steps + 1):
            q, k, v = (x @ w for w in weights)
            o, ctx = program.attention_forward(q, k, v)
            losses.append(float(((o - target) ** 2).mean()))
            scores = q @ k.swapaxes(1, 2) / 3**0.5
            largest.append(float(np.abs(scores).max()))
            common.append(float(np.sqrt((scores.mean(axis=2) ** 2).mean())))
            grads = program.attention_backward(2 * (o - target) / o.size, ctx)
            weights = [
                w - 0.2 * np.einsum("nti,ntj->ij", x, g)
                for w, g in zip(weights, grads, strict=True)
            ]
    return losses, largest, common


def test_the_layer_of_the_prompt(starter: Program, reference: Program) -> None:
    losses, largest, common = run(starter, 300)
    assert round(losses[0], 2) == 2.98
    assert round(losses[40], 2) == 1.79
    assert losses[:41] == sorted(losses[:41], reverse=True)
    assert all(losses[40] < loss for loss in losses[41:52])
    assert not np.isfinite(losses[60:]).any()
    assert round(largest[50]) == 528
    assert (round(common[30], 1), round(common[50])) == (1.3, 25)
    right, _, common = run(reference, 300)
    assert round(right[300], 4) == 0.0004
    assert round(common[50], 1) == 0.5


def test_what_a_colleague_would_look_at_is_right_in_the_starter(
    starter: Program, reference: Program
) -> None:
    for seed in range(8):
        inputs = drawn(seed, (2, 5, 5, 3, 4))
        o = starter.attention_forward(*inputs[:3])[0]
        np.testing.assert_allclose(o, oracle(inputs, causal=False)[0], rtol=0, atol=1e-14)
        old, right = gradients(starter, inputs), gradients(reference, inputs)
        np.testing.assert_allclose(old[2], right[2], rtol=0, atol=1e-14)
        for a, b in zip(old[:2], right[:2], strict=True):
            assert a.shape == b.shape
            assert (a * b).sum() > 0.4 * np.linalg.norm(a) * np.linalg.norm(b)


def test_dropout_and_rotations_as_the_follow_ups_say() -> None:
    inputs = drawn(11, (1, 4, 6, 3, 2))
    q, k, v, g = (torch.tensor(a, requires_grad=True) for a in inputs)
    keep = torch.tensor(np.random.default_rng(12).integers(0, 2, (1, 4, 6)) * 2.0)
    scores = (q @ k.transpose(1, 2) / 3**0.5).detach().requires_grad_()
    weights = scores.softmax(-1)
    o = weights * keep @ v
    (wanted,) = torch.autograd.grad(o, scores, g)
    dot = (g * o).sum(-1, keepdim=True)
    found = weights * (g @ v.transpose(1, 2) * keep - dot)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-14)
    # Pairs of features, key s turned by s radians.
    q, k = (torch.tensor(a, requires_grad=True) for a in drawn(13, (1, 4, 6, 2, 2))[:2])
    cos, sin = torch.arange(6.0).cos(), torch.arange(6.0).sin()
    turned = torch.stack([k[..., 0] * cos - k[..., 1] * sin, k[..., 0] * sin + k[..., 1] * cos], -1)
    o = F.scaled_dot_product_attention(q, turned, v)
    before, after = torch.autograd.grad(o, [k, turned], g)
    assert after.sum(1).abs().max() < 1e-14
    assert before.sum(1).abs().max() > 0.01
