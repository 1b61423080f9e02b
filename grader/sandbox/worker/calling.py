"""Calls between two programs in two processes, which know nothing of each other.

A test runs in one worker and what it tests in another; the judge hands on what they say.  Functions
cross as numbers, values as `crossing` has them.  What a call changes in an array or a list that it
was given is changed in the caller's too, and a result in the memory of an earlier one comes back in
that one's: a caller sees what it would see in one process.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any
from weakref import ref

import numpy as np

from . import stage, values
from .crossing import pack, pack_all, unpack
from .messages import Passed, Said
from .namespace import LoadedModule
from .steps import StepFault, Stopped, text_of
from .typed import Malformed
from .wire import Array, WireError, type_name

MOST_KEPT = 64  # results in whose memory a later one may be
Answers = SimpleQueue[tuple[Any, Any, Any]]  # a function with its arguments; or None, a result, why

_copy_to = np.copyto
_CHANGEABLE = {np.ndarray, list, dict}
_EXCEPTIONS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, UnicodeError)
}  # those that are made of a text


class Over(BaseException):
    """The other program has failed, and nothing that is said reaches it any more."""


def _nobody(_: Said) -> Said:
    raise Over


exchange: Callable[[Said], Said] = _nobody  # say something, and wait for what is said to it


def _arguments(
    given: Sequence[Passed], found: Sequence[Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The values of arguments, apart as a call takes them."""
    both = list(zip(given, found, strict=True))
    return tuple(v for p, v in both if not p.keyword), {p.keyword: v for p, v in both if p.keyword}


# -- on the side of a test --------------------------------------------------------------------


class Tester:
    """A program that is handed functions which are somewhere else."""

    def __init__(self) -> None:
        """Not called yet."""
        self.turn = 0  # functions of an earlier one are of no use
        self.results: dict[int, Callable[[], Array | None]] = {}

    def test(self, program: LoadedModule, asked: Said) -> Said:
        """Call a function of the program; what it returns."""
        stage.spoken = self.hear
        self.turn += 1
        self.results.clear()
        try:
            found = [
                stage.speaker((self.turn, one.function)) if one.function >= 0 else unpack(one)
                for one in asked.given
            ]
            args, kwargs = _arguments(asked.given, found)
            function = program.found(asked.name)
            if not callable(function):
                there = "none" if function is None else f"one {type_name(function)}"
                raise StepFault(f"expected a function called {asked.name}, found {there}")
            result = stage.call(function, args, kwargs)
            return Said("gives", given=(pack(result),))
        except BaseException as error:  # noqa: BLE001 whatever it is, it is the program's
            raise Stopped(0, stage.cause(error)) from None
        finally:
            self.turn += 1

    def hear(self, what: Any, args: Any, kwargs: Any, answers: Answers) -> None:  # noqa: ANN401 the program may forge them
        """Answer the program, which calls one of the functions."""
        try:
            turn, number = what
            if turn != self.turn:
                raise RuntimeError("this call of the test is over")
            given = pack_all(args, kwargs)
            said = exchange(Said("call", number=number, given=given))
            originals = (*args, *kwargs.values())
            for index, now in said.changed:
                _assign(originals[index], unpack(now))
            if said.raised is not None:
                raise _EXCEPTIONS[said.raised[0]](said.raised[1])
            if 0 <= said.argument < len(originals):
                answer = originals[said.argument]
            else:
                answer = self._result(said.number, unpack(said.given[0]))
        except BaseException as error:  # noqa: BLE001 whatever it is, the program gets it
            name, text = _named(error)
            answers.put((None, None, _EXCEPTIONS[name](text)))  # anew: without frames of ours
        else:
            answers.put((None, answer, None))

    def _result(self, number: int, value: Any) -> Any:  # noqa: ANN401 any value
        """A result in the memory in which it was before, if it was there and still is."""
        if number < 0:
            return value
        known = self.results.get(number, lambda: None)()
        if known is not None:
            with suppress(ValueError):  # the program has made it another array
                _copy_to(known, value)
                return known
        self.results[number] = ref(value)
        return value


# -- on the side of what is tested ------------------------------------------------------------


class Elsewhere:
    """What a driver takes for a program that runs in another process."""

    def __init__(self, program: LoadedModule) -> None:
        """Take the driver from a program, and nothing else."""
        self._driver = program.driver
        self.filename, self.support_files = program.filename, program.support_files
        self._functions: list[Any] = []
        self._kept: dict[object, tuple[int, Array]] = {}
        self._numbers = 0
        stage.spoken = self.hear

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 any function
        """Give a function of the other program."""
        if name.startswith("_"):
            raise AttributeError(name)
        return stage.speaker(name)

    def function(self, owner: str, name: str) -> Callable[..., Any]:
        """The callable behind a step's function name."""
        if owner == "driver":
            return functools.partial(getattr(self._driver, name), self)
        called: Callable[..., Any] = stage.speaker(name)
        return called

    def hear(self, name: str, args: Any, kwargs: Any, answers: Answers) -> None:  # noqa: ANN401 any values
        """Have the other program called, and carry out what it calls meanwhile."""
        self._functions.clear()
        self._kept.clear()
        try:
            given = pack_all(args, kwargs, self._functions)
            said = _heard(Said("ask", name, given=given))
            while said.about == "call":
                said = _heard(self._carried_out(said, answers))
            if said.about != "gives":
                raise Over
            answers.put((None, unpack(said.given[0]), None))
        except (Exception, Over) as error:  # noqa: BLE001 whatever it is, the driver gets it
            answers.put((None, None, error))

    def _carried_out(self, said: Said, answers: Answers) -> Said:
        """Call a function that was passed, on the stage; what comes of it."""
        if not 0 <= said.number < len(self._functions):
            return Said("gives", raised=("ValueError", "there is no such function"))
        try:
            found = [unpack(one) for one in said.given]
            before = [values.snapshot(value) for value in found]
            args, kwargs = _arguments(said.given, found)
        except Exception as refused:  # noqa: BLE001 what was sent may be anything
            return _raised(refused)
        answers.put((self._functions[said.number], args, kwargs))
        result, error = stage.attempted()
        changed = tuple(
            (index, pack(value))
            for index, (value, was) in enumerate(zip(found, before, strict=True))
            if type(value) in _CHANGEABLE and not values.same(values.snapshot(value), was)
        )
        try:
            if error is not None:
                return _raised(error)._replace(changed=changed)
            same = [index for index, value in enumerate(found) if value is result]
            number = self._number(result)
            argument = same[0] if same and type(result) is np.ndarray else -1
            given = () if argument >= 0 else (pack_all((result,), {})[0],)
            return Said("gives", "", number, given, changed, argument)
        except (TypeError, ValueError) as refused:
            return _raised(refused)

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
    """Make an argument what it is on the other side."""
    if isinstance(original, np.ndarray):
        _copy_to(original, now)
    elif type(original) is list:
        original[:] = now
    elif type(original) is dict:
        original.clear()
        original.update(now)


def _heard(said: Said) -> Said:
    """What is said to something; whoever says what cannot be said is reported to the judge."""
    try:
        return exchange(said)
    except (WireError, Malformed):
        return exchange(Said("malformed"))


def _raised(error: BaseException) -> Said:
    """An exception, as it is said."""
    return Said("gives", raised=_named(error))


def _named(error: BaseException) -> tuple[str, str]:
    """The nearest class of an exception that the other side has as well, and its text."""
    names = (kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _EXCEPTIONS)
    return next(names, "RuntimeError"), text_of(error) or type_name(error)
