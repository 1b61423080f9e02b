"""`drill bank audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import entrypoint, output
from grader.cli.context import Json, context, ids

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.app.auditing import Audited


def command(
    ctx: typer.Context,
    questions: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", autocompletion=ids, show_default=False),
    ] = None,
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, max=1000, help="How many seeds to try.")
    ] = 3,
    strict: Annotated[bool, typer.Option("--strict", help="Let a remark fail it too.")] = False,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Try small changes of the reference as well.")
    ] = False,
    at_most: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="With --mutants: N of them, the same each time."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Prove all, whatever committed proofs say.")
    ] = False,
    mine: Annotated[
        bool, typer.Option("--mine", help="Believe the proofs of this bank: it is yours.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write-proofs", help="With --mutants: write proofs to be committed.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Questions at once; as many as cores if not given."),
    ] = None,
    json: Json = False,
) -> int:
    """Prove questions: every variant through every check."""
    from grader.app import requirements
    from grader.app.auditing import audit
    from grader.audit.audit import Plan

    plan = Plan(
        range(seeds), mutants, at_most, strict, everything, mine, write,
        jobs or requirements.cores(),
    )  # fmt: skip
    step: Callable[[str], None]  # where the next line on what is being done goes
    results = audit(context(ctx), questions or [], plan, progress=lambda s: step(s))
    found: list[Audited] = []
    while True:
        with output.waiting() as step:
            done = next(results, None)
        if done is None:
            break
        if not json:
            _show(done, first=not any(one.report for one in found))
        found.append(done)
    faulty = [one.name for one in found if not one.ready(strict=strict)]
    if json:
        _write_json(found, ok=not faulty, strict=strict, seeds=seeds)
    elif (count := sum(bool(one.report or one.fault or one.believed) for one in found)) > 1:
        not_ready = f"{len(faulty)} of {count} not ready: {', '.join(faulty)}"
        believed = sum(one.believed for one in found)
        before = f", {believed} of them proved before" if believed else ""
        output.write(f"\n{not_ready if faulty else f'all {count} are ready{before}'}")
    if faulty and all(one.ready(strict=False) for one in found):
        output.warn("the remarks are faults, because of --strict")
    if any(one.mutants is not None and one.mutants.interrupted for one in found):
        return entrypoint.EXIT_INTERRUPTED
    return entrypoint.EXIT_BANK_FAULT if faulty else 0


def _show(done: Audited, *, first: bool) -> None:
    from grader.reports.audit import audit_page, mutation_page

    if done.report is not None and not first:
        output.write()
    if done.standing is not None:
        output.write(f"{done.name}: {done.standing.text}{'' if done.believed else '; proved now'}")
    for problem in done.fault.problems if done.fault else ():
        output.warn(problem, excerpt=done.fault.excerpt if done.fault else ())
    if done.report is not None:
        output.show(audit_page(done.report))
    if done.mutants is not None:
        output.write()
        output.show(mutation_page(done.mutants))
    if done.written:
        output.write(f"\n  its proof is written: {done.written}")


def _write_json(found: Sequence[Audited], **head: object) -> None:
    from grader.model.audit import AUDIT_FORMAT
    from grader.reports.json import audit_to_json

    tried = [one for one in found if one.report or one.fault or one.believed]
    output.document(
        format=AUDIT_FORMAT,
        **head,
        questions=[audit_to_json(one.report, one.mutants) for one in tried if one.report],
        skipped=[one.name for one in found if one not in tried],
        problems=[problem for one in tried if one.fault for problem in one.fault.problems],
        proofs=[
            {
                "question": one.name,
                "state": one.standing.state,
                "text": one.standing.text,
                "proved": not one.believed,
            }
            for one in tried
            if one.standing
        ],
    )
