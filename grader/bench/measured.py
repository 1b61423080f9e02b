"""Measuring a run in its worker, and whether a run that was measured is the run that is judged.

A program can tell from its own stack that it is being measured, and keep less than it needs while
it is.  So a measured run goes on to its end, and has to come to the right results, or to those to
which the program comes when nobody measures it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from grader.bench.bench import BankFault, Bench, trusting
from grader.bench.sameness import same_value
from grader.bench.tally import Finding
from grader.cases import size_expr
from grader.cases.dataflow import producing
from grader.cases.recipe import CaseRecipe
from grader.model.spec import Amount, Check
from grader.model.verdict import Verdict
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Measured, ProgramError

Results = Mapping[str, Any] | None  # None where the run failed


def measure(
    bench: Bench,
    program: RemoteProgram,
    run: str,
    case: CaseRecipe,
    quantity: str,
    *,
    without: tuple[str, ...] = (),
    of: str = "",
) -> Measured:
    """Measure one program's run on one case, and go on to its results."""
    every = bench.steps(run)
    steps = producing(every, of) if of else every

    def ask(asked: RemoteProgram) -> Measured:
        return asked.measure(
            quantity,
            steps,
            bench.inputs(case, run),
            without=without,
            of=of,
            rest=[step for step in every if step not in steps],
            want=bench.wanted[run],
        )

    return bench.asked(case, ask) if program is bench.submission else ask(program)


def baseline(bench: Bench, run: str, case: CaseRecipe, quantity: str) -> Measured:
    """Measure the reference's side of a comparison, once."""
    with trusting(f"the run {run} of the reference fails on case {case.name}"):
        return bench.fact(
            ("baseline", run, case.name, quantity),
            lambda: measure(bench, bench.reference, run, case, quantity),
        )


def amount(bench: Bench, check: Check, written: Amount, case: CaseRecipe) -> float:
    """An amount in a check's keys, on the sizes of a case.

    Raises:
        BankFault: it cannot be worked out.
    """
    try:
        return size_expr.value(written, bench.known(check.run, case))
    except size_expr.AmountError as error:
        raise BankFault(f"{check.id}: {error}") from None


def unless_it_differs(
    bench: Bench,
    run: str,
    case: CaseRecipe,
    results: Results,
    reference: Callable[[], Results],
    passed: Finding,
) -> Finding:
    """A pass by a measurement, unless the run computes something else because it is measured.

    Args:
        bench: the programs.
        run: that was measured.
        case: the inputs.
        results: of the measured run.
        reference: gives those of the reference, measured likewise: where it does not repeat itself
            either, the question leaves something to chance, and nothing follows.
        passed: what was measured.
    """
    try:
        usual = bench.observed(run, case).values
    except ProgramError:
        return passed  # the same inputs make it fail, which other checks tell
    right = bench.truth(run, case).values
    for name in bench.wanted[run]:
        found = None if results is None else results.get(name)
        if any(same_value(found, v.get(name), case.dtype) for v in (usual, right)):
            continue
        with trusting(f"the reference fails on case {case.name}"):
            again = reference() or {}
        if same_value(again.get(name), right[name], case.dtype):
            what = "your code fails" if results is None else f"{name} is another"
            sentence = (
                f"flagged for review: {what} when what it keeps or costs is measured, and only "
                f"then (case {case.name})"
            )
            return Finding(sentence, Verdict.POLICY, figures=passed.figures)
    return passed
