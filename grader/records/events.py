"""The history of a person: events that are never changed, and the attempts that follow from them.

An attempt is a file that was graded, or kept before another file replaced it.  Its bytes are
recorded first, and its verdict later.  An attempt without a verdict was interrupted.

The database is open only during a transaction: no worker process inherits a connection.  With a
rollback journal and `synchronous=FULL`, a transaction survives a kill once it returns, and a
read-only folder can be read.  Of two commands at once, one waits for the other.  Every error is a
`RecordsError`, which the command line turns into one warning.  Nothing is repaired or deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from grader.model.errors import UsageError
from grader.records.progress import is_about_question, is_try

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")  # result of a transaction
D = TypeVar("D")

FILE_NAME = "drill.sqlite3"
BUSY_SECONDS = 2.0  # a transaction takes milliseconds, unless its process is stopped
VERSION = 6  # of the tables, in the file's `user_version`
MAX_SQLITE_INTEGER = 2**63 - 1
EventName = Literal[
    "started",  # `path`: the folder
    "begun",  # a grade of the person's own file: its bytes are recorded
    "review",  # a grade of another file, `path`: not an attempt at the question
    "graded",  # the verdict on a `begun` or a `review`
    "hint",
    "solution",
    "reset",  # with the bytes of the replaced file, if there were any
    "restored",  # with the bytes of the replaced file, if there were any
    "run",  # an experiment: the candidate's script ran with `seed`
    "again",  # a passed question is started over: another sitting follows
    "discussed",  # a follow-up was answered: `detail` has its number, the answer and the result
    "interview",  # an interview starts: `detail` has its time and questions; `question` is empty
    "asked",  # part `parts` was asked; `detail` describes its question if it was not planned
    "noted",  # `detail` is the interviewer's note on part `parts`
    "marked",  # `detail` is a mark, 4 (best) to 1, and a note, on part `parts` (0: the question)
    "decided",  # `detail` is the interviewer's decision on the candidate
    "interviewed",  # the interview is over: it was ended, or its debrief was shown
]


class Event(NamedTuple):
    """One recorded event.  `EventName` explains `path`, `parts` and `detail` for each `what`."""

    what: EventName
    at: str  # UTC, ISO 8601
    who: str
    program: str  # version
    question: str
    bank: str
    digest: str = ""  # of the question
    attempt: int | None = None  # number, as a person types it
    path: str | None = None
    hint: int | None = None  # from 1
    seed: int | None = None
    sha256: str | None = None  # of the submission
    verdict: str | None = None
    isolation: str | None = None
    seconds: float | None = None
    report: str | None = None  # JSON
    # Of a grade: the verdict of each part, "pass fail skipped", or NO_TRY_MARK or UNCHANGED_MARK.
    # In an interview: the number of a part.
    parts: str | None = None
    detail: str | None = None  # mostly JSON


class Attempt(NamedTuple):
    """One file that was graded, or kept before another file replaced it."""

    id: int
    kind: Literal["grade", "review", "kept"]  # review: of another file than the person's own
    question: str
    bank: str
    digest: str  # of the question
    program: str
    created_at: str  # UTC, ISO 8601
    finished_at: str | None
    seed: int | None
    verdict: str | None  # None: kept, or interrupted
    isolation: str | None
    seconds: float | None
    sha256: str
    parts: str | None  # as in an event; None: not graded
    report: str | None  # JSON

    @property
    def is_try(self) -> bool:
        """True for a grade of the person's own file, even an interrupted one.

        A grade of a file that is empty, unreadable, the starter, or unchanged since it passed the
        part before is not a try.
        """
        return self.kind == "grade" and is_try(self.parts)

    @property
    def state(self) -> str:
        """The verdict; without one "kept", or "unfinished" if the grade was interrupted."""
        if self.verdict:
            return self.verdict
        return "kept" if self.kind == "kept" else "unfinished"


_EVENT_COLUMNS = ", ".join(Event._fields)
_ATTEMPT_COLUMNS = ", ".join(Attempt._fields)
# The keys of a report that a list of attempts shows: ten times as fast as the whole report.
BRIEF_REPORT_SQL = (
    "json_object('unchanged', json_extract(report, '$.unchanged'), "
    "'misconceptions', json_extract(report, '$.misconceptions')) AS report"
)
ATTEMPTS_VIEW_SQL = """VIEW attempts AS
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
"""
# `submissions` has every file once, even if it was graded several times.  A grade is two events,
# `begun` (or `review`) with the bytes and `graded` with the verdict, and one row of `attempts`.
_TABLES = (
    "CREATE TABLE submissions (sha256 TEXT PRIMARY KEY, bytes BLOB NOT NULL)",
    f"CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, {_EVENT_COLUMNS}, "
    "UNIQUE (attempt, what))",
    # Every lookup of a grade searches one of these indexes, so it stays quick.
    "CREATE INDEX events_by_what ON events (what, question)",
    "CREATE INDEX events_by_question ON events (question, attempt, what)",
    *(
        f"CREATE TRIGGER events_no_{change} BEFORE {change} ON events"
        " BEGIN SELECT RAISE(ABORT, 'events are never changed'); END"
        for change in ("UPDATE", "DELETE")
    ),
    f"CREATE {ATTEMPTS_VIEW_SQL}",
    f"PRAGMA user_version = {VERSION}",
)


class RecordsError(UsageError):
    """The history cannot be read or written now.  Nothing in it is lost."""


class Store:
    """The history of one person: a database in a folder.  Neither of the two needs to exist yet."""

    def __init__(
        self, folder: Path, seal: Callable[[sqlite3.Connection], None] = lambda _: None
    ) -> None:
        """Open no file yet; `seal` is called with each reading connection, to hide some records."""
        self.path = folder / FILE_NAME
        self._seal = seal

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction, and return its result; if it raises, nothing is recorded.

        Creates the folder and the database if they are missing.
        """
        with self._connection(create=True) as db:
            assert db is not None
            db.execute("PRAGMA synchronous = FULL")
            with db:  # commits, or rolls back
                db.execute("BEGIN IMMEDIATE")
                if not self._has_tables(db):
                    for statement in _TABLES:
                        db.execute(statement)
                return work(db)

    def read(self, work: Callable[[sqlite3.Connection], T], *, empty: D) -> T | D:
        """Return the result of `work`, or `empty` if there is no history.  Creates no file."""
        with self._connection(create=False) as db:
            if db is None or not self._has_tables(db):
                return empty
            self._seal(db)
            return work(db)

    @contextmanager
    def _connection(self, *, create: bool) -> Iterator[sqlite3.Connection | None]:
        """Yield a connection; None if there is no file and `create` is not set.

        Errors of SQLite and of the file system become a RecordsError, even in the `with` block.
        """
        import sqlite3

        try:
            if create:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            elif not self.path.exists():
                yield None
                return
            db = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
            db.create_function("counts", 3, is_about_question)
            with closing(db):
                yield db
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            hint = ""
            if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
                hint = f"move {self.path} away; drill then begins a new history"
            raise RecordsError(f"{self.path}: {error}", hint) from error
        except OSError as error:
            raise RecordsError(f"{self.path.parent}: {error.strerror or error}") from error

    def _has_tables(self, db: sqlite3.Connection) -> bool:
        """Return True if the tables exist.

        Raises:
            RecordsError: another version of the program wrote them.
        """
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version not in {0, VERSION}:
            versions = f"(format {version}, this one has {VERSION})"
            raise RecordsError(
                f"{self.path} was written by another version of drill {versions}",
                "use that version, or another folder with DRILL_HOME=DIR",
            )
        return bool(version)


def to_storable(value: D) -> D | str:
    """Escape characters that UTF-8, and so SQLite, cannot hold: file names may have some."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "backslashreplace").decode()


def append_event(db: sqlite3.Connection, event: Event) -> int | None:
    """Append an event and return the number of its row."""
    values = [to_storable(value) for value in event]
    placeholders = ", ".join("?" * len(values))
    query = f"INSERT INTO events ({_EVENT_COLUMNS}) VALUES ({placeholders})"
    return db.execute(query, values).lastrowid


def begin_attempt(db: sqlite3.Connection, event: Event, submission: bytes) -> int:
    """Store an event and its submission as a new attempt, and return the attempt's number."""
    from hashlib import sha256

    digest = sha256(submission).hexdigest()
    db.execute("INSERT OR IGNORE INTO submissions VALUES (?, ?)", (digest, submission))
    (number,) = db.execute("SELECT coalesce(max(attempt), 0) + 1 FROM events").fetchone()
    append_event(db, event._replace(attempt=number, sha256=digest))
    return int(number)


def load_attempts(
    db: sqlite3.Connection, *, most: int = -1, report: str = "report", **which: str | int | None
) -> tuple[Attempt, ...]:
    """Return attempts, the latest last.

    Args:
        db: A connection.
        most: Maximum number; older attempts are left out (default: all attempts).
        report: SQL of the column `report`, or `BRIEF_REPORT_SQL` for a few keys of the report.
        which: Values by column, as `question="softmax"`; None admits any. A `bank` also admits
            attempts whose bank counts for it, see `is_about_question`.
    """
    which = {name: to_storable(value) for name, value in which.items()}
    columns = _ATTEMPT_COLUMNS.replace("report", report)
    query = f"SELECT {columns} FROM attempts{_where_clause(which)} ORDER BY id DESC LIMIT {most:d}"
    rows = db.execute(query, which).fetchall()
    return tuple(Attempt(*row) for row in reversed(rows))


def count_attempts(db: sqlite3.Connection, **which: str | int | None) -> int:
    """Return how many attempts have these values by column, as in `load_attempts`."""
    which = {name: to_storable(value) for name, value in which.items()}
    (count,) = db.execute(f"SELECT count(*) FROM attempts{_where_clause(which)}", which).fetchone()
    return int(count)


def _where_clause(which: dict[str, str | int | None]) -> str:
    conditions = []
    for name, value in which.items():
        if value is None:
            continue
        if name == "bank":
            conditions.append("counts(bank, :bank, question)")
        else:
            conditions.append(f"{name} = :{name}")
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def find_attempt(db: sqlite3.Connection, number: int) -> tuple[Attempt, bytes] | None:
    """Return an attempt and its submission; None for an unknown number."""
    if number > MAX_SQLITE_INTEGER:
        return None
    attempts = load_attempts(db, id=number)
    if not attempts:
        return None
    return attempts[0], stored_submission(db, attempts[0].sha256)


def stored_submission(db: sqlite3.Connection, sha256: str) -> bytes:
    """Return the bytes of a submission by its hash, which must be recorded."""
    query = "SELECT bytes FROM submissions WHERE sha256 = ?"
    (content,) = db.execute(query, (sha256,)).fetchone()
    return bytes(content)
