"""`drill case`: the inputs and calls of a case, as a script in the drill's folder."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from grader.bank.bank_files import read_regular_file
from grader.commands import files, output
from grader.commands.context import Context, require_torch
from grader.commands.history import HistoryRow, checked_attempts
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
from grader.model.limits import MAX_SCRIPT_BYTES
from grader.reports import text_layout

if TYPE_CHECKING:
    from grader.cases.recipe import CaseRecipe
    from grader.model.spec import Check
    from grader.reports.case_script import CaseScript

CASES_FOLDER = "cases"
MAX_SCRIPT_LINES = 16  # on the page; the file has them all


def _read_cases(
    ctx: Context, question_id: str | None
) -> tuple[ResolvedDrill, dict[str, tuple[CaseRecipe, list[Check]]], HistoryRow | None]:
    """Return the drill, its cases by name, and the last grade since the question was begun, if any.

    A case has its recipe, which says how the inputs are made, and the checks that use it.  A case
    is left out if only checks of parts that are not asked yet use it.  UsageError if a script
    cannot call the submission, or if a blind interview asks the question: a case tells what is
    right.
    """
    from grader.commands import open_interview
    from grader.grading.case_inputs import checks_using_case
    from grader.grading.evaluation import cases_and_draws

    drill = resolve_drill(ctx, question_id)
    question = drill.question
    if open_interview.is_blind(ctx, question):
        raise UsageError("a case says what is right, and the interview that is open is blind")
    form = drill.form
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
    cases = {}
    for name, recipe in cases_and_draws(question).items():
        checks = checks_using_case(question, name, asked)
        if checks:
            cases[name] = (recipe, checks)
    rows = checked_attempts(ctx, drill.typed_name, question_progress)
    return drill, cases, rows[-1] if rows else None


def list_cases(ctx: Context, question_id: str | None) -> tuple[ResolvedDrill, list[dict[str, Any]]]:
    """Return the drill, and a JSON object for each case: its name, text, checks, and `failing`.

    `failing` is True if a check failed on the case in the last grade.
    """
    drill, cases, last_try = _read_cases(ctx, question_id)
    failing = {case for case, _ in last_try.failing} if last_try else set()
    documents = []
    for name, (recipe, checks) in cases.items():
        about = recipe.about
        if name not in drill.question.spec.cases:
            about = f"{name.partition(' ')[0]} with other numbers"
        documents.append(
            {
                "case": name,
                "about": about,
                "checks": [check.id for check in checks],
                "failing": name in failing,
            }
        )
    return drill, documents


def write_case(
    ctx: Context,
    name: str,
    question_id: str | None = None,
    *,
    run: str | None = None,
    seed: int | None = None,
) -> tuple[ResolvedDrill, CaseScript, dict[str, Any]]:
    """Write a case as a script; return the drill, the script and the document of `--json`.

    Without a folder for the drill nothing is written, and the document's `path` is None.

    Args:
        ctx: The surroundings of the command.
        name: Name of the case.
        question_id: ID or BANK/ID (default: the drill of the current folder).
        run: The sequence of calls to write, if checks compare several on this case (default: that
            of the first check that failed on it in the last grade, or else of its first check).
        seed: Draws random inputs (default: the seed of the last grade, or else 0).

    Raises:
        UsageError: There is no such case or run, or the question has no case to write.
        BankError: The inputs cannot be made.
    """
    from grader.grading.bank_errors import BankProgramError
    from grader.grading.case_inputs import case_inputs
    from grader.reports.case_script import write_script

    drill, cases, last_try = _read_cases(ctx, question_id)
    question = drill.question
    require_torch(question)
    recipe, checks = _find_case(drill, cases, name, run)
    if seed is None:
        seed = (last_try and last_try.attempt.seed) or 0
    failed_checks = [check for check in checks if last_try and (name, check.id) in last_try.failing]
    run = run or [*failed_checks, *checks][0].run
    try:
        inputs = case_inputs(question, name, run, seed)
    except BankProgramError as fault:
        raise BankError(str(fault)) from None
    is_drawn = any(case_input.is_drawn for case_input in recipe.inputs.values())
    seed_option = f" --seed {seed}" if is_drawn else ""
    about = f": {recipe.about}" if recipe.about else ""
    remark = f"drill case {name}{drill.drill_argument}{seed_option}{about}"
    compared_by = [check for check in failed_checks if check.run == run] or checks
    script = write_script(question, run, inputs, results_of_run(compared_by, run), remark)
    path, copy = _save_script(ctx, drill, name, script)
    document = {
        "question": question.id,
        "case": name,
        "about": recipe.about,
        "checks": [check.id for check in checks],
        "run": run,
        "other_runs": [other for other in _runs(checks) if other != run],
        "seed": seed,
        "drawn": is_drawn,
        "script": script.text,
        "path": path,
        "kept": copy,
    }
    return drill, script, document


def _find_case(
    drill: ResolvedDrill,
    cases: dict[str, tuple[CaseRecipe, list[Check]]],
    name: str,
    run: str | None,
) -> tuple[CaseRecipe, list[Check]]:
    """Return a case and its checks; UsageError for an unknown case, or an unknown run."""
    if name not in cases:
        raise UsageError(
            f"{drill.question.id} has no case {name}{did_you_mean(name, cases)}",
            hint=f"Next: drill case{drill.drill_argument}",
        )
    runs = _runs(cases[name][1])
    if run not in {None, *runs}:
        choices = ", ".join(runs)
        raise UsageError(f"--run: expected a run of the case {name} ({choices}), found {run}")
    return cases[name]


def _runs(checks: list[Check]) -> list[str]:
    """Return the names of the runs (sequences of calls) that checks compare, each once."""
    return list(dict.fromkeys(check.run for check in checks))


def results_of_run(checks: Sequence[Check], run: str) -> list[str]:
    """Return the names of the results of a run that these checks compare, each once."""
    names = [name for check in checks if check.run == run for name in check.results]
    return list(dict.fromkeys(names))


def _save_script(
    ctx: Context, drill: ResolvedDrill, name: str, script: CaseScript
) -> tuple[Path | None, Path | None]:
    """Write a script and its files into the folder `cases` of the drill; return its path.

    An old script that differs is kept in a copy, whose path comes second.  Both paths are None if
    the drill has no folder, or if the files cannot be written, which shows a warning.
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
        drill, cases = list_cases(context, question)
        if not output.emit_json(json, question=drill.question.id, cases=cases):
            rows = [(c["case"], "fails" if c["failing"] else "", c["about"]) for c in cases]
            output.write_table(("case", "last try", "about"), rows, long="about")
        return
    drill, script, document = write_case(context, name, question, run=run, seed=seed)
    if output.emit_json(json, **document):
        return
    path = document["path"]
    if debug and path:
        _run_pdb(path, script.first_call)
    _show_script(script, document)
    if path is None:
        output.write_next_steps(f"drill start {drill.typed_name}{drill.bank_option}")
        return
    if document["kept"]:
        output.write(f"The script that was there is {context.short_path(document['kept'])} now")
    python = "python" if shutil.which("python") else "python3"
    output.write_next_steps(
        f"{python} {context.path_as_typed(path)}", after=f"Wrote {context.short_path(path)}"
    )


def _run_pdb(path: Path, first_call: int) -> NoReturn:
    """Replace this process by pdb, which stops inside the first function that the script calls.

    pdb starts in / and with `-P`, because the current folder may be a stranger's: it may hold a
    .pdbrc, or modules with the names of pdb's imports.  The script changes to its own folder.
    """
    output.flush()
    path = path.resolve()
    commands = ["-c", f"until {first_call}", "-c", "step", "-c", "step"]
    os.chdir("/")
    os.execv(sys.executable, [sys.executable, "-P", "-m", "pdb", *commands, str(path)])


def _show_script(script: CaseScript, document: dict[str, Any]) -> None:
    """Show a case and its script; if the script is in a file, only its first lines."""
    text = document["case"]
    if document["about"]:
        text += f": {document['about']}"
    text += f". Checked by: {', '.join(document['checks'])}."
    if document["other_runs"]:
        text += f" Other calls: --run {' or '.join(document['other_runs'])}."
    if document["drawn"]:
        text += f" Seed {document['seed']}."
    lines = script.body.rstrip("\n").split("\n")
    hidden = len(lines) - MAX_SCRIPT_LINES
    if document["path"] and hidden > 0:
        lines = [*lines[:MAX_SCRIPT_LINES], f"... {hidden} more lines in the file"]
    paragraph = text_layout.wrap_words(text, output.text_width(), indent="    ")
    output.write_lines([*paragraph, *(f"  {line}" for line in lines)])
