"""Make a drill's folder; put its starter, or an earlier version, back.

The marker is written first: a start that was killed half way is then finished by the next one,
and a folder without a marker is somebody's own, in which nothing is ever written over.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from grader import bank
from grader.app import files, workspace
from grader.app.context import Context
from grader.app.parts import asked
from grader.app.resolve import Search, resolve
from grader.app.workspace import MARKER, QUESTION, Workspace
from grader.model.errors import UsageError
from grader.model.question import Question
from grader.records import attempts
from grader.records.events import Event


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
    from grader.forms import registry as forms  # reads specs, which other commands do not
    from grader.reports.question import question_markdown

    question = ctx.load(question_id)
    own = forms.of(question.spec).file
    search = Search(ctx)
    folder = _folder(ctx, question.id, parent, search)
    wanted = Workspace(question.id, str(question.bank), folder, ctx.now(), file=own)
    elsewhere = f"drill start {question_id}{ctx.option} --dir DIR makes it elsewhere"
    files.refuse_link(folder)
    found = workspace.open_folder(folder)
    if found is None:
        _make_folder(folder)
        for name in (own, QUESTION, MARKER):
            if os.path.lexists(folder / name):
                raise UsageError(
                    f"{folder / name} is there already and was not made by drill start;"
                    " it is left as it is",
                    hint=f"drill grade {question_id}{ctx.option} --file PATH grades any file;"
                    f" {elsewhere}",
                )
        wanted.mark()
    elif expected := _refusal(ctx, wanted, found, search):
        raise UsageError(f"{folder}: expected a folder {expected}", hint=elsewhere)
    content = {
        own: question.handed_out(question.starter),
        QUESTION: question_markdown(question, parts=asked(ctx, question)).encode(),
        **question.handed_beside,
    }
    written = [name for name, text in content.items() if files.create(folder / name, text)]
    made = Made(found or wanted, found is not None, tuple(written))
    if not search.recorded(made.workspace) and made.workspace.bank == wanted.bank:
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
    copies = (path.with_name(f"{path.stem}.before-{reason}-{n}{path.suffix}") for n in count(1))
    copy = next(copy for copy in copies if files.create(copy, before))
    ctx.write(lambda db: attempts.begin(db, event, before))
    files.replace(path, content)
    return copy


def _folder(ctx: Context, question_id: str, parent: Path | None, search: Search) -> Path:
    """Return where the drill goes: its own folder when we stand in it, else one of its name."""
    here = ctx.here()
    if parent is not None:
        return here / parent.expanduser() / question_id
    inside = workspace.enclosing(here)
    if inside is not None and inside.question == question_id and search.owned(inside):
        return inside.folder
    return here / question_id


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(
            f"{folder}: expected a folder, or nothing yet; found a file",
            hint="move the file away, or choose another place with --dir DIR",
        ) from None
    except OSError as fault:
        raise UsageError(
            f"{folder}: the folder cannot be made: {fault.strerror}",
            hint="choose another place with --dir DIR",
        ) from fault


def _refusal(ctx: Context, wanted: Workspace, found: Workspace, search: Search) -> str:
    """Return why a drill's folder is not the one that is wanted: what was expected, and found.

    It is another user's, of another question, or of the question of this id that another bank
    holds. A bank that has moved is not another one: its question is found where it is now.
    """
    if not search.owned(found):
        return "of yours, found one that another user made"
    if found.question != wanted.question:
        return f"for {wanted.question}, found that of {found.question}"
    called = {str(path): name for name, path in bank.names(ctx.banks()).items()}
    known = found.bank in called or search.recorded(found)  # else it is a mere claim
    if found.bank == wanted.bank or not known or not bank.holds(Path(found.bank), found.question):
        return ""
    names = [f"{called.get(one.bank, one.bank)}/{one.question}" for one in (wanted, found)]
    return f"for {names[0]}, found that of {names[1]}"
