"""Nothing that a bank, a submission or a person wrote acts on the terminal."""

from __future__ import annotations

import io
import sys

import pytest

from grader.cli import output
from grader.reports import sheet
from grader.reports.blocks import Paragraph

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
    output.heading(HOSTILE)
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
        f"    {command}",
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
    assert screen.getvalue().split(output.ERASE) == [
        "", "grading, 2 of 9 checks, of wh", "drill: a note\n", "",
    ]  # fmt: skip


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_erase_gets_no_status(
    monkeypatch: pytest.MonkeyPatch, term: str
) -> None:
    screen = _Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", term)
    with output.waiting() as step:
        step("loading torch")
    assert screen.getvalue() == ""
