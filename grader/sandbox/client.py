"""A worker process seen from the judge: start it, ask it, end it.

The judge sends requests and reads replies over one socket, decodes them with `wire`, and believes
nothing else: not the exit status, not what is printed.  What comes in is bytes from anybody: sizes
are checked before memory is taken, and whatever is not in time exactly one answer to exactly one
request ends the worker and becomes an exception here, never a traceback of ours.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.model.errors import GraderError
from grader.sandbox import config, lending, levels, probes, spawn, whereabouts
from grader.sandbox.closing import Closing
from grader.sandbox.deadline import Deadline, OutOfTime
from grader.sandbox.scratch import Scratch
from grader.sandbox.worker import control, wire

CALL_SECONDS = 5.0
KEEP_OUTPUT = 64 << 10  # bytes of output kept for the reader
KEEP_FIRST = 16 << 10  # and of its beginning
MAX_OUTPUT = 16 << 20  # bytes of output after which the worker is stopped
MAX_WRITTEN = 64 << 20  # bytes written in all, output included: whatever became of the files
WATCH_SECONDS = 0.05  # how often a worker is watched while there is nothing to read
# Beyond the CPU time that an exchange may take, what the clock allows: others use the machine too.
SLACK, MOST_SLACK = 5, 25.0  # times those seconds, but at most this many
_GRACE = 2.0  # seconds from the end of a channel to that of its process


class WorkerError(Exception):
    """The worker can no longer be used; the message completes 'the submission ...'."""


class Died(WorkerError):
    """The process ended without answering."""


class Overran(WorkerError):
    """A limit of time, memory, files or output was reached."""


class TooSlow(Overran):
    """It was the limit of time of one call."""


class Garbled(WorkerError):
    """What came back is not an answer."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long an exchange may take, and where that is set."""

    seconds: float = CALL_SECONDS  # of CPU time; by the clock too, where CPU time cannot be read
    wall: float | None = None  # seconds by the clock; with some slack by default
    set_by: str = ""

    def by_clock(self, *, cpu_known: bool) -> float:
        """Seconds that it may take by the clock."""
        if self.wall is not None:
            return self.wall
        return self.seconds + (min(SLACK * self.seconds, MOST_SLACK) if cpu_known else 0.0)

    def overrun(self, *, by_clock: bool) -> str:
        """That it took too long, and by which limit."""
        if not self.set_by:
            return f"did not finish within {self.seconds:.3g} seconds"
        if by_clock and self.wall is not None:
            return f"did not finish within {self.wall:.3g} seconds by the clock ({self.set_by})"
        return f"did not finish within {self.seconds:.3g} seconds of CPU time ({self.set_by})"


@dataclass(slots=True)
class _Reply:
    """A frame that is coming in: its header first, then the rest."""

    allowed: int  # bytes of array data
    data: bytearray = field(default_factory=lambda: bytearray(wire.HEADER.size))
    got: int = 0
    meta: int | None = None  # bytes of metadata, once the header has come

    @property
    def done(self) -> bool:
        return self.meta is not None and self.got == len(self.data)

    def read(self, channel: socket.socket) -> bool:
        """Take in what is there; False when the other side has hung up."""
        if self.done:
            return True
        count = channel.recv_into(memoryview(self.data)[self.got :])
        self.got += count
        if self.meta is None and self.got == len(self.data):
            magic, self.meta, payload = wire.HEADER.unpack(self.data)
            if magic != wire.MAGIC:
                raise Garbled("broke the protocol: not a reply")
            if self.meta > wire.MAX_META or payload > self.allowed:
                size = f"{self.meta + payload:,} bytes, {self.allowed:,} allowed"
                raise Garbled(f"returned far too much data ({size})")
            self.data, self.got = bytearray(self.meta + payload), 0
        return bool(count)

    def frame(self) -> bytes:
        """The whole of it as it came."""
        assert self.meta is not None
        header = wire.HEADER.pack(wire.MAGIC, self.meta, len(self.data) - self.meta)
        return header + self.data


def decoded(frame: bytes) -> dict[str, Any]:
    """What a reply says.

    Raises:
        Garbled: it is none.
    """
    _, meta, _ = wire.HEADER.unpack(frame[: wire.HEADER.size])
    body = memoryview(frame)[wire.HEADER.size :]
    try:
        reply = wire.decode(bytes(body[:meta]), body[meta:])
    except wire.WireError as error:
        raise Garbled(f"broke the protocol: {error}") from None
    if not isinstance(reply, dict) or not isinstance(reply.get("ok"), bool):
        raise Garbled("broke the protocol: not a reply")
    return reply


def _send(channel: socket.socket, pending: list[memoryview]) -> None:
    """Send what the channel takes now; what is left stays pending."""
    while pending:
        sent = channel.send(pending[0])
        if sent == len(pending[0]):
            pending.pop(0)
        else:
            pending[0] = pending[0][sent:]


class _Asked(threading.local):
    """The workers that a thread asks."""

    def __init__(self) -> None:
        self.workers: weakref.WeakSet[WorkerClient] = weakref.WeakSet()


_asked = _Asked()


class WorkerClient(Closing):
    """One process that runs programs.  Use it as a context manager, in one thread at a time."""

    def __init__(
        self,
        *,
        torch: bool,
        cpu_seconds: int = config.CPU_SECONDS,
        zygote: spawn.Zygote | None = None,
        ahead: Sequence[str] = (),
    ) -> None:
        """Start the process, or have a zygote fork it; the judge goes on meanwhile.

        Args:
            torch: whether programs may use it.
            cpu_seconds: that it may take in all.
            zygote: that forks it.
            ahead: modules that it imports before it is asked anything.
        """
        self.torch = torch
        self.printed, self.first_printed = b"", b""
        self.output_bytes = 0
        self.failure: WorkerError | None = None
        self.fresh: int | None = None  # bytes that it held when that was first asked
        self.deadline: Deadline | None = None  # of all that it is asked until this is changed
        self.waited = 0.0  # seconds, by the deadline's clock, that its answers took
        self.text: whereabouts.Text | None = None  # of a program that may say where in it it is
        self.stopped_at = ""  # that place when its time was over, if it says
        self._isolation: levels.Isolation | None = None
        self._written_before = 0
        self._looked = 0.0  # when it was last watched
        self._owner, self._thread = os.getpid(), threading.get_ident()
        with contextlib.ExitStack() as stack:
            self._scratch = Scratch()
            self.scratch = self._scratch.folder  # in which it may write
            stack.callback(self._scratch.remove)
            self._output, writing = os.pipe()
            stack.callback(os.close, self._output)
            os.set_blocking(self._output, False)
            self._channel, far = socket.socketpair()
            stack.callback(self._channel.close)
            try:
                configured = {"own": config.worker(self._scratch, cpu_seconds, ahead)._asdict()}
                if zygote is None:
                    configured["shared"] = config.shared(torch=torch)._asdict()
                    starter = spawn.supervisor(stack, self.scratch, writing)
                else:
                    starter = zygote.starter
                self.process = spawn.Child(starter, "worker", far.fileno(), writing)
                stack.callback(self.process.end)
            finally:
                far.close()
                os.close(writing)
            self.lending = lending.made(stack)  # memory that it shares with the judge
            with contextlib.suppress(OSError):  # the first question finds out
                shared = [] if self.lending is None else [self.lending.descriptor]
                control.send(self._channel, configured, shared)
            if self.lending is not None:
                self.lending.forget_descriptor()
            self._channel.setblocking(False)
            self._stack = stack.pop_all()

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
                grace = spawn.START_SECONDS[self.torch]
                said = self._ask({"op": "walls"}, Limits(), 0, grace=grace)
            except WorkerError as failure:  # nothing foreign has run in it: this is our own fault
                raise GraderError(
                    f"the process that runs programs did not start: {self._last_words(failure)}",
                    hint="drill doctor shows what is missing",
                ) from None
            self._isolation = levels.read(said.get("reply"))
        return self._isolation

    def ask(
        self,
        request: dict[str, Any],
        limits: Limits = Limits(),
        *,
        reply_bytes: int = 1 << 20,
        within: bool = False,
    ) -> dict[str, Any]:
        """Send a request and return the decoded reply.

        Args:
            request: plain data with an `op`.
            limits: how long it may take.
            reply_bytes: of array data that the reply may hold.
            within: whether this is about a request that still goes on, of the other side.

        Raises:
            WorkerError: now and from then on, when the worker did not answer properly.
            OutOfTime: its deadline has passed; the worker is ended unless it had nothing to do.
            GraderError: the process could not be started.
        """
        found: dict[str, Any] = self._asked(request, limits, reply_bytes, within=within)
        return found

    def forward(self, frame: bytes, limits: Limits, *, reply_bytes: int, within: bool) -> bytes:
        """Send a frame as it is, and return the one that comes back; raises what `ask` does."""
        found: bytes = self._asked(frame, limits, reply_bytes, within=within)
        return found

    def _asked(
        self, request: dict[str, Any] | bytes, limits: Limits, reply_bytes: int, *, within: bool
    ) -> Any:  # noqa: ANN401 a decoded reply or a frame, as the request is
        if self.failure is None:
            _ = self.isolation  # before anything else: what it says now, no submission has a say in
        if self.deadline is not None:
            self.deadline.check()
        with self.waiting():
            try:
                return self._ask(request, limits, reply_bytes, within=within)
            except OutOfTime:
                self.failure = Overran("did not finish before the deadline")
                self.close()
                raise

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Count what is done meanwhile as waiting for it: reading its answer is such work."""
        deadline = self.deadline
        began = 0.0 if deadline is None else deadline.clock()
        try:
            yield
        finally:
            if deadline is not None:
                self.waited += deadline.clock() - began

    def _ask(
        self,
        request: dict[str, Any] | bytes,
        limits: Limits,
        reply_bytes: int,
        *,
        grace: float = 0.0,
        within: bool = False,
    ) -> Any:  # noqa: ANN401 a decoded reply or a frame, as the request is
        spawn.need_owner(self._owner)
        self._thread = threading.get_ident()
        _asked.workers.add(self)
        if self.failure is not None:
            raise self.failure
        try:
            if not within:
                self._watch()
                self._looked = time.monotonic()
            reply = self.exchange(request, limits, reply_bytes, grace)
            self._drain()
        except WorkerError as failure:
            self.failure = failure
            self.close()
            raise
        return reply

    def _check_silent(self) -> None:
        """Check that it has not written anything before it is asked."""
        with contextlib.suppress(BlockingIOError):
            try:
                early = self._channel.recv(1, socket.MSG_PEEK)
            except ConnectionError:
                raise self._death() from None
            raise Garbled("wrote to the judge without being asked") if early else self._death()

    def exchange(
        self, request: dict[str, Any] | bytes, limits: Limits, reply_bytes: int, grace: float = 0.0
    ) -> Any:  # noqa: ANN401 a decoded reply or a frame, as the request is
        """Send a request and return the reply; a process that starts has seconds of grace.

        Raises:
            WorkerError: there was no proper answer in time.
            OutOfTime: the deadline of all has passed.
        """
        self._check_silent()
        reply = _Reply(reply_bytes)
        raw = isinstance(request, bytes)
        pieces = [request] if isinstance(request, bytes) else wire.encode(request)
        channel, pending = self._channel, [memoryview(piece) for piece in pieces]
        before = self.cpu_nanoseconds()
        end = time.monotonic() + limits.by_clock(cpu_known=before is not None) + grace
        output_open = True
        with contextlib.suppress(BlockingIOError, ConnectionError):  # met again below
            _send(channel, pending)
        while not reply.done:
            left = end - time.monotonic()
            spent = 0 if before is None else (self.cpu_nanoseconds() or before) - before
            if left <= 0 or spent > limits.seconds * 1e9:
                raise TooSlow(limits.overrun(by_clock=left <= 0) + self._placed())
            if self.deadline is not None and self._isolation is not None:
                try:
                    self.deadline.check()
                except OutOfTime:
                    self._placed()
                    raise
            poll = select.poll()  # because select knows no descriptor beyond 1023
            poll.register(channel, select.POLLIN | (select.POLLOUT if pending else 0))
            if output_open:
                poll.register(self._output, select.POLLIN)
            ready = dict(poll.poll(1000 * min(left, WATCH_SECONDS)))
            if self._output in ready:
                output_open = self._drain()
            if time.monotonic() >= self._looked + WATCH_SECONDS:  # however busy it keeps us
                self._watch_all()
                self._looked = time.monotonic()
            try:
                events = ready.get(channel.fileno(), 0)
                if events & select.POLLOUT:
                    _send(channel, pending)
                while events & ~select.POLLOUT and not reply.done:
                    if not reply.read(channel):
                        raise self._death()
            except BlockingIOError:
                continue
            except ConnectionError:
                raise self._death() from None
        if pending:
            raise Garbled("broke the protocol: answered before it was asked")
        return reply.frame() if raw else decoded(reply.frame())

    def _placed(self) -> str:
        if self.text is not None:
            self.stopped_at = whereabouts.ask(self.pid, self._output, self.text)
        return f", stopped in {self.stopped_at}" if self.stopped_at else ""

    def _last_words(self, failure: WorkerError) -> str:
        if lines := self.printed.decode("utf-8", "replace").strip().splitlines():
            return lines[-1]
        try:
            _ = self.pid
        except (ChildProcessError, TimeoutError) as error:
            return str(error)
        return f"it {failure}"

    def _watch(self) -> None:
        """End a worker that takes more than it may of what no system limit counts."""
        if too_much := self._scratch.excess():
            raise Overran(too_much)
        if self._isolation is None:
            return  # it has run nothing yet, and may not have an id
        written = probes.written_bytes(self.pid)
        if written is not None and written - self._written_before > MAX_WRITTEN:
            raise Overran(f"wrote more than {MAX_WRITTEN >> 20} MB to files")
        held, allowed = probes.resident_bytes(self.pid), config.MEMORY[self.torch]
        if held is not None and held > allowed:
            raise Overran(f"took more than {allowed >> 20:,} MB of memory")

    def _watch_all(self) -> None:
        """Watch the others of this thread as well: a program's threads go on after its reply."""
        self._watch()
        for other in set(_asked.workers) - {self}:
            if other._thread != self._thread or other._owner != self._owner:
                _asked.workers.discard(other)  # another thread asks it now, or this is a fork
                continue
            try:
                other._watch()
            except WorkerError as failure:
                other.failure = failure
                other.close()

    def _drain(self) -> bool:
        """Read what the process printed; False when it has closed its output."""
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self._output, 1 << 16):
                self.output_bytes += len(piece)
                self.printed = (self.printed + piece)[-KEEP_OUTPUT:]
                self.first_printed += piece[: KEEP_FIRST - len(self.first_printed)]
                if self.output_bytes > MAX_OUTPUT:
                    raise Overran(f"printed more than {MAX_OUTPUT >> 20} MB")
            return False
        return True

    def _death(self) -> WorkerError:
        with contextlib.suppress(WorkerError):
            self._drain()
        self.process.end(_GRACE)
        if not self.process.ended:
            return Died("lost its process before it answered")
        status = self.process.status
        if status is None:
            return Garbled("closed its channel to the judge")
        if status == -signal.SIGXCPU:
            return Overran("used up its CPU time")
        if status < 0:
            name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
            return Died(f"ended its process ({name}) before it answered")
        return Died(f"ended its process (exit status {status}) before it answered")

    def count_anew(self) -> None:
        """Forget what was printed and written so far: the next program is another one."""
        self.printed, self.first_printed, self.output_bytes = b"", b"", 0
        self._written_before = probes.written_bytes(self.pid) or 0

    def cpu_nanoseconds(self) -> int | None:
        """CPU time so far, read from outside; None before it answered, or without such a clock."""
        return None if self._isolation is None else probes.cpu_nanoseconds(self.pid)

    def occupied_bytes(self) -> int | None:
        """Bytes of memory and of files that it holds, read from outside; None where unknown."""
        _ = self.isolation  # it has started
        held = probes.occupied_bytes(self.pid, self.scratch)
        if self.fresh is None:
            self.fresh = held
        return held

    def close(self) -> None:
        """Kill the process with all it started; a fork of the judge leaves it alone."""
        if os.getpid() == self._owner:
            _asked.workers.discard(self)
            self._stack.close()
