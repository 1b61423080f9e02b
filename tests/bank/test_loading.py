"""A question is a spec and its files; what is missing is said with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.bank import load
from grader.model.errors import BankError, UsageError
from tests.bank.specs import edited, problems, write_bank


def test_a_question_carries_its_sources_as_bytes(tmp_path: Path) -> None:
    write_bank(tmp_path)
    home = tmp_path / "drills" / "scaled-copy"
    (home / "starter.py").write_bytes(b"\xff not even text")
    (home / "misconceptions" / "adds_it.py").write_bytes(b"x + factor")
    question = load([tmp_path], "scaled-copy")
    assert question.starter == b"\xff not even text"
    assert question.driver is None
    assert question.variants == {"adds-it": (b"x + factor",)}
    assert question.spec_path == tmp_path / "questions" / "scaled-copy.yaml"
    assert question.bank == tmp_path


@pytest.mark.parametrize("file", ["starter.py", "reference.py"])
def test_a_missing_program_is_named(tmp_path: Path, file: str) -> None:
    path = write_bank(tmp_path) / "drills" / "scaled-copy" / file
    path.unlink()
    with pytest.raises(BankError) as raised:
        load([tmp_path], "scaled-copy")
    spec = tmp_path / "questions" / "scaled-copy.yaml"
    assert raised.value.problems == (
        f"{spec}:1:1: expected the file {path}, or code.{path.stem} in the spec, "
        "found: No such file or directory",
    )


def test_a_missing_variant_is_named_where_its_misconception_stands(tmp_path: Path) -> None:
    path = write_bank(tmp_path) / "drills" / "scaled-copy" / "misconceptions" / "adds_it.py"
    path.unlink()
    with pytest.raises(BankError) as raised:
        load([tmp_path], "scaled-copy")
    spec = tmp_path / "questions" / "scaled-copy.yaml"
    assert raised.value.problems == (
        f"{spec}:19:3: expected the file {path}, or misconceptions.adds-it.code in the spec, "
        "found: No such file or directory",
    )


def test_a_variant_cannot_lie_outside_its_folder(tmp_path: Path) -> None:
    spec = edited("killed_by: forward", "killed_by: forward\n    variants: [../../secret]")
    assert problems(tmp_path, spec) == [
        "21:16: misconceptions.adds-it.variants[0]: expected a name (letters, digits, _), "
        "found the text '../../secret'"
    ]


def test_a_file_that_is_too_long_is_refused(tmp_path: Path) -> None:
    path = write_bank(tmp_path) / "drills" / "scaled-copy" / "reference.py"
    path.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(BankError) as raised:
        load([tmp_path], "scaled-copy")
    spec = tmp_path / "questions" / "scaled-copy.yaml"
    assert raised.value.message == (
        f"{spec}:1:1: expected at most 1,048,576 bytes in {path}, found more"
    )


def test_a_question_that_two_banks_hold_is_told_apart_by_the_banks_name(tmp_path: Path) -> None:
    first = write_bank(tmp_path / "first", edited("A scaled copy", "First"))
    second = write_bank(tmp_path / "second", edited("A scaled copy", "Second"))
    both = [first, second]
    assert load(both, "first/scaled-copy").spec.title == "First"
    assert load(both, "second/scaled-copy").spec.title == "Second"
    assert load([first], "first/scaled-copy").bank == first
    with pytest.raises(UsageError) as raised:
        load(both, "scaled-copy")
    assert raised.value.message == (
        "expected a question that one bank holds, found 'scaled-copy' in 2"
    )
    assert raised.value.hint == "say first/scaled-copy or second/scaled-copy"


def test_an_unknown_bank_or_question_of_a_bank_suggests_the_nearest(tmp_path: Path) -> None:
    both = [write_bank(tmp_path / name) for name in ("mine", "yours")]
    for asked, message, hint in (
        (
            "mime/scaled-copy",
            "expected the name of a bank before '/', found 'mime' in 'mime/scaled-copy'",
            "did you mean mine/scaled-copy?",
        ),
        (
            "xyz/scaled-copy",
            "expected the name of a bank before '/', found 'xyz' in 'xyz/scaled-copy'",
            "the banks are mine, yours",
        ),
        ("mine/scaled-cpoy", "no question mine/scaled-cpoy; did you mean mine/scaled-copy?", ""),
    ):
        with pytest.raises(UsageError) as raised:
            load(both, asked)
        assert (raised.value.message, raised.value.hint) == (message, hint)


def test_a_broken_bank_does_not_hide_the_questions_of_another(tmp_path: Path) -> None:
    good = write_bank(tmp_path / "good")
    bad = write_bank(tmp_path / "bad", name="other") / "questions"
    (bad / "other.yml").write_text("", encoding="utf-8")
    assert load([bad.parent, good], "scaled-copy").bank == good
    with pytest.raises(BankError, match="expected one file for the id other"):
        load([bad.parent, good], "other")


def test_one_id_in_two_files_is_refused(tmp_path: Path) -> None:
    folder = write_bank(tmp_path) / "questions"
    (folder / "scaled-copy.yml").write_text("", encoding="utf-8")
    with pytest.raises(BankError) as raised:
        load([tmp_path], "scaled-copy")
    assert raised.value.message == (
        f"{folder / 'scaled-copy.yml'}: expected one file for the id scaled-copy, "
        "found scaled-copy.yaml too"
    )


def test_an_unknown_id_suggests_the_nearest(tmp_path: Path) -> None:
    bank = write_bank(tmp_path)
    for asked, message, hint in (
        ("scaled-cpoy", "no question scaled-cpoy; did you mean scaled-copy?", ""),
        ("copy", "no question copy; did you mean scaled-copy?", ""),
        ("attention", "no question attention", "Next: drill list"),
        ("", "no question without a name", "Next: drill list"),
    ):
        with pytest.raises(UsageError) as raised:
            load([bank], asked)
        assert raised.value.message == message
        assert raised.value.hint == hint
        assert raised.value.exit_status == 2


def test_an_id_is_never_a_path(tmp_path: Path) -> None:
    write_bank(tmp_path)
    for asked in ("../questions/scaled-copy", str(tmp_path / "questions" / "scaled-copy"), "."):
        with pytest.raises(UsageError):
            load([tmp_path], asked)
