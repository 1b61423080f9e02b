"""How commands speak: on a terminal, in a pager, in a pipe; and nothing hostile acts on it."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import select
import struct
import sys
import termios
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from grader.cli import output
from grader.reports import sheet
from grader.reports.blocks import Paragraph
from tests.cli.conftest import ROOT, Drill, Program

ALLOWED = {"\x1b[0m", "\x1b[1m", "\x1b[7m", "\x1b[31m", "\x1b[32m"}
READ = 1 << 16


def on_a_terminal(
    program: Program, *words: str, typed: str = "", rows: int = 24, columns: int = 80, **more: str
) -> tuple[int, str]:
    """Run a command on a terminal of its own; return its status, and what was to be seen.

    What is typed is typed when it asks which question.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    running = program(
        *words,
        **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),
        env=kept | {"TERM": "xterm"} | more,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that ^C is a signal
    )
    os.close(theirs)
    seen, sent = b"", ""
    with suppress(OSError):  # the other end is closed
        while True:
            # A key that ends something is lost where it is typed just before somebody listens.
            if not select.select([ours], [], [], 1.0)[0]:
                os.write(ours, sent.encode() if sent in {"\x03", "\x04"} else b"")
                continue
            some = os.read(ours, READ)
            if not some:
                break
            seen += some
            if typed and b"is it for?" in seen:
                os.write(ours, typed.encode())
                typed, sent = "", typed
    os.close(ours)
    return running.wait(), seen.decode().replace("\r\n", "\n")


def test_a_long_document_goes_through_the_pager_of_a_terminal_alone(
    program: Program, drill: Drill
) -> None:
    pager: dict[str, Any] = {"PAGER": "echo PAGED; cat"}
    status, seen = on_a_terminal(program, "list", rows=5, **pager)
    assert (status, seen.startswith("PAGED\n")) == (0, True)
    assert "double-trouble" in seen
    for words, rows in (
        (("list",), 24),
        (("--no-pager", "list"), 5),
        (("list", "--plain"), 5),
        (("list", "--json"), 5),
        (("next",), 2),
    ):
        status, seen = on_a_terminal(program, *words, rows=rows, **pager)
        assert (status, "PAGED" in seen, "double-trouble" in seen) == (0, False, True), words
    piped = program("list", env=os.environ | pager)
    assert "PAGED" not in piped.communicate()[0]
    assert drill("start", "double-trouble").status == 0


def test_a_pager_that_is_closed_or_missing_is_no_fault(program: Program) -> None:
    status, seen = on_a_terminal(program, "list", rows=5, PAGER="true")
    assert (status, "double-trouble" in seen) == (0, False)
    status, seen = on_a_terminal(program, "list", rows=5, PAGER="/no/such/pager 2>/dev/null")
    assert (status, "double-trouble" in seen) == (0, True)
    status, seen = on_a_terminal(program, "list", rows=5, PAGER="")
    assert (status, "double-trouble" in seen) == (0, True)


def test_styles_are_few_and_can_be_dropped(program: Program, drill: Drill) -> None:
    drill("start", "double-trouble")
    for words in (
        ("list",),
        ("next",),
        ("start", "halve-well"),
        ("show", "halve-well"),
        ("solution", "double-trouble", "--give-up"),
        ("hint", "double-trouble"),
    ):
        _, seen = on_a_terminal(program, *words, PAGER="")
        found = set(re.findall(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", seen))
        assert found <= ALLOWED, words
        assert found, words
        for name, value in (("NO_COLOR", "1"), ("TERM", "dumb"), ("DRILL_PLAIN", "1")):
            dropped: dict[str, Any] = {name: value, "PAGER": ""}
            assert "\x1b" not in on_a_terminal(program, *words, **dropped)[1], (words, name)
        assert "\x1b" not in on_a_terminal(program, "--color", "never", *words, PAGER="")[1]


def test_color_is_kept_in_a_pipe_where_that_is_asked_for(drill: Drill) -> None:
    assert "\x1b" not in drill("list").out
    assert "\x1b[1mNext:\x1b[0m" in drill("list", "--color", "always").out
    assert "\x1b" not in drill("list").out
    refused = drill("list", "--color=sometimes")
    assert refused.status == 2
    assert "--color: expected auto, always or never, found sometimes" in refused.err


def test_a_file_of_no_drill_is_asked_about_on_a_terminal(
    program: Program, drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path("elsewhere")
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("submission.py").write_text("# pass\n")
    status, seen = on_a_terminal(program, "grade", typed="double-trouble\n")
    assert "submission.py does not belong to a started drill. Which question is it for?" in seen
    assert (status, "PASS" in seen) == (0, True)
    (attempt,) = drill("history", "--json").data["attempts"]
    assert attempt["kind"] == "review"
    for typed in ("\n", "\x03", "\x04"):
        status, seen = on_a_terminal(program, "grade", typed=typed)
        assert status == 130, seen
    status, seen = on_a_terminal(program, "grade", typed="doubel-trouble\n")
    assert (status, "did you mean double-trouble?" in seen) == (2, True)
    assert len(drill("history", "--json").data["attempts"]) == 1
    assert drill("grade", "--json").status == 2


@pytest.mark.parametrize("columns", ["20", "80", "120"])
def test_no_page_is_wider_than_the_window_but_for_what_is_typed_or_copied(
    drill: Drill, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    width = max(60, min(int(columns), 90))
    for words in (
        ("list",),
        ("start", "double-trouble"),
        ("show", "double-trouble"),
        ("next",),
        ("grade",),
        ("history",),
        ("hint",),
        ("doctor", "--walls"),
    ):
        for line in drill(*words).out.splitlines():
            copied = re.match(r"Next: |Read  |Edit  |Isolation |.*Next: ", line)
            assert copied or len(line) <= width, (words, line)


ID = "maxpool-routing"
REFERENCE = (ROOT / "drills" / ID / "reference.py").read_bytes()


@pytest.mark.usefixtures("one_zygote")
def test_every_command_speaks_json_in_one_document(real: Drill) -> None:
    assert real("start", ID, "--json").data["already_started"] is False
    assert real("start", ID, "--json").data["already_started"] is True
    graded = real("grade", "--seed", "7", "--json")
    assert (graded.status, graded.err) == (1, "")
    assert (graded.data["verdict"], graded.data["seed"]) == ("fail", 7)
    Path(ID, "submission.py").write_bytes(REFERENCE)
    assert real("grade", "--json").data["verdict"] == "pass"
    for words in (
        *(("list",), ("next",), ("show", ID), ("hint",), ("case",), ("solution",), ("reset",)),
        *(("history",), ("history", ID), ("history", "restore", "1"), ("doctor",)),
        ("bank", "list"),
    ):
        ended = real(*words, "--json")
        assert (ended.status, ended.err) == (0, ""), words
        assert ended.data["format"] == 1
    for words in (("grade", "maxpol-routing"), ("show", "nothing"), ("history", "restore", "99")):
        ended = real(*words, "--json")
        assert ended.status == 2
        assert ended.data["error"]["message"]


@pytest.mark.usefixtures("one_zygote")
def test_without_a_home_to_write_everything_goes_on(
    real: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").write_text("in the way")
    monkeypatch.setenv("DRILL_HOME", str(Path("file/home").absolute()))
    assert real("start", ID).err.count("\n") == 1
    graded = real("grade")
    assert graded.status == 1
    assert "gaps: grad_x is wrong in 2 of 2 cases" in graded.out
    assert graded.err.startswith("drill: Your history cannot be written; this grade is not saved (")
    assert graded.err.count("\n") == 1
    statuses = {
        "list": 0, "next": 0, "hint": 0, "solution --give-up": 0, "history": 0, "reset": 0,
        "doctor": 2,
    }  # fmt: skip
    for words, status in statuses.items():
        assert real(*words.split()).status == status, words


HOSTILE = "\x1b[2J\x1b]0;name\x07 \u202e \x9b31m [bold]b[/bold] \r"
SHOWN = "\\x1b[2J\\x1b]0;name\\x07 \\u202e \\x9b31m [bold]b[/bold] \\r"


def seen(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what was written since the last time."""
    out, err = capsys.readouterr()
    assert not set(out + err) & {"\x1b", "\x07", "\x9b", "\u202e", "\r"}
    return out + err


def test_lines_and_complaints(capsys: pytest.CaptureFixture[str]) -> None:
    output.write(HOSTILE)
    assert seen(capsys) == SHOWN + "\n"
    output.write("one\n\ttwo")
    assert seen(capsys) == "one\n\ttwo\n"
    output.warn(HOSTILE, hint=HOSTILE)
    assert seen(capsys).count("name\\x07") == 2


def test_tables_and_headings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    output.lines(sheet.columns(["title"], [[HOSTILE]]))
    output.show([Paragraph(HOSTILE)])
    output.steps(HOSTILE)
    shown = seen(capsys)
    assert shown.count("\\x1b]0;name") == 3
    assert "[bold]b[/bold]" in shown


def test_documents(capsys: pytest.CaptureFixture[str]) -> None:
    output.document(title=HOSTILE)
    assert "\\u001b[2J" in seen(capsys)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_command_in_a_complaint_is_never_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "40")
    command = "Next: drill grade maxpool-routing --file 'a folder/submission.py'   drill list"
    output.warn("a complaint that goes on for more than a line of sixty columns", command)
    assert screen.getvalue().splitlines() == [
        "drill: a complaint that goes on for more than a line of",
        "    sixty columns",
        "    Next: drill grade maxpool-routing --file 'a folder/submission.py'",
        "          drill list",
    ]


def test_a_status_line_is_cut_and_erased_before_a_warning_and_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = _Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("TERM", "xterm")
    with output.waiting() as step:
        step("grading, 2 of 9 checks, of which one is long")
        output.warn("a note")
        step("2 of 9", "FAIL  anna")
    assert screen.getvalue().split(output.ERASE) == [
        "", "grading, 2 of 9 checks, of wh", "drill: a note\n", "FAIL  anna\n2 of 9", "",
    ]  # fmt: skip
    before = screen.getvalue()
    for term in ("dumb", ""):  # which cannot erase
        monkeypatch.setenv("TERM", term)
        with output.waiting() as step:
            step("loading torch")
    assert screen.getvalue() == before
