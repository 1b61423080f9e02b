"""Messages between the judge and the processes that start workers: a length, then JSON.

Descriptors may come with a message.  Submissions never write such messages.  A worker reads one,
its configuration, before it has walls; after that it uses the protocol of `wire`.  The judge writes
the configuration (`sandbox/config.py`), so its size has no limit.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

_LENGTH = struct.Struct("<I")
_MAX_DESCRIPTORS = 2  # in one message
# Without and with torch: packages that numpy and torch 2 import, at once or later, and libraries
# of torch's CUDA builds.
PACKAGES = {
    False: ("numpy", "numpy.libs"),
    True: (
        "numpy", "numpy.libs", "torch", "torch.libs", "torchgen", "functorch",
        "typing_extensions.py", "sympy", "mpmath", "networkx", "jinja2", "markupsafe", "filelock",
        "fsspec", "nvidia", "triton",
    ),
}  # fmt: skip

# Environment variables that name a folder to write in (FOLDERS), and the user (USER).  Without
# USER, libraries would ask the system for a name, and a worker's user is in no table of users.
FOLDERS = (
    "HOME", "TMPDIR", "XDG_CACHE_HOME", "TORCH_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR",
)  # fmt: skip
USER = ("USER", "LOGNAME")


def send(connection: socket.socket, message: object, descriptors: Sequence[int] = ()) -> None:
    """Send a message, and copies of some descriptors with it; raises OSError."""
    body = json.dumps(message).encode()
    frame = _LENGTH.pack(len(body)) + body
    sent = 0
    if descriptors:
        sent = socket.send_fds(connection, [frame], list(descriptors))
    connection.sendall(frame[sent:])


def receive(connection: socket.socket) -> tuple[Any, list[int]]:
    """Return the next message and its descriptors; the message is None if the sender hung up.

    Nothing beyond the message is read: the bytes that follow are for another reader.
    """
    try:
        # Descriptors come with the first bytes of a message.
        head, descriptors, _, _ = socket.recv_fds(connection, _LENGTH.size, _MAX_DESCRIPTORS)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        if head:
            head += receive_exactly(connection, _LENGTH.size - len(head))
        if len(head) < _LENGTH.size:
            return None, descriptors
        body = receive_exactly(connection, _LENGTH.unpack(head)[0])
    except ConnectionError:
        return None, []
    return json.loads(body), descriptors


def receive_exactly(connection: socket.socket, size: int) -> bytearray:
    """Return the next `size` bytes; raises ConnectionError if the sender hangs up before."""
    data = bytearray(size)
    view = memoryview(data)
    received = 0
    while received < size:
        count = connection.recv_into(view[received:])
        if not count:
            raise ConnectionResetError("hung up within a message")
        received += count
    return data


class SharedConfig(NamedTuple):
    """Configuration of all workers that a zygote forks, or of one worker without a zygote."""

    torch: bool  # True if programs may use torch
    site: Sequence[str]  # folders of the libraries
    memory: int  # limit on bytes of address space; 0 for no limit
    judge: int  # process id of the judge, to try whether a worker can harm it
    grants: Sequence[tuple[int, str]]  # files that a worker may read, for `landlock`
    devices: bool  # True if a worker uses CUDA devices
    readable: Sequence[str]  # files that a worker must be able to read, whatever its user
    # Files that a worker must not be able to read; without torch, also files of torch.  The first
    # one exists.
    forbidden: Sequence[str]
    compiler: bool = False  # True if a worker that starts afresh imports torch's compiler


class WorkerConfig(NamedTuple):
    """Configuration of one worker."""

    cpu_seconds: int  # limit on CPU time
    user: int | None  # user id that the worker takes; None to keep the judge's
    why_root_stays: str  # why it keeps the judge's user id although it should take another one
    threads: int  # limit on threads of all processes of its user
    scratch: str  # folder in which the worker may write
    judge_file: str  # a file of the judge that the worker must not touch
