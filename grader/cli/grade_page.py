"""What `drill grade` puts on its page besides the report: the file, the time, the next commands."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from grader.cli.context import minutes_since
from grader.model.numerals import span
from grader.model.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from grader.app.grading import Graded
    from grader.reports.around import Around


def around(
    graded: Graded, *, full: bool = False, explain: bool = False, plain: bool = False
) -> Around:
    """Return what stands around the report of a grade."""
    from grader.reports.around import Around

    request = None
    if graded.next_part is not None:
        from grader.reports.question import requested

        request = requested(graded.choice.question, graded.next_part)
    return Around(
        file=near(graded.path),
        tries=graded.tries,
        time=_time_taken(graded),
        everything=f"drill grade{graded.again} --full",
        steps=_next_steps(graded, explained=explain or full),
        request=request,
        full=full,
        explain=explain,
        plain=plain,
    )


def near(path: Path) -> str:
    """Return a file as it is called from the current folder, where that is below or beside it."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):
        return str(path)
    return str(path) if relative.startswith(os.path.join("..", "..")) else relative


def _next_steps(graded: Graded, *, explained: bool) -> tuple[str, ...]:
    """Return what to type next, as the verdict has it: at most three commands."""
    from grader.forms import registry as forms

    choice, report = graded.choice, graded.report
    if choice.question.spec.then and report.checks:  # whatever was predicted
        return (f"drill start {choice.question.spec.then}{choice.option}",)
    if graded.next_part is not None:
        return (f"drill grade{graded.again}",)
    match report.verdict:
        case Verdict.PASS:
            asks = f"drill solution{choice.argument} --follow-ups"
            more = [asks] * bool(choice.question.spec.follow_ups)
            return (f"drill solution{choice.argument}", *more, f"drill next{choice.option}")
        case Verdict.INVALID:
            return (f"drill bank audit {choice.called}{choice.option}",)
        case Verdict.INTERNAL:
            return ()
    if not report.checks:  # it never got as far: no hint is about that
        return (f"drill grade{graded.again}",)
    failing = next((c for c in report.checks if c.failing and not c.stretch), None)
    steps = []
    form = forms.of(choice.question.spec)
    if failing is not None and not (form.is_text or form.apart):  # nothing to run there
        steps.append(f"drill case {shlex.quote(failing.failing[0])}{choice.argument}")
    if graded.hints_left:
        steps.append(f"drill hint{choice.argument}")
    if report.unchanged and not explained:
        steps.append(f"drill grade{graded.again} --explain")
    elif not graded.hints_left:
        steps.append(f"drill solution{choice.argument} --give-up")
    return tuple(steps)


def _time_taken(graded: Graded) -> str:
    """Return the time since the drill was started, and the time planned for it."""
    workspace = graded.choice.workspace
    minutes = minutes_since(workspace.started_at if workspace else "")
    if minutes is None:
        return ""
    parts = graded.choice.question.spec.parts[: graded.report.parts_passed]
    planned = sum(part.minutes for part in parts) or graded.choice.question.spec.minutes
    return f"{span(minutes)} ({planned} planned)"
