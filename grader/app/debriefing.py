"""What came of an interview, from what happened in its time."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from grader import bank
from grader.app import schedule
from grader.app.context import Context
from grader.app.interviews import clock, end
from grader.model.errors import DrillError, UsageError
from grader.model.report import FINE
from grader.records import interviews, progress
from grader.records.interviews import Chosen, Happened, Interview
from grader.reports.debrief import Debrief, Held, Looked, Note, PartTime
from grader.reports.words import sentences


def debrief(ctx: Context, number: int | None = None) -> Debrief:
    """Return what came of an interview that is over: of the last one, if no number is given.

    UsageError where there is none, or it is open. One that was looked back on is closed.
    """
    every = ctx.store.read(interviews.every, empty=[])
    last = number or len(every)
    if last > len(every) or not every:
        none = "no interview is on record" if number is None else f"there is no interview {number}"
        raise UsageError(none, hint="Next: drill interview")
    held = every[last - 1]
    if held is every[-1] and not held.closed:
        if held.is_open(ctx.now()):
            text = f"interview {last} is open, {clock(ctx, held)}, and its debrief comes after that"
            raise UsageError(text, hint="Next: drill interview   drill interview --end")
        end(ctx)
    over = round(held.minute(held.closed or ctx.now()), 3)
    asked = list(dict.fromkeys(one.question for one in held.asked))
    begun = [min(held.minute(o.at) for o in held.asked if o.question == name) for name in asked]
    return Debrief(
        held.number,
        ctx.local(datetime.fromisoformat(held.at)),
        held.candidate,
        over,
        held.minutes,
        tuple(
            _looked(ctx, held, held.chosen(name), until)
            for name, until in zip(asked, [*begun[1:], over], strict=False)
        ),
        tuple(one.title for one in held.questions if one.id not in asked),
        tuple(Note(held.minute(n.at), n.question, n.part, n.text) for n in held.notes),
    )


def _looked(ctx: Context, held: Interview, chosen: Chosen, until: float) -> Looked:
    """What came of a question that was asked until a minute."""
    rows = ctx.store.read(lambda db: interviews.during(db, held, chosen.id), empty=[])
    parts, ideas, right, wrong = _worked(held, chosen, rows, until)
    review, follow_ups = "", tuple[str, ...]()
    with suppress(DrillError):  # the bank is gone
        head = bank.header([Path(chosen.bank)], chosen.id)
        question = bank.load([Path(chosen.bank)], chosen.id)
        yours = ctx.progress(question)
        day = schedule.due(ctx, head, yours)
        if yours.over and day is not None:
            review = f"{schedule.day(day, ctx.today)}: {schedule.why(ctx, yours)}"
        else:
            of = f"part {yours.asked(head.parts)} of {head.parts}" if head.parts > 1 else "it"
            review = f"now, as {of} is not passed yet"
        passed = [p for p, one in zip(question.spec.parts, parts, strict=False) if one.passed]
        follow_ups = tuple(one.ask for part in passed for one in part.follow_ups)
        known = {name: idea.said_of() for name, idea in question.ideas.items()}
        ideas = [one._replace(text=known.get(one.name, one.text)) for one in ideas]
    ideas = [one._replace(text=sentences(one.text, 1)[0]) for one in ideas]
    hints = len({row.hint for row in rows if row.what == "hint"})
    gave_up = any(row.what == "solution" for row in rows) and not all(one.passed for one in parts)
    return Looked(
        chosen.id, chosen.title, parts, sum(p.minutes or 0 for p in parts), hints, gave_up,
        tuple(right), wrong, tuple(ideas), review, follow_ups,
    )  # fmt: skip


def _worked(
    held: Interview, chosen: Chosen, rows: list[Happened], until: float
) -> tuple[tuple[PartTime, ...], list[Held], list[str], str]:
    """Parts, ideas, the checks that never failed, and what was wrong in the last try.

    A part begins when the one before it passes; in a blind interview when it is asked.
    """
    asked = [one for one in held.asked if one.question == chosen.id]
    many, first = len(chosen.minutes), asked[0].part
    begun = {first: held.minute(asked[0].at)}  # when each part was, and what follows the last
    for one in asked if held.blind else ():
        begun.setdefault(one.part, held.minute(one.at))
    tries, passed, wrong = dict[int, set[str]](), set(range(1, first)), ""
    since, ideas = dict[str, float](), dict[str, Held]()
    right: dict[str, bool] = {}
    of = {row.attempt: row.sha256 for row in rows if row.what == "begun"}
    for row in rows:
        sha = of.get(row.attempt) if row.what == "graded" else None
        if sha is None or row.parts == progress.NO_TRY:
            continue
        at, report = held.minute(row.at), json.loads(row.report or "{}")
        part = min(max(p for p in begun if begun[p] <= at), many)
        tries.setdefault(part, set()).add(sha)
        reached = progress.parts_passed(row.parts)
        passed |= set(range(first, reached + 1))
        if not held.blind:
            for p in range(part, reached + 1):
                begun.setdefault(p + 1, at)
        checks = [c for c in report.get("checks", ()) if c["part"] <= part and not c.get("stretch")]
        failed = [c for c in checks if c["verdict"] not in FINE]
        tried = {c["id"]: c["verdict"] in FINE for c in checks if c["verdict"] != "skipped"}
        right |= {name: fine and right.get(name, True) for name, fine in tried.items()}
        wrong = next((f"{c['id']}: {c['message']}" for c in failed), report.get("message", ""))
        of_these = {c["id"] for c in failed}
        named = {
            one["id"]: one["feedback"]
            for one in report.get("misconceptions", ())
            if of_these & {*one["checks"]} or not one["checks"]
        }
        for name in since.keys() - named.keys():
            ideas[name] = ideas[name]._replace(minutes=ideas[name].minutes + at - since.pop(name))
        for name, text in named.items():
            since.setdefault(name, at)
            before = ideas.get(name, Held(name, 0.0, 0, text))
            ideas[name] = before._replace(tries=before.tries + 1)
    for name, at in since.items():
        ideas[name] = ideas[name]._replace(minutes=ideas[name].minutes + max(until - at, 0.0))
    parts = tuple(
        PartTime(
            number, planned, number in passed,
            None if number not in begun
            else max(min(begun.get(number + 1, until), until) - begun[number], 0.0),
            len(tries.get(number, ())),
        )
        for number, planned in enumerate(chosen.minutes, 1)
    )  # fmt: skip
    return parts, [*ideas.values()], [name for name, fine in right.items() if fine], wrong
