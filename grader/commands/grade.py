"""`drill grade`: resolve the drill, read the submission, judge it, record the report, show it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from grader import bank
from grader.commands import entrypoint, output
from grader.commands.context import Context, choose_seed, require_torch, torch_installed
from grader.commands.grade_target import (
    GradeTarget,
    confirm_prediction,
    read_submission,
    resolve_target,
    select_parts,
    why_not_counted,
)
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
from grader.commands.start import write_question_file
from grader.commands.workspaces import ResolvedDrill
from grader.model.errors import DrillError, UsageError
from grader.records import events
from grader.records.progress import NO_TRY_MARK, UNCHANGED_MARK, QuestionProgress
from grader.reports import text_layout

if TYPE_CHECKING:
    from grader.explain.session import GradingSession
    from grader.model.report import Report
    from grader.reports.grade import GradeContext
    from grader.sandbox.worker_pool import WorkerPool

EXIT_STATUS = {"pass": 0, "invalid": 3}  # any other verdict: 1
MAX_EARLIER_ATTEMPTS = 20  # searched for a verdict on the question as it is now


class GradeSettings(NamedTuple):
    """Callbacks and options of a grade.

    `confirm_answers` is called before the first grade of a prediction, a question with one try.  It
    gets the answers as they were read, and returns True if they may be graded.
    """

    show_step: Callable[[str], None] = lambda _step: None  # "grading, 7 of 19 checks"
    confirm_answers: Callable[[bytes], bool] = lambda _answers: True
    on_verdict: Callable[[Report], None] | None = None  # as soon as there is a verdict
    explain: bool = True  # match ideas for an unchanged starter, too
    session: GradingSession | None = None  # an open session of the question


class GradeResult(NamedTuple):
    """Result of a grade, with facts about the question from the records."""

    report: Report
    resolved_drill: ResolvedDrill
    path: Path  # of the file that was graded
    submission: bytes
    repeat_arguments: str  # that follow `drill grade` to grade this file again
    progress_before: QuestionProgress
    tries: int  # at the question with this one; 0: it does not count
    hints_left: bool  # whether the candidate may see another hint
    parts_asked_now: int  # the candidate sees no case of a later part
    unchanged_since: int = 0  # the part that this code passed, if it has not changed since
    next_part: int | None = None  # the part that is asked from now on, if it is a new one
    time_text: str = ""  # "31 of 45 minutes left", if an open interview asks the question
    is_after_interview: bool = False  # whether an interview is over and has no debrief yet
    interview: str = ""  # the command that continues the interview


class SealedError(UsageError):
    """A blind interview is open: the submission was recorded, and its verdict is hidden."""


class _Attempt(NamedTuple):
    """A grade that has begun: the file was read and recorded, but has no verdict yet."""

    target: GradeTarget
    submission: bytes
    id: int | None  # None: it could not be recorded
    progress_before: QuestionProgress
    parts_asked: int
    passed_file: bytes  # the first file that passed the parts passed so far; empty if none are
    is_proved: bool  # an earlier grade checked that the reference gives the same results twice


DEFAULT_SETTINGS = GradeSettings()


def grade_file(
    ctx: Context,
    target: str | GradeTarget | None = None,
    *,
    file: Path | None = None,
    seed: int | None = None,
    parts: str | None = None,
    settings: GradeSettings = DEFAULT_SETTINGS,
) -> GradeResult:
    """Grade a submission and record it.

    Args:
        ctx: The surroundings of the command.
        target: ID, BANK/ID, or the path of a drill's folder or of a file in it (default: the drill
            of the current folder).
        file: Grade this file instead; it does not count as an attempt.
        seed: Draws the inputs (default: a fresh one).
        parts: Numbers of the parts that count, such as "1,2" (default: all).
        settings: Callbacks and options.

    Raises:
        UsageError: The file or the drill cannot be found or read, the question needs torch and it
            is missing, or the answers to a prediction are not confirmed.
        SealedError: The grade is recorded, but a blind interview hides the verdict.
        BankError: The question is broken.
    """
    with ExitStack() as stack:
        pools: list[WorkerPool] = []
        if not isinstance(target, GradeTarget):
            start_workers = partial(_start_workers, stack, pools, settings.show_step)
            target = resolve_target(ctx, target, file, start_workers, seed)
        question = target.resolved_drill.question
        seed = choose_seed(question, seed)
        target, part_numbers = select_parts(target, parts)
        require_torch(question)
        from grader.explain.session import GradingSession
        from grader.grading.session import GradeOptions

        attempt = _begin_attempt(ctx, target, file, seed, settings.confirm_answers)
        session = settings.session
        if session is None:
            workers = pools[0] if pools else None
            session = stack.enter_context(
                GradingSession(
                    question, workers=workers, proved=attempt.is_proved, parts=part_numbers
                )
            )
        options = GradeOptions(
            progress=lambda done, checks: settings.show_step(f"grading, {done} of {checks} checks"),
            on_verdict=settings.on_verdict,
            explain_starter=settings.explain,
            passed_version=attempt.passed_file,
        )
        report = session.grade(
            attempt.submission, seed=seed, filename=target.path.name, options=options
        )
    return _finish_attempt(ctx, attempt, report)


def _start_workers(
    stack: ExitStack,
    pools: list[WorkerPool],
    show_step: Callable[[str], None],
    bank_path: Path,
    question_id: str,
) -> None:
    """Start the workers of a question, and append their pool to `pools`; `stack` will end them.

    They load numpy or torch while this process imports the rest of the grader.  If torch is missing
    or the question cannot be read, none are started: a later step reports that.
    """
    from grader.sandbox.worker_pool import WorkerPool

    try:
        header = bank.header([bank_path], question_id)
    except DrillError:
        return  # loading the question reports it
    show_step("loading torch" if header.torch else "loading numpy")
    if not header.torch or torch_installed():
        pools.append(stack.enter_context(WorkerPool(torch=header.torch)))


def _begin_attempt(
    ctx: Context,
    target: GradeTarget,
    file: Path | None,
    seed: int,
    confirm_answers: Callable[[bytes], bool],
) -> _Attempt:
    """Read the submission, confirm a prediction, and record that its grade has begun.

    Warn if the grade will not count as an attempt.  UsageError if the file cannot be read, or the
    prediction is not confirmed.
    """
    question = target.resolved_drill.question
    submission = read_submission(target)
    question_progress = ctx.progress(question)
    warning = why_not_counted(target, file, question_progress.tries)
    counts = warning is None
    confirm_prediction(target, submission, question_progress, confirm_answers, counts=counts)
    event = ctx.new_event(
        "begun" if counts else "review", question, seed=seed, path=str(target.path)
    )
    earlier = ctx.attempts(question, most=MAX_EARLIER_ATTEMPTS, digest=question.digest)
    attempt_id = ctx.write(lambda db: events.begin_attempt(db, event, submission), "this grade")
    if attempt_id is not None and warning:
        ctx.warn(*warning)
    # A candidate is asked one part after another; anybody else all of them.
    parts_asked = len(question.spec.parts)
    if attempt_id is not None and counts:
        parts_asked = question_progress.count_parts_asked(parts_asked)
    passed_file = b""
    sha256 = question_progress.passed_by
    if counts and sha256:
        passed_file = ctx.read(lambda db: events.stored_submission(db, sha256), b"")
    return _Attempt(
        target=target,
        submission=submission,
        id=attempt_id,
        progress_before=question_progress,
        parts_asked=parts_asked,
        passed_file=passed_file,
        is_proved=any(attempt.verdict in {"pass", "fail"} for attempt in earlier),
    )


def _finish_attempt(ctx: Context, attempt: _Attempt, report: Report) -> GradeResult:
    """Record a report and return the result; if a new part is asked now, add it to QUESTION.md.

    In an open interview the result has no ideas: its debrief shows them.  SealedError if the
    interview is blind.
    """
    from grader.commands import open_interview

    question = attempt.target.resolved_drill.question
    parts = len(question.spec.parts)
    before = attempt.progress_before
    unchanged_since = 0
    is_starter = question.is_starter(attempt.submission)
    if attempt.passed_file and report.unchanged and not is_starter:
        if report.parts_passed == before.parts:
            unchanged_since = before.parts
        report = replace(report, unchanged=False)
    if attempt.id is not None:
        _record_report(ctx, attempt, report, unchanged_since)
    time_text = _interview_time_left(ctx, attempt, report)
    if time_text:  # ideas are for the debrief
        report = replace(report, misconceptions=(), explanations=())
    next_part = max(attempt.parts_asked, min(report.parts_passed + 1, parts))
    is_new_part = next_part > attempt.parts_asked
    if is_new_part:
        write_question_file(ctx, attempt.target.path.parent, question, next_part)
    hints = [len(part.hints) for part in question.spec.parts[:next_part]]
    now = ctx.progress(question)
    return GradeResult(
        report=report,
        resolved_drill=attempt.target.resolved_drill,
        path=attempt.target.path,
        submission=attempt.submission,
        repeat_arguments=attempt.target.repeat_arguments,
        progress_before=before,
        # A version counts as a try once, however often it is graded.
        tries=now.tries if now.tries > before.tries else 0,
        hints_left=max(before.highest_hint, sum(hints[:-1])) < sum(hints),
        parts_asked_now=now.count_parts_asked(parts),
        unchanged_since=unchanged_since,
        next_part=next_part if is_new_part and report.parts_passed < next_part else None,
        time_text=time_text,
        is_after_interview=not open_interview.time_left_text(ctx)
        and open_interview.unclosed_interview(ctx) is not None,
        interview=ctx.interview(),
    )


def _record_report(ctx: Context, attempt: _Attempt, report: Report, unchanged_since: int) -> None:
    """Record a report, with the verdicts of the parts: "pass fail".

    A grade that is not a try has a mark in their place: NO_TRY_MARK for a file that is empty,
    unparsable or the starter, UNCHANGED_MARK for a file that has not changed since it passed parts.
    """
    from grader.reports.json import dumps

    is_unparsable = report.raised is not None and report.raised.is_unparsable_file
    recorded_report = report
    if unchanged_since:
        mark = UNCHANGED_MARK
        recorded_report = replace(report, misconceptions=(), explanations=())
    elif is_unparsable or report.unchanged or not attempt.submission.strip():
        mark = NO_TRY_MARK
    else:
        mark = " ".join(part.verdict for part in report.parts)
    event = ctx.new_event(
        "graded",
        attempt.target.resolved_drill.question,
        attempt=attempt.id,
        report=dumps(recorded_report),
        parts=mark,
        verdict=report.verdict,
        isolation=report.isolation,
        seconds=report.seconds,
    )
    ctx.record_event(event)


def _interview_time_left(ctx: Context, attempt: _Attempt, report: Report) -> str:
    """Return "31 of 45 minutes left", or "" if no open interview asks the question.

    SealedError if the interview is blind: its message tells only whether the file loads.
    """
    from grader.commands import open_interview

    drill, path, _ = attempt.target
    interview = open_interview.open_interview_of(ctx, drill.question, path)
    if interview is None:
        return ""
    time_text = interview.time_left_text(ctx.now())
    if interview.blind:
        from grader.reports.grade_sentences import file_problem

        state = file_problem(report) or ("It can be read." if drill.form.is_text else "It loads.")
        raise SealedError(
            f"{path.name} is received. {state}", "You will see the verdict in the debrief."
        )
    return time_text


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
    from grader.sandbox import config

    entrypoint.end_by_signals()
    context = command_context(ctx)
    require_page_path(html)
    config.choose_device(device)
    ask = partial(_confirm_answers, yes=yes, is_dialog=not json and output.is_dialog())
    try:
        with output.show_status() as show_step:
            graded = grade_file(
                context,
                question,
                file=file,
                seed=seed,
                parts=parts,
                settings=GradeSettings(show_step, ask, explain=explain or full or json),
            )
    except SealedError as sealed:
        _show_sealed(context, sealed, html, json=json)
        return 0
    if json:
        from grader.reports.json import dumps

        output.write(dumps(graded.report))
    if html or not json:
        page_context = grade_context(graded, context.now(), full=full, explain=explain)
        _show_grade(graded, page_context, html, json=json)
    return EXIT_STATUS.get(graded.report.verdict, 1)


def _confirm_answers(answers: bytes, *, yes: bool, is_dialog: bool) -> bool:
    """Return True if a prediction may be graded: `--yes`, or the user sees the answers and agrees.

    Without a dialog only `--yes` counts.
    """
    if yes or not is_dialog:
        return yes
    for line in answers.decode("utf-8", "replace").splitlines():
        if line.partition("#")[0].strip():
            output.info(f"    {line}")
    return output.confirm("Only the first grade of a prediction counts. Grade this one?")


def _show_sealed(context: Context, sealed: SealedError, html: Path | None, *, json: bool) -> None:
    """Show that a submission was received in a blind interview."""
    from grader.commands import open_interview

    if output.emit_json(json, sealed=True, message=sealed.message):
        return
    text = f"{sealed.message} {sealed.hint} {open_interview.time_left_text(context)}."
    if html is not None:
        text += f" {html} is not written before the end."
    output.write_lines(text_layout.wrap_words(text, output.text_width()))


def _show_grade(
    graded: GradeResult, page_context: GradeContext, html: Path | None, *, json: bool
) -> None:
    """Show the page of a grade unless `json`, and write it to `html` if that is given."""
    from grader.reports.grade import grade_page

    blocks = grade_page(graded.report, page_context)
    if not json:
        output.show_page(blocks, rows=page_context.rows)
    if html is not None:
        from grader.bank.bank_files import write_atomically
        from grader.reports.html import standalone_page

        write_atomically(html, standalone_page(graded.report.title, blocks))
        output.info(f"the page is in {html}")


def grade_context(
    graded: GradeResult, now: str, *, full: bool = False, explain: bool = False
) -> GradeContext:
    """Return what a grade's page shows besides the report: file, tries, time, next commands.

    `now` is the time in UTC, ISO 8601.  `full` shows everything, and `explain` also explains a file
    that has not changed.
    """
    from grader.reports.grade import GradeContext, derivation_blocks
    from grader.reports.question import part_request_blocks

    question = graded.resolved_drill.question
    next_part = graded.next_part
    first_action = ""
    if not graded.is_after_interview and (next_part or _needs_edit(graded.report)):
        first_action = f"edit {graded.path.name}, then"
    news: tuple[str, ...] = ()
    if graded.is_after_interview:
        news = ("The interview is over, and its debrief is there.",)
    file = os.path.relpath(graded.path)
    if file.startswith(os.path.join("..", "..")):  # not in or next to the current folder
        file = str(graded.path)
    return GradeContext(
        file=file,
        tries=graded.tries,
        time=_time_text(graded, now),
        full_command=f"drill grade{graded.repeat_arguments} --full",
        first_action=first_action,
        steps=_next_steps(graded, explained=explain or full),
        unchanged_since=graded.unchanged_since,
        asked_part=next_part or 0,
        request=part_request_blocks(question, next_part) if next_part else (),
        answer_blocks=derivation_blocks(question, graded.report, graded.submission),
        full=full,
        explain=explain,
        was_passed_before=graded.progress_before.passed_in_sitting,
        clock=graded.time_text,
        is_complete=not graded.time_text,  # an interview shows ideas at its end
        news=news,
    )


def _needs_edit(report: Report) -> bool:
    """Return True if the file failed before the checks: it raises, or lacks a function."""
    was_tried = any(check.failing for check in report.checks if not check.stretch)
    return report.verdict == "error" and bool(report.message) and not was_tried


def _time_text(graded: GradeResult, now: str) -> str:
    """Return a text such as "14 minutes (15 planned), after giving up".

    The minutes run from the start of the sitting to `now`; 15 are planned for the parts that pass,
    or for all parts if none passes.  Both numbers are left out if the question passed earlier in
    this sitting, or the drill has no folder.
    """
    from grader.model.number_format import format_minutes

    spec = graded.resolved_drill.question.spec
    workspace = graded.resolved_drill.workspace
    before = graded.progress_before
    texts = []
    if not before.passed_in_sitting and workspace is not None:  # the clock stops with a pass
        began = before.moments[0] if before.moments else workspace.started_at
        passed = datetime.fromisoformat(now) - datetime.fromisoformat(began)
        minutes = format_minutes(passed.total_seconds() / 60)
        planned = sum(part.minutes for part in spec.parts[: graded.report.parts_passed])
        texts.append(f"{minutes} ({planned or spec.minutes} planned)")
    if before.given_up:
        texts.append("after giving up")
    return ", ".join(texts)


def _next_steps(graded: GradeResult, *, explained: bool) -> tuple[str, ...]:
    """Return the commands to type next, at most three."""
    from grader.model.report import Verdict  # only a grade needs it

    drill = graded.resolved_drill
    report = graded.report
    verdict = report.verdict
    spec = drill.question.spec
    solution = f"drill solution{drill.drill_argument}"
    discuss: tuple[str, ...] = ()
    if verdict is Verdict.PASS and spec.follow_ups:
        discuss = (f"drill discuss{drill.drill_argument}",)
    if spec.then and report.checks:  # even if the prediction is wrong
        return (*discuss, f"drill start {spec.then}{drill.bank_option}")
    if graded.is_after_interview or (graded.time_text and verdict is Verdict.PASS):
        return (graded.interview,)
    grade_again = f"drill grade{graded.repeat_arguments}"
    if graded.next_part is not None:
        return (grade_again,)
    if verdict is Verdict.PASS:
        return (solution, *discuss, f"drill next{drill.bank_option}")
    if verdict is Verdict.INVALID:
        return (f"drill bank audit {drill.typed_name}{drill.bank_option}",)
    if not report.checks:  # it failed before the checks: no hint is about that
        return (grade_again,)
    needs_edit = _needs_edit(report)
    steps = [grade_again] if needs_edit else []
    steps += _case_commands(graded)
    if graded.hints_left:
        steps.append(f"drill hint{drill.drill_argument}")
    is_shortened = report.unchanged or (graded.unchanged_since and not report.message)
    if is_shortened and not explained and not graded.time_text:
        steps.append(f"{grade_again} --explain")
    elif not (graded.hints_left or needs_edit):
        if not graded.progress_before.passed_in_sitting:
            solution += " --give-up"
        steps.append(solution)
    return tuple(steps)


def _case_commands(graded: GradeResult) -> list[str]:
    """Return `drill case NAME` for the first failing case, as the only entry of a list.

    The list is empty if no case failed, if no script can call the submission, or if the part of the
    failing check is not asked yet.
    """
    drill = graded.resolved_drill
    if drill.form.is_text or drill.form.runs_in_two_processes:
        return []
    for check in graded.report.checks:
        if check.stretch or not check.failing:
            continue
        if check.part > graded.parts_asked_now:
            return []
        command = f"drill case {shlex.quote(check.failing[0])}{drill.drill_argument}"
        if check.raised is not None and check.raised.type.endswith("BdbQuit"):
            command += " --debug"
        return [command]
    return []
