"""Which drill is meant, where its submission lies, and which bank its question comes from.

Without an id: the drill of this folder or of one above it, else the one started last in a folder
right below, else the one started last anywhere.  With an id: the same, among the folders of that
drill.  With the path of a folder: the drill of that folder or of one above it, and no other.

A marker (`.drill`) may come with somebody else's files. Its bank is believed where the records hold
that very start, or where it is one of the banks in use anyway; otherwise it names the question at
most, and only when nothing on record is nearer. A marker of another user counts only if recorded.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from grader import bank
from grader.app import workspace
from grader.app.context import Context
from grader.app.workspace import Workspace
from grader.bank.storage import FOLDER, found_at
from grader.model.errors import UsageError
from grader.model.question import Question
from grader.records import progress


@dataclass(frozen=True, slots=True)
class Choice:
    """A question, its workspace where there is one, and how to name it in a command."""

    question: Question
    workspace: Workspace | None
    recorded: bool  # whether the records hold the start of that workspace
    called: str  # what names the question in a command: ID, or BANK/ID
    option: str  # what names its bank there: ` --bank PATH` where that was given
    argument: str  # what follows `drill hint`: the id where the folder does not say it, the option

    def need_workspace(self) -> Workspace:
        """Return the workspace.

        Raises:
            UsageError: The drill was never started, or its folder is gone.
        """
        if self.workspace is None:
            raise UsageError(
                f"{self.called} was not started here, and no folder of it is known",
                hint=f"drill start {self.called}{self.option} makes one;"
                f" drill grade {self.called}{self.option} --file PATH grades any file",
            )
        return self.workspace


def resolve(
    ctx: Context,
    question_id: str | None,
    *,
    folder: Path | None = None,
    file: Path | None = None,
    soon: Callable[[str, list[Path]], None] | None = None,
) -> Choice:
    """Return the drill that is meant.

    Args:
        ctx: Where the person is.
        question_id: The id as typed, None for the drill of the place.
        folder: The folder that was named: its drill, or that of one above it, and no other.
        file: A file to be graded: no marker chooses the bank then, not even a recorded one.
        soon: Is called with the id and the banks before the question is loaded, to prepare.

    Raises:
        UsageError: No drill is meant, or there is no such question.
        BankError: The question cannot be loaded.
    """
    asked, named = asked_for(ctx, question_id)
    search = Search(ctx)
    there = None if folder is None else search.around(folder)
    found = there or next(search.candidates(asked, named, file), None)
    if question_id is None and found is None:
        raise search.none_meant()
    name = asked or (found.question if found else "")
    marked = named or (Path(found.bank) if found and found.bank and file is None else None)
    # The bank of the drill's folder alone, as long as it has the drill.
    only = marked if marked and ctx.bank is None and bank.holds(marked, name) else None
    banks = [only] if only else ctx.banks()
    if soon is not None:
        soon(name, banks)
    question = bank.load(banks, name)
    called = question_id or name
    near = next(search.candidates(), None)
    implied = near and near.question == name and (found is None or near.bank == found.bank)
    argument = ctx.option if implied else f" {called}{ctx.option}"
    recorded = found is not None and search.recorded(found)
    return Choice(question, found, recorded, called, ctx.option, argument)


def asked_for(ctx: Context, question_id: str | None) -> tuple[str | None, Path | None]:
    """Return the id in what was typed and, where that was BANK/ID, the bank."""
    if question_id is None or "/" not in question_id:
        return question_id, None
    named, asked = bank.find(ctx.banks(), question_id)
    return asked, named


class Search:
    """The folders in which drills were started, checked against the records."""

    def __init__(self, ctx: Context) -> None:
        """Read what was started."""
        self._ctx = ctx
        self._starts = ctx.read(progress.starts, ())

    def candidates(
        self,
        question_id: str | None = None,
        named: Path | None = None,
        file: Path | None = None,
    ) -> Iterator[Workspace]:
        """Yield the workspaces of a question of a bank that may be meant, the likeliest first.

        The drill of the folder of `file` comes first, where it is recorded; with a file, what is
        not recorded is not looked at.
        """
        for found in self._all(file):
            if question_id in {None, found.question} and (
                named is None or progress.counts(found.bank, str(named), found.question)
            ):
                yield found

    def around(self, folder: Path) -> Workspace:
        """Return the drill that a named folder is or lies in, as one who is there would have it.

        Raises:
            UsageError: There is none.
        """
        found = workspace.enclosing(Path(os.path.realpath(self._ctx.here() / folder)))
        if found is None or not self.owned(found):
            raise UsageError(
                f"{folder}: expected a drill's folder, or one inside it, found no .drill of yours"
                " there or above",
                hint="drill grade ID --file PATH grades any file; drill start ID makes a folder",
            )
        return self._believed(found)

    def none_meant(self) -> UsageError:
        """Return what to say where no drill is meant."""
        if self._starts:
            last = self._starts[0]
            there = found_at(Path(last.folder)) == FOLDER
            state = "is no drill's any more" if there else "is gone"
            return UsageError(
                f"{last.folder}: the folder of {last.question}, the drill started last, {state},"
                " and there is no other",
                hint=f"drill start {last.question}{self._ctx.option} makes it again;"
                " drill grade ID --file PATH grades any file",
            )
        return UsageError(
            "no drill was started here or anywhere else, so it is not clear which one is meant",
            hint=f"drill list{self._ctx.option} shows the questions;"
            f" drill start ID{self._ctx.option} starts one",
        )

    def owned(self, found: Workspace) -> bool:
        """Return whether a folder is this user's: by its marker's owner, or by the records."""
        return found.mine or self.recorded(found)

    def recorded(self, found: Workspace) -> bool:
        """Return whether the records hold this start: the folder, the question and the bank."""
        return any(
            start.question == found.question
            and start.bank == found.bank
            and os.path.realpath(start.folder) == os.path.realpath(found.folder)
            for start in self._starts
        )

    def _all(self, file: Path | None) -> Iterator[Workspace]:
        here = self._ctx.here()
        around = workspace.enclosing(here)
        near = list(filter(None, [around, *workspace.inside(here)]))
        claims = [found for found in near if found.mine] if file is None else []
        if around in claims and around.folder == here:
            yield self._believed(around)
        if file is not None and (named := workspace.enclosing(here / file.parent)) is not None:
            near.insert(0, named)
        yield from filter(self.recorded, near)
        started = (workspace.open_quietly(Path(start.folder)) for start in self._starts)
        yield from filter(self.recorded, filter(None, started))
        yield from map(self._believed, claims)

    def _believed(self, found: Workspace) -> Workspace:
        """Return a workspace without its bank where that is a mere claim."""
        if self.recorded(found) or found.bank in map(str, self._ctx.banks()):
            return found
        return replace(found, bank="")
