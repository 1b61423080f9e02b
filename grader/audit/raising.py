"""Is a wrong idea stopped only because its code breaks?

A misspelt name in a variant raises wherever it is called, so that every check stops it, and since
diagnosis compares it with itself it is named as well: the matrix looks proved.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from grader.audit.subjects import FINE, Subject
from grader.bench.bench import Bench
from grader.model.audit import Remark
from grader.model.report import CheckResult, Raised
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
    failed = {c: r for c, r in results.items() if r.verdict not in FINE}
    if any(r.raised is None or not r.failing for r in failed.values()):
        return None
    for check in bench.question.spec.checks:
        failing = failed[check.id].failing if check.id in failed else ()
        if not all(_raises(bench, check.run, case) for case in failing):
            return None
    return next((r.raised for r in failed.values()), None)


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
        raised = [r for r in subject.raised if r is not None]
        if subject.misconception is None or not raised or len(raised) < len(subject.raised):
            continue
        one = raised[0]
        feedback = question.spec.misconceptions[subject.misconception].feedback
        if re.search(rf"{MEANT}|\b{re.escape(one.type)}\b", feedback, re.IGNORECASE):
            continue
        inner = one.frames[-1] if one.frames else None
        where = f" in {inner.function}, line {inner.line}," if inner is not None else ""
        found.append(
            Remark(
                "raising",
                f"{subject.name} raises {one.type}{where} on every case that it fails"
                f"{message_of(one)}; "
                "only who raises alike is named: mend it, or say in the feedback that it raises",
            )
        )
    return found
