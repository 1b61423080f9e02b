"""What the text of a question promises: the log that is shown, its length, places to do."""

from __future__ import annotations

import math
from collections.abc import Iterator

from grader.model.audit import Remark
from grader.model.numerals import quantity
from grader.model.question import Question
from grader.session.experiment import LOG_SEED, experiment

SHOWN = 5  # places marked TODO
MOST_WORDS, MOST_CLAUSES = 90, 6  # of the first part, which is read in a minute
CLOSE = 0.02  # relative, of numbers in a log: machines round in other ways


def remarks(question: Question) -> Iterator[Remark]:
    """What can be said before anything is run."""
    if places := question.todos:
        more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
        count = quantity(len(places), "TODO is", "TODOs are")
        yield Remark("todo", f"{count} left: {', '.join(places[:SHOWN])}{more}")
    yield from (Remark("unused", text) for text in question.unused)
    for name in question.spec.prerequisites:
        if name == question.id or not question.spec_path.with_name(f"{name}.yaml").is_file():
            text = f"prerequisites: there is no other question {name} in this bank"
            yield Remark("prerequisites", text)


def remarks_on_a_sound_one(question: Question) -> Iterator[Remark]:
    """What is worth saying once the programs are right."""
    first = question.spec.parts[0]
    if (words := len(first.prompt.split())) > MOST_WORDS:
        yield Remark(
            "parts",
            f"the prompt of part 1 has {words} words; more than {MOST_WORDS} are not read: tell "
            "the symptom, and leave the rest to the contract",
        )
    if (clauses := len(first.contract)) > MOST_CLAUSES:
        yield Remark(
            "parts",
            f"the contract of part 1 has {clauses} clauses; nobody keeps more than {MOST_CLAUSES} "
            "in mind: what is about edges belongs to a later part",
        )


def faulty_log(question: Question) -> Iterator[str]:
    """What is wrong with the runs that a candidate can make, and with the log that is shown."""
    if question.spec.experiments is None:
        return
    for name, source in (("starter", question.starter), ("reference", question.reference)):
        ran = experiment(question, source, seed=LOG_SEED)
        if ran.fault:
            yield f"experiments: the {name} did not finish: {ran.fault}"
        elif name == "starter" and question.spec.log:
            shown, made = (text.strip().splitlines() for text in (question.spec.log, ran.printed))
            count = max(len(shown), len(made))
            for number in range(count):
                one, other = (lines[number : number + 1] or [""] for lines in (shown, made))
                if not _alike(one[0], other[0]):
                    yield (
                        f"log: expected what the starter prints with seed {LOG_SEED}; line "
                        f"{number + 1} is {one[0].strip()[:80]!r}, and it prints "
                        f"{other[0].strip()[:80]!r}"
                    )
                    break


def _alike(one: str, other: str) -> bool:
    """Whether two lines have the same words, and nearly the same numbers."""

    def same(word: str, printed: str) -> bool:
        try:
            return math.isclose(float(word), float(printed), rel_tol=CLOSE, abs_tol=1e-9)
        except ValueError:
            return word == printed

    words, others = one.split(), other.split()
    return len(words) == len(others) and all(map(same, words, others))
