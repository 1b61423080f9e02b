"""The whole screen of a terminal, and the keys that are pressed.

The terminal is restored however the use of the screen ends.
"""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import suppress
from shutil import get_terminal_size

from grader.commands import entrypoint, output
from grader.model.errors import DrillError
from grader.reports import text_layout
from grader.sandbox import Closeable

LOOK_EVENT = "look"  # no key was pressed: there is time to look at a file
_LOOK_INTERVAL = 0.02  # seconds
_SIGNALS = (signal.SIGWINCH, signal.SIGTSTP, signal.SIGCONT)
_KEY = re.compile(r"\x1b[\[O]([0-?]*[ -/]*[@-~]?)|(.)", re.DOTALL)
_NAMED_KEYS = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "5~": "page up",
    "6~": "page down",
}
_ENTER_SCREEN = "\x1b[?1049h\x1b[?25l"  # the alternate screen, without a cursor
_LEAVE_SCREEN = "\x1b[?25h\x1b[?1049l"


def screen_events(signals: list[int] | None = None) -> Iterator[str]:
    """Yield events until standard input ends.

    An event is a key, such as "q" or "page up", a signal, such as "SIGWINCH", or `LOOK_EVENT`.
    `signals` are numbers that a signal handler appends; each is removed and yielded by name.
    """
    while sys.stdin is not None:
        has_keys = select.select([sys.stdin], [], [], _LOOK_INTERVAL)[0]
        if signals:
            yield signal.Signals(signals.pop(0)).name
        elif not has_keys:
            yield LOOK_EVENT
        else:
            typed = b""
            with suppress(OSError):  # the terminal is gone
                typed = os.read(sys.stdin.fileno(), 1024)
            if not typed:
                return
            for sequence, character in _KEY.findall(typed.decode("utf-8", "replace")):
                if key := character or _NAMED_KEYS.get(sequence):
                    yield key


class WholeScreen(Closeable):
    """The alternate screen of a terminal, as of an editor, with a line of keys at the bottom."""

    def __init__(self) -> None:
        self._terminal_mode = termios.tcgetattr(sys.stdin)
        self._signals: list[int] = []  # numbers of signals that are not handled yet
        self.events = self._read_events()  # one iterator: several would change the order of keys

    def take(self) -> None:
        """Switch to the alternate screen, and read keys without Enter, until `close`."""
        entrypoint.end_by_signals()
        for number in _SIGNALS:
            signal.signal(number, lambda number, _: self._signals.append(number))
        tty.setcbreak(sys.stdin, termios.TCSADRAIN)
        output.send(_ENTER_SCREEN)

    def close(self) -> None:
        """Restore the terminal; one that is gone is not a fault."""
        with output.interrupts_ignored():  # a second Ctrl-C would stop this half way
            for number in (*entrypoint.ENDING, *_SIGNALS):
                signal.signal(number, signal.SIG_DFL)
            with suppress(output.PipeClosedError, DrillError, termios.error):
                termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._terminal_mode)
                output.send(_LEAVE_SCREEN)

    def _read_events(self) -> Iterator[str]:
        """Yield the events.  At Ctrl-Z, restore the terminal and stop; take it after `fg`."""
        for event in screen_events(self._signals):
            if event == "SIGTSTP":
                self.close()
                os.kill(os.getpid(), signal.SIGTSTP)
            if event in {"SIGTSTP", "SIGCONT"}:  # SIGSTOP gives no chance to restore the terminal
                self.take()
            yield event

    def put(self, text: str, *keys: str) -> None:
        """Show a text above a line of keys."""
        output.send(f"\x1b[H\x1b[J{text}")
        self.put_keys(*keys)

    def put_keys(self, *keys: str) -> None:
        """Show keys in the last line; if not all fit, leave out keys before the last one."""
        size = get_terminal_size()
        words = [*keys]
        while len(words) > 1 and text_layout.display_width("  ".join(words)) > size.columns:
            del words[-2]
        text = text_layout.truncate("  ".join(words), size.columns)
        with output.capture_output() as line:
            output.write_lines([((text, text_layout.REVERSE),)])
        output.send(f"\x1b[{size.lines};1H\x1b[K{line.getvalue().rstrip()}")
