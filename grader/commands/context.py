"""The surroundings of a command: folder, time, person, records, banks and this machine."""

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
    """Return True if torch could be imported, without importing it."""
    return find_spec("torch") is not None


def choose_seed(question: Question | None = None, asked: int | None = None) -> int:
    """Return `asked`, or else a fresh random seed, for a grade of a question.

    A seed draws random inputs, and chooses the numbers in the text of a question that has several
    sets of them.  A fresh seed chooses the set that `question` was loaded with, or the first set
    if no question is given.  UsageError if `asked` chooses another set than `question` has.
    """
    if asked is None:
        fresh = int.from_bytes(os.urandom(4), "big")
        number_set = question.number_set if question else 0
        return fresh - fresh % PERIOD + number_set
    if question and asked % (len(question.spec.given) or 1) != question.number_set:
        raise UsageError(
            f"the numbers here are those of seed {question.number_set}, not those of {asked}",
            hint=f"drill show {question.id} --seed {asked} shows those",
        )
    return asked


def require_torch(question: Question) -> None:
    """Raise UsageError if a question needs torch and torch is not installed."""
    if question.spec.needs_torch and not torch_installed():
        raise UsageError(f"{question.id} needs torch, which is not installed", hint=INSTALL_TORCH)


@dataclass(frozen=True)
class Context:
    """Folder, clock, records and banks of a command, handed to it: a test can choose them."""

    folder: Path | None  # the current folder, resolved; None if it was removed
    data: Path  # the folder of the records; it may not exist
    now: Callable[[], str]  # UTC, ISO 8601
    bank: Path | None = None  # the only bank to use (`--bank`)
    banks_named: bool = False  # whether the environment names banks (DRILL_BANK)
    who: str = ""  # name of the user, for the records
    candidate: str = ""  # whose records these are, in an interview with a host
    typed_command: str = "grade"  # for suggested commands
    show_warning: Callable[[str, str], None] = lambda *_: None  # a warning, and what to do
    to_local: Callable[[datetime], datetime] = lambda moment: moment  # in the person's time zone
    _warned: set[str] = field(default_factory=set)

    @cached_property
    def store(self) -> Store:
        """The records.  Its own methods raise RecordsError; `Context.read` and `write` only warn.

        Results of the questions of an open interview are hidden.
        """
        return Store(self.data, lambda db: interviews.hide_results(db, self.now()))

    @property
    def starts(self) -> tuple[Start, ...]:
        """Every recorded `drill start`, with its question and folder, the latest first."""
        return self.read(progress.all_starts, ())

    @property
    def today(self) -> date:
        """Today's date in the person's time zone."""
        return self.to_local(datetime.fromisoformat(self.now())).date()

    @property
    def bank_option(self) -> str:
        """` --bank PATH`, for suggested commands, if this command has it; otherwise empty."""
        return "" if self.bank is None else f" --bank {shlex.quote(str(self.bank))}"

    def interview(self, word: str = "") -> str:
        """Return `drill interview WORD` as it is typed, for the same bank and candidate."""
        candidate_option = f" --candidate {shlex.quote(self.candidate)}" if self.candidate else ""
        return f"drill interview {word}".rstrip() + self.bank_option + candidate_option

    def warn(self, message: str, hint: str = "", *, about: str = "") -> None:
        """Show a warning and what to do, once for each message or topic (`about`)."""
        topic = about or message
        if topic not in self._warned:
            self._warned.add(topic)
            self.show_warning(message, hint)

    def current_folder(self) -> Path:
        """Return the current folder; UsageError if it was removed."""
        if self.folder is None:
            raise UsageError("the current folder is gone", hint="cd to one that exists")
        return self.folder

    def short_path(self, path: Path) -> str:
        """Return a path, relative if it is inside the current folder."""
        if self.folder and path.is_relative_to(self.folder):
            path = path.relative_to(self.folder)
        return str(path)

    def path_as_typed(self, path: Path) -> str:
        """Return a path as it can be typed in a shell, the home folder as `~`."""
        short = Path(self.short_path(path))
        home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.expanduser raises without home
        if short.is_absolute() and home != Path("/") and home in path.parents:
            return f"~/{shlex.quote(str(path.relative_to(home)))}"
        return shlex.quote(str(short))

    def banks(self) -> list[Path]:
        """Return the banks in use; warn of entries on the user's list that are not banks."""
        return bank.banks_in_use(self.bank, self.warn)

    def bank_of(self, recorded: str, question: str) -> Path:
        """Return the bank to load a recorded question from; `recorded` is its bank in the records.

        If that path is not in use, a bank in use of the same name replaces it.  If the chosen bank
        does not hold the question, return the bank in use that does, or raise DrillError.
        """
        path = Path(recorded)
        banks = self.banks()
        if path not in banks:
            same_banks = [b for b in banks if progress.is_same_bank(recorded, str(b))]
            path = same_banks[0] if same_banks else path
        if bank.has_question(path, question):
            return path
        return bank.find_question(banks, question)[0]

    def load(self, question_id: str, seed: int = 0) -> Question:
        """Load the question ID or BANK/ID from the banks in use, with the numbers of a seed."""
        return bank.load_question(self.banks(), question_id, seed)

    def read(self, work: Callable[[sqlite3.Connection], T], empty: D) -> T | D:
        """Return the result of `work` on the records, or `empty` if there are none.

        If they cannot be read, warn and return `empty`.
        """
        try:
            return self.store.read(work, empty=empty)
        except RecordsError as fault:
            self.warn(f"Your history cannot be read ({fault.message})", fault.hint, about="records")
            return empty

    def write(self, work: Callable[[sqlite3.Connection], T], what: str = "this") -> T | None:
        """Let `work` write to the records, and return its result.

        If that is not possible, warn that `what` is not saved, and return None.
        """
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
        """Return the person's progress with a question, as far as the records can be read."""
        from grader import forms  # loaded with every question

        recorded = self.read(lambda db: progress.progress_events(db, question.id), {})
        form = forms.form_of(question.spec)
        return progress.progress_of(recorded, question.id, question.bank, once=form.allows_one_try)

    def attempts(self, question: Question, *, most: int = -1, **which: str) -> tuple[Attempt, ...]:
        """Return the latest attempts at a question (`most`, or all for -1), the latest last.

        `which` are values that columns must have, such as verdict="pass".
        """
        return self.read(
            lambda db: events.load_attempts(db, most=most, question=question.id, **which), ()
        )

    def parts_asked(self, question: Question) -> int:
        """Return how many parts of a question the person is asked: the passed ones and the next."""
        return self.progress(question).count_parts_asked(len(question.spec.parts))

    def cd_prefix(self, folder: Path) -> str:
        """Return `cd FOLDER && `, for the start of a command; empty for the current folder."""
        if folder == self.folder:
            return ""
        return f"cd {self.path_as_typed(folder)} && "

    def new_event(self, what: EventName, question: Question | Attempt, **more: Any) -> Event:  # noqa: ANN401
        """Return an event, to be recorded, about a question, or about the question of an attempt.

        Its time is now; `more` are other fields, such as seed=3.
        """
        name = question.id if isinstance(question, Question) else question.question
        bank_path = str(question.bank)
        digest = question.digest
        return Event(what, self.now(), self.who, __version__, name, bank_path, digest, **more)

    def record_event(self, event: Event) -> bool:
        """Record an event, and return True if that was possible."""
        return self.write(lambda db: events.append_event(db, event)) is not None
