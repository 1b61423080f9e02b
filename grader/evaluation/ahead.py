"""What the reference will be asked for anyway, asked for all at once.

On most cases a request takes longer than what the reference computes for it.  So where the draw of
one case needs the shape of a result, or one result is needed, those of all small cases are asked
for together.  What cannot be had in this way is asked for by itself, as if nothing had been tried:
nothing here finds fault with anything.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.cases.dataflow import case_names
from grader.cases.draw import DrawError, draw
from grader.cases.recipe import CaseRecipe
from grader.evaluation.encoding import NATIVE, NUDGES
from grader.evaluation.results import array_of
from grader.model.question import Step
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import Outcome, ProgramError
from grader.sandbox.sending import Inputs

if TYPE_CHECKING:
    from grader.evaluation.evaluation import Evaluation

SMALL = 4096  # entries of a case: what is larger takes long enough to be asked for by itself


class _Needed(Exception):
    """A draw needs the shape of a result."""

    def __init__(self, name: str, drawn: Mapping[str, Any]) -> None:
        """Remember of which, and what was drawn before."""
        super().__init__(name)
        self.name = name
        self.drawn = dict(drawn)


class Ahead:
    """What is known ahead in a evaluation and on all that are copied from it."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._works = True  # until the reference's process does not survive it, or takes too long
        # By seed, case and result; each for the first attempt at the case's own draw.
        self._shapes: dict[tuple[int, str, str], tuple[int, ...]] = {}

    def shape(self, evaluation: Evaluation, case: CaseRecipe, name: str) -> tuple[int, ...] | None:
        """The shape of a result that the first attempt at a draw needs, if it is known; once."""
        return self._shapes.pop((evaluation.seed, case.name, name), None)

    def find_shapes(self, evaluation: Evaluation, cases: Iterable[CaseRecipe]) -> None:
        """Find out the shapes of results that the draws of small cases need."""
        self._shapes.clear()
        asked: dict[tuple[tuple[Step, ...], str], list[tuple[str, Inputs]]] = {}
        for case in cases:
            try:
                if self.is_plain(evaluation, case):
                    draw(case, evaluation.seed, _need)
            except _Needed as needed:
                steps, inputs = evaluation.towards(case, needed.name, needed.drawn)
                if steps:
                    asked.setdefault((steps, needed.name), []).append((case.name, inputs))
            except (DrawError, ValueError):
                continue  # it is said where the case itself is drawn
        for (steps, name), several in asked.items():
            with self._trying(evaluation):
                found = evaluation.reference.several(
                    steps, [inputs for _, inputs in several], [name]
                )
                for (of, _), one in zip(several, found, strict=True):
                    if isinstance(one, Outcome) and name in one.values:
                        shape = tuple(array_of(one.values[name]).shape)
                        self._shapes[evaluation.seed, of, name] = shape

    def run(self, evaluation: Evaluation, run: str, mode: str) -> None:
        """Have the reference run the small cases of a run's checks."""
        steps, names = evaluation.steps(run), dict[str, None]()
        for check in evaluation.checks:
            if check.run == run:
                names.update(dict.fromkeys(case_names(check, steps, evaluation.cases)))
        cases = [evaluation.cases[name] for name in names if name in evaluation.cases]
        # What is computed in float64 anyway is not asked for in it.
        cases = [c for c in cases if mode == NATIVE or c.dtype != "float64"]
        cases = [c for c in cases if self.is_plain(evaluation, c) and _is_drawn(evaluation, c)]
        with self._trying(evaluation):
            evaluation.ask_all(evaluation.reference, run, cases, mode=mode)

    def nudged(self, evaluation: Evaluation, run: str, case: CaseRecipe, draw_index: int) -> None:
        """Have the reference run a case on inputs that are nudged in every way."""
        asked = [(case, mode, draw_index) for mode in NUDGES]
        with self._trying(evaluation):
            if self.is_plain(evaluation, case):
                evaluation.ask_each(evaluation.reference, run, asked)

    def is_plain(self, evaluation: Evaluation, case: CaseRecipe) -> bool:
        """Whether a case is small, and takes no longer than usual."""
        return self._works and entries(case) <= SMALL and evaluation.limits_of(case) is None

    @contextlib.contextmanager
    def _trying(self, evaluation: Evaluation) -> Iterator[None]:
        """Ask for nothing ahead any more where the reference's process does not survive it."""
        usual, evaluation.reference.limits = evaluation.reference.limits, None
        try:
            yield
        except ProgramError:
            pass
        except WorkerError:
            self._works = False
            if evaluation.bank is not None:
                evaluation.bank.revive(evaluation.reference.name)
        finally:
            evaluation.reference.limits = usual


def entries(case: CaseRecipe) -> int:
    """How many entries its arrays have, as far as that is known before they are drawn."""
    found = 0
    for recipe in case.inputs.values():
        if recipe.generator == "array":
            found += np.size(recipe.literal)
        elif recipe.shape is not None:
            found += int(np.prod(recipe.shape))
    return found


def _is_drawn(evaluation: Evaluation, case: CaseRecipe) -> bool:
    """Whether a case can be drawn; else it is said where it is needed."""
    from grader.evaluation.evaluation import BankFault

    try:
        evaluation.drawn(case)
    except BankFault:
        return False
    return True


def _need(name: str, drawn: Mapping[str, Any]) -> tuple[int, ...]:
    raise _Needed(name, drawn)
