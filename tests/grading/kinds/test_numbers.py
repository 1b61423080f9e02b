"""The kinds `numbers` and `curve`, with the sentence of each failure."""

# ruff: noqa: E501 a sentence that is compared stands on one line

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.grading.bank_errors import BankProgramError
from grader.grading.kinds import registry
from grader.grading.kinds.base import CaseTrial
from grader.model.report import Breakdown, Curve, Verdict
from grader.sandbox.messages import Outcome
from grader.sandbox.worker.wire import Tensor
from tests.grading.kinds.grading import Desk


@pytest.mark.parametrize(
    ("expression", "verdict", "message"),
    [
        ("{'weights': 2 * n, 'grads': 2 * n, 'total': 4 * n}", "pass", "2 cases"),
        ("{'total': 4.0 * n, 'weights': 2.0 * n, 'grads': 2 * n}", "pass", "2 cases"),
        ("{'weights': 4 * n, 'grads': 0, 'total': 4 * n}", "fail", "weights, grads are wrong in case seven-billion"),
        ("{'weights': 2 * n, 'grads': 2 * n, 'total': 2 * n}", "fail", "total is wrong in case seven-billion"),
        ("{'weights': 2 * n, 'grads': 2 * n, 'total': 4 * n + 1}", "fail", None),
        ("{'weights': 2 * n, 'grads': 2 * n}", "fail", "bytes is a dict with weights, grads; missing: total (case seven-billion)"),
        ("{'weights': 0, 'grads': 0, 'total': 0, 'more': 0}", "fail", "bytes is a dict with weights, grads, total, more; not asked for: more (case seven-billion)"),
        ("4 * n", "fail", "bytes is the number 28,000,000,000, expected a dict with weights, grads, total (case seven-billion)"),
        ("None", "fail", "bytes is None, expected a dict with weights, grads, total (case seven-billion)"),
        ("{}", "fail", "bytes is a dict with no keys; missing: weights, grads, total (case seven-billion)"),
        ("{'weights': True, 'grads': None, 'total': 'many'}", "fail", "weights, grads, total are wrong in case seven-billion"),
        ("{'weights': 1e999, 'grads': float('nan'), 'total': 10 ** 10_000}", "fail", "weights, grads, total are wrong in case seven-billion"),
        ("{'weights': 10 ** 300, 'grads': -(10 ** 300), 'total': 0}", "fail", None),
        ("{1: 2}", "fail", "bytes is a dict, expected a dict with weights, grads, total (case seven-billion)"),
        ("{'weights': [0], 'grads': {}, 'total': (0,)}", "fail", "weights, grads, total are wrong in case seven-billion"),
    ],
)  # fmt: skip
def test_numbers_are_judged_part_by_part(
    ledger: Desk, expression: str, verdict: str, message: str | None
) -> None:
    result = ledger.result("parts", f"def ledger(n): return {expression}")
    assert result.verdict == verdict
    if message is not None:
        assert result.message == message


def test_every_wrong_number_is_described(ledger: Desk) -> None:
    source = "def ledger(n): return {'weights': 4 * n, 'grads': 0, 'total': 6 * n}"
    result = ledger.result("parts", source)
    assert isinstance(result.exhibit, Breakdown)
    assert [(r.name, r.observed, r.expected, r.note) for r in result.exhibit.rows] == [
        ("weights", "28.0 GB", "14.0 GB", "twice"),
        ("grads", "0.0 GB", "14.0 GB", "missing"),
        ("total", "42.0 GB", "28.0 GB", "1.500 times"),
    ]
    assert result.mismatch is not None
    assert (result.mismatch.result, result.mismatch.wrong) == ("bytes['weights']", 3)


@pytest.mark.parametrize(
    ("expression", "share"),
    [
        ("{'weights': 2 * n, 'grads': 2 * n, 'total': 0}", 2 / 3),
        ("{'weights': 0, 'grads': 0, 'total': 0}", 0),
        ("{'weights': 2 * n, 'grads': 2 * n}", None),
    ],
)
def test_right_numbers_earn_their_share(ledger: Desk, expression: str, share: float | None) -> None:
    result = ledger.result("parts", f"def ledger(n): return {expression}")
    assert result.figures.get("share") == share


def test_parts_that_the_reference_lacks_are_blamed_on_the_bank(ledger: Desk) -> None:
    message = (
        "parts: expected the reference's bytes to be a dict with weights, biases, found a dict"
    )
    with pytest.raises(BankProgramError, match=rf"^{message} with weights, grads"):
        ledger.result("parts", parts=["weights", "biases"])


def test_a_part_of_the_reference_that_is_not_a_number_is_blamed_on_the_bank(ledger: Desk) -> None:
    evaluation, tensor = ledger.evaluation(), Tensor(np.array(2.0), "float32")
    right = Outcome({"bytes": {"weights": 1, "grads": tensor, "total": 2}})
    evaluation.outcome = lambda *_, **__: right  # type: ignore[method-assign]
    trial = CaseTrial(evaluation, ledger.check("parts"), evaluation.cases["seven-billion"])
    message = (
        r"^parts: expected a number for grads of the reference's bytes, found a float32 tensor"
    )
    with pytest.raises(BankProgramError, match=message):
        registry.kind_named("numbers").judge(trial)


DRIVEN = "def step(x, rate): return {}"


@pytest.mark.parametrize(
    ("step", "check", "message"),
    [
        ("x + rate * 2 * x", "descent", "the last of 13 values of losses is 16,834, expected below 1.000e-6 (case down)"),
        ("x - rate * x / 100", "descent", "the last of 13 values of losses is 0.9417, expected below 1.000e-6 (case down)"),
        ("x", "falls", "losses does not fall: 1.000 at first, 1.000 as the last of 13 values (case down)"),
        ("x * float('nan')", "descent", "losses is NaN at step 1 (case down)"),
        ("x * 1e200", "falls", "losses is inf at step 1 (case down)"),
        ("[x]", "descent", "your step raised TypeError in case down"),
    ],
)  # fmt: skip
def test_a_curve_must_be_finite_and_end_in_range(
    ledger: Desk, step: str, check: str, message: str
) -> None:
    result = ledger.result(check, DRIVEN.format(step))
    assert result.verdict in {Verdict.FAIL, Verdict.ERROR}
    if "raised" not in message:
        assert result.message == message
        assert isinstance(result.exhibit, Curve)


@pytest.mark.parametrize("check", ["descent", "falls"])
def test_a_curve_that_falls_passes(ledger: Desk, check: str) -> None:
    assert ledger.result(check).verdict is Verdict.PASS
    assert ledger.result(check, DRIVEN.format("0.0 * x")).verdict is Verdict.PASS


def test_a_curve_may_have_to_end_above_a_bar(ledger: Desk) -> None:
    above: dict[str, Any] = {"ends_below": None, "ends_above": 0.5}
    assert ledger.result("descent", DRIVEN.format("x"), **above).verdict is Verdict.PASS
    result = ledger.result("descent", DRIVEN.format("x - rate * x"), **above)
    assert result.verdict is Verdict.FAIL
    assert result.message.endswith("expected above 0.5000 (case down)")
    low = ledger.result("descent", DRIVEN.format("x"), **above | {"ends_above": 1.0})
    assert low.message == (
        "the last of 13 values of losses is 1.000, expected above 1.000 (case down)"
    )
