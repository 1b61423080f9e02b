"""Workers on machines unlike the one this was written on: faked as far as one machine can."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.model.errors import GraderError
from grader.sandbox import config, levels
from grader.sandbox.client import WorkerClient
from grader.sandbox.levels import LIMITED, PROCESS, STRONG
from grader.sandbox.scratch import Scratch
from grader.sandbox.spawn import Zygote, zygote_if_safe
from grader.sandbox.worker import control
from grader.sandbox.worker.walls.landlock import READ
from tests.sandbox.running import Connected, load, run

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="walls are of Linux")
LIBRARIES = 5_000


@pytest.fixture
def beginning_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Have every process of ours begin with some lines, in which another machine is faked."""

    def begin(lines: str) -> None:
        source = config.BOOT.read_text(encoding="utf-8")
        here = f"os.path.dirname(os.path.abspath({str(config.BOOT)!r}))"
        source = source.replace("os.path.dirname(os.path.abspath(__file__))", here)
        marker = "    from worker import roles"
        line = next(row for row in source.splitlines() if row.startswith(marker))
        boot = tmp_path / "boot.py"
        boot.write_text(source.replace(line, f"    {lines}\n{line}"), encoding="utf-8")
        monkeypatch.setattr(config, "BOOT", boot)

    return begin


def answered(*, zygote: Zygote | None) -> levels.Isolation:
    """What a worker says of itself that has run something."""
    with WorkerClient(torch=False, zygote=zygote) as worker:
        isolation = worker.isolation
        assert run(load(worker, "def f(x): return 1")).values["y"] == 1
    return isolation


@LINUX
@pytest.mark.parametrize("machine", ["riscv64", "ppc64le"])
def test_where_system_calls_are_not_known_grading_works_and_says_limited(
    machine: str, beginning_with: Callable[[str], None]
) -> None:
    beginning_with(f"import platform; platform.machine = lambda: {machine!r}")
    cold = answered(zygote=None)
    with Zygote(torch=False) as zygote:
        forked = answered(zygote=zygote)
    for isolation in (cold, forked):
        assert isolation.level in {LIMITED, PROCESS}
        assert isolation.missing == (f"seccomp: system calls of {machine} are not known",)


@LINUX
@pytest.mark.parametrize("forked", [False, True], ids=["cold", "forked"])
def test_a_worker_that_fails_to_start_shows_the_last_line_of_its_traceback(
    forked: bool, beginning_with: Callable[[str], None]
) -> None:
    beginning_with(
        "from worker.walls import identity; identity.apply = lambda *_: {}['this machine']"
    )
    zygote = zygote_if_safe(torch=False) if forked else None
    with (
        WorkerClient(torch=False, zygote=zygote) as worker,
        pytest.raises(GraderError, match="did not start: KeyError: 'this machine'"),
    ):
        _ = worker.isolation
    if zygote is not None:
        zygote.close()


@LINUX
def test_a_zygote_that_fails_to_start_shows_the_last_line_of_its_traceback(
    beginning_with: Callable[[str], None],
) -> None:
    beginning_with("from worker.walls import seccomp; seccomp.prepare = lambda **_: {}['filters']")
    with (
        Zygote(torch=False) as zygote,
        WorkerClient(torch=False, zygote=zygote) as worker,
        pytest.raises(GraderError, match="did not start: KeyError: 'filters'"),
    ):
        _ = worker.isolation


@LINUX
def test_a_system_with_thousands_of_libraries_in_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is granted by name where packages lie between them; no argument may be so long."""
    flat = [tmp_path / f"libsomething-of-this-system-{n}.so.{n}.0.0" for n in range(LIBRARIES)]
    for library in flat:
        library.touch()
    granted = (*config.grants(torch=False), *((READ, str(library)) for library in flat))
    assert sum(len(path) for _, path in granted) > 2 * 128 << 10  # MAX_ARG_STRLEN, twice
    monkeypatch.setattr(config, "grants", lambda **_: granted)
    with_all = answered(zygote=None).level
    with Zygote(torch=False) as zygote:
        assert answered(zygote=zygote).level == with_all == STRONG


def test_a_worker_can_start_over_as_a_program_where_forks_are_not_safe(tmp_path: Path) -> None:
    """As the supervisor has it done on systems other than Linux."""
    made = Scratch()
    ours, theirs = socket.socketpair()
    with ours, (tmp_path / "log").open("wb") as log:
        with theirs:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", "-B", "-c"),
                    f"import sys; sys.path[:0] = [{str(config.BOOT.parents[1])!r}]\n"
                    "from worker import roles\n"
                    f"roles.start_over({theirs.fileno()}, {os.getpid()})",
                ],
                pass_fds=[theirs.fileno()],
                stdout=log,
                stderr=log,
            )
        own, shared = config.worker(made, 60), config.shared(torch=False)
        control.send(ours, {"own": own._asdict(), "shared": shared._asdict()})
        said = (tmp_path / "log").read_text
        client = Connected(ours, log.fileno(), drain=lambda: False, death=said)
        reply = client.answer("walls", seconds=60)
        assert levels.read(reply["reply"]).level == (STRONG if sys.platform == "linux" else LIMITED)
    assert process.wait(30) == 0
    made.remove()
