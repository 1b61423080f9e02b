"""A class made by hand, so that what follows from it can be said beforehand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from grader.classroom.results import Results, key_of
from grader.model.classroom import AssignedQuestion, Entry, Graded, HandIn, Terms
from grader.model.report import (
    CheckResult,
    Explanation,
    Mismatch,
    Named,
    PartResult,
    Report,
    Verdict,
)

MEAN = AssignedQuestion("mean", "A mean", "d" * 64, "/bank", (1, 2), 10)
SUM = AssignedQuestion("sum", "A sum", "e" * 64, "/bank", (1,), 4, weight=2.5)
TERMS = Terms(7, "strong", "1.0", (MEAN, SUM), "Class of 2026", "2026-11-20T23:59:00+01:00")
FEEDBACK = {
    "off-by-one": "You divide by n - 1. That is the variance's denominator.",
    "axis": "You take the mean along the wrong axis. Rows are samples.",
}


def named(idea: str, **more: object) -> Named:
    base = Named(idea, FEEDBACK.get(idea, ""), True, ("y",), 2, 2, ("small", "wide"), ("values",))
    return replace(base, **more)  # type: ignore[arg-type]


def report(verdict: Verdict = Verdict.PASS, *ideas: Named, **more: object) -> Report:
    """A report of the question `mean`, whose part 1 fails where it is no pass."""
    passed = verdict is Verdict.PASS
    worst = Mismatch("y", "small", (0,), "2.000", "1.500", "+-1e-9", 1, 1)
    values = CheckResult(
        "values", "outputs", verdict, "2 cases" if passed else "y is wrong",
        ("small", "wide"), () if passed else ("small", "wide"), mismatch=None if passed else worst,
    )  # fmt: skip
    late = Verdict.PASS if passed else Verdict.SKIPPED
    parts = (PartResult("1", verdict, 6 if passed else 0, 6), PartResult("2", late, 4 * passed, 4))
    base = Report(
        "mean", "A mean", verdict, 7, "strong", 0.25, parts, (values,), tuple(ideas),
        sha256="5" * 64,
    )  # fmt: skip
    return replace(base, **more)  # type: ignore[arg-type]


def rule(text: str = "y is twice the right one.") -> Explanation:
    return Explanation("rule", text, ("small", "wide"))


def entry(
    student: str,
    found: Report | None = None,
    *,
    posed: AssignedQuestion = MEAN,
    at: str = "2026-11-20T12:00:00+00:00",
    sha256: str = "",
    fault: str = "",
    handed: str = "",
    late: bool = False,
    name: str = "",
) -> Entry:
    """What a student handed in; `fault` is the grader's, `handed` why there is no program."""
    sha256 = "" if handed else sha256 or hashlib.sha256(repr((student, at)).encode()).hexdigest()
    file = HandIn(student, posed.id, f"{student}/{posed.id}.py", sha256, at, handed, name)
    return Entry(posed, file, None if fault else found, fault, late)


def write_results(folder: Path, terms: Terms, entries: Iterable[Entry]) -> Path:
    """Keep a class as `drill class grade` does."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = list(entries)
    with Results(folder, write=terms) as results:
        programs = ((one.handed, f"{n}".encode()) for n, one in enumerate(entries))
        results.take(programs)
        for one in entries:
            if one.report is not None or one.fault:
                key = key_of(terms, one.question, one.handed.sha256)
                results.keep(Graded(key, one.report, one.fault), "2026-11-22T13:00:00.000+00:00")
    return folder
