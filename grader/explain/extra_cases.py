"""Further inputs of a question: other sizes, numbers, dtypes and ties, made from its cases.

What a submission does on a handful of cases may be true by chance: a case with two rows makes a
half of a mean.  Here is what such a statement has to hold on as well.  The draws are the same for
every submission, so what the reference computes there is found out once per session; nothing is
drawn before it is asked for.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from grader.cases.draw import DrawError
from grader.cases.recipe import CaseRecipe, assigned_names, run_inputs
from grader.cases.vary import resized_case, vary_case
from grader.explain.observation import compared_results_of_run
from grader.grading.compare import find_mismatch
from grader.grading.evaluation import BankProgramError, Evaluation, blame_bank
from grader.grading.kinds import registry
from grader.grading.values import PRECISE, to_array
from grader.model.mutants import Reach
from grader.model.spec import Check
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import ProgramError
from grader.sandbox.worker.wire import Tensor

EXTRA_SEED = 7101  # of the draws: none that an audit uses
REACHES = (Reach.VALUES, Reach.SIZES, Reach.NUMBERS)
VARIATIONS_PER_CASE = 18  # of each case, as many of each kind
MAX_EXTRA_ENTRIES = 3000  # entries beyond which an input takes too long to look at
RETRY_FACTOR = 2  # times as many are tried as are wanted
REDRAWS = 2  # times the same case, from another seed


def case_variations(
    own: Sequence[CaseRecipe], checks: Sequence[Check]
) -> Iterator[tuple[int, Reach, CaseRecipe, str]]:
    """A number, what is changed, the new case, and the name of the question's."""
    layouts = list(
        dict.fromkeys(n for c in checks for n in registry.kind_named(c.kind).layouts_tried(c))
    )
    for number in range(VARIATIONS_PER_CASE):
        rng, reach = random.Random(number), REACHES[number % len(REACHES)]
        for origin in own:
            if (case := vary_case(origin, own, rng, reach, layouts)) is not None:
                yield number, reach, replace(case, name=f"{origin.name}-{number}"), origin.name


class InputDomain:
    """What an input has to keep to be one that a question is about, as far as its cases show it.

    No spec says that a padding is at most half its kernel, or that a gradient has the shape of its
    result.  Where it holds in every case, it is taken to be meant.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        """Learn it from all cases of the question, which are in the evaluation."""
        self._evaluation = evaluation
        self._kept: dict[tuple[str, str], set[tuple[str, str]]] = {}  # by run and case
        self._laws = _laws(evaluation.cases.values())
        self._always: dict[str, set[tuple[str, str]]] = {}  # by run, on what a check uses it with
        checks = evaluation.checks
        uses = dict.fromkeys((c.run, case.name) for c in checks for case in evaluation.cases_of(c))
        for run, name in uses:
            with contextlib.suppress(BankProgramError):
                pairs = _alike(evaluation, run, evaluation.cases[name])
                self._always[run] = self._always.get(run, pairs) & pairs

    def contains(self, evaluation: Evaluation, run: str, case: CaseRecipe, origin: str) -> bool:
        """Whether an input made from a case keeps what that case and all others have.

        Raises:
            BankFault: the reference does not take one of them.
        """
        numbers = _whole_numbers(case)
        given = [law for law in self._laws if law[1] in numbers and law[2] in numbers]
        if any(factor * numbers[one] > numbers[other] for factor, one, other in given):
            return False
        if (run, origin) not in self._kept:
            alike = _alike(self._evaluation, run, self._evaluation.cases[origin])
            self._kept[run, origin] = alike | self._always.get(run, set())
        return self._kept[run, origin] <= _alike(evaluation, run, case)


def _alike(evaluation: Evaluation, run: str, case: CaseRecipe) -> set[tuple[str, str]]:
    """Pairs of an input and a result of one shape: what holds on a case holds by contract.

    The pair of two empty names says that no result is empty unless an input is.
    """
    given = {
        n: v.shape for n, v in evaluation.drawn_inputs(case).items() if isinstance(v, np.ndarray)
    }
    values = dict(evaluation.reference_outcome(run, case).values)
    # A result that only other runs look at: y, where a run calls backward twice.
    more = {n for wanted in evaluation.wanted_results.values() for n in wanted} - values.keys()
    more &= set(assigned_names(evaluation.steps(run)))
    if more:
        with blame_bank(f"the reference fails on case {case.name}"):
            inputs = evaluation.inputs(case, run)
            values |= evaluation.reference.run(evaluation.steps(run), inputs, sorted(more)).values
    made = {n: to_array(v).shape for n, v in values.items() if isinstance(v, (np.ndarray, Tensor))}
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


class ExtraCases:
    """The further inputs of a question, drawn and tried on the reference when asked for."""

    def __init__(self, evaluation: Evaluation, seed: int = EXTRA_SEED) -> None:
        """Draw nothing yet; the reference has run the question's own cases of the evaluation."""
        self._own = evaluation.with_bank_program(evaluation.reference)
        if evaluation.parts_asked < len(evaluation.question.spec.parts):
            # What only a later part is about, a submission need not know yet.
            checks = evaluation.checks
            asked = {case.name for check in checks for case in evaluation.cases_of(check)}
            self._own.cases = {n: case for n, case in evaluation.cases.items() if n in asked}
        self.evaluation = self._own.with_bank_program(evaluation.reference)
        self.evaluation.seed = seed
        self.evaluation.cases = {}
        # By run and case of the question, what was tried: None for what is of no use.
        self._tried: dict[tuple[str, str], list[CaseRecipe | None]] = {}
        self._seen: dict[tuple[str, str], set[int]] = {}  # likewise, the inputs that are known
        self._known: dict[tuple[str, str], bool] = {}  # by run and name, whether it is of use

    @cached_property
    def _domain(self) -> InputDomain:
        return InputDomain(self._own)

    @cached_property
    def _made(self) -> Mapping[str, list[CaseRecipe]]:
        """By case of the question, what is made from it."""
        own, made = self._own.cases, dict[str, list[CaseRecipe]]()
        for name, case in own.items():
            several = [s for s in (resized_case(case, 1), resized_case(case, 2)) if s is not None]
            alone = resized_case(case, 2, fixed=1)  # a side of 1 may be what a case is about
            several += [alone] if alone is not None and alone not in several else []
            several += [case] * REDRAWS if any(r.is_drawn for r in case.inputs.values()) else []
            # No case of a question has such a name, so nothing is drawn twice alike.
            made[name] = [replace(s, name=f"{name}~{n}") for n, s in enumerate(several)]
        for number, _, case, origin in case_variations(list(own.values()), self._own.checks):
            made[origin].append(replace(case, name=f"{origin}~v{number}"))
        return made

    def made_for(self, run: str, most: Mapping[str, int]) -> list[tuple[CaseRecipe, str]]:
        """Inputs of a run that the reference takes, each with the question's case it is made from.

        `most` says by case how many to make from it; there may be fewer.
        """
        for times in (1, RETRY_FACTOR):  # some are of no use: then others take their place
            new = []
            for origin, wanted in most.items():
                tried = self._tried.setdefault((run, origin), [])
                if len(_useful(tried)) < wanted:
                    made = self._made[origin][len(tried) : times * wanted]
                    new += [(case, origin) for case in made]
            self.evaluation.find_shapes([case for case, _ in new])
            fresh = [(case, origin) for case, origin in new if self._is_new(run, case, origin)]
            accepted = self._accepted(run, fresh)
            for case, origin in new:
                self._tried[run, origin].append(case if (case, origin) in accepted else None)
        # The first so many of those, however many more were tried for others.
        chosen = [
            (case, origin)
            for origin, wanted in most.items()
            for case in _useful(self._tried[run, origin][: RETRY_FACTOR * wanted])[:wanted]
        ]
        return sorted(
            chosen, key=lambda pair: (self.evaluation.display_order(pair[0])[0], pair[0].name)
        )

    def cases_of_other_checks(
        self, run: str, known: Collection[str]
    ) -> list[tuple[CaseRecipe, str]]:
        """The cases that a run takes, of whatever check that is asked, but those that are known."""
        own = {n: case for n, case in self._own.cases.items() if n not in known}
        return self._accepted(run, [(replace(c, name=f"{n}~own"), n) for n, c in own.items()])

    def accepted_by_reference(
        self, run: str, new: Sequence[CaseRecipe], origin: str
    ) -> list[CaseRecipe]:
        """Which of some inputs, each with a name of its own, the reference takes."""
        return [case for case, _ in self._accepted(run, [(case, origin) for case in new])]

    def is_disputed(self, run: str, case: CaseRecipe, without: str = "") -> bool:
        """Return True if an accepted solution differs from the reference on an input.

        Then the contract does not say what is right there.  One solution may be left out.
        """
        question = self.evaluation.question
        asked = self.evaluation.parts_asked
        right = [name for name, last in question.accepted_until_part.items() if last >= asked]
        return any(self._differs(name, run, case) for name in right if name != without)

    def _differs(self, accepted: str, run: str, case: CaseRecipe) -> bool:
        """Return True if an accepted solution differs from the reference, or raises."""
        assert self.evaluation.bank is not None, "no session gives this evaluation its programs"
        program = self.evaluation.bank.accepted_solution_program(accepted)
        theirs = self.evaluation.with_bank_program(program)

        def find() -> bool:
            try:
                outcome = theirs.submission_outcome(run, case)
            except (ProgramError, WorkerError):
                return True
            names = theirs.wanted_results[run]
            return any(find_mismatch(theirs, run, case, name, outcome) for name in names)

        return theirs.remember(("differs", run, case.name), find, program)

    def _accepted(
        self, run: str, new: Sequence[tuple[CaseRecipe, str]]
    ) -> list[tuple[CaseRecipe, str]]:
        """Those that the reference takes and agrees with itself on; found out once."""
        evaluation = self.evaluation
        unknown = [one for one in new if (run, one[0].name) not in self._known]
        evaluation.find_shapes([case for case, _ in unknown])
        fit = [one for one in unknown if self._is_fit(run, one[0])]
        cases = [case for case, _ in fit]
        evaluation.cases.update((case.name, case) for case in cases)
        self._known |= dict.fromkeys(((run, case.name) for case in cases), False)
        by_dtype = [case for case in cases if case.dtype != "float64"]
        want = compared_results_of_run(evaluation, run)
        with contextlib.suppress(WorkerError):  # an input may have been too much for its process
            evaluation.prefetch([evaluation.reference], run, cases, want=want)
            evaluation.prefetch([evaluation.reference], run, by_dtype, want=want, modes=[PRECISE])
            for case, origin in fit:
                self._known[run, case.name] = self._is_right(run, case, origin)
        return [one for one in new if self._known.get((run, one[0].name))]

    def _is_right(self, run: str, case: CaseRecipe, origin: str) -> bool:
        """Whether the reference agrees with itself on an input, and it is such as a case is."""
        evaluation = self.evaluation
        try:
            truth = evaluation.reference_outcome(run, case)
            return self._domain.contains(evaluation, run, case, origin) and not any(
                find_mismatch(evaluation, run, case, name, truth)
                for name in evaluation.wanted_results[run]
            )
        except (BankProgramError, KeyError):
            return False

    def _is_fit(self, run: str, case: CaseRecipe) -> bool:
        """Whether an input has what the run takes, can be drawn, and is small."""
        if not case.inputs.keys() >= set(run_inputs(self.evaluation.steps(run))):
            return False
        try:
            return (
                sum(np.size(v) for v in self.evaluation.drawn_inputs(case).values())
                <= MAX_EXTRA_ENTRIES
            )
        except (BankProgramError, DrawError, KeyError):
            return False

    def _is_new(self, run: str, case: CaseRecipe, origin: str) -> bool:
        """Whether it can be drawn, and is neither a case of the question nor made before."""
        if not self._is_fit(run, case):
            return False
        names = list(run_inputs(self.evaluation.steps(run)))
        if (run, origin) not in self._seen:
            own = (c for c in self._own.cases.values() if c.inputs.keys() >= set(names))
            self._seen[run, origin] = {input_fingerprint(self._own, c, names) for c in own}
        seen, found = self._seen[run, origin], input_fingerprint(self.evaluation, case, names)
        is_new = found not in seen
        seen.add(found)
        return is_new


def _useful(tried: Sequence[CaseRecipe | None]) -> list[CaseRecipe]:
    return [case for case in tried if case is not None]


def extra_cases(evaluation: Evaluation) -> ExtraCases:
    """Those for the parts that an evaluation's submission was asked, found out once per session."""
    assert evaluation.bank is not None, "no session gives this evaluation its memory"
    memory, key = evaluation.bank.remembered_outcomes, ("further", evaluation.parts_asked)
    if key not in memory:
        memory[key] = ExtraCases(evaluation)
    made: ExtraCases = memory[key]
    return made


def input_fingerprint(evaluation: Evaluation, case: CaseRecipe, names: Sequence[str]) -> int:
    """A number that two inputs share if programs see no difference: few are all random."""
    drawn = evaluation.drawn_inputs(case)
    parts: list[object] = [case.dtype, case.layout]
    for name in names:
        value, recipe = drawn[name], case.inputs[name]
        if isinstance(value, np.ndarray):
            form = (recipe.dtype, recipe.layout, value.dtype.str, value.shape)
            parts += [name, form, value.tobytes()]
        else:
            parts += [name, repr(value)]
    return hash(tuple(parts))
