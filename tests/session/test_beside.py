"""Modules that come with a question: every program has them, and so has the candidate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from grader.bank import load
from grader.model.question import Question
from grader.model.verdict import Verdict
from grader.session import GradingSession, grade
from tests.audit.audits import question

pytestmark = pytest.mark.usefixtures("one_zygote")

BLOCKS = "def sizes(x):\n    return len(x)\n\ncalls = []\n"
USES_IT = """
import numpy as np
from blocks import sizes, calls

def relu(x):
    calls.append(sizes(x))
    return np.where(x > 0, x, 0) * len(calls) / len(calls)
"""
DRIVER = "import blocks\ndef go(program, x):\n    return program.relu(x) + 0 * blocks.sizes(x)\n"


def asked(folder: Path, files: dict[str, bytes] | None = None, **changes: Any) -> Question:
    """Return the small question with a module beside its programs."""
    question(folder)
    for name, content in ({"blocks.py": BLOCKS.encode()} if files is None else files).items():
        (folder / "drills" / "gate" / name).write_bytes(content)
    (folder / "drills" / "gate" / "reference.py").write_text(USES_IT)
    path = folder / "questions" / "gate.yaml"
    spec = yaml.safe_load(path.read_text()) | {"helpers": ["blocks"]} | changes
    path.write_text(yaml.safe_dump(spec, sort_keys=False))
    return load([folder], "gate")


@pytest.mark.parametrize("driven", [True, False])
def test_every_program_finds_them_each_time_anew(tmp_path: Path, *, driven: bool) -> None:
    changes: dict[str, Any] = {"run": ["y = driver.go(x)"]} if driven else {}
    files = {"blocks.py": BLOCKS.encode()}
    files |= {"driver.py": DRIVER.encode()} if driven else {}
    found = asked(tmp_path, files, **changes)
    spoils = "import blocks\nblocks.sizes = sizes = None\n"
    with GradingSession(found) as session:
        assert session.grade(USES_IT.encode(), seed=1).verdict is Verdict.PASS
        spoilt = session.grade((USES_IT + spoils).encode(), seed=1)
        assert spoilt.verdict is Verdict.ERROR
        assert session.grade(USES_IT.encode(), seed=1).verdict is Verdict.PASS
        report = session.grade(found.starter, seed=1)
        assert [m.id for m in report.misconceptions] == ["open"]


def test_they_are_part_of_what_the_question_is_and_of_what_is_handed_out(tmp_path: Path) -> None:
    found = asked(tmp_path)
    assert found.handed_beside == {"blocks.py": BLOCKS.encode()}
    (tmp_path / "drills" / "gate" / "blocks.py").write_text(BLOCKS + "# TODO more\n")
    other = load([tmp_path], "gate")
    assert other.digest != found.digest
    assert other.todos == ("drills/gate/blocks.py:5",)


def test_a_helper_that_cannot_be_imported_is_the_banks_fault(tmp_path: Path) -> None:
    files = {"blocks.py": b"def sizes(x):\n  return (\n"}
    report = grade(asked(tmp_path, files), USES_IT.encode(), seed=1)
    assert report.verdict is Verdict.INVALID
    assert report.message.endswith(
        "a helper cannot be loaded: raised SyntaxError: '(' was never closed, in blocks.py:2: "
        "return ("
    )


def test_what_a_helper_raises_has_its_file_and_line(tmp_path: Path) -> None:
    files = {"blocks.py": b"calls = []\ndef sizes(x):\n  return x['n']\n"}
    report = grade(asked(tmp_path, files), USES_IT.encode(), seed=1)
    assert report.verdict is Verdict.INVALID
    assert report.message.endswith("in blocks.py:3: return x['n']")
