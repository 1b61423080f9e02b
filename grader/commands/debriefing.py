"""What came of an interview, from what happened in its time."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from datetime import datetime

from grader import bank
from grader.commands import interviews, schedule
from grader.commands.context import Context
from grader.model.errors import DrillError, UsageError
from grader.model.report import NON_FAILING_VERDICTS
from grader.records import interviews as kept
from grader.records.events import Event
from grader.records.interviews import Interview, InterviewQuestion
from grader.records.progress import NO_TRY_MARK, UNCHANGED_MARK, parts_passed
from grader.reports.debrief import Debrief, IdeaDuration, PartTime, QuestionDebrief
from grader.reports.sentences import first_sentences


def make_debrief(ctx: Context, number: int | None = None) -> Debrief:
    """Return what came of an interview that is over: of the last one, if no number is given.

    UsageError where there is none, or it is open. One that was looked back on is closed.
    """
    found = ctx.store.read(kept.all_interviews, empty=[])
    held = next((one for one in reversed(found) if number in {None, one.number}), None)
    if held is None:
        raise UsageError("there is no such interview", hint=f"Next: {ctx.interview()}")
    if held is found[-1] and not held.closed:
        if left := held.time_left_text(ctx.now()):
            hint = f"Next: {ctx.interview('end')}"
            raise UsageError(f"the interview is open, {left}", hint=hint)
        interviews.end_interview(ctx)
    over = held.minute_of(held.closed or ctx.now())
    asked = {one.question: held.minute_of(one.at) for one in reversed(held.asked)}  # when first
    order = sorted(asked, key=[one.id for one in held.questions].index)
    until = [*(asked[name] for name in order[1:]), over]
    chosen = {one.id: one for one in held.questions}
    return Debrief(
        held.number, ctx.to_local(datetime.fromisoformat(held.at)), held.candidate, over, held.minutes,
        tuple(_looked(ctx, held, chosen[o], end) for o, end in zip(order, until, strict=False)),
        tuple(one.title for one in held.questions if one.id not in asked),
        tuple((held.minute_of(one.at), one.question, one.part, one.text) for one in held.noted),
        held.decision,
    )  # fmt: skip


def _looked(
    ctx: Context, held: Interview, chosen: InterviewQuestion, until: float
) -> QuestionDebrief:
    """What came of a question that was asked until a minute."""
    rows = ctx.store.read(lambda db: kept.events_during(db, held, chosen.id), empty=[])
    parts, ideas, right, wrong = _worked(held, chosen, rows, until)
    review = ""
    asks = list[str]()
    marks = {one.part: one.text for one in held.marked if one.question == chosen.id}  # the last
    with suppress(DrillError):  # its bank is gone
        question = bank.load([ctx.bank_of(chosen.bank, chosen.id)], chosen.id)
        yours = ctx.progress(question)
        day = schedule.due_date(ctx, bank.header([question.bank], chosen.id), yours)
        review = f"now, as it is {'begun again' if yours.passed else 'not passed yet'}"
        if yours.is_finished and day:
            review = f"{schedule.format_day(day, ctx.today)}: {schedule.return_reason(ctx, yours)}"
        passed = [p for p, one in zip(question.spec.parts, parts, strict=False) if one.passed]
        asks = [one.ask for part in passed for one in part.follow_ups[:1]]
    return QuestionDebrief(
        chosen.id, chosen.title, parts,
        len({row.hint for row in rows if row.what == "hint"}),
        any(row.what == "solution" for row in rows) and not parts[-1].passed,
        tuple(name for name, fine in right.items() if fine), wrong,
        tuple(ideas), "" if held.candidate else review, tuple(asks),  # a host has other reviews
        tuple((part, int(text[0]), text[2:]) for part, text in sorted(marks.items())),
    )  # fmt: skip


def _worked(
    held: Interview, chosen: InterviewQuestion, rows: list[Event], until: float
) -> tuple[tuple[PartTime, ...], list[IdeaDuration], dict[str, bool], str]:
    """Parts, ideas, checks and whether no try failed them, and what was wrong in the last try.

    A part begins when the one before it passes; in a blind interview when it is asked.
    """
    asked = [one for one in held.asked if one.question == chosen.id]
    first = asked[0].part
    many = len(chosen.minutes)
    begun = {
        one.part: held.minute_of(one.at) for one in reversed(asked if held.blind else asked[:1])
    }
    tries = Counter[int]()
    versions = set[str | None]()
    passed = set(range(1, first))
    right = dict[str, bool]()
    since = dict[str, float]()
    ideas = dict[str, IdeaDuration]()
    wrong = ""
    best: tuple[int, str | None] = (first - 1, None)  # parts passed, and the first file that did
    of = {row.attempt: row.sha256 for row in rows if row.what == "begun"}
    for row in rows:
        if row.what != "graded" or row.attempt not in of or row.parts == NO_TRY_MARK:
            continue
        at = held.minute_of(row.at)
        report = json.loads(row.report or "{}")
        part = min(max((p for p, minute in begun.items() if minute <= at), default=first), many)
        reached = parts_passed(row.parts)
        version = of[row.attempt]
        # It passed the part before, and has not changed since.
        is_same = row.parts == UNCHANGED_MARK or (reached, version) == best
        best = max(best, (reached, version), key=lambda one: one[0])
        is_new = not is_same and version not in versions  # which is a try once
        versions.add(version)
        tries[part] += is_new
        passed |= set(range(first, reached + 1))
        for p in range(part, reached + 1) if not held.blind else ():
            begun.setdefault(p + 1, at)
        upto = max(part, reached)
        checks = report.get("checks", ())
        checks = [c for c in checks if c["part"] <= upto and not c.get("stretch")]
        failed = {c["id"]: c["message"] for c in checks if c["verdict"] not in NON_FAILING_VERDICTS}
        for name in (c["id"] for c in checks if is_new and c["verdict"] != "skipped"):
            right[name] = right.get(name, True) and name not in failed
        if not is_same:
            wrong = next((f"{n}: {said}" for n, said in failed.items()), report.get("message"))
        shown = report.get("misconceptions", ()) if failed and not is_same else ()
        asked_of = (o for o in shown if not o["checks"] or failed.keys() & o["checks"])
        named = {one["id"]: one["feedback"] for one in asked_of}
        for name in since.keys() - named:
            ideas[name] = ideas[name]._replace(minutes=ideas[name].minutes + at - since.pop(name))
        for name, text in named.items():
            since.setdefault(name, at)
            before = ideas.get(name, IdeaDuration(name, 0.0, 0, first_sentences(text, 1)[0]))
            ideas[name] = before._replace(tries=max(before.tries + is_new, 1))
    for name, at in since.items():
        ideas[name] = ideas[name]._replace(minutes=ideas[name].minutes + max(until - at, 0.0))
    ends = {n: max(min(begun.get(n + 1, until), until) - at, 0.0) for n, at in begun.items()}
    parts = tuple(
        PartTime(n, planned, n in passed, ends.get(n), tries[n])
        for n, planned in enumerate(chosen.minutes, 1)
    )
    return parts, list(ideas.values()), right, wrong or ""
