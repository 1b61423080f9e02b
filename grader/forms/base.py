"""What a form of question is: the file that is handed in, and the program that it stands for.

A form whose answers are text makes a program of them: functions that give the numbers, or compute
the formulas, that were written.  From there on it is graded, explained and audited as any program
is, in a worker, against the reference and the misconceptions.  The text itself is data: read here,
letter by letter, and never run.  It has lines `name = value`, each name once; `#` begins a comment.
What cannot be read refuses the whole file, which a candidate can mend; in a class, where nobody can
any more, it is an answer not given.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from textwrap import wrap
from typing import ClassVar

from grader.model.errors import did_you_mean
from grader.model.limits import MAX_ANSWER_BYTES
from grader.model.number_format import join_words
from grader.model.question import Question
from grader.model.spec import Answer, KeyPath, Spec

MAX_MESSAGE_LENGTH = 240  # characters of what is said of a line
MAX_LISTED_ERRORS = 6  # that are said of a file
OPEN_VALUES = {"", "?"}  # values that stand for no answer yet
_SPARE = "*_`$\"' \t"  # marks of Markdown, quotes and spaces
_UNLIKE = re.compile(r"[\W_]")  # signs that make no difference between names
_BULLET = re.compile(
    r"\s*(?:(?:[-*+>\u2022\u25cf\u2013]|\(?(?:\d{1,2}|[A-Za-z])[.)])\s*)*(?:lines?\s+(?=\d))?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r":?=+>?|:|[-~]>|[~\u2248\u223c\u2192\u21d2]")  # a name and its value
# A name before a word: `line 13 - wrong count`, `13) wrong count`.
_BEFORE_WORD = re.compile(
    r"\W*(?:\d+[.)]\s+(?=\d|line))?(?:lines?\s+)?(\w+)[\s.)*\u2013\u2014-]+([A-Z].*)",
    re.IGNORECASE,
)


class UnreadableAnswer(Exception):
    """A file that is not what the form asks for: a sentence, and where in the file it is."""

    def __init__(self, sentence: str, line: int = 0, column: int = 0, text: str = "") -> None:
        """Note the place: `line` and `column` from 1, 0 where there is none; `text` of the line.

        A sentence that quotes something endless is cut in the middle.
        """
        if len(sentence) > MAX_MESSAGE_LENGTH:
            sentence = f"{sentence[:40]}...{sentence[-100:]}"
        super().__init__(sentence)
        self.sentence, self.line, self.column, self.text = sentence, line, column, text
        self.lines = ((line, text),) * bool(line)  # those to show


UnreadLines = (
    list[UnreadableAnswer] | None
)  # where what cannot be read is added, instead of being raised


def raise_or_collect(faults: Sequence[UnreadableAnswer], unread: UnreadLines = None) -> None:
    """Raise what was found, all of it at once; or, where there is a list of it, add it to that."""
    if unread is not None:
        unread += faults
        return
    if len(faults) > 1:
        places = (f"line {fault.line}: " if fault.line else "" for fault in faults)
        more = (
            f"; and {len(faults) - MAX_LISTED_ERRORS} more"
            if len(faults) > MAX_LISTED_ERRORS
            else ""
        )
        shown = zip(places, faults[:MAX_LISTED_ERRORS], strict=False)
        together = UnreadableAnswer("")
        together.sentence = "; ".join(f"{place}{one.sentence}" for place, one in shown) + more
        together.lines = tuple(line for one in faults[:MAX_LISTED_ERRORS] for line in one.lines)
        raise together
    for fault in faults:
        raise fault


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
    runs_in_two_processes: ClassVar[bool] = (
        False  # whether a submission never shares a process with the driver
    )
    shows_expected: ClassVar[bool] = False  # of an estimate, once it is graded
    allows_one_try: ClassVar[bool] = False  # whether the first that is graded counts, and no other

    def starter(self, spec: Spec) -> bytes:  # noqa: ARG002
        """The file that a candidate begins with; empty where the question brings it."""
        return b""

    def reference(self, spec: Spec) -> bytes:  # noqa: ARG002
        """The right solution, where the spec says it all; else empty: the question brings it."""
        return b""

    def materials(self, spec: Spec) -> Iterator[Material]:
        """What is shown besides: what is asked for by name, unless the form has something else."""
        if spec.answers:
            units = {name: f" (in {a.unit})" * (a.unit != "1") for name, a in spec.answers.items()}
            rows = ((name, f"{a.ask.strip()}{units[name]}") for name, a in spec.answers.items())
            yield Material("Answers", rows=tuple(rows))

    def program(
        self,
        text: bytes,
        question: Question,  # noqa: ARG002
        unread: UnreadLines = None,  # noqa: ARG002
        *,
        literal: bool = False,  # noqa: ARG002
    ) -> bytes:
        """The program that a file stands for; it lacks functions of which nothing is answered.

        With a list, what is `unread` is added to it, and counts as an answer not given.
        `literal` forgives nothing: a line is `name = value`, a number as docs/forms.md has it.

        Raises:
            Unreadable: it is not what is asked for.
        """
        return text

    def answers_for_function(self, function: str, question: Question) -> list[str]:  # noqa: ARG002
        """The answers, as the file calls them, without which a program has not a function."""
        return [function]

    def spec_errors(self, spec: Spec) -> Iterator[tuple[KeyPath, str]]:
        """What is wrong with the keys of a spec: paths of keys, and sentences."""
        if not spec.answers:
            yield ("form",), f"expected answers, which a question to {spec.form} asks for"
        if len(spec.parts) > 1:
            found = f"found {len(spec.parts)}"
            yield ("parts",), f"expected one, which an answers file is about, {found}"


# -- files of answers -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """What was written for one answer."""

    value: str  # without comment and spaces around it
    line: int
    column: int  # of the value, from 1
    text: str  # of the line

    @contextmanager
    def collect_errors(self, said: str = "", *, faults: list[UnreadableAnswer]) -> Iterator[None]:
        """Add what is unreadable in the value, where `column` counts from 0, with its place."""
        try:
            yield
        except UnreadableAnswer as wrong:
            at = self.column + wrong.column
            faults.append(UnreadableAnswer(f"{said}{wrong.sentence}", self.line, at, self.text))


def read_answers(
    text: bytes, names: Collection[str], *, needed: Collection[str] = (), expected: str = "",
    unread: UnreadLines = None, literal: bool = False, words: Collection[str] = (),
) -> dict[str, WrittenAnswer]:  # fmt: skip
    """The answers that are given, by name; an open one is left out.

    All names are needed, if it is not said which; `expected` says what a line is.
    With a list of what is `unread`, none is needed, and nothing is raised but of the whole file.
    A dash or a space may stand for the = before one of some `words`.

    Raises:
        Unreadable: the file is no such text, or a name is missing, unknown or there twice.
    """
    if len(text) > MAX_ANSWER_BYTES:
        raise UnreadableAnswer(
            f"the file has {len(text):,} bytes, at most {MAX_ANSWER_BYTES:,} are read"
        )
    expected = expected or f"NAME = VALUE (names: {join_words(names, 4)})"
    found: dict[str, WrittenAnswer] = {}
    faults: list[UnreadableAnswer] = []
    twice = set[str]()
    for number, line in enumerate(answer_lines(text), 1):
        said = line.partition("#")[0]
        left, equals, right = _parted(said, literal=literal, words=words)
        name, value, wrong = "".join(left.split()), right.strip(), ""
        if not literal:
            name, value = named(name, names), value.lstrip(_SPARE).rstrip(f"{_SPARE}.,;")
        if not name and not equals:
            continue
        if "\ufffd" in said:  # which stands for bytes that are no letter
            wrong = "its letters are not UTF-8; save the file as UTF-8"
        elif not equals or name not in names:
            shown = " ".join(said.split())[:40]
            near = "" if name.isdigit() else did_you_mean(name, names)
            wrong = f"expected {expected}, found {shown!r}{near}"
        elif name in found and value in {*OPEN_VALUES, found[name].value}:
            continue
        elif name in found and found[name].value not in OPEN_VALUES:
            wrong = f"{name} stands in line {found[name].line} already; keep one"
            twice.add(name)  # and nobody knows which one is meant
        if wrong:
            faults.append(UnreadableAnswer(wrong, number, 1, line))
            continue
        column = len(said) - len(right) + right.find(value) + 1
        found[name] = WrittenAnswer(value, number, column, line)
    # A name that is misspelled is not missing as well.
    lacking = [name for name in needed or names if name not in found]
    if lacking and not faults and unread is None:
        name = lacking[0] if len(lacking) == 1 else "NAME"
        faults.append(UnreadableAnswer(f"{open_answers_text(lacking)}; write {name} = ..."))
    raise_or_collect(faults, unread)
    return {n: one for n, one in found.items() if n not in twice and one.value not in OPEN_VALUES}


def _parted(line: str, *, literal: bool, words: Collection[str]) -> tuple[str, str, str]:
    """Split a line into a name, what stands between, and the value, without a bullet."""
    if literal:
        return line.partition("=" if "=" in line else ":")
    bullet = _BULLET.match(line)
    start = bullet.end() if bullet else 0
    found = _BETWEEN.search(line, start)
    if found:
        return line[start : found.start()], found[0], line[found.end() :]
    before = _BEFORE_WORD.match(line)
    if before and as_word(before[2], words) in words:
        return before[1], "=", before[2]
    return line[start:], "", ""


def named(name: str, names: Collection[str]) -> str:
    """Return the name that is meant: capitals and marks make no difference."""
    if name in names:
        return name
    alike = [n for n in names if _UNLIKE.sub("", n.lower()) == _UNLIKE.sub("", name.lower())]
    return alike[0] if len(alike) == 1 else name.strip(_SPARE)


def as_word(value: str, words: Collection[str]) -> str:
    """Return the word that is meant by a value, without a remark in parentheses."""
    return named(value.partition("(")[0].strip().lower(), words)


def answer_lines(text: bytes) -> list[str]:
    """The lines of a file of answers: of UTF-8, or of UTF-16 as some editors write it."""
    is_16 = text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return text.decode("utf-16" if is_16 else "utf-8-sig", "replace").splitlines()


def open_answers_text(names: Sequence[str]) -> str:
    """Which answers are open, at least one: "a, b and c have no answer yet"."""
    return f"{join_words(names)} {'has' if len(names) == 1 else 'have'} no answer yet"


def comment_lines(text: str, indent: str = "") -> list[str]:
    """A sentence as comments of 80 columns, in which nothing acts on a terminal."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(text.split()))
    return wrap(shown, 80, initial_indent="# ", subsequent_indent=f"# {indent}")


def answer_template(asked: Mapping[str, Answer], rules: Sequence[str] = ()) -> bytes:
    """The file to begin with: rules and what is asked as comments, every answer open."""
    lines = ["# Write your answers behind the =; what follows a # is not read."]
    lines += [line for rule in rules for line in comment_lines(rule)]
    for name, one in asked.items():
        said = one.ask if one.unit == "1" else f"{one.ask} (in {one.unit})"
        lines += ["", *comment_lines(said), f"{name} = ?"]
    return ("\n".join(lines) + "\n").encode()
