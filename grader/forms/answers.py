"""A file of answers: lines `name = value`, `#` begins a comment, each name once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from grader.forms.base import Path, Unreadable
from grader.model.errors import did_you_mean
from grader.model.spec import Answer, Spec

MOST_BYTES = 64 << 10
OPEN = {"", "?"}  # values that stand for no answer yet


@dataclass(frozen=True, slots=True)
class Given:
    """What was written for one answer."""

    value: str  # without comment and spaces around it
    line: int
    column: int  # of the value, from 1
    text: str  # of the line

    def wrong(self, sentence: str, at: int = 0) -> Unreadable:
        """A complaint about a place in the value, counted from 0."""
        return Unreadable(sentence, self.line, self.column + at, self.text)


def read(
    text: bytes, names: Collection[str], *, needed: Collection[str] | None = None, unknown: str = ""
) -> dict[str, Given]:
    """The answers that are given, by name; an open one is left out.

    Args:
        text: of the file.
        names: that answers may have.
        needed: those that have to be there; all if not given.
        unknown: what is said of a number that is none of the names.

    Raises:
        Unreadable: the file is no such text, or a name is missing, unknown or there twice.
    """
    if len(text) > MOST_BYTES:
        raise Unreadable(f"the file has {len(text):,} bytes, at most {MOST_BYTES:,} are read")
    try:
        lines = text.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        wrong = f"byte {text[error.start]:#04x} at offset {error.start} is not UTF-8"
        raise Unreadable(f"{wrong}; save the file as UTF-8") from None
    found: dict[str, Given] = {}
    for number, line in enumerate(lines, 1):
        before = line.partition("#")[0]
        if not before.strip():
            continue
        left, equals, right = before.partition("=")
        name = "".join(left.split())
        if not equals:
            raise Unreadable("expected NAME = VALUE, found no =", number, 1, line)
        if name not in names:
            if unknown and name.isdigit():
                raise Unreadable(unknown, number, 1, line)
            near = did_you_mean(name, list(names))
            raise Unreadable(f"{name[:60]} is not asked for{near}", number, 1, line)
        if name in found:
            there = f"{name} stands in line {found[name].line} already; keep one"
            raise Unreadable(there, number, 1, line)
        column = len(left) + 2 + len(right) - len(right.lstrip())
        found[name] = Given(right.strip(), number, column, line)
    for name in names if needed is None else needed:
        if name not in found:
            raise Unreadable(f"{name} has no answer yet; write {name} = ...")
    return {name: given for name, given in found.items() if given.value not in OPEN}


def template(asked: Mapping[str, Answer], unit: Mapping[str, str]) -> bytes:
    """The file that a candidate begins with: what is asked as comments, and every answer open.

    Args:
        asked: the answers by their names in the file.
        unit: by name, what is said of the form of a value; may lack some.
    """
    lines = ["# Write your answers behind the =; what follows a # is not read."]
    for name, one in asked.items():
        said = " ".join(one.ask.split())
        lines += ["", f"# {said}" + (f" ({unit[name]})" if unit.get(name) else ""), f"{name} = ?"]
    return ("\n".join(lines) + "\n").encode()


def faults(spec: Spec) -> Iterator[tuple[Path, str]]:
    """What is wrong in any form of which the answers are text."""
    if not spec.answers:
        yield ("form",), f"form: expected answers, which a question to {spec.form} asks for"
    if len(spec.parts) > 1:
        found = f"found {len(spec.parts)}"
        yield ("parts",), f"parts: expected one, which an answers file is about, {found}"
