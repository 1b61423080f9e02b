"""`drill discuss`: ask the follow-ups of a question, which an interviewer asks after a pass.

Follow-ups that were never answered come first, beginning with the one that the page of the last
pass asked.  Wrongly answered ones come next, then the others, the oldest answer first.  An answer
is graded if it is a choice, a number or an array.  For an answer in words, the person ticks the key
points that it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from grader.commands import output
from grader.commands.context import Context
from grader.commands.options import JsonOption, SomeId, command_context, flag, option
from grader.commands.workspaces import ResolvedDrill, resolve_drill
from grader.model.errors import UsageError
from grader.model.number_format import format_count
from grader.records import progress

if TYPE_CHECKING:
    from grader.model.spec import FollowUp
    from grader.reports.blocks import Block

MAX_ANSWER_LENGTH = 10_000  # characters of an answer that are recorded
_POINT_OF_ANSWER = "What our answer says."  # the key point of an answer that lists none


class FollowUpState(NamedTuple):
    """A follow-up, and the verdict on the person's last answer to it."""

    part: int
    number: int  # in its part, from 1
    follow_up: FollowUp
    verdict: str = ""  # pass or fail; empty: it was never answered
    at: str = ""  # UTC, ISO 8601

    @property
    def points(self) -> list[str]:
        """Key points for the person to tick in an answer in words; empty for any other answer."""
        if self.follow_up.kind != "points":
            return []
        return self.follow_up.points or [_POINT_OF_ANSWER]


class Discussion(NamedTuple):
    """The follow-ups that a person may be asked, in the order in which they come."""

    resolved_drill: ResolvedDrill
    parts: int  # how many are passed, or were given up
    askable_follow_ups: tuple[FollowUpState, ...]


class AnswerResult(NamedTuple):
    """The verdict on an answer to a follow-up, and the wrong idea that the answer shows."""

    verdict: str | None  # pass or fail; None: the person has not ticked the key points
    idea: str = ""  # name of the wrong idea that the answer shows, if it shows one
    feedback: str = ""  # on that idea


def open_discussion(
    ctx: Context, question_id: str | None, *, part: int | None = None
) -> Discussion:
    """Return the follow-ups of the passed parts, or only of `part`.

    After giving up, or after a failed prediction (a question with one try), parts count as passed
    if they were asked.  UsageError if `part`, by default part 1, is not passed, or if there are no
    follow-ups.
    """
    import json

    drill = resolve_drill(ctx, question_id)
    question = drill.question
    spec = question.spec
    question_progress = ctx.progress(question)
    parts = len(spec.parts)
    is_failed_prediction = drill.form.allows_one_try and question_progress.tries > 0
    if question_progress.given_up or is_failed_prediction:
        open_parts = question_progress.count_parts_asked(parts)
    else:
        open_parts = question_progress.count_parts_passed(parts)
    first = part or 1
    name = f"part {first} of {question.id}" if parts > 1 else question.id
    if first > parts:
        raise UsageError(f"--part: expected a number from 1 to {parts}, found {part}")
    if first > open_parts:
        commands = f"drill grade{drill.drill_argument}   drill hint{drill.drill_argument}"
        if not drill.workspace:
            commands = f"drill start {drill.typed_name}{drill.bank_option}"
        raise UsageError(
            f"{name} is not passed yet, and its follow-ups come after that",
            hint=f"Next: {commands}",
        )
    verdicts = ctx.read(
        lambda db: progress.follow_up_verdicts(db, question.id, str(question.bank)), {}
    )
    passes = ctx.attempts(question, most=1, verdict="pass")
    on_page = [json.loads(attempt.report or "{}").get("follow_up") for attempt in passes]
    states = [
        FollowUpState(part_number, number, asked, *verdicts.get((part_number, number), ()))
        for part_number, spec_part in enumerate(spec.parts[:open_parts], 1)
        for number, asked in enumerate(spec_part.follow_ups, 1)
        if part in {None, part_number}
    ]
    if not states:
        raise UsageError(f"{name} has no follow-ups", hint=f"Next: drill next{drill.bank_option}")
    states.sort(key=lambda state: (state.verdict, state.at, state.follow_up.ask not in on_page))
    return Discussion(drill, open_parts, tuple(states))


def judge_and_record(
    ctx: Context,
    discussion: Discussion,
    state: FollowUpState,
    text: str,
    ticks: Sequence[bool] | None = None,
) -> AnswerResult:
    """Judge an answer to a follow-up and record it.

    An answer with key points is right if the person ticks more than half of them; without ticks it
    has no verdict.  UsageError, and no record, if the text cannot be read as an answer.
    """
    import json

    from grader.forms import follow_up
    from grader.forms.base import UnreadableAnswer

    question = discussion.resolved_drill.question
    idea_name = ""
    is_right = None
    if ticks is not None:
        is_right = 2 * sum(ticks) > len(ticks)
    if not state.points:
        try:
            is_right, idea_name = follow_up.judge_answer(state.follow_up, text)
        except UnreadableAnswer as wrong:
            raise UsageError(f"that is no answer: {wrong.sentence}") from None
    idea = question.ideas.get(idea_name)
    if idea and any(question.spec.part_of(c) > discussion.parts for c in idea.killed_by[:1]):
        idea = None  # it would tell about a part that is not passed
        idea_name = ""
    verdict = None
    if is_right is not None:
        verdict = "pass" if is_right else "fail"
    detail = {
        "part": state.part,
        "number": state.number,
        "kind": state.follow_up.kind,
        "idea": idea_name or None,
        "ticked": ticks and sum(ticks),
        "of": ticks and len(ticks),
        "text": text[:MAX_ANSWER_LENGTH],
    }
    ctx.record_event(
        ctx.new_event("discussed", question, verdict=verdict, detail=json.dumps(detail))
    )
    return AnswerResult(verdict, idea_name, idea.feedback_for() if idea else "")


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
    from grader.reports import discuss as page

    context = command_context(ctx)
    discussion = open_discussion(context, question, part=part)
    states = discussion.askable_follow_ups
    command = f"drill discuss{discussion.resolved_drill.drill_argument}"
    if part is not None:
        command = f"{command} --part {part}"
    can_ask = not json and output.style.document is None
    name = discussion.resolved_drill.question.id
    if answer is not None:
        if not can_ask or ticked is not None:
            _answer_without_dialog(context, discussion, answer, ticked, json=json)
            return
        state = states[0]
        output.show_page([*page.follow_up_blocks(state.follow_up, f"part {state.part}:")])
        with suppress(EOFError):
            _judge_and_show(context, discussion, state, answer)
        output.write_next_steps(command)
    elif output.emit_json(json, question=name, follow_ups=[*map(_state_to_json, states)]):
        return
    elif all_ or not can_ask:
        blocks: list[Block] = []
        for state in sorted(states, key=lambda state: (state.part, state.number)):
            name = f"{state.part}.{state.number}"
            blocks += page.list_item_blocks(state.follow_up, name, state.verdict)
        output.show_page(blocks, paged=True)
        output.write_next_steps(command)
    else:
        _ask_all(context, discussion, command)


def _answer_without_dialog(
    context: Context, discussion: Discussion, text: str, ticked: str | None, *, json: bool
) -> None:
    """Judge, record and show an answer to the next follow-up.

    `ticked` has the numbers of key points as the person typed them: "1,3", or "0" for none.
    """
    from grader.reports import discuss as page

    state = discussion.askable_follow_ups[0]
    ticks = []
    if ticked:
        numbers = {number.strip() for number in ticked.split(",")}
        ticks = [str(number) in numbers for number, _ in enumerate(state.points, 1)]
    result = judge_and_record(context, discussion, state, text, ticks or None)
    document = _state_to_json(state) | result._asdict()
    document |= {"answer": state.follow_up.answer, "points": state.points, "at": context.now()}
    name = discussion.resolved_drill.question.id
    if not output.emit_json(json, question=name, **document):
        output.show_page([*page.answer_blocks(state.follow_up, **result._asdict())])
    if ticks and not json:
        _show_ticks(ticks, result.verdict)


def _show_ticks(ticks: Sequence[bool], verdict: str | None) -> None:
    from grader.reports.discuss import STATES

    count = format_count(len(ticks), "key point")
    output.write(f"{sum(ticks)} of {count}: {STATES[verdict or '']}")


def _ask_all(context: Context, discussion: Discussion, command: str) -> None:
    """Ask each follow-up and show its verdict until the input ends; then count right answers."""
    from grader.reports.discuss import follow_up_blocks

    drill = discussion.resolved_drill
    states = discussion.askable_follow_ups
    has_parts = len(drill.question.spec.parts) > 1
    count = format_count(len(states), "question")
    output.write(f"{drill.question.id}: {count}; Enter leaves one for later, Ctrl-D ends")
    verdicts = []
    try:
        for number, state in enumerate(states, 1):
            lead = f"{number} of {len(states)}"
            if has_parts:
                lead = f"{lead}, part {state.part}"
            output.write()
            output.show_page([*follow_up_blocks(state.follow_up, f"{lead}:")])
            verdicts.append(_ask_until_answered(context, discussion, state))
    except EOFError:
        pass
    except KeyboardInterrupt:
        output.info(f"drill: {format_count(len(verdicts) - verdicts.count(None), 'answer')} kept")
        raise
    right = verdicts.count("pass")
    wrong = verdicts.count("fail")
    output.write()
    output.write_next_steps(
        f"{command} --all",
        f"drill next{drill.bank_option}",
        after=f"{right} right, {wrong} wrong, {len(states) - right - wrong} left",
    )


def _ask_until_answered(
    context: Context, discussion: Discussion, state: FollowUpState
) -> str | None:
    """Ask until the text can be read as an answer; return its verdict.

    An empty text leaves the follow-up for later, and has the verdict None.
    """
    while text := _read_answer(state):
        try:
            return _judge_and_show(context, discussion, state, text)
        except UsageError as wrong:
            output.write(wrong.message)
    return None


def _read_answer(state: FollowUpState) -> str:
    """Return the typed answer: one line, or several lines if the answer has key points."""
    from grader.forms.follow_up import answer_format

    if not state.points:
        return output.ask(f"Answer, {answer_format(state.follow_up)}: ").strip()
    output.write("Answer, in words; an empty line ends it:")
    lines: list[str] = []
    try:
        while line := output.ask("> ").rstrip():
            lines.append(line)
    except EOFError:
        if not lines:
            raise
    return "\n".join(lines)


def _judge_and_show(
    context: Context, discussion: Discussion, state: FollowUpState, text: str
) -> str | None:
    """Judge and record an answer; show and return the verdict.

    If the follow-up has key points, the person ticks them first.
    """
    from grader.reports import discuss as page
    from grader.reports.blocks import Item

    if not state.points:
        result = judge_and_record(context, discussion, state, text)
        output.show_page([*page.answer_blocks(state.follow_up, **result._asdict())])
        return result.verdict
    output.show_page([*page.answer_blocks(state.follow_up, None)])
    output.write("Which of these does yours say?")
    ticks: list[bool] = []
    try:
        for number, point in enumerate(state.points, 1):
            output.show_page([Item(point, str(number), page.INDENT)])
            while (word := output.ask("    y or n: ").strip().lower()) not in {"y", "n"}:
                pass
            ticks.append(word == "y")
    finally:  # an interrupted answer is recorded without ticks
        is_complete = len(ticks) == len(state.points)
        result = judge_and_record(context, discussion, state, text, ticks if is_complete else None)
    _show_ticks(ticks, result.verdict)
    return result.verdict


def _state_to_json(state: FollowUpState) -> dict[str, Any]:
    """Return a follow-up as JSON, with the bank's answer only if the person has answered it."""
    from grader.forms.follow_up import answer_format

    asked = state.follow_up
    return {
        "part": state.part,
        "number": state.number,
        "kind": asked.kind,
        "ask": asked.ask,
        "choice": asked.choice,
        "wanted": answer_format(asked),
        "verdict": state.verdict or None,
        "at": state.at or None,
        "answer": asked.answer if state.verdict else None,
    }
