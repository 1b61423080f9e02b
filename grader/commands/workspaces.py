"""A drill's folder, which drill is meant, and which bank its question comes from.

The file `.drill` says whose folder it is: a marker, which may come with somebody else's files. So
it is only a claim: it chooses among the banks in use, and no other but where the records hold that
very start. One that belongs to another user is none.

Without an id: the drill of this folder or of one above it, else the only one right below, or of
several the one that an open interview asks. With an id: the same where it is of that question, else
the one started last. With the path of a folder: the drill of that folder or of one above it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from grader import bank
from grader.bank.bank_files import read_regular_file
from grader.commands.context import Context
from grader.model.errors import UsageError
from grader.model.question import Question
from grader.records import interviews
from grader.records.events import to_storable
from grader.records.progress import Start, is_same_bank

MARKER_FILE = ".drill"
QUESTION_FILE = "QUESTION.md"
SUBMISSION_FILE = "submission.py"
ANSWERS_FILE = "answers.txt"
_MOST_MARKER_BYTES = 10_000


class Workspace(NamedTuple):
    """A folder in which a drill was started, as its marker has it."""

    question: str
    bank: str  # a claim
    folder: Path
    started_at: str  # UTC, ISO 8601
    file: str = SUBMISSION_FILE  # its name
    seed: int = 0  # which draws the numbers of its question

    @property
    def submission(self) -> Path:
        """The file that is graded."""
        return self.folder / self.file

    def was_started(self, starts: Sequence[Start]) -> bool:
        """Return True if the records hold the start of this question in this folder."""
        folder, bank = (to_storable(one) for one in (os.path.realpath(self.folder), self.bank))
        return any(
            start.question == self.question
            and is_same_bank(start.bank, bank)
            and os.path.realpath(start.folder) == folder
            for start in starts
        )


def read_workspace(folder: Path) -> Workspace | None:
    """Return the workspace that a folder is, None where no marker says what drill start wrote."""
    try:
        raw, found = read_regular_file(folder / MARKER_FILE, _MOST_MARKER_BYTES)
    except (OSError, UsageError):
        return None  # a folder closed to us holds none of ours
    if found.st_uid != os.geteuid():
        return None
    import json  # a list of questions, in a folder without a marker, needs none

    with suppress(ValueError, KeyError, TypeError, RecursionError):
        content = json.loads(raw)
        question, bank, at = texts = [content[n] for n in ("question", "bank", "started_at")]
        seed = content.get("seed", 0)
        dated = datetime.fromisoformat(at).tzinfo is not None
        named = all(isinstance(text, str) and "\0" not in text for text in texts)
        if named and dated and "/" not in question and type(seed) is int and seed >= 0:
            file = ANSWERS_FILE if content.get("file") == ANSWERS_FILE else SUBMISSION_FILE
            return Workspace(question, bank, folder, at, file, seed)
    return None


def enclosing_workspace(folder: Path) -> Workspace | None:
    """Return the workspace that a folder is or lies in."""
    return next(filter(None, map(read_workspace, (folder, *folder.parents))), None)


def workspaces_inside(folder: Path) -> list[Workspace]:
    """Return the workspaces right inside a folder, the one started last first."""
    try:
        with os.scandir(folder) as entries:
            children = [folder / e.name for e in entries if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    found = filter(None, map(read_workspace, children))
    return sorted(found, key=lambda workspace: workspace.started_at, reverse=True)


class ResolvedDrill(NamedTuple):
    """A question, its workspace where there is one, and how to name it in a command."""

    question: Question
    workspace: Workspace | None
    is_started: bool  # whether the records hold the start of that workspace
    typed_name: str  # what names the question in a command: ID, or BANK/ID
    bank_option: str  # what names its bank there: ` --bank PATH` where that was given
    drill_argument: (
        str  # what follows `drill hint`: the id where the folder does not say it, the option
    )

    def require_workspace(self) -> Workspace:
        """Return the workspace; UsageError where there is none."""
        if self.workspace:
            return self.workspace
        raise UsageError(
            f"{self.typed_name} has no folder here, nor where it was started last; nothing was done",
            hint=f"Next: drill start {self.typed_name}{self.bank_option}   drill history",
        )


def resolve_drill(
    ctx: Context,
    question_id: str | None,
    *,
    folder: Path | None = None,
    soon: Callable[[Path, str], None] = lambda *_: None,
    seed: int | None = None,
) -> ResolvedDrill:
    """Return the drill that is meant: by its id as typed, by a folder, or by the place.

    `soon` is called with the bank and the id before the question is loaded, to prepare; it has the
    numbers that `seed` draws, or those of the drill's folder.
    DrillError where no drill is meant, or its question is not there or is broken.
    """
    banks = ctx.banks()
    found: Workspace | None
    if question_id is None:
        found = here = _nearest(ctx, folder)
        where, name = _question_of(ctx, here)
    elif "/" in question_id or ctx.bank:
        where, name = bank.find_question(banks, question_id)
        own = str(where)
        found = find_workspace(ctx, name, lambda b: is_same_bank(b, own) or Path(b) not in banks)
    else:
        found = find_workspace(ctx, question_id)
        where, name = _question_of(ctx, found) if found else bank.find_question(banks, question_id)
    soon(where, name)
    drawn = found.seed if found and seed is None else seed or 0
    question = bank.load([where], name, drawn)
    try:
        implied = _nearest(ctx) == found
    except UsageError:
        implied = False
    called = question_id or name
    return ResolvedDrill(
        question,
        found,
        found is not None and found.was_started(ctx.starts),
        called,
        ctx.bank_option,
        ctx.bank_option if implied else f" {called}{ctx.bank_option}",
    )


def find_workspace(
    ctx: Context, question: str, accepts: Callable[[str], bool] = lambda _bank: True
) -> Workspace | None:
    """Return the drill of a question: near here, else where it was started last.

    Where that folder is no drill any more, an older one is not taken in its place.  `accepts` tells
    whether a drill started from a bank is meant.
    """
    here = ctx.current_folder()
    starts = ctx.starts
    around = filter(None, [enclosing_workspace(here), *workspaces_inside(here)])
    near = [one for one in around if one.question == question and accepts(one.bank)]
    for found in near:
        if here.is_relative_to(found.folder) or found.was_started(starts):
            return found
    for start in starts:
        if start.question == question and accepts(start.bank):
            last = read_workspace(Path(start.folder))
            return last if last and last.question == question else None
    return next(iter(near), None)


def _question_of(ctx: Context, found: Workspace) -> tuple[Path, str]:
    """Return the bank of a workspace's question, and its id.

    That bank, or one of its name, is in use; or the records hold this very start.
    """
    marked = ctx.bank_of(found.bank, found.question)
    banks = ctx.banks()
    recorded = any(start.bank == to_storable(found.bank) for start in ctx.starts)
    if marked in banks or (ctx.bank is None and recorded and found.was_started(ctx.starts)):
        return marked, found.question
    return bank.find_question(banks, found.question)


def _nearest(ctx: Context, folder: Path | None = None) -> Workspace:
    """Return the drill of a folder that was named, else the only one of this place."""
    here = ctx.current_folder()
    if folder:
        found = enclosing_workspace(Path(os.path.realpath(here / folder)))
        if found is None:
            raise UsageError(
                f"{folder} does not belong to a started drill",
                hint="drill grade ID --file PATH grades any file; drill start ID makes a folder",
            )
        return found
    if os.path.lexists(here / SUBMISSION_FILE) and read_workspace(here) is None:
        raise UsageError(
            f"{here / SUBMISSION_FILE} does not belong to a started drill; nothing was done",
            hint=f"drill grade ID{ctx.bank_option} --file {SUBMISSION_FILE} grades it for the question ID",
        )
    around = enclosing_workspace(here)
    below = [around] if around else workspaces_inside(here)
    if len(below) > 1:  # an interviewer asks one of them
        held = ctx.read(interviews.latest_interview, None)
        if held and held.asked and held.time_left_text(ctx.now()):
            asked = held.asked[-1].question
            below = [one for one in below if one.question == asked] or below
    if len(below) == 1:
        return below[0]
    if below:
        lines = [
            f"cd {ctx.path_as_typed(one.folder)} && drill {ctx.typed_command}" for one in below[:2]
        ]
        raise UsageError(
            f"{len(below)} drills are in this folder, and none is named",
            hint=f"Next: {'   '.join(lines)}",
        )
    for last in ctx.starts[:1]:
        if read_workspace(there := Path(last.folder)) is not None:
            at = ctx.path_as_typed(there.parent)
            raise UsageError(
                f"no drill in this folder; the last one was {last.question}, in {at}",
                hint=f"Next: cd {ctx.path_as_typed(there)} && drill {ctx.typed_command}{ctx.bank_option}",
            )
    raise UsageError(
        "no drill is here, nor where the last one was started",
        hint=f"Next: drill next{ctx.bank_option}   drill list{ctx.bank_option}",
    )
