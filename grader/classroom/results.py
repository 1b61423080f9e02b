"""The folder of results: what the class was asked, what was handed in, and every verdict.

class.json        the terms that all grades share
handed-in.jsonl   what is in SUBMISSIONS now, a line for each file
verdicts*.jsonl   what came of every grade, a line each; nothing is ever taken out
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path

from grader.classroom.jobs import key_of
from grader.classroom.ledger import Index
from grader.model.classroom import RESULTS_FORMAT, Entry, HandedIn, Posed, Terms
from grader.model.errors import UsageError

TERMS, HANDED_IN = "class.json", "handed-in.jsonl"


def write_terms(folder: Path, terms: Terms) -> None:
    """Keep what all grades share."""
    _replace(folder / TERMS, [json.dumps({"format": RESULTS_FORMAT, **asdict(terms)}, indent=2)])


def read_terms(folder: Path) -> Terms:
    """Return what all grades share.

    Raises:
        UsageError: There are no results of a class.
    """
    path = folder / TERMS
    try:
        content = json.loads(path.read_bytes())
        if content.get("format") != RESULTS_FORMAT:
            text = f"{path}: expected format {RESULTS_FORMAT}, found {content.get('format')}"
            raise UsageError(text, hint="another version of drill wrote it")
        posed = tuple(
            Posed(**{**one, "parts": tuple(one["parts"]), "hidden": tuple(one["hidden"])})
            for one in content.pop("posed")
        )
        return Terms(**content, posed=posed)
    except FileNotFoundError:
        raise UsageError(
            f"{folder}: expected results of a class, found no {TERMS}",
            hint="drill class grade SUBMISSIONS --question ID --out RESULTS makes them",
        ) from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as fault:
        raise UsageError(f"{path}: expected what drill class grade wrote: {fault}") from fault


def write_handed_in(folder: Path, handed: Iterable[HandedIn]) -> int:
    """Keep what was handed in; return how many files that are."""
    count = 0

    def lines() -> Iterator[str]:
        nonlocal count
        for one in handed:
            count += 1
            yield json.dumps(asdict(one), separators=(",", ":"))

    _replace(folder / HANDED_IN, lines())
    return count


def read_handed_in(folder: Path) -> Iterator[HandedIn]:
    """Give what was handed in, in the order of the paths."""
    with suppress(FileNotFoundError), (folder / HANDED_IN).open(encoding="utf-8") as file:
        for line in file:
            yield HandedIn(**json.loads(line))


def _replace(path: Path, lines: Iterable[str]) -> None:
    """Write a file whole or not at all."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with fresh.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as fault:
        raise UsageError(f"{path}: cannot be written: {fault.strerror}") from fault
    finally:
        fresh.unlink(missing_ok=True)


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
        everything: dict[str, dict[str, list[HandedIn]]] = defaultdict(lambda: defaultdict(list))
        for handed in read_handed_in(self.folder):
            everything[handed.student][handed.question].append(handed)
        for student in sorted(everything):
            for posed in self.terms.posed:
                files = everything[student].get(posed.id, [])
                if files:
                    yield self._counting(posed, files)

    def students(self) -> list[str]:
        """Everybody who handed something in."""
        return sorted({handed.student for handed in read_handed_in(self.folder)})

    def _counting(self, posed: Posed, files: list[HandedIn]) -> Entry:
        """Return the file that counts: the last one, or the last of the best."""
        found = [self._entry(posed, one) for one in sorted(files, key=lambda f: (f.at, f.path))]
        if self.terms.counts == "best":
            return max(reversed(found), key=lambda one: -1 if one.points is None else one.points)
        return found[-1]

    def _entry(self, posed: Posed, handed: HandedIn) -> Entry:
        graded = None
        if handed.sha256:
            graded = self._index.get(key_of(self.terms, posed, handed.sha256))
        return Entry(posed, handed, graded, is_late(handed.at, self.terms.deadline))


def is_late(at: str, deadline: str) -> bool:
    """Return whether a time is after a deadline, if there is one."""
    if not (at and deadline):
        return False
    return datetime.fromisoformat(at) > datetime.fromisoformat(deadline)


def same_terms(old: Terms, new: Terms) -> bool:
    """Return whether grades under one are grades under the other."""
    plain = [replace(one, title="", deadline="", submissions="") for one in (old, new)]
    return plain[0] == plain[1]
