"""The database file: created late, never repaired, shared by several, and never in the way."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from grader.records import events, progress
from grader.records.events import add as add_event
from grader.records.store import FILE_NAME, VERSION, RecordsError, Store
from tests.records.conftest import SOME, start


def count(store: Store) -> int:
    return store.read(lambda db: len(progress.overview(db)), empty=-1)


def two_hundred_starts(db: sqlite3.Connection) -> None:
    for number in range(200):
        add_event(db, replace(SOME, what="started", question=f"question-{number}", path="f" * 200))


def add(store: Store, name: str = "q") -> None:
    start(store, name)


def test_reading_creates_nothing(store: Store) -> None:
    assert count(store) == -1
    assert not store.path.parent.exists()


def test_what_is_written_is_durable_and_private(store: Store) -> None:
    add(store)
    assert count(store) == 1
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700
    assert store.write(lambda db: db.execute("PRAGMA synchronous").fetchone()[0]) == 2
    version = store.read(lambda db: db.execute("PRAGMA user_version").fetchone()[0], empty=0)
    assert version == VERSION


def test_a_transaction_that_raises_leaves_nothing(store: Store) -> None:
    def half(db: sqlite3.Connection) -> None:
        add_event(db, replace(SOME, what="started"))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.write(half)
    assert count(store) == -1


@pytest.mark.parametrize("damage", ["garbage", "page", "truncated"])
def test_a_damaged_file_is_left_alone_and_said_to_be(store: Store, damage: str) -> None:
    store.write(two_hundred_starts)
    content = store.path.read_bytes()
    size = 4096
    broken = {
        "garbage": b"this is no database" * 500,
        "page": content[:size] + b"\xff" * (len(content) - size),
        "truncated": content[: len(content) // 2],
    }[damage]
    store.path.write_bytes(broken)
    for work in (lambda: add(store, "new"), lambda: count(store)):
        with pytest.raises(RecordsError, match=FILE_NAME) as caught:
            work()
        assert caught.value.hint == f"move {store.path} away; drill then begins a new history"
    assert store.path.read_bytes() == broken
    store.path.rename(store.path.with_name("away"))
    add(store, "new")
    assert count(store) == 1


@pytest.mark.parametrize("version", [99, 4, -5])
def test_records_of_another_version_are_left_alone(store: Store, version: int) -> None:
    add(store)
    with sqlite3.connect(store.path) as db:
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    for work in (lambda: add(store), lambda: count(store)):
        with pytest.raises(RecordsError, match=rf"another version of drill \(format {version}, "):
            work()


def test_a_file_without_tables_holds_nothing(store: Store) -> None:
    store.path.parent.mkdir(parents=True)
    sqlite3.connect(store.path).close()
    store.path.touch()
    assert count(store) == -1
    add(store)
    assert count(store) == 1


@pytest.mark.parametrize("home", ["/proc/nowhere", "/dev/null/home", "file"])
def test_a_home_that_cannot_be_made(home: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = Store(tmp_path / home)
    with pytest.raises(RecordsError, match=r"^/"):
        add(store)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become somebody else")
def test_a_read_only_home_can_be_read_and_refuses_to_be_written() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        add(store)
        Path(folder).chmod(0o555)
        store.path.chmod(0o444)
        assert as_somebody_else(store) == 0


def as_somebody_else(store: Store) -> int:
    """Return 0 if nobody can read what is there and is told that nothing can be written."""
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        status = 1
        try:
            os.setuid(65534)
            status = 0 if count(store) == 1 else 2
            try:
                add(store)
                status = 3
            except RecordsError:
                pass
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


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
