"""Landlock: which files a worker may read, and the one folder in which it may write.

A rule grants rights to everything beneath a path; what no rule names is refused.  Kernels know more
rights the newer they are, so the version is asked for, and what it lacks is left to seccomp.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Sequence
from contextlib import suppress

from .kernel import PR_SET_NO_NEW_PRIVS, prctl, syscall

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same on every machine
_VERSION = 1  # LANDLOCK_CREATE_RULESET_VERSION
_PATH_BENEATH = 1

# <linux/landlock.h>, LANDLOCK_ACCESS_FS_*
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << n for n in range(6))
_MAKE_DIR, _MAKE_REG = 1 << 7, 1 << 8
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_KNOWN = {1: 13, 2: 14, 3: 15, 4: 15}  # number of rights on files by version; 16 from 5 on

READ = _READ_FILE | _READ_DIR
LIST_FOLDER = _READ_DIR
# Not: links, sockets, pipes, devices.
WRITE = READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _TRUNCATE
USE_DEVICE = _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV  # a device

Grant = tuple[int, str]


def version() -> int:
    """The kernel's version of Landlock; 0 where there is none."""
    with suppress(OSError):
        return syscall(_CREATE, None, 0, _VERSION)
    return 0


def apply(grants: Sequence[Grant]) -> str | None:
    """Confine this thread and all that it starts; why not, where that cannot be done.

    Paths that do not exist are left out: nothing can be read there.
    """
    known = version()
    if not known:
        return "this kernel has no Landlock, or it is switched off"
    rights = (1 << _KNOWN.get(known, 16)) - 1
    network = 3 if known >= 4 else 0  # binding and connecting TCP
    scoped = 3 if known >= 6 else 0  # abstract sockets and signals stay inside
    size = 8 if known < 4 else 16 if known < 6 else 24
    try:
        rules = syscall(_CREATE, struct.pack("<QQQ", rights, network, scoped), size, 0)
        try:
            for right, path in grants:
                with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                    _grant(rules, right & rights, path)
            prctl(PR_SET_NO_NEW_PRIVS, 1)
            syscall(_RESTRICT, rules, 0)
        finally:
            os.close(rules)
    except OSError as error:
        return str(error.strerror)
    return None


def _grant(rules: int, rights: int, path: str) -> None:
    beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(beneath).st_mode):
            rights &= _FILE_RIGHTS
        if rights:
            syscall(_ADD, rules, _PATH_BENEATH, struct.pack("<Qi", rights, beneath), 0)
    finally:
        os.close(beneath)
