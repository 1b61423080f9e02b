"""The estimates of `roofline-and-ledger`: by the published count, and as people round them."""

from __future__ import annotations

import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import bank
from grader.model.report import Report, Verdict
from grader.session import GradingSession

pytestmark = pytest.mark.usefixtures("one_zygote")

QUESTION = bank.load([Path(__file__).parents[2]], "roofline-and-ledger")
UNITS = {
    "residual": "B", "saved": "B", "stored": "B", "state": "B", "break_even": "",
    "product_time": "s", "gelu_time": "s", "ridge": "",
}  # fmt: skip
S, H, A, L = 8192, 8192, 64, 80  # tokens, width, heads, blocks


@pytest.fixture(scope="module")
def session() -> Iterator[GradingSession]:
    with GradingSession(QUESTION) as opened:
        yield opened


def numbers(more: bytes = b"") -> dict[str, float]:
    """What the reference gives, or a misconception on top of it."""
    program = types.ModuleType("reference")
    exec(QUESTION.reference, vars(program))
    exec(more, vars(program))
    return {
        **program.ledger(L, H, A, S), **program.opinions(70e9, H), **program.roofline(H, S)
    }  # fmt: skip


def graded(session: GradingSession, found: dict[str, float]) -> Report:
    lines = (f"{name} = {one:.3g} {UNITS[name]}\n" for name, one in found.items())
    return session.grade("".join(lines).encode(), seed=3, filename="answers.txt")


def test_the_figures_are_those_of_the_paper_and_of_the_roofline() -> None:
    found = numbers()
    assert found["residual"] == 2 * S * H * L == 10_737_418_240
    assert found["saved"] == 34 * S * H * L  # Korthikanti and others: s b h (34 + 5 a s / h)
    assert found["stored"] == 5 * A * S * S * L
    assert found["state"] == 16 * 70e9
    assert found["break_even"] == pytest.approx(192 * H / 34)
    assert found["product_time"] == pytest.approx(2 * S * 4 * H * H / 989e12)
    assert found["gelu_time"] == pytest.approx(4 * S * 4 * H / 3.35e12)
    at = found["ridge"]
    moved = 2 * (at * H + 4 * H * H + 4 * at * H)
    assert 8 * at * H * H / 989e12 == pytest.approx(moved / 3.35e12)


def test_the_figures_that_are_quoted() -> None:
    found = numbers()
    assert found["gelu_time"] / found["product_time"] == pytest.approx(0.072, abs=5e-4)
    assert (found["saved"] + found["stored"]) / 1e12 == pytest.approx(1.9, abs=0.05)
    moved = 2 * (S * H + 4 * H * H + 4 * S * H) / 3.35e12
    assert found["product_time"] / moved == pytest.approx(12, abs=0.5)
    without = numbers(QUESTION.variants["result-not-written"][0])["ridge"]
    assert 295 < 989e12 / 3.35e12 < without < 295 * 1.01


@pytest.mark.parametrize("idea", sorted(QUESTION.variants))
def test_an_idea_is_named_by_numbers_of_three_digits(idea: str, session: GradingSession) -> None:
    report = graded(session, numbers(QUESTION.variants[idea][0]))
    assert report.verdict is Verdict.FAIL
    assert {one.id for one in report.misconceptions if one.exact} == {idea}


@pytest.mark.parametrize(
    "off",
    [
        {"residual": 1.5}, {"saved": 0.7}, {"stored": 3.0}, {"state": 1.3}, {"break_even": 10.0},
        {"product_time": 1.4}, {"gelu_time": 3.0}, {"ridge": 1.3}, {"ridge": 0.1},
        {"saved": 1.5, "state": 0.6}, {"product_time": 1000.0}, {"residual": 1 / 1024},
    ],
    ids=str,
)  # fmt: skip
def test_other_wrong_numbers_are_given_no_name(
    off: dict[str, float], session: GradingSession
) -> None:
    found = {name: one * off.get(name, 1) for name, one in numbers().items()}
    report = graded(session, found)
    assert report.verdict is Verdict.FAIL
    assert [one.id for one in report.misconceptions if one.exact] == []
