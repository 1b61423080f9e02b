"""The reference and every right solution of chunked-cross-entropy, against torch and closed forms.

Torch's own linear layer and cross-entropy, in float64 and without chunks, are the oracle.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.harness import Array, Program, assert_close, by_autograd, each, normal, variants

Inputs = tuple[Array, Array, Array]

variant = variants(__file__)
BAND = {"float64": 1e-12, "float32": 2e-5, "float16": 2e-3}


def drawn(seed: int, sizes: tuple[int, int, int], dtype: str = "float64") -> Inputs:
    """h, w and target for N tokens, D features and a vocabulary of V."""
    n, d, v = sizes
    h, w = normal(seed, (n, d), (v, d), dtype=dtype)
    return h, w, np.random.default_rng(seed).integers(0, v, n)


def oracle(h: Array, w: Array, target: Array, grad_loss: float, pad: int = -100) -> list[Array]:
    def loss(*given: torch.Tensor) -> torch.Tensor:
        logits, labels = F.linear(*given), torch.tensor(target)
        total = F.cross_entropy(logits, labels, ignore_index=pad, reduction="sum")
        return total / max(int((target != pad).sum()), 1)

    return by_autograd(loss, h, w, grad_y=grad_loss)


def agrees(
    program: Program,
    inputs: Inputs,
    chunk: int,
    grad_loss: float = 1.0,
    *pad: int,
    rounding: float = 1,
) -> None:
    wanted = oracle(*inputs, grad_loss, *pad)
    loss, ctx = program.loss_forward(*inputs, chunk, *pad)
    grads = program.loss_backward(grad_loss, ctx)
    dtype = inputs[0].dtype
    sure = 1e-12 if dtype == "float64" else 1e-5
    assert_close(float(loss), wanted[0], rounding * sure, least=1)
    assert_close(grads, wanted[1:], rounding * BAND[dtype.name], dtype, least=abs(grad_loss) * 1e-3)


@each("dtype", ["float64", "float32", "float16"])
@each("chunk", [1, 3, 4, 50])
def test_loss_and_gradients_are_those_of_torch(program: Program, dtype: str, chunk: int) -> None:
    for grad_loss in (1.0, -2.5, 0.125):
        agrees(program, drawn(1, (12, 3, 7), dtype), chunk, grad_loss)
        agrees(program, drawn(2, (1, 2, 1), dtype), chunk, grad_loss)


@each("pad", [-100, -1, 0, 2, 100])
def test_padding_is_torchs_ignore_index(program: Program, pad: int) -> None:
    h, w, target = drawn(3, (9, 3, 5))
    target[[1, 3, 4, 5]] = pad
    agrees(program, (h, w, target), 3, 2.0, pad)
    target[:] = pad
    loss, ctx = program.loss_forward(h, w, target, 3, pad)
    assert loss == 0
    assert not any(grad.any() for grad in program.loss_backward(2.0, ctx))


def test_logits_may_be_large(program: Program) -> None:
    h, w, target = drawn(4, (5, 3, 4))
    h[:, 0], w[:, 0] = [1e4, 0, -1e4, 9e4, 1], [1, 1.0001, -1, 0.9999]
    agrees(program, (h, w, target), 2, rounding=1e4)  # logits are right to 1e-11


# What the text says.


def test_the_sizes_of_the_prompt() -> None:
    assert round(8192 * 128_000 * 4 / 1e9, 1) == 4.2


def training(program: Program, steps: int = 60, lr: float = 2.0) -> list[float]:
    """The losses of a matrix that learns from eight small batches per step, by torch's loss."""
    rng = np.random.default_rng(0)
    teacher, w = rng.standard_normal((11, 4)), np.zeros((11, 4))
    batches = []
    for _ in range(8):
        h = rng.standard_normal((int(rng.integers(17, 33)), 4)) * 2
        z = h @ teacher.T / 2
        batches.append((h, (z + rng.gumbel(size=z.shape)).argmax(1)))
    losses = []
    for _ in range(steps + 1):
        losses.append(0.0)
        step = np.zeros_like(w)
        for h, target in batches:
            losses[-1] += float(oracle(h, w, target, 1.0)[0]) / 8
            _, ctx = program.loss_forward(h, w, target, 8)
            step += program.loss_backward(1 / 8, ctx)[1]
        w = w - lr * step
    return losses


def test_the_run_of_the_prompt(reference: Program, starter: Program) -> None:
    right, old = training(reference), training(starter)
    assert [round(old[0], 2), round(old[60], 2), round(right[60], 2)] == [2.40, 6.70, 1.56]


def test_the_starter_passes_the_test_batch(starter: Program) -> None:
    agrees(starter, drawn(8, (32, 5, 11)), 8)
    with pytest.raises(AssertionError):
        agrees(starter, drawn(8, (33, 5, 11)), 8)
    with pytest.raises(AssertionError):
        agrees(starter, drawn(8, (32, 5, 11)), 8, 0.125)


def test_means_of_means_of_the_hint() -> None:
    losses = np.array([1, 1, 1, 1, 6.0])
    assert losses.mean() == 2
    assert (losses[:4].mean() + losses[4:].mean()) / 2 == 3.5


def test_the_gradients_grow_by_what_the_feedback_says(reference: Program) -> None:
    inputs = drawn(9, (12, 3, 7))
    loss, ctx = reference.loss_forward(*inputs, 3)
    right = reference.loss_backward(1.0, ctx)
    for name, of_loss, of_grads in [
        ("sum-of-chunk-means", 4, 4),
        ("gradient-of-chunk-means", 1, 4),
        ("gradient-of-the-sum", 1, 12),
        ("sum-of-losses", 12, 12),
    ]:
        other = variant(name)
        found, ctx = other.loss_forward(*inputs, 3)
        np.testing.assert_allclose(found, of_loss * loss)
        assert_close(other.loss_backward(1.0, ctx), [of_grads * grad for grad in right], 1e-12)


def test_float16_is_as_the_text_says() -> None:
    half = np.finfo(np.float16)
    assert float(half.max) == 65504
    with np.errstate(over="ignore"):
        assert np.isinf(np.float16(65536))
    assert np.float16(2.9e-8) == 0
    assert np.float16(3.1e-8) > 0
    assert (half.nmant + 1, torch.finfo(torch.bfloat16).eps) == (11, 2.0**-7)
    assert np.nextafter(np.float16(16), np.float16(17)) == np.float16(16.015625)
    assert np.nextafter(np.float16(10), np.float16(11)) - np.float16(10) == 2.0**-7
    for dtype, stop in ((torch.float16, 2048), (torch.bfloat16, 256)):
        number = torch.zeros((), dtype=dtype)
        for _ in range(stop + 3):
            number = number + torch.ones((), dtype=dtype)
        assert number == stop
    scaler = inspect.signature(torch.amp.GradScaler).parameters
    assert scaler["init_scale"].default == 65536
    assert scaler["backoff_factor"].default == 0.5


def test_a_scale_after_the_rounding_saves_nothing(reference: Program) -> None:
    """The case scaled: classes 2 to 4 hardly ever come."""
    h = np.array([[1, 0.5], [1, -0.5], [1.125, 0.25], [0.875, 1]], np.float16)
    w = np.array([[0, 0.5], [0, -0.5], [-18, 0.25], [-19, 1], [-18.5, -1]], np.float16)
    inputs = (h, w, np.array([0, 1, 0, 1]))
    agrees(reference, inputs, 3, 65536.0)
    _, ctx = variant("rounded-before-the-scale").loss_forward(*inputs, 3)
    late = reference.loss_backward(65536.0, ctx)[1]
    _, ctx = reference.loss_forward(*inputs, 3)
    right = reference.loss_backward(65536.0, ctx)[1]
    assert not late[2:].any()
    assert np.abs(right[2:]).max() > 1e-4
    assert not reference.loss_backward(1.0, ctx)[1][2:].any()


def test_the_matrix_split_by_vocabulary_needs_two_numbers_per_machine() -> None:
    """What the follow-up says is exchanged: a maximum and a sum per machine, and the target's."""
    h, w, target = drawn(10, (6, 3, 8))
    parts = [h @ some.T for some in np.split(w, 4)]
    tops = np.array([z.max(axis=1) for z in parts])
    sums = np.array([np.exp(z - z.max(axis=1, keepdims=True)).sum(axis=1) for z in parts])
    top = tops.max(axis=0)
    lse = top + np.log((sums * np.exp(tops - top)).sum(axis=0))
    own = np.concatenate(parts, axis=1)[np.arange(6), target]
    np.testing.assert_allclose((lse - own).mean(), oracle(h, w, target, 1.0)[0])
