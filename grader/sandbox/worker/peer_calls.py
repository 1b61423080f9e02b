"""Calls between two programs in two processes, which know nothing of each other.

A test runs in one worker and what it tests in another; the judge hands on what they say.  Functions
cross as numbers, everything else as plain data.  An array that a call changes is changed in the
caller too, and a result that lies in the memory of an earlier one comes back in that one's: a
caller sees what it would see in one process.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from weakref import ref

import numpy as np

from . import values
from .limits import MAX_CALL_BYTES, MAX_SHARED_RESULTS
from .protocol import PassedValue, PeerMessage
from .steps import LoadedModule, StepFailed, StepFault, exception_text
from .wire import DTYPES, Array, Opaque, type_name

Exchange = Callable[[PeerMessage], PeerMessage]  # say something, and wait for the answer

# numpy imports `random` when it is first used: here, in the zygote, once for all workers.
_Bits = np.random.PCG64
_WIDE = ("longdouble", "clongdouble")  # have no name on the wire, and cross as bytes
_EXCEPTIONS = (
    "ArithmeticError", "AttributeError", "FloatingPointError", "IndexError", "KeyError",
    "MemoryError", "OverflowError", "TypeError", "ValueError", "ZeroDivisionError",
)  # fmt: skip


class PeerFailed(BaseException):
    """The other program has failed, and the call that waits for it ends with this."""


def pack_arguments(
    args: Sequence[Any], kwargs: Mapping[str, Any], functions: list[Any] | None = None
) -> tuple[PassedValue, ...]:
    """Arguments as they cross; functions are added to a list, where there is one.

    Raises:
        TypeError, ValueError: they cannot.
    """
    every = [("", value) for value in args] + [(str(k), value) for k, value in kwargs.items()]
    packed = tuple(_packed(value, functions)._replace(keyword=keyword) for keyword, value in every)
    size = sum(part.nbytes for one in packed for part in _arrays(one.value))
    if size > MAX_CALL_BYTES:
        raise ValueError(f"expected at most {MAX_CALL_BYTES:,} bytes of arrays, found {size:,}")
    return packed


def _packed(value: Any, functions: list[Any] | None) -> PassedValue:  # noqa: ANN401 any value
    if functions is not None and callable(value):
        functions.append(value)
        return PassedValue(function=len(functions) - 1)
    if functions is not None and type(value) is np.random.Generator:
        return PassedValue(value.bit_generator.state, generator=True)
    readonly = type(value) is np.ndarray and not value.flags.writeable
    if isinstance(value, (np.ndarray, np.generic)):
        for wide in _WIDE:
            if value.dtype == wide and value.dtype.name not in DTYPES:
                content = np.frombuffer(value.tobytes(), np.uint8)
                return PassedValue(content, wide=wide, shape=value.shape, readonly=readonly)
    plain = values.snapshot(value)
    _arrays(plain)
    return PassedValue(plain, readonly=readonly)


def _arrays(value: object) -> list[Array]:
    """The arrays of plain data; raises TypeError where it is none that can cross."""
    if isinstance(value, (list, tuple, dict)):
        items = value.values() if isinstance(value, dict) else value
        return [array for item in items for array in _arrays(item)]
    if isinstance(value, Opaque):
        raise TypeError(f"expected numbers, texts and arrays of numbers, found {value.type}")
    if isinstance(value, np.ndarray) and value.dtype.name not in DTYPES:
        raise TypeError(f"expected arrays of numbers, found one of {value.dtype.name}")
    return [value] if isinstance(value, np.ndarray) else []


def unpack_value(passed: PassedValue) -> Any:  # noqa: ANN401 any value
    """The value, which nobody else holds."""
    value = passed.value
    if passed.generator:
        bits = _Bits()
        bits.state = value
        return np.random.Generator(bits)
    if passed.wide in _WIDE:
        value = np.frombuffer(value.tobytes(), passed.wide).reshape(passed.shape).copy()
    if passed.readonly:
        value.flags.writeable = False
    return value


def _arguments(
    given: Sequence[PassedValue], found: Sequence[Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    both = list(zip(given, found, strict=True))
    return tuple(v for p, v in both if not p.keyword), {p.keyword: v for p, v in both if p.keyword}


class CandidateTestRunner:
    """The side of the test: a program that is handed functions which are somewhere else."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._turn = 0  # functions of an earlier one are of no use
        self._results: dict[int, Callable[[], Array | None]] = {}

    def call_function(self, program: LoadedModule, asked: PeerMessage) -> PeerMessage:
        """Call a function of the program; what it returns."""
        self._turn += 1
        self._results.clear()
        try:
            found = [
                functools.partial(self._call, self._turn, one.function)
                if one.function >= 0
                else unpack_value(one)
                for one in asked.given
            ]
            args, kwargs = _arguments(asked.given, found)
            function = program.found(asked.name)
            if not callable(function):
                there = "none" if function is None else f"one {type_name(function)}"
                raise StepFault(f"expected a function called {asked.name}, found {there}")
            return PeerMessage("gives", given=pack_arguments((function(*args, **kwargs),), {}))
        except BaseException as error:  # noqa: BLE001 whatever it is, it is the program's
            raise StepFailed(0, error) from None
        finally:
            self._turn += 1

    def _call(self, turn: int, number: int, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 any values
        if turn != self._turn:
            raise RuntimeError("this call of the test is over")
        said = self._exchange(
            PeerMessage("call", number=number, given=pack_arguments(args, kwargs))
        )
        originals = (*args, *kwargs.values())
        for index, now in said.changed:
            np.copyto(originals[index], unpack_value(now))
        if said.raised is not None:
            name, text = said.raised
            raise (getattr(builtins, name) if name in _EXCEPTIONS else RuntimeError)(text)
        result = unpack_value(said.given[0])
        if said.number < 0:
            return result
        known = self._results.get(said.number, lambda: None)()
        if known is not None:  # the caller still holds what is in the same memory
            with suppress(ValueError):  # the program has made it another array
                np.copyto(known, result)
                return known
        self._results[said.number] = ref(result)
        return result


class RemoteSubmission:
    """The side of what is tested: what a driver takes for the functions of the other program."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._kept: dict[object, tuple[int, Array]] = {}
        self._numbers = 0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 any function
        if name.startswith("_"):
            raise AttributeError(name)
        return functools.partial(self._ask, name)

    def _ask(self, name: str, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 any values
        """Have the other program called, and carry out what it calls meanwhile."""
        functions: list[Any] = []
        self._kept.clear()
        said = self._exchange(
            PeerMessage("ask", name, given=pack_arguments(args, kwargs, functions))
        )
        while said.about == "call":
            try:
                answer = self._carried_out(said, functions)
            except Exception as refused:  # noqa: BLE001 what was sent may be anything
                answer = _raised(refused)
            said = self._exchange(answer)
        if said.about != "gives":
            raise PeerFailed
        return unpack_value(said.given[0])

    def _carried_out(self, said: PeerMessage, functions: Sequence[Any]) -> PeerMessage:
        """Call a function that was passed; what comes of it."""
        found = [unpack_value(one) for one in said.given]
        before = [values.snapshot(value) for value in found]
        args, kwargs = _arguments(said.given, found)
        try:
            result = functions[said.number](*args, **kwargs)
            given = pack_arguments((result,), {})
            what = PeerMessage("gives", number=self._number(result), given=given)
        except Exception as error:  # noqa: BLE001 whatever it is, the caller gets it
            what = _raised(error)
        changed = tuple(
            (index, pack_arguments((value,), {})[0])
            for index, (value, was) in enumerate(zip(found, before, strict=True))
            if isinstance(value, np.ndarray) and not values.same_bits(values.snapshot(value), was)
        )
        return what._replace(changed=changed)

    def _number(self, result: Any) -> int:  # noqa: ANN401 any value
        """The same number for results in the same memory."""
        if type(result) is not np.ndarray or not result.size:
            return -1
        key = (result.ctypes.data, result.shape, result.strides, result.dtype.str)
        if key not in self._kept:
            self._numbers += 1
            self._kept[key] = self._numbers, result
            if len(self._kept) > MAX_SHARED_RESULTS:
                self._kept.pop(next(iter(self._kept)))
        return self._kept[key][0]


def _raised(error: BaseException) -> PeerMessage:
    """An exception as it crosses: the nearest class that the other side has as well."""
    names = (kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _EXCEPTIONS)
    return PeerMessage(
        "gives", raised=(next(names, "RuntimeError"), exception_text(error) or type_name(error))
    )
