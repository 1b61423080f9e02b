"""What is said of the files that a class handed in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.app.context import Context
from grader.classroom.submissions import SHOWN, Submissions
from grader.model.errors import UsageError
from grader.model.numerals import quantity
from grader.reports.inert import inert


def say_found(
    ctx: Context, root: Path, asked: Sequence[str], submissions: Submissions, count: int
) -> None:
    """Say how files are laid out, which are nobody's answer, and from whom there is none.

    Raises:
        UsageError: No file is an answer.
    """
    layout, unused = submissions.layout, submissions.unused
    count -= len(unused.lacking)
    if not count:
        like = " or ".join(f"STUDENT/{one}.py" for one in asked)
        if layout.looks_like != "STUDENT/QUESTION.py":
            like = f"{layout.looks_like} ({layout.name})"
        found = str(unused) or (quantity(unused.others, "other file") if unused.others else "none")
        raise UsageError(
            f"{root}: expected files like {like}, found {found}",
            hint="--layout or --pattern says how they are named",
        )
    ctx.say(f"{root}: {quantity(count, 'answer')} like {layout.looks_like} ({layout.name})", "")
    if unused.programs:
        ctx.say(f"{root}: {unused}", "")
    if without := list(dict.fromkeys(unused.lacking)):
        more = f" and {len(without) - SHOWN:,} more" if len(without) > SHOWN else ""
        listed = ", ".join(inert(one, 60) for one in without[:SHOWN])
        ctx.say(f"{root}: no answer from {quantity(len(without), 'student')}: {listed}{more}", "")
