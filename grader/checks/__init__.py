"""F3: one file a kind of check; each compares programs and returns a CheckResult."""

from __future__ import annotations

from typing import assert_never

from grader.checks.bench import Bench
from grader.model import spec as model
from grader.model.report import CheckResult


def run_check(bench: Bench, check: model.AnyCheck) -> CheckResult:
    """Carry out one check.

    Raises:
        Stopped: the submission's process is gone; its result says how.
        BankFault: the reference or the spec fails.
    """
    match check:
        case model.OutputsCheck():
            from grader.checks.outputs import check_outputs

            return check_outputs(bench, check)
        case model.GradcheckCheck():
            from grader.checks.gradcheck import check_gradients

            return check_gradients(bench, check)
        case model.ContractCheck():
            from grader.checks.contract import check_contract

            return check_contract(bench, check)
        case model.StateCheck():
            from grader.checks.state import check_state

            return check_state(bench, check)
        case model.NumbersCheck():
            from grader.checks.numbers import check_numbers

            return check_numbers(bench, check)
        case model.CurveCheck():
            from grader.checks.curve import check_curve

            return check_curve(bench, check)
        case model.GraphCheck():
            from grader.checks.graph import check_graph

            return check_graph(bench, check)
        case model.MemoryCheck():
            from grader.checks.graph import check_memory

            return check_memory(bench, check)
        case model.FlopsCheck():
            from grader.checks.graph import check_flops

            return check_flops(bench, check)
        case model.PerformanceCheck():
            from grader.checks.performance import check_performance

            return check_performance(bench, check)
        case _:
            assert_never(check)
