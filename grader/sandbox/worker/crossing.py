"""Values as they cross from one process to another, and the frames that say what is done with them.

They are plain data, functions numbers.  See `calling`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import typed, values, wire
from .messages import Passed, Said
from .wire import DTYPES, Opaque, WireError

TO_THE_JUDGE = {"ask", "malformed"}  # what is said that it has to read itself
_PLAIN = Passed()
MOST_BYTES = 1 << 20  # of arrays in one call

_array, _generator = np.frombuffer, np.random.Generator
# numpy imports `random` when it is first used: here, in the zygote, once for all workers.
_BITS = {n: getattr(np.random, n) for n in ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")}
_MOST_PLACES = {"MT19937": 624, "Philox": 4}
# What has no name on the wire crosses as bytes.
_WIDE: dict[Any, str] = {
    np.dtype(w): w for w in ("longdouble", "clongdouble") if np.dtype(w).name not in DTYPES
}


def pack(value: Any, keyword: str = "", functions: list[Any] | None = None) -> Passed:  # noqa: ANN401 any value
    """A value as it crosses; a function is added to a list, where there is one."""
    if functions is not None and callable(value):
        functions.append(value)
        return Passed(keyword=keyword, function=len(functions) - 1)
    if type(value) is _generator:
        return Passed(value.bit_generator.state, keyword, generator=True)
    readonly = type(value) is np.ndarray and not value.flags.writeable
    if (type(value) is np.ndarray or isinstance(value, np.generic)) and value.dtype in _WIDE:
        content = _array(value.tobytes(), np.uint8)
        return Passed(content, keyword, -1, _WIDE[value.dtype], value.shape, readonly)
    return Passed(values.snapshot(value), keyword, readonly=readonly)


def _place(state: Mapping[str, Any]) -> int:
    """Where in its buffer a generator stands; 0 for those that have none."""
    if state["bit_generator"] == "MT19937":
        return int(state["state"]["pos"])
    return int(state.get("buffer_pos", 0))


def unpack(passed: Passed) -> Any:  # noqa: ANN401 any value
    """The value, which nobody else holds."""
    value = passed.value
    if passed.generator:
        bits = _BITS[value["bit_generator"]]()
        if not 0 <= _place(value) <= _MOST_PLACES.get(value["bit_generator"], 0):
            raise WireError("no state of a generator")  # numpy reads whatever lies there
        bits.state = value
        return _generator(bits)
    if passed.wide:
        kind = next(kind for kind, word in _WIDE.items() if word == passed.wide)
        value = _array(value.tobytes(), kind).reshape(passed.shape).copy()
    if passed.readonly:
        value.flags.writeable = False
    return value


def framed(said: Said) -> Sequence[bytes | memoryview]:
    """The pieces of a frame; most calls are of nothing but arrays."""
    magic = wire.MAGIC if said.about in TO_THE_JUDGE else wire.SAID
    plain = all(type(one.value) is np.ndarray and one[1:] == _PLAIN[1:] for one in said.given)
    if plain and not said.changed and said.raised is None and not said.name:
        arrays = [one.value for one in said.given]
        return [wire.encode_plain([said.about, said.number, said.argument], arrays, magic)]
    return wire.encode({"ok": True, **wire.fields(said)}, magic)


def read(meta: bytes, payload: memoryview) -> Said:
    """What a frame says.

    Raises:
        WireError, Malformed: it is none.
    """
    if meta[:1] != b"[":
        return typed.read(Said, wire.decode(meta, payload))
    about, arrays = wire.decode_plain(meta, payload)
    match about:
        case [str(word), int(number), int(argument)]:
            given = tuple(Passed(array) for array in arrays)
            return Said(word, number=number, given=given, argument=argument)
    raise WireError("a frame about nothing")


def pack_all(
    args: Sequence[Any], kwargs: Mapping[str, Any], functions: list[Any] | None = None
) -> tuple[Passed, ...]:
    """Arguments as they cross.

    Raises:
        TypeError, ValueError: they cannot.
    """
    every = [("", value) for value in args] + [(str(k), value) for k, value in kwargs.items()]
    packed = tuple(pack(value, keyword, functions) for keyword, value in every)
    parts = [part for one in packed for part in _parts(one.value)]
    for part in parts:
        if isinstance(part, Opaque):
            raise TypeError(f"expected numbers, texts and arrays of numbers, found {part.type}")
        if isinstance(part, np.ndarray) and part.dtype.name not in DTYPES:
            raise TypeError(f"expected arrays of numbers, found one of {part.dtype.name}")
    size = sum(part.nbytes for part in parts if isinstance(part, np.ndarray))
    if size > MOST_BYTES:
        raise ValueError(f"expected at most {MOST_BYTES:,} bytes of arrays, found {size:,}")
    return packed


def _parts(value: object) -> Iterator[object]:
    if isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _parts(item)
    else:
        yield value
