"""A question in a notebook: its text, grades of functions in cells, and hints.

Nothing is recorded, and no grade counts as an attempt.
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
from grader.reports.grade import GradeContext, derivation_blocks, grade_page
from grader.reports.json import without_expected_values
from grader.reports.question import question_blocks
from grader.reports.question import question_page as part_page
from grader.reports.text_layout import WIDEST, without_styles
from grader.sandbox import Closeable

_FILE_NAME = "notebook"  # the name on pages of an answer that is not a file
_WITH_SOURCE = (FunctionType, type)
_CONSTANTS = (bool, int, str)


class NotebookPage:
    """A page that notebooks show as HTML or Markdown, and a Python prompt as text."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._own_blocks = tuple(blocks)

    def _blocks(self) -> Sequence[Block]:
        return self._own_blocks

    def __repr__(self) -> str:
        lines = (without_styles(line).rstrip() for line in render_terminal(self._blocks(), WIDEST))
        return "\n".join(lines).replace("\xa0", " ")

    def _repr_html_(self) -> str:
        return html.html_fragment(self._blocks())

    def _repr_markdown_(self) -> str:
        return render_markdown(self._blocks())


class NotebookGrade(NotebookPage):
    """Result of a grade, shown as its page; it has attributes of its report: `grade.verdict`."""

    def __init__(self, report: Report, context: GradeContext) -> None:
        super().__init__(grade_page(report, context))
        self.report = without_expected_values(report)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute of a report
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.report, name)


class OpenQuestion(NotebookPage, Closeable):
    """A question in a notebook, which grades any number of answers.

    It shows part 1, and the next part when a grade passes the parts before it.  Worker processes
    start with the first grade.  They end at `close`, after a `with` block, or when this object is
    deleted.
    """

    def __init__(self, question: Question) -> None:
        """Open a question of a bank at part 1; start no process yet."""
        self.question = question
        self._asked_part = 1
        self._hints_shown = 0
        self._passed_file = b""  # the answer that passed all parts before the asked one
        self._session: GradingSession | None = None

    def __dir__(self) -> list[str]:
        return ["close", "grade", "hint", "part", "question", "starter"]

    def _blocks(self) -> Sequence[Block]:
        return tuple(question_blocks(self.question, self._asked_part, alone=True))

    @property
    def starter(self) -> str:
        """The code to fix, or the answers to fill in."""
        return self.question.without_leading_blank_lines(self.question.starter).decode()

    def part(self, number: int) -> NotebookPage:
        """Return one part of the question, even if it is not asked yet."""
        last = len(self.question.spec.parts)
        if not 0 < number <= last:
            raise UsageError(f"part: expected a number from 1 to {last}, found {number}")
        return NotebookPage(part_page(self.question, number, ()))

    def hint(self, number: int | None = None) -> NotebookPage:
        """Return the next hint of the current part, or its hint `number`, from 1.

        If there is no such hint, the page says so.
        """
        hints = self.question.spec.parts[self._asked_part - 1].hints
        if number is None:
            number = self._hints_shown + 1
        if not 0 < number <= len(hints):
            text = f"Part {self._asked_part} has no hint {number}, only {len(hints)}."
            return NotebookPage([Paragraph(text)])
        self._hints_shown = max(self._hints_shown, number)
        return NotebookPage([Item(hints[number - 1], str(number))])

    def grade(self, *answer: Any, seed: int | None = None) -> NotebookGrade:  # noqa: ANN401
        """Grade an answer.

        Args:
            answer: The text of a file, its bytes or its Path; or functions and classes: what they
                use of the notebook is graded with them.  If the question asks for answers instead
                of code: a dict from name to answer.
            seed: It draws the inputs (default: a fresh one, which the report has).  UsageError if
                it draws other numbers than those in the text of the question.

        UsageError also if an answer has another type, a function has no source that can be read, or
        torch is needed and not installed.
        """
        require_torch(self.question)
        file, name = self._answer_file(answer)
        seed = choose_seed(self.question, seed)
        if self._session is None:
            self._session = GradingSession(self.question)
            weakref.finalize(self, self._session.close)
        try:
            options = GradeOptions(explain_starter=False, passed_version=self._passed_file)
            report = self._session.grade(file, seed=seed, filename=name, options=options)
        except KeyboardInterrupt:  # perhaps in the middle of a message
            self.close()
            raise
        return self._show_grade(report, file, name)

    def _show_grade(self, report: Report, file: bytes, name: str) -> NotebookGrade:
        """Return the page of a grade; ask the next part if the current one passed."""
        asked_part = self._asked_part
        parts = len(self.question.spec.parts)
        unchanged_since = 0
        if self._passed_file and report.unchanged and report.parts_passed == asked_part - 1:
            unchanged_since = asked_part - 1
            report = replace(report, unchanged=False)
        self._asked_part = max(asked_part, min(report.parts_passed + 1, parts))
        new_part = 0
        request: tuple[Block, ...] = ()
        if asked_part <= report.parts_passed < parts:
            new_part = self._asked_part
            self._hints_shown = 0
            self._passed_file = file
            request = (BlankLine(), *part_page(self.question, new_part, ()))
        context = GradeContext(
            name,
            asked_part=new_part,
            request=request,
            answer_blocks=derivation_blocks(self.question, report, file),
            unchanged_since=unchanged_since,
        )
        return NotebookGrade(report, context)

    def close(self) -> None:
        """End the worker processes; the next grade starts new ones."""
        if self._session:
            self._session.close()
        self._session = None

    def _answer_file(self, answer: tuple[Any, ...]) -> tuple[bytes, str]:
        """Return an answer as the content of a file, and its name on pages; see `grade`."""
        form = forms.form_of(self.question.spec)
        match answer:
            case (Path() as path,):
                return read_submission(path), path.name
            case (bytes() as file,):
                return file, _FILE_NAME
            case (str() as text,):
                if "\n" not in text and text.endswith((".py", ".txt")):
                    raise UsageError(f"grade: for a file, pass Path({text!r})")
                return text.encode("utf-8", "surrogatepass"), _FILE_NAME
            case (Mapping() as answers,) if form.is_text:
                return self._answers_file(answers), _FILE_NAME
        have_source = bool(answer) and all(isinstance(value, _WITH_SOURCE) for value in answer)
        if form.is_text or not have_source:
            expected = "a dict of answers" if form.is_text else "functions and classes"
            types = ", ".join(type(value).__name__ for value in answer) or "nothing"
            raise UsageError(f"grade: expected text, bytes, a Path or {expected}, found {types}")
        return source_text(answer).encode("utf-8", "surrogatepass"), _FILE_NAME

    def _answers_file(self, answers: Mapping[Any, Any]) -> bytes:
        """Return a file of lines "NAME = VALUE"; names that are not answered keep the value "?".

        `dp_dz` answers the name `dp_dz[i,j]` of the starter.
        """
        open_names = re.findall(r"(?m)^(\S+) = \?$", self.starter)
        values = dict.fromkeys(open_names, "?")
        for answer_name, value in answers.items():
            key = "".join(str(answer_name).split())
            full_names = [name for name in values if name.partition("[")[0] == key]
            values[full_names[0] if full_names else key] = " ".join(str(value).split())
        return "".join(f"{name} = {value}\n" for name, value in values.items()).encode()


def source_text(objects: Iterable[Any]) -> str:
    """Return a program of functions and classes, with everything they use from their notebook.

    UsageError if one is a lambda, or its source cannot be read.
    """
    sources = _Sources()
    for value in objects:
        if value.__name__ == "<lambda>":
            raise UsageError("grade: a lambda has no source of its own; write it with def")
        try:
            sources.add(value)
        except (OSError, TypeError) as fault:
            raise UsageError(
                f"grade: the source of {value.__name__} cannot be had; pass its code as text"
            ) from fault
    return "\n".join([*sorted(sources.heads), *sources.bodies.values()])


class _Sources:
    """Collects a program from functions and classes, with the global names that they use.

    In a notebook these are names that other cells define: modules, numbers, texts, functions.
    """

    def __init__(self) -> None:
        self.heads: set[str] = set()  # imports and constants
        self.bodies: dict[int, str] = {}  # source by id(function); "" while its names are added

    def add(self, function: Any) -> None:  # noqa: ANN401 - or a class
        """Add a function or a class after everything it uses."""
        if id(function) in self.bodies:
            return
        source = textwrap.dedent(_read_source(function))
        self.bodies[id(function)] = ""
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        names = {token.string for token in tokens if not token.string.startswith("__")}
        module_values = vars(sys.modules[function.__module__])
        for name in sorted(module_values.keys() & names):
            self._add_name(name, module_values[name], function.__module__)
        del self.bodies[id(function)]  # it must come after the names that it uses
        self.bodies[id(function)] = source

    def _add_name(self, name: str, value: Any, module: str) -> None:  # noqa: ANN401
        """Add a global name that a source uses; leave out values without source, such as arrays."""
        own_name = getattr(value, "__name__", None)
        home = getattr(value, "__module__", None) or type(value).__module__
        if isinstance(value, ModuleType):
            self.heads.add(f"import {own_name} as {name}")
        elif isinstance(value, float):  # also infinity and floats of numpy
            self.heads.add(f"{name} = float('{float(value)!r}')")
        elif isinstance(value, _CONSTANTS):
            self.heads.add(f"{name} = {value!r}")
        elif own_name and home != module:
            self.heads.add(f"from {home} import {own_name} as {name}")
        elif isinstance(inspect.unwrap(value), _WITH_SOURCE):
            with suppress(OSError, TypeError):
                self.add(value)


def _read_source(function: Any) -> str:  # noqa: ANN401 - or a class
    """Return the source of a function or class; OSError or TypeError if it cannot be read.

    `inspect` may not find a class of a notebook cell: then search the cells of its methods.
    """
    with suppress(OSError, TypeError):
        return inspect.getsource(function)
    class_line = re.compile(rf"class {function.__name__}\b")
    for member in vars(function).values():
        code = getattr(inspect.unwrap(member), "__code__", None)
        lines = linecache.getlines(code.co_filename) if code else []
        for number, line in enumerate(lines):
            if class_line.match(line):
                first = number
                while first and lines[first - 1].startswith("@"):
                    first -= 1
                return "".join(inspect.getblock(lines[first:]))
    raise OSError
