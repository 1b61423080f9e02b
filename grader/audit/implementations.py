"""What a test is tried on: each of it has to be got wrong by some program that is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.audit.subjects import Subject
from grader.model.question import Question


def idle(question: Question, subjects: Sequence[Subject]) -> Iterator[str]:
    """Cases of verdicts checks that nobody gets wrong: a sentence each.

    Args:
        question: what is audited.
        subjects: the reference, and the wrong programs, put through all checks.
    """
    every = question.spec.checks
    checks = {check.id: check for check in every if getattr(check, "reject", None) is not None}
    wrong = {
        case
        for subject in subjects[1:]
        for seen in subject.seen
        for result in seen.results.values()
        if result.id in checks
        for case in result.failing
    }
    for check in checks.values():
        for case in check.cases:
            if case not in wrong:
                yield (
                    f"{check.id}: no variant gets {case} wrong: it is idle, or a misconception is "
                    "missing"
                )
