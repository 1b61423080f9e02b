"""Prove questions: every variant through every check, on request with mutants of the reference."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.app import requirements
from grader.model.audit import Remark
from grader.model.errors import BankError, UsageError
from grader.model.mutation import MutationReport

if TYPE_CHECKING:
    from grader.app.context import Context
    from grader.audit.several import Plan
    from grader.model.audit import AuditReport
    from grader.model.question import Question

Waiting = Callable[[], AbstractContextManager[Callable[[str], None]]]


@dataclass(frozen=True, slots=True)
class Audited:
    """What became of one question: a report, a fault, or neither where it is skipped."""

    name: str
    report: AuditReport | None = None
    fault: BankError | None = None
    mutants: MutationReport | None = None


@dataclass(frozen=True, slots=True)
class Audit:
    """What became of all questions."""

    audited: tuple[Audited, ...]
    strict: bool  # whether a remark fails too

    @property
    def reports(self) -> list[AuditReport]:
        """The reports there are."""
        return [one.report for one in self.audited if one.report is not None]

    @property
    def faults(self) -> list[BankError]:
        """Why questions could not be read."""
        return [one.fault for one in self.audited if one.fault is not None]

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped it among the mutants."""
        return any(one.mutants is not None and one.mutants.interrupted for one in self.audited)

    @property
    def faulty(self) -> list[str]:
        """The names of the questions that are not ready, those that cannot be read first."""
        unread = [one.name for one in self.audited if one.fault is not None]
        return unread + [
            one.report.question
            for one in self.audited
            if one.report is not None
            and not (self.proved(one.report) and (one.mutants is None or one.mutants.ok))
        ]

    def proved(self, report: AuditReport) -> bool:
        """Return whether a report has nothing against its question."""
        return report.ok and not (self.strict and report.remarks)


def audit(
    ctx: Context,
    question_ids: Sequence[str],
    plan: Plan,
    *,
    strict: bool = False,
    jobs: int | None = None,
    each: Callable[[Audited], None] = lambda _: None,
    waiting: Waiting = lambda: nullcontext(lambda _: None),
) -> Audit:
    """Audit questions.

    Args:
        ctx: Where the person is. Without `--bank` and DRILL_BANK, the current folder counts as
            well where it is a bank: alone for all questions, and for one that is nowhere else.
        question_ids: Which; all of the bank when empty.
        plan: What to do with each.
        strict: Whether a remark fails too.
        jobs: Questions at once; as many as there are cores when None.
        each: Is called with what became of a question, and again when its mutants were tried.
        waiting: Gives, while something takes long, what to call with each step.

    Raises:
        UsageError: There is nothing to audit, or a named question needs what is not installed.
    """
    from grader.audit.several import audited

    if plan.at_most is not None and not plan.mutants:
        raise UsageError("--at-most says how many mutants to try", hint="add --mutants")
    if ctx.bank is None and not question_ids:
        ctx = replace(ctx, bank=_bank_here(ctx))
    wanted = list(dict.fromkeys(question_ids)) or _all_ids(ctx)
    if not wanted:
        raise UsageError("no question to audit", hint="--bank DIR names the bank")
    done: list[Audited] = []
    questions: list[Question] = []
    for name in wanted:
        loaded = _load(ctx, name, named=bool(question_ids))
        if isinstance(loaded, Audited):
            done.append(loaded)
            each(loaded)
        else:
            questions.append(loaded)
    steps: list[Callable[[str], None]] = []  # the one to call now is the last
    with audited(
        questions, plan, jobs=jobs or _cores(), progress=lambda line: steps[-1](line)
    ) as found:
        while True:
            with waiting() as step:
                steps.append(step)
                report = next(found, None)
            if report is None:
                break
            if isinstance(report, MutationReport):
                done[-1] = replace(done[-1], mutants=report)
                each(done[-1])
                if report.interrupted:
                    break
                continue
            done.append(Audited(report.question, _named_well(report)))
            each(done[-1])
            if plan.mutants and not report.ok:
                name = report.question
                ctx.warn(f"the mutants of {name} are not tried: its audit has problems", "")
    return Audit(tuple(done), strict)


def _load(ctx: Context, name: str, *, named: bool) -> Question | Audited:
    from grader.bank import load

    try:
        question = load(_banks(ctx, name), name)
    except BankError as fault:
        return Audited(name, fault=fault)
    if named:
        requirements.need_torch(question)
    elif question.spec.needs_torch and not requirements.torch_installed():
        ctx.warn(f"{name} is not audited: it needs torch, which is not installed", "")
        return Audited(name)
    return question


def _cores() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _named_well(report: AuditReport) -> AuditReport:
    """Return the report, with a remark where the name of the spec is not what an id is to be."""
    from grader.bank.storage import MOST_LETTERS, is_id, nearest_id

    name = report.question
    if is_id(name):
        return report
    text = (
        f"expected an id of lower-case words joined by hyphens, at most {MOST_LETTERS} characters,"
        f" found {name!r}; rename its files to {nearest_id(name) or 'one'}"
    )
    return replace(report, remarks=(*report.remarks, Remark("id", text)))


def _all_ids(ctx: Context) -> list[str]:
    from grader.bank import headers

    return [header.called for header in headers(ctx.banks())]


def _banks(ctx: Context, name: str) -> list[Path]:
    """Return the banks in use, or the current folder where it alone has a question."""
    from grader.bank import holds

    banks = ctx.banks()
    here = _bank_here(ctx) if ctx.bank is None else None
    if here is not None and holds(here, name) and not any(holds(bank, name) for bank in banks):
        return [here]
    return banks


def _bank_here(ctx: Context) -> Path | None:
    """Return the current folder where it is a bank, and DRILL_BANK does not name others."""
    return ctx.here() if not ctx.banks_named and (ctx.here() / "questions").is_dir() else None
