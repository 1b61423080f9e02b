"""Entry point of every process that the judge starts.

It is run as `python -I -S -B boot.py ROLE DESCRIPTOR PARENT`; see `roles`.  DESCRIPTOR is that of
the channel to the judge, PARENT a process id.  Installed packages are imported after the walls are
up, or in a zygote, which runs no programs.
"""

from __future__ import annotations

import builtins
import os
import signal
import sys

FAILED = 70  # exit status of a process whose role ended with an exception


def main() -> None:
    """Run the role in the arguments, `supervisor` or `worker`."""
    # With -S Python does not define exit and quit.  Its own ones also close standard input.
    vars(builtins).update(exit=sys.exit, quit=sys.exit)
    role, descriptor, parent = sys.argv[1:]
    sys.argv[:] = ["worker"]
    # A host may ignore this signal, and exec keeps that; then waiting for a child would fail.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # Imported as `worker`, this folder gives no access to other modules of drill.
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    import worker  # type: ignore[import-not-found, unused-ignore]  # noqa: F401

    del sys.path[0]
    from worker import roles

    getattr(roles, role)(int(descriptor), int(parent))


if __name__ == "__main__":
    try:
        main()
    except BaseException:  # noqa: BLE001 the judge shows the last line of output
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(FAILED)
