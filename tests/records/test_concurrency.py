"""Two commands at once wait for each other; one that is killed takes nothing with it."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from grader.records import events
from grader.records.store import Store

ROOT = Path(__file__).parents[2]

_WRITER = """
import sys
from pathlib import Path
from dataclasses import replace
from grader.records import events
from grader.records import store as module
from grader.records.events import Event, add
from grader.records.store import Store

module.BUSY_SECONDS = 60  # on a busy machine others may hold it for longer than a person waits
folder, name, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = Store(folder)
for number in range(rounds):
    content = f"{name} {number} ".encode() * 2000
    event = Event("begun", "t", "ann", "0.1.0", name, "b", seed=number)
    one = store.write(lambda db: events.begin(db, event, content))
    print(one, flush=True)
    store.write(lambda db: add(db, replace(event, what="graded", attempt=one, verdict="pass")))
"""


def writer(
    folder: Path, name: str, rounds: int, preparation: Callable[[], None] | None = None
) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _WRITER, str(folder), name, str(rounds)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=preparation,
    )


def test_writers_at_once_lose_nothing_from_the_very_first_opening(tmp_path: Path) -> None:
    writers = [writer(tmp_path, f"w{n}", 20) for n in range(5)]
    numbers: list[int] = []
    for process in writers:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        numbers += map(int, out.split())
    assert sorted(numbers) == list(range(1, 101))
    found = Store(tmp_path).read(events.attempts, empty=())
    assert [a.state for a in found] == ["pass"] * 100
    assert {a.question for a in found} == {f"w{n}" for n in range(5)}


def test_writers_killed_half_way_leave_what_they_had_said(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for kills in range(1, 4):
        process = writer(tmp_path, "killed", 100_000)
        assert process.stdout is not None
        said = [int(process.stdout.readline())]
        said += [int(process.stdout.readline()) for _ in range(kills)]
        process.send_signal(signal.SIGKILL)
        said += map(int, process.stdout.read().split())
        process.communicate(timeout=20)
        found = {a.id: a for a in store.read(events.attempts, empty=())}
        assert set(said) <= set(found)
        for number in said[-3:]:
            kept = store.read(lambda db, number=number: events.find(db, number), empty=None)  # type: ignore[misc]
            assert kept is not None
            assert kept[1] == f"killed {found[number].seed} ".encode() * 2000
        unfinished = [a for a in found.values() if a.state != "pass"]
        assert len(unfinished) <= kills
    query = "PRAGMA integrity_check"
    assert store.write(lambda db: db.execute(query).fetchone()[0]) == "ok"


def test_a_full_disk_is_an_error_of_the_records_and_harms_nothing(tmp_path: Path) -> None:
    writer(tmp_path, "before", 3).communicate(timeout=20)

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    process = writer(tmp_path, "full", 1000, little_room)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "RecordsError" in err.strip().splitlines()[-1]
    found = Store(tmp_path).read(events.attempts, empty=())
    assert [a.state for a in found[:3]] == ["pass"] * 3
    query = "PRAGMA integrity_check"
    assert Store(tmp_path).write(lambda db: db.execute(query).fetchone()[0]) == "ok"
