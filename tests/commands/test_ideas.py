"""Equal answers of a class become an idea of the question, or nothing changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader import bank
from grader.classroom.results import ClassResults
from grader.commands.app import run
from grader.commands.bank_ideas import NewIdea, create_idea
from grader.commands.class_grade import ClassPlan, grade_class
from grader.commands.context import Context
from grader.model.errors import BankError, UsageError
from tests.classroom.builders import NOW

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
    """Return a folder with a bank, a class, and the results of grading it."""
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
    """Return the same surroundings with a copy of the bank, which may change."""
    shutil.copytree(graded / "bank", tmp_path / "bank")
    return context(tmp_path)


def digests(root: Path) -> dict[str, str]:
    with ClassResults(root / "out") as results:
        reports = {e.hand_in.student: e.report for e in results.all_entries()}
    return {student: report.outputs if report else "" for student, report in reports.items()}


def content_of(root: Path) -> dict[str, bytes]:
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in paths}


def create_from_answer(graded: Path, here: Context, student: str, name: str) -> NewIdea:
    """Create an idea from the answer of a student."""
    return create_idea(here, "deviations", graded / "out", digests(graded)[student], name)


def test_the_shortest_of_equal_answers_becomes_an_idea_and_nothing_else_changes(
    graded: Path, here: Context
) -> None:
    digest_of = digests(graded)
    assert digest_of["wilhelmina"] == digest_of["bartholomew"] != digest_of["constanze"]
    before = bank.load_question([here.current_folder() / "bank"], "deviations")
    idea = create_from_answer(graded, here, "bartholomew", "sum-of-squares")
    assert (idea.answers, idea.checks, idea.known) == (2, ("total",), ())
    assert idea.text == "def spread(x):\n    return float((_centred(x) ** 2).sum())\n"
    assert idea.file == here.current_folder() / "bank/drills/deviations/ideas.py"
    assert not [problem for problem in idea.audit.problems if "sum-of-squares" in problem]
    after = bank.load_question([here.current_folder() / "bank"], "deviations")
    assert list(after.variants) == [*before.variants, "sum-of-squares"]
    assert after.ideas["sum-of-squares"].killed_by == ["total"]
    text, old = idea.file.read_text(), (graded / "bank/drills/deviations/ideas.py").read_text()
    assert text.splitlines()[idea.line - 1].startswith('"""TODO')
    assert text.startswith(old)
    bank_text = "".join(
        content.decode() for content in content_of(here.current_folder() / "bank").values()
    )
    assert not [name for name in CLASS if name in bank_text.casefold()]
    # Another idea of the same class can still be taken in: its question is another one by now.
    assert create_from_answer(graded, here, "constanze", "half-the-spread").answers == 1


@pytest.mark.parametrize("name", ["Sum", "../escape", "forgot-weight", "starter"])
def test_an_invalid_or_taken_name_of_an_idea_is_refused(
    name: str, graded: Path, here: Context
) -> None:
    before = content_of(here.current_folder())
    with pytest.raises(UsageError, match="lower-case words joined by hyphens"):
        create_from_answer(graded, here, "constanze", name)
    assert content_of(here.current_folder()) == before


def test_an_idea_that_cannot_be_loaded_is_removed_again(
    graded: Path, here: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content_of(here.current_folder())
    with monkeypatch.context() as patch:
        patch.setattr(
            "grader.commands.bank_ideas._stopping_checks", lambda _: ("nothing-like-this",)
        )
        with pytest.raises(BankError, match="nothing-like-this"):
            create_from_answer(graded, here, "constanze", "half")
    assert content_of(here.current_folder()) == before

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("grader.audit.audit.audit_questions", stop)
    with pytest.raises(KeyboardInterrupt):
        create_from_answer(graded, here, "constanze", "half")
    assert content_of(here.current_folder()) == before


def test_a_group_that_matches_none_or_several_is_refused(graded: Path, here: Context) -> None:
    for group in ("0000", ""):
        with pytest.raises(UsageError, match="expected one group of answers to deviations"):
            create_idea(here, "deviations", graded / "out", group, "any")


def test_a_program_with_a_students_name_is_not_written_into_the_bank(
    graded: Path, here: Context, tmp_path: Path
) -> None:
    shutil.copytree(graded / "in", tmp_path / "in")
    named = HALVED.replace("spread(x):\n", 'spread(x):\n    """By Constanze."""\n')
    reference = (here.current_folder() / "bank/drills/deviations/reference.py").read_text()
    (tmp_path / "in/constanze/deviations.py").write_text(reference + named)
    plan = ClassPlan(tmp_path / "in", ("deviations",), tmp_path / "out", 3, level="process", jobs=1)
    list(grade_class(here, plan))
    with pytest.raises(UsageError, match="the name of a student"):
        create_from_answer(tmp_path, here, "constanze", "half")


def test_new_idea_shows_the_program_and_warns_that_a_stranger_wrote_it(
    graded: Path, here: Context, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DRILL_HOME", str(here.data))
    group = digests(graded)["constanze"][:4]
    where = ["--bank", str(here.current_folder() / "bank"), "bank", "new-idea", "deviations", group]
    arguments = [*where, "--from", str(graded / "out"), "--name", "half-the-spread"]
    run(arguments)
    streams = capsys.readouterr()
    assert "return 0.5 * float(" in streams.out
    assert "1 file, stopped by total" in streams.out
    assert "a stranger wrote this" in streams.err
    assert "deviations/ideas.py:" in streams.out
    assert run(arguments) == 2
    assert "does not have already" in capsys.readouterr().err
