"""Measure the memory that a run keeps, and name the arrays that it keeps.

Only data is counted: the allocation behind every array, bytes and texts, and 8 bytes for every
number in a container.  A small view of a large array counts the large one.  Object headers of
Python are not counted: they differ between versions, and a state budget is not about them.  The
references of an object are read from the garbage collector, because a class cannot forge them.

An array gets the name of an input or a result if it shares memory with it, or if all entries are
equal.  With few different entries that may be chance, so such an array gets no name.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import sys
import tracemalloc
import types
from collections.abc import Iterable, Mapping, Sequence
from gc import get_referents
from typing import Any
from weakref import ref

import numpy as np

from .. import steps as stepping
from .. import values
from ..limits import MAX_KEPT_NAMES
from ..protocol import Measure, Measured
from ..steps import LoadedProgram
from ..wire import Array, Tensor

UNCOUNTED_BYTES = 4 << 10  # bytes of frames, caches and small objects, which are not counted
MIN_OBJECT_BYTES = 24  # bytes of a float, the smallest object that Python allocates itself
NUMBER_BYTES = 8  # bytes counted for a Python int, float or numpy scalar
# Bytes of a text without its characters, if it is not ASCII; 16 fewer since Python 3.12.
_TEXT_HEADER = "\xe9\xe8".__sizeof__() - 2
_NOT_DATA = (type, types.ModuleType, types.CodeType, np.dtype)
_CLASS_NAMES = type.__dict__["__dict__"].__get__  # a metaclass cannot forge it
_NUMBERS = (int, float, complex, np.generic)
MIN_DISTINCT_ENTRIES = 4  # two arrays with fewer different entries may be equal by chance
MAX_COUNTED_ENTRIES = 4096  # entries of an array among which different ones are counted
_FLOATS = {"float16", "bfloat16", "float32", "float64"}

AnyObject = Any
KeptArray = Any  # an array or a tensor
ArrayWithDtype = tuple[Array, str]  # tensors become float32 arrays if numpy lacks their dtype


class _MallInfo(ctypes.Structure):
    """Result of mallinfo2(3) in glibc."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
            "fordblks", "keepcost",
        )
    )  # fmt: skip


_mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None)  # before a program could replace it
if _mallinfo is not None:
    _mallinfo.restype = _MallInfo


def _traced_bytes() -> int:
    return tracemalloc.get_traced_memory()[0]


def _malloc_bytes() -> int:
    """Return the bytes that malloc has handed out, plus a minimum for small Python objects."""
    assert _mallinfo is not None
    info = _mallinfo()
    return int(info.uordblks + info.hblkhd) + MIN_OBJECT_BYTES * sys.getallocatedblocks()


@functools.cache
def _fill_numpy_cache() -> None:
    """Fill the cache of numpy, which keeps up to seven freed arrays of each size below 1 KB.

    Otherwise arrays that a run frees would go there, and seem to be hidden bytes.
    """
    for size in range(1, 1024):
        _ = [np.empty(size, np.uint8) for _ in range(7)]


def measure_state(
    program: LoadedProgram, request: Measure, *, exact: bool = _mallinfo is None
) -> Measured:
    """Measure the bytes reachable from the result `of`, plus those hidden elsewhere.

    `Measured.kept` names the reachable arrays, see `describe_kept`.  Hidden bytes stay allocated
    after all results are gone, as in a global variable.  An `exact` count traces allocations,
    which slows a program in plain loops tenfold.  malloc tells its total at once.  But that total
    may be some kilobytes too high, counts small objects only in part, and does not show memory that
    replaces memory of an earlier run.  So the first run asks malloc.  If it shows hidden bytes, or
    if global values of the program could hide some, a second run is traced.
    """
    used_bytes = _traced_bytes
    if not exact:
        used_bytes = _malloc_bytes
        _fill_numpy_cache()
    names = stepping.build_inputs(request.inputs)
    inputs = list(names.values())
    arrays: list[KeptArray] = []
    gc.collect()
    if exact:
        tracemalloc.start()
    try:
        before = used_bytes()
        stepping.perform_steps(program, request.steps, names)
        result = names.pop(request.of)
        reachable = reachable_bytes(result, arrays)
        before_naming = used_bytes()
        kept = describe_kept(arrays, names)
        if exact:  # otherwise the bytes that naming leaves allocated cannot be told
            before += used_bytes() - before_naming
        kept_arrays = _weak_references(arrays, inputs)
        del result
        arrays.clear()
        names.clear()
        gc.collect()
        # Arrays that are reachable and hidden as well must not count twice.
        still_alive = reachable_bytes([kept_array() for kept_array in kept_arrays])
        del kept_arrays
        hidden = used_bytes() - before - still_alive
    finally:
        tracemalloc.stop()
    if not exact:
        if hidden > UNCOUNTED_BYTES or reachable_bytes(_global_values(program)) > UNCOUNTED_BYTES:
            return measure_state(program, request, exact=True)
        hidden = 0
    return Measured(reachable + max(0, hidden - UNCOUNTED_BYTES), kept=kept)


def _weak_references(
    arrays: Iterable[KeptArray], inputs: Sequence[object]
) -> list[ref[np.ndarray[Any, Any]]]:
    """Return weak references to the allocations behind arrays, except allocations of inputs.

    They tell later which allocations are still alive.
    """
    new_allocations = [base for base in map(_base, arrays) if not values.share_memory(base, inputs)]
    return [ref(base) for base in new_allocations if isinstance(base, np.ndarray)]


def _global_values(program: LoadedProgram) -> list[object]:
    """Return the values of a module, and the namespaces of the classes that it defines."""
    module_values = list(vars(program.module).values())
    namespaces = [_CLASS_NAMES(value) for value in module_values if issubclass(type(value), type)]
    name = program.module.__name__
    return module_values + [names for names in namespaces if names.get("__module__") == name]


def measure_allocation(program: LoadedProgram, request: Measure) -> Measured:
    """Measure the peak of memory that the last step allocates, including its results.

    numpy reports every array to tracemalloc, even a temporary one.
    """
    *earlier_steps, last_step = request.steps
    names = stepping.build_inputs(request.inputs)
    stepping.perform_steps(program, earlier_steps, names)
    gc.collect()
    tracemalloc.start()
    try:
        stepping.perform_steps(program, [last_step], names)
        peak = tracemalloc.get_traced_memory()[1]
    except stepping.StepFailed as failure:
        raise stepping.StepFailed(len(earlier_steps), failure.error) from None
    finally:
        tracemalloc.stop()
    return Measured(max(0, peak - UNCOUNTED_BYTES))


# -- bytes -----------------------------------------------------------------------------------------


def reachable_bytes(root: object, arrays: list[KeptArray] | None = None) -> int:
    """Return the bytes of data that `root` keeps alive, counting each allocation once.

    Arrays and tensors are added to `arrays`.
    """
    total = 0
    visited: set[int] = set()  # ids of objects, and of storages of tensors
    pending: list[AnyObject] = [root]
    alive: list[AnyObject] = []  # otherwise a new object could get the id of a visited one
    while pending:
        item = pending.pop()
        kind = type(item)  # not isinstance: an object may lie about its class
        if item is None or issubclass(kind, _NOT_DATA):
            continue
        if id(item) in visited and not issubclass(kind, _NUMBERS):
            continue
        visited.add(id(item))
        alive.append(item)
        if arrays is not None and (issubclass(kind, np.ndarray) or values.is_tensor(item)):
            arrays.append(item)
        if issubclass(kind, int):
            total += max(NUMBER_BYTES, -(-int.bit_length(item) // 8))
        elif issubclass(kind, _NUMBERS):
            total += NUMBER_BYTES
        elif issubclass(kind, str):
            total += max(str.__len__(item), str.__sizeof__(item) - _TEXT_HEADER)
        elif issubclass(kind, np.ndarray):
            total += _array_bytes(item, pending, visited)
        else:
            total += _buffer_bytes(item, visited)
        if kind not in {int, float, str, bytes, np.ndarray}:
            pending.extend(_referents(item, kind))
    return total


def _array_bytes(array: KeptArray, pending: list[AnyObject], visited: set[int]) -> int:
    root = _base(array)
    if root is not array:
        if not isinstance(root, np.ndarray):
            pending.append(root)
            return 0
        if id(root) in visited:
            return 0
        visited.add(id(root))
        pending.extend(get_referents(root))
    plain = np.ndarray.view(root, np.ndarray)
    if plain.dtype == object:
        pending.extend(plain.ravel().tolist())
    return int(plain.nbytes)


def _base(array: AnyObject) -> AnyObject:
    """Return the object that owns the memory of an array: an array, or another owner."""
    while isinstance(array, np.ndarray):
        base = np.ndarray.base.__get__(array)  # a subclass may replace it
        if base is None:
            break
        array = base
    return array


def _buffer_bytes(item: AnyObject, visited: set[int]) -> int:
    """Return the size in bytes of a buffer, or of a tensor's storage; 0 for any other object.

    Buffers are objects such as bytes, `array.array` and ctypes.  A visited storage counts as 0.
    """
    if values.is_tensor(item):
        storage = item.untyped_storage()
        if storage._cdata in visited:
            return 0
        visited.add(storage._cdata)
        return int(storage.nbytes())
    try:
        with memoryview(item) as memory:
            return memory.nbytes
    except (TypeError, ValueError, BufferError):
        return 0


def _referents(item: AnyObject, kind: type) -> list[AnyObject]:
    if issubclass(kind, types.FunctionType):  # its globals are not state
        cell_values = [value for cell in item.__closure__ or () for value in get_referents(cell)]
        return [*cell_values, item.__defaults__, item.__kwdefaults__, item.__dict__]
    if issubclass(kind, dict):
        keys = [key for key in dict.keys(item) if type(key) is not str]  # texts are not data
        return [*dict.values(item), *keys]
    return get_referents(item)


# -- names -----------------------------------------------------------------------------------------


def describe_kept(kept: Iterable[object], names: Mapping[str, object]) -> tuple[str, ...]:
    """Describe arrays that a run keeps, one for each allocation, the largest first.

    Args:
        kept: arrays and tensors of any shape; other objects are ignored.
        names: the inputs and results of the run; only arrays and tensors can be recognized.

    Returns:
        `x` if the array shares memory with x; `x (copy)` if it has the entries of x in the same
        order, in any shape, after a cast or transposed; `x or y (copy)` if both fit; otherwise
        `other (4x5 float32)`, or `other (view of 4x5 float32)` if it keeps a larger array alive.
    """
    candidates: dict[str, KeptArray] = {}
    for name, value in names.items():
        if (array := _plain_array(value)) is not None:
            candidates[name] = array
    by_allocation: dict[int, KeptArray] = {}
    kept_arrays = [array for item in kept if (array := _plain_array(item)) is not None]
    for array in sorted(kept_arrays, key=lambda array: int(array.nbytes), reverse=True):
        if isinstance(array, np.ndarray):
            key = id(_base(array))
        else:
            key = array.untyped_storage()._cdata
        by_allocation.setdefault(key, array)
    snapshots: dict[str, ArrayWithDtype | None] = {}
    largest = list(by_allocation.values())[:MAX_KEPT_NAMES]
    return tuple(_describe_array(array, candidates, snapshots) for array in largest)


def _plain_array(value: KeptArray) -> KeptArray | None:
    """Return an array without its subclass, or a tensor; None for any other object."""
    if issubclass(type(value), np.ndarray):
        return np.ndarray.view(value, np.ndarray)
    return value if values.is_tensor(value) else None


def _describe_array(
    array: KeptArray,
    candidates: Mapping[str, KeptArray],
    snapshots: dict[str, ArrayWithDtype | None],
) -> str:
    """Describe one array, as `describe_kept` says; `snapshots` caches those of the candidates."""
    for name, value in candidates.items():
        if values.share_memory(array, value):
            return name
    snapshot = _snapshot(array)
    if snapshot is not None:
        if not snapshots:
            snapshots.update({name: _snapshot(value) for name, value in candidates.items()})
        copied = [name for name in candidates if _is_copy(snapshot, snapshots[name])]
        if copied:
            return f"{' or '.join(copied)} (copy)"
    base = _base(array)
    prefix = ""
    if isinstance(base, np.ndarray) and base.nbytes > array.nbytes:
        array = base
        prefix = "view of "
    shape = "x".join(map(str, array.shape)) or "one"
    return f"other ({prefix}{shape} {values.dtype_name(array)})"


def _snapshot(value: KeptArray) -> ArrayWithDtype | None:
    try:
        plain = values.snapshot(value)
    except (TypeError, RuntimeError):  # numpy lacks some dtypes of torch
        return None
    if isinstance(plain, Tensor):
        return plain.values, plain.dtype
    return (plain, plain.dtype.name) if type(plain) is np.ndarray else None


def _is_copy(left: ArrayWithDtype, right: ArrayWithDtype | None) -> bool:
    """Return True if both arrays have the same entries after a cast to one of their dtypes.

    The shape may differ, and one may be transposed.  Arrays with fewer different entries than
    MIN_DISTINCT_ENTRIES may be equal by chance: they are no copies.
    """
    if right is None or left[0].size != right[0].size:
        return False
    dtypes = {left[1], right[1]}
    # Masks, integers and floats are not casts of each other.
    is_cast = dtypes <= _FLOATS or all("int" in dtype for dtype in dtypes)
    if len(dtypes) > 1 and not is_cast:
        return False
    for dtype in dtypes:
        flat = _cast(left[0], dtype).reshape(-1)
        other = _cast(right[0], dtype)
        has_nan = flat.dtype.kind in "fc"
        is_equal = any(
            np.array_equal(flat, layout.reshape(-1), equal_nan=has_nan)
            for layout in (other, other.T)
        )
        if is_equal and len(np.unique(flat[:MAX_COUNTED_ENTRIES])) >= MIN_DISTINCT_ENTRIES:
            return True
    return False


def _cast(array: Array, dtype: str) -> Array:
    if dtype == "bfloat16":  # only torch has it, so torch is imported
        torch = sys.modules["torch"]
        rounded = torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
        widened: Array = rounded.float().numpy()
        return widened
    return array.astype(dtype, copy=False)
