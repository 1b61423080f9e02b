"""docs/report.md names every field of a report, with its object."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from grader.model import report as model
from grader.model.report import Verdict

TEXT = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
CLASSES = [c for c in vars(model).values() if isinstance(c, type) and is_dataclass(c)]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_every_field_is_documented_with_its_object(cls: type) -> None:
    of = rf"^#+ {cls.__name__}\b.*?(?=^#|\Z)|^\| {cls.__name__} \|[^\n]*"
    section = re.search(of, TEXT, re.MULTILINE | re.DOTALL)
    assert section, f"nothing of {cls.__name__}"
    named = set(re.findall(r"`(\w+)`", section[0]))
    assert {f.name for f in fields(cls)} <= named


def test_every_verdict_is_documented() -> None:
    assert all(f"| `{verdict}` |" in TEXT for verdict in Verdict)
