"""The main thread does what a coroutine elsewhere asks for, and stops when nobody wants it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from grader.cli.desk import Desk


def for_ever(begun: threading.Event) -> None:
    """Say that it has begun, and never come back."""
    begun.set()
    threading.Event().wait()


async def begins(event: threading.Event) -> None:
    """Wait for a thread without holding up the loop."""
    await asyncio.to_thread(event.wait)


def test_work_is_done_in_the_main_thread_in_the_order_asked() -> None:
    desk, done = Desk(), list[tuple[int, bool]]()

    def note(number: int) -> Callable[[], int]:
        def work() -> int:
            done.append((number, threading.current_thread() is threading.main_thread()))
            return number

        return work

    async def talk() -> None:
        assert await asyncio.gather(*(desk.do(note(n)) for n in range(5))) == [0, 1, 2, 3, 4]

    desk.serve(talk)
    assert done == [(n, True) for n in range(5)]


def test_what_goes_wrong_is_for_the_one_who_asked() -> None:
    desk = Desk()

    async def talk() -> None:
        with pytest.raises(ZeroDivisionError):
            await desk.do(lambda: 1 // 0)
        assert await desk.do(lambda: 1) == 1

    desk.serve(talk)


def test_work_that_nobody_wants_any_more_ends_or_never_begins() -> None:
    desk, begun, never = Desk(), threading.Event(), threading.Event()

    async def talk() -> None:
        running = asyncio.create_task(desk.do(lambda: for_ever(begun)))
        waiting = asyncio.create_task(desk.do(never.set))
        await begins(begun)
        waiting.cancel()
        running.cancel()
        assert await desk.do(lambda: "next") == "next"
        assert running.cancelled()

    desk.serve(talk)
    assert begun.is_set()
    assert not never.is_set()


def test_work_in_hand_ends_with_the_conversation_and_its_fault_is_raised() -> None:
    desk, begun = Desk(), threading.Event()

    async def talk() -> None:
        task = asyncio.create_task(desk.do(lambda: for_ever(begun)))
        await begins(begun)
        raise ConnectionError(task)

    with pytest.raises(ConnectionError):
        desk.serve(talk)


def test_an_interruption_is_nobody_elses() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    desk = Desk()
    with pytest.raises(KeyboardInterrupt):
        desk.serve(lambda: desk.do(interrupted))
