"""A mutant, a small change of a reference; and how far other inputs are from a question's cases."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Mutant:
    """One small change of a program: bytes `start` to `end` of its text become `text`."""

    scope: str  # "SwiGLUFn.backward", "module"; of an accepted solution "accepted/loops.pool"
    line: int
    rule: str  # "dropped term"
    was: str  # the statement, written as `ast.unparse` writes it
    becomes: str
    start: int
    end: int
    text: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What names a mutant, whatever line it stands in and however the source is laid out."""
        return mutant_key(self.scope, self.was, self.becomes)

    @property
    def rank(self) -> bytes:
        """A number drawn from the key: the order in which a sample takes mutants."""
        return hashlib.sha256("\0".join((*self.key, str(self.line))).encode()).digest()

    @property
    def accepted_solution(self) -> str:
        """The name of the accepted solution that it changes; empty for the reference."""
        found = re.match(r"accepted/([\w-]+)\.", self.scope)
        return found[1] if found else ""

    def mutated_source(self, original: bytes) -> bytes:
        """The whole mutated text."""
        plain = normalize_source(original)
        return plain[: self.start] + self.text.encode() + plain[self.end :]


def mutant_key(scope: str, was: str, becomes: str) -> tuple[str, str, str]:
    """A key whose white space does not matter."""
    return " ".join(scope.split()), " ".join(was.split()), " ".join(becomes.split())


def normalize_source(source: bytes) -> bytes:
    """A source without byte order mark, its lines ended by a newline each."""
    return source.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")


class Reach(StrEnum):
    """How far from the question's own cases an input was found."""

    SAME = "another draw of the case"
    VALUES = "the case with small whole numbers"
    SIZES = "the case in other sizes, dtypes or layouts"
    NUMBERS = "the case with other numbers"
