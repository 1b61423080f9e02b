"""The page of a grade for a person at a terminal.

The verdict and its file come first, then the smallest case that fails, the idea behind it, what is
not to blame, the next step.  A page fits a screen of 24 lines; what does not fit is counted.

`render_report` is a pure function of the report and of what the command knows besides.  Nothing of
a submission is ever read as markup or sent to the terminal raw.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.model.numerals import quantity
from grader.model.report import CheckResult, Exhibit, Grids, Report
from grader.model.verdict import Verdict
from grader.reports import words
from grader.reports.around import Around
from grader.reports.exhibits import exhibit_lines
from grader.reports.inert import inert, inert_lines
from grader.reports.page import (
    BOUND,
    INDENT,
    NARROWEST,
    Page,
    cut,
    flowing,
    hanging,
    listed,
    measure,
    paragraph,
    wrapped,
)  # fmt: skip
from grader.reports.palette import STRONG, WRONG
from grader.reports.passing import pass_sections
from grader.reports.sheet import cells
from grader.reports.text import Text
from grader.reports.trace import raised_lines
from grader.reports.withheld import hides, withheld

LINES = 22  # of a page, so that the command above and the prompt below stay on a screen of 24
_EVERYTHING = 10**6


@dataclass(frozen=True, slots=True)
class _Cut:
    """How much of each section is shown: what matters least goes first."""

    blank: int = 2  # 1: only between sections; 0: none
    printed: int = 4
    inputs: bool = True
    exhibit: int = 12  # rows; 0: none
    sentences: int | None = None  # of feedback
    ideas: int = 3
    clauses: int = _EVERYTHING  # of the part that is asked next
    contract: int = 1  # clauses that are quoted


_FULL = _Cut(printed=_EVERYTHING, exhibit=_EVERYTHING, ideas=_EVERYTHING, contract=_EVERYTHING)
_CUTS = (
    _Cut(),
    _Cut(blank=1),
    _Cut(blank=1, printed=0),
    _Cut(blank=0, printed=0),
    _Cut(blank=1, printed=0, exhibit=8, ideas=2, sentences=4),
    _Cut(blank=0, printed=0, exhibit=8, ideas=2),
    _Cut(blank=0, printed=0, exhibit=8, ideas=2, sentences=3),
    _Cut(blank=0, printed=0, exhibit=8, ideas=2, sentences=3, inputs=False),
    _Cut(blank=0, printed=0, exhibit=4, ideas=2, sentences=2, inputs=False),
    _Cut(blank=0, printed=0, exhibit=0, ideas=2, sentences=2, clauses=6),
    _Cut(blank=0, printed=0, exhibit=0, ideas=2, sentences=1, clauses=4),
    _Cut(blank=0, printed=0, exhibit=0, ideas=1, sentences=1, clauses=2),
)


def render_report(report: Report, *, width: int, around: Around = Around()) -> Page:  # noqa: B008
    """A report as a page of at most 22 lines, unless it is asked for in full.

    Args:
        report: what the grade found.
        width: columns of the window; prose stays within 80 of them.
        around: what the command adds.
    """
    width, report = max(width, NARROWEST), withheld(report)
    if around.plain:
        from grader.reports.plain import plain_lines

        return Page(Text(line) for line in plain_lines(report, around))
    for at in (_FULL,) if around.full else _CUTS:
        lines = list(_joined(_sections(report, width, around, at), blank=at.blank > 0))
        if around.full or _rows(lines, width) <= LINES:
            return Page(lines)
    ending = list(_joined(_ending(report, width, around, []), blank=False))
    kept = LINES - _rows(ending, width) - 1
    while lines and _rows(lines[:kept], width) > kept:
        lines = lines[:kept]
        kept -= 1
    more = Text(f"{around.everything} shows the rest.")
    return Page([*lines[: max(kept, 1)], more, *ending])


def _joined(
    sections: Sequence[list[Text]] | Iterator[list[Text]], *, blank: bool
) -> Iterator[Text]:
    for section in sections:
        yield from section
        if section and blank:
            yield Text()


def _rows(lines: Sequence[Text], width: int) -> int:
    """Lines of a terminal: what is longer than one is wrapped there."""
    return sum(max(1, math.ceil(line.cell_len / width)) for line in Page(lines).lines)


def _sections(report: Report, width: int, around: Around, at: _Cut) -> Iterator[list[Text]]:
    across = measure(width)
    top = _head(report, around, across)
    if report.verdict is Verdict.PASS or around.request is not None:
        first, *more = pass_sections(report, around, across, at.clauses)
        yield [*top, *first]
        yield from more
        yield from _ending(report, width, around, [])
        return
    quiet = words.keeps_back(report, around)
    yield [*top, *paragraph(words.STARTER, across, indent=6)] if quiet else top
    left: list[str] = []
    if report.message or report.raised:
        yield _about_the_file(report, width, around)
    failing = words.deciding(report)
    for check in failing if around.full else failing[:1]:
        if quiet:
            yield flowing(f"{inert(check.id)}:", words.symptom(check), across)
        else:
            yield _finding(check, width, around, at)
    if not quiet:
        lines, left = _ideas(report, across, at)
        yield lines
        if failing and _is_cut(failing[0].exhibit, at):
            left = ["the whole example", *left]
    if not quiet and report.note:
        yield paragraph(report.note, across)
    if report.printed.strip() and not quiet:
        if at.printed:
            yield _printed(report.printed, across, at.printed)
        else:
            left = [*left, "what your code printed"]
    if around.full:
        yield [
            line
            for check in report.checks
            if check not in failing
            for line in _passing(check, across)
        ]
    yield from _ending(report, width, around, left)


def _head(report: Report, around: Around, width: int) -> list[Text]:
    """The verdict, the file, the question; what does not fit stands below, in its column."""
    passed = report.verdict is Verdict.PASS or around.request is not None
    label = "PASS" if passed else report.verdict.upper()
    tries = f"try {around.tries}, " if around.tries else ""
    rest = [inert(words.head(report, around.request), 120), f"{tries}seed {report.seed}"]
    line = Text.assemble((label, STRONG if passed else WRONG), " " * max(1, 6 - len(label)))
    both = "   ".join(rest)
    if not around.file:
        return [line.append(cut(both, width - line.cell_len))]
    line.append(inert(around.file, 4000))
    if line.cell_len + 3 + cells(both) <= width:
        return [line.append(f"   {both}")]
    below = [both] if 6 + cells(both) <= width else rest
    return [line, *(t for part in below for t in paragraph(part, width, indent=6))]


def _about_the_file(report: Report, width: int, around: Around) -> list[Text]:
    """Why a submission never got as far as a check."""
    lines = flowing("", words.about_the_file(report), measure(width)) if report.message else []
    if report.raised is not None:
        lines += raised_lines(report.raised, measure(width), _name(around))
    return lines


def _finding(check: CheckResult, width: int, around: Around, at: _Cut) -> list[Text]:
    """What a check found: the sentence, the smallest case, the worst entry or the exception."""
    across, hidden = measure(width), hides(check)
    sentence = words.finding(check)
    blame = words.BLAME.get(check.verdict, "")
    lines = flowing("", listed(f"{check.id}: {blame}{sentence}"), across)
    for quoted in list(words.clauses(check))[: at.contract]:
        first, *more = wrapped(inert(quoted, 4000), across - INDENT - 3)
        whole = paragraph(quoted, across, indent=INDENT)
        lines += [Text(" " * INDENT + f"{first}...")] if more and not around.full else whole
    if check.exhibit is not None and at.exhibit:
        rows = exhibit_lines(check.exhibit, width, most=at.exhibit, hidden=hidden, inputs=at.inputs)
        lines += [Text(), *rows, Text()] if at.blank > 1 else rows
    worst = check.mismatch
    if worst is not None and not hidden and (said := words.entry(worst, sentence)):
        lines += paragraph(said.replace("\xa0", BOUND), across, indent=INDENT)
    if check.raised is not None:
        most = _EVERYTHING if around.full else 6 if at.exhibit > 4 else 3
        lines += raised_lines(check.raised, across, _name(around), most=most)
    return lines


def _is_cut(exhibit: Exhibit | None, at: _Cut) -> bool:
    """Whether some of an example is left out."""
    inputs = isinstance(exhibit, Grids) and len(exhibit.panels) > 2
    return exhibit is not None and (not at.exhibit or (inputs and not at.inputs))


def _ideas(report: Report, width: int, at: _Cut) -> tuple[list[Text], list[str]]:
    """What is known of the fault, and what of it is left out."""
    found = words.ideas(report)
    lines: list[Text] = []
    shown, shortened = 0, False
    for idea in found:
        if not idea.lead.endswith("ideas:"):  # what introduces others counts for none
            shown += 1
        if shown > at.ideas:
            break
        if idea.lead or not idea.feedback:
            lines += flowing(idea.lead, idea.text, width)
            blocks = idea.feedback.strip().split("\n\n") if idea.feedback.strip() else []
            for block in blocks if at.sentences is None else blocks[:1]:
                said, cut_short = words.sentences(block, at.sentences)
                shortened |= cut_short
                lines += paragraph(said, width, indent=INDENT)
            shortened |= at.sentences is not None and len(blocks) > 1
        else:
            most = 2 if at.sentences is None and at.ideas < _EVERYTHING else at.sentences
            said, cut_short = words.sentences(idea.feedback, most)
            shortened |= cut_short
            lines += flowing("", f"{idea.text} {said}", width, indent=2)
    total = sum(not idea.lead.endswith("ideas:") for idea in found)
    hidden = total - min(shown, at.ideas)
    left = [quantity(hidden, "more idea")] if hidden > 0 else []
    return lines, [*left, *["the rest of the feedback"] * shortened]


def _printed(printed: str, width: int, most: int) -> list[Text]:
    shown, before = inert_lines(printed, most)
    part = f" (the last {len(shown)} of {before + len(shown):,} lines)" if before else ""
    lines = [Text(f"Your code printed{part}:")]
    return lines + [Text(" " * INDENT + cut(line, width - INDENT)) for line in shown]


def _passing(check: CheckResult, width: int) -> list[Text]:
    """One line of a check that is not to blame, for those who ask for everything."""
    needs = f"needs {check.blocked_by}" if check.blocked_by else ""
    text = f"{check.id}: {check.message or needs}".rstrip(": ")
    return hanging(((f"{check.verdict:13}", ""),), text, width)


def _ending(
    report: Report, width: int, around: Around, left: Sequence[str]
) -> Iterator[list[Text]]:
    """What else fails and what does not, what the machine lacks, what to type next."""
    across = measure(width)
    passed = report.verdict is Verdict.PASS or around.request is not None
    lines: list[Text] = []
    if not passed and not around.full:
        for lead, rest in words.others(report, across):
            lines += flowing(lead, rest, across)
    if left:
        told = f"shows {words.joined(left)}."
        if len(around.everything) + 1 + len(told) <= across:
            lines.append(Text(f"{around.everything} {told}"))
        else:
            lines += [Text(around.everything), *paragraph(told, across, indent=INDENT)]
    yield lines
    lines = []
    if report.isolation not in {"strong", ""}:  # nothing of the file was run where it is empty
        level = inert(report.isolation, 20)
        lines.append(Text(f"Isolation is only {level} on this machine: drill doctor"))
    yield [*lines, *_next(around.steps, across)]


def _next(steps: Sequence[str], width: int) -> list[Text]:
    """Commands to go on with: none is broken; the terminal wraps a long one so it copies whole."""
    lines: list[Text] = []
    for step in steps:
        if lines and lines[-1].cell_len + 3 + cells(step) <= width:
            lines[-1].append(f"   {step}")
        else:
            lines.append(Text(f"      {step}") if lines else Text(f"Next: {step}"))
    if lines:
        lines[0].stylize(STRONG, 0, 5)
    return lines


def _name(around: Around) -> str:
    """The file's name without its folders, as tracebacks call it."""
    return around.file.rpartition("/")[2]
