"""Run the script of a diagnosis once, out of a budget that the records keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.app import files, requirements
from grader.app.context import Context
from grader.app.grading import MAX_SEED
from grader.app.resolve import Choice, resolve
from grader.model.errors import UsageError
from grader.records import events, progress

if TYPE_CHECKING:
    from grader.model.spec import Experiments
    from grader.session.submission import Ran


@dataclass(frozen=True, slots=True)
class Experiment:
    """A run, and which one of how many it was."""

    choice: Choice
    path: Path  # of the script
    asked: Experiments
    seed: int
    number: int  # from 1; 0: it did not start, or nothing can be recorded
    used: int  # of the budget, now
    ran: Ran


def run(
    ctx: Context,
    question_id: str | None,
    *,
    seed: int = 0,
    began: Callable[[int, int], None] = lambda _number, _budget: None,
) -> Experiment:
    """Run the script in a drill's folder once.

    Args:
        ctx: Where the person is.
        question_id: ID or BANK/ID; None: the drill of `ctx`.
        seed: That the script is run with.
        began: Called when the run has started, with its number and how many there are.

    Raises:
        UsageError: The question has no experiments, they are used, or there is no script.
        BankError: The question cannot be loaded.
    """
    from grader.session.submission import experiment

    if seed > MAX_SEED:
        raise UsageError(f"--seed: expected a whole number of at most {MAX_SEED:,}")
    choice = resolve(ctx, question_id)
    question, asked = choice.question, choice.question.spec.experiments
    next_ = f"drill grade{choice.argument}"
    if asked is None:
        raise UsageError(
            f"{question.id} is not answered by experiments, so there is nothing to run",
            hint=f"Next: {next_}   drill case{choice.argument}",
        )
    requirements.need_torch(question)
    path = choice.need_workspace().submission
    spent = UsageError(
        f"{asked.budget} of {asked.budget} runs are used; you can still edit and grade",
        hint=f"Next: {next_}   drill reset{choice.argument} puts the starter back, and begins anew",
    )
    bank = str(question.bank)
    used = ctx.read(lambda db: progress.runs_used(db, question.id, bank), 0)
    if used >= asked.budget:
        raise spent
    script = files.read_submission(path)
    event = replace(ctx.event("run", question), seed=seed)
    number = 0

    def begin() -> None:
        nonlocal number
        begun = ctx.write(lambda db: events.begin_run(db, event, asked.budget))
        if begun == 0:  # another run was quicker
            raise spent
        number = begun or 0
        began(number, asked.budget)

    ran = experiment(question, script, seed=seed, filename=path.name, begin=begin)
    return Experiment(choice, path, asked, seed, number, number or used, ran)
