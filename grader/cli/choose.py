"""Which drill a command is about, and where its submission lies.

Without an id: the drill of this folder or of one above it, else the one started last in a folder
right below, else the one started last anywhere.  With an id: the same, among the folders of that
drill.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import place, workspace
from grader.cli.workspace import Workspace
from grader.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.cli.journal import Journal
    from grader.model.question import Question


@dataclass(frozen=True, slots=True)
class Choice:
    """A question, its workspace where there is one, and how to name it in a command."""

    question: Question
    workspace: Workspace | None
    implied: bool  # whether the id can be left out here
    typed: str = ""  # ID, or BANK/ID

    @property
    def called(self) -> str:
        """What names the question in a command: what was typed, else its id."""
        return self.typed or self.question.id

    @property
    def argument(self) -> str:
        """What follows `drill hint`: nothing where the folder says it, else the id."""
        return "" if self.implied else f" {self.called}"


def choose(
    question_id: str | None,
    *,
    bank: Path | None,
    journal: Journal,
    beside: Path | None = None,
    soon: Callable[[str, list[Path]], None] | None = None,
) -> Choice:
    """Return the drill that is meant.

    Args:
        question_id: The id as typed, None for the drill of the place.
        bank: The folder given with --bank.
        journal: The records, for the drill started last.
        beside: A file given with --file: without an id, the drill of its folder.
        soon: Is told the id and the banks before the question is loaded, to prepare meanwhile.

    Raises:
        UsageError: No drill is meant, or there is no such question.
        BankError: The question cannot be loaded.
    """
    asked, named = asked_for(question_id, bank)
    found = next(_candidates(asked, named, journal, beside), None)
    if question_id is None and found is None:
        raise UsageError(
            "no drill was started here or anywhere else, so it is not clear which one is meant",
            hint="drill list shows the questions; drill start ID starts one",
        )
    implied = next(_candidates(None, None, journal, None), None)
    name = asked or (found.question if found else "")
    marked = named or (found.bank if found else None)
    if soon is not None:
        soon(name, _banks(name, bank, marked))
    return Choice(
        load(name, bank=bank, marked=marked),
        found,
        implied=implied is not None
        and implied.question == name
        and (found is None or implied.bank == found.bank),
        typed=question_id or "",
    )


def load(question_id: str, *, bank: Path | None, marked: Path | None = None) -> Question:
    """Return a question: from --bank, else from the bank it was started from, else from any."""
    from grader.bank import load as load_question

    return load_question(_banks(question_id, bank, marked), question_id)


def asked_for(question_id: str | None, bank: Path | None) -> tuple[str | None, Path | None]:
    """Return the id in what was typed and, where that was BANK/ID, the bank."""
    if question_id is None or "/" not in question_id:
        return question_id, None
    from grader.bank import find
    from grader.cli.inuse import banks

    named, asked = find(banks(bank), question_id)
    return asked, named


def _banks(question_id: str, bank: Path | None, marked: Path | None) -> list[Path]:
    """Return where to look: the bank of the drill's folder alone, as long as it has the drill."""
    from grader.bank import holds
    from grader.cli.inuse import banks

    if bank is None and marked is not None and holds(marked, question_id):
        return [marked]
    return banks(bank)


def need_workspace(choice: Choice) -> Workspace:
    """Return the workspace of a chosen drill.

    Raises:
        UsageError: It was never started, or its folder is gone.
    """
    if choice.workspace is None:
        name = choice.called
        raise UsageError(
            f"{name} was not started here, and no folder of it is known",
            hint=f"drill start {name} lays one down; drill grade {name} --file PATH grades any"
            " file",
        )
    return choice.workspace


def _candidates(
    question_id: str | None, named: Path | None, journal: Journal, beside: Path | None
) -> Iterator[Workspace]:
    """Yield the workspaces that may be meant, the likeliest first."""
    for found in _places(question_id, journal, beside):
        if question_id is None or (
            found.question == question_id and (named is None or _of_bank(found, named))
        ):
            yield found


def _of_bank(found: Workspace, named: Path) -> bool:
    """Whether a folder is of a bank; where its own bank has moved, it may be of any."""
    from grader.bank import holds

    return found.bank == named or not holds(found.bank, found.question)


def _places(question_id: str | None, journal: Journal, beside: Path | None) -> Iterator[Workspace]:
    here = place.here()
    if beside is not None and (found := workspace.enclosing(beside.absolute().parent)) is not None:
        yield found
    if (found := workspace.enclosing(here)) is not None:
        yield found
    yield from workspace.inside(here)

    from grader.records import progress

    for start in journal.read(lambda db: progress.starts(db, question_id), ()):
        recorded = workspace.open_quietly(Path(start.folder))
        if recorded is not None and recorded.question == start.question:
            yield recorded
