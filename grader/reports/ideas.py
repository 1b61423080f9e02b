"""Why a submission is wrong: what is known first, then the ideas that are only part of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rich.text import Text

from grader.kinds.registry import get_or_plain
from grader.model.report import Explanation, Named, Report
from grader.reports.inert import inert
from grader.reports.page import INDENT, paragraph
from grader.reports.palette import STRONG

_MESSAGE_LIMIT = 600  # characters of an explanation


def idea_lines(report: Report, width: int) -> Iterator[Text]:
    """Every misconception with its feedback and what else is known, claiming no more than was seen.

    Args:
        report: what the grade found.
        width: cells of a line.
    """
    # Checks that measure are named instead of a result.
    measured = {c.id for c in report.checks if not get_or_plain(c.kind).judges_values}
    sure: list[Named] = []
    parts: list[Named] = []
    for idea in report.misconceptions:
        (sure if idea.exact and not _is_part(report, idea) else parts).append(idea)
    if len(sure) > 1:
        yield from paragraph(f"This matches {len(sure)} known wrong ideas, each exactly.", width)
    for idea in sure:
        yield from _idea(idea, measured, width, alone=len(sure) == 1)
    paired = any(explanation.kind == "pair" for explanation in report.explanations)
    for explanation in report.explanations:
        if explanation.kind != "check" or not _is_on_its_line(report, explanation):
            yield from _explanation(explanation, width)
    for idea in parts:
        yield from _idea(idea, measured, width, alone=not paired)


def _is_on_its_line(report: Report, explanation: Explanation) -> bool:
    """Whether the line of a check says it already: all but what was wrong before it raised."""
    return not any(f"; after that {check.message}" in explanation.text for check in report.checks)


def _is_part(report: Report, idea: Named) -> bool:
    """Whether something is wrong that no exactly named idea explains."""
    whole = [other for other in report.misconceptions if other.exact]
    return len(whole) == 1 and 0 < idea.cases < idea.failing


def _idea(idea: Named, measured: Collection[str], width: int, *, alone: bool) -> Iterator[Text]:
    yield Text()
    before, after = _claim(idea, measured, alone=alone)
    ending = f"{after}{_where(idea)}."
    sentence = Text.assemble(before, (inert(idea.id), STRONG), ending)
    fits = sentence.cell_len <= width  # else the name is as plain as the rest
    yield from [sentence] if fits else paragraph(sentence.plain, width)
    for block in idea.feedback.strip().split("\n\n"):
        yield from paragraph(" ".join(block.split()), width, indent=INDENT)


def _explanation(explanation: Explanation, width: int) -> Iterator[Text]:
    yield Text()
    yield from paragraph(inert(explanation.text, _MESSAGE_LIMIT), width)


def _claim(idea: Named, measured: Collection[str], *, alone: bool) -> tuple[str, str]:
    """What stands before and after the name."""
    names = [inert(name, 60) for name in idea.results]
    listed = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
    if not alone:
        return "", f", by your {listed}" if names else ""
    if idea.exact:
        return ("This is " if idea.cases >= idea.failing else "Part of it is "), ", exactly"
    if not names:
        return "This is partly ", ""
    if set(idea.results) <= set(measured):
        measure = "measures" if len(names) == 1 else "measure"
        return f"By what {listed} {measure}, this is ", ", exactly"
    return f"Your {listed} {'is' if len(names) == 1 else 'are'} ", ", exactly"


def _where(idea: Named) -> str:
    if idea.cases <= 0:
        return ""
    if idea.cases < idea.failing:
        return f", in {idea.cases} of {idea.failing} failing cases"
    return f", in all {idea.cases} failing cases" if idea.cases > 1 else ", in the failing case"
