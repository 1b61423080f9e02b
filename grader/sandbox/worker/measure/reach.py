"""What a run keeps: bytes reachable from an object that one function hands to another.

Counted is data, not bookkeeping: the allocation behind every array (so a small view of a large
array counts the large one), bytes and texts, and 8 bytes for every number in a container.  Python's
own object headers are not: they differ between versions and are not what a state budget is about.

What an object refers to is asked of the garbage collector, so that no class has a say in it.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
import types
from gc import get_referents
from typing import Any

import numpy as np

from .. import steps as stepping
from .. import values
from ..namespace import LoadedModule
from ..protocol import Kept, Measure, Measured, State
from . import kept as keeping

OWN_OBJECTS = 4 << 10  # bytes that a step's frames and small objects may take without being asked
_HEADER = 24  # bytes of an object apart from its value: a reference count, its type, and rounding
NUMBER = 8  # bytes counted for a Python int, float or numpy scalar
_TEXT_HEADER = "\xe9\xe8".__sizeof__() - 2  # of a text that is not ASCII; 16 less since Python 3.12
_SKIP = (type, types.ModuleType, types.CodeType, np.dtype)


def state(program: LoadedModule, asked: State) -> Kept:
    """Bytes reachable from the result `of`, what they are, and bytes also left allocated."""
    stepping.perform_all(program, asked.steps, stepping.build(asked.inputs))
    gc.collect()
    names = stepping.build(asked.inputs)
    tracemalloc.start()
    try:
        stepping.perform_all(program, asked.steps, names)
        gc.collect()
        traced = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    arrays: list[Any] = []
    found, added = reachable(names[asked.of], arrays)
    others = [names[name] for name in names.keys() - asked.inputs.keys() - {asked.of}]
    # What an earlier step gave may be the very arrays that are kept, updated in place.
    apart = [
        part
        for part in values.parts(others)
        if isinstance(part, np.ndarray) and not values.share_memory(part, arrays)
    ]
    allocated = traced - added - values.allocation(apart)
    run = {name: value for name, value in names.items() if name != asked.of}
    return Kept(found, max(0, allocated), added, keeping.names(arrays, run))


def allocated(program: LoadedModule, asked: Measure) -> Measured:
    """The most that the last step allocates at once, its results included.

    As tracemalloc sees it, to which numpy reports every array, however short its life.
    """
    *before, last = asked.steps
    # Caches made by a first call are not its cost.
    stepping.perform_all(program, asked.steps, stepping.build(asked.inputs))
    names = stepping.build(asked.inputs)
    stepping.perform_all(program, before, names)
    gc.collect()
    tracemalloc.start()
    try:
        stepping.perform_all(program, [last], names)
        highest = tracemalloc.get_traced_memory()[1]
    except stepping.Stopped as stopped:
        raise stepping.Stopped(len(before), stopped.error) from None
    finally:
        tracemalloc.stop()
    return Measured(max(0, highest - OWN_OBJECTS))


def reachable(root: object, arrays: list[Any] | None = None) -> tuple[int, int]:
    """Return the bytes of data that `root` keeps alive, and about what Python's objects add.

    Each allocation counts once.  A list of numbers has 8 bytes of data per number, and takes 40.
    The arrays and tensors among it are added to `arrays`.
    """
    total = added = 0
    seen: set[int] = set()
    pending: list[Any] = [root]
    storages: set[int] = set()
    keep: list[Any] = []  # a freed temporary's id must not be met again
    while pending:
        item = pending.pop()
        kind = type(item)  # not isinstance: an object may lie about its class
        if item is None or issubclass(kind, _SKIP):
            continue
        if not issubclass(kind, (bool, int, float, complex, np.generic)) and id(item) in seen:
            continue
        if id(item) not in seen:
            added += _object_bytes(item, kind)
        seen.add(id(item))
        keep.append(item)
        if arrays is not None and (issubclass(kind, np.ndarray) or values.is_tensor(item)):
            arrays.append(item)
        if issubclass(kind, int):
            total += max(NUMBER, -(-int.bit_length(item) // 8))
        elif issubclass(kind, (float, complex, np.generic)):
            total += NUMBER
        elif issubclass(kind, str):
            total += max(str.__len__(item), str.__sizeof__(item) - _TEXT_HEADER)
        elif issubclass(kind, np.ndarray):
            total += _array(item, pending, seen)
        else:
            total += _buffer(item, storages)
        if kind not in {int, float, str, bytes, np.ndarray}:
            pending.extend(_referents(item, kind))
    return total, max(0, added)


def _object_bytes(item: Any, kind: type) -> int:  # noqa: ANN401 anything at all
    """Bytes of an object apart from the data that is counted for it."""
    if issubclass(kind, (int, float, complex, np.generic)):
        return _HEADER
    sized = next(
        (one for one in (list, tuple, dict, set, frozenset) if issubclass(kind, one)), None
    )
    return 4 * _HEADER if sized is None else _HEADER + sized.__sizeof__(item)


def _array(array: np.ndarray[Any, np.dtype[Any]], pending: list[Any], seen: set[int]) -> int:
    root: Any = array
    while isinstance(root, np.ndarray) and (base := np.ndarray.base.__get__(root)) is not None:
        root = base
    if root is not array:
        if not isinstance(root, np.ndarray):
            pending.append(root)
            return 0
        if id(root) in seen:
            return 0
        seen.add(id(root))
        pending.extend(get_referents(root))
    plain = np.ndarray.view(root, np.ndarray)
    if plain.dtype == object:
        pending.extend(plain.ravel().tolist())
    return int(plain.nbytes)


def _buffer(item: Any, storages: set[int]) -> int:  # noqa: ANN401 anything at all
    """The bytes of whatever lends its memory: bytes, array, ctypes; a tensor's storage."""
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(type(item), torch.Tensor):
        storage = item.untyped_storage()
        seen = storage._cdata in storages
        storages.add(storage._cdata)
        return 0 if seen else int(storage.nbytes())
    try:
        with memoryview(item) as memory:
            return memory.nbytes
    except (TypeError, ValueError, BufferError):
        return 0


def _referents(item: Any, kind: type) -> list[Any]:  # noqa: ANN401 anything at all
    if issubclass(kind, types.FunctionType):  # its globals are not what it was given
        cells = [r for cell in item.__closure__ or () for r in get_referents(cell)]
        return [*cells, item.__defaults__, item.__kwdefaults__, item.__dict__]
    if issubclass(kind, dict):  # words as keys are bookkeeping
        return [*dict.values(item), *(k for k in dict.keys(item) if type(k) is not str)]
    return get_referents(item)
