"""Many programs of the bank on the same cases, asked for in few requests.

A variant takes less time to run a small case than a request takes to reach it.  What cannot be had
in this way is asked for by itself, as if nothing had been tried.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence

from grader.cases.recipe import CaseRecipe
from grader.evaluation.evaluation import Evaluation
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import ProgramError

MOST_RUNS = 64  # of one request


def ask_together(evaluations: Iterable[Evaluation], run: str, cases: Sequence[CaseRecipe]) -> None:
    """Have programs that share a worker run small cases; `outcome` knows what each gave then.

    Args:
        evaluations: alike but for their programs, which are the bank's.
        run: its name.
        cases: of which those that are not small are left out.
    """
    asked: dict[tuple[str, ...], list[Evaluation]] = {}
    plain: dict[str, bool] = {}
    for evaluation in evaluations:
        new = []
        for case in cases:  # most are known, in the long run
            if not evaluation.knows(evaluation.submission, evaluation.outcome_key(run, case)):
                if case.name not in plain:
                    plain[case.name] = evaluation.ahead.is_plain(evaluation, case)
                new += [case.name] if plain[case.name] else []
        asked.setdefault(tuple(new), []).append(evaluation)
    asked.pop((), None)
    for names, left in asked.items():
        with contextlib.suppress(ProgramError, WorkerError):
            while left:
                most = max(1, MOST_RUNS // len(names))
                left = left[_ask(left[:most], run, [left[0].cases[name] for name in names]) :]


def _ask(evaluations: Sequence[Evaluation], run: str, cases: Sequence[CaseRecipe]) -> int:
    """One request; how many of the programs were run in it, one at least."""
    one = evaluations[0]
    inputs = [one.inputs(case, run) for case in cases]
    program, *others = [evaluation.submission for evaluation in evaluations]
    found = program.several(one.steps(run), inputs, one.wanted[run], others)
    for number, outcome in enumerate(found):
        evaluation, case = evaluations[number // len(cases)], cases[number % len(cases)]
        key = evaluation.outcome_key(run, case)
        evaluation.remember(evaluation.submission, key, lambda outcome=outcome: outcome)  # type: ignore[misc]
    return len(found) // len(cases)
