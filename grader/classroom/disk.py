"""Files in a folder that others may write to: no link is followed, and a file is whole or not.

A name that can be guessed may be a link by then, to a file of whoever runs this.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.model.errors import UsageError

MOST_LINE = 64 << 20  # bytes: a report is a few thousand


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


def lines(path: Path, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Give each line of a regular file from some byte on, and where it begins.

    Raises:
        FileNotFoundError: There is no such file.
        UsageError: It cannot be read, or a line is longer than MOST_LINE bytes.
    """
    try:
        file = open(path, "rb", opener=regular)  # noqa: SIM115 - it is closed below
    except FileNotFoundError:
        raise
    except OSError as fault:
        raise UsageError(f"{path}: expected a file to read: {fault.strerror}") from fault
    with file:
        file.seek(start)
        while line := file.readline(MOST_LINE + 1):
            if len(line) > MOST_LINE:
                text = f"expected lines of at most {MOST_LINE:,} bytes, found a longer one"
                raise UsageError(f"{path}: {text} at byte {start:,}")
            yield start, line
            start += len(line)


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
