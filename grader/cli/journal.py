"""The records, as the commands use them: when they cannot be kept, one warning and no more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from grader.cli import output, place
from grader.records.store import RecordsError, Store

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")
D = TypeVar("D")


class Journal:
    """The records of the person at the keyboard."""

    def __init__(self) -> None:
        """Find the records; nothing is opened yet."""
        self.store = Store(place.data_folder(), notice=output.warn)
        self._told = False

    def read(self, work: Callable[[sqlite3.Connection], T], otherwise: D) -> T | D:
        """Return what the records say, `otherwise` where there are none or they are closed."""
        try:
            return self.store.read(work, empty=otherwise)
        except RecordsError as fault:
            self._tell("cannot be read", fault)
            return otherwise

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Write to the records and return what `work` does, None where that is not possible."""
        try:
            return self.store.write(work)
        except RecordsError as fault:
            self._tell("cannot be written, so nothing is kept of this", fault)
            return None

    def _tell(self, what: str, fault: RecordsError) -> None:
        if not self._told:
            output.warn(f"the records {what} ({fault.message})")
        self._told = True
