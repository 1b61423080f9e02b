"""Right programs pass every check in any style, and trivial answers do not."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.audit.accepted_and_trivial import (
    ANSWERS,
    STYLES,
    check_accepted_solutions,
    opaque_results,
)
from grader.audit.audit import audit_question
from grader.audit.stand_ins import StandIns
from grader.bank import load_question
from grader.explain.session import GradingSession
from grader.model.audit import AcceptedSolutionResult, AuditReport
from tests.audit.audits import GATE, MINI, SIGNS, audited, cells, question
from tests.harness import each

pytestmark = pytest.mark.usefixtures("one_zygote")

PARTS = Path(__file__).parents[1] / "banks" / "parts"
RNG = np.random.default_rng(7)


# -- styles ----------------------------------------------------------------------------------------


def styled(style: str, function: Any, *arguments: Any) -> Any:
    """Return the result of a function in a style."""
    return StandIns(style).stand_in(function)(*arguments)


def test_float64_inside_gives_back_the_types_of_the_reference() -> None:
    x = RNG.standard_normal((40, 50)).astype(np.float32)

    def mean(x: np.ndarray[Any, Any], floor: float) -> Any:
        return {"mean": x.mean(1), "first": float(x[0, 0]), "ctx": (x, floor)}, x.argmax()

    def context(x: np.ndarray[Any, Any]) -> Any:
        return SimpleNamespace(dtype=x.dtype)

    assert styled("float64", context, x).dtype == np.float32, "an object is the original's"
    (result, place), (plain, right) = styled("float64", mean, x, 0.5), mean(x, 0.5)
    assert result["mean"].dtype == np.float32
    assert type(result["ctx"][0]) is np.ndarray
    assert result["ctx"][0].dtype == np.float32
    assert place == right
    np.testing.assert_array_equal(result["mean"], x.astype(np.float64).mean(1).astype(np.float32))
    assert np.any(result["mean"] != plain["mean"])


@each("style", [*STYLES])
def test_a_style_writes_into_its_arguments_as_the_reference_does(style: str) -> None:
    weights = [RNG.standard_normal((3, 4)).astype(np.float32)]
    wanted = weights[0] * np.float32(0.5)

    def decay(weights: list[np.ndarray[Any, Any]]) -> None:
        weights[0] *= np.float32(0.5)

    def replace(weights: list[np.ndarray[Any, Any]]) -> None:
        weights[0] = weights[0] * np.float32(0.5)

    styled(style, decay, weights)
    np.testing.assert_array_equal(weights[0], wanted)
    with pytest.raises(TypeError, match="the list or dict of a caller"):
        styled(style, replace, weights)


CENTER = """
    import numpy as np

    def relu(x):
        return x - x.sum(-1, keepdims=True) / x.shape[-1]
"""


def test_every_style_passes_a_question_with_a_fair_tolerance(tmp_path: Path) -> None:
    report = audited(tmp_path, seeds=(1, 2), reference=CENTER)
    assert report.problems == ()
    # Nothing is narrower than float64.
    assert report.accepted == (AcceptedSolutionResult("longdouble", 2, 2, derived=True),)


def test_a_tolerance_that_rejects_a_style_is_a_problem_of_the_question(tmp_path: Path) -> None:
    exact, cases = [{**GATE, "exact": True}], {"many": {"x": {"normal": [40, 50]}}}
    problems = audited(tmp_path, (1, 2), reference=CENTER, checks=exact, cases=cases).problems
    assert problems[0].startswith(
        "gate stops the reference computed in long double and cast back, which is right, "
        "on all 2 seeds: y differs"
    )


@pytest.mark.parametrize(
    ("reference", "note"),
    [
        (
            CENTER.replace("return x", "assert x.dtype == np.float64\n        return x"),
            "longdouble: its relu raised AssertionError in case signs",
        ),
        (
            CENTER + "\n    class relu:\n        def __new__(cls, x):\n            return x * 2\n",
            "longdouble: what is called is no function",
        ),
    ],
)
def test_styles_that_cannot_be_derived_share_one_note(
    tmp_path: Path, reference: str, note: str
) -> None:
    report = audited(tmp_path, reference=reference)
    assert report.problems == ()
    assert report.notes == (f"there is no right program in the style {note}",)


# -- right solutions that come with a question -----------------------------------------------------

LOOPS = """\
import numpy as np

def relu(x):
    y = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        if x[place] > 0:
            y[place] = x[place]
    return y
"""
LEAKY = "import numpy as np\n\ndef relu(x):\n    return np.where(x > 0, x, 0.01 * x)\n"


@pytest.mark.parametrize(
    ("sources", "problem", "passed"),
    [
        ({"loops": LOOPS}, "", [("loops", 2)]),
        (
            {"loops": LOOPS, "leaky": LEAKY},
            "gate stops leaky, which is right, on all 2 seeds: y differs in 2 of 2 cases",
            [("loops", 2), ("leaky", 0)],
        ),
        (
            {"broken": "import nunpy\n"},
            "broken is of no use on all 2 seeds: the accepted broken cannot be loaded: raised "
            "ModuleNotFoundError: No module named 'nunpy' (did you mean 'numpy'?)",
            [("broken", 0)],
        ),
        (  # it stands alone, and not over the reference
            {"empty": "def other(x):\n    return x\n"},
            "empty is of no use on all 2 seeds: the accepted empty does not define relu, which the "
            "step 'y = relu(x)' calls",
            [("empty", 0)],
        ),
    ],
    ids=["right", "wrong", "does not load", "defines nothing"],
)
def test_accepted_solutions_are_tried_on_every_seed(
    tmp_path: Path, sources: dict[str, str], problem: str, passed: list[tuple[str, int]]
) -> None:
    report = audit_question(question(tmp_path, code={"accepted": cells({}, sources)}), seeds=(1, 2))
    assert len(report.problems) == bool(problem)
    assert "".join(report.problems).startswith(problem and f"questions/gate.yaml: {problem}")
    assert report.accepted[: len(passed)] == tuple(
        AcceptedSolutionResult(name, seeds, 2) for name, seeds in passed
    )


def test_a_reference_that_disagrees_with_all_right_solutions_is_reported_first(
    tmp_path: Path,
) -> None:
    right = {
        "loops": LOOPS,
        "maximum": "import numpy as np\n\ndef relu(x):\n    return np.maximum(x, 0)\n",
    }
    leaky = question(tmp_path, reference=LEAKY, code={"accepted": cells({}, right)})
    first, *others = audit_question(leaky, seeds=(1, 2)).problems
    assert first == (
        "drills/gate/reference.py: the reference disagrees with every other right solution "
        "(accepted loops, accepted maximum): if it is wrong, fix it first, and the faults below "
        "may go"
    )
    assert [text for text in others if "gate stops loops, which is right" in text]


@each(
    ("listed", "problems"),
    [
        ("short\n# part: 2", []),
        ("short\n# part: 1", []),
        ("short", ["the accepted short does not define spread"]),
        ("short\n# part: 3", ["the accepted short does not define spread"]),
        ("zero\n# part: 1", []),  # of no elements it raises, which part 2 asks about
        ("zero\n# part: 2", ["nothing stops zero"]),
    ],
)
def test_a_solution_of_the_first_parts_is_tried_only_on_these(
    tmp_path: Path, listed: str, problems: list[str]
) -> None:
    name = "zero" if "zero" in listed else "short"
    source = {
        "zero": "def mean(x):\n    return sum(x.tolist()) / len(x)\n",
        "short": "def mean(x):\n    return sum(x.tolist()) / max(1, len(x))\n",
    }[name]
    bank = tmp_path / listed.replace("\n# part: ", "-")
    shutil.copytree(PARTS, bank)
    home = bank / "drills" / "mean-and-spread"
    home.mkdir(parents=True)
    (home / "accepted.py").write_text(f"# %% {listed}\n{source}")
    with GradingSession(load_question([bank], "mean-and-spread")) as session:
        checked = check_accepted_solutions(session, (1,), lambda _: None, {})
    assert len(checked.problems) == len(problems), checked.problems
    for actual, expected in zip(checked.problems, problems, strict=True):
        assert expected in actual


# -- trivial answers -------------------------------------------------------------------------------


def accepted(report: AuditReport) -> list[str]:
    return [t.name for t in report.trivial if t.accepted]


@pytest.mark.parametrize(
    ("answer", "cases"),
    [
        ("zeros", [[-1.0, -2.0], [-1.0, -2.0, -1.0, -2.0]]),
        ("ones", [[1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]),
        ("first-argument", [[1.0, 2.0], [1.0, 2.0, 1.0, 2.0]]),
        ("first-call", [[-1.0, 2.0]]),
    ],
)
def test_a_question_that_a_trivial_answer_passes_is_at_fault(
    tmp_path: Path, answer: str, cases: list[list[float]]
) -> None:
    report = audited(tmp_path, cases={f"case-{i}": {"x": [x]} for i, x in enumerate(cases)})
    assert answer in accepted(report)
    assert f"the trivial answer {answer} passes every check" in " ".join(report.problems)


def test_the_report_lists_the_trivial_answers_that_pass_a_check(tmp_path: Path) -> None:
    cases = {"signs": SIGNS, "below": {"x": [[-1.0, -2.0], [-3.0, -4.0]]}}
    gate, zero = {**GATE, "cases": "signs"}, {**GATE, "id": "zero", "cases": "below"}
    report = audited(tmp_path, cases=cases, checks=[gate, zero])
    assert accepted(report) == []
    assert "zeros" in report.checks[1].lets_through


def test_a_result_that_one_function_hands_to_another_is_not_replaced() -> None:
    mini = load_question([MINI], "deviations")
    assert opaque_results(mini, "centre") == [1]
    assert opaque_results(mini, "centre_backward") == []


@pytest.mark.parametrize("name", ["deviations", "ledger", "squares-graph"])
def test_trivial_answers_work_with_tuples_dicts_drivers_and_tensors(name: str) -> None:
    report = audit_question(load_question([MINI], name), seeds=(1,))
    assert [(t.accepted, t.made) for t in report.trivial] == [(False, True)] * len(ANSWERS)


COUNTER = """
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
FILLED = """
    def filled(program, x):
        into = []
        program.fill(x, into)
        return into
"""


def test_methods_of_a_class_answer_trivially_too(tmp_path: Path) -> None:
    report = audited(
        tmp_path,
        reference=COUNTER,
        driver=TWICE,
        variants={"open": "Counter.add = lambda self, x: x * self.step\n"},
        run=["y = driver.twice(x)"],
        cases={"signs": SIGNS, "many": {"x": {"normal": [2, 3]}}},
    )
    assert report.problems == ()
    assert [(t.accepted, t.made) for t in report.trivial] == [(False, True)] * 7


def test_the_audit_notes_trivial_answers_that_cannot_be_derived(tmp_path: Path) -> None:
    # The check looks at the list that `fill` changed, not at its result.
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


@each(
    ("answer", "value", "expected"),
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
def test_a_trivial_answer_keeps_the_form_and_not_the_content(
    answer: str, value: object, expected: object
) -> None:
    assert repr(StandIns(answer).filled(value, [])) == repr(expected)


def test_arrays_keep_their_shape_and_dtype_and_share_no_memory() -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.array([1, 2], np.int64)
    ones = StandIns("ones").filled((x, y, np.float32(3)), [])
    assert [a.dtype.name for a in ones] == ["float64", "int64", "float32"]
    assert [a.shape for a in ones] == [(2, 3), (2,), ()]
    assert all((np.asarray(a) == 1).all() for a in ones)
    assert np.isnan(StandIns("nan").filled(x, [])).all()
    arguments = StandIns("arguments").filled((x * 9, x * 9), [y, x])
    assert [a.tolist() for a in arguments] == [y.tolist(), x.tolist()]
    assert not np.shares_memory(arguments[1], x)


def test_a_function_that_another_one_calls_is_not_replaced() -> None:
    answers = StandIns("zeros")
    inner = answers.stand_in(lambda x: x + 1.0)
    outer = answers.stand_in(lambda x: (inner(x), np.full(3, inner(x))), [0])
    assert inner(1.0) == 0.0
    kept, filled = outer(1.0)
    assert (kept, filled.tolist()) == (2.0, [0.0, 0.0, 0.0])
