"""The judge's side of a worker process: start it, send requests, end it.

The judge sends requests and reads replies over one socket, and decodes replies with `wire`.  No
verdict relies on anything else from the worker, such as its exit status or its output.  A
submission may have written a reply, so sizes are checked before memory is allocated.  A worker that
does not send exactly one reply to each request in time is ended, and the caller gets a
`WorkerError`, or OutOfTime at the deadline of a grade.
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
from collections.abc import Iterator, Mapping
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
from grader.sandbox.worker.protocol import IsolationReport
from grader.sandbox.worker.walls.canary import ACTS, DONE

WATCH_SECONDS = 0.05  # between two looks at a worker's resources
# Levels of isolation, see `Isolation.level`.
STRONG = "strong"
LIMITED = "limited"
PROCESS = "process"
_MAX_QUOTED_LINE = 60  # characters of a line of code in a message


class WorkerError(Exception):
    """The worker can no longer be used; the message completes 'the submission ...'."""


class WorkerDied(WorkerError):
    """The process ended without a reply."""


class LimitExceeded(WorkerError):
    """A limit of time, memory, files or output was exceeded."""


class CallTimeout(LimitExceeded):
    """A request exceeded its limit of CPU time, of time by the clock, or of idle time."""


class ProtocolViolation(WorkerError):
    """The worker broke the protocol, for example with bytes that are not a reply."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Time limits of a request."""

    seconds: float = CALL_SECONDS  # of CPU time; by the clock if CPU time cannot be read
    wall: float | None = None  # by the clock; if None, idle time is limited instead
    set_by: str = ""  # for messages, as "limits of the question"

    def scaled_for(self, usual: float) -> RequestLimits:
        """Return these limits, which are meant for a call, scaled up for a longer request.

        `usual` is the default limit of that request, in seconds.  If it is three times
        CALL_SECONDS, the default limit of a call, the limits triple.  They never shrink.
        """
        factor = max(1.0, usual / CALL_SECONDS)
        wall = None if self.wall is None else factor * self.wall
        return RequestLimits(factor * self.seconds, wall, self.set_by)

    def describe_excess(self, elapsed: float, spent: float | None, queued: float | None) -> str:
        """Return the limit that a request exceeded, as "did not finish within 5 seconds", or ''.

        Args:
            elapsed: Seconds by the clock.
            spent: Seconds of CPU time, if known.
            queued: Seconds of waiting for a core, if known.
        """
        if (elapsed if spent is None else spent) > self.seconds:
            set_by = f" of CPU time ({self.set_by})" if self.set_by else ""
            return f"did not finish within {self.seconds:.3g} seconds{set_by}"
        if self.wall is not None and elapsed > self.wall:
            return f"did not finish within {self.wall:.3g} seconds by the clock ({self.set_by})"
        if self.wall is not None or spent is None:
            return ""
        idle = elapsed - spent - (queued or 0.0)
        max_idle = UNSURE_IDLE_SECONDS if queued is None else IDLE_SECONDS
        if idle > max_idle:
            return f"was idle for more than {max_idle:.3g} seconds"
        return ""


class _Stopwatch:
    """Measures how long a worker works on a request, except while it waits for another worker."""

    def __init__(self, limits: RequestLimits, cpu_before: int | None, grace: float) -> None:
        """Start; the first `grace` seconds, in which a process starts, do not count."""
        self.limits = limits
        self.cpu_before = cpu_before  # CPU time of the process, in nanoseconds
        self._began = time.monotonic() + grace
        self._queued_before = process_usage.own_queued_seconds()
        self._stopped: tuple[float, float | None] | None = None

    def stop(self) -> None:
        """Stop counting, because the worker has replied."""
        self._stopped = time.monotonic(), process_usage.own_queued_seconds()

    def resume(self) -> None:
        """If stopped, count again: the worker gets another message about the same request."""
        if self._stopped is None:
            return
        stopped_at, queued = self._stopped
        self._stopped = None
        self._began += time.monotonic() - stopped_at
        if self._queued_before is not None and queued is not None:
            self._queued_before += (process_usage.own_queued_seconds() or queued) - queued

    def elapsed(self) -> float:
        """Return the seconds since the start without past stops; negative during the grace."""
        return time.monotonic() - self._began

    def judge_queued(self) -> float:
        """Return the seconds that the judge waited for a core: not idle time of the worker."""
        if self._queued_before is None:
            return 0.0
        return (process_usage.own_queued_seconds() or self._queued_before) - self._queued_before


class Isolation(IsolationReport):
    """Results of the forbidden acts, see `canary.ACTS`, that a worker tried before any program."""

    @property
    def level(self) -> str:
        """Level of isolation: `strong`, `limited` or `process`.

        `strong` if no forbidden act succeeded and no wall is missing.  Otherwise `limited` if at
        least CPU time and files are limited (the act `unbounded` was refused), else `process`.
        """
        if not self.possible_acts and not self.missing:
            return STRONG
        return PROCESS if "unbounded" in self.possible_acts else LIMITED

    @property
    def possible_acts(self) -> list[str]:
        """Names of the forbidden acts that succeeded, or whose result was not reported."""
        return [name for name in ACTS if self.acts.get(name, DONE) == DONE]


class _Reply:
    """A frame, see `wire`, that is being received: first its header, then the rest."""

    def __init__(self, max_payload: int) -> None:
        self.max_payload = max_payload  # bytes of arrays
        self.data = bytearray(wire.HEADER.size)
        self.received = 0  # bytes of `data`
        self.meta: int | None = None  # bytes of structure; None until the header is complete

    @property
    def is_complete(self) -> bool:
        return self.meta is not None and self.received == len(self.data)

    def read(self, channel: socket.socket) -> bool:
        """Read bytes that have arrived; return False if the worker has hung up.

        Raises BlockingIOError if no bytes have arrived, and ProtocolViolation for a wrong header.
        """
        count = channel.recv_into(memoryview(self.data)[self.received :])
        self.received += count
        if self.meta is None and self.received == len(self.data):
            self._read_header()
        return bool(count)

    def _read_header(self) -> None:
        magic, self.meta, payload = wire.HEADER.unpack(self.data)
        if magic != wire.MAGIC:
            raise ProtocolViolation("broke the protocol: not a reply")
        if self.meta > MAX_META_BYTES or payload > self.max_payload:
            size = f"{self.meta + payload:,} bytes, {self.max_payload:,} allowed"
            raise ProtocolViolation(f"returned far too much data ({size})")
        self.data = bytearray(self.meta + payload)
        self.received = 0

    def decoded(self) -> dict[str, Any]:
        """Return the reply as plain data; raises ProtocolViolation if it is not a reply."""
        body = memoryview(self.data)
        try:
            reply = wire.decode(bytes(body[: self.meta]), body[self.meta :])
        except wire.WireError as error:
            raise ProtocolViolation(f"broke the protocol: {error}") from None
        if not isinstance(reply, dict) or not isinstance(reply.get("ok"), bool):
            raise ProtocolViolation("broke the protocol: not a reply")
        return reply


class _ThreadWorkers(threading.local):
    """The workers that a thread uses; while it waits for one of them, it watches all."""

    def __init__(self) -> None:
        self.workers: weakref.WeakSet[WorkerClient] = weakref.WeakSet()


_current_thread = _ThreadWorkers()


class WorkerClient(Closeable):
    """One process that runs programs.  Use it as a context manager, in one thread at a time."""

    def __init__(
        self,
        *,
        torch: bool,
        cpu_seconds: int = CPU_SECONDS,  # in all
        zygote: spawn.Zygote | None = None,
    ) -> None:
        """Start the process, or have a zygote fork it; the judge does not wait for it."""
        self.torch = torch
        self._cpu_seconds = cpu_seconds
        self._zygote = zygote
        self.deadline: Deadline | None = None  # of all requests until it is changed
        self.seconds_waited = 0.0  # for its replies, by the deadline's clock
        # Name and source of the submission, which is asked for its current line on a timeout.
        self.program_file: tuple[str, bytes] | None = None
        self._looked = 0.0  # time of the last look at its resources
        self.last_cpu_seconds = 0.0  # CPU time of the last request
        self.slowest_cpu_seconds = 0.0  # CPU time of the slowest call
        self._stopwatch: _Stopwatch  # of the current request
        self._has_compiler = False  # True if it has torch's compiler; see `worker.compiler`
        # Requests to repeat in a process with the compiler: the load request of each program with
        # its limits, and all messages about the current request.
        self._loads: dict[str, tuple[Mapping[str, Any], RequestLimits]] = {}
        self._sent: list[Mapping[str, Any]] = []
        self._owner = os.getpid()
        self._thread = threading.get_ident()
        self._start()

    def restart(self) -> None:
        """End the process and start a new one, in which no program is loaded."""
        self.close()
        self._start()

    def _start(self) -> None:
        self.printed = b""  # end of the output
        self.first_printed = b""  # beginning of the output
        self.output_bytes = 0
        self.failure: WorkerError | None = None
        self.stopped_at = ""  # current line when a time limit was exceeded, if it was printed
        self._loads = {}
        if self._zygote is not None:
            self._has_compiler = self._zygote.has_compiler
        self._isolation: Isolation | None = None
        self._written_before = 0
        with contextlib.ExitStack() as stack:
            self._scratch = ScratchFolder()
            self.scratch = self._scratch.folder  # the only folder in which it may write
            stack.callback(self._scratch.remove)
            self._output, output_end = os.pipe()
            stack.callback(os.close, self._output)
            os.set_blocking(self._output, False)
            self._channel, far_end = socket.socketpair()
            stack.callback(self._channel.close)
            try:
                configuration = self._start_process(stack, far_end, output_end)
            finally:
                far_end.close()
                os.close(output_end)
            with contextlib.suppress(OSError):  # the first request will raise
                control.send(self._channel, configuration)
            self._channel.setblocking(False)
            self._stack = stack.pop_all()

    def _start_process(
        self, stack: contextlib.ExitStack, far_end: socket.socket, output_end: int
    ) -> dict[str, Any]:
        """Request the start of the process, and return the configuration to send to it."""
        own = config.worker_config(self._scratch, self._cpu_seconds)
        configuration = {"own": own._asdict()}
        if self._zygote is None:
            shared = config.shared_config(torch=self.torch, compiler=self._has_compiler)
            configuration["shared"] = shared._asdict()
            starter = spawn.start_supervisor(stack, self.scratch, output_end)
        else:
            starter = self._zygote.starter
        self.process = spawn.ChildProcess(starter, "worker", far_end.fileno(), output_end)
        stack.callback(self.process.end)
        return configuration

    @property
    def pid(self) -> int:
        """Process id; waits until the process has started."""
        return self.process.pid

    @property
    def isolation(self) -> Isolation:
        """Results of the forbidden acts that the process tried when it started.

        The first access waits for the start, and raises GraderError if that fails.
        """
        if self._isolation is None:
            try:
                reply = self._ask(
                    {"op": "reportisolation"},
                    RequestLimits(),
                    reply_bytes=0,
                    grace=START_SECONDS[self.torch],
                )
            except WorkerError as failure:  # no submission has run in it: the fault is ours
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

        Args:
            request: Plain data and messages.
            limits: None for a further message about the current request, whose limits still apply.
            reply_bytes: Limit on the bytes of arrays in the reply.

        Raises:
            WorkerError: The worker did not reply properly.  All later calls raise it again.
            OutOfTime: The deadline has passed; the worker is ended if it had a request.
            GraderError: The process could not be started.
        """
        if self.failure is None:
            _ = self.isolation  # first: no submission can influence it yet
        if self.deadline is not None:
            self.deadline.check()
        with self.count_as_waiting():
            return self._ask(request, limits, reply_bytes)

    @contextlib.contextmanager
    def count_as_waiting(self) -> Iterator[None]:
        """If there is a deadline, add the time of a block of code to `seconds_waited`."""
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
        _current_thread.workers.add(self)
        if self.failure is not None:
            raise self.failure
        try:
            reply = self.exchange(request, limits, reply_bytes, grace)
            if self.torch and not self._has_compiler:
                self._sent = [request] if limits is not None else [*self._sent, request]
                if reply.get("compiler") is True:
                    reply = self._repeat_with_compiler(reply_bytes)
                elif request.get("op") == "load":
                    self._loads[request["program"]] = request, self._stopwatch.limits
            self._drain()
        except OutOfTime:
            self.failure = LimitExceeded("did not finish before the deadline")
            self.close()
            raise
        except WorkerError as failure:
            self.failure = failure
            self.close()
            raise
        return reply

    def _repeat_with_compiler(self, reply_bytes: int) -> dict[str, Any]:
        """Repeat the request in a new process that has imported torch's compiler.

        The programs are loaded again first.  The import is not counted in the time of a call or in
        the deadline of a grade.
        """
        loads = self._loads
        sent = self._sent
        limits = self._stopwatch.limits
        self._sent = []
        clock = time.monotonic if self.deadline is None else self.deadline.clock
        began = clock()
        self._has_compiler = True
        if self._zygote is not None:
            self._zygote.import_compiler()
        self.restart()
        _ = self.isolation
        if self.deadline is not None:
            self.deadline.postpone(clock() - began)
        for load_request, load_limits in loads.values():
            self.exchange(load_request, load_limits, reply_bytes=1 << 20)
        reply = self.exchange(sent[0], limits, reply_bytes)
        for request in sent[1:]:
            reply = self.exchange(request, None, reply_bytes)
        return reply

    def exchange(
        self,
        request: Mapping[str, Any],
        limits: RequestLimits | None,
        reply_bytes: int,
        grace: float = 0.0,
    ) -> dict[str, Any]:
        """Send a request and return the reply; an exception does not end the worker yet.

        `limits` and `reply_bytes` are as in `ask`.  The first `grace` seconds do not count.
        """
        self._check_silent()
        self._watch_all()
        reply = _Reply(reply_bytes)
        pending = memoryview(wire.encode(request))
        if limits is not None:
            self._stopwatch = _Stopwatch(limits, self.cpu_nanoseconds(), grace)
        stopwatch = self._stopwatch
        stopwatch.resume()
        is_output_open = True
        with contextlib.suppress(BlockingIOError, ConnectionError):  # `_transfer` will raise
            pending = pending[self._channel.send(pending) :]
        while not reply.is_complete:
            self._check_time()
            poll = select.poll()  # select accepts no descriptor above 1023
            poll.register(self._channel, select.POLLIN | (select.POLLOUT if pending else 0))
            if is_output_open:
                poll.register(self._output, select.POLLIN)
            events = dict(poll.poll(1000 * WATCH_SECONDS))
            if self._output in events:
                is_output_open = self._drain()
            self._watch_all()
            pending = self._transfer(events.get(self._channel.fileno(), 0), pending, reply)
        if pending:
            raise ProtocolViolation("broke the protocol: answered before it was asked")
        stopwatch.stop()
        self.last_cpu_seconds = self._spent_since(stopwatch.cpu_before) or 0.0
        return reply.decoded()

    def _check_time(self) -> None:
        """Raise CallTimeout if the request exceeds its limits, or OutOfTime after the deadline.

        Before either, ask the process for its current line, which `stopped_at` keeps.  The deadline
        does not apply while the process starts.
        """
        stopwatch = self._stopwatch
        elapsed = stopwatch.elapsed()
        spent = self._spent_since(stopwatch.cpu_before)
        queued = None
        if spent is not None and elapsed > IDLE_SECONDS:  # reading it for short calls costs time
            queued = process_usage.queued_seconds(self.pid)
        if queued is not None:
            queued += stopwatch.judge_queued()
        excess = stopwatch.limits.describe_excess(elapsed, spent, queued)
        if excess:
            raise CallTimeout(excess + self._ask_for_current_line())
        if self.deadline is not None and self._isolation is not None:
            try:
                self.deadline.check()
            except OutOfTime:
                self._ask_for_current_line()
                raise

    def _transfer(self, events: int, pending: memoryview, reply: _Reply) -> memoryview:
        """Send and receive as much as the channel allows now; return the bytes still to send."""
        try:
            if events & select.POLLOUT:
                pending = pending[self._channel.send(pending) :]
            while events & ~select.POLLOUT and not reply.is_complete:
                if not reply.read(self._channel):
                    raise self._death()
        except BlockingIOError:
            pass
        except ConnectionError:
            raise self._death() from None
        return pending

    def _spent_since(self, before: int | None) -> float | None:
        """Return the CPU seconds since `before`, a reading in nanoseconds; None if it is None."""
        if before is None:
            return None
        return ((self.cpu_nanoseconds() or before) - before) / 1e9

    def _check_silent(self) -> None:
        """Raise a WorkerError if the worker wrote before a request, or has hung up."""
        with contextlib.suppress(BlockingIOError):
            try:
                early = self._channel.recv(1, socket.MSG_PEEK)
            except ConnectionError:
                raise self._death() from None
            if early:
                raise ProtocolViolation("wrote to the judge without being asked")
            raise self._death()

    def _ask_for_current_line(self) -> str:
        """Return the program's current line, as ", stopped in line 7: `i += 1`"; '' if unknown.

        A signal makes the process print its frames.  `stopped_at` keeps the line.
        """
        if self.program_file is not None:
            with contextlib.suppress(OSError):  # the process has ended
                os.kill(self.pid, signal.SIGUSR1)
                self._read_current_line(*self.program_file)
        return f", stopped in {self.stopped_at}" if self.stopped_at else ""

    def _read_current_line(self, filename: str, source: bytes) -> None:
        """Read output until it shows the current line of a file, and keep the line in `stopped_at`.

        Give up at a limit of time or bytes.
        """
        output = b""
        end = time.monotonic() + LOCATION_SECONDS
        while not self.stopped_at and len(output) < MAX_LOCATION_BYTES:
            seconds_left = end - time.monotonic()
            if b"Stack (" in output:  # the rest of the frames follows at once
                seconds_left = min(seconds_left, 0.1)
            spawn.wait_until_readable(self._output, seconds_left)
            piece = os.read(self._output, 1 << 16)
            if not piece:
                break
            output += piece
            self.stopped_at = line_in_stack_dump(output, filename, source)

    def _last_words(self, failure: WorkerError) -> str:
        lines = self.printed.decode("utf-8", "replace").strip().splitlines()
        if lines:
            return lines[-1]
        try:
            _ = self.pid
        except (ChildProcessError, TimeoutError) as error:
            return str(error)
        return f"it {failure}"

    def _watch_all(self) -> None:
        """Check the resources of all workers of this thread, at most every WATCH_SECONDS.

        Workers without a request are checked as well: threads of a program may still run in them.
        If this worker exceeds a limit, LimitExceeded is raised now; another one is ended, and its
        next request raises.
        """
        if time.monotonic() < self._looked + WATCH_SECONDS:
            return
        self._watch()
        for worker in set(_current_thread.workers) - {self}:
            if worker._thread != self._thread or worker._owner != self._owner:
                # Another thread uses it now, or this process is a fork.
                _current_thread.workers.discard(worker)
                continue
            try:
                worker._watch()
            except WorkerError as failure:
                worker.failure = failure
                worker.close()
        self._looked = time.monotonic()

    def _watch(self) -> None:
        """Raise LimitExceeded if there are too many files, written bytes or bytes of memory.

        The kernel does not enforce these limits.
        """
        excess = self._scratch.exceeded_limit()
        if excess:
            raise LimitExceeded(excess)
        if self._isolation is None:
            return  # it has run nothing yet and may not have an id
        written = process_usage.written_bytes(self.pid)
        if written is not None and written - self._written_before > MAX_WRITTEN_BYTES:
            raise LimitExceeded(f"wrote more than {MAX_WRITTEN_BYTES >> 20} MB to files")
        resident = self.resident_bytes()
        max_resident = MAX_MEMORY_BYTES[self.torch]
        if resident is not None and resident > max_resident:
            raise LimitExceeded(f"took more than {max_resident >> 20:,} MB of memory")

    def _drain(self) -> bool:
        """Read the arrived output; return False if it is closed, raise if it is too much."""
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self._output, 1 << 16):
                self.output_bytes += len(piece)
                self.printed = (self.printed + piece)[-MAX_KEPT_OUTPUT_BYTES:]
                free = MAX_KEPT_BEGINNING_BYTES - len(self.first_printed)
                self.first_printed += piece[:free]
                if self.output_bytes > MAX_OUTPUT_BYTES:
                    raise LimitExceeded(f"printed more than {MAX_OUTPUT_BYTES >> 20} MB")
            return False
        return True

    def _death(self) -> WorkerError:
        """End a process that has closed its channel, and return the error to raise."""
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
        reason = f"exit status {status}"
        if status < 0:
            is_named = -status in set(signal.Signals)
            reason = signal.Signals(-status).name if is_named else str(-status)
        return WorkerDied(f"ended its process ({reason}) before it answered")

    def reset_counters(self) -> None:
        """Forget the output and the written bytes so far, before another program runs."""
        self.printed = b""
        self.first_printed = b""
        self.output_bytes = 0
        self._written_before = process_usage.written_bytes(self.pid) or 0

    def cpu_nanoseconds(self) -> int | None:
        """Return the CPU time, read from outside; None before the first reply, or if unknown."""
        if self._isolation is None:
            return None
        return process_usage.cpu_nanoseconds(self.pid)

    def resident_bytes(self) -> int | None:
        """Return how many bytes of memory the process holds, read from outside; None if unknown."""
        _ = self.isolation  # wait until it has started
        return process_usage.resident_bytes(self.pid)

    def close(self) -> None:
        """Kill the process with all that it started, and remove its folder.

        Does nothing in a fork of the judge.
        """
        if os.getpid() == self._owner:
            _current_thread.workers.discard(self)
            self._stack.close()


def line_in_stack_dump(output: bytes, filename: str, source: bytes) -> str:
    """Return the current line of a program, as "`f`, line 7: `i += 1`"; '' if unknown.

    The line's number and function come from faulthandler's output.  The line's text comes from the
    judge's copy of the source.  A program can forge or prevent the output, so no verdict depends on
    it.
    """
    frame = re.search(
        rb"Stack \(most recent call first\):\n(?:  .*\n)*?"
        rb'  File "%b", line (\d{1,9}) in (.*)\n'
        % re.escape(filename.encode("ascii", "backslashreplace")),
        output,
    )
    if frame is None:
        return ""
    line = int(frame[1])
    function = frame[2].decode("ascii", "replace")
    lines = re.split(r"\r\n|\r|\n", source.decode("utf-8", "replace"))
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    if not text:
        return ""
    if len(text) > _MAX_QUOTED_LINE:
        text = f"{text[: _MAX_QUOTED_LINE - 3]}..."
    place = f"{notebook_cells.line_in_words(source, line)}: `{text}`"
    if re.fullmatch(r"[^\W\d]\w{0,59}", function):
        place = f"`{function}`, {place}"
    return place
