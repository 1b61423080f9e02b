"""Prove questions: every variant through every check, on request with mutants of the reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader import bank
from grader.app import proofs, requirements
from grader.app.authoring import id_fault
from grader.app.context import Context
from grader.app.proofs import BELIEVING, Trust
from grader.bank.storage import FOLDER, found_at, nearest_id
from grader.model.audit import AuditReport, Remark
from grader.model.errors import BankError, UsageError
from grader.model.mutation import MutationReport

if TYPE_CHECKING:
    from grader.audit.committed import Standing
    from grader.audit.several import Plan


@dataclass(frozen=True, slots=True)
class Audited:
    """What became of one question: a report, a fault, or neither where it is not tried."""

    name: str
    report: AuditReport | None = None
    fault: BankError | None = None  # why the question cannot be read
    mutants: MutationReport | None = None
    standing: Standing | None = None  # of its proof, where that counts; said before any is tried
    due: bool = True  # False: its proof is believed
    written: str = ""  # the path of its proof, where that was written

    def ready(self, *, strict: bool) -> bool:
        """Return whether nothing that was looked at is against the question.

        Where it is `strict`, a remark is.
        """
        if self.report is None:
            return self.fault is None
        proved = self.report.ok and not (strict and self.report.remarks)
        return proved and (self.mutants is None or self.mutants.ok)


def audit(
    ctx: Context,
    question_ids: Sequence[str],
    plan: Plan,
    *,
    trust: Trust = BELIEVING,
    strict: bool = False,
    jobs: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Audited]:
    """Audit questions, and give what becomes of them, those that cannot be read first.

    What becomes of a question is given again, with its mutants, when those were tried.  What the
    proofs say is given before anything is tried; a question whose proof is believed is not tried,
    unless it is asked for by name.

    Without `--bank` and DRILL_BANK, the current folder counts as well where it is a bank: alone for
    all questions, and for one that is nowhere else.

    Args:
        ctx: Where the person is.
        question_ids: Which; all of the bank when empty.
        plan: What to do with each.
        trust: What to make of proofs that are there.
        strict: Whether a remark fails it too.
        jobs: Questions at once; as many as there are cores when None.
        progress: Is called with each step of what takes long.

    Raises:
        UsageError: There is nothing to audit, or a named question needs what is not installed.
    """
    from grader.audit.several import audited

    if plan.at_most is not None and not plan.mutants:
        raise UsageError("--at-most says how many mutants to try", hint="add --mutants")
    if trust.write and (not plan.mutants or plan.at_most is not None):
        raise UsageError("--write-proofs is about all mutants", hint="--mutants without --at-most")
    if not question_ids:
        ctx = replace(ctx, bank=ctx.bank or _bank_here(ctx))
    called = list(question_ids) or [header.called for header in bank.headers(ctx.banks())]
    if not called:
        raise UsageError("no question to audit", hint="--bank DIR names the bank")
    questions = []
    for name in dict.fromkeys(called):
        try:
            question = bank.load(banks_for(ctx, name), name)
        except BankError as fault:
            yield Audited(name, fault=fault)
            continue
        if question_ids:
            requirements.need_torch(question)
        elif question.spec.needs_torch and not requirements.torch_installed():
            ctx.warn(f"{name} is not audited: it needs torch, which is not installed")
            yield Audited(name)
            continue
        if trust.write:
            proofs.require_place(question)
        questions.append(question)
    looked_at = proofs.standings(questions, plan, trust, strict=strict, named=bool(question_ids))
    for one in looked_at:
        if one.standing is not None:
            yield Audited(one.question.id, standing=one.standing, due=one.due)
    due = [one for one in looked_at if one.due]
    asked = iter(due)
    jobs = jobs or requirements.cores()
    questions = [one.question for one in due]
    with audited(questions, plan, jobs=jobs, progress=progress) as reports:
        for report in reports:
            if not isinstance(report, MutationReport):
                one = next(asked)
                done = Audited(report.question, _named_well(report))
                yield done
                if plan.mutants and not report.ok:
                    ctx.warn(f"the mutants of {done.name} are not tried: its audit has problems")
                continue
            done = replace(done, mutants=report)
            if done.ready(strict=strict) and not report.interrupted and done.report is not None:
                done = replace(done, written=proofs.found(ctx, one, done.report, report, trust))
            yield done
            if report.interrupted:
                return


def _named_well(report: AuditReport) -> AuditReport:
    """Return the report, with a remark where the name of the spec is not what an id is to be."""
    if not (fault := id_fault(report.question)):
        return report
    better = nearest_id(report.question) or "one"
    remark = Remark("id", f"{fault}; rename its files to {better}")
    return replace(report, remarks=(*report.remarks, remark))


def banks_for(ctx: Context, name: str) -> list[Path]:
    """Return the banks in use, or the current folder where it alone has a question."""
    banks = ctx.banks()
    here = _bank_here(ctx) if ctx.bank is None else None
    if here is None or not bank.holds(here, name) or any(bank.holds(b, name) for b in banks):
        return banks
    return [here]


def _bank_here(ctx: Context) -> Path | None:
    """Return the current folder where it is a bank, and DRILL_BANK does not name others."""
    here = ctx.here()
    return here if not ctx.banks_named and found_at(here / "questions") == FOLDER else None
