"""Feedback to each student on their answers, as a Markdown and an HTML file.

If a class hides checks and cases, the feedback leaves out everything about them: names, inputs,
numbers, sentences, counts that include them, and ideas that rest on them alone.

One process runs all cases.  A program could keep the inputs of a hidden case and show them when an
open check fails.  For this reason the feedback also leaves out everything that a program chooses:
its output, texts and lines of exceptions, values, the number of wrong values, measurements and
explanations.

The name, file and exceptions of a student are shown as text only.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from grader.bank.bank_files import read_regular_file, write_atomically
from grader.classroom.report import by_student, class_findings, format_points
from grader.classroom.results import ClassResults
from grader.model.classroom import AssignedQuestion, ClassEntry, ClassSettings, HandIn
from grader.model.errors import UsageError
from grader.model.number_format import format_count
from grader.model.report import (
    NON_FAILING_VERDICTS,
    CheckResult,
    Exhibit,
    Grids,
    IdeaMatch,
    Report,
    Verdict,
)
from grader.reports.blocks import (
    Block,
    Blocks,
    Heading,
    Item,
    Paragraph,
    render_html,
    render_markdown,
)
from grader.reports.grade import student_feedback_blocks
from grader.reports.grade_sentences import failing_required_checks, smallest_case
from grader.reports.html import html_page
from grader.reports.json import without_expected_values

# Hidden checks and cases.

_FAILS = "it does not pass"


class StudentView(NamedTuple):
    """The part of a report that its student may see."""

    report: Report
    parts_failed_by_hidden_checks: tuple[int, ...] = ()
    has_omissions: bool = False  # something that is known about the mistake is not shown

    def feedback_blocks(self) -> Sequence[Block]:
        """Return the feedback; it says that no listed idea fits only if nothing is left out."""
        return student_feedback_blocks(
            self.report, complete=not (self.has_omissions or self.parts_failed_by_hidden_checks)
        )


def student_view(report: Report, hidden: Collection[str]) -> StudentView:
    """Return the part of a report that its student may see.

    It has no hidden checks and cases, and no expected values of estimates.
    """
    report = without_expected_values(report)
    if not hidden:
        return StudentView(report)
    name_filter = _HiddenNameFilter(_hidden_names(report, hidden))
    visible_checks = [check for check in report.checks if check.id not in hidden]
    view = replace(
        report,
        checks=tuple(name_filter.visible_check(check) for check in visible_checks),
        printed="",
        explanations=(),
        note=name_filter.visible_text(report.note),
        follow_up=name_filter.visible_text(report.follow_up),
    )
    all_failing = failing_required_checks(report)
    failing = failing_required_checks(view)
    if all_failing:  # the verdict must not tell how a hidden check fails
        view = replace(view, verdict=failing[0].verdict if failing else Verdict.FAIL)
    failing_cases = {case for check in failing for case in check.failing}
    ideas = tuple(name_filter.visible_ideas(report.misconceptions, len(failing_cases)))
    hidden_parts = dict.fromkeys(check.part for check in all_failing if check.id in hidden)
    return StudentView(
        report=replace(view, misconceptions=ideas),
        parts_failed_by_hidden_checks=tuple(hidden_parts),
        has_omissions=len(ideas) < len(report.misconceptions) or report.explanations != (),
    )


def _hidden_names(report: Report, hidden: Collection[str]) -> frozenset[str]:
    """Return the `hidden` names of checks and cases, and the cases that only hidden checks use."""
    open_cases = set[str]()
    cases_of_hidden_checks = set[str]()
    for check in report.checks:
        if check.id in hidden:
            cases_of_hidden_checks.update(check.cases, check.failing)
        else:
            open_cases.update(check.cases)
    return frozenset(hidden) | (cases_of_hidden_checks - open_cases)


class _HiddenNameFilter:
    """Removes from a report everything that mentions a hidden check or case."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        alternatives = "|".join(re.escape(name) for name in sorted(names))
        self._pattern = re.compile(rf"(?<![\w-])(?:{alternatives})(?![\w-])", re.IGNORECASE)

    def visible_text(self, text: str) -> str:
        """Return the text unchanged, or "" if it contains a hidden name."""
        return "" if self._pattern.search(text) else text

    def visible_check(self, check: CheckResult) -> CheckResult:
        """Return a check without hidden cases, and without texts that a program can choose.

        If its smallest or first failing case is hidden, its message only says that it does not
        pass.
        """
        case = smallest_case(check)
        failing = self._visible(check.failing)
        bare = replace(
            check, cases=self._visible(check.cases), failing=failing, message="", case_line="",
            about="", inputs={}, call="", mismatch=None, exhibit=None, raised=None, figures={},
        )  # fmt: skip
        if check.blocked_by in self._names:
            return replace(bare, blocked_by=None)
        if check.verdict is Verdict.SKIPPED:
            return replace(bare, message=self.visible_text(check.message))
        if check.verdict in NON_FAILING_VERDICTS:
            return bare
        if not self._names.isdisjoint((case, *check.failing[:1])):
            return replace(bare, message=_FAILS if failing else f"{_FAILS} on a hidden case")
        message = _FAILS
        if check.raised is not None:
            message = f"your code raised {check.raised.public_type}"
        elif check.mismatch is not None:
            message = f"{check.mismatch.result.partition('[')[0]} is wrong"
        about = self.visible_text(check.about)
        failing = tuple(dict.fromkeys([case, *failing])) if case else failing
        return replace(
            bare,
            message=self.visible_text(message) or _FAILS,
            about=about,
            case_line=check.case_line if about == check.about else "",
            failing=failing,
            inputs=check.inputs,
            exhibit=_without_results(check.exhibit),
        )

    def visible_ideas(
        self, matches: Collection[IdeaMatch], failing_cases: int
    ) -> Iterator[IdeaMatch]:
        """Give the ideas that open checks and cases show, with counts of open cases only."""
        for match in matches:
            checks = self._visible(match.checks)
            cases = self._visible(match.seen)
            results = self._visible(match.results)
            evidence = ((match.checks, checks), (match.seen, cases), (match.results, results))
            if any(complete and not visible for complete, visible in evidence):
                continue
            # A doubt is about an input that may be made from a hidden case.
            if (match.cases and not match.seen) or match.doubt or not (checks or cases):
                continue
            if self.visible_text(f"{match.id} {match.feedback}"):
                yield replace(
                    match,
                    checks=checks,
                    seen=cases,
                    results=results,
                    cases=len(cases),
                    failing=max(failing_cases, len(cases)),
                )

    def _visible(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in names if name not in self._names)


def _without_results(exhibit: Exhibit | None) -> Grids | None:
    """Return the inputs and expected results of an exhibit of grids; None if it has none.

    A panel with a note is left out: it is cut to the place where the program is wrong.
    """
    if not isinstance(exhibit, Grids):
        return None
    panels = tuple(
        replace(panel, wrong=frozenset(), focus=frozenset())
        for panel in exhibit.panels
        if not panel.note and not panel.title.endswith(", yours")
    )
    return Grids(panels) if panels else None


# Feedback.

NOT_GRADED_NOTICE = (
    "Not graded yet, and that is not your fault: the grader could not finish. It will try again."
)
HIDDEN_CHECK_NOTICE = "A hidden check does not pass."
_LABELS = {"pass": "Passes:", "no answer": "No answer:"}  # by the verdict of an entry
_PART_STATES = {Verdict.PASS: "passes", Verdict.SKIPPED: "not asked yet"}


def feedback(settings: ClassSettings, entries: Sequence[ClassEntry]) -> Sequence[Block]:
    """Return the feedback to one student, from their counting entries, at least one."""
    (student,) = class_findings(settings, entries).students
    blocks: list[Block] = [Heading(student.name or student.id, level=1)]
    if settings.title:
        blocks.append(Paragraph(settings.title))
    total = f"{format_points(student.so_far)} of {format_points(settings.max_points)} points"
    ungraded = sum(result.points is None for result in student.results)
    if ungraded:
        total += f" so far: {format_count(ungraded, 'question')} not graded yet"
    blocks.append(Paragraph(total, "Total:"))
    by_question = {entry.question.id: entry for entry in entries}
    for question in settings.questions:
        blocks.append(Heading(question.title, question.id))
        blocks += _answer_blocks(settings, question, by_question.get(question.id))
    return blocks


def _answer_blocks(
    settings: ClassSettings, question: AssignedQuestion, entry: ClassEntry | None
) -> Blocks:
    """Give the feedback on the answer to one question."""
    max_points = f"of {format_count(question.of, 'point')}"
    if question.weight != 1:
        max_points += f", which count {format_points(question.weight)} times"
    if entry is None:
        yield Paragraph(f"0 {max_points}", "Nothing handed in:")
        return
    hand_in = entry.hand_in
    if entry.points is not None:
        yield from _points_blocks(entry, max_points)
    if entry.late:
        yield Paragraph(_late_text(settings, hand_in), "Late:")
    if hand_in.fault:
        yield Paragraph(f"There is no answer in {hand_in.path}: {hand_in.fault}.")
    elif entry.report is not None:
        yield from _report_blocks(entry, entry.report, question.hidden)
    elif entry.override is None:
        yield Paragraph(NOT_GRADED_NOTICE)


def _points_blocks(entry: ClassEntry, max_points: str) -> Blocks:
    override = entry.override
    if override is not None:
        note = f": {override.note}" if override.note else ""
        yield Paragraph(f"{entry.points} {max_points}{note}", "By hand:")
        return
    yield Paragraph(f"{entry.points} {max_points}", _LABELS.get(entry.verdict, "Does not pass:"))
    if entry.adjustment_note:
        yield Paragraph(f"{entry.adjustment_note}.")


def _late_text(settings: ClassSettings, hand_in: HandIn) -> str:
    if hand_in.late or not hand_in.at or not settings.deadline:
        return "as the learning platform says."
    deadline = settings.deadline_for(hand_in.student)
    moment = datetime.fromisoformat(hand_in.at).astimezone(deadline.tzinfo)
    return f"handed in {moment}, the deadline was {deadline}."


def _report_blocks(entry: ClassEntry, report: Report, hidden: Collection[str]) -> Blocks:
    for line in report.unread:
        yield Paragraph(f"{line}.", "Left out:")
    for line in filter(None, [*report.stopped, entry.same_time_note]):
        yield Paragraph(f"{line[:1].upper()}{line[1:]}.", "Note:")
    view = student_view(report, hidden)
    has_parts = len(report.parts) > 1
    if has_parts or any(check.of for check in report.checks):
        for number, part in enumerate(report.parts, 1):
            if part.of:
                points = f"{part.points} of {format_count(part.of, 'point')}"
                state = _PART_STATES.get(part.verdict, "does not pass")
                yield Item(f"Part {number} {state}: {points}")
    for number in view.parts_failed_by_hidden_checks:
        notice = HIDDEN_CHECK_NOTICE
        if has_parts:
            notice = f"{HIDDEN_CHECK_NOTICE[:-1]} in part {number}."
        yield Paragraph(notice)
    yield from view.feedback_blocks()


def to_html(blocks: Sequence[Block]) -> str:
    """Return the feedback as a page that stands alone and runs no script."""
    title = blocks[0].title if isinstance(blocks[0], Heading) else ""
    return "".join(html_page(title, [render_html(blocks)]))


def write_feedback(results: ClassResults, folder: Path) -> tuple[int, int, list[str]]:
    """Write the feedback to each student of a class; a file that would not change is not written.

    Returns the number of students, the number of files written, and the names of pages in the
    folder that belong to no student. They stay, because this program may not have written them.
    UsageError if the folder cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: expected a folder to write: {error.strerror}") from error
    students = 0
    changed = 0
    others = {path.name for path in folder.iterdir() if path.suffix in {".md", ".html"}}
    for student, by_question in by_student(results.counting_entries()):
        students += 1
        blocks = feedback(results.class_settings, list(by_question.values()))
        for suffix, text in ((".md", render_markdown(blocks)), (".html", to_html(blocks))):
            path = folder / f"{student_file_stem(student)}{suffix}"
            others.discard(path.name)
            if _write_if_changed(path, text.encode("utf-8", "backslashreplace")):
                changed += 1
    return students, changed, sorted(others)


def _write_if_changed(path: Path, content: bytes) -> bool:
    with suppress(OSError):
        if read_regular_file(path, len(content) + 1)[0] == content:
            return False
    write_atomically(path, [content])
    return True


_MAX_STEM_LENGTH = 60
# A name that every file system allows. An unsafe name gets a hash at its end, and a name with such
# an end counts as unsafe: two students never have the same file.
_SAFE_STEM = re.compile(
    r"(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))(?!.*-[0-9a-f]{16}$)"
    r"[a-z0-9](?:[a-z0-9._-]{,58}[a-z0-9_])?"
)


def student_file_stem(student: str) -> str:
    """Return the stem of the names of a student's files, which is unique and valid everywhere."""
    if _SAFE_STEM.fullmatch(student):
        return student
    readable = re.sub(r"[^A-Za-z0-9]+", "-", student)[:_MAX_STEM_LENGTH].strip("-")
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{readable or 'student'}-{digest[:16]}"
