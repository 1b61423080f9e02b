"""The line that says what a grade is doing, while that takes long enough to wonder."""

from __future__ import annotations

import os
import sys
import threading
from types import TracebackType
from typing import Self

from grader.cli import output

PATIENCE = 0.5  # seconds without a line


class Waiting:
    """One line on standard error, for a person at a terminal; it is gone before anything else.

    Where the terminal cannot take a line back, there is none.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        """Begin to wait: nothing is shown for so many seconds."""
        self._lock = threading.Lock()
        self._text = ""
        self._shown = False  # whether a line stands there
        self._due = False
        self._over = not _can_erase()
        self._timer = threading.Timer(patience, self._show)
        self._timer.daemon = True
        if not self._over:
            self._timer.start()

    def say(self, text: str, *, at_once: bool = False) -> None:
        """Say what is going on from now on."""
        with self._lock:
            self._text = text
            self._due = self._due or at_once
            self._draw()

    def stop(self) -> None:
        """Take the line away; nothing is shown any more."""
        self._timer.cancel()
        with self._lock:
            if self._shown:
                output.draw_status(output.ERASE)
            self._shown, self._over = False, True

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End, whatever happened."""
        self.stop()

    def _show(self) -> None:
        with self._lock:
            self._due = True
            self._draw()

    def _draw(self) -> None:
        if self._due and self._text and not self._over:
            output.draw_status(f"{output.ERASE}{self._text[: output.width() - 1]}")
            self._shown = True


def _can_erase() -> bool:
    """Return whether standard error is a terminal that takes a line back."""
    dumb = os.environ.get("TERM", "") in {"dumb", "unknown", ""}
    return not dumb and sys.stderr is not None and sys.stderr.isatty()
