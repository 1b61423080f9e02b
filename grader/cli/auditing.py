"""`drill bank audit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import output
from grader.cli.choose import load
from grader.cli.grading import need_torch
from grader.model.errors import BankError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.model.audit import AuditReport
    from grader.model.question import Question

_FAULTY = 3


def audit(question_ids: Sequence[str], *, bank: Path | None, seeds: int, as_json: bool) -> int:
    """Prove questions: show what every check does to every variant, and return 0 if all is well."""
    from grader.judge import audit as prove

    wanted = list(dict.fromkeys(question_ids)) or _all_ids(bank)
    if not wanted:
        raise UsageError("no question to audit", hint="--bank DIR names the bank")
    reports: list[AuditReport] = []
    broken: list[BankError] = []
    skipped: list[str] = []
    for name in wanted:
        try:
            question = load(name, bank=bank)
        except BankError as fault:
            broken.append(fault)
            _tell(fault, as_json=as_json)
            continue
        if not _runs_here(question, named=bool(question_ids)):
            skipped.append(name)
            output.warn(f"{name} is not audited: it needs torch, which is not installed")
            continue
        report = prove(question, seeds=range(seeds), progress=output.progress)
        reports.append(report)
        if not as_json:
            _show(report, first=len(reports) == 1)
    good = not broken and all(report.ok for report in reports)
    if as_json:
        from grader.reports.audit import to_json

        output.document(
            {
                "format": 1,
                "ok": good,
                "seeds": seeds,
                "questions": [to_json(report) for report in reports],
                "skipped": skipped,
                "problems": [problem for fault in broken for problem in fault.problems],
            }
        )
    return 0 if good else _FAULTY


def _all_ids(bank: Path | None) -> list[str]:
    from grader.bank import banks, headers

    return [header.id for header in headers(banks(bank))]


def _runs_here(question: Question, *, named: bool) -> bool:
    """Return whether what the question needs is there; asked for by name, its lack is an error."""
    try:
        need_torch(question)
    except UsageError:
        if named:
            raise
        return False
    return True


def _show(report: AuditReport, *, first: bool) -> None:
    from grader.reports.audit import render_audit

    if not first:
        output.write()
    output.show(render_audit(report, width=output.width()))


def _tell(fault: BankError, *, as_json: bool) -> None:
    if not as_json:
        for problem in fault.problems:
            output.complain(problem)
