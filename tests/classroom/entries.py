"""Entries of a class as a test wants them."""

from __future__ import annotations

from dataclasses import replace

from grader.model.classroom import AssignedQuestion, Entry, HandIn, Terms
from grader.model.report import (
    CheckResult,
    Clause,
    Explanation,
    Frame,
    Grids,
    Mismatch,
    Named,
    Panel,
    PartResult,
    Raised,
    Report,
    Verdict,
)

POSED = AssignedQuestion("mean", "A mean", "d" * 64, "/bank", (1,), 100)
TERMS = Terms(7, "strong", "1", (POSED,), title="Statistics")
HANDED = HandIn("ada", "mean", "ada/mean.py", "0" * 64, "2026-11-20T22:00:00+00:00")


def entry(report: Report | None, posed: AssignedQuestion = POSED, **handed: object) -> Entry:
    """What a student handed in, and what came of it."""
    return Entry(posed, replace(HANDED, **handed), report)  # type: ignore[arg-type]


def passed(points: int = 100) -> Report:
    """A report of a pass."""
    checks = tuple(
        CheckResult(name, "outputs", Verdict.PASS, "2 cases", ("few", "many"))
        for name in ("forward", "backward")
    )
    parts = (PartResult("1", Verdict.PASS, points, points),)
    return Report("mean", "A mean", Verdict.PASS, 7, "strong", 0.1, parts, checks)


def wrong(id_: str, case: str, mark: str = "", *more: str) -> CheckResult:
    """A check that fails, with `mark` in every text of it."""
    cases = (case, *more)
    panel = Panel(f"{mark}x", ((f"{mark}1", "2"),), note=f"{mark}plane")
    grids = Grids((panel, replace(panel, title="y, yours"), replace(panel, title="y, expected")))
    count = f"{len(cases)} of {len(cases) + 1} cases"
    frames = (Frame(3, f"{mark}g", f"{mark}source"),)
    return CheckResult(
        id_,
        "outputs",
        Verdict.FAIL,
        f"{mark}y differs in {count}; the smallest is {case}",
        ("few", *cases),
        cases,
        case_line=f"{mark}line",
        about=f"{mark}about",
        inputs={f"{mark}n": f"{mark}3"},
        call=f"f({mark}7)",
        mismatch=Mismatch(f"{mark}y", case, (0,), f"{mark}4.5", f"{mark}5.5", f"{mark}+-1", 1, 3),
        exhibit=grids,
        raised=Raised(f"{mark}Error", f"{mark}said", frames, mark, mark) if mark else None,
        figures={f"{mark}f": 3.25},
        clauses=(Clause(1, "y is the mean."),),
    )


def failed(*checks: CheckResult, **more: object) -> Report:
    """A report of a failure."""
    parts = (PartResult("1", Verdict.FAIL, 0, 100),)
    report = Report("mean", "A mean", Verdict.FAIL, 7, "strong", 0.1, parts, checks)
    return replace(report, **more)  # type: ignore[arg-type]


def idea(id_: str, feedback: str, *seen: str, checks: tuple[str, ...] = ()) -> Named:
    """An idea that gives the numbers of some cases."""
    return Named(id_, feedback, True, ("y",), len(seen), 9, seen, checks)


def rule(text: str, *cases: str) -> Explanation:
    """A rule that was seen on some cases."""
    return Explanation("rule", text, cases)
