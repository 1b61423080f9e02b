"""Which banks are looked in, which question is meant, and what a list shows of questions."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from grader import bank as room
from grader.bank import (
    bank_files,
    bank_names,
    banks_in_use,
    builtin,
    header,
    headers,
    load_question,
    question_ids,
    yaml_document,
)
from grader.model.errors import BankError, UsageError
from grader.model.limits import MAX_HEAD_EVENTS, MAX_SOURCE
from tests.bank.specs import SPEC, edited, one_file, write_bank

TWICE = "expected one file for the id scaled-copy, found scaled-copy.yaml too"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a home without banks."""
    for name in ("DRILL_HOME", "DRILL_BANK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def listed(home: Path, *lines: str) -> Path:
    """Write the user's list of banks."""
    path = home / "config" / "drill" / "banks"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def warned(explicit: Path | None = None) -> tuple[list[Path], list[tuple[str, str]]]:
    """The banks, and what is said of those that are left out."""
    told: list[tuple[str, str]] = []
    return banks_in_use(explicit, lambda *said: told.append(said)), told


def test_the_command_line_excludes_environment_list_and_builtin(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = (write_bank(home / name) for name in ("one", "two", "three"))
    monkeypatch.setenv("DRILL_BANK", f"{one}{os.pathsep}{os.pathsep}{two}")
    listed(home, "# mine", f"{three}  # and a remark", "", f"  {one}  ")
    assert banks_in_use() == [one, two, three, builtin()]
    assert banks_in_use(three) == [three]
    monkeypatch.setenv("DRILL_HOME", str(home / "records"))
    (home / "records").mkdir()
    (home / "records" / "banks").write_text(str(two), encoding="utf-8")
    monkeypatch.delenv("DRILL_BANK")
    assert banks_in_use() == [two, builtin()]


def test_a_bank_that_cannot_be_read_is_reported_and_left_out(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, twice, outside = (write_bank(home / name) for name in ("good", "twice", "linked"))
    (twice / "questions" / "scaled-copy.yml").write_text(SPEC, encoding="utf-8")
    (outside / "questions").rename(home / "questions")
    (outside / "questions").symlink_to(home / "questions")
    listed(home, str(twice), str(outside), str(good))
    found, ((first, first_hint), (second, second_hint)) = warned()
    assert found == [good, builtin()]
    assert (TWICE in first, first_hint) == (True, "rename or remove one of them")
    assert "found a symbolic link that leads out of the bank" in second
    assert second_hint == f"drill bank remove {outside} takes it off the list"
    monkeypatch.setenv("DRILL_BANK", str(twice))
    assert warned()[0] == [good, builtin()]
    with pytest.raises(BankError, match=TWICE):
        headers(warned(twice)[0])


def test_a_named_bank_that_is_missing_is_an_error(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = home / "empty"
    empty.mkdir()
    with pytest.raises(UsageError) as raised:
        banks_in_use(home / "none")
    assert raised.value.message == (
        "--bank: expected a folder that holds questions/, or a .yaml file, "
        f"found nothing at {home / 'none'}"
    )
    monkeypatch.setenv("DRILL_BANK", str(empty))
    with pytest.raises(UsageError, match=r"^DRILL_BANK: .*, found no questions/ in "):
        banks_in_use()
    monkeypatch.delenv("DRILL_BANK")
    path = listed(home, str(empty))
    with pytest.raises(UsageError, match=f"^{path}: "):
        banks_in_use()


def shut(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Close a folder even to the superuser."""
    stat = os.stat

    def refuse(path: os.PathLike[str] | str | int, **more: Any) -> os.stat_result:
        if not isinstance(path, int) and folder in Path(path).parents:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return stat(path, **more)

    monkeypatch.setattr(os, "stat", refuse)


@pytest.mark.parametrize("line", ["n" * 300, "nul\0inside", "loop", "closed/bank"])
def test_an_unreadable_path_of_the_list_hides_no_other_bank(
    home: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    (home / "loop").symlink_to("loop")
    shut(monkeypatch, home / "closed")
    good = write_bank(home / "good")
    listed(home, str(home / line), str(good))
    found, ((said, hint),) = warned()
    assert found == [good, builtin()]
    assert f"found {home / line}: " in said or f"found nothing at {home / line}" in said
    assert hint.endswith("takes it off the list")
    with pytest.raises(UsageError, match="expected a folder that holds questions/"):
        banks_in_use(home / line)
    shut(monkeypatch, good)
    assert f"found {good / 'questions'}: Permission denied" in bank_files.why_not_a_bank(good)


def test_a_list_of_banks_that_is_a_pipe_or_too_long_is_not_read(home: Path) -> None:
    path = listed(home, "#" * MAX_SOURCE)
    with pytest.raises(OSError, match="more than 1,048,576 bytes"):
        room.config_lines()
    path.unlink()
    os.mkfifo(path)
    assert banks_in_use() == [builtin()]


# -- which question is meant -----------------------------------------------------------------------


def test_every_bank_has_its_own_name(home: Path) -> None:
    made = [write_bank(home / name) for name in ("a/class", "b/class", "drill", "c/class")]
    spec = one_file(home, SPEC)
    assert bank_names([*made, spec, builtin()]) == {
        "class": made[0], "class-2": made[1], "drill-2": made[2], "class-3": made[3],
        "one": spec, "drill": builtin(),
    }  # fmt: skip


def test_the_name_of_a_bank_selects_one_of_two_questions_with_one_id(home: Path) -> None:
    both = [write_bank(home / n, edited("A scaled copy", n.title())) for n in ("first", "second")]
    assert load_question(both, "first/scaled-copy").spec.title == "First"
    assert load_question(both, "second/scaled-copy").spec.title == "Second"
    assert load_question(both[:1], "first/scaled-copy").bank == both[0]


@pytest.mark.parametrize(
    ("asked", "message", "hint"),
    [
        ("scaled-copy", "expected a question that one bank holds, found 'scaled-copy' in 2",
         "say mine/scaled-copy or yours/scaled-copy"),
        ("mime/scaled-copy", "expected the name of a bank before '/', found 'mime' in "
         "'mime/scaled-copy'", "did you mean mine/scaled-copy?"),
        ("xyz/scaled-copy", "expected the name of a bank before '/', found 'xyz' in "
         "'xyz/scaled-copy'", "the banks are mine, yours"),
        ("mine/scaled-cpoy", "no question mine/scaled-cpoy; did you mean mine/scaled-copy?", ""),
        ("copy", "no question copy; did you mean scaled-copy?", ""),
        ("attention", "no question attention", "Next: drill list"),
        ("", "no question without a name", "Next: drill list"),
        (".", "no question .", "Next: drill list"),
        ("../questions/scaled-copy", "expected the name of a bank before '/', found '../questions' "
         "in '../questions/scaled-copy'", "the banks are mine, yours"),
    ],
)  # fmt: skip
def test_an_unknown_or_ambiguous_question_has_a_suggestion(
    home: Path, asked: str, message: str, hint: str
) -> None:
    both = [write_bank(home / name) for name in ("mine", "yours")]
    with pytest.raises(UsageError) as raised:
        load_question(both, asked)
    assert (raised.value.message, raised.value.hint) == (message, hint)


def test_a_broken_bank_does_not_hide_the_questions_of_another(home: Path) -> None:
    good, bad = write_bank(home / "good"), write_bank(home / "bad", name="other")
    (bad / "questions" / "other.yml").write_text("", encoding="utf-8")
    assert load_question([bad, good], "scaled-copy").bank == good
    with pytest.raises(BankError, match="expected one file for the id other"):
        load_question([bad, good], "other")


# -- what a list shows -----------------------------------------------------------------------------


def test_headers_are_sorted_by_track_and_a_question_of_two_banks_has_two(home: Path) -> None:
    first = write_bank(home / "first", edited("A scaled copy", "First"))
    write_bank(home / "first", edited("track: basics", "track: algebra"), "zebra")
    second = write_bank(home / "second", edited("A scaled copy", "Second"))
    write_bank(home / "second", edited("[numpy]", "[numpy, torch]"), "apple")
    found = headers([first, second])
    assert [(h.called, h.track, h.title) for h in found] == [
        ("zebra", "algebra", "A scaled copy"),
        ("apple", "basics", "A scaled copy"),
        ("first/scaled-copy", "basics", "First"),
        ("second/scaled-copy", "basics", "Second"),
    ]
    assert [h.id for h in found] == ["zebra", "apple", "scaled-copy", "scaled-copy"]
    assert [(h.level, h.minutes, h.torch) for h in found][:2] == [
        ("warm-up", 5, False), ("warm-up", 5, True),
    ]  # fmt: skip
    assert question_ids([first, second]) == [
        "apple",
        "first/scaled-copy",
        "second/scaled-copy",
        "zebra",
    ]
    assert header([second, first], "zebra") == found[0]
    assert header([first, second], "second/scaled-copy").title == "Second"


def test_a_header_has_prerequisites_minutes_and_the_number_of_parts(home: Path) -> None:
    shutil.copytree(Path(__file__).parents[1] / "banks" / "parts", home / "parts")
    path = home / "parts" / "questions" / "mean-and-spread.yaml"
    spec = path.read_text(encoding="utf-8")
    odd = spec.replace("minutes: 3", "minutes: soon").replace("uses: [numpy]\n", "", 1)
    odd = f"prerequisites: [one, two-more]\n{odd}uses: [torch, numpy]\n"
    (path.parent / "uses-last.yaml").write_text(odd, encoding="utf-8")
    found = {
        h.id: (h.minutes, h.parts, h.torch, h.prerequisites) for h in headers([home / "parts"])
    }
    assert found == {
        "mean-and-spread": (9, 3, False, ()), "uses-last": (6, 3, True, ("one", "two-more")),
    }  # fmt: skip


@pytest.mark.parametrize(
    "spec", [b"", b"\xff\xfe\x00", b"title: [", b"- a list", b"a: " + b"[" * 5000, b"x: y\n" * 3000]
)
def test_a_broken_question_hides_no_other(home: Path, spec: bytes) -> None:
    bank = write_bank(home / "bank")
    write_bank(home / "bank", spec, "broken")
    for name in (".swap.yaml", "README.md", "notes.txt", "old.yaml~"):
        (bank / "questions" / name).write_text("", encoding="utf-8")
    found = {h.id: (h.title, h.minutes) for h in headers([bank])}
    assert found == {"scaled-copy": ("A scaled copy", 5), "broken": ("(unreadable)", 0)}


def test_a_header_has_the_keys_that_exist_in_one_printable_line_each(home: Path) -> None:
    lacking = edited("track: basics\nlevel: warm-up\n", "")
    (found,) = headers([write_bank(home / "bank", lacking)])
    assert (found.title, found.track, found.level, found.minutes) == ("A scaled copy", "", "", 5)
    odd = edited("track: basics", 'track: "two\\nlines\\u202e"', "A scaled copy", '"A\\e[31m copy"')
    (found,) = headers([write_bank(home / "bank", odd)])
    assert (found.track, found.title) == ("two lines\\u202e", "A\\x1b[31m copy")


@settings(deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda t: f"title: {t}".encode()))
def test_a_head_of_any_bytes_is_read_without_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "head.yaml"
    path.write_bytes(data)
    assert header([path], "head").id == "head"


def test_no_built_in_question_is_read_beyond_its_head(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A head ends with the last of its keys, or with the parts, of which each has minutes."""
    seen: list[yaml.Event] = []
    parse = yaml.parse

    def counting(text: str, **how: Any) -> Iterator[yaml.Event]:
        for event in parse(text, **how):
            seen.append(event)
            yield event

    monkeypatch.setattr(yaml, "parse", counting)
    for name in question_ids([builtin()]):
        seen.clear()
        head = header([builtin()], name)
        assert head.track
        assert head.level
        assert head.minutes
        spec = (builtin() / "questions" / f"{name}.yaml").read_text(encoding="utf-8")
        top = re.findall(r"^(\w+):", spec, re.MULTILINE)
        last_keys = {*yaml_document.REQUIRED_HEAD, "minutes", "parts"}
        last = max(n for n, key in enumerate(top) if key in last_keys)
        behind = spec[: spec.index(f"\n{top[last + 1]}:") + 1].count("\n")
        assert seen[-1].start_mark is not None
        assert seen[-1].start_mark.line <= behind
        assert len(seen) <= MAX_HEAD_EVENTS // 5


def test_a_bank_has_a_thousand_questions_at_most(home: Path) -> None:
    folder = home / "bank" / "questions"
    folder.mkdir(parents=True)
    for number in range(1000):
        (folder / f"q{number}.yaml").touch()
    assert len(question_ids([home / "bank"])) == 1000
    (folder / "one-more.yml").touch()
    with pytest.raises(BankError, match="expected at most 1,000 questions, found more"):
        question_ids([home / "bank"])


@pytest.mark.parametrize("name", ["new\nline", "a b", "turned\u202e", "-option", "x" * 101])
@pytest.mark.parametrize("alone", [True, False], ids=["file", "folder"])
def test_a_spec_whose_name_would_break_a_list_is_refused(
    home: Path, name: str, alone: bool
) -> None:
    bank = write_bank(home / "bank")
    spec = bank / "questions" / f"{name}.yaml"
    spec.write_text(SPEC, encoding="utf-8")
    found = "expected specs named by lower-case words joined by hyphens, found "
    with pytest.raises(BankError) as raised:
        headers([spec if alone else bank])
    assert raised.value.message == f"{bank / 'questions'}: {found}{spec.name!r}"
    listed(home, str(bank))
    kept, ((told, _),) = warned()
    assert kept == [builtin()]
    assert found in told
