"""Why a submission is wrong: everything that can be said truthfully, the surest first."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.evaluation.evaluation import BankFault, Evaluation
from grader.explain.explain import explain
from grader.explain.failure import Failure
from grader.explain.naming import diagnose
from grader.explain.pairs import pair
from grader.model.report import STATE, CheckResult, Explanation, Named
from grader.sandbox.client import WorkerError
from grader.sandbox.deadline import OutOfTime

LATE = "the deadline left no time to look for the idea behind it"


@dataclass(frozen=True, slots=True)
class Why:
    """What is said of a submission that did not pass."""

    misconceptions: tuple[Named, ...] = ()
    explanations: tuple[Explanation, ...] = ()
    note: str = ""  # what there was no time for


def why(evaluation: Evaluation, checks: Sequence[CheckResult]) -> Why:
    """What is found soon: what is remembered between calls, names, rules, and who is wrong where.

    Args:
        evaluation: with the submission, after its checks.
        checks: what they came to.

    Raises:
        BankFault: a misconception cannot be loaded.
    """
    failure = Failure.of(evaluation, checks)
    named: tuple[Named, ...] = ()
    note = ""
    tried = False
    faults: list[BankFault] = []

    def names() -> Sequence[Named]:
        nonlocal named, note, tried
        if tried:
            return named
        tried = True
        try:
            named = diagnose(failure).named
        except OutOfTime:
            note = LATE
        except BankFault as fault:
            faults.append(fault)
        return named

    found = explain(evaluation, checks, names)
    if not tried and not any(e.kind == STATE for e in found):
        names()
    if faults:  # one of the bank's own programs
        raise faults[0]
    remembered = any(e.kind == STATE for e in found)
    known = Why(named, found, note)
    return known if note or remembered or _is_whole(named) else _with_pair(failure, known)


def _with_pair(failure: Failure, known: Why) -> Why:
    """What is known, with two ideas at once where these explain everything."""
    both = None
    with contextlib.suppress(OutOfTime, WorkerError, BankFault):
        both = pair(failure) if failure.mine.question.variants else None
    if both is None:
        return known
    ideas, said = both
    # One that was named by itself keeps what was found then.
    before = {idea.id: idea for idea in known.misconceptions}
    named = tuple(before.get(idea.id, idea) for idea in ideas)
    return replace(known, misconceptions=named, explanations=(said, *known.explanations))


def _is_whole(named: Sequence[Named]) -> bool:
    """Whether the names explain every failing case, one of them or several together."""
    exact = [idea for idea in named if idea.exact]
    seen = {case for idea in exact for case in idea.seen}
    return any(max(idea.cases, len(seen)) >= idea.failing for idea in exact)
