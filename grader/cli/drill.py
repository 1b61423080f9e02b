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

from grader.cli import output
from grader.cli.context import MOST, Id, Json, Seed, SomeId, argument, cases, context, flag, option
from grader.cli.edit import open_editor
from grader.model.errors import UsageError
from grader.model.numerals import joined, quantity
from grader.reports import sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grader.app.drills import Solution

MOST_LINES = 16  # of a case's script on the page; its file has them all
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
    json: Json = False,
) -> None:
    """Create a folder for a question; never overwrites."""
    from grader import forms
    from grader.app import drills
    from grader.app.context import GET_TORCH, torch_installed
    from grader.app.resolve import QUESTION
    from grader.reports.blocks import Code, Commands
    from grader.reports.question import LEAST_ROWS, page

    here = context(ctx)
    if edit and json:
        raise UsageError("--edit and --json exclude each other: an editor needs the terminal")
    begin = drills.start_again if again else drills.start
    found, made = begin(here, question, parent=dir_, seed=seed)
    folder = made.workspace.folder
    file = made.workspace.submission
    if output.answer(
        json, question=found.id, folder=folder, submission=file, already_started=made.already,
        started_at=made.workspace.started_at, written=made.written,
        kept=made.kept,
    ):  # fmt: skip
        return
    form = forms.of(found.spec)
    is_new = file.name in made.written
    also = [one.heading.split()[0].strip(",").lower() for one in form.materials(found.spec)]
    also += ["interface in full"] * bool(found.spec.parts[0].interface)
    read = ", ".join(["this", *also]) if len(also) != 1 else f"this, and the {also[0]}"
    once = "the first grade counts" if form.one_try else "drill watch grades every save"
    aside = "it is yours and was left as it is" if made.already and not is_new else once
    if again:
        aside = "the starter again" + ", the first grade counts" * form.one_try
    near = [here.near(folder / QUESTION), here.near(file)]
    width = max(map(len, near))
    said = [f"Read  {near[0]:<{width}}   {read}", f"Edit  {near[1]:<{width}}   {aside}".rstrip()]
    if made.kept:
        said.append(f"Kept  {here.near(made.kept)}")
    steps = ["drill grade"]  # the folder knows its bank
    if found.spec.experiments:
        steps.insert(0, "drill run")
    steps[0] = f"{here.to(folder)}{steps[0]}"
    # A starter is of the first part.
    part = 1 if is_new else here.parts_asked(found)
    ending = (Code(tuple(said), 0), Commands(tuple(steps)))
    output.show(page(found, part, ending), rows=max(output.rows(), LEAST_ROWS))
    if found.spec.needs_torch and not torch_installed():
        output.warn(f"{found.id} needs torch to be graded, which is not installed", GET_TORCH)
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
    json: Json = False,
) -> None:
    """Write a case as a script, to run it by hand."""
    from grader.app import casing

    here = context(ctx)
    if name is None:
        choice, found = casing.cases(here, question)
        listed = [one._asdict() for one in found]
        if output.answer(json, question=choice.question.id, cases=listed):
            return
        rows = [(one.case, "fails" * one.failing, one.about) for one in found]
        output.table(("case", "last try", "about"), rows, long="about")
        return
    made = casing.case(here, name, question, run=run, seed=seed)
    if output.answer(
        json, question=made.choice.question.id, case=name, about=made.about,
        checks=made.checks, run=made.run, other_runs=made.other_runs, seed=made.seed,
        drawn=made.drawn, script=made.script.text, path=made.path, kept=made.kept,
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
    drawn = f" Seed {made.seed}." if made.drawn else ""
    other = f" Other calls: --run {' or '.join(made.other_runs)}." if made.other_runs else ""
    said = f"{name}{about}. Checked by: {', '.join(made.checks)}.{other}{drawn}"
    script = made.script.body.rstrip("\n").split("\n")
    if made.path and len(script) > MOST_LINES:
        script[MOST_LINES:] = [f"... {len(script) - MOST_LINES} more lines in the file"]
    indented = (f"  {line}" for line in script)
    output.lines([*sheet.wrapped(said, output.measure(), indent="    "), *indented])
    if made.path is None:
        output.steps(f"drill start {made.choice.called}{made.choice.option}")
        return
    if made.kept:
        output.write(f"The script that was there is {here.near(made.kept)} now")
    python = "python" if shutil.which("python") else "python3"
    output.steps(f"{python} {here.typed(made.path)}", after=f"Wrote {here.near(made.path)}")


def reset(ctx: typer.Context, question: SomeId = None, json: Json = False) -> None:
    """Put the starter back; a copy of your file is kept."""
    from grader.app import drills

    here = context(ctx)
    found, path, copy = drills.reset(here, question)
    if output.answer(json, question=found.id, submission=path, kept=copy):
        return
    output.write(f"{here.near(path)} is the starter{' again' if copy else ''}")
    if copy:
        output.write(f"what was there is kept in {here.near(copy)}")


def hint(
    ctx: typer.Context,
    question: SomeId = None,
    number: Annotated[int | None, option("N", "Show hint N, seen or not.", min=1)] = None,
    json: Json = False,
) -> None:
    """Show one more hint."""
    from grader import forms
    from grader.app import drills
    from grader.reports.blocks import Paragraph, from_markdown

    given = drills.hint(context(ctx), question, number=number)
    found = given.choice.question
    argument = given.choice.argument
    shown = [{"number": n, "text": text} for n, text in given.shown]
    if output.answer(json, question=found.id, hints=shown, left=given.left):
        return
    if not given.shown:
        output.write(f"{found.id} has no hints")
        return
    for n, text in given.shown:
        of = f" of part {given.part}" if len(found.spec.parts) > 1 else ""
        output.write(f"hint {n} of {given.total}{of}")
        output.show(from_markdown(text, indent=4))
    if given.left:
        # Where nothing can be recorded, the next one has to be asked for.
        which = "" if given.counted else f" --number {given.shown[-1][0] + 1}"
        output.steps(f"drill hint{argument}{which}", after=quantity(given.left, "more hint"))
    else:
        said = "these were all the hints" if given.all else "that was the last hint"
        case, clause = (given.last.case, given.last.clause) if given.last else ("", "")
        form = forms.of(found.spec)
        run = [f"drill case {shlex.quote(case)}{argument}"]
        run *= bool(case) and not (form.is_text or form.apart)
        if not given.over:
            first = ["run the smallest case that fails"] * len(run)
            first += [f"read clause {clause} of the contract again"] * bool(clause)
            said += f". Before you give up, {joined([*first, 'sleep on it'])}."
        output.show([Paragraph(said)])
        output.steps(*run, f"drill solution{argument}{' --give-up' * (not given.over)}")


def run(
    ctx: typer.Context,
    question: SomeId = None,
    seed: Annotated[int, option("N", "Seed (default 0, as in the log).", min=0, max=MOST)] = 0,
    json: Json = False,
) -> int:
    """Run the script of a diagnosis; uses one of your runs."""
    from grader.app import drills
    from grader.reports.grade import run_page

    stopped = "no run was begun"

    def began(number: int, budget: int) -> None:
        nonlocal stopped
        stopped = f"run {number} of {budget} was stopped, and counts"

    try:
        choice, used, budget, ran = drills.run(context(ctx), question, seed=seed, began=began)
    except KeyboardInterrupt:
        output.info(f"drill: {stopped}")
        raise
    from grader.reports.json import run_to_json

    if not output.answer(
        json, question=choice.question.id, run=used if ran.started else 0,
        used=used, budget=budget, seed=seed, **run_to_json(ran),
    ):  # fmt: skip
        file = choice.need_workspace().file
        output.show(run_page(ran, f"run {used} of {budget}, seed {seed}", filename=file))
        left = budget - used
        argument = choice.argument
        again = [f"drill run{argument}"] if left else []
        output.steps(*again, f"drill grade{argument}", after=f"{left} left")
    return int(bool(ran.fault))


def solution(
    ctx: typer.Context,
    question: SomeId = None,
    give_up: Annotated[bool, flag("--give-up", "Show it before a pass; this is recorded.")] = False,
    mine: Annotated[bool, flag("--mine", "Compare it with your file.")] = False,
    full: Annotated[bool, flag("--full", "Print a whole right file.")] = False,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Show the solution: what to keep, what had to change."""
    from grader.app import drills

    found = drills.solution(context(ctx), question, give_up=give_up, seed=seed)
    spec = found.choice.question.spec
    leads = found.leads_to
    if output.answer(
        json, question=found.choice.question.id, passed=found.passed, gave_up=found.gave_up,
        teaches=spec.teaches, sources=spec.sources, solution=found.full, left=found.left,
        leads_to=[{"id": head.id, "title": head.title, "track": head.track} for head in leads],
        repair=[
            asdict(one) | {"why": [{"part": part, "text": text} for part, text in one.why]}
            for one in found.changes
        ],
        mine=found.mine and [{"sign": sign, "text": text} for sign, text in found.mine],
    ):  # fmt: skip
        return
    lines: list[sheet.Line] = [*found.full.rstrip("\n").split("\n")]
    if mine and not full:
        same = "no file of yours" if found.mine is None else "yours is a right file, comments aside"
        said = "yours (-) and a right file (+)" if found.mine else same
        lines = [f"{found.choice.question.id}: {said}", *signed(found.mine or ())]
    elif not full:  # with what is to be kept on the first screen
        shown = _repair(found) if found.changes else [*lines, ""]
        lines = [*_lesson(found), *shown, *_listed("Sources", spec.sources)]
    output.lines(lines, paged=True)
    words = f"drill solution{found.choice.argument}"
    further = {
        f"drill discuss{found.choice.argument}": bool(spec.follow_ups) and not (mine or full),
        words: mine or full,
        f"{words} --mine": found.mine is not None and not mine,
        f"{words} --full": bool(found.changes) and not full,
    }
    said = "You have not passed again: this sitting counts as given up." * found.gave_up
    output.steps(*(command for command, wanted in further.items() if wanted), after=said)


def _lesson(found: Solution) -> Iterator[sheet.Line]:
    """What is to be kept of a question, and which questions go on from it, by track."""
    question = found.choice.question
    tracks = dict[str, list[str]]()
    for head in found.leads_to:
        tracks.setdefault(head.track, []).append(head.id)
    yield from _listed(f"{question.id}: what to keep", question.spec.teaches)
    leads = [f"{joined(names)} ({track})" for track, names in tracks.items()]
    yield from _listed("What goes on from here", leads)


def _listed(title: str, texts: Sequence[str]) -> Iterator[sheet.Line]:
    """A list below its title, and a blank line; nothing where it is empty."""
    if texts:
        yield sheet.bold(title)
        for text in texts:
            yield from sheet.wrapped(text, output.measure(), first="- ")
        yield ""


def _repair(found: Solution) -> Iterator[sheet.Line]:
    """The changes to the starter, each below the sentence that says why."""
    question = found.choice.question
    parts = len(question.spec.parts)
    many = quantity(len(found.changes), "change")
    starts = any(change.before for change in found.changes)
    yield f"{question.id}: " + (f"the starter (-) needs {many} (+)" if starts else "right answers")
    for number, change in enumerate(found.changes, 1):
        yield ""
        for part, sentence in change.why:
            first = f"{number}, part {part}: " if parts > 1 else f"{number}: "
            yield from sheet.wrapped(sentence, output.measure(), first=first, indent="   ")
        yield from signed([("-", text) for text in change.before])
        after = "\n".join(change.after).strip("\n").split("\n") if change.after else []
        yield from signed([("+", text) for text in after])
    yield ""
    if found.left:
        yield f"later parts need {quantity(found.left, 'more change')}, see --full"
        yield ""


def signed(lines: Iterable[tuple[str, str]]) -> Iterator[sheet.Line]:
    """Give lines with what becomes of each."""
    styles = {"-": sheet.RED, "+": sheet.GREEN}
    for sign, text in lines:
        if output.style.plain:
            yield f"{_SAID[sign]}: {text}" if sign in _SAID else "lines that stay are left out"
        else:
            yield "     ..." if sign == "..." else ((sign, styles.get(sign, "")), (text, ""))
