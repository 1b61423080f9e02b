"""A bank from a stranger: it cannot keep anybody waiting, end the program, or lead out of it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.bank import header, headers, load_question
from grader.bank.bank_files import BankFiles
from grader.model.errors import BankError
from tests.bank.specs import SPEC, edited, loaded, problems, write_bank

OUTSIDE = "a symbolic link that leads out of the bank"


# -- what never ends -------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["[", "{a: ", "- ", "&a [", "? ", "[[], "])
def test_a_spec_that_nests_without_end_does_not_delay_a_list(tmp_path: Path, mark: str) -> None:
    bank = write_bank(tmp_path)
    write_bank(tmp_path, f"title: T\nprompt: {mark * 200_000}", "deep")
    (bank / "questions" / "long.yaml").write_text("a: 1\n" * 200_000, encoding="utf-8")
    found = {h.id: h.title for h in headers([bank])}
    assert found["scaled-copy"] == "A scaled copy"
    assert found["deep"] in {"(unreadable)", "T"}
    assert header([bank], "long").title == "(unreadable)"


@pytest.mark.parametrize("depth", [6, 9, 30])
def test_data_that_aliases_multiply_is_refused_in_time(tmp_path: Path, depth: int) -> None:
    levels = [f"  l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, depth)]
    laughs = "\n".join(["cases:", "  l0: &l0 [0, 0, 0, 0, 0, 0, 0, 0, 0]", *levels]) + "\n"
    with pytest.raises(BankError, match="repeats or nests itself without end"):
        loaded(tmp_path, laughs)
    write_bank(tmp_path, laughs + SPEC.partition("cases:")[0], "laughing")
    assert header([tmp_path], "laughing").title == "A scaled copy"


@pytest.mark.parametrize(
    ("key", "more"),
    [
        ("cases", "".join(f"  c{n}: {{x: 1}}\n" for n in range(5000))),
        ("checks", "".join(f"  - {{id: k{n}, kind: outputs, of: q}}\n" for n in range(5000))),
        ("run", "".join(f"  - y{n} = f(x{n})\n" for n in range(5000))),
        ("starter_holds", f"  [{', '.join(f'idea-{n}' for n in range(20_000))}]\n"),
        ("unknown", "  [1]\n" + "".join(f"unknown{n}: 1\n" for n in range(20_000))),
    ],
)
def test_thousands_of_entries_are_reported_as_one_fault(
    tmp_path: Path, key: str, more: str
) -> None:
    blocks = SPEC.replace("\n  ", "\0 ").splitlines(keepends=True)
    kept = "".join(block for block in blocks if not block.startswith(f"{key}:"))
    (found,) = problems(tmp_path, f"{kept}{key}:\n{more}".replace("\0 ", "\n  "))
    assert "expected at most 200 entries, found " in found


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
def test_a_long_word_is_cut_in_messages(tmp_path: Path, spec: str) -> None:
    found = problems(tmp_path, spec)
    assert found
    assert all(len(text) < 700 for text in found)


# -- files that are none ---------------------------------------------------------------------------


def listening(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the path of a socket has 107 letters at most
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.chdir(here)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def endless(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize("make", [os.mkfifo, listening, Path.mkdir, device, endless])
def test_a_spec_that_is_not_a_regular_file_is_refused_at_once(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    bank = write_bank(tmp_path)
    make(bank / "questions" / "zz.yaml")
    assert {h.id: h.title for h in headers([bank])} == {
        "scaled-copy": "A scaled copy", "zz": "(unreadable)",
    }  # fmt: skip
    with pytest.raises(BankError, match="expected a file that can be read, found "):
        load_question([bank], "zz")
    for name in ("reference.py", "starter.py", "ideas.py"):
        path = write_bank(tmp_path / "other") / "drills" / "scaled-copy" / name
        path.unlink()
        make(path)
        with pytest.raises(BankError, match=f"expected the file {path}"):
            load_question([tmp_path / "other"], "scaled-copy")
        path.rmdir() if path.is_dir() else path.unlink()


# -- links -----------------------------------------------------------------------------------------


def test_a_program_behind_a_link_out_of_the_bank_is_not_read(tmp_path: Path) -> None:
    bank = write_bank(tmp_path / "bank")
    (tmp_path / "secret.py").write_text("SECRET = 1\n", encoding="utf-8")
    path = bank / "drills/scaled-copy/reference.py"
    path.unlink()
    path.symlink_to(tmp_path / "secret.py")
    with pytest.raises(BankError, match=f"found: {OUTSIDE}"):
        load_question([bank], "scaled-copy")


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
        load_question([bank], "scaled-copy")
    assert BankFiles(bank).file_names(name) == []


def test_links_within_a_bank_are_followed_and_the_bank_may_be_a_link(tmp_path: Path) -> None:
    bank = write_bank(tmp_path / "bank")
    starter = bank / "drills/scaled-copy/starter.py"
    starter.unlink()
    starter.symlink_to("reference.py")
    (bank / "drills/scaled-copy/reference.py").write_text("x = 1\n", encoding="utf-8")
    there = tmp_path / "there"
    there.symlink_to(bank)
    assert load_question([there], "scaled-copy").starter == b"x = 1\n"
    (tmp_path / "real.txt").write_text(SPEC, encoding="utf-8")
    one = tmp_path / "one.yaml"
    one.symlink_to("real.txt")
    assert headers([one])[0].title == "A scaled copy"
    with pytest.raises(FileNotFoundError):
        BankFiles(one).read_file("../secret")
