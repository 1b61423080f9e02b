"""A submission cannot pass a part with results that it knows from other grades."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader import bank
from grader.audit.forgeable_parts import comparing_checks, is_forgeable
from grader.bank.starter_repair import repaired_starter
from grader.explain.session import GradingSession
from grader.grading.kinds import registry
from grader.grading.session import GradeOptions
from grader.grading.values import to_array
from grader.model.report import Report, Verdict
from grader.sandbox import config
from tests.attacks.forger import forgery
from tests.content import ALWAYS, contents

pytestmark = pytest.mark.usefixtures("one_zygote")

ROOT = Path(__file__).parents[2]
KNOWN, SEED = (1, 2), 20
# Truth values that drivers return.  They are results or facts, and do not say if results are right.
FACTS = {
    "autograd-tape": {"finished", "writable"},  # without a RecursionError; a flag of an array
    "batch-norm": {"is_refused"},  # with a ValueError
    "hooked-gradients": {"unused"},  # parameters without a gradient
    "int8-linear": {"has_gradient"},
    "nan-step-zero": {"is_nan"},
    "speculative-decoding": {"is_kept"},
    "spike-and-clip": {"skipped"},
    "too-smooth": {"mask"},
    "zero-or-none": {"recording", "requires_grad", "training"},
}


class Decided(Exception):
    """Ends a grade before a failure is explained."""


def graded(session: GradingSession, text: bytes) -> Report:
    """Return the report of a grade, without explanations."""
    found: list[Report] = []

    def decided(report: Report) -> None:
        found.append(report)
        raise Decided

    with contextlib.suppress(Decided):
        found.append(session.grade(text, seed=SEED, options=GradeOptions(on_verdict=decided)))
    return found[0]


@pytest.fixture(params=contents(always=ALWAYS))
def session(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[GradingSession]:
    monkeypatch.setattr(config, "_device", "cpu")
    question = bank.load_question([ROOT], request.param)
    if not is_forgeable(question):
        pytest.skip("nothing of the bank runs beside what is handed in")
    with GradingSession(question) as opened:
        yield opened


def passed(session: GradingSession, text: bytes) -> set[str]:
    """Return the parts that a submission passes."""
    return {one.id for one in graded(session, text).parts if one.verdict is Verdict.PASS}


def holds_truth_value(value: Any) -> bool:
    """Return True if a result is or contains a truth value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return any(map(holds_truth_value, value))
    return bool(to_array(value).dtype == np.bool_)


def test_drivers_do_not_judge(session: GradingSession) -> None:
    """Judgments are equal on every seed, so steps of judge make them next to the reference."""
    right = session.new_evaluation(session.bank.reference, SEED)
    found = set[str]()
    for check in right.checks:
        if not registry.kind_named(check.kind).judges_values:
            continue
        by_driver = {
            name
            for step in right.steps(check.run)
            if step.owner == "driver"
            for name in step.targets
        }
        results = right.reference_outcome(check.run, right.cases_of(check)[0]).values
        for name in by_driver & {*right.wanted_results[check.run]}:
            if holds_truth_value(results[name]):
                found.add(name)
    assert found <= FACTS.get(session.question.id, set())


def test_known_values_pass_no_part(session: GradingSession) -> None:
    question = session.question
    for part, name in enumerate(question.spec.part_ids):
        text = repaired_starter(question, part) if part and question.repair else question.starter
        if part and name in passed(session, text):
            text = question.starter  # the changes of the parts before solve this one, too
        for whole in (False, True) if comparing_checks(question, part + 1) else ():
            forged = forgery(session, text, KNOWN, whole=whole)
            assert name not in passed(session, forged), f"part {name}, whole results: {whole}"
