"""A `.drill` marker is a claim: it chooses no bank that is neither in use nor on record."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.bank.specs import write_bank
from tests.cli.conftest import ROOT, Drill, Ended

pytestmark = pytest.mark.usefixtures("one_zygote")

ID = "maxpool-routing"
RIGHT = (ROOT / "drills" / ID / "reference.py").read_text(encoding="utf-8")
EASY = """\
def scale(x, factor):
    return x * factor, factor


def scale_backward(grad_y, ctx):
    return grad_y * ctx
"""
FIRST, LAST = "0001-01-01T00:00:00Z", "9999-01-01T00:00:00Z"


def easy_bank(folder: Path, question: str = ID) -> Path:
    """Write a bank that holds an easy question, under the id of another one."""
    write_bank(folder, name=question)
    for name in ("starter", "reference", "misconceptions/adds_it"):
        (folder / "drills" / question / f"{name}.py").write_text(EASY)
    return folder


def mark(folder: Path, bank: Path | str, question: str = ID, at: str = LAST) -> None:
    """Write a marker, as anybody can."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"format": 1, "question": question, "bank": str(bank), "started_at": at}
    (folder / ".drill").write_text(json.dumps(content))


@pytest.fixture
def mal(home: Path) -> Path:
    """Give a folder with an easy question, its answer, and a marker that names a copy of it."""
    folder = Path("mal").absolute()
    bank = easy_bank(folder / "bank")
    shutil.copytree(bank, folder / "b")
    (folder / "submission.py").write_text(EASY)
    mark(folder, "mal/b")
    assert not home.exists()
    return folder


def own(folder: str = "mine") -> Path:
    """Return the submission of a drill that was started below a folder."""
    return Path(folder) / ID / "submission.py"


def judged_by_the_real_question(ended: Ended) -> bool:
    """Whether the question was that of the program, which the easy answer does not pass."""
    assert ended.status == 1, ended
    assert ended.data["verdict"] == "error"
    assert "maxpool2d_forward" in ended.data["message"]
    return bool(ended.data["bank"] == str(ROOT))


def test_a_marker_next_to_a_file_or_further_down_chooses_no_bank(real: Drill, mal: Path) -> None:
    assert mal.exists()
    asked = ((ID, "--file", "mal/submission.py"), ("--file", "mal/submission.py"),
             ("mal/submission.py",), ("mal/",))  # fmt: skip
    assert judged_by_the_real_question(real("grade", *asked[0], "--json"))
    assert judged_by_the_real_question(real("grade", "--json"))
    assert judged_by_the_real_question(real("grade", ID, "--json"))
    real("start", ID)  # records that hold another start change nothing
    for words in asked:
        assert judged_by_the_real_question(real("grade", *words, "--json"))


@pytest.mark.parametrize("where", ["mal", "mal/deeper"])
def test_the_marker_of_the_current_folder_or_one_above_chooses_no_bank(
    real: Drill, mal: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    (mal / "deeper").mkdir()
    monkeypatch.chdir(where)
    for bank in ("mal/b", "b", mal / "b", mal / "bank"):
        mark(mal, bank)
        assert judged_by_the_real_question(real("grade", "--json"))
        assert real("show", ID, "--json").data["bank"] == str(ROOT)
        assert "def scaled" not in real("solution", ID, "--give-up").out


def test_a_recorded_start_of_another_folder_question_or_bank_is_not_this_one(
    real: Drill, mal: Path, tmp_path: Path
) -> None:
    other = easy_bank(tmp_path / "other")
    assert real("--bank", str(other), "start", ID, "--dir", "mine").status == 0
    own().write_text(EASY)
    graded = real("grade", str(own()), "--json").data
    assert (graded["verdict"], graded["bank"]) == ("pass", str(other))
    mark(own().parent, mal / "bank")  # the bank differs
    assert judged_by_the_real_question(real("grade", str(own()), "--json"))
    shutil.copytree(own().parent, "copy")  # the folder differs
    mark(Path("copy"), other)
    os.chdir("copy")
    try:
        assert judged_by_the_real_question(real("grade", "--json"))
    finally:
        os.chdir("..")


def test_a_bank_of_a_recorded_start_is_used_without_being_named(
    real: Drill, tmp_path: Path
) -> None:
    bank = easy_bank(tmp_path / "bank", "scaled-copy")
    real("--bank", str(bank), "start", "scaled-copy")
    Path("scaled-copy/submission.py").write_text(EASY)
    for words in ((), ("scaled-copy",), ("scaled-copy/",)):
        graded = real("grade", *words, "--json").data
        assert (graded["verdict"], graded["bank"]) == ("pass", str(bank))
    assert real("hint").status == 0
    assert real("list", "--json").data["questions"][0]["id"] != "scaled-copy"


def test_where_records_cannot_be_kept_a_marker_names_a_question_of_the_banks_in_use(
    real: Drill, mal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILL_HOME", "/proc/nowhere")
    assert judged_by_the_real_question(real("grade", "--json"))
    (mal / "submission.py").write_text(RIGHT)
    assert real("grade", "--json").data["verdict"] == "pass"
    mark(mal, "mal/b", question="scaled-copy")
    assert real("grade", "--json").status == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a file away")
def test_a_marker_of_another_user_names_nothing(real: Drill, mal: Path) -> None:
    os.chown(mal / ".drill", 65534, 65534)
    real("grade").refused("no drill was started here")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 9_999,
        '{"question":' * 900,
        json.dumps({"question": ID, "bank": "x" * 5_000, "started_at": FIRST}),
        json.dumps({"question": ID, "bank": "x\0y", "started_at": FIRST}),
        json.dumps({"question": "../" + ID, "bank": "x", "started_at": FIRST}),
        json.dumps({"question": "x" * 5_000, "bank": "x", "started_at": FIRST}),
        "\ud800".encode("utf-8", "surrogatepass"),
    ],
    ids=["brackets", "braces", "long bank", "null", "slash", "long question", "surrogate"],
)
def test_no_text_of_a_marker_is_a_fault_of_the_grader(
    real: Drill, home: Path, monkeypatch: pytest.MonkeyPatch, text: str | bytes
) -> None:
    Path("mal").mkdir()
    Path("mal/.drill").write_bytes(text if isinstance(text, bytes) else text.encode())
    for words in (("grade",), ("grade", ID, "--file", "mal/none.py"), ("list",)):
        assert real(*words).status in {0, 2}
    monkeypatch.chdir("mal")
    real("grade").refused("expected what drill start wrote there")
    assert not home.exists()


def test_a_marker_that_is_no_regular_file_is_none(real: Drill) -> None:
    Path("pipe").mkdir()
    os.mkfifo("pipe/.drill")
    Path("link").mkdir()
    mark(Path("aside"), ROOT)
    Path("link/.drill").symlink_to(Path("aside/.drill").absolute())
    shutil.rmtree("aside", ignore_errors=True)
    assert "no drill was started here" in real("grade").err


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_submission_that_is_no_file_of_its_own_is_refused(real: Drill, kind: str) -> None:
    real("start", ID)
    path = own(".")
    path.unlink()
    if kind == "link":
        Path("alice.py").write_text(RIGHT)
        path.symlink_to("../alice.py")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    for words in (("grade",), ("grade", ID), ("grade", str(path)),
                  ("grade", ID, "--file", str(path))):  # fmt: skip
        ended = real(*words)
        assert ended.status == 2, words
        if kind == "folder" and words[1:] == (str(path),):
            continue  # a folder that is named is looked into
        assert f"expected a file, found a {kind.replace('link', 'symbolic link')}" in ended.err
    assert real("history", "--json").data["attempts"] == []


@pytest.fixture
def two(real: Drill) -> Drill:
    """Give the drill of a marker that no record knows, and another that was started last."""
    mark(Path("mp"), "somewhere")
    Path("mp/deeper").mkdir()
    for name in ("submission", "other", "deeper/third"):
        Path(f"mp/{name}.py").write_text(RIGHT)
    assert real("start", "conv1d-per-step").status == 0
    return real


@pytest.mark.parametrize(
    "path", ["mp/", "mp", "./mp", "mp/submission.py", "mp/other.py", "mp/deeper/third.py",
             "mp/deeper", "mp/deeper/.."],
)  # fmt: skip
def test_a_path_means_the_drill_of_its_folder_as_being_there_does(two: Drill, path: str) -> None:
    graded = two("grade", path, "--json").data
    assert (graded["question"], graded["verdict"]) == (ID, "pass")
    assert graded["bank"] == str(ROOT)


@pytest.mark.parametrize("path", ["mp/", "mp", "mp/submission.py", "mp/deeper/third.py"])
def test_a_path_in_no_drills_folder_is_not_taken_for_the_drill_started_last(
    two: Drill, path: str
) -> None:
    Path("mp/.drill").unlink()
    ended = two("grade", path)
    assert (ended.status, ended.out) == (2, "")
    assert "does not belong to a started drill" in ended.err
    assert "drill grade ID --file PATH grades any file" in " ".join(ended.err.split())
    assert two("history", "--json").data["attempts"] == []
