"""The way through a drill: `drill start`, `case`, `reset`, `hint`, `run` and `solution`."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands import output
from grader.commands.edit import open_editor
from grader.commands.options import (
    MAX_SEED,
    Id,
    JsonOption,
    Seed,
    SomeId,
    argument,
    cases,
    command_context,
    flag,
    option,
)
from grader.model.errors import UsageError
from grader.model.number_format import format_count, join_words
from grader.reports import text_layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grader.commands.drills import SolutionResult

MAX_SCRIPT_LINES = 16  # of a case's script on the page; its file has them all
_SAID = {"-": "goes", "+": "comes", " ": "stays"}  # of a line, where no sign is to be read


def start(
    ctx: typer.Context,
    question: Id,
    dir_: Annotated[Path | None, option("DIR", "Where to create its folder.", "--dir")] = None,
    again: Annotated[
        bool, flag("--again", "Start a passed question over; keeps your file.")
    ] = False,
    seed: Seed = None,
    edit: Annotated[bool, flag("--edit", "Open the file in your editor.")] = False,
    json: JsonOption = False,
) -> None:
    """Create a folder for a question; never overwrites."""
    from grader import forms
    from grader.commands import drills
    from grader.commands.context import INSTALL_TORCH, torch_installed
    from grader.commands.workspaces import QUESTION_FILE
    from grader.reports.blocks import CodeBlock, Commands
    from grader.reports.question import MIN_ROWS, question_page

    here = command_context(ctx)
    if edit and json:
        raise UsageError("--edit and --json exclude each other: an editor needs the terminal")
    begin = drills.start_again if again else drills.start_drill
    found, made = begin(here, question, parent=dir_, seed=seed)
    folder = made.workspace.folder
    file = made.workspace.submission
    if output.emit_json(
        json, question=found.id, folder=folder, submission=file, already_started=made.was_there,
        started_at=made.workspace.started_at, written=made.written_files,
        kept=made.copy_of_old,
    ):  # fmt: skip
        return
    form = forms.form_of(found.spec)
    is_new = file.name in made.written_files
    also = [one.heading.split()[0].strip(",").lower() for one in form.materials(found.spec)]
    also += ["interface in full"] * bool(found.spec.parts[0].interface)
    read = ", ".join(["this", *also]) if len(also) != 1 else f"this, and the {also[0]}"
    once = "the first grade counts" if form.allows_one_try else "drill watch grades every save"
    aside = "it is yours and was left as it is" if made.was_there and not is_new else once
    if again:
        aside = "the starter again" + ", the first grade counts" * form.allows_one_try
    near = [here.short_path(folder / QUESTION_FILE), here.short_path(file)]
    width = max(map(len, near))
    said = [f"Read  {near[0]:<{width}}   {read}", f"Edit  {near[1]:<{width}}   {aside}".rstrip()]
    if made.copy_of_old:
        said.append(f"Kept  {here.short_path(made.copy_of_old)}")
    steps = ["drill grade"]  # the folder knows its bank
    if found.spec.experiments:
        steps.insert(0, "drill run")
    steps[0] = f"{here.cd_prefix(folder)}{steps[0]}"
    # A starter is of the first part.
    part = 1 if is_new else here.parts_asked(found)
    ending = (CodeBlock(tuple(said), 0), Commands(tuple(steps)))
    output.show_page(question_page(found, part, ending), rows=max(output.rows(), MIN_ROWS))
    if found.spec.needs_torch and not torch_installed():
        output.warn(f"{found.id} needs torch to be graded, which is not installed", INSTALL_TORCH)
    if edit:
        open_editor(file)


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
    from grader.commands import casing

    here = command_context(ctx)
    if name is None:
        choice, found = casing.list_cases(here, question)
        listed = [one._asdict() for one in found]
        if output.emit_json(json, question=choice.question.id, cases=listed):
            return
        rows = [(one.case, "fails" * one.failing, one.about) for one in found]
        output.write_table(("case", "last try", "about"), rows, long="about")
        return
    made = casing.write_case(here, name, question, run=run, seed=seed)
    if output.emit_json(
        json, question=made.resolved_drill.question.id, case=name, about=made.about,
        checks=made.checks, run=made.run, other_runs=made.other_runs, seed=made.seed,
        drawn=made.has_drawn_inputs, script=made.script.text, path=made.path, kept=made.previous_script,
    ):  # fmt: skip
        return
    if debug and made.path:
        output.flush()
        # Become pdb, which stops where the first function is entered. Neither the path nor the
        # .pdbrc of a folder that may be a stranger's has a say; the script goes to its own folder.
        words = ["-c", f"until {made.script.first_call}", "-c", "step", "-c", "step"]
        path = made.path.resolve()
        os.chdir("/")
        os.execv(sys.executable, [sys.executable, "-P", "-m", "pdb", *words, str(path)])
    about = f": {made.about}" if made.about else ""
    drawn = f" Seed {made.seed}." if made.has_drawn_inputs else ""
    other = f" Other calls: --run {' or '.join(made.other_runs)}." if made.other_runs else ""
    said = f"{name}{about}. Checked by: {', '.join(made.checks)}.{other}{drawn}"
    script = made.script.body.rstrip("\n").split("\n")
    if made.path and len(script) > MAX_SCRIPT_LINES:
        script[MAX_SCRIPT_LINES:] = [f"... {len(script) - MAX_SCRIPT_LINES} more lines in the file"]
    indented = (f"  {line}" for line in script)
    output.write_lines(
        [*text_layout.wrap_words(said, output.text_width(), indent="    "), *indented]
    )
    if made.path is None:
        output.write_next_steps(
            f"drill start {made.resolved_drill.typed_name}{made.resolved_drill.bank_option}"
        )
        return
    if made.previous_script:
        output.write(f"The script that was there is {here.short_path(made.previous_script)} now")
    python = "python" if shutil.which("python") else "python3"
    output.write_next_steps(
        f"{python} {here.path_as_typed(made.path)}", after=f"Wrote {here.short_path(made.path)}"
    )


def reset(ctx: typer.Context, question: SomeId = None, json: JsonOption = False) -> None:
    """Put the starter back; a copy of your file is kept."""
    from grader.commands import drills

    here = command_context(ctx)
    found, path, copy = drills.reset_drill(here, question)
    if output.emit_json(json, question=found.id, submission=path, kept=copy):
        return
    output.write(f"{here.short_path(path)} is the starter{' again' if copy else ''}")
    if copy:
        output.write(f"what was there is kept in {here.short_path(copy)}")


def hint(
    ctx: typer.Context,
    question: SomeId = None,
    number: Annotated[int | None, option("N", "Show hint N, seen or not.", min=1)] = None,
    json: JsonOption = False,
) -> None:
    """Show one more hint."""
    from grader import forms
    from grader.commands import drills
    from grader.reports.blocks import Paragraph, from_markdown

    given = drills.next_hint(command_context(ctx), question, number=number)
    found = given.resolved_drill.question
    argument = given.resolved_drill.drill_argument
    shown = [{"number": n, "text": text} for n, text in given.shown]
    if output.emit_json(json, question=found.id, hints=shown, left=given.left):
        return
    if not given.shown:
        output.write(f"{found.id} has no hints")
        return
    for n, text in given.shown:
        of = f" of part {given.part}" if len(found.spec.parts) > 1 else ""
        output.write(f"hint {n} of {given.total}{of}")
        output.show_page(from_markdown(text, indent=4))
    if given.left:
        # Where nothing can be recorded, the next one has to be asked for.
        which = "" if given.counted else f" --number {given.shown[-1][0] + 1}"
        output.write_next_steps(
            f"drill hint{argument}{which}", after=format_count(given.left, "more hint")
        )
    else:
        said = "these were all the hints" if given.all else "that was the last hint"
        case, clause = (given.last.case, given.last.clause) if given.last else ("", "")
        form = forms.form_of(found.spec)
        run = [f"drill case {shlex.quote(case)}{argument}"]
        run *= bool(case) and not (form.is_text or form.runs_in_two_processes)
        if not given.is_finished:
            first = ["run the smallest case that fails"] * len(run)
            first += [f"read clause {clause} of the contract again"] * bool(clause)
            said += f". Before you give up, {join_words([*first, 'sleep on it'])}."
        output.show_page([Paragraph(said)])
        output.write_next_steps(
            *run, f"drill solution{argument}{' --give-up' * (not given.is_finished)}"
        )


def run(
    ctx: typer.Context,
    question: SomeId = None,
    seed: Annotated[int, option("N", "Seed (default 0, as in the log).", min=0, max=MAX_SEED)] = 0,
    json: JsonOption = False,
) -> int:
    """Run the script of a diagnosis; uses one of your runs."""
    from grader.commands import drills
    from grader.reports.grade import run_page

    stopped = "no run was begun"

    def began(number: int, budget: int) -> None:
        nonlocal stopped
        stopped = f"run {number} of {budget} was stopped, and counts"

    try:
        choice, used, budget, ran = drills.run_drill_script(
            command_context(ctx), question, seed=seed, began=began
        )
    except KeyboardInterrupt:
        output.info(f"drill: {stopped}")
        raise
    from grader.reports.json import run_to_json

    if not output.emit_json(
        json, question=choice.question.id, run=used if ran.started else 0,
        used=used, budget=budget, seed=seed, **run_to_json(ran),
    ):  # fmt: skip
        file = choice.require_workspace().file
        output.show_page(run_page(ran, f"run {used} of {budget}, seed {seed}", filename=file))
        left = budget - used
        argument = choice.drill_argument
        again = [f"drill run{argument}"] if left else []
        output.write_next_steps(*again, f"drill grade{argument}", after=f"{left} left")
    return int(bool(ran.fault))


def solution(
    ctx: typer.Context,
    question: SomeId = None,
    give_up: Annotated[bool, flag("--give-up", "Show it before a pass; this is recorded.")] = False,
    mine: Annotated[bool, flag("--mine", "Compare it with your file.")] = False,
    full: Annotated[bool, flag("--full", "Print a whole right file.")] = False,
    seed: Seed = None,
    json: JsonOption = False,
) -> None:
    """Show the solution: what to keep, what had to change."""
    from grader.commands import drills

    found = drills.show_solution(command_context(ctx), question, give_up=give_up, seed=seed)
    spec = found.resolved_drill.question.spec
    leads = found.leads_to
    if output.emit_json(
        json, question=found.resolved_drill.question.id, passed=found.passed, gave_up=found.gave_up,
        teaches=spec.teaches, sources=spec.sources, solution=found.full, left=found.left,
        leads_to=[{"id": head.id, "title": head.title, "track": head.track} for head in leads],
        repair=[
            asdict(one) | {"why": [{"part": part, "text": text} for part, text in one.why]}
            for one in found.changes
        ],
        mine=found.own_diff and [{"sign": sign, "text": text} for sign, text in found.own_diff],
    ):  # fmt: skip
        return
    lines: list[text_layout.Line] = [*found.full.rstrip("\n").split("\n")]
    if mine and not full:
        same = (
            "no file of yours"
            if found.own_diff is None
            else "yours is a right file, comments aside"
        )
        said = "yours (-) and a right file (+)" if found.own_diff else same
        lines = [f"{found.resolved_drill.question.id}: {said}", *diff_lines(found.own_diff or ())]
    elif not full:  # with what is to be kept on the first screen
        shown = _repair(found) if found.changes else [*lines, ""]
        lines = [*_lesson(found), *shown, *_listed("Sources", spec.sources)]
    output.write_lines(lines, paged=True)
    words = f"drill solution{found.resolved_drill.drill_argument}"
    further = {
        f"drill discuss{found.resolved_drill.drill_argument}": bool(spec.follow_ups)
        and not (mine or full),
        words: mine or full,
        f"{words} --mine": found.own_diff is not None and not mine,
        f"{words} --full": bool(found.changes) and not full,
    }
    said = "You have not passed again: this sitting counts as given up." * found.gave_up
    output.write_next_steps(*(command for command, wanted in further.items() if wanted), after=said)


def _lesson(found: SolutionResult) -> Iterator[text_layout.Line]:
    """What is to be kept of a question, and which questions go on from it, by track."""
    question = found.resolved_drill.question
    tracks = dict[str, list[str]]()
    for head in found.leads_to:
        tracks.setdefault(head.track, []).append(head.id)
    yield from _listed(f"{question.id}: what to keep", question.spec.teaches)
    leads = [f"{join_words(names)} ({track})" for track, names in tracks.items()]
    yield from _listed("What goes on from here", leads)


def _listed(title: str, texts: Sequence[str]) -> Iterator[text_layout.Line]:
    """A list below its title, and a blank line; nothing where it is empty."""
    if texts:
        yield text_layout.bold(title)
        for text in texts:
            yield from text_layout.wrap_words(text, output.text_width(), first="- ")
        yield ""


def _repair(found: SolutionResult) -> Iterator[text_layout.Line]:
    """The changes to the starter, each below the sentence that says why."""
    question = found.resolved_drill.question
    parts = len(question.spec.parts)
    many = format_count(len(found.changes), "change")
    starts = any(change.before for change in found.changes)
    yield f"{question.id}: " + (f"the starter (-) needs {many} (+)" if starts else "right answers")
    for number, change in enumerate(found.changes, 1):
        yield ""
        for part, sentence in change.why:
            first = f"{number}, part {part}: " if parts > 1 else f"{number}: "
            yield from text_layout.wrap_words(
                sentence, output.text_width(), first=first, indent="   "
            )
        yield from diff_lines([("-", text) for text in change.before])
        after = "\n".join(change.after).strip("\n").split("\n") if change.after else []
        yield from diff_lines([("+", text) for text in after])
    yield ""
    if found.left:
        yield f"later parts need {format_count(found.left, 'more change')}, see --full"
        yield ""


def diff_lines(lines: Iterable[tuple[str, str]]) -> Iterator[text_layout.Line]:
    """Give lines with what becomes of each."""
    styles = {"-": text_layout.RED, "+": text_layout.GREEN}
    for sign, text in lines:
        if output.style.plain:
            yield f"{_SAID[sign]}: {text}" if sign in _SAID else "lines that stay are left out"
        else:
            yield "     ..." if sign == "..." else ((sign, styles.get(sign, "")), (text, ""))
