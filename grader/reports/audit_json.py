"""The audit of a question as plain data; `docs/audit.md` describes every field."""

from __future__ import annotations

from dataclasses import asdict

from grader.model.audit import AuditReport, AuditRow, CheckFacts


def to_json(report: AuditReport) -> dict[str, object]:
    """The whole audit, ready for `json.dumps`."""
    return {
        "question": report.question,
        "title": report.title,
        "ok": report.ok,
        "seeds": list(report.seeds),
        "seconds": report.seconds,
        "checks": [_check(facts) for facts in report.facts],
        "programs": [_program(row) for row in report.rows],
        "trivial": [
            {
                "name": t.name,
                "about": t.about,
                "passes": list(t.passes),
                "accepted": t.accepted,
                "made": t.made,
            }
            for t in report.trivial
        ],
        "twins": [
            {"ids": [t.one, t.other], "case": list(t.case), "run": t.run, "tried": t.tried}
            for t in report.twins
        ],
        "problems": list(report.problems),
        "remarks": [asdict(remark) for remark in report.remarks],
        "notes": list(report.notes),
    }


def _check(facts: CheckFacts) -> dict[str, object]:
    margin = facts.margin
    return {
        "id": facts.id,
        "kind": facts.kind,
        "stretch": facts.stretch,
        "stops": facts.stops,
        "first": facts.first,
        "cpu_seconds": facts.seconds,
        "share": facts.share,
        "margin": None
        if margin is None
        else {"right": margin.right, "wrong": margin.wrong, "closest": margin.closest},
        "lets_through": list(facts.lets_through),
    }


def _program(row: AuditRow) -> dict[str, object]:
    return {
        "name": row.name,
        "misconception": row.misconception,
        "claimed_by": list(row.claimed),
        "cells": {check: cell.name.lower() for check, cell in row.cells.items()},
        "passing_seeds": {check: list(seeds) for check, seeds in row.passing.items()},
        "named": list(row.named),
        "named_well": row.named_well,
        "seeds": row.seeds,
    }
