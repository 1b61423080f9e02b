"""Try forbidden acts in this process before any program runs: does the kernel refuse them?

An act that is not refused does no harm: it requests only enough to show that harm is possible.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from . import kernel

REFUSED, DONE, ABSENT = "refused", "done", "absent"

ACTS = {  # descriptions by name; "you" are the user of drill
    "read": "read a file of yours",
    "write": "write to a file of yours",
    "create": "create a file outside its scratch folder",
    "change": "change the permissions of a file of yours",
    "touch": "change the times of a file of yours",
    "list": "list a folder of yours",
    "kept": "read this program or the system, or torch in a numpy question",
    "memory": "read the memory of the judge",
    "signal": "send the judge a signal",
    "limit": "look at or change the judge's limits",
    "network": "open a network connection",
    "socket": "open a socket to programs on this machine",
    "process": "start a process, which might stay",
    "program": "run a program",
    "uncounted": "take memory that no limit counts",
    "shared": "leave something in shared memory",
    "ring": "make system calls through io_uring",
    "namespace": "make namespaces of its own",
    "outlive": "outlive the judge",
    "root": "act as root",
    "unbounded": "use time and memory without limit",
}

_REFUSALS = {errno.EPERM, errno.EACCES, errno.ENOSYS}
_IO_URING_SETUP = 425  # the same on every machine
_IPC_RMID = 0


def try_forbidden_acts(*, judge: int, judge_file: str, forbidden: Sequence[str]) -> dict[str, str]:
    """Try every act; return for each `refused`, `done` (possible), or `absent` (does not exist).

    See `control.SharedConfig` and `WorkerConfig` for the arguments.
    """
    acts: Mapping[str, Callable[[], object]] = {
        "read": lambda: _open(judge_file, os.O_RDONLY),
        "write": lambda: _open(judge_file, os.O_WRONLY),
        "create": lambda: _create(judge_file + ".new"),
        "change": lambda: os.chmod(judge_file, 0o600),
        "touch": lambda: os.utime(judge_file),
        "list": lambda: os.listdir(os.path.dirname(judge_file)),
        "kept": lambda: _read_any(forbidden),
        "memory": lambda: _read_memory(judge),
        "signal": lambda: os.kill(judge, 0),
        "limit": lambda: resource.prlimit(judge, resource.RLIMIT_CPU),
        "network": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
        "socket": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).close(),
        "process": _start_process,
        "program": lambda: os.execv("/nonexistent/program", ["program"]),
        "uncounted": lambda: os.close(os.memfd_create("canary")),
        "shared": _create_shared_memory,
        "ring": _create_ring,
        "namespace": lambda: kernel.call("unshare", 0),
        "outlive": _outlive_parent,
        "root": lambda: _refuse_unless(os.getuid() == 0),
        "unbounded": lambda: _refuse_unless(not kernel.is_limited()),
    }
    return {name: _outcome(act) for name, act in acts.items()}


def _outcome(act: Callable[[], object]) -> str:
    """Try an act and return its result.

    A system error that is no refusal, such as a missing file, counts as `done`: the kernel let the
    act pass.
    """
    try:
        act()
    except OSError as error:
        return REFUSED if error.errno in _REFUSALS else DONE
    except (AttributeError, ValueError):  # it does not exist on this system
        return ABSENT
    return DONE


def _refuse_unless(possible: bool) -> None:
    if not possible:
        raise PermissionError(errno.EPERM, "refused")


def _open(path: str, flags: int) -> None:
    os.close(os.open(path, flags))


def _create(path: str) -> None:
    _open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    os.unlink(path)


def _read_any(paths: Sequence[str]) -> None:
    """Open the first of the files that can be opened; raise a refusal (OSError) if none can."""
    refused: OSError = PermissionError(errno.EPERM, "out of sight")
    for path in paths:
        try:
            return _open(path, os.O_RDONLY)
        except OSError as error:
            if error.errno in _REFUSALS:
                refused = error
    raise refused


def _read_memory(process: int) -> None:
    """Try to read memory of another process by a call and by /proc; refused only if both are.

    The call gets address 0: it fails in any case, but shows by its error if it was refused.
    """
    vector = (ctypes.c_size_t * 2)(0, 1)
    try:
        kernel.call("process_vm_readv", process, vector, 1, vector, 1, 0)
    except OSError as error:
        if error.errno not in _REFUSALS:
            raise
    _open(f"/proc/{process}/mem", os.O_RDONLY)


def _start_process() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _create_shared_memory() -> None:
    segment = kernel.call("shmget", 0, 4096, 0o600)
    with suppress(OSError):
        kernel.call("shmctl", segment, _IPC_RMID, None)


def _create_ring() -> None:
    if sys.platform != "linux":
        raise AttributeError
    kernel.syscall(_IO_URING_SETUP, 1, None)


def _outlive_parent() -> None:
    kernel.prctl(kernel.PR_SET_PDEATHSIG, 0)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
