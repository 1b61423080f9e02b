"""Inputs as the question wants them in memory: order, strides, read-only, tensors.

The wire carries contiguous values; what a layout changes is only where they lie.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import lent
from .messages import Input
from .wire import Array, Tensor


def build(given: Input) -> Any:  # noqa: ANN401 an input may be anything the wire carries
    """Make one input, owned by nobody else unless the judge lends its memory."""
    if given.lent is not None:
        if not given.tensor:
            return lent.array(given.lent, given.layout)
        made = lent.tensor(given.lent, lent.of_tensors(given.layout))
        return made.requires_grad_(given.grad) if made.is_floating_point() else made
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
            view = np.full(shape, lent.loud(array.dtype), array.dtype)[..., ::2]
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


def _tensor(array: Array, dtype: str | None, layout: str, *, grad: bool) -> Any:  # noqa: ANN401 torch is not imported by numpy workers
    import torch

    shape, repeated = array.shape, layout == "broadcast" and array.ndim and array.shape[0]
    if repeated:
        array = array[:1]
    layout = "contiguous" if layout == "broadcast" else lent.of_tensors(layout)
    tensor = torch.from_numpy(laid_out(array, layout))
    if dtype is not None and dtype != array.dtype.name:
        made = torch.empty_strided(array.shape, tensor.stride(), dtype=getattr(torch, dtype))
        tensor = made.copy_(tensor)
    if repeated:
        tensor = tensor.expand(shape)
    return tensor.requires_grad_(grad) if tensor.is_floating_point() else tensor
