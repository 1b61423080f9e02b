"""Files next to a program run when the program imports them, as in Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import bank
from grader.explain.session import GradingSession
from grader.grading.session import GradeOptions
from grader.model.report import Verdict

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.usefixtures("one_zygote")


@pytest.fixture(scope="module")
def session() -> Iterator[GradingSession]:
    with GradingSession(bank.load_question([ROOT], "softmax-cross-entropy")) as opened:
        yield opened


BREAKS = {"beside": b"raise RuntimeError('it was run')\n"}


@pytest.mark.parametrize(
    ("line", "modules"),
    [
        ("if __name__ == '__main__': import beside", BREAKS),
        ("def unused():\n    import beside", BREAKS),
        ("'''\nimport beside\n'''", BREAKS),
        ("try:\n    import beside\nexcept Exception:\n    beside = None", BREAKS),
        ("import beside", {"beside": b"import other\nx = 1", "other": b"import beside\ny = 2"}),
        ("import beside\nassert beside.x == 1", {"beside": b"x = 1"}),
    ],
    ids=["as-a-script", "in-a-function", "in-a-text", "tried", "in-a-circle", "imported"],
)
def test_a_file_beside_a_program_runs_only_when_it_is_imported(
    line: str, modules: dict[str, bytes], session: GradingSession
) -> None:
    source = line.encode() + b"\n" + session.question.reference
    report = session.grade(source, seed=3, options=GradeOptions(modules=modules))
    assert report.verdict is Verdict.PASS, report.message


def test_a_file_that_raises_when_it_is_imported_is_named(session: GradingSession) -> None:
    report = session.grade(b"import beside\n", seed=3, options=GradeOptions(modules=BREAKS))
    assert report.verdict is Verdict.ERROR
    assert "RuntimeError: it was run, in beside.py:1" in report.message


def test_a_file_that_does_not_parse_is_named(session: GradingSession) -> None:
    report = session.grade(
        b"import beside\n", seed=3, options=GradeOptions(modules={"beside": b"def f(:\n"})
    )
    assert report.verdict is Verdict.ERROR
    assert "in beside.py:1" in report.message
