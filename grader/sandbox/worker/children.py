"""A process that starts others on request, and lets none of them outlive it.

Both the supervisor and a zygote are that; what their children become differs.  It is a subreaper:
what a child leaves behind becomes its own child and is killed.  So the judge, which may be a
notebook or a server with children of its own, needs no such power.
"""

from __future__ import annotations

import functools
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from . import control
from .walls import kernel

Next = Callable[[], object]  # what a process goes on as; it gives what comes after that, or ends
Role = Callable[[int, int], Next]  # takes a descriptor of its channel, and its parent's id

_TICK = 1000  # milliseconds between looks at the parent: a fork of it may keep the socket open
_MOST_ORPHANS = 10_000  # of a sweep: something may start processes faster than they are killed


def serve(connection: socket.socket, parent: int, roles: Mapping[str, Role]) -> Next:
    """Start and end children on request; end all when the other side or the parent is gone.

    Returns:
        What a child goes on as, in the child alone: nothing of this is on its stack then.
    """
    live: set[int] = set()
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    with suppress(ConnectionError):
        while os.getppid() == parent:
            if not poll.poll(_TICK):
                _sweep(live)
                continue
            request, descriptors = control.receive(connection)
            if request is None:
                break
            if request["op"] != "start":
                control.send(connection, _end(request["pid"], request["grace"], live))
                continue
            here = os.getpid()
            child = _start(connection, descriptors, live)
            if child == 0:
                return functools.partial(_become, roles[request["role"]], descriptors, here)
            control.send(connection, child)
    for child in live:
        _kill(child)
    for child in live:
        os.waitpid(child, 0)
    _sweep(set())
    os._exit(0)


def _start(connection: socket.socket, descriptors: list[int], live: set[int]) -> int | str:
    """The id of a new child, 0 in that child, or why there is none."""
    try:
        child = os.fork()
    except OSError as error:
        failed = f"a process could not be started: {error.strerror}"
    else:
        failed = ""
        if child == 0:
            connection.close()
            return 0
        live.add(child)
    for descriptor in descriptors:
        os.close(descriptor)
    return failed or child


def _become(role: Role, descriptors: list[int], parent: int) -> object:
    channel, output = descriptors
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    return role(channel, parent)


def _end(child: int, grace: float, live: set[int]) -> tuple[int, bool]:
    """End a child with its group and what it left; its exit status, and whether it had ended."""
    deadline = time.monotonic() + grace
    ended, status = os.waitpid(child, os.WNOHANG)
    while not ended and time.monotonic() < deadline:
        time.sleep(0.002)
        ended, status = os.waitpid(child, os.WNOHANG)
    if ended:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
    else:
        _kill(child)
        _, status = os.waitpid(child, 0)
    live.discard(child)
    _sweep(live)
    return os.waitstatus_to_exitcode(status), bool(ended)


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):  # it may not lead a group yet
        with suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)


def _sweep(live: set[int]) -> None:
    """Kill what was left behind by children that have ended."""
    for _ in range(_MOST_ORPHANS):
        orphans = _children() - live
        if not orphans:
            return
        for orphan in orphans:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(orphan, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(orphan, 0)


def _children() -> set[int]:
    with suppress(OSError):  # not Linux, or a kernel built without CONFIG_PROC_CHILDREN
        return set(map(int, Path("/proc/thread-self/children").read_bytes().split()))
    return set()
