"""Which drill is meant, where its submission lies, and which bank its question comes from.

Without an id: the drill of this folder or of one above it, else the only one right below. With an
id: the same where it is of that question, else the one started last. With the path of a folder: the
drill of that folder or of one above it.

A marker (`.drill`) may come with somebody else's files. It chooses among the banks in use, and no
other but where the records hold that very start.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader import bank
from grader.app import workspace
from grader.app.context import Context
from grader.app.workspace import SUBMISSION, Workspace
from grader.model.errors import UsageError
from grader.model.question import Question
from grader.records import progress
from grader.records.progress import Start


@dataclass(frozen=True, slots=True)
class Choice:
    """A question, its workspace where there is one, and how to name it in a command."""

    question: Question
    workspace: Workspace | None
    started: bool  # whether the records hold the start of that workspace
    called: str  # what names the question in a command: ID, or BANK/ID
    option: str  # what names its bank there: ` --bank PATH` where that was given
    argument: str  # what follows `drill hint`: the id where the folder does not say it, the option
    gone: str | None = None  # the folder of the last start, where it is no drill any more

    def need_workspace(self) -> Workspace:
        """Return the workspace.

        Raises:
            UsageError: The drill was never started, or its folder is gone.
        """
        if self.workspace is not None:
            return self.workspace
        if self.gone is not None:
            raise _gone(self.called + self.option, self.gone)
        raise UsageError(
            f"{self.called} was not started here, and no folder of it is known",
            hint=f"Next: drill start {self.called}{self.option}"
            f"   drill grade {self.called}{self.option} --file PATH",
        )


def _gone(asked: str, folder: str) -> UsageError:
    return UsageError(
        f"the folder of {asked.split()[0]} is gone: {folder}; nothing was done",
        hint=f"Next: drill start {asked}   drill history",
    )


class NoDrillError(UsageError):
    """The submission.py of the current folder does not belong to a started drill."""

    def __init__(self, path: Path, option: str) -> None:
        super().__init__(
            f"{path} does not belong to a started drill; nothing was done",
            hint=f"Next: drill grade ID{option} --file {SUBMISSION}   drill list{option}",
        )
        self.path = path


def resolve(
    ctx: Context,
    question_id: str | None,
    *,
    folder: Path | None = None,
    soon: Callable[[Path, str], None] | None = None,
) -> Choice:
    """Return the drill that is meant.

    Args:
        ctx: Where the person is.
        question_id: The id as typed, None for the drill of the place.
        folder: The folder that was named: its drill, or that of one above it, and no other.
        soon: Called with the bank and the id before the question is loaded, to prepare.

    Raises:
        UsageError: No drill is meant, or there is no such question.
        BankError: The question cannot be loaded.
    """
    banks, starts = ctx.banks(), ctx.read(progress.starts, ())
    found: Workspace | None
    gone: Path | None = None
    if question_id is None:
        found = here = _around(ctx, folder) if folder else _nearest(ctx, starts)
        where, name = _question_of(ctx, here, starts)
    elif "/" in question_id or ctx.bank is not None:
        where, name = bank.find(banks, question_id)
        own = str(where)
        found, gone = find_workspace(
            ctx, name, lambda marked: marked == own or Path(marked) not in banks
        )
    else:
        found, gone = find_workspace(ctx, question_id, lambda _: True)
        known = found is not None and _question_of(ctx, found, starts)
        where, name = known or bank.find(banks, question_id)
    if soon is not None:
        soon(where, name)
    question = bank.load([where], name)
    called = question_id or name
    try:
        implied = _nearest(ctx, starts) == found
    except UsageError:
        implied = False
    argument = ctx.option if implied else f" {called}{ctx.option}"
    return Choice(
        question, found, found is not None and was_started(found, starts), called, ctx.option,
        argument, None if gone is None else ctx.typed(gone),
    )  # fmt: skip


def find_workspace(
    ctx: Context, question: str, accepts: Callable[[str], bool]
) -> tuple[Workspace | None, Path | None]:
    """Return the drill of a question: near here, else where it was started last.

    Args:
        ctx: Where the person is.
        question: Its id.
        accepts: Whether a drill that was started from this bank is meant.

    Returns:
        The drill, if there is one; and the folder of the last start, if that is no drill any more:
        an older one is not taken in its place.
    """
    here, starts = ctx.here(), ctx.read(progress.starts, ())
    around = filter(None, [workspace.enclosing(here)])
    near = [
        found
        for found in (*around, *workspace.inside(here))
        if found.question == question and accepts(found.bank)
    ]
    for found in near:
        if here.is_relative_to(found.folder) or was_started(found, starts):
            return found, None
    for start in starts:
        if start.question == question and accepts(start.bank):
            last = workspace.open_quietly(Path(start.folder))
            there = last is not None and last.question == question
            return (last, None) if there else (None, Path(start.folder))
    return next(iter(near), None), None


def was_started(found: Workspace, starts: Sequence[Start]) -> bool:
    """Return whether the records hold the start of a drill in this folder."""
    folder = os.path.realpath(found.folder)
    return any(
        (start.question, start.bank) == (found.question, found.bank)
        and os.path.realpath(start.folder) == folder
        for start in starts
    )


def _question_of(ctx: Context, found: Workspace, starts: Sequence[Start]) -> tuple[Path, str]:
    """Return the bank and the id of a workspace's question.

    Raises:
        UsageError: No bank in use holds it, nor the one from which this person started it.
    """
    marked, banks = Path(found.bank), ctx.banks()
    known = marked in banks or (ctx.bank is None and was_started(found, starts))
    if known and bank.holds(marked, found.question):
        return marked, found.question
    return bank.find(banks, found.question)


def _around(ctx: Context, folder: Path) -> Workspace:
    """Return the drill that a named folder is or lies in.

    Raises:
        UsageError: There is none.
    """
    found = workspace.enclosing(Path(os.path.realpath(ctx.here() / folder)))
    if found is None:
        raise UsageError(
            f"{folder} does not belong to a started drill",
            hint="drill grade ID --file PATH grades any file; drill start ID makes a folder",
        )
    return found


def _nearest(ctx: Context, starts: Sequence[Start]) -> Workspace:
    """Return the drill that is meant where none is named, which is one of this place.

    Raises:
        NoDrillError: A submission.py lies here, and no drill was started here.
        UsageError: No drill is here, or several are.
    """
    here = ctx.here()
    if os.path.lexists(here / SUBMISSION) and workspace.open_folder(here) is None:
        raise NoDrillError(here / SUBMISSION, ctx.option)
    if (around := workspace.enclosing(here)) is not None:
        return around
    below = workspace.inside(here)
    if len(below) == 1:
        return below[0]
    if below:
        lines = [f"cd {ctx.typed(found.folder)}" for found in below[:3]]
        raise UsageError(
            f"{len(below)} drills are in this folder, and none is named",
            hint=f"Next: {'   '.join(lines)}",
        )
    if not starts:
        raise UsageError(
            "no drill was started here or anywhere else",
            hint=f"Next: drill list{ctx.option}   drill start ID{ctx.option}",
        )
    last, folder = starts[0].question, Path(starts[0].folder)
    if workspace.open_quietly(folder) is None:
        raise _gone(f"{last}{ctx.option}", ctx.typed(folder))
    raise UsageError(
        f"no drill in this folder; the last one was {last}, in {ctx.typed(folder.parent)}",
        hint=f"Next: cd {ctx.typed(folder)}   drill {ctx.typing} {last}{ctx.option}",
    )
