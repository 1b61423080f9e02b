"""Further inputs of a question: other sizes, numbers, dtypes and ties, made from its cases.

What a submission does on a handful of cases may be true by chance: a case with two rows makes a
half of a mean.  Here is what such a statement has to hold on as well.  The draws are the same for
every submission, so what the reference computes there is found out once per session; nothing is
drawn before it is asked for.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice

import numpy as np

from grader.bench.bench import BankFault, Bench
from grader.bench.compare import fault_of
from grader.bench.encoding import PRECISE
from grader.cases.dataflow import free_names, results
from grader.cases.draw import DrawError
from grader.cases.recipe import CaseRecipe
from grader.cases.vary import sibling, varied
from grader.explain.domain import Domain
from grader.kinds import registry
from grader.model.mutation import Reach
from grader.model.spec import Check
from grader.sandbox.client import WorkerError

SEED = 7101  # of the draws: none that an audit uses
REACHES = (Reach.VALUES, Reach.SIZES, Reach.NUMBERS)
VARIANTS = 18  # of each case, as many of each kind
LARGE = 3000  # entries beyond which an input takes too long to look at
REDRAWN = 2  # times the same case, from another seed


def variants(
    own: Sequence[CaseRecipe], checks: Sequence[Check]
) -> Iterator[tuple[int, Reach, CaseRecipe, str]]:
    """A number, what is changed, the case that comes of it, and the name of the question's."""
    layouts = list(dict.fromkeys(n for c in checks for n in registry.get(c.kind).layouts(c)))
    for number in range(VARIANTS):
        rng, reach = random.Random(number), REACHES[number % len(REACHES)]
        for origin in own:
            if (case := varied(origin, own, rng, reach, layouts)) is not None:
                yield number, reach, replace(case, name=f"{origin.name}-{number}"), origin.name


class Further:
    """The further inputs of a question, drawn and tried on the reference when asked for."""

    def __init__(self, bench: Bench) -> None:
        """Draw nothing yet.

        Args:
            bench: of a grade, on which the reference has run the question's own cases.
        """
        self._own = bench.with_bank_program(bench.reference)
        self.bench = self._own.with_bank_program(bench.reference)
        self.bench.seed = SEED
        self.bench.cases = {}
        self._usable: dict[tuple[str, str], list[CaseRecipe]] = {}
        self._seen: dict[str, set[int]] = {}  # by run, the inputs that are known
        self._waiting: dict[tuple[str, str], Iterator[CaseRecipe]] = {}

    @cached_property
    def _domain(self) -> Domain:
        return Domain(self._own)

    @cached_property
    def _made(self) -> Mapping[str, list[CaseRecipe]]:
        """By case of the question, what is made from it."""
        own, checks = self._own.cases, self._own.question.spec.checks
        made: dict[str, list[CaseRecipe]] = {name: [] for name in own}
        for name, case in own.items():
            drawn = (sibling(case, number) for number in (1, 2))
            several = [s for s in drawn if s is not None]
            several += [case] * REDRAWN if any(r.is_drawn for r in case.inputs.values()) else []
            # No case of a question has such a name, so nothing is drawn twice alike.
            made[name] = [replace(s, name=f"{name}~{n}") for n, s in enumerate(several)]
        for number, _, case, origin in variants(list(own.values()), checks):
            made[origin].append(replace(case, name=f"{origin}~v{number}"))
        return made

    def of(self, run: str, most: Mapping[str, int]) -> list[tuple[CaseRecipe, str]]:
        """Inputs of a run that the reference takes, each with the question's case it is made from.

        Args:
            run: its name.
            most: by case of the question, how many to make from it; there may be fewer.
        """
        for _ in range(2):  # some are of no use: then others take their place
            new = []
            for origin, wanted in most.items():
                key = run, origin
                missing = wanted - len(self._usable.setdefault(key, []))
                waiting = self._waiting.setdefault(key, iter(self._made[origin]))
                new += [(case, origin) for case in islice(waiting, max(0, missing))]
            self._try(run, new)
        chosen = [(c, o) for o, n in most.items() for c in self._usable[run, o][:n]]
        return sorted(chosen, key=lambda pair: self.bench.weight(pair[0]))

    def _try(self, run: str, new: Sequence[tuple[CaseRecipe, str]]) -> None:
        """Keep those that the reference takes and agrees with itself on."""
        bench, reference = self.bench, self.bench.reference
        new = [(case, origin) for case, origin in new if self._is_new(run, case)]
        bench.cases.update((case.name, case) for case, _ in new)
        names = everything(bench, run)
        by_dtype = [c for c, _ in new if c.dtype != "float64"]
        try:
            bench.ask_all(reference, run, [c for c, _ in new], want=names)
            bench.ask_all(reference, run, by_dtype, want=names, mode=PRECISE)
        except WorkerError:  # an input may have been too much for its process
            assert bench.bank is not None
            bench.bank.revive(reference.name)
            return
        for case, origin in new:
            with contextlib.suppress(BankFault, KeyError):
                truth = bench.truth(run, case)
                if self._domain.holds(bench, run, case, origin) and not any(
                    fault_of(bench, run, case, name, truth) for name in bench.wanted[run]
                ):
                    self._usable[run, origin].append(case)

    def _is_new(self, run: str, case: CaseRecipe) -> bool:
        """Whether an input can be drawn, is small, and is not one of those known."""
        bench = self.bench
        names = list(free_names(bench.steps(run)))
        if not case.inputs.keys() >= set(names):
            return False
        if run not in self._seen:
            own = (c for c in self._own.cases.values() if c.inputs.keys() >= set(names))
            self._seen[run] = {content(self._own, c, names) for c in own}
        try:
            if sum(np.size(v) for v in bench.drawn(case).values()) > LARGE:
                return False
            found = content(bench, case, names)
        except (BankFault, DrawError, KeyError):
            return False
        if found in self._seen[run]:
            return False
        self._seen[run].add(found)
        return True


def everything(bench: Bench, run: str) -> tuple[str, ...]:
    """The results of a run that any check of any run looks at."""
    wanted = [name for names in bench.wanted.values() for name in names]
    made = set(results(bench.steps(run)))
    return tuple(dict.fromkeys([*bench.wanted[run], *(n for n in wanted if n in made)]))


def content(bench: Bench, case: CaseRecipe, names: Sequence[str]) -> int:
    """A number that two inputs share if programs see no difference: few are all random."""
    drawn = bench.drawn(case)
    parts: list[object] = [case.dtype, case.layout]
    for name in names:
        value, recipe = drawn[name], case.inputs[name]
        if isinstance(value, np.ndarray):
            form = (recipe.dtype, recipe.layout, value.dtype.str, value.shape)
            parts += [name, form, value.tobytes()]
        else:
            parts += [name, repr(value)]
    return hash(tuple(parts))
