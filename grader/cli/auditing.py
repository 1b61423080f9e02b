"""`drill bank audit`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import output, place
from grader.cli.choose import load
from grader.cli.grading import need_torch
from grader.cli.running import INTERRUPTED
from grader.cli.waiting import waiting
from grader.model.errors import BankError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.model.audit import AuditReport
    from grader.model.mutation import MutationReport
    from grader.model.question import Question

_FAULTY = 3


def audit(
    question_ids: Sequence[str],
    *,
    bank: Path | None,
    seeds: int,
    strict: bool,
    as_json: bool,
    mutants: bool = False,
    at_most: int | None = None,
    jobs: int | None = None,
) -> int:
    """Prove questions: show what every check does to every variant, and return 0 if all is well.

    Args:
        question_ids: which; all of the bank when empty.
        bank: where `--bank` says they are; without it the current folder, where that is a bank,
            for all questions of it and for one that is in no bank in use.
        seeds: how many to try.
        strict: whether a remark fails too.
        as_json: whether to print one JSON document.
        mutants: whether to try the mutants of every question that has no problem.
        at_most: how many mutants of each; all when None.
        jobs: how many questions at once; as many as there are cores when None.
    """
    from grader.audit.several import Plan, audited
    from grader.model.mutation import MutationReport

    if bank is None and not question_ids:
        bank = place.bank_here()
    wanted = list(dict.fromkeys(question_ids)) or _all_ids(bank)
    if not wanted:
        raise UsageError("no question to audit", hint="--bank DIR names the bank")
    if at_most is not None and not mutants:
        raise UsageError("--at-most says how many mutants to try", hint="add --mutants")
    questions: list[Question] = []
    broken: list[BankError] = []
    unread: list[str] = []  # the ids of those
    skipped: list[str] = []
    for name in wanted:
        try:
            question = load(name, bank=bank or _bank_here(name))
        except BankError as fault:
            broken.append(fault)
            unread.append(name)
            _tell(fault, as_json=as_json)
            continue
        if _runs_here(question, named=bool(question_ids)):
            questions.append(question)
        else:
            skipped.append(name)
            output.warn(f"{name} is not audited: it needs torch, which is not installed")
    reports: list[AuditReport] = []
    mutations: dict[int, MutationReport] = {}  # by the position of the report
    tell: Callable[[str], None] = output.progress
    plan = Plan(range(seeds), mutants=mutants, at_most=at_most)
    with audited(questions, plan, jobs=jobs or _cores(), progress=lambda line: tell(line)) as found:
        while True:
            with waiting() as tell:
                report = next(found, None)
            if report is None:
                break
            if isinstance(report, MutationReport):
                mutations[len(reports) - 1] = report
                if not as_json:
                    _show_mutants(report)
                if report.interrupted:
                    break
                continue
            reports.append(_named_well(report))
            if not as_json:
                _show(reports[-1], first=len(reports) == 1)
            if mutants and not report.ok:
                name = report.question
                output.warn(f"the mutants of {name} are not tried: its audit has problems")
    proved = not broken and all(_good(report, strict=strict) for report in reports)
    good = proved and all(tried.ok for tried in mutations.values())
    if as_json:
        from grader.model.audit import AUDIT_FORMAT
        from grader.reports.audit_json import to_json
        from grader.reports.mutation import mutants_entry

        output.document(
            {
                "format": AUDIT_FORMAT,
                "ok": good,
                "strict": strict,
                "seeds": seeds,
                "questions": [
                    to_json(report) | mutants_entry(mutations.get(index))
                    for index, report in enumerate(reports)
                ],
                "skipped": skipped,
                "problems": [problem for fault in broken for problem in fault.problems],
            }
        )
    elif len(reports) + len(broken) > 1:
        ready = [
            _good(report, strict=strict) and (index not in mutations or mutations[index].ok)
            for index, report in enumerate(reports)
        ]
        faulty = [r.question for r, fine in zip(reports, ready, strict=True) if not fine]
        output.write()
        output.write(_total(len(reports) + len(broken), unread + faulty))
    if strict and not proved and not broken and all(report.ok for report in reports):
        output.warn("the remarks are faults, because of --strict")
    if any(tried.interrupted for tried in mutations.values()):
        return INTERRUPTED
    return 0 if good else _FAULTY


def _cores() -> int:
    """How many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _good(report: AuditReport, *, strict: bool) -> bool:
    return report.ok and not (strict and report.remarks)


def _named_well(report: AuditReport) -> AuditReport:
    """The report, with a remark where the name of the spec is not what an id is to be."""
    from grader.bank.storage import MOST_LETTERS, is_id, nearest_id

    name = report.question
    if is_id(name):
        return report
    from dataclasses import replace

    from grader.model.audit import Remark

    text = (
        f"expected an id of lower-case words joined by hyphens, at most {MOST_LETTERS} characters,"
        f" found {name!r}; rename its files to {nearest_id(name) or 'one'}"
    )
    return replace(report, remarks=(*report.remarks, Remark("id", text)))


def _total(count: int, faulty: Sequence[str]) -> str:
    """What became of all questions together."""
    if not faulty:
        return f"all {count} are ready"
    return f"{len(faulty)} of {count} not ready: {', '.join(faulty)}"


def _all_ids(bank: Path | None) -> list[str]:
    from grader.bank import headers
    from grader.cli.inuse import banks

    return [header.called for header in headers(banks(bank))]


def _bank_here(name: str) -> Path | None:
    """The current folder, where it is a bank and alone has the question."""
    folder = place.bank_here()
    if folder is None:
        return None
    from grader.bank import holds
    from grader.cli.inuse import banks

    elsewhere = any(holds(bank, name) for bank in banks(None))
    return folder if holds(folder, name) and not elsewhere else None


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


def _show_mutants(report: MutationReport) -> None:
    from grader.reports.mutation import render_mutation

    output.write()
    output.show(render_mutation(report, width=output.width()))


def _tell(fault: BankError, *, as_json: bool) -> None:
    if not as_json:
        for problem in fault.problems:
            output.complain(problem)
