"""Find, end and record the open interview, in the records of a candidate if one is named."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from grader.commands.context import Context
from grader.commands.options import check_candidate, command_context, data_folder, option
from grader.model.errors import UsageError, did_you_mean
from grader.model.question import Question
from grader.model.version import __version__
from grader.records import events, interviews
from grader.records.events import Event, EventName, RecordsError
from grader.records.interviews import Interview
from grader.records.progress import is_about_question

CandidateOption = Annotated[
    str, option("NAME", "Candidate's name. Their record is kept separately.")
]


def candidate_context(ctx: typer.Context, candidate: str, *, begins: bool = False) -> Context:
    """Return the context of a command, with the records of a candidate if one is named.

    This sets DRILL_CANDIDATE for the process.  UsageError if the name is not valid, or if the
    candidate has no records and the command does not begin an interview (`begins`).
    """
    if candidate:
        check_candidate("--candidate", candidate)
        os.environ["DRILL_CANDIDATE"] = candidate
        folder = data_folder()
        if not (begins or folder.exists()):
            others = sorted(path.name for path in folder.parent.glob("*"))
            raise UsageError(
                f"no interview of {candidate}{did_you_mean(candidate, others)}",
                hint=f"Next: {command_context(ctx).interview()}",
            )
    return command_context(ctx)


def unclosed_interview(ctx: Context) -> Interview | None:
    """Return the interview that is open, or is over and has no debrief yet."""
    last = ctx.read(interviews.latest_interview, None)
    return None if last is None or last.closed else last


def require_unclosed(ctx: Context) -> Interview:
    """Return the interview that is not closed; UsageError if all are closed."""
    interview = unclosed_interview(ctx)
    if interview is None:
        raise UsageError("no interview is open", hint=f"Next: {ctx.interview()}")
    return interview


def time_left_text(ctx: Context) -> str:
    """Return "31 of 45 minutes left"; empty if no interview is open or its time is over."""
    interview = unclosed_interview(ctx)
    return interview.time_left_text(ctx.now()) if interview else ""


def open_interview_of(
    ctx: Context, question: Question, file: Path | None = None
) -> Interview | None:
    """Return the open interview, if it includes this question; otherwise None.

    If a `file` is given, it must be inside the interview's folder, too.
    """
    interview = unclosed_interview(ctx)
    if interview is None or not interview.time_left_text(ctx.now()):
        return None
    question_bank = str(question.bank)
    is_asked = any(
        planned.id == question.id and is_about_question(planned.bank, question_bank, question.id)
        for planned in interview.questions
    )
    if not is_asked:
        return None
    folder = os.path.realpath(interview.folder)
    if file and not Path(os.path.realpath(file)).is_relative_to(folder):
        return None
    return interview


def is_blind(ctx: Context, question: Question) -> bool:
    """Return True if a question is in an open interview that shows no verdict before its end."""
    interview = open_interview_of(ctx, question)
    return interview is not None and interview.blind


def end_interview(ctx: Context) -> None:
    """End the interview that is not closed, if there is one."""
    if unclosed_interview(ctx) is not None:
        record_interview_event(ctx, "interviewed")


def record_interview_event(
    ctx: Context,
    what: EventName,
    question: str = "",
    question_bank: str = "",
    **more: Any,  # noqa: ANN401
) -> str:
    """Record an event and return its time; UsageError if the records cannot be written.

    `more` are other fields of `Event`, such as `detail`.
    """
    event = Event(what, ctx.now(), ctx.who, __version__, question, question_bank, **more)
    try:
        ctx.store.write(lambda db: events.append_event(db, event))
    except RecordsError as fault:
        text = f"an interview needs your history, which cannot be written ({fault.message})"
        raise UsageError(text, fault.hint or "Next: drill doctor") from fault
    return event.at
