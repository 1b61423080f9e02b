"""Forms of questions: the file that a candidate edits, and the program that is made from it.

A text form turns answers into a program: functions that return the written numbers, or compute the
written formulas.  That program is graded, explained and audited like any other, in a worker,
against the reference and the ideas.  The text itself is data: it is read here and never run.  It
has lines `name = value`, each name once; `#` begins a comment.

If a line cannot be read, the whole file is refused, because the candidate can fix it.  In a class
nobody can.  There such a line counts as an answer that was not given.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from textwrap import wrap
from typing import ClassVar

from grader.model.errors import SpecErrors, did_you_mean
from grader.model.limits import MAX_ANSWER_BYTES
from grader.model.number_format import join_words
from grader.model.question import Question
from grader.model.report import NO_ANSWER_YET
from grader.model.spec import Answer, Spec

MAX_MESSAGE_LENGTH = 240  # characters of the sentence about one line
MAX_LISTED_ERRORS = 6  # of one file
OPEN_VALUES = {"", "?"}  # values of an answer that is not given yet
_SPARE = "*_`$\"' \t"  # marks of Markdown, quotes and spaces
_SIGNS_IN_NAME = re.compile(r"[\W_]")  # that make no difference between names
_BULLET = re.compile(
    r"\s*(?:(?:[-*+>\u2022\u25cf\u2013]|\(?(?:\d{1,2}|[A-Za-z])[.)])\s*)*(?:lines?\s+(?=\d))?",
    re.IGNORECASE,
)
_EQUALS = re.compile(r":?=+>?|:|[-~]>|[~\u2248\u223c\u2192\u21d2]")  # between name and value
# A name before a word: `line 13 - wrong count`, `13) wrong count`.
_NAME_AND_WORD = re.compile(
    r"\W*(?:\d+[.)]\s+(?=\d|line))?(?:lines?\s+)?(\w+)[\s.)*\u2013\u2014-]+([A-Z].*)",
    re.IGNORECASE,
)


class UnreadableAnswer(Exception):
    """Raised for text that a form cannot read: a sentence on why, and the place in the file."""

    def __init__(self, sentence: str, line: int = 0, column: int = 0, text: str = "") -> None:
        """Store the place: `line` and `column` from 1, 0 if unknown, and the `text` of the line.

        A long sentence, which quotes something endless, is cut in the middle.
        """
        if len(sentence) > MAX_MESSAGE_LENGTH:
            sentence = f"{sentence[:40]}...{sentence[-100:]}"
        super().__init__(sentence)
        self.sentence = sentence
        self.line = line
        self.column = column
        self.text = text
        self.lines: tuple[tuple[int, str], ...] = ((line, text),) if line else ()  # to show


# A list to which the errors of lines are added; if None, they are raised.
UnreadLines = list[UnreadableAnswer] | None


def raise_or_collect(faults: Sequence[UnreadableAnswer], unread: UnreadLines = None) -> None:
    """Raise the faults, if any, as one; if `unread` is a list, add them to it instead."""
    if unread is not None:
        unread += faults
    elif len(faults) == 1:
        raise faults[0]
    elif faults:
        raise _joined(faults)


def _joined(faults: Sequence[UnreadableAnswer]) -> UnreadableAnswer:
    """Join faults in one: sentences and lines of the first six, and a count of the rest."""
    listed = faults[:MAX_LISTED_ERRORS]
    sentences = [
        f"line {fault.line}: {fault.sentence}" if fault.line else fault.sentence for fault in listed
    ]
    joined = UnreadableAnswer("")
    joined.sentence = "; ".join(sentences)
    if len(faults) > len(listed):
        joined.sentence += f"; and {len(faults) - len(listed)} more"
    joined.lines = tuple(line for fault in listed for line in fault.lines)
    return joined


@dataclass(frozen=True, slots=True)
class Material:
    """A text or table that a candidate sees next to the prompt, as the diff of a review."""

    heading: str
    text: str = ""  # its lines as they are
    language: str = ""  # of the text, for a Markdown reader
    rows: tuple[tuple[str, str], ...] = ()  # a table instead of a text: names and sentences


class Form:
    """A form of question: the file that a candidate edits, and how it becomes a program.

    These are the defaults, which each form overrides where it differs.
    """

    file: ClassVar[str] = "answers.txt"  # name of the file that the candidate edits
    is_text: ClassVar[bool] = True  # the submission is answers, not code
    # The submission never shares a process with the driver (a question's driver.py).
    runs_in_two_processes: ClassVar[bool] = False
    shows_expected: ClassVar[bool] = False  # a grade shows the right numbers
    allows_one_try: ClassVar[bool] = False  # only the first grade counts

    def starter(self, spec: Spec) -> bytes:  # noqa: ARG002
        """Return the file that a candidate begins with; empty if the bank has a starter.py."""
        return b""

    def reference(self, spec: Spec) -> bytes:  # noqa: ARG002
        """Return the right solution as a program; empty if the bank has a reference.py."""
        return b""

    def materials(self, spec: Spec) -> Iterator[Material]:
        """Yield the tables and texts to show: by default, the requested answers."""
        if spec.answers:
            rows = tuple((name, _question_text(answer)) for name, answer in spec.answers.items())
            yield Material("Answers", rows=rows)

    def program(
        self,
        text: bytes,
        question: Question,  # noqa: ARG002
        unread: UnreadLines = None,  # noqa: ARG002
        *,
        literal: bool = False,  # noqa: ARG002
    ) -> bytes:
        """Return the program made from a file: by default, the file itself.

        A text form leaves out a function if all its answers are open (not given yet).

        Args:
            text: The file.
            question: The question.
            unread: If a list, errors of lines are added to it instead of raised; such a line
                counts as an answer that was not given.
            literal: Refuse remarks, bullets and misspelled names; see `--strict-text` in
                docs/forms.md.

        Raises:
            UnreadableAnswer: the file does not have the form.
        """
        return text

    def answers_for_function(self, function: str, question: Question) -> list[str]:  # noqa: ARG002
        """Return the names of the answers that a function is made from, as the file has them."""
        return [function]

    def spec_errors(self, spec: Spec) -> SpecErrors:
        """Yield each fault that this form finds in a spec: the path of a key, and a sentence."""
        if not spec.answers:
            yield ("form",), f"expected answers, which a question to {spec.form} asks for"
        if len(spec.parts) > 1:
            text = f"expected one, which an answers file is about, found {len(spec.parts)}"
            yield ("parts",), text


# -- files of answers -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """One answer in a file: its value as text, and its place."""

    value: str  # without comment and spaces around it
    line: int
    column: int  # of the value, from 1
    text: str  # of the line

    @contextmanager
    def collect_errors(self, prefix: str = "", *, faults: list[UnreadableAnswer]) -> Iterator[None]:
        """Catch an `UnreadableAnswer` of the `with` block; add it to `faults`, with its place.

        The caught error's column counts from 0 at the start of the value.  `prefix` goes before
        its sentence.
        """
        try:
            yield
        except UnreadableAnswer as error:
            column = self.column + error.column
            sentence = f"{prefix}{error.sentence}"
            faults.append(UnreadableAnswer(sentence, self.line, column, self.text))


def read_answers(
    text: bytes,
    names: Collection[str],
    *,
    needed: Collection[str] = (),
    expected: str = "",
    unread: UnreadLines = None,
    literal: bool = False,
    words: Collection[str] = (),
) -> dict[str, WrittenAnswer]:
    """Return the answers in a file by name, without open ones and those with two values.

    Args:
        text: The file.
        names: The names that an answer may have.
        needed: Names that must have a line, maybe an open one (default: all).
        expected: The form of a line, for messages (default: `NAME = VALUE` with the names).
        unread: If a list, errors of lines are added to it instead of raised, and no name is needed.
        literal: Refuse lines that are not exactly `name = value` (or `name: value`).
        words: Before one of these, a dash or a space may replace the =: `13 - off-by-one`.

    Raises:
        UnreadableAnswer: the file is too long; or, without `unread`, a line cannot be read, or a
            name is missing, unknown or has two values.
    """
    if len(text) > MAX_ANSWER_BYTES:
        raise UnreadableAnswer(
            f"the file has {len(text):,} bytes, at most {MAX_ANSWER_BYTES:,} are read"
        )
    expected = expected or f"NAME = VALUE (names: {join_words(names, 4)})"
    reader = _LineReader(names, expected, words, literal)
    for number, line in enumerate(answer_lines(text), 1):
        reader.read(number, line)
    # If there are faults, a missing name is not reported: it may be misspelled in one of them.
    missing = [name for name in needed or names if name not in reader.answers]
    if missing and not reader.faults and unread is None:
        name = missing[0] if len(missing) == 1 else "NAME"
        reader.faults.append(UnreadableAnswer(f"{open_answers_text(missing)}; write {name} = ..."))
    raise_or_collect(reader.faults, unread)
    return {
        name: answer
        for name, answer in reader.answers.items()
        if name not in reader.repeated and answer.value not in OPEN_VALUES
    }


@dataclass
class _LineReader:
    """Reads a file line by line, and collects answers and faults."""

    names: Collection[str]
    expected: str
    words: Collection[str]
    literal: bool
    answers: dict[str, WrittenAnswer] = field(default_factory=dict)
    faults: list[UnreadableAnswer] = field(default_factory=list)
    # Names with two values: nobody knows which is right.
    repeated: set[str] = field(default_factory=set)

    def read(self, number: int, line: str) -> None:
        """Add the answer of a line or its fault; a blank line adds neither.

        A name with two values is a fault; the same value again, or an open one, adds nothing.
        """
        content = line.partition("#")[0]
        left, equals, right = self._split(content)
        name = "".join(left.split())
        value = right.strip()
        if not self.literal:
            name = _intended_name(name, self.names)
            value = value.lstrip(_SPARE).rstrip(f"{_SPARE}.,;")
        if not name and not equals:
            return
        earlier = self.answers.get(name)
        if "\ufffd" in content:  # stands for bytes that are not UTF-8
            fault = "its letters are not UTF-8; save the file as UTF-8"
        elif not equals or name not in self.names:
            near = "" if name.isdigit() else did_you_mean(name, self.names)
            shortened = " ".join(content.split())[:40]
            fault = f"expected {self.expected}, found {shortened!r}{near}"
        elif earlier and value in {*OPEN_VALUES, earlier.value}:
            return
        elif earlier and earlier.value not in OPEN_VALUES:
            fault = f"{name} stands in line {earlier.line} already; keep one"
            self.repeated.add(name)
        else:
            column = len(content) - len(right) + right.find(value) + 1
            self.answers[name] = WrittenAnswer(value, number, column, line)
            return
        self.faults.append(UnreadableAnswer(fault, number, 1, line))

    def _split(self, content: str) -> tuple[str, str, str]:
        """Split a line into name, sign and value, without a bullet; without a sign all is name."""
        if self.literal:
            return content.partition("=" if "=" in content else ":")
        bullet = _BULLET.match(content)
        start = bullet.end() if bullet else 0
        if equals := _EQUALS.search(content, start):
            return content[start : equals.start()], equals[0], content[equals.end() :]
        pair = _NAME_AND_WORD.match(content)
        if pair and intended_word(pair[2], self.words) in self.words:
            return pair[1], "=", pair[2]
        return content[start:], "", ""


def _intended_name(written: str, names: Collection[str]) -> str:
    """Return the name that a text means, ignoring case and punctuation, or the text if unclear."""
    if written in names:
        return written
    letters = _SIGNS_IN_NAME.sub("", written.lower())
    alike = [name for name in names if _SIGNS_IN_NAME.sub("", name.lower()) == letters]
    return alike[0] if len(alike) == 1 else written.strip(_SPARE)


def intended_word(value: str, words: Collection[str]) -> str:
    """Return the word that a value means, as `yes` for `Yes (mostly)`; an unknown value stays."""
    return _intended_name(value.partition("(")[0].strip().lower(), words)


def answer_lines(text: bytes) -> list[str]:
    """Decode a file in UTF-8, or UTF-16 with its mark, to lines; a bad byte becomes U+FFFD."""
    is_utf_16 = text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return text.decode("utf-16" if is_utf_16 else "utf-8-sig", "replace").splitlines()


def open_answers_text(names: Sequence[str]) -> str:
    """Return the sentence on open answers: "a, b and c have no answer yet"."""
    return f"{join_words(names)} {'has' if len(names) == 1 else 'have'} {NO_ANSWER_YET}"


def comment_lines(text: str, indent: str = "") -> list[str]:
    """Wrap a sentence to comment lines of 80 columns; control characters are escaped.

    `indent` begins each line but the first.
    """
    sentence = " ".join(text.split())
    printable = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in sentence)
    return wrap(printable, 80, initial_indent="# ", subsequent_indent=f"# {indent}")


def answer_template(answers: Mapping[str, Answer], rules: Sequence[str]) -> bytes:
    """Return the file to begin with: rules and questions as comments, each answer `name = ?`."""
    lines = ["# Write your answers behind the =; what follows a # is not read."]
    for rule in rules:
        lines += comment_lines(rule)
    for name, answer in answers.items():
        lines += ["", *comment_lines(_question_text(answer)), f"{name} = ?"]
    return ("\n".join(lines) + "\n").encode()


def _question_text(answer: Answer) -> str:
    """Return the question of an answer, with the unit if it has one."""
    ask = answer.ask.strip()
    return ask if answer.unit == "1" else f"{ask} (in {answer.unit})"
