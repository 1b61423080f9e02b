"""`drill interview`: questions against the clock, alone or with somebody who asks."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, argument, check_candidate, context, flag, ids, option, tracks
from grader.model.errors import UsageError
from grader.model.numerals import quantity

if TYPE_CHECKING:
    from grader.app.context import Context
    from grader.app.resolve import Choice
    from grader.records.interviews import Interview
    from grader.reports.blocks import Block

_CHOSEN = {"--minutes", "--track", "--role", "--level", "--blind"}
_NAMED = {"ID", "--minutes", "--blind"}
# Options that may be given together: two in pairs, in one of these groups; --candidate with any.
_TOGETHER = (
    _CHOSEN | {"--host"},
    _CHOSEN | {"--json"},
    _NAMED | {"--host"},
    _NAMED | {"--json"},
    {"--next", "--json"},
    {"--note", "--json"},
    {"--note", "--end", "--json"},
    {"--note", "--end", "--out"},
    {"--end", "--debrief", "--json"},
    {"--end", "--debrief", "--out"},
    {"--debrief", "--number", "--json"},
    {"--debrief", "--number", "--out"},
)


def interview(
    ctx: typer.Context,
    questions: Annotated[
        list[str] | None, argument("ID...", "These; else some that fit.", autocompletion=ids)
    ] = None,
    minutes: Annotated[int | None, option("MIN", "Else 45.", min=5, max=480)] = None,
    track: Annotated[str | None, option("TRACK", "Of this track.", autocompletion=tracks)] = None,
    role: Annotated[str | None, option("ROLE", "Of what this role is asked.")] = None,
    level: Annotated[str | None, option("LEVEL", "Of this level.")] = None,
    blind: Annotated[bool, flag("--blind", "No verdict before the end.")] = False,
    host: Annotated[bool, flag("--host", "Ask somebody, on a screen that you share.")] = False,
    candidate: Annotated[str, option("NAME", "Whom; the record is kept apart.")] = "",
    next_: Annotated[bool, flag("--next", "Go on to what is asked next.")] = False,
    note: Annotated[str | None, option("TEXT", "Take a note.")] = None,
    end: Annotated[bool, flag("--end", "End it, and show the debrief.")] = False,
    debrief: Annotated[bool, flag("--debrief", "Show what came of the last one.")] = False,
    number: Annotated[int | None, option("N", "The debrief of this one.", min=1)] = None,
    out: Annotated[Path | None, option("FILE", "Write the debrief: .md or .html.")] = None,
    json: Json = False,
) -> None:
    """Be interviewed against the clock, or interview somebody."""
    from grader.app import interviews
    from grader.cli.screen import Live
    from grader.cli.watch import can_redraw, follow

    _check_together(
        {
            "ID": bool(questions), "--minutes": minutes, "--track": track, "--role": role,
            "--level": level, "--blind": blind, "--host": host, "--next": next_,
            "--note": note is not None, "--end": end, "--debrief": debrief, "--number": number,
            "--out": out, "--json": json,
        }
    )  # fmt: skip
    if host and not (candidate and can_redraw()):
        raise UsageError("--host: expected --candidate NAME, and a terminal that can be redrawn")
    if candidate:  # a history of its own, for whatever is called from here
        check_candidate("--candidate", candidate)
        os.environ["DRILL_CANDIDATE"] = candidate
    here = context(ctx)
    again = f"drill interview{here.option}"
    again += f" --candidate {shlex.quote(candidate)}" * bool(candidate)
    held, fit = interviews.latest(here), (track, level, role)
    if note is not None:
        interviews.note(here, note)
        if not end:
            if not output.answer(json, noted=len(note)):
                output.write(f"noted, {quantity(len(note), 'character')}")
            return
    if end:
        interviews.end(here)
    if end or debrief or number or out or (held is not None and not interviews.left(here)):
        _debrief(here, number, out, again, json=json)
        return
    if held is None and next_:
        raise UsageError("no interview is open, so nothing comes next", hint=f"Next: {again}")
    if held is None:
        interviews.begin(
            here, questions or (), fit, minutes=minutes or 45, blind=blind, candidate=candidate
        )
        held = interviews.latest(here)
        assert held is not None
    elif questions or minutes or any(fit) or blind:
        text = f"an interview is open, {interviews.left(here)}, and goes on as it began"
        raise UsageError(text, hint=f"Next: {again}   {again} --end")
    choice = interviews.now_asked(here, held, further=next_)
    while choice is not None and not json and can_redraw():
        with output.captured() as text_:
            output.show(_asked(here, held, choice), rows=output.rows())
        # A host's `n` takes a note.
        if host:
            keys = ("n note", "g go on", "h hint", "p question", "d diff", "q leave")
        else:
            case = () if held.blind else ("c case",)
            keys = ("h hint", *case, "p question", "d diff", "e edit", "n go on", "q leave")
        take = partial(interviews.note, here) if host else None
        left = partial(interviews.left, here)
        if not follow(
            ctx, choice.called, Live(text_.getvalue(), keys, left, "g" if host else "n", take)
        ):
            break
        choice = interviews.now_asked(here, held, further=True)
    left_, part = interviews.left(here), held.asked[-1].part
    if json:
        file = choice and choice.need_workspace().submission
        output.document(
            interview=held.number, minutes=held.minutes, blind=held.blind, left=left_,
            questions=[one.called for one in held.questions],
            question=choice and choice.question.id, part=choice and part, submission=file,
        )  # fmt: skip
    elif not left_ and candidate:  # the screen is shared
        output.steps(f"{again} --debrief", after="The interview is over.")
    elif not left_:
        _debrief(here, None, None, again, json=False)
    elif choice is None:
        output.steps(f"{again} --end", after=f"That was the last question; {left_}.")
    elif can_redraw():
        steps = (again + " --host" * host, f"{again} --end")
        output.steps(*steps, after=f"{left_}, and it runs on.")
    else:
        output.show(_asked(here, held, choice), rows=output.rows())
        folder = choice.need_workspace().folder
        there = "" if folder == here.folder else f"cd {here.typed(folder)} && "
        output.steps(f"{there}drill grade", "drill hint", f"{again} --next")


def _check_together(given: Mapping[str, object]) -> None:
    """Raise UsageError if two of the options that were given exclude each other."""
    named = [name for name, value in given.items() if value]
    for pair in combinations(named, 2):
        if not any(group.issuperset(pair) for group in _TOGETHER):
            first, second = pair
            text = f"expected {first} or {second}, found both"
            raise UsageError(text, hint="drill interview --help shows what each does")


def _asked(here: Context, held: Interview, choice: Choice) -> tuple[Block, ...]:
    """What is asked now, in the interviewer's words, and the terms."""
    from grader.reports.blocks import Paragraph
    from grader.reports.question import page

    question, order = choice.question, [one.id for one in held.questions]
    end = here.local(datetime.fromisoformat(held.at) + timedelta(minutes=held.minutes))
    terms = f"Question {order.index(question.id) + 1} of {len(order)}, in "
    terms += f"{here.typed(choice.need_workspace().submission)}; {held.left(here.now())}, until "
    terms += f"{end:%H:%M}. A hint stands in the debrief and brings the question back sooner."
    terms += " No verdict before the end; n, or --next, goes on to the next part." * held.blind
    part = here.progress(question).asked(len(question.spec.parts))
    return page(question, part, [Paragraph(terms)])


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
    title, blocks = Heading(found.title, level=1), [*page(found)]
    if out is not None:
        is_html = out.suffix == ".html"
        markdown = render_markdown([title, *blocks])
        write_whole(out, alone(found.title, blocks) if is_html else [markdown])
        output.info(f"the debrief is in {out}")
    elif json:
        output.document(**asdict(found) | {"at": found.at.isoformat()})
    else:
        steps = ["drill next"] * (not found.candidate) + [f"{again} --debrief --out FILE.html"]
        output.show([title, *blocks, Gap(), Commands(tuple(steps))], paged=True)
