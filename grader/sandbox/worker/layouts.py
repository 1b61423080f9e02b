"""Inputs as the question wants them in memory: order, strides, read-only, tensors.

The wire carries contiguous values; what a layout changes is only where they lie.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .messages import Input
from .wire import Array, Tensor


def build(given: Input) -> Any:  # noqa: ANN401 an input may be anything the wire carries
    """Make one input, owned by nobody else."""
    tensor = given.value if isinstance(given.value, Tensor) else None
    value = given.value if tensor is None else tensor.values
    if not isinstance(value, np.ndarray):
        return value
    if given.tensor:
        return _tensor(value, tensor.dtype if tensor else None, given.layout, grad=given.grad)
    return laid_out(value, given.layout)


def laid_out(array: Array, layout: str) -> Array:
    """Return a fresh array of equal values in the given layout."""
    if array.ndim == 0 and layout not in {"contiguous", "readonly"}:
        return array.copy()
    match layout:
        case "fortran":
            return np.array(array, order="F")
        case "reversed":
            flip = (slice(None, None, -1),) * array.ndim
            return np.array(array[flip], order="C")[flip]
        case "strided":
            # Between the values lies something that would be noticed in any sum.
            shape = (*array.shape[:-1], 2 * array.shape[-1])
            view = np.full(shape, _loud(array.dtype), array.dtype)[..., ::2]
            view[...] = array
            return view
        case "broadcast" if array.shape[0] > 0:
            return np.broadcast_to(array[:1].copy(), array.shape)
        case "readonly":
            fixed = array.copy()
            fixed.flags.writeable = False
            return fixed
        case _:
            return array.copy()


def _loud(dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 a scalar of that dtype
    if dtype.kind == "f":
        return np.nan
    return 1 if dtype.kind == "b" else np.iinfo(dtype).max


def _tensor(array: Array, dtype: str | None, layout: str, *, grad: bool) -> Any:  # noqa: ANN401 torch is not imported by numpy workers
    import torch

    shape, repeated = array.shape, layout == "broadcast" and array.ndim and array.shape[0]
    if repeated:
        array = array[:1]
    # torch has no negative strides: the axes are in another order in memory instead.
    other = {"reversed": "fortran", "broadcast": "contiguous", "readonly": "contiguous"}
    tensor = torch.from_numpy(laid_out(array, other.get(layout, layout)))
    if dtype is not None and dtype != array.dtype.name:
        made = torch.empty_strided(array.shape, tensor.stride(), dtype=getattr(torch, dtype))
        tensor = made.copy_(tensor)
    if repeated:
        tensor = tensor.expand(shape)
    return tensor.requires_grad_(grad) if tensor.is_floating_point() else tensor
