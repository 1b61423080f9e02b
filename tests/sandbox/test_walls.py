"""Each wall alone: the verdict of the filter on every call, and the signs of a missing wall."""

from __future__ import annotations

import errno
import json
import os
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox.client import LIMITED, PROCESS, STRONG, Isolation, WorkerClient
from grader.sandbox.worker.walls import canary, landlock, seccomp, syscalls
from grader.sandbox.worker.walls.canary import DONE, REFUSED

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="walls are of Linux")
PID = 4321
ALLOW, KILL, EPERM, ENOSYS = "allow", "kill", errno.EPERM, errno.ENOSYS
# Calls that are refused in words of their own, so that callers do without.
INSTEAD = {
    **dict.fromkeys(
        ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "openat2", "preadv2"),
        ENOSYS,
    ),
    **dict.fromkeys(("getxattr", "lgetxattr", "listxattr", "llistxattr"), errno.EOPNOTSUPP),
}
OF_ONE_PROCESS = {
    "prlimit64", "sched_setaffinity", "getpgid", "getsid", "sched_getattr", "sched_getparam",
    "sched_getscheduler", "sched_rr_get_interval",
}  # fmt: skip
BY_ARGUMENT = OF_ONE_PROCESS | {
    "clone", "socketpair", "prctl", "fcntl", "ioctl", "mmap", "setrlimit", "kill", "tgkill",
    "open", "openat", "sched_getaffinity", "getpriority", "ioprio_get",
}  # fmt: skip
MACHINES = {"x86_64": (0xC000003E, syscalls.X86_64), "aarch64": (0xC00000B7, syscalls.AARCH64)}
machines = pytest.mark.parametrize("machine", MACHINES)


def answer(program: bytes, architecture: int, number: int, *arguments: int) -> str | int:
    """Return the kernel's decision on a call, by interpreting the filter as the kernel does.

    Source: Documentation/networking/filter.rst and <linux/seccomp.h> of Linux.
    """
    padded = [a & (1 << 64) - 1 for a in (*arguments, 0, 0, 0, 0, 0, 0)][:6]
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, architecture, 0, *padded)
    code = [struct.unpack_from("<HBBI", program, i) for i in range(0, len(program), 8)]
    at = accumulator = 0
    while True:
        operation, yes, no, value = code[at]
        at += 1
        match operation:
            case 0x20:  # load a word
                (accumulator,) = struct.unpack_from("<I", data, value)
            case 0x15:
                at += yes if accumulator == value else no
            case 0x35:
                at += yes if accumulator >= value else no
            case 0x45:
                at += yes if accumulator & value else no
            case 0x54:
                accumulator &= value
            case 0x06:
                return _action(value)
            case _:
                raise AssertionError(f"instruction {operation:#x} is none that the filter may use")


def _action(value: int) -> str | int:
    if value & 0xFFFF0000 == 0x00050000:
        return value & 0xFFFF
    return {0x7FFF0000: ALLOW, 0x80000000: KILL}[value]


class Filter:
    """The filter of a machine; calls are named, and get its decision."""

    def __init__(self, machine: str, *, devices: bool = False) -> None:
        """Build it for a process with the id `PID`."""
        self.architecture, self.numbers = MACHINES[machine]
        self.program = seccomp.build(PID, machine, devices=devices)

    def __call__(self, name: str | int, *arguments: int) -> str | int:
        """What becomes of a call."""
        number = name if isinstance(name, int) else self.numbers[name]
        return answer(self.program, self.architecture, number, *arguments)


@machines
def test_listed_calls_are_refused_with_any_arguments(machine: str) -> None:
    asked = Filter(machine)
    for name in asked.numbers:
        wanted = INSTEAD.get(name, EPERM)
        if name not in BY_ARGUMENT:
            assert asked(name) == asked(name, *[2**64 - 1] * 6) == wanted, name


@machines
def test_a_call_of_another_architecture_ends_the_process(machine: str) -> None:
    asked = Filter(machine)
    for architecture in (0x40000003, 0x40000028, 0, 0xC000003E ^ 0xC00000B7, 0xFFFFFFFF):
        assert answer(asked.program, architecture, 39) == KILL
    for number in (0x40000000, 0x40000000 + 39, 0x40000209, 0x7FFFFFFF, 0x80000000, 2**32 - 1, -1):
        assert asked(number) == KILL


@machines
def test_calls_newer_than_the_list_are_absent(machine: str) -> None:
    asked = Filter(machine)
    assert {asked(n) for n in range(syscalls.NEWEST + 1, 1200)} == {ENOSYS}
    assert asked(syscalls.NEWEST) == ALLOW


@machines
def test_calls_are_refused_by_their_arguments(machine: str) -> None:
    asked = Filter(machine)
    other, high = PID + 1, 1 << 32
    for name in ("kill", "tgkill"):
        assert asked(name, PID, 9) == ALLOW
        for target in (other, 0, 1, -1, -PID, 2**31, PID << 32, other | PID << 32):
            assert asked(name, target, 9) == EPERM, target
        assert asked(name, PID | high, 9) == ALLOW, "the kernel takes the lower half as well"
    for name in OF_ONE_PROCESS:
        assert asked(name, 0) == asked(name, PID) == ALLOW
        assert asked(name, other) == asked(name, 1) == asked(name, -1) == EPERM
    assert asked("sched_getaffinity", 0) == asked("sched_getaffinity", PID) == ALLOW
    assert asked("sched_getaffinity", other) == ENOSYS
    for name, process in (("getpriority", 0), ("ioprio_get", 1)):
        assert asked(name, process, 0) == asked(name, process, PID) == ALLOW
        assert asked(name, process, other) == asked(name, 2, 0) == EPERM
    core, others = 4, (0, 1, 2, 3, 5, 6, 7, 8, 9)
    assert asked("setrlimit", core) == asked("prlimit64", 0, core) == EPERM
    assert {asked("setrlimit", n) for n in others} == {ALLOW}
    assert {asked("prlimit64", PID, n) for n in others} == {ALLOW}
    for flags in (0x02, 0x22, 0x21, 0x20022, 0x32):
        assert asked("mmap", 0, 4096, 3, flags) == ALLOW, "its own memory, and copies of files"
    for flags in (0x01, 0x03, 0x11, 0x8001, 0x80003):
        assert asked("mmap", 0, 4096, 1, flags, 3) == EPERM, "files themselves"
    thread = 0x3D0F00  # what pthread_create asks for
    assert asked("clone", thread) == ALLOW
    for flags in (17, 0, 0x4111, thread & ~0x10000, 0x7E000000, 0x10000 << 32):
        assert asked("clone", flags) == EPERM, hex(flags)
    for kind in (1, 1 | 0x800, 1 | 0x80000):
        assert asked("socketpair", 1, kind, 0) == ALLOW
        assert asked("socketpair", 2, kind, 0) == asked("socketpair", 16, kind, 0) == EPERM
    for kind in (2, 3, 5, 2 | 0x800, 5 | 0x80000, 0):
        assert asked("socketpair", 1, kind, 0) == EPERM
    nameless, folder = 0x400000, 0x10000  # O_TMPFILE is both
    assert asked("openat", 0, 0, nameless | folder | 2) == errno.EOPNOTSUPP
    assert asked("openat", 0, 0, nameless) == errno.EOPNOTSUPP
    assert asked("openat", 0, 0, folder) == asked("openat", 0, 0, 0o102) == ALLOW
    if machine == "x86_64":
        assert asked("open", 0, nameless | folder) == errno.EOPNOTSUPP
        assert asked("open", 0, folder) == ALLOW
    for option in (1, 4, 22):
        assert asked("prctl", option) == asked("prctl", option | high) == EPERM
    for option in (15, 16, 38, 0x53564D41):
        assert asked("prctl", option) == ALLOW
    for command in (5, 6, 7, 8, 10, 15, 36, 37, 38, 1024, 1026):
        assert asked("fcntl", 3, command) == EPERM
    for command in (0, 1, 2, 3, 4, 1030, 1031, 1033):
        assert asked("fcntl", 3, command) == ALLOW


@machines
@pytest.mark.parametrize("devices", [False, True])
def test_ioctl_calls_of_file_systems_and_terminals_are_refused(machine: str, devices: bool) -> None:
    asked = Filter(machine, devices=devices)
    for request in (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451):
        assert asked("ioctl", 1, request) == ALLOW
    harmful = (0x5412, 0x541C, 0x8901, 0x8902, 0x40086602, 0x401C5820, 0x40087602, 0x5000940E)
    for request in harmful if not devices else (*harmful[:5], harmful[5], harmful[7]):
        assert asked("ioctl", 1, request) == EPERM, hex(request)
    assert asked("ioctl", 1, 0xC020462A) == (ALLOW if devices else EPERM)


@machines
def test_with_a_gpu_a_socket_may_listen_and_none_may_connect(machine: str) -> None:
    unix, internet, stream, datagram, seqpacket, close_on_exec = 1, 2, 1, 2, 5, 0o2000000
    for devices, wanted in ((True, ALLOW), (False, EPERM)):
        asked = Filter(machine, devices=devices)
        assert asked("socket", unix, seqpacket | close_on_exec) == wanted
        assert asked("bind") == asked("listen") == wanted
        for family, kind in ((internet, seqpacket), (unix, stream), (unix, datagram)):
            assert asked("socket", family, kind) == EPERM
        for name in ("connect", "accept", "accept4", "sendmsg", "setsockopt"):
            assert asked(name) == EPERM


@machines
def test_jumps_stay_inside_the_program_and_every_path_ends(machine: str) -> None:
    program = seccomp.build(PID, machine)
    assert len(program) % 8 == 0
    assert len(program) // 8 < 4096  # BPF_MAXINSNS
    code = [struct.unpack_from("<HBBI", program, i) for i in range(0, len(program), 8)]
    assert code[-1][0] == 0x06
    for at, (operation, yes, no, _) in enumerate(code):
        if operation & 0x07 == 0x05:
            assert at + 1 + max(yes, no) < len(code)
        if operation == 0x20:
            assert code[at][3] % 4 == 0
            assert code[at][3] < 64


def headers(machine: str) -> dict[str, int]:
    """Return the numbers of calls in this system's headers; empty if it has no headers."""
    if machine == "x86_64":
        paths = [
            *Path("/usr/include").glob("*/asm/unistd_64.h"),
            Path("/usr/include/asm/unistd_64.h"),
        ]
        pattern = r"#define __NR_(\w+) (\d+)"
    else:
        paths = [Path("/usr/include/asm-generic/unistd.h")]
        pattern = r"#define __NR(?:3264)?_(\w+) (\d+)"
    for path in paths:
        if path.is_file():
            return {n: int(v) for n, v in re.findall(pattern, path.read_text("utf-8"))}
    return {}


@machines
def test_numbers_equal_the_headers_of_this_system(machine: str) -> None:
    """Calls that one machine refuses are refused on the other, if it has them."""
    known, (_, numbers) = headers(machine), MACHINES[machine]
    if not known:
        pytest.skip("there are no kernel headers here")
    for name, number in numbers.items():
        assert known.get(name, number) == number, name
    there = {name for _, others in MACHINES.values() for name in others}
    assert there & known.keys() <= numbers.keys()


def test_no_number_occurs_twice() -> None:
    for _, numbers in MACHINES.values():
        assert len(set(numbers.values())) == len(numbers)
        assert max(numbers.values()) <= syscalls.NEWEST
        assert INSTEAD.keys() | BY_ARGUMENT - {"open"} <= numbers.keys()


@LINUX
@pytest.mark.parametrize("version", range(1, 8))
def test_an_older_landlock_gets_only_rights_that_it_knows(
    version: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls: list[tuple[int, bytes | int, int]] = []

    def syscall(number: int, *arguments: Any) -> int:
        if number == landlock._CREATE:
            calls.append((number, arguments[0], arguments[1]))
            return os.open("/dev/null", os.O_RDONLY)
        if number == landlock._ADD:
            calls.append((number, arguments[2], 0))
        return 0

    monkeypatch.setattr(landlock, "version", lambda: version)
    monkeypatch.setattr(landlock, "syscall", syscall)
    monkeypatch.setattr(landlock, "prctl", lambda *_: 0)
    file = tmp_path / "file"
    file.touch()
    granted = [
        (landlock.READ, str(tmp_path)),
        (landlock.READ, str(file)),
        (landlock.WRITE, "/nowhere"),
    ]
    assert landlock.apply(granted) is None
    (_, structure, size), *rules = calls
    assert isinstance(structure, bytes)
    handled, network, scoped = struct.unpack("<QQQ", structure)
    # <linux/landlock.h>: 13 rights at first; then REFER, TRUNCATE, (TCP), IOCTL_DEV, (scopes).
    assert handled == (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    assert (network != 0, scoped != 0) == (version >= 4, version >= 6)
    assert size == (8 if version < 4 else 16 if version < 6 else 24)
    assert len(rules) == 2, "what does not exist is left out"
    for (_, rule, _), folder in zip(rules, (True, False), strict=True):
        assert isinstance(rule, bytes)
        rights = struct.unpack("<Qi", rule)[0]
        assert rights & ~handled == 0, "a right that is not handled is an error"
        assert bool(rights & landlock.LIST_FOLDER) is folder, "only folders can be listed"


# What each wall alone keeps out: taking it away must show, and in these words.
WITHOUT = {
    "landlock.apply": {"read", "write", "create", "list", "kept"},
    "seccomp.apply": {
        "network",
        "socket",
        "process",
        "program",
        "uncounted",
        "shared",
        "namespace",
    },
    "kernel.set_limits": {"unbounded"},
}  # fmt: skip


@LINUX
@pytest.mark.parametrize("wall", WITHOUT)
def test_the_canary_notices_a_missing_wall(
    wall: str, beginning_with: Callable[[str], None]
) -> None:
    with_all = _isolation()
    if with_all.level != STRONG:
        pytest.skip(f"the walls are not all up here: {with_all.possible_acts}")
    beginning_with(
        f"from worker.walls import kernel, landlock, seccomp; {wall} = lambda *_, **__: None"
    )
    found = _isolation()
    done = set(found.possible_acts)
    expected = WITHOUT[wall]
    if os.getuid() == 0:  # another user's files are refused without Landlock too
        done |= {"read", "write", "create", "list", "kept"} & expected
    assert expected <= done, found.acts
    assert found.level == (PROCESS if wall == "kernel.set_limits" else LIMITED)


def _isolation() -> Isolation:
    with WorkerClient(torch=False) as worker:
        return worker.isolation


def test_the_level_follows_from_the_refused_acts() -> None:
    all_refused = dict.fromkeys(canary.ACTS, REFUSED)
    assert Isolation(all_refused).level == STRONG
    assert Isolation(all_refused | {"ring": "absent"}).level == STRONG
    assert Isolation(all_refused, ("Landlock: no",)).level == LIMITED
    for act in canary.ACTS:
        one = Isolation(all_refused | {act: DONE})
        assert one.level == (PROCESS if act == "unbounded" else LIMITED)
        assert one.possible_acts == [act]
    assert Isolation({}).level == PROCESS, "what was not tried was not refused"


@LINUX
def test_acts_that_are_not_refused_are_done_and_harm_nothing(tmp_path: Path) -> None:
    """In a process without walls nearly every act succeeds, and the file stays as it was."""
    private = tmp_path / "private"
    private.write_text("as it was", encoding="utf-8")
    script = f"""\
import json, sys
sys.path.insert(0, {str(Path(canary.__file__).parents[3])!r})
import importlib
from sandbox.worker.walls import canary
found = canary.try_forbidden_acts(
    judge={os.getpid()}, judge_file={str(private)!r}, forbidden=[{str(private)!r}]
)
print(json.dumps(found))
"""
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    found = json.loads(run.stdout)
    open_doors = {
        "read",
        "write",
        "create",
        "change",
        "touch",
        "list",
        "kept",
        "process",
        "program",
    }
    assert {name for name in open_doors if found[name] != DONE} == set()
    assert private.read_text(encoding="utf-8") == "as it was"
    assert [p.name for p in tmp_path.iterdir()] == ["private"]
    assert Isolation(found).level in {LIMITED, PROCESS}
