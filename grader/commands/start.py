"""`drill start` creates the folder of a question; `drill reset` puts its starter back.

In a new folder the marker (the file `.drill`) is written first.  If a start is killed half way, the
next one finds the marker and adds the missing files.  A folder without a marker that has files of
these names is not ours: the start is refused.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from grader.bank.bank_files import read_regular_file
from grader.commands import files, output
from grader.commands.context import INSTALL_TORCH, Context, choose_seed, torch_installed
from grader.commands.edit import open_editor
from grader.commands.options import Id, JsonOption, Seed, SomeId, command_context, flag, option
from grader.commands.workspaces import (
    MARKER_FILE,
    QUESTION_FILE,
    Workspace,
    enclosing_workspace,
    read_workspace,
    resolve_drill,
)
from grader.model.errors import UsageError
from grader.model.limits import MAX_QUESTION_FILE_BYTES
from grader.model.question import Header, Question
from grader.records import progress

if TYPE_CHECKING:
    from grader.forms.base import Form


class StartResult(NamedTuple):
    """A started question, its folder, and which files were written."""

    question: Question
    workspace: Workspace
    was_there: bool  # the folder was started before
    written_files: tuple[str, ...]  # names of the files that were missing
    copy_of_old: Path | None = None  # the copy of the file that the starter replaced


def start_drill(
    ctx: Context, question_id: str, *, parent: Path | None = None, seed: int | None = None
) -> StartResult:
    """Create a folder with the question and the starter, and record the start.

    If the folder was started before, only missing files are added.  It is created in `parent`
    (default: the current folder, or next to the drill's folder that encloses it).  UsageError if
    the folder holds something else, or has other numbers than `seed` draws.
    """
    from grader import forms  # reads specs, which other commands do not need
    from grader.reports.question import question_markdown

    question = ctx.load(question_id)
    file = forms.form_of(question.spec).file
    folder = ctx.current_folder() / (parent or Path()).expanduser() / question.id
    around = enclosing_workspace(ctx.current_folder())
    if parent is None and around:  # use the folder of this drill, or create one next to it
        folder = around.folder
        if around.question != question.id:
            folder = folder.with_name(question.id)
    workspace = existing_workspace(ctx, question_id, question, folder)
    was_there = workspace is not None
    if workspace is None:
        number_seed = _draw_numbers(ctx, question) if seed is None else seed
        workspace = Workspace(question.id, str(question.bank), folder, ctx.now(), file, number_seed)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise UsageError(
                f"{folder}: the folder cannot be made: {fault.strerror}",
                hint="choose another place with --dir DIR",
            ) from fault
        _write_marker(workspace)
    if question.spec.given:
        question = ctx.load(question_id, workspace.seed)
        choose_seed(question, seed)
    parts = ctx.parts_asked(question)
    content = {
        file: question.without_leading_blank_lines(question.starter),
        QUESTION_FILE: question_markdown(question, parts=parts).encode(),
        **question.companion_files,
    }
    written = [name for name, text in content.items() if files.create(folder / name, text)]
    if not workspace.was_started(ctx.starts):
        event = ctx.new_event("started", question, path=str(folder))
        ctx.record_event(event._replace(at=workspace.started_at))
    return StartResult(question, workspace, was_there, tuple(written))


def existing_workspace(
    ctx: Context, question_id: str, question: Question, folder: Path
) -> Workspace | None:
    """Return the workspace of a question in a folder; None if a start can create it there.

    UsageError if the folder has files in the way, or was started for another question.
    """
    from grader import forms

    elsewhere = f"drill start {question_id}{ctx.bank_option} --dir DIR makes it elsewhere"
    files.refuse_link(folder)
    workspace = read_workspace(folder)
    if workspace is None:
        for name in (forms.form_of(question.spec).file, QUESTION_FILE, MARKER_FILE):
            if os.path.lexists(folder / name):
                raise UsageError(
                    f"{folder / name} is there already and was not made by drill start;"
                    " it is left as it is",
                    hint=f"drill grade {question_id}{ctx.bank_option} --file PATH grades any file;"
                    f" {elsewhere}",
                )
        return None
    if not is_workspace_of(ctx, workspace, question):
        raise UsageError(
            f"the folder {folder} was started for {workspace.question} of {workspace.bank},"
            f" not for {question.id} of {question.bank}",
            hint=elsewhere,
        )
    return workspace


def is_workspace_of(ctx: Context, workspace: Workspace, question: Question | Header) -> bool:
    """Return True if a folder was started for a question: for its ID, and from a bank that fits.

    A bank fits if it has the same name or no longer has the question.  If the records do not hold
    the start, any bank fits.
    """
    if workspace.question != question.id:
        return False
    if progress.is_about_question(workspace.bank, str(question.bank), question.id):
        return True
    return not workspace.was_started(ctx.starts)


def _draw_numbers(ctx: Context, question: Question, *excluded: int) -> int:
    """Choose one of a question's sets of numbers at random; return its number, from 0, as a seed.

    Sets in `excluded` and the set of the last grade are avoided, unless no other is left: then 0.
    """
    sets = len(question.spec.given) or 1
    attempts = ctx.attempts(question, most=1, kind="grade") if sets > 1 else ()
    used = {*excluded, *(a.seed % sets for a in attempts if a.seed is not None)}
    free = [number for number in range(sets) if number not in used] or [0]
    return free[int.from_bytes(os.urandom(4), "big") % len(free)]


def start_again(
    ctx: Context, question_id: str, *, parent: Path | None = None, seed: int | None = None
) -> StartResult:
    """Start a finished question over: put the starter back, keep a copy, ask only the first part.

    Use a folder in `parent` (default: the folder in which the question was started last).
    UsageError if the last sitting is not finished by a pass, the solution or a prediction's try.
    """
    drill = resolve_drill(ctx, question_id)
    question = drill.question
    question_progress = ctx.progress(question)
    if not question_progress.is_finished:
        next_step = f"drill start {drill.typed_name}{drill.bank_option}"
        if question_progress.started and drill.workspace:
            next_step = f"drill grade{drill.drill_argument}   drill reset{drill.drill_argument}"
        state = "not passed yet"
        if question_progress.passed:
            state = "begun again already, and not passed since"
        raise UsageError(
            f"{question.id} is {state}, so there is nothing to begin again",
            hint=f"Next: {next_step}",
        )
    if seed is None:
        seed = _draw_numbers(ctx, question, question.number_set)
    if drill.workspace and parent is None:
        ctx = replace(ctx, folder=drill.workspace.folder)
        _write_marker(drill.workspace._replace(seed=seed))
    result = start_drill(ctx, question_id, parent=parent, seed=seed)
    question = result.question
    workspace = result.workspace
    event = ctx.new_event("again", question, path=str(workspace.folder))
    starter = question.without_leading_blank_lines(question.starter)
    copy = files.replace_keeping_copy(ctx, workspace.submission, starter, "again", event)
    write_question_file(ctx, workspace.folder, question, 1, drill.question)
    return result._replace(copy_of_old=copy)


def _write_marker(workspace: Workspace) -> None:
    """Write `.drill`, the file that says which question a folder was started for."""
    import json  # a list of questions does not need it

    content = {"format": 1} | workspace._asdict()
    del content["folder"]
    text = json.dumps(content, indent=2) + "\n"
    files.replace(workspace.folder / MARKER_FILE, text.encode())


def write_question_file(
    ctx: Context, folder: Path, question: Question, asked: int, *earlier: Question
) -> None:
    """Write QUESTION.md with the first `asked` parts; a failure is only a warning.

    If the person has edited the old file, keep a copy: its text then is that of neither this
    question nor a version of it in `earlier`.
    """
    from grader.reports.question import question_markdown

    path = folder / QUESTION_FILE
    old_content = b""
    with suppress(OSError):
        old_content = read_regular_file(path, MAX_QUESTION_FILE_BYTES)[0]
    numbers = range(1, len(question.spec.parts) + 1)
    versions = [
        question_markdown(version, parts=parts).encode()
        for version in (question, *earlier)
        for parts in numbers
    ]
    try:
        if old_content and old_content not in versions:
            files.keep_copy(path, old_content, "before")
        if old_content != versions[asked - 1]:
            files.replace(path, versions[asked - 1])
    except UsageError as fault:
        ctx.warn(
            f"{QUESTION_FILE} stays as it was ({fault.message})",
            f"drill show {question.id}{ctx.bank_option} shows the part that is asked now",
        )


def reset_drill(ctx: Context, question_id: str | None) -> tuple[Question, Path, Path | None]:
    """Put the starter back; return the question, its file, and the copy of the old file, if any."""
    drill = resolve_drill(ctx, question_id)
    path = drill.require_workspace().submission
    question = drill.question
    event = ctx.new_event("reset", question)
    starter = question.without_leading_blank_lines(question.starter)
    copy = files.replace_keeping_copy(ctx, path, starter, "reset", event)
    return question, path, copy


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
    context = command_context(ctx)
    if edit and json:
        raise UsageError("--edit and --json exclude each other: an editor needs the terminal")
    start_question = start_again if again else start_drill
    result = start_question(context, question, parent=dir_, seed=seed)
    started = result.question
    workspace = result.workspace
    if output.emit_json(
        json,
        question=started.id,
        folder=workspace.folder,
        submission=workspace.submission,
        already_started=result.was_there,
        started_at=workspace.started_at,
        written=result.written_files,
        kept=result.copy_of_old,
    ):
        return
    _show_started(context, result, again=again)
    if started.spec.needs_torch and not torch_installed():
        output.warn(f"{started.id} needs torch to be graded, which is not installed", INSTALL_TORCH)
    if edit:
        open_editor(workspace.submission)


def _show_started(context: Context, result: StartResult, *, again: bool) -> None:
    """Show the first page of a question, its files, and the next command."""
    from grader import forms
    from grader.reports.blocks import CodeBlock, Commands
    from grader.reports.question import MIN_ROWS, question_page

    question = result.question
    workspace = result.workspace
    form = forms.form_of(question.spec)
    is_new = workspace.file in result.written_files
    edit_note = "drill watch grades every save"
    if form.allows_one_try:
        edit_note = "the first grade counts"
    if result.was_there and not is_new:
        edit_note = "it is yours and was left as it is"
    if again:
        edit_note = "the starter again"
        if form.allows_one_try:
            edit_note += ", the first grade counts"
    question_path = context.short_path(workspace.folder / QUESTION_FILE)
    submission_path = context.short_path(workspace.submission)
    width = max(len(question_path), len(submission_path))
    lines = [
        f"Read  {question_path:<{width}}   {_read_note(question, form)}",
        f"Edit  {submission_path:<{width}}   {edit_note}",
    ]
    if result.copy_of_old:
        lines.append(f"Kept  {context.short_path(result.copy_of_old)}")
    prefix = context.cd_prefix(workspace.folder)  # no --bank: the marker names it
    steps: tuple[str, ...] = (f"{prefix}drill grade",)
    if question.spec.experiments:
        steps = (f"{prefix}drill run", "drill grade")
    part = 1 if is_new else context.parts_asked(question)  # with a starter, part 1 is asked
    ending = (CodeBlock(tuple(lines), 0), Commands(steps))
    output.show_page(question_page(question, part, ending), rows=max(output.rows(), MIN_ROWS))


def _read_note(question: Question, form: Form) -> str:
    """Return the note next to QUESTION.md, such as "this, and the log", on its further sections."""
    more = [
        material.heading.split()[0].strip(",").lower() for material in form.materials(question.spec)
    ]
    if question.spec.parts[0].interface:
        more.append("interface in full")
    if len(more) == 1:
        return f"this, and the {more[0]}"
    return ", ".join(["this", *more])


def reset(ctx: typer.Context, question: SomeId = None, json: JsonOption = False) -> None:
    """Put the starter back; a copy of your file is kept."""
    context = command_context(ctx)
    reset_question, path, copy = reset_drill(context, question)
    if output.emit_json(json, question=reset_question.id, submission=path, kept=copy):
        return
    if copy is None:
        output.write(f"{context.short_path(path)} is the starter")
    else:
        output.write(f"{context.short_path(path)} is the starter again")
        output.write(f"what was there is kept in {context.short_path(copy)}")
