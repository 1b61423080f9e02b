"""Make a drill's folder; put its starter, or an earlier version, back.

The marker is written first: a start that was killed half way is then finished by the next one,
and a folder without a marker is somebody's own, in which nothing is ever written over.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from grader.app import files, workspace
from grader.app.context import Context
from grader.app.resolve import resolve, was_started
from grader.app.workspace import MARKER, QUESTION, Workspace
from grader.model.errors import UsageError
from grader.model.question import Question
from grader.records import events, progress
from grader.records.events import Event

_MOST_BYTES = 1 << 20  # of a QUESTION.md that is compared


@dataclass(frozen=True, slots=True)
class Made:
    """What a start did: the workspace, whether it was there before, and what was added."""

    workspace: Workspace
    already: bool
    written: tuple[str, ...]


def start(ctx: Context, question_id: str, *, parent: Path | None = None) -> tuple[Question, Made]:
    """Make a folder with the question and the code to fix, adding only what is missing.

    The folder goes into `parent`, by default the current folder.

    Raises:
        UsageError: There is no such question; the folder is somebody's own, or cannot be made.
        BankError: The question cannot be loaded.
    """
    from grader import forms  # reads specs, which other commands do not
    from grader.reports.question import question_markdown

    question = ctx.load(question_id)
    own = forms.of(question.spec).file
    starts = ctx.read(progress.starts, ())
    here = ctx.here()
    folder = here / (parent or Path()).expanduser() / question.id
    around = None if parent else workspace.enclosing(here)
    if around is not None and around.question == question.id:
        folder = around.folder
    wanted = Workspace(question.id, str(question.bank), folder, ctx.now(), file=own)
    elsewhere = f"drill start {question_id}{ctx.option} --dir DIR makes it elsewhere"
    files.refuse_link(folder)
    found = workspace.open_folder(folder)
    if found is None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            message = f"{folder}: the folder cannot be made: {fault.strerror}"
            raise UsageError(message, hint="choose another place with --dir DIR") from fault
        for name in (own, QUESTION, MARKER):
            if os.path.lexists(folder / name):
                raise UsageError(
                    f"{folder / name} is there already and was not made by drill start;"
                    " it is left as it is",
                    hint=f"drill grade {question_id}{ctx.option} --file PATH grades any file;"
                    f" {elsewhere}",
                )
        wanted.mark()
    else:
        wrong = ""
        if found.question != question.id:
            wrong = f"for {question.id}, found that of {found.question}"
        elif was_started(found, starts) and not progress.counts(
            found.bank, wanted.bank, question.id
        ):
            wrong = f"for {question.id} of {wanted.bank}, found that of {found.bank}"
        if wrong:
            raise UsageError(f"{folder}: expected a folder {wrong}", hint=elsewhere)
    parts = ctx.progress(question).asked(len(question.spec.parts))
    content = {
        own: question.handed_out(question.starter),
        QUESTION: question_markdown(question, parts=parts).encode(),
        **question.handed_beside,
    }
    written = [name for name, text in content.items() if files.create(folder / name, text)]
    made = Made(found or wanted, found is not None, tuple(written))
    if not was_started(made.workspace, starts):
        event = ctx.event("started", question)
        ctx.add(replace(event, path=str(folder), at=made.workspace.started_at))
    return question, made


def reset(ctx: Context, question_id: str | None) -> tuple[Question, Path, Path | None]:
    """Put the starter back, keeping what was there in a file of its own and in the records.

    Returns:
        The question, the submission's path, and the copy where there was something to keep.
    """
    choice = resolve(ctx, question_id)
    path = choice.need_workspace().submission
    question = choice.question
    starter = question.handed_out(question.starter)
    event = ctx.event("reset", question)
    copy = put_back(ctx, path, starter, "reset", event)
    if copy is None and question.spec.experiments is not None:
        ctx.add(event)  # its runs begin anew, though nothing was written over
    return question, path, copy


def put_back(ctx: Context, path: Path, content: bytes, reason: str, event: Event) -> Path | None:
    """Put `content` into a file after keeping what was there, in a copy and in the records.

    Returns:
        The copy, the first free one (submission.before-reset-1.py for the reason "reset"); None
        where there was nothing to keep.
    """
    files.refuse_link(path)
    if not os.path.lexists(path):
        files.create(path, content)
        ctx.add(event)
        return None
    before = files.read_submission(path)
    if before == content:
        return None
    copy = files.keep_copy(path, before, f"{{stem}}.before-{reason}-{{n}}{{suffix}}")
    ctx.write(lambda db: events.begin(db, event, before))
    files.replace(path, content)
    return copy


def write_question(ctx: Context, folder: Path, question: Question, asked: int) -> None:
    """Write QUESTION.md anew with every part that is asked; what somebody wrote into it is kept."""
    from grader.reports.question import question_markdown

    path = folder / QUESTION
    before = b""
    with suppress(OSError):
        before = files.read_regular(path, _MOST_BYTES)[0]
    ours = [question_markdown(question, parts=n).encode() for n in range(1, asked + 1)]
    try:
        if before and before not in ours:
            files.keep_copy(path, before, "{stem}.before-{n}{suffix}")
        if before != ours[-1]:
            files.replace(path, ours[-1])
    except UsageError as fault:
        option = f"drill show {question.id}{ctx.option} shows the part that is asked now"
        ctx.warn(f"{QUESTION} stays as it was ({fault.message})", option)
