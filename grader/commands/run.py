"""`drill run`: the script of a diagnosis, out of a budget of runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands import files, output
from grader.commands.context import Context, require_torch
from grader.commands.options import MAX_SEED, JsonOption, SomeId, command_context, option
from grader.commands.workspaces import ResolvedDrill, resolve_drill
from grader.model.errors import UsageError
from grader.records import progress

if TYPE_CHECKING:
    from grader.grading.submission import ExperimentResult


def run_drill_script(
    ctx: Context,
    question_id: str | None,
    *,
    seed: int = 0,
    on_start: Callable[[int, int], None] = lambda *_: None,
) -> tuple[ResolvedDrill, int, int, ExperimentResult]:
    """Run the script in a drill's folder once, out of a budget that the records keep.

    Return the drill, the number of runs used, the budget, and the result.  `on_start` is called
    when the run has started, with its number and the budget.
    """
    from grader.grading.submission import run_experiment

    drill = resolve_drill(ctx, question_id)
    question = drill.question
    experiments = question.spec.experiments
    next_step = f"Next: drill grade{drill.drill_argument}"
    if experiments is None:
        raise UsageError(
            f"{question.id} is not answered by experiments, so there is nothing to run",
            hint=next_step,
        )
    require_torch(question)
    path = drill.require_workspace().submission
    used = ctx.read(lambda db: progress.runs_used(db, question.id, str(question.bank)), 0)
    budget = experiments.budget
    if used >= budget:
        raise UsageError(
            f"{budget} of {budget} runs are used; you can still edit and grade,"
            " and a reset puts the starter back and begins anew",
            hint=f"{next_step}   drill reset{drill.drill_argument}",
        )
    script = files.read_submission(path)

    def record_start() -> None:
        ctx.record_event(ctx.new_event("run", question, seed=seed))
        on_start(used + 1, budget)

    result = run_experiment(question, script, seed=seed, filename=path.name, begin=record_start)
    return drill, used + result.started, budget, result


def run(
    ctx: typer.Context,
    question: SomeId = None,
    seed: Annotated[int, option("N", "Seed (default 0, as in the log).", min=0, max=MAX_SEED)] = 0,
    json: JsonOption = False,
) -> int:
    """Run the script of a diagnosis; uses one of your runs."""
    state = "no run was begun"

    def on_start(number: int, budget: int) -> None:
        nonlocal state
        state = f"run {number} of {budget} was stopped, and counts"

    try:
        drill, used, budget, result = run_drill_script(
            command_context(ctx), question, seed=seed, on_start=on_start
        )
    except KeyboardInterrupt:
        output.info(f"drill: {state}")
        raise
    from grader.reports.grade import run_page
    from grader.reports.json import run_to_json

    is_written = output.emit_json(
        json,
        question=drill.question.id,
        run=used if result.started else 0,
        used=used,
        budget=budget,
        seed=seed,
        **run_to_json(result),
    )
    if not is_written:
        file = drill.require_workspace().file
        page = run_page(result, f"run {used} of {budget}, seed {seed}", filename=file)
        output.show_page(page)
        left = budget - used
        steps = [f"drill grade{drill.drill_argument}"]
        if left:
            steps.insert(0, f"drill run{drill.drill_argument}")
        output.write_next_steps(*steps, after=f"{left} left")
    return int(bool(result.fault))
