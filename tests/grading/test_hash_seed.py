"""A report does not depend on the order of sets, which differs from process to process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
# Workers ignore the variable and draw a hash seed of their own, so theirs differ in any case.
GRADE = """
import json
from pathlib import Path
import pytest

from grader import bank
from grader.reports.json import dumps
from grader.explain.session import GradingSession
from grader.grading.session import GradeOptions

for name in ("maxpool-routing", "softmax-cross-entropy"):
    question = bank.load_question([Path(".")], name)
    with GradingSession(question) as session:
        for idea, *_ in list(question.variants.values())[:5]:
            source = question.reference + b"\\n\\n" + idea  # an idea is a layer over the reference
            report = session.grade(source, seed=5, options=GradeOptions(is_program=True))
            print(json.dumps(json.loads(dumps(report))))
"""


def without_clocks(content: Any) -> Any:
    """Return a report without seconds."""
    if isinstance(content, dict):
        kept = {key: value for key, value in content.items() if key != "seconds"}
        return {key: without_clocks(value) for key, value in kept.items()}
    return [*map(without_clocks, content)] if isinstance(content, list) else content


def reports(hash_seed: int) -> list[Any]:
    """Grade a few wrong programs in a process with a hash seed; return the reports."""
    ended = subprocess.run(
        [sys.executable, "-c", GRADE],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": str(hash_seed)},
        stdout=subprocess.PIPE,
        check=True,
    )
    return [without_clocks(json.loads(line)) for line in ended.stdout.splitlines()]


@pytest.mark.slow
def test_reports_are_the_same_under_two_hash_seeds() -> None:
    first = reports(1)
    assert sum(len(idea["seen"]) > 2 for report in first for idea in report["misconceptions"]) > 2
    assert first == reports(2)
