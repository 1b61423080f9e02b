"""The one folder in which a worker may write, and next to it a file that it must not touch."""

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
# User ids that no system hands out: above all ranges of people, services and containers in use.
# Two workers draw the same of them once in 270 million times.
_FIRST_USER, _NOBODY = 7 << 28, 65534
_KILL = 1 << 5  # CAP_KILL, to end another user's process; <linux/capability.h>


class ScratchFolder:
    """A temporary folder of the judge's that holds a worker's folder.

    The judge keeps a lock in it, so that a later one can see what nobody uses any more.
    """

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()  # TMPDIR may be relative
        self.folder = str(self.root / "scratch")
        self.lock_file = str(self.root / "lock")
        self._lock = os.open(self.lock_file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        with contextlib.suppress(OSError):  # not every file system has locks
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.root.chmod(0o711)  # a worker with a user of its own goes through, and sees nothing
        Path(self.folder).mkdir(mode=0o700)

    def chown_to_worker_user(self) -> int | None:
        """Give the worker's folder to a user of its own; None where the judge is not root."""
        if sys.platform != "linux" or os.getuid() != 0:
            return None
        if not kernel.capabilities("CapEff") & _KILL:  # what it cannot end would outlive it
            return None
        user = _FIRST_USER + (int.from_bytes(os.urandom(4), "little") >> 4)
        for owner in (user, _NOBODY):
            with contextlib.suppress(OSError):  # a container knows fewer ids
                os.chown(self.folder, owner, owner)
                if os.access(self.folder, os.R_OK | os.W_OK | os.X_OK, effective_ids=True):
                    return owner
                os.chown(self.folder, 0, 0)  # a root without its powers could not look after it
                return None
        return None

    def exceeded_limit(self) -> str | None:
        """What is too much about the worker's folder; None while it is within its limits."""
        size = 0
        faults: list[OSError] = []
        for count, taken in enumerate(file_sizes(self.folder, faults.append), start=1):
            size += taken
            if count > MAX_SCRATCH_FILES:
                return f"made more than {MAX_SCRATCH_FILES:,} files"
            if size > MAX_SCRATCH_BYTES:
                return f"wrote more than {MAX_SCRATCH_BYTES >> 20} MB to files"
        for fault in faults:  # what cannot be listed cannot be counted; else gone in the meantime
            if not isinstance(fault, FileNotFoundError):
                return f"made a folder that cannot be listed ({fault.strerror})"
        return None

    def remove(self) -> None:
        """Remove it with all that a program left there; a second call does nothing."""
        if self._lock >= 0:
            remove(self.root)
            os.close(self._lock)
            self._lock = -1


def file_sizes(folder: str, fault: Callable[[OSError], object]) -> Iterator[int]:
    """Bytes on the disk of whatever is in a folder; faults of looking are passed on."""
    waiting = [folder]  # not os.walk, which before Python 3.12 calls itself for every level
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    with contextlib.suppress(FileNotFoundError):  # gone in the meantime
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        yield entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError as error:
            fault(error)


def remove(folder: Path) -> None:
    """Remove a folder, also one too deep for recursion or without permissions.

    Nothing is followed out of it, and no process may be writing in it.
    """
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            subprocess.run([*command, "--", folder], stderr=subprocess.DEVNULL, check=False)


def clear_stale() -> None:
    """Remove what judges left that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # it is in use, or of another program
            about = folder.lstat()
            old = time.time() - about.st_mtime > _STALE_SECONDS
            if not old or not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid():
                continue
            try:
                lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            except FileNotFoundError:  # its judge was killed right after it made it, or of others
                folder.rmdir()
                continue
            with os.fdopen(lock):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(folder)
