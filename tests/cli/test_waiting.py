"""The line that says what a grade is doing stands on a terminal only, and is gone afterwards."""

from __future__ import annotations

import io
import sys

import pytest

from grader.cli.waiting import Waiting

NEVER, AT_ONCE = 3600.0, 0.0
GONE = "\r\x1b[K"


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make standard error a terminal; pytest takes it back between a fixture and its test."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "30")
    return stream


def test_a_short_wait_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with Waiting(NEVER) as waiting:
        waiting.say("grading, 1 of 9 checks")
    assert terminal.getvalue() == ""


def test_a_long_one_shows_what_goes_on_and_takes_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with Waiting(AT_ONCE) as waiting:
        waiting.say("grading, 1 of 9 checks")
        waiting._timer.join()
        waiting.say("grading, 2 of 9 checks, of which one is long")
    lines = terminal.getvalue().split(GONE)
    assert lines[-3:] == ["grading, 1 of 9 checks", "grading, 2 of 9 checks, of wh", ""]


def test_what_is_known_to_take_long_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with Waiting(NEVER) as waiting:
        waiting.say("loading torch", at_once=True)
        assert terminal.getvalue() == f"{GONE}loading torch"
        waiting.say("grading, 1 of 9 checks")
        assert terminal.getvalue().endswith(f"{GONE}grading, 1 of 9 checks")
    assert terminal.getvalue().endswith(GONE)


def test_nothing_is_drawn_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    waiting = Waiting(NEVER)
    waiting.say("loading torch", at_once=True)
    waiting.stop()
    before = terminal.getvalue()
    waiting.say("late", at_once=True)
    waiting.stop()
    assert terminal.getvalue() == before


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_takes_nothing_back_gets_nothing(
    monkeypatch: pytest.MonkeyPatch, term: str
) -> None:
    terminal = on_terminal(monkeypatch)
    monkeypatch.setenv("TERM", term)
    with Waiting(NEVER) as waiting:
        waiting.say("loading torch", at_once=True)
    assert terminal.getvalue() == ""


def test_a_pipe_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with Waiting(NEVER) as waiting:
        waiting.say("loading torch", at_once=True)
    assert stream.getvalue() == ""
