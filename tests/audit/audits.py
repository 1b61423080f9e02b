"""A small question to audit, with any part of it replaced."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml

from grader.audit.audit import audit_question
from grader.bank import load_question
from grader.model.audit import AuditReport
from grader.model.question import Question

MINI = Path(__file__).parents[1] / "banks" / "mini"
REFERENCE = """
    import numpy as np

    def relu(x):
        return np.where(x > 0, x, 0).astype(x.dtype)
"""
GATE: dict[str, Any] = {"id": "gate", "kind": "outputs", "of": "y"}
SIGNS: dict[str, Any] = {"x": [[-1.0, 2.0]]}
SPEC: dict[str, Any] = {
    "format": 3,
    "title": "The gate",
    "track": "activations",
    "level": "warm-up",
    "minutes": 5,
    "uses": ["numpy"],
    "prompt": "The gate stands open. Close it.",
    "interface": "def relu(x):  # x (N, D) float64 -> y (N, D)",
    "run": ["y = relu(x)"],
    "cases": {"signs": SIGNS, "many": {"x": {"normal": [4, 5]}}},
    "checks": [GATE],
    "starter_holds": ["open"],
}
IDEAS: dict[str, Any] = {"open": {"killed_by": "gate", "feedback": "It lets everything through."}}
VARIANTS = {"open": "def relu(x):\n    return x.copy()\n"}

# A backward pass with a hole: no case has a zero.
BACKWARD = '''import numpy as np


def gate_backward(grad_y, x):
    """Return grad_y where x is positive, 0 elsewhere."""
    return np.where(x > 0, grad_y, 0).astype(x.dtype)
'''
AT_ZERO = {
    "in": "gate_backward",
    "was": "return np.where(x > 0, grad_y, 0).astype(x.dtype)",
    "becomes": "return np.where(x >= 0, grad_y,   0).astype(x.dtype)",
    "because": "The derivative at 0 is left open.",
}


def question(
    folder: Path,
    *,
    reference: str = REFERENCE,
    begin: str = "",
    variants: Mapping[str, str] = VARIANTS,
    misconceptions: Mapping[str, Mapping[str, Any]] = IDEAS,
    driver: str = "",
    **changes: Any,
) -> Question:
    """Write the question into a separate bank and load it.

    Args:
        folder: must be empty.
        reference: its source.
        begin: source of the starter (default: the first variant over the reference).
        variants: sources by misconception.
        misconceptions: the keys and the feedback of each.
        driver: its source (default: there is no driver).
        changes: of top-level keys of the spec; None leaves one out.
    """
    drill = folder / "drills" / "gate"
    drill.mkdir(parents=True, exist_ok=True)
    (folder / "questions").mkdir(exist_ok=True)
    spec = {key: value for key, value in (SPEC | changes).items() if value is not None}
    (folder / "questions" / "gate.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    source = dedent(reference)
    (drill / "reference.py").write_text(source)
    first = "".join(list(variants.values())[:1])
    (drill / "starter.py").write_text(dedent(begin) or source + "\n" + dedent(first))
    if variants:
        (drill / "ideas.py").write_text(cells(misconceptions, variants))
    if driver:
        (drill / "driver.py").write_text(dedent(driver))
    return load_question([folder], "gate")


def cells(ideas: Mapping[str, Mapping[str, Any]], programs: Mapping[str, str]) -> str:
    """Return the file of some ideas, with a program for each, named `ID` or `ID / VARIANT`."""
    text = ""
    for name, program in programs.items():
        keys = dict(ideas.get(name, {}))
        feedback = f'"""{keys.pop("feedback")}"""\n' if keys else ""
        lines = "".join(f"# {key}: {json.dumps(value)}\n" for key, value in keys.items())
        text += f"# %% {name}\n{lines}{feedback}{dedent(program)}\n"
    return text


def gate(
    folder: Path,
    *survivors: Mapping[str, str],
    compared: Sequence[str] = ("signs", "rows"),
    reference: str = BACKWARD,
    **cases: Mapping[str, Any],
) -> Question:
    """Return a question about a backward pass, whose check looks at some of its cases."""
    own_cases: dict[str, Any] = {
        "signs": {"x": [-1.0, 2.0], "grad_y": [3.0, 4.0]},
        "rows": {"x": {"normal": [3, 4]}, "grad_y": {"normal": "like x"}},
    }
    return question(
        folder,
        reference=reference,
        begin="def gate_backward(grad_y, x):\n    return grad_y * 1.0\n",
        variants={},
        interface="def gate_backward(grad_y, x)  # -> grad_x",
        run=["grad_x = gate_backward(grad_y, x)"],
        cases=own_cases | cases,
        checks=[{**GATE, "of": "grad_x", "cases": list(compared)}],
        starter_holds=None,
        survivors=list(survivors) or None,
    )


def audited(folder: Path, seeds: Sequence[int] = (1,), **changes: Any) -> AuditReport:
    """Audit the question with parts of it replaced."""
    return audit_question(question(folder, **changes), seeds=seeds)


def remarks_about(report: AuditReport, about: str) -> list[str]:
    """Return the remarks of one sort."""
    return [remark.text for remark in report.remarks if remark.about == about]
