"""`drill solution`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, SomeId, context
from grader.model.numerals import quantity
from grader.reports import sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.app.hints import Solution
    from grader.model.spec import Spec

_SAID = {"-": "goes", "+": "comes", " ": "stays"}  # of a line, where no sign is to be read


def command(
    ctx: typer.Context,
    question: SomeId = None,
    give_up: Annotated[
        bool, typer.Option("--give-up", help="Show it without a pass; this is recorded.")
    ] = False,
    mine: Annotated[bool, typer.Option("--mine", help="Compare it with your file.")] = False,
    full: Annotated[bool, typer.Option("--full", help="A whole right file, with sources.")] = False,
    follow_ups: Annotated[
        bool, typer.Option("--follow-ups", help="What else may be asked, with answers.")
    ] = False,
    json: Json = False,
) -> None:
    """Show the smallest repair of the starter, after a pass."""
    from grader.app.hints import solution

    found = solution(context(ctx), question, give_up=give_up)
    spec = found.choice.question.spec
    if json:
        output.document(
            question=found.choice.question.id,
            passed=found.passed,
            solution=found.full,
            repair=[change._asdict() for change in found.repair],
            mine=None if found.mine is None else [change._asdict() for change in found.mine],
            follow_ups=[follow_up.model_dump() for follow_up in spec.follow_ups],
            sources=spec.sources,
        )
        return
    lines: list[sheet.Line] = []
    if full:
        lines += [*found.full.rstrip("\n").split("\n"), *_sources(spec)]
    if follow_ups:
        lines += _follow_ups(spec)
    if mine or not (full or follow_ups):
        lines += _compared(found, mine=mine)
    output.lines(lines, paged=True)


def _compared(found: Solution, *, mine: bool) -> Iterator[sheet.Line]:
    """The starter, or one's own file, and the right solution nearest to it."""
    name, words = found.choice.question.id, f"drill solution{found.choice.argument}"
    if not mine:
        comes = sum(sign == "+" and bool(text.strip()) for sign, text in found.repair)
        said = f"the smallest repair of the starter (-), {quantity(comes, 'line')} (+)"
    elif found.mine is None:
        said = "there is no file of yours"
    else:
        many = found.solutions > 1
        of = f"the nearest of {found.solutions} right files" if many else "a right file"
        said = f"yours (-) and {of} (+)" if found.mine else f"yours is {of}, line by line"
    yield f"{name}: {said}"
    styles = {"-": sheet.RED, "+": sheet.GREEN}
    for sign, text in (found.mine or ()) if mine else found.repair:
        if output.style.plain:
            yield f"{_SAID[sign]}: {text}" if sign in _SAID else "lines that stay are left out"
        else:
            yield "     ..." if sign == "..." else ((sign, styles.get(sign, "")), (text, ""))
    options = [""] if mine else ["--mine"] * (found.mine is not None)
    options += ["--full"]
    options += ["--follow-ups"] * bool(found.choice.question.spec.follow_ups and not mine)
    yield sheet.steps(*(f"{words} {option}".rstrip() for option in options))


def _follow_ups(spec: Spec) -> Iterator[sheet.Line]:
    from grader.reports.blocks import Gap, from_markdown, render_terminal

    for follow_up in spec.follow_ups:
        blocks = [*from_markdown(follow_up.ask), *from_markdown(follow_up.answer, indent=4), Gap()]
        yield from (*render_terminal(blocks, output.measure()), "")
    if not spec.follow_ups:
        yield "nothing else is asked"


def _sources(spec: Spec) -> Iterator[sheet.Line]:
    if spec.sources:
        yield from ("", sheet.bold("Sources"))
    for source in spec.sources:
        yield from sheet.wrapped(" ".join(source.split()), output.measure(), first="- ")
