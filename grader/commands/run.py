"""`drill run`: the script of a diagnosis, out of a budget of runs."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.commands import files, output
from grader.commands.context import Context, require_torch
from grader.commands.options import MAX_SEED, JsonOption, SomeId, command_context, option
from grader.commands.workspaces import ResolvedDrill, resolve_drill
from grader.model.errors import UsageError
from grader.records import progress


def _runs_used(ctx: Context, drill: ResolvedDrill) -> tuple[int, int]:
    """Return how many runs of a question are used, and its budget: (2, 5).

    UsageError if no run is left, if the question has no script to run, if the drill has no folder,
    or if torch is needed and missing.
    """
    question = drill.question
    experiments = question.spec.experiments
    next_step = f"Next: drill grade{drill.drill_argument}"
    if experiments is None:
        raise UsageError(
            f"{question.id} is not answered by experiments, so there is nothing to run",
            hint=next_step,
        )
    require_torch(question)
    drill.require_workspace()
    used = ctx.read(lambda db: progress.runs_used(db, question.id, str(question.bank)), 0)
    budget = experiments.budget
    if used >= budget:
        raise UsageError(
            f"{budget} of {budget} runs are used; you can still edit and grade,"
            " and a reset puts the starter back and begins anew",
            hint=f"{next_step}   drill reset{drill.drill_argument}",
        )
    return used, budget


def run(
    ctx: typer.Context,
    question: SomeId = None,
    seed: Annotated[int, option("N", "Seed (default 0, as in the log).", min=0, max=MAX_SEED)] = 0,
    json: JsonOption = False,
) -> int:
    """Run the script of a diagnosis; uses one of your runs."""
    from grader.grading.submission import run_experiment
    from grader.reports.grade import run_page
    from grader.reports.json import run_to_json

    context = command_context(ctx)
    drill = resolve_drill(context, question)
    used, budget = _runs_used(context, drill)
    path = drill.require_workspace().submission
    script = files.read_submission(path)
    state = "no run was begun"

    def begin() -> None:
        nonlocal state
        context.record_event(context.new_event("run", drill.question, seed=seed))
        state = f"run {used + 1} of {budget} was stopped, and counts"

    try:
        result = run_experiment(drill.question, script, seed=seed, filename=path.name, begin=begin)
    except KeyboardInterrupt:
        output.info(f"drill: {state}")
        raise
    used += result.started
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
        left = budget - used
        page = run_page(result, f"run {used} of {budget}, seed {seed}", filename=path.name)
        output.show_page(page)
        steps = [f"drill grade{drill.drill_argument}"]
        if left:
            steps.insert(0, f"drill run{drill.drill_argument}")
        output.write_next_steps(*steps, after=f"{left} left")
    return int(bool(result.fault))
