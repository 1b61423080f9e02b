"""Prove questions: every variant through every check, on request with mutants of the reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.app import requirements
from grader.model.errors import BankError, UsageError

if TYPE_CHECKING:
    from grader.app.context import Context
    from grader.model.audit import AuditReport
    from grader.model.mutation import MutationReport
    from grader.model.question import Question

Waiting = Callable[[], AbstractContextManager[Callable[[str], None]]]


@dataclass(frozen=True, slots=True)
class Audited:
    """What became of one question: a report, a fault, or neither where it is skipped."""

    name: str
    question: Question | None = None
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
    *,
    seeds: int,
    strict: bool = False,
    mutants: bool = False,
    at_most: int | None = None,
    each: Callable[[Audited], None] = lambda _: None,
    waiting: Waiting = lambda: nullcontext(lambda _: None),
) -> Audit:
    """Audit questions one after the other.

    Args:
        ctx: Where the person is. Without `--bank` and DRILL_BANK, the current folder counts as
            well where it is a bank: alone for all questions, and for one that is nowhere else.
        question_ids: Which; all of the bank when empty.
        seeds: How many to try.
        strict: Whether a remark fails too.
        mutants: Whether to try the mutants of every question that has no problem.
        at_most: How many mutants of each; all when None.
        each: Is called with what became of a question, and again when its mutants were tried.
        waiting: Gives, while something takes long, what to call with each step.

    Raises:
        UsageError: There is nothing to audit, or a named question needs what is not installed.
    """
    if at_most is not None and not mutants:
        raise UsageError("--at-most says how many mutants to try", hint="add --mutants")
    if ctx.bank is None and not question_ids:
        ctx = replace(ctx, bank=_bank_here(ctx))
    wanted = list(dict.fromkeys(question_ids)) or _all_ids(ctx)
    if not wanted:
        raise UsageError("no question to audit", hint="--bank DIR names the bank")
    audited: list[Audited] = []
    for name in wanted:
        done = _prove(ctx, name, range(seeds), waiting, named=bool(question_ids))
        each(done)
        if mutants and done.question is not None and done.report is not None:
            if done.report.ok:
                done = _mutate(done, done.question, range(seeds), at_most, waiting)
                each(done)
            else:
                ctx.warn(f"the mutants of {name} are not tried: its audit has problems", "")
        audited.append(done)
        if done.mutants is not None and done.mutants.interrupted:
            break
    return Audit(tuple(audited), strict)


def _prove(
    ctx: Context, name: str, seeds: Sequence[int], waiting: Waiting, *, named: bool
) -> Audited:
    from grader.audit import audit as prove
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
    with waiting() as step:
        report = prove(question, seeds=seeds, progress=step)
    return Audited(name, question, _named_well(report))


def _mutate(
    done: Audited, question: Question, seeds: Sequence[int], at_most: int | None, waiting: Waiting
) -> Audited:
    from grader.audit.mutation import mutate

    with waiting() as step:
        tried = mutate(question, seeds=seeds, at_most=at_most, progress=step)
    return replace(done, mutants=tried)


def _named_well(report: AuditReport) -> AuditReport:
    """Return the report, with a remark where the name of the spec is not what an id is to be."""
    from grader.bank.storage import MOST_LETTERS, is_id, nearest_id
    from grader.model.audit import Remark

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
