"""Does a hint give the answer away too soon?

Every hint but the last is held against the reference, both as text: a run of tokens that they
share says what to type.  What the candidate has been given anyway (the text, the starter) gives
nothing away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader.audit.wording import stated
from grader.model.audit import Remark

if TYPE_CHECKING:
    from grader.model.question import Question

LONG = 6  # tokens shared in a row that are no accident, if enough of them are signs
SIGNS = 2  # of them that are operators or brackets: prose has hardly any
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?|\*\*|//|->|[-+*/@=<>!]=|<<|>>|[^\w\s]")
_PROSE = re.compile(r"\"\"\".*?\"\"\"|'''.*?'''|#[^\n]*", re.DOTALL)
_PUNCTUATION = set(".,;:!?'\"`")


def remarks(question: Question) -> list[Remark]:
    """The hints, the last left out, that hold code of the reference."""
    code = _joined(_tokens(_PROSE.sub(" ", question.reference.decode("utf-8", "replace"))))
    starter = question.starter.decode("utf-8", "replace")
    given = _joined(_tokens(stated(question) + "\n" + starter))
    count = len(question.spec.hints)
    return [
        Remark(
            "hints",
            f"hint {number} of {count} holds {shared} of the reference: "
            "only the last may give the answer away; ask a question instead",
        )
        for number, hint in enumerate(question.spec.hints[:-1], 1)
        if (shared := _longest(_tokens(hint), code, given))
    ]


def _longest(hint: Sequence[str], code: str, given: str) -> str:
    """The longest run of tokens in a hint that is code of the reference and of nothing given."""
    for length in range(len(hint), LONG - 1, -1):
        for start in range(len(hint) - length + 1):
            part = hint[start : start + length]
            signs = sum(not t[0].isalnum() and t[0] != "_" for t in part)
            signs -= sum(t in _PUNCTUATION for t in part)
            if signs >= SIGNS and _joined(part) in code and _joined(part) not in given:
                return " ".join(part)
    return ""


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _joined(tokens: Sequence[str]) -> str:
    return " " + " ".join(tokens) + " "
