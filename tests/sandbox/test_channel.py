"""How long an answer is waited for: by the process's CPU time, and by the clock with some slack."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from itertools import count

import pytest

from grader.sandbox import client
from grader.sandbox.client import Overran
from tests.sandbox.running import Connected


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Give both ends of a channel, ours without blocking."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def ask(ours: socket.socket, spent: Callable[[], int | None], seconds: float) -> None:
    """Ask a process that never answers."""
    Connected(ours, ours.fileno(), drain=lambda: False, spent=spent).answer(
        "facts", seconds=seconds
    )


def test_cpu_time_is_what_a_call_may_take(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)  # the clock stands still
    readings = count(start=10**12, step=10**9)  # a second more at every look
    with pytest.raises(Overran, match=r"^did not finish within 3 seconds$"):
        ask(ends[0], lambda: next(readings), 3)
    assert next(readings) == 10**12 + 5 * 10**9


@pytest.mark.parametrize(
    ("seconds", "spent", "least"), [(1, 7, 6), (5, 7, 30), (60, 7, 85), (5, None, 5)]
)
def test_a_process_that_sleeps_has_longer_by_the_clock_but_not_for_ever(
    ends: tuple[socket.socket, socket.socket],
    monkeypatch: pytest.MonkeyPatch,
    seconds: int,
    spent: int | None,
    least: int,
) -> None:
    clock = count()  # a second more at every look
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(client, "WATCH_SECONDS", 0.0)
    with pytest.raises(Overran, match=f"^did not finish within {seconds} seconds$"):
        ask(ends[0], lambda: spent, seconds)
    assert least < next(clock) <= least + 4  # a few looks to a round
