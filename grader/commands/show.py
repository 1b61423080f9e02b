"""`drill show`: a question without starting it, or the guide of its interviewer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grader.commands import output
from grader.commands.context import require_torch
from grader.commands.options import JsonOption, Seed, SomeId, command_context, flag
from grader.commands.workspaces import resolve_drill
from grader.model.errors import BankError

if TYPE_CHECKING:
    from grader.explain.session import GradingSession
    from grader.model.question import Question
    from grader.model.spec import Part
    from grader.reports.interviewer import IdeaEvidence


@contextmanager
def bank_session(question: Question) -> Iterator[GradingSession]:
    """Open a session to run the bank's own programs, such as the reference.

    UsageError if torch is needed and missing; BankError if one of the programs fails.
    """
    require_torch(question)
    import numpy as np

    from grader.explain.session import GradingSession
    from grader.grading.bank_errors import BankProgramError

    try:
        with GradingSession(question) as session, np.errstate(all="ignore"):
            yield session
    except BankProgramError as fault:
        raise BankError(f"{question.spec_path}: {fault}") from None


def collect_evidence(question: Question) -> list[IdeaEvidence]:
    """Run a program with each wrong idea; return what the first check that must stop it found."""
    with bank_session(question) as session:
        parts = question.spec.parts
        return [idea for part in parts for idea in _evidence_of_part(session, part)]


def _evidence_of_part(session: GradingSession, part: Part) -> list[IdeaEvidence]:
    """Return the evidence of each wrong idea that a check of this part must stop (`killed_by`)."""
    from grader.grading.case_by_case import SubmissionStopped
    from grader.grading.kinds import registry
    from grader.reports.grade_sentences import smallest_case
    from grader.reports.interviewer import IdeaEvidence, smallest_case_text, wrong_result_text

    evidence: dict[str, IdeaEvidence] = {}
    for check in part.checks:
        for name, idea in session.question.ideas.items():
            if check.id not in idea.killed_by or name in evidence:
                continue
            programs = [session.question.reference, session.question.variants[name][0]]
            evaluation = session.evaluate_bank_program(
                name, programs, 0, called=f"the misconception {name}"
            )
            try:
                result = registry.kind_named(check.kind).run_check(evaluation, check)
            except SubmissionStopped as stop:
                result = stop.result
            case_text = smallest_case_text(session.question, result)
            evidence[name] = IdeaEvidence(
                name,
                check.id,
                idea.feedback_for(),
                smallest_case(result),
                case_text,
                wrong_result_text(result),
            )
    return list(evidence.values())


def question_to_json(question: Question, asked: int) -> dict[str, Any]:
    """Return the public facts of a question and of its first `asked` parts: no answer, no hint."""
    from grader import forms

    spec = question.spec
    asked_parts = spec.parts[:asked]
    spec_keys = {"title", "track", "level", "uses", "prerequisites", "causes", "log", "experiments"}
    part_keys = {"points", "minutes", "prompt", "interface", "contract"}
    check_keys = {"id", "kind", "about", "tolerance"}
    parts = []
    for part_id, part in zip(spec.part_ids, asked_parts, strict=False):
        checks = [c.model_dump(include=check_keys, exclude_none=True) for c in part.checks]
        parts.append(part.model_dump(include=part_keys) | {"id": part_id, "checks": checks})
    return {
        "question": question.id,
        "bank": question.bank,
        "digest": question.digest,
        "numbers": question.number_set if spec.given else None,
        **spec.model_dump(include=spec_keys),
        "minutes": spec.minutes,
        "prompt": asked_parts[0].prompt,
        "functions": list(question.functions_for_part(asked)),
        "hints": sum(len(part.hints) for part in asked_parts),
        "parts": parts,
        "parts_in_all": len(spec.parts),
        "materials": [asdict(material) for material in forms.form_of(spec).materials(spec)],
    }


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
    context = command_context(ctx)
    drill = resolve_drill(context, question, seed=seed)
    seed_option = "" if seed is None else f" --seed {seed}"
    typed_name = f"{drill.typed_name}{context.bank_option}{seed_option}"
    if interviewer:
        _show_guide(drill.question, typed_name, everything=all_, json=json)
        return
    parts = len(drill.question.spec.parts)
    asked = parts
    if not all_ and parts > 1:
        asked = context.parts_asked(drill.question)
    if output.emit_json(json, **question_to_json(drill.question, asked)):
        return
    from grader.reports.question import question_blocks

    if drill.workspace:
        steps = [f"drill grade{drill.drill_argument}"]
    else:
        steps = [f"drill start {typed_name}"]
    if asked < parts:
        steps.append(f"drill show{drill.drill_argument} --all")
    output.show_page(question_blocks(drill.question, asked), commands=steps, paged=True)


def _show_guide(question: Question, typed_name: str, *, everything: bool, json: bool) -> None:
    """Show the guide of an interviewer; if the output is not a terminal, as Markdown.

    With `everything` or `json` run the programs of all wrong ideas, and show how each fails.
    """
    from grader.reports.interviewer import interviewer_guide

    evidence = collect_evidence(question) if everything or json else None
    if json:
        parts = [part.model_dump(include={"hints", "follow_ups"}) for part in question.spec.parts]
        ideas = [asdict(idea) for idea in evidence or ()]
        content = question_to_json(question, len(parts))
        output.write_json(**content, interviewer={"parts": parts, "ideas": ideas})
        return
    output.show_page(
        interviewer_guide(question, typed_name, evidence),
        commands=[f"drill solution {typed_name} --give-up --full"],
        paged=True,
        markdown=True,
    )


def show_on_screen(ctx: typer.Context, typed_name: str) -> None:
    """Show the parts of a question asked so far, without commands to type: a screen has keys."""
    from grader.reports.question import question_blocks

    context = command_context(ctx)
    question = resolve_drill(context, typed_name).question
    asked = context.parts_asked(question) if len(question.spec.parts) > 1 else 1
    output.show_page(question_blocks(question, asked), paged=True)
