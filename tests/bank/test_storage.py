"""A bank from a stranger: it cannot keep anybody waiting, end the program, or lead out of it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from grader.bank import header, headers, load
from grader.bank.storage import BankFiles
from grader.model.errors import BankError
from tests.bank.specs import SPEC, edited, loaded, problems, write_bank

HERE = "expected a file that can be read, found "
OUTSIDE = "a symbolic link that leads out of the bank"


def nested(mark: str, times: int) -> str:
    return "title: T\nprompt: " + mark * times


# -- what never ends -------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["[", "{a: ", "- ", "&a [", "? ", "[[], "])
@pytest.mark.parametrize("times", [200, 200_000])
def test_a_list_of_questions_is_not_held_up_by_one_that_nests_itself(
    tmp_path: Path, mark: str, times: int
) -> None:
    bank = write_bank(tmp_path)
    write_bank(tmp_path, nested(mark, times), "deep")
    found = {h.id: h.title for h in headers([bank])}
    assert found["scaled-copy"] == "A scaled copy"
    assert found["deep"] in {"(unreadable)", "T"}


def test_only_the_first_pages_of_a_question_are_looked_at_for_a_list(tmp_path: Path) -> None:
    path = tmp_path / "long.yaml"
    path.write_text("a: 1\n" * 200_000, encoding="utf-8")
    assert header([path], "long").title == "(unreadable)"


def laughs(depth: int) -> str:
    """A list of lists of ... that has 9 ** depth entries and takes a line for each level."""
    levels = [f"  l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, depth)]
    return "\n".join(["cases:", "  l0: &l0 [0, 0, 0, 0, 0, 0, 0, 0, 0]", *levels]) + "\n"


@pytest.mark.parametrize("depth", [6, 9, 30])
def test_what_aliases_multiply_is_not_counted_out(tmp_path: Path, depth: int) -> None:
    with pytest.raises(BankError, match="repeats or nests itself without end"):
        loaded(tmp_path, laughs(depth))
    write_bank(tmp_path, laughs(depth) + SPEC.partition("cases:")[0], "laughing")
    found = {h.id: h.title for h in headers([tmp_path])}
    assert found["laughing"] == "A scaled copy"


@pytest.mark.parametrize(
    "more",
    [
        "cases:\n" + "".join(f"  c{n}: {{x: 1}}\n" for n in range(5000)),
        "checks:\n" + "".join(f"  - {{id: k{n}, kind: outputs, of: q}}\n" for n in range(5000)),
        "run:\n" + "".join(f"  - y{n} = f(x{n})\n" for n in range(5000)),
        "starter_holds: [" + ", ".join(f"idea-{n}" for n in range(20_000)) + "]\n",
        "".join(f"unknown{n}: 1\n" for n in range(20_000)),
    ],
    ids=["cases", "checks", "steps", "texts", "keys"],
)
def test_thousands_of_entries_are_one_fault_and_no_product_of_them(
    tmp_path: Path, more: str
) -> None:
    key = more.partition(":")[0]
    spec = "".join(
        block
        for block in SPEC.replace("\n  ", "\0 ").splitlines(keepends=True)
        if not block.startswith(f"{key}:")
    ).replace("\0 ", "\n  ")
    found = problems(tmp_path, spec + more)
    assert any("expected at most 200 entries, found " in text for text in found)
    assert len(found) <= 100


@pytest.mark.parametrize(
    "spec",
    [
        "? " + "k" * 500_000 + "\n: 1\n" + SPEC,
        edited("of: y", f"of: {'y' * 500_000}"),
        edited("needs: forward", f"needs: {'f' * 500_000}"),
        edited("kind: outputs, of: y", f"kind: {'o' * 500_000}, of: y"),
        edited("factor: 3", f"factor: {{{'n' * 1000}: [2]}}"),
    ],
    ids=["key", "result", "check", "kind", "generator"],
)
def test_a_word_of_any_length_is_cut_in_what_is_said(tmp_path: Path, spec: str) -> None:
    found = problems(tmp_path, spec)
    assert found
    assert all(len(text) < 700 for text in found)


# -- files that are none ---------------------------------------------------------------------------


def pipe(path: Path) -> None:
    os.mkfifo(path)


def listening(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the path of a socket has 107 letters at most
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.chdir(here)


def folder(path: Path) -> None:
    path.mkdir()


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def endless(path: Path) -> None:
    path.symlink_to(path.name)


ODD = [pipe, listening, folder, device, endless]


@pytest.mark.parametrize("make", ODD)
def test_a_spec_that_is_no_file_holds_nothing_up(tmp_path: Path, make: object) -> None:
    assert callable(make)
    bank = write_bank(tmp_path)
    make(bank / "questions" / "zz.yaml")
    assert {h.id: h.title for h in headers([bank])} == {
        "scaled-copy": "A scaled copy", "zz": "(unreadable)",
    }  # fmt: skip
    with pytest.raises(BankError, match=HERE):
        load([bank], "zz")


@pytest.mark.parametrize("make", ODD)
@pytest.mark.parametrize("name", ["reference.py", "starter.py", "misconceptions/adds_it.py"])
def test_a_program_that_is_no_file_is_a_fault_of_the_bank(
    tmp_path: Path, make: object, name: str
) -> None:
    assert callable(make)
    path = write_bank(tmp_path) / "drills" / "scaled-copy" / name
    path.unlink()
    make(path)
    with pytest.raises(BankError, match=f"expected the file {path}"):
        load([tmp_path], "scaled-copy")


# -- links -----------------------------------------------------------------------------------------


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Give a folder next to the bank, with what is none of its business."""
    there = write_bank(tmp_path / "outside", name="secret")
    (there / "secret.py").write_text("SECRET = 1\n", encoding="utf-8")
    return there


def test_a_program_behind_a_link_out_of_the_bank_is_not_read(tmp_path: Path, outside: Path) -> None:
    bank = write_bank(tmp_path / "bank")
    path = bank / "drills/scaled-copy/reference.py"
    path.unlink()
    path.symlink_to(outside / "secret.py")
    with pytest.raises(BankError, match=f"found: {OUTSIDE}"):
        load([bank], "scaled-copy")


@pytest.mark.parametrize("name", ["drills", "drills/scaled-copy", "questions"])
@pytest.mark.parametrize("relative", [False, True])
def test_a_folder_behind_a_link_out_of_the_bank_is_not_read(
    tmp_path: Path, name: str, relative: bool
) -> None:
    bank = write_bank(tmp_path / "bank")
    path = bank / name
    moved = path.rename(tmp_path / "moved")
    path.symlink_to(os.path.relpath(moved, path.parent) if relative else moved)
    with pytest.raises(BankError, match=OUTSIDE):
        load([bank], "scaled-copy")
    assert BankFiles(bank).names(name) == []


def test_links_within_a_bank_are_followed_and_the_bank_may_be_a_link(tmp_path: Path) -> None:
    bank = write_bank(tmp_path / "bank")
    starter = bank / "drills/scaled-copy/starter.py"
    starter.unlink()
    starter.symlink_to("reference.py")
    (bank / "drills/scaled-copy/reference.py").write_text("x = 1\n", encoding="utf-8")
    there = tmp_path / "there"
    there.symlink_to(bank)
    assert load([there], "scaled-copy").starter == b"x = 1\n"


def test_a_bank_of_one_file_may_be_a_link_and_reads_no_other(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text(SPEC, encoding="utf-8")
    bank = tmp_path / "one.yaml"
    bank.symlink_to("real.txt")
    assert headers([bank])[0].title == "A scaled copy"
    with pytest.raises(FileNotFoundError):
        BankFiles(bank).read("../secret")
