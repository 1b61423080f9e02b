"""What a student is told of a grade, question by question: a file of Markdown, one of HTML.

Where a class hides some checks and cases, nothing is left that speaks of them: no name, input,
number or sentence, no count that they are in, no idea that rests on them alone.  What cannot be
told apart is left out.  One process runs all cases, so that a program can keep the inputs of a
hidden one and show them where an open check fails.  Nothing is left either of what a program
chooses: what it prints, texts and lines of exceptions, values and how many are wrong, measurements,
explanations.

A student's name, file and exception are text and nothing else, wherever they are shown.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from grader.bank.bank_files import read_regular_file, write_atomically
from grader.classroom.report import class_findings, format_points
from grader.classroom.results import ClassResults
from grader.model.classroom import AssignedQuestion, ClassEntry, ClassSettings
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
from grader.reports.html import html_page
from grader.reports.json import without_expected_values
from grader.reports.sentences import failing_required_checks, smallest_case

# What is hidden.

_NO = "it does not pass"


class StudentView(NamedTuple):
    """What may be shown of a report."""

    report: Report
    parts_failed_by_hidden_checks: tuple[
        int, ...
    ] = ()  # the parts in which a hidden check does not pass
    has_omissions: bool = False  # whether something that is known of the fault is not shown

    def feedback_blocks(self) -> Sequence[Block]:
        """Say it."""
        return student_feedback_blocks(
            self.report, complete=not (self.has_omissions or self.parts_failed_by_hidden_checks)
        )


def student_view(report: Report, hidden: Collection[str]) -> StudentView:
    """Return as much of a report as its student may read; `hidden` names checks and cases."""
    report = without_expected_values(report)
    if not hidden:
        return StudentView(report)
    checks = [c for c in report.checks if c.id not in hidden]
    open_cases = {case for check in checks for case in check.cases} - {*hidden}
    below = {case for c in report.checks if c.id in hidden for case in (*c.cases, *c.failing)}
    shown = _HiddenNameFilter(frozenset(hidden) | (below - open_cases))
    stopping = failing_required_checks(report)
    found = replace(
        report, checks=tuple(map(shown.check, checks)), printed="", explanations=(),
        note=shown.text(report.note), follow_up=shown.text(report.follow_up),
    )  # fmt: skip
    failing = failing_required_checks(found)
    if stopping:  # the verdict is that of what is shown
        found = replace(found, verdict=failing[0].verdict if failing else Verdict.FAIL)
    cases = {case for check in failing for case in check.failing}
    ideas = tuple(shown.ideas(report.misconceptions, len(cases)))
    found = replace(found, misconceptions=ideas)
    unseen = tuple(dict.fromkeys(check.part for check in stopping if check.id in hidden))
    lost = len(ideas) < len(report.misconceptions) or report.explanations != ()
    return StudentView(found, unseen, lost)


class _HiddenNameFilter:
    """What is open where some names are hidden."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        listed = "|".join(re.escape(name) for name in sorted(names))
        self._named = re.compile(rf"(?<![\w-])(?:{listed})(?![\w-])", re.IGNORECASE)

    def text(self, text: str) -> str:
        """Return a text, nothing where it names something that is hidden."""
        return "" if self._named.search(text) else text

    def check(self, check: CheckResult) -> CheckResult:
        """Return a check in words that no program chooses, without what is of hidden cases."""
        case = smallest_case(check)
        failing = self._rest(check.failing)
        bare = replace(
            check, cases=self._rest(check.cases), failing=failing, message="", case_line="",
            about="", inputs={}, call="", mismatch=None, exhibit=None, raised=None, figures={},
        )  # fmt: skip
        if check.blocked_by in self._names:
            return replace(bare, blocked_by=None)
        if check.verdict in NON_FAILING_VERDICTS:
            said = check.verdict is Verdict.SKIPPED
            return replace(bare, message=self.text(check.message) if said else "")
        if not self._names.isdisjoint((case, *check.failing[:1])):
            return replace(bare, message=_NO if failing else f"{_NO} on a hidden case")
        message = _NO
        if check.raised is not None:
            message = f"your code raised {check.raised.public_type}"
        elif check.mismatch is not None:
            message = f"{check.mismatch.result.partition('[')[0]} is wrong"
        about = self.text(check.about)
        return replace(
            bare, message=self.text(message) or _NO, about=about,
            case_line=check.case_line if about == check.about else "",
            failing=tuple(dict.fromkeys([*[case] * bool(case), *failing])),
            inputs=check.inputs, exhibit=_given(check.exhibit),
        )  # fmt: skip

    def ideas(self, named: Collection[IdeaMatch], failing: int) -> Iterator[IdeaMatch]:
        """Give the ideas that rest on what is open, counted in it alone."""
        for idea in named:
            cases = self._rest(idea.seen)
            checks = self._rest(idea.checks)
            results = self._rest(idea.results)
            rests = (idea.checks, checks), (idea.seen, cases), (idea.results, results)
            lost = any(before and not after for before, after in rests)
            uncounted = idea.cases and not idea.seen
            if lost or uncounted or idea.doubt or not (checks or cases):
                continue  # a doubt is about an input that may be made from a hidden case
            if self.text(f"{idea.id} {idea.feedback}"):
                yield replace(
                    idea, checks=checks, seen=cases, results=results, cases=len(cases),
                    failing=max(failing, len(cases)),
                )  # fmt: skip

    def _rest(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in names if name not in self._names)


def _given(exhibit: Exhibit | None) -> Grids | None:
    """Inputs and what is right, whole: what is cut is cut to where a program is wrong."""
    panels = exhibit.panels if isinstance(exhibit, Grids) else ()
    kept = tuple(
        replace(panel, wrong=frozenset(), focus=frozenset())
        for panel in panels
        if not panel.note and not panel.title.endswith(", yours")
    )
    return Grids(kept) if kept else None


# Feedback.

NOT_GRADED_NOTICE = (
    "Not graded yet, and that is not your fault: the grader could not finish. It will try again."
)
HIDDEN_CHECK_NOTICE = "A hidden check does not pass."


def feedback(terms: ClassSettings, entries: Sequence[ClassEntry]) -> Sequence[Block]:
    """Say what came of what one student handed in: what counts of each question, at least one."""
    found = {entry.question.id: entry for entry in entries}
    (student,) = class_findings(terms, entries).students
    blocks: list[Block] = [Heading(student.name or student.id, level=1)]
    blocks += [Paragraph(terms.title)] if terms.title else []
    total = f"{format_points(student.so_far)} of {format_points(terms.max_points)} points"
    if waiting := sum(one.points is None for one in student.results):
        total += f" so far: {format_count(waiting, 'question')} not graded yet"
    blocks.append(Paragraph(total, "Total:"))
    for question in terms.questions:
        blocks.append(Heading(question.title, question.id))
        blocks += _answer(terms, question, found.get(question.id))
    return blocks


def _answer(terms: ClassSettings, question: AssignedQuestion, entry: ClassEntry | None) -> Blocks:
    times = f", which count {format_points(question.weight)} times" * (question.weight != 1)
    of = f"of {format_count(question.of, 'point')}{times}"
    if entry is None:
        yield Paragraph(f"0 {of}", "Nothing handed in:")
        return
    report = entry.report
    handed = entry.hand_in
    passes = report is not None and report.verdict is Verdict.PASS
    if entry.points is not None:
        state = "No answer:" if handed.fault else "Passes:" if passes else "Does not pass:"
        by_hand = entry.override
        note = f": {by_hand.note}" if by_hand and by_hand.note else ""
        yield Paragraph(f"{entry.points} {of}{note}", "By hand:" if by_hand else state)
        if entry.adjustment_note and not by_hand:
            yield Paragraph(f"{entry.adjustment_note}.")
    if entry.late:
        known = handed.at and terms.deadline and not handed.late
        due = terms.deadline_for(handed.student) if known else None
        at = datetime.fromisoformat(handed.at).astimezone(due.tzinfo) if due else ""
        said = f"handed in {at}, the deadline was {due}."
        yield Paragraph(said if known else "as the learning platform says.", "Late:")
    if handed.fault and handed.path:
        yield Paragraph(f"There is no answer in {handed.path}: {handed.fault}.")
    elif report is None:
        if entry.override is None:
            yield Paragraph(NOT_GRADED_NOTICE)
    else:
        for line in report.unread:
            yield Paragraph(f"{line}.", "Left out:")
        for line in (*report.stopped, *entry.same_time_note):
            yield Paragraph(f"{line[:1].upper()}{line[1:]}.", "Note:")
        shown = student_view(report, question.hidden)
        several = len(report.parts) > 1
        if several or any(check.of for check in report.checks):
            for number, part in enumerate(report.parts, 1):
                words = {Verdict.PASS: "passes", Verdict.SKIPPED: "not asked yet"}
                word = words.get(part.verdict, "does not pass")
                if part.of:
                    points = f"{part.points} of {format_count(part.of, 'point')}"
                    yield Item(f"Part {number} {word}: {points}")
        for number in shown.parts_failed_by_hidden_checks:
            yield Paragraph(
                f"{HIDDEN_CHECK_NOTICE[:-1]} in part {number}." if several else HIDDEN_CHECK_NOTICE
            )
        yield from shown.feedback_blocks()


def to_html(blocks: Sequence[Block]) -> str:
    """The feedback as a page that stands alone, runs nothing and asks for nothing."""
    title = blocks[0].title if isinstance(blocks[0], Heading) else ""
    return "".join(html_page(title, [render_html(blocks)]))


def write_feedback(results: ClassResults, folder: Path) -> tuple[int, int, list[str]]:
    """Write what each student of a class is told; what says the same already stays untouched.

    Returns how many students there are, how many files were written, and the names of pages in the
    folder that are of no student: nobody knows whether this program wrote them, so they stay.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise UsageError(f"{folder}: expected a folder to write: {fault.strerror}") from fault
    students = changed = 0
    others = {path.name for path in folder.iterdir() if path.suffix in {".md", ".html"}}
    for student, entries in groupby(
        results.counting_entries(), key=lambda one: one.hand_in.student
    ):
        said = feedback(results.class_settings, list(entries))
        students += 1
        for ending, text in ((".md", render_markdown(said)), (".html", to_html(said))):
            written = text.encode("utf-8", "backslashreplace")
            path = folder / f"{student_file_stem(student)}{ending}"
            others.discard(path.name)
            with suppress(OSError):
                if read_regular_file(path, len(written) + 1)[0] == written:
                    continue
            write_atomically(path, [written])
            changed += 1
    return students, changed, sorted(others)


_LONGEST = 60  # characters of the name of a file
# A name that every file system has, and that no other student's can be: what is made safe ends in a
# hash, and nothing that ends like one counts as safe.
_SAFE = re.compile(
    r"(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))(?!.*-[0-9a-f]{16}$)"
    r"[a-z0-9](?:[a-z0-9._-]{,58}[a-z0-9_])?"
)


def student_file_stem(student: str) -> str:
    """Return what a student's files are called: safe everywhere, and nobody else's."""
    if _SAFE.fullmatch(student):
        return student
    kept = re.sub(r"[^A-Za-z0-9]+", "-", student)[:_LONGEST].strip("-") or "student"
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{kept}-{digest[:16]}"
