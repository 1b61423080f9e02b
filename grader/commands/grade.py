"""`drill grade`."""

from __future__ import annotations

import os
import shlex
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands import entrypoint, output
from grader.commands.options import (
    JsonOption,
    Seed,
    argument,
    command_context,
    flag,
    ids,
    option,
    require_page_path,
)
from grader.reports import text_layout

if TYPE_CHECKING:
    from grader.commands.grading import GradeResult
    from grader.model.report import Report
    from grader.reports.grade import GradeContext

EXIT_STATUS = {"pass": 0, "invalid": 3}  # any other verdict: 1


def grade(
    ctx: typer.Context,
    question: Annotated[
        str | None,
        argument("ID|PATH", "Question, folder or file (default: this folder).", autocompletion=ids),
    ] = None,
    file: Annotated[Path | None, option("PATH", "Grade this file; not counted as a try.")] = None,
    seed: Seed = None,
    parts: Annotated[str | None, option("N,N", "Parts that count (default: all).")] = None,
    device: Annotated[
        str, option("WHERE", "Measure what needs a GPU on auto, cpu or cuda.")
    ] = "auto",
    full: Annotated[bool, flag("--full", "Print everything that was found, however long.")] = False,
    explain: Annotated[
        bool, flag("--explain", "Explain a file that you have not edited, too.")
    ] = False,
    html: Annotated[Path | None, option("FILE", "Write a page with pictures, too.")] = None,
    yes: Annotated[bool, flag("--yes", "Do not ask before grading a prediction.")] = False,
    json: JsonOption = False,
) -> int:
    """Grade your file. Exit status: 0 pass, 1 fail."""
    from grader.commands import grading, interviews

    entrypoint.end_by_signals()
    here = command_context(ctx)
    require_page_path(html)

    def agreed(answers: bytes) -> bool:
        if yes or json or not output.is_dialog():
            return yes
        for line in answers.decode("utf-8", "replace").splitlines():
            if line.partition("#")[0].strip():
                output.info(f"    {line}")
        return output.confirm("Only the first grade of a prediction counts. Grade this one?")

    try:
        with output.show_status() as doing:
            graded = grading.grade_file(
                here, question, file=file, seed=seed, parts=parts, device=device,
                explain=explain or full or json, doing=doing, agreed=agreed,
            )  # fmt: skip
    except grading.SealedError as sealed:
        if not output.emit_json(json, sealed=True, message=sealed.message):
            said = f"{sealed.message} {sealed.hint} {interviews.time_left_text(here)}."
            said += f" {html} is not written before the end." * (html is not None)
            output.write_lines(text_layout.wrap_words(said, output.text_width()))
        return 0
    report = graded.report
    if json:
        from grader.reports.json import dumps

        output.write(dumps(report))
    if html or not json:
        from grader.reports.grade import grade_page

        around = grade_context(graded, here.now(), full=full, explain=explain)
        blocks = grade_page(report, around)
        if not json:
            output.show_page(blocks, rows=around.rows)
        if html:
            from grader.bank.bank_files import write_atomically
            from grader.reports.html import standalone_page

            write_atomically(html, standalone_page(report.title, blocks))
            output.info(f"the page is in {html}")
    return EXIT_STATUS.get(report.verdict, 1)


def grade_context(
    graded: GradeResult, now: str, *, full: bool = False, explain: bool = False
) -> GradeContext:
    """Return what the page of a grade says besides its report."""
    from grader.reports.grade import GradeContext, derivation_blocks
    from grader.reports.question import part_request_blocks

    new, asked = graded.next_part, graded.resolved_drill.question
    is_edited_first = not graded.is_after_interview and (
        new is not None or _needs_edit(graded.report)
    )
    return GradeContext(
        file=_near(graded.path),
        tries=graded.tries,
        time=", ".join(
            filter(
                None,
                [_time_taken(graded, now), "after giving up" * graded.progress_before.given_up],
            )
        ),
        full_command=f"drill grade{graded.repeat_arguments} --full",
        first_action=f"edit {graded.path.name}, then" if is_edited_first else "",
        steps=_next_steps(graded, explained=explain or full),
        unchanged_since=graded.unchanged_since,
        asked_part=new or 0,
        request=() if new is None else part_request_blocks(asked, new),
        answer_blocks=derivation_blocks(asked, graded.report, graded.submission),
        full=full,
        explain=explain,
        was_passed_before=graded.progress_before.passed_in_sitting,
        clock=graded.time_text,
        is_complete=not graded.time_text,  # an interview keeps ideas for its end
        news=("The interview is over, and its debrief is there.",) * graded.is_after_interview,
    )


def _needs_edit(report: Report) -> bool:
    """Return True if a file cannot be judged as it is: it raises, or lacks a function."""
    tried = any(check.failing for check in report.checks if not check.stretch)
    return report.verdict == "error" and bool(report.message) and not tried


def _near(path: Path) -> str:
    """Return a file as it is called from the current folder, where that is below or beside it."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith(os.path.join("..", "..")) else relative


def _time_taken(graded: GradeResult, now: str) -> str:
    """Return the time since the sitting began, and the time planned for it."""
    from grader.model.number_format import format_minutes

    spec = graded.resolved_drill.question.spec
    workspace = graded.resolved_drill.workspace
    if graded.progress_before.passed_in_sitting or workspace is None:  # the clock stops with a pass
        return ""
    began = next(iter(graded.progress_before.moments), workspace.started_at)
    took = datetime.fromisoformat(now) - datetime.fromisoformat(began)
    planned = sum(part.minutes for part in spec.parts[: graded.report.parts_passed])
    return f"{format_minutes(took.total_seconds() / 60)} ({planned or spec.minutes} planned)"


def _next_steps(graded: GradeResult, *, explained: bool) -> tuple[str, ...]:
    """Return what to type next, as the verdict has it: at most three commands."""
    from grader import forms
    from grader.model.report import Verdict  # which nothing but a grade needs

    choice = graded.resolved_drill
    report = graded.report
    spec = choice.question.spec
    again = f"drill grade{graded.repeat_arguments}"
    solution = f"drill solution{choice.drill_argument}"
    asks_more = report.verdict is Verdict.PASS and bool(spec.follow_ups)
    further = [f"drill discuss{choice.drill_argument}"] * asks_more
    if spec.then and report.checks:  # whatever was predicted
        return (*further, f"drill start {spec.then}{choice.bank_option}")
    if graded.is_after_interview or (graded.time_text and report.verdict is Verdict.PASS):
        return (graded.interview,)
    if graded.next_part is not None:
        return (again,)
    match report.verdict:
        case Verdict.PASS:
            return (solution, *further, f"drill next{choice.bank_option}")
        case Verdict.INVALID:
            return (f"drill bank audit {choice.typed_name}{choice.bank_option}",)
    if not report.checks:  # it never got as far: no hint is about that
        return (again,)
    failing = next((c for c in report.checks if c.failing and not c.stretch), None)
    edits = _needs_edit(report)
    steps = [again] * edits
    form = forms.form_of(spec)
    can_run = not (form.is_text or form.runs_in_two_processes)
    if failing and can_run and failing.part <= graded.parts_asked_now:
        debug = failing.raised is not None and failing.raised.type.endswith("BdbQuit")
        case = f"drill case {shlex.quote(failing.failing[0])}{choice.drill_argument}"
        steps.append(case + " --debug" * debug)
    if graded.hints_left:
        steps.append(f"drill hint{choice.drill_argument}")
    kept_back = report.unchanged or (graded.unchanged_since and not report.message)
    if kept_back and not explained and not graded.time_text:
        steps.append(f"{again} --explain")
    elif not (graded.hints_left or edits):
        steps.append(solution + " --give-up" * (not graded.progress_before.passed_in_sitting))
    return tuple(steps)
