"""Inputs as the question wants them in memory: order, strides, read-only, tensors.

The wire carries contiguous values; what a layout changes is only where they lie.  An input may also
be lent: it then lies in memory that the judge has mapped too, where the judge has written it, so
that it sees itself what becomes of it.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from . import mapping
from .protocol import Input, Lent
from .wire import Array, Tensor, bfloat16_bits


def build(given: Input) -> Any:  # noqa: ANN401 an input may be anything the wire carries
    """Make one input, owned by nobody else unless the judge lends its memory."""
    layout = of_tensors(given.layout) if given.tensor else given.layout
    if given.lent is not None:
        shape, dtype = given.lent.shape, given.lent.dtype
        flat = np.frombuffer(_memory(given.lent, layout), kind(dtype))
    else:
        plain = bits(given.value)
        if plain is None:
            return given.value
        values, dtype = plain
        shape, flat = values.shape, laid_out(values, layout)
    if given.tensor:
        return _tensor(flat, dtype, layout, shape, grad=given.grad)
    array = spread(flat, layout, shape)
    if layout == "readonly":
        array.flags.writeable = False
    return array


def bits(value: object) -> tuple[Array, str] | None:
    """The elements of an array or a tensor as numpy has them, and their dtype; None for others."""
    if isinstance(value, np.ndarray):
        return value, value.dtype.name
    if isinstance(value, Tensor):
        plain = bfloat16_bits(value.values) if value.dtype == "bfloat16" else value.values
        return plain, value.dtype
    return None


def kind(dtype: str) -> np.dtype[Any]:
    """What numpy calls elements of a dtype; bfloat16 is bits to it."""
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


def of_tensors(layout: str) -> str:
    """The layout of a tensor: torch has no negative strides, and nothing that is read-only.

    Instead of the first, the axes are in another order in memory.
    """
    return {"reversed": "fortran", "readonly": "contiguous"}.get(layout, layout)


def allocated(layout: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the allocation behind an array of a shape in a layout."""
    if layout == "strided" and shape:
        return (*shape[:-1], 2 * shape[-1])
    if layout == "broadcast" and shape and shape[0]:
        return (1, *shape[1:])
    return shape


def spread(flat: Array, layout: str, shape: tuple[int, ...]) -> Array:
    """The array of a layout on a flat allocation."""
    inside = allocated(layout, shape)
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


def laid_out(values: Array, layout: str) -> Array:
    """A fresh flat allocation that holds an array in a layout."""
    if layout in {"contiguous", "readonly"}:
        return np.array(values, order="C").reshape(-1)
    inside = allocated(layout, values.shape)
    flat = np.zeros(math.prod(inside), values.dtype)
    if layout == "strided":  # what lies between the elements would be noticed in any sum
        flat[:] = _loud(values.dtype)
    if layout == "broadcast":
        flat.reshape(inside)[...] = values[:1] if values.ndim else values
    else:
        spread(flat, layout, values.shape)[...] = values
    return flat


def _loud(dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 a scalar of that dtype
    if dtype.kind in "fc":
        return np.nan
    return 1 if dtype.kind == "b" else np.iinfo(dtype).max


def _tensor(flat: Array, dtype: str, layout: str, shape: tuple[int, ...], *, grad: bool) -> Any:  # noqa: ANN401 torch is not imported by numpy workers
    import torch

    of = getattr(torch, dtype)
    memory = torch.frombuffer(flat, dtype=of) if flat.size else torch.empty(0, dtype=of)
    strides = [step // flat.itemsize for step in spread(flat, layout, shape).strides]
    tensor = torch.empty(0, dtype=of).set_(memory.untyped_storage(), 0, shape, strides)
    return tensor.requires_grad_(grad) if tensor.is_floating_point() else tensor


def _memory(lent: Lent, layout: str) -> Any:  # noqa: ANN401 a class of ctypes made for its size
    """The bytes of one input, and no others: what is kept of them is counted."""
    size = math.prod(allocated(layout, lent.shape)) * kind(lent.dtype).itemsize
    if not mapping.address or not 0 < size <= mapping.SIZE - lent.offset:
        raise ValueError("nothing was lent")
    return (ctypes.c_char * size).from_address(mapping.address + lent.offset)
