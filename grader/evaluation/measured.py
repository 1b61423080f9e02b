"""Measuring a run in its worker, and amounts on the sizes of a case."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from grader.cases import size_expr
from grader.cases.dataflow import divided
from grader.cases.recipe import CaseRecipe
from grader.evaluation.evaluation import BankFault, Evaluation, blame_bank
from grader.evaluation.results import Value
from grader.model.spec import Amount, Check
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Measured
from grader.sandbox.worker.wire import Tensor

OWN_OBJECTS = 4 << 10  # bytes that a step may leave behind without being asked: caches, an iterator


def measure(
    evaluation: Evaluation,
    program: RemoteProgram,
    run: str,
    case: CaseRecipe,
    quantity: str,
    of: str = "",
    without: tuple[str, ...] = (),
) -> Measured:
    """Measure one program's run, up to the result `of` if there is one; measured once.

    The quantities are those of `worker.measure.autograd`; `allocated`, by the last step at once;
    and `state`, what is kept in the result.
    """
    every = evaluation.steps(run)
    steps = divided(every, of)[0] if of else every
    inputs = evaluation.inputs(case, run)

    def ask(asked: RemoteProgram) -> Measured:
        if quantity != "state":
            return asked.measure(quantity, steps, inputs, without=without, of=of)
        kept = asked.state(steps, inputs, of)
        return Measured(max(kept.reachable, kept.allocated - OWN_OBJECTS), kept=kept.kept)

    key = ("measured", quantity, run, case.name, without, of)
    return evaluation.remember(program, key, lambda: evaluation.asked(case, ask, program))


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
