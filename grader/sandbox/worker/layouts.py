"""Inputs as the question wants them in memory: order, strides, read-only, tensors.

The wire carries contiguous values; what a layout changes is only where they lie.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .protocol import WireInput
from .wire import Array, Tensor, bfloat16_bits


def build_input(given: WireInput) -> Any:  # noqa: ANN401 an input may be anything the wire carries
    """Make one input, owned by nobody else."""
    value, layout = given.value, given.layout
    if isinstance(value, np.ndarray):
        values, dtype = value, value.dtype.name
    elif isinstance(value, Tensor):
        values, dtype = value.values, value.dtype
        values = bfloat16_bits(values) if dtype == "bfloat16" else values
    else:
        return value
    if given.tensor:
        return _tensor(values, dtype, layout, grad=given.grad)
    array = _spread(_laid_out(values, layout), layout, values.shape)
    if layout == "readonly":
        array.flags.writeable = False
    return array


def _tensor(values: Array, dtype: str, layout: str, *, grad: bool) -> Any:  # noqa: ANN401 torch is not imported by numpy workers
    import torch

    # Torch has no negative strides, and nothing that is read-only; instead of the first, the axes
    # are in another order in memory.
    layout = {"reversed": "fortran", "readonly": "contiguous"}.get(layout, layout)
    flat = _laid_out(values, layout)
    of = getattr(torch, dtype)
    memory = torch.frombuffer(flat, dtype=of) if flat.size else torch.empty(0, dtype=of)
    strides = [step // flat.itemsize for step in _spread(flat, layout, values.shape).strides]
    tensor = torch.empty(0, dtype=of).set_(memory.untyped_storage(), 0, values.shape, strides)
    return tensor.requires_grad_(grad) if tensor.is_floating_point() else tensor


def _allocated(layout: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the allocation behind an array of a shape in a layout."""
    if layout == "strided" and shape:
        return (*shape[:-1], 2 * shape[-1])
    if layout == "broadcast" and shape and shape[0]:
        return (1, *shape[1:])
    return shape


def _spread(flat: Array, layout: str, shape: tuple[int, ...]) -> Array:
    """The array of a layout on a flat allocation."""
    inside = _allocated(layout, shape)
    if layout == "fortran":
        return flat.reshape(inside[::-1]).T
    whole = flat.reshape(inside)
    if layout == "reversed" and shape:
        return whole[(slice(None, None, -1),) * whole.ndim]
    if layout == "strided" and shape:
        return whole[..., ::2]
    if layout == "broadcast" and shape and shape[0]:
        return np.broadcast_to(whole, shape)
    return whole


def _laid_out(values: Array, layout: str) -> Array:
    """A fresh flat allocation that holds an array in a layout."""
    if layout in {"contiguous", "readonly"}:
        return np.array(values, order="C").reshape(-1)
    inside = _allocated(layout, values.shape)
    flat = np.zeros(math.prod(inside), values.dtype)
    if layout == "strided":  # what lies between the elements would be noticed in any sum
        kind = values.dtype.kind
        loud = np.nan if kind in "fc" else 1 if kind == "b" else np.iinfo(values.dtype).max
        flat[:] = loud
    if layout == "broadcast":
        flat.reshape(inside)[...] = values[:1] if values.ndim else values
    else:
        _spread(flat, layout, values.shape)[...] = values
    return flat
