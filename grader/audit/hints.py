"""Does a hint give the answer away too soon?

A run of tokens that a hint shares with the reference says what to type.  What the candidate has
been given anyway (the text, the starter) gives nothing away.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from grader.model.audit import Remark
from grader.model.question import Question

LONG = 6  # tokens shared in a row that are no accident, if enough of them are signs
SIGNS = 2  # of them that are operators or brackets: prose has hardly any
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?|\*\*|//|->|[-+*/@=<>!]=|<<|>>|[^\w\s]")
_SIGN = re.compile(r"[^\w\s.,;:!?'\"`]")
_PROSE = re.compile(r"\"\"\".*?\"\"\"|'''.*?'''|#[^\n]*", re.DOTALL)


def remarks(question: Question) -> list[Remark]:
    """The hints, the last of each part left out, that hold code of the reference."""
    spec = question.spec
    code = _TOKEN.findall(_PROSE.sub(" ", question.reference.decode("utf-8", "replace")))
    texts = [question.starter.decode("utf-8", "replace")]
    found, number = [], 0
    for part in spec.parts:
        texts += [part.prompt, part.interface, *part.contract]
        given = _joined(_TOKEN.findall("\n".join(texts)))
        for left, hint in enumerate(part.hints, 1 - len(part.hints)):
            number += 1
            if left and (shared := _shared(_TOKEN.findall(hint), code, given)):
                found.append(
                    f"hint {number} of {len(spec.hints)} holds {shared} of the reference: "
                    "only the last may give the answer away; ask a question instead"
                )
    return [Remark("hints", text) for text in found]


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
