"""Build inputs with the memory layout of the question: order, strides, read-only, tensors.

The wire sends contiguous values.  A layout changes only their places in memory: `contiguous`,
`readonly`, `fortran`, `reversed` (negative strides), `strided` (gaps between the entries of the
last axis), or `broadcast` (the rows of the first axis, which must be equal, share memory).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .protocol import WireInput
from .wire import Array, Tensor, bfloat16_bits


def build_input(wire_input: WireInput) -> Any:  # noqa: ANN401 any value that the wire can send
    """Build an array or tensor in new memory, with its layout; return any other value as it is."""
    value = wire_input.value
    layout = wire_input.layout
    if isinstance(value, np.ndarray):
        values = value
        dtype = value.dtype.name
    elif isinstance(value, Tensor):
        values = value.values
        dtype = value.dtype
        if dtype == "bfloat16":
            values = bfloat16_bits(values)
    else:
        return value
    if wire_input.tensor:
        return _build_tensor(values, dtype, layout, grad=wire_input.grad)
    array = _view(_allocate(values, layout), layout, values.shape)
    if layout == "readonly":
        array.flags.writeable = False
    return array


def _build_tensor(values: Array, dtype_name: str, layout: str, *, grad: bool) -> Any:  # noqa: ANN401 torch is not imported by numpy workers
    import torch

    # Torch has neither negative strides nor read-only tensors.
    if layout == "reversed":
        layout = "fortran"
    elif layout == "readonly":
        layout = "contiguous"
    flat = _allocate(values, layout)
    dtype = getattr(torch, dtype_name)
    memory = torch.frombuffer(flat, dtype=dtype) if flat.size else torch.empty(0, dtype=dtype)
    strides = [stride // flat.itemsize for stride in _view(flat, layout, values.shape).strides]
    tensor = torch.empty(0, dtype=dtype).set_(memory.untyped_storage(), 0, values.shape, strides)
    return tensor.requires_grad_(grad) if tensor.is_floating_point() else tensor


def _allocated_shape(layout: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the memory behind an array.

    `strided` doubles the last axis; `broadcast` needs one row only.
    """
    if layout == "strided" and shape:
        return (*shape[:-1], 2 * shape[-1])
    if layout == "broadcast" and shape and shape[0]:
        return (1, *shape[1:])
    return shape


def _view(flat: Array, layout: str, shape: tuple[int, ...]) -> Array:
    """View flat memory from `_allocate` as an array with this layout and shape."""
    allocated_shape = _allocated_shape(layout, shape)
    if layout == "fortran":
        return flat.reshape(allocated_shape[::-1]).T
    array = flat.reshape(allocated_shape)
    if layout == "reversed" and shape:
        return array[(slice(None, None, -1),) * array.ndim]
    if layout == "strided" and shape:
        return array[..., ::2]
    if layout == "broadcast" and shape and shape[0]:
        return np.broadcast_to(array, shape)
    return array


def _allocate(values: Array, layout: str) -> Array:
    """Copy values to new flat memory, placed so that `_view` with the same layout shows them."""
    if layout in {"contiguous", "readonly"}:
        return np.array(values, order="C").reshape(-1)
    allocated_shape = _allocated_shape(layout, values.shape)
    flat = np.zeros(math.prod(allocated_shape), values.dtype)
    if layout == "strided":
        flat[:] = _gap_value(values.dtype)
    if layout == "broadcast":
        flat.reshape(allocated_shape)[...] = values[:1] if values.ndim else values
    else:
        _view(flat, layout, values.shape)[...] = values
    return flat


def _gap_value(dtype: np.dtype[Any]) -> float | int:
    """Return a value to fill gaps between elements: a sum that includes a gap is clearly wrong."""
    if dtype.kind in "fc":
        return np.nan
    if dtype.kind == "b":
        return 1
    return int(np.iinfo(dtype).max)
