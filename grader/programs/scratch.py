"""The one folder in which a worker may write, and beside it a file that it must not touch."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path


class Scratch:
    """A temporary folder of the judge's that holds a worker's folder."""

    def __init__(self) -> None:
        """Make it, empty."""
        self._whole = Path(tempfile.mkdtemp(prefix="drill-"))
        self._whole.chmod(0o711)  # a worker with a user of its own goes through, and sees nothing
        self.folder = str(self._whole / "scratch")
        self.witness = str(self._whole / "witness")
        Path(self.folder).mkdir(mode=0o700)
        Path(self.witness).touch(mode=0o600)

    def remove(self) -> None:
        """Remove it, also where a program took away the permission to."""
        with contextlib.suppress(OSError):
            Path(self.folder).chmod(0o700)
            for place, inside, _ in os.walk(self.folder):
                for path in (Path(place, name) for name in inside):
                    if not path.is_symlink():
                        path.chmod(0o700)
        shutil.rmtree(self._whole, ignore_errors=True)
