"""Whatever one student hands in, every other student is graded, and the class has a report."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from grader.classroom.export import export
from grader.classroom.report import class_findings
from grader.classroom.report_page import class_page
from grader.classroom.results import GRADES_FILE, ClassResults
from grader.classroom.student_feedback import write_feedback
from tests.classroom.builders import (
    REFERENCE,
    Files,
    graded,
    notebook,
    tree,
    zipped,
)

WRAPPED = f"{REFERENCE}\n_centre = centre\ndef centre(*a):\n    {{}}\n    return _centre(*a)\n"
HOSTILE: dict[str, Files] = {
    # By student. Files that look like the grader's own.
    "bundle": {"deviations.py": b'\0{"": "x = 1", "helper": "y = 1"}'},
    "bundle-of-lists": {"deviations.py": b'\0{"": ["x"], "a": null}'},
    "deep-bundle": {"deviations.py": b"\0{" + b"[" * 100_000},
    "marker": {"deviations.py": "x = 1", ".drill": "[" * 9000, "class.json": "{", GRADES_FILE: "x"},
    # Texts that are no programs.
    "nul": {"deviations.py": b"\0" * 5000},
    "utf-16": {"deviations.py": REFERENCE.encode("utf-16")},
    "unknown-coding": {"deviations.py": "# coding: no-such\n"},
    "odd-coding": {"deviations.py": "# coding: rot13\n"},
    "parentheses": {"deviations.py": "(" * 100_000},
    "minus-signs": {"deviations.py": "-" * 100_000 + "1"},
    "digits": {"deviations.py": "x = " + "9" * 100_000},
    "one-line": {"deviations.py": "x = [" + "1," * 400_000 + "]"},
    "imports-itself": {"deviations.py": "import deviations, helper", "helper.py": "import helper"},
    "odd-import": {"deviations.py": "import \uff41, é, 한", "\uff41.py": "", "é.py": ""},
    # Notebooks and zip files.
    "deep-notebook": {"deviations.ipynb": "[" * 100_000},
    "odd-notebook": {"deviations.ipynb": json.dumps({"nbformat": {}, "cells": "code"})},
    "surrogate-cell": {"deviations.ipynb": notebook("x = '\ud800'")},
    "endless-zip": {"deviations.zip": zipped({"deviations.py": "#" * 30_000_000})},
    "no-zip": {"deviations.zip": b"PK\x05\x06" + b"\xff" * 40},
    "leaving-zip": {"deviations.zip": zipped({"../../deviations.py": "x"})},
    # What a program says and does.
    "surrogates": {
        "deviations.py": WRAPPED.format("print('\\ud800'); raise ValueError('\\udfff')")
    },
    "odd-class": {
        "deviations.py": WRAPPED.format("raise type('\\x1b[2J\\n<b>', (Exception,), {})")
    },
    "odd-text": {
        "deviations.py": WRAPPED.format("class E(Exception): __str__ = None\n    raise E"),
    },
    "exits": {"deviations.py": "import os\nos._exit(0)\n"},
    "recursion": {"deviations.py": WRAPPED.format("return centre(*a)")},
    "huge": {"deviations.py": WRAPPED.format("return 10 ** 4000, float('nan')")},
    "floods": {"deviations.py": WRAPPED.format("print('\\0\\x1b' * 10 ** 6)")},
    "odd\u202ename\n": {"deviations.py": "x = 1"},
    "=1+1": {"deviations.py": "x = 1"},
    "x" * 200: {"deviations.py": "x = 1"},
}
HONEST = ("aaa", "mmm", "zzz")  # before, among and after them


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Grade the class once."""
    parent = tmp_path_factory.mktemp("hostile")
    root = parent / "in"
    for student, files in HOSTILE.items():
        tree(root / student, files)
    for student in HONEST:
        tree(root / student, {"deviations.py": f"# {student}\n{REFERENCE}"})
    os.mkdir(os.fsencode(root) + b"/caf\xe9")  # noqa: PTH102 - no Path holds these bytes
    with open(os.fsencode(root) + b"/caf\xe9/deviations.py", "w") as file:  # noqa: PTH123
        file.write("x = 1")
    for student in ("linked", "pipe", "folder"):
        (root / student).mkdir()
    (root / "linked" / "deviations.py").symlink_to(root / "aaa" / "deviations.py")
    os.mkfifo(root / "pipe" / "deviations.py")
    (root / "folder" / "deviations.py").mkdir()
    done = graded(parent, layout="folders", jobs=2)
    assert len(done) == done[-1].total_files
    return parent


def test_every_other_student_is_graded(folder: Path) -> None:
    with ClassResults(folder / "out") as results:
        entries = {entry.hand_in.student: entry for entry in results.all_entries()}
        aside = [path for path, _ in results.unassigned_files()]
    assert {student: entries[student].verdict for student in HONEST} == dict.fromkeys(
        HONEST, "pass"
    )
    others = {student: entry for student, entry in entries.items() if student not in HONEST}
    listed = {path.partition("/")[0] for path in aside}
    assert HOSTILE.keys() <= others.keys() | listed, "each has a result, or is listed"
    assert "not graded" not in {entry.verdict for entry in others.values()}
    assert any(path.startswith("caf") for path in aside)


def test_the_class_has_its_reports(folder: Path) -> None:
    with ClassResults(folder / "out") as results:
        entries = list(results.counting_entries())
        page = "".join(class_page(class_findings(results.class_settings, entries), entries, "out"))
        assert all(student in page for student in HONEST)
        written, _, _ = write_feedback(results, folder / "feedback")
        assert written == len({entry.hand_in.student for entry in entries})
        for form in ("csv", "jsonl"):
            lines = "".join(export(results, form)).splitlines()
            assert len(lines) >= len(entries)


def test_a_second_start_has_nothing_to_grade(folder: Path) -> None:
    assert all(progress.was_known for progress in graded(folder, layout="folders", jobs=1))
