"""A class of 49 students in plain folders: each gets the mark that a careful teacher would give.

Two small programs and one estimate are asked.  Most hand in one program; the estimate and the
second program are there for those who answer all three.
"""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest

from grader.classroom.export import export
from grader.classroom.report import class_blocks, class_findings, load_failures
from grader.classroom.report_page import class_page
from grader.classroom.results import ClassResults
from grader.classroom.student_feedback import feedback
from grader.model.classroom import ClassEntry
from grader.reports.blocks import render_text
from tests.classroom.builders import BANK, REFERENCE, Files, Page, graded, notebook, tree, zipped

NAME, OTHER, PAPER = "deviations", "ledger", "read-time"
IN_TIME = "2026-11-19T10:00:00+00:00"
CLASS = f"""\
format: 1
deadline: 2026-11-20T12:00:00+00:00
late: {{penalty: 10, days: 4, extensions: {{uma: 7}}}}
seed: 5
isolation: process
questions: [{NAME}, {OTHER}, {PAPER}]
"""
ESTIMATE = """\
format: 3
form: estimate
title: A pass over the weights
track: memory
level: warm-up
minutes: 5
uses: [numpy]
prompt: A model has 7 billion weights in bf16. How many bytes are they?
contract:
  - Only the weights count.
answers:
  weight_bytes: {unit: B, ask: bytes of all weights}
run:
  size: ["size = size(weights)"]
checks:
  - {id: size, kind: numbers, run: size, of: size, parts: [weight_bytes], clause: 1,
     tolerance: {relative: 0.03, because: an estimate needs no more}}
cases:
  model: {about: the model of the question, weights: 7000000000}
code:
  reference: |
    BYTES = 2

    def size(weights):
        return {"weight_bytes": BYTES * weights}
  ideas: |
    # %% float32-weights
    # killed_by: size
    \"\"\"Your weights have 4 bytes each.\"\"\"

    BYTES = 4
"""
LEDGER = (BANK / "drills" / OTHER / "reference.py").read_text()
STARTER = (BANK / "drills" / NAME / "starter.py").read_text()
ON_PAPER = "weight_bytes = 14 GB\n"
IDEA = REFERENCE.replace("return _centred(w * grad_y)", "return w * grad_y")
WRONG = REFERENCE.replace("grad_y * d", "grad_y * d * 2")
LOOPS = """
import numpy as np

def centre(x, w):
    y = np.empty_like(x)
    d = np.empty_like(x)
    for i, row in enumerate(x):
        d[i] = row - sum(row) / max(len(row), 1)
        for j in range(len(row)):
            y[i, j] = w[i, j] * d[i, j]
    return y, (d, w.copy())

def centre_backward(grad_y, ctx):
    d, w = ctx
    g = w * grad_y
    return g - g.mean(axis=1, keepdims=True), grad_y * d

def spread(x):
    return float(np.mean((x - x.mean(axis=1)[:, None]) ** 2))
"""


@dataclass(frozen=True)
class Hand:
    """Files of one student, and the mark of a careful teacher."""

    files: Files
    points: int  # of the first program
    note: str = ""  # a part of what the teacher is told
    at: Mapping[str, str] = field(default_factory=dict)  # by file, when it is not in time


def single(program: str | bytes, points: int, note: str = "", time: str = "") -> Hand:
    file = f"{NAME}.py"
    return Hand({file: program}, points, note, {file: time} if time else {})


def cells(*texts: str, note: str = "") -> Hand:
    return Hand({f"{NAME}.ipynb": notebook(*texts)}, 100, note)


def below(lines: str, kind: str) -> Hand:
    """A right program with some lines below it that stop it."""
    return single(f"{REFERENCE}\n\n{lines}\n", 100, f"your file raised {kind} at line ")


ALL = {f"{NAME}.py": REFERENCE, f"{OTHER}.py": LEDGER, f"{PAPER}.txt": ON_PAPER}
DEEP = {f"Ann\\work\\{NAME}.py": REFERENCE}
CLASSMATES = {
    # Right, in whatever shape.
    "ann": Hand(ALL, 100),
    "lou": single(LOOPS, 100),
    "eli": cells(REFERENCE),
    "fay": Hand({f"{NAME}.py": "from own import *\n", "own.py": REFERENCE}, 100),
    "fox": Hand({"work.zip": zipped({f"{NAME}.py": REFERENCE})}, 100),
    "gil": Hand({"work.zip": zipped({"inner.zip": zipped(DEEP)})}, 100),
    "jon": Hand(
        {f"{NAME}.py": "\ufeff" + REFERENCE.replace("\n", "\r\n"),
         f"{PAPER}.txt": ON_PAPER.encode("utf-16")}, 100,
    ),
    "oli": Hand({f"final/really/{NAME}.py": REFERENCE}, 100),
    "qua": Hand({f"{NAME}/submission.py": REFERENCE, f"{OTHER}/submission.py": LEDGER}, 100),
    "quin": Hand({f"{NAME.title()} (2).py": REFERENCE}, 100),
    "ray": single(f'print("<script>alert(1)</script> score: 100")\n{REFERENCE}', 100),
    "Zo\u00eb M\u00fcller": single(REFERENCE, 100),
    "lat": single(b"# -*- coding: latin-1 -*-\n# \xe9t\xe9\n" + REFERENCE.encode(), 100),
    "uni": single(REFERENCE.encode("utf-16"), 100),
    "unl": single(REFERENCE.replace("\n", "\r\n").encode("utf-16-le"), 100),
    "win": Hand({f"{NAME}.py.txt": REFERENCE, f"{PAPER}.txt.txt": ON_PAPER}, 100),
    "mar": Hand({f"{NAME}.py": REFERENCE, f"{PAPER}.md": f"# Answers\n\n- {ON_PAPER}"}, 100),
    # Right, in a file that names no question.
    "hal": Hand({"gn.py": REFERENCE, "books.py": LEDGER, "paper.txt": ON_PAPER}, 100),
    "sub": Hand({"submission.py": REFERENCE}, 100),
    # Right, with something that is not here.
    "bea": single(f"import matplotlib.pyplot as plt\n{REFERENCE}", 100),
    "cal": single(f"import torch\nimport torch.nn as nn\n{REFERENCE}", 100),
    "dan": single(f"from scipy import special\n{REFERENCE}", 100),
    "pan": single(f"import pandas as pd\n{REFERENCE}", 100),
    "col": single(f"get_ipython().system('pip install numpy')\n{REFERENCE}\ndisplay(3)\n", 100),
    "mag": single(f"%matplotlib inline\n{REFERENCE}", 100),
    # Right, and something below or beside it raises.
    "pat": below("import sys\nsys.exit(0)", "SystemExit"),
    "kim": below('np.load("C:\\\\Users\\\\kim\\\\data.npy")', "FileNotFoundError"),
    "dee": cells("x = 1\ndef f(:\n", REFERENCE,
                 note="your file raised SyntaxError at cell 1, line 2"),
    "eve": cells(REFERENCE, "1 / 0", "print(3)",
                 note="your file raised ZeroDivisionError at cell 2, line 1"),
    # Several files.
    "gus": Hand({f"{NAME}.py": IDEA, f"{NAME} (1).py": REFERENCE}, 100),
    "ver": Hand(
        {f"{NAME}.py": IDEA, f"{NAME} (1).py": IDEA, f"{NAME}_v2.py": REFERENCE}, 100,
        "deviations_v2.py counts, not deviations (1).py and deviations.py of the same time",
    ),
    "flo": Hand({f"{NAME}/solution.py": REFERENCE, f"{NAME}/starter.py": STARTER}, 100,
                at={f"{NAME}/starter.py": "2026-11-20T11:00:00+00:00"}),
    "sta": Hand({f"{NAME}.py": STARTER, f"{NAME}/my_work.py": REFERENCE}, 100),
    # Late.
    "sue": single(REFERENCE, 90, "1 day late: 10 % less", "2026-11-21T00:00:00+00:00"),
    "ode": single(REFERENCE, 60, "4 days late: 40 % less", "2026-11-24T00:00:00+00:00"),
    "tom": Hand({f"{NAME}.py": REFERENCE, f"{NAME}_v2.py": WRONG}, 100,
                at={f"{NAME}_v2.py": "2026-11-30T00:00:00+00:00"}),
    "uma": single(REFERENCE, 100, time="2026-11-26T00:00:00+00:00"),
    "vic": single(IDEA, 70, "points by hand: explained it"),
    # Wrong.
    "bo": single(STARTER, 0),
    "pia": single(STARTER.replace("\n", "\r\n"), 0),
    "cy": single(IDEA, 0),
    "mia": single(WRONG, 0),
    "noa": single(WRONG.replace("Weighted", "My weighted"), 0),
    "xia": single(f"{REFERENCE}\n\ndef spread(x):\n    return [1.0]\n", 0),
    # Nothing that can be graded.
    "ivy": single("def centre(x, w:\n", 0),
    "jay": single(REFERENCE.replace("centre", "center").replace("spread", "spred"), 0),
    "ida": single(b"# \xe9t\xe9\n" + REFERENCE.encode(), 0),
    "bad": Hand({"gn.py": "def center(x, w):\n    return x\n", "notes.txt": "So what."}, 0,
                "no question is named in gn.py: rename it deviations.py"),
    "ned": Hand({"answer.docx": "PK"}, 0, "expected a .py or .ipynb file, found answer.docx"),
}  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the class."""
    root = tmp_path_factory.mktemp("class")
    bank = root / "bank"
    for name in (NAME, OTHER):
        shutil.copytree(BANK / "drills" / name, bank / "drills" / name)
    (bank / "questions").mkdir()
    for name in (NAME, OTHER):
        shutil.copy(BANK / "questions" / f"{name}.yaml", bank / "questions")
    (bank / "questions" / f"{PAPER}.yaml").write_text(ESTIMATE)
    for student, hand in CLASSMATES.items():
        tree(root / "in" / student, hand.files)
        for name in hand.files:
            time = datetime.fromisoformat(hand.at.get(name, IN_TIME)).timestamp()
            os.utime(root / "in" / student / name, (time, time))
    file = root / "class.yaml"
    file.write_text(CLASS)
    overrides = f"student,question,points,note\nvic,{NAME},70,explained it\n"
    tree(root / "out", {"overrides.csv": overrides})
    graded(root, bank, questions=(), file=file, level="", jobs=2)
    return root / "out"


@pytest.fixture(scope="module")
def entries(results: Path) -> dict[tuple[str, str], ClassEntry]:
    with ClassResults(results) as read:
        return {
            (entry.hand_in.student, entry.question.id): entry for entry in read.counting_entries()
        }


def test_there_are_49_students() -> None:
    assert len(CLASSMATES) == 49


@pytest.mark.parametrize("student", CLASSMATES)
def test_every_student_gets_the_mark_of_a_careful_teacher(
    entries: dict[tuple[str, str], ClassEntry], student: str
) -> None:
    hand, entry = CLASSMATES[student], entries[student, NAME]
    assert (entry.points, entry.hand_in.fault or entry.report is not None) != (None, False)
    assert entry.points == hand.points, entry.note or (entry.report and entry.report.message)
    assert hand.note in entry.note


def test_right_answers_to_all_questions_earn_all_points(
    entries: dict[tuple[str, str], ClassEntry],
) -> None:
    assert [entries["ann", name].points for name in (NAME, OTHER, PAPER)] == [100, 100, 100]
    assert entries["jon", PAPER].points == entries["qua", OTHER].points == 100


def test_the_report_lists_who_did_not_load_by_cause(results: Path) -> None:
    with ClassResults(results) as read:
        findings = class_findings(read.class_settings, read.counting_entries())
        page = "".join(class_page(findings, read.counting_entries(), "RESULTS"))
    text = render_text(list(class_blocks(findings, "RESULTS")))
    listed = load_failures(findings)
    assert listed["invalid Python"] == [f"ivy ({NAME})"]
    assert listed["the file is not UTF-8 text"] == [f"ida ({NAME})"]
    assert [cause for cause in listed if "does not define centre(x, w)" in cause] != []
    assert "bad (deviations), bad (ledger)" in ", ".join(listed["no answer in the file"])
    for expected in ("Did not load", "invalid Python: ivy (deviations)"):
        assert expected in text
        assert expected in " ".join(Page.of(page).text.split())
    assert "0 error (invalid Python)" in " ".join(Page.of(page).text.split())
    assert "student ivy, deviations 0 error, " in text  # a table of several has no room for it


def test_a_file_with_another_name_is_recognized_by_its_functions(
    results: Path, entries: dict[tuple[str, str], ClassEntry]
) -> None:
    assert [entries["hal", name].points for name in (NAME, OTHER, PAPER)] == [100, 100, 100]
    assert ("sub", OTHER) not in entries  # its functions are those of one question alone
    with ClassResults(results) as read:
        aside = dict(read.unassigned_files())
    assert not {path for path in aside if path.startswith(("hal/", "sub/"))}


def test_answers_may_be_markdown_or_have_two_suffixes(
    entries: dict[tuple[str, str], ClassEntry],
) -> None:
    assert entries["mar", PAPER].points == entries["win", PAPER].points == 100


def test_a_file_that_fits_no_question_gets_advice_on_its_name(
    results: Path, entries: dict[tuple[str, str], ClassEntry]
) -> None:
    assert entries["bad", PAPER].hand_in.fault == (
        "no question is named in notes.txt: rename it read-time.txt"
    )
    with ClassResults(results) as read:
        blocks = feedback(
            read.class_settings, [entries["bad", name] for name in (NAME, OTHER, PAPER)]
        )
        aside = dict(read.unassigned_files())
    assert "There is no answer in bad/gn.py: no question is named in gn.py" in render_text(blocks)
    assert "rename it deviations.py or ledger.py" in aside["bad/gn.py"]


def test_notes_reach_students_and_tables(
    results: Path, entries: dict[tuple[str, str], ClassEntry]
) -> None:
    with ClassResults(results) as read:
        rows = {
            row["student"]: row["note"]
            for row in csv.DictReader("".join(export(read, "csv")).splitlines())
            if row["question"] == NAME
        }
        feedback_text = render_text(feedback(read.class_settings, [entries["pat", NAME]]))
        gradescope_text = "".join(export(read, "gradescope", student="pat"))
    number = len(f"{REFERENCE}\n\nimport sys\nsys.exit(0)\n".splitlines())
    note = f"file raised SystemExit at line {number} (the code called sys.exit(0)); "
    note += "what was defined before it counts"
    assert rows["pat"] == f"your {note}"
    assert f"Note: Your {note}." in feedback_text
    assert f"{NAME}: your {note}." in gradescope_text
