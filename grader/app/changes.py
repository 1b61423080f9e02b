"""What turns one text into another, line by line; texts are compared, never read as programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

CONTEXT = 1  # lines that are shown around a change


class Change(NamedTuple):
    """A line: `-` it goes, `+` it comes, a blank: it stays, `...`: lines that stay are left out."""

    sign: str
    text: str


def nearest(before: str, others: Sequence[str]) -> tuple[Change, ...]:
    """The changes to the text among some that fewest lines have to be changed for."""
    found = [tuple(_changes(before.splitlines(), other.splitlines())) for other in others]
    return min(found, key=lambda changes: sum(change.sign in {"-", "+"} for change in changes))


def count(changes: Sequence[Change], sign: str) -> int:
    """How many lines of one sign hold anything."""
    return sum(change.sign == sign and bool(change.text.strip()) for change in changes)


def _changes(before: list[str], after: list[str]) -> Iterator[Change]:
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(CONTEXT)):
        if number:
            yield Change("...", "")
        for kind, first, last, start, end in group:
            if kind == "equal":
                yield from (Change(" ", line) for line in before[first:last])
            else:
                yield from (Change("-", line) for line in before[first:last])
                yield from (Change("+", line) for line in after[start:end])
