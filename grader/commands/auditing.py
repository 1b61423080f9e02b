"""Prove questions: every variant through every check, on request with mutants of the reference."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from grader import bank
from grader.audit import proofs
from grader.audit.audit import AuditPlan, audit_questions
from grader.audit.proofs import ProofStatus
from grader.commands import files
from grader.commands.context import Context, require_torch, torch_installed
from grader.model.audit import AuditReport, MutationReport
from grader.model.errors import BankError, UsageError
from grader.model.question import Question


class AuditOutcome(NamedTuple):
    """What became of one question: a report, a fault, or neither where it is not tried."""

    name: str
    fault: BankError | None = None  # why the question cannot be read
    proof_status: ProofStatus | None = None  # of its proof, where that counts
    is_believed: bool = False  # whether that stands for an audit
    report: AuditReport | None = None
    mutants: MutationReport | None = None
    proof_path: str = ""  # the path of its proof, where that was written
    killed_by_written: int = 0  # ideas above which the check that stops them was written

    def is_ready(self, *, strict: bool) -> bool:
        """Return whether nothing that was looked at is against the question."""
        if self.report is None:
            return self.fault is None
        proved = self.report.ok and not (strict and self.report.remarks)
        return proved and (self.mutants is None or self.mutants.ok)


def run_audit(
    ctx: Context,
    question_ids: Sequence[str],
    plan: AuditPlan,
    *,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[AuditOutcome]:
    """Audit questions, and give what becomes of each, those that cannot be read first.

    A question whose proof is believed is not tried, unless it is asked for by name.  Without
    `--bank` and DRILL_BANK, the current folder counts as well where it is a bank: alone for all
    questions, and for one that is nowhere else.  All of the bank are tried where none is named.
    """
    if plan.at_most is not None and not plan.mutants:
        raise UsageError("--at-most says how many mutants to try", hint="add --mutants")
    if plan.write and (not plan.mutants or plan.at_most is not None):
        raise UsageError("--write-proofs is about all mutants", hint="--mutants without --at-most")
    if not question_ids:
        ctx = replace(ctx, bank=ctx.bank or _bank_here(ctx))
    called = list(question_ids) or [header.called for header in bank.headers(ctx.banks())]
    if not called:
        raise UsageError("no question to audit", hint="--bank DIR names the bank")
    due: list[tuple[Question, ProofStatus | None]] = []
    for name in dict.fromkeys(called):
        try:
            question = bank.load(banks_for(ctx, name), name)
        except BankError as fault:
            yield AuditOutcome(name, fault=fault)
            continue
        if question_ids:
            require_torch(question)
        elif question.spec.needs_torch and not torch_installed():
            ctx.warn(f"{name} is not audited: it needs torch, which is not installed")
            yield AuditOutcome(name)
            continue
        if plan.write:
            files.refuse_link(proofs.proof_path(question))
        # A committed proof counts in the bank that comes with the program, whose writers one
        # trusts anyway, and in one that is said to be one's own.
        own = plan.mine or question.bank == bank.builtin()
        standing = proofs.proof_status(question, plan) if own else None
        if not (question_ids or plan.everything) and standing and standing.state == "current":
            yield AuditOutcome(question.id, proof_status=standing, is_believed=True)
        else:
            due.append((question, standing))
    reports = audit_questions([question for question, _ in due], plan, progress)
    for (question, standing), (report, mutants) in zip(due, reports, strict=True):
        done = AuditOutcome(question.id, proof_status=standing, report=report, mutants=mutants)
        if plan.mutants and mutants is None:
            ctx.warn(f"the mutants of {done.name} are not tried: its audit has problems")
        if plan.write_killed_by:
            done = done._replace(killed_by_written=write_killed_by(question, report))
        if mutants and not mutants.interrupted and done.is_ready(strict=plan.strict):
            done = done._replace(proof_path=_recorded(ctx, question, done, plan))
        yield done
        if mutants and mutants.interrupted:
            return


def write_killed_by(question: Question, report: AuditReport) -> int:
    """Write above every idea that does not say it which check stops it first; return how many."""
    from grader.bank import idea_cells

    path = question.spec_path
    if not question.spec.code.ideas:
        path = question.bank / "drills" / question.id / "ideas.py"
    found: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines() if question.ideas else ():
        found.append(line)
        name = (
            idea_cells.cell_name(line.strip())
            if idea_cells.CELL_MARK.fullmatch(line.strip())
            else ""
        )
        if name in question.ideas and (check := report.first_check_stopping(name)):
            found.append(f"{line.partition('#')[0]}# killed_by: {check}")
    if count := sum(report.first_check_stopping(name) != "" for name in question.ideas):
        files.replace(path, "\n".join([*found, ""]).encode(), "choose a bank that you can write")
    return count


def _recorded(ctx: Context, question: Question, done: AuditOutcome, plan: AuditPlan) -> str:
    """Write the proof of a question without faults where that is asked for; return its path.

    One that is current, and says otherwise, is warned of.
    """
    assert done.report is not None
    assert done.mutants is not None
    fresh = proofs.make_proof(question, done.report, done.mutants)
    old = done.proof_status
    if plan.write:
        files.replace(
            proofs.proof_path(question),
            fresh.to_bytes(),
            "choose a bank whose folder you can write",
        )
        return ctx.short_path(proofs.proof_path(question))
    known = old.proof if old and old.state == "current" else None
    comparable = known is not None and known.seeds == fresh.seeds and plan.at_most is None
    if comparable and known != fresh:
        ctx.warn(
            f"{question.id}: its proof says something else than was found now",
            "--write-proofs writes it anew",
        )
    return ""


def banks_for(ctx: Context, name: str) -> list[Path]:
    """Return the banks in use, or the current folder where it alone has a question.

    A question of the same name in the current folder, in no bank in use, is warned about.

    Raises:
        UsageError: only a file of the current folder has the question.
    """
    banks = ctx.banks()
    if ctx.bank or "/" in name:
        return banks
    is_taken = any(bank.has_question(one, name) for one in banks)
    called = name.removesuffix(".yaml")
    for own in (ctx.current_folder(), ctx.current_folder() / f"{called}.yaml"):
        if own.resolve() in banks or not bank.has_question(own, called):
            continue
        if not is_taken and own == _bank_here(ctx):
            return [own]
        near = shlex.quote(ctx.short_path(own))
        hint = f"--bank {near} takes the one that is here"
        if not is_taken:
            hint += "; a bank is a folder that holds questions/, or a .yaml file"
            raise UsageError(f"no question {called} in the banks in use", hint)
        ctx.warn(f"{name} is taken from a bank in use, not from {near}", hint)
    return banks


def _bank_here(ctx: Context) -> Path | None:
    """Return the current folder where it is a bank, and DRILL_BANK does not name others."""
    here = ctx.current_folder()
    is_bank = os.path.isdir(here / "questions")  # noqa: PTH112 never raises
    return here if is_bank and not ctx.banks_named else None
