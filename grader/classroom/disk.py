"""Files in a folder that others may write to: no link is followed, and a file is whole or not.

A name that can be guessed may be a link by then, to a file of whoever runs this.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.model.errors import UsageError


def regular(path: str, flags: int) -> int:
    """Open a regular file, for `open(..., opener=regular)`.

    Raises:
        OSError: It cannot be opened, or is a link, a pipe or a device.
    """
    # Without O_NONBLOCK, opening a FIFO would wait for somebody at its other end.
    handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError(errno.EINVAL, "it is no regular file")


@contextmanager
def fresh(path: Path, pieces: Iterable[str | bytes]) -> Iterator[Path]:
    """Give a new file next to another one, which is on the disk whole; afterwards it is removed.

    Raises:
        UsageError: It cannot be written.
    """
    made = path.with_name(f".{path.name}.{os.urandom(8).hex()}")  # a folder has many machines
    try:
        with made.open("xb", buffering=1 << 16) as file:  # x: neither a file nor a link is there
            file.writelines(p if isinstance(p, bytes) else p.encode() for p in pieces)
            file.flush()
            os.fsync(file.fileno())
        yield made
    except OSError as fault:
        raise UsageError(f"{path}: cannot be written: {fault.strerror}") from fault
    finally:
        with suppress(OSError):
            made.unlink()


def write_whole(file: Path, pieces: Iterable[str | bytes]) -> None:
    """Write a file whole or not at all.

    Raises:
        UsageError: It cannot be written.
    """
    if file.is_dir():
        raise UsageError(f"{file}: expected a file, found a folder", hint="name a file in it")
    with fresh(file, pieces) as made:
        made.replace(file)
