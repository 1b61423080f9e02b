"""A program on its own terminal, as a shell with one job would start it.

`python -m tests.commands.on_terminal ARGS` is that shell: it starts `drill ARGS` against the
stand-ins in the foreground, reports when it was stopped, and continues it when a line is typed.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

from tests.commands import stand_in

ROOT = Path(__file__).parents[2]
_CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~])")


class OnTerminal:
    """A terminal with one program: its input and its output."""

    def __init__(self, *arguments: str, columns: int = 80, rows: int = 24, **more: str) -> None:
        self.master, self._slave = pty.openpty()
        self.resize(columns, rows)
        self.mode: list[Any] = termios.tcgetattr(self._slave)
        self.raw = ""  # everything that was sent
        self._seen = 0  # up to here `until` has looked, in what of it can be read
        sizes = ("COLUMNS", "LINES")
        environment = {n: v for n, v in os.environ.items() if n not in sizes}
        environment |= {"PYTHONPATH": str(ROOT), "TERM": "xterm", **more}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.commands.on_terminal", *arguments],
            stdin=self._slave, stdout=self._slave, stderr=self._slave,
            start_new_session=True, env=environment,
        )  # fmt: skip

    @property
    def job(self) -> int:
        """The process that is in the foreground."""
        group_id = struct.unpack("i", fcntl.ioctl(self.master, termios.TIOCGPGRP, b"    "))
        return int(group_id[0])

    def require_restored(self) -> None:
        """Check that the terminal is as it was in the beginning."""
        assert termios.tcgetattr(self._slave) == self.mode
        for on, off in (("\x1b[?1049h", "\x1b[?1049l"), ("\x1b[?25l", "\x1b[?25h")):
            assert self.raw.count(off) > 0 or on not in self.raw
            assert self.raw.rfind(on) <= self.raw.rfind(off)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def until(self, text: str) -> str:
        """Wait for a text after the last one; return the output before it."""
        while True:
            text_after = _CONTROL.sub("", self.raw)[self._seen :]
            if (at := text_after.find(text)) >= 0:
                self._seen += at + len(text)
                return text_after[:at]
            assert select.select([self.master], [], [], 60)[0], (text, text_after)
            try:
                chunk = os.read(self.master, 1 << 16)
            except OSError:  # nobody holds the other end
                chunk = b""
            assert chunk, (text, text_after)
            self.raw += chunk.decode("utf-8", "replace")

    def ended(self) -> int:
        """Wait for the end, check that the terminal is restored, and return the status."""
        self.until("ended with ")
        status = self.process.wait(60)
        self.require_restored()
        self.hang_up()
        return status

    def hang_up(self) -> None:
        """Take the terminal away."""
        os.close(self._slave)
        os.close(self.master)


def main() -> None:
    """Be a shell with one job."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # it may then set the owner of the terminal
    job = os.fork()
    os.setpgid(job, job)
    if job == 0:
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        stand_in.main()
    while True:
        status = os.waitpid(job, os.WUNTRACED)[1]
        os.tcsetpgrp(0, os.getpgrp())
        if not os.WIFSTOPPED(status):
            break
        os.write(1, b"stopped\n")
        sys.stdin.readline()
        os.tcsetpgrp(0, job)
        os.killpg(job, signal.SIGCONT)
    ended = os.waitstatus_to_exitcode(status)
    os.write(1, b"ended with %d\n" % ended)
    os._exit(ended % 256)


if __name__ == "__main__":
    main()
