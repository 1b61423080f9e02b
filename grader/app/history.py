"""What was graded or kept, and how to bring it back."""

from __future__ import annotations

from pathlib import Path

from grader import __version__, bank
from grader.app import files
from grader.app.context import Context
from grader.app.resolve import Search, asked_for
from grader.app.starting import put_back
from grader.app.workspace import Workspace
from grader.model.errors import UsageError
from grader.records import attempts
from grader.records.attempts import Attempt
from grader.records.events import Event


def history(
    ctx: Context, question_id: str | None = None, *, most: int | None = None
) -> tuple[tuple[Attempt, ...], int]:
    """Return what was graded or kept, the latest last; of more than `most`, how many are not there.

    Raises:
        UsageError: There is no such question, or the records cannot be read.
    """
    asked, named = asked_for(ctx, question_id)
    # Here the records are the result, so that a fault is an error.
    which = {"question": asked, "bank": None if named is None else str(named)}
    found = ctx.store.read(lambda db: attempts.listing(db, most=most or -1, **which), empty=())
    count = ctx.store.read(lambda db: attempts.count(db, **which), empty=0) if most else len(found)
    if question_id is not None and not found:  # mistyped, or never graded
        ids = [name for head in bank.headers(ctx.banks()) for name in (head.called, head.id)]
        if question_id not in ids:
            near = bank.closest(question_id, ids)
            other = (
                f"did you mean {near}?" if near else f"drill list{ctx.option} shows the questions"
            )
            raise UsageError(
                f"{question_id}: there is no such question and no attempt at one", hint=other
            )
    return found, max(0, count - len(found))


def restore(ctx: Context, number: int, *, to: Path | None = None) -> tuple[int, Path, Path | None]:
    """Bring a submission back: into a new file, or into its drill's folder.

    Returns:
        Its size, where it is now, and the copy of what was there, if there was anything.

    Raises:
        UsageError: There is no such attempt, or no folder of its question and bank.
    """
    found = ctx.store.read(lambda db: attempts.find(db, number), empty=None)
    if found is None:
        raise UsageError(
            f"there is no attempt {number}", hint="drill history lists those there are"
        )
    attempt, content = found
    if to is not None:
        target = ctx.here() / to.expanduser()
        if not files.create(target, content):
            raise UsageError(
                f"{target} is there already and is left as it is",
                hint="name a file that is not there yet",
            )
        return len(content), target, None
    target = _folder(ctx, attempt).submission
    event = Event(
        "restored", ctx.now(), ctx.who, __version__, attempt.question, attempt.bank, attempt.digest
    )
    return len(content), target, put_back(ctx, target, content, "restore", event)


def _folder(ctx: Context, attempt: Attempt) -> Workspace:
    """Return the folder of an attempt's question and bank.

    Another bank's question of the same id is another question: its folder is left alone, unless the
    attempt's own bank has gone and the question is the same, byte for byte.
    """
    gone = not bank.holds(Path(attempt.bank), attempt.question)
    for found in Search(ctx).candidates(attempt.question):
        if found.bank == attempt.bank:
            return found
        if gone and attempt.digest and found.bank:
            where = Path(found.bank)
            held = bank.holds(where, attempt.question)
            if held and bank.load([where], attempt.question).digest == attempt.digest:
                return found
    raise UsageError(
        f"attempt {attempt.id} is of {attempt.question} from {attempt.bank}, and no folder of that"
        " is known",
        hint=f"drill history restore {attempt.id} --to PATH brings it back into a new file;"
        f" drill start {attempt.question}{ctx.option} makes a folder",
    )
