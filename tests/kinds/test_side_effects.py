"""What a caller relies on holds on every case of a run, not only on those of the contract check."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.model.report import Verdict
from tests.kinds.grading import Desk, run_check
from tests.kinds.one_file import graded, of, opened

pytestmark = pytest.mark.usefixtures("one_zygote")

CENTRE = "def centre(x, w):\n    d = _centred(x)\n    y = w * d\n{}    return y, (d, np.array(w))\n"
REST = """\
run:
  - y = f(x)
cases:
  finite: {x: {normal: [3]}}
  infinite: {x: [1.0, -.inf, 2.0]}
checks:
  - {id: values, kind: outputs, of: y}
  - {id: manners, kind: side-effects, of: y, cases: finite}
"""
HEAD = "import numpy as np\n\n\ndef f(x):\n"
F = HEAD + "    return np.exp(x)\n"
REPLACES = HEAD + "    if np.isinf(x).any(): x[np.isinf(x)] = -1e300\n    return np.exp(x)\n"
SHARES = HEAD + "    return np.exp(x, out=x if np.isinf(x).any() else None)\n"


def test_an_input_that_is_changed_only_where_it_is_infinite(tmp_path: Path) -> None:
    with opened(tmp_path, REST, F) as session:
        for source in (REPLACES, SHARES):
            report = graded(session, source)
            assert of(report, "values").verdict is Verdict.PASS
            assert of(report, "manners").message == "f changes its caller's x (case infinite)"
            assert of(report, "manners").failing == ("infinite",)
        assert graded(session, F).verdict is Verdict.PASS


def test_what_the_reference_does_to_its_inputs_is_no_breach(tmp_path: Path) -> None:
    with opened(tmp_path, REST, REPLACES) as session:
        assert graded(session, REPLACES).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("if len(x) == 1: x += 1.0", "centre changes its caller's x (case small)"),
        ("if x.dtype == 'f4': w *= 1", ""),
        ("if x.dtype == 'f4': w *= 2", "centre changes its caller's w (case float32)"),
        (
            "if x.dtype == 'f4': w[...] = y; y = w",
            "centre changes its caller's w (case float32)",
        ),
        ("if len(x) == 0: y = x[:]", ""),  # arrays without entries share nothing
    ],
)
def test_a_breach_anywhere_fails_the_check_that_owns_manners(
    deviations: Desk, line: str, message: str
) -> None:
    evaluation = deviations.evaluation(CENTRE.format(f"    {line}\n"))
    found = run_check(evaluation, deviations.check("manners"))
    assert (found.verdict is Verdict.FAIL) is bool(message)
    assert not message or found.message == message


def test_a_result_that_is_changed_later_or_shared_is_found_on_cases_of_other_checks(
    deviations: Desk,
) -> None:
    later = "def centre_backward(grad_y, ctx):\n    d, w = ctx\n    g = _centred(w * grad_y)\n"
    shares = (
        later
        + "    return g, (np.multiply(grad_y, d, out=grad_y) if len(w) == 1 else grad_y * d)\n"
    )
    found = run_check(deviations.evaluation(shares), deviations.check("manners"))
    assert found.message == "centre_backward changes its caller's grad_y (case small)"
    keeps = CENTRE.format("    _kept.append(y)\n")
    stale = "_kept = []\n" + keeps + later
    stale += "    if len(w) == 1: _kept[-1][...] = 0\n    return g, grad_y * d\n"
    found = run_check(deviations.evaluation(stale), deviations.check("manners"))
    assert found.message == "y is changed afterwards by centre_backward (case small)"
