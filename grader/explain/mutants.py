"""Does a submission compute just what a small change of the reference computes?

A mutant counts where it agrees with the submission on every case of every result, and with at
least one wrong number.  Many behave alike: where their sentences differ, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from grader.cases.dataflow import free_names, results
from grader.evaluation.evaluation import BankFault, Evaluation, blame_bank
from grader.explain.cells import Cell
from grader.explain.observing import Component, components, same, same_on
from grader.explain.phrase import phrase
from grader.model.mutation import Mutant
from grader.model.report import Explanation
from grader.sandbox.client import WorkerError

AT_MOST = 600  # mutants that are tried


def explain(evaluation: Evaluation, failing: Sequence[Cell]) -> Iterator[Explanation]:
    """The mutant that a submission behaves like, in a hedged sentence; nothing where several do.

    Args:
        evaluation: with the submission.
        failing: its failing cells on the question's own cases.
    """
    wrong = [cell for cell in failing if not cell.raised]
    if not wrong or evaluation.bank is None:
        return
    with blame_bank("no mutants can be derived from the reference"):
        every = evaluation.bank.memory.get(("mutants",), evaluation.reference.mutants)
    values = {
        (c.run, c.name, c.of_dtype): c for c in components(evaluation) if c.measured_by is None
    }
    alike = [mutant for mutant in every[:AT_MOST] if _is_like(evaluation, mutant, wrong, values)]
    found = {phrase(mutant, _interface(evaluation)) for mutant in alike}
    if len(found) != 1 or not (how := found.pop()):
        return
    names = list(dict.fromkeys(cell.result for cell in wrong))
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    verb = "is" if len(names) == 1 else "are"
    text = f"{listed} {verb} just what a right solution gives {how}."
    yield Explanation("mutant", text, tuple(dict.fromkeys(cell.case for cell in wrong)))


def _is_like(
    evaluation: Evaluation,
    mutant: Mutant,
    wrong: Sequence[Cell],
    by_name: Mapping[tuple[str, str, bool], Component],
) -> bool:
    """Whether a mutant computes what the submission does, the likeliest to differ first."""
    assert evaluation.bank is not None
    try:
        program = evaluation.bank.try_out(
            f"mutant {mutant.start} {mutant.text}", mutant.source(evaluation.question.reference)
        )
    except BankFault:
        return False
    program.call_seconds = 1.0
    theirs = evaluation.with_bank_program(program)
    first = by_name.get((wrong[0].run, wrong[0].result, False))
    try:
        if first is None or not same_on(evaluation, theirs, first, wrong[0].case):
            return False
        return all(same(evaluation, theirs, c, _first(c, wrong)) for c in by_name.values())
    except (WorkerError, BankFault):
        return False


def _first(component: Component, wrong: Sequence[Cell]) -> list[str]:
    """The cases on which the submission is wrong, which tell most mutants from it."""
    return [c.case for c in wrong if (c.run, c.result) == (component.run, component.name)]


def _interface(evaluation: Evaluation) -> set[str]:
    """Names that a candidate knows from the question."""
    question = evaluation.question
    known = set(question.functions)
    for steps in question.runs.values():
        known |= {*free_names(steps), *results(steps)}
    return known
