"""A class made by hand, so that what follows from it can be said beforehand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from grader.classroom.jobs import key_of
from grader.classroom.ledger import Ledger
from grader.classroom.results import write_handed_in, write_terms
from grader.model.classroom import Entry, Graded, HandedIn, Posed, Terms
from grader.model.report import CheckResult, Explanation, Mismatch, Named, PartResult, Report
from grader.model.verdict import Verdict

MEAN = Posed("mean", "A mean", "d" * 64, "/bank", (1, 2), 10)
SUM = Posed("sum", "A sum", "e" * 64, "/bank", (1,), 4, weight=2.5)
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
    posed: Posed = MEAN,
    at: str = "2026-11-20T12:00:00+00:00",
    sha256: str = "",
    fault: str = "",
    handed: str = "",
    late: bool = False,
    name: str = "",
) -> Entry:
    """What a student handed in; `fault` is the grader's, `handed` why there is no program."""
    sha256 = "" if handed else sha256 or hashlib.sha256(repr((student, at)).encode()).hexdigest()
    file = HandedIn(student, posed.id, f"{student}/{posed.id}.py", sha256, at, handed, name)
    graded = Graded("k", found, fault) if found is not None or fault else None
    return Entry(posed, file, graded, late)


def attempts(entries: Iterable[Entry]) -> Iterator[tuple[Entry, list[Entry]]]:
    """What counts of each student and question, the last one, with everything before it."""
    for _, group in groupby(entries, key=lambda one: (one.handed.student, one.posed.id)):
        found = list(group)
        yield found[-1], found


def write_results(folder: Path, terms: Terms, entries: Iterable[Entry]) -> Path:
    """Keep a class as `drill class grade` does."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = list(entries)
    write_terms(folder, terms)
    write_handed_in(folder, (one.handed for one in entries))
    with Ledger(folder / "verdicts.jsonl") as ledger:
        for one in entries:
            if one.graded is not None:
                key = key_of(terms, one.posed, one.handed.sha256)
                ledger.add([replace(one.graded, key=key)])
    return folder
