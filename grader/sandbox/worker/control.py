"""Messages between the judge and the processes that start workers: JSON, a length before each.

They carry descriptors too.  Nothing foreign ever speaks here: a worker reads one message, its
configuration, before it has walls, and speaks the protocol of `wire` from then on.  The judge
fills it in (`sandbox/config.py`), and the worker obeys; as a message it may be of any size.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

_LENGTH = struct.Struct("<I")
_MOST_DESCRIPTORS = 2
# What numpy and torch 2 import, at once or when needed, and the libraries of its CUDA builds.
PACKAGES = {
    False: ("numpy", "numpy.libs"),
    True: (
        "numpy", "numpy.libs", "torch", "torch.libs", "torchgen", "functorch",
        "typing_extensions.py", "sympy", "mpmath", "networkx", "jinja2", "markupsafe", "filelock",
        "fsspec", "nvidia", "triton",
    ),
}  # fmt: skip


# What names a folder to write to, or asks for one; without the last two, libraries would ask the
# system who they run as, and a worker's user is in no table of users.
FOLDERS = (
    "HOME", "TMPDIR", "XDG_CACHE_HOME", "TORCH_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR",
)  # fmt: skip
USER = ("USER", "LOGNAME")


def send(connection: socket.socket, message: object, descriptors: Sequence[int] = ()) -> None:
    """Send a message, with descriptors that the other side gets copies of; raises OSError."""
    body = json.dumps(message).encode()
    frame = _LENGTH.pack(len(body)) + body
    sent = socket.send_fds(connection, [frame], list(descriptors)) if descriptors else 0
    connection.sendall(frame[sent:])


def receive(connection: socket.socket) -> tuple[Any, list[int]]:
    """The next message with its descriptors; None where the other side has hung up.

    No more than one message is read, so that whatever follows is left to others.
    """
    try:
        # Descriptors come with the first bytes of a message.
        head, descriptors, _, _ = socket.recv_fds(connection, _LENGTH.size, _MOST_DESCRIPTORS)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        head += receive_exactly(connection, _LENGTH.size - len(head)) if head else b""
        if len(head) < _LENGTH.size:
            return None, descriptors
        body = receive_exactly(connection, _LENGTH.unpack(head)[0])
    except ConnectionError:
        return None, []
    return json.loads(body), descriptors


def receive_exactly(connection: socket.socket, size: int) -> bytearray:
    """The next bytes, that many; raises ConnectionError where the other side has hung up."""
    data = bytearray(size)
    view, got = memoryview(data), 0
    while got < size:
        count = connection.recv_into(view[got:])
        if not count:
            raise ConnectionResetError("hung up within a message")
        got += count
    return data


class SharedConfig(NamedTuple):
    """What holds for every worker that a zygote forks."""

    torch: bool  # whether programs may use it
    site: Sequence[str]  # folders from which libraries are imported
    memory: int  # bytes of address space; 0 for no such limit
    judge: int  # the judge's process id, to try whether it can be harmed
    grants: Sequence[tuple[int, str]]  # files that may be read, for `landlock`
    devices: bool  # whether there are devices, of CUDA, that it must talk to
    readable: Sequence[str]  # files without which it cannot run
    # Files that it must not be able to read, torch's in a numpy question among them; the first
    # one exists.
    kept: Sequence[str]
    compiler: bool = False  # whether a worker that starts afresh imports torch's compiler


class WorkerConfig(NamedTuple):
    """What holds for one worker."""

    cpu_seconds: int
    user: int | None  # the id that it takes; None to stay who it is
    stays: str  # why it stays who it is, if it should take an id
    threads: int  # of all processes of its user
    scratch: str  # the folder in which it may write
    private: str  # a file of the judge's that it must not touch
