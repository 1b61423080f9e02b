"""Sentences on wrong solutions of the program's own questions that a reader once found false."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import bank
from grader.model.report import Report
from grader.reports.words import ideas
from grader.session import GradingSession
from tests.audit.audits import question

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


P = {"simplex": [4]}
TARGETS = {
    "first": [1.0, 0.0, 0.0, 0.0],
    "second": [0.0, 1.0, 0.0, 0.0],
    "third": [0.0, 0.0, 1.0, 0.0],
    "fourth": [0.0, 0.0, 0.0, 1.0],
    "weights": [0.5, 0.0, 1.5, 0.25],
    "more": [0.2, 0.4, 0.1, 1.0],
    "much": [2.0, 1.0, 0.0, 3.0],
}
SLOPE = """
    import numpy as np

    def slope(p, y):
        return np.divide(-y, p, out=np.zeros_like(p), where=y != 0)
"""
HARD_TARGETS_ONLY = b"""
import numpy as np

def slope(p, y):
    g = np.zeros_like(p)
    g[y.argmax()] = -1 / p[y.argmax()]
    return g
"""


@pytest.mark.parametrize("refuted", [False, True])
def test_a_class_is_refuted_by_a_case_of_another_check(refuted: bool, tmp_path: Path) -> None:
    # Soft targets are wrong too where they add up to 1, as in a case of side effects alone.
    cases: dict[str, object] = {name: {"p": P, "y": y} for name, y in TARGETS.items()}
    checks: list[object] = [{"id": "line", "kind": "outputs", "of": "g", "cases": [*TARGETS]}]
    if refuted:
        cases["soft"] = {"p": P, "y": P}
        checks.append({"id": "manners", "kind": "side-effects", "of": "g", "cases": "soft"})
    asked = question(
        tmp_path,
        reference=SLOPE,
        variants={"open": "def slope(p, y):\n    return p.copy()\n"},
        interface="def slope(p, y): ...",
        run=["g = slope(p, y)"],
        cases=cases,
        checks=checks,
        misconceptions={"open": {"killed_by": "line", "feedback": "It lets p through."}},
    )
    with GradingSession(asked, clock=lambda: 0.0) as session:
        (text,) = texts(session.grade(HARD_TARGETS_ONLY, seed=SEED))
    assert "several entries that are not 0" in text
    assert ("add up to 1" in text) is not refuted


def test_every_entry_is_said_only_where_no_entry_can_be_right(softmax: GradingSession) -> None:
    found = texts(explained(softmax, "extended_precision"))
    assert "log_softmax is infinite in every entry that is wrong." in found


def test_a_measure_does_not_say_what_a_check_of_values_says(tmp_path: Path) -> None:
    gate = {"id": "gate", "kind": "outputs", "of": "y"}
    speed = {"id": "speed", "kind": "performance", "cases": "many", "at_most": 50}
    source = b"import numpy as np\n\ndef relu(x):\n    return 1.5 * np.maximum(x, 0)\n"
    with GradingSession(question(tmp_path, checks=[gate, speed]), clock=lambda: 0.0) as session:
        report = session.grade(source, seed=SEED)
    assert report.checks[1].message == "y is wrong on fresh inputs of case many"
    assert texts(report) == ["y is 1.500 times the right one."]


@pytest.mark.parametrize("name", ["padding_capped", "same_padding_by_default"])
def test_what_is_wrong_before_an_exception_comes_first(name: str, conv: GradingSession) -> None:
    report = explained(conv, name)
    (text,) = [e.text for e in report.explanations if e.kind == "before"]
    assert text.startswith("y has shape (")
    assert "after that your conv1d_backward raised ValueError" in text
    page = " ".join(idea.text for idea in ideas(report))
    assert page.count("y has shape (") == 1


@pytest.fixture(scope="module")
def pooling() -> Iterator[GradingSession]:
    with GradingSession(bank.load([ROOT], "maxpool-routing"), clock=lambda: 0.0) as opened:
        yield opened


def test_a_view_of_a_table_is_not_called_an_index(pooling: GradingSession) -> None:
    assert not explained(pooling, "index_is_a_view").misconceptions


@pytest.mark.parametrize(
    ("name", "idea"),
    [("keeps_the_output_too", "keeps-the-output"), ("closure_over_everything", "keeps-the-input")],
)
def test_who_keeps_more_than_an_idea_is_not_said_to_keep_just_that(
    name: str, idea: str, pooling: GradingSession
) -> None:
    report = explained(pooling, name)
    assert [(m.id, m.exact) for m in report.misconceptions] == [(idea, False)]
    assert not any("exactly" in found.text for found in ideas(report))
    assert "another number of bytes" in ideas(report)[-1].text


def test_an_exception_after_a_wrong_result_has_no_name(conv: GradingSession) -> None:
    assert not explained(conv, "padding_capped").misconceptions


def test_a_message_that_varies_with_the_case_is_not_for_every_call(softmax: GradingSession) -> None:
    found = texts(explained(softmax, "square_batches_only"))
    assert not any("in every case that calls it" in text for text in found)
