"""What hand-built reports are made of."""

from __future__ import annotations

from dataclasses import replace

from grader.model.report import CheckResult, Panel, PartResult, Report
from grader.model.verdict import Verdict

PASS, FAIL, ERROR, LIMIT = Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT
SKIPPED, UNCLEAR = Verdict.SKIPPED, Verdict.INCONCLUSIVE


def check(id_: str, kind: str, verdict: Verdict, message: str, **more: object) -> CheckResult:
    return replace(CheckResult(id_, kind, verdict, message), **more)  # type: ignore[arg-type]


def passing(*ids: str) -> tuple[CheckResult, ...]:
    return tuple(check(i, "outputs", PASS, "2 cases", cases=(f"{i}-a", f"{i}-b")) for i in ids)


def panel(title: str, *rows: str, **marks: object) -> Panel:
    return replace(Panel(title, tuple(tuple(row.split()) for row in rows)), **marks)  # type: ignore[arg-type]


def parts(reached: int, *points: int) -> tuple[PartResult, ...]:
    verdicts = [PASS if n < reached else FAIL if n == reached else SKIPPED for n in range(3)]
    earned = [of if v is PASS else 0 for of, v in zip(points, verdicts, strict=True)]
    each = zip(verdicts, earned, points, strict=True)
    return tuple(PartResult(str(n), v, e, of) for n, (v, e, of) in enumerate(each, 1))


MAXPOOL = Report(
    "maxpool-routing",
    "A few points short",
    FAIL,
    seed=8121,
    isolation="strong",
    seconds=0.41,
    parts=parts(0, 40, 30, 30),
)
CONV = replace(MAXPOOL, question="conv1d-per-step", title="One filter", parts=parts(1, 40, 30, 30))
ONE_PART = replace(MAXPOOL, parts=(PartResult("1", FAIL, 0, 100),))
