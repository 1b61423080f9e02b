"""Make a drill's folder; put its starter, or an earlier version, back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from grader import bank
from grader.app import files, workspace
from grader.app.context import Context
from grader.app.resolve import Search, resolve
from grader.app.workspace import Made, Workspace
from grader.model.errors import UsageError
from grader.model.question import Question
from grader.records import attempts
from grader.records.events import Event


def start(ctx: Context, question_id: str, *, parent: Path | None = None) -> tuple[Question, Made]:
    """Make a folder with the question and the code to fix, adding only what is missing.

    The folder goes into `parent`, by default the current folder.

    Raises:
        UsageError: There is no such question, or the folder is somebody's own.
        BankError: The question cannot be loaded.
    """
    from grader.reports.question import question_markdown

    question = ctx.load(question_id)
    search = Search(ctx)
    folder = _folder(ctx, question.id, parent, search)
    wanted = Workspace(question.id, str(question.bank), folder, ctx.now())
    _refuse_others(ctx, wanted, search)
    starter = question.handed_out(question.starter)
    made = workspace.make(wanted, starter, question_markdown(question))
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
    copy = put_back(ctx, path, starter, "reset", ctx.event("reset", question))
    return question, path, copy


def put_back(ctx: Context, path: Path, content: bytes, reason: str, event: Event) -> Path | None:
    """Put `content` into a file after keeping what was there, in a copy and in the records.

    Returns:
        The copy, None where there was nothing to keep.
    """
    files.refuse_link(path)
    if not path.exists():
        files.create(path, content)
        ctx.add(event)
        return None
    before = files.read_submission(path)
    if before == content:
        return None
    copy = files.back_up(path, before, reason)
    ctx.write(lambda db: attempts.begin(db, event, before))
    files.replace(path, content)
    return copy


def _folder(ctx: Context, question_id: str, parent: Path | None, search: Search) -> Path:
    """Return where the drill goes: its own folder when we stand in it, else one of its name."""
    here = ctx.here()
    if parent is not None:
        return here / parent.expanduser() / question_id
    inside = workspace.enclosing(here)
    mine = inside is not None and (inside.mine or search.recorded(inside))
    if inside is not None and mine and inside.question == question_id:
        return inside.folder
    return here / question_id


def _refuse_others(ctx: Context, wanted: Workspace, search: Search) -> None:
    """Refuse another user's folder, and that of a question of this id that another bank holds.

    A bank that has moved is not another one: its question is found where it is now.

    Raises:
        UsageError: It is such a folder.
    """
    found = workspace.open_quietly(wanted.folder)
    if found is not None and not (found.mine or search.recorded(found)):
        raise UsageError(
            f"{wanted.folder}: expected a folder of yours, found one that another user made",
            hint=f"drill start {wanted.question} --dir DIR makes it elsewhere",
        )
    if found is None or found.question != wanted.question or found.bank == wanted.bank:
        return
    called = {str(path): name for name, path in bank.names(ctx.banks()).items()}
    if found.bank in called and bank.holds(Path(found.bank), found.question):
        expected = f"{called.get(wanted.bank)}/{wanted.question}"
        raise UsageError(
            f"{wanted.folder}: expected a folder for {expected}, found that of"
            f" {called[found.bank]}/{found.question}",
            hint=f"drill start {expected} --dir DIR makes it elsewhere",
        )
