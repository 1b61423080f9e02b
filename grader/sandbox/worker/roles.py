"""Roles of a process: supervisor, zygote, or worker.

The supervisor has imported almost nothing.  It forks zygotes, and workers without a zygote.  A
zygote imports its libraries once and forks workers in a few milliseconds each; it runs no programs.
Every worker raises its own walls before it serves.

The supervisor and zygotes start children on request, and all children end with them.  They are
subreapers: a process that a child leaves behind becomes their child and is killed.  So the judge,
which may be a notebook or a server with other children, need not be a subreaper.
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

    # Takes the descriptor of the channel, and the id of the parent.
    ProcessRole = Callable[[int, int], object]

POLL_MILLISECONDS = 1000  # between checks of the parent, whose other forks may keep the socket open
MAX_SWEEP_ROUNDS = 10_000  # a program may start processes faster than they are killed


def supervisor(channel: int, judge: int) -> NoReturn:
    """Start zygotes and workers for the judge; when the judge ends, end them and this process."""
    roles: dict[str, ProcessRole] = {"zygote": zygote, "worker": restart_as_worker}
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        roles["worker"] = worker  # elsewhere, libraries do not work in a forked process
    _serve_children(socket.socket(fileno=channel), judge, roles)


def restart_as_worker(channel: int, parent: int) -> NoReturn:
    """Become a worker in a new interpreter instead of a fork."""
    os.set_inheritable(channel, True)
    command = [sys.executable, "-I", "-S", "-B", boot.__file__, "worker", str(channel), str(parent)]
    os.execv(sys.executable, command)


def zygote(channel: int, parent: int) -> NoReturn:
    """Import libraries, then fork a worker for each request."""
    die_with_parent(parent)
    connection = socket.socket(fileno=channel)
    _import_libraries(**_receive(connection))
    from . import serve  # noqa: F401  imported once for all workers
    from .walls import canary, landlock, seccomp  # noqa: F401

    shared = SharedConfig(**_receive(connection))
    seccomp.prepare(devices=shared.devices)
    assert has_one_thread(), "a library started a thread: forking is not safe"
    _serve_children(connection, parent, {"worker": functools.partial(worker, shared=shared)})


def worker(channel: int, parent: int, shared: SharedConfig | None = None) -> NoReturn:
    """Raise walls, test them, and run programs.

    A fork of a zygote gets `shared` from it, and already has its libraries.  Any other worker reads
    both configurations from the channel, and imports the libraries behind the walls.
    """
    from .walls import canary

    connection = socket.socket(fileno=channel)
    message = _receive(connection)
    own = WorkerConfig(**message["own"])
    has_zygote = shared is not None
    if shared is None:
        shared = SharedConfig(**message["shared"])
    os.environ.update(dict.fromkeys(control.FOLDERS, own.scratch))
    if "tempfile" in sys.modules:  # it may have cached the folder of the zygote
        vars(sys.modules["tempfile"])["tempdir"] = None
    os.chdir(own.scratch)
    missing = confine(own, shared, parent)
    if not has_zygote:
        _import_libraries(torch=shared.torch, site=shared.site)
        if shared.compiler:
            compiler.import_compiler()
    elif "numpy.random" in sys.modules:
        # Forks must not draw the same numbers.  `random` and `secrets` are seeded after a fork.
        sys.modules["numpy.random"].seed(int.from_bytes(os.urandom(4), "little"))
    from . import serve

    acts = canary.try_forbidden_acts(
        judge=shared.judge, judge_file=own.judge_file, forbidden=shared.forbidden
    )
    serve.serve(connection, acts, missing)


def _receive(connection: socket.socket) -> dict[str, Any]:
    """Return the next message of the judge; end this process if the judge has hung up."""
    received, _ = control.receive(connection)
    if received is None:
        os._exit(0)
    message: dict[str, Any] = received
    return message


def confine(own: WorkerConfig, shared: SharedConfig, parent: int) -> list[str]:
    """Raise all walls before any program runs, and make this process end with its parent.

    The order matters.  Limits come first, while they may still be set.  The user comes before
    `die_with_parent`, because changing the user clears that setting.  The seccomp filter comes
    last, because the other walls need calls that it refuses.

    Returns:
        One sentence for each missing wall, with the reason.
    """
    from .walls import landlock, seccomp

    kernel.set_limits(memory=shared.memory, cpu_seconds=own.cpu_seconds, threads=own.threads)
    if sys.platform != "linux":
        return [f"there are no walls on {sys.platform}, only limits"]
    with suppress(OSError):  # if memory runs out, Linux kills this process first
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="utf-8")
    unprivileged = kernel.drop_privileges(own.user, [*shared.readable, own.scratch])
    missing: dict[str, str | None] = {"privileges": unprivileged or own.why_root_stays}
    die_with_parent(parent)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # lets the judge read the memory use
    missing["Landlock"] = landlock.apply([*shared.grants, (landlock.WRITE, own.scratch)])
    missing["threads"] = None
    if not has_one_thread():
        missing["threads"] = "a thread was running before the walls were up"
    missing["seccomp"] = seccomp.apply(devices=shared.devices)
    return [f"{wall}: {reason}" for wall, reason in missing.items() if reason]


def die_with_parent(parent: int) -> None:
    """Make Linux kill this process when its parent ends; exit now if it has ended already."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def has_one_thread() -> bool:
    """Return True if this process has one thread, or the system does not tell.

    Other threads would be missing in a fork, and the walls would not apply to them.
    """
    tasks = Path("/proc/self/task")
    return not tasks.is_dir() or len(list(tasks.iterdir())) == 1


def _import_libraries(*, torch: bool, site: Sequence[str]) -> None:
    """Import numpy, and torch if it is used, from the folders `site`; then hide other packages.

    Objects that libraries create during their import are never freed.  Visiting them would take a
    tenth of the import time, and 0.2 s in every later collection.  So the garbage collector is off
    meanwhile, and ignores them later.
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
        sys.path[:] = stdlib  # numpy still finds its submodules; programs find no other packages
    gc.freeze()
    gc.enable()


class _OfferedModules(PathFinder):
    """Finds only numpy, torch and the packages that torch needs.

    Torch uses a dozen more packages if they are installed.  Results must not depend on that.
    """

    site: tuple[str, ...] = ()
    names = frozenset(name.removesuffix(".py") for name in control.PACKAGES[True])

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> Any:  # noqa: ANN401
        """Return the spec of a module; None if the module is not offered or not found."""
        spec = super().find_spec(name, path, target)
        if path is None and name not in cls.names:
            if spec and (spec.origin or "").startswith(cls.site):
                return None
        return spec

    @classmethod
    def find_distributions(cls, context: Any = None) -> Any:  # noqa: ANN401
        """Return the metadata of an offered package, such as its version; () for any other."""
        if context is None or context.name not in cls.names:
            return ()
        return super().find_distributions(context)


def _no_compiler(*_: object, **__: object) -> None:
    raise RuntimeError(
        "torch.compile is not available here: it starts a compiler, and a submission may not start "
        "programs; call the function without it"
    )


def _serve_children(
    connection: socket.socket, parent: int, roles: Mapping[str, ProcessRole]
) -> NoReturn:
    """Start and end children on request, until the judge hangs up or the parent has ended.

    Then end all children and this process.
    """
    live: set[int] = set()
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    with suppress(ConnectionError):
        while os.getppid() == parent:
            if not poll.poll(POLL_MILLISECONDS):
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
    """Fork a child that takes a role; return its id, or the reason if that failed.

    The two descriptors are the child's channel and its output; the parent closes them.
    """
    parent = os.getpid()
    try:
        child = os.fork()
    except OSError as error:
        return f"a process could not be started: {error.strerror}"
    finally:
        if os.getpid() == parent:
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
        role(channel, parent)
    except BaseException:  # noqa: BLE001 the judge shows the last line of output
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(boot.FAILED)


def _end(child: int, grace: float, live: set[int]) -> tuple[int, bool]:
    """End a child, its group and orphans; return its exit code, and True if it ended by itself.

    It is killed after `grace` seconds.
    """
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
    for kill in (os.killpg, os.kill):  # a new child does not lead a group yet
        with suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)


def _sweep(live: set[int]) -> None:
    """Kill orphans, and wait for them: children of this process that are not in `live`.

    They are left behind by a child that ended, see the module's docstring.
    """
    for _ in range(MAX_SWEEP_ROUNDS):
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
