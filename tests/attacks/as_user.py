"""Run the attacks as an ordinary user, also where this is root: `python -m tests.attacks.as_user`.

Root's workers are another user than the judge, which by itself stops much of what the walls are
for; an ordinary user's are not.  Where root's interpreter or checkout is closed to others (a
Python in /root, say), the run keeps the one capability to read, as a worker does; workers drop it
if they need not have it.  What is the same whoever runs it (a forged reply, a clever answer) is
left out unless it is named.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

_USER = 61_234  # in no system's tables: neither people's nor services'
_READ_SEARCH = 2  # CAP_DAC_READ_SEARCH, <linux/capability.h>
_KEEP_CAPS, _SECURE_BITS, _AMBIENT, _RAISE = 8, 28, 47, 2  # prctl
_NO_FIXUP = 1 << 2  # else access(2), by which typer asks, forgets the capability: capabilities(7)
_CAPSET = {"x86_64": 126, "aarch64": 91}
_libc = ctypes.CDLL(None, use_errno=True)


def become_user() -> None:
    """Give up everything but reading, for good."""
    if _libc.prctl(_SECURE_BITS, _NO_FIXUP, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "secure bits")
    _libc.prctl(_KEEP_CAPS, 1, 0, 0, 0)
    os.setgroups([])
    os.setresgid(_USER, _USER, _USER)
    os.setresuid(_USER, _USER, _USER)
    head = struct.pack("<Ii", 0x20080522, 0)
    bit = 1 << _READ_SEARCH
    data = struct.pack("<6I", bit, bit, bit, 0, 0, 0)
    if _libc.syscall(_CAPSET[os.uname().machine], head, data):
        raise OSError(ctypes.get_errno(), "capset")
    if _libc.prctl(_AMBIENT, _RAISE, _READ_SEARCH, 0, 0):
        raise OSError(ctypes.get_errno(), "ambient")


def main(arguments: list[str]) -> int:
    """Run pytest on the attacks, or on what the arguments name, and return its status."""
    names = arguments or ["-m", "not same_for_every_user", str(Path(__file__).parent)]
    root = os.getuid() == 0
    with tempfile.TemporaryDirectory(prefix="attacks-") as folder:
        if root:
            os.chown(folder, _USER, _USER)
        environment = dict(os.environ) | {"HOME": folder, "DRILL_HOME": folder, "TMPDIR": folder}
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", "HYPOTHESIS_STORAGE_DIRECTORY": folder}
        name = f"uid {_USER}" if root else pwd.getpwuid(os.getuid()).pw_name
        sys.stdout.write(f"as {name}\n")
        sys.stdout.flush()
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *names],
            env=environment,
            preexec_fn=become_user if root else None,
            check=False,
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
