"""Answers that are texts, handed in by a class."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.app.classes import ClassPlan, grade_class
from grader.app.context import Context
from grader.classroom.layout import NONE, AnswerNames
from grader.classroom.results import Results
from grader.model.errors import UsageError

ROOT = Path(__file__).parents[2]
RIGHT = "grad_x[1] = 2\ngrad_x[4] = 8\ngrad_x[6] = 0\n"


@pytest.mark.parametrize(
    ("own", "answers"),
    [
        (["seven-windows.txt"], ["seven-windows"]),
        (["seven_windows.txt"], ["seven-windows"]),
        (["seven-windows", "answers.txt"], ["seven-windows"]),
        (["seven-windows.py"], []),
        (["maxpool-routing.txt"], []),
        (["maxpool-routing", "answers.txt"], []),
        (["answers.txt"], []),
        (["readme.txt"], []),
        (["maxpool-routing.py"], ["maxpool-routing"]),
    ],
)
def test_a_text_answers_a_question_that_asks_for_one(own: list[str], answers: list[str]) -> None:
    asked = AnswerNames(["seven-windows", "maxpool-routing"], ["seven-windows"])
    assert [one for one, rank in asked.answers(own) if rank[0] != NONE] == answers


def test_a_class_is_graded(tmp_path: Path) -> None:
    handed = tmp_path / "handed-in"
    for student, text in (("ann", RIGHT), ("bob", RIGHT.replace("8", "5")), ("cy", "8?")):
        (handed / student).mkdir(parents=True)
        (handed / student / "seven-windows.txt").write_text(text)
    plan = ClassPlan(handed, ("seven-windows",), tmp_path / "out", seed=7, level="process", jobs=1)
    context = Context(tmp_path, tmp_path / "home", lambda: "", bank=ROOT)
    assert sum(1 for _ in grade_class(context, plan)) == 3
    with Results(tmp_path / "out") as results:
        found = {e.handed.student: e.report for e in results.entries()}
    assert {name: str(one.verdict) for name, one in found.items() if one} == {
        "ann": "pass", "bob": "fail", "cy": "error",
    }  # fmt: skip
    assert found["bob"] is not None
    assert [idea.id for idea in found["bob"].misconceptions] == ["overwrite"]
    assert found["cy"] is not None
    assert found["cy"].message.endswith("expected NAME = VALUE, found no =")


def test_results_lie_outside_of_submissions_and_a_refusal_writes_nothing(tmp_path: Path) -> None:
    context = Context(tmp_path, tmp_path / "home", lambda: "", bank=ROOT)
    (tmp_path / "in").mkdir()
    for folder, said in ((tmp_path / "in", "--out"), (tmp_path / "none", "none")):
        plan = ClassPlan(folder, ("seven-windows",), folder / "out", level="process", jobs=1)
        with pytest.raises(UsageError, match=said):
            next(iter(grade_class(context, plan)))
        assert not (folder / "out").exists()
