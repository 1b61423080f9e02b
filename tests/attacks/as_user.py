"""Run the attacks as an ordinary user, even if root asks: `python -m tests.attacks.as_user`.

Root's workers are another user than the judge, which by itself stops much of what the walls are
for; an ordinary user's are not.  Where root's interpreter or checkout is closed to others (a
Python in /root, say), the run keeps the one capability to read, as a worker does; workers drop it
if they need not have it.  What is the same whoever runs it (a forged reply, a clever answer) is
left out unless it is named.
"""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
import tempfile
from pathlib import Path

USER = 61_234  # in no system's tables: neither people's nor services'
AS_USER = (  # of util-linux; everything is given up for good, but reading
    "setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
    "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search",
    "--securebits=+no_setuid_fixup",  # else access(2), by which typer asks, forgets it
)  # fmt: skip


def main(arguments: list[str]) -> int:
    """Run pytest on the attacks, or on its arguments if there are any, and return its status."""
    names = arguments or ["-m", "not same_for_every_user", str(Path(__file__).parent)]
    root = os.getuid() == 0
    with tempfile.TemporaryDirectory(prefix="attacks-") as folder:
        if root:
            os.chown(folder, USER, USER)
        environment = dict(os.environ) | {"HOME": folder, "DRILL_HOME": folder, "TMPDIR": folder}
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", "HYPOTHESIS_STORAGE_DIRECTORY": folder}
        name = f"uid {USER}" if root else pwd.getpwuid(os.getuid()).pw_name
        sys.stdout.write(f"as {name}\n")
        sys.stdout.flush()
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *names]
        return subprocess.run(
            [*(AS_USER if root else ()), *command], env=environment, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
