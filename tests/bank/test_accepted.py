"""Right solutions in other styles: files that are named, or programs in the spec."""

from __future__ import annotations

from pathlib import Path

from grader.bank import load
from grader.model.errors import BankError
from grader.model.question import Question
from tests.bank.specs import edited, problems, write_bank

NAMED = edited("hints:", "accepted: [loops]\nhints:")
INLINE = edited(
    "hints:", "code:\n  accepted:\n    loops: |\n      scale = 1\n      scale_backward = 2\nhints:"
)


def with_files(folder: Path, spec: str, *names: str, source: str = "right = 1\n") -> Question:
    """Load the question with these files among its right solutions."""
    write_bank(folder, spec)
    home = folder / "drills" / "scaled-copy" / "accepted"
    home.mkdir()
    for name in names:
        (home / name).write_text(source)
    return load([folder], "scaled-copy")


def faults(folder: Path, spec: str, *names: str) -> list[str]:
    """What is wrong, without the paths before and in it."""
    try:
        with_files(folder, spec, *names)
    except BankError as error:
        text = "\n".join(error.problems).replace(f"{folder}/", "")
        return text.removeprefix("questions/scaled-copy.yaml:").splitlines()
    return []


def test_a_name_is_a_file_and_the_digest_knows_its_bytes(tmp_path: Path) -> None:
    one = with_files(tmp_path / "a", NAMED, "loops.py")
    other = with_files(tmp_path / "b", NAMED, "loops.py", source="right = 2\n")
    assert one.accepted == {"loops": b"right = 1\n"}
    assert one.digest != other.digest


def test_it_may_stand_in_the_spec_with_the_lines_of_the_spec(tmp_path: Path) -> None:
    found = load([write_bank(tmp_path, INLINE)], "scaled-copy").accepted["loops"]
    line = INLINE.splitlines().index("      scale = 1")
    assert found == b"\n" * line + b"scale = 1\nscale_backward = 2\n"


def test_a_missing_file_is_a_fault_with_a_place(tmp_path: Path) -> None:
    (found,) = faults(tmp_path, NAMED, "loop.py")
    line = NAMED.splitlines().index("accepted: [loops]") + 1
    assert found.startswith(f"{line}:12: expected the file drills/scaled-copy/accepted/loops.py")
    assert found.endswith("did you mean 'loop.py'?")


def test_a_file_that_nothing_names_is_a_fault_with_a_place(tmp_path: Path) -> None:
    line = NAMED.splitlines().index("accepted: [loops]") + 1
    assert faults(tmp_path, NAMED, "loops.py", "spare.py") == [
        f"{line}:1: expected a name under accepted, found "
        "drills/scaled-copy/accepted/spare.py, which nothing in the question uses"
    ]


def test_each_name_stands_once(tmp_path: Path) -> None:
    twice = NAMED.replace("[loops]", "[loops, loops]")
    (found,) = faults(tmp_path / "a", twice, "loops.py")
    assert found.endswith("accepted: expected each name once, found loops again")


def test_a_name_is_a_word(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, NAMED.replace("loops", "../reference"))
    assert "accepted" in found
