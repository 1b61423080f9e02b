"""What the text of a question promises: hints, the log that is shown, its length, places to do."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from grader.model.audit import Remark
from grader.model.numerals import quantity
from grader.model.question import Question
from grader.session.experiment import LOG_SEED, experiment

SHOWN = 5  # places marked TODO
MOST_WORDS, MOST_CLAUSES = 90, 6  # of the first part, which is read in a minute
LONG = 6  # tokens shared in a row that are no accident, if enough of them are signs
SIGNS = 2  # of them that are operators or brackets: prose has hardly any
CLOSE = 0.02  # relative, of numbers in a log: machines round in other ways
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?|\*\*|//|->|[-+*/@=<>!]=|<<|>>|[^\w\s]")
_SIGN = re.compile(r"[^\w\s.,;:!?'\"`]")
_PROSE = re.compile(r"\"\"\".*?\"\"\"|'''.*?'''|#[^\n]*", re.DOTALL)


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
    yield from _telling_hints(question)
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


def _telling_hints(question: Question) -> Iterator[Remark]:
    """The hints, the last of each part left out, that hold code of the reference.

    What the candidate has been given anyway (the text, the starter) gives nothing away.
    """
    code = _TOKEN.findall(_PROSE.sub(" ", question.reference.decode("utf-8", "replace")))
    texts = [question.starter.decode("utf-8", "replace")]
    number = 0
    for part in question.spec.parts:
        texts += [part.prompt, part.interface, *part.contract]
        given = _joined(_TOKEN.findall("\n".join(texts)))
        for left, hint in enumerate(part.hints, 1 - len(part.hints)):
            number += 1
            if left and (shared := _shared(_TOKEN.findall(hint), code, given)):
                yield Remark(
                    "hints",
                    f"hint {number} of {len(question.spec.hints)} holds {shared} of the reference: "
                    "only the last may give the answer away; ask a question instead",
                )


def _shared(hint: list[str], code: list[str], given: str) -> str:
    """A long run of tokens in a hint that is code of the reference and of nothing given."""
    for match in SequenceMatcher(None, hint, code, autojunk=False).get_matching_blocks():
        part = hint[match.a : match.a + match.size]
        signs = sum(_SIGN.match(token) is not None for token in part)
        if len(part) >= LONG and signs >= SIGNS and _joined(part) not in given:
            return " ".join(part)
    return ""


def _joined(tokens: list[str]) -> str:
    return " " + " ".join(tokens) + " "


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
