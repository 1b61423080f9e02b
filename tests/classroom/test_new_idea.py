"""Equal answers of a class become a misconception of the question, or nothing changes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grader import bank
from grader.app import new_idea
from grader.app.classes import ClassPlan, grade_class
from grader.app.context import Context
from grader.classroom.results import Results
from grader.cli.app import run
from grader.model.errors import BankError, UsageError
from tests.classroom.fakes import NOW

MINI = Path(__file__).parents[1] / "banks" / "mini"
SUMMED = """

# I am Wilhelmina, and I think that a spread is a sum.
def spread(x):
    return float((_centred(x) ** 2).sum())
"""
LOOPED = """

def _one(row):
    middle = sum(row) / len(row)
    return sum((entry - middle) ** 2 for entry in row)


def spread(x):
    total = 0.0
    for row in x:  # one after another
        total += float(_one(row))
    return total
"""
HALVED = "\n\ndef spread(x):\n    return 0.5 * float((_centred(x) ** 2).mean())\n"
CLASS = {"wilhelmina": SUMMED, "bartholomew": LOOPED, "constanze": HALVED}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a bank, a class, and what came of grading it."""
    root = tmp_path_factory.mktemp("class")
    shutil.copytree(MINI, root / "bank")
    reference = (root / "bank/drills/deviations/reference.py").read_text()
    for student, layer in CLASS.items():
        (root / "in" / student).mkdir(parents=True)
        (root / "in" / student / "deviations.py").write_text(reference + layer)
    plan = ClassPlan(root / "in", ("deviations",), root / "out", seed=3, level="process", jobs=1)
    assert len(list(grade_class(context(root), plan))) == len(CLASS)
    return root


def context(root: Path) -> Context:
    return Context(root, root / "data", lambda: NOW, bank=root / "bank")


@pytest.fixture
def here(graded: Path, tmp_path: Path) -> Context:
    """The same with a bank of its own, which may change."""
    shutil.copytree(graded / "bank", tmp_path / "bank")
    return context(tmp_path)


def digests(root: Path) -> dict[str, str]:
    with Results(root / "out") as results:
        reports = {e.handed.student: e.report for e in results.everything()}
    return {student: one.outputs if one else "" for student, one in reports.items()}


def files(root: Path) -> dict[str, bytes]:
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in paths}


def test_equal_answers_share_a_group_and_the_shortest_stands_for_it(
    graded: Path, here: Context
) -> None:
    known = digests(graded)
    assert known["wilhelmina"] == known["bartholomew"] != known["constanze"]
    found = new_idea.find(here, "deviations", graded / "out", known["wilhelmina"][:6])
    assert (found.answers, found.programs, found.path) == (2, 2, "wilhelmina/deviations.py")
    assert found.text.split("\n", 1)[0] == "def spread(x):"
    assert found.layered
    assert found.checks == ("total",)
    assert found.named == ()


def test_it_is_written_and_nothing_else_of_the_question_changes(
    graded: Path, here: Context
) -> None:
    before = bank.load([here.here() / "bank"], "deviations")
    found = new_idea.find(here, "deviations", graded / "out", digests(graded)["bartholomew"])
    kept = new_idea.keep(here, found, "sum-of-squares")
    assert kept.program == here.here() / "bank/drills/deviations/misconceptions/sum_of_squares.py"
    assert kept.audited.report is not None
    assert not [one for one in kept.audited.report.problems if "sum-of-squares" in one]
    after = bank.load([here.here() / "bank"], "deviations")
    assert list(after.variants) == [*before.variants, "sum-of-squares"]
    assert after.spec.misconceptions["sum-of-squares"].killers == ("total",)
    old, new = before.spec_path, kept.spec
    lines = new.read_text().splitlines()
    assert lines[kept.todo - 1].startswith("    feedback: TODO")
    assert [line for line in lines if line not in lines[kept.todo - 3 : kept.todo]] == (
        (graded / "bank/questions/deviations.yaml").read_text().splitlines()
    ), old
    written = "".join(content.decode() for content in files(here.here() / "bank").values())
    assert not [name for name in CLASS if name in written.casefold()]
    # Another idea of the same class can still be taken in: its question is another one by now.
    other = new_idea.find(here, "deviations", graded / "out", digests(graded)["constanze"])
    assert new_idea.keep(here, other, "half-the-spread").audited.report is not None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Sum", "lower-case words"),
        ("../escape", "lower-case words"),
        ("forgot-weight", "has forgot-weight already"),
        ("starter", "already"),
    ],
)
def test_a_name_that_is_none_or_taken_changes_nothing(
    name: str, said: str, graded: Path, here: Context
) -> None:
    found = new_idea.find(here, "deviations", graded / "out", digests(graded)["constanze"])
    before = files(here.here())
    with pytest.raises(UsageError, match=said):
        new_idea.keep(here, found, name)
    assert files(here.here()) == before


def test_what_cannot_be_loaded_is_taken_back(
    graded: Path, here: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = new_idea.find(here, "deviations", graded / "out", digests(graded)["constanze"])
    before = files(here.here())
    with pytest.raises(BankError, match="nothing-like-this"):
        new_idea.keep(here, replace(found, checks=("nothing-like-this",)), "half")
    assert files(here.here()) == before

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(new_idea, "audit", stop)
    with pytest.raises(KeyboardInterrupt):
        new_idea.keep(here, found, "half")
    assert files(here.here()) == before


def test_a_group_that_is_none_or_several_is_refused(graded: Path, here: Context) -> None:
    for group, said in (("abc", "4 hex"), ("XYZW", "4 hex"), ("0000", "found none")):
        with pytest.raises(UsageError, match=said):
            new_idea.find(here, "deviations", graded / "out", group)


def test_a_program_with_its_author_in_it_stays_out_of_the_bank(
    graded: Path, here: Context, tmp_path: Path
) -> None:
    shutil.copytree(graded / "in", tmp_path / "in")
    named = HALVED.replace("spread(x):\n", 'spread(x):\n    """By Constanze."""\n')
    reference = (here.here() / "bank/drills/deviations/reference.py").read_text()
    (tmp_path / "in/constanze/deviations.py").write_text(reference + named)
    plan = ClassPlan(tmp_path / "in", ("deviations",), tmp_path / "out", 3, level="process", jobs=1)
    list(grade_class(here, plan))
    with pytest.raises(UsageError, match="the name of a student"):
        new_idea.find(here, "deviations", tmp_path / "out", digests(tmp_path)["constanze"])


def test_the_command_shows_the_program_and_says_whose_it_is(
    graded: Path, here: Context, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DRILL_HOME", str(here.data))
    group = digests(graded)["constanze"][:4]
    where = ["--bank", str(here.here() / "bank"), "bank", "new-idea", "deviations", group]
    arguments = [*where, "--from", str(graded / "out"), "--name", "half-the-spread"]
    run(arguments)
    shown = capsys.readouterr()
    assert "return 0.5 * float(" in shown.out
    assert "constanze/deviations.py, stopped by total" in shown.out
    assert "a stranger wrote this" in shown.err
    assert "half_the_spread.py" in shown.out
    assert run(arguments) == 2
    assert "has half-the-spread already" in capsys.readouterr().err
