"""Hints, one more each time, and the solution."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from grader.app import files
from grader.app.context import Context
from grader.app.resolve import Choice, resolve
from grader.model.errors import UsageError

_AROUND = 1  # lines that are shown around a change


@dataclass(frozen=True, slots=True)
class Hints:
    """The hints to show now."""

    choice: Choice
    shown: tuple[tuple[int, str], ...]  # with their numbers, from 1
    left: int
    total: int = 0  # of the parts that are asked
    all: bool = False  # whether every one had been shown before
    counted: bool = True  # False: the next has to be asked for by its number


class Change(NamedTuple):
    """A line: `-` it goes, `+` it comes, a blank: it stays, `...`: lines that stay are left out."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Solution:
    """Right solutions of a question, for a person who passed or gave up."""

    choice: Choice
    passed: bool
    full: str  # the reference
    repair: tuple[Change, ...]  # of the starter, to the right solution that is nearest to it
    mine: tuple[Change, ...] | None  # likewise of one's own file; None: there is none
    solutions: int  # how many right ones are known


def hint(ctx: Context, question_id: str | None, *, number: int | None = None) -> Hints:
    """Return one hint more than last time, or hint `number`; all when there is none left.

    Hints are numbered through the parts, and those of later parts do not show.

    Raises:
        UsageError: There is no hint of that number.
    """
    choice = resolve(ctx, question_id)
    yours, parts = ctx.progress(choice.question), choice.question.spec.parts
    asked = parts[: yours.asked(len(parts))]
    hints = [hint for part in asked for hint in part.hints]
    if not hints:
        return Hints(choice, (), 0)
    if number is not None and number > len(hints):
        raise UsageError(f"--number: expected a number from 1 to {len(hints)}, found {number}")
    shown, earlier = yours.hints, len(hints) - len(asked[-1].hints)
    one = number or max(shown, earlier) + 1  # one of the current part
    if one > len(hints):
        return Hints(choice, tuple(enumerate(hints, 1)), 0, len(hints), all=True)
    kept = one <= shown or ctx.add(replace(ctx.event("hint", choice.question), hint=one))
    return Hints(choice, ((one, hints[one - 1]),), len(hints) - one, len(hints), counted=kept)


def solution(ctx: Context, question_id: str | None, *, give_up: bool = False) -> Solution:
    """Return the solutions, to a person who passed or who gives up.

    Raises:
        UsageError: Neither is the case.
    """
    from grader import forms

    choice = resolve(ctx, question_id)
    question = choice.question
    form = forms.of(question.spec)
    yours = ctx.progress(question)
    over = form.one_try and yours.tries > 0  # it cannot be passed any more
    if not (yours.passed or yours.given_up or give_up or over):
        raise UsageError(
            f"the solution of {question.id} is shown after a pass",
            hint=f"Next: drill hint{choice.argument}   drill solution{choice.argument} --give-up",
        )
    ctx.add(ctx.event("solution", question))
    texts = [*question.accepted.values()]  # in the form in which one is handed in
    sources = texts if form.is_text and texts else [question.reference, *texts]
    right = [_text(question.handed_out(source)) for source in sources]
    repair = nearest(_text(question.handed_out(question.starter)), right)
    mine = None
    if choice.workspace is not None:
        with suppress(UsageError):  # there is no such file any more
            mine = nearest(_text(files.read_submission(choice.workspace.submission)), right)
    return Solution(choice, yours.passed, right[0], repair, mine, len(right))


def nearest(before: str, others: Sequence[str]) -> tuple[Change, ...]:
    """The changes to the one of some texts for which the fewest lines have to be changed.

    Texts are compared, never read as programs.
    """
    found = [_changes(before.splitlines(), other.splitlines()) for other in others]
    return min(found, key=lambda changes: sum(change.sign in {"-", "+"} for change in changes))


def _changes(before: list[str], after: list[str]) -> tuple[Change, ...]:
    from difflib import unified_diff

    lines = [*unified_diff(before, after, n=_AROUND, lineterm="")][3:]  # after names and a place
    return tuple(
        Change("...", "") if line.startswith("@@") else Change(line[0], line[1:]) for line in lines
    )


def _text(source: bytes) -> str:
    return source.decode("utf-8", "replace")
