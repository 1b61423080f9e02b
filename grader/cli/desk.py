"""Work of the main thread, for a coroutine in another one: a piece at a time, in order.

A signal reaches the main thread, whatever it waits for: what nobody wants any more ends as by
Ctrl-C, and Ctrl-C itself ends all of it.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


class Desk:
    """Where the main thread sits while an event loop runs in another one."""

    def __init__(self) -> None:
        self._work: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        self._current: Future[Any] | None = None

    def serve(self, talk: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a coroutine in a thread, and here what it asks for; raise what it raises."""
        ended: Future[None] = Future()

        def loop() -> None:
            try:
                ended.set_result(asyncio.run(talk()))
            except BaseException as fault:  # noqa: BLE001 - raised again below
                ended.set_exception(fault)
            self._work.put(None)

        signal.signal(signal.SIGUSR1, self._stop)
        threading.Thread(target=loop, daemon=True).start()
        while (asked := self._work.get()) is not None:
            self._carry_out(*asked)
        ended.result()

    def _carry_out(self, work: Callable[[], Any], done: Future[Any]) -> None:
        result = fault = None
        try:
            self._current = done
            try:
                result = None if done.cancelled() else work()
            except Exception as raised:  # noqa: BLE001 - for those who asked
                fault = raised
            self._current = None
        except KeyboardInterrupt:
            self._current = None
            if not done.cancelled():  # it is a person's
                raise
        if done.set_running_or_notify_cancel():
            done.set_exception(fault) if fault else done.set_result(result)

    def _stop(self, *_: object) -> None:
        if self._current is not None and self._current.cancelled():  # else it comes too late
            raise KeyboardInterrupt

    async def do(self, work: Callable[[], T]) -> T:
        """Have the main thread do something; where this is cancelled, it ends or never begins."""
        done: Future[T] = Future()
        self._work.put((work, done))
        try:
            return await asyncio.wrap_future(done)
        finally:
            if done.cancel():  # it is not done
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
