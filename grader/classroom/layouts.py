"""Whose a file is and which question it answers, from its path alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Place:
    """What a path says."""

    student: str
    question: str
    at: str = ""
    name: str = ""
    email: str = ""


class Layout(Protocol):
    """A way in which submissions are laid out."""

    def place(self, path: str) -> Place | None:
        """Return whose a file is and what it answers; None where it is no answer."""


class Plain:
    """`alice.py` for one question; `alice/QUESTION.py` for several."""

    def __init__(self, asked: Sequence[str]) -> None:
        """Know the questions that the class is asked."""
        self._asked = tuple(asked)

    def place(self, path: str) -> Place | None:
        """Return whose a file is and what it answers."""
        parts = PurePosixPath(path)
        if parts.suffix != ".py":
            return None
        if len(parts.parts) == 1 and len(self._asked) == 1:
            return Place(parts.stem, self._asked[0])
        folder = parts.parts[-2] if len(parts.parts) > 1 else ""
        if parts.stem in self._asked and folder:
            return Place(folder, parts.stem)
        if parts.stem == "submission" and folder:
            return Place(folder, self._asked[0]) if len(self._asked) == 1 else None
        return None
