"""Files in a folder that others may write to: no link is followed, and a file is whole or not.

A name that can be guessed may be a link by then, to a file of whoever runs this.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
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


def followed(path: str, flags: int) -> int:
    """Open a regular file to which a link may lead, as one of the person who runs this may.

    Raises:
        OSError: It cannot be opened, or is a pipe or a device.
    """
    return regular(os.path.realpath(path), flags)


def content(path: Path, opener: Callable[[str, int], int], most: int) -> bytes:
    """Return what is in a regular file.

    Raises:
        OSError: It cannot be read.
        UsageError: It is larger than `most` bytes.
    """
    with open(path, "rb", opener=opener) as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise UsageError(f"{path}: expected at most {most:,} bytes, found more")
    return found


def write_whole(file: Path, pieces: Iterable[str | bytes]) -> None:
    """Write a file whole or not at all; a link in its place is replaced, not followed.

    Raises:
        UsageError: It cannot be written.
    """
    if file.is_dir():
        raise UsageError(f"{file}: expected a file, found a folder", hint="name a file in it")
    made = file.with_name(f".{file.name}.{os.urandom(8).hex()}")
    try:
        with made.open("xb", buffering=1 << 16) as out:  # x: neither a file nor a link is there
            out.writelines(p if isinstance(p, bytes) else p.encode() for p in pieces)
            out.flush()
            os.fsync(out.fileno())
        made.replace(file)
    except OSError as fault:
        raise UsageError(f"{file}: cannot be written: {fault.strerror}") from fault
    finally:
        with suppress(OSError):
            made.unlink()
