"""The database file: opened for one transaction at a time, and never in the way of a grade.

A connection lives no longer than its transaction, so that no worker started in between can
inherit it. Write-ahead logging and `synchronous=FULL` make a transaction survive a kill or a
power cut the moment it returns; a busy timeout makes two commands at once wait for each other.

A file that SQLite calls corrupt is moved aside, never deleted, and the transaction is run again
on a new one. Whatever else goes wrong (a read-only home, a full disk, a file from a newer
version) is a `RecordsError`, which the command line turns into one warning.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from grader.model.errors import UsageError
from grader.records.events import LATEST, MIGRATIONS

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")
D = TypeVar("D")

FILE_NAME = "drill.sqlite3"
BUSY_SECONDS = 2.0  # a transaction takes milliseconds; only a stopped process holds one so long

# Primary result codes of SQLite (https://www.sqlite.org/rescode.html).
_DBMOVED = 1032  # of `_READONLY`: another process has moved the file aside since it was opened
_BUSY, _READONLY, _CORRUPT, _CANTOPEN, _NOTADB = 5, 8, 11, 14, 26


class RecordsError(UsageError):
    """The records cannot be read or written just now; nothing that was in them is lost."""


class Store:
    """The records of one person, in one folder."""

    def __init__(self, folder: Path, notice: Callable[[str], None]) -> None:
        """Take the folder, which need not exist; `notice` hears of a file that was moved aside."""
        self.path = folder / FILE_NAME
        self._patience = BUSY_SECONDS
        self._notice = notice

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
        return self._guarded(lambda: self._look(work) if self.path.exists() else empty)

    def _guarded(self, action: Callable[[], T]) -> T:
        """Run `action`, with a corrupt file moved aside once, and explain every failure."""
        import sqlite3

        seen = _inode(self.path)
        try:
            try:
                return action()
            except sqlite3.DatabaseError as fault:
                if _code(fault) in (_CORRUPT, _NOTADB):
                    self._move_aside(seen)
                elif getattr(fault, "sqlite_errorcode", 0) != _DBMOVED:
                    raise
                return action()
        except sqlite3.Error as fault:
            if _code(fault) == _BUSY:  # a command waits for it once, whatever else it records
                self._patience = 0.0
            raise RecordsError(f"{self.path}: {fault}") from fault
        except OSError as fault:
            raise RecordsError(f"{self.path.parent}: {fault.strerror or fault}") from fault

    def _transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with closing(self._open()) as db, db:  # which commits, or rolls back
            db.execute("BEGIN IMMEDIATE")
            return work(db)

    def _look(self, work: Callable[[sqlite3.Connection], T]) -> T:
        import sqlite3

        try:
            with closing(self._open()) as db:
                return work(db)
        except sqlite3.OperationalError as fault:
            if _code(fault) not in (_READONLY, _CANTOPEN):
                raise
        # A write-ahead log needs a writable folder even to read; a folder that nobody can write
        # does not change, which is what `immutable` promises. Old tables are migrated in a copy.
        address = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
        with (
            closing(sqlite3.connect(address, uri=True)) as db,
            closing(sqlite3.connect(":memory:", isolation_level=None)) as copy,
        ):
            db.backup(copy)
            _migrate(copy, self.path)
            return work(copy)

    def _open(self) -> sqlite3.Connection:
        import sqlite3

        db = sqlite3.connect(self.path, timeout=self._patience, isolation_level=None)
        try:
            db.execute("PRAGMA synchronous = FULL")
            _migrate(db, self.path)
            with suppress(sqlite3.OperationalError):  # busy: another process does it
                db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            db.close()
            raise
        return db

    def _move_aside(self, broken: int | None) -> None:
        """Rename the database and its log, unless another process has just done so."""
        with self.path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _inode(self.path) != broken:
                return
            names = (self.path.with_suffix(f".corrupt-{n}.sqlite3") for n in count(1))
            aside = next(name for name in names if not name.exists())
            # The log first: a new database must not find it.
            for suffix in ("-wal", "-shm", ""):
                with suppress(FileNotFoundError):
                    Path(f"{self.path}{suffix}").rename(f"{aside}{suffix}")
        self._notice(f"the records could not be read; they are kept in {aside} and new ones begin")


def _migrate(db: sqlite3.Connection, path: Path) -> None:
    """Bring the tables up to date; the version is read again once nobody else can write.

    It is one transaction: a process that is killed in it has changed nothing.

    Raises:
        RecordsError: The file is of a version that is not known, and is left alone.
    """
    version = "PRAGMA user_version"
    (found,) = db.execute(version).fetchone()
    if found in MIGRATIONS:
        db.execute("BEGIN IMMEDIATE")
        for statement in MIGRATIONS.get(db.execute(version).fetchone()[0], ()):
            db.execute(statement)
        db.execute("COMMIT")
    elif found != LATEST:
        raise RecordsError(
            f"{path}: version {found} of the records; this drill knows {LATEST}",
            hint="use the drill that wrote them",
        )


def _inode(path: Path) -> int | None:
    """Return what tells a file from another that is put in its place; None where there is none."""
    with suppress(OSError):
        return path.stat().st_ino
    return None


def _code(fault: sqlite3.Error) -> int:
    """Return SQLite's primary result code, 0 for a fault of the Python module's own."""
    code: int | None = getattr(fault, "sqlite_errorcode", None)
    return (code or 0) & 0xFF
