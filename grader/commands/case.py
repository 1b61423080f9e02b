"""`drill case`: the inputs and calls of a case, as a script in the drill's folder."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, NoReturn

import typer

from grader.bank.bank_files import read_regular_file
from grader.commands import files, output
from grader.commands.context import Context, require_torch
from grader.commands.history_rows import HistoryRow, checked_attempts
from grader.commands.options import (
    JsonOption,
    Seed,
    SomeId,
    argument,
    cases,
    command_context,
    option,
)
from grader.commands.workspaces import ResolvedDrill, resolve_drill
from grader.model.errors import BankError, UsageError, did_you_mean
from grader.reports import text_layout

if TYPE_CHECKING:
    from grader.cases.recipe import CaseRecipe
    from grader.model.spec import Check
    from grader.reports.case_script import CaseScript

CASES_FOLDER = "cases"
MAX_SCRIPT_BYTES = 10_000_000  # of an old script, which may have been edited
MAX_SCRIPT_LINES = 16  # on the page; the file has them all


class CaseSummary(NamedTuple):
    """A case of a question, and the checks that have it."""

    case: str
    about: str
    checks: tuple[str, ...]
    failing: bool  # in the last try


class _DrillCases(NamedTuple):
    """The cases of the parts that are asked, and the last try."""

    resolved_drill: ResolvedDrill
    recipes: dict[str, CaseRecipe]
    checks: dict[str, list[Check]]  # by case, those that have it
    last_try: HistoryRow | None


class WrittenCase(NamedTuple):
    """A case and the script that runs it."""

    resolved_drill: ResolvedDrill
    about: str
    checks: tuple[str, ...]
    run: str
    other_runs: tuple[str, ...]
    seed: int
    has_drawn_inputs: bool  # whether the seed changes the inputs
    script: CaseScript
    path: Path | None  # None: it could not be written
    previous_script: Path | None  # the copy of the script that was there before


def _read_cases(ctx: Context, question_id: str | None) -> _DrillCases:
    """Return the cases that the checks of the asked parts have.

    UsageError if no script can call the submission, or if the open interview is blind.
    """
    from grader import forms
    from grader.commands import interviews
    from grader.grading import bank_programs

    drill = resolve_drill(ctx, question_id)
    question = drill.question
    if interviews.is_blind(ctx, question):
        raise UsageError("a case says what is right, and the interview that is open is blind")
    form = forms.form_of(question.spec)
    if form.is_text or form.runs_in_two_processes:  # its cases must not be known
        why = "your answers are text"
        if form.runs_in_two_processes:
            why = "it runs your test on hidden implementations"
        raise UsageError(
            f"{question.id} has no case to run as a script: {why}",
            hint=f"Next: drill grade{drill.drill_argument}   drill hint{drill.drill_argument}",
        )
    question_progress = ctx.progress(question)
    asked = question_progress.count_parts_asked(len(question.spec.parts))
    recipes = {}
    checks = {}
    for name, recipe in bank_programs.cases_and_draws(question).items():
        case_checks = bank_programs.checks_using_case(question, name, asked)
        if case_checks:
            recipes[name] = recipe
            checks[name] = case_checks
    rows = checked_attempts(ctx, drill.typed_name, question_progress)
    return _DrillCases(drill, recipes, checks, rows[-1] if rows else None)


def list_cases(ctx: Context, question_id: str | None) -> tuple[ResolvedDrill, list[CaseSummary]]:
    """Return the cases that the checks of the asked parts have."""
    drill, recipes, checks, last_try = _read_cases(ctx, question_id)
    failing = {case for case, _ in last_try.failing} if last_try else set()
    summaries = []
    for name, recipe in recipes.items():
        about = recipe.about
        if name not in drill.question.spec.cases:
            about = f"{name.partition(' ')[0]} with other numbers"
        check_ids = tuple(check.id for check in checks[name])
        summaries.append(CaseSummary(name, about, check_ids, name in failing))
    return drill, summaries


def write_case(
    ctx: Context,
    name: str,
    question_id: str | None = None,
    *,
    run: str | None = None,
    seed: int | None = None,
) -> WrittenCase:
    """Write the script of a case into the drill's folder.

    Default for `run`: that of the first check that failed on the case in the last try, or else of
    the first check that has it.  Default for `seed`: that of the last try, or else 0.  BankError
    if the inputs cannot be drawn.
    """
    from grader.grading import bank_programs
    from grader.grading.evaluation import BankProgramError
    from grader.reports.case_script import write_script

    drill_cases = _read_cases(ctx, question_id)
    drill, recipes, checks_by_case, last_try = drill_cases
    question = drill.question
    require_torch(question)
    if name not in recipes:
        raise UsageError(
            f"{question.id} has no case {name}{did_you_mean(name, recipes)}",
            hint=f"Next: drill case{drill.drill_argument}",
        )
    recipe = recipes[name]
    checks = checks_by_case[name]
    runs = list(dict.fromkeys(check.run for check in checks))
    if run is not None and run not in runs:
        choices = ", ".join(runs)
        raise UsageError(f"--run: expected a run of the case {name} ({choices}), found {run}")
    if seed is None:
        seed = (last_try and last_try.attempt.seed) or 0
    run, results = _choose_run(drill_cases, name, run)
    try:
        inputs = bank_programs.case_inputs(question, name, run, seed)
    except BankProgramError as fault:
        raise BankError(str(fault)) from None
    has_drawn_inputs = any(case_input.is_drawn for case_input in recipe.inputs.values())
    remark = f"drill case {name}{drill.drill_argument}"
    if has_drawn_inputs:
        remark += f" --seed {seed}"
    if recipe.about:
        remark += f": {recipe.about}"
    script = write_script(question, run, inputs, results, remark)
    path, previous_script = _save_script(ctx, drill, name, script)
    return WrittenCase(
        resolved_drill=drill,
        about=recipe.about,
        checks=tuple(check.id for check in checks),
        run=run,
        other_runs=tuple(other for other in runs if other != run),
        seed=seed,
        has_drawn_inputs=has_drawn_inputs,
        script=script,
        path=path,
        previous_script=previous_script,
    )


def _choose_run(drill_cases: _DrillCases, name: str, run: str | None) -> tuple[str, list[str]]:
    """Return the run to write, and the results to print: those that failed in it, if any."""
    checks = drill_cases.checks[name]
    failing = drill_cases.last_try.failing if drill_cases.last_try else frozenset()
    failed_checks = [check for check in checks if (name, check.id) in failing]
    run = run or [*failed_checks, *checks][0].run
    printed_checks = [check for check in failed_checks if check.run == run]
    if not printed_checks:
        printed_checks = [check for check in checks if check.run == run]
    return run, list(dict.fromkeys(result for check in printed_checks for result in check.results))


def _save_script(
    ctx: Context, drill: ResolvedDrill, name: str, script: CaseScript
) -> tuple[Path | None, Path | None]:
    """Write a script and its files; return its path, and the copy of a different old script.

    Warn if that is not possible, and do nothing if the drill has no folder.
    """
    from grader.reports.case_script import module_name

    if drill.workspace is None:
        return None, None
    folder = drill.workspace.folder / CASES_FOLDER
    path = folder / f"{module_name(name)}.py"
    copy = None
    try:
        files.refuse_link(folder)
        folder.mkdir(exist_ok=True)
        if path.exists():
            old_text = read_regular_file(path, MAX_SCRIPT_BYTES)[0]
            if old_text != script.text.encode():  # it may have been edited
                copy = files.keep_copy(path, old_text, "before")
        for file, content in script.files(path.stem).items():
            files.replace(folder / file, content)
    except (OSError, UsageError) as fault:
        why = fault.message if isinstance(fault, UsageError) else f"{folder}: {fault.strerror}"
        ctx.warn(f"the script is not written: {why}")
        return None, None
    return path, copy


def case(
    ctx: typer.Context,
    name: Annotated[
        str | None, argument("NAME", "Case to write (default: list all).", autocompletion=cases)
    ] = None,
    question: SomeId = None,
    run: Annotated[str | None, option("RUN", "Which calls, if the case has several.")] = None,
    seed: Seed = None,
    debug: Annotated[bool, typer.Option("--debug", "--pdb", help="Run it in pdb.")] = False,
    json: JsonOption = False,
) -> None:
    """Write a case as a script, to run it by hand."""
    context = command_context(ctx)
    if name is None:
        _show_cases(context, question, json=json)
        return
    written = write_case(context, name, question, run=run, seed=seed)
    if output.emit_json(
        json,
        question=written.resolved_drill.question.id,
        case=name,
        about=written.about,
        checks=written.checks,
        run=written.run,
        other_runs=written.other_runs,
        seed=written.seed,
        drawn=written.has_drawn_inputs,
        script=written.script.text,
        path=written.path,
        kept=written.previous_script,
    ):
        return
    if debug and written.path:
        _run_pdb(written.path, written.script.first_call)
    _show_script(name, written)
    drill = written.resolved_drill
    if written.path is None:
        output.write_next_steps(f"drill start {drill.typed_name}{drill.bank_option}")
        return
    if written.previous_script:
        copy = context.short_path(written.previous_script)
        output.write(f"The script that was there is {copy} now")
    python = "python" if shutil.which("python") else "python3"
    output.write_next_steps(
        f"{python} {context.path_as_typed(written.path)}",
        after=f"Wrote {context.short_path(written.path)}",
    )


def _show_cases(context: Context, question_id: str | None, *, json: bool) -> None:
    """Show the cases of a drill as a table."""
    drill, summaries = list_cases(context, question_id)
    documents = [summary._asdict() for summary in summaries]
    if output.emit_json(json, question=drill.question.id, cases=documents):
        return
    rows = [
        (summary.case, "fails" if summary.failing else "", summary.about) for summary in summaries
    ]
    output.write_table(("case", "last try", "about"), rows, long="about")


def _run_pdb(path: Path, first_call: int) -> NoReturn:
    """Become pdb, stopped where the first function is entered.

    Neither the path nor the .pdbrc of a folder that may be a stranger's is used; the script
    changes to its own folder.
    """
    output.flush()
    path = path.resolve()
    commands = ["-c", f"until {first_call}", "-c", "step", "-c", "step"]
    os.chdir("/")
    os.execv(sys.executable, [sys.executable, "-P", "-m", "pdb", *commands, str(path)])


def _show_script(name: str, written: WrittenCase) -> None:
    """Show a case and its script, of which the file has the rest if it is long."""
    text = name
    if written.about:
        text += f": {written.about}"
    text += f". Checked by: {', '.join(written.checks)}."
    if written.other_runs:
        text += f" Other calls: --run {' or '.join(written.other_runs)}."
    if written.has_drawn_inputs:
        text += f" Seed {written.seed}."
    lines = written.script.body.rstrip("\n").split("\n")
    hidden = len(lines) - MAX_SCRIPT_LINES
    if written.path and hidden > 0:
        lines = [*lines[:MAX_SCRIPT_LINES], f"... {hidden} more lines in the file"]
    output.write_lines(
        [
            *text_layout.wrap_words(text, output.text_width(), indent="    "),
            *(f"  {line}" for line in lines),
        ]
    )
