"""Workers on other machines, imitated as far as one machine can."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.model.errors import GraderError, UsageError
from grader.sandbox import config
from grader.sandbox.client import LIMITED, PROCESS, STRONG, Isolation, WorkerClient
from grader.sandbox.scratch_folder import ScratchFolder
from grader.sandbox.spawn import Zygote
from grader.sandbox.worker import control
from grader.sandbox.worker.walls.landlock import READ
from tests.sandbox.running import Connected, load, run

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="walls are of Linux")
LIBRARIES = 5_000


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """Return a list for the GPUs that this machine pretends to have."""
    found: list[Path] = []
    monkeypatch.setattr(config, "_device", "auto")
    monkeypatch.setattr(Path, "glob", lambda _, __: found)
    config._existing_cuda_files.cache_clear()
    yield found
    config._existing_cuda_files.cache_clear()


def test_a_gpu_is_used_if_there_is_one(gpus: list[Path]) -> None:
    with pytest.raises(UsageError, match="expected a device of NVIDIA's, found none in /dev"):
        config.choose_device("cuda")
    with pytest.raises(UsageError, match="expected auto, cpu or cuda, found gpu"):
        config.choose_device("gpu")
    gpus.append(Path("/dev/nvidia0"))
    config._existing_cuda_files.cache_clear()
    config.choose_device("cuda")
    assert "/dev/nvidia0" in config.cuda_device_files()


def test_the_option_cpu_leaves_a_gpu_alone(gpus: list[Path]) -> None:
    gpus.append(Path("/dev/nvidia0"))
    assert "/dev/nvidia0" in config.cuda_device_files()
    config.choose_device("cpu")
    assert config.cuda_device_files() == ()
    assert not config.shared_config(torch=True).devices
    config.choose_device("auto")
    assert "/dev/nvidia0" in config.cuda_device_files()


def answered(*, zygote: Zygote | None) -> Isolation:
    """Return the isolation of a worker that has run something."""
    with WorkerClient(torch=False, zygote=zygote) as worker:
        isolation = worker.isolation
        assert run(load(worker, "def f(x): return 1")).values["y"] == 1
    return isolation


@LINUX
def test_without_known_system_calls_grading_works_at_level_limited(
    beginning_with: Callable[[str], None],
) -> None:
    beginning_with("import platform; platform.machine = lambda: 'riscv64'")
    cold = answered(zygote=None)
    with Zygote(torch=False) as zygote:
        forked = answered(zygote=zygote)
    for isolation in (cold, forked):
        assert isolation.level in {LIMITED, PROCESS}
        assert isolation.missing == ("seccomp: system calls of riscv64 are not known",)


def see_refused(message: str, *, forked: bool) -> None:
    """Check that a worker does not start, and that the reason is shown."""
    with (
        Zygote(torch=False) if forked else contextlib.nullcontext() as zygote,
        WorkerClient(torch=False, zygote=zygote) as worker,
        pytest.raises(GraderError, match=message),
    ):
        _ = worker.isolation


FAILS = {  # what fails in which process, and whether the worker is forked
    "worker": ("kernel.drop_privileges = lambda *_: {}['this machine']", False),
    "fork": ("kernel.drop_privileges = lambda *_: {}['this machine']", True),
    "zygote": ("seccomp.prepare = lambda **_: {}['this machine']", True),
}


@LINUX
@pytest.mark.parametrize("process", FAILS)
def test_a_worker_that_fails_to_start_shows_the_last_line_of_its_traceback(
    process: str, beginning_with: Callable[[str], None]
) -> None:
    fails, forked = FAILS[process]
    beginning_with(f"from worker.walls import kernel, seccomp; {fails}")
    see_refused("did not start: KeyError: 'this machine'", forked=forked)


@pytest.mark.parametrize("forked", [False, True], ids=["cold", "forked"])
def test_an_error_of_python_at_startup_is_shown_too(
    forked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "BOOT", Path("/nowhere/boot.py"))
    see_refused(r"did not start.*boot\.py", forked=forked)


@pytest.mark.parametrize("forked", [False, True], ids=["cold", "forked"])
def test_a_library_that_cannot_be_imported_says_why(
    forked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text("raise ImportError('numpy is broken here')")
    granted = ((READ, str(tmp_path)), *config.landlock_grants(torch=False))
    monkeypatch.setattr(config, "site_folders", lambda: (str(tmp_path),))
    monkeypatch.setattr(config, "landlock_grants", lambda **_: granted)
    needed = (*config._needed_files(), str(tmp_path / "numpy" / "__init__.py"))
    monkeypatch.setattr(config, "_needed_files", lambda: needed)
    see_refused("numpy is broken here", forked=forked)


@LINUX
def test_a_system_with_thousands_of_libraries_in_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Libraries next to packages are granted one by one: too many for an argument of a command."""
    flat = [tmp_path / f"libsomething-of-this-system-{n}.so.{n}.0.0" for n in range(LIBRARIES)]
    for library in flat:
        library.touch()
    granted = (*config.landlock_grants(torch=False), *((READ, str(library)) for library in flat))
    assert sum(len(path) for _, path in granted) > 2 * 128 << 10  # MAX_ARG_STRLEN, twice
    monkeypatch.setattr(config, "landlock_grants", lambda **_: granted)
    with_all = answered(zygote=None).level
    with Zygote(torch=False) as zygote:
        assert answered(zygote=zygote).level == with_all == STRONG


def test_without_safe_forks_a_worker_starts_in_a_new_interpreter(tmp_path: Path) -> None:
    """The supervisor does that on systems other than Linux."""
    made = ScratchFolder()
    ours, theirs = socket.socketpair()
    with ours, (tmp_path / "log").open("wb") as log:
        with theirs:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", "-B", "-c"),
                    f"import sys; sys.path[:0] = [{str(config.BOOT.parents[1])!r}]\n"
                    "from worker import roles\n"
                    f"roles.restart_as_worker({theirs.fileno()}, {os.getpid()})",
                ],
                pass_fds=[theirs.fileno()],
                stdout=log,
                stderr=log,
            )
        own, shared = config.worker_config(made, 60), config.shared_config(torch=False)
        control.send(ours, {"own": own._asdict(), "shared": shared._asdict()})
        said = (tmp_path / "log").read_text
        client = Connected(ours, log.fileno(), drain=lambda: False, death=said)
        reply = client.answer("reportisolation", seconds=60)
        assert Isolation(**reply["reply"]).level == (STRONG if sys.platform == "linux" else LIMITED)
    assert process.wait(30) == 0
    made.remove()
