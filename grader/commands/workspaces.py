"""The folder of a drill (its workspace), and how a command finds its drill and the question's bank.

The file `.drill`, the marker, makes a folder a workspace.  It names a question and a bank.  As it
may come with somebody else's files, it is only a claim: a bank that is not in use is opened only if
the records hold this very start.  A marker of another user is ignored.

Without an ID, a command is about the drill of the current folder or of the nearest one above it.
If there is none, it is about the only drill right inside the current folder; of several, about the
one that an open interview asks.  With an ID, it is about the drill of that question that is found
in the same places, or else about the one that was started last.  With the path of a folder, it is
about the drill of that folder or of the nearest one above it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader import bank
from grader.bank.bank_files import read_regular_file
from grader.commands.context import Context
from grader.model.errors import UsageError
from grader.model.limits import MAX_MARKER_BYTES
from grader.model.question import Question
from grader.records import interviews
from grader.records.events import to_storable
from grader.records.progress import Start, is_same_bank

if TYPE_CHECKING:
    from grader.forms.base import Form

MARKER_FILE = ".drill"
QUESTION_FILE = "QUESTION.md"
SUBMISSION_FILE = "submission.py"
ANSWERS_FILE = "answers.txt"


class Workspace(NamedTuple):
    """A folder in which a drill was started, as its marker describes it."""

    question: str
    bank: str  # path of its bank; only a claim
    folder: Path
    started_at: str  # UTC, ISO 8601
    file: str = SUBMISSION_FILE
    seed: int = 0  # draws the numbers of its question

    @property
    def submission(self) -> Path:
        """The file that is graded."""
        return self.folder / self.file

    def was_started(self, starts: Sequence[Start]) -> bool:
        """Return True if one of the recorded `starts` is of this question, bank and folder.

        A bank of the same name will do.
        """
        folder = to_storable(os.path.realpath(self.folder))
        bank = to_storable(self.bank)
        return any(
            start.question == self.question
            and is_same_bank(start.bank, bank)
            and os.path.realpath(start.folder) == folder
            for start in starts
        )


def read_workspace(folder: Path) -> Workspace | None:
    """Return the workspace in a folder; None if it has no valid marker of this user."""
    try:
        text, status = read_regular_file(folder / MARKER_FILE, MAX_MARKER_BYTES)
    except (OSError, UsageError):
        return None  # a folder that cannot be read is not ours
    if status.st_uid != os.geteuid():
        return None
    import json  # a list of questions, in a folder without a marker, does not need it

    with suppress(ValueError, KeyError, TypeError, RecursionError):
        return _parse_marker(folder, json.loads(text))
    return None


def _parse_marker(folder: Path, content: dict[str, object]) -> Workspace | None:
    """Return the workspace that a marker describes; None or an exception if it is not valid."""
    question = content["question"]
    bank = content["bank"]
    started_at = content["started_at"]
    seed = content.get("seed", 0)
    if not (isinstance(question, str) and isinstance(bank, str) and isinstance(started_at, str)):
        return None
    if "\0" in f"{question}{bank}{started_at}" or "/" in question:
        return None
    if datetime.fromisoformat(started_at).tzinfo is None:
        return None
    if type(seed) is not int or seed < 0:
        return None
    file = ANSWERS_FILE if content.get("file") == ANSWERS_FILE else SUBMISSION_FILE
    return Workspace(question, bank, folder, started_at, file, seed)


def enclosing_workspace(folder: Path) -> Workspace | None:
    """Return the nearest workspace among a folder and its parents; None if there is none."""
    return next(filter(None, map(read_workspace, (folder, *folder.parents))), None)


def workspaces_inside(folder: Path) -> list[Workspace]:
    """Return the workspaces right inside a folder, the one started last first."""
    try:
        with os.scandir(folder) as entries:
            children = [folder / e.name for e in entries if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    workspaces = filter(None, map(read_workspace, children))
    return sorted(workspaces, key=lambda workspace: workspace.started_at, reverse=True)


class ResolvedDrill(NamedTuple):
    """A question, its workspace if there is one, and the words that name it in a command."""

    question: Question
    workspace: Workspace | None
    is_started: bool  # whether the records hold the start of that workspace
    typed_name: str  # ID, or BANK/ID
    bank_option: str  # ` --bank PATH` if that was given
    drill_argument: str  # after `drill hint`: " ID --bank PATH"; no ID if the folder implies it

    @property
    def form(self) -> Form:
        """Form of the question, such as `fix` or `predict`: it decides which file is graded."""
        from grader import forms  # reads specs, which other commands do not need

        return forms.form_of(self.question.spec)

    def require_workspace(self) -> Workspace:
        """Return the workspace; UsageError if the drill has none."""
        if self.workspace:
            return self.workspace
        raise UsageError(
            f"{self.typed_name} has no folder here, nor where it was started last;"
            " nothing was done",
            hint=f"Next: drill start {self.typed_name}{self.bank_option}   drill history",
        )


def resolve_drill(
    ctx: Context,
    question_id: str | None,
    *,
    folder: Path | None = None,
    before_load: Callable[[Path, str], None] = lambda *_: None,
    seed: int | None = None,
) -> ResolvedDrill:
    """Return the drill that a command is about; see the top of this file.

    `question_id` is ID or BANK/ID as typed; if it is None, `folder` can name a folder to use in
    place of the current one.  `before_load` is called with the bank and the ID before the question
    is loaded.  `seed` draws the question's numbers (default: those of the drill's folder).
    DrillError if the drill cannot be found, or if its question is missing or broken.
    """
    banks = ctx.banks()
    workspace: Workspace | None
    if question_id is None:
        workspace = nearest = _nearest_workspace(ctx, folder)
        bank_path, name = _question_of(ctx, nearest)
    elif "/" in question_id or ctx.bank:
        bank_path, name = bank.find_question(banks, question_id)
        own_bank = str(bank_path)
        workspace = find_workspace(
            ctx, name, lambda path: is_same_bank(path, own_bank) or Path(path) not in banks
        )
    else:
        workspace = find_workspace(ctx, question_id)
        if workspace:
            bank_path, name = _question_of(ctx, workspace)
        else:
            bank_path, name = bank.find_question(banks, question_id)
    before_load(bank_path, name)
    if seed is None:
        seed = workspace.seed if workspace else 0
    question = bank.load_question([bank_path], name, seed)
    try:
        is_implied = _nearest_workspace(ctx) == workspace
    except UsageError:
        is_implied = False
    typed_name = question_id or name
    return ResolvedDrill(
        question=question,
        workspace=workspace,
        is_started=workspace is not None and workspace.was_started(ctx.starts),
        typed_name=typed_name,
        bank_option=ctx.bank_option,
        drill_argument=ctx.bank_option if is_implied else f" {typed_name}{ctx.bank_option}",
    )


def find_workspace(
    ctx: Context, question: str, accepts: Callable[[str], bool] = lambda _bank: True
) -> Workspace | None:
    """Return the workspace of a question: near the current folder, or else of its last start.

    The first of these is taken: the workspace around the current folder, one right inside it whose
    start is recorded, the one that was started last (None if its folder is not a drill any more),
    one right inside the current folder whose start is not recorded.  `accepts` gets the path of a
    bank; it returns False if a workspace of that bank is to be skipped.
    """
    here = ctx.current_folder()
    starts = ctx.starts
    near = [
        workspace
        for workspace in (enclosing_workspace(here), *workspaces_inside(here))
        if workspace and workspace.question == question and accepts(workspace.bank)
    ]
    for workspace in near:
        if here.is_relative_to(workspace.folder) or workspace.was_started(starts):
            return workspace
    for start in starts:
        if start.question == question and accepts(start.bank):
            last = read_workspace(Path(start.folder))
            return last if last and last.question == question else None
    return near[0] if near else None


def _question_of(ctx: Context, workspace: Workspace) -> tuple[Path, str]:
    """Return the bank of a workspace's question, and its ID.

    The bank that the marker claims, or one of its name, is taken if it is in use.  If it is not in
    use, it is taken only if the records hold this very start and `--bank` is not given.  Otherwise
    the question is looked for in all banks in use.
    """
    marked_bank = ctx.bank_of(workspace.bank, workspace.question)
    banks = ctx.banks()
    is_recorded = any(start.bank == to_storable(workspace.bank) for start in ctx.starts)
    if marked_bank in banks:
        return marked_bank, workspace.question
    if ctx.bank is None and is_recorded and workspace.was_started(ctx.starts):
        return marked_bank, workspace.question
    return bank.find_question(banks, workspace.question)


def _nearest_workspace(ctx: Context, folder: Path | None = None) -> Workspace:
    """Return the drill of `folder`, or else the only one around or inside the current folder.

    Of several inside, it is the one that an open interview asks.  UsageError if that leaves none
    or more than one, or if the folder has a submission that no `drill start` made.
    """
    here = ctx.current_folder()
    if folder:
        workspace = enclosing_workspace(Path(os.path.realpath(here / folder)))
        if workspace is None:
            raise UsageError(
                f"{folder} does not belong to a started drill",
                hint="drill grade ID --file PATH grades any file; drill start ID makes a folder",
            )
        return workspace
    if os.path.lexists(here / SUBMISSION_FILE) and read_workspace(here) is None:
        raise UsageError(
            f"{here / SUBMISSION_FILE} does not belong to a started drill; nothing was done",
            hint=f"drill grade ID{ctx.bank_option} --file {SUBMISSION_FILE}"
            " grades it for the question ID",
        )
    around = enclosing_workspace(here)
    workspaces = [around] if around else workspaces_inside(here)
    if len(workspaces) > 1:
        workspaces = _asked_in_interview(ctx, workspaces) or workspaces
    if len(workspaces) == 1:
        return workspaces[0]
    if workspaces:
        commands = [
            f"cd {ctx.path_as_typed(workspace.folder)} && drill {ctx.typed_command}"
            for workspace in workspaces[:2]
        ]
        raise UsageError(
            f"{len(workspaces)} drills are in this folder, and none is named",
            hint=f"Next: {'   '.join(commands)}",
        )
    raise _no_drill_error(ctx)


def _asked_in_interview(ctx: Context, workspaces: Sequence[Workspace]) -> list[Workspace]:
    """Return those of `workspaces` that are of the question an open interview asked last."""
    interview = ctx.read(interviews.latest_interview, None)
    if not (interview and interview.asked and interview.time_left_text(ctx.now())):
        return []
    question_id = interview.asked[-1].question
    return [workspace for workspace in workspaces if workspace.question == question_id]


def _no_drill_error(ctx: Context) -> UsageError:
    """Return the error if no drill is here; it names the last started one if that still exists."""
    if ctx.starts:
        last = ctx.starts[0]
        folder = Path(last.folder)
        if read_workspace(folder) is not None:
            parent = ctx.path_as_typed(folder.parent)
            command = f"drill {ctx.typed_command}{ctx.bank_option}"
            return UsageError(
                f"no drill in this folder; the last one was {last.question}, in {parent}",
                hint=f"Next: cd {ctx.path_as_typed(folder)} && {command}",
            )
    return UsageError(
        "no drill is here, nor where the last one was started",
        hint=f"Next: drill next{ctx.bank_option}   drill list{ctx.bank_option}",
    )
