"""The questions there are, how far a person is with each, and which to do next.

First what was begun and not passed, the one worked on last before the others; then what is new:
what asks for nothing that is still to be passed, the easiest level first and in it the shortest;
then what was given up, without the solution this time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader import bank
from grader.app.context import Context, torch_installed
from grader.app.history import last_try
from grader.app.resolve import open_quietly
from grader.model.errors import UsageError, did_you_mean
from grader.model.numerals import quantity
from grader.model.question import Header
from grader.records import progress
from grader.records.progress import Progress

LEVELS = ("warm-up", "core", "senior")  # from the easiest on


@dataclass(frozen=True, slots=True)
class Suggested:
    """A question, and why it is suggested."""

    header: Header
    reason: str
    folder: Path | None  # in which it was begun, if that is still there


def questions(
    ctx: Context, track: str | None = None, level: str | None = None, *, new: bool = False
) -> list[tuple[Header, Progress]]:
    """Return what heads questions, all or some of them, and how far the person is with each."""
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
        raise UsageError(
            f"--{option} {word}: there is no such {option}{did_you_mean(word, words)}",
            hint=f"the {option}s are {', '.join(words)}" if words else "",
        )


def suggestions(ctx: Context) -> list[Suggested]:
    """Return the questions that are left, the one to do next first."""
    known = questions(ctx)
    starts = ctx.read(progress.starts, ())
    order = [*dict.fromkeys(ctx.read(progress.latest, ()))]
    able = torch_installed()
    # A prediction counts once, right or wrong.
    left = [(h, y) for h, y in known if not (y.passed or (h.form == "predict" and y.tries))]
    undone = {(header.bank, header.id) for header, _ in left}
    found: list[tuple[tuple[int, ...], Suggested]] = []
    for header, yours in left:
        rank: tuple[int, ...]
        if yours.given_up:
            rank, reason = (2,), "given up: try it again without the solution"
        elif yours.state == "new":
            lacks = header.torch and not able
            first = sorted(n for n in header.prerequisites if (header.bank, n) in undone)
            level = [*LEVELS, header.level].index(header.level)
            rank = (1, lacks, bool(first), level, header.minutes)
            reason = f"new, {header.level}, {header.minutes} min"
            reason += "; it needs torch, which is not installed" if lacks else ""
            reason += f"; better after {' and '.join(first)}" if first else ""
        else:
            rank = (0, order.index(header.id) if header.id in order else len(order))
            part = f"part {yours.asked(header.parts)} of {header.parts}, " * (header.parts > 1)
            reason = f"{part}begun: {_begun(ctx, header, yours)}"
        found.append((rank, Suggested(header, reason, _folder(header, starts))))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _folder(header: Header, starts: Sequence[progress.Start]) -> Path | None:
    """Where a question was started last, if that is a drill still."""
    for start in starts:
        if start.question == header.id and progress.counts(start.bank, str(header.bank), header.id):
            folder = Path(start.folder)
            return folder if open_quietly(folder) is not None else None
    return None


def _begun(ctx: Context, header: Header, yours: Progress) -> str:
    """How far it is: tries, and the last idea that was shown."""
    if not yours.tries:
        return "not graded yet"
    last = last_try(ctx, header.called, most=20)
    idea = f"; last idea {last.ideas[0]}" if last is not None and last.ideas else ""
    return quantity(yours.tries, "try", "tries") + idea
