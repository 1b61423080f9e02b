"""`drill show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import Id, Json, context

if TYPE_CHECKING:
    from grader.model.spec import Check

_OF_A_PART = ("points", "minutes", "prompt", "interface", "contract")


def command(
    ctx: typer.Context,
    question: Id,
    all_: Annotated[
        bool, typer.Option("--all", help="Every part, also those that you are not asked yet.")
    ] = False,
    json: Json = False,
) -> None:
    """Show a question, as far as you are with it, without starting it."""
    from dataclasses import asdict

    from grader import forms
    from grader.app.resolve import resolve

    here = context(ctx)
    found = resolve(here, question).question
    spec = found.spec
    several = len(spec.parts)
    number = several if all_ or several == 1 else here.progress(found).asked(len(found.spec.parts))
    if not json:
        from grader.reports.blocks import Commands, Gap
        from grader.reports.question import document

        every = f"drill show {question}{here.option} --all" if number < several else ""
        start = f"drill start {question}{here.option}"
        steps = Commands(tuple(filter(None, (start, every))))
        output.show([*document(found, number), Gap(), steps], paged=True)
        return
    shown = spec.parts[:number]
    names = (
        "title",
        "track",
        "level",
        "minutes",
        "uses",
        "prerequisites",
        "prompt",
        "causes",
        "log",
    )
    output.document(  # nothing that gives the answer away
        question=found.id,
        bank=found.bank,
        digest=found.digest,
        **{name: getattr(spec, name) for name in names},
        experiments=None if spec.experiments is None else spec.experiments.model_dump(),
        functions=list(found.functions_of(number)),
        hints=sum(len(part.hints) for part in shown),
        parts=[
            {name: getattr(part, name) for name in _OF_A_PART}
            | {"id": spec.part_ids[n], "checks": [_check(check) for check in part.checks]}
            for n, part in enumerate(shown)
        ],
        parts_in_all=several,
        materials=[asdict(one) for one in forms.of(spec).materials(spec)],
    )


def _check(check: Check) -> dict[str, object]:
    """What a check is about, and what it allows besides rounding."""
    given = getattr(check, "tolerance", None)
    allowed = {} if given is None else {"tolerance": given.model_dump(exclude_none=True)}
    return {"id": check.id, "kind": check.kind, "about": check.about, **allowed}
