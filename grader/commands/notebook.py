"""A question in a notebook: read it, grade what a cell defines, ask for a hint.

Nothing is recorded here, and no grade counts as an attempt: that is what `drill start` is for.
"""

from __future__ import annotations

import inspect
import io
import linecache
import re
import sys
import textwrap
import tokenize
import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from grader import forms
from grader.commands.context import choose_seed, require_torch
from grader.commands.files import read_submission
from grader.explain.session import GradingSession
from grader.grading.session import GradeOptions
from grader.model.errors import UsageError
from grader.model.question import Question
from grader.model.report import Report
from grader.reports import html
from grader.reports.blocks import (
    BlankLine,
    Block,
    Item,
    Paragraph,
    render_markdown,
    render_terminal,
)
from grader.reports.grade import GradeContext, derivation_blocks
from grader.reports.grade import grade_page as grade_page
from grader.reports.json import without_expected_values
from grader.reports.question import question_blocks
from grader.reports.question import question_page as part_page
from grader.reports.text_layout import WIDEST, without_styles
from grader.sandbox import Closeable

_NAME = "notebook"  # of a file that is none
_SOURCES = (FunctionType, type)
_CONSTANTS = (bool, int, str)


class NotebookPage:
    """Blocks that a notebook shows as HTML, and anything else as text."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._all = tuple(blocks)

    def _blocks(self) -> Sequence[Block]:
        return self._all

    def __repr__(self) -> str:
        lines = (without_styles(line).rstrip() for line in render_terminal(self._blocks(), WIDEST))
        return "\n".join(lines).replace("\xa0", " ")

    def _repr_html_(self) -> str:
        return html.html_fragment(self._blocks())

    def _repr_markdown_(self) -> str:
        return render_markdown(self._blocks())


class NotebookGrade(NotebookPage):
    """What came of a grade: all that its report has, shown as the page of it."""

    def __init__(self, report: Report, around: GradeContext) -> None:
        super().__init__(grade_page(report, around))
        self.report = without_expected_values(report)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a report has
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.report, name)


class OpenQuestion(NotebookPage, Closeable):
    """A question to read, to try and to be graded at, as often as wanted.

    It shows what is asked so far: part 1, and the next one when a grade passes those before it.
    Processes start with the first grade and stay ready until it is closed, collected or left.
    """

    def __init__(self, question: Question) -> None:
        """Open a question of a bank."""
        self.question = question
        self._asked = 1
        self._hints = 0
        self._passed = b""  # the file that passed the part before
        self._session: GradingSession | None = None

    def __dir__(self) -> list[str]:
        return ["close", "grade", "hint", "part", "question", "starter"]

    def _blocks(self) -> Sequence[Block]:
        return tuple(question_blocks(self.question, self._asked, alone=True))

    @property
    def starter(self) -> str:
        """The code to fix, or the answers to fill in."""
        return self.question.without_leading_blank_lines(self.question.starter).decode()

    def part(self, number: int) -> NotebookPage:
        """Return one part of the question, asked yet or not."""
        last = len(self.question.spec.parts)
        if not 0 < number <= last:
            raise UsageError(f"part: expected a number from 1 to {last}, found {number}")
        return NotebookPage(part_page(self.question, number, ()))

    def hint(self, number: int | None = None) -> NotebookPage:
        """Return the next hint of the part that is asked now, or hint `number` of it."""
        hints = self.question.spec.parts[self._asked - 1].hints
        one = self._hints + 1 if number is None else number
        if not 0 < one <= len(hints):
            return NotebookPage(
                [Paragraph(f"Part {self._asked} has no hint {one}, only {len(hints)}.")]
            )
        self._hints = max(self._hints, one)
        return NotebookPage([Item(hints[one - 1], str(one))])

    def grade(self, *answer: Any, seed: int | None = None) -> NotebookGrade:  # noqa: ANN401
        """Grade an answer.

        Args:
            answer: The text of a file, its bytes or its Path; or functions and classes, which bring
                along what they use of their notebook; or, where answers are asked for, a dict.
            seed: From which the inputs are drawn; a fresh one when None, which the report has. One
                that draws other numbers than the question shows is refused.

        UsageError where there is no source of it, or torch is needed and not installed.
        """
        require_torch(self.question)
        file, name = self._file(answer)
        seed = choose_seed(self.question, seed)
        if self._session is None:
            self._session = GradingSession(self.question)
            weakref.finalize(self, self._session.close)
        try:
            options = GradeOptions(explain_starter=False, passed_version=self._passed)
            report = self._session.grade(file, seed=seed, filename=name, options=options)
        except KeyboardInterrupt:  # in the middle of what processes say
            self.close()
            raise
        before = self._asked
        parts = len(self.question.spec.parts)
        same = bool(self._passed) and report.unchanged and report.parts_passed == before - 1
        report = replace(report, unchanged=report.unchanged and not same)
        self._asked = max(before, min(report.parts_passed + 1, parts))
        new = self._asked if self._asked > before and report.parts_passed < parts else 0
        self._hints = 0 if new else self._hints
        self._passed = file if new else self._passed
        request = (BlankLine(), *part_page(self.question, new, ())) if new else ()
        written = derivation_blocks(self.question, report, file)
        since = before - 1 if same else 0
        around = GradeContext(
            name, asked_part=new, request=request, answer_blocks=written, unchanged_since=since
        )
        return NotebookGrade(report, around)

    def close(self) -> None:
        """End the processes; the next grade starts others."""
        if self._session:
            self._session.close()
        self._session = None

    def _file(self, answer: tuple[Any, ...]) -> tuple[bytes, str]:
        """The file that an answer is, and its name."""
        form = forms.form_of(self.question.spec)
        match answer:
            case (Path() as path,):
                return read_submission(path), path.name
            case (bytes() as file,):
                return file, _NAME
            case (str() as text,):
                if "\n" not in text and text.endswith((".py", ".txt")):
                    raise UsageError(f"grade: for a file, pass Path({text!r})")
                return text.encode("utf-8", "surrogatepass"), _NAME
            case (Mapping() as answers,) if form.is_text:
                return self._answers(answers), _NAME
        if form.is_text or not answer or not all(isinstance(one, _SOURCES) for one in answer):
            wanted = "a dict of answers" if form.is_text else "functions and classes"
            found = ", ".join(type(one).__name__ for one in answer) or "nothing"
            raise UsageError(f"grade: expected text, bytes, a Path or {wanted}, found {found}")
        return source_text(answer).encode("utf-8", "surrogatepass"), _NAME

    def _answers(self, answers: Mapping[Any, Any]) -> bytes:
        """A file of answers; what is not among them stays open, as the starter has it."""
        lines = dict.fromkeys(re.findall(r"(?m)^(\S+) = \?$", self.starter), "?")
        for name, value in answers.items():
            key = "".join(str(name).split())
            key = next((line for line in lines if line.partition("[")[0] == key), key)
            lines[key] = " ".join(str(value).split())
        return "".join(f"{name} = {value}\n" for name, value in lines.items()).encode()


def source_text(objects: Iterable[Any]) -> str:
    """Return the source of functions and classes, behind what they use of their own module.

    UsageError where the source of one of them cannot be had.
    """
    heads: dict[str, None] = {}
    bodies: dict[int, str] = {}  # by identity; empty while it is looked into

    def add(one: Any) -> None:  # noqa: ANN401
        source = textwrap.dedent(_source(one))
        bodies[id(one)] = ""
        known = vars(sys.modules[one.__module__])
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        names = {token.string for token in tokens if not token.string.startswith("__")}
        for name in sorted(known.keys() & names):
            value = known[name]
            called = getattr(known[name], "__name__", None)
            home = getattr(value, "__module__", None) or type(value).__module__
            if isinstance(value, ModuleType):
                heads[f"import {called} as {name}"] = None
            elif isinstance(value, float):  # infinity, too, and one of numpy's
                heads[f"{name} = float('{float(value)!r}')"] = None
            elif isinstance(value, _CONSTANTS):
                heads[f"{name} = {value!r}"] = None
            elif called and home != one.__module__:
                heads[f"from {home} import {called} as {name}"] = None
            elif isinstance(inspect.unwrap(value), _SOURCES) and id(value) not in bodies:
                with suppress(OSError, TypeError):
                    add(value)
        del bodies[id(one)]
        bodies[id(one)] = source  # behind what it uses

    for one in objects:
        if one.__name__ == "<lambda>":
            raise UsageError("grade: a lambda has no source of its own; write it with def")
        try:
            if id(one) not in bodies:
                add(one)
        except (OSError, TypeError) as fault:
            raise UsageError(
                f"grade: the source of {one.__name__} cannot be had; pass its code as text"
            ) from fault
    return "\n".join([*sorted(heads), *bodies.values()])


def _source(one: Any) -> str:  # noqa: ANN401
    """The source of a function, or of a class that may be a cell's: OSError or TypeError."""
    try:
        return inspect.getsource(one)
    except (OSError, TypeError):
        for member in vars(one).values() if isinstance(one, type) else ():
            code = getattr(inspect.unwrap(member), "__code__", None)
            lines = linecache.getlines(code.co_filename) if code else []
            begins = re.compile(rf"class {one.__name__}\b")
            for at in [at for at, line in enumerate(lines) if begins.match(line)]:
                while at and lines[at - 1].startswith("@"):
                    at -= 1
                return "".join(inspect.getblock(lines[at:]))
        raise
