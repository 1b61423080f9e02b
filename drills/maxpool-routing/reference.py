"""Max pooling over (N, C, H, W) maps whose gradient follows the winner of each window.

The forward pass knows something that y alone does not contain: where each maximum stood. It keeps
that as one integer per output, an index into the zero-padded plane, and the backward pass adds
every incoming gradient at its index. The derivative of a maximum is 1 at the winning entry and 0
elsewhere wherever the winner is unique; at ties the convention is "first in row-major order".

Source of the conventions (floor output size, padding of minus infinity, first maximum):
torch.nn.MaxPool2d, https://docs.pytorch.org/docs/stable/generated/torch.nn.MaxPool2d.html
"""

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

PAD = -np.inf


@dataclass(frozen=True, slots=True)
class Context:
    """What backward needs, 8 bytes per output: no input, no output, no mask."""

    winner: np.ndarray  # (N, C, Ho, Wo) int64, index into the flattened padded plane
    shape: tuple[int, int, int, int]  # of x
    dtype: np.dtype  # of x
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
        ctx: what `maxpool2d_backward` needs, 8 bytes per output.
    """
    windows = _windows(x, kernel, stride, padding)
    winner = _index_in_frame(_pick(windows), kernel, stride, padding, x.shape)
    return windows.max(axis=-1), Context(winner, x.shape, x.dtype, padding)


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
    place = planes * (frame_height * frame_width) + ctx.winner
    _scatter(frame.reshape(-1), place.reshape(-1), grad_y.reshape(-1))
    return _crop(frame, ctx)


def _windows(x: np.ndarray, kernel: int, stride: int, padding: int) -> np.ndarray:
    """Return every window flattened in row-major order: (N, C, Ho, Wo, kernel * kernel)."""
    batch, channels, height, width = x.shape
    frame = np.full((batch, channels, height + 2 * padding, width + 2 * padding), PAD, x.dtype)
    frame[:, :, padding : padding + height, padding : padding + width] = x
    windows = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    return windows.reshape(*windows.shape[:4], kernel * kernel)


def _pick(windows: np.ndarray) -> np.ndarray:
    """Return the place of the first maximum inside each window: (N, C, Ho, Wo) int64."""
    return windows.argmax(axis=-1).astype(np.int64, copy=False)


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
