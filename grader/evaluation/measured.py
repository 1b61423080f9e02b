"""Measuring a run in its worker, and amounts on the sizes of a case."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np

from grader.cases import size_expr
from grader.cases.dataflow import divided
from grader.cases.recipe import CaseRecipe
from grader.evaluation.evaluation import BankFault, Evaluation, blame_bank
from grader.evaluation.results import Value
from grader.model.keys import Amount, Check
from grader.sandbox.client import WorkerError
from grader.sandbox.deadline import OutOfTime
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Measured, ProgramError
from grader.sandbox.worker.wire import Tensor


def measure(
    evaluation: Evaluation,
    program: RemoteProgram,
    run: str,
    case: CaseRecipe,
    quantity: str,
    *,
    without: tuple[str, ...] = (),
    of: str = "",
    factor: float = 1.0,
    against: tuple[str, ...] = (),
) -> Measured:
    """Measure one program's run on one case, and go on to its results; measured once.

    Runs of the reference that it is held `against` are measured meanwhile; see `baseline`.
    """
    every = evaluation.steps(run)
    steps, rest = divided(every, of) if of else (every, ())
    bases = [
        other
        for other in against
        if not evaluation.knows(evaluation.reference, _key(evaluation, quantity, other, case))
    ]
    beside = (
        bases
        and program is evaluation.submission
        and program.worker is not evaluation.reference.worker
    )

    def ask(asked: RemoteProgram) -> Measured:
        return asked.measure(
            quantity,
            steps,
            evaluation.inputs(case, run),
            without=without,
            of=of,
            rest=rest,
            want=evaluation.wanted[run],
            factor=factor,
        )

    def both(asked: RemoteProgram) -> Measured:
        if asked is not program or not beside:
            return ask(asked)
        given = {other: evaluation.inputs(case, other) for other in (run, *bases)}  # drawn by now
        # What goes wrong with the reference is said where it is asked for again.
        with ThreadPoolExecutor(1) as meanwhile:
            base = [
                meanwhile.submit(
                    evaluation.reference.measure, quantity, evaluation.steps(other), given[other],
                    want=evaluation.wanted[other],
                )
                for other in bases
            ]  # fmt: skip
            found = ask(asked)
        for other, one in zip(bases, base, strict=True):
            with contextlib.suppress(ProgramError, WorkerError, OutOfTime):
                evaluation.remember(
                    evaluation.reference, _key(evaluation, quantity, other, case), one.result
                )
        return found

    key = _key(evaluation, quantity, run, case, without, of, factor)
    return evaluation.remember(program, key, lambda: evaluation.asked(case, both, program))


def _key(
    evaluation: Evaluation,
    quantity: str,
    run: str,
    case: CaseRecipe,
    without: tuple[str, ...] = (),
    of: str = "",
    factor: float = 1.0,
) -> tuple[Hashable, ...]:
    return "measured", quantity, run, case.name, without, of, factor, evaluation.wanted[run]


def baseline(evaluation: Evaluation, run: str, case: CaseRecipe, quantity: str) -> Measured:
    """Measure the reference's side of a comparison."""
    with blame_bank(f"the run {run} of the reference fails on case {case.name}"):
        return measure(evaluation, evaluation.reference, run, case, quantity)


def amount(evaluation: Evaluation, check: Check, written: Amount, case: CaseRecipe) -> float:
    """An amount in a check's keys, on the sizes of a case.

    Raises:
        BankFault: it cannot be worked out.
    """
    known = dict(evaluation.truth(check.run, case).values)
    for name, value in evaluation.drawn(case).items():
        is_array = isinstance(value, np.ndarray)
        known[name] = Tensor(value, case.inputs[name].dtype or case.dtype) if is_array else value
    try:
        return size_expr.value(written, {name: _sizes(value) for name, value in known.items()})
    except size_expr.AmountError as error:
        raise BankFault(f"{check.id}: {error}") from None


def _sizes(value: Value) -> Value:
    """The sizes of a tensor, in its own dtype (bfloat16 is held wider); a number as it is."""
    if not isinstance(value, Tensor):
        return value
    array = value.values
    itemsize = 2 if value.dtype == "bfloat16" else array.itemsize
    nbytes = itemsize * array.size
    return SimpleNamespace(size=array.size, shape=array.shape, itemsize=itemsize, nbytes=nbytes)
