"""A small question to audit, with any part of it replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml

from grader.audit.audit import audit
from grader.bank import load
from grader.model.audit import AuditReport
from grader.model.question import Question

REFERENCE = """
    import numpy as np

    def relu(x):
        return np.where(x > 0, x, 0).astype(x.dtype)
"""
SPEC: dict[str, Any] = {
    "format": 2,
    "title": "The gate",
    "track": "activations",
    "level": "warm-up",
    "minutes": 5,
    "uses": ["numpy"],
    "prompt": "The gate stands open. Close it.",
    "interface": "def relu(x):  # x (N, D) float64 -> y (N, D)",
    "run": ["y = relu(x)"],
    "cases": {
        "signs": {"x": [[-1.0, 2.0]]},
        "many": {"x": {"normal": [4, 5]}},
    },
    "checks": [{"id": "gate", "kind": "outputs", "of": "y"}],
    "starter_holds": ["open"],
    "misconceptions": {"open": {"killed_by": "gate", "feedback": "It lets everything through."}},
}
VARIANTS = {"open": "def relu(x):\n    return x.copy()\n"}


def question(
    folder: Path,
    *,
    reference: str = REFERENCE,
    begin: str = "",
    variants: Mapping[str, str] = VARIANTS,
    driver: str = "",
    **changes: Any,
) -> Question:
    """Write the question into a bank of its own and load it.

    Args:
        folder: an empty one.
        reference: its source.
        begin: source of the starter; the first variant over the reference when empty.
        variants: by misconception, with hyphens.
        driver: its source; none when empty.
        changes: of top-level keys of the spec; None leaves one out.
    """
    drill = folder / "drills" / "gate"
    (drill / "misconceptions").mkdir(parents=True)
    (folder / "questions").mkdir()
    spec = {key: value for key, value in (SPEC | changes).items() if value is not None}
    (folder / "questions" / "gate.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    source = dedent(reference)
    (drill / "reference.py").write_text(source)
    first = next(iter(variants.values()))
    (drill / "starter.py").write_text(dedent(begin) or source + "\n" + dedent(first))
    for name, text in variants.items():
        path = drill / "misconceptions" / f"{name.replace('-', '_')}.py"
        path.write_text(dedent(text))
    if driver:
        (drill / "driver.py").write_text(dedent(driver))
    return load([folder], "gate")


def audited(folder: Path, seeds: Sequence[int] = (1,), **changes: Any) -> AuditReport:
    """Audit the question with parts of it replaced."""
    return audit(question(folder, **changes), seeds=seeds)


def said(report: AuditReport, about: str) -> list[str]:
    """The remarks of one sort."""
    return [r.text for r in report.remarks if r.about == about]
