"""What somebody did, as events that are never changed, and the attempts that follow from them.

An attempt is a file that was graded, or kept before another took its place. Its bytes are recorded
first and its verdict when there is one: without a verdict it was interrupted.

The database is opened for one transaction at a time, so that no worker started in between inherits
a connection. A rollback journal and `synchronous=FULL` make a transaction survive a kill once it
returns, and a folder that cannot be written can still be read; two commands at once wait for each
other. Whatever goes wrong is a `RecordsError`, which the command line turns into one warning.
Nothing is repaired or deleted.
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

T = TypeVar("T")
D = TypeVar("D")

FILE_NAME = "drill.sqlite3"
BUSY_SECONDS = 2.0  # a transaction takes milliseconds; only a stopped process holds one so long
VERSION = 6  # of the tables, in the file's `user_version`
EventName = Literal[
    "started",  # `path`: the folder
    "begun",  # a grade of one's own file: the bytes are safe
    "review",  # a grade of another file, `path`: not an attempt at the question
    "graded",  # the verdict on a `begun` or a `review`
    "hint",
    "solution",
    "reset",  # with the bytes that were there, if there were any
    "restored",  # likewise
    "run",  # an experiment: the candidate's script was called with `seed`
    "again",  # a question that was passed is begun anew: what follows is another sitting
    "discussed",  # a follow-up was answered: `detail` says which, how, and what came of it
    "interview",  # begins: `detail` says for how long, and of which questions; of no question
    "asked",  # the part `parts` of a question; `detail` has a question that was not planned
    "noted",  # by the interviewer, on the part `parts`: `detail`
    "marked",  # by the interviewer, from 4 to 1: `detail`; of the question if `parts` is 0
    "decided",  # by the interviewer, on the candidate: `detail`
    "interviewed",  # the interview is over: it was ended, or its debrief was shown
]


class Event(NamedTuple):
    """Who did what to which question, when, and with which program; the rest as `what` has it."""

    what: EventName
    at: str  # UTC, ISO 8601
    who: str
    program: str  # version
    question: str
    bank: str
    digest: str = ""  # of the question
    attempt: int | None = None  # number that a person types
    path: str | None = None
    hint: int | None = None  # from 1
    seed: int | None = None
    sha256: str | None = None  # of the submission
    verdict: str | None = None
    isolation: str | None = None
    seconds: float | None = None
    report: str | None = None  # JSON
    parts: str | None = (
        None  # the verdict of each: "pass fail skipped"; NO_TRY, UNCHANGED, or as `what` has it
    )
    detail: str | None = None  # JSON, mostly, as `what` has it


class Attempt(NamedTuple):
    """One file that was graded, or kept before another took its place."""

    id: int
    kind: Literal["grade", "review", "kept"]  # review: of a file that is not one's own
    question: str
    bank: str
    digest: str  # of the question
    program: str
    created_at: str  # UTC, ISO 8601
    finished_at: str | None
    seed: int | None
    verdict: str | None  # None: kept, or interrupted before there was one
    isolation: str | None
    seconds: float | None
    sha256: str
    parts: str | None  # as of an event; None: not graded
    report: str | None  # JSON

    @property
    def is_try(self) -> bool:
        """Whether it is a grade of what somebody wrote."""
        return self.kind == "grade" and is_try(self.parts)

    @property
    def state(self) -> str:
        """The verdict in a word, also where there is none."""
        return self.verdict or ("kept" if self.kind == "kept" else "unfinished")


_EVENT = ", ".join(Event._fields)
_ATTEMPT = ", ".join(Attempt._fields)
# What a history without its checks takes of a report, ten times as fast as all of it.
BRIEF_REPORT_SQL = "json_object({}) AS report".format(
    ", ".join(
        f"'{key}', json_extract(report, '$.{key}')" for key in ("unchanged", "misconceptions")
    )
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
# `submissions` holds every file once, however often it was graded. A grade is two events, `begun`
# (or `review`) with the bytes and `graded` with the verdict, and one row of the view `attempts`.
_TABLES = (
    "CREATE TABLE submissions (sha256 TEXT PRIMARY KEY, bytes BLOB NOT NULL)",
    f"CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, {_EVENT}, UNIQUE (attempt, what))",
    # Every lookup of a grade is a search in one of these, however many attempts there are.
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
    """The history cannot be read or written just now; nothing that was in it is lost."""


class Store:
    """The records of one person, in one folder, which need not exist."""

    def __init__(
        self, folder: Path, seal: Callable[[sqlite3.Connection], None] = lambda _: None
    ) -> None:
        """Open nothing yet; `seal` hides what is not to be read now."""
        self.path = folder / FILE_NAME
        self._seal = seal

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction of its own; where it raises, nothing was written."""
        with self._opened(make=True) as db:
            assert db is not None
            db.execute("PRAGMA synchronous = FULL")
            with db:  # which commits, or rolls back
                db.execute("BEGIN IMMEDIATE")
                for statement in () if self._is_made(db) else _TABLES:
                    db.execute(statement)
                return work(db)

    def read(self, work: Callable[[sqlite3.Connection], T], *, empty: D) -> T | D:
        """Return what `work` finds, or `empty`, and make no file, where nothing is recorded."""
        with self._opened(make=False) as db:
            if db is None or not self._is_made(db):
                return empty
            self._seal(db)
            return work(db)

    @contextmanager
    def _opened(self, *, make: bool) -> Iterator[sqlite3.Connection | None]:
        """Give a connection; None where there is no file and none is to be made."""
        import sqlite3

        try:
            if make:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            elif not self.path.exists():
                yield None
                return
            db = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
            db.create_function("counts", 3, is_about_question)
            with closing(db):
                yield db
        except sqlite3.Error as fault:
            code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
            damaged = code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
            hint = f"move {self.path} away; drill then begins a new history" if damaged else ""
            raise RecordsError(f"{self.path}: {fault}", hint) from fault
        except OSError as fault:
            raise RecordsError(f"{self.path.parent}: {fault.strerror or fault}") from fault

    def _is_made(self, db: sqlite3.Connection) -> bool:
        """Return whether the tables are there, and not those of another version of the program."""
        (found,) = db.execute("PRAGMA user_version").fetchone()
        if found not in {0, VERSION}:
            versions = f"(format {found}, this one has {VERSION})"
            raise RecordsError(
                f"{self.path} was written by another version of drill {versions}",
                "use that version, or another folder with DRILL_HOME=DIR",
            )
        return bool(found)


def to_storable(value: D) -> D | str:
    """A value as SQLite can hold it: what is no UTF-8 in the name of a file is written out."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def append_event(db: sqlite3.Connection, event: Event) -> int | None:
    """Append an event and return the number of its row."""
    values = [to_storable(value) for value in event]
    marks = ", ".join("?" * len(values))
    return db.execute(f"INSERT INTO events ({_EVENT}) VALUES ({marks})", values).lastrowid


def begin_attempt(db: sqlite3.Connection, event: Event, submission: bytes) -> int:
    """Record an event with a submission's bytes, and return the attempt's number."""
    from hashlib import sha256

    digest = sha256(submission).hexdigest()
    db.execute("INSERT OR IGNORE INTO submissions VALUES (?, ?)", (digest, submission))
    (number,) = db.execute("SELECT coalesce(max(attempt), 0) + 1 FROM events").fetchone()
    append_event(db, event._replace(attempt=number, sha256=digest))
    return int(number)


def load_attempts(
    db: sqlite3.Connection, *, most: int = -1, report: str = "report", **which: str | int | None
) -> tuple[Attempt, ...]:
    """Return the latest attempts that have the values given, the latest last; None is any.

    As `report` they have all of it, or what is `BRIEF_REPORT_SQL`.
    """
    which = {name: to_storable(value) for name, value in which.items()}
    columns = _ATTEMPT.replace("report", report)
    query = f"SELECT {columns} FROM attempts{_where(which)} ORDER BY id DESC LIMIT {most:d}"
    rows = db.execute(query, which).fetchall()
    return tuple(Attempt(*row) for row in reversed(rows))


def count_attempts(db: sqlite3.Connection, **which: str | int | None) -> int:
    """Return how many attempts have the values given."""
    which = {name: to_storable(value) for name, value in which.items()}
    return int(db.execute(f"SELECT count(*) FROM attempts{_where(which)}", which).fetchone()[0])


def _where(which: dict[str, str | int | None]) -> str:
    conditions = [
        "counts(bank, :bank, question)" if name == "bank" else f"{name} = :{name}"
        for name in which
        if which[name] is not None
    ]
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def find_attempt(db: sqlite3.Connection, number: int) -> tuple[Attempt, bytes] | None:
    """Return an attempt and its submission, or None where there is no such number."""
    for attempt in (
        load_attempts(db, id=number) if number < 2**63 else ()
    ):  # more SQLite does not take
        return attempt, stored_submission(db, attempt.sha256)
    return None


def stored_submission(db: sqlite3.Connection, sha256: str) -> bytes:
    """Return the bytes of a submission on record."""
    query = "SELECT bytes FROM submissions WHERE sha256 = ?"
    return bytes(db.execute(query, (sha256,)).fetchone()[0])
