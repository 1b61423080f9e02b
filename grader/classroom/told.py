"""What a student reads of a grade, as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.model.report import CheckResult, Report
from grader.model.verdict import Verdict
from grader.reports import words
from grader.reports.around import Around
from grader.reports.blocks import Block, Code, Paragraph, from_markdown
from grader.reports.exhibits import exhibit_lines
from grader.reports.page import INDENT
from grader.reports.text import Text
from grader.reports.trace import raised_lines
from grader.reports.withheld import hides

_WIDTH = 80  # cells of what is set in columns
_ROWS = 12  # of a table
_ALL = 10**6  # characters of a list of names


def told(report: Report, *, complete: bool = True) -> tuple[Block, ...]:
    """What a student reads of a grade in the feedback to a class: its page without commands.

    Args:
        report: as much of it as the student may see, of an estimate too.
        complete: whether all that is known of the fault is in it.
    """
    return tuple(_told(report, complete=complete))


def _told(report: Report, *, complete: bool) -> Iterator[Block]:
    if report.verdict is Verdict.PASS:
        said = [check for check in report.checks if check.message]
        measured = Report(
            report.question, report.title, report.verdict, 0, "", 0.0, checks=tuple(said)
        )
        yield from (Paragraph(f"{text}.") for text in list(words.earned(measured, ""))[1:])
        yield from _passing(report)
        if report.follow_up:
            yield Paragraph(" ".join(report.follow_up.split()), "One more, without code:")
        return
    if report.message:
        yield Paragraph(words.about_the_file(report))
    if report.raised is not None:
        yield _set(raised_lines(report.raised, _WIDTH, ""))
    failing = words.deciding(report)
    if words.keeps_back(report, Around()):
        yield Paragraph(words.STARTER)
        yield from (Paragraph(words.symptom(check), f"{check.id}:") for check in failing[:1])
        return
    if failing:
        yield from _finding(failing[0])
    for idea in words.ideas(report, over=complete):
        yield Paragraph(idea.text, idea.lead)
        yield from from_markdown(idea.feedback)
    if report.note:
        yield Paragraph(report.note)
    if not failing:
        yield from _passing(report)
    for lead, rest in words.others(report, _ALL):
        if lead != "Earned:":  # points stand with the verdict
            yield Paragraph(rest, lead)


def _passing(report: Report) -> Iterator[Block]:
    passed = [c.id for c in report.checks if c.verdict is Verdict.PASS and not c.stretch]
    if passed:
        yield Paragraph(f"{words.joined(passed)}.", "Right:")


def _finding(check: CheckResult) -> Iterator[Block]:
    """What a check found: the sentence, the smallest case, the worst entry or the exception."""
    hidden, sentence = hides(check), words.finding(check)
    yield Paragraph(sentence, f"{check.id}:")
    yield from (Paragraph(text) for text in words.clauses(check))
    if check.exhibit is not None:
        yield _set(exhibit_lines(check.exhibit, _WIDTH, most=_ROWS, hidden=hidden))
    worst = check.mismatch
    if worst is not None and not hidden and (said := words.entry(worst, sentence)):
        yield Paragraph(f"{said}.")
    if check.raised is not None:
        yield _set(raised_lines(check.raised, _WIDTH, ""))


def _set(lines: Sequence[Text]) -> Code:
    return Code(tuple(line.plain.rstrip().removeprefix(" " * INDENT) for line in lines))
