"""`drill list`, `show`, `next`, `pack`: which questions there are, how far one is, handing out."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grader.commands import output
from grader.commands.options import (
    JsonOption,
    Seed,
    SomeId,
    argument,
    command_context,
    flag,
    option,
    tracks,
)
from grader.model.number_format import format_count

if TYPE_CHECKING:
    from grader.commands.catalog import QuestionStatus
    from grader.model.question import Question

_HEAD = ("question", "title", "level", "parts", "min", "you")


def list_(
    ctx: typer.Context,
    text: Annotated[str, argument("TEXT", "Only IDs, titles and tracks with this text.")] = "",
    track: Annotated[str | None, option("TRACK", "Only this track.", autocompletion=tracks)] = None,
    level: Annotated[str | None, option("LEVEL", "Only this level.")] = None,
    role: Annotated[str | None, option("ROLE", "Only what this role is asked.")] = None,
    form: Annotated[
        str | None, option("FORM", "Only this form: fix, estimate, predict, derive, review, ...")
    ] = None,
    due: Annotated[bool, flag("--due", "Only those due for review.")] = False,
    new: Annotated[bool, flag("--new", "Only those not begun.")] = False,
    under: Annotated[int | None, option("MIN", "Only those of at most MIN minutes.", min=1)] = None,
    json: JsonOption = False,
) -> None:
    """List the questions, how far you are with each, and what is due."""
    from grader.commands.catalog import list_questions

    here = command_context(ctx)
    found = list_questions(
        here, track, level, role, form=form, text=text, new=new, due=due, under=under
    )
    names = ("id", "called", "title", "track", "form", "level", "roles", "minutes", "bank")
    rows = [
        {name: getattr(one.header, name) for name in names}
        | {
            "state": one.question_progress.state,
            "tries": one.question_progress.tries,
            "passed": one.question_progress.passed,
        }
        | {"due": one.due and one.due.isoformat(), "parts": one.header.parts}
        | {"parts_passed": one.question_progress.count_parts_passed(one.header.parts)}
        for one in found
    ]
    if output.emit_json(json, questions=rows):
        return
    if found:
        table: list[tuple[str, ...]] = []
        for at, one in enumerate(found):
            if not at or one.header.track != found[at - 1].header.track:
                table.append((one.header.track,))
            table.append(_cells(one))
        output.write_table(_HEAD, table, long="title", spare=("level", "min"))
        # The summary last: it stays in sight.
        again = sum(one.is_due for one in found)
        said = f", {again} due for review" * bool(again)
        said = f"{sum(one.question_progress.passed for one in found)} of {len(found)} passed{said}"
        output.write_next_steps(f"drill next{here.bank_option}", after=said)
    elif track or level or role or form or text or new or under:
        output.write_next_steps(f"drill list{here.bank_option}", after="no such questions")
    elif due:
        output.write_next_steps(f"drill next{here.bank_option}", after="nothing is due")
    else:
        output.write("no questions: the banks that were found hold none")


def _cells(one: QuestionStatus) -> tuple[str, ...]:
    from grader.commands.schedule import due_text

    header = one.header
    yours = one.question_progress
    passed = f"{yours.count_parts_passed(header.parts)}/{header.parts}"
    state = format_count(yours.tries, "try", "tries") if yours.state == "tried" else yours.state
    if one.due and yours.is_finished:
        state = due_text(one.due, one.today)
    return f"  {header.called}", header.title, header.level, passed, str(header.minutes), state


def show(
    ctx: typer.Context,
    question: SomeId = None,
    all_: Annotated[bool, flag("--all", "Show later parts, too; all of a guide.")] = False,
    interviewer: Annotated[
        bool, flag("--interviewer", "Show a guide for the interviewer; gives the answers away.")
    ] = False,
    seed: Seed = None,
    json: JsonOption = False,
) -> None:
    """Show a question without starting it."""
    from grader.commands.workspaces import resolve_drill

    here = command_context(ctx)
    choice = resolve_drill(here, question, seed=seed)
    found = choice.question
    several = len(found.spec.parts)
    drawn = f" --seed {seed}" * (seed is not None)
    if interviewer:
        _guide(found, f"{choice.typed_name}{here.bank_option}{drawn}", everything=all_, json=json)
        return
    asked = several if all_ or several == 1 else here.progress(found).count_parts_asked(several)
    if output.emit_json(json, **_whole(found, asked)):
        return
    from grader.reports.question import question_blocks

    steps = [f"drill start {choice.typed_name}{here.bank_option}{drawn}"]
    if choice.workspace:
        steps = [f"drill grade{choice.drill_argument}"]
    steps += [f"drill show{choice.drill_argument} --all"] * (asked < several)
    output.show_page(question_blocks(found, asked), commands=steps, paged=True)


def show_on_screen(ctx: typer.Context, called: str) -> None:
    """Show a question, as far as it is asked, without commands to type: a screen has keys."""
    from grader.commands.workspaces import resolve_drill
    from grader.reports.question import question_blocks

    here = command_context(ctx)
    found = resolve_drill(here, called).question
    parts = len(found.spec.parts)
    asked = here.progress(found).count_parts_asked(parts) if parts > 1 else 1
    output.show_page(question_blocks(found, asked), paged=True)


def pack(
    ctx: typer.Context,
    questions: Annotated[list[str], argument("ID...", "The questions.")],
    out: Annotated[Path, option("PATH", "A new folder or .zip file.", show_default=False)],
    part: Annotated[int | None, option("N", "Up to this part.")] = None,
    seed: Seed = None,
    json: JsonOption = False,
) -> None:
    """Write questions as files, without their solutions."""
    from grader.commands.packing import write_pack as packed

    here = command_context(ctx)
    made = packed(here, questions, out, part=part, seed=seed or 0)
    if output.emit_json(json, out=made.out, questions=made.questions, files=made.files):
        return
    count = format_count(len(made.files), "file")
    output.write(f"{made.out}: {', '.join(made.questions)}; {count}, no solution among them")
    upto = "" if part is None else f" --parts {','.join(map(str, range(1, part + 1)))}"
    drawn = f" --seed {seed}" * (seed is not None)
    output.write_next_steps(
        f"drill grade {questions[0]}{here.bank_option} --file FILE{upto}{drawn}"
    )


def _guide(question: Question, called: str, *, everything: bool, json: bool) -> None:
    """Show a live interviewer's guide, and the command for a right file; in a pipe as Markdown."""
    from grader.commands.interviewing import collect_evidence
    from grader.reports.interviewer import interviewer_guide

    parts = question.spec.parts
    found = collect_evidence(question) if everything or json else None
    if json:
        told = [part.model_dump(include={"hints", "follow_ups"}) for part in parts]
        ideas = [asdict(one) for one in found or ()]
        output.write_json(
            **_whole(question, len(parts)), interviewer={"parts": told, "ideas": ideas}
        )
        return
    right = f"drill solution {called} --give-up --full"
    output.show_page(
        interviewer_guide(question, called, found), commands=[right], paged=True, markdown=True
    )


def _whole(question: Question, asked: int) -> dict[str, Any]:
    """Everything of a question that does not give its answer away."""
    from grader import forms

    spec = question.spec
    shown = question.spec.parts[:asked]
    names = {"title", "track", "level", "uses", "prerequisites", "causes", "log"}
    of_part = {"points", "minutes", "prompt", "interface", "contract"}
    of_check = {"id", "kind", "about", "tolerance"}  # what it allows besides rounding
    return {
        "question": question.id,
        "bank": question.bank,
        "digest": question.digest,
        "numbers": question.number_set if spec.given else None,
        **spec.model_dump(include=names | {"experiments"}),
        "minutes": spec.minutes,
        "prompt": shown[0].prompt,
        "functions": list(question.functions_for_part(asked)),
        "hints": sum(len(part.hints) for part in shown),
        "parts": [
            part.model_dump(include=of_part)
            | {
                "id": id_,
                "checks": [c.model_dump(include=of_check, exclude_none=True) for c in part.checks],
            }
            for id_, part in zip(spec.part_ids, shown, strict=False)
        ],
        "parts_in_all": len(spec.parts),
        "materials": [asdict(one) for one in forms.form_of(spec).materials(spec)],
    }


def next_(ctx: typer.Context, json: JsonOption = False) -> None:
    """Say what to do next, and why."""
    from grader.commands.catalog import suggest_question

    here = command_context(ctx)
    found = suggest_question(here)
    if found is None:
        if not output.emit_json(json, next=None):
            output.write("no questions: the banks that were found hold none")
        return
    (header, _, due, today), reason, folder = found
    called = header.called
    kind = found.question_status.practice_state
    row = {
        "question": called, "kind": kind, "reason": reason,
        "due": due and due.isoformat(), "folder": folder,
    }  # fmt: skip
    if output.emit_json(json, next=row):
        return
    from grader.commands.schedule import format_day
    from grader.reports.blocks import Paragraph

    if due and kind == "later":
        output.write(f"Nothing is due until {format_day(due, today)}. Then:")
    output.show_page([Paragraph(f"\xa0\xa0{reason}", called, hang=4)])
    start = f"drill start {called}{here.bank_option}"
    if kind in {"due", "later"}:
        output.write_next_steps(
            f"{start} --again", *[f"drill list{here.bank_option}"] * (kind == "later")
        )
    elif kind == "new" or folder is None:
        output.write_next_steps(start)
    else:
        output.write_next_steps(f"{here.cd_prefix(folder)}drill grade{here.bank_option}")
