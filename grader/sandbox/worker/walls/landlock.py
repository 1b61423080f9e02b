"""Landlock: limit which files a worker may read, and let it write in one folder only.

A rule grants rights to everything beneath a path; all other files are refused.  Newer kernels know
more rights, so `apply` asks for the version.  Rights that the kernel lacks are left to seccomp.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Sequence
from contextlib import suppress

from .kernel import PR_SET_NO_NEW_PRIVS, prctl, syscall

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # system calls, the same on every machine
_VERSION = 1  # LANDLOCK_CREATE_RULESET_VERSION
_PATH_BENEATH = 1

# <linux/landlock.h>, LANDLOCK_ACCESS_FS_*
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << n for n in range(6))
_MAKE_DIR, _MAKE_REG = 1 << 7, 1 << 8
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_RIGHT_COUNTS = {1: 13, 2: 14, 3: 15, 4: 15}  # rights on files by version; 16 from 5 on

READ = _READ_FILE | _READ_DIR
LIST_FOLDER = _READ_DIR
# Links, sockets, pipes and devices are refused.
WRITE = READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _TRUNCATE
USE_DEVICE = _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV

Grant = tuple[int, str]


def version() -> int:
    """Return the version of Landlock in this kernel; 0 without Landlock."""
    with suppress(OSError):
        return syscall(_CREATE, None, 0, _VERSION)
    return 0


def apply(grants: Sequence[Grant]) -> str | None:
    """Confine this thread and all that it starts; return the reason on failure.

    `grants` are the rights and paths that stay allowed.  Paths that do not exist or may not be
    opened are left out.
    """
    kernel_version = version()
    if not kernel_version:
        return "this kernel has no Landlock, or it is switched off"
    rights = (1 << _RIGHT_COUNTS.get(kernel_version, 16)) - 1
    network = 3 if kernel_version >= 4 else 0  # binding and connecting TCP
    scoped = 3 if kernel_version >= 6 else 0  # abstract sockets and signals stay inside
    size = 24  # bytes of the structure that this version expects
    if kernel_version < 4:
        size = 8
    elif kernel_version < 6:
        size = 16
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
