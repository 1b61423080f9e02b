"""The folder of results: `class.json` with the settings, and `grades.sqlite` with one table.

A row is a file that a student handed in for a question, with its program and grade.  It is current
unless a later grading no longer found the file (`place` is -1 then).  A verdict is committed before
it is shown: nothing is lost if the command is killed.  Rows are never removed: nothing is graded
twice.  SUBMISSIONS is the folder or zip file that the instructor gave; a class may have several.

Other users may write to the folder, too.  They may have put a link in the place of `class.json`,
say, to make this program read or overwrite another file of the user.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from grader.bank.bank_files import read_regular_file, write_atomically
from grader.classroom.overrides import read_overrides
from grader.classroom.submission_layout import on_one_line
from grader.model.classroom import (
    RESULTS_FORMAT,
    AssignedQuestion,
    ClassEntry,
    ClassSettings,
    HandIn,
    Override,
    ProgramGrade,
    SubmittedProgram,
)
from grader.model.errors import UsageError
from grader.model.number_format import join_words
from grader.model.report import Report
from grader.reports.json import to_json
from grader.sandbox import Closeable

SETTINGS_FILE = "class.json"
GRADES_FILE = "grades.sqlite"
_MAX_SETTINGS_SIZE = 4_000_000  # bytes
_SCHEMA = """
CREATE TABLE IF NOT EXISTS grade (
    student TEXT NOT NULL, question TEXT NOT NULL, path TEXT NOT NULL,
    key TEXT NOT NULL,       -- hash of all that decides the verdict; '' where there is no program
    place INTEGER NOT NULL,  -- order in which it was read; -1: it is not handed in any more
    sha256 TEXT NOT NULL, at TEXT NOT NULL, fault TEXT NOT NULL, name TEXT NOT NULL,
    email TEXT NOT NULL, late INTEGER NOT NULL,
    program BLOB,
    modules TEXT NOT NULL,   -- JSON: the files that it imports, as Latin-1, by name
    state TEXT NOT NULL,     -- waiting, graded, fault (of the grader), none (there is no program)
    said TEXT NOT NULL,      -- by the grader, of its own fault
    report TEXT, graded_at TEXT NOT NULL,
    root TEXT NOT NULL,      -- the folder or zip file of submissions that it is in
    PRIMARY KEY (student, question, path, key)
);
CREATE TABLE IF NOT EXISTS aside (  -- files that are no student's answer
    root TEXT NOT NULL, path TEXT NOT NULL, why TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS grade_by_key ON grade (key, state);
"""
_OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_master"
_HAND_IN_COLUMNS = "student, question, path, sha256, at, fault, name, email, late"
_REPAIR = (
    "put back a copy of it if you have one; else move the whole folder away, and "
    "drill class grade grades everybody again"
)
_adapter = functools.cache(TypeAdapter[Any])


def grade_key(
    settings: ClassSettings, question: AssignedQuestion, program: SubmittedProgram, student: str
) -> str:
    """Return the key of a grade, a hash of everything that affects the result."""
    inputs = [
        program.hashes, question.digest, question.parts, sorted(question.libraries.items()),
        settings.seed_of(student), settings.level, settings.stretch, settings.program,
        question.shared, settings.strict_text,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:32]


class ClassResults(Closeable):
    """The submissions and grades of a class; only one process may open them for writing."""

    def __init__(
        self, folder: Path, *, write: ClassSettings | None = None, drawn: bool = False
    ) -> None:
        """Open a folder of results: to read it, or to `write` it with these settings.

        To write, the folder is locked, and created if it is missing. If the seed of the settings
        was `drawn` by chance, the seed of earlier results is kept.
        """
        self.folder = folder
        self._path = folder / GRADES_FILE
        self.gone: list[tuple[str, str]] = []  # students and questions without a file any more
        self._writes = write is not None
        with ExitStack() as opened:
            if write is not None:
                opened.enter_context(_lock_folder(folder))
                if drawn and (folder / SETTINGS_FILE).exists():
                    write = replace(write, seed=read_settings(folder).seed)
                settings_text = json.dumps(asdict(write), indent=2)
                write_atomically(folder / SETTINGS_FILE, [settings_text, "\n"])
            self.class_settings = read_settings(folder)
            self._questions = {question.id: question for question in self.class_settings.questions}
            self._root = _storable(self.class_settings.submissions)
            self._db = self._open_database(opened)
            self._opened = opened.pop_all()

    def _open_database(self, opened: ExitStack) -> sqlite3.Connection:
        """Open the database; it is created if it is missing, unless it is only read.

        UsageError if it has other tables: a view, a trigger or a computed column of a stranger may
        run forever.
        """
        path = self._path
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise UsageError(f"{path}: expected a file, found something else in its place")
        uri = f"{path.absolute().as_uri()}?mode={'rwc' if self._writes else 'ro'}"
        with self._explain_database_errors():
            # Statements that change anything begin a transaction; `with self._db` ends it.
            db = sqlite3.connect(uri, uri=True, isolation_level="IMMEDIATE")
            opened.enter_context(closing(db))
            with closing(sqlite3.connect(":memory:")) as empty:
                empty.executescript(_SCHEMA)
                own_objects = {*empty.execute(_OBJECTS)}
            if not own_objects.issuperset(db.execute(_OBJECTS)):
                raise UsageError(
                    f"{path}: expected the tables of drill class grade, found others",
                    hint=_REPAIR,
                )
            if self._writes:
                db.execute("PRAGMA journal_mode = WAL")  # others may read meanwhile
                db.execute("PRAGMA synchronous = FULL")  # a commit is on the disk
                db.executescript(_SCHEMA)
        return db

    def close(self) -> None:
        """Close and unlock the folder; its database becomes one file without a WAL next to it."""
        if self._writes:
            with suppress(sqlite3.Error):  # another process is reading it
                self._db.execute("PRAGMA journal_mode = DELETE")
        self._opened.close()

    # Writing.

    def store_hand_ins(
        self, hand_ins: Iterable[tuple[HandIn, SubmittedProgram]], unused: Iterable[Any] = ()
    ) -> int:
        """Store the submissions from these SUBMISSIONS, and return their number.

        After an error nothing is stored. No earlier submission from these SUBMISSIONS stays
        current, nor does any answer from other SUBMISSIONS by the same student to the same
        question. `unused` gives the files that do not count, with the reason; it is read after the
        submissions.
        """
        count = 0
        root = self._root
        with self._explain_database_errors(), self._db as db:
            before = self._answered_questions()
            db.execute("UPDATE grade SET place = -1 WHERE root = ?", [root])
            for hand_in, program in hand_ins:
                db.execute(
                    "UPDATE grade SET place = -1 WHERE student = ? AND question = ? AND root != ?",
                    [hand_in.student, hand_in.question, root],
                )
                self._insert(hand_in, program, count)
                count += 1
            db.execute("DELETE FROM aside WHERE root = ?", [root])
            db.executemany(
                "INSERT INTO aside VALUES (?, ?, ?)",
                ((root, *map(_storable, row)) for row in unused),
            )
            self.gone = sorted(before - self._answered_questions())
        return count

    def _insert(self, hand_in: HandIn, program: SubmittedProgram, place: int) -> None:
        """Insert a submission; it takes the grade of a row with the same key, if there is one."""
        key = ""
        state = "fault" if hand_in.unread else "none"
        main = None
        report: tuple[str | None, str] = (None, "")  # and when it was graded
        if hand_in.sha256:
            state = "waiting"
            main = program.main  # b"" if the file is empty
            question = self._questions[hand_in.question]
            key = grade_key(self.class_settings, question, program, hand_in.student)
            graded = self._db.execute(
                "SELECT report, graded_at FROM grade WHERE key = ? AND state = 'graded'", [key]
            ).fetchone()
            if graded:
                state = "graded"
                report = graded
        files = {name: content.decode("latin-1") for name, content in program.modules.items()}
        values = map(_storable, asdict(hand_in).values())
        self._db.execute(
            f"INSERT OR REPLACE INTO grade ({_HAND_IN_COLUMNS}, said, key, place, program, "
            f"modules, state, report, graded_at, root) VALUES ({', '.join('?' * 18)})",
            [*values, key, place, main, json.dumps(files), state, *report, self._root],
        )

    def _answered_questions(self) -> set[tuple[str, str]]:
        """Return each student and question with a current submission."""
        return {*self._rows("SELECT DISTINCT student, question FROM grade WHERE place >= 0")}

    def store_grade(self, grade: ProgramGrade, graded_at: str) -> None:
        """Store a grade in one commit, for all rows with its key that are not graded yet.

        A report that cannot be stored and read again becomes a fault of the grader.
        """
        report = None
        fault = grade.fault
        try:
            if grade.report is not None:
                content = to_json(grade.report, whole=True)
                report = json.dumps(content, allow_nan=False, separators=(",", ":"))
                _adapter(Report).validate_json(report)  # it can be read again
        except Exception as error:  # noqa: BLE001 - one report must not stop a class
            report = None
            fault = f"its report cannot be kept ({type(error).__name__}: {error})"
        state = "fault" if fault or report is None else "graded"
        with self._explain_database_errors(), self._db as db:
            db.execute(
                "UPDATE grade SET state = ?, said = ?, report = ?, graded_at = ? "
                "WHERE key = ? AND state != 'graded'",
                [state, _storable(fault), report, graded_at, grade.key],
            )

    # Reading.

    def unassigned_files(self) -> list[tuple[str, str]]:
        """Return the path of each file that is not an answer of a student, with the reason."""
        return list(self._rows("SELECT path, why FROM aside ORDER BY rowid"))

    def count_other_students(self) -> int:
        """Return the number of students with current files from other SUBMISSIONS."""
        sql = "SELECT count(DISTINCT student) FROM grade WHERE place >= 0 AND root != ?"
        return self._count(sql, self._root)

    def programs_to_grade(
        self, question: AssignedQuestion
    ) -> Iterator[tuple[str, SubmittedProgram, str]]:
        """Give the key, the program and one student of each program that needs a grade."""
        sql = (
            "SELECT key, student, program, modules FROM grade WHERE question = ? AND place >= 0 "
            "AND root = ? AND state IN ('waiting', 'fault') AND program IS NOT NULL "
            "GROUP BY key ORDER BY min(place)"
        )
        for key, student, main, modules in self._rows(sql, question.id, self._root):
            files = json.loads(modules).items()
            contents = {name: text.encode("latin-1") for name, text in files}
            yield key, SubmittedProgram(main, contents), student

    def entries_of_program(self, key: str) -> list[ClassEntry]:
        """Return the current files of these SUBMISSIONS whose grade has this key."""
        return list(self._entries("root = ? AND key = ?", self._root, key))

    def settled_entries(self) -> Iterator[ClassEntry]:
        """Give each current file of these SUBMISSIONS that is graded, or has no program."""
        condition = "root = ? AND (state IN ('graded', 'none') OR program IS NULL)"
        return self._entries(condition, self._root)

    def all_entries(self) -> Iterator[ClassEntry]:
        """Give each current file of the class, sorted by student, question and time."""
        return self._entries("1", order="student COLLATE NOCASE, student, question, at, place")

    def counting_entries(self) -> Iterator[ClassEntry]:
        """Give the one entry that counts for each student and question, student by student.

        An entry with points by hand may have no file. Students without any file come last.
        """
        overrides = self._overrides()
        for student, entries in groupby(self.all_entries(), lambda entry: entry.hand_in.student):
            counting = {
                question_id: self._counting_entry(list(files))
                for question_id, files in groupby(entries, lambda entry: entry.question.id)
            }
            person = next(iter(counting.values())).hand_in
            for question in self.class_settings.questions:
                override = overrides.pop((student, question.id), None)
                entry = counting.get(question.id)
                if entry is None and override is not None:  # for an answer on paper, for example
                    hand_in = HandIn(
                        student, question.id, "", "", name=person.name, email=person.email
                    )
                    entry = ClassEntry(question, hand_in)
                if entry is not None:
                    yield replace(entry, override=override)
        for (student, question_id), override in sorted(overrides.items()):  # without any file
            hand_in = HandIn(student, question_id, "", "")
            yield ClassEntry(self._questions[question_id], hand_in, override=override)

    def _counting_entry(self, files: list[ClassEntry]) -> ClassEntry:
        """Return the entry that counts, from the files of one student and question in order.

        Files that are too late to earn points, and unchanged starters, count only if there is no
        other. Of the rest it is the last file, or with `counts: best` the last of the best.
        """
        files = files[::-1]
        in_time = [entry for entry in files if entry.late_penalty_percent < 100]
        files = in_time or files
        changed = [entry for entry in files if not (entry.report and entry.report.unchanged)]
        files = changed or files
        counting = files[0]
        if self.class_settings.counts == "best":  # the last one of the best
            counting = max(files, key=lambda entry: -1 if entry.points is None else entry.points)
        others = [
            entry.hand_in.path.rpartition("/")[2]
            for entry in files
            if entry is not counting and entry.hand_in.at == counting.hand_in.at
        ]
        if not others:
            return counting
        name = counting.hand_in.path.rpartition("/")[2]
        note = f"{name} counts, not {join_words(others)} of the same time"
        return replace(counting, same_time_note=note)

    def _overrides(self) -> dict[tuple[str, str], Override]:
        """Return the points by hand, by student and question."""
        return read_overrides(self.folder, self.class_settings, self._students_with_file())

    def _students_with_file(self) -> set[str]:
        rows = self._rows("SELECT DISTINCT student FROM grade WHERE place >= 0")
        return {student for (student,) in rows}

    def all_students(self) -> list[str]:
        """Return all students with a submission, or with points by hand."""
        return sorted(self._students_with_file() | {student for student, _ in self._overrides()})

    def count_without_time(self) -> int:
        """Return the number of files whose time of submission is unknown."""
        return self._count("SELECT count(*) FROM grade WHERE place >= 0 AND at = ''")

    def _count(self, sql: str, *values: object) -> int:
        return int(next(self._rows(sql, *values))[0])

    def _entries(
        self, condition: str, *values: object, order: str = "place"
    ) -> Iterator[ClassEntry]:
        sql = (
            f"SELECT {_HAND_IN_COLUMNS}, said, report, state, graded_at FROM grade "
            f"WHERE place >= 0 AND {condition} ORDER BY {order}"
        )
        policy = self.class_settings.late
        for *columns, fault, report_text, state, graded_at in self._rows(sql, *values):
            hand_in = HandIn(*columns)
            question = self._questions.get(hand_in.question)
            if question is None:
                continue
            days = self.class_settings.days_late(hand_in.student, hand_in.at)
            # A learning platform does not know about extensions.
            has_extension = policy and hand_in.student in policy.extensions and days is not None
            yield ClassEntry(
                question=question,
                hand_in=hand_in,
                report=self._parse_report(report_text) if state == "graded" else None,
                fault=fault,
                late=bool(days or (hand_in.late and not has_extension)),
                graded_at=graded_at,
                days_after_deadline=days,
                late_penalty_percent=policy.percent(days) if policy and days else 0.0,
            )

    def _parse_report(self, text: str) -> Report:
        try:
            report: Report = _adapter(Report).validate_json(text)
        except ValueError as error:
            raise UsageError(
                f"{self._path}: expected a report in it: {on_one_line(error)}"
            ) from error
        return report

    def _rows(self, sql: str, *values: object) -> Iterator[Any]:
        with self._explain_database_errors():
            for row in self._db.execute(sql, values):  # noqa: UP028 - stopping early closes nothing
                yield row

    @contextmanager
    def _explain_database_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            text = f"{self._path}: the verdicts cannot be read or written: {error}"
            hint = _REPAIR
            name = getattr(error, "sqlite_errorname", "")
            if not self._path.exists():
                text = f"{self._path}: expected the verdicts of the class, found no such file"
            elif name == "SQLITE_FULL" or name.startswith("SQLITE_IOERR"):
                hint = "make room on the disk and start again: what was graded is kept"
            raise UsageError(text, hint=hint) from error

    def equal_answers(
        self, question_id: str, digits: str
    ) -> tuple[str, list[tuple[HandIn, bytes]]]:
        """Return the group of equal wrong answers whose digest begins with these digits.

        The result is the whole digest, and each answer with its program, sorted by student.
        UsageError unless exactly one group fits.
        """
        groups: dict[str, list[tuple[HandIn, bytes]]] = {}
        sql = (
            f"SELECT report, program, {_HAND_IN_COLUMNS} FROM grade WHERE question = ? "
            "AND place >= 0 AND state = 'graded' ORDER BY student, at, place"
        )
        for report, program, *hand_in in self._rows(sql, question_id):
            digest = self._parse_report(report).outputs
            if digest and digest.startswith(digits):
                groups.setdefault(digest, []).append((HandIn(*hand_in), program))
        if len(groups) != 1:
            listed = ", ".join(sorted(groups)) or "none"
            raise UsageError(
                f"expected one group of answers to {question_id} that begins with {digits}, "
                f"found {listed}",
                hint=f"drill class report {self.folder} shows them",
            )
        return groups.popitem()


def read_settings(folder: Path) -> ClassSettings:
    """Return the settings that all grades of a class share, from its folder of results.

    UsageError if they are missing, invalid, or of another version of drill.
    """
    path = folder / SETTINGS_FILE
    try:
        content = json.loads(read_regular_file(path, _MAX_SETTINGS_SIZE)[0])
        if content.get("format") != RESULTS_FORMAT:
            raise UsageError(
                f"{path}: expected format {RESULTS_FORMAT}, found {content.get('format')}",
                hint="another version of drill wrote it",
            )
        settings: ClassSettings = _adapter(ClassSettings).validate_python(content)
        deadline = settings.deadline
        if deadline and datetime.fromisoformat(deadline).utcoffset() is None:
            raise ValueError("the deadline has no offset from UTC")
    except FileNotFoundError:
        raise UsageError(
            f"{folder}: expected results of a class, found no {SETTINGS_FILE}",
            hint="drill class grade SUBMISSIONS --question ID --out RESULTS makes them",
        ) from None
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"{path}: expected what drill class grade wrote: {on_one_line(error)}"
        ) from error
    return settings


def _storable(value: Any) -> Any:  # noqa: ANN401 - of a column
    """Return a value for the table, with escapes for bytes of file names that are not text."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Create a folder, and keep it locked in this context; UsageError if another process has it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder}: expected a folder for the results: {error.strerror}"
        ) from error
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(
                f"{folder}: another drill class grade is writing its results",
                hint="wait for it to end, or stop it: this one goes on where it was",
            ) from None
        yield
    finally:
        os.close(descriptor)
