"""`drill bank add`, `remove`, `list` and `schema`; one id in two banks, on the command line."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.bank.locate import builtin
from grader.cli.app import run
from tests.bank.specs import SPEC, edited, write_bank
from tests.cli.conftest import ROOT, Ended
from tests.cli.test_startup import loaded

Drill = Callable[..., Ended]


@pytest.fixture
def drill(home: Path, capsys: pytest.CaptureFixture[str]) -> Drill:
    """Call the command line in this process, with real banks."""
    assert home.name

    def call(*arguments: str) -> Ended:
        capsys.readouterr()
        status = run(list(arguments))
        return Ended(status, *capsys.readouterr())

    return call


def listed(home: Path) -> str:
    """Return the user's list of banks."""
    return (home / "banks").read_text(encoding="utf-8")


def test_a_bank_is_added_once_listed_and_removed(drill: Drill, home: Path, tmp_path: Path) -> None:
    bank = write_bank(tmp_path / "mine")
    added = drill("bank", "add", "../mine")
    assert added.status == 0
    assert added.out == f"mine  {bank}\n1 question; it is in use from now on\n"
    assert listed(home) == f"{bank}\n"
    again = drill("bank", "add", str(bank))
    assert again.out == f"mine  {bank}\n1 question; it is in use already\n"
    assert listed(home) == f"{bank}\n"
    assert "scaled-copy" in drill("list").out
    ended = drill("bank", "list")
    assert ended.status == 0
    assert f"mine   {bank}\n       1 question, from {home / 'banks'}\n" in ended.out
    assert f"drill  {builtin()}\n" in ended.out
    removed = drill("bank", "remove", "../mine")
    assert removed.out == f"{bank} is no longer in use; it is left where it is\n"
    assert listed(home) == ""
    assert bank.is_dir()
    assert "scaled-copy" not in drill("list").out


def test_other_lines_of_the_list_stay_as_they_are(drill: Drill, home: Path, tmp_path: Path) -> None:
    one, two = (write_bank(tmp_path / name, name=f"q-{name}") for name in ("one", "two"))
    home.mkdir()
    (home / "banks").write_text(f"# ours\n\n  {one}  # the first\n", encoding="utf-8")
    drill("bank", "add", str(two))
    assert listed(home) == f"# ours\n\n  {one}  # the first\n{two}\n"
    assert drill("bank", "add", str(one)).out.endswith("it is in use already\n")
    drill("bank", "remove", str(one))
    assert listed(home) == f"# ours\n\n{two}\n"
    assert [p.name for p in home.iterdir()] == ["banks"], "nothing half written is left"


def test_a_list_behind_a_link_is_changed_where_it_is(
    drill: Drill, home: Path, tmp_path: Path
) -> None:
    bank = write_bank(tmp_path / "mine")
    home.mkdir()
    kept = tmp_path / "dotfiles-banks"
    kept.write_text("", encoding="utf-8")
    (home / "banks").symlink_to(kept)
    assert drill("bank", "add", str(bank)).status == 0
    assert (home / "banks").is_symlink()
    assert kept.read_text(encoding="utf-8") == f"{bank}\n"


def test_one_file_and_an_archive_are_banks_too(drill: Drill, tmp_path: Path) -> None:
    spec = tmp_path / "the-question.yaml"
    spec.write_text(SPEC, encoding="utf-8")
    packed = tmp_path / "ours-1.0-py3-none-any.whl"
    with zipfile.ZipFile(packed, "w") as made:
        made.writestr("ours/questions/packed-question.yaml", SPEC)
    for path, name in ((spec, "the-question"), (packed, "ours")):
        data = drill("bank", "add", str(path), "--json").data
        assert (data["name"], data["questions"], data["already"]) == (name, 1, False)
    found = drill("bank", "list", "--json").data
    assert found["ok"]
    assert [b["name"] for b in found["banks"]] == ["the-question", "ours", "drill"]
    ids = {q["id"] for q in drill("list", "--json").data["questions"]}
    assert {"the-question", "packed-question"} <= ids


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda p: p.exists(), "found nothing at "),
        (lambda p: p.mkdir(), "found no questions/ in "),
        (lambda p: p.write_text("x"), "found the file "),
    ],
)
def test_what_is_no_bank_is_refused(
    drill: Drill, home: Path, tmp_path: Path, make: Callable[[Path], object], said: str
) -> None:
    make(tmp_path / "thing")
    ended = drill("bank", "add", "../thing")
    assert ended.status == 2
    assert said in ended.err
    assert ended.err.startswith("drill: expected a folder that holds questions/, a .yaml file, or")
    assert not (home / "banks").exists()


def test_a_damaged_archive_is_refused(drill: Drill, tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04 cut short")
    ended = drill("bank", "add", "../bad.zip")
    assert ended.status == 2
    assert "expected a whole zip archive, found a damaged one" in ended.err


def test_a_path_that_the_list_cannot_hold_is_refused(drill: Drill, tmp_path: Path) -> None:
    write_bank(tmp_path / "mine #2")
    ended = drill("bank", "add", "../mine #2")
    assert ended.status == 2
    assert "expected a path that fits on a line of " in ended.err


def test_a_list_that_is_no_text_is_not_written_over(
    drill: Drill, home: Path, tmp_path: Path
) -> None:
    write_bank(tmp_path / "mine")
    home.mkdir()
    (home / "banks").write_bytes(b"\xff\xfe")
    ended = drill("bank", "add", "../mine")
    assert ended.status == 2
    assert "expected UTF-8 text with one path a line" in ended.err
    assert (home / "banks").read_bytes() == b"\xff\xfe"


def test_a_bank_that_is_gone_says_how_to_take_it_off_the_list(
    drill: Drill, home: Path, tmp_path: Path
) -> None:
    bank = write_bank(tmp_path / "mine")
    drill("bank", "add", str(bank))
    bank.rename(tmp_path / "elsewhere")
    ended = drill("list")
    assert ended.status == 2
    assert f"found nothing at {bank}" in ended.err
    assert f"drill bank remove {bank} takes it off the list" in ended.err
    shown = drill("bank", "list", "--json")
    assert shown.status == 3
    assert [b["fault"] != "" for b in shown.data["banks"]] == [True, False]
    assert drill("bank", "add", str(tmp_path / "elsewhere")).status == 0
    assert drill("bank", "remove", str(bank)).status == 0
    assert drill("list").status == 0


def test_a_bank_that_is_not_on_the_list_cannot_be_removed(drill: Drill, tmp_path: Path) -> None:
    bank = write_bank(tmp_path / "mine")
    drill("bank", "add", str(bank))
    ended = drill("bank", "remove", f"{bank}s")
    assert ended.status == 2
    assert f"did you mean {bank}?" in ended.err
    assert drill("bank", "remove", "../nothing-alike").status == 2


def test_the_schema_is_the_one_that_is_committed(drill: Drill) -> None:
    committed = (ROOT / "docs" / "question.schema.json").read_text(encoding="utf-8")
    assert json.loads(drill("bank", "schema").out) == json.loads(committed)


@pytest.fixture
def both(tmp_path: Path, drill: Drill, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Put two banks in use that hold one id."""
    banks = (
        write_bank(tmp_path / "mine", edited("A scaled copy", "Mine")),
        write_bank(tmp_path / "yours", edited("A scaled copy", "Yours")),
    )
    monkeypatch.setenv("DRILL_BANK", os.pathsep.join(map(str, banks)))
    return banks


def test_an_id_of_two_banks_is_listed_twice_and_asked_for_by_name(
    drill: Drill, both: tuple[Path, Path]
) -> None:
    out = drill("list").out
    assert "mine/scaled-copy" in out
    assert "yours/scaled-copy" in out
    for command in ("show", "start", "grade"):
        ended = drill(command, "scaled-copy")
        assert ended.status == 2
        assert "expected a question that one bank holds, found 'scaled-copy' in 2" in ended.err
        assert "say mine/scaled-copy or yours/scaled-copy" in ended.err
    assert drill("show", "yours/scaled-copy", "--json").data["title"] == "Yours"
    assert drill("show", "mine/scaled-copy", "--json").data["bank"] == str(both[0])


def test_after_a_start_the_id_alone_means_what_was_started(
    drill: Drill, both: tuple[Path, Path]
) -> None:
    assert drill("start", "yours/scaled-copy").status == 0
    for words in (("hint", "--json"), ("hint", "scaled-copy", "--json")):
        assert drill(*words).data["question"] == "scaled-copy"
    marker = json.loads(Path("scaled-copy/.drill").read_text(encoding="utf-8"))
    assert marker["bank"] == str(both[1])
    ended = drill("reset", "mine/scaled-copy")
    assert ended.status == 2
    assert "was not started here" in ended.err


def test_a_folder_is_not_taken_for_the_other_banks_question(
    drill: Drill, both: tuple[Path, Path], tmp_path: Path
) -> None:
    drill("start", "mine/scaled-copy")
    ended = drill("start", "yours/scaled-copy")
    assert ended.status == 2
    assert "expected a folder for yours/scaled-copy, found that of mine/scaled-copy" in ended.err
    assert "drill start yours/scaled-copy --dir DIR makes it elsewhere" in ended.err
    assert drill("start", "yours/scaled-copy", "--dir", "other").status == 0
    assert drill("start", "mine/scaled-copy", "--json").data["already_started"]


def test_a_started_drill_outlives_a_move_of_its_bank(
    drill: Drill, both: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drill("start", "mine/scaled-copy")
    moved = both[0].rename(tmp_path / "moved")
    monkeypatch.setenv("DRILL_BANK", str(moved))
    assert drill("hint", "--json").data["question"] == "scaled-copy"
    assert drill("start", "scaled-copy", "--json").data["already_started"]
    monkeypatch.setenv("DRILL_BANK", os.pathsep.join([str(moved), str(both[1])]))
    assert drill("hint").status == 2, "the folder says only where its bank was"
    assert drill("hint", "moved/scaled-copy", "--json").data["question"] == "scaled-copy"


def test_an_added_bank_says_which_ids_it_shares(drill: Drill, tmp_path: Path) -> None:
    one, two = (write_bank(tmp_path / name) for name in ("one", "two"))
    drill("bank", "add", str(one))
    assert "1 id is in one too: type two/ID or one/ID\n" in drill("bank", "add", str(two)).out


def test_listing_banks_loads_nothing_heavy(tmp_path: Path) -> None:
    bank = write_bank(tmp_path / "mine")
    # typer converts what is typed with pydantic.
    assert loaded(tmp_path, "bank", "add", str(bank)) <= {"pydantic"}
    assert loaded(tmp_path, "bank", "list") == set()
