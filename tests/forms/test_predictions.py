"""Whoever predicts what a listed idea computes is told so, with numbers rounded by hand."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import pytest

from grader import bank
from grader.model.report import Verdict
from grader.session import GradingSession

pytestmark = pytest.mark.usefixtures("one_zygote")

ROOT = Path(__file__).parents[2]
INPUTS: dict[str, tuple[Any, ...]] = {
    "nine-cells": (3, 3, 2, 1, [[1.0, 2.0], [4.0, 8.0]]),
    "seven-windows": ([1.0, 4.0, 4.0, 2.0, 9.0, 3.0, 9.0], 3, 2, [2.0, 3.0, 5.0]),
    "two-rows-count": ([1.0, 3.0, 6.0], 1, 2, 3),
}


@pytest.mark.parametrize("name", INPUTS)
def test_every_idea_about_a_prediction_is_named_by_its_numbers(name: str) -> None:
    question = bank.load([ROOT], name)
    with GradingSession(question) as session:
        for idea, variants in question.variants.items():
            program = types.ModuleType("variant")
            exec(question.reference, vars(program))
            exec(variants[0], vars(program))
            found = program.entries(*INPUTS[name])
            text = "".join(f"{asked} = {number:.4f}\n" for asked, number in found.items())
            report = session.grade(text.encode(), seed=11, filename="answers.txt")
            assert report.verdict is Verdict.FAIL
            assert [one.id for one in report.misconceptions] == [idea]
