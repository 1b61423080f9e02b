"""Measurements on a GPU, if there is one: `pytest -m cuda` runs all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import bank
from grader.explain.session import grade
from grader.model.report import CheckResult, Verdict
from grader.sandbox import config

pytest.importorskip("torch")
pytestmark = pytest.mark.cuda

ROOT = Path(__file__).parents[3]
# The reference, but on a GPU plain autograd, which keeps four arrays of rows by hidden of a block.
PLAIN = b"""
rebuilt = swiglu_mlp
def swiglu_mlp(x, w_gate, w_up, w_down):
    if x.is_cuda:
        return (F.silu(x @ w_gate.t()) * (x @ w_up.t())) @ w_down.t()
    return rebuilt(x, w_gate, w_up, w_down)
"""


def on_the_card(source: bytes) -> CheckResult:
    """Return the result of the check of vram-bottleneck that needs a GPU."""
    question = bank.load_question([ROOT], "vram-bottleneck")
    report = grade(question, source, seed=1, parts=[3])
    return next(check for check in report.checks if check.id == "gpu-peak")


def test_the_reference_stays_within_the_budget_of_the_card() -> None:
    assert config.cuda_device_files()
    question = bank.load_question([ROOT], "vram-bottleneck")
    result = on_the_card(question.reference)
    assert result.verdict is Verdict.PASS, result.message
    # 0.19 GiB of weights, as much of gradients, the inputs of eight blocks, and one block's own.
    assert 1.0 < result.figures["bytes"] / 2**30 < 1.8, result.message


def test_plain_autograd_exceeds_the_budget_of_the_card() -> None:
    result = on_the_card(bank.load_question([ROOT], "vram-bottleneck").reference + PLAIN)
    assert result.verdict is Verdict.FAIL, result.message
    assert 3.9 < result.figures["bytes"] / 2**30 < 5.0, result.message
