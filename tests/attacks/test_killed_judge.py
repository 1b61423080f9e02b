"""A judge that is killed at ten moments of a grade loses, doubles and leaves nothing."""

from __future__ import annotations

import itertools
import json
import os
import re
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import psutil
import pytest

from tests.attacks.attack import MINI

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

RIGHT = MINI / "drills" / "deviations" / "reference.py"
ENDS = 30  # seconds after which a process that should have ended counts as left behind
LONG_AGO = 1_000_000_000


class Judge:
    """A `drill grade` in another process."""

    def __init__(self, folder: Path) -> None:
        """Start it with records and temporary files in a folder."""
        environment = dict(os.environ) | {
            "DRILL_HOME": str(folder / "home"),
            "TMPDIR": str(folder / "tmp"),
        }
        command = ["--bank", str(MINI), "grade", "deviations", "--file", str(RIGHT), "--json"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "grader", *command],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.workers: dict[int, int] = {}  # by id, a handle

    def look(self) -> int:
        """Take note of its descendants and return how many there have been."""
        with suppress(psutil.NoSuchProcess):
            for worker in psutil.Process(self.process.pid).children(recursive=True):
                self.note(worker.pid)
        return len(self.workers)

    def note(self, pid: int) -> None:
        """Take a handle of a process, which says when it has ended."""
        if pid not in self.workers:
            with suppress(ProcessLookupError):
                self.workers[pid] = os.pidfd_open(pid)

    def kill(self) -> None:
        """Kill it; its descendants are stopped first for a moment, so that none is overlooked."""
        self.process.send_signal(signal.SIGSTOP)
        self.look()
        self.process.kill()
        self.process.communicate()

    def left(self) -> list[int]:
        """Descendants that have not ended, though they had time to."""
        for one in psutil.process_iter(["cmdline"]):  # those that its zygote forked meanwhile
            command = " ".join(one.info["cmdline"] or ())
            if re.search(rf"boot\.py supervisor \d+ {self.process.pid} ", command):
                self.note(one.pid)
        found = []
        for pid, handle in self.workers.items():
            if not select.select([handle], [], [], ENDS)[0]:
                found.append(pid)
            os.close(handle)
        return found


def _rows(home: Path, query: str) -> list[tuple[object, ...]]:
    path = home / "drill.sqlite3"
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as db:
        try:
            return db.execute(query).fetchall()
        except sqlite3.OperationalError:  # no tables yet
            return []


def _moments(home: Path) -> list[Callable[[Judge], bool]]:
    """Return one condition for each moment at which the judge is killed."""
    return [
        lambda _: True,
        lambda judge: judge.look() >= 1,
        lambda judge: judge.look() >= 2,
        lambda judge: judge.look() >= 3,
        lambda _: bool(_rows(home, "SELECT 1 FROM attempts WHERE verdict IS NULL")),
    ]


@pytest.mark.slow
def test_no_grade_is_lost_or_doubled_and_no_process_stays(tmp_path: Path) -> None:
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    temporary.mkdir()
    begun = 0
    for delay, moment in itertools.product(range(2), _moments(home)):
        before = _rows(home, "SELECT id, verdict, report FROM attempts ORDER BY id")
        judge = Judge(tmp_path)
        while not moment(judge) and judge.process.poll() is None:
            judge.look()
            time.sleep(0.001)  # a busy loop would take the time that the judge needs
        for _ in range(20 * delay):  # a little later, which differs from run to run
            judge.look()
        judge.kill()
        assert judge.left() == []
        after = _rows(home, "SELECT id, verdict, report FROM attempts ORDER BY id")
        known = [row for row in before if row[1] is not None]
        assert [row for row in after if row in known] == known, "what was recorded stays"
        assert len(after) - len(before) in {0, 1}, "one grade is one attempt"
        begun = len(after)
    assert _rows(home, "PRAGMA integrity_check") in ([("ok",)], [])

    for folder in temporary.glob("drill-*"):  # as if a day had gone by
        os.utime(folder, (LONG_AGO, LONG_AGO))
    judge = Judge(tmp_path)
    printed, errors = judge.process.communicate()
    assert judge.process.returncode == 0, errors
    assert json.loads(printed)["verdict"] == "pass"
    assert list(temporary.iterdir()) == []
    rows = _rows(home, "SELECT verdict FROM attempts ORDER BY id")
    assert len(rows) == begun + 1
    assert rows[-1] == ("pass",)
