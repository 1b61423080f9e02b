"""What a class handed in: every file of a folder or a zip archive, and whose it is.

A path decides whose a file is and which question it answers, nothing inside it does.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from grader.classroom import notebook
from grader.classroom.files import Item, opened
from grader.classroom.layouts import (
    LAYOUTS,
    NONE,
    Asked,
    Known,
    Layout,
    Look,
    Place,
    names,
    suffix,
)
from grader.classroom.patterns import Pattern
from grader.classroom.platforms import METADATA, Submitted, submitters
from grader.model.classroom import HandedIn
from grader.model.errors import UsageError
from grader.model.numerals import quantity
from grader.reports.inert import inert
from grader.sandbox.closing import Closing

MOST_BYTES = 1_000_000  # of a program: a thousand times an honest one
MOST_METADATA = 256_000_000  # bytes of what Gradescope says, with all that programs printed
MOST_FILES = 20  # that one student may hand in for one question
SHOWN = 5  # files that are named
_NUMBERS = re.compile(r"([0-9]+)")


@dataclass(slots=True)
class Unused:
    """The files that are nobody's answer, and who handed in nothing else."""

    programs: int = 0
    others: int = 0  # data, pictures, texts
    first: list[tuple[str, str]] = field(default_factory=list)  # the first of them, and why
    lacking: list[str] = field(default_factory=list)  # students, once for each question

    def add(self, path: str, why: str = "") -> None:
        """Count one more."""
        self.programs += bool(why)
        self.others += not why
        if why and len(self.first) < SHOWN:
            self.first.append((path, why))

    def __str__(self) -> str:
        """Say it, nothing where there are none."""
        if not self.programs:
            return ""
        shown = "; ".join(f"{inert(path, 200)} ({why})" for path, why in self.first)
        more = self.programs - len(self.first)
        are = "that is" if self.programs == 1 else "that are"
        counted = f"{quantity(self.programs, 'file')} {are} nobody's answer"
        return f"{counted}: {shown}" + (f"; {more:,} more" if more else "")


class Submissions(Closing):
    """The files of a class, one after another, in the order of their paths."""

    def __init__(
        self,
        root: Path,
        asked: Sequence[str],
        layout: str = "",
        pattern: str = "",
        texts: Collection[str] = (),
    ) -> None:
        """Open the folder or archive and look how it is laid out.

        Args:
            root: A folder or a zip file.
            asked: The questions' ids.
            layout: One of `layouts.LAYOUTS`; the one that fits where it is not given.
            pattern: The paths of answers, with named fields.
            texts: The ids of those that are answered by a text.

        Raises:
            UsageError: There is none, it cannot be read, or it is not clear how it is laid out.
        """
        if layout and pattern:
            raise UsageError("expected --layout or --pattern, found both")
        if layout and layout not in LAYOUTS:
            raise UsageError(f"--layout: expected {names()}, found {layout}")
        asked_for = Asked(asked, texts)
        described = Pattern(pattern, asked_for) if pattern else None
        self.unused = Unused()  # of the last walk
        self._ends = asked_for.ends
        self._files = opened(root)
        try:
            self.layout: Layout = described or self._known(layout, asked_for)
        except BaseException:
            self.close()
            raise

    def _known(self, name: str, asked: Asked) -> Known:
        look = Look(asked)
        metadata = {}
        for item in self._files.items():
            look.add(item.path)
            folder, _, rest = item.path.rpartition("/")
            if rest == METADATA and "/" not in folder:
                metadata[folder] = item.path
        found, skip = look.found(name)
        said = metadata.get((look.top or "") if skip else "") if found == "gradescope" else None
        return Known(found, asked, skip, self._metadata(said) if said else {})

    def _metadata(self, path: str) -> dict[str, Submitted]:
        """Read what Gradescope wrote beside the folders; no file in one of them is that."""
        try:
            content = self._files.read(path, MOST_METADATA + 1)
        except (OSError, UsageError) as fault:
            raise UsageError(f"{path}: cannot be read: {_said(fault)}") from fault
        if len(content) > MOST_METADATA:
            raise UsageError(f"{path}: expected at most {MOST_METADATA:,} bytes, found more")
        return submitters(line.decode("utf-8", "replace") for line in content.split(b"\n"))

    def __iter__(self) -> Iterator[HandedIn]:
        """Every file that is somebody's answer, with a `fault` where there is no program in it."""
        self.unused = Unused()
        for _, group in groupby(self._placed(), key=lambda one: one[2]):
            yield from self._chosen([(item, places) for item, places, _ in group])

    def _placed(self) -> Iterator[tuple[Item, list[Place], tuple[str, ...]]]:
        """Every file that may be an answer, whose, and all whose it is."""
        for item in self._files.items():
            places = [] if item.stray else list(self.layout.places(item.path))
            if places:
                yield item, places, tuple(sorted({one.student for one in places}))
            else:
                self.unused.add(item.path, self._misfit(item))

    def _chosen(self, group: list[tuple[Item, list[Place]]]) -> Iterator[HandedIn]:
        """Give what counts as answers of those who handed some files in, the last one last."""
        group.sort(key=lambda one: (_at(*one), _in_order(one[0].path)))
        best: dict[tuple[str, str], tuple[int, int]] = {}
        for _, places in group:
            for one in places:
                whose = one.student, one.question
                best[whose] = min(best.get(whose, one.rank), one.rank)
        chosen: dict[tuple[str, str], deque[Item]] = defaultdict(lambda: deque(maxlen=MOST_FILES))
        for item, places in group:
            for one in places:
                if one.rank == best[one.student, one.question]:
                    chosen[one.student, one.question].append(item)
        lacking = self._without(group)
        for item, places in group:
            answers = {
                (one.student, one.question): one
                for one in places
                if one.rank[0] != NONE
                and any(item is kept for kept in chosen[one.student, one.question])
            }
            nothing = [one for one in places if lacking.get(one.student) is item]
            if answers:
                yield from self._handed(item, answers.values())
            elif nothing:
                self.unused.lacking += [one.student for one in nothing]
                self.unused.add(item.path, self._misfit(item))
                yield from self._handed(item, nothing, self._unfit(item))
            elif all(one.rank[0] == NONE for one in places):
                self.unused.add(item.path, self._misfit(item))
            else:
                self.unused.add(item.path, "another file is more likely the answer")

    def _without(self, group: list[tuple[Item, list[Place]]]) -> dict[str, Item]:
        """Return the students of whose files none is an answer, each with the likeliest."""
        answered = {one.student for _, places in group for one in places if one.rank[0] != NONE}
        found: dict[str, Item] = {}
        for item, places in group:
            for one in places:
                before = found.get(one.student)
                if one.student not in answered and (
                    before is None or self._misfit(item) or not self._misfit(before)
                ):
                    found[one.student] = item
        return found

    def _misfit(self, item: Item) -> str:
        """Why a program is nobody's answer; nothing where it is no program."""
        return item.fault or (self.layout.misfit if suffix(item.path) in self._ends else "")

    def _unfit(self, item: Item) -> str:
        """Why the one file of somebody is no answer."""
        name = item.path.rpartition("/")[2]
        return self._misfit(item) or f"expected a {' or '.join(self._ends)} file, found {name}"

    def _handed(self, item: Item, places: Iterable[Place], fault: str = "") -> Iterator[HandedIn]:
        sha256, fault = "", fault or item.fault
        if not fault:
            try:
                sha256 = hashlib.sha256(self.program(item.path)).hexdigest()
            except UsageError as error:
                fault = error.message
            except OSError as error:  # of this machine, and not the student's
                self.unused.add(item.path, f"cannot be read: {_said(error)}")
                return
        for place in places:
            yield HandedIn(
                place.student, place.question, item.path, sha256, _at(item, [place]), fault,
                place.name, place.email, place.late,
            )  # fmt: skip

    def program(self, path: str) -> bytes:
        """Return the program in a file; that of a notebook is its code cells.

        Raises:
            OSError, UsageError: There is none.
        """
        book = suffix(path.rpartition("/")[2]) == ".ipynb"
        most = notebook.MOST_BYTES if book else MOST_BYTES
        content = self._files.read(path, most + 1)
        if book:
            return notebook.program(content)
        if len(content) > most:
            raise UsageError(f"expected at most {most:,} bytes, found more")
        return content

    def close(self) -> None:
        """Close the archive."""
        self._files.close()


def _at(item: Item, places: Sequence[Place]) -> str:
    return item.at if places[0].at is None else places[0].at


def _in_order(path: str) -> list[tuple[int, int, str]]:
    """Return a key by which file 10 comes after file 9."""
    pieces = _NUMBERS.split(path)
    return [(0, int(one), one) if one.isdecimal() and n % 2 else (1, 0, one)
            for n, one in enumerate(pieces)]  # fmt: skip


def _said(fault: OSError | UsageError) -> str:
    return fault.message if isinstance(fault, UsageError) else fault.strerror or str(fault)
