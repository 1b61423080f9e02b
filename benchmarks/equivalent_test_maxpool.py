"""What an instructor would write with pytest instead of the question maxpool-routing.

The same cases and the same checks, against an oracle in numpy that shares no code with the
reference.  It is run by benchmarks/grade.py, which copies it next to a `submission.py`; it says yes
or no, and nothing of wrong ideas.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

Array = npt.NDArray[Any]
Geometry = tuple[int, int, int]  # kernel, stride, padding
submission = importlib.import_module("submission")
rng = np.random.default_rng()


def distinct(*shape: int, gap: float = 0.25) -> Array:
    """Return a permutation of equally spaced values, so that every maximum is unique."""
    size = int(np.prod(shape))
    return ((rng.permutation(size) - size / 2) * gap).reshape(shape)


def masked() -> Array:
    """Return maps that are mostly minus infinity."""
    x = distinct(2, 2, 6, 7)
    x[rng.random(x.shape) < 0.8] = -np.inf
    return x


CASES: dict[str, tuple[Array, Geometry]] = {
    "one window": (np.array([[[[1.0, 3, 0], [0, 2, 0], [0, 0, 2]]]]), (3, 3, 0)),
    "planes": (rng.standard_normal((2, 3, 7, 5)), (2, 2, 0)),
    "other planes": (rng.standard_normal((2, 3, 7, 5)), (2, 2, 0)),
    "tied": (np.array([[[[0.0, 5], [5, 0]]]]), (2, 2, 0)),
    "ties": (rng.integers(0, 3, (2, 3, 6, 8)).astype(np.float64), (3, 3, 0)),
    "gap": (np.array([[[[1.0, 2, 0, 3, 4], [0, 1, 9, 2, 1]]]]), (2, 3, 0)),
    "gaps": (distinct(2, 2, 8, 9), (2, 3, 0)),
    "shared winner": (np.array([[[[0.0, 1, 0], [2, 9, 3], [0, 4, 0]]]]), (2, 1, 0)),
    "overlap": (distinct(2, 3, 7, 5), (3, 1, 0)),
    "corners": (np.array([[[[-1.0, -2], [-3, -4]]]]), (2, 2, 1)),
    "border": (distinct(2, 3, 5, 6) - 40, (4, 3, 1)),
    "small plane": (distinct(1, 2, 2, 3) - 40, (4, 1, 2)),
    "steps": (distinct(1, 1, 3, 5) - 10, (3, 1, 1)),
    "masked corners": (np.array([[[[-np.inf, -np.inf], [-np.inf, 1]]]]), (2, 2, 1)),
    "masked": (masked(), (3, 2, 1)),
    "close": (distinct(2, 2, 5, 6, gap=1e-9) + 1, (3, 2, 1)),
    "huge": (distinct(1, 2, 5, 6) * 1e305 - 1e307, (3, 2, 1)),
    "float32": (rng.standard_normal((2, 3, 7, 6)).astype(np.float32), (2, 2, 0)),
    "empty": (np.zeros((0, 3, 6, 5)), (3, 2, 1)),
    "wide window": (np.zeros((1, 1, 16, 16)), (24, 17, 12)),
    "wider window": (np.array([[[[1.0, 2], [3, 9]]]]), (256, 3, 128)),
    "long plane": (rng.standard_normal((1, 1, 1, 70000)).astype(np.float32), (1, 3500, 0)),
    "float32 border": ((distinct(2, 3, 5, 6) - 40).astype(np.float32), (4, 3, 1)),
    "identity": (rng.standard_normal((1, 2, 3, 4)), (1, 1, 0)),
}
LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "fortran": np.asfortranarray,
    "reversed": lambda x: x[..., ::-1].copy()[..., ::-1],
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "expanded": lambda x: np.broadcast_to(x[:1], x.shape),
}


def oracle(x: Array, geometry: Geometry, grad_y: Array | None) -> list[Array]:
    """Return y and, with a gradient of y, grad_x: one window after another."""
    kernel, stride, padding = geometry
    batch, channels, height, width = x.shape
    down = (height + 2 * padding - kernel) // stride + 1
    across = (width + 2 * padding - kernel) // stride + 1
    y, grad_x = np.empty((batch, channels, down, across), x.dtype), np.zeros(x.shape, x.dtype)
    n, c = np.indices((batch, channels))
    for i in range(down):
        top = i * stride - padding
        rows = slice(max(top, 0), min(top + kernel, height))
        for j in range(across):
            left = j * stride - padding
            columns = slice(max(left, 0), min(left + kernel, width))
            window = x[:, :, rows, columns]
            flat = window.reshape(batch, channels, window.shape[2] * window.shape[3])
            at = flat.argmax(-1)
            y[:, :, i, j] = np.take_along_axis(flat, at[..., None], -1)[..., 0]
            if grad_y is not None:
                row, column = at // window.shape[3], at % window.shape[3]
                grad_x[n, c, rows.start + row, columns.start + column] += grad_y[:, :, i, j]
    return [y, grad_x]


def gradient(x: Array, geometry: Geometry) -> Array:
    """Return a gradient of y, in the dtype of x."""
    y = oracle(x, geometry, None)[0]
    return rng.standard_normal(y.shape).astype(x.dtype)


@pytest.mark.parametrize("name", CASES)
def test_forward_and_backward(name: str) -> None:
    """The maxima are exact, and gradients agree, zeros exactly; dtypes are kept."""
    x, geometry = CASES[name]
    grad_y = gradient(x, geometry)
    want_y, want = oracle(x, geometry, grad_y)
    y, ctx = submission.maxpool2d_forward(x, *geometry)
    grad_x = submission.maxpool2d_backward(grad_y, ctx)
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, want_y)
    assert grad_x.dtype == x.dtype
    assert grad_x.shape == want.shape
    assert not np.any(grad_x[want == 0])
    relative = 1e-5 if x.dtype == np.float32 else 1e-10
    scale = np.abs(want).max(initial=0)
    np.testing.assert_allclose(grad_x, want, rtol=0, atol=relative * scale)


@pytest.mark.parametrize("name", ["one window", "planes"])
def test_the_total_is_conserved(name: str) -> None:
    """Every plane of grad_x has the total of grad_y."""
    x, geometry = CASES[name]
    grad_y = gradient(x, geometry)
    grad_x = submission.maxpool2d_backward(grad_y, submission.maxpool2d_forward(x, *geometry)[1])
    np.testing.assert_allclose(grad_x.sum((2, 3)), grad_y.sum((2, 3)), rtol=1e-10, atol=1e-10)


def test_gradcheck() -> None:
    """Central differences of the oracle's forward give the gradient."""
    x, geometry = CASES["steps"]
    grad_y = gradient(x, geometry)
    step = 1e-5  # a pool is linear between its kinks, so only rounding counts
    numeric = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[at] += step
        down[at] -= step
        difference = oracle(up, geometry, None)[0] - oracle(down, geometry, None)[0]
        numeric[at] = (difference * grad_y).sum() / (2 * step)
    grad_x = submission.maxpool2d_backward(grad_y, submission.maxpool2d_forward(x, *geometry)[1])
    np.testing.assert_allclose(grad_x, numeric, atol=1e-7)


@pytest.mark.parametrize("name", ["identity", "border", "float32 border"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(name: str, layout: str) -> None:
    """Any strides will do, and read-only inputs."""
    x, geometry = CASES[name]
    grad_y = LAYOUTS[layout](gradient(x, geometry))
    x = LAYOUTS[layout](x)
    want_y, want = oracle(x, geometry, grad_y)
    x.flags.writeable = grad_y.flags.writeable = False
    y, ctx = submission.maxpool2d_forward(x, *geometry)
    np.testing.assert_array_equal(y, want_y)
    grad_x = submission.maxpool2d_backward(grad_y, ctx)
    np.testing.assert_allclose(grad_x, want, rtol=0, atol=1e-5 * np.abs(want).max(initial=0))


@pytest.mark.parametrize("name", ["identity", "border", "float32 border"])
def test_manners(name: str) -> None:
    """Inputs stay as they are, results own their memory, and calls do not disturb each other."""
    x, geometry = CASES[name]
    grad_y = gradient(x, geometry)
    before = x.copy(), grad_y.copy()
    y, ctx = submission.maxpool2d_forward(x, *geometry)
    kept = y.copy()
    other_y, other = submission.maxpool2d_forward(x[..., ::-1].copy(), *geometry)
    grad_x = submission.maxpool2d_backward(grad_y, ctx)
    first = grad_x.copy()
    submission.maxpool2d_backward(grad_y, other)
    np.testing.assert_array_equal(y, kept)
    np.testing.assert_array_equal(grad_x, first)
    np.testing.assert_array_equal(submission.maxpool2d_backward(grad_y, ctx), first)
    np.testing.assert_allclose(first, oracle(x, geometry, grad_y)[1], rtol=1e-5, atol=1e-5)
    for given, was in zip((x, grad_y), before, strict=True):
        np.testing.assert_array_equal(given, was)
        assert not any(np.shares_memory(given, made) for made in (y, grad_x, other_y))


def test_the_padding_may_be_left_out() -> None:
    """The padding is 0 by default."""
    x, geometry = CASES["one window"]
    y, _ = submission.maxpool2d_forward(x, *geometry[:2])
    np.testing.assert_array_equal(y, oracle(x, geometry, None)[0])


def test_state() -> None:
    """At most 8 bytes per output are kept."""
    y, ctx = submission.maxpool2d_forward(rng.standard_normal((2, 4, 17, 17)), 3, 2, 0)
    assert reachable(ctx, set()) <= 8 * y.size + 256


def reachable(value: object, seen: set[int]) -> int:
    """Return the bytes of all arrays and numbers that an object leads to."""
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return reachable(value.base, seen) if value.base is not None else value.nbytes
    if isinstance(value, dict):
        return sum(reachable(item, seen) for item in value.values())
    if isinstance(value, (list, tuple, set)):
        return sum(reachable(item, seen) for item in value)
    inside = getattr(value, "__dict__", None)
    slots = [getattr(value, n, None) for n in getattr(type(value), "__slots__", ())]
    if not inside and not slots:
        return 8
    return reachable(inside or (), seen) + sum(reachable(item, seen) for item in slots)


def test_speed() -> None:
    """Forward and backward take at most 12 times as long as the oracle: the best of five each."""
    x, geometry = rng.standard_normal((4, 8, 32, 32)).astype(np.float32), (3, 2, 1)
    grad_y = gradient(x, geometry)

    def seconds(call: Callable[[], object]) -> float:
        begun = time.process_time()
        call()
        return time.process_time() - begun

    def both() -> None:
        submission.maxpool2d_backward(grad_y, submission.maxpool2d_forward(x, *geometry)[1])

    pairs = [(seconds(both), seconds(lambda: oracle(x, geometry, grad_y))) for _ in range(5)]
    assert min(ours for ours, _ in pairs) <= 12 * min(theirs for _, theirs in pairs)
