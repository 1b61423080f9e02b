"""Which misconceptions can no case tell apart, and which case would?

Two ideas that compute the same on every case cannot be named.  A short random search over cases
like those of the question looks for inputs on which they differ; the smallest found is handed to
the author as YAML.  It knows nothing of the contract, so the author has the last word.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from grader.audit.vary import varied, written
from grader.bench.bench import BankFault, Bench
from grader.bench.sameness import same_value
from grader.cases.dataflow import free_names, results
from grader.cases.recipe import CaseRecipe, read_cases
from grader.model.audit import Twins
from grader.model.mutation import Reach
from grader.sandbox.client import WorkerError
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import ProgramError

if TYPE_CHECKING:
    from grader.session import GradingSession

TRIES = 120  # cases for one pair; each costs three runs of small inputs
ENOUGH = 4  # cases found, of which the smallest is shown
REACHES = (Reach.VALUES, Reach.SIZES, Reach.NUMBERS)


def pairs(named: Iterable[tuple[str | None, Sequence[tuple[str, ...]]]]) -> list[tuple[str, str]]:
    """Misconceptions that go by each other's names on every seed.

    Args:
        named: of each program its misconception, and what diagnosis called it, seed by seed.
    """
    found = set()
    for own, by_seed in named:
        always = set.intersection(*map(set, by_seed)) if by_seed else set()
        if own in always:
            found |= {(min(own, other), max(own, other)) for other in always - {own}}
    return sorted(found)


def tell_apart(session: GradingSession, one: str, other: str) -> Twins:
    """Search for a case on which two misconceptions differ."""
    question = session.question
    rng = random.Random(f"{question.id}/{one}/{other}")
    first, second = (
        [session.bank.variant(name, i) for i in range(len(question.variants[name]))]
        for name in (one, other)
    )
    known = [c for c in read_cases(question.spec.cases)[0].values() if c.inputs]
    found: list[tuple[tuple[int, int], tuple[str, ...], str]] = []
    tried = 0
    for _ in range(TRIES if known else 0):
        case = varied(rng.choice(known), known, rng, rng.choice(REACHES), ())
        if case is None:
            continue
        tried += 1
        bench = Bench(question, 0, session.bank.reference, session.bank.reference)
        bench.cases = {case.name: case}
        if (run := _differs(bench, case, first, second)) is not None:
            found.append((bench.weight(case), tuple(written(case, case.inputs)), run))
            if len(found) == ENOUGH:
                break
    _, lines, run = min(found, default=(None, (), "main"))
    return Twins((one, other), lines, tried, run)


def _differs(
    bench: Bench, case: CaseRecipe, first: Sequence[RemoteProgram], second: Sequence[RemoteProgram]
) -> str | None:
    """The run whose results differ on a case, if the reference can do it and they do."""
    for run, steps in bench.question.runs.items():
        if not set(free_names(steps)) <= case.inputs.keys():
            continue
        names = [n for n in bench.wanted[run] if n in results(steps)]
        try:
            bench.truth(run, case)  # what the reference cannot do, nobody need do
            left = [bench.outcome(p, run, case).values for p in first]
            right = [bench.outcome(p, run, case).values for p in second]
        except (BankFault, ProgramError, WorkerError, ValueError):
            continue  # outside of what these functions take
        if all(
            any(not same_value(a[n], b[n], case.dtype) for n in names) for a in left for b in right
        ):
            return run
    return None
