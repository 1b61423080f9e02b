"""Answers to follow-ups: how one is read, whether it is right, and which idea a wrong one shows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from grader.forms.base import UnreadableAnswer
from grader.forms.quantities import RequestedQuantity, parse_fraction
from grader.forms.quantities import read_quantity as read_number
from grader.forms.units import unit_of
from grader.model.errors import did_you_mean
from grader.model.spec import FollowUp, KeyPath

DEFAULT_TOLERANCE = 0.03  # the share by which a number may be off, where its question does not say
ARRAY_ROUNDING = 1e-9  # the same of an array, in shares of its largest entry: of 1/3, nine digits
_GRADED = ("choice", "number", "array", "points")

Rows = list[list[float]]  # a choice or a number is a row of one


def answer_format(one: FollowUp) -> str:
    """How to write an answer: "a number from 1 to 4"."""
    match one.kind:
        case "choice":
            return f"a number from 1 to {len(one.choice)}"
        case "number":
            return "a number" + " with its unit" * (unit_of(one.number) != "1")
        case "array":
            row = f"{len(one.array[0])} numbers"
            return row if len(one.array) == 1 else f"{len(one.array)} rows of {row}, as 1 2; 3 4"
    return "in words"


def right_answer(one: FollowUp) -> str:
    """The right answer as it can be typed; empty where it is in words."""
    rows = (" ".join(f"{x:.10g}" for x in row) for row in one.array)
    return str(one.right) if one.choice else one.number or "; ".join(rows)


def read_answer(one: FollowUp, text: str) -> Rows:
    """What was answered; Unreadable where it is no answer to this question."""
    expected = f"expected {answer_format(one)}, found"
    if one.choice:
        chosen = text.strip(" \t\r\n().:")
        if chosen not in [str(n) for n, _ in enumerate(one.choice, 1)]:
            raise UnreadableAnswer(f"{expected} {text!r}")
        return [[float(chosen)]]
    if one.number:
        unit = unit_of(one.number)
        if unit == "1":
            return [[parse_fraction(text, unit, one.ask)]]
        amount = read_number(
            text, RequestedQuantity(f"expected {answer_format(one)}", unit, one.ask)
        )
        if not amount.unit:
            raise UnreadableAnswer(f"{expected} no unit")
        return [[amount.value]]
    lines = re.split(r"[];\n]", text.replace("[", " "))
    rows = [[parse_fraction(word, "1") for word in re.split(r"[,\s]+", row)]
            for line in lines if (row := line.strip(" ,\t\r"))]  # fmt: skip
    if (found := [*map(len, rows)]) != [len(one.array[0]) for _ in one.array]:
        raise UnreadableAnswer(f"{expected} {'; '.join(f'{n} numbers' for n in found) or 'none'}")
    return rows


def judge_answer(one: FollowUp, text: str) -> tuple[bool, str]:
    """Whether an answer is right, and the idea that it shows, if it shows one of those listed.

    Raises:
        Unreadable: it is no answer.
    """
    given = read_answer(one, text)
    if _alike(one, given, right_answer(one)):
        return True, ""
    return False, next((idea for said, idea in one.ideas.items() if _alike(one, given, said)), "")


def spec_errors(one: FollowUp, ideas: Collection[str]) -> Iterator[tuple[KeyPath, str]]:
    """What is wrong with its keys together: the path of a key, and a sentence."""
    if len(graded := [key for key in _GRADED if getattr(one, key)]) > 1:
        yield (graded[1],), f"expected one of {', '.join(_GRADED)}, found {' and '.join(graded)}"
    if (one.right or 0) not in range(bool(one.choice), len(one.choice) + 1):
        found = one.right or "none"
        yield ("right",), f"expected the number of one of {len(one.choice)} answers, found {found}"
        return
    try:
        if one.kind != "points":
            read_answer(one, right_answer(one))
    except UnreadableAnswer:
        text = "expected a finite number, a space and a known unit, or rows of one length"
        yield (one.kind,), f"{text}, found {right_answer(one)!r}"
        return
    for said, idea in one.ideas.items():
        if idea not in ideas:
            yield ("ideas", said), f"expected an idea, found {idea!r}{did_you_mean(idea, ideas)}"
        try:
            if one.kind == "points" or judge_answer(one, said)[0]:
                yield ("ideas", said), "expected a wrong choice, number or array, found none"
        except UnreadableAnswer as wrong:
            yield ("ideas", said), wrong.sentence


def _alike(one: FollowUp, given: Rows, typed: str) -> bool:
    """Whether an answer is the one that is typed so, as nearly as is asked for."""
    within = (DEFAULT_TOLERANCE if one.number else 0.0) if one.within is None else one.within
    there = read_answer(one, typed)
    scale = max(abs(x) for row in there for x in row)
    pairs = ((x, y) for a, b in zip(given, there, strict=True) for x, y in zip(a, b, strict=True))
    return all(abs(x - y) <= within * abs(y) + ARRAY_ROUNDING * scale for x, y in pairs)
