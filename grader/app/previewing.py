"""See the page that the holder of a misconception will see."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader import bank
from grader.app import requirements
from grader.app.auditing import banks_for
from grader.app.context import Context
from grader.model.errors import UsageError, did_you_mean
from grader.model.numerals import quantity
from grader.model.report import Report

STARTER = "starter"
_FUTURE = re.compile(rb"^from __future__ import [^\n]*", re.MULTILINE)


def preview(
    ctx: Context, question_id: str, name: str, *, variant: int | None = None, seed: int = 0
) -> Iterator[tuple[str, Report]]:
    """Grade what holds a misconception as if somebody had handed it in; nothing is recorded.

    Args:
        ctx: Where the person is.
        question_id: ID or BANK/ID; the current folder counts where it is a bank.
        name: The misconception, or `starter`.
        variant: Which of its variants, from 1; all of them when None.
        seed: From which the inputs are drawn.

    Raises:
        UsageError: There is no such question, misconception or variant.
        BankError: The question is broken.
    """
    from grader.session import GradingSession

    question = bank.load(banks_for(ctx, question_id), question_id)
    requirements.need_torch(question)
    known = [*question.variants, STARTER]
    if name not in known:
        raise UsageError(
            f"{question.id} has no misconception {name!r}{did_you_mean(name, known)}",
            hint=f"it has {', '.join(known)}",
        )
    # A variant is executed over the reference; what must stand at the head of a file does already.
    programs = [question.starter] if name == STARTER else [
        b"\n\n".join([question.reference, _FUTURE.sub(b"", source).lstrip(b"\n")])
        for source in question.variants[name]
    ]  # fmt: skip
    if variant is not None and variant > len(programs):
        count = quantity(len(programs), "variant")
        raise UsageError(f"{name} has {count}: there is no --variant {variant}")
    with GradingSession(question) as session:
        for number, source in enumerate(programs, 1):
            if variant in {None, number}:
                label = name if number == 1 else f"{name} ({number})"
                yield label, session.grade(source, seed=seed, is_program=name != STARTER)
