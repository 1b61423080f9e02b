"""Mutants: programs with one small change, with which an audit tests the checks of a question."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Mutant:
    """A program with one small change."""

    scope: str  # "SwiGLUFn.backward", "module"; of an accepted solution "accepted/loops.pool"
    line: int
    rule: str  # "dropped term"
    was: str  # the statement, written as `ast.unparse` writes it
    becomes: str
    source: bytes  # of the whole program

    @property
    def key(self) -> tuple[str, str, str]:
        """Return the identity of a mutant, independent of its line and of white space."""
        return mutant_key(self.scope, self.was, self.becomes)

    @property
    def rank(self) -> bytes:
        """Return a hash of key and line.  A sample takes the mutants with the smallest hashes."""
        return hashlib.sha256("\0".join((*self.key, str(self.line))).encode()).digest()

    @property
    def accepted_solution(self) -> str:
        """Return the accepted solution that it changes, as "loops"; empty for the reference."""
        scope = re.match(r"accepted/([\w-]+)\.", self.scope)
        return scope[1] if scope else ""


def mutant_key(scope: str, was: str, becomes: str) -> tuple[str, str, str]:
    """Return the identity of a mutant: its scope, old and new code, each with single spaces."""
    return " ".join(scope.split()), " ".join(was.split()), " ".join(becomes.split())


class Reach(StrEnum):
    """How far an input on which a mutant is wrong is from the cases of the question."""

    SAME = "another draw of the case"
    VALUES = "the case with small whole numbers"
    SIZES = "the case in other sizes, dtypes or layouts"
    NUMBERS = "the case with other numbers"
