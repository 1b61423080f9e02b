"""The first lines of every process that the judge starts.

Run as `python -I -S -B boot.py ROLE DESCRIPTOR PARENT`; see `roles`.  Nothing is imported from the
environment before the walls are up, except by a zygote, which runs no programs.
"""

from __future__ import annotations

import builtins
import os
import signal
import sys

FAILED = 70  # exit status of a process that did not become what it should


def main() -> None:
    """Take the role that the arguments name."""
    # Python defines both, unless it starts with -S; theirs would close standard input, too.
    vars(builtins).update(exit=sys.exit, quit=sys.exit)
    role, descriptor, parent = sys.argv[1:]
    sys.argv[:] = ["worker"]
    # A host may ignore this signal, which survives exec; then no child could be waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # This folder becomes a package of its own, so that nothing else of ours can be imported.
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    import worker  # type: ignore[import-not-found, unused-ignore]  # noqa: F401

    del sys.path[0]
    from worker import roles

    getattr(roles, role)(int(descriptor), int(parent))


if __name__ == "__main__":
    try:
        main()
    except BaseException:  # noqa: BLE001 the judge shows the last line
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(FAILED)
