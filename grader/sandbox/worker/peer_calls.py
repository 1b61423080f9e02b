"""Calls between a test that a candidate wrote and the functions that it tests.

The test runs in one worker, the driver and the tested functions in another.  The judge passes
messages on.  The driver calls the test, and the test calls functions that the driver passed to it.
Functions are sent as numbers, everything else as plain data.  A caller sees the same as in one
process: an array that a call changes is changed in the caller too, and a result in the memory of an
earlier result comes back in the array of that result.
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
from .steps import LoadedProgram, StepFailed, StepFault, exception_text, find_name
from .wire import DTYPES, Array, Opaque, type_name

Exchange = Callable[[PeerMessage], PeerMessage]  # sends a message and waits for the answer

# Read here to import numpy.random in the zygote, once for all workers.
_BitGenerator = np.random.PCG64
_WIDE_DTYPES = ("longdouble", "clongdouble")  # sent as bytes, because the wire has no such dtypes
# Exceptions that the caller sees as the same class; others become the nearest base class here, or
# RuntimeError.
_EXCEPTIONS = (
    "ArithmeticError", "AttributeError", "FloatingPointError", "IndexError", "KeyError",
    "MemoryError", "OverflowError", "TypeError", "ValueError", "ZeroDivisionError",
)  # fmt: skip


class PeerFailed(BaseException):
    """The submission failed in the other process, so the driver's call of it has no result."""


def pack_arguments(
    args: Sequence[Any], kwargs: Mapping[str, Any], functions: list[Any] | None = None
) -> tuple[PassedValue, ...]:
    """Return arguments in the form in which they are sent.

    With `functions`, callables and random generators can be sent too: a callable is appended to
    that list, and its index is sent.

    Raises:
        TypeError, ValueError: The arguments cannot be sent, or take more than MAX_CALL_BYTES.
    """
    packed = [_pack(value, functions) for value in args]
    for keyword, value in kwargs.items():
        packed.append(_pack(value, functions)._replace(keyword=str(keyword)))
    size = sum(array.nbytes for passed in packed for array in _arrays(passed.value))
    if size > MAX_CALL_BYTES:
        raise ValueError(f"expected at most {MAX_CALL_BYTES:,} bytes of arrays, found {size:,}")
    return tuple(packed)


def _pack(value: Any, functions: list[Any] | None) -> PassedValue:  # noqa: ANN401 any value
    if functions is not None and callable(value):
        functions.append(value)
        return PassedValue(function=len(functions) - 1)
    if functions is not None and type(value) is np.random.Generator:
        return PassedValue(value.bit_generator.state, generator=True)
    readonly = type(value) is np.ndarray and not value.flags.writeable
    if isinstance(value, (np.ndarray, np.generic)):
        for wide in _WIDE_DTYPES:
            if value.dtype == wide and value.dtype.name not in DTYPES:
                content = np.frombuffer(value.tobytes(), np.uint8)
                return PassedValue(content, wide=wide, shape=value.shape, readonly=readonly)
    plain = values.snapshot(value)
    _arrays(plain)  # checks that it can be sent
    return PassedValue(plain, readonly=readonly)


def _arrays(value: object) -> list[Array]:
    """Return the arrays in plain data; raise TypeError if it cannot be sent."""
    if isinstance(value, (list, tuple, dict)):
        items = value.values() if isinstance(value, dict) else value
        return [array for item in items for array in _arrays(item)]
    if isinstance(value, Opaque):
        raise TypeError(f"expected numbers, texts and arrays of numbers, found {value.type}")
    if isinstance(value, np.ndarray) and value.dtype.name not in DTYPES:
        raise TypeError(f"expected arrays of numbers, found one of {value.dtype.name}")
    return [value] if isinstance(value, np.ndarray) else []


def unpack_value(passed: PassedValue) -> Any:  # noqa: ANN401 any value
    """Return the value that was sent, if it is not a function; the caller may change it."""
    value = passed.value
    if passed.generator:
        bit_generator = _BitGenerator()
        bit_generator.state = value
        return np.random.Generator(bit_generator)
    if passed.wide in _WIDE_DTYPES:
        value = np.frombuffer(value.tobytes(), passed.wide).reshape(passed.shape).copy()
    if passed.readonly:
        value.flags.writeable = False
    return value


def _split_arguments(
    passed_values: Sequence[PassedValue], unpacked: Sequence[Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Split unpacked values into positional and keyword arguments."""
    args = []
    kwargs = {}
    for passed, value in zip(passed_values, unpacked, strict=True):
        if passed.keyword:
            kwargs[passed.keyword] = value
        else:
            args.append(value)
    return args, kwargs


class CandidateTestRunner:
    """Calls a candidate's test, which gets stand-ins for functions of the driver's process."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._turn = 0  # functions of an earlier turn can no longer be called
        self._results: dict[int, Callable[[], Array | None]] = {}

    def call_function(self, program: LoadedProgram, message: PeerMessage) -> PeerMessage:
        """Call the function that the message names and return its result.

        Raises:
            StepFailed: The function is missing, raised, or returned a value that cannot be sent.
        """
        self._turn += 1
        self._results.clear()
        try:
            unpacked = [
                functools.partial(self._call, self._turn, passed.function)
                if passed.function >= 0
                else unpack_value(passed)
                for passed in message.given
            ]
            args, kwargs = _split_arguments(message.given, unpacked)
            function = find_name(program.module, message.name)
            if not callable(function):
                actual = "none" if function is None else f"one {type_name(function)}"
                raise StepFault(f"expected a function called {message.name}, found {actual}")
            result = function(*args, **kwargs)
            return PeerMessage("gives", given=pack_arguments((result,), {}))
        except BaseException as error:  # noqa: BLE001 the program may raise anything
            raise StepFailed(0, error) from None
        finally:
            self._turn += 1

    def _call(self, turn: int, number: int, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 any values
        """Call a function of the driver's process, and change arrays here as it changed them."""
        if turn != self._turn:
            raise RuntimeError("this call of the test is over")
        answer = self._exchange(
            PeerMessage("call", number=number, given=pack_arguments(args, kwargs))
        )
        arguments = (*args, *kwargs.values())
        for index, new_content in answer.changed:
            np.copyto(arguments[index], unpack_value(new_content))
        if answer.raised is not None:
            name, text = answer.raised
            kind = getattr(builtins, name) if name in _EXCEPTIONS else RuntimeError
            raise kind(text)
        result = unpack_value(answer.given[0])
        if answer.number < 0:
            return result
        earlier_result = self._results.get(answer.number, lambda: None)()
        if earlier_result is not None:  # the caller still has the result in the same memory
            with suppress(ValueError):  # the program has changed its shape or dtype
                np.copyto(earlier_result, result)
                return earlier_result
        self._results[answer.number] = ref(result)
        return result


class SubmissionProxy:
    """Stands in for the submission's module in the driver's process; calls go to the submission."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._results: dict[object, tuple[int, Array]] = {}
        self._last_number = 0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 any function
        if name.startswith("_"):
            raise AttributeError(name)
        return functools.partial(self._ask, name)

    def _ask(self, name: str, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 any values
        """Call a function of the submission; meanwhile answer its calls of passed functions."""
        functions: list[Any] = []
        self._results.clear()
        message = self._exchange(
            PeerMessage("ask", name, given=pack_arguments(args, kwargs, functions))
        )
        while message.about == "call":
            try:
                answer = self._answer_call(message, functions)
            except Exception as error:  # noqa: BLE001 the message may hold anything
                answer = _exception_message(error)
            message = self._exchange(answer)
        if message.about != "gives":
            raise PeerFailed
        return unpack_value(message.given[0])

    def _answer_call(self, message: PeerMessage, functions: Sequence[Any]) -> PeerMessage:
        """Call a passed function; return its result or exception, and the arrays it changed."""
        arguments = [unpack_value(passed) for passed in message.given]
        snapshots = [values.snapshot(argument) for argument in arguments]
        args, kwargs = _split_arguments(message.given, arguments)
        try:
            result = functions[message.number](*args, **kwargs)
            packed = pack_arguments((result,), {})
            answer = PeerMessage("gives", number=self._memory_number(result), given=packed)
        except Exception as error:  # noqa: BLE001 every exception goes to the caller
            answer = _exception_message(error)
        changed = []
        for index, (argument, before) in enumerate(zip(arguments, snapshots, strict=True)):
            if not isinstance(argument, np.ndarray):
                continue
            if not values.same_bits(values.snapshot(argument), before):
                changed.append((index, pack_arguments((argument,), {})[0]))
        return answer._replace(changed=tuple(changed))

    def _memory_number(self, result: Any) -> int:  # noqa: ANN401 any value
        """Return a number, equal for results in the same memory; -1 if not an array with entries.

        The last MAX_SHARED_RESULTS results are kept alive, so no new array gets their memory.
        """
        if type(result) is not np.ndarray or not result.size:
            return -1
        key = (result.ctypes.data, result.shape, result.strides, result.dtype.str)
        if key not in self._results:
            self._last_number += 1
            self._results[key] = (self._last_number, result)
            if len(self._results) > MAX_SHARED_RESULTS:
                self._results.pop(next(iter(self._results)))
        return self._results[key][0]


def _exception_message(error: BaseException) -> PeerMessage:
    """Return the message for an exception, with its nearest base class that can be sent."""
    name = "RuntimeError"
    for kind in type(error).__mro__:
        if kind.__name__ in _EXCEPTIONS:
            name = kind.__name__
            break
    return PeerMessage("gives", raised=(name, exception_text(error) or type_name(error)))
