"""Processes that a grade left behind: those whose environment names a folder of the test's."""

from __future__ import annotations

import os
import select
from pathlib import Path


def leftovers(mark: Path) -> list[int]:
    """Processes whose environment names the folder; a zombie has none, this one is left out."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if str(mark).encode() in environment:
                found.append(int(entry.name))
    return found


def all_end(mark: Path) -> bool:
    """Whether every process that names the folder ends, within ten seconds each."""
    for pid in leftovers(mark):
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        ended, _, _ = select.select([handle], [], [], 10)
        os.close(handle)
        if not ended:
            return False
    return not leftovers(mark)
