"""Which drill is meant, where its submission lies, and which bank its question comes from.

Without an id: the drill of this folder or of one above it, else the only one in a folder right
below; never one elsewhere, and never where a submission.py lies here that is of no drill.  With an
id: the same, among the folders of that drill, else the one started last.  With the path of a
folder: the drill of that folder or of one above it, and no other.

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
from grader.app.workspace import SUBMISSION, Workspace
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
    gone: str = ""  # what became of the folder of the last start, where it is none any more

    def need_workspace(self) -> Workspace:
        """Return the workspace.

        Raises:
            UsageError: The drill was never started, or its folder is gone.
        """
        if self.workspace is None and self.gone:
            raise UsageError(
                f"the folder of {self.called} {self.gone}; nothing was done",
                hint=f"Next: drill start {self.called}{self.option}   drill history",
            )
        if self.workspace is None:
            raise UsageError(
                f"{self.called} was not started here, and no folder of it is known",
                hint=f"Next: drill start {self.called}{self.option}"
                f"   drill grade {self.called}{self.option} --file PATH",
            )
        return self.workspace


class NoDrillError(UsageError):
    """The submission.py of the current folder is of no drill that is known; `path` is its path."""

    def __init__(self, path: Path, option: str) -> None:
        """Say so, and how to grade it all the same."""
        super().__init__(
            f"{path}: no drill was started in this folder, so that it is not known whose"
            " submission this is; nothing was done",
            hint=f"Next: drill grade ID{option} --file {SUBMISSION}   drill list{option}",
        )
        self.path = path


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
    gone = ""
    if folder is not None:
        found: Workspace | None = search.around(folder)
    elif file is not None:
        found = next(search.candidates(asked, named, file), None)
    elif asked is not None:
        found, gone = search.of(asked, named)
    else:
        found = None
    if asked is None and found is None:
        found = search.nearest()
    name = asked or (found.question if found else "")
    marked = named or (Path(found.bank) if found and found.bank and file is None else None)
    # The bank of the drill's folder alone, as long as it has the drill.
    only = marked if marked and ctx.bank is None and bank.holds(marked, name) else None
    banks = [only] if only else ctx.banks()
    if soon is not None:
        soon(name, banks)
    question = bank.load(banks, name)
    called = question_id or name
    near = search.nearest_quietly()
    implied = near and near.question == name and (found is None or near.bank == found.bank)
    argument = ctx.option if implied else f" {called}{ctx.option}"
    recorded = found is not None and search.recorded(found)
    return Choice(question, found, recorded, called, ctx.option, argument, gone)


def of_place(ctx: Context) -> Context:
    """Return a context with the bank of the drill that one is in, as if it were named.

    That is so where the records hold its start, as for a grade there; else it stays as it is.
    """
    if ctx.bank is not None or ctx.folder is None:
        return ctx
    around = map(workspace.open_quietly, (ctx.folder, *ctx.folder.parents))
    found = next(filter(None, around), None)
    if found is None or not Search(ctx).recorded(found):
        return ctx
    where = Path(found.bank)
    named = where not in ctx.banks() and bank.holds(where, found.question)
    return replace(ctx, bank=where) if named else ctx


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
            if _counts(found, question_id, named):
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

    def of(self, question_id: str, named: Path | None) -> tuple[Workspace | None, str]:
        """Return the drill of a question: near here, else where it was started last.

        Returns:
            The drill, if there is one; and what became of the folder of the last start, if it is
            none any more. An older one is not taken in its place.
        """
        near = (w for w in self._near() if _counts(w, question_id, named))
        if (found := next(near, None)) is not None:
            return found, ""
        for start in self._starts:
            last = Workspace(start.question, start.bank, Path(start.folder), "")
            if _counts(last, question_id, named):
                there = workspace.open_quietly(last.folder)
                if there is not None and self.recorded(there):
                    return there, ""
                return None, self._state(last.folder)
        return next((w for w in self._claims() if _counts(w, question_id, named)), None), ""

    def nearest(self) -> Workspace:
        """Return the drill that is meant where none is named, which is one of this place.

        Raises:
            NoDrillError: A submission.py lies here, and no drill was started here.
            UsageError: No drill is here, or several are.
        """
        here, ctx = self._ctx.here(), self._ctx
        own = workspace.open_folder(here)
        if os.path.lexists(here / SUBMISSION) and (own is None or not self.owned(own)):
            raise NoDrillError(here / SUBMISSION, ctx.option)
        around = workspace.enclosing(here)
        if around is not None and self.owned(around):
            return self._believed(around)
        below = [*filter(self.recorded, workspace.inside(here))]
        below = below if below or self._starts else self._claims()
        if len(below) == 1:
            return below[0]
        if below:
            lines = [f"cd {ctx.typed(found.folder)}" for found in below[:3]]
            raise UsageError(
                f"{len(below)} drills are in this folder, and none is named",
                hint=f"Next: {'   '.join(lines)}",
            )
        if not self._starts:
            raise UsageError(
                "no drill was started here or anywhere else",
                hint=f"Next: drill list{ctx.option}   drill start ID{ctx.option}",
            )
        last = self._starts[0]
        folder = Path(last.folder)
        if workspace.open_quietly(folder) is None:
            raise UsageError(
                f"the folder of {last.question} {self._state(folder)}; nothing was done",
                hint=f"Next: drill start {last.question}{ctx.option}   drill history",
            )
        raise UsageError(
            f"no drill in this folder; the last one was {last.question}, in"
            f" {ctx.typed(folder.parent)}",
            hint=f"Next: cd {ctx.typed(folder)}   drill {ctx.typing} {last.question}{ctx.option}",
        )

    def _state(self, folder: Path) -> str:
        """Return what became of a folder in which a drill was started."""
        there = found_at(folder) == FOLDER
        return f"is {'no longer a drill' if there else 'gone'}: {self._ctx.typed(folder)}"

    def nearest_quietly(self) -> Workspace | None:
        """Return the same, None where no drill is meant."""
        try:
            return self.nearest()
        except UsageError:
            return None

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
        if file is not None and (named := workspace.enclosing(here / file.parent)) is not None:
            yield from filter(self.recorded, [named])
        yield from self._near(claims=file is None)
        if file is None:
            started = (workspace.open_quietly(Path(start.folder)) for start in self._starts)
            yield from filter(self.recorded, filter(None, started))
            yield from self._claims()

    def _near(self, *, claims: bool = True) -> Iterator[Workspace]:
        """Yield what is here, above or right below, and recorded; `claims`: or here at least."""
        here = self._ctx.here()
        around = workspace.enclosing(here)
        if claims and around is not None and around.mine and around.folder == here:
            yield self._believed(around)
        yield from filter(self.recorded, filter(None, [around, *workspace.inside(here)]))

    def _claims(self) -> list[Workspace]:
        """Return what is above or right below, this user's, and not recorded."""
        here = self._ctx.here()
        near = filter(None, [workspace.enclosing(here), *workspace.inside(here)])
        return [self._believed(found) for found in near if found.mine and not self.recorded(found)]

    def _believed(self, found: Workspace) -> Workspace:
        """Return a workspace without its bank where that is a mere claim."""
        if self.recorded(found) or found.bank in map(str, self._ctx.banks()):
            return found
        return replace(found, bank="")


def _counts(found: Workspace, question_id: str | None, named: Path | None) -> bool:
    """Return whether a workspace is one of a question, and of a bank where one is named."""
    return question_id in {None, found.question} and (
        named is None or progress.counts(found.bank, str(named), found.question)
    )
