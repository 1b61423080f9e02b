"""The folder of results: what the class was asked, what was handed in, and every verdict.

class.json        the terms that all grades share
handed-in.jsonl   what is in SUBMISSIONS now, a line for each file
verdicts*.jsonl   what came of every grade, a line each; nothing is ever taken out
"""

from __future__ import annotations

import filecmp
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path

from grader.classroom import disk
from grader.classroom.disk import fresh
from grader.classroom.jobs import key_of
from grader.classroom.ledger import Index
from grader.model.classroom import RESULTS_FORMAT, Entry, HandedIn, Posed, Terms
from grader.model.errors import UsageError

TERMS, HANDED_IN = "class.json", "handed-in.jsonl"


def make_folder(out: Path) -> None:
    """Make the folder of results, if there is none.

    Raises:
        UsageError: It cannot be made.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        text = f"{out}: expected a folder for the results: {fault.strerror}"
        raise UsageError(text) from fault


def write_terms(folder: Path, terms: Terms) -> None:
    """Keep what all grades share."""
    _replace(folder / TERMS, [_text(terms)])


def _text(terms: Terms) -> str:
    return json.dumps({"format": RESULTS_FORMAT, **asdict(terms)}, indent=2)


def agree(folder: Path, wanted: Terms, *, drawn: bool) -> Terms:
    """Keep what all grades share, or go on with what is kept already; return it.

    Two that begin in one folder at once agree: one of them writes, the other reads.

    Args:
        folder: Of the results.
        wanted: What is asked for now.
        drawn: Whether its seed was drawn by chance: then one that is kept stays.
    """
    path = folder / TERMS
    if not path.exists() and _create(path, [_text(wanted)]):
        return wanted
    old = read_terms(folder)
    terms = replace(wanted, seed=old.seed) if drawn else wanted
    if old != terms:
        write_terms(folder, terms)
    return terms


def read_terms(folder: Path) -> Terms:
    """Return what all grades share.

    Raises:
        UsageError: There are no results of a class.
    """
    path = folder / TERMS
    try:
        content = json.loads(disk.content(path, disk.regular, disk.MOST_LINE))
        if content.get("format") != RESULTS_FORMAT:
            text = f"{path}: expected format {RESULTS_FORMAT}, found {content.get('format')}"
            raise UsageError(text, hint="another version of drill wrote it")
        posed = tuple(
            Posed(**{**one, "parts": tuple(one["parts"]), "hidden": tuple(one["hidden"])})
            for one in content.pop("posed")
        )
        return _checked(Terms(**content, posed=posed))
    except FileNotFoundError:
        raise UsageError(
            f"{folder}: expected results of a class, found no {TERMS}",
            hint="drill class grade SUBMISSIONS --question ID --out RESULTS makes them",
        ) from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
        raise UsageError(f"{path}: expected what drill class grade wrote: {fault}") from fault


def write_handed_in(folder: Path, handed: Iterable[HandedIn]) -> int:
    """Keep what was handed in; return how many files that are.

    What is there already and the same stays: another shard may be reading it.
    """
    count = 0

    def lines() -> Iterator[str]:
        nonlocal count
        for one in handed:
            count += 1
            yield json.dumps(asdict(one), separators=(",", ":"))

    _replace(folder / HANDED_IN, lines(), keep=True)
    return count


def read_handed_in(folder: Path) -> Iterator[HandedIn]:
    """Give what was handed in, in the order of the paths."""
    path = folder / HANDED_IN
    with suppress(FileNotFoundError):
        for number, (_, line) in enumerate(disk.lines(path), 1):
            try:
                one = HandedIn(**json.loads(line))
                _typed(one, str, (key for key in HandedIn.__slots__ if key != "late"))
                _typed(one, bool, ["late"])
                _moment(one.at)
            except (ValueError, TypeError, RecursionError) as fault:
                text = f"{path}: line {number:,}: expected what drill class grade wrote: {fault}"
                raise UsageError(text) from fault
            yield one


def _checked(terms: Terms) -> Terms:
    """Return terms whose values are of their types.

    Raises:
        TypeError: One is not.
        ValueError: It is no such number or time.
    """
    _typed(terms, int, ["seed"])
    _typed(terms, str, ["level", "program", "title", "deadline", "submissions", "counts"])
    _moment(terms.deadline)
    for one in terms.posed:
        _typed(one, str, ["id", "title", "digest", "bank"])
        _typed(one, int, ["of"])
        if type(one.weight) not in {int, float} or not 0 <= one.weight < 1e9:
            raise ValueError(f"weight: expected a finite number, found {str(one.weight)[:60]!r}")
        listed = [*one.hidden, *one.libraries, *one.libraries.values()]
        if not all(isinstance(text, str) for text in listed):
            raise TypeError(f"{one.id}: expected texts in hidden and libraries")
        if not all(type(part) is int for part in one.parts):
            raise TypeError(f"{one.id}: expected numbers of parts")
    return terms


def _typed(one: object, kind: type, names: Iterable[str]) -> None:
    for name in names:
        if type(value := getattr(one, name)) is not kind:
            raise TypeError(f"{name}: expected {kind.__name__}, found {str(value)[:60]!r}")


def _moment(text: str) -> None:
    if text and datetime.fromisoformat(text).utcoffset() is None:
        raise ValueError(f"expected a time with its offset, found {text[:60]!r}")


def _replace(path: Path, lines: Iterable[str], *, keep: bool = False) -> None:
    """Write a file whole or not at all; keep one that is the same, if asked to."""
    with fresh(path, (f"{line}\n" for line in lines)) as made:
        same = keep and path.exists() and not path.is_symlink()
        if not (same and filecmp.cmp(made, path, shallow=False)):
            made.replace(path)


def _create(path: Path, lines: Iterable[str]) -> bool:
    """Write a file whole where there is none; return whether there was none."""
    with fresh(path, (f"{line}\n" for line in lines)) as made:
        try:
            path.hardlink_to(made)
        except FileExistsError:
            return False
        except OSError:  # a file system without links
            made.replace(path)
    return True


class Results:
    """What is known of a class now."""

    def __init__(self, folder: Path) -> None:
        """Read what the class was asked, and where each verdict is.

        Raises:
            UsageError: There are no results of a class.
        """
        self.folder = folder
        self.terms = read_terms(folder)
        self._index = Index(folder)
        self.unreadable = self._index.unreadable

    def everything(self) -> Iterator[Entry]:
        """Every file that was handed in, in the order of the paths."""
        posed = {one.id: one for one in self.terms.posed}
        for handed in read_handed_in(self.folder):
            asked = posed.get(handed.question)
            if asked is not None:
                yield self._entry(asked, handed)

    def entries(self) -> Iterator[Entry]:
        """What counts: of each student one file for each question, by student."""
        return (counting for counting, _ in self.attempts())

    def attempts(self) -> Iterator[tuple[Entry, list[Entry]]]:
        """What counts of each student for each question, with all hand-ins for it, oldest first."""
        everything: dict[str, dict[str, list[HandedIn]]] = defaultdict(lambda: defaultdict(list))
        for handed in read_handed_in(self.folder):
            everything[handed.student][handed.question].append(handed)
        for student in sorted(everything):
            for posed in self.terms.posed:
                files = sorted(everything[student].get(posed.id, []), key=lambda one: one.at)
                if files:
                    found = [self._entry(posed, one) for one in files]
                    yield self._counting(found), found

    def students(self) -> list[str]:
        """Everybody who handed something in."""
        return sorted({handed.student for handed in read_handed_in(self.folder)})

    def _counting(self, found: list[Entry]) -> Entry:
        """Return the file that counts: the last one, or the last of the best."""
        if self.terms.counts == "best":
            return max(reversed(found), key=lambda one: -1 if one.points is None else one.points)
        return found[-1]

    def _entry(self, posed: Posed, handed: HandedIn) -> Entry:
        graded = None
        if handed.sha256:
            graded = self._index.get(key_of(self.terms, posed, handed.sha256))
        late = handed.late or is_late(handed.at, self.terms.deadline)
        return Entry(posed, handed, graded, late)


def is_late(at: str, deadline: str) -> bool:
    """Return whether a time is after a deadline, if there is one."""
    if not (at and deadline):
        return False
    try:
        return datetime.fromisoformat(at) > datetime.fromisoformat(deadline)
    except OverflowError:  # the year 1 or 9999, in another zone
        return at > deadline
