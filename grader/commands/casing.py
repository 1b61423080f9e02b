"""A case to be run by hand: its inputs and calls, as a script in the drill's folder."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from grader.bank.bank_files import read_regular_file
from grader.cases.recipe import CaseRecipe
from grader.commands import files, interviews
from grader.commands.context import Context, require_torch
from grader.commands.history_rows import HistoryRow, checked_attempts
from grader.commands.workspaces import ResolvedDrill, resolve_drill
from grader.grading import bank_programs
from grader.model.errors import BankError, UsageError, did_you_mean
from grader.model.spec import Check
from grader.reports.case_script import CaseScript, module_name, write_script

CASES_FOLDER = "cases"
_MOST_BYTES = 10_000_000  # of a script that may have been changed


class CaseSummary(NamedTuple):
    """A case of a question: what it is, and which checks have it."""

    case: str
    about: str
    checks: tuple[str, ...]
    failing: bool  # in the last try


class WrittenCase(NamedTuple):
    """A case, the script that runs it, and where that is."""

    resolved_drill: ResolvedDrill
    about: str
    checks: tuple[str, ...]
    run: str
    other_runs: tuple[str, ...]
    seed: int
    has_drawn_inputs: bool  # whether the seed decides what its inputs are
    script: CaseScript
    path: Path | None  # None: it could not be written
    previous_script: Path | None  # where the script is that was there before


def _known(
    ctx: Context, question_id: str | None
) -> tuple[ResolvedDrill, dict[str, tuple[CaseRecipe, list[Check]]], HistoryRow | None]:
    """Return the drill, the cases of the parts that are asked, each with its checks, the last try.

    UsageError where no script can call what is handed in.
    """
    from grader import forms

    choice = resolve_drill(ctx, question_id)
    if interviews.is_blind(ctx, choice.question):
        raise UsageError("a case says what is right, and the interview that is open is blind")
    question = choice.question
    form = forms.form_of(choice.question.spec)
    if form.is_text or form.runs_in_two_processes:  # nor may its cases be known
        why = "your answers are text"
        if form.runs_in_two_processes:
            why = "it runs your test on hidden implementations"
        raise UsageError(
            f"{question.id} has no case to run as a script: {why}",
            hint=f"Next: drill grade{choice.drill_argument}   drill hint{choice.drill_argument}",
        )
    yours = ctx.progress(question)
    asked = yours.count_parts_asked(len(question.spec.parts))
    every = bank_programs.cases_and_draws(question).items()
    uses = {name: bank_programs.checks_using_case(question, name, asked) for name, _ in every}
    known = {name: (recipe, uses[name]) for name, recipe in every if uses[name]}
    return choice, known, next(reversed(checked_attempts(ctx, choice.typed_name, yours)), None)


def list_cases(ctx: Context, question_id: str | None) -> tuple[ResolvedDrill, list[CaseSummary]]:
    """Return the cases of a question that some check of the parts that are asked has."""
    choice, known, last = _known(ctx, question_id)
    failing = {case for case, _ in last.failing} if last else set()
    written = choice.question.spec.cases
    return choice, [
        CaseSummary(
            name,
            recipe.about if name in written else f"{name.partition(' ')[0]} with other numbers",
            tuple(use.id for use in uses),
            name in failing,
        )
        for name, (recipe, uses) in known.items()
    ]


def write_case(
    ctx: Context,
    name: str,
    question_id: str | None = None,
    *,
    run: str | None = None,
    seed: int | None = None,
) -> WrittenCase:
    """Write the script of a case into the drill's folder.

    Without `run`, that of the first check that failed on it in the last try, else of the first
    check that has it; without `seed`, that of the last try, 0 where there is none. BankError where
    the inputs cannot be drawn.
    """
    from grader.grading.evaluation import BankProgramError

    choice, known, last = _known(ctx, question_id)
    question = choice.question
    require_torch(question)
    if name not in known:
        raise UsageError(
            f"{question.id} has no case {name}{did_you_mean(name, known)}",
            hint=f"Next: drill case{choice.drill_argument}",
        )
    recipe, uses = known[name]
    runs = list(dict.fromkeys(use.run for use in uses))
    if run is not None and run not in runs:
        listed = ", ".join(runs)
        raise UsageError(f"--run: expected a run of the case {name} ({listed}), found {run}")
    if seed is None:
        seed = (last and last.attempt.seed) or 0
    failed = [use for use in uses if last and (name, use.id) in last.failing]
    run = run or [*(use.run for use in failed), *runs][0]
    looking = [use for use in failed if use.run == run] or [use for use in uses if use.run == run]
    results = dict.fromkeys(result for use in looking for result in use.results)
    try:
        inputs = bank_programs.case_inputs(question, name, run, seed)
    except BankProgramError as fault:
        raise BankError(str(fault)) from None
    drawn = any(one.is_drawn for one in recipe.inputs.values())
    remark = f"drill case {name}{choice.drill_argument}" + (f" --seed {seed}" if drawn else "")
    remark += f": {recipe.about}" if recipe.about else ""
    made = write_script(question, run, inputs, list(results), remark)
    path = kept = None
    if choice.workspace:
        folder = choice.workspace.folder / CASES_FOLDER
        try:
            path, kept = _written(folder, name, made)
        except (OSError, UsageError) as fault:
            why = fault.message if isinstance(fault, UsageError) else f"{folder}: {fault.strerror}"
            ctx.warn(f"the script is not written: {why}")
    others = tuple(other for other in runs if other != run)
    checks = tuple(use.id for use in uses)
    return WrittenCase(choice, recipe.about, checks, run, others, seed, drawn, made, path, kept)


def _written(folder: Path, name: str, made: CaseScript) -> tuple[Path, Path | None]:
    """Write the script and what it needs; return its path, and that of another one before it."""
    path = folder / f"{module_name(name)}.py"
    kept = None
    files.refuse_link(folder)
    folder.mkdir(exist_ok=True)
    text = made.text.encode()
    before = read_regular_file(path, _MOST_BYTES)[0] if path.exists() else text
    if before != text:  # it may have been changed by hand
        kept = files.keep_copy(path, before, "before")
    for file, content in made.files(path.stem).items():
        files.replace(folder / file, content)
    return path, kept
