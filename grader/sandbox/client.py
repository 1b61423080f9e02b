"""A worker process seen from the judge: start it, ask it, end it.

The judge sends requests and reads replies over one socket, decodes them with `wire`, and believes
nothing else: not the exit status, not what is printed.  A reply that is late, too large or
malformed ends the worker and becomes an exception here, never a traceback of ours.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable
from typing import Any

from grader.model.errors import GraderError
from grader.sandbox import channel, config, levels, probes, spawn
from grader.sandbox.closing import Closing
from grader.sandbox.deadline import Deadline, OutOfTime
from grader.sandbox.failures import Died, Garbled, Overran, WorkerError
from grader.sandbox.scratch import Scratch

__all__ = ["CALL_SECONDS", "Died", "Garbled", "Overran", "WorkerClient", "WorkerError"]

CALL_SECONDS = 5.0
CPU_SECONDS = 120
KEEP_OUTPUT = 64 << 10  # bytes of output kept for the reader
MAX_OUTPUT = 16 << 20  # bytes of output after which the worker is stopped
_in_use: set[WorkerClient] = set()


class WorkerClient(Closing):
    """One process that runs programs.  Use it as a context manager.

    The thread that makes it must outlive it: Linux ends a worker with the thread that started it.
    """

    def __init__(
        self,
        *,
        torch: bool,
        cpu_seconds: int = CPU_SECONDS,
        zygote: spawn.Zygote | None = None,
    ) -> None:
        """Start the process, or have a zygote fork it; the judge goes on meanwhile."""
        self.torch = torch
        self.printed = b""
        self.output_bytes = 0
        self.failure: WorkerError | None = None
        self.fresh: int | None = None  # bytes that it held before the first program was loaded
        self.deadline: Deadline | None = None  # of all that it is asked until this is changed
        self.waited = 0.0  # seconds, by the deadline's clock, that it was waited for
        self._isolation: levels.Isolation | None = None
        self._written_before = 0
        self._closed = False
        self._scratch = Scratch()
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        told = config.for_one(self._scratch, cpu_seconds)
        try:
            self.process: spawn.Process = (
                spawn.Started({**config.for_all(torch=torch), **told}, theirs.fileno(), writing)
                if zygote is None
                else zygote.fork(told, theirs.fileno(), writing)
            )
        except BaseException:
            ours.close()
            os.close(reading)
            self._scratch.remove()
            raise
        finally:
            theirs.close()
            os.close(writing)
        self._channel, self._output = ours, reading
        self._channel.setblocking(False)
        os.set_blocking(self._output, False)
        self._thread = threading.get_ident()
        _in_use.add(self)

    @property
    def scratch(self) -> str:
        """The folder in which it may write."""
        return self._scratch.folder

    @property
    def pid(self) -> int:
        """The process's id, once it has started."""
        return self.process.pid

    @property
    def isolation(self) -> levels.Isolation:
        """What the process was refused, tried in it before it ran anything.

        Raises:
            GraderError: the process did not start.
        """
        if self._isolation is None:
            try:
                said = self._ask({"op": "walls"}, CALL_SECONDS, 0, self._start_seconds)
            except WorkerError as failure:  # nothing foreign has run in it: this is our own fault
                raise GraderError(
                    f"the process that runs programs did not start: {self._last_words(failure)}",
                    hint="drill doctor shows what is missing",
                ) from None
            self._isolation = levels.read(said)
        return self._isolation

    def ask(
        self, request: dict[str, Any], *, seconds: float = CALL_SECONDS, reply_bytes: int = 1 << 20
    ) -> dict[str, Any]:
        """Send a request and return the decoded reply.

        Args:
            request: plain data with an `op`.
            seconds: of CPU time for the whole exchange; see `channel.exchange`.
            reply_bytes: of array data that the reply may hold.

        Raises:
            WorkerError: now and from then on, when the worker did not answer properly.
            OutOfTime: its deadline has passed; the worker is ended unless it had nothing to do.
            GraderError: the process could not be started.
        """
        if self.failure is None:
            _ = self.isolation  # before anything else: what it says now, no submission has a say in
        if self.deadline is None:
            return self._ask(request, seconds, reply_bytes, 0.0)
        self.deadline.check()
        began = self.deadline.clock()
        try:
            return self._ask(request, seconds, reply_bytes, 0.0, self.deadline.check)
        except OutOfTime:
            self.failure = Overran("did not finish before the deadline")
            self.close()
            raise
        finally:
            self.waited += self.deadline.clock() - began

    def _ask(
        self,
        request: dict[str, Any],
        seconds: float,
        reply_bytes: int,
        grace: float,
        due: Callable[[], None] = lambda: None,
    ) -> dict[str, Any]:
        if self.failure is not None:
            raise self.failure
        try:
            self._watch()
            reply = channel.exchange(
                self._channel,
                request,
                seconds=seconds,
                grace=grace,
                reply_bytes=reply_bytes,
                output=self._output,
                drain=self._drain,
                watch=self._watch_all,
                spent=self._spent,
                death=self._death,
                due=due,
            )
            self._drain()
        except WorkerError as failure:
            self.failure = failure
            self.close()
            raise
        return reply

    @property
    def _start_seconds(self) -> float:
        return spawn.start_seconds(torch=self.torch)

    def _last_words(self, failure: WorkerError) -> str:
        """What is known about a process that never answered."""
        try:
            _ = self.pid
            lines = self.printed.decode("utf-8", "replace").strip().splitlines()
        except (ChildProcessError, TimeoutError) as error:
            lines = [str(error)]
        return lines[-1] if lines else f"it {failure}"

    def _watch(self) -> None:
        """End a worker that takes more than it may of what no system limit counts."""
        too_much = probes.overfull(self.scratch)
        if too_much is not None:
            raise Overran(too_much)
        if self._isolation is None:
            return  # it has run nothing yet, and may not have an id
        written = probes.written_bytes(self.pid)
        if written is not None and written - self._written_before > probes.MAX_WRITTEN:
            raise Overran(f"wrote more than {probes.MAX_WRITTEN >> 20} MB to files")
        held, allowed = probes.resident_bytes(self.pid), config.most_memory(torch=self.torch)
        if held is not None and held > allowed:
            raise Overran(f"took more than {allowed >> 20:,} MB of memory")

    def _watch_all(self) -> None:
        """Watch the others of this thread as well: a program's threads go on after its reply."""
        self._watch()
        for other in [w for w in _in_use if w is not self and w._thread == self._thread]:
            try:
                other._watch()
            except WorkerError as failure:
                other.failure = failure
                other.close()

    def _drain(self) -> bool:
        """Read what the process printed; False when it has closed its output."""
        while True:
            try:
                piece = os.read(self._output, 1 << 16)
            except BlockingIOError:
                return True
            if not piece:
                return False
            self.output_bytes += len(piece)
            self.printed = (self.printed + piece)[-KEEP_OUTPUT:]
            if self.output_bytes > MAX_OUTPUT:
                raise Overran(f"printed more than {MAX_OUTPUT >> 20} MB")

    def _death(self) -> WorkerError:
        """Say how the process ended."""
        with contextlib.suppress(WorkerError):
            self._drain()
        try:
            status = self.process.wait(2)
        except (ChildProcessError, TimeoutError):
            return Died("lost its process before it answered")
        if status is None:
            return Garbled("closed its channel to the judge")
        if status == -signal.SIGXCPU:
            return Overran("used up its CPU time")
        if status < 0:
            name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
            return Died(f"ended its process ({name}) before it answered")
        return Died(f"ended its process (exit status {status}) before it answered")

    def _spent(self) -> int | None:
        """CPU time so far, of a process that has started."""
        return None if self._isolation is None else self.cpu_nanoseconds()

    def count_anew(self) -> None:
        """Forget what was printed and written so far: the next program is another one."""
        self.printed, self.output_bytes = b"", 0
        self._written_before = probes.written_bytes(self.pid) or 0

    def cpu_nanoseconds(self) -> int | None:
        """CPU time of the process so far, read from outside; None where there is no such clock."""
        return probes.cpu_nanoseconds(self.pid)

    def occupied_bytes(self) -> int | None:
        """Bytes of memory and of files that it holds, read from outside; None where unknown."""
        _ = self.isolation  # it has started
        held = probes.occupied_bytes(self.pid, self.scratch)
        if self.fresh is None:
            self.fresh = held
        return held

    def close(self) -> None:
        """Kill the process with all it started, and remove its scratch folder."""
        if self._closed:
            return
        self._closed = True
        _in_use.discard(self)
        self.process.kill()
        self._channel.close()
        os.close(self._output)
        self._scratch.remove()
