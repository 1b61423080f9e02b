"""What a class has to do with, read line by line: no list of it is ever held."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.disk import regular
from grader.classroom.jobs import key_of
from grader.classroom.results import HANDED_IN
from grader.model.classroom import HandedIn, Posed, Terms
from grader.sandbox.closing import Closing

_BLOCK = 4096  # bytes: most lines have 300


@dataclass(frozen=True, slots=True)
class Piece:
    """One file that was handed in, as what is to be graded."""

    place: int  # in the file of what was handed in, bytes
    handed: HandedIn
    posed: Posed
    key: str

    @property
    def short(self) -> bytes:
        """The key in 16 bytes."""
        return bytes.fromhex(self.key)


class Work(Closing):
    """What was handed in for the questions of a class.

    What is read stays the same, though another one replaces the file meanwhile.
    """

    def __init__(self, folder: Path, terms: Terms) -> None:
        """Open what was handed in."""
        self._file = open(folder / HANDED_IN, "rb", opener=regular)  # noqa: SIM115
        self._terms = terms

    def __iter__(self) -> Iterator[Piece]:
        """One question after another, for each its files in order; one loop at a time."""
        for posed in self._terms.posed:
            mark = f'"question":{json.dumps(posed.id)}'.encode()
            self._file.seek(0)
            place = 0
            for line in self._file:
                if mark in line:  # cheaper than to parse it once for every question
                    handed = HandedIn(**json.loads(line))
                    key = key_of(self._terms, posed, handed.sha256)
                    if handed.question == posed.id:
                        yield Piece(place, handed, posed, key)
                place += len(line)

    def at(self, place: int) -> HandedIn:
        """Return what was handed in by where its line begins."""
        line = b""
        while b"\n" not in line:
            line += os.pread(self._file.fileno(), _BLOCK, place + len(line))
        return HandedIn(**json.loads(line.partition(b"\n")[0]))

    def close(self) -> None:
        """Close the file."""
        self._file.close()
