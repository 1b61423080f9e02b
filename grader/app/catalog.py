"""The questions there are, how far a person is with each, and which to do next.

Next is what was begun and not passed, the one worked on last before the others; then what is new:
what asks for nothing that is still to be passed, the easiest level first and in it the shortest;
last what was given up, without the solution this time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader import bank
from grader.app.context import Context, torch_installed
from grader.app.history import tried
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


def suggestion(ctx: Context) -> Suggested | None:
    """Return the question to do next; None where each is passed."""
    order = ctx.read(progress.latest, ())
    able = torch_installed()
    # A prediction counts once, right or wrong.
    left = [
        (header, yours)
        for header, yours in questions(ctx)
        if not (yours.passed or (header.form == "predict" and yours.tries))
    ]
    undone = {(header.bank, header.id) for header, _ in left}

    def before(header: Header) -> list[str]:
        return sorted(n for n in header.prerequisites if (header.bank, n) in undone)

    def rank(one: tuple[Header, Progress]) -> tuple[int, ...]:
        header, yours = one
        if yours.given_up:
            return (2,)
        if yours.state != "new":
            return (0, [*order, header.id].index(header.id))
        level = [*LEVELS, header.level].index(header.level)
        return (1, header.torch and not able, bool(before(header)), level, header.minutes)

    if not left:
        return None
    header, yours = min(left, key=rank)
    if yours.given_up:
        reason = "given up: try it again without the solution"
    elif yours.state == "new":
        reason = f"new, {header.level}, {header.minutes} min: the easiest come first"
        if header.torch and not able:
            reason += "; it needs torch, which is not installed"
        if first := before(header):
            reason += f"; better after {' and '.join(first)}"
    else:
        part = f"part {yours.asked(header.parts)} of {header.parts}, " * (header.parts > 1)
        reason = f"{part}begun: {_begun(ctx, header)}"
    for other, theirs in left:
        if theirs.given_up and order[:1] == (other.id,) != (header.id,):
            reason += f"; {other.called} comes again last, as its solution was shown"
    return Suggested(header, reason, _folder(ctx, header))


def _folder(ctx: Context, header: Header) -> Path | None:
    """Where a question was started last, if that is a drill still."""
    for start in ctx.starts:
        if start.question == header.id and progress.counts(start.bank, str(header.bank), header.id):
            folder = Path(start.folder)
            return folder if open_quietly(folder) is not None else None
    return None


def _begun(ctx: Context, header: Header) -> str:
    """What was tried of the part that is asked now, and the last idea that was shown."""
    rows = tried(ctx, header.called)
    while any(row.on for row in rows):  # of parts before it
        rows.pop(0)
    tries = {row.attempt.sha256 for row in rows if row.attempt.is_try and row.attempt.verdict}
    if not tries:
        return "only the starter was graded" if rows and rows[-1].unchanged else "no try at it yet"
    idea = f"; last idea {rows[-1].ideas[0]}" if rows[-1].ideas else ""
    return quantity(len(tries), "try", "tries") + idea
