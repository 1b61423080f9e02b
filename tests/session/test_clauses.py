"""The clauses of the contract that a failing check quotes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.bank import load
from grader.model.report import Clause, Report
from grader.reports.json import to_json
from grader.session import GradingSession
from tests.pages import page_of

pytestmark = pytest.mark.usefixtures("one_zygote")

SPEC = Path(__file__).parents[1] / "banks" / "parts" / "questions" / "mean-and-spread.yaml"
MEAN = "def mean(x):\n    return float(x.sum() / x.size)\n"
RAISES = "def mean(x):\n    return float(sum(x) / len(x))\n"
BROKEN = "def mean(x):\n    return float(x.men())\n"
LONG = "The mean of no entries, which is what a worker without any work to do sends us, is 0."
EDITS = {
    "m, cases: [few": "m, clause: 1, cases: [few",
    "m, cases: nothing": "m, clause: [2, 1], cases: nothing",
    "[The mean of no entries is 0.]": f'["{LONG}"]',
}
CLAUSES = (Clause(2, LONG), Clause(1, "m is the arithmetic mean of the entries of x."))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GradingSession]:
    text = SPEC.read_text()
    for old, new in EDITS.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    path = tmp_path_factory.mktemp("bank") / "quoted.yaml"
    path.write_text(text)
    with GradingSession(load([path], "quoted")) as opened:
        yield opened


def quoted(report: Report) -> dict[str, tuple[Clause, ...]]:
    return {check.id: check.clauses for check in report.checks if check.clauses}


def page(report: Report, **more: Any) -> list[str]:
    return page_of(report, **more).splitlines()


def test_what_fails_quotes_its_clauses(session: GradingSession) -> None:
    report = session.grade(MEAN.encode(), seed=1)
    assert quoted(report) == {"nothing": CLAUSES}
    checks = {check["id"]: check for check in to_json(report)["checks"]}  # type: ignore[attr-defined]
    assert [one["number"] for one in checks["nothing"]["clauses"]] == [2, 1]
    assert checks["mean"]["clauses"] == []


def test_an_exception_breaks_a_clause_where_the_code_works_otherwise(
    session: GradingSession,
) -> None:
    assert quoted(session.grade(RAISES.encode(), seed=1)) == {"nothing": CLAUSES}
    assert quoted(session.grade(BROKEN.encode(), seed=1)) == {}


def test_the_starter_is_shown_no_clause(session: GradingSession) -> None:
    report = session.grade(session.question.starter, seed=1)
    assert quoted(report) == {"mean": CLAUSES[1:]}
    assert not [line for line in page(report) if "contract" in line]
    assert [line for line in page(report, explain=True) if "contract, 1: m is the" in line]
