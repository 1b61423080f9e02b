"""A question in one YAML file: the same question as one of files, with its lines in the YAML."""

# ruff: noqa: E501 a message that is compared stands on one line

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.bank import banks, headers, load
from grader.model.errors import BankError
from grader.model.report import Verdict
from grader.session import grade

ONE = """\
format: 2
title: A gate
track: basics
level: warm-up
minutes: 5
uses: [numpy]
prompt: Mend the gate.
interface: "def gate(g, x): ..."
run:
  - out = driver.twice(g, x)
  - once = gate(g, x)
cases:
  signs: {x: [-1.0, 0.0, 2.0], g: [3.0, 4.0, 5.0]}
checks:
  - {id: gate, kind: outputs, of: [out, once]}
starter_holds: [no-gate]
code:
  reference: |
    import numpy as np


    def gate(g, x):
        return np.where(x > 0, g, 0.0)
  starter: |
    def gate(g, x):
        return g * 1.0
  driver: |
    def twice(program, g, x):
        return program.gate(program.gate(g, x), x)
misconceptions:
  no-gate:
    killed_by: gate
    feedback: You ignore x.
    code: |
      def gate(g, x):
          return g.copy()
  open-at-zero:
    killed_by: gate
    feedback: You open at zero.
    code:
      - |
        def gate(g, x):
            return np.where(x >= 0, g, 0.0)
      - |
        def gate(g, x):
            return np.where(x > -1e-9, g, 0.0)
"""


def one(folder: Path, *edits: str) -> Path:
    """Write the question, each text of the pairs replaced by the one after it."""
    text = ONE
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
        text = text.replace(old, new)
    path = folder / "the-gate.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def said(bank: Path, path: Path) -> list[str]:
    """Return what is wrong with a bank's question, the spec's path left out."""
    with pytest.raises(BankError) as raised:
        load([bank], "the-gate")
    return [p.removeprefix(f"{path}:").strip() for p in raised.value.problems]


def test_one_file_is_a_bank(tmp_path: Path) -> None:
    path = one(tmp_path)
    assert banks(path) == [path]
    assert [(h.id, h.title, h.bank) for h in headers([path])] == [("the-gate", "A gate", path)]
    question = load([path], "the-gate")
    assert question.spec_path == question.bank == path
    assert question.handed_out(question.starter) == b"def gate(g, x):\n    return g * 1.0\n"
    assert [len(faces) for faces in question.variants.values()] == [1, 2]


def test_every_program_keeps_the_lines_it_has_in_the_file(tmp_path: Path) -> None:
    question = load([one(tmp_path)], "the-gate")
    lines = ONE.splitlines()
    assert question.driver is not None
    faces = [face for group in question.variants.values() for face in group]
    for source in (question.reference, question.starter, question.driver, *faces):
        text = source.decode()
        for number, line in enumerate(text.splitlines(), 1):
            assert not line or lines[number - 1].strip() == line.strip()


def test_one_file_is_graded_like_a_folder(tmp_path: Path) -> None:
    question = load([one(tmp_path)], "the-gate")
    assert grade(question, question.reference, seed=1).verdict is Verdict.PASS
    report = grade(question, question.starter, seed=1)
    assert report.verdict is Verdict.FAIL
    assert [named.id for named in report.misconceptions] == ["no-gate"]


def test_a_mistake_in_the_code_has_the_line_of_the_file(tmp_path: Path) -> None:
    path = one(tmp_path, "        return np.where(x > 0, g, 0.0)\n", "        return np.where(\n")
    report = grade(load([path], "the-gate"), b"def gate(g, x): return g\n", seed=1)
    assert report.verdict is Verdict.INVALID
    assert report.message.startswith(f"{path}: the reference cannot be loaded: ")
    assert "'(' was never closed" in report.message
    assert re.search(r"(line |yaml:)23\b", report.message)


def test_an_exception_of_the_code_has_the_line_of_the_file(tmp_path: Path) -> None:
    path = one(tmp_path, "        return np.where(x > 0, g, 0.0)\n", "        return x.nothing\n")
    report = grade(load([path], "the-gate"), b"def gate(g, x): return g\n", seed=1)
    assert report.verdict is Verdict.INVALID
    assert report.message.startswith(f"{path}: the reference fails on case signs: ")
    assert report.message.endswith(", at line 23")


def test_a_folder_may_hold_some_parts_and_the_file_others(tmp_path: Path) -> None:
    (tmp_path / "questions").mkdir()
    path = one(
        tmp_path / "questions", "  starter: |\n    def gate(g, x):\n        return g * 1.0\n", ""
    )
    home = tmp_path / "drills" / "the-gate"
    home.mkdir(parents=True)
    (home / "starter.py").write_bytes(b"starter")
    assert load([tmp_path], "the-gate").starter == b"starter"
    (home / "reference.py").write_bytes(b"")
    (home / "misconceptions").mkdir()
    (home / "misconceptions" / "no_gate.py").write_bytes(b"")
    assert said(tmp_path, path) == [
        f"1:1: expected a program, or name it under helpers, found {home / 'reference.py'}, which "
        "nothing in the question uses",
        "27:1: expected the program of one of the misconceptions, found "
        f"{home / 'misconceptions' / 'no_gate.py'}, which nothing in the question uses",
    ]


def test_what_one_file_lacks_is_said(tmp_path: Path) -> None:
    path = one(tmp_path, "  starter: |\n", "  starters: |\n")
    assert said(path, path) == [
        "24:3: code: found the unknown key 'starters'; did you mean 'starter'?"
    ]
    starter = ONE[ONE.index("  starter: |") : ONE.index("  driver: |")]
    path = one(tmp_path, starter, "", "  driver: |\n", "  driver: >\n")
    assert said(path, path) == [
        "1:1: expected code.starter, because there are no files, found none",
        "24:11: expected code below '|', found '>', which joins its lines",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  reference: |\n", "  reference: 3\n  x: |\n", "18:14: code.reference: expected text, found the number 3"),
        ("    code: |\n", "    variants: [a]\n    code: |\n", "35:5: no-gate: expected variants (files) or code, found both; remove one of them"),
        ("    code: |\n", "    code: []\n    x: |\n", "34:11: misconceptions.no-gate.code: expected text or at least one entry, found a list of 0"),
        ("    code: |\n", "    code: ''\n    x: |\n", "34:11: misconceptions.no-gate.code: expected some text or a list, found the text ''"),
    ],
)  # fmt: skip
def test_code_that_is_not_written_as_it_should_be_is_placed(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = one(tmp_path, old, new)
    assert message in said(path, path)
