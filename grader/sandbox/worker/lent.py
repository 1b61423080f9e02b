"""Inputs in memory that the judge has mapped as well, so that it sees itself what becomes of them.

The judge writes an input into the memory and says where it lies; here it becomes an array or a
tensor on that very memory.  Both sides use what says how a layout lies in memory.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from . import mapping
from .messages import Lent
from .wire import Array


def allocated(layout: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the allocation behind an array of a shape in a layout."""
    if layout == "strided" and shape:
        return (*shape[:-1], 2 * shape[-1])
    if layout == "broadcast" and shape and shape[0]:
        return (1, *shape[1:])
    return shape


def spread(flat: Array, layout: str, shape: tuple[int, ...]) -> Array:
    """The array of a layout on an allocation, as `layouts` lays it out."""
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


def of_tensors(layout: str) -> str:
    """The layout of a tensor: torch has no negative strides, and nothing that is read-only.

    Instead of the first, the axes are in another order in memory.
    """
    return {"reversed": "fortran", "readonly": "contiguous"}.get(layout, layout)


def kind(dtype: str) -> np.dtype[Any]:
    """What numpy calls the entries of a dtype; bfloat16 is bits to it."""
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


def loud(dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 a scalar of that dtype
    """What would be noticed in any sum of such entries."""
    if dtype.kind == "f":
        return np.nan
    return 1 if dtype.kind == "b" else np.iinfo(dtype).max


def array(lent: Lent, layout: str) -> Array:
    """An array on lent memory."""
    shape = tuple(lent.shape)
    flat = np.frombuffer(_memory(lent, layout), kind(lent.dtype))
    found = spread(flat, layout, shape)
    if layout == "readonly":
        found.flags.writeable = False
    return found


def tensor(lent: Lent, layout: str) -> Any:  # noqa: ANN401 torch is not imported by numpy workers
    """A tensor on lent memory; the layout is one of tensors."""
    import torch

    flat = torch.frombuffer(_memory(lent, layout), dtype=getattr(torch, lent.dtype))
    shape = tuple(lent.shape)
    like = spread(np.empty(math.prod(allocated(layout, shape)), kind(lent.dtype)), layout, shape)
    strides = [step // like.itemsize for step in like.strides]
    return torch.empty(0, dtype=flat.dtype).set_(flat.untyped_storage(), 0, shape, strides)


def _memory(lent: Lent, layout: str) -> Any:  # noqa: ANN401 a class of ctypes made for its size
    """The bytes of one input, and no others: what is kept of them is counted."""
    size = math.prod(allocated(layout, tuple(lent.shape))) * kind(lent.dtype).itemsize
    if not mapping.address or not 0 < size <= mapping.SIZE - lent.offset:
        raise ValueError("nothing was lent")
    return (ctypes.c_char * size).from_address(mapping.address + lent.offset)
