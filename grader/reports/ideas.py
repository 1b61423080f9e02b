"""The misconceptions a submission reproduces, in sentences that claim no more than was seen."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich.text import Text

from grader.model.report import Named
from grader.reports.inert import inert
from grader.reports.page import INDENT, paragraph
from grader.reports.palette import STRONG


def idea_lines(
    named: Sequence[Named], failing: int, width: int, measured: Collection[str] = ()
) -> list[Text]:
    """Every misconception with its feedback; nothing at all when none is known.

    Args:
        named: what the submission's outputs are equal to.
        failing: how many different cases failed, so that "all" is said only when true.
        width: cells of a line.
        measured: ids of checks that measure, and so are named instead of a result.
    """
    lines: list[Text] = []
    whole = [idea for idea in named if idea.exact]
    if len(whole) > 1:
        text = f"This matches {len(whole)} known wrong ideas, each exactly"
        if len({idea.results for idea in whole}) == 1:
            text += "; these cases cannot tell them apart"
        lines += paragraph(f"{text}.", width)
    for idea in named:
        lines += [Text()] if lines else []
        before, after = _sentence(idea, failing, measured, alone=len(whole) <= 1)
        sentence = Text.assemble(before, (inert(idea.id), STRONG), after)
        fits = sentence.cell_len <= width  # else the name is as plain as the rest
        lines += [sentence] if fits else paragraph(sentence.plain, width)
        for block in idea.feedback.strip().split("\n\n"):
            lines += paragraph(" ".join(block.split()), width, indent=INDENT)
    return lines


def _sentence(
    idea: Named, failing: int, measured: Collection[str], *, alone: bool
) -> tuple[str, str]:
    """What stands before and after the name."""
    where = _where(idea.cases, failing)
    names = [inert(name, 60) for name in idea.results]
    listed = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
    if idea.exact and alone:
        return "This is ", f", exactly{where}."
    if idea.exact:
        return "", f", by your {listed}{where}." if names else f"{where}."
    if not names:
        return "This is partly ", f"{where}."
    if set(idea.results) <= set(measured):
        measure = "measures" if len(names) == 1 else "measure"
        return f"By what {listed} {measure}, this is ", f", exactly{where}."
    return f"Your {listed} {'is' if len(names) == 1 else 'are'} ", f", exactly{where}."


def _where(cases: int, failing: int) -> str:
    if cases <= 0:
        return ""
    if cases < failing:
        return f", in {cases} of {failing} failing cases"
    return f", in all {cases} failing cases" if cases > 1 else ", in the failing case"
