"""What is said of the files that a class handed in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.app.context import Context
from grader.classroom.submissions import Submissions
from grader.model.errors import UsageError
from grader.model.numerals import quantity


def say_found(
    ctx: Context, root: Path, asked: Sequence[str], submissions: Submissions, count: int
) -> None:
    """Say how files are laid out, and which are nobody's answer.

    Raises:
        UsageError: No file is an answer.
    """
    layout, unused = submissions.layout, submissions.unused
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
