"""The one folder in which a worker may write, and beside it a file that it must not touch."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
import time
from pathlib import Path

_PREFIX = "drill-"
_STALE_SECONDS = 60.0  # a folder younger than this may not be locked yet


class Scratch:
    """A temporary folder of the judge's that holds a worker's folder.

    The judge keeps a lock in it, so that a later one can tell what nobody uses any more.
    """

    def __init__(self) -> None:
        """Make it, empty."""
        self.whole = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self.folder = str(self.whole / "scratch")
        self.witness = str(self.whole / "witness")
        self._lock = os.open(self.witness, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        _lock(self._lock)
        self.whole.chmod(0o711)  # a worker with a user of its own goes through, and sees nothing
        Path(self.folder).mkdir(mode=0o700)

    def remove(self) -> None:
        """Remove it with all that a program left there; a second call does nothing."""
        if self._lock >= 0:
            remove(self.whole)
            os.close(self._lock)
            self._lock = -1


def remove(folder: Path) -> None:
    """Remove a folder, also one too deep for recursion or without permissions.

    Nothing is followed out of it, and no process may be writing in it.
    """
    names = itertools.count()
    with contextlib.suppress(OSError):
        while inside := list(os.scandir(folder)):
            for entry in inside:
                if not entry.is_dir(follow_symlinks=False):
                    Path(entry.path).unlink()
                    continue
                # One level at a time: what is in it moves up, so that no path gets long.
                Path(entry.path).chmod(0o700)
                for below in list(os.scandir(entry.path)):
                    if below.is_dir(follow_symlinks=False):
                        Path(below.path).chmod(0o700)
                        Path(below.path).rename(_free(folder, names))
                    else:
                        Path(below.path).unlink()
                Path(entry.path).rmdir()
        folder.rmdir()


def _free(folder: Path, names: itertools.count[int]) -> Path:
    return next(p for n in names if not os.path.lexists(p := folder / f"up-{n}"))


def clear_stale() -> None:
    """Remove what judges left that were killed."""
    now = time.time()
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if not entry.name.startswith(_PREFIX) or not entry.is_dir(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError):
                about = entry.stat(follow_symlinks=False)
                if about.st_uid == os.getuid() and now - about.st_mtime > _STALE_SECONDS:
                    _remove_if_unused(Path(entry.path))


def _remove_if_unused(folder: Path) -> None:
    try:
        lock = os.open(folder / "witness", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:  # killed right after it made the folder, which is empty, or not ours
        folder.rmdir()
        return
    try:
        if _lock(lock):
            remove(folder)
    finally:
        os.close(lock)


def _lock(file: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
