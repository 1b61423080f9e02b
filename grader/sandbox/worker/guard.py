"""Ways to our frames and objects that are not along the stack: closed to programs.

An audit hook sees who asks for a frame, a trace or the heap.  Programs keep all that is theirs:
their own frames, tracebacks and generators, and tracing of their own threads.  What is refused is a
frame from which ours can be reached, looking into other threads, and hooks that would run in ours;
what searches the heap finds it empty.  Code that writes to memory as C does is not held by this.
"""

from __future__ import annotations

import gc
import sys
from _thread import get_ident
from collections.abc import Callable, Iterable
from types import (
    AsyncGeneratorType,
    CoroutineType,
    FrameType,
    GeneratorType,
    ModuleType,
    TracebackType,
)
from typing import Any

_frames = sys._current_frames  # taken now: a program may replace it

_BEARERS = frozenset({TracebackType, GeneratorType, CoroutineType, AsyncGeneratorType})
_FRAMES = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame"})
_OF_EVERY_THREAD = frozenset(
    {"sys._current_frames", "sys._current_exceptions", "sys.monitoring.register_callback"}
)
_OF_THIS_THREAD = frozenset({"sys._getframe", "sys.settrace", "sys.setprofile"})
_OF_THE_HEAP = frozenset({"gc.get_objects", "gc.get_referrers"})
_SENTENCE = "a program may not look at what measures it"

_busy: set[int] = set()  # threads that ask for a frame themselves
_seen: list[dict[int, FrameType]] = []  # kept, so that nothing of a program's dies in our thread


def frame_of(traceback: TracebackType) -> FrameType:
    """The frame of a traceback, whosever it is."""
    _busy.add(get_ident())
    try:
        return traceback.tb_frame
    finally:
        _busy.discard(get_ident())


def place_of(thread: int, file: str) -> tuple[int, str]:
    """The line and the function of a file in which a thread is; 0 where it is not in it."""
    _busy.add(get_ident())
    try:
        _seen.append(_frames())
    finally:
        _busy.discard(get_ident())
    frame = _seen[-1].get(thread)
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    return (0, "") if frame is None else (frame.f_lineno, frame.f_code.co_name)


def close(measuring: int, modules: Iterable[ModuleType]) -> None:
    """Refuse programs what leads to the thread that measures, or to modules of ours."""
    for one in ("settrace", "setprofile"):
        if hasattr(sys, f"_{one}allthreads"):  # since Python 3.12
            setattr(sys, f"_{one}allthreads", getattr(sys, one))
    sys.addaudithook(_hook(measuring, frozenset(id(vars(module)) for module in modules)))


def _hook(measuring: int, ours: frozenset[int]) -> Callable[[str, tuple[Any, ...]], None]:
    # Everything by a name of its own: modules can be changed.
    here, freeze, busy, identity, error = get_ident, gc.freeze, _busy, id, RuntimeError
    events, every = _OF_THIS_THREAD, _OF_EVERY_THREAD
    heap, frames, sentence, read = _OF_THE_HEAP, _FRAMES, _SENTENCE, getattr
    bearers, kind, text = _BEARERS, type, str
    watched = events | every | heap | {"object.__getattr__", "sys.addaudithook"}

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event not in watched:
            return
        if event == "object.__getattr__":
            # A program may report such an event itself, of anything.
            if kind(args[0]) not in bearers or kind(args[1]) is not text:
                return
            if args[1] not in frames or here() in busy:
                return
            busy.add(here())
            try:
                frame = read(args[0], args[1])
            finally:
                busy.discard(here())
            while frame is not None:
                if identity(frame.f_globals) in ours:
                    raise error(sentence)
                frame = frame.f_back
        elif event in heap:
            freeze()  # what is frozen is not looked at
        elif event in every and here() in busy:
            busy.discard(here())  # once: a finalizer may run before it is given back
        elif event in every or event == "sys.addaudithook" or here() == measuring:
            raise error(sentence)

    return hook
