"""`drill class export`: every format from the folder of results, into files or a pipe."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.app import exporting
from grader.classroom import disk
from grader.classroom.results import Results
from grader.cli.app import run
from grader.model.errors import UsageError
from tests.classroom.pupils import TERMS, entry, everybody, report, write

Drill = Callable[..., tuple[int, str, str]]


@pytest.fixture
def drill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Drill:
    """Type `drill class export` in a folder of one's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DRILL_HOME", str(tmp_path / "home"))

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = run(["class", "export", *arguments])
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """The results of a class of four."""
    return write(tmp_path / "results", everybody())


def test_every_format_in_one_go(drill: Drill, results: Path, tmp_path: Path) -> None:
    files = {name: tmp_path / f"out.{name}" for name in exporting.FORMATS}
    options = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    status, out, err = drill(str(results), *options, "--student", "ada")
    assert (status, out) == (0, "")
    assert err.count("written") == len(files)
    assert len(list(csv.DictReader(io.StringIO(files["csv"].read_text())))) == 2
    lines = files["jsonl"].read_text().splitlines()
    assert [json.loads(line)["points"] for line in lines] == [100, 10]
    assert len(ET.parse(files["junit"]).getroot()) == 2
    assert json.loads(files["gradescope"].read_text())["tests"][0]["score"] == 50
    assert {path.name for path in tmp_path.iterdir()} == {
        "results", *(file.name for file in files.values()),
    }  # fmt: skip


def test_a_pipe(drill: Drill, results: Path) -> None:
    status, out, _ = drill(str(results), "--csv", "-", "--wide")
    assert status == 0
    rows = {row["student"]: row for row in csv.DictReader(io.StringIO(out))}
    assert rows["ada"]["total"] == "105"
    assert rows["dov"]["total"] == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "expected a format, found none"),
        (["--csv", "-", "--jsonl", "-"], "found several"),
        (["--jsonl", "-", "--wide"], "--wide is for --csv"),
        (["--gradescope", "-"], "--gradescope is for one student, found 4"),
        (["--gradescope", "-", "--student", "bem"], "no student bem"),
        (["--csv", "-", "--student", "ad"], "did you mean ada?"),
        (["--csv", "results"], "expected a file, found a folder"),
        (["--csv", "nowhere/x.csv"], "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_said(
    drill: Drill, results: Path, arguments: list[str], said: str
) -> None:
    status, out, err = drill(results.name, *arguments)
    assert (status, out) == (2, "")
    assert said in err.replace("\n    ", " ")


def test_one_student_needs_no_name(drill: Drill, tmp_path: Path) -> None:
    write(tmp_path / "one", [entry("ada", found=report())])
    status, out, _ = drill("one", "--gradescope", "-")
    assert status == 0
    assert json.loads(out)["tests"][0]["status"] == "passed"


def test_a_file_is_whole_or_as_it_was(results: Path, tmp_path: Path) -> None:
    file = tmp_path / "grades.csv"
    file.write_text("before")

    def pieces() -> object:
        yield "half"
        raise UsageError("the disk is full")

    with pytest.raises(UsageError):
        disk.write_whole(file, pieces())  # type: ignore[arg-type]
    assert file.read_text() == "before"
    assert {path.name for path in tmp_path.iterdir()} == {"results", "grades.csv"}


def test_a_class_is_exported_as_it_is_read(results: Path) -> None:
    """Nothing is gathered: each entry is written before the next one is read."""
    found = Results(results)
    read: list[str] = []

    def entries() -> object:
        for one in everybody():
            read.append(one.handed.student)
            yield one

    found.entries = entries  # type: ignore[method-assign, assignment]
    lines = exporting.export(found, "jsonl")
    next(lines)
    assert read == ["ada"]
    assert TERMS.posed == found.terms.posed
