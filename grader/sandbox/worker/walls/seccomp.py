"""The seccomp filter, which refuses system calls to a worker.

`syscalls` lists the calls: those that act outside of this process or get around its limits.
`_argument_tests` has those of them that are refused only with some arguments.  Refused calls are
listed instead of allowed ones, because numpy, torch and the standard library make calls that differ
between versions.  Calls newer than the list are refused as well.  Landlock covers files, except for
their modes, owners, times and attributes, which are refused here.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import platform
import struct
from collections.abc import Sequence

from . import syscalls
from .kernel import PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, PR_SET_SECCOMP, prctl

# Classic BPF, <linux/bpf_common.h>.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000  # <linux/seccomp.h>
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in struct seccomp_data; arguments start at 16
_X32 = 0x40000000
_MODE_FILTER = 2
_PID_PLACEHOLDER = 0x7FEFCAFE  # replaced by the process id, which is never that large

_ARCHITECTURES = {  # machine: AUDIT_ARCH_*, <linux/audit.h>
    "x86_64": (0xC000003E, syscalls.X86_64),
    "aarch64": (0xC00000B7, syscalls.AARCH64),
}

_CLONE_THREAD = 0x00010000
_AF_UNIX, _SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_TYPE = 1, 1, 5, 0xF
_O_TMPFILE = 0x400000  # without O_DIRECTORY, whose number differs; <asm-generic/fcntl.h>
_RLIMIT_CORE = 4
# A shared mapping of a file is written without a call that could be counted.  The types are
# MAP_SHARED and MAP_SHARED_VALIDATE, <linux/mman.h>.
_MAP_ANONYMOUS, _MAP_TYPE, _SHARED_MAP_TYPES = 0x20, 0x0F, (1, 3)
_REFUSED_PRCTL = (PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP)
# F_SETOWN, F_SETSIG and F_SETOWN_EX make the kernel signal another process; leases and notification
# watch other processes; locks (F_GETLK to F_SETLKW, F_OFD_*) are visible to them: <linux/fcntl.h>.
_REFUSED_FCNTL = (5, 6, 7, 8, 10, 15, 36, 37, 38, 1024, 1026)
# Python and numpy use these: TCGETS, TIOCGPGRP, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
# Others may do anything: file systems make snapshots by ioctl.
_ALLOWED_IOCTL = (0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# If there are devices, only harmful ones are refused: TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP, and
# all of file systems (types f, X and 0x94).
_REFUSED_IOCTL = (0x5412, 0x541C, 0x8901, 0x8902)
_REFUSED_IOCTL_TYPES = (0x6600, 0x5800, 0x9400)
_IOCTL_TYPE = 0xFF00
_READ_BY_OTHERS = (
    "getpgid", "getsid", "sched_getattr", "sched_getparam", "sched_getscheduler",
    "sched_rr_get_interval",
)  # fmt: skip
_OTHER_ERRORS = {  # instead of EPERM: with these, callers try another call
    **dict.fromkeys(
        ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "openat2", "preadv2"),
        errno.ENOSYS,
    ),
    **dict.fromkeys(("getxattr", "lgetxattr", "listxattr", "llistxattr"), errno.EOPNOTSUPP),
}


def supported() -> bool:
    """Return True if the numbers of system calls of this machine are known."""
    return platform.machine() in _ARCHITECTURES


def prepare(*, devices: bool) -> None:
    """Compile the filter once for all processes that are forked from this one."""
    if supported():
        _compile(platform.machine(), devices)


def apply(*, devices: bool) -> str | None:
    """Put the filter on this thread and all that it starts; return the reason on failure."""
    if not supported():
        return f"system calls of {platform.machine()} are not known"
    program = build(os.getpid(), platform.machine(), devices=devices)

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))

    try:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        prctl(PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(Program(len(program) // 8, program)))
    except OSError as error:
        return str(error.strerror)
    return None


def build(pid: int, machine: str, *, devices: bool = False) -> bytes:
    """Return the filter as BPF instructions, for the process `pid`, which may signal only itself.

    `devices` allows the calls that CUDA's driver needs.
    """
    placeholder = struct.pack("<I", _PID_PLACEHOLDER)
    return _compile(machine, devices).replace(placeholder, struct.pack("<I", pid))


@functools.cache
def _compile(machine: str, devices: bool) -> bytes:
    """Return the filter of `build`, with a placeholder for the process id."""
    architecture, numbers = _ARCHITECTURES[machine]
    code = [
        _op(_LOAD, _ARCHITECTURE),
        _op(_EQUAL, architecture, yes=1),
        _op(_RETURN, _KILL),
        _op(_LOAD, _NUMBER),
        *_when(_AT_LEAST, _X32, [_op(_RETURN, _KILL)]),  # x32 calls have other numbers
        *_when(_AT_LEAST, syscalls.NEWEST + 1, [_refuse(errno.ENOSYS)]),
    ]
    argument_tests = _argument_tests(devices=devices)
    for name, body in argument_tests.items():
        if name in numbers:
            code += _when(_EQUAL, numbers[name], [*body, _op(_RETURN, _ALLOW)])
    for name, number in numbers.items():
        if name not in argument_tests:
            code += _when(_EQUAL, number, [_refuse(_OTHER_ERRORS.get(name, errno.EPERM))])
    return b"".join([*code, _op(_RETURN, _ALLOW)])


def _argument_tests(*, devices: bool) -> dict[str, list[bytes]]:
    """Return, by call, the instructions that refuse it with some arguments; [] allows the call."""
    # Files without a name are not in a folder, so the judge could not measure them.
    unnamed = _when(_ANY_BIT, _O_TMPFILE, [_refuse(errno.EOPNOTSUPP)])
    anonymous = _when(_ANY_BIT, _MAP_ANONYMOUS, [_op(_RETURN, _ALLOW)])
    file_mapping = [_argument(3), *anonymous, _op(_AND, _MAP_TYPE), *_refuse_if(_SHARED_MAP_TYPES)]
    harmful = _refuse_if(_REFUSED_IOCTL)
    file_system_ioctl = [_op(_AND, _IOCTL_TYPE), *_refuse_if(_REFUSED_IOCTL_TYPES)]
    ioctl = [*harmful, *file_system_ioctl] if devices else _unless(_EQUAL, _ALLOWED_IOCTL)
    own_process = [_argument(0), *_unless(_EQUAL, [_PID_PLACEHOLDER])]
    process_id = _unless(_EQUAL, [0, _PID_PLACEHOLDER])
    own_process_or_zero = [_argument(0), *process_id]
    # With the limit that was set, a crash starts no program of the machine.  With 0 it would.
    core_limit = _refuse_if([_RLIMIT_CORE])
    # The driver of CUDA listens on a socket; `connect` is refused, so nothing here can connect.
    listening = {"socket": _only_unix(_SOCK_SEQPACKET), "bind": [], "listen": []}
    # The driver may read how much memory and disk space is free.  Without devices this is refused,
    # because a submission could see how much another one takes: a message.
    free_space: dict[str, list[bytes]] = {"sysinfo": [], "statfs": [], "fstatfs": []}
    return {
        **(listening | free_space if devices else {}),
        "clone": [_argument(0), *_unless(_ANY_BIT, [_CLONE_THREAD])],
        # Only stream pairs: a datagram socket, even one of a pair, can send to any address.
        "socketpair": _only_unix(_SOCK_STREAM),
        "open": [_argument(1), *unnamed],
        "openat": [_argument(2), *unnamed],
        "prctl": [_argument(0), *_refuse_if(_REFUSED_PRCTL)],
        "fcntl": [_argument(1), *_refuse_if(_REFUSED_FCNTL)],
        "ioctl": [_argument(1), *ioctl],
        "mmap": [] if devices else file_mapping,  # devices need shared mappings
        "setrlimit": [_argument(0), *core_limit],
        "kill": own_process,
        "tgkill": own_process,
        "prlimit64": [*own_process_or_zero, _argument(1), *core_limit],
        "sched_setaffinity": own_process_or_zero,
        # A process could set such a value for itself, and another could read it: a message.
        **dict.fromkeys(_READ_BY_OTHERS, own_process_or_zero),
        # glibc calls it for threads, which have other ids, and works without it.
        "sched_getaffinity": [_argument(0), *_unless(_EQUAL, [0, _PID_PLACEHOLDER], errno.ENOSYS)],
        "getpriority": [_argument(0), *_unless(_EQUAL, [0]), _argument(1), *process_id],
        "ioprio_get": [_argument(0), *_unless(_EQUAL, [1]), _argument(1), *process_id],
    }


def _only_unix(kind: int) -> list[bytes]:
    """Return instructions that refuse all sockets except Unix sockets of one kind."""
    family = [_argument(0), *_unless(_EQUAL, [_AF_UNIX])]
    return [*family, _argument(1), _op(_AND, _SOCK_TYPE), *_unless(_EQUAL, [kind])]


def _op(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("<HBBI", code, yes, no, value)


def _argument(index: int) -> bytes:
    """Return the instruction that loads the lower half of an argument.

    The kernel ignores the upper half of the arguments used here.
    """
    return _op(_LOAD, 16 + 8 * index)


def _refuse(number: int = errno.EPERM) -> bytes:
    return _op(_RETURN, _ERRNO | number)


def _when(test: int, value: int, body: Sequence[bytes]) -> list[bytes]:
    return [_op(test, value, no=len(body)), *body]


def _refuse_if(values: Sequence[int]) -> list[bytes]:
    return [piece for value in values for piece in _when(_EQUAL, value, [_refuse()])]


def _unless(test: int, values: Sequence[int], number: int = errno.EPERM) -> list[bytes]:
    """Return instructions that refuse the call unless the test succeeds with one of the values."""
    jumps = [_op(test, value, yes=len(values) - i) for i, value in enumerate(values)]
    return [*jumps, _refuse(number)]
