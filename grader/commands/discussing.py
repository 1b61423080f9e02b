"""Follow-ups of the parts that are passed: which comes next, and what came of an answer.

Those never answered come first, the one that the last pass asked before the others; then what was
answered wrong, then the rest, that answered longest ago first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from grader import forms
from grader.commands.context import Context
from grader.commands.workspaces import ResolvedDrill, resolve_drill
from grader.forms import follow_up
from grader.forms.base import UnreadableAnswer
from grader.model.errors import UsageError
from grader.model.spec import FollowUp
from grader.records import progress

MAX_ANSWER_LENGTH = 10_000  # characters of an answer that are kept


class FollowUpState(NamedTuple):
    """A follow-up, and what came of it the last time."""

    part: int
    number: int  # in its part, from 1
    follow_up: FollowUp
    verdict: str = ""  # pass or fail; empty: it was never answered
    at: str = ""  # UTC, ISO 8601

    @property
    def points(self) -> list[str]:
        """What the person ticks of an answer; nothing where it is graded."""
        in_words = self.follow_up.points or ["What our answer says."]
        return in_words if self.follow_up.kind == "points" else []


class Discussion(NamedTuple):
    """The follow-ups that a person may be asked, in the order in which they come."""

    resolved_drill: ResolvedDrill
    parts: int  # that are passed, or were given up
    askable_follow_ups: tuple[FollowUpState, ...]


class AnswerResult(NamedTuple):
    """What came of an answer."""

    verdict: str | None  # pass or fail; None: in words, and nobody has said what is in it
    idea: str = ""  # that a wrong one shows
    feedback: str = ""  # on that idea


def open_discussion(
    ctx: Context, question_id: str | None, *, part: int | None = None
) -> Discussion:
    """Return the follow-ups of the parts that are passed, or of one of them.

    UsageError where none is passed, or that one is not, or nothing else is asked about them.
    """
    choice = resolve_drill(ctx, question_id)
    question = choice.question
    spec = choice.question.spec
    yours = ctx.progress(question)
    last = len(spec.parts)
    first = part or 1
    over = yours.given_up or (forms.form_of(spec).allows_one_try and yours.tries > 0)
    parts = yours.count_parts_asked(last) if over else yours.count_parts_passed(last)
    called = f"part {first} of {question.id}" if last > 1 else question.id
    if first > last:
        raise UsageError(f"--part: expected a number from 1 to {last}, found {part}")
    if first > parts:
        grade = f"drill grade{choice.drill_argument}   drill hint{choice.drill_argument}"
        begin = (
            grade if choice.workspace else f"drill start {choice.typed_name}{choice.bank_option}"
        )
        raise UsageError(
            f"{called} is not passed yet, and its follow-ups come after that", hint=f"Next: {begin}"
        )
    known = ctx.read(
        lambda db: progress.follow_up_verdicts(db, question.id, str(question.bank)), {}
    )
    passed = ctx.attempts(question, most=1, verdict="pass")
    shown = [json.loads(one.report or "{}").get("follow_up") for one in passed]
    asked = [
        FollowUpState(p, n, one, *known.get((p, n), ()))
        for p, of_part in enumerate(spec.parts[:parts], 1)
        for n, one in enumerate(of_part.follow_ups, 1)
        if part in {None, p}
    ]
    if not asked:
        raise UsageError(
            f"{called} has no follow-ups", hint=f"Next: drill next{choice.bank_option}"
        )
    asked.sort(key=lambda one: (one.verdict, one.at, one.follow_up.ask not in shown))
    return Discussion(choice, parts, tuple(asked))


def judge_and_record(
    ctx: Context,
    found: Discussion,
    asked: FollowUpState,
    text: str,
    ticked: Sequence[bool] | None = None,
) -> AnswerResult:
    """Judge an answer and record it.

    One in words is right where more than half of its points are `ticked` by the person; before
    that it has no verdict. UsageError where it is no answer, and then nothing is recorded.
    """
    question = found.resolved_drill.question
    name = ""
    right = None if ticked is None else 2 * sum(ticked) > len(ticked)
    if not asked.points:
        try:
            right, name = follow_up.judge_answer(asked.follow_up, text)
        except UnreadableAnswer as wrong:
            raise UsageError(f"that is no answer: {wrong.sentence}") from None
    idea = question.ideas.get(name)
    if idea and any(question.spec.part_of(c) > found.parts for c in idea.killed_by[:1]):
        idea, name = None, ""  # nothing is said of a part that is not passed
    verdict = None if right is None else "pass" if right else "fail"
    said, of = (None, None) if ticked is None else (sum(ticked), len(ticked))
    detail = {
        "part": asked.part, "number": asked.number, "kind": asked.follow_up.kind,
        "idea": name or None, "ticked": said, "of": of, "text": text[:MAX_ANSWER_LENGTH],
    }  # fmt: skip
    ctx.record_event(
        ctx.new_event("discussed", question, verdict=verdict, detail=json.dumps(detail))
    )
    return AnswerResult(verdict, name, idea.feedback_for() if idea else "")
