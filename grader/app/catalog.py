"""The questions there are, and how far a person is with each."""

from __future__ import annotations

from collections.abc import Sequence

from grader import bank
from grader.app.context import Context
from grader.model.errors import UsageError
from grader.model.question import Header
from grader.records import progress
from grader.records.progress import Progress

LEVELS = ("warm-up", "core", "senior")  # from the easiest on


def questions(
    ctx: Context, track: str | None = None, level: str | None = None, *, new: bool = False
) -> list[tuple[Header, Progress]]:
    """Return what heads every question, or those of one track or level, with the progress.

    Args:
        ctx: Where the person is.
        track: Only of this one.
        level: Only of this one.
        new: Only those that were not begun.

    Raises:
        UsageError: There is no such track or level.
    """
    found = bank.headers(ctx.banks())
    _known("track", track, sorted({header.track for header in found}))
    _known("level", level, LEVELS)
    known = ctx.read(progress.overview, {})
    rows = [
        (head, progress.of(known, head.id, head.bank))
        for head in found
        if track in {None, head.track} and level in {None, head.level}
    ]
    return [row for row in rows if row[1].state == "new"] if new else rows


def _known(option: str, word: str | None, words: Sequence[str]) -> None:
    if word is not None and word not in words:
        near = bank.closest(word, words)
        guess = f"; did you mean {near}?" if near else ""
        raise UsageError(
            f"--{option} {word}: there is no such {option}{guess}",
            hint=f"the {option}s are {', '.join(words)}" if words else "",
        )
