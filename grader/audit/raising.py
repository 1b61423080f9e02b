"""Is a wrong idea stopped only because its code breaks?

A misspelled name in a variant raises wherever it is called, so that every check stops it, and since
diagnosis compares it with itself it is named as well: the matrix looks proved.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from grader.audit.subjects import Subject
from grader.bench.bench import Bench
from grader.model.audit import Remark
from grader.model.report import CheckResult, Raised
from grader.model.verdict import FINE
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import ProgramError
from grader.session.locations import message_of

if TYPE_CHECKING:
    from grader.model.question import Question

MEANT = r"\brais(?:e|es|ed|ing)\b|\bexceptions?\b|\bcrash(?:es|ed)?\b"


def always(bench: Bench, results: Mapping[str, CheckResult]) -> Raised | None:
    """The first exception of a program that raises on every case it fails; None for another.

    Args:
        bench: the program, which has been through every check: what it did is remembered.
        results: by check.
    """
    failed = [c for c in bench.question.spec.checks if results[c.id].verdict not in FINE]
    for check in failed:
        result = results[check.id]
        everywhere = all(_raises(bench, check.run, case) for case in result.failing)
        if result.raised is None or not result.failing or not everywhere:
            return None
    return results[failed[0].id].raised if failed else None


def _raises(bench: Bench, run: str, case: str) -> bool:
    try:
        bench.observed(run, bench.cases[case])
    except ProgramError as error:
        return error.raised is not None and not error.out_of_memory
    except WorkerError:
        pass
    return False


def remarks(question: Question, subjects: Sequence[Subject]) -> list[Remark]:
    """Wrong ideas that raise wherever they fail, on every seed, and do not say that they do."""
    found = []
    for subject in subjects:
        everywhere = [seen.raised for seen in subject.seen if seen.raised is not None]
        if subject.misconception is None or not 0 < len(everywhere) == len(subject.seen):
            continue
        raised = everywhere[0]
        feedback = question.spec.misconceptions[subject.misconception].feedback
        if re.search(rf"{MEANT}|\b{re.escape(raised.type)}\b", feedback, re.IGNORECASE):
            continue
        inner = raised.frames[-1] if raised.frames else None
        where = f" in {inner.function}, line {inner.line}," if inner is not None else ""
        found.append(
            Remark(
                "raising",
                f"{subject.name} raises {raised.type}{where} on every case that it fails"
                f"{message_of(raised)}; "
                "only who raises alike is named: fix it, or say in the feedback that it raises",
            )
        )
    return found
