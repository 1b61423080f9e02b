"""A worker process seen from the judge: start it, ask it, end it.

The judge sends requests and reads replies over one socket, decodes them with `wire`, and believes
nothing else: not the exit status, not what is printed.  Every request has one deadline; a reply
that is late, too large or malformed ends the worker and becomes an exception here, never a
traceback of ours.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.programs.closing import Closing

BOOT = Path(__file__).parent / "worker" / "boot.py"
START_SECONDS = 30.0  # importing torch from a cold disk; numpy takes a tenth of a second
START_SECONDS_TORCH = 120.0
CALL_SECONDS = 5.0
KEEP_OUTPUT = 64 << 10  # bytes of output kept for the reader
MAX_OUTPUT = 16 << 20  # bytes of output after which the worker is stopped
MEMORY = 2 << 30  # address space of a numpy worker; it takes 0.14 GB by itself
MEMORY_TORCH = 8 << 30


class WorkerError(Exception):
    """The worker can no longer be used.  The message completes 'the submission ...'."""


class Died(WorkerError):
    """The process ended without answering."""


class Overran(WorkerError):
    """A limit of time or output was reached."""


class Garbled(WorkerError):
    """What came back is not an answer."""


@functools.cache
def _site_folders() -> tuple[str, ...]:
    """Folders from which a worker imports numpy and torch: those of the running interpreter."""
    names = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    found = [name for name in names if Path(name).is_dir()]
    # A development install or `python -m venv --system-site-packages` may keep numpy elsewhere.
    extra = [p for p in sys.path if p.endswith("-packages") and p not in found and Path(p).is_dir()]
    return (*found, *extra)


def isolation_level() -> str:
    """What a submission is refused here: `limited` is resource limits and a process of its own."""
    return "limited" if sys.platform == "linux" else "process"


class Worker(Closing):
    """One process that runs programs.  Use it as a context manager."""

    def __init__(self, *, torch: bool, cpu_seconds: int = 120) -> None:
        """Start the process; it imports its libraries while the judge goes on."""
        self.torch = torch
        self.scratch = tempfile.mkdtemp(prefix="drill-")
        self.printed = b""
        self.output_bytes = 0
        self.failure: WorkerError | None = None
        self._closed = False
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        arguments = [theirs.fileno(), _memory(torch=torch), cpu_seconds, int(torch)]
        command = [
            sys.executable,
            "-I",
            "-S",
            "-B",
            str(BOOT),
            *map(str, arguments),
            *_site_folders(),
        ]
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                pass_fds=[theirs.fileno()],
                env=_environment(self.scratch),
                cwd=self.scratch,
                start_new_session=True,
            )
        finally:
            theirs.close()
            os.close(writing)
        self.channel, self.output = ours, reading
        self.channel.setblocking(False)
        os.set_blocking(self.output, False)
        self._started = False

    @property
    def pid(self) -> int:
        """The process's id."""
        return self.process.pid

    def ask(
        self, request: dict[str, Any], *, seconds: float = CALL_SECONDS, reply_bytes: int = 1 << 20
    ) -> dict[str, Any]:
        """Send a request and return the decoded reply.

        Args:
            request: plain data with an `op`.
            seconds: of wall-clock time for the whole exchange (the first time, start-up comes on
                top).
            reply_bytes: of array data that the reply may hold.

        Raises:
            WorkerError: now and from then on, when the worker did not answer properly.
        """
        if self.failure is not None:
            raise self.failure
        if not self._started:
            seconds += START_SECONDS_TORCH if self.torch else START_SECONDS
        try:
            reply = self._exchange(request, time.monotonic() + seconds, seconds, reply_bytes)
        except WorkerError as failure:
            self.failure = failure
            self.close()
            raise
        self._started = True
        return reply

    def _exchange(
        self, request: dict[str, Any], deadline: float, seconds: float, reply_bytes: int
    ) -> dict[str, Any]:
        from grader.programs.worker import wire

        with contextlib.suppress(BlockingIOError):
            early = self.channel.recv(1, socket.MSG_PEEK)
            raise Garbled("wrote to the judge without being asked") if early else self._death()
        pending = [memoryview(p) for p in wire.encode(request)]
        header = bytearray()
        body: bytearray | None = None
        got = sizes = 0
        meta = 0
        for readable, writable in self._ready(deadline, seconds, lambda: bool(pending)):
            if writable:
                self._send(pending)
            if not readable:
                continue
            try:
                if body is None:
                    piece = self.channel.recv(wire.HEADER.size - len(header))
                    if not piece:
                        raise self._death()
                    header += piece
                    if len(header) == wire.HEADER.size:
                        magic, meta, payload = wire.HEADER.unpack(bytes(header))
                        if magic != wire.MAGIC:
                            raise Garbled("broke the protocol: not a reply")
                        if meta > wire.MAX_META or payload > reply_bytes:
                            size = f"{meta + payload:,} bytes, {reply_bytes:,} allowed"
                            raise Garbled(f"returned far too much data ({size})")
                        sizes = meta + payload
                        body = bytearray(sizes)
                elif got < sizes:
                    count = self.channel.recv_into(memoryview(body)[got:])
                    if not count:
                        raise self._death()
                    got += count
            except BlockingIOError:
                continue
            except ConnectionError:
                raise self._death() from None
            if body is not None and got == sizes:
                if pending:
                    raise Garbled("broke the protocol: answered before it was asked")
                break
        assert body is not None
        try:
            reply = wire.decode(bytes(body[:meta]), memoryview(body)[meta:])
        except wire.WireError as error:
            raise Garbled(f"broke the protocol: {error}") from None
        if not isinstance(reply, dict) or not isinstance(reply.get("ok"), bool):
            raise Garbled("broke the protocol: not a reply")
        self._drain()
        return reply

    def _send(self, pending: list[memoryview]) -> None:
        try:
            while pending:
                sent = self.channel.send(pending[0])
                if sent == len(pending[0]):
                    pending.pop(0)
                else:
                    pending[0] = pending[0][sent:]
        except BlockingIOError:
            return
        except ConnectionError:
            raise self._death() from None

    def _ready(
        self,
        deadline: float,
        seconds: float,
        sending: Any,  # noqa: ANN401 a predicate
    ) -> Iterator[tuple[bool, bool]]:
        """Wait for the channel, draining output meanwhile; stop at the deadline."""
        output_open = True
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Overran(f"did not finish within {seconds:.3g} seconds")
            want_read: list[Any] = [self.channel, *([self.output] if output_open else [])]
            want_write: list[Any] = [self.channel] if sending() else []
            readable, writable, _ = select.select(want_read, want_write, [], left)
            if self.output in readable:
                output_open = self._drain()
            yield self.channel in readable, bool(writable)

    def _drain(self) -> bool:
        """Read what the process printed; False when it has closed its output."""
        while True:
            try:
                piece = os.read(self.output, 1 << 16)
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
            status = self.process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            return Garbled("closed its channel to the judge")
        if status == -signal.SIGXCPU:
            return Overran("used up its CPU time")
        if status < 0:
            name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
            return Died(f"ended its process ({name}) before it answered")
        return Died(f"ended its process (exit status {status}) before it answered")

    def cpu_nanoseconds(self) -> int | None:
        """CPU time of the process so far, read from outside; None where there is no such clock."""
        if sys.platform != "linux":
            return None
        # The clock id of another process: CPUCLOCK_SCHED (2) of the negated pid, see
        # clock_getcpuclockid(3).
        try:
            return time.clock_gettime_ns((~self.pid << 3) | 2)
        except OSError:
            return None

    def close(self) -> None:
        """Kill the process with all it started in its group, and remove its scratch folder."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.channel.close()
        os.close(self.output)
        _remove(self.scratch)


def _remove(folder: str) -> None:
    """Remove a folder, also where a program took away the permission to write in it."""
    with contextlib.suppress(OSError):
        Path(folder).chmod(0o700)
        for place, inside, _ in os.walk(folder):
            for path in (Path(place, name) for name in inside):
                if not path.is_symlink():
                    path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _memory(*, torch: bool) -> int:
    return MEMORY_TORCH if torch else MEMORY


def _environment(scratch: str) -> dict[str, str]:
    """A closed environment: nothing of the judge's, one thread a library."""
    threads = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": scratch,
        "TMPDIR": scratch,
        **{f"{name}_NUM_THREADS": "1" for name in threads},
    }
