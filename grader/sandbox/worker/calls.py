"""Calls between two programs in two processes, which know nothing of each other.

A test runs in one worker and what it tests in another; the judge hands on what they say.  Functions
cross as numbers, everything else as plain data.  What a call changes in an array, list or dict that
it was given is changed in the caller's too, and a result that lies in the memory of an earlier one
comes back in that one's: a caller sees what it would see in one process.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any
from weakref import ref

import numpy as np

from . import values
from .namespace import LoadedModule
from .protocol import Passed, Said
from .steps import StepFault, Stopped, text_of
from .wire import DTYPES, Array, Opaque, WireError, type_name

MOST_BYTES = 1 << 20  # of arrays in one call
MOST_KEPT = 64  # results in whose memory a later one may be
Exchange = Callable[[Said], Said]  # say something, and wait for the answer

# numpy imports `random` when it is first used: here, in the zygote, once for all workers.
_BITS = {n: getattr(np.random, n) for n in ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")}
_MOST_PLACES = {"MT19937": 624, "Philox": 4}  # in the buffer of a generator that has one
# What has no name on the wire crosses as bytes.
_WIDE: dict[Any, str] = {
    np.dtype(w): w for w in ("longdouble", "clongdouble") if np.dtype(w).name not in DTYPES
}
_EXCEPTIONS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, UnicodeError)
}  # those that are made of a text


class Over(BaseException):
    """The other program has failed, and the call that waits for it ends with this."""


def pack(value: Any, keyword: str = "", functions: list[Any] | None = None) -> Passed:  # noqa: ANN401 any value
    """A value as it crosses; a function is added to a list, where there is one.

    Raises:
        TypeError: it cannot cross.
    """
    if functions is not None and callable(value):
        functions.append(value)
        return Passed(keyword=keyword, function=len(functions) - 1)
    if type(value) is np.random.Generator:
        return Passed(value.bit_generator.state, keyword, generator=True)
    readonly = type(value) is np.ndarray and not value.flags.writeable
    if (type(value) is np.ndarray or isinstance(value, np.generic)) and value.dtype in _WIDE:
        content = np.frombuffer(value.tobytes(), np.uint8)
        return Passed(content, keyword, -1, _WIDE[value.dtype], value.shape, readonly)
    plain = values.snapshot(value)
    for part in _parts(plain):
        if isinstance(part, Opaque):
            raise TypeError(f"expected numbers, texts and arrays of numbers, found {part.type}")
        if isinstance(part, np.ndarray) and part.dtype.name not in DTYPES:
            raise TypeError(f"expected arrays of numbers, found one of {part.dtype.name}")
    return Passed(plain, keyword, readonly=readonly)


def pack_all(
    args: Sequence[Any], kwargs: Mapping[str, Any], functions: list[Any] | None = None
) -> tuple[Passed, ...]:
    """Arguments as they cross.

    Raises:
        TypeError, ValueError: they cannot.
    """
    every = [("", value) for value in args] + [(str(k), value) for k, value in kwargs.items()]
    packed = tuple(pack(value, keyword, functions) for keyword, value in every)
    parts = (part for one in packed for part in _parts(one.value))
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


def unpack(passed: Passed) -> Any:  # noqa: ANN401 any value
    """The value, which nobody else holds."""
    value = passed.value
    if passed.generator:
        name = value["bit_generator"]
        buffered = value["state"]["pos"] if name == "MT19937" else value.get("buffer_pos", 0)
        if not 0 <= buffered <= _MOST_PLACES.get(name, 0):
            raise WireError("no state of a generator")  # numpy reads whatever lies there
        bits = _BITS[name]()
        bits.state = value
        return np.random.Generator(bits)
    if passed.wide:
        kind = next(kind for kind, word in _WIDE.items() if word == passed.wide)
        value = np.frombuffer(value.tobytes(), kind).reshape(passed.shape).copy()
    if passed.readonly:
        value.flags.writeable = False
    return value


def _arguments(
    given: Sequence[Passed], found: Sequence[Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    both = list(zip(given, found, strict=True))
    return tuple(v for p, v in both if not p.keyword), {p.keyword: v for p, v in both if p.keyword}


class Tester:
    """The side of the test: a program that is handed functions which are somewhere else."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._turn = 0  # functions of an earlier one are of no use
        self._results: dict[int, Callable[[], Array | None]] = {}

    def test(self, program: LoadedModule, asked: Said) -> Said:
        """Call a function of the program; what it returns."""
        self._turn += 1
        self._results.clear()
        try:
            found = [
                functools.partial(self._call, self._turn, one.function)
                if one.function >= 0
                else unpack(one)
                for one in asked.given
            ]
            args, kwargs = _arguments(asked.given, found)
            function = program.found(asked.name)
            if not callable(function):
                there = "none" if function is None else f"one {type_name(function)}"
                raise StepFault(f"expected a function called {asked.name}, found {there}")
            return Said("gives", given=pack_all((function(*args, **kwargs),), {}))
        except BaseException as error:  # noqa: BLE001 whatever it is, it is the program's
            raise Stopped(0, error) from None
        finally:
            self._turn += 1

    def _call(self, turn: int, number: int, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 any values
        if turn != self._turn:
            raise RuntimeError("this call of the test is over")
        said = self._exchange(Said("call", number=number, given=pack_all(args, kwargs)))
        originals = (*args, *kwargs.values())
        for index, now in said.changed:
            _assign(originals[index], unpack(now))
        if said.raised is not None:
            raise _EXCEPTIONS[said.raised[0]](said.raised[1])
        if said.argument >= 0:
            return originals[said.argument]
        return self._result(said.number, unpack(said.given[0]))

    def _result(self, number: int, value: Any) -> Any:  # noqa: ANN401 any value
        """A result in the memory in which it was before, if it was there and still is."""
        if number < 0:
            return value
        known = self._results.get(number, lambda: None)()
        if known is not None:
            with suppress(ValueError):  # the program has made it another array
                np.copyto(known, value)
                return known
        self._results[number] = ref(value)
        return value


class Elsewhere:
    """The side of what is tested: what a driver takes for a program in another process."""

    def __init__(self, program: LoadedModule, exchange: Exchange) -> None:
        self._driver, self._exchange = program.driver, exchange
        self.filename, self.support_files = program.filename, program.support_files
        self._kept: dict[object, tuple[int, Array]] = {}
        self._numbers = 0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 any function
        if name.startswith("_"):
            raise AttributeError(name)
        return functools.partial(self._ask, name)

    def function(self, owner: str, name: str) -> Callable[..., Any]:
        """The callable behind a step's function name."""
        if owner == "driver":
            return functools.partial(getattr(self._driver, name), self)
        return functools.partial(self._ask, name)

    def _ask(self, name: str, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 any values
        """Have the other program called, and carry out what it calls meanwhile."""
        functions: list[Any] = []
        self._kept.clear()
        said = self._exchange(Said("ask", name, given=pack_all(args, kwargs, functions)))
        while said.about == "call":
            try:
                answer = self._carried_out(said, functions)
            except Exception as refused:  # noqa: BLE001 what was sent may be anything
                answer = _raised(refused)
            said = self._exchange(answer)
        if said.about != "gives":
            raise Over
        return unpack(said.given[0])

    def _carried_out(self, said: Said, functions: Sequence[Any]) -> Said:
        """Call a function that was passed; what comes of it."""
        if not 0 <= said.number < len(functions):
            raise ValueError("there is no such function")
        found = [unpack(one) for one in said.given]
        before = [values.snapshot(value) for value in found]
        args, kwargs = _arguments(said.given, found)
        result: Any = None
        failed: Exception | None = None
        try:
            result = functions[said.number](*args, **kwargs)
        except Exception as error:  # noqa: BLE001 whatever it is, the caller gets it
            failed = error
        changed = tuple(
            (index, pack(value))
            for index, (value, was) in enumerate(zip(found, before, strict=True))
            if isinstance(value, (np.ndarray, list, dict))
            and not values.same(values.snapshot(value), was)
        )
        if failed is not None:
            return _raised(failed)._replace(changed=changed)
        same = [index for index, value in enumerate(found) if value is result]
        if same and type(result) is np.ndarray:
            return Said("gives", changed=changed, argument=same[0])
        given = pack_all((result,), {})
        return Said("gives", number=self._number(result), given=given, changed=changed)

    def _number(self, result: Any) -> int:  # noqa: ANN401 any value
        """The same number for results in the same memory."""
        if type(result) is not np.ndarray or not result.size:
            return -1
        key = (result.ctypes.data, result.shape, result.strides, result.dtype.str)
        if key not in self._kept:
            self._numbers += 1
            self._kept[key] = self._numbers, result
            if len(self._kept) > MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
        return self._kept[key][0]


def _assign(original: Any, now: Any) -> None:  # noqa: ANN401 any value
    if isinstance(original, np.ndarray):
        np.copyto(original, now)
    elif type(original) is list:
        original[:] = now
    elif type(original) is dict:
        original.clear()
        original.update(now)


def _raised(error: BaseException) -> Said:
    """An exception as it crosses: the nearest class that the other side has as well."""
    names = (kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _EXCEPTIONS)
    return Said("gives", raised=(next(names, "RuntimeError"), text_of(error) or type_name(error)))
