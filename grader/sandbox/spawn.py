"""Where a worker's process comes from: started afresh, or forked by a zygote.

A zygote imports numpy or torch once; a fork of it is a worker a few milliseconds later, with walls
of its own.  It is used on Linux; elsewhere forking a process that has loaded such libraries is not
safe, and every worker starts afresh.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Protocol

from grader.sandbox import config, file_grants, host
from grader.sandbox.closing import Closing
from grader.sandbox.scratch import Scratch

START_SECONDS = 30.0  # importing numpy takes a tenth of a second, from a cold disk far more
START_SECONDS_TORCH = 120.0
_PACKET = 1 << 16
_END_SECONDS = 5.0


def start_seconds(*, torch: bool) -> float:
    """How long a process may take before it answers for the first time."""
    return START_SECONDS_TORCH if torch else START_SECONDS


class Process(Protocol):
    """A worker's process, as much as the judge has to do with it."""

    @property
    def pid(self) -> int:
        """Its id; raises ChildProcessError when it could not be started."""

    def wait(self, seconds: float) -> int | None:
        """Its exit status, negative for a signal; None when it has not ended by then."""

    def kill(self) -> None:
        """End it, with its process group and what it left behind, and wait until it is gone."""


class Started:
    """A process of its own from the first line."""

    def __init__(self, told: Mapping[str, Any], channel: int, output: int) -> None:
        """Start it."""
        host.prepare()
        self._process = _start({**told, "channel": channel}, channel, output, told["scratch"])

    @property
    def pid(self) -> int:
        """See `Process`."""
        return self._process.pid

    def wait(self, seconds: float) -> int | None:
        """See `Process`."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def kill(self) -> None:
        """See `Process`."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.kill()  # not by its id, which is another's once it has been waited for
        self._process.wait()
        host.known.discard(self.pid)
        host.sweep()


class Forked:
    """A process forked by a zygote."""

    def __init__(self, zygote: Zygote, ticket: int) -> None:
        """Remember whom to ask."""
        self._zygote = zygote
        self._ticket = ticket
        self._pid: int | None = None
        self._handle = -1
        self._status: int | None = None

    @property
    def pid(self) -> int:
        """See `Process`; waits until the zygote is ready."""
        return self._known(start_seconds(torch=self._zygote.torch))

    def _known(self, seconds: float) -> int:
        if self._pid is None:
            pid = self._zygote.answer(self._ticket, seconds)
            self._handle = os.pidfd_open(pid)  # nobody else's until the zygote reaps it
            self._pid = pid
        return self._pid

    def wait(self, seconds: float) -> int | None:
        """See `Process`."""
        if self._status is None:
            pid = self.pid
            if not _readable(self._handle, seconds):
                return None
            os.close(self._handle)
            self._status = -signal.SIGKILL  # what it gets where its zygote has gone before it
            with contextlib.suppress(ChildProcessError, TimeoutError):
                self._status = self._zygote.reap(pid)
        return self._status

    def kill(self) -> None:
        """See `Process`.

        One that the zygote has not forked yet finds its channel closed and ends by itself, before
        it has run anything; one whose zygote is gone went along with it.
        """
        with contextlib.suppress(ChildProcessError, TimeoutError):
            if self._status is None:  # else its id may be another's by now
                _kill(self._known(0))
                self.wait(_END_SECONDS)


class Zygote(Closing):
    """A process that imports its libraries once and forks workers."""

    def __init__(self, *, torch: bool) -> None:
        """Start it; it imports while the judge goes on."""
        host.prepare()
        self.torch = torch
        self._scratch = Scratch()
        self._log = self._scratch.whole / "log"
        self._waiting: deque[int] = deque()
        self._answers: dict[int, int] = {}
        self._tickets = 0
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        told = {**config.for_all(torch=torch), "control": theirs.fileno()}
        try:
            with theirs, self._log.open("wb") as log:
                folder = self._scratch.folder
                self._process = _start(told, theirs.fileno(), log.fileno(), folder)
        except BaseException:
            self._control.close()
            self._scratch.remove()
            raise
        self._closed = False

    def fork(self, told: Mapping[str, Any], channel: int, output: int) -> Forked:
        """Ask for a worker; it is there when the zygote has imported its libraries."""
        packet = json.dumps({"op": "fork", "orders": told}).encode()
        with contextlib.suppress(OSError):  # who waits for the answer is told
            socket.send_fds(self._control, [packet], [channel, output])
        return Forked(self, self._ticket())

    def reap(self, pid: int) -> int:
        """The exit status of a worker that has ended.

        Raises:
            ChildProcessError: the zygote is gone.
        """
        with contextlib.suppress(OSError):
            self._control.send(json.dumps({"op": "reap", "pid": pid}).encode())
        return self.answer(self._ticket(), _END_SECONDS)

    def answer(self, ticket: int, seconds: float) -> int:
        """The answer to a request; they come in the order of the requests.

        Raises:
            ChildProcessError: there will be none.
            TimeoutError: there is none yet.
        """
        deadline = time.monotonic() + seconds
        while ticket not in self._answers:
            if self._closed:
                raise ChildProcessError("the process that starts workers was ended")
            left = max(0.0, deadline - time.monotonic())
            if not _readable(self._control, left):
                raise TimeoutError(f"no answer within {seconds:.3g} seconds")
            try:
                packet = self._control.recv(_PACKET)
            except ConnectionError:
                packet = b""
            if not packet:
                raise ChildProcessError(self._last_words())
            self._answers[self._waiting.popleft()] = json.loads(packet)
        return self._answers.pop(ticket)

    def _ticket(self) -> int:
        self._tickets += 1
        self._waiting.append(self._tickets)
        return self._tickets

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = self._log.read_text("utf-8", "replace").strip().splitlines()
            if lines:
                return lines[-1]
        return "the process that starts workers has ended"

    def close(self) -> None:
        """End it and every worker that it still has."""
        if self._closed:
            return
        ready = self._tickets > len(self._waiting)  # it has answered, so it listens
        self._closed = True
        self._control.close()  # it ends its workers, then itself
        if ready:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
        self._process.kill()
        self._process.wait()
        host.known.discard(self._process.pid)
        host.sweep()  # of one that was killed
        self._scratch.remove()


def zygote_if_safe(*, torch: bool) -> Zygote | None:
    """A zygote, where a process that has imported such libraries may be forked.

    Not outside Linux; and not with a CUDA device, because nobody has shown yet that torch leaves
    it alone while it is being imported.
    """
    if sys.platform != "linux" or (torch and file_grants.has_cuda()):
        return None
    return Zygote(torch=torch)


def _start(
    told: Mapping[str, Any], channel: int, output: int, folder: str
) -> subprocess.Popen[bytes]:
    with host.starting:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", str(config.BOOT), json.dumps(told)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[channel],
            env=_environment(folder),
            cwd=folder,
            start_new_session=True,
        )
        host.known.add(process.pid)
    return process


def _readable(file: int | socket.socket, seconds: float) -> bool:
    """Wait until there is something to read, on any descriptor however large."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(1000 * seconds))


def _kill(pid: int) -> None:
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def _environment(folder: str) -> dict[str, str]:
    """A closed environment: nothing of the judge's, one thread a library.

    C's heap would take 64 MB of addresses for each of a program's own threads, and use none of it;
    with many threads that alone would reach the limit.
    """
    threads = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": folder,
        "TMPDIR": folder,
        "MALLOC_ARENA_MAX": "2",
        **{f"{name}_NUM_THREADS": "1" for name in threads},
    }
