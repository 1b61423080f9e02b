"""An interview: which questions it has, and what is asked when.

It is nothing but events (ADR 33), so that whatever ends the program, the next command goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

from grader import __version__, bank
from grader.app import drills
from grader.app.catalog import Standing, listed
from grader.app.context import Context, need_torch, torch_installed
from grader.app.resolve import Choice, enclosing, resolve
from grader.model.errors import UsageError
from grader.model.question import Header, Question
from grader.records import events, interviews
from grader.records.events import Event, What
from grader.records.interviews import Chosen, Interview, Said
from grader.records.progress import counts

_FULL = 0.8  # of the time, from which on one choice fills it as well as another
_KINDS = ("new", "due", "later")  # which questions come first


def latest(ctx: Context) -> Interview | None:
    """Return the interview that is open, or is over and was not looked back on."""
    last = next(reversed(ctx.read(interviews.every, [])), None)
    return None if last is None or last.closed else last


def left(ctx: Context) -> str:
    """Return what is left of the interview that is open; nothing where none is."""
    held = latest(ctx)
    return held.left(ctx.now()) if held is not None else ""


def asking(ctx: Context, question: Question, file: Path | None = None) -> Interview | None:
    """Return the open interview that a question belongs to, if one is open.

    A `file` belongs to it too only if it lies in the interview's folder.
    """
    held = latest(ctx)
    if held is None or not held.left(ctx.now()):
        return None
    name, bank = question.id, str(question.bank)
    if not any(one.id == name and counts(one.bank, bank, name) for one in held.questions):
        return None
    folder = Path(os.path.realpath(held.folder))
    if file is not None and not Path(os.path.realpath(file)).is_relative_to(folder):
        return None
    return held


def is_blind(ctx: Context, question: Question) -> bool:
    """Return True if a question belongs to an open interview that is blind."""
    held = asking(ctx, question)
    return held is not None and held.blind


def begin(
    ctx: Context, ids: Sequence[str], fit: Sequence[str | None] = (), *,
    minutes: int, blind: bool = False, candidate: str = "",
) -> None:  # fmt: skip
    """Begin an interview of the questions named, else of some that `fit`; nothing is asked yet.

    UsageError, and no interview is open, if a question cannot be started in its folder.
    """
    named = [bank.header(ctx.banks(), one) for one in dict.fromkeys(ids)]
    around = enclosing(ctx.here())
    folder = (around.folder.parent if around else ctx.here()) / candidate
    chosen = []
    for head in named or _fitting(ctx, minutes, *fit):
        question = ctx.load(head.called)
        need_torch(question)
        drills.check_start(ctx, head.called, question, folder / question.id)
        planned = tuple(part.minutes for part in question.spec.parts)
        chosen.append(Chosen(head.called, head.id, str(head.bank), head.title, planned))
    detail = {"minutes": minutes, "questions": chosen, "blind": blind, "candidate": candidate}
    _add(ctx, "interview", detail=json.dumps(detail | {"folder": str(folder)}))


def _add(ctx: Context, what: What, question: str = "", bank: str = "", **more: Any) -> str:  # noqa: ANN401
    """Record an event, without which there is no interview, and return when."""
    event = Event(what, ctx.now(), ctx.who, __version__, question, bank, **more)
    ctx.store.write(lambda db: events.add(db, event))
    return event.at


def _fitting(
    ctx: Context, minutes: int, track: str | None, level: str | None, role: str | None
) -> list[Header]:
    """Return one question or two that fit the time, the shorter first; nothing that is begun.

    Where none does it is one of which the first part does.  New ones come before those that are
    due, and these before others; among equals decides how many interviews there were.
    """
    found = [
        one
        for one in listed(ctx, track, level, role)
        if one.kind(ctx.today) != "unfinished" and (torch_installed() or not one.header.torch)
    ]
    Random(len(ctx.read(interviews.every, []))).shuffle(found)

    def rank(some: Sequence[Standing]) -> tuple[float, ...]:
        total = sum(one.header.minutes for one in some)
        parts = some[0].header.parts if len(some) == 1 else 1
        predictions = sum(one.header.form == "predict" for one in some)
        kind = max(_KINDS.index(one.kind(ctx.today)) for one in some)
        over = total * (total > minutes)
        return (total > minutes * parts, over, predictions, kind, -min(total, _FULL * minutes))

    best = min((some for n in (1, 2) for some in combinations(found, n)), key=rank, default=())
    if not best or rank(best)[0]:
        said = f"nothing of that kind can be asked in {minutes} minutes and is not begun"
        raise UsageError(said, "drill interview ID asks what you name")
    return sorted((one.header for one in best), key=lambda head: head.minutes)


def now_asked(ctx: Context, held: Interview, *, further: bool = False) -> Choice | None:
    """Ask what comes next, if it is time, and return the question that is asked now.

    It is where the last one is over, or where it is to go `further`: in a blind interview to that
    one's next part. None after the last.
    """
    at = -1
    if held.asked:
        last = held.asked[-1]
        at = [one.id for one in held.questions].index(last.question)
        choice = resolve(ctx, held.questions[at].called)
        if further and held.blind and last.part < len(choice.question.spec.parts):
            return _ask(ctx, held, at, last.part + 1)
        if not further and not ctx.progress(choice.question).over:
            return choice
    return _ask(ctx, held, at + 1) if at + 1 < len(held.questions) else None


def _ask(ctx: Context, held: Interview, which: int, part: int = 0) -> Choice:
    called = held.questions[which].called
    question = ctx.load(called)
    if part:
        drills.write_question(ctx, resolve(ctx, called).need_workspace().folder, question, part)
    else:  # what a kill leaves half done is found and finished the next time
        start = drills.start_again if ctx.progress(question).over else drills.start
        start(ctx, called, parent=Path(held.folder))
        part = ctx.progress(question).asked(len(question.spec.parts))
    at = _add(ctx, "asked", question.id, str(question.bank), parts=str(part))
    held.asked.append(Said(question.id, part, at))
    return resolve(ctx, called)


def note(ctx: Context, text: str) -> None:
    """Record a note on what is asked now."""
    held = latest(ctx)
    if held is None:
        raise UsageError("no interview is open, so there is nothing to note")
    last = held.asked[-1] if held.asked else Said("", 1, held.at)
    _add(ctx, "noted", last.question, parts=str(last.part), detail=text)


def end(ctx: Context) -> None:
    """End the interview that is open, if one is."""
    if latest(ctx) is not None:
        _add(ctx, "interviewed")
