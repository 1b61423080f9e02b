"""`drill bank add`, `remove`, `list` and `schema`; one id in two banks, on the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.bank import builtin
from tests.bank.specs import SPEC, edited, write_bank
from tests.cli.conftest import ROOT, Drill
from tests.cli.test_startup import loaded

pytestmark = pytest.mark.usefixtures("one_zygote")


def listed(home: Path) -> str:
    """Return the user's list of banks."""
    return (home / "banks").read_text(encoding="utf-8")


def test_a_bank_is_added_once_listed_and_removed(real: Drill, home: Path, tmp_path: Path) -> None:
    bank = write_bank(tmp_path / "mine")
    added = real("bank", "add", "../mine")
    assert added.status == 0
    assert added.out == f"mine  {bank}\n1 question; it is in use from now on\n"
    assert listed(home) == f"{bank}\n"
    again = real("bank", "add", str(bank))
    assert again.out == f"mine  {bank}\n1 question; it is in use already\n"
    assert listed(home) == f"{bank}\n"
    assert "scaled-copy" in real("list").out
    ended = real("bank", "list")
    assert ended.status == 0
    assert f"mine   {bank}\n       1 question, from {home / 'banks'}\n" in ended.out
    assert f"drill  {builtin()}\n" in ended.out
    removed = real("bank", "remove", "../mine")
    assert removed.out == f"{bank} is no longer in use; it is left where it is\n"
    assert listed(home) == ""
    assert bank.is_dir()
    assert "scaled-copy" not in real("list").out


def test_a_list_behind_a_link_is_changed_where_it_is(
    real: Drill, home: Path, tmp_path: Path
) -> None:
    bank = write_bank(tmp_path / "mine")
    home.mkdir()
    kept = tmp_path / "dotfiles-banks"
    kept.write_text("", encoding="utf-8")
    (home / "banks").symlink_to(kept)
    assert real("bank", "add", str(bank)).status == 0
    assert (home / "banks").is_symlink()
    assert kept.read_text(encoding="utf-8") == f"{bank}\n"


def test_one_file_is_a_bank_too(real: Drill, tmp_path: Path) -> None:
    spec = tmp_path / "the-question.yaml"
    spec.write_text(SPEC, encoding="utf-8")
    data = real("bank", "add", str(spec), "--json").data
    assert (data["name"], data["questions"], data["already"]) == ("the-question", 1, False)
    found = real("bank", "list", "--json").data
    assert found["ok"]
    assert [b["name"] for b in found["banks"]] == ["the-question", "drill"]
    assert "the-question" in {q["id"] for q in real("list", "--json").data["questions"]}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda p: p.exists(), "found nothing at "),
        (lambda p: p.mkdir(), "found no questions/ in "),
        (lambda p: p.write_text("x"), "found the file "),
    ],
)
def test_what_is_no_bank_is_refused(
    real: Drill, home: Path, tmp_path: Path, make: Callable[[Path], object], said: str
) -> None:
    make(tmp_path / "thing")
    ended = real("bank", "add", "../thing")
    assert ended.status == 2
    assert said in ended.err
    assert ended.err.startswith("drill: expected a folder that holds questions/, or a .yaml file,")
    assert not (home / "banks").exists()


def test_a_list_that_is_no_text_is_not_written_over(
    real: Drill, home: Path, tmp_path: Path
) -> None:
    write_bank(tmp_path / "mine")
    home.mkdir()
    (home / "banks").write_bytes(b"\xff\xfe")
    real("bank", "add", "../mine").refused("expected UTF-8 text with one path per line")
    assert (home / "banks").read_bytes() == b"\xff\xfe"


def test_a_bank_that_is_gone_says_how_to_take_it_off_the_list(
    real: Drill, home: Path, tmp_path: Path
) -> None:
    bank = write_bank(tmp_path / "mine")
    real("bank", "add", str(bank))
    bank.rename(tmp_path / "elsewhere")
    for words in (("list",), ("show", "maxpool-routing"), ("start", "maxpool-routing")):
        ended = real(*words)
        assert ended.status == 0
        assert "maxpool-routing" in ended.out
        assert ended.err.count(f"found nothing at {bank}") == 1
        assert f"drill bank remove {bank} takes it off the list" in ended.err
    shown = real("bank", "list", "--json")
    assert shown.status == 3
    assert [b["fault"] != "" for b in shown.data["banks"]] == [True, False]
    assert shown.data["banks"][0]["hint"] == f"drill bank remove {bank} takes it off the list"
    assert f"\n       drill bank remove {bank} takes it off the list\n" in real("bank", "list").out
    assert real("bank", "add", str(tmp_path / "elsewhere")).status == 0
    assert real("bank", "remove", str(bank)).status == 0
    assert real("list").status == 0


def test_a_bank_that_is_not_on_the_list_cannot_be_removed(real: Drill, tmp_path: Path) -> None:
    bank = write_bank(tmp_path / "mine")
    real("bank", "add", str(bank))
    real("bank", "remove", f"{bank}s").refused(f"did you mean {bank}?")
    assert real("bank", "remove", "../nothing-alike").status == 2
    bank.rename(tmp_path / "gone")
    assert f"did you mean {bank}?" in real("bank", "remove", "mien").err


@pytest.fixture
def both(tmp_path: Path, real: Drill, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Put two banks in use that hold one id."""
    banks = (
        write_bank(tmp_path / "mine", edited("A scaled copy", "Mine")),
        write_bank(tmp_path / "yours", edited("A scaled copy", "Yours")),
    )
    monkeypatch.setenv("DRILL_BANK", os.pathsep.join(map(str, banks)))
    return banks


def test_an_id_of_two_banks_is_listed_twice_and_asked_for_by_name(
    real: Drill, both: tuple[Path, Path]
) -> None:
    out = real("list").out
    assert "mine/scaled-copy" in out
    assert "yours/scaled-copy" in out
    for command in ("show", "start", "grade"):
        ended = real(command, "scaled-copy")
        ended.refused(
            "expected a question that one bank holds, found 'scaled-copy' in 2",
            "say mine/scaled-copy or yours/scaled-copy",
        )
    assert real("show", "yours/scaled-copy", "--json").data["title"] == "Yours"
    assert real("show", "mine/scaled-copy", "--json").data["bank"] == str(both[0])


def test_a_folder_is_not_taken_for_the_other_banks_question(
    real: Drill, both: tuple[Path, Path], tmp_path: Path
) -> None:
    real("start", "mine/scaled-copy")
    ended = real("start", "yours/scaled-copy")
    ended.refused(
        f"for scaled-copy of {both[1]}, found that of {both[0]}",
        "drill start yours/scaled-copy --dir DIR makes it elsewhere",
    )
    alone = real("--bank", str(both[1]), "start", "scaled-copy")
    assert f"for scaled-copy of {both[1]}, found that of {both[0]}" in alone.err
    assert real("start", "yours/scaled-copy", "--dir", "other").status == 0
    assert real("start", "mine/scaled-copy", "--json").data["already_started"]


def test_listing_banks_loads_nothing_heavy(tmp_path: Path) -> None:
    bank = write_bank(tmp_path / "mine")
    # typer converts what is typed with pydantic, whose importlib.metadata has json from 3.13 on.
    assert loaded(tmp_path, "bank", "add", str(bank)) <= {"pydantic", "json"}
    assert loaded(tmp_path, "bank", "list") == set()


@pytest.mark.parametrize(
    ("refusing", "said"),
    [("pathlib.Path.mkdir", "cannot be made: "), ("os.fsync", "cannot be written: ")],
)
def test_where_the_list_cannot_be_written_another_folder_is_named(
    real: Drill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusing: str, said: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    write_bank(tmp_path / "mine")
    monkeypatch.setattr(refusing, refuse)
    ended = real("bank", "add", "../mine")
    assert ended.status == 2
    assert said in ended.err
    assert "DRILL_HOME=DIR names another folder, which you can write" in ended.err


def test_a_broken_bank_is_warned_of_once_and_hides_no_other(
    real: Drill, home: Path, tmp_path: Path
) -> None:
    good, broken = write_bank(tmp_path / "good"), write_bank(tmp_path / "broken", name="other")
    for bank in (broken, good):
        assert real("bank", "add", str(bank)).status == 0
    (broken / "questions" / "other.yml").write_text(SPEC, encoding="utf-8")
    for words in (("list",), ("show", "scaled-copy"), ("start", "scaled-copy"), ("hint",)):
        ended = real(*words)
        assert ended.status == 0, words
        assert ended.err.count("expected one file for the id other, found other.yaml too") <= 1
    assert "scaled-copy" in real("list").out
    assert "expected one file for the id other" in real("list").err
    assert real("--bank", str(broken), "list").status == 3
    assert real("show", "other").status == 2


@pytest.mark.parametrize("shown", ["mine", "mine-2"])
def test_a_bank_is_removed_by_the_name_that_the_list_shows(
    real: Drill, home: Path, tmp_path: Path, shown: str
) -> None:
    banks = {
        "mine": write_bank(tmp_path / "a" / "mine"),
        "mine-2": write_bank(tmp_path / "b" / "mine"),
    }
    for bank in banks.values():
        real("bank", "add", str(bank))
    assert shown in {b["name"] for b in real("bank", "list", "--json").data["banks"]}
    removed = real("bank", "remove", shown)
    assert removed.out == f"{banks.pop(shown)} is no longer in use; it is left where it is\n"
    assert listed(home) == "".join(f"{bank}\n" for bank in banks.values())


ADDING = """
import sys
from grader.cli.app import run
print("ready", flush=True)
sys.stdin.readline()
for bank in sys.argv[1:]:
    assert run(["bank", "add", bank]) == 0
"""


def test_banks_that_two_processes_add_at_once_are_all_on_the_list(
    home: Path, tmp_path: Path
) -> None:
    every = [str(write_bank(tmp_path / f"bank-{n}")) for n in range(24)]
    adding = [
        subprocess.Popen(
            [sys.executable, "-c", ADDING, *every[half::2]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            text=True,
        )
        for half in (0, 1)
    ]
    for process in adding:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in adding:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in adding:
        process.communicate()
        assert process.returncode == 0
    assert sorted(listed(home).split()) == sorted(every)
    assert [p.name for p in home.iterdir()] == ["banks"]


def test_a_path_that_the_list_could_not_hold_is_not_added(
    real: Drill, home: Path, tmp_path: Path
) -> None:
    for name in ("a\rb", "a\u2028b", "a\udcffb", "a #b"):
        ended = real("bank", "add", str(write_bank(tmp_path / name)))
        ended.refused("expected a path that fits on a line of")
    assert not (home / "banks").exists()


def test_commands_that_are_suggested_keep_the_bank(
    real: Drill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")  # wide enough for a path that is not folded
    bank = write_bank(tmp_path / "a bank")
    option = f"--bank '{bank}'"

    def said(*words: str) -> str:
        ended = real("--bank", str(bank), *words)
        return " ".join((ended.out + ended.err).split())

    assert f"drill bank new bad-id {option}" in said("bank", "new", "Bad Id")
    assert said("show", "scaled-copy").endswith(f"Next: drill start scaled-copy {option}")
    assert f"Next: drill start scaled-copy {option} drill grade" in said("grade", "scaled-copy")
    assert f"drill solution scaled-copy {option} --give-up" in said("hint", "scaled-copy")
    assert f"Next: drill hint scaled-copy {option} drill" in said("solution", "scaled-copy")
    Path("mine.py").touch()
    graded = said("grade", "scaled-copy", "--file", "mine.py", "--seed", "7")
    assert f"Next: drill grade scaled-copy --file mine.py {option}" in graded


def test_a_question_whose_id_would_break_a_list_is_not_started(real: Drill, tmp_path: Path) -> None:
    bank = write_bank(tmp_path / "bank", name="a b")
    ended = real("--bank", str(bank), "start", "a b")
    assert ended.status == 3
    assert "rename it, to a-b.yaml for example" in ended.err
    assert not list(Path().iterdir())
