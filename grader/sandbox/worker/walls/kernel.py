"""System calls through ctypes, and two walls: limits on resources, and loss of privileges.

A worker of root changes to another user, because root owns the files of the judge, and the limit on
threads does not apply to root.  `call`, `syscall` and `prctl` raise OSError if the kernel refuses.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..limits import MAX_FILE_BYTES, MAX_OPEN_FILES

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
_AMBIENT_CLEAR_ALL = 4
READ_SEARCH = 1 << 2  # CAP_DAC_READ_SEARCH in <linux/capability.h>
_CAPABILITY_COUNT = 64
_CAPABILITY_HEADER = struct.pack("<Ii", 0x20080522, 0)  # version 3, this process


def call(function: str, *arguments: object) -> int:
    """Call a function of the C library, with integers as C longs; return its result.

    Raises:
        OSError: The result is negative.
        AttributeError: The library has no such function.
    """
    passed = (ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)
    result = int(getattr(_libc, function)(*passed))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def syscall(number: int, *arguments: object) -> int:
    """Make a system call by its number."""
    return call("syscall", number, *arguments)


def prctl(option: int, value: int = 0, third: object = 0) -> int:
    """Change a setting of this process or thread by the system call `prctl`."""
    return call("prctl", option, value, third, 0, 0)


def capabilities(which: str) -> int:
    """Return capabilities of this process as bits; 0 if they are not known.

    `which` is `CapEff` for the effective ones, or `CapPrm` for the permitted ones.
    """
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith(which):
                return int(line.split()[1], 16)
    return 0


def set_limits(*, memory: int, cpu_seconds: int, threads: int) -> None:
    """Limit this process permanently.

    Args:
        memory: Bytes of address space; 0 for no limit.
        cpu_seconds: Seconds of CPU time.
        threads: Threads of all processes of its user together.

    Limits that this system lacks or refuses are left out, see `is_limited`.
    """
    bounds = {
        # With 0, Linux still pipes a core dump to a program of the machine: core(5).
        "CORE": (1, 1),
        "CPU": (cpu_seconds, cpu_seconds + 1),
        "FSIZE": (MAX_FILE_BYTES, MAX_FILE_BYTES),
        "NOFILE": (MAX_OPEN_FILES, MAX_OPEN_FILES),
        "MEMLOCK": (0, 0),
        "SIGPENDING": (256, 256),  # timers use it; all processes of the user share it
        "MSGQUEUE": (0, 0),
        "NPROC": (threads, threads),
    } | ({"AS": (memory, memory)} if memory else {})
    for name, soft_and_hard in bounds.items():
        with suppress(AttributeError, OSError, ValueError):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), soft_and_hard)


def is_limited() -> bool:
    """Return True if CPU time, file sizes and open files of this process are limited.

    The limit on memory does not matter here: the judge watches memory from outside, too.
    """
    limits = (resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)
    return all(resource.getrlimit(limit)[1] != resource.RLIM_INFINITY for limit in limits)


def drop_privileges(user: int | None, readable: Sequence[str]) -> str | None:
    """Change to a user id, unless it is None, and give up capabilities.

    Return the kernel's reason if it refuses, None otherwise.  If that user cannot read a file in
    `readable` (of an interpreter in `/root`, for example), the capability to read all files is
    kept.  Landlock still limits which files can be read.

    Raises:
        PermissionError: a file cannot be read, and the capability is missing.
    """
    try:
        if user is not None:
            prctl(PR_SET_KEEPCAPS, 1)
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        with suppress(OSError):  # a kernel without ambient capabilities
            prctl(PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
        with suppress(OSError):  # fails without CAP_SETPCAP, and after the last capability
            for capability in range(_CAPABILITY_COUNT):
                prctl(PR_CAPBSET_DROP, capability)
        keep = capabilities("CapPrm") & READ_SEARCH
        _set_capabilities(0, keep)
        hidden = [path for path in readable if not os.access(path, os.R_OK, effective_ids=True)]
        if hidden:
            _set_capabilities(keep, keep)
        else:
            _set_capabilities(0, 0)
    except OSError as error:
        return str(error.strerror)
    if hidden and not keep:
        raise PermissionError(
            f"a worker runs as user {os.getuid()}, who cannot read {hidden[0]}; make it and its "
            "folders readable for everyone (chmod -R o+rX), or run drill as their owner"
        )
    return None


def _set_capabilities(effective: int, permitted: int) -> None:
    # Effective, permitted and inheritable bits, for capabilities 0-31 and 32-63.
    call("capset", _CAPABILITY_HEADER, struct.pack("<6I", effective, permitted, 0, 0, 0, 0))
