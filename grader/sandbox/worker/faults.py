"""Exceptions as data: their type, their text, and the frames that belong to the program."""

from __future__ import annotations

import linecache
import traceback

from .messages import Raised
from .wire import type_name

MAX_FRAMES = 6
MAX_MESSAGE = 2000


class StepFault(Exception):
    """A step's result cannot be used as the question says, though nothing was raised."""


def describe(error: BaseException, filename: str) -> Raised:
    """Return an exception as data."""
    frames = _frames(error, filename)
    column: int | None = None
    if isinstance(error, SyntaxError) and error.filename == filename:
        line = error.lineno or 0
        source = error.text or linecache.getline(filename, line)
        frames = ((line, "", (source or "").rstrip("\r\n")),)
        column = error.offset
        message = str(error.msg)[:MAX_MESSAGE]
    else:
        message = _text(error)
    return Raised(type_name(error), message, frames, column, isinstance(error, MemoryError))


def _text(error: BaseException) -> str:
    try:
        if isinstance(error, SystemExit):
            return f"the code called sys.exit({error.code!r})"[:MAX_MESSAGE]
        return str.__getitem__(str(error), slice(MAX_MESSAGE))  # a subclass of str has no say
    except BaseException:  # noqa: BLE001 a hostile __str__ may raise anything
        return "(its text cannot be shown)"


def _frames(error: BaseException, filename: str) -> tuple[tuple[int, str, str], ...]:
    frames: list[tuple[int, str, str]] = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == filename:
            text = linecache.getline(filename, line).strip()
            frames.append((line, frame.f_code.co_name, text))
            if len(frames) > 4 * MAX_FRAMES:  # endless recursion: the innermost are no news
                break
    return tuple(frames[-MAX_FRAMES:])
