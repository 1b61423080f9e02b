"""The judge's end of the channel: any bytes lead to a reply or a `WorkerError`."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.sandbox import client
from grader.sandbox.client import (
    CallTimeout,
    LimitExceeded,
    ProtocolViolation,
    WorkerClient,
    WorkerDied,
    WorkerError,
    line_in_stack_dump,
)
from grader.sandbox.remote_program import RemoteProgram
from grader.sandbox.worker import limits, wire
from tests.harness import Lend
from tests.sandbox.running import Connected, X, steps

EASY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=150)
ALLOWED = 1 << 10  # bytes of array data in a reply
SECONDS = 60.0  # nothing here takes that long


def frame(meta: bytes, payload: bytes = b"", magic: bytes = wire.MAGIC) -> bytes:
    """Return a frame with a correct header."""
    return struct.pack("<4sIQ", magic, len(meta), len(payload)) + meta + payload


REQUEST = wire.encode({"op": "run"})
WELL = wire.encode({"ok": True})


def ask(ours: socket.socket, output: int, watch: Callable[[], None]) -> dict[str, object]:
    """Send a request over a socket; the output stays open."""
    return Connected(ours, output, watch=watch).answer("run", seconds=SECONDS, reply_bytes=ALLOWED)


def answered(pieces: Sequence[bytes]) -> dict[str, object] | WorkerError:
    """Return the reply or the error of a worker that sends some pieces and hangs up."""
    ours, theirs = socket.socketpair()
    silent, other = os.pipe()

    def worker() -> None:
        with theirs:
            size = len(REQUEST)
            while size:
                size -= len(theirs.recv(size))
            try:
                for piece in pieces:
                    theirs.sendall(piece)
            except OSError:
                return  # the judge has had enough

    thread = threading.Thread(target=worker)
    thread.start()
    try:
        with ours:
            return ask(ours, silent, lambda: None)
    except WorkerError as error:
        return error
    finally:
        thread.join()
        os.close(silent)
        os.close(other)


def test_a_reply_may_arrive_in_any_pieces() -> None:
    assert answered([WELL]) == {"ok": True}
    assert answered([bytes([b]) for b in WELL]) == {"ok": True}
    for cut in range(1, len(WELL)):
        assert answered([WELL[:cut], WELL[cut:]]) == {"ok": True}


@pytest.mark.parametrize("cut", range(len(WELL)))
def test_a_reply_cut_short_means_that_the_worker_died(cut: int) -> None:
    assert isinstance(answered([WELL[:cut]]), WorkerDied)


@EASY
@given(st.binary(max_size=60), st.binary(max_size=20))
def test_any_structure_in_a_valid_frame_is_not_a_reply(meta: bytes, payload: bytes) -> None:
    assert isinstance(answered([frame(meta, payload)]), ProtocolViolation)


@EASY
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1), st.binary(max_size=40))
def test_a_false_header_takes_no_memory(meta: int, payload: int, body: bytes) -> None:
    tracemalloc.start()
    try:
        got = answered([struct.pack("<4sIQ", wire.MAGIC, meta, payload) + body])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(got, WorkerError)
    assert peak < 2 * limits.MAX_META_BYTES


@pytest.mark.parametrize("early", [b"x", WELL, b"\0" * 100_000], ids=["one", "reply", "many"])
def test_bytes_before_a_request_are_refused(early: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(early)
        with pytest.raises(ProtocolViolation, match="without being asked"):
            ask(ours, ours.fileno(), lambda: None)


def test_a_worker_that_keeps_printing_is_still_watched() -> None:
    """Endless output must not postpone the checks of resources."""
    ours, theirs = socket.socketpair()
    readable, writable = os.pipe()
    os.write(writable, b"x")  # there is always something to read in it

    def watched() -> None:
        raise LimitExceeded("was watched")

    with ours, theirs, pytest.raises(LimitExceeded, match="was watched"):
        ask(ours, readable, watched)
    os.close(readable)
    os.close(writable)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Yield both ends of a channel; the judge's end does not block."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def ask_sleeper(ours: socket.socket, spent: Callable[[], int | None], seconds: float) -> None:
    """Send a request to a process that never answers."""
    Connected(ours, ours.fileno(), drain=lambda: False, spent=spent).answer(
        "facts", seconds=seconds
    )


def test_the_limit_of_a_call_is_on_cpu_time(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)  # the clock stands still
    readings = count(start=10**12, step=10**9)  # a second more at every look
    with pytest.raises(LimitExceeded, match=r"^did not finish within 3 seconds$"):
        ask_sleeper(ends[0], lambda: next(readings), 3)
    assert next(readings) == 10**12 + 5 * 10**9


@pytest.mark.parametrize(
    ("spent", "queued", "least", "said"),
    [
        (7, 0.0, 5, "was idle for"),
        (7, 8.0, 13, "was idle for"),  # other programs had the cores
        (7, None, 25, "was idle for"),
        (None, None, 60, "did not finish within 60 seconds"),
    ],
)
def test_an_idle_process_is_ended_by_the_clock(
    ends: tuple[socket.socket, socket.socket],
    monkeypatch: pytest.MonkeyPatch,
    spent: int | None,
    queued: float | None,
    least: int,
    said: str,
) -> None:
    clock = count()  # a second more at every look
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(client, "WATCH_SECONDS", 0.0)
    monkeypatch.setattr("grader.sandbox.process_usage.queued_seconds", lambda _: queued)
    with pytest.raises(LimitExceeded, match=f"^{said}"):
        ask_sleeper(ends[0], lambda: spent, 60)
    assert least < next(clock) <= least + 4  # a few looks to a round


# -- where a program was when its time was over ---------------------------------------------------

SOURCE = b"import time\r\ndef f(x):\n    while  True:  # for ever\n\n        pass\nx = " + b"9" * 99
FRAME = 'Stack (most recent call first):\n  File "submission.py", line {} in {}\n'


@pytest.mark.parametrize(
    ("line", "name", "said"),
    [
        (3, "f", "`f`, line 3: `while  True:  # for ever`"),
        (0, "f", ""),
        (-1, "f", ""),
        (4, "f", ""),  # there is nothing in it
        (10**9, "f", ""),
        (2, "<module>", "line 2: `def f(x):`"),
        (2, "\x1b[31m", "line 2: `def f(x):`"),
        (2, "f" * 61, "line 2: `def f(x):`"),
        (6, "f", f"`f`, line 6: `x = {'9' * 53}...`"),
    ],
)
def test_the_text_of_the_current_line_comes_from_the_judge(line: int, name: str, said: str) -> None:
    frame = FRAME.format(line, name).encode("ascii", "backslashreplace")
    assert line_in_stack_dump(frame, "submission.py", SOURCE) == said


def stopped(lend: Lend, source: str) -> str:
    """Return the message about a program that exceeds its time."""
    with WorkerClient(torch=False, zygote=lend(torch=False)) as worker:
        program = RemoteProgram(worker, "submission", [dedent(source).encode()], untrusted=True)
        program.load(["f"])
        program.call_seconds = 0.1
        with pytest.raises(CallTimeout) as caught:
            program.run(steps("y = f(x)"), X, ["y"])
        return str(caught.value)


ENDLESS = """
    def f(x):
        for _ in iter(int, 1):
            inner(x)

    def inner(x):
        while True: pass
"""
DEAF = """
    import signal
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)

    def f(x):
        while True: pass
"""


@pytest.mark.parametrize(
    ("source", "where"), [(ENDLESS, ", stopped in `inner`, line 7: `while True: pass`"), (DEAF, "")]
)
def test_the_line_of_an_endless_loop_is_shown_if_the_worker_answers(
    lend: Lend, source: str, where: str
) -> None:
    assert stopped(lend, source) == f"did not finish within 0.1 seconds{where}"
