"""A worker process seen from the judge: start it, ask it, end it.

The judge sends requests and reads replies over one socket, decodes them with `wire`, and believes
nothing else: not the exit status, not what is printed.  What comes in is bytes from anybody: sizes
are checked before memory is taken, and whatever is not in time exactly one answer to exactly one
request ends the worker and becomes an exception here, never a traceback of ours.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import socket
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.model.errors import GraderError
from grader.model.limits import (
    CALL_SECONDS,
    CPU_SECONDS,
    EXIT_GRACE_SECONDS,
    IDLE_SECONDS,
    LOCATION_SECONDS,
    MAX_KEPT_BEGINNING_BYTES,
    MAX_KEPT_OUTPUT_BYTES,
    MAX_LOCATION_BYTES,
    MAX_MEMORY_BYTES,
    MAX_OUTPUT_BYTES,
    MAX_WRITTEN_BYTES,
    START_SECONDS,
    UNSURE_IDLE_SECONDS,
)
from grader.sandbox import (
    Closeable,
    Deadline,
    OutOfTime,
    config,
    notebook_cells,
    process_usage,
    spawn,
)
from grader.sandbox.scratch_folder import ScratchFolder
from grader.sandbox.worker import control, wire
from grader.sandbox.worker.limits import MAX_META_BYTES
from grader.sandbox.worker.walls.canary import ACTS, DONE

WATCH_SECONDS = 0.05  # how often a worker is watched
STRONG, LIMITED, PROCESS = "strong", "limited", "process"


class WorkerError(Exception):
    """The worker can no longer be used; the message completes 'the submission ...'."""


class WorkerDied(WorkerError):
    """The process ended without answering."""


class LimitExceeded(WorkerError):
    """A limit of time, memory, files or output was reached."""


class CallTimeout(LimitExceeded):
    """It was the limit of time of one call."""


class ProtocolViolation(WorkerError):
    """What came back is not an answer."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """How long an exchange may take, and where that is set."""

    seconds: float = CALL_SECONDS  # of CPU time; by the clock where CPU time cannot be read
    wall: float | None = None  # by the clock; if not given, it must not be idle for long
    set_by: str = ""

    def scaled_for(self, usual: float) -> RequestLimits:
        """The same of a request that takes right programs more seconds than a call, perhaps."""
        share = max(1.0, usual / CALL_SECONDS)
        return RequestLimits(share * self.seconds, self.wall and share * self.wall, self.set_by)

    def describe_excess(self, elapsed: float, spent: float | None, queued: float | None) -> str:
        """Which limit an exchange has passed, a sentence that goes on; '' while it has not.

        All in seconds: by the clock; of CPU time, and waiting for a core, where these are known.
        """
        if (elapsed if spent is None else spent) > self.seconds:
            set_by = f" of CPU time ({self.set_by})" if self.set_by else ""
            return f"did not finish within {self.seconds:.3g} seconds{set_by}"
        if self.wall is not None and elapsed > self.wall:
            return f"did not finish within {self.wall:.3g} seconds by the clock ({self.set_by})"
        if self.wall is not None or spent is None:
            return ""
        idle = elapsed - spent - (queued or 0.0)
        allowed = UNSURE_IDLE_SECONDS if queued is None else IDLE_SECONDS
        return f"was idle for more than {allowed:.3g} seconds" if idle > allowed else ""


class _Stopwatch:
    """Measures what a request takes, without the time in which others are asked."""

    def __init__(
        self,
        limits: RequestLimits = RequestLimits(),
        cpu_before: int | None = None,
        grace: float = 0.0,
    ) -> None:
        """Begin; a process that starts has seconds of grace."""
        self.limits = limits
        self.cpu_before = cpu_before  # CPU time of the process, in nanoseconds
        self._began = time.monotonic() + grace
        self._queued_before = process_usage.own_queued_seconds()
        self._stopped: tuple[float, float | None] | None = None

    def stop(self) -> None:
        """Stop when the process has replied."""
        self._stopped = time.monotonic(), process_usage.own_queued_seconds()

    def resume(self) -> None:
        """Go on when the process is asked again for the same request."""
        if self._stopped is None:
            return
        (stopped, queued), self._stopped = self._stopped, None
        self._began += time.monotonic() - stopped
        if self._queued_before is not None and queued is not None:
            self._queued_before += (process_usage.own_queued_seconds() or queued) - queued

    def elapsed(self) -> float:
        """Return the seconds by the clock."""
        return time.monotonic() - self._began

    def judge_queued(self) -> float:
        """Return the seconds in which the judge waited for a core: no idleness of the process."""
        if self._queued_before is None:
            return 0.0
        return (process_usage.own_queued_seconds() or self._queued_before) - self._queued_before


@dataclass(frozen=True, slots=True)
class Isolation:
    """What one worker was refused, tried in it before it ran anything of a submission's."""

    acts: Mapping[str, str]  # "refused", "done", or "absent": the system has no such thing
    missing: Sequence[str] = ()  # why walls are missing

    @property
    def level(self) -> str:
        """`strong`: nothing could be done; `limited`: there are limits at least; `process`."""
        if not self.possible_acts and not self.missing:
            return STRONG
        return PROCESS if "unbounded" in self.possible_acts else LIMITED

    @property
    def possible_acts(self) -> list[str]:
        """What could be done, of what a level rests on; what was not tried was not refused."""
        return [name for name in ACTS if self.acts.get(name, DONE) == DONE]


class _Reply:
    """A frame that is coming in: its header first, then the rest."""

    def __init__(self, allowed: int) -> None:
        self.allowed = allowed  # bytes of array data
        self.data = bytearray(wire.HEADER.size)
        self.got = 0
        self.meta: int | None = None  # bytes of metadata, once the header has come

    @property
    def is_complete(self) -> bool:
        return self.meta is not None and self.got == len(self.data)

    def read(self, channel: socket.socket) -> bool:
        """Take in what is there; False when the other side has hung up."""
        count = channel.recv_into(memoryview(self.data)[self.got :])
        self.got += count
        if self.meta is None and self.got == len(self.data):
            magic, self.meta, payload = wire.HEADER.unpack(self.data)
            if magic != wire.MAGIC:
                raise ProtocolViolation("broke the protocol: not a reply")
            if self.meta > MAX_META_BYTES or payload > self.allowed:
                size = f"{self.meta + payload:,} bytes, {self.allowed:,} allowed"
                raise ProtocolViolation(f"returned far too much data ({size})")
            self.data, self.got = bytearray(self.meta + payload), 0
        return bool(count)

    def decoded(self) -> dict[str, Any]:
        """What it says; raises Garbled where it is no reply."""
        body = memoryview(self.data)
        try:
            reply = wire.decode(bytes(body[: self.meta]), body[self.meta :])
        except wire.WireError as error:
            raise ProtocolViolation(f"broke the protocol: {error}") from None
        if not isinstance(reply, dict) or not isinstance(reply.get("ok"), bool):
            raise ProtocolViolation("broke the protocol: not a reply")
        return reply


def _send(channel: socket.socket, pending: list[memoryview]) -> None:
    """Send what the channel takes now; what is left stays pending."""
    while pending:
        sent = channel.send(pending[0])
        if sent == len(pending[0]):
            pending.pop(0)
        else:
            pending[0] = pending[0][sent:]


class _ThreadWorkers(threading.local):
    """The workers that a thread asks."""

    def __init__(self) -> None:
        self.workers: weakref.WeakSet[WorkerClient] = weakref.WeakSet()


_asked = _ThreadWorkers()


class WorkerClient(Closeable):
    """One process that runs programs.  Use it as a context manager, in one thread at a time."""

    def __init__(
        self,
        *,
        torch: bool,
        cpu_seconds: int = CPU_SECONDS,
        zygote: spawn.Zygote | None = None,
    ) -> None:
        """Start the process, or have a zygote fork it; the judge goes on meanwhile."""
        self.torch = torch
        self._cpu_seconds = cpu_seconds
        self._zygote = zygote
        self.deadline: Deadline | None = None  # of all that it is asked until this is changed
        self.seconds_waited = 0.0  # seconds, by the deadline's clock, that its answers took
        # Name and source of the file of a program that may say where in it it is.
        self.program_file: tuple[str, bytes] | None = None
        self._looked = 0.0  # when it was last watched
        self.last_cpu_seconds = 0.0  # seconds of CPU time for the last reply
        self.slowest_cpu_seconds = 0.0  # the same of a call, at most
        self._stopwatch = _Stopwatch()  # of what it is asked now
        self._has_compiler = False  # of torch; see `worker.compiler`
        # What to repeat in a process that has it: what loaded each program, and how long that may
        # take; and what was said so far about the request that goes on.
        self._loads: dict[str, tuple[Mapping[str, Any], RequestLimits]] = {}
        self._said: list[Mapping[str, Any]] = []
        self._owner, self._thread = os.getpid(), threading.get_ident()
        self._start()

    def restart(self) -> None:
        """Start another process in place of one that has ended; nothing is loaded in it."""
        self.close()
        self._start()

    def _start(self) -> None:
        self.printed, self.first_printed = b"", b""
        self.output_bytes = 0
        self.failure: WorkerError | None = None
        self.stopped_at = ""  # the place in the file when its time was over, if it said
        self._loads = {}
        if self._zygote is not None:
            self._has_compiler = self._zygote.has_compiler
        self._isolation: Isolation | None = None
        self._written_before = 0
        with contextlib.ExitStack() as stack:
            self._scratch = ScratchFolder()
            self.scratch = self._scratch.folder  # in which it may write
            stack.callback(self._scratch.remove)
            self._output, writing = os.pipe()
            stack.callback(os.close, self._output)
            os.set_blocking(self._output, False)
            self._channel, far = socket.socketpair()
            stack.callback(self._channel.close)
            try:
                configured = {
                    "own": config.worker_config(self._scratch, self._cpu_seconds)._asdict()
                }
                if self._zygote is None:
                    configured["shared"] = config.shared_config(
                        torch=self.torch, compiler=self._has_compiler
                    )._asdict()
                    starter = spawn.start_supervisor(stack, self.scratch, writing)
                else:
                    starter = self._zygote.starter
                self.process = spawn.ChildProcess(starter, "worker", far.fileno(), writing)
                stack.callback(self.process.end)
            finally:
                far.close()
                os.close(writing)
            with contextlib.suppress(OSError):  # the first question finds out
                control.send(self._channel, configured)
            self._channel.setblocking(False)
            self._stack = stack.pop_all()

    @property
    def pid(self) -> int:
        """The process's id, once it has started."""
        return self.process.pid

    @property
    def isolation(self) -> Isolation:
        """What the process was refused before it ran anything; GraderError if it did not start."""
        if self._isolation is None:
            try:
                reply = self._ask({"op": "walls"}, RequestLimits(), 0, START_SECONDS[self.torch])
            except WorkerError as failure:  # nothing foreign has run in it: this is our own fault
                raise GraderError(
                    f"the process that runs programs did not start: {self._last_words(failure)}",
                    hint="drill doctor shows what is missing",
                ) from None
            self._isolation = Isolation(**reply["reply"])
        return self._isolation

    def ask(
        self,
        request: Mapping[str, Any],
        limits: RequestLimits | None = RequestLimits(),
        *,
        reply_bytes: int = 1 << 20,
    ) -> dict[str, Any]:
        """Send a request and return the decoded reply.

        Without limits it is about a request that still goes on, and takes what that one has left.
        The reply may hold so many bytes of array data.

        Raises:
            WorkerError: now and from then on, when the worker did not answer properly.
            OutOfTime: its deadline has passed; the worker is ended unless it had nothing to do.
            GraderError: the process could not be started.
        """
        if self.failure is None:
            _ = self.isolation  # before anything else: what it says now, no submission has a say in
        if self.deadline is not None:
            self.deadline.check()
        with self.count_as_waiting():
            return self._ask(request, limits, reply_bytes)

    @contextlib.contextmanager
    def count_as_waiting(self) -> Iterator[None]:
        """Count what is done meanwhile as waiting for it: reading its answer is such work."""
        deadline = self.deadline
        began = 0.0 if deadline is None else deadline.clock()
        try:
            yield
        finally:
            if deadline is not None:
                self.seconds_waited += deadline.clock() - began

    def _ask(
        self,
        request: Mapping[str, Any],
        limits: RequestLimits | None,
        reply_bytes: int,
        grace: float = 0.0,
    ) -> dict[str, Any]:
        spawn.forbid_use_after_fork(self._owner)
        self._thread = threading.get_ident()
        _asked.workers.add(self)
        if self.failure is not None:
            raise self.failure
        try:
            reply = self.exchange(request, limits, reply_bytes, grace)
            if self.torch and not self._has_compiler:
                self._said = [request] if limits is not None else [*self._said, request]
                if reply.get("compiler") is True:
                    reply = self._repeat_with_compiler(reply_bytes)
                elif request.get("op") == "load":
                    self._loads[request["program"]] = request, self._stopwatch.limits
            self._drain()
        except (WorkerError, OutOfTime) as failure:
            if isinstance(failure, OutOfTime):
                self.failure = LimitExceeded("did not finish before the deadline")
            else:
                self.failure = failure
            self.close()
            raise
        return reply

    def _repeat_with_compiler(self, reply_bytes: int) -> dict[str, Any]:
        """Repeat the request in a new process that has imported torch's compiler.

        The import is work of ours: no call and no deadline of a grade pays for it.
        """
        loads, said, limits = self._loads, self._said, self._stopwatch.limits
        self._said = []
        clock = time.monotonic if self.deadline is None else self.deadline.clock
        began = clock()
        self._has_compiler = True
        if self._zygote is not None:
            self._zygote.import_compiler()
        self.restart()
        _ = self.isolation
        if self.deadline is not None:
            self.deadline.postpone(clock() - began)
        for request, usual in loads.values():
            self.exchange(request, usual, 1 << 20)
        reply = self.exchange(said[0], limits, reply_bytes)
        for request in said[1:]:
            reply = self.exchange(request, None, reply_bytes)
        return reply

    def exchange(
        self,
        request: Mapping[str, Any],
        limits: RequestLimits | None,
        reply_bytes: int,
        grace: float = 0.0,
    ) -> dict[str, Any]:
        """Send a request and return the reply; a process that starts has seconds of grace."""
        self._check_silent()
        self._watch_all()
        reply = _Reply(reply_bytes)
        channel, pending = self._channel, [memoryview(piece) for piece in wire.encode(request)]
        if limits is not None:
            self._stopwatch = _Stopwatch(limits, self.cpu_nanoseconds(), grace)
        watch = self._stopwatch
        watch.resume()
        output_open = True
        with contextlib.suppress(BlockingIOError, ConnectionError):  # met again below
            _send(channel, pending)
        while not reply.is_complete:
            elapsed = watch.elapsed()
            spent = self._spent_since(watch.cpu_before)
            # Only what takes long is looked at for how long it waited for a core.
            known = spent is not None and elapsed > IDLE_SECONDS
            queued = process_usage.queued_seconds(self.pid) if known else None
            if queued is not None:
                queued += watch.judge_queued()
            if late := watch.limits.describe_excess(elapsed, spent, queued):
                raise CallTimeout(late + self._ask_for_current_line())
            if self.deadline is not None and self._isolation is not None:
                try:
                    self.deadline.check()
                except OutOfTime:
                    self._ask_for_current_line()
                    raise
            poll = select.poll()  # because select knows no descriptor beyond 1023
            poll.register(channel, select.POLLIN | (select.POLLOUT if pending else 0))
            if output_open:
                poll.register(self._output, select.POLLIN)
            ready = dict(poll.poll(1000 * WATCH_SECONDS))
            if self._output in ready:
                output_open = self._drain()
            self._watch_all()
            try:
                events = ready.get(channel.fileno(), 0)
                if events & select.POLLOUT:
                    _send(channel, pending)
                while events & ~select.POLLOUT and not reply.is_complete:
                    if not reply.read(channel):
                        raise self._death()
            except BlockingIOError:
                continue
            except ConnectionError:
                raise self._death() from None
        if pending:
            raise ProtocolViolation("broke the protocol: answered before it was asked")
        watch.stop()
        self.last_cpu_seconds = self._spent_since(watch.cpu_before) or 0.0
        return reply.decoded()

    def _spent_since(self, before: int | None) -> float | None:
        """Seconds of CPU time since a reading; None where there is none."""
        return None if before is None else ((self.cpu_nanoseconds() or before) - before) / 1e9

    def _check_silent(self) -> None:
        """Check that it has not written anything before it is asked."""
        with contextlib.suppress(BlockingIOError):
            try:
                early = self._channel.recv(1, socket.MSG_PEEK)
            except ConnectionError:
                raise self._death() from None
            raise (
                ProtocolViolation("wrote to the judge without being asked")
                if early
                else self._death()
            )

    def _ask_for_current_line(self) -> str:
        """Where its program is, to be added to a sentence: signaled, it has its frames printed."""
        said, end = b"", time.monotonic() + LOCATION_SECONDS
        with contextlib.suppress(OSError):  # it has ended
            if self.program_file is not None:
                os.kill(self.pid, signal.SIGUSR1)
            while (
                self.program_file is not None
                and not self.stopped_at
                and len(said) < MAX_LOCATION_BYTES
            ):
                left = end - time.monotonic()  # once it has begun, the rest comes at once
                spawn.wait_until_readable(
                    self._output, min(left, 0.1) if b"Stack (" in said else left
                )
                if not (piece := os.read(self._output, 1 << 16)):
                    break
                said += piece
                self.stopped_at = crash_location(said, *self.program_file)
        return f", stopped in {self.stopped_at}" if self.stopped_at else ""

    def _last_words(self, failure: WorkerError) -> str:
        if lines := self.printed.decode("utf-8", "replace").strip().splitlines():
            return lines[-1]
        try:
            _ = self.pid
        except (ChildProcessError, TimeoutError) as error:
            return str(error)
        return f"it {failure}"

    def _watch_all(self) -> None:
        """Watch it now and then, and the others of this thread: threads go on after a reply."""
        if time.monotonic() < self._looked + WATCH_SECONDS:
            return
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
        self._looked = time.monotonic()

    def _watch(self) -> None:
        """End a worker that takes more than it may of what no system limit counts."""
        if too_much := self._scratch.exceeded_limit():
            raise LimitExceeded(too_much)
        if self._isolation is None:
            return  # it has run nothing yet, and may not have an id
        written = process_usage.written_bytes(self.pid)
        if written is not None and written - self._written_before > MAX_WRITTEN_BYTES:
            raise LimitExceeded(f"wrote more than {MAX_WRITTEN_BYTES >> 20} MB to files")
        held, allowed = process_usage.resident_bytes(self.pid), MAX_MEMORY_BYTES[self.torch]
        if held is not None and held > allowed:
            raise LimitExceeded(f"took more than {allowed >> 20:,} MB of memory")

    def _drain(self) -> bool:
        """Read what the process printed; False when it has closed its output."""
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self._output, 1 << 16):
                self.output_bytes += len(piece)
                self.printed = (self.printed + piece)[-MAX_KEPT_OUTPUT_BYTES:]
                self.first_printed += piece[: MAX_KEPT_BEGINNING_BYTES - len(self.first_printed)]
                if self.output_bytes > MAX_OUTPUT_BYTES:
                    raise LimitExceeded(f"printed more than {MAX_OUTPUT_BYTES >> 20} MB")
            return False
        return True

    def _death(self) -> WorkerError:
        with contextlib.suppress(WorkerError):
            self._drain()
        self.process.end(EXIT_GRACE_SECONDS)
        if not self.process.ended:
            return WorkerDied("lost its process before it answered")
        status = self.process.status
        if status is None:
            return ProtocolViolation("closed its channel to the judge")
        if status == -signal.SIGXCPU:
            return LimitExceeded("used up its CPU time")
        how = f"exit status {status}"
        if status < 0:
            how = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
        return WorkerDied(f"ended its process ({how}) before it answered")

    def reset_counters(self) -> None:
        """Forget what was printed and written so far: the next program is another one."""
        self.printed, self.first_printed, self.output_bytes = b"", b"", 0
        self._written_before = process_usage.written_bytes(self.pid) or 0

    def cpu_nanoseconds(self) -> int | None:
        """CPU time so far, read from outside; None before it answered, or without such a clock."""
        return None if self._isolation is None else process_usage.cpu_nanoseconds(self.pid)

    def occupied_bytes(self) -> int | None:
        """Bytes of memory and of files that it holds, read from outside; None where unknown."""
        _ = self.isolation  # it has started
        return process_usage.occupied_bytes(self.pid, self.scratch)

    def close(self) -> None:
        """Kill the process with all it started; a fork of the judge leaves it alone."""
        if os.getpid() == self._owner:
            _asked.workers.discard(self)
            self._stack.close()


def crash_location(said: bytes, name: str, source: bytes) -> str:
    """Where in a file a program was, as faulthandler says on its output; '' where it does not.

    The line and the function are taken from that, and the text of the line is the judge's own.  A
    program may forge or prevent it: nothing rests on it.
    """
    frame = re.search(
        rb"Stack \(most recent call first\):\n(?:  .*\n)*?"
        rb'  File "%b", line (\d{1,9}) in (.*)\n'
        % re.escape(name.encode("ascii", "backslashreplace")),
        said,
    )
    if frame is None:
        return ""
    line, function = int(frame[1]), frame[2].decode("ascii", "replace")
    lines = re.split(r"\r\n|\r|\n", source.decode("utf-8", "replace"))
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    text = text if len(text) <= 60 else f"{text[:57]}..."
    within = f"`{function}`, " if re.fullmatch(r"[^\W\d]\w{0,59}", function) else ""
    return f"{within}{notebook_cells.line_in_words(source, line)}: `{text}`" if text else ""
