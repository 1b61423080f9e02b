"""Start worker processes: a supervisor starts them afresh, or a zygote forks them.

The supervisor is a process of ours between the judge and all others.  It ends the others if the
judge ends for any reason, and kills the processes that they leave behind.  So the judge's process,
which may have other children and threads (a notebook, say), keeps its settings.

A zygote imports numpy or torch once.  A fork of it is a worker after a few milliseconds, and has
its own walls.  Zygotes are used only on Linux: elsewhere it is not safe to fork a process that has
loaded such libraries, and every worker starts afresh.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from grader import sandbox
from grader.model.errors import GraderError
from grader.model.limits import END_SECONDS, START_SECONDS
from grader.sandbox import Closeable, config, scratch_folder
from grader.sandbox.scratch_folder import ScratchFolder
from grader.sandbox.worker import control
from grader.sandbox.worker.walls import kernel

_clear_stale = functools.cache(scratch_folder.clear_stale)


class ProcessStarter:
    """The judge's connection to a supervisor or a zygote; threads may share it."""

    def __init__(
        self, connection: socket.socket, seconds: float, last_words: Callable[[], str]
    ) -> None:
        self.seconds = seconds  # limit until the first answer
        self._connection = connection
        self._last_words = last_words  # returns why the process has ended
        self._lock = threading.RLock()
        self._owner = os.getpid()
        self._asked = 0  # requests sent
        self._answers: list[Any] = []  # in the order of the requests

    def ask(self, request: dict[str, Any], *descriptors: int) -> int:
        """Send a request and return its number, with which `answer` waits for the answer."""
        forbid_use_after_fork(self._owner)
        with self._lock:
            with contextlib.suppress(OSError):  # `answer` will raise
                control.send(self._connection, request, descriptors)
            self._asked += 1
            return self._asked - 1

    def answer(self, number: int, seconds: float) -> Any:  # noqa: ANN401 see `worker.roles`
        """Wait at most `seconds` for the answer to the request with this number, and return it.

        Raises:
            ChildProcessError: no answer will come.
            TimeoutError: no answer came in time.
        """
        deadline = time.monotonic() + seconds
        with self._lock:
            while number >= len(self._answers):
                if self._connection.fileno() < 0:
                    raise ChildProcessError("the process that starts workers was ended")
                if not wait_until_readable(self._connection.fileno(), deadline - time.monotonic()):
                    raise TimeoutError(f"no answer within {seconds:.3g} seconds")
                answer, _ = control.receive(self._connection)
                if answer is None:
                    raise ChildProcessError(self._last_words())
                self._answers.append(answer)
            return self._answers[number]

    def close(self) -> None:
        """Close the connection, also for forks of this process that have it open."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._connection.close()


class ChildProcess:
    """A zygote or worker (`role`) that a supervisor or a zygote starts.

    `channel` and `output` are descriptors that it gets: a socket, and where it prints.
    """

    def __init__(self, starter: ProcessStarter, role: str, channel: int, output: int) -> None:
        self._starter = starter
        self._number = starter.ask({"op": "start", "role": role}, channel, output)
        self._pid: int | None = None
        self.ended = False
        self.status: int | None = None  # if it ended by itself; negative for a signal

    @property
    def pid(self) -> int:
        """Process id; waits for the start, and raises what `ProcessStarter.answer` raises."""
        return self._wait_for_pid(self._starter.seconds)

    def _wait_for_pid(self, seconds: float) -> int:
        if self._pid is None:
            answer = self._starter.answer(self._number, seconds)
            if not isinstance(answer, int):
                raise ChildProcessError(answer)
            self._pid = answer
        return self._pid

    def end(self, grace: float = 0.0) -> None:
        """End the child with its group and all that it left behind, and wait until it is gone.

        It may end by itself within `grace` seconds.  If it has not started yet, nothing is done and
        `ended` stays False: it will find its channel closed and end before it runs anything.  If
        the starter has ended, so has the child.
        """
        if self.ended:
            return
        with contextlib.suppress(ChildProcessError, TimeoutError):
            request = {"op": "end", "pid": self._wait_for_pid(0), "grace": grace}
            self.ended = True
            self.status = -signal.SIGKILL  # unless the starter answers
            number = self._starter.ask(request)
            status, ended_by_itself = self._starter.answer(number, grace + END_SECONDS)
            self.status = status if ended_by_itself else None


def start_supervisor(
    stack: contextlib.ExitStack,
    folder: str,
    log: int,
    last_words: Callable[[], str] = lambda: "it could not be started",
) -> ProcessStarter:
    """Start a supervisor; return the connection on which it is asked to start processes.

    The first call also removes the folders that killed judges left.

    Args:
        stack: The exit stack that will end the supervisor.
        folder: The home folder of the supervisor.
        log: A descriptor for all that the supervisor prints.
        last_words: Returns why the supervisor has ended, for errors.
    """
    _clear_stale()
    if sandbox.own_process and sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    near, far = socket.socketpair()
    starter = ProcessStarter(near, START_SECONDS[False], last_words)
    stack.callback(starter.close)
    arguments = ("supervisor", str(far.fileno()), str(os.getpid()))
    with far:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", str(config.BOOT), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[far.fileno()],
            env=config.worker_environment(folder),
            cwd="/",
            start_new_session=True,
        )
    stack.callback(_end_supervisor, starter, process)
    return starter


def _end_supervisor(starter: ProcessStarter, process: subprocess.Popen[bytes]) -> None:
    starter.close()
    with contextlib.suppress(AttributeError, OSError):  # Popen.wait looks only every 50 ms
        descriptor = os.pidfd_open(process.pid)
        wait_until_readable(descriptor, END_SECONDS)
        os.close(descriptor)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(END_SECONDS)
    process.kill()
    process.wait()


def wait_until_readable(descriptor: int, seconds: float) -> bool:
    """Wait until there is something to read or the other side has closed; False on timeout."""
    poll = select.poll()  # select accepts no descriptor above 1023
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(1000 * max(0.0, seconds)))


class Zygote(Closeable):
    """A process that imports its libraries once and forks workers."""

    def __init__(self, *, torch: bool) -> None:
        self._owner = os.getpid()
        self._scratch = ScratchFolder()
        self._log = self._scratch.root / "log"
        self.has_compiler = False  # True if it has imported torch's compiler
        near, far = socket.socketpair()
        self.starter = ProcessStarter(near, START_SECONDS[torch], self._last_words)
        with contextlib.ExitStack() as stack:
            stack.callback(self._scratch.remove)
            stack.callback(self.starter.close)
            with far, self._log.open("wb") as log:
                folder = self._scratch.folder
                starter = start_supervisor(stack, folder, log.fileno(), self._last_words)
                self.process = ChildProcess(starter, "zygote", far.fileno(), log.fileno())
            with contextlib.suppress(OSError):  # the wait for its first answer will raise
                # With the first message it can start importing.
                control.send(near, {"torch": torch, "site": config.site_folders()})
                control.send(near, config.shared_config(torch=torch)._asdict())
            self._stack = stack.pop_all()

    def import_compiler(self) -> None:
        """Have the zygote import torch's compiler for later forks, unless it already has."""
        if self.has_compiler:
            return
        self.has_compiler = True
        with contextlib.suppress(ChildProcessError, TimeoutError):  # the next fork will raise
            number = self.starter.ask({"op": "import compiler"})
            self.starter.answer(number, START_SECONDS[True])

    def _last_words(self) -> str:
        with contextlib.suppress(OSError, IndexError):
            return self._log.read_text("utf-8", "replace").strip().splitlines()[-1]
        return "the process that starts workers has ended"

    def close(self) -> None:
        """End the zygote and all of its workers; does nothing in a fork of the judge."""
        if os.getpid() == self._owner:
            self._stack.close()


def zygote_if_safe(*, torch: bool) -> Zygote | None:
    """Start a zygote on Linux and return it; return None on any other system.

    On other systems, a process that has imported numpy or torch cannot be forked safely.  Forks may
    use a CUDA device, because the import of torch does not touch it; see docs/performance.md.
    """
    return Zygote(torch=torch) if sys.platform == "linux" else None


def forbid_use_after_fork(owner: int) -> None:
    """Raise GraderError unless this process has the id `owner`: a fork may not use the workers."""
    if os.getpid() != owner:
        raise GraderError(
            "workers belong to the process that started them, and this is a fork of it",
            hint="start the workers, or the grading session, after the fork",
        )
