"""A part that known values pass is a problem, unless it compares values that change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.audit import forgeable_parts
from grader.explain.session import GradingSession
from grader.model.question import Question
from grader.model.report import Verdict
from tests.audit.audits import question

pytestmark = pytest.mark.usefixtures("one_zygote")

LITERAL = {"x": [1.0, -2.0, 3.0]}
DRAWN = {"x": {"normal": [5]}}
COUNT = {"integers": [], "from": 2, "to": 1000, "dtype": "int64"}
SHUFFLED = """
    import numpy as np

    def shuffled(count):
        return np.random.default_rng(7).permutation(count)
"""
SORTED = "def shuffled(count):\n    return np.arange(count)\n"
JUDGED = """
    import numpy as np

    def drawn(program, count):
        return np.asarray(program.shuffled(int(count)))

    def is_shuffled(order, count):
        return [sorted(order.tolist()) == list(range(int(count))), bool((np.diff(order) < 0).any())]

    def both(program, count):
        return is_shuffled(drawn(program, count), count)
"""
APART = ["order = driver.drawn(count)", "facts = judge.is_shuffled(order, count)"]
# An attack: the driver is executed after the submission, by the exec of the same process.
FORGED = b"""
import builtins
_exec = builtins.exec
def _hooked(code, space=None, *more):
    _exec(code, space, *more)
    if "both" in (space or {}):
        space["both"] = lambda program, count: [True, True]
        space["is_shuffled"] = lambda order, count: [True, True]
builtins.exec = _hooked
"""


def forgeable(asked: Question) -> list[str]:
    with GradingSession(asked) as session, np.errstate(all="ignore"):
        return list(forgeable_parts.forgeable_parts(session, 0))


def doubled(folder: Path, *cases: dict[str, Any], **more: Any) -> Question:
    return question(
        folder,
        reference="def double(x):\n    return 2 * x\n",
        variants={"open": "def double(x):\n    return x\n"},
        misconceptions={"open": {"feedback": "You return x."}},
        interface="def double(x): ...",
        run=["y = double(x)"],
        cases={f"case{number}": case for number, case in enumerate(cases)},
        **more,
    )


def shuffled(folder: Path, run: list[str], count: object) -> Question:
    return question(
        folder,
        reference=SHUFFLED,
        variants={"open": SORTED},
        misconceptions={"open": {"feedback": "You return them in order."}},
        driver=JUDGED,
        interface="def shuffled(count): ...",
        checks=[{"id": "gate", "kind": "outputs", "of": "facts"}],
        run=run,
        cases={"many": {"count": count}},
    )


def test_a_part_with_only_literal_inputs_is_a_problem(tmp_path: Path) -> None:
    (problem,) = forgeable(doubled(tmp_path, LITERAL))
    assert problem.startswith("part 1 is passed with values that are known in advance")


def test_one_drawn_case_is_enough(tmp_path: Path) -> None:
    assert forgeable(doubled(tmp_path, LITERAL, DRAWN)) == []


@pytest.mark.parametrize("kind", ["side-effects", "peak"])
def test_a_part_that_only_measures_is_a_problem(tmp_path: Path, kind: str) -> None:
    limit = {"of": "y", "at_most": 1000} if kind == "peak" else {"of": "y"}
    measured = {"id": "measured", "kind": kind, **limit}
    (problem,) = forgeable(doubled(tmp_path, DRAWN, checks=[measured]))
    assert problem.startswith("no required check of part 1 compares values")
    values = {"id": "gate", "kind": "outputs", "of": "y"}
    assert forgeable(doubled(tmp_path, DRAWN, checks=[values, measured])) == []


@pytest.mark.parametrize(
    ("run", "count", "is_fault"),
    [
        (["facts = driver.both(count)"], COUNT, True),
        (APART, 50, True),  # recorded orders pass, whatever the seed
        (APART, COUNT, False),
    ],
)
def test_a_judgement_counts_if_recorded_results_do_not_pass_it(
    tmp_path: Path, run: list[str], count: object, is_fault: bool
) -> None:
    assert bool(forgeable(shuffled(tmp_path, run, count))) is is_fault


@pytest.mark.parametrize(
    ("run", "passes"), [(["facts = driver.both(count)"], True), (APART, False)]
)
def test_a_submission_cannot_replace_a_step_of_judge(
    tmp_path: Path, run: list[str], passes: bool
) -> None:
    asked = shuffled(tmp_path, run, COUNT)
    with GradingSession(asked) as session:
        assert session.grade(asked.reference, seed=1).verdict is Verdict.PASS
        assert session.grade(asked.starter, seed=1).verdict is Verdict.FAIL
        report = session.grade(asked.starter + FORGED, seed=1)
    assert (report.verdict is Verdict.PASS) is passes


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ("'abc'", "the check raised AttributeError in case many"),
        ("np.zeros((2, 2))", "facts[0] is False, expected True"),
    ],
)
def test_results_that_cannot_be_judged_are_the_fault_of_the_submission(
    tmp_path: Path, result: str, says: str
) -> None:
    asked = shuffled(tmp_path, APART, COUNT)
    text = f"import numpy as np\n\ndef shuffled(count):\n    return {result}\n"
    with GradingSession(asked) as session:
        report = session.grade(text.encode(), seed=1)
    assert report.verdict in {Verdict.FAIL, Verdict.ERROR}
    assert says in report.checks[0].message


def test_a_step_of_judge_reads_arrays_in_place_of_tensors(tmp_path: Path) -> None:
    asked = question(
        tmp_path,
        uses=["numpy", "torch"],
        reference="import torch\n\ndef halves(x):\n    return {'all': [x / 2]}\n",
        variants={"open": "def halves(x):\n    return {'all': [x]}\n"},
        misconceptions={"open": {"feedback": "You return x."}},
        driver="def largest(found):\n    return float(found['all'][0].astype('f8').max())\n",
        interface="def halves(x): ...",
        checks=[{"id": "gate", "kind": "outputs", "of": "most"}],
        run=["found = halves(x)", "most = judge.largest(found)"],
        cases={"drawn": DRAWN},
    )
    with GradingSession(asked) as session:
        report = session.grade(asked.reference, seed=1)
    assert report.verdict is Verdict.PASS, report.checks
