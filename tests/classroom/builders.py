"""Helpers for tests of a class: files of students, grades made by hand, and a parser of pages."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from grader.classroom.hand_ins import HandIns
from grader.classroom.results import ClassResults, grade_key
from grader.classroom.submission_layout import AnswerNames
from grader.commands.class_grade import ClassPlan, ClassProgress, grade_class
from grader.commands.context import Context
from grader.model.classroom import (
    AssignedQuestion,
    ClassEntry,
    ClassSettings,
    HandIn,
    ProgramGrade,
    SubmittedProgram,
)
from grader.model.report import (
    CheckResult,
    ExceptionRecord,
    Explanation,
    Frame,
    IdeaMatch,
    Mismatch,
    PartResult,
    Report,
    Verdict,
)

NOW = "2026-11-22T12:00:00+00:00"
ROOT = Path(__file__).parents[2]
BANK = ROOT / "tests" / "banks" / "mini"
PROGRAMS = BANK / "drills" / "deviations"
REFERENCE = (PROGRAMS / "reference.py").read_text()

# Files as students and learning platforms make them.

Files = Mapping[str, bytes | str]


def tree(root: Path, files: Files) -> Path:
    """Write files into a folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def zipped(files: Mapping[Any, bytes | str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def notebook(*cells: str, **changes: Any) -> bytes:
    """Return a notebook with cells of code."""
    kinds = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": kinds} | changes).encode()


def programs(root: Path, *questions: str, **options: Any) -> list[tuple[HandIn, bytes]]:
    """Return the hand-ins of a folder, each with its program."""
    names = AnswerNames(questions or ("mean",), options.pop("texts", ()), options.pop("others", ()))
    with HandIns(root, names, **options) as submissions:
        return [(hand_in, program.main) for hand_in, program in submissions]


def read_hand_ins(root: Path, *questions: str, **options: str) -> list[HandIn]:
    """Return the hand-ins of a folder."""
    return [hand_in for hand_in, _ in programs(root, *questions, **options)]


def assigned_programs(root: Path, *questions: str, **options: str) -> list[tuple[str, str, str]]:
    """Return student, question and path of each hand-in with a program."""
    hand_ins = read_hand_ins(root, *questions, **options)
    return [
        (hand_in.student, hand_in.question, hand_in.path) for hand_in in hand_ins if hand_in.sha256
    ]


def faults(root: Path, *questions: str, **options: str) -> dict[str, str]:
    """Return the fault of each hand-in, by path."""
    return {hand_in.path: hand_in.fault for hand_in in read_hand_ins(root, *questions, **options)}


def grading(folder: Path, bank: Path = BANK, **plan: Any) -> Iterator[ClassProgress]:
    """Grade the subfolder `in` of a folder into `out`, by default in one process."""
    planned = ClassPlan(folder / "in", ("deviations",), folder / "out", jobs=1, level="process")
    ctx = Context(folder, folder / "data", lambda: NOW, bank=bank)
    return grade_class(ctx, planned._replace(**plan))


def graded(folder: Path, bank: Path = BANK, **plan: Any) -> list[ClassProgress]:
    return list(grading(folder, bank, **plan))


# Grades by hand.

MEAN = AssignedQuestion("mean", "A mean", "d" * 64, "/bank", (1, 2), 10)
SUM = AssignedQuestion("sum", "A sum", "e" * 64, "/bank", (1,), 4, weight=2.5)
TERMS = ClassSettings(7, "strong", "1.0", (MEAN, SUM), "Class of 2026", "2026-11-20T23:59:00+01:00")
FEEDBACK = {
    "off-by-one": "You divide by n - 1. That is the variance's denominator.",
    "axis": "You take the mean along the wrong axis. Rows are samples.",
}
FAIL = Verdict.FAIL


def idea_match(idea: str, **changes: object) -> IdeaMatch:
    base = IdeaMatch(
        idea, FEEDBACK.get(idea, ""), True, ("y",), 2, 2, ("small", "wide"), ("values",)
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def report(verdict: Verdict = Verdict.PASS, *ideas: IdeaMatch, **changes: object) -> Report:
    """Return a report of the question `mean`; unless it passes, part 1 fails."""
    passed = verdict is Verdict.PASS
    worst = Mismatch("y", "small", (0,), "2.000", "1.500", "+-1e-9", 1, 1)
    values = CheckResult(
        "values", "outputs", verdict, "2 cases" if passed else "y is wrong",
        ("small", "wide"), () if passed else ("small", "wide"), mismatch=None if passed else worst,
    )  # fmt: skip
    late = Verdict.PASS if passed else Verdict.SKIPPED
    parts = (PartResult("1", verdict, 6 if passed else 0, 6), PartResult("2", late, 4 * passed, 4))
    base = Report(
        "mean", "A mean", verdict, 7, "strong", 0.25, parts, (values,), tuple(ideas),
        sha256="5" * 64,
    )  # fmt: skip
    return replace(base, **changes)  # type: ignore[arg-type]


def rule(text: str = "y is twice the right one.", *cases: str) -> Explanation:
    return Explanation("rule", text, cases or ("small", "wide"))


def class_entry(
    student: str,
    report: Report | None = None,
    *,
    question: AssignedQuestion = MEAN,
    at: str = "2026-11-20T12:00:00+00:00",
    sha256: str = "",
    fault: str = "",
    no_answer: str = "",
    late: bool = False,
    name: str = "",
) -> ClassEntry:
    """Return an entry of a class.

    `fault` is the grader's; `no_answer` says why there is no program.
    """
    sha256 = "" if no_answer else sha256 or hashlib.sha256(repr((student, at)).encode()).hexdigest()
    file = HandIn(student, question.id, f"{student}/{question.id}.py", sha256, at, no_answer, name)
    return ClassEntry(question, file, None if fault else report, fault, late)


def write_results(folder: Path, terms: ClassSettings, entries: Iterable[ClassEntry]) -> Path:
    """Store the results of a class as `drill class grade` does."""
    entries = list(entries)
    with ClassResults(folder, write=terms) as results:
        results.store_hand_ins(
            (entry.hand_in, SubmittedProgram(entry.hand_in.sha256.encode())) for entry in entries
        )
        for entry in entries:
            if entry.report is not None or entry.fault:
                program = SubmittedProgram(entry.hand_in.sha256.encode())
                key = grade_key(terms, entry.question, program, entry.hand_in.student)
                results.store_grade(
                    ProgramGrade(key, entry.report, entry.fault), "2026-11-22T13:00:00.000+00:00"
                )
    return folder


# Texts that a student may write.

PRODUCT = str(7919 * 7907)  # which a template would show; no number of a page has these digits
HOSTILE = [
    "<script>alert(1)</script>", "</title></style></script><img src=x onerror=alert(1)>",
    "</pre></main><h1>you</h1>", "[a](http://evil.example)", "a\n\n# b\n<hr>\n```\nc", "| a | b |",
    '" onmouseover="alert(1)', "' autofocus onfocus='x", "{{ 7919 * 7907 }}{% raw %}",
    "&lt;b&gt; &amp;", "javascript:alert(1)", "../../etc/passwd", "=1+1", "\u202ecod.exe\u2066",
    "\x1b[31mred\x07",
    "nul\x00 del\x7f c1\x9b", "line\u2028sep\u2029para\rret", "\ud800 lone", "http://evil.example",
    "z\u0300\u0301\u0302\u0303\u0304", "<!--", "]]>", "#s1", "x" * 9000,
]  # fmt: skip


def hostile(text: str) -> ClassEntry:
    """Return an entry with a text in every place that a student can write."""
    base = report(FAIL, idea_match("axis", exact=False), explanations=(rule(),))
    worst, raised = (
        base.checks[0].mismatch,
        ExceptionRecord(text, text, (Frame(3, text, text),), text, text),
    )
    check = replace(
        base.checks[0], verdict=Verdict.ERROR, message=f"your f raised {text} in case small",
        raised=raised, inputs={text: text}, mismatch=worst and replace(worst, observed=text),
    )  # fmt: skip
    hostile_report = replace(
        base, checks=(check,), printed=f"{text}\n{text}", note=text, message=text
    )
    entry = class_entry(text, replace(hostile_report, raised=raised), name=text)
    return replace(entry, hand_in=replace(entry.hand_in, path=text))


# A page of HTML, read by a parser.

VOID = {"meta", "br", "rect", "line", "link", "img", "input", "hr"}


@dataclass
class Page(HTMLParser):
    """Tags with their attributes and text."""

    tags: Counter[str] = field(default_factory=Counter)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)  # tag, name, value
    text: str = ""
    open: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)  # end tags that do not fit

    @classmethod
    def of(cls, content: str) -> Page:
        page = cls()
        HTMLParser.__init__(page, convert_charrefs=True)
        page.feed(content)
        page.close()
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += "" if self.open[-1:] == ["style"] else data
