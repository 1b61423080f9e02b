"""A class of four, made by hand: one passes, one is wrong, one has no program, one no grade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader.model.classroom import AssignedQuestion, Entry, HandIn, Terms
from grader.model.report import (
    CheckResult,
    Explanation,
    Mismatch,
    Named,
    PartResult,
    Report,
    Verdict,
)
from tests.classroom.making import write_results

POOL = AssignedQuestion("pool", "A pool", "a" * 64, "/bank", (1, 2), 100)
MEAN = AssignedQuestion("mean", "A mean", "b" * 64, "/bank", (1,), 10, weight=0.5)
TERMS = Terms(7, "strong", "0.1.0", (POOL, MEAN), "Fall", "2026-11-22T12:00:00+00:00")
AT = "2026-11-22T10:00:00+00:00"
FAULT = "isolation: expected strong, found limited"

PASSED = CheckResult("forward", "outputs", Verdict.PASS, "y is right", ("few", "many"))
WRONG = CheckResult(
    "ties", "outputs", Verdict.FAIL, "grad_x is wrong", ("few", "tied"), ("tied",), 2,
    mismatch=Mismatch("grad_x", "tied", (0, 1), "4.000", "10.00", "+-1e-9", 1, 9),
)  # fmt: skip
MISSED = CheckResult("speed", "performance", Verdict.FAIL, "12 times", part=2, stretch=True)
UNTRIED = CheckResult("manners", "contract", Verdict.SKIPPED, "", part=2, blocked_by="ties")
IDEA = Named(
    "assign-overlap", "You overwrite instead of adding.", True, ("grad_x",), 1, 1, ("tied",),
    ("ties",),
)  # fmt: skip


def report(
    posed: AssignedQuestion = POOL, *, passes: bool = True, checks: Sequence[CheckResult] = ()
) -> Report:
    """What a grade found: all parts pass, or all but the last."""
    each = posed.of // len(posed.parts)
    parts = [PartResult(f"part-{n}", Verdict.PASS, each, each) for n in posed.parts]
    if not passes:
        parts[-1] = replace(parts[-1], verdict=Verdict.FAIL, points=0)
    checks = tuple(checks) or ((PASSED,) if passes else (PASSED, WRONG, MISSED, UNTRIED))
    verdict = Verdict.PASS if passes else Verdict.FAIL
    ideas = () if passes else (IDEA,)
    return Report(
        posed.id, posed.title, verdict, 7, "strong", 0.25, tuple(parts), checks, ideas,
        sha256="c" * 64,
    )  # fmt: skip


def entry(
    student: str,
    posed: AssignedQuestion = POOL,
    found: Report | None = None,
    *,
    fault: str = "",
    ours: str = "",
    late: bool = False,
    name: str = "",
) -> Entry:
    """What counts of a student; `fault` is of their file, `ours` of the grader."""
    sha256 = "" if fault else "c" * 64
    handed = HandIn(student, posed.id, f"{student}/{posed.id}.py", sha256, AT, fault, name)
    return Entry(posed, handed, None if fault else found, ours, late, "2026-11-22T13:00:00.000")


def everybody() -> list[Entry]:
    """What counts in the class, by student."""
    secret = Explanation("rule", "grad_x is 0.4 times the right one", ("tied",))
    wrong = replace(report(passes=False), explanations=(secret,))
    return [
        entry("ada", POOL, report(), name="Ada L"), entry("ada", MEAN, report(MEAN), late=True),
        entry("ben", POOL, wrong), entry("cem", POOL, fault="a link"),
        entry("dov", POOL, None, ours=FAULT), entry("dov", MEAN, report(MEAN)),
    ]  # fmt: skip


def write(folder: Path, entries: Sequence[Entry], terms: Terms = TERMS) -> Path:
    """Write the results of a class into a folder, each program another one."""
    numbered = (
        replace(one, handed=replace(one.handed, sha256=f"{n:064x}")) if one.handed.sha256 else one
        for n, one in enumerate(entries)
    )
    return write_results(folder, terms, numbered)
