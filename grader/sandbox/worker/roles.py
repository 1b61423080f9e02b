"""What a process of ours can be: the supervisor, a zygote, or a worker.

The supervisor is light: an interpreter that has imported next to nothing.  Zygotes and workers
that start afresh are forks of it.  A zygote imports its libraries once and forks workers, a few
milliseconds each; it runs no programs.  Every worker raises its own walls before it serves.
"""

from __future__ import annotations

import functools
import gc
import os
import socket
import sys
from typing import TYPE_CHECKING

from . import children, control
from .walls import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .children import Next
    from .control import SharedConfig


def supervisor(connection: int, judge: int) -> Next:
    """Start zygotes and workers for the judge, and end with it."""
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    # Only on Linux do libraries work in a process that was forked and did not start afresh.
    fresh = worker if sys.platform == "linux" else start_over
    roles = {"zygote": zygote, "worker": fresh}
    return children.serve(socket.socket(fileno=connection), judge, roles)


def start_over(channel: int, parent: int) -> Next:
    """Be a worker as a program of its own from the first line."""
    from . import boot

    os.set_inheritable(channel, True)
    command = [sys.executable, "-I", "-S", "-B", boot.__file__, "worker", str(channel), str(parent)]
    os.execv(sys.executable, command)


def zygote(channel: int, parent: int) -> Next:
    """Import libraries, then fork a worker for each request."""
    from . import confine
    from .control import SharedConfig

    confine.die_with(parent)
    connection = socket.socket(fileno=channel)
    libraries, _ = control.receive(connection)
    if libraries is None:
        os._exit(0)
    _import_libraries(**libraries)
    from . import serve  # noqa: F401  once for all workers
    from .walls import seccomp

    message, _ = control.receive(connection)
    if message is None:
        os._exit(0)
    shared = SharedConfig(**message)
    seccomp.prepare(devices=shared.devices)
    assert confine.alone(), "a library started a thread: forking is not safe"
    roles = {"worker": functools.partial(worker, shared=shared)}
    return children.serve(connection, parent, roles)


def worker(channel: int, parent: int, shared: SharedConfig | None = None) -> Next:
    """Raise walls, try them, and run programs; a fork of a zygote has its libraries already.

    Returns:
        What runs programs.
    """
    from . import confine, mapping
    from .control import SharedConfig, WorkerConfig
    from .walls import canary

    connection = socket.socket(fileno=channel)
    message, descriptors = control.receive(connection)
    if message is None:
        os._exit(0)
    connection.detach()
    for descriptor in descriptors:
        mapping.take(descriptor)
    own, fresh = WorkerConfig(**message["own"]), shared is None
    shared = shared or SharedConfig(**message["shared"])
    for name in ("HOME", "TMPDIR"):
        os.environ[name] = own.scratch
    os.chdir(own.scratch)
    missing = confine.confine(own, shared, parent)
    if fresh:
        _import_libraries(torch=shared.torch, site=shared.site)
    elif "numpy.random" in sys.modules:
        # Forks must not draw the same numbers; `random` and `secrets` see to themselves.
        sys.modules["numpy.random"].seed(int.from_bytes(os.urandom(4), "little"))
    from . import serve

    serve.import_what_can_be(own.ahead)
    acts = canary.report(judge=shared.judge, private=own.private, kept=shared.kept)
    return functools.partial(serve.serve, channel, acts, missing)


def _import_libraries(*, torch: bool, site: Sequence[str]) -> None:
    """Import what programs compute with.

    What libraries make while they are imported never dies: looking through it takes a tenth of the
    time meanwhile, and 0.2 s at every collection afterwards.
    """
    gc.disable()
    stdlib = list(sys.path)
    sys.path += site
    import numpy  # noqa: F401  before the path is narrowed

    if torch:
        import torch as library

        library.set_num_threads(1)
        library.compile = _no_compiler  # type: ignore[assignment, unused-ignore]
    else:
        sys.path[:] = stdlib  # they find their own submodules; nothing else of the site is offered
    gc.freeze()
    gc.enable()


def _no_compiler(*_: object, **__: object) -> None:
    """Say what would otherwise be a page of traceback about a program not started."""
    raise RuntimeError(
        "torch.compile is not available here: it starts a compiler, and a submission may not start "
        "programs; call the function without it"
    )
