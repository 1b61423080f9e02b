"""Answers that take no thought are tried on every question, whatever its functions return."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from grader.audit.audit import audit
from grader.audit.trivial import ANSWERS, handed_on
from grader.bank import load
from grader.model.audit import AuditReport
from grader.sandbox.worker.mutate.trivial import TrivialAnswers
from tests.audit.audits import audited, said

pytestmark = pytest.mark.usefixtures("one_zygote")

MINI = Path(__file__).parents[1] / "banks" / "mini"


def accepted(report: AuditReport) -> list[str]:
    return [t.name for t in report.trivial if t.accepted]


def test_all_are_stopped_by_a_question_worth_asking(tmp_path: Path) -> None:
    report = audited(tmp_path)
    assert [t.name for t in report.trivial] == list(ANSWERS)
    assert [(t.passes, t.accepted, t.made) for t in report.trivial] == [((), False, True)] * 7


@pytest.mark.parametrize(
    ("answer", "x"),
    [("zeros", [[-1.0, -2.0]]), ("ones", [[1.0, 1.0]]), ("first-argument", [[1.0, 2.0]])],
)
def test_a_question_that_a_trivial_answer_passes_is_at_fault(
    tmp_path: Path, answer: str, x: list[list[float]]
) -> None:
    report = audited(tmp_path, cases={"one": {"x": x}, "another": {"x": [x[0] * 2]}})
    assert answer in accepted(report)
    assert f"the trivial answer {answer} passes every check" in " ".join(report.problems)


def test_a_question_that_calls_once_accepts_what_the_first_call_gave(tmp_path: Path) -> None:
    report = audited(tmp_path, cases={"signs": {"x": [[-1.0, 2.0]]}})
    assert accepted(report) == ["first-call"]


def test_a_check_that_lets_one_through_is_remarked_on_unless_a_needed_check_stops_it(
    tmp_path: Path,
) -> None:
    below = {"x": [[-1.0, -2.0], [-3.0, -4.0]]}
    cases = {"signs": {"x": [[-1.0, 2.0]]}, "below": below}
    gate = {"id": "gate", "kind": "outputs", "of": "y", "cases": "signs"}
    zero = {"id": "zero", "kind": "outputs", "of": "y", "cases": "below"}
    alone = audited(tmp_path / "a", cases=cases, checks=[gate, zero])
    assert accepted(alone) == []
    assert said(alone, "trivial")[0].startswith("zero lets zeros through, and no check")
    guarded = audited(tmp_path / "b", cases=cases, checks=[gate, {**zero, "needs": "gate"}])
    assert said(guarded, "trivial") == []
    assert guarded.checks[1].lets_through == ("zeros",)


def test_what_one_function_hands_to_another_is_left_as_it_is() -> None:
    mini = load([MINI], "deviations")
    assert handed_on(mini, "centre") == [1]
    assert handed_on(mini, "centre_backward") == []


def test_they_are_tried_on_tuples_dicts_drivers_and_tensors() -> None:
    for name in ("deviations", "ledger", "squares-graph"):
        report = audit(load([MINI], name), seeds=(1,))
        assert len(report.trivial) == len(ANSWERS), name
        assert accepted(report) == [], name
        assert all(t.made for t in report.trivial), name


COUNTER = """
    import numpy as np

    class Counter:
        def __init__(self, step):
            self.step = step
            self.count = 0.0

        def add(self, x):
            self.count = self.count + self.step
            return x * self.count
"""
TWICE = """
    def twice(program, x):
        counter = program.Counter(2.0)
        counter.add(x)
        return counter.add(x)
"""


def test_methods_of_a_class_answer_trivially_too(tmp_path: Path) -> None:
    report = audited(
        tmp_path,
        reference=COUNTER,
        driver=TWICE,
        variants={"open": "Counter.add = lambda self, x: x * self.step\n"},
        run=["y = driver.twice(x)"],
        cases={"signs": {"x": [[-1.0, 2.0]]}, "many": {"x": {"normal": [2, 3]}}},
    )
    assert report.problems == ()
    assert [(t.accepted, t.made) for t in report.trivial] == [(False, True)] * 7


FILLED = """
    def filled(program, x):
        into = []
        program.fill(x, into)
        return into
"""


def test_where_none_can_be_made_the_audit_says_so(tmp_path: Path) -> None:
    # What is checked is what `fill` did to the list, not what it returns.
    report = audited(
        tmp_path,
        reference="import numpy as np\n\ndef fill(x, into):\n    into.append(x * 2)\n",
        driver=FILLED,
        variants={"open": "def fill(x, into):\n    into.append(x)\n"},
        run=["y = driver.filled(x)"],
    )
    assert report.problems == ()
    assert any("the trivial answers zeros" in n and "could not be made" in n for n in report.notes)
    assert not any(t.made for t in report.trivial if t.name == "zeros")


@pytest.mark.parametrize(
    ("answer", "value", "wanted"),
    [
        ("zeros", 3, 0),
        ("zeros", None, 0.0),
        ("ones", {"a": 2.5, "b": [True, 7]}, {"a": 1.0, "b": [True, 1]}),
        ("nan", 3, math.nan),
        ("none", (1.0, "x"), (None, None)),
        ("zeros", "text", ""),
        ("first-argument", 4.0, 0.0),
    ],
)
def test_the_form_is_kept_and_the_content_is_not(
    answer: str, value: object, wanted: object
) -> None:
    found = TrivialAnswers(answer).filled(value, [], 0)
    assert repr(found) == repr(wanted)


def test_arrays_keep_their_shape_and_dtype_and_share_no_memory() -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.array([1, 2], np.int64)
    ones = TrivialAnswers("ones").filled((x, y, np.float32(3)), [], 0)
    assert [a.dtype.name for a in ones] == ["float64", "int64", "float32"]
    assert [a.shape for a in ones] == [(2, 3), (2,), ()]
    assert all((np.asarray(a) == 1).all() for a in ones)
    assert np.isnan(TrivialAnswers("nan").filled(x, [], 0)).all()
    given = TrivialAnswers("arguments").filled((x * 9, x * 9), [y, x], 0)
    assert given[0].tolist() == y.tolist()
    assert given[1].tolist() == x.tolist()
    assert not np.shares_memory(given[1], x)


def test_a_function_inside_another_is_the_true_one() -> None:
    answers = TrivialAnswers("zeros")
    inner = answers.stand_in(lambda x: x + 1.0, [])
    outer = answers.stand_in(lambda x: (inner(x), np.full(3, inner(x))), [0])
    assert inner(1.0) == 0.0
    kept, filled = outer(1.0)
    assert kept == 2.0
    assert filled.tolist() == [0.0, 0.0, 0.0]
