"""What an input has to keep to be one that a question is about, as far as its cases show it.

No spec says for a program to read that a padding is at most half its kernel, or that a gradient has
the shape of its result.  Where it holds in every case, it is taken to be meant.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from grader.bench.bench import BankFault, Bench, trusting
from grader.bench.results import array_of
from grader.cases.dataflow import free_names, results
from grader.cases.recipe import CaseRecipe
from grader.sandbox.worker.wire import Tensor

if TYPE_CHECKING:
    from grader.model.question import Question

Pairs = set[tuple[str, str]]
Law = tuple[int, str, str]  # so many times the one number is at most the other


class Domain:
    """What the cases of a question have in common."""

    def __init__(self, question: Question, bench: Bench) -> None:
        """Learn it from the cases on a bench: by run, from those that a check uses it with."""
        self._laws = _laws(list(bench.cases.values()))
        self._alike: dict[tuple[str, str], Pairs] = {}  # by run and case
        self._always: dict[str, Pairs] = {}  # by run
        used = {(c.run, case.name) for c in question.spec.checks for case in bench.cases_of(c)}
        for run in question.runs:
            for name, case in bench.cases.items():
                if not set(free_names(bench.steps(run))) <= case.inputs.keys():
                    continue
                with contextlib.suppress(BankFault):
                    pairs = _alike(bench, run, case)
                    self._alike[run, name] = pairs
                    if (run, name) in used:
                        self._always[run] = self._always.get(run, pairs) & pairs

    def holds(self, bench: Bench, run: str, case: CaseRecipe, origin: str) -> bool:
        """Whether an input made from a case keeps what that case and all others have.

        Raises:
            BankFault: the reference does not take it.
        """
        wanted = self._always.get(run, set()) | self._alike.get((run, origin), set())
        numbers = _whole_numbers(case)
        lawful = all(
            factor * numbers[one] <= numbers[other]
            for factor, one, other in self._laws
            if one in numbers and other in numbers
        )
        return lawful and wanted <= _alike(bench, run, case)


def _alike(bench: Bench, run: str, case: CaseRecipe) -> Pairs:
    """Pairs of an input and a result of one shape: what holds on a case holds by contract."""
    given = {n: v.shape for n, v in bench.drawn(case).items() if isinstance(v, np.ndarray)}
    values = dict(bench.truth(run, case).values)
    # A result that only other runs look at: y, where a run calls backward twice.
    more = {n for wanted in bench.wanted.values() for n in wanted} - values.keys()
    more &= set(results(bench.steps(run)))
    if more:
        with trusting(f"the reference fails on case {case.name}"):
            inputs = bench.inputs(case, run)
            values |= bench.reference.run(bench.steps(run), inputs, sorted(more)).values
    made = {n: array_of(v).shape for n, v in values.items() if isinstance(v, (np.ndarray, Tensor))}
    return {(i, r) for i, shape in given.items() for r, other in made.items() if shape == other}


def _whole_numbers(case: CaseRecipe) -> dict[str, int]:
    inputs = case.inputs.items()
    return {n: r.literal for n, r in inputs if type(r.literal) is int and not r.is_array}


def _laws(cases: Sequence[CaseRecipe]) -> list[Law]:
    """What holds of the whole numbers of every case."""
    given = [_whole_numbers(case) for case in cases]
    names = sorted({name for numbers in given for name in numbers})
    found = []
    for factor, one, other in itertools.product((1, 2), names, names):
        both = [numbers for numbers in given if one in numbers and other in numbers]
        if one != other and both and all(factor * n[one] <= n[other] for n in both):
            found.append((factor, one, other))
    return found
