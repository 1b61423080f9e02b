"""Where a program was when its time was over: a hint that its process gives, and nothing else.

The worker has faulthandler print its frames when it is signaled.  The line and the function are
taken from that, and the text of the line is the judge's own.  A program may forge or prevent it:
nothing rests on it, and where there is none nothing is said.
"""

from __future__ import annotations

import os
import re
import select
import signal
import time
from contextlib import suppress
from dataclasses import dataclass

PATIENCE = 1.0  # seconds that an answer may take
_REST = 0.1  # seconds that the rest of it may take
_MOST = 1 << 20  # bytes read while waiting for it
_LONGEST = 60  # characters of the line
_NAME = re.compile(r"[^\W\d]\w{0,59}")


@dataclass(frozen=True, slots=True)
class Text:
    """A program's file."""

    name: str  # as frames call it
    source: bytes

    def place(self, line: int, function: str) -> str:
        """A place in it, in words; empty where there is no such line."""
        lines = re.split(r"\r\n|\r|\n", self.source.decode("utf-8", "replace"))
        text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        if not text:
            return ""
        text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
        within = f"`{function}`, " if _NAME.fullmatch(function) else ""
        return f"{within}line {line}: `{text}`"


def ask(pid: int, output: int, text: Text) -> str:
    """Where the program of a worker that is at work is now, in words; empty where it is not said.

    Args:
        pid: of the worker, which is ended afterwards.
        output: what it prints, to be read without blocking; what is read here is lost.
        text: the program's file.
    """
    name = re.escape(text.name.encode("ascii", "backslashreplace"))
    frame = re.compile(
        rb"Stack \(most recent call first\):\n(?:  .*\n)*?"
        rb'  File "%b", line (\d{1,9}) in (.*)\n' % name
    )
    said, deadline = b"", time.monotonic() + PATIENCE
    with suppress(OSError):  # it has ended
        os.kill(pid, signal.SIGUSR1)
        poll = select.poll()
        poll.register(output, select.POLLIN)
        while len(said) < _MOST and (left := deadline - time.monotonic()) > 0:
            if b"Stack (" in said:  # the rest of it comes at once
                left = min(left, _REST)
            if not poll.poll(1000 * left):
                break
            piece = os.read(output, 1 << 16)
            said += piece
            if found := frame.search(said):
                return text.place(int(found[1]), found[2].decode("ascii", "replace"))
            if not piece:
                break
    return ""
