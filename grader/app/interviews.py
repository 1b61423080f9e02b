"""An interview: which questions it has, what is asked when, and what came of it.

It is nothing but events (ADR 33), so that whatever ends the program, the next command goes on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

from grader import __version__, bank
from grader.app import drills
from grader.app.catalog import listed
from grader.app.context import Context, need_torch, torch_installed
from grader.app.resolve import Choice, enclosing, resolve
from grader.model.errors import UsageError
from grader.model.numerals import quantity
from grader.model.question import Header
from grader.records import events, interviews
from grader.records.events import Event, What
from grader.records.interviews import Chosen, Interview

LEAST, MOST, USUAL = 5, 480, 45  # minutes
FULL = 0.8  # of the time, from which on one choice fills it as well as another
_KINDS = ("new", "due", "later")  # which questions are chosen first


def candidate_folder(data: Path, name: str) -> Path:
    """Return where the records of somebody are who is interviewed by a host."""
    if not re.fullmatch(r"[\w][\w .,'@-]{0,59}", name) or name != name.strip(" ."):
        raise UsageError(f"--candidate: expected a name, with no / in it, found {name!r}")
    return data / "candidates" / name


def latest(ctx: Context) -> Interview | None:
    """Return the interview that is open, or is over and was not looked back on."""
    last = next(reversed(ctx.read(interviews.every, [])), None)
    return None if last is None or last.closed else last


def current(ctx: Context) -> Interview | None:
    """Return the interview that is open."""
    held = latest(ctx)
    return held if held is not None and held.is_open(ctx.now()) else None


def left(ctx: Context) -> str:
    """Return what is left of the interview that is open; nothing where none is."""
    held = current(ctx)
    return clock(ctx, held) if held is not None else ""


def clock(ctx: Context, held: Interview) -> str:
    """Return what is left of an interview: "31 of 45 minutes left"."""
    left = held.minutes - held.minute(ctx.now())
    return f"{-int(-left // 1)} of {held.minutes} minutes left"


def until(ctx: Context, held: Interview) -> str:
    """Return when an interview ends: "15:32"."""
    end = datetime.fromisoformat(held.at) + timedelta(minutes=held.minutes)
    return f"{ctx.local(end):%H:%M}"


def begin(
    ctx: Context,
    ids: Sequence[str] = (),
    *,
    minutes: int = USUAL,
    track: str | None = None,
    role: str | None = None,
    level: str | None = None,
    blind: bool = False,
    candidate: str = "",
    parent: Path | None = None,
) -> Interview:
    """Begin an interview of the questions named, or of some that fit; nothing is asked yet."""
    named = [bank.header(ctx.banks(), one) for one in dict.fromkeys(ids)]
    heads = named or _fitting(ctx, minutes, track, role, level)
    chosen = []
    for head in heads:
        question = ctx.load(head.called)
        need_torch(question)
        planned = tuple(part.minutes for part in question.spec.parts)
        chosen.append(Chosen(head.called, head.id, str(head.bank), head.title, planned))
    around = enclosing(ctx.here())
    place = around.folder.parent if around else ctx.here()
    if parent is not None or candidate:
        place = ctx.here() / (parent or Path(candidate)).expanduser()
    detail = json.dumps({
        "minutes": minutes, "questions": chosen, "blind": blind, "candidate": candidate,
        "folder": str(place),
    })  # fmt: skip

    def work(db: Any) -> None:  # noqa: ANN401 - sqlite3, which is imported where it is used
        last = next(reversed(interviews.every(db)), None)  # of another terminal, meanwhile
        if last is None or last.closed or not last.is_open(ctx.now()):
            events.add(db, _event(ctx, "interview", detail=detail))

    ctx.store.write(work)  # without records there is no interview
    held = latest(ctx)
    assert held is not None
    return held


def _event(ctx: Context, what: What, **more: Any) -> Event:  # noqa: ANN401
    of = {"question": "", "bank": ""} | more
    return Event(what, ctx.now(), ctx.who, __version__, **of)


def _fitting(
    ctx: Context, minutes: int, track: str | None, role: str | None, level: str | None
) -> list[Header]:
    """Return one question or two that fit the time, the shorter first.

    New ones come before those that are due, and these before others; what is begun is nobody's
    first sight. Among equals the number of interviews so far decides, in an order without meaning.
    """
    rows, today = listed(ctx, track, level, role), ctx.today
    if not rows:
        words = [f"{n} {w}" for n, w in (("track", track), ("role", role), ("level", level)) if w]
        raise UsageError(f"no question is of {' and '.join(words) or 'any bank'}", "drill list")
    able = torch_installed()
    found = [one for one in rows if one.kind(today) != "unfinished"]
    found = [one for one in found if able or not one.header.torch]
    Random(len(ctx.read(interviews.every, []))).shuffle(found)

    def total(some: Sequence[Any]) -> int:
        return sum(one.header.minutes for one in some)

    def rank(some: Sequence[Any]) -> tuple[int, int, float]:
        predictions = sum(one.header.form == "predict" for one in some)
        newest = max(_KINDS.index(one.kind(today)) for one in some)
        return predictions, newest, -min(total(some), FULL * minutes)

    every = [some for many in (1, 2) for some in combinations(found, many)]
    fit = [some for some in every if total(some) <= minutes]
    if not fit:  # as far as one of several parts comes
        fit = [(one,) for one in found if one.header.minutes <= minutes * one.header.parts]
        fit = sorted(fit, key=total)[:1]
    if not fit:
        said = f"none of {quantity(len(rows), 'question')} can be asked in {minutes} minutes"
        why = "they take longer, are begun already, or need torch, which is not installed"
        raise UsageError(f"{said}: {why}", "drill interview ID --minutes MIN")
    best = min(fit, key=rank)
    return sorted((one.header for one in best), key=lambda head: head.minutes)


def now_asked(ctx: Context, held: Interview, *, further: bool = False) -> Choice | None:
    """Ask what is next, if there is anything, and return the question that is asked now.

    Next is the first question, the one after a question that is over, or where it is to go
    `further` the one after the current one; in a blind interview that one's next part before. None
    where it is to go on after the last.
    """
    order, last = [one.id for one in held.questions], held.asked[-1] if held.asked else None
    if last is None:
        return _ask(ctx, held, 0)
    choice = resolve(ctx, held.chosen(last.question).called)
    parts = len(choice.question.spec.parts)
    if further and held.blind and last.part < parts:
        return _ask(ctx, held, order.index(last.question), last.part + 1)
    following = order.index(last.question) + 1
    over = ctx.progress(choice.question).over
    if further or over:
        return _ask(ctx, held, following) if following < len(order) else None
    choice.need_workspace()
    return choice


def _ask(ctx: Context, held: Interview, which: int, part: int = 1) -> Choice:
    chosen = held.questions[which]
    question = ctx.load(chosen.called)
    if part == 1:  # what a kill leaves behind here is found and finished by the next try
        start = drills.start_again if ctx.progress(question).over else drills.start
        _, made = start(ctx, chosen.called, parent=Path(held.folder))
        part = ctx.progress(question).asked(len(question.spec.parts))
        folder = made.workspace.folder
    else:
        folder = resolve(ctx, chosen.called).need_workspace().folder
        drills.write_question(ctx, folder, question, part)
    event = ctx.event("asked", question, parts=str(part))
    ctx.store.write(lambda db: events.add(db, event))
    held.asked.append(interviews.Said(question.id, part, event.at))
    return resolve(ctx, chosen.called)


def note(ctx: Context, text: str) -> None:
    """Record a note on what is asked now."""
    held = latest(ctx)
    if held is None or not text.strip():
        missing = (
            "a note was empty" if held else "no interview is open, so there is nothing to note"
        )
        raise UsageError(missing)
    last = held.asked[-1] if held.asked else interviews.Said("", 1, held.at)
    of = {"question": last.question, "parts": str(last.part)}
    ctx.store.write(lambda db: events.add(db, _event(ctx, "noted", detail=text.strip(), **of)))


def end(ctx: Context) -> None:
    """End the interview that is open; UsageError where none is."""
    if latest(ctx) is None:
        raise UsageError("no interview is open", hint="Next: drill interview")
    ctx.store.write(lambda db: events.add(db, _event(ctx, "interviewed")))


def refuse_blind(ctx: Context, what: str) -> None:
    """Raise UsageError where a blind interview is open, in which `what` would say too much."""
    held = current(ctx)
    if held is not None and held.blind:
        text = f"{what} would say what is right, and this interview is blind: {clock(ctx, held)}"
        raise UsageError(text, hint="Next: drill interview")
