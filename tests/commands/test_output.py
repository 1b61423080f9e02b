"""Output on a terminal, in a pager and in a pipe, and that hostile text cannot act on it."""

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
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from grader.commands import output
from grader.reports import text_layout
from grader.reports.blocks import Paragraph
from grader.sandbox.client import Isolation, WorkerClient
from grader.sandbox.worker.walls.canary import ACTS
from tests.commands.conftest import ROOT, CommandResult, Drill, Program, without_torch

ALLOWED = {"\x1b[0m", "\x1b[1m", "\x1b[7m", "\x1b[31m", "\x1b[32m"}
READ = 1 << 16


def on_a_terminal(
    program: Program, *words: str, typed: str = "", rows: int = 24, columns: int = 80, **more: str
) -> tuple[int, str]:
    """Run a command on its own terminal; return its status and everything it showed.

    `typed` is typed when the command asks for a confirmation.
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
    shown, sent = b"", ""
    with suppress(OSError):  # the other end is closed
        while True:
            # A key that ends something is lost where it is typed just before somebody listens.
            if not select.select([ours], [], [], 1.0)[0]:
                os.write(ours, sent.encode() if sent in {"\x03", "\x04"} else b"")
                continue
            chunk = os.read(ours, READ)
            if not chunk:
                break
            shown += chunk
            if typed and b"[y/N]" in shown:
                os.write(ours, typed.encode())
                typed, sent = "", typed
    os.close(ours)
    return running.wait(), shown.decode().replace("\r\n", "\n")


@pytest.fixture
def screen(drill: Drill, monkeypatch: pytest.MonkeyPatch) -> Callable[..., CommandResult]:
    """Call a command in this process as if all its streams were a terminal of 80 columns."""

    def call(*words: str, **more: str) -> CommandResult:
        with monkeypatch.context() as patch:
            patch.setattr(output, "_is_terminal", lambda _: True)
            for name, value in ({"TERM": "xterm", "PAGER": ""} | more).items():
                patch.setenv(name, value)
            return drill(*words)

    return call


def test_a_long_document_goes_through_the_pager_of_a_terminal_alone(
    program: Program, screen: Callable[..., CommandResult]
) -> None:
    pager: dict[str, Any] = {"PAGER": "echo PAGED; cat"}
    status, shown = on_a_terminal(program, "list", rows=5, **pager)
    assert (status, shown.startswith("PAGED\n"), "double-trouble" in shown) == (0, True, True)
    for words, rows in (
        (("list",), 24),
        (("--no-pager", "list"), 5),
        (("list", "--plain"), 5),
        (("list", "--json"), 5),
        (("next",), 2),
    ):
        ended = screen(*words, LINES=str(rows), **pager)
        assert (ended.status, "double-trouble" in ended.out) == (0, True), words  # not to a pager
    piped = program("list", env=os.environ | pager | {"LINES": "5"})
    assert "PAGED" not in piped.communicate()[0]


@pytest.mark.parametrize(
    ("pager", "shown"), [("true", False), ("/no/such/pager 2>/dev/null", True), ("", True)]
)
def test_a_pager_that_is_closed_or_missing_is_no_fault(
    screen: Callable[..., CommandResult], pager: str, *, shown: bool
) -> None:
    ended = screen("list", LINES="5", PAGER=pager)
    assert (ended.status, "double-trouble" in ended.out) == (0, shown)


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("next",),
        ("start", "halve-well"),
        ("show", "halve-well"),
        ("solution", "double-trouble", "--give-up"),
        ("hint", "double-trouble"),
    ],
)
def test_styles_are_few_and_can_be_dropped(
    screen: Callable[..., CommandResult], words: tuple[str, ...]
) -> None:
    sequences = set(re.findall(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", screen(*words).out))
    assert sequences
    assert sequences <= ALLOWED
    for dropped in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"DRILL_PLAIN": "1"}):
        assert "\x1b" not in screen(*words, **dropped).out, dropped
    assert "\x1b" not in screen("--color", "never", *words).out


def test_color_is_for_a_terminal_or_if_an_option_asks_for_it(
    drill: Drill, program: Program
) -> None:
    assert "\x1b[1mNext:\x1b[0m" in on_a_terminal(program, "list", PAGER="")[1]
    assert "\x1b" not in drill("list").out
    assert "\x1b[1mNext:\x1b[0m" in drill("list", "--color", "always").out
    assert "\x1b" not in drill("list").out
    drill("list", "--color=sometimes").refused(
        "--color: expected auto, always or never, found sometimes"
    )


def test_a_prediction_is_graded_after_a_confirmation_on_a_terminal(
    program: Program, drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILL_BANK", str(ROOT))
    drill("start", "seven-windows")
    Path("seven-windows/answers.txt").write_text(
        "# fail\ngrad_x[1] = 2\ngrad_x[4] = 5\ngrad_x[6] = 0\n"
    )
    for typed, status in (("\n", 2), ("\x03", 130), ("\x04", 130), ("y\n", 1)):
        assert drill("history", "--json").data["attempts"] == []
        ended, shown = on_a_terminal(program, "grade", typed=typed)
        assert "    grad_x[6] = 0\nOnly the first grade of a prediction counts." in shown
        assert (ended, "FAIL" in shown) == (status, status == 1), shown


@pytest.mark.parametrize("columns", ["20", "80", "120"])
def test_no_page_is_wider_than_the_window_except_for_commands_and_paths(
    drill: Drill, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("grader.commands.context.find_spec", without_torch)
    monkeypatch.setattr(WorkerClient, "isolation", Isolation(dict.fromkeys(ACTS, "refused"), ()))
    name = "double-trouble"
    commands = f"list,start {name},show {name},next,grade,history,hint,case,doctor --walls"
    for words in commands.split(","):
        for line in drill(*words.split()).out.splitlines():
            copied = re.match(r"Next: |Read  |Edit  |Isolation |.*Next: ", line)
            assert copied or len(line) <= max(60, int(columns)), (words, line)


def test_every_command_speaks_json_in_one_document(drill: Drill) -> None:
    name = "double-trouble"
    for already in (False, True):
        assert drill("start", name, "--json").data["already_started"] is already
    for text, verdict, status in (("# fail", "fail", 1), ("# pass", "pass", 0)):
        Path(name, "submission.py").write_text(text)
        graded = drill("grade", "--seed", "7", "--json")
        assert (graded.status, graded.err) == (status, "")
        assert (graded.data["verdict"], graded.data["seed"]) == (verdict, 7)
    commands = (
        f"list,next,show {name},hint,case,solution,reset,history,history {name},"
        "history restore 1,bank list"
    )
    for words in commands.split(","):
        ended = drill(*words.split(), "--json")
        assert (ended.status, ended.err, ended.data["format"]) == (0, "", 1), words


def test_commands_work_without_a_home_that_can_be_written(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").write_text("in the way")
    monkeypatch.setenv("DRILL_HOME", str(Path("file/home").absolute()))
    assert drill("start", "double-trouble").err.count("\n") == 1
    graded = drill("grade")
    assert (graded.status, "y differs in 1 case" in graded.out) == (1, True)
    assert graded.err.startswith("drill: Your history cannot be written; this grade is not saved (")
    assert graded.err.count("\n") == 1
    for words in ("list", "next", "hint", "solution --give-up", "history", "reset"):
        assert drill(*words.split()).status == 0, words


HOSTILE = "\x1b[2J\x1b]0;name\x07 \u202e \x9b31m [bold]b[/bold] \r"
SHOWN = "\\x1b[2J\\x1b]0;name\\x07 \\u202e \\x9b31m [bold]b[/bold] \\r"


def written(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the output since the last call."""
    out, err = capsys.readouterr()
    assert not set(out + err) & {"\x1b", "\x07", "\x9b", "\u202e", "\r"}
    return out + err


def test_no_output_acts_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    output.write(HOSTILE)
    assert written(capsys) == SHOWN + "\n"
    output.write("one\n\ttwo")
    assert written(capsys) == "one\n\ttwo\n"
    output.warn(HOSTILE, hint=HOSTILE)
    output.write_lines(text_layout.format_columns(["title"], [[HOSTILE]]))
    output.show_page([Paragraph(HOSTILE)])
    output.write_next_steps(HOSTILE)
    assert written(capsys).count("\\x1b]0;name") == 5
    output.write_json(title=HOSTILE)
    assert "\\u001b[2J" in written(capsys)


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
        "drill: a complaint that goes on for more",
        "    than a line of sixty columns",
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
    with output.show_status() as step:
        step("grading, 2 of 9 checks, of which one is long")
        output.warn("a note")
        step("2 of 9", "FAIL  anna")
    assert screen.getvalue().split(output.ERASE_LINE) == [
        "", "grading, 2 of 9 checks, of wh", "drill: a note\n", "FAIL  anna\n2 of 9", "",
    ]  # fmt: skip
    before = screen.getvalue()
    for term in ("dumb", ""):  # which cannot erase
        monkeypatch.setenv("TERM", term)
        with output.show_status() as step:
            step("loading torch")
    assert screen.getvalue() == before
