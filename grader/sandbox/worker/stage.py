"""Where foreign code runs: on the main thread, with nothing of ours below it on the stack.

What measures runs in a thread of its own and hands over one call at a time.  A program that climbs
from frame to frame comes to one function that knows nothing but the call, and to the end.  Programs
have the main thread because signals are its business.
"""

from __future__ import annotations

import builtins
import ctypes
import functools
import os
import sys
from _thread import get_ident, start_new_thread
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import starmap
from queue import Empty, SimpleQueue
from types import FunctionType, MappingProxyType
from typing import Any, TypeVar

T = TypeVar("T")

_M_ARENA_MAX = -8  # <malloc.h>
FAILED = 70  # exit status where what measures cannot go on

_calls: SimpleQueue[Any] = SimpleQueue()
_results: SimpleQueue[Any] = SimpleQueue()
_RESULT = 2  # items of what a call gives; what is said has more
LOOK_SECONDS = 0.5  # how often what measures looks around while a call goes on
_none: Mapping[str, Any] = MappingProxyType({})
measuring = 0  # the thread that measures; 0 where nothing is set apart, as in tests
staged = 0  # the thread on which programs run; likewise
meanwhile: Callable[[], object] = int  # called whenever it looks around
spoken: Callable[..., object] = frozenset().union  # called with what a program says meanwhile


class Failed(Exception):
    """What was called raised; what it raised is kept apart, so that no frame of ours joins it."""

    def __init__(self, error: BaseException) -> None:
        """Keep it."""
        super().__init__()
        self.error = error


def cause(error: BaseException) -> BaseException:
    """What was raised in a call, or here."""
    return error.error if isinstance(error, Failed) else error


def call(
    function: Callable[..., T], args: Sequence[Any] = (), kwargs: Mapping[str, Any] = _none
) -> T:
    """Call what is foreign, or may call what is foreign, on the stage; about 20 us.

    Raises:
        Failed: it raised.
    """
    if get_ident() == measuring:
        _calls.put((function, args, kwargs))
        result, error = _waited()
    else:
        result, error = _attempt(function, args, kwargs)
    if error is not None:
        raise Failed(error)
    return result  # type: ignore[no-any-return]


def _waited() -> Any:  # noqa: ANN401 whatever the call gives
    while True:
        try:
            found = _results.get(timeout=LOOK_SECONDS)
        except Empty:
            meanwhile()
            continue
        if len(found) == _RESULT:
            return found
        spoken(*found)


def attempted() -> Any:  # noqa: ANN401 whatever the call gives
    """What comes of a function that the stage was answered with: a result, and why there is none.

    It is called from `spoken` only.
    """
    return _results.get()


def speaker(about: object) -> Callable[..., Any]:
    """A function for programs: what it is called with is said to what measures, with `about`."""
    return functools.partial(_bare(_speak), _results.put, SimpleQueue, about)


@contextmanager
def entered(manager: Any) -> Iterator[Any]:  # noqa: ANN401 a context manager that torch keeps per thread
    """A context in which calls on the stage are made."""
    call(manager.__enter__)
    try:
        yield manager
    finally:
        call(manager.__exit__, (None, None, None))


def flush() -> None:
    """Have what was printed leave the process."""
    with suppress(Failed):
        call(_bare_flush, ((sys.stdout, sys.stderr),))


def set_apart(measure: Callable[[], None]) -> Callable[[], object]:
    """Start what measures in a thread of its own; what to go on as here, from an empty stack."""
    global staged
    staged = get_ident()
    # One heap of C's for all threads: what is free in two of them would look like memory in use.
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
    start_new_thread(_measure, (measure,))
    # In C, so that no frame holds the queues: take a call, attempt it, give its result, for ever.
    attempts = starmap(_bare(_attempt), iter(_calls.get, None))
    return functools.partial(deque, map(_results.put, attempts), 0)


def _measure(measure: Callable[[], None]) -> None:
    global measuring
    measuring = get_ident()
    exits = os._exit  # taken now: a program may replace it
    try:
        measure()
    except BaseException:  # noqa: BLE001 the judge shows the last line
        sys.__excepthook__(*sys.exc_info())
    finally:
        exits(FAILED)


def _bare(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function without a module around it."""
    assert isinstance(function, FunctionType)
    return FunctionType(function.__code__, {"__builtins__": vars(builtins)})


# What follows is on the stack below programs: it uses no name of this module.


def _attempt(function: Any, args: Any, kwargs: Any) -> Any:  # noqa: ANN401 whatever it gives
    try:
        return function(*args, **kwargs), None
    except BaseException as error:  # noqa: BLE001 whatever it is, it is the caller's
        return None, error


def _speak(put: Any, queue: Any, about: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 whatever is said
    answers = queue()
    put((about, args, kwargs, answers))
    while True:
        function, found, further = answers.get()
        if function is None:
            if further is not None:
                raise further
            return found
        attempt: tuple[Any, Any]
        try:
            attempt = function(*found, **further), None
        except BaseException as error:  # noqa: BLE001 whatever it is, it is the caller's
            attempt = None, error
        put(attempt)


def _flush(streams: Any) -> None:  # noqa: ANN401 whatever a program put there
    for stream in streams:
        try:  # noqa: SIM105 no other name can be used here
            stream.flush()
        except BaseException:  # noqa: BLE001 it may have closed or replaced it
            pass


_bare_flush = _bare(_flush)
