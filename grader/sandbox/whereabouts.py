"""Where a program was when its time was over: a hint that its worker gives, and nothing else.

What measures in a worker is asked once more before the worker is ended.  It answers with a line and
a function of the program's file; the text of the line is the judge's own.  A program may forge or
prevent the answer: nothing rests on it, and where there is none nothing is said.
"""

from __future__ import annotations

import re
import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from grader.sandbox.channel import Reply, WorkerError, send
from grader.sandbox.worker import messages, wire
from grader.sandbox.worker.typed import Malformed, read

PATIENCE = 1.5  # seconds that an answer may take; a worker looks for a request several times
_WATCH_SECONDS = 0.05
_ANSWER = 256  # bytes of array data that it may hold: none
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


def ask(channel: socket.socket, text: Text, watch: Callable[[], None] = lambda: None) -> str:
    """Where the program of a worker that is at work is now, in words; empty where it is not said.

    The worker cannot be asked anything after that.

    Args:
        channel: to the worker, which has been asked something and has not begun to answer.
        text: the program's file.
        watch: called while waiting; raises `WorkerError` once the worker has to be ended.
    """
    pending = [memoryview(piece) for piece in wire.encode({"op": "where", "file": text.name})]
    reply, deadline = Reply(_ANSWER), time.monotonic() + PATIENCE
    try:
        while not reply.done and (left := deadline - time.monotonic()) > 0:
            poll = select.poll()
            poll.register(channel, select.POLLIN | (select.POLLOUT if pending else 0))
            watch()
            for _, events in poll.poll(1000 * min(left, _WATCH_SECONDS)):
                if events & select.POLLOUT:
                    send(channel, pending)
                if events & ~select.POLLOUT and not reply.read(channel):
                    return ""
        said = read(messages.Where, reply.value()) if reply.done else messages.Where()
    except (OSError, WorkerError, Malformed):
        return ""
    return text.place(said.line, said.function)
