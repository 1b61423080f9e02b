"""Which proofs are believed, which questions are proved again, and where proofs are written.

A proof is believed in the bank that comes with the program, whose writers one trusts anyway, and in
a bank that is said to be one's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.app import files
from grader.app.context import Context
from grader.bank import locate
from grader.bank.storage import FOLDER, found_at
from grader.model.audit import AuditReport
from grader.model.errors import UsageError
from grader.model.mutation import MutationReport
from grader.model.question import Question

if TYPE_CHECKING:
    from grader.audit.committed import Standing
    from grader.audit.several import Plan

_ELSEWHERE = "choose a bank whose folder you can write"


@dataclass(frozen=True, slots=True)
class Trust:
    """What to make of the proofs that are there."""

    everything: bool = False  # prove all, whatever proofs say
    mine: bool = False  # believe those of any bank that is looked at
    write: bool = False  # write those of what is proved


BELIEVING = Trust()


@dataclass(frozen=True, slots=True)
class Due:
    """A question, what has become of its proof where that counts, and whether to prove it."""

    question: Question
    standing: Standing | None
    due: bool


def standings(
    questions: Sequence[Question], plan: Plan, trust: Trust, *, strict: bool, named: bool
) -> list[Due]:
    """Return what to do with each question; those that are named are all proved."""
    from grader.audit.committed import State, standing

    own = locate.builtin()
    found = {
        number: standing(question, plan, strict=strict)
        for number, question in enumerate(questions)
        if trust.mine or question.bank == own
    }
    believed = {
        number
        for number, one in found.items()
        if one.state is State.CURRENT and not (named or trust.everything)
    }
    return [
        Due(question, found.get(number), number not in believed)
        for number, question in enumerate(questions)
    ]


def require_place(question: Question) -> None:
    """See that a proof could be written, before anything takes long.

    Raises:
        UsageError: The bank is no folder, or something else is in the proof's place.
    """
    from grader.audit.committed import place

    path = place(question)
    files.refuse_link(path)
    if found_at(path.parent) != FOLDER or found_at(path) == FOLDER:
        raise UsageError(f"{path}: expected a place to write a proof", hint=_ELSEWHERE)


def found(
    ctx: Context, due: Due, report: AuditReport, mutants: MutationReport, trust: Trust
) -> str:
    """Write the proof of a question without faults where that is asked for; return its path.

    One that was believed to be current, and says otherwise, is warned of.
    """
    from grader.audit.committed import State, place, proof_of

    fresh, old = proof_of(due.question, report, mutants), due.standing
    if trust.write:
        files.replace(place(due.question), fresh.text(), _ELSEWHERE)
        return ctx.near(place(due.question))
    comparable = len(mutants.trials) == mutants.derived and old and old.state is State.CURRENT
    if comparable and old and old.proof and old.proof.seeds == fresh.seeds and old.proof != fresh:
        ctx.warn(
            f"{due.question.id}: its proof says something else than was found now",
            "--write-proofs writes it anew",
        )
    return ""
