"""Does the log of a diagnosis come from its starter, and does the reference run as well?"""

from __future__ import annotations

import math
from collections.abc import Iterator

from grader.model.question import Question
from grader.session.experiment import LOG_SEED, experiment

CLOSE = 0.02  # relative: machines round in other ways, and a run that diverges shows it


def problems(question: Question) -> Iterator[str]:
    """What is wrong with the runs that a candidate can make, and with the log that is shown."""
    if question.spec.experiments is None:
        return
    for name, source in (("starter", question.starter), ("reference", question.reference)):
        ran = experiment(question, source, seed=LOG_SEED)
        if ran.fault:
            yield f"experiments: a run of the {name} comes to no end: {ran.fault}"
        elif name == "starter" and question.spec.log:
            yield from _unlike(question.spec.log, ran.printed)


def _unlike(log: str, printed: str) -> Iterator[str]:
    """The first line of a log that is not what was printed."""
    shown, made = (text.strip().splitlines() for text in (log, printed))
    for number in range(max(len(shown), len(made))):
        one, other = (text[number] if number < len(text) else "" for text in (shown, made))
        if not _alike(one, other):
            yield (
                f"log: expected what the starter prints with seed {LOG_SEED}; line {number + 1} is "
                f"{one.strip()[:80]!r}, and it prints {other.strip()[:80]!r}"
            )
            return


def _alike(one: str, other: str) -> bool:
    """Whether two lines have the same words, and nearly the same numbers."""
    words, others = one.split(), other.split()
    return len(words) == len(others) and all(map(_same, words, others))


def _same(word: str, other: str) -> bool:
    try:
        return math.isclose(float(word), float(other), rel_tol=CLOSE, abs_tol=1e-9)
    except ValueError:
        return word == other
