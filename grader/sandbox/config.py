"""What a worker is configured with, on this machine: limits, and the files that it may read.

Those are Python's own library, the system's shared libraries, numpy, in a torch question torch with
what it imports, and the worker's own folder.  Not: other packages, the bank, this program,
anybody's home.
"""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Collection, Sequence
from pathlib import Path

from grader.sandbox.scratch import Scratch
from grader.sandbox.worker.control import SharedConfig, WorkerConfig
from grader.sandbox.worker.walls.landlock import LIST, READ, USE, Grant

WORKER = Path(__file__).parent / "worker"
BOOT = WORKER / "boot.py"
# Bytes of a worker without and with torch; one with numpy takes 0.14 GB by itself.
MEMORY = {False: 2 << 30, True: 8 << 30}
CPU_SECONDS = 120  # of a worker for one submission
# What torch imports when it is used: gradients with cotangents the first of these, 0.25 s, and
# its checkpoints the second, 0.5 s more; together 80 MB.
TORCH_USES_LATE = ("torch.fx.experimental.symbolic_shapes", "torch._dynamo")
SPARE_THREADS = 64  # beyond those that run already
# What numpy and torch 2 import, at once or when needed, and the libraries of its CUDA builds.
_PACKAGES = {
    False: ("numpy", "numpy.libs"),
    True: (
        "numpy", "numpy.libs", "torch", "torch.libs", "torchgen", "functorch",
        "typing_extensions.py", "sympy", "mpmath", "networkx", "jinja2", "markupsafe", "filelock",
        "fsspec", "nvidia", "triton",
    ),
}  # fmt: skip
_SYSTEM = (
    "/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/dev/urandom", "/dev/random",
    "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu", "/sys/devices/system/node",
    # Of /proc/self not all: its `net` shows every connection of the machine.
    *(f"/proc/self/{name}" for name in ("maps", "status", "stat", "statm", "limits")),
)  # fmt: skip
_LISTED = ("/proc/self/task", "/proc/self/fd")
_DEVICES = ("/dev/null", "/dev/zero")
_CUDA = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/proc/driver/nvidia")
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
# What a fresh Python has in site-packages; a folder with nothing else needs no hiding.
_HARMLESS = (
    "pip", "setuptools", "wheel", "pkg_resources", "_distutils_hack", "distutils-", "README",
    "__pycache__",
)  # fmt: skip


def shared(*, torch: bool) -> SharedConfig:
    """What holds for every worker that a zygote forks."""
    on_gpu = torch and bool(cuda())
    sites = site_folders()
    # Another package is out of sight; of torch a worker of numpy tries whether it is.
    torch_files = [str(Path(p, "torch", "__init__.py")) for p in sites]
    return SharedConfig(
        torch=torch,
        site=sites,
        memory=0 if on_gpu else MEMORY[torch],  # CUDA reserves far more than it uses
        judge=os.getpid(),
        grants=grants(torch=torch) if sys.platform == "linux" else (),
        devices=on_gpu,
        readable=[
            os.__file__,
            str(WORKER / "serve.py"),
            *(str(Path(p, "numpy", "__init__.py")) for p in sites[:1]),
        ],
        kept=[__file__, "/etc/passwd", *([] if torch else torch_files)],
    )


def worker(scratch: Scratch, cpu_seconds: int, ahead: Sequence[str] = ()) -> WorkerConfig:
    """What holds for one worker; its scratch folder becomes its own."""
    user = scratch.give_away()
    return WorkerConfig(
        cpu_seconds=cpu_seconds,
        user=user,
        threads=SPARE_THREADS + (0 if user is not None else _threads_here()),
        scratch=scratch.folder,
        private=scratch.private,
        ahead=ahead,
    )


def environment(folder: str) -> dict[str, str]:
    """A closed environment: nothing of the judge's, one thread per library.

    C's heap would take 64 MB of addresses for each of a program's own threads, and use none of it;
    with many threads that alone would reach the limit.
    """
    threads = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": folder,
        "TMPDIR": folder,
        "MALLOC_ARENA_MAX": "2",
        **{f"{name}_NUM_THREADS": "1" for name in threads},
    }


def _threads_here() -> int:
    """Threads on this machine: at least those of this user, among which the kernel counts."""
    try:
        return int(Path("/proc/loadavg").read_text(encoding="ascii").split()[3].split("/")[1])
    except (OSError, ValueError, IndexError):
        return 4096


@functools.cache
def grants(*, torch: bool) -> tuple[Grant, ...]:
    """Rights and paths for `landlock`, without the scratch folder."""
    sites = site_folders()
    packages = [str(Path(site, name)) for site in sites for name in _PACKAGES[torch]]
    above = {parent for folder in _hidden() for parent in folder.parents}
    around = [path for root in _roots() for path in _around(root.resolve(), above)]
    return (
        *((READ, path) for path in dict.fromkeys([str(WORKER), *_SYSTEM, *packages, *around])),
        *((LIST, path) for path in (*sites, *_LISTED)),  # the import system looks modules up there
        *((USE, path) for path in (*_DEVICES, *(cuda() if torch else ()))),
    )


@functools.cache
def site_folders() -> tuple[str, ...]:
    """Folders from which a worker imports numpy and torch: those of the running interpreter."""
    names = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    found = [name for name in names if Path(name).is_dir()]
    # A development install or `python -m venv --system-site-packages` may keep numpy elsewhere.
    extra = [p for p in sys.path if p.endswith("-packages") and p not in found and Path(p).is_dir()]
    return (*found, *extra)


def _roots() -> list[Path]:
    roots = [Path(os.__file__).parent]
    if (base := Path(sys.base_prefix)) not in {Path("/usr"), Path("/")}:
        roots += [base / "lib", base / "lib64"]
    # Debian keeps libraries in a folder named for the machine, which spares the rest.
    triplet = getattr(sys.implementation, "_multiarch", "")
    narrow = [p for root in _LIBRARIES if triplet and (p := Path(root, triplet)).is_dir()]
    roots += [*narrow, Path("/lib64"), Path("/usr/lib64")] if narrow else map(Path, _LIBRARIES)
    return [root for root in roots if root.is_dir()]


@functools.cache
def _hidden() -> frozenset[Path]:
    """Folders of packages that lie within what is granted."""
    found = {Path(p).resolve() for p in site_folders()}
    for root in _roots():
        # Not Path.glob, which asks about every entry of /usr/lib before it looks at its name.
        pythons = [f"{root}/{name}" for name in _names(root) if name.startswith("python3")]
        inside = [f"{python}/{name}" for python in pythons for name in _names(python)]
        for folder in (str(root), *pythons, *inside):
            sites = (f"{folder}/site-packages", f"{folder}/dist-packages")
            full = (p for p in sites if any(not n.startswith(_HARMLESS) for n in _names(p)))
            found |= {Path(p).resolve() for p in full}
    return frozenset(found)


def _names(folder: str | Path) -> list[str]:
    try:
        return [path.name for path in Path(folder).iterdir()]
    except OSError:
        return []


def _around(path: Path, above: Collection[Path]) -> list[str]:
    """Paths that together hold everything under one, except hidden folders, given those above."""
    if path in _hidden() or (path.is_symlink() and path.resolve() in _hidden()):
        return []
    if path not in above:
        return [str(path)]
    return [found for inside in path.iterdir() for found in _around(inside, above)]


@functools.cache
def cuda() -> tuple[str, ...]:
    """The files of CUDA's devices; none where there is no device that torch might use."""
    cards = [str(p) for p in Path("/dev").glob("nvidia[0-9]*")]
    return (*_CUDA, *cards) if cards else ()
