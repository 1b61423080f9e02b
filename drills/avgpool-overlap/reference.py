"""Average pooling over (N, C, H, W) maps, and its backward pass, for any window.

The average is a linear map: y[i, j] is a fixed fraction of the sum of its window. Its gradient is
the transposed map, so every window hands grad_y[i, j] / divisor[i, j] to each of its cells, and a
cell that is in several windows adds up what it gets. Neither needs the entries of x, nor anything
that differs between samples or channels.

What is counted in the divisor is a convention: all cells of the window that lie in the padded
plane, or only those that lie in the plane. Where the size of the output is rounded up, a window may
reach beyond the padded plane; the cells out there are never counted.

Source of the conventions: torch.nn.AvgPool2d,
https://docs.pytorch.org/docs/stable/generated/torch.nn.AvgPool2d.html
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Context:
    """What backward needs: nothing that grows with the batch or the channels."""

    divisor: np.ndarray  # (Ho, Wo), of the dtype of x: the number of cells that are counted
    shape: tuple[int, ...]  # (N, C, H, W), of x
    kernel: int
    stride: int
    padding: int


def avgpool2d_forward(
    x: np.ndarray,
    kernel: int,
    stride: int,
    padding: int,
    count_include_pad: bool,
    ceil_mode: bool = False,
) -> tuple[np.ndarray, Context]:
    """Return the average of every window, and a ctx for `avgpool2d_backward`.

    Args:
        x: (N, C, H, W), float32 or float64, any strides; never modified.
        kernel: side of the square window, in cells.
        stride: distance between neighboring windows, in cells.
        padding: zeros added on every side, at most kernel // 2.
        count_include_pad: whether cells of the padding are counted in an average.
        ceil_mode: whether Ho and Wo are rounded up.

    Returns:
        y: (N, C, Ho, Wo), dtype of x.
        ctx: holds an array of (Ho, Wo) and a few numbers.
    """
    counts = [
        _counts(length, kernel, stride, padding, count_include_pad, ceil_mode)
        for length in x.shape[2:]
    ]
    ctx = Context(np.outer(*counts).astype(x.dtype), x.shape, kernel, stride, padding)
    frame = _frame(ctx)
    _plane(frame, ctx)[...] = x
    return _sums(frame, ctx) / ctx.divisor, ctx


def avgpool2d_backward(grad_y: np.ndarray, ctx: Context) -> np.ndarray:
    """Return the gradient of the sum of grad_y * y with respect to x.

    Args:
        grad_y: (N, C, Ho, Wo), dtype of y, any strides; never modified.
        ctx: from `avgpool2d_forward`; never modified, so that backward may run again.

    Returns:
        grad_x: (N, C, H, W), dtype of x; exactly 0 wherever an entry is in no window.
    """
    frame = _frame(ctx)
    _spread(_share(grad_y, ctx), frame, ctx)
    return _plane(frame, ctx).copy()


def _outputs(length: int, kernel: int, stride: int, padding: int, ceil_mode: bool) -> int:
    """Return how many windows there are along an axis of the plane."""
    room = length + 2 * padding - kernel
    if not ceil_mode:
        return room // stride + 1
    outputs = -(-room // stride) + 1
    # A last window that would begin beyond the plane has nothing to average.
    return outputs if _begins_inside(outputs - 1, length, stride, padding) else outputs - 1


def _begins_inside(window: int, length: int, stride: int, padding: int) -> bool:
    return window * stride - padding < length


def _counts(
    length: int, kernel: int, stride: int, padding: int, count_include_pad: bool, ceil_mode: bool
) -> np.ndarray:
    """Return, for every window along an axis, how many of its rows or columns are counted."""
    windows = np.arange(_outputs(length, kernel, stride, padding, ceil_mode))
    starts = stride * windows - padding
    ends = starts + kernel
    if count_include_pad:
        return _within_padding(starts, ends, length, padding)
    return _within_plane(starts, ends, length)


def _within_padding(starts: np.ndarray, ends: np.ndarray, length: int, padding: int) -> np.ndarray:
    return np.minimum(ends, length + padding) - starts


def _within_plane(starts: np.ndarray, ends: np.ndarray, length: int) -> np.ndarray:
    return np.minimum(ends, length) - np.maximum(starts, 0)


def _frame(ctx: Context) -> np.ndarray:
    """Return zeros for the padded planes, with room for windows that reach beyond them."""
    sizes = zip(ctx.shape[2:], ctx.divisor.shape, strict=True)
    sides = (_side(length, outputs, ctx) for length, outputs in sizes)
    return np.zeros((*ctx.shape[:2], *sides), ctx.divisor.dtype)


def _side(length: int, outputs: int, ctx: Context) -> int:
    end = ctx.stride * (outputs - 1) + ctx.kernel  # of the last window
    return max(length + ctx.padding, end)


def _plane(frame: np.ndarray, ctx: Context) -> np.ndarray:
    """Return a view of the plane inside its padding."""
    height, width = ctx.shape[2:]
    start = ctx.padding
    return frame[:, :, start : start + height, start : start + width]


def _places(ctx: Context) -> Iterator[tuple[slice, slice]]:
    """Yield, for each cell of a window, where that cell of all windows is in the frame."""
    down, across = (ctx.stride * (outputs - 1) + 1 for outputs in ctx.divisor.shape)
    for row in range(ctx.kernel):
        for column in range(ctx.kernel):
            yield (
                slice(row, row + down, ctx.stride),
                slice(column, column + across, ctx.stride),
            )


def _sums(frame: np.ndarray, ctx: Context) -> np.ndarray:
    """Return the sum of every window, (N, C, Ho, Wo)."""
    total = np.zeros(frame.shape[:2] + ctx.divisor.shape, frame.dtype)
    for rows, columns in _places(ctx):
        total += frame[:, :, rows, columns]
    return total


def _share(grad_y: np.ndarray, ctx: Context) -> np.ndarray:
    """Return what a window hands to each of its cells, (N, C, Ho, Wo)."""
    return grad_y / ctx.divisor


def _spread(share: np.ndarray, frame: np.ndarray, ctx: Context) -> None:
    """Add the share of every window to each of its cells in the frame."""
    for rows, columns in _places(ctx):
        frame[:, :, rows, columns] += share
