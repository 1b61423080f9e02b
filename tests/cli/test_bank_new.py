"""`drill bank new`: what it lays down is proved already, and nothing is ever in its way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from grader import bank
from grader.audit.audit import audit
from grader.forms import NAMES
from grader.kinds.schema import schema
from tests.cli.conftest import Drill

pytestmark = pytest.mark.usefixtures("one_zygote")


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def tree(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


FOLDER = [
    "drills/masked-mean/misconceptions/counts_padding.py",
    "drills/masked-mean/misconceptions/keeps_float64.py",
    "drills/masked-mean/reference.py",
    "drills/masked-mean/starter.py",
    "question.schema.json",
    "questions/masked-mean.yaml",
]


def assert_proved(where: Path, question_id: str) -> None:
    report = audit(bank.load([where], question_id), seeds=range(2))
    assert report.problems == ()
    assert report.remarks == ()


def test_a_new_question_passes_its_audit_without_a_remark(real: Drill) -> None:
    ended = real("bank", "new", "masked-mean")
    assert (ended.status, ended.err) == (0, "")
    assert tree(Path()) == FOLDER
    assert_proved(Path(), "masked-mean")


def test_it_says_what_was_written_and_what_to_do_next(real: Drill) -> None:
    said = lines(real("bank", "new", "masked-mean").out)
    assert set(FOLDER) <= set(said)
    assert "drill --bank . bank audit masked-mean" in said
    assert "drill --bank . start masked-mean" in said
    assert "drill bank add ." in said


def test_one_file_is_a_bank_by_itself(real: Drill) -> None:
    ended = real("bank", "new", "masked-mean", "--one-file")
    assert ended.status == 0
    assert tree(Path()) == ["masked-mean.yaml", "question.schema.json"]
    assert "drill --bank masked-mean.yaml bank audit masked-mean" in lines(ended.out)
    assert_proved(Path("masked-mean.yaml"), "masked-mean")


def test_the_first_line_names_a_schema_that_is_there_and_current(real: Drill) -> None:
    real("bank", "new", "masked-mean")
    spec = Path("questions/masked-mean.yaml")
    named = spec.read_text().splitlines()[0].partition("$schema=")[2]
    assert (spec.parent / named).read_text() == schema()


@pytest.mark.parametrize("word", ["null", "yes", "12", "1e5", "on"])
def test_an_id_that_yaml_would_read_as_something_else_makes_a_text(real: Drill, word: str) -> None:
    assert real("bank", "new", word).status == 0
    spec = yaml.safe_load(Path(f"questions/{word}.yaml").read_text())
    assert spec["track"] == word
    assert bank.load([Path()], word).spec.title == word.capitalize()


@pytest.mark.parametrize(
    ("typed", "better"),
    [("My_Question", "my-question"), ("a--b", "a-b"), ("é", "my-norm"), ("../x", "x")],
)
def test_another_id_is_refused_with_one_that_would_do(real: Drill, typed: str, better: str) -> None:
    ended = real("bank", "new", typed)
    assert ended.status == 2
    assert (
        f"lower-case words joined by hyphens, at most 60 characters, found '{typed}'" in ended.err
    )
    assert f"drill bank new {better}" in ended.err
    assert tree(Path()) == []


@pytest.mark.parametrize("taken", ["questions/a.yaml", "questions/a.yml", "drills/a/notes.txt"])
def test_what_is_there_is_never_touched(real: Drill, taken: str) -> None:
    path = Path(taken)
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    Path("questions").mkdir(exist_ok=True)
    real("bank", "new", "a").refused("nothing is ever written over it")
    assert tree(Path()) == [taken]
    assert path.read_text() == "mine"


def test_where_the_spec_cannot_be_written_nothing_is_left(
    real: Drill,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("grader.app.files.create", lambda *_: False)
    Path("questions").mkdir()
    real("bank", "new", "masked-mean")
    assert tree(Path()) == []
    assert list(Path("drills").iterdir()) == []


def test_a_folder_that_cannot_be_written_is_answered_with_the_option_of_this_command(
    real: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = Path.open

    def refuse(path: Path, mode: str = "r", **named: Any) -> Any:
        if mode == "xb":
            raise PermissionError(13, "Permission denied")
        return true(path, mode, **named)

    monkeypatch.setattr(Path, "open", refuse)
    ended = real("bank", "new", "masked-mean", "--one-file")
    ended.refused(
        "cannot be written: Permission denied",
        "choose a folder that you can write, with --bank DIR",
    )
    assert tree(Path()) == []


@pytest.mark.parametrize(("form", "parts"), [("folder", 3), ("one-file", 2), ("one-file", 9)])
def test_a_skeleton_in_parts_is_proved_but_for_what_is_marked(
    real: Drill, form: str, parts: int
) -> None:
    where = ["--one-file"] if form == "one-file" else []
    made = real("bank", "new", "in-parts", "--parts", str(parts), *where, "--json").data
    question = bank.load([Path("in-parts.yaml") if where else Path()], "in-parts")
    assert [len(part.checks) for part in question.spec.parts] == [1] * parts
    assert sum(part.points for part in question.spec.parts) == 100
    assert sorted(made["todo"]) == sorted(question.todos)
    assert len(question.todos) > 8 * parts
    report = audit(question, seeds=range(1))
    assert (report.problems, [remark.about for remark in report.remarks]) == ((), ["todo"])


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("questions/masked-mean.yaml", "  We pool", "  TODO We pool"),
        ("questions/masked-mean.yaml", "  one-padded:", "  # TODO\n  one-padded:"),
        ("questions/masked-mean.yaml", "  - Work out", "  - TODO Work out"),
        ("drills/masked-mean/reference.py", "    total", "    # TODO\n    total"),
        ("drills/masked-mean/starter.py", "    return", "    # TODO\n    return"),
        ("drills/masked-mean/misconceptions/counts_padding.py", "def", "# TODO\ndef"),
    ],
)
def test_a_place_that_is_left_fails_a_strict_audit_wherever_it_is(
    real: Drill, file: str, old: str, new: str
) -> None:
    real("bank", "new", "masked-mean")
    text = Path(file).read_text(encoding="utf-8")
    Path(file).write_text(text.replace(old, new, 1), encoding="utf-8")
    ended = real("--bank", ".", "bank", "audit", "masked-mean", "--seeds", "1", "--strict")
    assert ended.status == 3
    assert f"todo: 1 TODO is left: {file}:" in " ".join(ended.out.split())


@pytest.mark.parametrize(
    "form", ["estimate", "predict", "derive", "review", "diagnose", "write-the-test"]
)
def test_a_question_of_another_form_passes_its_audit_without_a_remark(
    form: str, real: Drill
) -> None:
    ended = real("bank", "new", "by-hand", "--form", form)
    assert (ended.status, ended.err) == (0, "")
    assert tree(Path()) == ["question.schema.json", "questions/by-hand.yaml"]
    assert_proved(Path(), "by-hand")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--form", "essay"),
            f"--form: expected one of {', '.join(NAMES)}, found",
        ),
        (("--form", "derive", "--parts", "2"), "--form derive: expected no --parts"),
        (("--parts", "1"), "--parts: expected a number from 2 to 9, found 1"),
        (("--parts", "10"), "--parts: expected a number from 2 to 9, found 10"),
    ],
)
def test_a_form_or_a_number_of_parts_that_there_is_not_is_refused(
    words: tuple[str, ...], said: str, real: Drill
) -> None:
    ended = real("bank", "new", "by-hand", *words)
    assert ended.status == 2
    assert said in ended.err
    assert tree(Path()) == []
