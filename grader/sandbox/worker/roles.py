"""What a process of ours can be: the supervisor, a zygote, or a worker.

The supervisor is light: an interpreter that has imported next to nothing.  Zygotes and workers
that start afresh are forks of it.  A zygote imports its libraries once and forks workers, a few
milliseconds each; it runs no programs.  Every worker raises its own walls before it serves.

Supervisor and zygotes start others on request and let none of them outlive them.  They are
subreapers: what a child leaves behind becomes their own child and is killed.  So the judge, which
may be a notebook or a server with children of its own, needs no such power.
"""

from __future__ import annotations

import functools
import gc
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from . import boot, compiler, control
from .control import SharedConfig, WorkerConfig
from .walls import kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn

    ProcessRole = Callable[
        [int, int], object
    ]  # takes a descriptor of its channel, and its parent's id

_TICK = 1000  # milliseconds between looks at the parent: a fork of it may keep the socket open
_MOST_ORPHANS = 10_000  # of a sweep: something may start processes faster than they are killed


def supervisor(channel: int, judge: int) -> NoReturn:
    """Start zygotes and workers for the judge, and end with it."""
    linux = sys.platform == "linux"
    if linux:
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    # Only on Linux do libraries work in a process that was forked and did not start afresh.
    roles = {"zygote": zygote, "worker": worker if linux else start_over}
    _serve_children(socket.socket(fileno=channel), judge, roles)


def start_over(channel: int, parent: int) -> NoReturn:
    """Be a worker as a program of its own from the first line."""
    os.set_inheritable(channel, True)
    command = [sys.executable, "-I", "-S", "-B", boot.__file__, "worker", str(channel), str(parent)]
    os.execv(sys.executable, command)


def zygote(channel: int, parent: int) -> NoReturn:
    """Import libraries, then fork a worker for each request."""
    die_with_parent(parent)
    connection = socket.socket(fileno=channel)
    _import_libraries(**_received(connection))
    from . import serve  # noqa: F401  once for all workers
    from .walls import canary, landlock, seccomp  # noqa: F401

    shared = SharedConfig(**_received(connection))
    seccomp.prepare(devices=shared.devices)
    assert has_one_thread(), "a library started a thread: forking is not safe"
    _serve_children(connection, parent, {"worker": functools.partial(worker, shared=shared)})


def worker(channel: int, parent: int, shared: SharedConfig | None = None) -> NoReturn:
    """Raise walls, try them, and run programs; a fork of a zygote has its libraries already."""
    from .walls import canary

    connection = socket.socket(fileno=channel)
    message = _received(connection)
    own, fresh = WorkerConfig(**message["own"]), shared is None
    shared = shared or SharedConfig(**message["shared"])
    os.environ.update(dict.fromkeys(control.FOLDERS, own.scratch))
    if "tempfile" in sys.modules:  # it remembers the folder of the process that it was imported in
        vars(sys.modules["tempfile"])["tempdir"] = None
    os.chdir(own.scratch)
    missing = confine(own, shared, parent)
    if fresh:
        _import_libraries(torch=shared.torch, site=shared.site)
        if shared.compiler:
            compiler.import_compiler()
    elif "numpy.random" in sys.modules:
        # Forks must not draw the same numbers; `random` and `secrets` see to themselves.
        sys.modules["numpy.random"].seed(int.from_bytes(os.urandom(4), "little"))
    from . import serve

    acts = canary.try_forbidden_acts(judge=shared.judge, private=own.private, kept=shared.kept)
    serve.serve(connection, acts, missing)


def _received(connection: socket.socket) -> dict[str, Any]:
    """The next message of the judge; this process ends where it has hung up."""
    message, _ = control.receive(connection)
    if message is None:
        os._exit(0)
    found: dict[str, Any] = message
    return found


def confine(own: WorkerConfig, shared: SharedConfig, parent: int) -> list[str]:
    """Raise every wall there is before anything runs that is not ours; end with the parent.

    The order matters.  Limits first, while they may still be set; then the user, because changing
    it makes Linux forget what to do when the parent ends; then files, then system calls, because
    raising the earlier walls needs calls that the last one refuses.

    Returns:
        Why walls are missing, one sentence each.
    """
    from .walls import landlock, seccomp

    kernel.set_limits(memory=shared.memory, cpu_seconds=own.cpu_seconds, threads=own.threads)
    if sys.platform != "linux":
        return [f"there are no walls on {sys.platform}, only limits"]
    with suppress(OSError):  # where memory runs out, this process goes, and not the judge
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="utf-8")
    unprivileged = kernel.drop_privileges(own.user, [*shared.readable, own.scratch])
    missing: dict[str, str | None] = {"privileges": unprivileged or own.stays}
    die_with_parent(parent)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # so that the judge can ask what memory this takes
    missing["Landlock"] = landlock.apply([*shared.grants, (landlock.WRITE, own.scratch)])
    missing["threads"] = (
        None if has_one_thread() else "a thread was running before the walls were up"
    )
    missing["seccomp"] = seccomp.apply(devices=shared.devices)
    return [f"{wall}: {why}" for wall, why in missing.items() if why]


def die_with_parent(parent: int) -> None:
    """Ask Linux to kill this process when its parent ends, however that ends."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def has_one_thread() -> bool:
    """Whether this process has one thread: a filter does not reach those that run already."""
    tasks = Path("/proc/self/task")
    return not tasks.is_dir() or len(list(tasks.iterdir())) == 1


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
        _OfferedModules.site = tuple(site)
        sys.meta_path[sys.meta_path.index(PathFinder)] = _OfferedModules
        import torch as library

        library.set_num_threads(1)
        library.compile = _no_compiler  # type: ignore[assignment, unused-ignore]
        compiler.block_import()
    else:
        sys.path[:] = stdlib  # it finds its own submodules; nothing else of the site is offered
    gc.freeze()
    gc.enable()


class _OfferedModules(PathFinder):
    """Finds, of what is installed, numpy, torch and what it needs.

    Torch uses a dozen packages where they are there; what a program does must not depend on it.
    """

    site: tuple[str, ...] = ()
    names = frozenset(name.removesuffix(".py") for name in control.PACKAGES[True])

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> Any:  # noqa: ANN401
        """Where a module lies, or None."""
        spec = super().find_spec(name, path, target)
        other = path is None and name not in cls.names
        return None if other and spec and (spec.origin or "").startswith(cls.site) else spec

    @classmethod
    def find_distributions(cls, context: Any = None) -> Any:  # noqa: ANN401
        """What `importlib.metadata` knows of a package: its version, say."""
        known = context is not None and context.name in cls.names
        return super().find_distributions(context) if known else ()


def _no_compiler(*_: object, **__: object) -> None:
    raise RuntimeError(
        "torch.compile is not available here: it starts a compiler, and a submission may not start "
        "programs; call the function without it"
    )


def _serve_children(
    connection: socket.socket, parent: int, roles: Mapping[str, ProcessRole]
) -> NoReturn:
    """Start and end children on request; end all when the other side or the parent is gone."""
    live: set[int] = set()
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    with suppress(ConnectionError):
        while os.getppid() == parent:
            if not poll.poll(_TICK):
                _sweep(live)
                continue
            request, descriptors = control.receive(connection)
            if request is None:
                break
            if request["op"] == "start":
                answer: object = _start(connection, descriptors, roles[request["role"]])
                if isinstance(answer, int):
                    live.add(answer)
            elif request["op"] == "import compiler":
                compiler.import_compiler()
                answer = True
                assert has_one_thread(), "torch's compiler started a thread: forking is not safe"
            else:
                answer = _end(request["pid"], request["grace"], live)
            control.send(connection, answer)
    for child in live:
        _kill(child)
    for child in live:
        os.waitpid(child, 0)
    _sweep(set())
    os._exit(0)


def _start(connection: socket.socket, descriptors: list[int], role: ProcessRole) -> int | str:
    """The id of a new child, or why there is none; the child takes its role and never returns."""
    here = os.getpid()
    try:
        child = os.fork()
    except OSError as error:
        return f"a process could not be started: {error.strerror}"
    finally:
        if os.getpid() == here:
            for descriptor in descriptors:
                os.close(descriptor)
    if child:
        return child
    try:
        connection.close()
        channel, output = descriptors
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        role(channel, here)
    except BaseException:  # noqa: BLE001 the judge shows the last line
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(boot.FAILED)


def _end(child: int, grace: float, live: set[int]) -> tuple[int, bool]:
    """End a child with its group and what it left; its exit status, and whether it had ended."""
    deadline = time.monotonic() + grace
    ended, status = os.waitpid(child, os.WNOHANG)
    while not ended and time.monotonic() < deadline:
        time.sleep(0.002)
        ended, status = os.waitpid(child, os.WNOHANG)
    if ended:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
    else:
        _kill(child)
        _, status = os.waitpid(child, 0)
    live.discard(child)
    _sweep(live)
    return os.waitstatus_to_exitcode(status), bool(ended)


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):  # it may not lead a group yet
        with suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)


def _sweep(live: set[int]) -> None:
    for _ in range(_MOST_ORPHANS):
        orphans = _children() - live
        if not orphans:
            return
        for orphan in orphans:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(orphan, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(orphan, 0)


def _children() -> set[int]:
    with suppress(OSError):  # not Linux, or a kernel built without CONFIG_PROC_CHILDREN
        return set(map(int, Path("/proc/thread-self/children").read_bytes().split()))
    return set()
