"""An interview: which questions it has, and what is asked when.

It is nothing but events (ADR 33), so that whatever ends the program, the next command goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from random import Random
from typing import Any

from grader import bank
from grader.commands.context import Context, require_torch, torch_installed
from grader.commands.questions import QuestionFilter, QuestionStatus, list_questions
from grader.commands.start import (
    check_start,
    is_of,
    start_again,
    start_drill,
    write_question,
)
from grader.commands.workspaces import (
    ResolvedDrill,
    enclosing_workspace,
    read_workspace,
    resolve_drill,
)
from grader.model.errors import UsageError
from grader.model.question import Header, Question
from grader.model.version import __version__
from grader.records import events, interviews
from grader.records.events import Event, EventName, RecordsError
from grader.records.interviews import Interview, InterviewEntry, InterviewQuestion
from grader.records.progress import is_about_question

_FULL = 0.8  # of the time: questions that take as much fill it
_MINUTES = attrgetter("minutes")
_KINDS = ("new", "due", "later")  # which questions come first


def unclosed_interview(ctx: Context) -> Interview | None:
    """Return the interview that is open, or is over and was not looked back on."""
    last = ctx.read(interviews.latest_interview, None)
    return None if last is None or last.closed else last


def require_open(ctx: Context) -> Interview:
    """Return the same; UsageError if there is none."""
    held = unclosed_interview(ctx)
    if held is None:
        raise UsageError("no interview is open", hint=f"Next: {ctx.interview()}")
    return held


def time_left_text(ctx: Context) -> str:
    """Return what is left of the interview that is open; nothing where none is."""
    held = unclosed_interview(ctx)
    return held.time_left_text(ctx.now()) if held else ""


def open_interview_of(
    ctx: Context, question: Question, file: Path | None = None
) -> Interview | None:
    """Return the open interview that a question belongs to, if one is open.

    A `file` belongs to it too only if it lies in the interview's folder.
    """
    held = unclosed_interview(ctx)
    if held is None or not held.time_left_text(ctx.now()):
        return None
    name = question.id
    bank = str(question.bank)
    if not any(
        one.id == name and is_about_question(one.bank, bank, name) for one in held.questions
    ):
        return None
    if file and not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(held.folder)):
        return None
    return held


def is_blind(ctx: Context, question: Question) -> bool:
    """Return True if a question belongs to an open interview that is blind."""
    held = open_interview_of(ctx, question)
    return held is not None and held.blind


def begin_interview(
    ctx: Context, ids: Sequence[str], fit: Sequence[str | None] = (), *,
    minutes: int, blind: bool = False, candidate: str = "",
) -> Interview:  # fmt: skip
    """Begin an interview of the questions named, or of some that `fit`; nothing is asked yet.

    UsageError, and no interview is open, if a question cannot be started in its folder.
    """
    heads = [bank.header(ctx.banks(), name) for name in dict.fromkeys(ids)]
    around = enclosing_workspace(ctx.current_folder())
    folder = (around.folder.parent if around else ctx.current_folder()) / candidate
    seed = len(ctx.store.read(interviews.all_interviews, empty=[]))
    if not heads:
        possible = _possible(ctx, folder, fit, seed)
        partly = [
            one.header for one in possible if one.header.minutes <= minutes * one.header.parts
        ]
        heads = _fill(possible, minutes) or sorted(partly, key=_MINUTES)[:1]
    if not heads:
        raise UsageError(
            f"no question of that kind fits {minutes} minutes and is not begun",
            f"{ctx.interview('ID')} asks the questions that you name",
        )
    chosen = [_chosen(ctx, head, folder) for head in heads]
    _start(ctx, chosen[0], folder)  # before the event: it may be refused
    detail = {
        "minutes": minutes,
        "questions": chosen,
        "blind": blind,
        "candidate": candidate,
        "folder": str(folder),
        "fit": fit,
    }
    _add(ctx, "interview", detail=json.dumps(detail))
    return _last(ctx)


def _add(ctx: Context, what: EventName, question: str = "", bank: str = "", **more: Any) -> str:  # noqa: ANN401
    """Record an event, without which there is no interview, and return when."""
    event = Event(what, ctx.now(), ctx.who, __version__, question, bank, **more)
    try:
        ctx.store.write(lambda db: events.append_event(db, event))
    except RecordsError as fault:
        text = f"an interview needs your history, which cannot be written ({fault.message})"
        raise UsageError(text, fault.hint or "Next: drill doctor") from fault
    return event.at


def _possible(
    ctx: Context, folder: Path, fit: Sequence[str | None], seed: int
) -> list[QuestionStatus]:  # fmt: skip
    """Return the questions that can be started in a folder, in an order that `seed` decides."""
    possible = []
    track, level, role = fit
    for standing in list_questions(ctx, QuestionFilter(track, level, role)):
        head = standing.header
        there = folder / head.id
        found = read_workspace(there)
        is_free = is_of(ctx, found, head) if found else not os.path.lexists(there)
        if is_free and standing.practice_state in _KINDS and (torch_installed() or not head.torch):
            possible.append(standing)
    Random(seed).shuffle(possible)
    return possible


def _fill(possible: Sequence[QuestionStatus], minutes: int) -> list[Header]:
    """Return questions that fill the time, the shortest first.

    New questions come before due ones, and due ones before others. Otherwise sets are better with
    more questions that ask for code, then with more forms, with fewer questions, with more tracks.
    """
    least = _FULL * minutes
    sets: dict[int, tuple[Header, ...]] = {0: ()}  # the best set for each sum of minutes
    for kind in _KINDS:
        if max(sets) >= least:
            break
        for head in [one.header for one in possible if one.practice_state == kind]:
            for total, heads in list(sets.items()):
                longer = total + head.minutes
                more = (*heads, head)
                if longer <= minutes and _worth(more) > _worth(sets.get(longer, ())):
                    sets[longer] = more
    best = max(sets, key=lambda total: (total >= least, _worth(sets[total]), total))
    return sorted(sets[best], key=_MINUTES)


def _worth(heads: Sequence[Header]) -> tuple[int, ...]:
    """Return how good a set of questions is, to compare it with another."""
    from grader import forms

    code = sum(not forms.form_of(head).is_text for head in heads)
    topics = len({head.track for head in heads})
    return code, len({head.form for head in heads}), -len(heads), topics


def _chosen(ctx: Context, head: Header, folder: Path) -> InterviewQuestion:
    """Return a question as the records keep it; UsageError if it cannot be started."""
    question = ctx.load(head.called)
    require_torch(question)
    check_start(ctx, head.called, question, folder / question.id)
    planned = tuple(part.minutes for part in question.spec.parts)
    return InterviewQuestion(head.called, head.id, str(head.bank), head.title, planned)


def _start(ctx: Context, chosen: InterviewQuestion, folder: Path) -> Question:
    """Make the folder of a question, unless a command that was killed has made it."""
    yours = ctx.progress(ctx.load(chosen.called))
    begin = start_again if yours.is_finished else start_drill
    return begin(ctx, chosen.called, parent=folder)[0]


def current_drill(ctx: Context, held: Interview) -> ResolvedDrill | None:
    """Return the question that is asked now; if it is over, ask the next. None after the last."""
    if held.asked:
        choice = resolve_drill(ctx, held.questions[held.current_index].called)
        if not ctx.progress(choice.question).is_finished:
            return choice
    planned = held.questions[held.current_index + 1 :]
    return ask_next(ctx, held, planned[0]) if planned else None


def next_step(ctx: Context, held: Interview) -> int | InterviewQuestion | None:
    """Return what comes next: a part of a blind interview, a question, or None at the end.

    After the last question it is another one that fits the minutes left.
    """
    if held.blind and held.asked:
        part = held.asked[-1].part + 1
        if part <= len(held.questions[held.current_index].minutes):
            return part
    planned = held.questions[held.current_index + 1 :]
    if planned:
        return planned[0]
    ids = {chosen.id for chosen in held.questions}
    folder = Path(held.folder)
    possible = _possible(ctx, folder, held.fit, held.number)
    others = [one for one in possible if one.header.id not in ids]
    heads = _fill(others, int(held.minutes_left(ctx.now())))
    return _chosen(ctx, heads[0], folder) if heads else None


def ask_next(ctx: Context, held: Interview, to: int | InterviewQuestion) -> ResolvedDrill:
    """Ask a part or a question, and return the question that is asked then."""
    unplanned = None
    if isinstance(to, int):
        called = held.questions[held.current_index].called
        part = to
        question = ctx.load(called)
        write_question(ctx, resolve_drill(ctx, called).require_workspace().folder, question, part)
    else:
        called = to.called
        question = _start(ctx, to, Path(held.folder))
        part = ctx.parts_asked(question)
        if to not in held.questions:
            unplanned = json.dumps(to)
            held.questions.append(to)
    at = _add(ctx, "asked", question.id, str(question.bank), parts=str(part), detail=unplanned)
    held.asked.append(InterviewEntry(question.id, part, at))
    return resolve_drill(ctx, called)


def record_note(ctx: Context, text: str) -> None:
    """Record a note on the part that is asked now."""
    held = require_open(ctx)
    last = held.asked[-1] if held.asked else InterviewEntry("", 1, held.at)
    _add(ctx, "noted", last.question, parts=str(last.part), detail=text)


def record_mark(ctx: Context, text: str, question: str | None = None, part: int = 0) -> str:
    """Record a mark from 4 to 1, with a note after it, on a question or a part; say on which."""
    held = _last(ctx)
    asked = [said.question for said in held.asked]
    name = question or next(reversed(asked), "")
    if name not in asked:
        raise UsageError(f"interview {held.number} did not ask {name or 'anything'}")
    parts = next(len(chosen.minutes) for chosen in held.questions if chosen.id == name)
    if part > parts:
        raise UsageError(f"--part: expected a number from 1 to {parts}, found {part}")
    if text[:1] not in {"4", "3", "2", "1"} or text[1:2].strip():
        raise UsageError("expected a mark from 4 to 1, and after a blank a note")
    _add(ctx, "marked", name, parts=str(part), detail=text)
    return f"part {part} of {name}" if part else name


def record_decision(ctx: Context, text: str) -> None:
    """Record the decision on the candidate of the last interview."""
    _last(ctx)
    _add(ctx, "decided", detail=text)


def _last(ctx: Context) -> Interview:
    """Return the last interview, open or not."""
    held = ctx.store.read(interviews.latest_interview, empty=None)
    if held is None:
        raise UsageError("there is no interview yet", hint=f"Next: {ctx.interview()}")
    return held


def end_interview(ctx: Context) -> None:
    """End the interview that is open, if one is."""
    if unclosed_interview(ctx) is not None:
        _add(ctx, "interviewed")
