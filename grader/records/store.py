"""The database file: opened for one transaction at a time, and never in the way of a grade.

A connection lives no longer than its transaction, so that no worker started in between can
inherit it. A rollback journal and `synchronous=FULL` make a transaction survive a kill or a power
cut once it returns, and a folder that cannot be written can still be read; a busy timeout makes two
commands at once wait for each other.

Whatever goes wrong (a read-only home, a full disk, a damaged file, a file from another version) is
a `RecordsError`, which the command line turns into one warning. Nothing is repaired or deleted.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from grader.model.errors import UsageError

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")
D = TypeVar("D")

FILE_NAME = "drill.sqlite3"
BUSY_SECONDS = 2.0  # a transaction takes milliseconds; only a stopped process holds one so long
VERSION = 5  # of the tables, in the file's `user_version`

# `events` says who did what to which question, and when; rows are added and never changed.
# `submissions` holds every file once, however often it was graded. `attempts` is a view: a grade is
# two events, `begun` (or `review`) with the bytes and `graded` with the verdict, so that a grade
# that was interrupted has its bytes.
_TABLES = (
    "CREATE TABLE submissions (sha256 TEXT PRIMARY KEY, bytes BLOB NOT NULL)",
    """
    CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        what TEXT NOT NULL,
        at TEXT NOT NULL,
        who TEXT NOT NULL,
        program TEXT NOT NULL,
        question TEXT NOT NULL,
        bank TEXT NOT NULL,
        digest TEXT NOT NULL,
        attempt INTEGER,
        path TEXT,
        hint INTEGER,
        seed INTEGER,
        sha256 TEXT REFERENCES submissions (sha256),
        verdict TEXT,
        isolation TEXT,
        seconds REAL,
        report TEXT,
        parts TEXT,
        UNIQUE (attempt, what)
    )
    """,
    # Every lookup of a grade is a search in one of these, however many attempts there are.
    "CREATE INDEX events_by_what ON events (what, question)",
    "CREATE INDEX events_by_question ON events (question, attempt, what)",
    *(
        f"CREATE TRIGGER events_no_{change} BEFORE {change} ON events"
        " BEGIN SELECT RAISE(ABORT, 'events are never changed'); END"
        for change in ("UPDATE", "DELETE")
    ),
    """
    CREATE VIEW attempts AS
    SELECT
        begun.attempt AS id,
        CASE begun.what
            WHEN 'begun' THEN 'grade' WHEN 'review' THEN 'review' ELSE 'kept'
        END AS kind,
        begun.question, begun.bank, begun.digest, begun.program,
        begun.at AS created_at, graded.at AS finished_at,
        begun.seed, graded.verdict, graded.isolation, graded.seconds,
        begun.sha256, graded.report, graded.parts
    FROM events AS begun
    LEFT JOIN events AS graded ON graded.attempt = begun.attempt AND graded.what = 'graded'
    WHERE begun.attempt IS NOT NULL AND begun.what != 'graded'
    """,
    f"PRAGMA user_version = {VERSION}",
)


class RecordsError(UsageError):
    """The history cannot be read or written just now; nothing that was in it is lost."""


class Store:
    """The records of one person, in one folder, which need not exist."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._patience = BUSY_SECONDS

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction of its own and return what it returns.

        Raises:
            RecordsError: Nothing was written.
        """
        return self._guarded(lambda: self._transaction(work))

    def read(self, work: Callable[[sqlite3.Connection], T], *, empty: D) -> T | D:
        """Return what `work` finds, or `empty` (without creating a file) where nothing is recorded.

        Raises:
            RecordsError: The file is there and cannot be read.
        """
        return self._guarded(lambda: self._look(work, empty) if self.path.exists() else empty)

    def _guarded(self, action: Callable[[], T]) -> T:
        import sqlite3

        try:
            return action()
        except sqlite3.Error as fault:
            code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_BUSY:  # waited for once, whatever else a command records
                self._patience = 0.0
            hint = ""
            if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
                hint = f"move {self.path} away; drill then begins a new history"
            raise RecordsError(f"{self.path}: {fault}", hint) from fault
        except OSError as fault:
            raise RecordsError(f"{self.path.parent}: {fault.strerror or fault}") from fault

    def _transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with closing(self._open()) as db, db:  # which commits, or rolls back
            db.execute("BEGIN IMMEDIATE")
            if not self._is_made(db):
                for statement in _TABLES:
                    db.execute(statement)
            return work(db)

    def _look(self, work: Callable[[sqlite3.Connection], T], empty: D) -> T | D:
        with closing(self._open()) as db:
            return work(db) if self._is_made(db) else empty

    def _open(self) -> sqlite3.Connection:
        import sqlite3

        db = sqlite3.connect(self.path, timeout=self._patience, isolation_level=None)
        try:
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            db.close()
            raise
        return db

    def _is_made(self, db: sqlite3.Connection) -> bool:
        """Return whether the tables are there.

        Raises:
            RecordsError: They are those of another version of the program.
        """
        (found,) = db.execute("PRAGMA user_version").fetchone()
        if found not in {0, VERSION}:
            raise RecordsError(
                f"{self.path} was written by another version of drill (format {found}, this one"
                f" has {VERSION})",
                hint="use that version, or choose another folder with DRILL_HOME=DIR",
            )
        return bool(found)
