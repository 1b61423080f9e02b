"""What to do next, and why: a plain rule.

First what was begun and not passed, the one worked on last before the others; then what is new:
what asks for nothing that is still to be passed, the easiest level first and in it the shortest;
then what was given up, without the solution this time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.app import catalog, requirements, workspace
from grader.app.context import Context
from grader.app.history import Row, history
from grader.model.errors import DrillError
from grader.model.numerals import quantity
from grader.model.question import Header
from grader.records import progress
from grader.records.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

_LATEST = 20  # versions among which the last try is looked for


@dataclass(frozen=True, slots=True)
class Suggested:
    """A question, and why it is suggested."""

    header: Header
    reason: str
    folder: Path | None  # in which it was begun, if that is still there


def suggestions(ctx: Context) -> list[Suggested]:
    """Return the questions that are left, the one to do next first.

    Raises:
        UsageError: What `--bank` or DRILL_BANK names is no bank.
    """
    known = catalog.questions(ctx)
    starts = ctx.read(progress.starts, ())
    order = {name: n for n, name in enumerate(dict.fromkeys(ctx.read(progress.latest, ())))}
    able = requirements.torch_installed()
    begun: list[tuple[int, Suggested]] = []
    passed = {(header.bank, header.id) for header, yours in known if _is_done(header, yours)}
    there = {(header.bank, header.id) for header, _ in known}
    new: list[tuple[tuple[bool, bool, int, int], Suggested]] = []
    given_up: list[Suggested] = []
    for header, yours in known:
        if _is_done(header, yours):
            continue
        folder = _folder(header, starts)
        if yours.given_up:
            reason = "given up: try it again without the solution"
            given_up.append(Suggested(header, reason, folder))
        elif yours.state == "new":
            lacks = header.torch and not able
            reason = f"new, {header.level}, {header.minutes} min"
            reason += "; it needs torch, which is not installed" if lacks else ""
            asked = {(header.bank, name) for name in header.prerequisites}
            first = sorted(name for _, name in asked & there - passed)
            reason += f"; better after {' and '.join(first)}" if first else ""
            level = [*catalog.LEVELS, header.level].index(header.level)
            rank = (lacks, bool(first), level, header.minutes)
            new.append((rank, Suggested(header, reason, folder)))
        else:
            part = f"part {yours.asked(header.parts)} of {header.parts}, " * (header.parts > 1)
            reason = f"{part}begun: {_begun(ctx, header, yours)}"
            begun.append((order.get(header.id, len(order)), Suggested(header, reason, folder)))
    return [
        *(one for _, one in sorted(begun, key=lambda pair: pair[0])),
        *(one for _, one in sorted(new, key=lambda pair: pair[0])),
        *given_up,
    ]


def _is_done(header: Header, yours: Progress) -> bool:
    """Whether there is nothing left to do: a prediction counts once, right or wrong."""
    return yours.passed or (header.form == "predict" and yours.tries > 0)


def _folder(header: Header, starts: Sequence[progress.Start]) -> Path | None:
    """Where a question was started last, if that is a drill still."""
    for start in starts:
        if start.question == header.id and progress.counts(start.bank, str(header.bank), header.id):
            folder = Path(start.folder)
            return folder if workspace.open_quietly(folder) is not None else None
    return None


def _begun(ctx: Context, header: Header, yours: Progress) -> str:
    """How far it is: tries, and the last idea."""
    if not yours.tries:
        return "not graded yet"
    said = quantity(yours.tries, "try", "tries")
    try:
        rows: tuple[Row, ...] = history(ctx, header.called, most=_LATEST)[0]
    except DrillError:
        rows = ()
    tries = [row for row in rows if row.attempt.is_try]
    ideas = ", ".join(tries[-1].ideas) if tries else ""
    return f"{said}; last idea {ideas}" if ideas else said
