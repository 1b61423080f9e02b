"""From exports and notebooks to verdicts, graded for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.app.classes import Plan, grade_class
from grader.app.context import Context
from grader.classroom.results import Results
from grader.cli.app import run
from grader.model.verdict import Verdict
from tests.classroom.fakes import NOW
from tests.classroom.handing_in import notebook, tree, zipped

BANK = Path(__file__).parents[1] / "banks" / "mini"
RIGHT = (BANK / "drills" / "deviations" / "reference.py").read_text()


def test_an_export_is_graded(tmp_path: Path) -> None:
    book = notebook("%matplotlib inline\n!pip install numpy", RIGHT, "deviations?")
    export = zipped({
        "leeann_1_10_deviations.ipynb": book,
        "bobo_LATE_2_11_hw.zip": zipped({"hw/deviations.py": RIGHT, "hw/.drill": "question: x"}),
        "cem_3_12_deviations.ipynb": b"{", "dov_4_13_deviations.ipynb": notebook("raise OSError"),
        "eve_5_14_text.html": "<p>", "fay_6_15_deviations.zip": zipped({})[:9],
    })  # fmt: skip
    (tmp_path / "export.zip").write_bytes(export)
    said: list[str] = []
    here = Context(
        tmp_path, tmp_path / "data", lambda: NOW, bank=BANK, say=lambda text, _: said.append(text)
    )
    plan = Plan(tmp_path / "export.zip", ("deviations",), tmp_path / "out", jobs=1, level="process")
    assert len(list(grade_class(here, plan))) == 6
    entries = {one.handed.student: one for one in Results(tmp_path / "out").entries()}
    assert {name: one.points for name, one in entries.items()} == {
        "leeann_1": 100, "bobo_2": 100, "cem_3": 0, "dov_4": 0, "eve_5": 0, "fay_6": 0,
    }  # fmt: skip
    assert [name for name, one in entries.items() if one.late] == ["bobo_2"]
    assert "no JSON" in entries["cem_3"].handed.fault
    assert entries["dov_4"].report is not None
    assert entries["dov_4"].report.verdict is Verdict.ERROR
    assert (
        entries["eve_5"].handed.fault == "expected a .py or .ipynb file, found eve_5_14_text.html"
    )
    root = tmp_path / "export.zip"
    assert said == [
        f"{root}: 5 answers like an export of Canvas (canvas)",
        f"{root}: no answer from 1 student: eve_5",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--layout", "blackboard"], "drill: --layout: expected files, folders"),
        (["--layout", "moodle"], "expected files like an export of Moodle (moodle), found 2 files"),
        (["--pattern", "{who}.py"], "drill: --pattern {who}.py: expected {student}, "),
        (["--pattern", "{student}/hw/{question}.py"], "ann/x\\ny.py (its name has characters"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    said: str,
) -> None:
    monkeypatch.setenv("DRILL_HOME", str(tmp_path / "home"))
    tree(tmp_path / "all", {"ann/x\ny.py": "", "ann/deviations.py": "", "bo/notes.txt": ""})
    command = ["class", "grade", str(tmp_path / "all"), "--question", "deviations"]
    more = ["--out", str(tmp_path / "out"), "--isolation", "process", *options]
    assert run(["--bank", str(BANK), *command, *more]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") <= 2
