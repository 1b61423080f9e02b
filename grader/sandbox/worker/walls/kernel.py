"""System calls through ctypes; integers are passed as C longs, bytes as pointers.

What makes a call raises OSError where the kernel refuses.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_SET_THP_DISABLE = 41
PR_CAP_AMBIENT = 47


def capabilities(which: str) -> int:
    """The bits of this process's capabilities, `CapEff` or `CapPrm`; none where none are known."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith(which):
                return int(line.split()[1], 16)
    return 0


def prctl(option: int, value: int = 0, third: object = 0) -> int:
    """Call prctl."""
    return call("prctl", option, value, third, 0, 0)


def syscall(number: int, *arguments: object) -> int:
    """Make a system call by its number."""
    return call("syscall", number, *arguments)


def call(function: str, *arguments: object) -> int:
    """Call a function of the C library, which knows its number on every machine.

    Raises:
        AttributeError: this C library has no such function.
    """
    passed = (ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)
    result = int(getattr(_libc, function)(*passed))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
