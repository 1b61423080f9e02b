"""The database file: created late, healed by moving aside, and never in the way."""

from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from grader.records import progress
from grader.records.events import LATEST
from grader.records.events import add as add_event
from grader.records.store import FILE_NAME, RecordsError, Store
from tests.records.making import SOME, start


@pytest.fixture
def told() -> list[str]:
    """Collect what the store tells the person."""
    return []


@pytest.fixture
def store(tmp_path: Path, told: list[str]) -> Store:
    """Give a store in a folder that does not exist yet."""
    return Store(tmp_path / "deep" / "home", told.append)


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
    modes = store.write(
        lambda db: [
            db.execute(f"PRAGMA {p}").fetchone()[0] for p in ("journal_mode", "synchronous")
        ]
    )
    assert modes == ["wal", 2]
    version = store.read(lambda db: db.execute("PRAGMA user_version").fetchone()[0], empty=0)
    assert version == LATEST


def test_a_transaction_that_raises_leaves_nothing(store: Store) -> None:
    def half(db: sqlite3.Connection) -> None:
        add_event(db, replace(SOME, what="started"))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.write(half)
    assert count(store) == 0


@pytest.mark.parametrize("damage", ["garbage", "page", "truncated"])
def test_a_corrupt_file_is_moved_aside_and_the_work_is_done(
    store: Store, told: list[str], damage: str
) -> None:
    store.write(two_hundred_starts)
    content = store.path.read_bytes()
    size = 4096
    broken = {
        "garbage": b"this is no database" * 500,
        "page": content[:size] + b"\xff" * (len(content) - size),
        "truncated": content[: len(content) // 2],
    }[damage]
    store.path.write_bytes(broken)
    add(store, "new")
    assert count(store) == 1
    (sentence,) = told
    aside = store.path.parent / "drill.corrupt-1.sqlite3"
    assert str(aside) in sentence
    assert aside.read_bytes() == broken
    store.path.write_bytes(b"again " * 1000)
    assert count(store) == -1
    assert (store.path.parent / "drill.corrupt-2.sqlite3").exists()
    assert aside.read_bytes() == broken


def test_records_of_a_newer_version_are_left_alone(store: Store, told: list[str]) -> None:
    add(store)
    with sqlite3.connect(store.path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(RecordsError, match=f"version 99 of the records; this drill knows {LATEST}"):
        count(store)
    assert told == []


def test_records_of_a_version_below_zero_are_left_alone(store: Store) -> None:
    add(store)
    with sqlite3.connect(store.path) as db:
        db.execute("PRAGMA user_version = -5")
    db.close()
    with pytest.raises(RecordsError, match="version -5 of the records"):
        count(store)


def test_an_older_version_is_brought_up_to_date(store: Store) -> None:
    store.path.parent.mkdir(parents=True)
    sqlite3.connect(store.path).close()
    add(store)
    assert count(store) == 1


@pytest.mark.parametrize("home", ["/proc/nowhere", "/dev/null/home", "file"])
def test_a_home_that_cannot_be_made(home: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = Store(tmp_path / home, print)
    with pytest.raises(RecordsError, match=r"^/"):
        add(store)


def test_a_folder_in_the_files_place(store: Store) -> None:
    store.path.mkdir(parents=True)
    with pytest.raises(RecordsError, match=FILE_NAME):
        add(store)
    with pytest.raises(RecordsError, match=FILE_NAME):
        count(store)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become somebody else")
def test_a_read_only_home_can_be_read_and_refuses_to_be_written() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), print)
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


def test_a_file_that_another_process_has_just_moved_aside_is_opened_anew(
    store: Store, tmp_path: Path
) -> None:
    calls = []

    def work(db: sqlite3.Connection) -> int:
        calls.append(db)
        if len(calls) == 1:  # what SQLite says of a file that is moved while it is open
            with closing(sqlite3.connect(tmp_path / "open", isolation_level=None)) as other:
                other.execute("CREATE TABLE t (x)")
                (tmp_path / "open").rename(tmp_path / "moved")
                other.execute("INSERT INTO t VALUES (1)")
        return len(calls)

    assert store.write(work) == 2
