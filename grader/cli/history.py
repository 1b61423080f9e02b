"""`drill history` and `drill history restore`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import files, output, place
from grader.cli.choose import asked_for, choose, need_workspace
from grader.cli.journal import Journal
from grader.cli.starting import put_back
from grader.cli.words import quantity
from grader.model.errors import UsageError
from grader.records import attempts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from grader.records.attempts import Attempt


def history(question_id: str | None, *, bank: Path | None, as_json: bool) -> int:
    """List every version that was graded or kept, the latest last."""
    # Not through the journal: here the records are the result, so that a fault is an error.
    store = Journal().store
    asked, named = asked_for(question_id, bank)
    found = store.read(lambda db: attempts.listing(db, asked), empty=())
    if named is not None:
        found = tuple(attempt for attempt in found if attempt.bank == str(named))
    if question_id is not None and not found:
        _known(question_id, bank)
    if as_json:
        output.document({"format": 1, "attempts": [_as_data(attempt) for attempt in found]})
    elif found:
        output.show(table(found))
        output.write()
        output.write("drill history restore NUMBER brings one of them back")
    else:
        which = f" of {question_id}" if question_id else ""
        output.write(f"no attempt{which} yet; drill grade makes one")
    return 0


def restore(number: int, *, bank: Path | None, to: Path | None, as_json: bool) -> int:
    """Bring a submission back: into a new file, or into its drill's folder."""
    journal = Journal()
    found = journal.store.read(lambda db: attempts.find(db, number), empty=None)
    if found is None:
        raise UsageError(
            f"there is no attempt {number}", hint="drill history lists those there are"
        )
    attempt, content = found
    copy = None
    if to is not None:
        target = place.here() / to.expanduser()
        if not files.create(target, content):
            raise UsageError(
                f"{target} is there already and is left as it is",
                hint="name a file that is not there yet",
            )
    else:
        choice = choose(attempt.question, bank=bank, journal=journal)
        target = need_workspace(choice).submission
        copy = put_back(target, content, "restore", question=choice.question, into=journal)
    if as_json:
        kept = None if copy is None else str(copy)
        data = {"format": 1, "attempt": number, "restored": str(target), "kept": kept}
        output.document(data)
        return 0
    output.write(f"attempt {number} ({quantity(len(content), 'byte')}) is in {target}")
    if copy is not None:
        output.write(f"what was there is kept in {copy}")
    return 0


def table(found: Sequence[Attempt]) -> Table:
    """Return the attempts as a table."""
    from rich.table import Table

    result = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    result.add_column("no.", justify="right", no_wrap=True)
    result.add_column("question", no_wrap=True)
    result.add_column("when", no_wrap=True)
    result.add_column("verdict", no_wrap=True)
    result.add_column("seed", justify="right", overflow="fold")
    for attempt in found:
        result.add_row(
            str(attempt.id),
            attempt.question,
            place.local_time(attempt.created_at),
            attempt.state,
            "" if attempt.seed is None else str(attempt.seed),
        )
    return result


def _as_data(attempt: Attempt) -> dict[str, object]:
    return {
        "attempt": attempt.id,
        "kind": attempt.kind,
        "question": attempt.question,
        "bank": attempt.bank,
        "created_at": attempt.created_at,
        "finished_at": attempt.finished_at,
        "verdict": attempt.verdict,
        "seed": attempt.seed,
        "isolation": attempt.isolation,
        "seconds": attempt.seconds,
        "sha256": attempt.sha256,
    }


def _known(question_id: str, bank: Path | None) -> None:
    """Tell a mistyped id from a question that was never graded.

    Raises:
        UsageError: No bank has such a question.
    """
    from grader.bank import closest, headers
    from grader.cli.inuse import banks

    found = headers(banks(bank))
    ids = [header.called for header in found]
    if question_id not in {*ids, *(header.id for header in found)}:
        near = closest(question_id, ids)
        raise UsageError(
            f"{question_id}: there is no such question and no attempt at one",
            hint=f"did you mean {near}?" if near else "drill list shows the questions",
        )
