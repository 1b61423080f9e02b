"""`drill doctor`."""

from __future__ import annotations

from dataclasses import asdict

import typer

from grader.cli import output
from grader.cli.context import context
from grader.cli.options import Json


def command(ctx: typer.Context, json: Json = False) -> int:
    """Show what this machine has, and what is missing."""
    from grader.app.doctor import doctor

    findings = list(doctor(context(ctx)))
    status = max(finding.status for finding in findings)
    if json:
        rows = [asdict(finding) for finding in findings]
        rows = [row | {"ok": row.pop("status") == 0} for row in rows]
        output.document({"format": 1, "ok": status == 0, "findings": rows})
        return status
    across = max(len(finding.name) for finding in findings)
    for finding in findings:
        output.write(f"{finding.name:<{across}}  {finding.value}")
        for line in filter(None, (finding.advice, *finding.rows)):
            output.write(f"{'':<{across}}  {line}")
    return status
