"""`drill bank`: which banks are in use, and what is done to write and prove a question."""

from __future__ import annotations

import shlex
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated

import typer

from grader.bank import config_file
from grader.commands import entrypoint, output
from grader.commands.options import (
    MAX_SEED,
    Id,
    Jobs,
    JsonOption,
    argument,
    command_context,
    flag,
    ids,
    option,
)
from grader.model.number_format import format_count
from grader.reports import text_layout

if TYPE_CHECKING:
    from grader.commands.auditing import AuditOutcome


def add(
    ctx: typer.Context, path: Annotated[Path, argument("PATH")], json: JsonOption = False
) -> None:
    """Use a bank: a folder or a YAML file."""
    from grader.commands import banks

    found = banks.add_bank(command_context(ctx), path)
    if output.emit_json(json, **found._asdict(), list=config_file()):
        return
    state = "is in use already" if found.already else "is in use from now on"
    output.write(f"{found.name}  {found.bank}")
    output.write(f"{format_count(found.questions, 'question')}; it {state}")


def remove(
    ctx: typer.Context, path: Annotated[str, argument("PATH")], json: JsonOption = False
) -> None:
    """Stop using a bank; nothing is deleted."""
    from grader.commands import banks

    gone = banks.remove_bank(command_context(ctx), path)
    if not output.emit_json(json, removed=gone, list=config_file()):
        output.write(f"{gone[0]} is no longer in use; it is left where it is")


def list_(ctx: typer.Context, json: JsonOption = False) -> int:
    """List the banks in use, and how many questions each holds."""
    from grader.commands.banks import list_banks

    found = list_banks(command_context(ctx))
    status = entrypoint.EXIT_BANK_FAULT if any(row.fault for row in found) else 0
    if json:
        rows = [row._asdict() for row in found]
        output.write_json(ok=status == 0, banks=[row | {"from": row.pop("origin")} for row in rows])
        return status
    across = max(len(row.name) for row in found)
    for row in found:
        origin = f"from {row.origin}" if row.origin else "comes with the program"
        state = row.fault or f"{format_count(row.questions, 'question')}, {origin}"
        for number, line in enumerate(filter(None, [row.path, state, row.hint])):
            output.write(f"{'' if number else row.name:<{across}}  {line}")
    return status


def schema() -> None:
    """Print the JSON Schema of a question, for editors."""
    from grader.grading.kinds.schema import question_schema

    output.write(question_schema().rstrip("\n"))


def new(
    ctx: typer.Context,
    question: Annotated[str, argument("ID")],
    one_file: Annotated[bool, flag("--one-file", "Everything in one YAML file.")] = False,
    parts: Annotated[int | None, option("N", "A skeleton in N parts, from 2 to 9.")] = None,
    form: Annotated[
        str, option("FORM", "fix, estimate, predict, derive, review, diagnose or write-the-test.")
    ] = "fix",
    json: JsonOption = False,
) -> None:
    """Write a question that passes its audit, to begin from."""
    from grader.commands import authoring

    here = command_context(ctx)
    made = authoring.create_question(here, question, one_file=one_file, parts=parts, form=form)
    if output.emit_json(json, question=question, spec=made.written[0], **made._asdict()):
        return
    where = shlex.quote(here.short_path(made.bank))
    places = format_count(len(made.todo), "place")
    todo = [f"  fill in the {places} marked TODO; the audit counts what is left"] * bool(made.todo)
    commands = f"--bank {where} bank audit {question}", f"--bank {where} start {question}"
    steps = [f"  drill {words}" for words in (*commands, f"bank add {where}")]
    output.write("\n".join([*map(here.short_path, made.written), "", "next:", *todo, *steps]))


def new_idea(
    ctx: typer.Context,
    question: Id,
    group: Annotated[str, argument("GROUP", "Its first digits.")],
    results: Annotated[Path, option("RESULTS", "Of the class.", "--from", show_default=False)],
    name: Annotated[str, option("NAME", "What the idea is called.", show_default=False)],
    json: JsonOption = False,
) -> int:
    """Make a misconception of equal answers, and audit it."""
    from grader.commands import ideas
    from grader.reports.audit import audit_page, audit_to_json

    here = command_context(ctx)
    with output.show_status() as doing:
        made = ideas.create_idea(here, question, results, group, name, progress=doing)
    status = 0 if made.audit.ok else entrypoint.EXIT_BANK_FAULT
    if output.emit_json(
        json, question=question, group=made.outputs, files=made.answers, checks=made.checks,
        known=made.known, written=[made.file], todo=made.line, audit=audit_to_json(made.audit),
    ):  # fmt: skip
        return status
    stopped = ", ".join(made.checks)
    output.write(f"{made.outputs}: {format_count(made.answers, 'file')}, stopped by {stopped}")
    if made.known:
        output.write(f"the question knows {', '.join(made.known)}, which computes the same")
    output.write(f"\n{indent(made.text.rstrip(), '  ')}\n")
    output.show_page(audit_page(made.audit))
    output.write(f"\n{here.short_path(made.file)}:{made.line}")
    output.info("a stranger wrote this: read it before you keep it in your bank")
    output.write(f"\nNext: read the program, and write the feedback of {name} where TODO stands")
    return status


def preview(
    ctx: typer.Context,
    question: Id,
    name: Annotated[
        str | None, argument("NAME", "A misconception of it, or starter; without, see the names.")
    ] = None,
    seed: Annotated[int, option("N", "Of the cases.", min=0, max=MAX_SEED)] = 0,
    json: JsonOption = False,
) -> int:
    """Show what somebody sees who holds a misconception."""
    from grader.commands import ideas

    here = command_context(ctx)
    pages = list(ideas.preview_idea(here, question, name, seed=seed))
    if json:
        from grader.reports.json import to_json

        output.write_json(pages=[{"name": name, "report": to_json(one)} for name, one in pages])
    else:
        from grader.reports import grade

        words = f"drill bank preview {shlex.quote(question)} {name}{here.bank_option}"
        for number, (label, report) in enumerate(pages):
            if number:
                output.write()
            output.write_lines([text_layout.bold(label), ""])
            # The starter holds the idea that is previewed, and would keep it back.
            around = grade.GradeContext(file="", explain=True, full_command=f"{words} --json")
            output.show_page(grade.grade_page(report, around), rows=around.rows)
    faulty = any(report.verdict == "invalid" for _, report in pages)
    return entrypoint.EXIT_BANK_FAULT if faulty else 0


def audit(
    ctx: typer.Context,
    questions: Annotated[list[str] | None, argument("ID", autocompletion=ids)] = None,
    seeds: Annotated[int, option("N", "How many seeds to try.", min=1, max=1000)] = 3,
    strict: Annotated[bool, flag("--strict", "Let a remark fail it too.")] = False,
    mutants: Annotated[bool, flag("--mutants", "Try small changes of the reference too.")] = False,
    at_most: Annotated[int | None, option("N", "Only N mutants, always the same.", min=1)] = None,
    everything: Annotated[bool, flag("--all", "Prove all, whatever committed proofs say.")] = False,
    mine: Annotated[bool, flag("--mine", "Believe the proofs of this bank: it is yours.")] = False,
    write: Annotated[bool, flag("--write-proofs", "With --mutants: write proofs.")] = False,
    claims: Annotated[
        bool, flag("--write-killed-by", "Write which check stops an idea that does not say it.")
    ] = False,
    jobs: Jobs = None,
    json: JsonOption = False,
) -> int:
    """Prove questions: every variant through every check."""
    from grader.audit.audit import AuditPlan
    from grader.commands import auditing
    from grader.commands.context import available_cores

    asked = range(seeds), mutants, at_most, strict, everything, mine, write, claims
    plan = AuditPlan(*asked, jobs or available_cores())
    found: list[AuditOutcome] = []
    with output.show_status() as doing:
        for done in auditing.run_audit(command_context(ctx), questions or [], plan, progress=doing):
            if not json:
                _show(done, first=not any(one.report for one in found))
            found.append(done)
    faulty = [one.name for one in found if not one.is_ready(strict=strict)]
    tried = [one for one in found if one.report or one.fault or one.is_believed]
    if json:
        from grader.model.audit import AUDIT_FORMAT
        from grader.reports.audit import audit_to_json

        output.write_json(
            format=AUDIT_FORMAT, ok=not faulty, strict=strict, seeds=seeds,
            skipped=[one.name for one in found if one not in tried],
            questions=[audit_to_json(one.report, one.mutants) for one in tried if one.report],
            problems=[problem for one in tried if one.fault for problem in one.fault.problems],
            proofs=[
                {"question": one.name, "state": one.proof_status.state, "text": one.proof_status.text,
                 "proved": not one.is_believed}
                for one in tried if one.proof_status
            ],
        )  # fmt: skip
    elif len(tried) > 1:
        not_ready = f"{len(faulty)} of {len(tried)} not ready: {', '.join(faulty)}"
        believed = sum(one.is_believed for one in found)
        before = f", {believed} of them proved before" if believed else ""
        output.write(f"\n{not_ready if faulty else f'all {len(tried)} are ready{before}'}")
    if faulty and all(one.is_ready(strict=False) for one in found):
        output.warn("the remarks are faults, because of --strict")
    if any(one.mutants is not None and one.mutants.interrupted for one in found):
        return entrypoint.EXIT_INTERRUPTED
    return entrypoint.EXIT_BANK_FAULT if faulty else 0


def _show(done: AuditOutcome, *, first: bool) -> None:
    from grader.reports.audit import audit_page, mutation_page

    if done.report and not first:
        output.write()
    if done.proof_status:
        output.write(
            f"{done.name}: {done.proof_status.text}{'' if done.is_believed else '; proved now'}"
        )
    for problem in done.fault.problems if done.fault else ():
        output.warn(problem, excerpt=done.fault.excerpt if done.fault else ())
    if done.report:
        output.show_page(audit_page(done.report))
    if done.mutants:
        output.write()
        output.show_page(mutation_page(done.mutants))
    if done.killed_by_written:
        output.write(
            f"\n  killed_by is written above {format_count(done.killed_by_written, 'idea')}"
        )
    if done.proof_path:
        output.write(f"\n  its proof is written: {done.proof_path}")
