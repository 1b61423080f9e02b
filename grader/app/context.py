"""What a use case knows of the world around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from grader import __version__, bank
from grader.model.errors import UsageError
from grader.model.question import Question
from grader.records import events
from grader.records.events import Event, What
from grader.records.store import RecordsError, Store

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")
D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Context:
    """Where a person is, who that is, and what is on record of them."""

    folder: Path | None  # the current folder, resolved; None where it was removed
    data: Path  # where the records are kept; it need not exist
    now: Callable[[], str]  # UTC, ISO 8601
    bank: Path | None = None  # the only bank to use (`--bank`)
    banks_named: bool = False  # whether the environment names banks (DRILL_BANK)
    who: str = ""
    warn: Callable[[str, str], None] = lambda _message, _hint: None
    _warned: set[str] = field(default_factory=set)

    @property
    def store(self) -> Store:
        """The records, when their faults are to be errors."""
        return Store(self.data, notice=lambda text: self.warn(text, ""))

    def here(self) -> Path:
        """Return the current folder.

        Raises:
            UsageError: It was removed under the shell's feet.
        """
        if self.folder is None:
            raise UsageError("the current folder is gone", hint="cd to one that exists")
        return self.folder

    def near(self, path: Path) -> str:
        """Return a path as short as it can be typed from here."""
        inside = self.folder is not None and path.is_relative_to(self.folder)
        return str(path.relative_to(self.here()) if inside else path)

    def banks(self) -> list[Path]:
        """Return the banks in use; what is on the user's list and is none is warned of.

        Raises:
            UsageError: What `--bank` or DRILL_BANK names is no bank.
        """
        return bank.banks(self.bank, self.warn)

    def load(self, question_id: str) -> Question:
        """Return the question that ID or BANK/ID means in the banks in use.

        Raises:
            UsageError: There is no such question.
            BankError: It is broken.
        """
        return bank.load(self.banks(), question_id)

    def read(self, work: Callable[[sqlite3.Connection], T], empty: D) -> T | D:
        """Return what the records say, `empty` where there are none or they cannot be read."""
        try:
            return self.store.read(work, empty=empty)
        except RecordsError as fault:
            self._warn("the records cannot be read", fault)
            return empty

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Write to the records and return what `work` does, None where that is not possible."""
        try:
            return self.store.write(work)
        except RecordsError as fault:
            self._warn("the records cannot be written, so nothing is kept of this", fault)
            return None

    def event(self, what: What, question: Question) -> Event:
        """Return an event of this moment about a question."""
        where = str(question.bank)
        return Event(what, self.now(), self.who, __version__, question.id, where, question.digest)

    def add(self, event: Event) -> None:
        """Record an event, where that is possible."""
        self.write(lambda db: events.add(db, event))

    def _warn(self, what: str, fault: RecordsError) -> None:
        if not self._warned:  # once is enough
            self.warn(f"{what} ({fault.message})", "")
        self._warned.add(what)
