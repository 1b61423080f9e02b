"""`drill interview`: questions against the clock, alone or with somebody who asks."""

from __future__ import annotations

import os
import shlex
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands import output
from grader.commands.options import (
    JsonOption,
    argument,
    check_candidate,
    command_context,
    data_folder,
    flag,
    ids,
    option,
    tracks,
)
from grader.model.errors import UsageError, did_you_mean
from grader.model.number_format import format_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.commands.context import Context
    from grader.commands.workspaces import ResolvedDrill
    from grader.model.question import Question
    from grader.records.interviews import Interview, InterviewQuestion
    from grader.reports.blocks import Block

CandidateOption = Annotated[
    str, option("NAME", "Candidate's name. Their record is kept separately.")
]
TextArgument = Annotated[str, argument("TEXT", "One sentence or more.")]


def begin(
    ctx: typer.Context,
    questions: Annotated[
        list[str] | None,
        argument("ID...", "Questions (default: some that fill the time).", autocompletion=ids),
    ] = None,
    minutes: Annotated[int | None, option("MIN", "Length (default 45).", min=5, max=480)] = None,
    track: Annotated[
        str | None, option("TRACK", "Only questions of this track.", autocompletion=tracks)
    ] = None,
    role: Annotated[str | None, option("ROLE", "Questions that this role is asked.")] = None,
    level: Annotated[str | None, option("LEVEL", "Only questions of this level.")] = None,
    blind: Annotated[bool, flag("--blind", "No verdict before the end.")] = False,
    candidate: CandidateOption = "",
    json: JsonOption = False,
) -> None:
    """Begin (--minutes, --candidate, --blind) or continue: the default."""
    from grader.commands import interviews

    here, fit = _context(ctx, candidate, begins=True), (track, level, role)
    if questions and any(fit):
        raise UsageError("expected questions by ID, or --track, --role or --level; found both")
    held = interviews.unclosed_interview(here)
    if held and not interviews.time_left_text(here):
        _show_debrief(here, json=json)
        return
    if held is None:
        held = interviews.begin_interview(
            here, questions or (), fit, minutes=minutes or 45, blind=blind, candidate=candidate
        )
    elif questions or minutes or any(fit) or blind:
        raise UsageError(
            f"an interview is open, {interviews.time_left_text(here)}, and continues as it began",
            hint=f"Next: {here.interview('end')}",
        )
    _ask(ctx, here, held, interviews.current_drill(here, held), json=json)


def next_(ctx: typer.Context, candidate: CandidateOption = "", json: JsonOption = False) -> None:
    """Continue with the next part or question."""
    from grader.commands import interviews

    here = _context(ctx, candidate)
    held = interviews.require_open(here)
    to = interviews.next_step(here, held) if interviews.time_left_text(here) else None
    _ask(ctx, here, held, interviews.ask_next(here, held, to) if to else None, json=json)


def end(ctx: typer.Context, candidate: CandidateOption = "", json: JsonOption = False) -> None:
    """End the interview, and show the debrief."""
    from grader.commands import interviews

    here = _context(ctx, candidate)
    left = interviews.time_left_text(here)
    if json or not left or not output.is_dialog() or output.confirm(f"End it with {left}?"):
        interviews.end_interview(here)
        _show_debrief(here, json=json)


def note(
    ctx: typer.Context,
    text: TextArgument,
    candidate: CandidateOption = "",
    json: JsonOption = False,
) -> None:
    """Take a note on the part that is asked now."""
    from grader.commands import interviews

    interviews.record_note(_context(ctx, candidate), text)
    if not output.emit_json(json, noted=len(text)):
        output.write(f"noted, {format_count(len(text), 'character')}")


def mark(
    ctx: typer.Context,
    mark: Annotated[str, argument("MARK", "4 (best) to 1, as in the interviewer's guide.")],
    text: Annotated[str, argument("TEXT", "A note.")] = "",
    question: Annotated[str | None, option("ID", "Default: the last one asked.")] = None,
    part: Annotated[int | None, option("N", "Mark one part.", min=1)] = None,
    candidate: CandidateOption = "",
    json: JsonOption = False,
) -> None:
    """Mark a question, from 4 to 1; the last mark counts."""
    from grader.commands import interviews

    marked = interviews.record_mark(_context(ctx, candidate), f"{mark} {text}", question, part or 0)
    if not output.emit_json(json, mark=int(mark)):
        output.write(f"marked {marked}")


def decide(
    ctx: typer.Context,
    text: TextArgument,
    candidate: CandidateOption = "",
    json: JsonOption = False,
) -> None:
    """Record a decision on the last interview, open or not."""
    from grader.commands import interviews

    interviews.record_decision(_context(ctx, candidate), text)
    if not output.emit_json(json, decision=text):
        output.write("the decision is recorded, and the debrief shows it")


def debrief(
    ctx: typer.Context,
    number: Annotated[
        int | None, argument("N", "Number of the interview (default: the last).")
    ] = None,
    out: Annotated[Path | None, option("FILE", "Write it to a .md or .html file.")] = None,
    candidate: CandidateOption = "",
    json: JsonOption = False,
) -> None:
    """Show the debrief of an interview that is over."""
    _show_debrief(_context(ctx, candidate), number, out, json=json)


def list_(ctx: typer.Context, candidate: CandidateOption = "", json: JsonOption = False) -> None:
    """List the interviews on record."""
    from grader.records import interviews

    here = _context(ctx, candidate)
    found = here.read(interviews.all_interviews, [])
    if output.emit_json(json, interviews=[asdict(held) for held in found]):
        return
    if not found:
        others = "" if candidate else "; those of a candidate: --candidate NAME"
        output.write_next_steps(here.interview(), after=f"no interview on record{others}")
        return
    rows = [
        (str(held.number), held.at[:10], ", ".join(one.id for one in held.questions), held.decision)
        for held in found
    ]
    output.write_table(("no.", "date", "questions", "decision"), rows, long="questions")
    output.write_next_steps(here.interview("debrief"))


def _context(ctx: typer.Context, candidate: str, *, begins: bool = False) -> Context:
    """Return the surroundings, with the records of a candidate if one is named.

    UsageError if there are no records of that candidate, unless an interview may begin.
    """
    if candidate:
        check_candidate("--candidate", candidate)
        os.environ["DRILL_CANDIDATE"] = candidate
        folder = data_folder()
        if not (begins or folder.exists()):
            others = sorted(one.name for one in folder.parent.glob("*"))
            raise UsageError(
                f"no interview of {candidate}{did_you_mean(candidate, others)}",
                hint=f"Next: {command_context(ctx).interview()}",
            )
    return command_context(ctx)


def _ask(
    ctx: typer.Context, here: Context, held: Interview, choice: ResolvedDrill | None, *, json: bool
) -> None:
    """Ask a question and those after it until the person leaves; None: the last one was asked."""
    from grader.commands import interviews
    from grader.commands.watch import can_redraw, watch_drill
    from grader.commands.watch_screen import InterviewControls

    command = here.interview
    upcoming: list[int | InterviewQuestion | None] = []

    def leaving(question: Question) -> str:
        upcoming.append(interviews.next_step(here, held))
        parts = len(question.spec.parts)
        yours = here.progress(question)
        name = question.id
        if parts > 1 and not yours.is_finished:
            name = f"part {yours.count_parts_asked(parts)} of {name}"
        return f"Leave {name} and {_then(upcoming[-1])}?\n{interviews.time_left_text(here)}."

    typed: dict[str, tuple[str, Callable[[str], object]]] = {}
    case = () if held.blind else ("c case",)
    keys = ("n go on", "h hint", *case, "p question", "d diff", "e edit", "q leave")
    if held.candidate:
        keys = ("g go on", "n note", "m mark", "h hint", "p question", "d diff", "q leave")
        typed["n"] = ("note", partial(interviews.record_note, here))
        typed["m"] = ("mark from 4 to 1, then a note", partial(interviews.record_mark, here))
    while choice and not json and can_redraw():
        with output.capture_output() as text:
            output.show_page(_asked(here, held, choice), rows=output.rows())
        left_now = partial(interviews.time_left_text, here)
        asks = partial(leaving, choice.question)
        live = InterviewControls(text.getvalue(), keys, left_now, asks, typed)
        if not watch_drill(ctx, choice.typed_name, live):
            break
        if to := upcoming[-1]:
            choice = interviews.ask_next(here, held, to)
        else:
            interviews.end_interview(here)
            break
    left = interviews.time_left_text(here)
    if json:
        file = choice and choice.require_workspace().submission
        output.write_json(
            interview=held.number, minutes=held.minutes, blind=held.blind, left=left,
            questions=[one.called for one in held.questions],
            question=choice and choice.question.id, part=choice and held.asked[-1].part,
            submission=file,
        )  # fmt: skip
    elif not left and held.candidate:  # the screen is shared
        output.write_next_steps(command("debrief"), after="The interview is over.")
    elif not left:
        _show_debrief(here, json=False)
    elif choice is None:
        step = command("end")
        offer = f"That was the last question; {left}."
        if to := interviews.next_step(here, held):
            step = command("next")
            offer = f"{offer} You can {_then(to)}, or end it: {command('end')}."
        output.write_next_steps(step, after=offer)
    elif can_redraw():
        output.write_next_steps(
            command(), command("end"), after=f"{left}, and the clock is running."
        )
    else:
        output.show_page(_asked(here, held, choice), rows=output.rows())
        there = here.cd_prefix(choice.require_workspace().folder)
        who = f"DRILL_CANDIDATE={shlex.quote(held.candidate)} " if held.candidate else ""
        output.write_next_steps(f"{there}{who}drill grade", f"{who}drill hint", command("next"))


def _then(to: int | InterviewQuestion | None) -> str:
    """Return the next step of an interview in words."""
    if to is None:
        return "end the interview"
    if isinstance(to, int):
        return f"go on to part {to}"
    return f"go on to {to.id} ({sum(to.minutes)} minutes)"


def _asked(here: Context, held: Interview, choice: ResolvedDrill) -> tuple[Block, ...]:
    """Return the page of the question that is asked now, with the terms."""
    from grader.reports.blocks import Paragraph
    from grader.reports.question import question_page

    question = choice.question
    number = held.current_index + 1
    end = here.to_local(datetime.fromisoformat(held.at) + timedelta(minutes=held.minutes))
    terms = f"Question {number} of {len(held.questions)}, in "
    terms += f"{here.path_as_typed(choice.require_workspace().submission)}; {held.time_left_text(here.now())}, until "
    terms += f"{end:%H:%M}. Hints are recorded in the debrief"
    terms += "." if held.candidate else ", and the question comes back sooner."
    if held.blind:
        command = here.interview("next")
        terms += f" No verdicts until the end. {command} asks the next part."
    part = here.parts_asked(question)
    return question_page(question, part, [Paragraph(terms)])


def _show_debrief(
    here: Context, number: int | None = None, out: Path | None = None, *, json: bool
) -> None:
    """Show the debrief of an interview, or write it."""
    from grader.bank.bank_files import write_atomically
    from grader.commands.debriefing import make_debrief
    from grader.reports.blocks import Heading, render_markdown
    from grader.reports.debrief import page
    from grader.reports.html import standalone_page

    if out and out.suffix not in {".md", ".html"}:
        raise UsageError(f"--out: expected a name that ends in .md or .html, found {out}")
    found = make_debrief(here, number)
    title = Heading(found.title, level=1)
    blocks = [*page(found)]
    if out:
        markdown = [render_markdown([title, *blocks])]
        write_atomically(
            out, standalone_page(found.title, blocks) if out.suffix == ".html" else markdown
        )
        output.info(f"the debrief is in {out}")
    if json:
        output.write_json(**asdict(found) | {"at": found.at.isoformat()})
    elif out is None:
        steps = [here.interview("debrief --out FILE.html")]
        if not found.candidate:
            steps.insert(0, "drill next")
        output.show_page([title, *blocks], commands=steps, paged=True)
