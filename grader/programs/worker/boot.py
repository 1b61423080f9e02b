"""The first lines of a worker process: limits, then imports, then requests.

Started as `python -I -S -B boot.py FD MEMORY CPU_SECONDS TORCH SITE...` by
`grader.programs.process`.
Nothing is imported from the environment before the limits hold.
"""

from __future__ import annotations

import os
import sys


def limit(memory: int, cpu_seconds: int) -> None:
    """Bound this process before anything else runs.  A limit that this system lacks is left out."""
    import resource as r

    def bound(which: int, soft: int, hard: int) -> None:
        try:
            r.setrlimit(which, (soft, hard))
        except (OSError, ValueError):
            return

    bound(r.RLIMIT_CORE, 0, 0)
    bound(r.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1)
    bound(r.RLIMIT_FSIZE, 16 << 20, 16 << 20)
    bound(r.RLIMIT_NOFILE, 64, 64)
    if memory:
        bound(r.RLIMIT_AS, memory, memory)


def die_with_parent() -> None:
    """Ask Linux to kill this process when the judge ends, however it ends."""
    if sys.platform != "linux":
        return
    import ctypes
    import signal

    parent = os.getppid()
    set_parent_death_signal = 1  # PR_SET_PDEATHSIG, <linux/prctl.h>
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def main() -> None:
    """Set up and serve until the judge hangs up."""
    channel, memory, cpu_seconds, torch = (int(a) for a in sys.argv[1:5])
    site = sys.argv[5:]
    limit(memory, cpu_seconds)
    die_with_parent()
    stdlib = list(sys.path[1:])  # without this folder
    sys.path[:] = stdlib + site
    sys.argv[:] = ["worker"]

    import importlib.util

    here = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        "worker", os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["worker"] = package
    spec.loader.exec_module(package)

    import numpy  # noqa: F401  before the path is narrowed

    if torch:
        import torch as library

        library.set_num_threads(1)
    else:
        sys.path[:] = stdlib  # numpy finds its own submodules; nothing else of the site is offered

    import gc

    # The libraries' objects never die: looking through them at every collection takes 0.2 s.
    gc.freeze()

    from worker import serve  # type: ignore[import-not-found, unused-ignore]

    serve.serve(channel)


if __name__ == "__main__":
    main()
