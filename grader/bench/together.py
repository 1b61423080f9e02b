"""Many programs of the bank on the same cases, asked for in few requests.

A variant takes less time to run a small case than a request takes to reach it.  What cannot be had
in this way is asked for by itself, as if nothing had been tried.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence

from grader.bench.bench import Bench
from grader.cases.recipe import CaseRecipe
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import ProgramError

MOST_RUNS = 64  # of one request


def ask_together(benches: Iterable[Bench], run: str, cases: Sequence[CaseRecipe]) -> None:
    """Have programs that share a worker run small cases; `outcome` knows what each gave then.

    Args:
        benches: alike but for their programs, which are the bank's.
        run: its name.
        cases: of which those that are not small are left out.
    """
    asked: dict[tuple[str, ...], list[Bench]] = {}
    plain: dict[str, bool] = {}
    for bench in benches:
        new = []
        for case in cases:  # most are known, in the long run
            if not bench.knows(bench.submission, bench.outcome_key(run, case)):
                if case.name not in plain:
                    plain[case.name] = bench.ahead.is_plain(bench, case)
                new += [case.name] if plain[case.name] else []
        asked.setdefault(tuple(new), []).append(bench)
    asked.pop((), None)
    for names, left in asked.items():
        with contextlib.suppress(ProgramError, WorkerError):
            while left:
                most = max(1, MOST_RUNS // len(names))
                left = left[_ask(left[:most], run, [left[0].cases[name] for name in names]) :]


def _ask(benches: Sequence[Bench], run: str, cases: Sequence[CaseRecipe]) -> int:
    """One request; how many of the programs were run in it, one at least."""
    one = benches[0]
    inputs = [one.inputs(case, run) for case in cases]
    program, *others = [bench.submission for bench in benches]
    found = program.several(one.steps(run), inputs, one.wanted[run], others)
    for number, outcome in enumerate(found):
        bench, case = benches[number // len(cases)], cases[number % len(cases)]
        key = bench.outcome_key(run, case)
        bench.remember(bench.submission, key, lambda outcome=outcome: outcome)  # type: ignore[misc]
    return len(found) // len(cases)
