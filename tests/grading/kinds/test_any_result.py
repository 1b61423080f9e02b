"""Every check comes to a result, even if a submission's process sends made-up values."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.grading.evaluation import Evaluation
from grader.model.report import CheckResult, Verdict
from grader.model.steps import Step
from grader.sandbox.messages import Loaded, Measured, Outcome, ProgramError
from grader.sandbox.remote_program import RemoteProgram
from grader.sandbox.worker.wire import DTYPES, Opaque, Tensor
from tests.grading.kinds.grading import Desk, run_check

NUMBERED = count()
ARRAYS = st.sampled_from([name for name in DTYPES if name != "bfloat16"]).flatmap(
    lambda name: hnp.arrays(name, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
LIKELY = hnp.arrays(np.float64, st.sampled_from([(1, 2), (3, 4)]), elements=st.floats())
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**900), 2**900)
    | st.floats()
    | st.text(max_size=4)
    | st.builds(Opaque, st.text(max_size=4))
    | st.sampled_from([np.float32("nan"), np.int8(-1), np.bool_(True), np.complex64(1j)])
)
VALUES = st.recursive(
    LIKELY | ARRAYS | ARRAYS.map(lambda a: Tensor(a, a.dtype.name)) | SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(
            st.sampled_from(["weights", "grads", "total"]) | st.text(max_size=2), inner, max_size=4
        )
    ),
    max_leaves=8,
)
NAMES = st.sampled_from(["y", "x", "w", "grad_x", "grad_w", "s", "losses", "bytes", "nobody"])
INDICES = st.integers(-3, 3) | st.integers(-(2**70), 2**70)
OUTCOMES = st.builds(
    Outcome,
    values=st.dictionaries(NAMES, VALUES, max_size=6),
    changed=st.lists(st.tuples(INDICES, NAMES), max_size=2).map(tuple),
    stale=st.lists(st.tuples(NAMES, INDICES), max_size=2).map(tuple),
    shared=st.lists(st.tuples(NAMES, NAMES), max_size=2).map(tuple),
)


class Claims(RemoteProgram):
    def load(self, functions: Any, driven: Any = ()) -> Loaded:  # noqa: ARG002
        return Loaded((), (), tuple(functions))

    def claim(self, outcomes: list[Outcome], number: int) -> None:
        self.outcomes, self.number, self.at, self.is_asked_alone = outcomes, number, 0, True

    def _next(self) -> Outcome:
        self.at += 1
        return self.outcomes[self.at % len(self.outcomes)]

    def run(self, *_: Any, **__: Any) -> Outcome:
        return self._next()

    def interleave(self, *asked: Any, **_: Any) -> Any:
        return tuple(self._next() for _ in asked[1]), tuple(asked[2])[: self.number % 2]

    def run_timed(self, *_: Any, **__: Any) -> Any:
        return self._next(), self.number

    def measure(self, *_: Any, **__: Any) -> Measured:
        tensors = (("a tensor", self.number),)
        return Measured(self.number, tensors, self.number)


def checked(evaluation: Evaluation, program: Claims) -> None:
    for check in evaluation.question.spec.checks:
        with np.errstate(all="ignore"):  # as while grading
            result = run_check(evaluation.with_subject(program), check)
        assert isinstance(result, CheckResult)
        assert isinstance(result.verdict, Verdict)
        assert result.message
        assert len(result.message) < 5000
        assert not result.failing or result.verdict is not Verdict.PASS


@pytest.fixture(scope="module", params=["deviations", "ledger"])
def evaluation(request: pytest.FixtureRequest) -> Evaluation:
    desk: Desk = request.getfixturevalue(request.param)
    return desk.evaluation()


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(OUTCOMES, min_size=1, max_size=3), st.integers(-(2**70), 2**70))
def test_every_check_comes_to_a_result(
    evaluation: Evaluation, claims: list[Outcome], number: int
) -> None:
    program = Claims(evaluation.reference.worker, f"claims {next(NUMBERED)}", [b""])
    program.claim(claims, number)
    checked(evaluation, program)


FAULTS = [
    ProgramError("f returned None, expected 2 results (y, ctx)"),
    ProgramError("raised ValueError", None, None),
    ProgramError("odd", None, Step("", (), False, "submission", "f", ())),
]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_every_check_comes_to_a_result_when_everything_fails(
    evaluation: Evaluation, fault: ProgramError
) -> None:
    class Fails(Claims):
        def _next(self) -> Outcome:
            raise fault

    program = Fails(evaluation.reference.worker, f"fails {next(NUMBERED)}", [b""])
    program.claim([], 0)
    checked(evaluation, program)
