"""What an input has to keep to be one that a question is about, as far as its cases show it.

No spec says for a program to read that a padding is at most half its kernel, or that a gradient has
the shape of its result.  Where it holds in every case, it is taken to be meant.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable

import numpy as np

from grader.cases.dataflow import results
from grader.cases.recipe import CaseRecipe
from grader.evaluation.evaluation import BankFault, Evaluation, blame_bank
from grader.evaluation.results import array_of
from grader.sandbox.worker.wire import Tensor


class Domain:
    """What the cases of a question have in common."""

    def __init__(self, evaluation: Evaluation) -> None:
        """Learn it from all cases of the question, which are in the evaluation."""
        self._evaluation = evaluation
        self._kept: dict[tuple[str, str], set[tuple[str, str]]] = {}  # by run and case
        self._laws = _laws(evaluation.cases.values())
        self._always: dict[str, set[tuple[str, str]]] = {}  # by run, on what a check uses it with
        checks = evaluation.checks
        for run, name in {(c.run, case.name) for c in checks for case in evaluation.cases_of(c)}:
            with contextlib.suppress(BankFault):
                pairs = _alike(evaluation, run, evaluation.cases[name])
                self._always[run] = self._always.get(run, pairs) & pairs

    def holds(self, evaluation: Evaluation, run: str, case: CaseRecipe, origin: str) -> bool:
        """Whether an input made from a case keeps what that case and all others have.

        Raises:
            BankFault: the reference does not take one of them.
        """
        numbers = _whole_numbers(case)
        lawful = all(
            factor * numbers[one] <= numbers[other]
            for factor, one, other in self._laws
            if one in numbers and other in numbers
        )
        if not lawful:
            return False
        if (run, origin) not in self._kept:
            alike = _alike(self._evaluation, run, self._evaluation.cases[origin])
            self._kept[run, origin] = alike | self._always.get(run, set())
        return self._kept[run, origin] <= _alike(evaluation, run, case)


def _alike(evaluation: Evaluation, run: str, case: CaseRecipe) -> set[tuple[str, str]]:
    """Pairs of an input and a result of one shape: what holds on a case holds by contract.

    The pair of two empty names says that no result is empty unless an input is.
    """
    given = {n: v.shape for n, v in evaluation.drawn(case).items() if isinstance(v, np.ndarray)}
    values = dict(evaluation.truth(run, case).values)
    # A result that only other runs look at: y, where a run calls backward twice.
    more = {n for wanted in evaluation.wanted.values() for n in wanted} - values.keys()
    more &= set(results(evaluation.steps(run)))
    if more:
        with blame_bank(f"the reference fails on case {case.name}"):
            inputs = evaluation.inputs(case, run)
            values |= evaluation.reference.run(evaluation.steps(run), inputs, sorted(more)).values
    made = {n: array_of(v).shape for n, v in values.items() if isinstance(v, (np.ndarray, Tensor))}
    kept = {(i, r) for i, shape in given.items() for r, other in made.items() if shape == other}
    # Where nothing comes of something, a reference that does not mind is no proof that it is meant.
    own = [shape for i, shape in given.items() if case.inputs[i].like not in made]
    if not any(0 in s for s in made.values()) or any(0 in s for s in own):
        kept.add(("", ""))
    return kept


def _whole_numbers(case: CaseRecipe) -> dict[str, int]:
    inputs = case.inputs.items()
    return {n: r.literal for n, r in inputs if type(r.literal) is int and not r.is_array}


def _laws(cases: Iterable[CaseRecipe]) -> list[tuple[int, str, str]]:
    """So many times the one number is at most the other, in every case that has both."""
    given = [_whole_numbers(case) for case in cases]
    names = sorted({name for numbers in given for name in numbers})
    found = []
    for factor, one, other in itertools.product((1, 2), names, names):
        both = [numbers for numbers in given if one in numbers and other in numbers]
        if one != other and both and all(factor * n[one] <= n[other] for n in both):
            found.append((factor, one, other))
    return found
