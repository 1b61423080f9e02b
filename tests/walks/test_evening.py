"""A whole evening of practice, typed on a terminal, with snapshots of its screens.

The screens are kept in `golden/evening`, one file for each size of terminal.
`pytest --update-golden tests/walks/test_evening.py` writes them again; read the difference.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pyte
import pytest

from grader.bank import load_question
from tests.walks.test_walks import without_varying_numbers

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden" / "evening"


class Evening:
    """Somebody at a terminal of a size, on a clock that stands still until it is moved."""

    def __init__(self, folder: Path, columns: int, rows: int) -> None:
        self.folder, self._clock = folder, folder / "clock"
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._master, self._slave = pty.openpty()
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._program: subprocess.Popen[bytes] | None = None
        self.kept = list[str]()
        self.at = datetime.fromisoformat("2026-03-02T19:00:00.000+00:00")
        self.later()

    def later(self, **time: float) -> None:
        """Move the clock."""
        self.at += timedelta(**time)
        aside = self._clock.with_name("aside")
        aside.write_text(self.at.isoformat(timespec="milliseconds"), encoding="ascii")
        aside.rename(self._clock)

    def start(self, *words: str, inside: str = "") -> None:
        """Type a command on a screen that is empty."""
        self._screen.reset()
        environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        own = {"EVENING": str(self._clock), "DRILL_HOME": str(self.folder / "home")}
        self._program = subprocess.Popen(
            [sys.executable, "-m", "tests.walks.evening", *words],
            stdin=self._slave, stdout=self._slave, stderr=self._slave, cwd=self.folder / inside,
            env=environment | own | {"PYTHONPATH": str(ROOT), "TERM": "xterm", "TZ": "UTC"},
            start_new_session=True,
        )  # fmt: skip
        self._name = f"$ drill {' '.join(words)}"

    def run(self, *words: str, inside: str = "") -> str:
        """Type a command, wait for its end, and keep the screen."""
        self.start(*words, inside=inside)
        return self.end()

    def type(self, keys: str) -> None:
        """Press keys."""
        self._name = f"[{keys}]"
        os.write(self._master, keys.encode())

    def save(self, question: str, text: bytes, about: str) -> None:
        """Save a file as an editor does."""
        aside = self.folder / question / "aside"
        aside.write_bytes(text)
        aside.rename(self.folder / question / "submission.py")
        self._name = f"[saved: {about}]"

    def until(self, *texts: str) -> str:
        """Wait until the screen shows these, and keep it."""
        while not all(text in self.shown for text in texts):
            assert select.select([self._master], [], [], 30)[0], f"{texts}\n{self.shown}"
            self._read()
        self.kept.append(f"{self._name}\n{self.shown}\n")
        return self.shown

    def end(self) -> str:
        """Wait for the end of the program, and keep the screen."""
        self.go()
        self.kept.append(f"{self._name}\n{self.shown}\n")
        return self.shown

    def _read(self) -> None:
        """Read the output; pyte has no alternate screen, so an empty one takes its place."""
        sent = os.read(self._master, 1 << 16)
        self._stream.feed(re.sub(rb"\x1b\[\?1049[hl]", b"\x1b[H\x1b[2J", sent))

    def go(self) -> None:
        """Wait for the end of the program."""
        while self._program and self._program.poll() is None:
            if select.select([self._master], [], [], 0.05)[0]:
                self._read()
        while select.select([self._master], [], [], 0)[0]:
            self._read()

    def close(self) -> None:
        """End every process."""
        if self._program is not None:
            self._program.kill()
            self._program.wait()
        os.close(self._slave)
        os.close(self._master)

    def compare(self, request: pytest.FixtureRequest, name: str) -> None:
        """Compare the screens with the snapshot."""
        size = f"{self._screen.columns}x{self._screen.lines}"
        path = GOLDEN / f"{name}-{size}.txt"
        pages = without_varying_numbers("\n".join(self.kept))
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(pages, encoding="utf-8")
        assert pages == path.read_text(encoding="utf-8")

    @property
    def shown(self) -> str:
        """Return the text of the screen."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip() + "\n"


@pytest.fixture(
    params=[(80, 24), pytest.param((120, 40), marks=pytest.mark.slow)], ids=["80x24", "120x40"]
)
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Evening]:
    evening = Evening(tmp_path, *request.param)
    yield evening
    evening.close()


def version(question: str, *ideas: str) -> bytes:
    """The reference of a question, or that with ideas."""
    loaded = load_question([ROOT], question)
    programs = [loaded.reference, *(loaded.variants[idea][0] for idea in ideas)]
    return b"\n\n".join(programs)


def test_an_evening_of_practice(here: Evening, request: pytest.FixtureRequest) -> None:
    name = "maxpool-routing"
    here.run("--no-pager", "list", "--under", "60", "--track", "pooling-and-convolution")
    here.run("start", name)
    here.start("watch", name)
    here.until("FAIL", "0 of 60 min", "q quit")
    here.later(minutes=4)
    here.type("h")
    here.until("hint 1 of", "space: back")
    here.type(" ")
    here.until("Graded at 19:00", "4 of 60 min", "q quit")
    here.save(name, version(name, "assign-overlap"), "overlap wrong")
    here.until("Idea: assign-overlap", "Graded at 19:04", "q quit")
    here.later(minutes=9)
    here.save(name, version(name, "eq-mask-ties"), "ties wrong")
    here.until("part 2", "13 of 60 min", "q quit")
    here.later(minutes=12)
    here.save(name, version(name), "all right")
    here.until("PASS", "all 3 parts", "q quit")
    here.type("q")
    here.go()
    here.run("--no-pager", "discuss", name, "--all")
    here.run("next")
    here.later(days=3)
    here.run("next")
    here.run("start", name, "--again")
    here.start("watch", name)
    here.until("FAIL", "0 of 60 min", "q quit")
    here.save(name, version(name), "all right at once")
    here.until("PASS", "all 3 parts", "q quit")
    here.type("q")
    here.go()
    here.run("--no-pager", "list", "--due")
    here.run("--no-pager", "progress")
    here.compare(request, "practice")


def test_an_interview_of_45_minutes(here: Evening, request: pytest.FixtureRequest) -> None:
    name = "mlp-two-layer"
    here.start("interview", name)
    here.until("45 of 45 minutes left", "space: back")
    here.type(" ")
    here.until("FAIL", "q leave")
    here.later(minutes=10)
    here.type("h")
    here.until("y yes")
    here.type("y")
    here.until("hint 1 of", "space: back")
    here.type(" ")
    here.until("Graded at 19:00", "35 of 45 minutes left", "q leave")
    here.save(name, version(name, "slope-of-h"), "another slope")
    here.until("Graded at 19:10", "q leave")
    here.later(minutes=8)
    here.save(name, version(name, "kept-sum"), "part 1 right")
    here.until("Part 2 of 3", "27 of 45 minutes left", "q leave")
    here.type("q")
    here.end()
    here.later(minutes=7)
    here.start("--no-pager", "interview")  # as after a crash
    here.until("20 of 45 minutes left", "space: back")
    here.type(" ")
    here.until("Graded at 19:25", "part 2 of 3", "20 of 45 minutes left", "q leave")
    here.later(minutes=25)
    here.end()
    here.run("next")
    here.compare(request, "interview")
