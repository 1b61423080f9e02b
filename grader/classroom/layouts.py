"""Whose a file is and which question it answers, from its path alone.

What a student chooses (the names of files and what is in them) never decides whose a file is: that
is said by the part of a path that the instructor or the learning platform wrote.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from grader.classroom.platforms import Submitted, canvas, gradescope, moodle, normal
from grader.model.errors import UsageError
from grader.reports.inert import inert

ARCHIVE = ".zip"
PROGRAMS = (".py", ".ipynb")
TEXT = ".txt"  # of answers, where a question asks for text
LONGEST = 200  # characters of what a student is called
# How surely a file is the answer: by its name, for want of another, not known, not at all.
EXACT, ANY, BROKEN, NONE = range(4)
_COPY = re.compile(r"(?: ?\([0-9]{1,3}\)|-[0-9]{1,3})+$")  # what browsers and Canvas add to a name
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

Rank = tuple[int, int]  # how sure, then how deep: only the files of the smallest count


@dataclass(frozen=True, slots=True)
class Place:
    """What a path says."""

    student: str
    question: str
    rank: Rank = (EXACT, 1)
    at: str | None = None  # None: the file's own time says it
    name: str = ""
    email: str = ""
    late: bool = False


class Layout(Protocol):
    """A way in which submissions are laid out."""

    name: str
    looks_like: str
    misfit: str  # why a program is nobody's answer

    def places(self, path: str) -> Sequence[Place]:
        """Return whose a file is and what it answers; nothing where it is nobody's.

        A file that is somebody's and no answer has the rank `NONE`.
        """


def acts(text: str) -> bool:
    """Return whether a name has characters that act instead of being seen."""
    return not text.isprintable() and any(
        char in _BIDI or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in text
    )


def student(text: str) -> str:
    """Return a name by which a student can be told apart, "" where a text is none."""
    called = normal(text)
    fits = 0 < len(called) <= LONGEST and called not in {".", ".."}
    return "" if not fits or acts(called) or "/" in called else called


def suffix(name: str) -> str:
    """Return how a name ends: `.py`."""
    stem, dot, end = name.rpartition(".")
    return f"{dot}{end}".casefold() if stem else ""


def stem(name: str) -> str:
    """Return a name without its end."""
    return name.rpartition(".")[0] or name


class Asked:
    """The questions that a class is asked, and what their answers may be called."""

    def __init__(self, ids: Iterable[str], texts: Collection[str] = ()) -> None:
        """Know the ids, and which of them are answered by a text."""
        self.ids = tuple(dict.fromkeys(ids))
        self.texts = frozenset(texts)
        self.ends = (*PROGRAMS, TEXT) if self.texts else PROGRAMS  # of what may be an answer
        self._loose = {_loose(one): one for one in self.ids}

    def named(self, name: str, *, copies: bool = True) -> str:
        """Return the question that a name is of, whatever a browser added to it; "" if none."""
        for one in (name, _COPY.sub("", name)) if copies else (name,):
            if one in self.ids:
                return one
            if _loose(one) in self._loose:
                return self._loose[_loose(one)]
        return ""

    def answers(self, own: Sequence[str], *, free: bool) -> list[tuple[str, Rank]]:
        """Return which questions a file of a student answers.

        Args:
            own: Its path from what is the student's.
            free: Whether it may have any name, because the student chose it.
        """
        end, name = suffix(own[-1]), stem(own[-1])
        if end == ARCHIVE:  # one that cannot be read: nobody knows what is in it
            return [(one, (BROKEN, len(own))) for one in self.ids]
        if end not in {*PROGRAMS, TEXT}:
            return []
        fitting = [one for one in self.ids if (one in self.texts) is (end == TEXT)]
        question = self.named(name)
        # As `drill start` has it: QUESTION/submission.py, or answers.txt.
        if not question and name == ("answers" if end == TEXT else "submission"):
            question = self.named(own[-2]) if len(own) > 1 else ""
            question = question or (self.ids[0] if len(self.ids) == 1 else "")
        if question:
            return [(question, (EXACT, len(own)))] if question in fitting else []
        if free and (len(self.ids) == 1 or end == ".ipynb"):
            return [(one, (ANY, len(own))) for one in fitting]
        return []

    def places(self, own: Sequence[str], *, free: bool) -> list[tuple[str, Rank]]:
        """Return the same, or every question with the rank `NONE` for a file that answers none."""
        return self.answers(own, free=free) or [(one, (NONE, len(own))) for one in self.ids]


def _loose(name: str) -> str:
    return name.casefold().replace("_", "-")


def _files(parts: Sequence[str], asked: Asked, _: Mapping[str, Submitted]) -> list[Place]:
    """`alice.py`, `alice.ipynb`, and what is in `alice.zip`."""
    whose, end = stem(parts[0]), suffix(parts[0])
    if len(parts) > 1 and end == ARCHIVE:
        return _own(whose, asked, parts[1:], free=True)
    if len(parts) > 1 or asked.named(whose) or whose == "submission":
        return []
    found = _own(whose, asked, [f" {end}"], free=True)  # its name says whose it is, and no more
    return [one for one in found if one.rank[0] != NONE]  # and of no answer not even that


def _folders(parts: Sequence[str], asked: Asked, _: Mapping[str, Submitted]) -> list[Place]:
    """`alice/QUESTION.py`, `alice/submission.py`, and the same in `alice.zip`."""
    if suffix(parts[0]) == ARCHIVE:
        return _own(stem(parts[0]), asked, parts[1:] or [f" {ARCHIVE}"], free=True)
    return _own(parts[0], asked, parts[1:], free=False) if len(parts) > 1 else []


def _questions(parts: Sequence[str], asked: Asked, _: Mapping[str, Submitted]) -> list[Place]:
    """`QUESTION/alice.py`."""
    question = asked.named(parts[0])
    if not question or len(parts) == 1:
        return []
    one = Asked([question], asked.texts)
    return _folders(parts[1:], one, {}) or _files(parts[1:], one, {})


def _own(whose: str, asked: Asked, own: Sequence[str], *, free: bool) -> list[Place]:
    called = student(whose)
    answers = asked.places(own, free=free) if called else []
    return [Place(called, question, rank) for question, rank in answers]


def _gradescope(parts: Sequence[str], asked: Asked, known: Mapping[str, Submitted]) -> list[Place]:
    """`submission_123456/...`."""
    if not gradescope(parts):
        return []
    found = known.get(parts[0]) or Submitted(parts[0])
    return [
        Place(called, question, rank, found.at, person.name, person.email)
        for person in found.people
        if (called := student(person.id))
        for question, rank in asked.places(parts[1:], free=True)
    ]


def _moodle(parts: Sequence[str], asked: Asked, _: Mapping[str, Submitted]) -> list[Place]:
    """`Ann Example_1234567_assignsubmission_file_/...` or with `...` behind it."""
    found = moodle(parts)
    return [] if found is None else _exported(found, asked)


def _canvas(parts: Sequence[str], asked: Asked, _: Mapping[str, Submitted]) -> list[Place]:
    """`exampleann_12345_67890_...`."""
    found = canvas(parts)
    return [] if found is None else _exported(found, asked)


def _exported(found: Submitted, asked: Asked) -> list[Place]:
    called = student(found.id)
    answers = asked.places(found.own, free=True) if called and found.own else []
    return [
        Place(called, question, rank, found.at, found.name, late=found.late)
        for question, rank in answers
    ]


_Find = Callable[[Sequence[str], Asked, Mapping[str, Submitted]], list[Place]]
LAYOUTS: dict[str, tuple[str, _Find]] = {
    "files": ("STUDENT.py", _files),
    "folders": ("STUDENT/QUESTION.py", _folders),
    "questions": ("QUESTION/STUDENT.py", _questions),
    "gradescope": ("an export of Gradescope", _gradescope),
    "moodle": ("an export of Moodle", _moodle),
    "canvas": ("an export of Canvas", _canvas),
}
PLATFORMS = ("gradescope", "moodle", "canvas")


class Known:
    """A layout with a name."""

    misfit = "its name says no question that is asked"

    def __init__(
        self, name: str, asked: Asked, skip: int = 0, known: Mapping[str, Submitted] | None = None
    ) -> None:
        """Choose it.

        Args:
            name: One of `LAYOUTS`.
            asked: The questions that the class is asked.
            skip: How many folders at the top everything lies in.
            known: What Gradescope says of each folder.
        """
        self.name = name
        self.skip = skip
        self._asked, self._known = asked, known or {}
        self.looks_like, self._find = LAYOUTS[name]

    def places(self, path: str) -> list[Place]:
        """Return whose a file is and what it answers."""
        parts = path.split("/")[self.skip :]
        return self._find(parts, self._asked, self._known) if parts else []


def shape(parts: Sequence[str], asked: Asked) -> str:
    """Return the one layout that a path can be of; "" where it may be `files` or `folders`."""
    if gradescope(parts):
        return "gradescope"
    if moodle(parts) is not None:
        return "moodle"
    if canvas(parts) is not None:
        return "canvas"
    if len(parts) > 1 and asked.named(parts[0]):
        return "questions"
    if suffix(parts[0]) == ARCHIVE:
        return ""
    return "files" if len(parts) == 1 else "folders"


class Look:
    """What a walk over all paths says of their layout."""

    def __init__(self, asked: Asked) -> None:
        """Nothing was seen yet."""
        self._asked = asked
        self.top: str | None = None  # the folder that the first one lies in
        self._one_top = True  # whether everything lies in one folder
        self._shapes: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        self._first: dict[tuple[int, str], str] = {}
        self._sure = False  # whether a student's answer lies right in a folder at the top
        self._below: set[str] = set()  # the first whose files lie in that one folder

    def add(self, path: str) -> None:
        """See one more file."""
        parts = path.split("/")
        program = suffix(parts[-1]) in {*self._asked.ends, ARCHIVE}
        if program or len(parts) > 1:  # a text in somebody's folder shows whose folder it is
            self.top = parts[0] if self.top is None else self.top
            inside = len(parts) > 1 and suffix(parts[0]) != ARCHIVE
            self._one_top = self._one_top and inside and parts[0] == self.top
        if not program:
            return
        for skip in (0, 1) if self._one_top else (0,):
            rest = parts[skip:]
            found = shape(rest, self._asked)
            places = LAYOUTS[found or "files"][1](rest, self._asked, {})
            if places := [one for one in places if one.rank[0] != NONE]:
                self._shapes[skip][found] += 1
                self._first.setdefault((skip, found), path)
            if skip and len(self._below) < 2:
                self._below |= {one.student for one in places}
            self._sure |= not skip and any(one.rank == (EXACT, 1) for one in places)

    def found(self, name: str = "") -> tuple[str, int]:
        """Return the layout that every answer fits, and how many folders all of it lies in.

        Args:
            name: The layout, where it is known.

        Raises:
            UsageError: It can be more than one.
        """
        skip = int(self._one_top and self._wrapped(name))
        shapes = self._shapes[skip]
        found = [one for one in shapes if one] or (["files"] if shapes else ["folders"])
        if name or len(found) == 1:
            return name or found[0], skip
        ways = "; ".join(
            f"{shapes[one]:,} like {LAYOUTS[one][0]} ({inert(self._first[skip, one], 200)})"
            for one in found
        )
        raise UsageError(
            f"expected submissions in one layout, found {ways}",
            hint=f"--layout {' or '.join(sorted(found))} says which; --pattern describes another",
        )

    def _wrapped(self, name: str) -> bool:
        """Whether the one folder at the top is nobody's: what was packed, say.

        Else a student who alone handed something in could make folders for others.
        """
        above, below = self._shapes
        if set(above) & {*PLATFORMS, "questions"} or not below:
            return False
        if name:
            return name != "folders" and name in below and name not in above
        if len(self._below) > 1 and not self._sure:
            return True
        raise UsageError(
            "expected folders of several students, found "
            f"{inert(self.top or '')} alone: is it a student's?",
            hint="--layout folders if it is; else give that folder as SUBMISSIONS",
        )


def names() -> str:
    """Return the names of all layouts, for messages."""
    return ", ".join(LAYOUTS)
