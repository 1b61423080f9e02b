"""Does every check pass what is right, however it is written?

A question that turns down right solutions is worse than one that lets wrong ones through.  It may
come with solutions in other styles (`accepted`); each must pass every check that decides, on every
seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from grader.audit.matrix import Fault, in_words_of, sentences
from grader.audit.subjects import result_of
from grader.evaluation.evaluation import BankFault
from grader.forms import registry as forms
from grader.model.audit import Accepted
from grader.model.question import Question
from grader.model.verdict import FINE
from grader.session import GradingSession
from grader.session.locations import ACCEPTED, file_of, line_of, message_of


@dataclass(frozen=True, slots=True)
class Style:
    """A right program."""

    name: str
    sources: Sequence[bytes]
    file: str  # in the bank


def written(question: Question) -> list[Style]:
    """The right solutions that come with a question."""
    form = forms.of(question.spec)
    return [
        Style(name, [form.program(source, question)], file_of(question, ACCEPTED + name))
        for name, source in question.accepted.items()
    ]


def hold(
    session: GradingSession,
    styles: Iterable[Style],
    seeds: Sequence[int],
    progress: Callable[[str], None],
) -> tuple[list[Accepted], list[str]]:
    """Put right programs through every check that decides.

    Returns:
        Each with the seeds on which everything passes it, and a sentence per check that does not.
    """
    held, problems = [], []
    for style in styles:
        progress(f"accepted {style.name}")
        faults = [fault for seed in seeds for fault in _faults(session, style, seed, seeds)]
        passed = len(seeds) - len({seed for seed, *_ in faults})
        held.append(Accepted(style.name, passed, len(seeds)))
        problems += sentences(faults, len(seeds))
    return held, problems


def _faults(
    session: GradingSession, style: Style, seed: int, seeds: Sequence[int]
) -> Iterator[Fault]:
    """What does not pass a right program on one seed."""
    called = f"the accepted {style.name}"
    try:
        evaluation = session.examine(called, style.sources, seed, called=called, file=style.file)
        first = seed == seeds[0]  # what is timed is the same on every seed
        for check in session.question.spec.checks:
            if check.stretch:
                continue
            result = result_of(evaluation, check, timed=first)
            if result.verdict not in FINE:
                sentence = in_words_of(result.message)
                if result.raised is not None:
                    sentence += message_of(result.raised) + line_of(result.raised, style.file)
                before = f"{style.file}: {check.id} does not pass {style.name}, and it is right,"
                yield seed, before, f": {sentence}"
    except BankFault as fault:
        yield seed, f"{style.file}: {fault}", ""
