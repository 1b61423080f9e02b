"""The only folder in which a worker may write, and next to it a file that it must not touch."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from grader.model.limits import MAX_SCRATCH_BYTES, MAX_SCRATCH_FILES
from grader.sandbox.worker.walls import kernel

_PREFIX = "drill-worker-"
_STALE_SECONDS = 60.0  # a folder younger than this may not be locked yet
# Workers of root get a user id from here on: above all ranges for people, services and containers.
# Two workers draw the same id once in 270 million times.
_FIRST_USER = 7 << 28
_NOBODY = 65534
_CAP_KILL = 1 << 5  # to end another user's process; <linux/capability.h>


class ScratchFolder:
    """A temporary folder of the judge that contains the worker's folder.

    The judge locks a file in it.  A later judge removes folders whose lock is free.
    """

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()  # TMPDIR may be relative
        self.folder = str(self.root / "scratch")
        self.lock_file = str(self.root / "lock")
        self._lock = os.open(self.lock_file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        with contextlib.suppress(OSError):  # some file systems have no locks
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.root.chmod(0o711)  # a worker with another user passes through but cannot list it
        Path(self.folder).mkdir(mode=0o700)

    def chown_to_worker_user(self) -> int | None:
        """Give the worker's folder to another user and return the user's id.

        Return None if the judge cannot do that: only root can.
        """
        if sys.platform != "linux" or os.getuid() != 0:
            return None
        if not kernel.capabilities("CapEff") & _CAP_KILL:  # the judge could not end the worker
            return None
        user = _FIRST_USER + (int.from_bytes(os.urandom(4), "little") >> 4)
        for owner in (user, _NOBODY):
            with contextlib.suppress(OSError):  # a container has fewer ids
                os.chown(self.folder, owner, owner)
                if os.access(self.folder, os.R_OK | os.W_OK | os.X_OK, effective_ids=True):
                    return owner
                os.chown(self.folder, 0, 0)  # a root without capabilities could not read it
                return None
        return None

    def exceeded_limit(self) -> str | None:
        """Return how the folder exceeds a limit, as "made more than 1,000 files", or None."""
        size = 0
        errors: list[OSError] = []
        for count, file_size in enumerate(file_sizes(self.folder, errors.append), start=1):
            size += file_size
            if count > MAX_SCRATCH_FILES:
                return f"made more than {MAX_SCRATCH_FILES:,} files"
            if size > MAX_SCRATCH_BYTES:
                return f"wrote more than {MAX_SCRATCH_BYTES >> 20} MB to files"
        for error in errors:
            if not isinstance(error, FileNotFoundError):  # that one was deleted in the meantime
                return f"made a folder that cannot be listed ({error.strerror})"
        return None

    def remove(self) -> None:
        """Remove the folder with everything in it; a second call does nothing."""
        if self._lock >= 0:
            remove(self.root)
            os.close(self._lock)
            self._lock = -1


def file_sizes(folder: str, on_error: Callable[[OSError], object]) -> Iterator[int]:
    """Yield, for each file and folder at any depth in a folder, the bytes that it takes on disk.

    `on_error` is called for each folder that cannot be listed.
    """
    pending = [folder]  # os.walk is recursive before Python 3.12
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    with contextlib.suppress(FileNotFoundError):  # deleted in the meantime
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
                        yield entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError as error:
            on_error(error)


def remove(folder: Path) -> None:
    """Remove a folder, even one that is too deep for recursion or has no permissions.

    Links out of it are not followed.  No process may be writing in it.
    """
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            subprocess.run([*command, "--", folder], stderr=subprocess.DEVNULL, check=False)


def clear_stale() -> None:
    """Remove folders older than a minute whose lock is free: their judges were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # it is in use, or belongs to another program
            status = folder.lstat()
            is_old = time.time() - status.st_mtime > _STALE_SECONDS
            if not is_old or not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
                continue
            try:
                lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            except FileNotFoundError:
                folder.rmdir()  # empty if its judge was killed before it made the lock
                continue
            with os.fdopen(lock):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(folder)
