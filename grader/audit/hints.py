"""Does a hint give the answer away too soon?

Every hint but the last is held against the reference, both as text: a run of tokens that they
share, or a name that only the reference uses, says what to type.  What the candidate has been
given anyway (the text, the starter) gives nothing away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from grader.audit.wording import stated
from grader.model.audit import Remark

if TYPE_CHECKING:
    from grader.model.question import Question

LONG = 6  # tokens shared in a row that are no accident, if enough of them are signs
SIGNS = 2  # of them that are operators or brackets: prose has hardly any
COMMON = {"dtype", "shape", "ndim", "size", "nbytes", "itemsize", "astype", "copy"}  # of any array
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?|\*\*|//|->|[-+*/@=<>!]=|<<|>>|[^\w\s]")
_PROSE = re.compile(r"\"\"\".*?\"\"\"|'''.*?'''|#[^\n]*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_PUNCTUATION = set(".,;:!?'\"`")


def remarks(question: Question) -> list[Remark]:
    """The hints, the last left out, that hold code or a name of the reference."""
    reference = _code(question.reference)
    given = stated(question) + "\n" + question.starter.decode("utf-8", "replace")
    found = []
    for number, hint in enumerate(question.spec.hints[:-1], 1):
        shared = _longest(hint, reference, given) or next(_names(hint, reference, given), "")
        if shared:
            found.append(
                Remark(
                    "hints",
                    f"hint {number} of {len(question.spec.hints)} holds {shared} of the reference: "
                    "only the last may give the answer away; ask a question instead",
                )
            )
    return found


def _code(source: bytes) -> str:
    """A source without what it says in prose."""
    return _PROSE.sub(" ", source.decode("utf-8", "replace"))


def _longest(hint: str, reference: str, given: str) -> str:
    """The longest run of tokens in a hint that is code of the reference and of nothing given."""
    code, known = _joined(_tokens(reference)), _joined(_tokens(given))
    tokens = _tokens(hint)
    for length in range(len(tokens), LONG - 1, -1):
        for start in range(len(tokens) - length + 1):
            part = tokens[start : start + length]
            signs = sum(not t[0].isalnum() and t[0] != "_" for t in part)
            signs -= sum(t in _PUNCTUATION for t in part)
            if signs >= SIGNS and _joined(part) in code and _joined(part) not in known:
                return " ".join(part)
    return ""


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _joined(tokens: Sequence[str]) -> str:
    return " " + " ".join(tokens) + " "


def _names(hint: str, reference: str, given: str) -> Iterator[str]:
    """Names in a hint that look like code and that only the reference uses."""
    code, known = set(_NAME.findall(reference)), set(_NAME.findall(given))
    last = {name.rsplit(".", 1)[-1] for name in code}
    for name in _NAME.findall(hint):
        own = name.rsplit(".", 1)[-1]
        like_code = "_" in own or "." in name or any(c.isdigit() for c in own)
        telling = len(own) > 3 and own not in COMMON  # x1 is notation
        if like_code and telling and own in last and name not in known and own not in known:
            yield name
