"""Which parts of a question a person is asked, and what is written about them."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from pathlib import Path

from grader.app import files
from grader.app.context import Context
from grader.app.workspace import QUESTION
from grader.model.errors import UsageError
from grader.model.question import Question

_MOST_BYTES = 1 << 20  # of a QUESTION.md that is compared


def asked(ctx: Context, question: Question) -> int:
    """Return how many parts of a question a person is asked so far."""
    return ctx.progress(question).asked(len(question.spec.parts))


def grow(ctx: Context, folder: Path, question: Question, asked: int) -> None:
    """Write QUESTION.md anew with every part that is asked; what somebody wrote into it is kept."""
    from grader.reports.question import question_markdown

    path = folder / QUESTION
    before = b""
    with suppress(OSError):
        before = files.read_regular(path, _MOST_BYTES)[0]
    ours = [question_markdown(question, parts=n).encode() for n in range(1, asked + 1)]
    try:
        if before and before not in ours:
            names = (f"{QUESTION}.bak{n if n > 1 else ''}" for n in count(1))
            next(name for name in names if files.create(folder / name, before))
        if before != ours[-1]:
            files.replace(path, ours[-1])
    except UsageError as fault:
        option = f"drill show {question.id}{ctx.option} shows the part that is asked now"
        ctx.warn(f"{QUESTION} stays as it was ({fault.message})", option)


def numbers(question: Question, wanted: str | None) -> tuple[int, ...] | None:
    """Return the parts that `--parts` names, "1,2"; None where it is not given.

    Raises:
        UsageError: There is no such part.
    """
    if wanted is None:
        return None
    last = len(question.spec.parts)
    names = question.spec.part_numbers
    found = [names.get(word.strip(), 0) for word in wanted.split(",")]
    if not all(found):
        expected = f"expected numbers from 1 to {last}" if last > 1 else "expected 1, its only part"
        raise UsageError(f"--parts: {expected}, separated by commas, found {wanted!r}")
    return tuple(sorted(set(found)))
