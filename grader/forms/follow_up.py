"""Read and judge answers to follow-ups, the questions after a pass."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import chain

from grader.forms.base import UnreadableAnswer
from grader.forms.quantities import RequestedQuantity, parse_fraction, read_quantity
from grader.forms.units import unit_of
from grader.model.errors import SpecErrors, did_you_mean
from grader.model.spec import FollowUp

DEFAULT_TOLERANCE = 0.03  # relative, of a number
ARRAY_ROUNDING = 1e-9  # relative to the largest entry: 1/3 may be typed with nine digits
_ANSWER_KEYS = ("choice", "number", "array", "points")

Rows = list[list[float]]  # an array; a choice or a number is [[x]]


def answer_format(follow_up: FollowUp) -> str:
    """Return how to write an answer, as "a number from 1 to 4"; for points "in words"."""
    match follow_up.kind:
        case "choice":
            return f"a number from 1 to {len(follow_up.choice)}"
        case "number":
            return "a number" if unit_of(follow_up.number) == "1" else "a number with its unit"
        case "array":
            rows = follow_up.array
            row = f"{len(rows[0])} numbers"
            return row if len(rows) == 1 else f"{len(rows)} rows of {row}, as 1 2; 3 4"
    return "in words"


def right_answer(follow_up: FollowUp) -> str:
    """Return the right answer as it can be typed; "" if the answer is a text."""
    if follow_up.choice:
        return str(follow_up.right)
    if follow_up.number:
        return follow_up.number
    return "; ".join(" ".join(f"{entry:.10g}" for entry in row) for row in follow_up.array)


def read_answer(follow_up: FollowUp, text: str) -> Rows:
    """Return a typed answer as rows of numbers: [[2.0]] for choice 2; a quantity in its base unit.

    The follow-up must have a choice, a number or an array; points are not read.

    Raises:
        UnreadableAnswer: the text does not answer this question.
    """
    expected = f"expected {answer_format(follow_up)}"
    if follow_up.choice:
        return [[_read_choice(follow_up, text, expected)]]
    if follow_up.number:
        return [[_read_number(follow_up, text, expected)]]
    return _read_array(follow_up, text, expected)


def _read_choice(follow_up: FollowUp, text: str, expected: str) -> float:
    chosen = text.strip(" \t\r\n().:")
    if chosen not in [str(number) for number, _ in enumerate(follow_up.choice, 1)]:
        raise UnreadableAnswer(f"{expected}, found {text!r}")
    return float(chosen)


def _read_number(follow_up: FollowUp, text: str, expected: str) -> float:
    unit = unit_of(follow_up.number)
    if unit == "1":
        return parse_fraction(text, unit, follow_up.ask)
    amount = read_quantity(text, RequestedQuantity(expected, unit, follow_up.ask))
    if not amount.unit:
        raise UnreadableAnswer(f"{expected}, found no unit")
    return amount.value


def _read_array(follow_up: FollowUp, text: str, expected: str) -> Rows:
    rows = []
    for line in re.split(r"[];\n]", text.replace("[", " ")):
        if row := line.strip(" ,\t\r"):
            rows.append([parse_fraction(word) for word in re.split(r"[,\s]+", row)])
    lengths = [len(row) for row in rows]
    if lengths != [len(follow_up.array[0])] * len(follow_up.array):
        counts = "; ".join(f"{length} numbers" for length in lengths)
        raise UnreadableAnswer(f"{expected}, found {counts or 'none'}")
    return rows


def judge_answer(follow_up: FollowUp, text: str) -> tuple[bool, str]:
    """Return (True, "") if an answer is right, else (False, the idea listed for it, or "").

    Raises:
        UnreadableAnswer: the text does not answer the question.
    """
    answer = read_answer(follow_up, text)
    if _equals(follow_up, answer, right_answer(follow_up)):
        return True, ""
    for wrong_answer, idea in follow_up.ideas.items():
        if _equals(follow_up, answer, wrong_answer):
            return False, idea
    return False, ""


def _equals(follow_up: FollowUp, answer: Rows, typed: str) -> bool:
    """Return True if an answer equals `typed`, an answer as text, within the tolerance."""
    tolerance = follow_up.within
    if tolerance is None:
        tolerance = DEFAULT_TOLERANCE if follow_up.number else 0.0
    expected_entries = list(chain(*read_answer(follow_up, typed)))
    rounding = ARRAY_ROUNDING * max(map(abs, expected_entries))
    for entry, expected in zip(chain(*answer), expected_entries, strict=True):
        if not abs(entry - expected) <= tolerance * abs(expected) + rounding:
            return False
    return True


def spec_errors(follow_up: FollowUp, ideas: Collection[str]) -> SpecErrors:
    """Yield each fault in a follow-up: the path of a key, and a sentence.

    `ideas` are the names of the question's ideas, which wrong answers may name.
    """
    keys = [key for key in _ANSWER_KEYS if getattr(follow_up, key)]
    if len(keys) > 1:
        yield (keys[1],), f"expected one of {', '.join(_ANSWER_KEYS)}, found {' and '.join(keys)}"
    choices = len(follow_up.choice)
    first = 1 if choices else 0  # without choices, `right` must not be given
    if not first <= (follow_up.right or 0) <= choices:
        right = follow_up.right or "none"
        yield ("right",), f"expected the number of one of {choices} answers, found {right}"
        return
    try:
        if follow_up.kind != "points":
            read_answer(follow_up, right_answer(follow_up))
    except UnreadableAnswer:
        text = "expected a finite number, a space and a known unit, or rows of one length"
        yield (follow_up.kind,), f"{text}, found {right_answer(follow_up)!r}"
        return
    for wrong_answer, idea in follow_up.ideas.items():
        path = ("ideas", wrong_answer)
        if idea not in ideas:
            yield path, f"expected an idea, found {idea!r}{did_you_mean(idea, ideas)}"
        try:
            if follow_up.kind == "points" or judge_answer(follow_up, wrong_answer)[0]:
                yield path, "expected a wrong choice, number or array, found none"
        except UnreadableAnswer as error:
            yield path, error.sentence
