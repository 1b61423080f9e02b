"""What a form of question is: the file that is handed in, and the program that it stands for.

A form whose answers are text makes a program of them: functions that give the numbers, or compute
the formulas, that were written.  From there on it is graded, explained and audited as any program
is, in a worker, against the reference and the misconceptions.  The text itself is data: read here,
letter by letter, and never run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from grader.model.question import Question
from grader.model.spec import Spec

Path = tuple[str | int, ...]


class Unreadable(Exception):
    """A file that is not what the form asks for: a sentence, and where in the file it is."""

    def __init__(self, sentence: str, line: int = 0, column: int = 0, text: str = "") -> None:
        """Note the place: `line` and `column` from 1, 0 where there is none; `text` of the line."""
        super().__init__(sentence)
        self.sentence, self.line, self.column, self.text = sentence, line, column, text


@dataclass(frozen=True, slots=True)
class Material:
    """Something that a candidate is shown besides the prompt and the contract."""

    heading: str
    text: str = ""  # its lines as they are
    language: str = ""  # of the text, for a Markdown reader
    rows: tuple[tuple[str, str], ...] = ()  # instead: names, and a sentence on each


class Form:
    """A form of question."""

    file: ClassVar[str] = "answers.txt"  # that the candidate edits
    is_text: ClassVar[bool] = True  # whether what is handed in is answers, and no code
    apart: ClassVar[bool] = False  # whether a submission never shares a process with the driver
    shows_expected: ClassVar[bool] = False  # of an estimate, once it is graded
    one_try: ClassVar[bool] = False  # whether the first that is graded counts, and no other

    def starter(self, spec: Spec) -> bytes:
        """The file that a candidate begins with; empty where the question brings it."""
        raise NotImplementedError

    def reference(self, spec: Spec) -> bytes:  # noqa: ARG002
        """The right solution, where the spec says it all; else empty: the question brings it."""
        return b""

    def materials(self, spec: Spec) -> Iterator[Material]:
        """What is shown besides: what is asked for by name, unless the form has something else."""
        if spec.answers:
            units = {name: f" (in {a.unit})" * (a.unit != "1") for name, a in spec.answers.items()}
            rows = ((name, f"{a.ask.strip()}{units[name]}") for name, a in spec.answers.items())
            yield Material("Answers", rows=tuple(rows))

    def program(self, text: bytes, question: Question) -> bytes:
        """The program that a file stands for; it lacks functions of which nothing is answered.

        Raises:
            Unreadable: it is not what is asked for.
        """
        raise NotImplementedError

    def asked_by(self, function: str, question: Question) -> list[str]:  # noqa: ARG002
        """The answers, as the file calls them, without which a program has not a function."""
        return [function]

    def faults(self, spec: Spec) -> Iterator[tuple[Path, str]]:
        """What is wrong with the keys of a spec of this form: paths of keys, and sentences."""
        raise NotImplementedError
