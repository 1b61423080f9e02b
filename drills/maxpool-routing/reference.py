"""Max pooling over (N, C, H, W) maps whose gradient follows the winner of each window.

The forward pass knows something that y alone does not contain: where each maximum stood. It keeps
that as the place inside the window, one byte per output for windows of up to 256 entries, and the
backward pass adds every incoming gradient at its place. The derivative of a maximum is 1 at the
winning entry and 0 elsewhere wherever the winner is unique; at ties the convention is "first in
row-major order".

Source of the conventions (floor output size, padding of minus infinity, first maximum):
torch.nn.MaxPool2d, https://docs.pytorch.org/docs/stable/generated/torch.nn.MaxPool2d.html
"""

from dataclasses import dataclass

import numpy as np

PAD = -np.inf


@dataclass(frozen=True, slots=True)
class Context:
    """What backward needs: no input, no output, no mask."""

    winner: np.ndarray  # (N, C, Ho, Wo) uint8, uint16 or uint32: row * kernel + column in the window
    shape: tuple[int, int, int, int]  # of x
    dtype: np.dtype  # of x
    kernel: int
    stride: int
    padding: int


def maxpool2d_forward(
    x: np.ndarray, kernel: int, stride: int, padding: int = 0
) -> tuple[np.ndarray, Context]:
    """Return the maximum of every window, and the place of each maximum for backward.

    Args:
        x: (N, C, H, W), float32 or float64, any strides; finite or minus infinity; never modified.
        kernel: side of the square window, in entries.
        stride: distance between neighboring windows, in entries.
        padding: entries added on each side, at most kernel // 2; they never win.

    Returns:
        y: (N, C, Ho, Wo), dtype of x, where Ho = (H + 2 * padding - kernel) // stride + 1.
        ctx: what `maxpool2d_backward` needs, 1 byte per output while kernel * kernel <= 256.
    """
    y, winner = _pick(x, kernel, stride, padding)
    return y, Context(winner, x.shape, x.dtype, kernel, stride, padding)


def maxpool2d_backward(grad_y: np.ndarray, ctx: Context) -> np.ndarray:
    """Return the gradient of x: every entry of grad_y, added at the winner it came from.

    Args:
        grad_y: (N, C, Ho, Wo), dtype of y, any strides; never modified.
        ctx: from `maxpool2d_forward`; never modified, so that backward may run again.

    Returns:
        grad_x: (N, C, H, W), dtype of x; exactly 0 wherever an entry won no window.
    """
    frame = _zero_frame(ctx)
    batch, channels, frame_height, frame_width = frame.shape
    planes = np.arange(batch * channels).reshape(batch, channels, 1, 1)
    place = _index_in_frame(ctx.winner, ctx.kernel, ctx.stride, ctx.padding, ctx.shape)
    place = planes * (frame_height * frame_width) + place
    _scatter(frame.reshape(-1), place.reshape(-1), grad_y.reshape(-1))
    return _crop(frame, ctx)


def _frame(x: np.ndarray, padding: int) -> np.ndarray:
    """Return x with its padding: (N, C, H + 2 * padding, W + 2 * padding)."""
    batch, channels, height, width = x.shape
    frame = np.full((batch, channels, height + 2 * padding, width + 2 * padding), PAD, x.dtype)
    frame[:, :, padding : padding + height, padding : padding + width] = x
    return frame


def _pick(
    x: np.ndarray, kernel: int, stride: int, padding: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the maximum of every window and its place there, both (N, C, Ho, Wo).

    Columns first, then rows, and only what is larger replaces what was found before: the first
    row that holds the maximum wins, and in it the first column. No window is copied.
    """
    frame = _frame(x, padding)
    origin = np.zeros((1, 1, 1, 1), np.min_scalar_type(kernel * kernel - 1))
    row_best, column = _along(frame, np.broadcast_to(origin, frame.shape), 3, kernel, stride)
    del frame  # what follows needs its memory
    return _along(row_best, column, 2, kernel, stride, weight=kernel)


def _along(
    values: np.ndarray, place: np.ndarray, axis: int, kernel: int, stride: int, weight: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first maximum of `kernel` neighbors along an axis, `stride` apart, and its place.

    The k-th neighbor adds k * weight to the place that it already has, in the type of `place`.
    """
    steps = (values.shape[axis] - kernel) // stride + 1
    cut = [slice(None)] * 4
    cut[axis] = slice(0, stride * (steps - 1) + 1, stride)
    best, found = values[tuple(cut)].copy(), place[tuple(cut)].copy()
    for k in range(1, kernel):
        cut[axis] = slice(k, k + stride * (steps - 1) + 1, stride)
        seen = values[tuple(cut)]
        better = seen > best
        np.copyto(best, seen, where=better)
        np.add(place[tuple(cut)], k * weight, out=found, where=better)
    return best, found


def _index_in_frame(
    local: np.ndarray, kernel: int, stride: int, padding: int, shape: tuple[int, ...]
) -> np.ndarray:
    """Turn places inside windows into indices of the flattened padded plane, all of them real.

    A window of nothing but minus infinity ties with its own padding, and then its first cell was
    picked. Above or left of the plane, the nearest row and column of the plane are the window's
    first real ones; any other first cell is real already. A picked finite entry does not move.
    """
    outputs_down, outputs_across = local.shape[2:]
    rows = stride * np.arange(outputs_down)[:, None] + local // kernel
    columns = stride * np.arange(outputs_across) + local % kernel
    frame_width = shape[3] + 2 * padding
    return np.maximum(rows, padding) * frame_width + np.maximum(columns, padding)


def _scatter(frame: np.ndarray, place: np.ndarray, grad: np.ndarray) -> None:
    """Add each gradient at its place, all of them 1-D; places may repeat."""
    # `frame[place] += grad` would keep only the last of several gradients with one place.
    np.add.at(frame, place, grad)


def _zero_frame(ctx: Context) -> np.ndarray:
    """Return zeros in the shape of the padded input and the dtype of x."""
    batch, channels, height, width = ctx.shape
    padding = ctx.padding
    return np.zeros((batch, channels, height + 2 * padding, width + 2 * padding), ctx.dtype)


def _crop(frame: np.ndarray, ctx: Context) -> np.ndarray:
    """Return the planes without their padding, in memory of their own."""
    height, width = ctx.shape[2:]
    padding = ctx.padding
    return frame[:, :, padding : padding + height, padding : padding + width].copy()
