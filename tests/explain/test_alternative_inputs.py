"""A wrong result is compared with the right one for other inputs, and with those of ideas."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.explain.session import GradingSession
from grader.model.report import Report
from tests.explain.making import load, reference_with

pytestmark = pytest.mark.usefixtures("one_zygote")

WEIGHTED = """
def centre(x, w):
    d = _centred(x)
    return ({}) * d, (d, np.array(w))
"""
HALF = """
def spread(x):
    return float((_centred(x) ** 2).mean()) / 2
"""
RANDOM_SLOPES = """
def centre_backward(grad_y, ctx):
    return np.random.standard_normal(grad_y.shape), np.random.standard_normal(grad_y.shape)
"""


@pytest.fixture(scope="module")
def session() -> Iterator[GradingSession]:
    with GradingSession(load("deviations")) as opened:
        yield opened


def graded(session: GradingSession, over: str) -> Report:
    return session.grade(reference_with("deviations", over), seed=5)


def texts(report: Report) -> list[tuple[str, str]]:
    return [(explanation.kind, explanation.text) for explanation in report.explanations]


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        ("w + 1", "y is what would be right with w + 1 in place of w."),
        ("w * w", "y is what would be right with the square of w in place of w."),
        # forgot-weight gives 1 in place of w.
        ("2 - w",
         'y is off by twice what a known mistake is off by ("You left the weight out.").'),
    ],
)  # fmt: skip
def test_a_result_equals_that_of_other_inputs_or_follows_an_idea(
    weight: str, text: str, session: GradingSession
) -> None:
    assert texts(graded(session, WEIGHTED.format(weight))) == [("rule", text)]


@pytest.mark.parametrize(
    "weight",
    [
        "w + (1 if len(x) < 2 else 2)",  # each case another
        "np.full_like(w, 2 if len(x) < 2 else 3)",
        "w + np.cos(w)",
    ],
)
def test_a_statement_must_hold_on_every_case(weight: str, session: GradingSession) -> None:
    explanations = texts(graded(session, WEIGHTED.format(weight)))
    assert not any("would be right" in text or "known mistake" in text for _, text in explanations)


def test_a_right_case_refutes_other_inputs(session: GradingSession) -> None:
    """With w + 1, the cases with one row would be wrong, but they are right."""
    assert texts(graded(session, WEIGHTED.format("w + (len(x) > 1)"))) == [
        ("rule", "Wherever y is wrong, it is what would be right with w + 1 in place of w.")
    ]


def test_a_result_that_the_named_idea_does_not_explain_is_explained(
    session: GradingSession,
) -> None:
    report = graded(session, WEIGHTED.format("1.0") + HALF)
    assert [idea.id for idea in report.misconceptions] == ["forgot-weight"]
    assert ("rule", "s is half the right one.") in texts(report)


def test_an_idea_computed_in_lower_precision_is_named(session: GradingSession) -> None:
    rounded = WEIGHTED.format("1.0").replace("* d,", "* d.astype(np.float32).astype(x.dtype),")
    report = graded(session, rounded)
    assert [(idea.id, idea.rounded) for idea in report.misconceptions] == [("forgot-weight", True)]


def test_wrong_and_right_results_are_listed_if_nothing_else_is_known(
    session: GradingSession,
) -> None:
    text = "Only grad_x and grad_w are wrong; y is right in every case that was tried."
    assert texts(graded(session, RANDOM_SLOPES)) == [("results", text)]
