"""How an answer to a follow-up is read, and what it is held against."""

# ruff: noqa: E501 a message that is compared stands on one line

from __future__ import annotations

import re
from typing import Any

import pytest

from grader.forms.base import UnreadableAnswer
from grader.forms.follow_up import answer_format, judge_answer, right_answer, spec_errors
from grader.model.spec import FollowUp

CHOICE = {"choice": ["one", "two", "three"], "right": 2, "ideas": {"3": "far"}}
SIZE = {"number": "67.1 MB", "ideas": {"134.2 MB": "twice"}}
SHARE = {"number": -0.25, "within": 0.01}
ROW = {"array": [[1, 0, 2]], "ideas": {"2 0 1": "turned"}}
SQUARE = {"array": [[1, 0], [0, 3]], "within": 0.1}


def made(keys: dict[str, Any]) -> FollowUp:
    return FollowUp.model_validate({"ask": "a", "answer": "b"} | keys)


@pytest.mark.parametrize(
    ("keys", "text", "came"),
    [
        (CHOICE, " 2 ", (True, "")),
        (CHOICE, "1", (False, "")),
        (CHOICE, "3", (False, "far")),
        (SIZE, "67.1 MB", (True, "")),
        (SIZE, "64 MiB", (True, "")),
        (SIZE, "2 * 131072 * 64 * 4 B", (True, "")),
        (SIZE, "about 67.1 MB (64 MiB)", (True, "")),
        (SIZE, "131072 * 512 B = 67,1 megabytes.", (True, "")),
        (SHARE, "\u221225 %", (True, "")),
        (CHOICE, "(2)", (True, "")),
        (SIZE, "64 MB", (False, "")),
        (SIZE, "135 MB", (False, "twice")),
        (SHARE, "-1/4", (True, "")),
        (SHARE, "0.25", (False, "")),
        (ROW, "1 0 2", (True, "")),
        (ROW, "[1, 0.0, 4/2]", (True, "")),
        (ROW, "1 0 2.01", (False, "")),
        (ROW, "2,0,1", (False, "turned")),
        (SQUARE, "[[1, 0], [0, 3.2]]", (True, "")),
        (SQUARE, "1 0; 0 3", (True, "")),
        (SQUARE, "1 0\n0 3\n", (True, "")),
        (SQUARE, "1 0.1; 0 3", (False, "")),  # nothing is near 0 but 0
        (SQUARE, "1 0; 0 -3", (False, "")),
    ],
)
def test_an_answer_is_right_or_wrong(
    keys: dict[str, Any], text: str, came: tuple[bool, str]
) -> None:
    assert judge_answer(made(keys), text) == came


@pytest.mark.parametrize(
    ("keys", "text", "said"),
    [
        (CHOICE, "4", "expected a number from 1 to 3, found '4'"),
        (CHOICE, "two", "expected a number from 1 to 3, found 'two'"),
        (CHOICE, "\u0662", "expected a number from 1 to 3, found"),  # a digit, and none of these
        (SIZE, "67.1", "expected a number with its unit, found no unit"),
        (SIZE, "67.1 ms", "is an amount of memory, which ms is not; units are "),
        (SIZE, "big", "expected a number with its unit, found 'big'"),
        (SHARE, "a quarter", "needs a number such as 0.25, -3 or 2/3, found 'a quarter'"),
        (ROW, "1 0", "expected 3 numbers, found 2 numbers"),
        (ROW, "", "expected 3 numbers, found none"),
        (ROW, "1 0 two", "needs a number such as 0.25, -3 or 2/3"),
        (SQUARE, "1 0; 0", "expected 2 rows of 2 numbers, as 1 2; 3 4, found 2 numbers; 1 numbers"),
        (SQUARE, "1 0 0 3", "expected 2 rows of 2 numbers, as 1 2; 3 4, found 4 numbers"),
        (SQUARE, "1 0; 0 nan", "needs a number such as 0.25, -3 or 2/3"),
        (SQUARE, "9" * 100_000, "needs a number such as 0.25"),
        (SQUARE, "[" * 100_000, "as 1 2; 3 4, found none"),
    ],
)
def test_an_unreadable_answer_says_what_is_expected(
    keys: dict[str, Any], text: str, said: str
) -> None:
    with pytest.raises(UnreadableAnswer, match=re.escape(said)) as found:
        judge_answer(made(keys), text)
    assert len(found.value.sentence) < 300


@pytest.mark.parametrize(
    ("keys", "how", "typed"),
    [
        (CHOICE, "a number from 1 to 3", "2"),
        (SIZE, "a number with its unit", "67.1 MB"),
        ({"number": "3.35 TB/s"}, "a number with its unit", "3.35 TB/s"),
        (SHARE, "a number", "-0.25"),
        (ROW, "3 numbers", "1 0 2"),
        (SQUARE, "2 rows of 2 numbers, as 1 2; 3 4", "1 0; 0 3"),
        ({}, "in words", ""),
    ],
)
def test_a_follow_up_has_a_format_and_a_right_answer(
    keys: dict[str, Any], how: str, typed: str
) -> None:
    assert (answer_format(made(keys)), right_answer(made(keys))) == (how, typed)


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ({}, []),
        ({"points": ["a", "b"]}, []),
        (CHOICE, []),
        (SQUARE, []),
        (CHOICE | {"number": 1}, ["number: expected one of choice, number, array, points, found choice and number"]),
        ({"choice": ["one", "two"]}, ["right: expected the number of one of 2 answers, found none"]),
        (CHOICE | {"right": 4}, ["right: expected the number of one of 3 answers, found 4"]),
        ({"right": 1}, ["right: expected the number of one of 0 answers, found 1"]),
        ({"number": "67.1 Mb"}, ["number: expected a finite number, a space and a known unit, or rows of one length, found '67.1 Mb'"]),
        ({"number": "67.1 MB", "ideas": {"1": "far"}}, ["ideas.1: expected a number with its unit, found no unit"]),
        ({"array": [[1, 2], [3]]}, ["array: expected a finite number, a space and a known unit, or rows of one length, found '1 2; 3'"]),
        ({"array": [[float("nan")]]}, ["array: expected a finite number, a space and a known unit, or rows of one length, found 'nan'"]),
        (CHOICE | {"ideas": {"1": "fra"}}, ["ideas.1: expected an idea, found 'fra'; did you mean 'far'?"]),
        (CHOICE | {"ideas": {"2": "far"}}, ["ideas.2: expected a wrong choice, number or array, found none"]),
        (CHOICE | {"ideas": {"9": "far"}}, ["ideas.9: expected a number from 1 to 3, found '9'"]),
        ({"points": ["a"], "ideas": {"a": "far"}}, ["ideas.a: expected a wrong choice, number or array, found none"]),
    ],
)  # fmt: skip
def test_faults_of_its_keys(keys: dict[str, Any], found: list[str]) -> None:
    known = ["far", "twice", "turned"]
    said = [f"{'.'.join(map(str, at))}: {text}" for at, text in spec_errors(made(keys), known)]
    assert said == found
