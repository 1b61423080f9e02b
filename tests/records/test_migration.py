"""Records of earlier versions come along whole, whoever is killed or comes at the same time."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from grader.records import attempts, events, progress
from grader.records.store import FILE_NAME, RecordsError, Store
from tests.records.making import begin, finish

ROOT = Path(__file__).parents[2]

_TABLES = """
CREATE TABLE submissions (
    sha256 TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
);
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('grade', 'kept')),
    question TEXT NOT NULL,
    bank TEXT NOT NULL,
    created_at TEXT NOT NULL,
    finished_at TEXT,
    seed INTEGER,
    verdict TEXT,
    isolation TEXT,
    seconds REAL,
    sha256 TEXT NOT NULL REFERENCES submissions (sha256),
    report TEXT
);
CREATE TABLE starts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    question TEXT NOT NULL,
    bank TEXT NOT NULL,
    folder TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX attempts_by_question ON attempts (question, id);
CREATE TABLE hints (question TEXT PRIMARY KEY, shown INTEGER NOT NULL);
CREATE TABLE solutions (question TEXT PRIMARY KEY, given_up_at TEXT NOT NULL);
"""

# What drill 0.1.0 wrote: two starts, a pass, an interrupted grade, a copy kept by a reset, two
# hints shown, one question given up.
_WRITTEN = """
INSERT INTO submissions VALUES ('s1', x'0102'), ('s2', x''), ('s3', x'ff');
INSERT INTO starts VALUES (1, 'one', '/bank', '/home/one', 't1'), (2, 'two', '/bank', '/two', 't2');
INSERT INTO attempts VALUES
    (1, 'grade', 'one', '/bank', 't3', 't4', 7, 'pass', 'strong', 0.5, 's1', '{"format": 1}'),
    (2, 'grade', 'two', '/bank', 't5', NULL, 8, NULL, NULL, NULL, 's2', NULL),
    (5, 'kept', 'one', '/bank', 't6', NULL, NULL, NULL, NULL, NULL, 's3', NULL);
INSERT INTO hints VALUES ('one', 2);
INSERT INTO solutions VALUES ('two', 't7');
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Give a folder with records of version 1."""
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(_TABLES + _WRITTEN + "PRAGMA user_version = 1;")
    return tmp_path


def complete(store: Store) -> bool:
    """Return whether everything of `_WRITTEN` is there."""
    found = store.read(attempts.listing, empty=())
    known = store.read(progress.overview, empty={})
    bytes_of = store.read(lambda db: [attempts.find(db, n) for n in (1, 2, 5)], empty=[])
    return (
        [(a.id, a.kind, a.state, a.seed, a.created_at, a.finished_at) for a in found]
        == [
            (1, "grade", "pass", 7, "t3", "t4"),
            (2, "grade", "unfinished", 8, "t5", None),
            (5, "kept", "kept", None, "t6", None),
        ]
        and [one and one[1] for one in bytes_of] == [b"\1\2", b"", b"\xff"]
        and store.read(lambda db: [s.folder for s in progress.starts(db)], empty=[])
        == ["/two", "/home/one"]
        and progress.of(known, "one", Path("/bank")) == progress.Progress(True, 1, True, hints=2)
        and progress.of(known, "two", Path("/bank")) == progress.Progress(True, given_up=True)
    )


def version(folder: Path) -> int:
    with closing(sqlite3.connect(folder / FILE_NAME)) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def test_records_of_version_1_lose_nothing(old: Path) -> None:
    assert complete(Store(old, print))
    assert version(old) == events.LATEST
    assert complete(Store(old, print))


def test_records_of_version_2_get_the_indexes_of_new_ones(old: Path) -> None:
    store = Store(old, print)
    complete(store)
    new = _indexes(old)
    with closing(sqlite3.connect(old / FILE_NAME)) as db:
        for name in new:
            db.execute(f"DROP INDEX {name}")
        db.execute("CREATE INDEX events_by_question ON events (question, what)")
        without_parts(db)
        db.execute("PRAGMA user_version = 2")
    assert complete(store)
    assert version(old) == events.LATEST
    assert _indexes(old) == new
    assert len(new) == 3


def test_records_of_version_3_get_the_parts_of_new_ones(old: Path) -> None:
    store = Store(old, print)
    complete(store)
    with closing(sqlite3.connect(old / FILE_NAME)) as db:
        without_parts(db)
        db.execute("PRAGMA user_version = 3")
    assert complete(store)
    assert version(old) == events.LATEST
    finish(store, begin(store, b"new"), "fail", parts="pass fail")
    assert store.read(attempts.listing, empty=())[-1].parts == "pass fail"


def without_parts(db: sqlite3.Connection) -> None:
    """Take away what version 4 has added."""
    db.execute("DROP VIEW attempts")
    db.execute("ALTER TABLE events DROP COLUMN parts")
    db.execute("CREATE VIEW attempts AS SELECT attempt AS id FROM events")


def _indexes(folder: Path) -> dict[str, str]:
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    with closing(sqlite3.connect(folder / FILE_NAME)) as db:
        return dict(db.execute(query).fetchall())


def test_numbers_go_on_behind_those_of_version_1(old: Path) -> None:
    assert begin(Store(old, print), b"new") == 6


_MIGRATE = """
import os, sys
from pathlib import Path
from grader.records import events, progress, store

killed_at = int(sys.argv[2])
if killed_at >= 0:
    import sqlite3
    class Connection(sqlite3.Connection):
        def execute(self, statement, *more):
            if statement == events.MIGRATIONS[1][killed_at]:
                os.kill(os.getpid(), 9)
            return super().execute(statement, *more)
    true = sqlite3.connect
    sqlite3.connect = lambda *a, **k: true(*a, **k, factory=Connection)
store.Store(Path(sys.argv[1]), print).read(progress.overview, empty={})
"""


def migrating(folder: Path, killed_at: int = -1) -> subprocess.Popen[str]:
    """Start a process that migrates; it kills itself before one of the statements."""
    return subprocess.Popen(
        [sys.executable, "-c", _MIGRATE, str(folder), str(killed_at)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("at", [0, 2, 4, 8, len(events.MIGRATIONS[1]) - 1])
def test_a_migration_that_is_killed_has_changed_nothing(old: Path, at: int) -> None:
    with migrating(old, at) as process:
        assert process.wait(timeout=60) == -9
    assert version(old) == 1
    assert complete(Store(old, print))


def test_processes_that_migrate_at_once_lose_nothing(old: Path) -> None:
    processes = [migrating(old) for _ in range(4)]
    for process in processes:
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
    assert complete(Store(old, print))


def test_records_of_a_newer_version_keep_every_byte(old: Path) -> None:
    with closing(sqlite3.connect(old / FILE_NAME)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA user_version = 99")
    before = (old / FILE_NAME).read_bytes()
    for work in (Store(old, print).write, lambda work: Store(old, print).read(work, empty=())):
        with pytest.raises(RecordsError, match="version 99 of the records; this drill knows"):
            work(attempts.listing)
    assert (old / FILE_NAME).read_bytes() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become somebody else")
def test_old_records_that_cannot_be_written_can_still_be_read(old: Path) -> None:
    with tempfile.TemporaryDirectory() as name:  # whose parents anybody may enter
        folder = Path(name)
        shutil.copy(old / FILE_NAME, folder / FILE_NAME)
        (folder / FILE_NAME).chmod(0o444)
        folder.chmod(0o555)
        child = os.fork()
        if child == 0:  # pragma: no cover - another process
            status = 1
            try:
                os.setuid(65534)
                status = 0 if complete(Store(folder, print)) else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert version(folder) == 1
