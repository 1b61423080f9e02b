"""Files, processes, sockets and memory that no attack may change, and their state.

`Victims` are the things to be harmed; `traces` is everything about them and about this machine that
could show harm, as data to be compared before and after.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import resource
import shutil
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from grader.records import events
from grader.records.events import Event, Store
from tests.attacks.attack import MINI

MARK = "drill-mark"  # what attacks leave for the next one begins with this
_PUBLIC = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock")  # where anybody may write
_libc = ctypes.CDLL(None, use_errno=True)


class Victims:
    """A home folder with a journal, files of others, and listening programs."""

    def __init__(self) -> None:
        """Make them; anybody may read and write every file: walls alone protect it."""
        self.home = Path(tempfile.mkdtemp(prefix="victim-"))
        self.home.chmod(0o777)
        self.journal = self.home / "records" / "drill.sqlite3"
        Store(self.journal.parent).write(_one_attempt)
        (self.home / "private.txt").write_text("the only copy", encoding="utf-8")
        (self.home / "other_submission.py").write_text("SECRET = 'other'", encoding="utf-8")
        (self.home / "reference.py").write_bytes(
            (MINI / "drills" / "deviations" / "reference.py").read_bytes()
        )
        tool = self.home / "tool.sh"
        tool.write_text(f"#!/bin/sh\necho ran > {self.home}/ran\n", encoding="utf-8")
        for path in self.home.rglob("*"):
            path.chmod(0o777)
        self.streams = {
            "tcp": _bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": _bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "unix": _bound(socket.AF_UNIX, socket.SOCK_STREAM, str(self.home / "docker.sock")),
            "unix_dgram": _bound(socket.AF_UNIX, socket.SOCK_DGRAM, str(self.home / "log.sock")),
        }
        if sys.platform == "linux":
            name = f"\0victim-{os.getpid()}"
            self.streams["abstract"] = _bound(socket.AF_UNIX, socket.SOCK_STREAM, name)
            self.streams["abstract_dgram"] = _bound(
                socket.AF_UNIX, socket.SOCK_DGRAM, name + "-dgram"
            )
        for path in self.home.glob("*.sock"):
            path.chmod(0o777)
        self.queue = f"/victim-{os.getpid()}"
        self._queue = _message_queue(self.queue)

    def known(self) -> dict[str, Any]:
        """What an attacker knows or can guess."""
        return {
            "judge": os.getpid(),
            "group": os.getpgid(0),
            "home": str(self.home),
            "private": str(self.home / "private.txt"),
            "other": str(self.home / "other_submission.py"),
            "reference": str(self.home / "reference.py"),
            "bank": str(MINI / "drills" / "deviations" / "reference.py"),
            "tool": str(self.home / "tool.sh"),
            "journal": str(self.journal),
            "tcp": self.streams["tcp"].getsockname()[1],
            "unix": str(self.home / "docker.sock"),
            "unix_dgram": str(self.home / "log.sock"),
            "abstract": f"\0victim-{os.getpid()}",
            "queue": self.queue,
            "mark": MARK,
            "public": _PUBLIC,
        }

    def close(self) -> None:
        """Remove them."""
        for stream in self.streams.values():
            stream.close()
        if self._queue >= 0:
            os.close(self._queue)
            _libc.mq_unlink(self.queue.encode())
        shutil.rmtree(self.home)

    def received(self) -> dict[str, str]:
        """What the listening programs were sent: nothing, if all is well."""
        found: dict[str, str] = {}
        for name, stream in self.streams.items():
            with suppress(BlockingIOError):
                found[name] = (
                    f"{stream.recv(100)!r}"
                    if stream.type == socket.SOCK_DGRAM
                    else f"a connection, {stream.accept()[1]!r}"
                )
        return found


def _one_attempt(db: Any) -> int:
    event = Event("begun", "2026-01-01T00:00:00Z", "ann", "0.1.0", "deviations", "mini", seed=1)
    return events.begin_attempt(db, event, b"x")


def _bound(family: socket.AddressFamily, kind: socket.SocketKind, address: Any) -> socket.socket:
    made = socket.socket(family, kind)
    made.bind(address)
    if kind == socket.SOCK_STREAM:
        made.listen()
    made.setblocking(False)
    return made


def _message_queue(name: str) -> int:
    flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC
    try:
        return int(_libc.mq_open(name.encode(), flags, 0o666, None))
    except AttributeError:  # a C library without them
        return -1


def _queue_is_there(name: str) -> bool:
    try:
        descriptor = int(_libc.mq_open(name.encode(), os.O_RDWR | os.O_CLOEXEC))
    except AttributeError:
        return False
    if descriptor >= 0:
        os.close(descriptor)
    return descriptor >= 0


def traces(victims: Victims) -> dict[str, Any]:
    """Return the state that must be the same before and after an attack."""
    return {
        "files": {str(p): _file(p) for p in [victims.home, *sorted(victims.home.rglob("*"))]},
        "bank": {str(p): _file(p) for p in sorted(MINI.rglob("*")) if "__pycache__" not in p.parts},
        "left behind": sorted(str(p) for p in _left()),
        "received": victims.received(),
        "processes": _processes(),
        "shared memory": _ipc(),
        "queue": _queue_is_there(victims.queue),
        "judge": _judge(),
    }


def _file(path: Path) -> tuple[Any, ...]:
    about = path.lstat()
    content = (
        hashlib.sha256(path.read_bytes()).hexdigest()
        if stat.S_ISREG(about.st_mode)
        else sorted(p.name for p in path.iterdir())
        if path.is_dir()
        else ""
    )
    names = os.listxattr(path) if sys.platform == "linux" else []
    times = about.st_mtime_ns, about.st_ctime_ns
    return (content, about.st_mode, about.st_uid, about.st_gid, about.st_nlink, times, names)


def _left() -> list[Path]:
    """Return scratch folders, and marks that attacks leave for the next attack."""
    places = [Path(p) for p in {*_PUBLIC, tempfile.gettempdir(), str(Path.home())}]
    found: list[Path] = []
    for place in places:
        with suppress(OSError):
            found += [p for p in place.iterdir() if p.name.startswith(MARK)]
            found += filter(_of_this_judge, place.glob("drill-*"))
    return found


def _of_this_judge(folder: Path) -> bool:
    """Return True if this process holds a lock in the folder."""
    return any(Path(file.path).is_relative_to(folder) for file in psutil.Process().open_files())


def _processes() -> dict[int, str]:
    """Return the descendants of this process, and workers that it started."""
    ours = {one.pid for one in psutil.Process().children(recursive=True)}
    judge = re.compile(rf"boot\.py supervisor \d+ {os.getpid()} ")
    found = {}
    for one in psutil.process_iter(["cmdline"]):
        command = " ".join(one.info["cmdline"] or ())
        if one.pid in ours or judge.search(command):
            found[one.pid] = command[:80]
    return found


def _ipc() -> dict[str, list[str]]:
    """Return System V objects by key and id, without times and counts that others change."""
    found: dict[str, list[str]] = {}
    for kind in ("shm", "msg", "sem"):
        with suppress(OSError):
            lines = Path("/proc/sysvipc", kind).read_text("ascii").splitlines()[1:]
            found[kind] = sorted(" ".join(line.split()[:3]) for line in lines)
    return found


def _judge() -> Mapping[str, Any]:
    limits = [n for n in dir(resource) if n.startswith("RLIMIT_")]
    signals = sorted(signal.valid_signals())
    return {
        "limits": {n: resource.getrlimit(getattr(resource, n)) for n in limits},
        "handlers": [repr(signal.getsignal(s)) for s in signals],
        "pending": sorted(signal.sigpending()),
        "folder": os.getcwd(),  # noqa: PTH109
        "environment": dict(os.environ) | {"PYTEST_CURRENT_TEST": ""},
        "nice": os.nice(0),
        "modules": sorted(m for m in sys.modules if m.partition(".")[0] in {"torch", "submission"}),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0,
        "affinity": sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else [],
    }
