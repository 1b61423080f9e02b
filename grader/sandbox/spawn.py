"""Where a worker's process comes from: a supervisor starts it afresh, or a zygote forks it.

The supervisor is a process of ours between the judge and all others: it ends them when the judge is
gone, however that went, and kills what they leave behind.  The judge itself may be anybody's
process, with children and threads of its own, and is left as it was.

A zygote imports numpy or torch once; a fork of it is a worker a few milliseconds later, with walls
of its own.  It is used on Linux; elsewhere forking a process that has loaded such libraries is not
safe, and every worker starts afresh.
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
from typing import TYPE_CHECKING, Any

from grader import sandbox
from grader.model.errors import GraderError
from grader.model.limits import BANK_CPU_SECONDS, CPU_SECONDS, END_SECONDS, START_SECONDS
from grader.sandbox import Closeable, config, scratch_folder
from grader.sandbox.scratch_folder import ScratchFolder
from grader.sandbox.worker import control
from grader.sandbox.worker.walls import kernel

if TYPE_CHECKING:
    from grader.sandbox.client import WorkerClient

_clear_stale = functools.cache(scratch_folder.clear_stale)


class ProcessStarter:
    """The judge's end of a connection to a process that starts others; threads may share it."""

    def __init__(
        self, connection: socket.socket, seconds: float, last_words: Callable[[], str]
    ) -> None:
        self.seconds = seconds  # that may pass before the first answer
        self._connection = connection
        self._last_words = last_words  # what is known of the process once it has ended
        self._lock = threading.RLock()
        self._owner = os.getpid()
        self._asked = self._answered = 0  # they are answered in the order in which they are asked
        self._answers: dict[int, Any] = {}

    def ask(self, request: dict[str, Any], *descriptors: int) -> int:
        """Send a request and return its number."""
        forbid_use_after_fork(self._owner)
        with self._lock:
            with contextlib.suppress(OSError):  # who waits for the answer learns of it
                control.send(self._connection, request, descriptors)
            self._asked += 1
            return self._asked

    def answer(self, number: int, seconds: float) -> Any:  # noqa: ANN401 see `worker.roles`
        """The answer to a request.

        Raises:
            ChildProcessError: there will be none.
            TimeoutError: there is none yet.
        """
        deadline = time.monotonic() + seconds
        with self._lock:
            while number not in self._answers:
                if self._connection.fileno() < 0:
                    raise ChildProcessError("the process that starts workers was ended")
                if not wait_until_readable(self._connection.fileno(), deadline - time.monotonic()):
                    raise TimeoutError(f"no answer within {seconds:.3g} seconds")
                answer, _ = control.receive(self._connection)
                if answer is None:
                    raise ChildProcessError(self._last_words())
                self._answered += 1
                self._answers[self._answered] = answer
            return self._answers.pop(number)

    def close(self) -> None:
        """Hang up, also for forks of this process that hold the connection too."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._connection.close()


class ChildProcess:
    """A process that another one of ours has started."""

    def __init__(self, starter: ProcessStarter, role: str, channel: int, output: int) -> None:
        self._starter = starter
        self._number = starter.ask({"op": "start", "role": role}, channel, output)
        self._pid: int | None = None
        self.ended = False
        self.status: int | None = None  # of one that ended by itself; negative for a signal

    @property
    def pid(self) -> int:
        """Its id, once it has been started; see `ProcessStarter.answer` for what is raised."""
        return self._known(self._starter.seconds)

    def _known(self, seconds: float) -> int:
        if self._pid is None:
            answer = self._starter.answer(self._number, seconds)
            if not isinstance(answer, int):
                raise ChildProcessError(answer)
            self._pid = answer
        return self._pid

    def end(self, grace: float = 0.0) -> None:
        """End it with its group and what it left behind, and wait until it is gone.

        It may end by itself for some seconds of grace.  One that was not started yet finds its
        channel closed, and ends before it has run anything; one whose starter is gone went along.
        """
        with contextlib.suppress(ChildProcessError, TimeoutError):
            if self.ended:
                return
            request = {"op": "end", "pid": self._known(0), "grace": grace}
            self.ended, self.status = True, -signal.SIGKILL  # unless its starter knows better
            number = self._starter.ask(request)
            status, by_itself = self._starter.answer(number, grace + END_SECONDS)
            self.status = status if by_itself else None


def start_supervisor(
    stack: contextlib.ExitStack,
    folder: str,
    log: int,
    last_words: Callable[[], str] = lambda: "it could not be started",
) -> ProcessStarter:
    """Start a process that starts others, and ends them all when it or the judge ends.

    It is ended by the stack, takes the folder for its home, and writes what it says to the log.
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

    def end() -> None:
        starter.close()
        with contextlib.suppress(AttributeError, OSError):  # Popen.wait looks every 50 ms
            ended = os.pidfd_open(process.pid)
            wait_until_readable(ended, END_SECONDS)
            os.close(ended)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
        process.kill()
        process.wait()

    stack.callback(end)
    return starter


def wait_until_readable(descriptor: int, seconds: float) -> bool:
    """Wait until there is something to read, or the other side is gone."""
    poll = select.poll()  # because select knows no descriptor beyond 1023
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(1000 * max(0.0, seconds)))


class Zygote(Closeable):
    """A process that imports its libraries once and forks workers."""

    def __init__(self, *, torch: bool) -> None:
        self._owner = os.getpid()
        self._scratch = ScratchFolder()
        self._log = self._scratch.root / "log"
        self.has_compiler = False  # of torch
        near, far = socket.socketpair()
        self.starter = ProcessStarter(near, START_SECONDS[torch], self._last_words)
        with contextlib.ExitStack() as stack:
            stack.callback(self._scratch.remove)
            stack.callback(self.starter.close)
            with far, self._log.open("wb") as log:
                folder = self._scratch.folder
                starter = start_supervisor(stack, folder, log.fileno(), self._last_words)
                self.process = ChildProcess(starter, "zygote", far.fileno(), log.fileno())
            with contextlib.suppress(OSError):  # who waits for its first answer learns of it
                # The first is enough to begin importing.
                control.send(near, {"torch": torch, "site": config.site_folders()})
                control.send(near, config.shared_config(torch=torch)._asdict())
            self._stack = stack.pop_all()

    def import_compiler(self) -> None:
        """Have it import torch's compiler, if it has not done so: later forks have it then."""
        if self.has_compiler:
            return
        self.has_compiler = True
        with contextlib.suppress(ChildProcessError, TimeoutError):  # who waits for a fork learns it
            number = self.starter.ask({"op": "import compiler"})
            self.starter.answer(number, START_SECONDS[True])

    def _last_words(self) -> str:
        with contextlib.suppress(OSError, IndexError):
            return self._log.read_text("utf-8", "replace").strip().splitlines()[-1]
        return "the process that starts workers has ended"

    def close(self) -> None:
        """End it and every worker that it still has; a fork of the judge leaves it alone."""
        if os.getpid() == self._owner:
            self._stack.close()


def zygote_if_safe(*, torch: bool) -> Zygote | None:
    """A zygote, where a process that has imported such libraries may be forked: on Linux.

    Importing torch leaves a CUDA device alone, so that forks may use it; docs/performance.md.
    """
    return Zygote(torch=torch) if sys.platform == "linux" else None


class WorkerPool(Closeable):
    """Gives a session its workers, which belong to those who asked for them.

    They share nothing but the memory of before they were forked, in which there is nothing but
    libraries.
    """

    def __init__(self, *, torch: bool) -> None:
        """Start one worker for a submission, and one for the reference: they import meanwhile."""
        self.torch = torch
        with contextlib.ExitStack() as stack:
            self._zygote = zygote_if_safe(torch=torch)
            if self._zygote is not None:
                stack.enter_context(self._zygote)
            self._early = {
                seconds: stack.enter_context(self._start(seconds))
                for seconds in (CPU_SECONDS, BANK_CPU_SECONDS)
            }
            self._stack = stack.pop_all()

    def take_worker(self, cpu_seconds: int = CPU_SECONDS) -> WorkerClient:
        """A worker in which nothing has run, for a submission or with `BANK_CPU_SECONDS`."""
        early = self._early.pop(cpu_seconds, None)
        return self._start(cpu_seconds) if early is None else early

    def _start(self, cpu_seconds: int) -> WorkerClient:
        from grader.sandbox.client import WorkerClient  # imports numpy while the zygote does

        return WorkerClient(torch=self.torch, cpu_seconds=cpu_seconds, zygote=self._zygote)

    def close(self) -> None:
        """End the zygote with all that it has forked, and the first two workers."""
        if self._zygote is not None:
            self._zygote.close()  # first: it ends all of its workers at once
        self._stack.close()


def forbid_use_after_fork(owner: int) -> None:
    """Refuse to use in a fork what belongs to its parent."""
    if os.getpid() != owner:
        raise GraderError(
            "workers belong to the process that started them, and this is a fork of it",
            hint="start the workers, or the grading session, after the fork",
        )
