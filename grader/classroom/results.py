"""The folder of results: `class.json`, what all grades share, and `grades.sqlite`, one table.

A row is a file that a student handed in for a question, with its program, and what came of grading
it.  A verdict is committed before anybody is shown it, so that killing the command at any moment
loses nothing; rows are never removed, so that nothing is graded twice.

Others may write to the folder, too: a name there that can be guessed may be a link by then, to a
file of whoever runs this.
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
    ProgramGrade,
    SubmittedProgram,
)
from grader.model.errors import UsageError
from grader.model.report import Report
from grader.reports.json import to_json
from grader.sandbox import Closeable

SETTINGS_FILE = "class.json"
GRADES_FILE = "grades.sqlite"
_MOST_TERMS = 4_000_000  # bytes
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
_HAND_IN = "student, question, path, sha256, at, fault, name, email, late"
_NO_FILE: dict[str, Any] = {"path": "", "sha256": "", "at": "", "fault": "", "late": False}
_REPAIR = (
    "put back a copy of it if you have one; else move the whole folder away, and "
    "drill class grade grades everybody again"
)
_adapter = functools.cache(TypeAdapter[Any])


def grade_key(
    terms: ClassSettings, question: AssignedQuestion, program: SubmittedProgram, student: str
) -> str:
    """Return what a grade is found by: equal where nothing that decides its outcome differs."""
    decides = [
        program.hashes, question.digest, question.parts, sorted(question.libraries.items()),
        terms.seed_of(student), terms.level, terms.stretch, terms.program, question.shared,
        terms.strict_text,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:32]


class ClassResults(Closeable):
    """What is known of a class; opened for writing, it belongs to one process."""

    def __init__(
        self, folder: Path, *, write: ClassSettings | None = None, drawn: bool = False
    ) -> None:
        """Open a folder of results, or make one, to write in it on the terms that are given.

        If their seed was `drawn` by chance, one that is kept there stays.
        """
        self.folder = folder
        self.gone: list[tuple[str, str]] = []  # students with questions that have no file now
        self._writes = write is not None
        with ExitStack() as opened:
            if write is not None:
                opened.enter_context(_locked(folder))
                if drawn and (folder / SETTINGS_FILE).exists():
                    write = replace(write, seed=read_settings(folder).seed)
                write_atomically(
                    folder / SETTINGS_FILE, [json.dumps(asdict(write), indent=2), "\n"]
                )
            self.class_settings = read_settings(folder)
            self._questions = {question.id: question for question in self.class_settings.questions}
            self._root = _storable(self.class_settings.submissions)
            path = folder / GRADES_FILE
            if path.is_symlink() or (path.exists() and not path.is_file()):
                raise UsageError(f"{path}: expected a file, found something else in its place")
            with _explained(path):
                uri = f"{path.absolute().as_uri()}?mode={'ro' if write is None else 'rwc'}"
                # What changes anything begins a transaction; `with self._db` ends it.
                db = sqlite3.connect(uri, uri=True, isolation_level="IMMEDIATE")
                self._db = opened.enter_context(closing(db))
                with closing(sqlite3.connect(":memory:")) as ours:
                    ours.executescript(_SCHEMA)
                    known = {*ours.execute(_OBJECTS)}
                # A view, a trigger or a computed column of a stranger may run forever.
                if not known.issuperset(self._db.execute(_OBJECTS)):
                    raise UsageError(
                        f"{path}: expected the tables of drill class grade, found others",
                        hint=_REPAIR,
                    )
                if write is not None:
                    self._db.execute("PRAGMA journal_mode = WAL")  # others may read meanwhile
                    self._db.execute("PRAGMA synchronous = FULL")  # a commit is on the disk
                    self._db.executescript(_SCHEMA)
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Let another process write; what is left is one plain file."""
        if self._writes:
            with suppress(sqlite3.Error):  # somebody is reading it
                self._db.execute("PRAGMA journal_mode = DELETE")
        self._opened.close()

    # Writing.

    def store_hand_ins(
        self, handed: Iterable[tuple[HandIn, SubmittedProgram]], unused: Iterable[Any] = ()
    ) -> int:
        """Keep what is handed in now, all of it or nothing; return how many files that are.

        What others handed in elsewhere stays; `unused`, read last, are files that are no answers.
        """
        count = 0
        root = self._root
        with _explained(self.folder / GRADES_FILE), self._db as db:
            before = self._answered()
            gone = "UPDATE grade SET place = -1 WHERE"
            db.execute(f"{gone} root = ?", [root])
            for one, program in handed:
                elsewhere = f"{gone} student = ? AND question = ? AND root != ?"
                db.execute(elsewhere, [one.student, one.question, root])
                key = ""
                state = "fault" if one.unread else "none"
                kept = None
                report: tuple[str | None, str] = (None, "")
                if one.sha256:
                    state, kept = "waiting", program.main  # b"" where the file is empty
                    key = grade_key(
                        self.class_settings, self._questions[one.question], program, one.student
                    )
                    found = "SELECT report, graded_at FROM grade WHERE key = ? AND state = 'graded'"
                    if known := db.execute(found, [key]).fetchone():  # for whomever
                        state = "graded"
                        report = known
                files = program.modules.items()
                modules = json.dumps({name: text.decode("latin-1") for name, text in files})
                values = map(_storable, asdict(one).values())
                db.execute(
                    f"INSERT OR REPLACE INTO grade ({_HAND_IN}, said, key, place, program, "
                    f"modules, state, report, graded_at, root) VALUES ({', '.join('?' * 18)})",
                    [*values, key, count, kept, modules, state, *report, root],
                )
                count += 1
            db.execute("DELETE FROM aside WHERE root = ?", [root])
            db.executemany(
                "INSERT INTO aside VALUES (?, ?, ?)",
                ((root, *map(_storable, one)) for one in unused),
            )
            self.gone = sorted(before - self._answered())
        return count

    def _answered(self) -> set[tuple[str, str]]:
        """Return the students that handed something in, each with a question."""
        return {*self._rows("SELECT DISTINCT student, question FROM grade WHERE place >= 0")}

    def store_grade(self, graded: ProgramGrade, at: str) -> None:
        """Keep what came of a grade, for everybody who handed in that program: one commit."""
        report = None
        fault = graded.fault
        try:
            if graded.report is not None:
                whole = to_json(graded.report, whole=True)
                report = json.dumps(whole, allow_nan=False, separators=(",", ":"))
                _adapter(Report).validate_json(report)  # it can be read again
        except Exception as error:  # noqa: BLE001 - one report must not stop a class
            report = None
            fault = f"its report cannot be kept ({type(error).__name__}: {error})"
        state = "fault" if fault or report is None else "graded"
        with _explained(self.folder / GRADES_FILE), self._db as db:
            db.execute(
                "UPDATE grade SET state = ?, said = ?, report = ?, graded_at = ? "
                "WHERE key = ? AND state != 'graded'",
                [state, _storable(fault), report, at, graded.key],
            )

    # Reading.

    def unassigned_files(self) -> list[tuple[str, str]]:
        """Return the files that are no student's answer, each with the reason."""
        return list(self._rows("SELECT path, why FROM aside ORDER BY rowid"))

    def count_other_students(self) -> int:
        """Return how many students there are whose files are in other submissions."""
        sql = "SELECT count(DISTINCT student) FROM grade WHERE place >= 0 AND root != ?"
        return int(next(self._rows(sql, self._root))[0])

    def programs_to_grade(
        self, question: AssignedQuestion
    ) -> Iterator[tuple[str, SubmittedProgram, str]]:
        """Give every different program that is to be graded for a question: key, program, whose."""
        sql = (
            "SELECT key, student, program, modules FROM grade WHERE question = ? AND place >= 0 "
            "AND root = ? AND state IN ('waiting', 'fault') AND program IS NOT NULL "
            "GROUP BY key ORDER BY min(place)"
        )
        for key, student, main, modules in self._rows(sql, question.id, self._root):
            files = json.loads(modules).items()
            yield (
                key,
                SubmittedProgram(main, {name: text.encode("latin-1") for name, text in files}),
                student,
            )

    def entries_of_program(self, key: str) -> list[ClassEntry]:
        """Return the files with one program, as far as they are handed in now."""
        return list(self._entries("root = ? AND key = ?", self._root, key))

    def settled_entries(self) -> Iterator[ClassEntry]:
        """Give every file that is handed in now and needs no grade."""
        settled = "root = ? AND (state IN ('graded', 'none') OR program IS NULL)"
        return self._entries(settled, self._root)

    def all_entries(self) -> Iterator[ClassEntry]:
        """Give every file that is handed in, by student, the last of each question last."""
        return self._entries("1", order="student COLLATE NOCASE, student, question, at, place")

    def counting_entries(self) -> Iterator[ClassEntry]:
        """Give what counts: of each student one file for each question, by student."""
        missing = set(self.all_students())
        given = read_overrides(self.folder, self.class_settings, missing)
        for student, group in groupby(self.all_entries(), key=lambda one: one.hand_in.student):
            counting: dict[str, ClassEntry] = {}
            for question, theirs in groupby(group, key=lambda one: one.question.id):
                files = list(theirs)[::-1]  # the last of the best, or the last
                files = [
                    one for one in files if one.late_penalty_percent < 100
                ] or files  # not one far too late
                files = [one for one in files if not (one.report and one.report.unchanged)] or files
                best = max(files, key=lambda one: -1 if one.points is None else one.points)
                counted = best if self.class_settings.counts == "best" else files[0]
                rivals = (one for one in files if one.hand_in.at == counted.hand_in.at)
                names = tuple(
                    one.hand_in.path.rpartition("/")[2] for one in rivals if one is not counted
                )
                counting[question] = replace(counted, files_of_same_time=names)
            known = next(iter(counting.values())).hand_in
            missing.discard(student)
            for asked in self.class_settings.questions:
                entry = counting.get(asked.id)
                override = given.get((student, asked.id))
                if entry is None and override is not None:  # for what was shown on paper, say
                    entry = ClassEntry(asked, replace(known, question=asked.id, **_NO_FILE))
                if entry is not None:
                    yield entry if override is None else replace(entry, override=override)
        for student, question in sorted(key for key in given if key[0] in missing):
            nothing = HandIn(student, question, "", "")
            yield ClassEntry(self._questions[question], nothing, override=given[student, question])

    def all_students(self) -> list[str]:
        """Return everybody who handed something in, or has points by hand without."""
        sql = "SELECT DISTINCT student FROM grade WHERE place >= 0"
        found = {row[0] for row in self._rows(sql)}
        return sorted(
            found | {one for one, _ in read_overrides(self.folder, self.class_settings, found)}
        )

    def count_without_time(self) -> int:
        """Return how many files have no time at which they were handed in."""
        sql = "SELECT count(*) FROM grade WHERE place >= 0 AND at = ''"
        return int(next(self._rows(sql))[0])

    def _entries(self, where: str, *values: object, order: str = "place") -> Iterator[ClassEntry]:
        policy = self.class_settings.late
        sql = (
            f"SELECT {_HAND_IN}, said, report, state, graded_at FROM grade "
            f"WHERE place >= 0 AND {where} ORDER BY {order}"
        )
        for row in self._rows(sql, *values):
            one, (said, report, state, graded_at) = HandIn(*row[:9]), row[9:]
            if one.question not in self._questions:
                continue
            days = self.class_settings.days_late(one.student, one.at)
            less = 0.0
            # Of an extension a learning platform knows nothing.
            extended = policy and one.student in policy.extensions and days is not None
            late = bool(days or (one.late and not extended))
            if policy and days:
                less = 100.0 if days > policy.days else min(100.0, days * policy.penalty)
            try:
                read = _adapter(Report).validate_json(report) if state == "graded" else None
            except ValueError as fault:
                raise UsageError(
                    f"{self.folder / GRADES_FILE}: expected a report in it: {on_one_line(fault)}"
                ) from fault
            question = self._questions[one.question]
            yield ClassEntry(question, one, read, said, late, graded_at, days, less)

    def _rows(self, sql: str, *values: object) -> Iterator[Any]:
        with _explained(self.folder / GRADES_FILE):
            for row in self._db.execute(sql, values):  # noqa: UP028 - who stops early closes nothing
                yield row

    def equal_answers(
        self, question_id: str, digits: str
    ) -> tuple[str, list[tuple[HandIn, bytes]]]:
        """Return the equal wrong answers to a question whose digest begins with some digits.

        They come after the whole digest, each with its program, in the order of students.
        """
        found: dict[str, list[tuple[HandIn, bytes]]] = {}
        sql = "SELECT program FROM grade WHERE student = ? AND question = ? AND path = ?"
        for entry in self._entries("question = ?", question_id, order="student, at, place"):
            outputs = entry.report.outputs if entry.report else ""
            one = entry.hand_in
            if outputs and outputs.startswith(digits):
                ((program,),) = self._rows(
                    f"{sql} AND place >= 0", one.student, one.question, one.path
                )
                found.setdefault(outputs, []).append((one, program))
        if len(found) != 1:
            listed = ", ".join(sorted(found)) or "none"
            raise UsageError(
                f"expected one group of answers to {question_id} that begins with {digits}, "
                f"found {listed}",
                hint=f"drill class report {self.folder} shows them",
            )
        return found.popitem()


def read_settings(folder: Path) -> ClassSettings:
    """Return what all grades of a class share, as its folder of results has it."""
    path = folder / SETTINGS_FILE
    try:
        read = json.loads(read_regular_file(path, _MOST_TERMS)[0])
        if read.get("format") != RESULTS_FORMAT:
            raise UsageError(
                f"{path}: expected format {RESULTS_FORMAT}, found {read.get('format')}",
                hint="another version of drill wrote it",
            )
        terms: ClassSettings = _adapter(ClassSettings).validate_python(read)
        if terms.deadline and datetime.fromisoformat(terms.deadline).utcoffset() is None:
            raise ValueError("the deadline has no offset from UTC")
    except FileNotFoundError:
        raise UsageError(
            f"{folder}: expected results of a class, found no {SETTINGS_FILE}",
            hint="drill class grade SUBMISSIONS --question ID --out RESULTS makes them",
        ) from None
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as fault:
        raise UsageError(
            f"{path}: expected what drill class grade wrote: {on_one_line(fault)}"
        ) from fault
    return terms


def _storable(value: Any) -> Any:  # noqa: ANN401 - of a column
    """Return a value as the table takes it: the name of a file may hold bytes that are no text."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Make a folder, and keep other processes from writing results to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise UsageError(
            f"{folder}: expected a folder for the results: {fault.strerror}"
        ) from fault
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(
                f"{folder}: another drill class grade is writing its results",
                hint="wait for it to end, or stop it: this one goes on where it was",
            ) from None
        yield
    finally:
        os.close(handle)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as fault:
        text = f"{path}: the verdicts cannot be read or written: {fault}"
        name = getattr(fault, "sqlite_errorname", "")
        hint = _REPAIR
        if not path.exists():
            text = f"{path}: expected the verdicts of the class, found no such file"
        elif name == "SQLITE_FULL" or name.startswith("SQLITE_IOERR"):
            hint = "make room on the disk and start again: what was graded is kept"
        raise UsageError(text, hint=hint) from fault
