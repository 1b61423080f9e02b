"""`drill interview`: questions against the clock, alone or with an interviewer.

All that is stored of an interview is its events in the records (ADR 33): if the program is killed,
the next command continues the interview.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from grader import bank
from grader.commands import output
from grader.commands.context import Context, require_torch, torch_installed
from grader.commands.debrief import make_debrief, show_debrief
from grader.commands.open_interview import (
    CandidateOption,
    candidate_context,
    end_interview,
    record_interview_event,
    require_unclosed,
    time_left_text,
    unclosed_interview,
)
from grader.commands.options import (
    JsonOption,
    LevelOption,
    RoleOption,
    TrackOption,
    argument,
    flag,
    ids,
    option,
)
from grader.commands.workspaces import (
    ResolvedDrill,
    enclosing_workspace,
    read_workspace,
    resolve_drill,
)
from grader.model.errors import UsageError
from grader.model.number_format import format_count
from grader.model.question import Header, Question
from grader.records import interviews
from grader.records.interviews import Interview, InterviewEntry, InterviewQuestion

if TYPE_CHECKING:
    from grader.commands.list_and_next import QuestionStatus
    from grader.reports.blocks import Block

_DEFAULT_MINUTES = 45
_MIN_FILL = 0.8  # questions fill an interview if they take this share of its minutes
_MARKS = {"4", "3", "2", "1"}
_STATES = ("new", "due", "later")  # of questions that may be chosen, the preferred one first
_by_minutes = attrgetter("minutes")

NextStep: TypeAlias = int | InterviewQuestion  # a part of the current question, or a new question
TextArgument = Annotated[str, argument("TEXT", "One sentence or more.")]


def begin_interview(
    ctx: Context,
    question_ids: Sequence[str],
    fit: Sequence[str | None] = (),
    *,
    minutes: int = _DEFAULT_MINUTES,
    blind: bool = False,
    candidate: str = "",
) -> Interview:
    """Record an interview and create the folder of its first question, which is not asked yet.

    It has the named questions, or else a choice that fills the time: `fit` is their track, level
    and role, each None for any.  UsageError, and no interview, if no question fits or one cannot be
    started in its folder.
    """
    import json

    headers = [bank.header(ctx.banks(), name) for name in dict.fromkeys(question_ids)]
    around = enclosing_workspace(ctx.current_folder())
    folder = (around.folder.parent if around else ctx.current_folder()) / candidate
    seed = len(ctx.store.read(interviews.all_interviews, empty=[]))
    if not headers:
        startable = _startable_questions(ctx, folder, fit, seed)
        # If no question fits, take the shortest of those whose average part fits.
        partly = [s.header for s in startable if s.header.minutes <= minutes * s.header.parts]
        headers = _fill_time(startable, minutes) or sorted(partly, key=_by_minutes)[:1]
    if not headers:
        raise UsageError(
            f"no question of that kind fits {minutes} minutes and is not begun",
            f"{ctx.interview('ID')} asks the questions that you name",
        )
    questions = [_check_question(ctx, header, folder) for header in headers]
    _start_question(ctx, questions[0], folder)  # before the event, because it may fail
    detail = {
        "minutes": minutes,
        "questions": questions,
        "blind": blind,
        "candidate": candidate,
        "folder": str(folder),
        "fit": fit,
    }
    record_interview_event(ctx, "interview", detail=json.dumps(detail))
    return _latest(ctx)


def _startable_questions(
    ctx: Context, folder: Path, fit: Sequence[str | None], seed: int
) -> list[QuestionStatus]:
    """Return the questions that can be started in a folder, shuffled by `seed`.

    They are new or finished, run without torch if it is missing, and are of the track, level and
    role in `fit`.
    """
    from random import Random

    from grader.commands.list_and_next import QuestionFilter, list_questions
    from grader.commands.start import is_workspace_of

    track, level, role = fit or (None, None, None)
    startable = []
    for status in list_questions(ctx, QuestionFilter(track, level, role)):
        header = status.header
        question_folder = folder / header.id
        if workspace := read_workspace(question_folder):
            is_free = is_workspace_of(ctx, workspace, header)
        else:
            is_free = not os.path.lexists(question_folder)
        can_run = torch_installed() or not header.torch
        if is_free and status.practice_state in _STATES and can_run:
            startable.append(status)
    Random(seed).shuffle(startable)
    return startable


def _fill_time(startable: Sequence[QuestionStatus], minutes: int) -> list[Header]:
    """Choose a set of questions that take at most `minutes`; return it, the shortest first.

    A set fills the time if it takes at least 80 % of it.  Due questions are tried only if new ones
    cannot fill the time, and questions in the state `later` only if new and due ones cannot.  Among
    sets that fill the time (or, if there are none, among all), the one with the best `_quality`
    wins; of equally good ones the longest.  The list is empty if no question fits.
    """
    min_minutes = _MIN_FILL * minutes
    best_sets: dict[int, tuple[Header, ...]] = {0: ()}  # the best set of each sum of minutes
    for state in _STATES:
        if max(best_sets) >= min_minutes:
            break
        for header in [status.header for status in startable if status.practice_state == state]:
            for total, headers in list(best_sets.items()):
                longer_total = total + header.minutes
                longer_set = (*headers, header)
                best_quality = _quality(best_sets.get(longer_total, ()))
                if longer_total <= minutes and _quality(longer_set) > best_quality:
                    best_sets[longer_total] = longer_set

    def rank(total: int) -> tuple[bool, tuple[int, ...], int]:
        return total >= min_minutes, _quality(best_sets[total]), total

    return sorted(best_sets[max(best_sets, key=rank)], key=_by_minutes)


def _quality(headers: Sequence[Header]) -> tuple[int, ...]:
    """Return a sort key of a set of questions, highest for the best.

    The best set has the most questions that ask for code; of several, the one with the most forms
    of questions, then with the fewest questions, then with the most tracks.
    """
    from grader import forms

    code_questions = sum(not forms.form_of(header).is_text for header in headers)
    form_count = len({header.form for header in headers})
    track_count = len({header.track for header in headers})
    return code_questions, form_count, -len(headers), track_count


def _check_question(ctx: Context, header: Header, folder: Path) -> InterviewQuestion:
    """Return a question as an interview records it.

    UsageError if it needs torch and torch is missing, or if its place in `folder` is taken.
    """
    from grader.commands.start import existing_workspace

    question = ctx.load(header.called)
    require_torch(question)
    existing_workspace(ctx, header.called, question, folder / question.id)
    minutes = tuple(part.minutes for part in question.spec.parts)
    return InterviewQuestion(header.called, header.id, str(header.bank), header.title, minutes)


def _start_question(ctx: Context, planned: InterviewQuestion, folder: Path) -> Question:
    """Start a question, or start it over if it is finished, and return it."""
    from grader.commands.start import start_again, start_drill

    is_finished = ctx.progress(ctx.load(planned.called)).is_finished
    start = start_again if is_finished else start_drill
    return start(ctx, planned.called, parent=folder).question


def current_drill(ctx: Context, interview: Interview) -> ResolvedDrill | None:
    """Return the drill of the current question; None if the last planned one is finished.

    If no question is asked yet, or the current one is finished, ask the next planned one first.
    """
    if interview.asked:
        drill = resolve_drill(ctx, interview.questions[interview.current_index].called)
        if not ctx.progress(drill.question).is_finished:
            return drill
    planned = interview.questions[interview.current_index + 1 :]
    return ask_next(ctx, interview, planned[0]) if planned else None


def next_step(ctx: Context, interview: Interview) -> NextStep | None:
    """Return the next part of a blind interview, or else the next question.

    An interview that is not blind needs no step to the next part: a pass asks it.  After the last
    planned question, choose another one that fits the minutes left; None if no question fits.
    """
    if interview.blind and interview.asked:
        part = interview.asked[-1].part + 1
        if part <= len(interview.questions[interview.current_index].minutes):
            return part
    planned = interview.questions[interview.current_index + 1 :]
    if planned:
        return planned[0]
    planned_ids = {question.id for question in interview.questions}
    folder = Path(interview.folder)
    startable = _startable_questions(ctx, folder, interview.fit, interview.number)
    others = [status for status in startable if status.header.id not in planned_ids]
    headers = _fill_time(others, int(interview.minutes_left(ctx.now())))
    return _check_question(ctx, headers[0], folder) if headers else None


def ask_next(ctx: Context, interview: Interview, step: NextStep) -> ResolvedDrill:
    """Ask a part (write it into QUESTION.md) or a question (start it), and return its drill.

    Note in the records and in `interview` that it was asked.
    """
    import json

    unplanned = None
    if isinstance(step, int):
        from grader.commands.start import write_question_file

        part = step
        called = interview.questions[interview.current_index].called
        question = ctx.load(called)
        folder = resolve_drill(ctx, called).require_workspace().folder
        write_question_file(ctx, folder, question, part)
    else:
        called = step.called
        question = _start_question(ctx, step, Path(interview.folder))
        part = ctx.parts_asked(question)
        if step not in interview.questions:
            unplanned = json.dumps(step)
            interview.questions.append(step)
    asked_at = record_interview_event(
        ctx, "asked", question.id, str(question.bank), parts=str(part), detail=unplanned
    )
    interview.asked.append(InterviewEntry(question.id, part, asked_at))
    return resolve_drill(ctx, called)


def record_note(ctx: Context, text: str) -> None:
    """Record a note on the part asked last; UsageError if no interview is open."""
    interview = require_unclosed(ctx)
    last = interview.asked[-1] if interview.asked else InterviewEntry("", 1, interview.at)
    record_interview_event(ctx, "noted", last.question, parts=str(last.part), detail=text)


def record_mark(ctx: Context, text: str, question_id: str | None = None, part: int = 0) -> str:
    """Record a mark and a note, such as "3 slow, but right"; return what was marked.

    That is a question of the latest interview (default: the last one asked), or one of its parts if
    `part` is not 0: "part 2 of ID".
    """
    interview = _latest(ctx)
    asked_ids = [entry.question for entry in interview.asked]
    name = question_id or (asked_ids[-1] if asked_ids else "")
    if name not in asked_ids:
        raise UsageError(f"interview {interview.number} did not ask {name or 'anything'}")
    (question, *_) = [planned for planned in interview.questions if planned.id == name]
    parts = len(question.minutes)
    if part > parts:
        raise UsageError(f"--part: expected a number from 1 to {parts}, found {part}")
    if text[:1] not in _MARKS or text[1:2].strip():
        raise UsageError("expected a mark from 4 to 1, and after a blank a note")
    record_interview_event(ctx, "marked", name, parts=str(part), detail=text)
    return f"part {part} of {name}" if part else name


def _latest(ctx: Context) -> Interview:
    """Return the latest interview, open or not; UsageError before the first one."""
    interview = ctx.store.read(interviews.latest_interview, empty=None)
    if interview is None:
        raise UsageError("there is no interview yet", hint=f"Next: {ctx.interview()}")
    return interview


def begin(
    ctx: typer.Context,
    questions: Annotated[
        list[str] | None,
        argument("ID...", "Questions (default: some that fill the time).", autocompletion=ids),
    ] = None,
    minutes: Annotated[int | None, option("MIN", "Length (default 45).", min=5, max=480)] = None,
    track: TrackOption = None,
    role: RoleOption = None,
    level: LevelOption = None,
    blind: Annotated[bool, flag("--blind", "No verdict before the end.")] = False,
    candidate: CandidateOption = "",
    json: JsonOption = False,
) -> None:
    """Begin (--minutes, --candidate, --blind) or continue: the default."""
    context = candidate_context(ctx, candidate, begins=True)
    fit = (track, level, role)
    if questions and any(fit):
        raise UsageError("expected questions by ID, or --track, --role or --level; found both")
    interview = unclosed_interview(context)
    if interview is None:
        interview = begin_interview(
            context,
            questions or (),
            fit,
            minutes=minutes or _DEFAULT_MINUTES,
            blind=blind,
            candidate=candidate,
        )
    elif not (left := interview.time_left_text(context.now())):
        show_debrief(make_debrief(context), context, json=json)
        return
    elif questions or minutes or any(fit) or blind:
        raise UsageError(
            f"an interview is open, {left}, and continues as it began",
            hint=f"Next: {context.interview('end')}",
        )
    _ask(ctx, context, interview, current_drill(context, interview), json=json)


def next_(ctx: typer.Context, candidate: CandidateOption = "", json: JsonOption = False) -> None:
    """Continue with the next part or question."""
    context = candidate_context(ctx, candidate)
    interview = require_unclosed(context)
    step = next_step(context, interview) if time_left_text(context) else None
    drill = ask_next(context, interview, step) if step else None
    _ask(ctx, context, interview, drill, json=json)


def end(ctx: typer.Context, candidate: CandidateOption = "", json: JsonOption = False) -> None:
    """End the interview, and show the debrief."""
    context = candidate_context(ctx, candidate)
    left = time_left_text(context)
    must_confirm = left and not json and output.is_dialog()
    if must_confirm and not output.confirm(f"End it with {left}?"):
        return
    end_interview(context)
    show_debrief(make_debrief(context), context, json=json)


def note(
    ctx: typer.Context,
    text: TextArgument,
    candidate: CandidateOption = "",
    json: JsonOption = False,
) -> None:
    """Take a note on the part that is asked now."""
    record_note(candidate_context(ctx, candidate), text)
    if not output.emit_json(json, noted=len(text)):
        output.write(f"noted, {format_count(len(text), 'character')}")


def mark(
    ctx: typer.Context,
    mark: Annotated[str, argument("MARK", "4 (best) to 1, as in the interviewer's guide.")],
    text: Annotated[str, argument("TEXT", "A note.")] = "",
    question: Annotated[str | None, option("ID", "Default: the last one asked.")] = None,
    part: Annotated[int | None, option("N", "Mark one part.", min=1)] = None,
    candidate: CandidateOption = "",
    json: JsonOption = False,
) -> None:
    """Mark a question, from 4 to 1; the last mark counts."""
    context = candidate_context(ctx, candidate)
    name = record_mark(context, f"{mark} {text}", question, part or 0)
    if not output.emit_json(json, mark=int(mark)):
        output.write(f"marked {name}")


def decide(
    ctx: typer.Context,
    text: TextArgument,
    candidate: CandidateOption = "",
    json: JsonOption = False,
) -> None:
    """Record a decision on the last interview, open or not."""
    context = candidate_context(ctx, candidate)
    _latest(context)
    record_interview_event(context, "decided", detail=text)
    if not output.emit_json(json, decision=text):
        output.write("the decision is recorded, and the debrief shows it")


def list_(ctx: typer.Context, candidate: CandidateOption = "", json: JsonOption = False) -> None:
    """List the interviews on record."""
    context = candidate_context(ctx, candidate)
    recorded = context.read(interviews.all_interviews, [])
    if output.emit_json(json, interviews=[asdict(interview) for interview in recorded]):
        return
    if not recorded:
        others = "" if candidate else "; those of a candidate: --candidate NAME"
        output.write_next_steps(context.interview(), after=f"no interview on record{others}")
        return
    rows = []
    for interview in recorded:
        names = ", ".join(question.id for question in interview.questions)
        rows.append((str(interview.number), interview.at[:10], names, interview.decision))
    output.write_table(("no.", "date", "questions", "decision"), rows, long="questions")
    output.write_next_steps(context.interview("debrief"))


def _ask(
    ctx: typer.Context,
    context: Context,
    interview: Interview,
    drill: ResolvedDrill | None,
    *,
    json: bool,
) -> None:
    """Ask questions on the whole screen until the person leaves, then show what to do next.

    Without a screen, or with `json`, show only the current question.  `drill` is None after the
    last one.  If the time is over, show the debrief, unless a candidate may see the screen.
    """
    if not json:
        drill = _ask_on_screen(ctx, context, interview, drill)
    left = time_left_text(context)
    if json:
        _write_state_as_json(interview, drill, left)
    elif not left and interview.candidate:  # the candidate may see the screen
        output.write_next_steps(context.interview("debrief"), after="The interview is over.")
    elif not left:
        show_debrief(make_debrief(context), context, json=False)
    elif drill is None:
        command = context.interview("end")
        text = f"That was the last question; {left}."
        if step := next_step(context, interview):
            text = f"{text} You can {_step_text(step)}, or end it: {command}."
            command = context.interview("next")
        output.write_next_steps(command, after=text)
    elif output.can_redraw():
        output.write_next_steps(
            context.interview(),
            context.interview("end"),
            after=f"{left}, and the clock is running.",
        )
    else:
        output.show_page(_question_blocks(context, interview, drill), rows=output.rows())
        folder = context.cd_prefix(drill.require_workspace().folder)
        candidate = ""
        if interview.candidate:
            candidate = f"DRILL_CANDIDATE={shlex.quote(interview.candidate)} "
        output.write_next_steps(
            f"{folder}{candidate}drill grade",
            f"{candidate}drill hint",
            context.interview("next"),
        )


def _ask_on_screen(
    ctx: typer.Context, context: Context, interview: Interview, drill: ResolvedDrill | None
) -> ResolvedDrill | None:
    """Ask questions on the whole screen until the person leaves; return the last one.

    If the person goes on and nothing is left to ask, end the interview.  Return `drill` at once if
    there is no screen.
    """
    from grader.commands.watch import watch_drill
    from grader.commands.watch_screen import InterviewControls

    confirmed_steps: list[NextStep | None] = []

    def leave_question(question: Question) -> str:
        step = next_step(context, interview)
        confirmed_steps.append(step)
        name = question.id
        parts = len(question.spec.parts)
        progress = context.progress(question)
        if parts > 1 and not progress.is_finished:
            name = f"part {progress.count_parts_asked(parts)} of {name}"
        return f"Leave {name} and {_step_text(step)}?\n{time_left_text(context)}."

    text_keys: dict[str, tuple[str, Callable[[str], object]]] = {}
    case_key = () if interview.blind else ("c case",)
    keys = ("n go on", "h hint", *case_key, "p question", "d diff", "e edit", "q leave")
    if interview.candidate:
        keys = ("g go on", "n note", "m mark", "h hint", "p question", "d diff", "q leave")
        text_keys["n"] = ("note", partial(record_note, context))
        text_keys["m"] = ("mark from 4 to 1, then a note", partial(record_mark, context))
    while drill and output.can_redraw():
        with output.capture_output() as text:
            output.show_page(_question_blocks(context, interview, drill), rows=output.rows())
        controls = InterviewControls(
            asked=text.getvalue(),
            keys=keys,
            time_left=partial(time_left_text, context),
            leave_question=partial(leave_question, drill.question),
            text_keys=text_keys,
        )
        if not watch_drill(ctx, drill.typed_name, controls):
            break
        step = confirmed_steps[-1]
        if step is None:
            end_interview(context)
            break
        drill = ask_next(context, interview, step)
    return drill


def _write_state_as_json(interview: Interview, drill: ResolvedDrill | None, left: str) -> None:
    """Write the open interview and its current question, if one is asked."""
    output.write_json(
        interview=interview.number,
        minutes=interview.minutes,
        blind=interview.blind,
        left=left,
        questions=[planned.called for planned in interview.questions],
        question=drill and drill.question.id,
        part=drill and interview.asked[-1].part,
        submission=drill and drill.require_workspace().submission,
    )


def _step_text(step: NextStep | None) -> str:
    """Return the next step of an interview as text, such as "go on to part 2"."""
    if step is None:
        return "end the interview"
    if isinstance(step, int):
        return f"go on to part {step}"
    return f"go on to {step.id} ({sum(step.minutes)} minutes)"


def _question_blocks(
    context: Context, interview: Interview, drill: ResolvedDrill
) -> tuple[Block, ...]:
    """Return the page of the current question; it ends with the time left and what is recorded."""
    from grader.reports.blocks import Paragraph
    from grader.reports.question import question_page

    number = f"Question {interview.current_index + 1} of {len(interview.questions)}"
    file = context.path_as_typed(drill.require_workspace().submission)
    left = interview.time_left_text(context.now())
    begun = datetime.fromisoformat(interview.at)
    end = context.to_local(begun + timedelta(minutes=interview.minutes))
    terms = f"{number}, in {file}; {left}, until {end:%H:%M}. Hints are recorded in the debrief"
    terms += "." if interview.candidate else ", and the question comes back sooner."
    if interview.blind:
        command = context.interview("next")
        terms += f" No verdicts until the end. {command} asks the next part."
    part = context.parts_asked(drill.question)
    return question_page(drill.question, part, [Paragraph(terms)])
