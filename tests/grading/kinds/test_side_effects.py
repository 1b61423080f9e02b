"""Checks of values find side effects on every case."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import bank
from grader.explain.session import GradingSession
from grader.model.report import Verdict
from tests import corpus
from tests.grading.kinds.grading import Desk, run_check
from tests.grading.kinds.one_file import graded, of, opened

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.usefixtures("one_zygote")

CENTRE = "def centre(x, w):\n    d = _centred(x)\n    y = w * d\n{}    return y, (d, np.array(w))\n"
REST = """\
contract: [y is exp of x.]
run:
  - y = f(x)
cases:
  finite: {x: {normal: [3]}}
  infinite: {x: [1.0, -.inf, 2.0]}
checks:
  - {id: values, kind: outputs, of: y, clause: 1}
  - {id: manners, kind: side-effects, of: y, cases: finite}
"""
HEAD = "import numpy as np\n\n\ndef f(x):\n"
F = HEAD + "    return np.exp(x)\n"
REPLACES = HEAD + "    if np.isinf(x).any(): x[np.isinf(x)] = -1e300\n    return np.exp(x)\n"
SHARES = HEAD + "    return np.exp(x, out=x if np.isinf(x).any() else None)\n"


def test_an_input_that_is_changed_fails_the_check_of_values(tmp_path: Path) -> None:
    with opened(tmp_path, REST, F) as session:
        for source in (REPLACES, SHARES):
            result = of(graded(session, source), "values")
            assert result.verdict is Verdict.FAIL
            assert result.message == "f changes its caller's x (case infinite)"
            assert result.failing == ("infinite",)
            assert result.effect
            assert result.clauses == ()
        assert graded(session, F).verdict is Verdict.PASS
        wrong = of(graded(session, F.replace("np.exp(x)", "np.exp(x, out=x) + 1")), "values")
        assert wrong.message.startswith("f changes its caller's x, and y differs in 3 of 3 entries")
        assert not wrong.effect
        assert [clause.number for clause in wrong.clauses] == [1]


def test_what_a_driver_calls_is_not_known_by_its_own_name() -> None:
    wrong = corpus.wrong_programs("kv-cache")["scales_x_in_place"]
    with GradingSession(bank.load_question([ROOT], "kv-cache")) as session:
        result = of(session.grade(wrong.source, seed=1), "whole")
    assert result.message == "your code changes its caller's x (case whole)"


def test_a_side_effect_of_the_reference_is_allowed(tmp_path: Path) -> None:
    with opened(tmp_path, REST, REPLACES) as session:
        assert graded(session, REPLACES).verdict is Verdict.PASS


def test_an_idea_that_changes_an_input_is_named_without_a_check_of_its_own(
    tmp_path: Path,
) -> None:
    spec = REST.replace("  - {id: manners, kind: side-effects, of: y, cases: finite}\n", "")
    idea = '# %% in-place\n# killed_by: values\n"""x is the caller\'s."""\n'
    idea += F.replace("(x)\n", "(x, out=x)\n")
    with opened(tmp_path, spec, F, ideas=idea) as session:
        report = graded(session, F.replace("return np.exp(x)", "x[:] = np.exp(x); return x"))
        assert [named.id for named in report.misconceptions] == ["in-place"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("if len(x) == 1: x += 1.0", "centre changes its caller's x (case small)"),
        ("if x.dtype == 'f4': w *= 1", ""),
        ("if x.dtype == 'f4': w *= 2", "centre changes its caller's w (case float32)"),
        ("if len(x) == 0: y = x[:]", ""),  # arrays without entries share nothing
    ],
)
def test_a_breach_on_any_case_fails_the_check_that_looks_at_it(
    deviations: Desk, line: str, message: str
) -> None:
    evaluation = deviations.evaluation(CENTRE.format(f"    {line}\n"))
    result = [run_check(evaluation, check) for check in deviations.question.spec.checks]
    failed = {result.message for result in result if result.verdict is Verdict.FAIL}
    assert message in failed if message else not failed


def test_a_result_that_a_later_step_changes_fails_the_check_of_its_values(
    deviations: Desk,
) -> None:
    source = "_kept = []\n" + CENTRE.format("    _kept.append(y)\n")
    source += "def centre_backward(grad_y, ctx):\n    d, w = ctx\n    _kept[-1][...] = 0\n"
    evaluation = deviations.evaluation(source + "    return _centred(w * grad_y), grad_y * d\n")
    for check, verdict in [("forward", Verdict.FAIL), ("backward", Verdict.PASS)]:
        result = run_check(evaluation, deviations.check(check))
        assert result.verdict is verdict
        assert verdict is Verdict.PASS or result.message == (
            "y is changed afterwards by centre_backward (case small)"
        )
