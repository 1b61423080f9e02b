"""Who a worker is: never root, and without capabilities.

Root is not held to a limit on threads, and owns the judge's files.  A worker started by root
becomes a user that nobody else is.  Where that user could not read Python's own files (an
interpreter in `/root`, say), the worker keeps the one capability to read; Landlock still names what
it may read.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from contextlib import suppress

from .kernel import PR_CAP_AMBIENT, PR_CAPBSET_DROP, PR_SET_KEEPCAPS, call, capabilities, prctl

_READ_SEARCH = 1 << 2  # CAP_DAC_READ_SEARCH, <linux/capability.h>
_CAPABILITIES = 64
_VERSION = struct.pack("<Ii", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
_AMBIENT_CLEAR_ALL = 4


def apply(user: int | None, readable: Sequence[str]) -> str | None:
    """Become a user, if one is given, and give up all capabilities that no file needs.

    Returns:
        Why it did not work, or None.
    """
    try:
        if user is not None:
            prctl(PR_SET_KEEPCAPS, 1)
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        _shed(readable)
    except OSError as error:
        return str(error.strerror)
    return None


def _shed(readable: Sequence[str]) -> None:
    with suppress(OSError):  # a kernel without ambient capabilities
        prctl(PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
    with suppress(OSError):  # only who has CAP_SETPCAP may; else, or beyond the last, it ends
        for capability in range(_CAPABILITIES):
            prctl(PR_CAPBSET_DROP, capability)
    keep = capabilities("CapPrm") & _READ_SEARCH
    _hold(0, keep)
    enough = all(os.access(path, os.R_OK, effective_ids=True) for path in readable)
    _hold(*((0, 0) if enough else (keep, keep)))


def _hold(effective: int, permitted: int) -> None:
    # Effective, permitted, inheritable; then the same for 32-63.
    call("capset", _VERSION, struct.pack("<6I", effective, permitted, 0, 0, 0, 0))
