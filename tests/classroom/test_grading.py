"""A class from its folder to its verdicts, graded for real."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.app.classes import ClassPlan, ClassProgress, grade_class
from grader.app.context import Context
from grader.classroom.results import Results
from grader.model.classroom import Entry
from grader.model.errors import UsageError
from grader.model.report import Verdict
from tests.classroom.fakes import NOW

BANK = Path(__file__).parents[1] / "banks" / "mini"
PROGRAMS = BANK / "drills" / "deviations"
ANSWERS = {  # by student
    "ada": "reference.py", "ben": "starter.py", "cem": "misconceptions/forgot_weight.py",
    "dov": "reference.py",
}  # fmt: skip


@pytest.fixture
def here(tmp_path: Path) -> Context:
    """A person in a folder of their own, with one bank."""
    return Context(tmp_path, tmp_path / "data", lambda: NOW, bank=BANK)


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    """What four students handed in, and what is nobody's."""
    folder = tmp_path / "handed-in"
    reference = (PROGRAMS / "reference.py").read_text()
    for student, file in ANSWERS.items():
        (folder / student).mkdir(parents=True)
        layer = (PROGRAMS / file).read_text()
        text = layer if file.endswith("r.py") or file[0] == "r" else f"{reference}\n\n{layer}"
        (folder / student / "deviations.py").write_text(text)
    (folder / "eve").mkdir()
    (folder / "eve" / "deviations.py").symlink_to(PROGRAMS / "reference.py")
    (folder / "fay").mkdir()
    (folder / "fay" / "deviations.py").write_text("while True: pass\n")
    (folder / "ada" / "notes.txt").write_text("question: ledger\n")
    (folder / "ada" / ".drill").write_text("question: ledger\n")
    return folder


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """What one student handed in."""
    folder = tmp_path / "alone"
    (folder / "ada").mkdir(parents=True)
    shutil.copy(PROGRAMS / "reference.py", folder / "ada" / "deviations.py")
    return folder


def entries_of(ctx: Context) -> dict[str, Entry]:
    """What counts, by student."""
    with Results(ctx.here() / "out") as results:
        return {one.handed.student: one for one in results.entries()}


def graded(ctx: Context, folder: Path, **changes: object) -> list[ClassProgress]:
    """Grade a class."""
    plan = ClassPlan(folder, ("deviations",), ctx.here() / "out", jobs=2, level="process")
    for name, value in changes.items():
        object.__setattr__(plan, name, value)
    return list(grade_class(ctx, plan))


def test_a_class_is_graded_and_gone_on_with(here: Context, handed_in: Path) -> None:
    found = graded(here, handed_in)
    assert sorted(one.done for one in found) == [1, 2, 3, 4, 5, 6]
    assert {one.of for one in found} == {6}
    entries = entries_of(here)
    verdicts = {name: one.report.verdict for name, one in entries.items() if one.report}
    assert verdicts == {
        "ada": Verdict.PASS, "ben": Verdict.FAIL, "cem": Verdict.FAIL, "dov": Verdict.PASS,
        "fay": Verdict.LIMIT,
    }  # fmt: skip
    points = {name: one.points for name, one in entries.items()}
    assert points == {"ada": 100, "ben": 0, "cem": 0, "dov": 100, "eve": 0, "fay": 0}
    assert "link" in entries["eve"].handed.fault
    assert entries["cem"].report is not None
    assert [one.id for one in entries["cem"].report.misconceptions] == ["forgot-weight"]
    # Two programs that are the same are graded once.
    assert entries["ada"].report == entries["dov"].report
    # Begun again, all of it is known; a changed file alone is graded.
    again = graded(here, handed_in)
    assert all(one.known for one in again)
    shutil.copy(PROGRAMS / "reference.py", handed_in / "ben" / "deviations.py")
    (handed_in / "ben" / "deviations.py").write_text(
        "# repaired\n" + (PROGRAMS / "reference.py").read_text()
    )
    fresh = [one for one in graded(here, handed_in) if not one.known]
    assert [one.entry.handed.student for one in fresh] == ["ben"]
    assert entries_of(here)["ben"].points == 100


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"questions": ("nothing",)}, "no question nothing"),
        ({"level": "iron"}, "expected process, limited, strong, found iron"),
        ({"submissions": Path("nowhere")}, "nowhere: expected a folder or a zip file, found none"),
    ],
)
def test_what_cannot_be_done_is_said(
    here: Context, alone: Path, changes: dict[str, object], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        graded(here, alone, **changes)


def test_a_folder_with_nobody_in_it_is_said(here: Context, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"expected files like STUDENT/deviations\.py"):
        graded(here, tmp_path / "empty")
