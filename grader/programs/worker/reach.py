"""Bytes reachable from an object that one function hands to another.

Counted is data, not bookkeeping: the allocation behind every array (so a small view of a large
array counts the large one), bytes and texts, and 8 bytes for every number in a container.  Python's
own object headers are not: they differ between versions and are not what a state budget is about.
"""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np

NUMBER = 8  # bytes counted for a Python int, float or numpy scalar
_SKIP = (type, types.ModuleType, types.BuiltinFunctionType, np.dtype)


def reachable_bytes(root: object) -> int:
    """Return the bytes of data kept alive by `root`, each allocation counted once."""
    total = 0
    seen: set[int] = set()
    pending: list[Any] = [root]
    keep: list[Any] = []  # a freed temporary's id must not be met again
    while pending:
        item = pending.pop()
        if item is None or isinstance(item, _SKIP) or item is Ellipsis:
            continue
        if isinstance(item, (bool, int, float, complex, np.generic)):
            total += NUMBER
            continue
        if id(item) in seen:
            continue
        seen.add(id(item))
        keep.append(item)
        if isinstance(item, np.ndarray):
            total += _array(item, pending, seen)
        elif isinstance(item, (bytes, bytearray)):
            total += len(item)
        elif isinstance(item, memoryview):
            pending.append(item.obj)
        elif isinstance(item, str):
            total += len(item)
        elif isinstance(item, dict):
            pending.extend(item.values())
            pending.extend(k for k in item if not isinstance(k, str))
        elif isinstance(item, (list, tuple, set, frozenset)):
            pending.extend(item)
        else:
            total += _object(item, pending)
    return total


def _array(array: np.ndarray[Any, np.dtype[Any]], pending: list[Any], seen: set[int]) -> int:
    root: Any = array
    while isinstance(root, np.ndarray) and root.base is not None:
        root = root.base
    if root is not array:
        if not isinstance(root, np.ndarray):
            pending.append(root)
            return 0
        if id(root) in seen:
            return 0
        seen.add(id(root))
    if root.dtype == object:
        pending.extend(root.ravel().tolist())
    return int(root.nbytes)


def _object(item: Any, pending: list[Any]) -> int:  # noqa: ANN401 anything at all
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(item, torch.Tensor):
        return int(item.untyped_storage().nbytes())
    if isinstance(item, types.FunctionType):
        pending.extend(cell.cell_contents for cell in item.__closure__ or () if _filled(cell))
        pending.extend(item.__defaults__ or ())
        pending.extend((item.__kwdefaults__ or {}).values())
        pending.append(item.__dict__)
        return 0
    if isinstance(item, types.MethodType):
        pending.append(item.__self__)
        return 0
    size = 0
    for name in ("func", "args", "keywords"):  # functools.partial keeps these outside __dict__
        if type(item).__name__ == "partial" and hasattr(item, name):
            pending.append(getattr(item, name))
    if isinstance(getattr(item, "__dict__", None), dict):
        pending.append(item.__dict__)
    for kind in type(item).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if hasattr(item, slot):
                pending.append(getattr(item, slot))
    if isinstance(item, types.GeneratorType) and item.gi_frame is not None:
        pending.extend(item.gi_frame.f_locals.values())
    if hasattr(item, "buffer_info") and hasattr(item, "itemsize"):  # array.array
        size += len(item) * item.itemsize
    elif not hasattr(item, "__dict__") and isinstance(getattr(item, "__iter__", None), object):
        pending.extend(_contents(item))
    return size


def _contents(item: Any) -> list[Any]:  # noqa: ANN401 anything at all
    """The items of containers known not to be consumed by looking: deque, ranges."""
    if isinstance(item, range):
        return []
    return list(item) if type(item).__module__ == "collections" else []


def _filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
