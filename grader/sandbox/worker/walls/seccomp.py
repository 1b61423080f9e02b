"""The seccomp filter: which system calls a worker is refused, and with which arguments.

A list of what is refused, not of what is allowed: numpy, torch and Python's library make calls that
differ between versions, and everything newer than the list is refused as well.  What a call does
beyond this process, or beyond its limits, is on it; files are Landlock's business, but
for what Landlock does not cover (modes, owners, times, attributes).
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
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in struct seccomp_data; arguments follow from 16 on
_X32 = 0x40000000
_MODE_FILTER = 2
_ANYBODY = 0x7FEFCAFE  # stands for the process id, which is never that large

_ARCHITECTURES = {  # machine: AUDIT_ARCH_*, <linux/audit.h>
    "x86_64": (0xC000003E, syscalls.X86_64),
    "aarch64": (0xC00000B7, syscalls.AARCH64),
}

_CLONE_THREAD = 0x00010000
_AF_UNIX, _SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_TYPE = 1, 1, 5, 0xF
_O_TMPFILE = 0x400000  # without O_DIRECTORY, whose number differs; <asm-generic/fcntl.h>
_RLIMIT_CORE = 4
# A file that is mapped shared is written without a call that could be counted; MAP_SHARED and
# MAP_SHARED_VALIDATE among the types of mappings, <linux/mman.h>.
_MAP_ANONYMOUS, _MAP_TYPE, _MAP_OF_A_FILE = 0x20, 0x0F, (1, 3)
_REFUSED_PRCTL = (PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP)
# F_SETOWN, F_SETSIG and F_SETOWN_EX have the kernel signal another process; leases and notification
# watch what others do; locks (F_GETLK to F_SETLKW, F_OFD_*) are seen by them: <linux/fcntl.h>.
_REFUSED_FCNTL = (5, 6, 7, 8, 10, 15, 36, 37, 38, 1024, 1026)
# What Python and numpy ask of their files: TCGETS, TIOCGPGRP, TIOCGWINSZ, FIONREAD, FIONBIO,
# FIONCLEX, FIOCLEX.  The rest is a world of its own: file systems make snapshots by ioctl.
_ALLOWED_IOCTL = (0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# With devices to talk to, only what is known to do harm: TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP,
# and all that file systems take (types f, X and 0x94).
_REFUSED_IOCTL = (0x5412, 0x541C, 0x8901, 0x8902)
_REFUSED_IOCTL_TYPES = (0x6600, 0x5800, 0x9400)
_IOCTL_TYPE = 0xFF00
_READ_BY_OTHERS = (
    "getpgid", "getsid", "sched_getattr", "sched_getparam", "sched_getscheduler",
    "sched_rr_get_interval",
)  # fmt: skip
_INSTEAD = {  # callers fall back on something else
    **dict.fromkeys(
        ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "openat2", "preadv2"),
        errno.ENOSYS,
    ),
    **dict.fromkeys(("getxattr", "lgetxattr", "listxattr", "llistxattr"), errno.EOPNOTSUPP),
}


def supported() -> bool:
    """Whether the numbers of this machine's system calls are known."""
    return platform.machine() in _ARCHITECTURES


def prepare(*, devices: bool) -> None:
    """Do now what every process that is forked from this one would have to do."""
    if supported():
        _compiled(platform.machine(), devices)


def apply(*, devices: bool) -> str | None:
    """Put the filter on this thread and on all that it starts; why not, where that fails."""
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
    """The filter as BPF instructions, for a process that may signal itself alone."""
    return _compiled(machine, devices).replace(struct.pack("<I", _ANYBODY), struct.pack("<I", pid))


@functools.cache
def _compiled(machine: str, devices: bool) -> bytes:
    """The filter for anybody, made once for all that a zygote forks."""
    architecture, numbers = _ARCHITECTURES[machine]
    code = [
        _op(_LOAD, _ARCHITECTURE),
        _op(_EQUAL, architecture, yes=1),
        _op(_RETURN, _KILL),
        _op(_LOAD, _NUMBER),
        *_when(_AT_LEAST, _X32, [_op(_RETURN, _KILL)]),  # the x32 calls have numbers of their own
        *_when(_AT_LEAST, syscalls.NEWEST + 1, [_refuse(errno.ENOSYS)]),
    ]
    by_argument = _by_argument(devices=devices)
    for name, body in by_argument.items():
        if name in numbers:
            code += _when(_EQUAL, numbers[name], [*body, _op(_RETURN, _ALLOW)])
    for name, number in numbers.items():
        if name not in by_argument:
            code += _when(_EQUAL, number, [_refuse(_INSTEAD.get(name, errno.EPERM))])
    return b"".join([*code, _op(_RETURN, _ALLOW)])


def _by_argument(*, devices: bool) -> dict[str, list[bytes]]:
    """What is asked of the arguments of calls that are refused only with some."""
    # Files without a name are in no folder that could be watched.
    unnamed = _when(_ANY_BIT, _O_TMPFILE, [_refuse(errno.EOPNOTSUPP)])
    anonymous = _when(_ANY_BIT, _MAP_ANONYMOUS, [_op(_RETURN, _ALLOW)])
    of_a_file = [_argument(3), *anonymous, _op(_AND, _MAP_TYPE), *_refuse_if(_MAP_OF_A_FILE)]
    harmful = _refuse_if(_REFUSED_IOCTL)
    of_file_systems = [_op(_AND, _IOCTL_TYPE), *_refuse_if(_REFUSED_IOCTL_TYPES)]
    ioctl = [*harmful, *of_file_systems] if devices else _unless(_EQUAL, _ALLOWED_IOCTL)
    own = [_argument(0), *_unless(_EQUAL, [_ANYBODY])]
    own_or_zero = [_argument(0), *_unless(_EQUAL, [0, _ANYBODY])]
    # It is set so that a crash calls no program of the machine's; lowering it would.
    core = _refuse_if([_RLIMIT_CORE])
    # CUDA's driver listens on a socket of its own, to which nobody here may connect.
    listening = {"socket": _only_unix(_SOCK_SEQPACKET), "bind": [], "listen": []}
    # Free memory and disk space: what one submission takes, another would see.
    # A driver may ask what memory and disk are free. Else it is a message from other submissions.
    asking: dict[str, list[bytes]] = {"sysinfo": [], "statfs": [], "fstatfs": []}
    return {
        **(listening | asking if devices else {}),
        "clone": [_argument(0), *_unless(_ANY_BIT, [_CLONE_THREAD])],
        # Stream pairs alone: a datagram socket, even one of a pair, can send to any address.
        "socketpair": _only_unix(_SOCK_STREAM),
        "open": [_argument(1), *unnamed],
        "openat": [_argument(2), *unnamed],
        "prctl": [_argument(0), *_refuse_if(_REFUSED_PRCTL)],
        "fcntl": [_argument(1), *_refuse_if(_REFUSED_FCNTL)],
        "ioctl": [_argument(1), *ioctl],
        "mmap": [] if devices else of_a_file,  # devices are mapped shared
        "setrlimit": [_argument(0), *core],
        "kill": own,
        "tgkill": own,
        "prlimit64": [*own_or_zero, _argument(1), *core],
        "sched_setaffinity": own_or_zero,
        # What a process may set of itself, another would read: that is a message.
        **dict.fromkeys(_READ_BY_OTHERS, own_or_zero),
        # glibc asks it of threads, which have ids of their own, and does without.
        "sched_getaffinity": [_argument(0), *_unless(_EQUAL, [0, _ANYBODY], errno.ENOSYS)],
        "getpriority": [_argument(0), *_unless(_EQUAL, [0]), _argument(1), *own_or_zero[1:]],
        "ioprio_get": [_argument(0), *_unless(_EQUAL, [1]), _argument(1), *own_or_zero[1:]],
    }


def _only_unix(kind: int) -> list[bytes]:
    """Refuse sockets but those of this machine and of a kind."""
    family = [_argument(0), *_unless(_EQUAL, [_AF_UNIX])]
    return [*family, _argument(1), _op(_AND, _SOCK_TYPE), *_unless(_EQUAL, [kind])]


def _op(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("<HBBI", code, yes, no, value)


def _argument(index: int) -> bytes:
    """Load the lower half of an argument: all that the kernel looks at for those asked here."""
    return _op(_LOAD, 16 + 8 * index)


def _refuse(number: int = errno.EPERM) -> bytes:
    return _op(_RETURN, _ERRNO | number)


def _when(test: int, value: int, body: Sequence[bytes]) -> list[bytes]:
    return [_op(test, value, no=len(body)), *body]


def _refuse_if(values: Sequence[int]) -> list[bytes]:
    return [piece for value in values for piece in _when(_EQUAL, value, [_refuse()])]


def _unless(test: int, values: Sequence[int], number: int = errno.EPERM) -> list[bytes]:
    """Refuse when no value passes the test."""
    jumps = [_op(test, v, yes=len(values) - i) for i, v in enumerate(values)]
    return [*jumps, _refuse(number)]
