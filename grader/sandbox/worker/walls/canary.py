"""What the kernel refuses this very process: tried, not assumed, before any foreign code runs.

An act that is not refused does no harm here: it asks for the least that shows that harm could be
done.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from . import kernel, limits

REFUSED, DONE, ABSENT = "refused", "done", "absent"

_REFUSALS = {errno.EPERM, errno.EACCES, errno.ENOSYS}
_IO_URING_SETUP = 425  # the same on every machine
_IPC_RMID = 0


def report(*, judge: int, private: str, kept: Sequence[str]) -> dict[str, str]:
    """Try every act and say what became of it.

    Args:
        judge: its process id.
        private: a file of the judge's.
        kept: files that no submission may read, torch's in a numpy question among them; the first
            one exists.

    Returns:
        By act: `refused`, `done` (it could be done), or `absent` (there is no such thing here).
    """
    acts: Mapping[str, Callable[[], object]] = {
        "read": lambda: _surely(lambda: _open(private, os.O_RDONLY)),
        "write": lambda: _surely(lambda: _open(private, os.O_WRONLY)),
        "create": lambda: _first_of(lambda: _create(private + ".new"), lambda: _create("/canary")),
        "change": lambda: os.chmod(private, 0o600),
        "touch": lambda: os.utime(private),
        "list": lambda: _first_of(lambda: os.listdir(os.path.dirname(private)), _list_root),
        "kept": lambda: _any_of(kept),
        "memory": lambda: _surely(lambda: _read_memory(judge)),
        "signal": lambda: os.kill(judge, 0),
        "limit": lambda: _limits_of(judge),
        "network": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
        "socket": lambda: socket.socket(_family("AF_UNIX"), socket.SOCK_DGRAM).close(),
        "process": _start_process,
        "program": _start_program,
        "unseen": _unseen_memory,
        "shared": _shared_memory,
        "ring": _ring,
        "namespace": lambda: kernel.call("unshare", 0),
        "outlive": _outlive,
        "root": _root,
        "unbounded": _unbounded,
        "probe": lambda: _surely(lambda: os.stat(private)),
    }
    return {name: _outcome(act) for name, act in acts.items()}


def _outcome(act: Callable[[], object]) -> str:
    try:
        act()
    except OSError as error:
        return REFUSED if error.errno in _REFUSALS else DONE
    except (AttributeError, ValueError):  # there is no such thing on this system
        return ABSENT
    return DONE


def _family(name: str) -> int:
    return int(getattr(socket, name))


def _surely(act: Callable[[], object]) -> None:
    """Act on what is there for certain: not to find it is to be refused."""
    try:
        act()
    except FileNotFoundError:
        raise PermissionError(errno.EPERM, "out of sight") from None


def _first_of(act: Callable[[], object], instead: Callable[[], object]) -> None:
    """Act where the judge's files are; out of sight of them, where something is to be seen."""
    try:
        act()
    except FileNotFoundError:
        instead()


def _list_root() -> None:
    os.listdir("/")


def _open(path: str, flags: int) -> None:
    os.close(os.open(path, flags))


def _create(path: str) -> None:
    _open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    os.unlink(path)


def _any_of(paths: Sequence[str]) -> None:
    """Succeed when one of the files can be read."""
    refused: OSError | None = None
    for path in paths:
        try:
            return _open(path, os.O_RDONLY)
        except OSError as error:
            if error.errno in _REFUSALS:
                refused = error
    raise refused or PermissionError(errno.EPERM, "out of sight")  # the first one is there


def _read_memory(process: int) -> None:
    """Both ways into another process; asking for address 0 tells whether it is allowed."""
    vector = (ctypes.c_size_t * 2)(0, 1)
    try:
        one, none = ctypes.c_ulong(1), ctypes.c_ulong(0)
        kernel.call("process_vm_readv", process, vector, one, vector, one, none)
    except OSError as error:
        if error.errno not in _REFUSALS:
            raise
    _open(f"/proc/{process}/mem", os.O_RDONLY)


def _limits_of(process: int) -> None:
    limits.r.prlimit(process, limits.r.RLIMIT_CPU)


def _start_process() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _start_program() -> None:
    os.execv("/nonexistent/program", ["program"])


def _unseen_memory() -> None:
    os.close(os.memfd_create("canary"))


def _shared_memory() -> None:
    segment = kernel.call("shmget", 0, ctypes.c_size_t(4096), 0o600)
    with suppress(OSError):
        kernel.call("shmctl", segment, _IPC_RMID, None)


def _ring() -> None:
    if sys.platform != "linux":
        raise AttributeError
    kernel.syscall(_IO_URING_SETUP, 1, None)


def _outlive() -> None:
    kernel.prctl(kernel.PR_SET_PDEATHSIG, 0)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)


def _root() -> None:
    if os.getuid() != 0:
        raise PermissionError(errno.EPERM, "not root")


def _unbounded() -> None:
    if limits.bounded():
        raise PermissionError(errno.EPERM, "limits hold")
