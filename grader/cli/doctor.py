"""`drill doctor`."""

from __future__ import annotations

from dataclasses import asdict

import typer

from grader.cli import output
from grader.cli.context import Json, context


def command(ctx: typer.Context, json: Json = False) -> int:
    """Show what this machine has, and what is missing."""
    from grader.app.doctor import doctor

    findings = list(doctor(context(ctx)))
    status = max(finding.status for finding in findings)
    if json:
        rows = [asdict(finding) for finding in findings]
        output.document(
            ok=status == 0, findings=[row | {"ok": row.pop("status") == 0} for row in rows]
        )
    else:
        across = max(len(one.name) for one in findings)
        for one in findings:
            output.named(one.name, across, one.value, one.advice, *one.rows)
    return status
