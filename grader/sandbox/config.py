"""What a worker is configured with, on this machine: limits, and the files that it may read.

Those are Python's own library, the system's shared libraries, numpy, in a torch question torch with
what it imports, and the worker's own folder.  Not: other packages, the bank, this program,
anybody's home.
"""

from __future__ import annotations

import functools
import os
import stat
import sys
import sysconfig
from pathlib import Path

from grader.model.errors import UsageError
from grader.model.limits import MAX_MEMORY_BYTES, SPARE_THREADS
from grader.sandbox.scratch_folder import ScratchFolder
from grader.sandbox.worker.control import FOLDERS, PACKAGES, USER, SharedConfig, WorkerConfig
from grader.sandbox.worker.walls import kernel
from grader.sandbox.worker.walls.landlock import LIST_FOLDER, READ, USE_DEVICE, Grant

WORKER = Path(__file__).parent / "worker"
BOOT = WORKER / "boot.py"
# Nothing here says how much memory other processes have: through that two submissions could talk.
_SYSTEM = (
    "/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/dev/urandom", "/dev/random",
    "/proc/cpuinfo", "/sys/devices/system/cpu",  # the C library and torch count processors
    "/proc/sys/vm/overcommit_memory",  # a setting, by which the C library gives memory back
    "/usr/local/nvidia/lib64",  # CUDA's driver in a container of Kubernetes
    # Of /proc/self not all: its `net` shows every connection of the machine.
    *(f"/proc/self/{name}" for name in ("maps", "status", "stat", "statm", "limits")),
)  # fmt: skip
_LISTED = ("/proc/self/task", "/proc/self/fd")
_DEVICES = ("/dev/null", "/dev/zero")
# The driver names the threads that it starts, through files, and asks for the machine's memory.
_CUDA = (
    "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/proc/driver/nvidia",
    "/proc/self/task", "/proc/meminfo", "/proc/stat", "/sys/devices/system/node",
)  # fmt: skip
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")


def shared_config(*, torch: bool, compiler: bool = False) -> SharedConfig:
    """What holds for every worker that a zygote forks, or for one that starts afresh."""
    cards = cuda_device_files() if torch else ()
    sites = site_folders()
    # Another package is out of sight; of torch a worker of numpy tries whether it is.
    torch_files = [str(Path(p, "torch", "__init__.py")) for p in sites]
    return SharedConfig(
        torch=torch,
        site=sites,
        memory=0 if cards else MAX_MEMORY_BYTES[torch],  # CUDA reserves far more than it uses
        judge=os.getpid(),
        grants=landlock_grants(torch=torch, devices=(*_DEVICES, *cards))
        if sys.platform == "linux"
        else (),
        devices=bool(cards),
        readable=_needed_files(),
        kept=[__file__, "/etc/passwd", *([] if torch else torch_files)],
        compiler=compiler,
    )


def worker_config(scratch: ScratchFolder, cpu_seconds: int) -> WorkerConfig:
    """What holds for one worker; its scratch folder becomes its own."""
    stays = "" if sys.platform != "linux" or os.getuid() else _why_root_stays(scratch.root)
    user = None if stays else scratch.chown_to_worker_user()
    return WorkerConfig(
        cpu_seconds=cpu_seconds,
        user=user,
        stays=stays,
        threads=SPARE_THREADS + (0 if user is not None else _threads_here()),
        scratch=scratch.folder,
        private=scratch.lock_file,
    )


def _why_root_stays(temporary: Path) -> str:
    """Return why root's workers stay root; '' if another user can do a worker's job.

    A worker reads Python's files and writes in the temporary folder.
    """
    if kernel.capabilities("CapEff") & kernel.READ_SEARCH:
        return ""  # a worker keeps it if it has to
    hidden = next(filter(None, map(_closed, (*_needed_files(), str(temporary)))), None)
    if hidden is None:
        return ""
    return (
        f"other users cannot read {hidden}, and this root lacks CAP_DAC_READ_SEARCH, so that "
        "workers stay root"
    )


def _closed(path: str) -> Path | None:
    """Return the first part of a path that other users cannot enter or read, if there is one."""
    for whole in dict.fromkeys((Path(path), Path(path).resolve())):
        for part in (*reversed(whole.parents), whole):
            needed = stat.S_IXOTH if part.is_dir() else stat.S_IROTH
            if not part.stat().st_mode & needed:
                return part
    return None


@functools.cache
def _needed_files() -> tuple[str, ...]:
    """Files without which a worker cannot run."""
    packages = (Path(site, name) for site in site_folders() for name in ("numpy", "torch"))
    libraries = (str(package / "__init__.py") for package in packages)
    return (os.__file__, str(WORKER / "serve.py"), *filter(os.path.isfile, libraries))


def worker_environment(folder: str) -> dict[str, str]:
    """A closed environment: nothing of the judge's, one thread per library.

    C's heap would take 64 MB of addresses for each of a program's own threads, and use none of it;
    with many threads that alone would reach the limit.  What a thread keeps ready of small pieces
    counts as handed out; without it, `measure.kept` need not trace what a program has freed.
    """
    threads = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "MALLOC_ARENA_MAX": "2",
        "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        **dict.fromkeys(FOLDERS, folder),
        **dict.fromkeys(USER, "drill"),
        **{f"{name}_NUM_THREADS": "1" for name in threads},
    }


def _threads_here() -> int:
    """Threads on this machine: at least those of this user, among which the kernel counts."""
    try:
        return int(Path("/proc/loadavg").read_text(encoding="ascii").split()[3].split("/")[1])
    except (OSError, ValueError, IndexError):
        return 4096


@functools.cache
def landlock_grants(*, torch: bool, devices: tuple[str, ...] = _DEVICES) -> tuple[Grant, ...]:
    """Rights and paths for `landlock`, without the scratch folder."""
    sites = site_folders()
    packages = [str(Path(site, name)) for site in sites for name in PACKAGES[torch]]
    return (
        *((READ, path) for path in dict.fromkeys([str(WORKER), *_SYSTEM, *packages, *_python()])),
        *(
            (LIST_FOLDER, path) for path in (*sites, *_LISTED)
        ),  # the import system looks modules up there
        *((USE_DEVICE, path) for path in devices),
    )


@functools.cache
def site_folders() -> tuple[str, ...]:
    """Folders from which a worker imports numpy and torch: those of the running interpreter."""
    names = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    found = [name for name in names if Path(name).is_dir()]
    # A development install or `python -m venv --system-site-packages` may keep numpy elsewhere.
    extra = [p for p in sys.path if p.endswith("-packages") and p not in found and Path(p).is_dir()]
    return (*found, *extra)


def _python() -> list[str]:
    """Python's library and those of the system, without the packages that lie among them."""
    own = Path(os.__file__).parent.resolve()
    roots = [*map(Path, _LIBRARIES)]
    # Debian keeps libraries in a folder named for the machine, which spares the rest.
    triplet = getattr(sys.implementation, "_multiarch", "")
    if triplet and (narrow := [root / triplet for root in roots if (root / triplet).is_dir()]):
        roots = [*narrow, Path("/lib64"), Path("/usr/lib64")]
    if (base := Path(sys.base_prefix)) not in {Path("/usr"), Path("/")}:
        roots += [base / "lib", base / "lib64"]
    found = [path for path in own.iterdir() if not path.name.endswith("-packages")]
    for root in {root.resolve() for root in roots if root.is_dir()}:
        inside = list(root.iterdir())
        others = [path for path in inside if not path.name.startswith("python")]
        found += [root] if others == inside else others  # the fewer, the sooner a worker starts
    return [str(path) for path in found]


_device = "auto"


def choose_device(device: str) -> None:
    """Choose where what is asked of a GPU is measured, before a worker starts.

    Args:
        device: `auto`, where there is one; `cpu`, nowhere; `cuda`, where there has to be one.

    Raises:
        UsageError: it is none of these, or there is no device.
    """
    if device not in {"auto", "cpu", "cuda"}:
        raise UsageError(f"--device: expected auto, cpu or cuda, found {device}")
    global _device
    _device = device
    if device == "cuda" and not cuda_device_files():
        raise UsageError(
            "--device cuda: expected a device of NVIDIA's, found none in /dev",
            hint="without the option, what needs one is left out",
        )


def cuda_device_files() -> tuple[str, ...]:
    """Return the files of CUDA's devices; none if torch may not use one."""
    return () if _device == "cpu" else _cuda_files()


@functools.cache
def _cuda_files() -> tuple[str, ...]:
    cards = [str(p) for p in Path("/dev").glob("nvidia[0-9]*")]
    return (*_CUDA, *cards) if cards else ()
