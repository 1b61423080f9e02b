"""What a run keeps: bytes reachable from an object that one function hands to another, and names.

Counted is data, not bookkeeping: the allocation behind every array (so a small view of a large
array counts the large one), bytes and texts, and 8 bytes for every number in a container.  Python's
own object headers are not: they differ between versions and are not what a state budget is about.
What an object refers to is asked of the garbage collector, so that no class has a say in it.

How many bytes are kept says little about what they are.  A name is given where the memory is that
of an input or a result, or where every entry is equal; where that could be chance, because there
are few different entries, there is none.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import sys
import tracemalloc
import types
from collections.abc import Iterable, Mapping
from gc import get_referents
from typing import Any
from weakref import ref

import numpy as np

from .. import steps as stepping
from .. import values
from ..limits import MAX_KEPT_NAMES
from ..protocol import Measure, Measured
from ..steps import LoadedModule
from ..wire import Array, Tensor

OWN_OBJECTS = 4 << 10  # bytes of frames, caches and small objects that a step is not asked for
MIN_OBJECT_BYTES = 24  # bytes of an object that malloc does not know: a float
NUMBER_BYTES = 8  # bytes counted for a Python int, float or numpy scalar
_TEXT_HEADER = "\xe9\xe8".__sizeof__() - 2  # of a text that is not ASCII; 16 less since Python 3.12
_SKIP = (type, types.ModuleType, types.CodeType, np.dtype)
_CLASS_NAMES = type.__dict__["__dict__"].__get__  # whatever the class of a class says
_NUMBERS = (int, float, complex, np.generic)
MIN_DISTINCT_ENTRIES = 4  # different entries, with which two things are equal for a reason
_LOOK = 4096  # entries among which they are looked for
_FLOATS = {"float16", "bfloat16", "float32", "float64"}

AnyObject = Any  # anything at all
KeptArray = Any  # an array or a tensor
NamedArray = tuple[Array, str] | None


class _MallInfo(ctypes.Structure):
    """What glibc's mallinfo2(3) returns."""

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


def _in_use() -> int:
    """Bytes that malloc has handed out, and the least that Python's own objects take."""
    assert _mallinfo is not None
    info = _mallinfo()
    return int(info.uordblks + info.hblkhd) + MIN_OBJECT_BYTES * sys.getallocatedblocks()


@functools.cache
def _fill_numpys_store() -> None:
    """Let what numpy keeps ready be full: of arrays below 1 KB it never frees the last seven."""
    for size in range(1, 1024):
        _ = [np.empty(size, np.uint8) for _ in range(7)]


def measure_state(
    program: LoadedModule, asked: Measure, *, exact: bool = _mallinfo is None
) -> Measured:
    """Bytes reachable from the result `of`, and those that outlive all results; and of what.

    Tracing what is left is exact, and slows a program in plain loops tenfold.  What malloc says
    takes no time; it may be some kilobytes too much, and half of what lies in small objects.  It
    does not tell what takes the place of what an earlier run left.  Where it says that anything is
    left, or the program has room for that, another run is traced.
    """

    def used() -> int:
        return tracemalloc.get_traced_memory()[0] if exact else _in_use()

    if not exact:
        _fill_numpys_store()
    run = stepping.build_inputs(asked.inputs)
    lent = list(run.values())
    arrays: list[KeptArray] = []
    gc.collect()
    if exact:
        tracemalloc.start()
    try:
        before = used()
        stepping.perform_steps(program, asked.steps, run)
        result = run.pop(asked.of)
        found = reachable_bytes(result, arrays)
        ours = used()
        named = describe_kept(arrays, run)
        ours = used() - ours if exact else 0  # malloc counts what it holds ready for others
        made = [one for one in map(_base, arrays) if not values.share_memory(one, lent)]
        shadows = [ref(one) for one in made if isinstance(one, np.ndarray)]
        del result, made
        arrays.clear()
        run.clear()
        gc.collect()
        counted = values.allocated_bytes([one() for one in shadows])  # reached, and hidden as well
        del shadows
        hidden = used() - before - ours - counted
    finally:
        tracemalloc.stop()
    own = list(vars(program.module).values())
    classes = [_CLASS_NAMES(one) for one in own if issubclass(type(one), type)]
    own += [one for one in classes if one.get("__module__") == program.module.__name__]
    if not exact:
        if max(hidden, reachable_bytes(own)) > OWN_OBJECTS:
            return measure_state(program, asked, exact=True)
        hidden = 0
    return Measured(found + max(0, hidden - OWN_OBJECTS), kept=named)


def measure_allocation(program: LoadedModule, asked: Measure) -> Measured:
    """The most that the last step allocates at once, its results included.

    As tracemalloc sees it, to which numpy reports every array, however short its life.
    """
    *before, last = asked.steps
    run = stepping.build_inputs(asked.inputs)
    stepping.perform_steps(program, before, run)
    gc.collect()
    tracemalloc.start()
    try:
        stepping.perform_steps(program, [last], run)
        highest = tracemalloc.get_traced_memory()[1]
    except stepping.StepFailed as stopped:
        raise stepping.StepFailed(len(before), stopped.error) from None
    finally:
        tracemalloc.stop()
    return Measured(max(0, highest - OWN_OBJECTS))


# -- bytes -----------------------------------------------------------------------------------------


def reachable_bytes(root: object, arrays: list[KeptArray] | None = None) -> int:
    """Return the bytes of data that `root` keeps alive, each allocation once.

    The arrays and tensors among it are added to `arrays`.
    """
    total = 0
    seen: set[int] = set()  # of objects, and of tensors' storages
    pending: list[AnyObject] = [root]
    alive: list[AnyObject] = []  # a freed temporary's id must not be met again
    while pending:
        item = pending.pop()
        kind = type(item)  # not isinstance: an object may lie about its class
        if item is None or issubclass(kind, _SKIP):
            continue
        if id(item) in seen and not issubclass(kind, _NUMBERS):
            continue
        seen.add(id(item))
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
            total += _array(item, pending, seen)
        else:
            total += _buffer(item, seen)
        if kind not in {int, float, str, bytes, np.ndarray}:
            pending.extend(_referents(item, kind))
    return total


def _array(array: KeptArray, pending: list[AnyObject], seen: set[int]) -> int:
    root = _base(array)
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


def _base(array: AnyObject) -> AnyObject:
    """What an array keeps alive of what it is a view of: an array, or who lends the memory."""
    while isinstance(array, np.ndarray) and (base := np.ndarray.base.__get__(array)) is not None:
        array = base
    return array


def _buffer(item: AnyObject, seen: set[int]) -> int:
    """The bytes of whatever lends its memory: bytes, array, ctypes; a tensor's storage."""
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(type(item), torch.Tensor):
        storage = item.untyped_storage()
        known = storage._cdata in seen
        seen.add(storage._cdata)
        return 0 if known else int(storage.nbytes())
    try:
        with memoryview(item) as memory:
            return memory.nbytes
    except (TypeError, ValueError, BufferError):
        return 0


def _referents(item: AnyObject, kind: type) -> list[AnyObject]:
    if issubclass(kind, types.FunctionType):  # its globals are not what it was given
        cells = [r for cell in item.__closure__ or () for r in get_referents(cell)]
        return [*cells, item.__defaults__, item.__kwdefaults__, item.__dict__]
    if issubclass(kind, dict):  # words as keys are bookkeeping
        return [*dict.values(item), *(k for k in dict.keys(item) if type(k) is not str)]
    return get_referents(item)


# -- names -----------------------------------------------------------------------------------------


def describe_kept(kept: Iterable[object], run: Mapping[str, object]) -> tuple[str, ...]:
    """Say what things are, the largest first, one for each allocation.

    Args:
        kept: arrays and tensors, of any shape; whatever else there is is left out.
        run: the inputs and results of a run by name; only arrays and tensors can be recognized.

    Returns:
        `x` for what lies in the memory of x; `x (copy)` for what has as many entries as x and the
        same ones in the same order, in any shape, after a cast or transposed; `x or y (copy)` for
        what is a copy of either; else `other (4x5 float32)`,
        or `other (view of 4x5 float32)` for what keeps a larger array alive.
    """
    known = {name: bare for name, value in run.items() if (bare := _bare(value)) is not None}
    apart: dict[int, KeptArray] = {}
    bares = [bare for one in kept if (bare := _bare(one)) is not None]
    for one in sorted(bares, key=_bytes, reverse=True):
        of = id(_base(one)) if isinstance(one, np.ndarray) else one.untyped_storage()._cdata
        apart.setdefault(of, one)
    plain: dict[str, NamedArray] = {}
    return tuple(_name(one, known, plain) for one in list(apart.values())[:MAX_KEPT_NAMES])


def _bare(value: KeptArray) -> KeptArray | None:
    """An array or a tensor, without its class's say; None where it is neither."""
    if issubclass(type(value), np.ndarray):
        return np.ndarray.view(value, np.ndarray)
    torch = sys.modules.get("torch")
    return value if torch is not None and issubclass(type(value), torch.Tensor) else None


def _bytes(value: KeptArray) -> int:
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    return int(value.numel() * value.element_size())


def _name(one: KeptArray, known: Mapping[str, KeptArray], plain: dict[str, NamedArray]) -> str:
    for name, value in known.items():
        if values.share_memory(one, value):
            return name
    mine = _plain(one)
    if mine is not None:
        plain.update({name: _plain(known[name]) for name in known.keys() - plain.keys()})
        if copied := [name for name in known if _equal(mine, plain[name])]:
            return f"{' or '.join(copied)} (copy)"
    whole, of = _base(one), ""
    if isinstance(whole, np.ndarray) and _bytes(whole) > _bytes(one):
        one, of = whole, "view of "
    shape = "x".join(map(str, one.shape)) or "one"
    return f"other ({of}{shape} {str(one.dtype).removeprefix('torch.')})"


def _plain(value: KeptArray) -> NamedArray:
    try:
        plain = values.snapshot(value)
    except (TypeError, RuntimeError):  # a dtype of torch's that numpy does not have
        return None
    if isinstance(plain, Tensor):
        return plain.values, plain.dtype
    return (plain, plain.dtype.name) if type(plain) is np.ndarray else None


def _equal(mine: tuple[Array, str], other: NamedArray) -> bool:
    """Whether one holds the entries of the other, cast to either's dtype."""
    if other is None or mine[0].size != other[0].size:
        return False
    kinds = {mine[1], other[1]}
    # Not a mask and numbers, or numbers and indices: these are not casts of each other.
    if len(kinds) > 1 and not kinds <= _FLOATS and not all("int" in kind for kind in kinds):
        return False
    for dtype in kinds:
        a, b = _cast(mine[0], dtype), _cast(other[0], dtype)
        flat, nan = a.reshape(-1), a.dtype.kind in "fc"
        same = any(np.array_equal(flat, c.reshape(-1), equal_nan=nan) for c in (b, b.T))
        if same and len(np.unique(flat[:_LOOK])) >= MIN_DISTINCT_ENTRIES:
            return True
    return False


def _cast(array: Array, dtype: str) -> Array:
    if dtype == "bfloat16":  # nobody but torch has it, and so it is there
        torch = sys.modules["torch"]
        rounded = torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
        widened: Array = rounded.float().numpy()
        return widened
    return array.astype(dtype, copy=False)
