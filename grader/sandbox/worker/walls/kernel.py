"""System calls through ctypes, and the two walls that are nothing but such calls.

A process is bounded by limits, and it is never root and without capabilities: root is not held to
a limit on threads, and owns the judge's files.  What makes a call raises OSError where the kernel
refuses.
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
READ_SEARCH = 1 << 2  # CAP_DAC_READ_SEARCH, <linux/capability.h>
_CAPABILITIES = 64
_VERSION = struct.pack("<Ii", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process


def call(function: str, *arguments: object) -> int:
    """Call a function of the C library, if it has it; integers are passed as C longs."""
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
    """Call prctl."""
    return call("prctl", option, value, third, 0, 0)


def capabilities(which: str) -> int:
    """The bits of this process's capabilities, `CapEff` or `CapPrm`; none where none are known."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith(which):
                return int(line.split()[1], 16)
    return 0


def set_limits(*, memory: int, cpu_seconds: int, threads: int) -> None:
    """Bound this process for good: its address space in bytes, if any, and its user's threads.

    A limit that this system lacks is left out.
    """
    bounds = {
        # Not 0, at which Linux still hands a crash to a program that keeps cores: core(5), "piping"
        "CORE": (1, 1),
        "CPU": (cpu_seconds, cpu_seconds + 1),
        "FSIZE": (MAX_FILE_BYTES, MAX_FILE_BYTES),
        "NOFILE": (MAX_OPEN_FILES, MAX_OPEN_FILES),
        "MEMLOCK": (0, 0),
        "SIGPENDING": (256, 256),  # timers take from what the user's processes share
        "MSGQUEUE": (0, 0),
        "NPROC": (threads, threads),
    } | ({"AS": (memory, memory)} if memory else {})
    for name, pair in bounds.items():
        with suppress(AttributeError, OSError, ValueError):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), pair)


def is_limited() -> bool:
    """Whether CPU time and files of this process are limited; the judge watches its memory."""
    wanted = (resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)
    return all(resource.getrlimit(limit)[1] != resource.RLIM_INFINITY for limit in wanted)


def drop_privileges(user: int | None, readable: Sequence[str]) -> str | None:
    """Become a user, if one is given, and give up capabilities; why not, where that fails.

    Where that user could not read Python's own files (an interpreter in `/root`, say), the one
    capability to read stays; Landlock still names what may be read.

    Raises:
        PermissionError: a file cannot be read then, and there is no such capability.
    """
    try:
        if user is not None:
            prctl(PR_SET_KEEPCAPS, 1)
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        with suppress(OSError):  # a kernel without ambient capabilities
            prctl(PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
        with suppress(OSError):  # only who has CAP_SETPCAP may; else, or beyond the last, it ends
            for capability in range(_CAPABILITIES):
                prctl(PR_CAPBSET_DROP, capability)
        keep = capabilities("CapPrm") & READ_SEARCH
        _hold(0, keep)
        hidden = [path for path in readable if not os.access(path, os.R_OK, effective_ids=True)]
        if hidden:
            _hold(keep, keep)
        else:
            _hold(0, 0)
    except OSError as error:
        return str(error.strerror)
    if hidden and not keep:
        raise PermissionError(
            f"a worker runs as user {os.getuid()}, who cannot read {hidden[0]}; make it and its "
            "folders readable for everyone (chmod -R o+rX), or run drill as their owner"
        )
    return None


def _hold(effective: int, permitted: int) -> None:
    # Effective, permitted, inheritable; then the same for 32-63.
    call("capset", _VERSION, struct.pack("<6I", effective, permitted, 0, 0, 0, 0))
