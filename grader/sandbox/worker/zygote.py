"""A process that has imported its libraries and forks one worker a request.

It runs no programs itself.  Every child raises its own walls before it serves, and tries them.
Control messages are JSON, one a packet, from the judge alone; children never hold the socket.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from . import confine
from . import serve as serving
from .walls import kernel, seccomp

_PACKET = 1 << 16
_MOST_ORPHANS = 10_000


def serve_requests(control: socket.socket, orders: Mapping[str, Any]) -> NoReturn:
    """Fork and reap on request; end all when the judge hangs up."""
    live: set[int] = set()
    while True:
        packet, descriptors, _, _ = socket.recv_fds(control, _PACKET, 2)
        if not packet:
            _end(live)
            os._exit(0)
        request = json.loads(packet)
        if request["op"] == "fork":
            channel, output = descriptors
            told = {**orders, **request["orders"], "parent": os.getpid()}
            child = os.fork()
            if child == 0:
                control.close()
                _be_a_worker(told, channel, output)
            for descriptor in descriptors:
                os.close(descriptor)
            live.add(child)
            reply = child
        else:
            live.discard(request["pid"])
            _, status = os.waitpid(request["pid"], 0)
            _sweep(live)
            reply = os.waitstatus_to_exitcode(status)
        control.send(json.dumps(reply).encode())


def serve(orders: Mapping[str, Any]) -> NoReturn:
    """Get ready, say so by answering, and serve."""
    control = socket.socket(fileno=orders["control"])
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)  # what outlives a worker comes here
    seccomp.prepare(devices=orders["devices"])
    assert confine.alone(), "a library started a thread: forking is not safe"
    serve_requests(control, orders)


def _be_a_worker(orders: Mapping[str, Any], channel: int, output: int) -> NoReturn:
    """Become a worker; the parent's memory holds nothing that it must not see."""
    try:
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        for name in ("HOME", "TMPDIR"):
            os.environ[name] = orders["scratch"]
        os.chdir(orders["scratch"])
        missing = confine.confine(orders)
        _reseed()
        serving.serve(channel, confine.try_everything(orders), missing)
    finally:
        os._exit(70)


def _reseed() -> None:
    """Children must not draw the same numbers; `random` and `secrets` see to themselves."""
    random = sys.modules.get("numpy.random")
    if random is not None:
        random.seed(int.from_bytes(os.urandom(4), "little"))


def _sweep(live: set[int]) -> None:
    """Kill what was started by workers that have ended."""
    for _ in range(_MOST_ORPHANS):
        orphans = set(_children()) - live
        if not orphans:
            return
        for orphan in orphans:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(orphan, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(orphan, 0)


def _children() -> list[int]:
    try:
        listed = Path("/proc/thread-self/children").read_text(encoding="ascii")
        return [int(word) for word in listed.split()]
    except OSError:  # a kernel built without CONFIG_PROC_CHILDREN
        return []


def _end(live: set[int]) -> None:
    for child in live:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(child, signal.SIGKILL)
    for child in live:
        with suppress(ChildProcessError):
            os.waitpid(child, 0)
    _sweep(set())
