"""Sentences on wrong solutions of the program's own questions that a reader once found false."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import bank
from grader.model.report import Report
from grader.reports.words import ideas
from grader.session import GradingSession

pytestmark = pytest.mark.usefixtures("one_zygote")

ROOT = Path(__file__).parents[2]
SEED = 8121


@pytest.fixture(scope="module")
def softmax() -> Iterator[GradingSession]:
    with GradingSession(bank.load([ROOT], "softmax-cross-entropy"), clock=lambda: 0.0) as opened:
        yield opened


@pytest.fixture(scope="module")
def conv() -> Iterator[GradingSession]:
    with GradingSession(bank.load([ROOT], "conv1d-per-step"), clock=lambda: 0.0) as opened:
        yield opened


def explained(session: GradingSession, name: str) -> Report:
    path = ROOT / "tests" / "solutions" / session.question.id / "wrong" / f"{name}.py"
    return session.grade(path.read_bytes(), seed=SEED)


def texts(report: Report) -> list[str]:
    return [e.text for e in report.explanations]


def test_a_class_is_refuted_by_a_case_of_another_check(softmax: GradingSession) -> None:
    # Soft targets are wrong too where they add up to 1, as in a case of the contract alone.
    (text,) = texts(explained(softmax, "hard_targets_only"))
    assert "several entries that are not 0" in text
    assert "add up to 1" not in text


def test_every_entry_is_said_only_where_no_entry_can_be_right(softmax: GradingSession) -> None:
    found = texts(explained(softmax, "extended_precision"))
    assert "log_softmax is infinite in every entry that is wrong." in found


def test_a_measure_does_not_say_what_a_check_of_values_says(softmax: GradingSession) -> None:
    report = explained(softmax, "labels_of_one_byte")
    assert any("wrong on fresh inputs" in c.message for c in report.checks)
    assert not any("fresh inputs" in text for text in texts(report))


@pytest.mark.parametrize("name", ["padding_capped", "same_padding_by_default"])
def test_what_is_wrong_before_an_exception_comes_first(name: str, conv: GradingSession) -> None:
    report = explained(conv, name)
    (text,) = [e.text for e in report.explanations if e.kind == "check"]
    assert text.startswith("y has shape (")
    assert "after that your conv1d_backward raised ValueError" in text
    page = " ".join(idea.text for idea in ideas(report))
    assert page.count("y has shape (") == 1


def test_an_exception_has_its_message_and_its_call(conv: GradingSession) -> None:
    (text,) = texts(explained(conv, "scales_grad_y_and_restores"))
    assert "raised ValueError in case broadcast: output array is read-only, in `grad_x, " in text
