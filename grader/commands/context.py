"""What a use case knows of the world around it: where, when, who, and what this machine has."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import bank
from grader.model.errors import UsageError
from grader.model.number_sets import PERIOD
from grader.model.question import Question
from grader.model.version import __version__
from grader.records import events, interviews, progress
from grader.records.events import Attempt, D, Event, EventName, RecordsError, Store, T
from grader.records.progress import QuestionProgress, Start

if TYPE_CHECKING:
    import sqlite3

# The version of constraints.txt; a looser request may fetch gigabytes of CUDA packages.
INSTALL_TORCH = "pip install torch==2.13.0 (a build for the CPU will do, and any version from 2.4)"


def available_cores() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def torch_installed() -> bool:
    """Return whether torch could be imported, without importing it."""
    return find_spec("torch") is not None


def choose_seed(question: Question | None = None, asked: int | None = None) -> int:
    """Return the seed asked for, or a fresh one; UsageError where it draws other numbers.

    The right ones are those of the question, or else the first ones of any.
    """
    if asked is None:
        fresh = int.from_bytes(os.urandom(4), "big")
        return fresh - fresh % PERIOD + (question.number_set if question else 0)
    if question and asked % (len(question.spec.given) or 1) != question.number_set:
        raise UsageError(
            f"the numbers here are those of seed {question.number_set}, not those of {asked}",
            hint=f"drill show {question.id} --seed {asked} shows those",
        )
    return asked


def require_torch(question: Question) -> None:
    """Raise UsageError where a question needs torch, and it is not installed."""
    if question.spec.needs_torch and not torch_installed():
        raise UsageError(f"{question.id} needs torch, which is not installed", hint=INSTALL_TORCH)


@dataclass(frozen=True)
class Context:
    """Where a person is, who that is, and what is on record of them."""

    folder: Path | None  # the current folder, resolved; None where it was removed
    data: Path  # where the records are kept; it need not exist
    now: Callable[[], str]  # UTC, ISO 8601
    bank: Path | None = None  # the only bank to use (`--bank`)
    banks_named: bool = False  # whether the environment names banks (DRILL_BANK)
    who: str = ""
    candidate: str = ""  # whom a host interviews: the records are theirs
    typed_command: str = "grade"  # the command, for those that are suggested
    show_warning: Callable[[str, str], None] = lambda *_: None  # a warning, and what to do
    to_local: Callable[[datetime], datetime] = lambda moment: moment  # in the person's time zone
    _said: set[str] = field(default_factory=set)

    @cached_property
    def store(self) -> Store:
        """The records, when their faults are to be errors."""
        return Store(self.data, lambda db: interviews.hide_results(db, self.now()))

    @property
    def starts(self) -> tuple[Start, ...]:
        """Every start on record, the latest first."""
        return self.read(progress.all_starts, ())

    @property
    def today(self) -> date:
        """The day that the person's calendar shows."""
        return self.to_local(datetime.fromisoformat(self.now())).date()

    @property
    def bank_option(self) -> str:
        """What a suggested command needs to mean the banks of this one: `--bank`, if given."""
        return "" if self.bank is None else f" --bank {shlex.quote(str(self.bank))}"

    def interview(self, word: str = "") -> str:
        """Return a command of `drill interview` as it is typed, for the same candidate."""
        who = f" --candidate {shlex.quote(self.candidate)}" if self.candidate else ""
        return f"drill interview {word}".rstrip() + self.bank_option + who

    def warn(self, message: str, hint: str = "", *, about: str = "") -> None:
        """Say what is wrong, and what to do; once of one thing, however often it is come upon."""
        if (about or message) not in self._said:
            self._said.add(about or message)
            self.show_warning(message, hint)

    def current_folder(self) -> Path:
        """Return the current folder; UsageError where it was removed under the shell's feet."""
        if self.folder is None:
            raise UsageError("the current folder is gone", hint="cd to one that exists")
        return self.folder

    def short_path(self, path: Path) -> str:
        """Return a path as short as it can be typed from here."""
        inside = self.folder and path.is_relative_to(self.folder)
        return str(path.relative_to(self.current_folder()) if inside else path)

    def path_as_typed(self, path: Path) -> str:
        """Return a path as it can be typed in a shell, the home folder as `~`."""
        short = Path(self.short_path(path))
        home = Path(os.path.expanduser("~"))  # noqa: PTH111 - `expanduser` raises where none is
        if short.is_absolute() and home != Path("/") and home in path.parents:
            return f"~/{shlex.quote(str(path.relative_to(home)))}"
        return shlex.quote(str(short))

    def banks(self) -> list[Path]:
        """Return the banks in use; what is on the user's list and is none is warned of."""
        return bank.banks_in_use(self.bank, self.warn)

    def bank_of(self, recorded: str, question: str) -> Path:
        """Return the bank of a question on record: one in use of its name, else the one on record.

        If that no longer holds the question, return the bank in use that does, or raise UsageError.
        """
        path = Path(recorded)
        banks = self.banks()
        if path not in banks:
            path = next((b for b in banks if progress.is_same_bank(recorded, str(b))), path)
        return path if bank.has_question(path, question) else bank.find_question(banks, question)[0]

    def load(self, question_id: str, seed: int = 0) -> Question:
        """Return the question that ID or BANK/ID means in the banks in use, as `bank.load` does."""
        return bank.load(self.banks(), question_id, seed)

    def read(self, work: Callable[[sqlite3.Connection], T], empty: D) -> T | D:
        """Return what the records say, `empty` where there are none or they cannot be read."""
        try:
            return self.store.read(work, empty=empty)
        except RecordsError as fault:
            self.warn(f"Your history cannot be read ({fault.message})", fault.hint, about="records")
            return empty

    def write(self, work: Callable[[sqlite3.Connection], T], what: str = "this") -> T | None:
        """Write to the records and return what `work` does, None where that is not possible."""
        try:
            return self.store.write(work)
        except RecordsError as fault:
            self.warn(
                f"Your history cannot be written; {what} is not saved ({fault.message})",
                fault.hint,
                about="records",
            )
            return None

    def progress(self, question: Question) -> QuestionProgress:
        """Return how far the person is with a question, as far as that can be known."""
        from grader import forms  # loaded with every question

        known = self.read(lambda db: progress.progress_events(db, question.id), {})
        form = forms.form_of(question.spec)
        return progress.progress_of(known, question.id, question.bank, once=form.allows_one_try)

    def attempts(self, question: Question, *, most: int = -1, **which: str) -> tuple[Attempt, ...]:
        """Return the latest attempts at a question that have the values given."""
        return self.read(
            lambda db: events.load_attempts(db, most=most, question=question.id, **which), ()
        )

    def parts_asked(self, question: Question) -> int:
        """Return how many parts of a question the person is asked."""
        return self.progress(question).count_parts_asked(len(question.spec.parts))

    def cd_prefix(self, folder: Path) -> str:
        """Return what to type before a command, to run it in a folder: nothing in this one."""
        return "" if folder == self.folder else f"cd {self.path_as_typed(folder)} && "

    def new_event(self, what: EventName, question: Question | Attempt, **more: Any) -> Event:  # noqa: ANN401
        """Return an event of this moment about a question, or about that of an attempt."""
        name = question.id if isinstance(question, Question) else question.question
        bank = str(question.bank)
        return Event(what, self.now(), self.who, __version__, name, bank, question.digest, **more)

    def record_event(self, event: Event) -> bool:
        """Record an event, and return whether that was possible."""
        return self.write(lambda db: events.append_event(db, event)) is not None
