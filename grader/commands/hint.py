"""`drill hint`: show one more hint of the part that is asked now, and record that."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from grader.commands import output
from grader.commands.history import checked_attempts
from grader.commands.options import JsonOption, SomeId, command_context, option
from grader.commands.workspaces import ResolvedDrill, resolve_drill
from grader.model.errors import UsageError
from grader.model.number_format import format_count, join_words

if TYPE_CHECKING:
    from grader.commands.context import Context


class HintResult(NamedTuple):
    """The hints to show, and how many hints the part has."""

    resolved_drill: ResolvedDrill
    hints_to_show: tuple[tuple[int, str], ...]  # with their numbers in the part, from 1
    left: int  # hints of the part after this one
    total: int  # hints of the part
    part: int  # the one that is asked now
    all: bool = False  # True if every hint was shown before
    counted: bool = True  # False: it cannot be recorded, and the next hint needs `--number`


def next_hint(ctx: Context, question_id: str | None, *, number: int | None = None) -> HintResult:
    """Return and record the next hint, or hint `number`; if all were shown, return all of them.

    These are hints of the part that is asked now, numbered from 1.  The records number the hints of
    all parts together.  A hint that was shown before is not recorded again.  UsageError if `number`
    is too large.
    """
    drill = resolve_drill(ctx, question_id)
    question_progress = ctx.progress(drill.question)
    parts = drill.question.spec.parts
    *earlier_parts, part = parts[: question_progress.count_parts_asked(len(parts))]
    hints = part.hints
    earlier_hints = sum(len(earlier.hints) for earlier in earlier_parts)
    if number is not None and 0 < len(hints) < number:
        raise UsageError(f"--number: expected a number from 1 to {len(hints)}, found {number}")
    shown_before = max(question_progress.highest_hint - earlier_hints, 0)
    number = number or shown_before + 1
    left = max(len(hints) - number, 0)
    result = HintResult(
        resolved_drill=drill,
        hints_to_show=tuple(enumerate(hints, 1)),
        left=left,
        total=len(hints),
        part=len(earlier_parts) + 1,
    )
    if number > len(hints):
        return result._replace(all=True)
    counted = True
    if number > shown_before:
        event = ctx.new_event("hint", drill.question, hint=earlier_hints + number)
        counted = ctx.record_event(event)
    return result._replace(hints_to_show=((number, hints[number - 1]),), counted=counted)


def hint(
    ctx: typer.Context,
    question: SomeId = None,
    number: Annotated[int | None, option("N", "Show hint N, seen or not.", min=1)] = None,
    json: JsonOption = False,
) -> None:
    """Show one more hint."""
    from grader.reports.blocks import from_markdown

    context = command_context(ctx)
    result = next_hint(context, question, number=number)
    drill = result.resolved_drill
    hints = [{"number": hint_number, "text": text} for hint_number, text in result.hints_to_show]
    if output.emit_json(json, question=drill.question.id, hints=hints, left=result.left):
        return
    if not result.hints_to_show:
        output.write(f"{drill.question.id} has no hints")
        return
    part = f" of part {result.part}" if len(drill.question.spec.parts) > 1 else ""
    for hint_number, text in result.hints_to_show:
        output.write(f"hint {hint_number} of {result.total}{part}")
        output.show_page(from_markdown(text, indent=4))
    if result.left:
        next_number = ""
        if not result.counted:
            next_number = f" --number {result.hints_to_show[-1][0] + 1}"
        output.write_next_steps(
            f"drill hint{drill.drill_argument}{next_number}",
            after=format_count(result.left, "more hint"),
        )
    else:
        _show_end_of_hints(context, result)


def _show_end_of_hints(context: Context, result: HintResult) -> None:
    """Show advice and the commands to type after the last hint."""
    from grader.reports.blocks import Paragraph

    drill = result.resolved_drill
    question_progress = context.progress(drill.question)
    solution = f"drill solution{drill.drill_argument}"
    text = "these were all the hints" if result.all else "that was the last hint"
    steps = []
    if question_progress.is_finished or question_progress.given_up:
        steps.append(solution)
    else:
        advice = ["sleep on it"]
        rows = checked_attempts(context, drill.typed_name, question_progress)
        if rows and rows[-1].clause:
            advice.insert(0, f"read clause {rows[-1].clause} of the contract again")
        is_callable = not (drill.form.is_text or drill.form.runs_in_two_processes)
        if rows and rows[-1].case and is_callable:
            steps.append(f"drill case {shlex.quote(rows[-1].case)}{drill.drill_argument}")
            advice.insert(0, "run the smallest case that fails")
        text += f". Before you give up, {join_words(advice)}."
        steps.append(f"{solution} --give-up")
    output.show_page([Paragraph(text)])
    output.write_next_steps(*steps)
