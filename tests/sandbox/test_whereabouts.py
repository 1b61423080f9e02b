"""Where a program was when its time was over, as its worker says it and as the judge takes it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from textwrap import dedent

import pytest

from grader.sandbox import spawn, whereabouts
from grader.sandbox.channel import Overran
from grader.sandbox.client import TooSlow, WorkerClient
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.whereabouts import Text
from grader.sandbox.worker import wire
from tests.sandbox.running import X, steps

SOURCE = b"import time\r\ndef f(x):\n    while  True:  # for ever\n\n        pass\n"
TEXT = Text("submission.py", SOURCE)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    one.setblocking(False)
    with one, other:
        yield one, other


def asked(ends: tuple[socket.socket, socket.socket], reply: object) -> str:
    """What is made of a reply that is there already."""
    for piece in wire.encode(reply):
        ends[1].sendall(piece)
    return whereabouts.ask(ends[0], TEXT)


def test_the_text_of_a_line_is_the_judges_own(ends: tuple[socket.socket, socket.socket]) -> None:
    said = asked(ends, {"ok": True, "line": 3, "function": "f", "text": "other"})
    assert said == "`f`, line 3: `while  True:  # for ever`"
    request = ends[1].recv(1000)[wire.HEADER.size :]
    assert wire.decode(request, memoryview(b"")) == {"op": "where", "file": "submission.py"}


@pytest.mark.parametrize(
    "reply",
    [
        {"ok": True},
        {"ok": True, "line": 0, "function": "f"},
        {"ok": True, "line": -1, "function": "f"},
        {"ok": True, "line": 4, "function": "f"},  # there is nothing in it
        {"ok": True, "line": 10**9, "function": "f"},
        {"ok": True, "line": "3", "function": "f"},
        {"ok": True, "line": True, "function": "f"},
        {"ok": True, "line": 3, "function": ["f"]},
        {"ok": True, "values": {"y": 1.0}},  # the answer that was too late
        {"line": 3, "function": "f"},
        [3, "f"],
    ],
)
def test_what_is_no_place_is_not_said(
    ends: tuple[socket.socket, socket.socket], reply: object
) -> None:
    assert not asked(ends, reply)


@pytest.mark.parametrize("name", ["<module>", "f; rm", "\x1b[31m", "f" * 61, ""])
def test_what_is_no_name_of_a_function_is_left_out(
    ends: tuple[socket.socket, socket.socket], name: str
) -> None:
    said = asked(ends, {"ok": True, "line": 2, "function": name})
    assert said == "line 2: `def f(x):`"


def test_what_is_no_frame_is_not_said(ends: tuple[socket.socket, socket.socket]) -> None:
    ends[1].sendall(b"X" * 64)
    assert not whereabouts.ask(ends[0], TEXT)


def test_who_has_hung_up_says_nothing(ends: tuple[socket.socket, socket.socket]) -> None:
    ends[1].close()
    assert not whereabouts.ask(ends[0], TEXT)


def test_it_is_watched_meanwhile(ends: tuple[socket.socket, socket.socket]) -> None:
    def watch() -> None:
        raise Overran("took too much")

    assert not whereabouts.ask(ends[0], TEXT, watch)


def test_long_lines_are_cut() -> None:
    text = Text("submission.py", b"x = " + b"9" * 500)
    assert len(text.place(1, "f")) < 90


@pytest.fixture(scope="module")
def zygote() -> Iterator[spawn.Zygote]:
    with spawn.Zygote(torch=False) as one:
        yield one


def stopped(zygote: spawn.Zygote, source: str, *, untrusted: bool = True) -> str:
    """What is said of a program whose time is over."""
    with WorkerClient(torch=False, zygote=zygote) as worker:
        program = RemoteProgram(
            worker, "submission", [dedent(source).encode()], untrusted=untrusted
        )
        program.load(["f"])
        program.call_seconds = 0.1
        with pytest.raises(TooSlow) as caught:
            program.run(steps("y = f(x)"), X, ["y"])
        return str(caught.value)


ENDLESS = """
    import sys
    sys._current_frames = lambda: {}

    def f(x):
        for _ in iter(int, 1):
            inner(x)

    def inner(x):
        while True: pass
"""


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whereabouts, "PATIENCE", 60.0)  # however busy the machine is


@pytest.mark.usefixtures("patient")
def test_a_loop_without_end_is_found(zygote: spawn.Zygote) -> None:
    assert stopped(zygote, ENDLESS) == (
        "did not finish within 0.1 seconds, stopped in `inner`, line 10: `while True: pass`"
    )


def test_of_a_program_of_the_bank_it_is_not_asked(zygote: spawn.Zygote) -> None:
    assert stopped(zygote, ENDLESS, untrusted=False) == "did not finish within 0.1 seconds"


def test_who_lets_nobody_else_run_is_not_asked_for_long(
    zygote: spawn.Zygote, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whereabouts, "PATIENCE", 0.1)
    source = """
        def f(x):
            return sum(iter(int, 1))
    """
    assert stopped(zygote, source) == "did not finish within 0.1 seconds"


@pytest.mark.usefixtures("patient")
def test_frames_stay_out_of_reach_of_a_program_in_the_meantime(zygote: spawn.Zygote) -> None:
    """It asks for the frames of all threads all the time, also while it is looked at."""
    source = """
        import sys

        def f(x):
            while True:
                try:
                    sys._current_frames()
                except RuntimeError:
                    continue
                return reached()

        def reached():
            while True: pass
    """
    assert "`f`, line " in stopped(zygote, source)
