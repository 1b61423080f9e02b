"""Which banks are looked in, and what a list of questions shows of them."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.bank import banks, document, headers, locate, storage
from grader.bank import header as bank_header
from grader.bank.header import read_head
from grader.bank.locate import builtin, header, ids, names
from grader.bank.storage import BankFiles
from grader.model.errors import BankError, UsageError
from tests.bank.specs import SPEC, edited, pipe_with, write_bank


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


def test_a_bank_given_on_the_command_line_stands_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILL_BANK", str(write_bank(home / "env")))
    assert banks(write_bank(home / "asked")) == [home / "asked"]


def test_the_environment_comes_before_the_list_and_the_list_before_the_builtin(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = (write_bank(home / name) for name in ("one", "two", "three"))
    monkeypatch.setenv("DRILL_BANK", f"{one}{os.pathsep}{os.pathsep}{two}")
    listed(home, "# mine", f"{three}  # and a remark", "", f"  {one}  ")
    assert banks() == [one, two, three, builtin()]


def test_the_users_list_is_in_drill_home_when_that_is_set(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(home, "/nowhere")
    bank = write_bank(home / "bank")
    monkeypatch.setenv("DRILL_HOME", str(home / "records"))
    (home / "records").mkdir()
    (home / "records" / "banks").write_text(str(bank), encoding="utf-8")
    assert banks() == [bank, builtin()]


def test_a_bank_that_cannot_be_read_is_told_and_left_out(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, twice = write_bank(home / "good"), write_bank(home / "twice")
    (twice / "questions" / "scaled-copy.yml").write_text(SPEC, encoding="utf-8")
    outside = write_bank(home / "linked")
    (outside / "questions").rename(home / "questions")
    (outside / "questions").symlink_to(home / "questions")
    listed(home, str(twice), str(outside), str(good))
    told: list[tuple[str, str]] = []
    assert banks(warn=lambda *said: told.append(said)) == [good, builtin()]
    (first, first_hint), (second, second_hint) = told
    assert "expected one file for the id scaled-copy, found scaled-copy.yaml too" in first
    assert first_hint == "rename or remove one of them"
    assert "found a symbolic link that leads out of the bank" in second
    assert second_hint == f"drill bank remove {outside} takes it off the list"
    told.clear()
    monkeypatch.setenv("DRILL_BANK", str(twice))
    assert banks(warn=lambda *said: told.append(said)) == [good, builtin()]
    with pytest.raises(BankError, match="expected one file for the id scaled-copy"):
        headers(banks(twice, warn=lambda *said: told.append(said)))


def test_a_bank_that_was_asked_for_and_is_not_there_is_said(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = home / "empty"
    empty.mkdir()
    with pytest.raises(UsageError) as raised:
        banks(home / "none")
    assert raised.value.message == (
        "--bank: expected a folder that holds questions/, or a .yaml file, "
        f"found nothing at {home / 'none'}"
    )
    monkeypatch.setenv("DRILL_BANK", str(empty))
    with pytest.raises(UsageError, match=r"^DRILL_BANK: .*, found no questions/ in "):
        banks()
    monkeypatch.delenv("DRILL_BANK")
    path = listed(home, str(empty))
    with pytest.raises(UsageError, match=f"^{path}: "):
        banks()


def test_headers_are_sorted_by_track_and_what_two_banks_hold_is_there_twice(home: Path) -> None:
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
    assert ids([first, second]) == ["apple", "first/scaled-copy", "second/scaled-copy", "zebra"]
    assert header([second, first], "zebra") == found[0]
    assert header([first, second], "second/scaled-copy").title == "Second"


def test_every_bank_has_a_name_of_its_own(home: Path) -> None:
    made = [write_bank(home / name) for name in ("a/class", "b/class", "drill", "c/class")]
    spec = home / "one.yaml"
    spec.write_text(SPEC, encoding="utf-8")
    assert names([*made, spec, builtin()]) == {
        "class": made[0], "class-2": made[1], "drill-2": made[2], "class-3": made[3],
        "one": spec, "drill": builtin(),
    }  # fmt: skip


@pytest.mark.parametrize(
    "spec", [b"", b"\xff\xfe\x00", b"title: [", b"- a list", b"a: " + b"[" * 5000, b"x: y\n" * 3000]
)
def test_a_broken_question_hides_no_other(home: Path, spec: bytes) -> None:
    bank = write_bank(home / "bank")
    write_bank(home / "bank", spec, "broken")
    by_id = {h.id: h for h in headers([bank])}
    assert by_id["scaled-copy"].title == "A scaled copy"
    assert by_id["broken"].title == "(unreadable)"
    assert by_id["broken"].minutes == 0


def test_a_head_that_lacks_a_key_is_shown_as_far_as_it_goes(home: Path) -> None:
    bank = write_bank(home / "bank", SPEC.replace("track: basics\nlevel: warm-up\n", ""))
    (found,) = headers([bank])
    assert (found.title, found.track, found.level, found.minutes) == ("A scaled copy", "", "", 5)


def test_what_is_to_be_passed_before_stands_in_the_head(home: Path) -> None:
    bank = write_bank(home / "bank", "prerequisites: [one, two-more]\n" + SPEC)
    assert headers([bank])[0].prerequisites == ("one", "two-more")


def test_hidden_and_foreign_files_are_no_questions(home: Path) -> None:
    folder = write_bank(home / "bank") / "questions"
    for name in (".swap.yaml", "README.md", "notes.txt", "old.yaml~"):
        (folder / name).write_text("", encoding="utf-8")
    assert [h.id for h in headers([home / "bank"])] == ["scaled-copy"]


@settings(deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda t: f"title: {t}".encode()))
def test_a_head_of_any_bytes_is_read_without_complaint(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "head.yaml"
    path.write_bytes(data)
    assert read_head("head", BankFiles(path), path.name).id == "head"


# -- what would hold a list up, or break it --------------------------------------------------------


def counted(monkeypatch: pytest.MonkeyPatch) -> list[yaml.Event]:
    """Count the events of YAML that a list reads."""
    seen: list[yaml.Event] = []

    def counting(text: str) -> Iterator[yaml.Event]:
        for event in document.events(text):
            seen.append(event)
            yield event

    monkeypatch.setattr(bank_header, "events", counting)
    return seen


def test_no_question_that_comes_along_is_read_behind_its_head(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A head ends with the last of its keys, or with the parts, of which each has minutes."""
    seen = counted(monkeypatch)
    for name in ids([builtin()]):
        seen.clear()
        head = header([builtin()], name)
        assert head.track
        assert head.level
        assert head.minutes
        spec = (builtin() / "questions" / f"{name}.yaml").read_text(encoding="utf-8")
        top = re.findall(r"^(\w+):", spec, re.MULTILINE)
        last = max(n for n, key in enumerate(top) if key in {*bank_header.KEYS, "parts"})
        behind = spec[: spec.index(f"\n{top[last + 1]}:") + 1].count("\n")
        mark = seen[-1].start_mark
        assert mark is not None
        assert mark.line <= behind
        most = bank_header.MOST_EVENTS_OF_PARTS if head.parts > 1 else bank_header.MOST_EVENTS
        assert len(seen) <= most // 5


def test_a_bank_has_a_thousand_questions_at_most(home: Path) -> None:
    folder = home / "bank" / "questions"
    folder.mkdir(parents=True)
    for number in range(storage.MAX_SPECS):
        (folder / f"q{number}.yaml").touch()
    assert len(ids([home / "bank"])) == storage.MAX_SPECS == 1000
    (folder / "notes.txt").touch()
    (folder / "one-more.yml").touch()
    with pytest.raises(BankError, match="expected at most 1,000 questions, found more"):
        ids([home / "bank"])


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
    told: list[str] = []
    assert banks(warn=lambda said, _: told.append(said)) == [builtin()]
    assert found in told[0]


def test_a_head_is_one_line_of_what_can_be_seen(home: Path) -> None:
    spec = edited(
        "track: basics", 'track: "two\\nlines\\u202e"', "A scaled copy", '"A\\r\\e[31m copy"'
    )
    head = headers([write_bank(home / "bank", spec)])[0]
    assert (head.track, head.title) == ("two lines\\u202e", "A \\x1b[31m copy")


LONG = "n" * 300


def shut(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Close a folder even to the superuser."""
    stat = os.stat

    def refuse(path: os.PathLike[str] | str | int, **more: Any) -> os.stat_result:
        if not isinstance(path, int) and folder in Path(path).parents:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return stat(path, **more)

    monkeypatch.setattr(os, "stat", refuse)


@pytest.mark.parametrize("line", [LONG, f"{LONG}/bank", "nul\0inside", "loop", "closed/bank"])
def test_a_line_of_the_list_that_cannot_be_looked_at_hides_no_other(
    home: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    (home / "loop").symlink_to("loop")
    shut(monkeypatch, home / "closed")
    good = write_bank(home / "good")
    listed(home, str(home / line), str(good))
    told: list[tuple[str, str]] = []
    assert banks(warn=lambda *said: told.append(said)) == [good, builtin()]
    (said, hint), *others = told
    assert not others
    assert f"found {home / line}: " in said or f"found nothing at {home / line}" in said
    assert hint.endswith("takes it off the list")
    with pytest.raises(UsageError, match="expected a folder that holds questions/"):
        banks(home / line)


def test_a_folder_whose_questions_cannot_be_looked_at_is_told_so(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = write_bank(home / "bank")
    shut(monkeypatch, bank)
    assert f"found {bank / 'questions'}: Permission denied" in storage.refusal(bank)


def test_a_list_of_banks_that_is_a_pipe_keeps_nobody_waiting(home: Path) -> None:
    path = listed(home)
    path.unlink()
    with pipe_with(path, "/from/the/pipe\n"):
        assert banks() == [builtin()]


def test_a_list_of_banks_that_is_cut_is_not_taken_for_the_whole(home: Path) -> None:
    listed(home, "#" * storage.MAX_SOURCE)
    with pytest.raises(OSError, match="more than 1,048,576 bytes"):
        locate.config_lines()
