"""One small right spec, ways to edit it, and the problems of a spec."""

from __future__ import annotations

from pathlib import Path

from grader.bank import load_question
from grader.model.errors import BankError
from grader.model.question import Question

SPEC = """\
format: 3
title: A scaled copy
track: basics
level: warm-up
minutes: 5
uses: [numpy]
prompt: Multiply x.
interface: "def scale(x, factor): ..."
run:
  - y, ctx = scale(x, factor)
  - grad_x = scale_backward(grad_y, ctx)
cases:
  small: {x: [[1.0, 2.0]], factor: 3, grad_y: {normal: like y}}
  wide: {x: {normal: [2, 5]}, factor: 2, grad_y: {normal: like y}}
checks:
  - {id: forward, kind: outputs, of: y}
  - {id: backward, kind: outputs, of: grad_x, needs: forward}
hints: [Twice 3 is what]
follow_ups:
  - {ask: And without factor, answer: A copy.}
"""
IDEAS = '''\
# %% adds-it
# killed_by: forward
"""You add the factor."""
'''
FILES = {"starter.py": "", "reference.py": "", "ideas.py": IDEAS}


def edited(*edits: str, text: str = SPEC) -> str:
    """Return a spec with each text of the pairs replaced by the one after it."""
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
        text = text.replace(old, new)
    return text


def write_bank(folder: Path, spec: str | bytes = SPEC, name: str = "scaled-copy") -> Path:
    """Write a bank of one question and return its folder."""
    (folder / "questions").mkdir(parents=True, exist_ok=True)
    data = spec if isinstance(spec, bytes) else spec.encode()
    (folder / "questions" / f"{name}.yaml").write_bytes(data)
    for file, source in FILES.items():
        path = folder / "drills" / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return folder


def one_file(folder: Path, spec: str | bytes) -> Path:
    """Write a bank that is one file, of the question `one`, and return its path."""
    path = folder / "one.yaml"
    path.write_bytes(spec if isinstance(spec, bytes) else spec.encode())
    return path


def loaded(folder: Path, spec: str | bytes = SPEC) -> Question:
    """Load a spec from a new bank."""
    return load_question([write_bank(folder, spec)], "scaled-copy")


def load_problems(bank: Path, name: str = "scaled-copy") -> list[str]:
    """Return the problems of a question of a bank: line, column and sentence."""
    try:
        load_question([bank], name)
    except BankError as error:
        return [problem.partition(".yaml:")[2].strip() for problem in error.problems]
    return []


def problems(folder: Path, spec: str | bytes) -> list[str]:
    """Return the problems of a spec in a new bank."""
    return load_problems(write_bank(folder, spec))
