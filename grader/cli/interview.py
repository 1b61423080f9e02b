"""`drill interview`: questions against the clock, alone or with somebody who asks."""

from __future__ import annotations

import os
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, argument, context, data_folder, flag, ids, option, tracks
from grader.model.errors import UsageError
from grader.model.numerals import quantity

if TYPE_CHECKING:
    from grader.app.context import Context
    from grader.app.resolve import Choice
    from grader.cli.screen import Live
    from grader.records.interviews import Interview
    from grader.reports.blocks import Block


def interview(
    ctx: typer.Context,
    questions: Annotated[
        list[str] | None, argument("ID...", "These; else some that fit.", autocompletion=ids)
    ] = None,
    minutes: Annotated[
        int | None, option("MIN", "How long it takes; 45 if not given.", min=5, max=480)
    ] = None,
    track: Annotated[str | None, option("TRACK", "Of this track.", autocompletion=tracks)] = None,
    role: Annotated[str | None, option("ROLE", "Of what this role is asked.")] = None,
    level: Annotated[str | None, option("LEVEL", "Of this level.")] = None,
    blind: Annotated[bool, flag("--blind", "No verdict before the end.")] = False,
    host: Annotated[bool, flag("--host", "Ask somebody else, on a screen that you share.")] = False,
    candidate: Annotated[str, option("NAME", "Whom; the record is kept apart.")] = "",
    dir_: Annotated[Path | None, option("DIR", "Where to make the folders.", "--dir")] = None,
    next_: Annotated[bool, flag("--next", "Go on to the next question.")] = False,
    note: Annotated[str | None, option("TEXT", "Take a note.")] = None,
    end: Annotated[bool, flag("--end", "End it, and show the debrief.")] = False,
    debrief: Annotated[bool, flag("--debrief", "Show what came of the last one.")] = False,
    number: Annotated[int | None, option("N", "Of this one.", min=1)] = None,
    out: Annotated[Path | None, option("FILE", "Write the debrief as .md or .html.")] = None,
    json: Json = False,
) -> None:
    """Be interviewed against the clock, or interview somebody; again: go on."""
    from grader.app import interviews
    from grader.cli.watch import can_redraw, on_screen

    if host and not candidate:
        raise UsageError("--host: expected --candidate NAME beside it, whose record is kept")
    if candidate:  # a history of its own, for whatever is called from here
        os.environ["DRILL_HOME"] = str(interviews.candidate_folder(data_folder(), candidate))
    here = context(ctx)
    again = f"drill interview{f' --candidate {shlex.quote(candidate)}' * bool(candidate)}"
    if note is not None:
        interviews.note(here, note)
        output.write(f"noted, {quantity(len(note.strip()), 'character')}")
        return
    if end:
        interviews.end(here)
    if end or debrief or (interviews.latest(here) and not interviews.current(here)):
        _debrief(here, number, out, again, json=json)
        return
    if host and not can_redraw():
        raise UsageError("--host needs a terminal that can be drawn anew")
    held = interviews.current(here)
    if held is None:
        if next_:
            raise UsageError("--next: no interview is open", hint=f"Next: {again}")
        held = interviews.begin(
            here, questions or (), minutes=minutes or interviews.USUAL, track=track, role=role,
            level=level, blind=blind, candidate=candidate, parent=dir_,
        )  # fmt: skip
    elif any([questions, minutes, track, role, level, blind, dir_]):
        text = f"an interview is open, {interviews.clock(here, held)}, and goes on as it began"
        raise UsageError(text, hint=f"Next: {again}   {again} --end")
    again += " --host" * host
    choice = interviews.now_asked(here, held, further=next_)
    while choice is not None and can_redraw() and not json:
        live = _live(here, held, choice, host=host)
        if not on_screen(ctx, here, choice.called, live):
            break
        choice = interviews.now_asked(here, held, further=True)
    _ending(here, held, choice, again, json=json)


def _live(here: Context, held: Interview, choice: Choice, *, host: bool) -> Live:
    from grader.app import interviews
    from grader.cli.screen import Live

    with output.captured() as text:
        output.show(_asked(here, held, choice), rows=output.rows())
    keys = "{}  p question  d diff  e edit  n go on  q leave"
    if host:
        keys = "n note  g go on  h hint  p question  d diff  q leave"
    elif held.blind:
        keys = keys.replace("{}", "h hint")
    return Live(
        text.getvalue(), keys, lambda: interviews.left(here), "g" if host else "n",
        (lambda typed: interviews.note(here, typed)) if host else None,
    )  # fmt: skip


def _asked(here: Context, held: Interview, choice: Choice) -> list[Block]:
    """What is asked now, in the interviewer's words, and the terms."""
    from grader.app import interviews
    from grader.reports.blocks import Paragraph
    from grader.reports.question import page

    question = choice.question
    which = [one.id for one in held.questions].index(question.id) + 1
    left = f"{interviews.clock(here, held)}, until {interviews.until(here, held)}"
    terms = [f"Question {which} of {len(held.questions)}; {left}."]
    if which == 1 and held.asked[-1:] == held.asked:
        terms.append("A hint stands in the debrief and brings the question back sooner.")
        terms += ["This interview is blind: no verdict before its end."] * held.blind
    part = held.asked[-1].part if held.blind else here.progress(question).asked(
        len(question.spec.parts)
    )  # fmt: skip
    return [*page(question, part, [Paragraph(" ".join(terms))])]


def _ending(
    here: Context, held: Interview, choice: Choice | None, again: str, *, json: bool
) -> None:
    """Say how it goes on: what is asked now, or that nothing is left, or that the time is over."""
    from grader.app import interviews
    from grader.cli.watch import can_redraw

    left = interviews.left(here)
    if json:
        output.document(
            interview=held.number, minutes=held.minutes, blind=held.blind, left=left or None,
            until=interviews.until(here, held), questions=[one.called for one in held.questions],
            question=choice and choice.question.id, part=choice and held.asked[-1].part,
            submission=choice and choice.need_workspace().submission,
        )  # fmt: skip
    elif not left:
        if held.candidate:  # the screen is shared
            output.steps(
                f"{again} --debrief".replace(" --host", ""), after="The interview is over."
            )
        else:
            _debrief(here, None, None, again, json=False)
    elif choice is None:
        output.steps(f"{again} --end", after=f"That was the last question; {left}.")
    elif can_redraw():
        said = f"{left}: the clock runs on until {interviews.until(here, held)}."
        output.steps(again, f"{again} --end".replace(" --host", ""), after=said)
    else:
        output.show(_asked(here, held, choice), rows=output.rows())
        folder = choice.need_workspace().folder
        there = "" if folder == here.folder else f"cd {here.typed(folder)} && "
        output.steps(f"{there}drill grade", "drill hint", f"{again} --next")


def _debrief(
    here: Context, number: int | None, out: Path | None, again: str, *, json: bool
) -> None:
    """Show what came of an interview, or write it."""
    from grader.app.debriefing import debrief
    from grader.bank.storage import write_whole
    from grader.reports.blocks import Commands, Gap, Heading, render_markdown
    from grader.reports.debrief import page
    from grader.reports.html import alone

    if out is not None and out.suffix not in {".md", ".html"}:
        raise UsageError(f"--out: expected a name that ends in .md or .html, found {out}")
    found = debrief(here, number)
    if json:
        output.document(**asdict(found))
    title, blocks = Heading(found.title, level=1), [*page(found)]
    if out is not None:
        is_html = out.suffix == ".html"
        made = alone(found.title, blocks) if is_html else [render_markdown([title, *blocks])]
        write_whole(out, made)
        output.info(f"the debrief is in {out}")
    elif not json:
        steps = [f"drill solution {one.id}" for one in found.questions[-1:]]
        steps += [f"{again} --debrief --out FILE.html"]
        output.show([title, *blocks, Gap(), Commands(tuple(steps))], paged=True)
