"""Results of several machines become one; theirs stay as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.ledger import Ledger, merged
from grader.classroom.results import (
    agree,
    differences,
    make_folder,
    read_handed_in,
    read_terms,
    write_handed_in,
)
from grader.model.classroom import HandedIn
from grader.model.errors import UsageError


@dataclass(frozen=True, slots=True)
class Merged:
    """What came of merging."""

    added: int  # verdicts that were not there before
    files: int  # that were handed in


def merge(out: Path, folders: Sequence[Path]) -> Merged:
    """Bring the verdicts of some folders of results into another one, each once.

    Begun again after it was stopped, it goes on.  What an earlier merge brought stays.

    Raises:
        UsageError: A folder holds no results, or grades on other terms than the first.
    """
    if not folders:
        raise UsageError("expected folders of results to merge, found none")
    target = out.resolve()
    if any(folder.resolve() == target for folder in folders):
        raise UsageError(f"{out}: expected a folder of its own for what is merged")
    terms = read_terms(folders[0])
    for folder in folders[1:]:
        if found := differences(terms, read_terms(folder)):
            said = f"{folder}: expected the terms of {folders[0]}, found {'; '.join(found)}"
            raise UsageError(said, hint="grades on other terms cannot be compared")
    make_folder(out)
    with Ledger(out / "verdicts.jsonl") as ledger:
        agree(out, terms, drawn=False, shared=True)
        files = write_handed_in(out, _handed_in([out, *folders]))
        return Merged(merged(folders, ledger), files)


def _handed_in(folders: Sequence[Path]) -> Iterator[HandedIn]:
    """Give each file once: a copy elsewhere may have another time, and the first one counts."""
    seen = set()
    for folder in folders:
        for one in read_handed_in(folder):
            same = (one.student, one.question, one.path, one.sha256, one.fault)
            digest = hashlib.sha256(repr(same).encode()).digest()[:16]
            if digest not in seen:
                seen.add(digest)
                yield one
