"""`drill bank audit`: test that a question's checks pass right programs and stop wrong ones.

The audit runs the reference, the wrong ideas and other programs of a question through every check.
With `--mutants` it tries small changes of the reference as well.  A proof is a committed file
with the results of an audit: while it is current, the question need not be audited again.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from grader import bank
from grader.commands import entrypoint, files, output
from grader.commands.context import Context, available_cores, require_torch, torch_installed
from grader.commands.options import Jobs, JsonOption, argument, command_context, flag, ids, option
from grader.model.errors import BankError, UsageError
from grader.model.number_format import format_count

if TYPE_CHECKING:
    from grader.audit.audit import AuditPlan
    from grader.audit.proofs import ProofStatus
    from grader.model.audit import AuditReport, MutationReport
    from grader.model.question import Question


class AuditOutcome(NamedTuple):
    """Audit of one question: a report, a fault, or neither if it was skipped or is proved."""

    name: str
    fault: BankError | None = None  # why the question cannot be read
    proof_status: ProofStatus | None = None  # None: not looked for, or not trusted
    is_believed: bool = False  # the proof replaces the audit
    report: AuditReport | None = None
    mutants: MutationReport | None = None
    proof_path: str = ""  # of a proof that was written
    killed_by_written: int = 0  # number of ideas above which `killed_by` was written

    def is_ready(self, *, strict: bool) -> bool:
        """Return True unless the question is unreadable, or its audit or a mutant has a problem.

        If `strict`, a remark is a problem.  A skipped or proved question is ready.
        """
        if self.report is None:
            return self.fault is None
        if not self.report.ok or (strict and self.report.remarks):
            return False
        return self.mutants is None or self.mutants.ok

    @property
    def was_tried(self) -> bool:
        """True unless the question was skipped: it needs torch, and torch is not installed."""
        return self.report is not None or self.fault is not None or self.is_believed


def run_audit(
    ctx: Context,
    question_ids: Sequence[str],
    plan: AuditPlan,
    *,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[AuditOutcome]:
    """Audit questions and yield an outcome for each; write proofs and `killed_by` as `plan` says.

    Without `question_ids`, all questions are audited except those with a current proof (unless
    `plan.ignores_proofs`) and, without torch, those that need it.  Outcomes without an audit come
    first.  If the current folder is a bank and no other is named, "all" are its questions, and a
    named question that no bank in use has is taken from it.
    """
    from grader.audit.audit import audit_questions

    if plan.at_most is not None and not plan.mutants:
        raise UsageError("--at-most says how many mutants to try", hint="add --mutants")
    if plan.writes_proofs and (not plan.mutants or plan.at_most is not None):
        raise UsageError("--write-proofs is about all mutants", hint="--mutants without --at-most")
    if not question_ids:
        ctx = replace(ctx, bank=ctx.bank or _bank_here(ctx))
    names = list(question_ids) or [header.called for header in bank.headers(ctx.banks())]
    if not names:
        raise UsageError("no question to audit", hint="--bank DIR names the bank")
    pending: list[tuple[Question, ProofStatus | None]] = []
    for name in dict.fromkeys(names):
        try:
            question = bank.load_question(banks_for(ctx, name), name)
        except BankError as fault:
            yield AuditOutcome(name, fault=fault)
            continue
        if question_ids:
            require_torch(question)
        elif question.spec.needs_torch and not torch_installed():
            ctx.warn(f"{name} is not audited: it needs torch, which is not installed")
            yield AuditOutcome(name)
            continue
        status = _proof_status(question, plan)
        may_skip = not question_ids and not plan.ignores_proofs
        if may_skip and status and status.state == "current":
            yield AuditOutcome(question.id, proof_status=status, is_believed=True)
        else:
            pending.append((question, status))
    reports = audit_questions([question for question, _ in pending], plan, progress)
    for (question, status), (report, mutants) in zip(pending, reports, strict=True):
        outcome = AuditOutcome(question.id, proof_status=status, report=report, mutants=mutants)
        yield _write_results(ctx, question, outcome, plan)
        if mutants and mutants.interrupted:
            return


def _proof_status(question: Question, plan: AuditPlan) -> ProofStatus | None:
    """Return the state of a question's proof; None if proofs of its bank do not count.

    They count in the built-in bank, whose authors are trusted anyway, and with `--mine`.
    UsageError if proofs are to be written and the path of this one is a symbolic link.
    """
    from grader.audit import proofs

    if plan.writes_proofs:
        files.refuse_link(proofs.proof_path(question))
    is_trusted = plan.trusts_proofs or question.bank == bank.builtin()
    return proofs.proof_status(question, plan) if is_trusted else None


def _write_results(
    ctx: Context, question: Question, outcome: AuditOutcome, plan: AuditPlan
) -> AuditOutcome:
    """Write `killed_by` and the proof if the plan says so; return the outcome with both noted.

    A proof is written only for a ready question of which all mutants were tried.
    """
    assert outcome.report is not None
    mutants = outcome.mutants
    if plan.mutants and mutants is None:
        ctx.warn(f"the mutants of {outcome.name} are not tried: its audit has problems")
    if plan.writes_killed_by:
        outcome = outcome._replace(killed_by_written=write_killed_by(question, outcome.report))
    if mutants and not mutants.interrupted and outcome.is_ready(strict=plan.strict):
        outcome = outcome._replace(proof_path=_write_proof(ctx, question, outcome, plan))
    return outcome


def write_killed_by(question: Question, report: AuditReport) -> int:
    """Write `# killed_by: CHECK` into the file of the ideas, for each idea that lacks it.

    CHECK is the first check that stops all variants of the idea; an idea that no check stops gets
    no line.  Return the number of ideas that got one.
    """
    from grader.bank import idea_cells

    count = sum(report.first_check_stopping(name) != "" for name in question.ideas)
    if not count:
        return 0
    path = question.spec_path
    if not question.spec.code.ideas:
        path = question.bank / "drills" / question.id / "ideas.py"
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        lines.append(line)
        mark = line.strip()
        if not idea_cells.CELL_MARK.fullmatch(mark):
            continue
        name = idea_cells.cell_name(mark)
        if name in question.ideas and (check := report.first_check_stopping(name)):
            indentation = line.partition("#")[0]
            lines.append(f"{indentation}# killed_by: {check}")
    files.replace(path, "\n".join([*lines, ""]).encode(), "choose a bank that you can write")
    return count


def _write_proof(ctx: Context, question: Question, outcome: AuditOutcome, plan: AuditPlan) -> str:
    """Write the proof if the plan says so, and return its path; return "" otherwise.

    If none is written, warn if the current proof differs from the results of the same seeds.
    """
    from grader.audit import proofs

    assert outcome.report is not None
    assert outcome.mutants is not None
    new_proof = proofs.make_proof(question, outcome.report, outcome.mutants)
    if plan.writes_proofs:
        path = proofs.proof_path(question)
        files.replace(path, new_proof.to_bytes(), "choose a bank whose folder you can write")
        return ctx.short_path(path)
    status = outcome.proof_status
    old_proof = status.proof if status and status.state == "current" else None
    if old_proof is None or plan.at_most is not None:
        return ""
    if old_proof.seeds == new_proof.seeds and old_proof != new_proof:
        ctx.warn(
            f"{question.id}: its proof says something else than was found now",
            "--write-proofs writes it anew",
        )
    return ""


def banks_for(ctx: Context, name: str) -> list[Path]:
    """Return the banks in use, or the current folder alone if only it has the question.

    Warn if a bank in use and the current folder have a question of this name.

    Raises:
        UsageError: only the current folder has the question, and it is not used: DRILL_BANK names
            other banks, or the folder is not a bank and has just a file ID.yaml.
    """
    banks = ctx.banks()
    if ctx.bank or "/" in name:
        return banks
    is_in_use = any(bank.has_question(path, name) for path in banks)
    question_id = name.removesuffix(".yaml")
    folder = ctx.current_folder()
    for path in (folder, folder / f"{question_id}.yaml"):
        if path.resolve() in banks or not bank.has_question(path, question_id):
            continue
        if not is_in_use and path == _bank_here(ctx):
            return [path]
        typed_path = shlex.quote(ctx.short_path(path))
        hint = f"--bank {typed_path} takes the one that is here"
        if not is_in_use:
            hint += "; a bank is a folder that holds questions/, or a .yaml file"
            raise UsageError(f"no question {question_id} in the banks in use", hint)
        ctx.warn(f"{name} is taken from a bank in use, not from {typed_path}", hint)
    return banks


def _bank_here(ctx: Context) -> Path | None:
    """Return the current folder if it is a bank and DRILL_BANK names no others."""
    folder = ctx.current_folder()
    is_bank = os.path.isdir(folder / "questions")  # noqa: PTH112 never raises
    return folder if is_bank and not ctx.banks_named else None


def audit(
    ctx: typer.Context,
    questions: Annotated[list[str] | None, argument("ID", autocompletion=ids)] = None,
    seeds: Annotated[int, option("N", "How many seeds to try.", min=1, max=1000)] = 3,
    strict: Annotated[bool, flag("--strict", "Let a remark fail it too.")] = False,
    mutants: Annotated[bool, flag("--mutants", "Try small changes of the reference too.")] = False,
    at_most: Annotated[int | None, option("N", "Only N mutants, always the same.", min=1)] = None,
    everything: Annotated[bool, flag("--all", "Prove all, whatever committed proofs say.")] = False,
    mine: Annotated[bool, flag("--mine", "Believe the proofs of this bank: it is yours.")] = False,
    write: Annotated[bool, flag("--write-proofs", "With --mutants: write proofs.")] = False,
    claims: Annotated[
        bool, flag("--write-killed-by", "Write which check stops an idea that does not say it.")
    ] = False,
    jobs: Jobs = None,
    json: JsonOption = False,
) -> int:
    """Prove questions: every variant through every check."""
    from grader.audit.audit import AuditPlan

    plan = AuditPlan(
        seeds=range(seeds),
        mutants=mutants,
        at_most=at_most,
        strict=strict,
        ignores_proofs=everything,
        trusts_proofs=mine,
        writes_proofs=write,
        writes_killed_by=claims,
        jobs=jobs or available_cores(),
    )
    context = command_context(ctx)
    outcomes: list[AuditOutcome] = []
    with output.show_status() as doing:
        for outcome in run_audit(context, questions or [], plan, progress=doing):
            if not json:
                has_report_before = any(before.report for before in outcomes)
                _show_outcome(outcome, after_report=has_report_before)
            outcomes.append(outcome)
    not_ready = [outcome.name for outcome in outcomes if not outcome.is_ready(strict=strict)]
    if json:
        _write_json(outcomes, ok=not not_ready, strict=strict, seeds=seeds)
    else:
        _show_summary(outcomes, not_ready)
    if not_ready and all(outcome.is_ready(strict=False) for outcome in outcomes):
        output.warn("the remarks are faults, because of --strict")
    if any(outcome.mutants and outcome.mutants.interrupted for outcome in outcomes):
        return entrypoint.EXIT_INTERRUPTED
    return entrypoint.EXIT_BANK_FAULT if not_ready else 0


def _write_json(outcomes: Sequence[AuditOutcome], *, ok: bool, strict: bool, seeds: int) -> None:
    """Write the results of an audit as JSON."""
    from grader.model.audit import AUDIT_FORMAT
    from grader.reports.audit import audit_to_json

    tried = [outcome for outcome in outcomes if outcome.was_tried]
    output.write_json(
        format=AUDIT_FORMAT,
        ok=ok,
        strict=strict,
        seeds=seeds,
        skipped=[outcome.name for outcome in outcomes if not outcome.was_tried],
        questions=[
            audit_to_json(outcome.report, outcome.mutants) for outcome in tried if outcome.report
        ],
        problems=[
            problem for outcome in tried if outcome.fault for problem in outcome.fault.problems
        ],
        proofs=[
            {
                "question": outcome.name,
                "state": outcome.proof_status.state,
                "text": outcome.proof_status.text,
                "proved": not outcome.is_believed,
            }
            for outcome in tried
            if outcome.proof_status
        ],
    )


def _show_summary(outcomes: Sequence[AuditOutcome], not_ready: Sequence[str]) -> None:
    """Say how many questions are ready, if there are several."""
    count = sum(outcome.was_tried for outcome in outcomes)
    believed = sum(outcome.is_believed for outcome in outcomes)
    text = f"all {count} are ready"
    if not_ready:
        text = f"{len(not_ready)} of {count} not ready: {', '.join(not_ready)}"
    elif believed:
        text += f", {believed} of them proved before"
    if count > 1:
        output.write(f"\n{text}")


def _show_outcome(outcome: AuditOutcome, *, after_report: bool) -> None:
    from grader.reports.audit import audit_page, mutation_page

    if outcome.report and after_report:
        output.write()
    if outcome.proof_status:
        proved_now = "" if outcome.is_believed else "; proved now"
        output.write(f"{outcome.name}: {outcome.proof_status.text}{proved_now}")
    if outcome.fault:
        for problem in outcome.fault.problems:
            output.warn(problem, excerpt=outcome.fault.excerpt)
    if outcome.report:
        output.show_page(audit_page(outcome.report))
    if outcome.mutants:
        output.write()
        output.show_page(mutation_page(outcome.mutants))
    if outcome.killed_by_written:
        count = format_count(outcome.killed_by_written, "idea")
        output.write(f"\n  killed_by is written above {count}")
    if outcome.proof_path:
        output.write(f"\n  its proof is written: {outcome.proof_path}")
