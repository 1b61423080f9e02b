"""`drill discuss`: what else is asked about the parts that are passed."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grader.commands import output
from grader.commands.options import JsonOption, SomeId, command_context, flag, option
from grader.model.errors import UsageError
from grader.model.number_format import format_count

if TYPE_CHECKING:
    from grader.commands.context import Context
    from grader.commands.discussing import Discussion, FollowUpState


def discuss(
    ctx: typer.Context,
    question: SomeId = None,
    part: Annotated[int | None, option("N", "Only this part.", min=1)] = None,
    all_: Annotated[
        bool, flag("--all", "List them, with our answers to those you answered.")
    ] = False,
    answer: Annotated[str | None, option("TEXT", "Answer the next one only.")] = None,
    ticked: Annotated[str | None, option("N,N", "Key points that --answer has; 0 if none.")] = None,
    json: JsonOption = False,
) -> None:
    """Answer follow-up questions about the parts you passed."""
    from grader.commands import discussing
    from grader.reports import discuss as page

    here = command_context(ctx)
    found = discussing.open_discussion(here, question, part=part)
    name = found.resolved_drill.question.id
    one = found.askable_follow_ups[0]
    again = f"drill discuss{found.resolved_drill.drill_argument}" + f" --part {part}" * (
        part is not None
    )
    silent = json or isinstance(output.style, output.Recording)  # nobody can be asked
    if answer is None and output.emit_json(
        json, question=name, follow_ups=[*map(_row, found.askable_follow_ups)]
    ):
        return
    if answer is not None and (silent or ticked is not None):
        has = [number.strip() for number in (ticked or "").split(",")]
        ticks = [str(n) in has for n, _ in enumerate(one.points, 1)] if ticked else []
        came = discussing.judge_and_record(here, found, one, answer, ticks or None)._asdict()
        ours = {"answer": one.follow_up.answer, "points": one.points}
        if not output.emit_json(
            json, question=name, **_row(one) | came | ours | {"at": here.now()}
        ):
            output.show_page([*page.answer_blocks(one.follow_up, **came)])
        if ticks and not json:
            many = format_count(len(ticks), "key point")
            output.write(f"{sum(ticks)} of {many}: {page.STATES[came['verdict']]}")
    elif answer is not None:
        output.show_page([*page.question_blocks(one.follow_up, f"part {one.part}:")])
        with suppress(EOFError):
            _judged(here, found, one, answer)
        output.write_next_steps(again)
    elif all_ or silent:
        order = sorted(found.askable_follow_ups, key=lambda one: (one.part, one.number))
        rows = (
            page.list_item_blocks(o.follow_up, f"{o.part}.{o.number}", o.verdict) for o in order
        )
        output.show_page([block for row in rows for block in row], paged=True)
        output.write_next_steps(again)
    else:
        _dialog(here, found, again)


def _dialog(here: Context, found: Discussion, again: str) -> None:
    """Ask one after another until they are through, or the input is."""
    from grader.reports.discuss import question_blocks

    many = len(found.askable_follow_ups)
    several = len(found.resolved_drill.question.spec.parts) > 1
    told = f"{found.resolved_drill.question.id}: {format_count(many, 'question')}"
    output.write(f"{told}; Enter leaves one for later, Ctrl-D ends")
    verdicts = []
    try:
        for at, one in enumerate(found.askable_follow_ups, 1):
            lead = f"{at} of {many}" + f", part {one.part}" * several
            output.write()
            output.show_page([*question_blocks(one.follow_up, f"{lead}:")])
            verdicts.append(_put(here, found, one))
    except EOFError:
        pass
    except KeyboardInterrupt:
        output.info(f"drill: {format_count(len(verdicts) - verdicts.count(None), 'answer')} kept")
        raise
    right = verdicts.count("pass")
    wrong = verdicts.count("fail")
    said = f"{right} right, {wrong} wrong, {many - right - wrong} left"
    output.write()
    output.write_next_steps(
        f"{again} --all", f"drill next{found.resolved_drill.bank_option}", after=said
    )


def _put(here: Context, found: Discussion, one: FollowUpState) -> str | None:
    """Ask for an answer until there is one; return its verdict, None where it is left."""
    while text := _typed(one):
        try:
            return _judged(here, found, one, text)
        except UsageError as wrong:
            output.write(wrong.message)
    return None


def _typed(one: FollowUpState) -> str:
    """An answer, of several lines where it is in words."""
    from grader.forms.follow_up import answer_format

    if not one.points:
        return output.ask(f"Answer, {answer_format(one.follow_up)}: ").strip()
    output.write("Answer, in words; an empty line ends it:")
    lines: list[str] = []
    try:
        while line := output.ask("> ").rstrip():
            lines.append(line)
    except EOFError:
        if not lines:
            raise
    return "\n".join(lines)


def _judged(here: Context, found: Discussion, one: FollowUpState, text: str) -> str | None:
    """Judge an answer, say what came of it, and return the verdict: in words the person's own."""
    from grader.commands import discussing
    from grader.reports import discuss as page
    from grader.reports.blocks import Item

    if not one.points:
        came = discussing.judge_and_record(here, found, one, text)
        output.show_page([*page.answer_blocks(one.follow_up, **came._asdict())])
        return came.verdict
    output.show_page([*page.answer_blocks(one.follow_up, None)])
    output.write("Which of these does yours say?")
    ticks: list[bool] = []
    try:
        for number, point in enumerate(one.points, 1):
            output.show_page([Item(point, str(number), page.INDENT)])
            while (word := output.ask("    y or n: ").strip().lower()) not in {"y", "n"}:
                pass
            ticks.append(word == "y")
    finally:  # without ticks where it is interrupted
        done = ticks if len(ticks) == len(one.points) else None
        came = discussing.judge_and_record(here, found, one, text, done)
    many = format_count(len(ticks), "key point")
    output.write(f"{sum(ticks)} of {many}: {page.STATES[came.verdict or '']}")
    return came.verdict


def _row(one: FollowUpState) -> dict[str, Any]:
    """A follow-up as JSON has it; with our answer where the person has given one."""
    from grader.forms.follow_up import answer_format

    asked = one.follow_up
    return {
        "part": one.part, "number": one.number, "kind": asked.kind, "ask": asked.ask,
        "choice": asked.choice, "wanted": answer_format(asked), "verdict": one.verdict or None,
        "at": one.at or None, "answer": asked.answer if one.verdict else None,
    }  # fmt: skip
