"""The configuration of workers on this machine: their limits, and the files that they may read.

A worker may read Python's standard library, the system's shared libraries, numpy, the worker's own
folder, and in a torch question torch with its dependencies.  It may not read other packages, the
bank, this program or home folders.
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
# No file here shows how much memory other processes use: two submissions could communicate by it.
_SYSTEM_FILES = (
    "/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/dev/urandom", "/dev/random",
    "/proc/cpuinfo", "/sys/devices/system/cpu",  # the C library and torch count processors
    "/proc/sys/vm/overcommit_memory",  # decides how the C library frees memory
    "/usr/local/nvidia/lib64",  # CUDA's driver in a Kubernetes container
    # Not all of /proc/self: its `net` shows every connection of the machine.
    *(f"/proc/self/{name}" for name in ("maps", "status", "stat", "statm", "limits")),
)  # fmt: skip
_LISTED_FOLDERS = ("/proc/self/task", "/proc/self/fd")
_DEVICES = ("/dev/null", "/dev/zero")
# CUDA's driver names its threads through files, and reads the memory of the machine.
_CUDA_FILES = (
    "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/proc/driver/nvidia",
    "/proc/self/task", "/proc/meminfo", "/proc/stat", "/sys/devices/system/node",
)  # fmt: skip
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")


def shared_config(*, torch: bool, compiler: bool = False) -> SharedConfig:
    """Return the configuration of all workers that a zygote forks, or of one that starts afresh."""
    cuda_files = cuda_device_files() if torch else ()
    grants: tuple[Grant, ...] = ()
    if sys.platform == "linux":
        grants = landlock_grants(torch=torch, devices=(*_DEVICES, *cuda_files))
    forbidden_files = [__file__, "/etc/passwd"]
    if not torch:  # a worker that cannot read torch cannot read other packages either
        forbidden_files += [str(Path(site, "torch", "__init__.py")) for site in site_folders()]
    return SharedConfig(
        torch=torch,
        site=site_folders(),
        memory=0 if cuda_files else MAX_MEMORY_BYTES[torch],  # CUDA reserves more than it uses
        judge=os.getpid(),
        grants=grants,
        devices=bool(cuda_files),
        readable=_needed_files(),
        forbidden=forbidden_files,
        compiler=compiler,
    )


def worker_config(scratch: ScratchFolder, cpu_seconds: int) -> WorkerConfig:
    """Return the configuration of one worker.

    If the judge is root, the worker gets a user id of its own where possible, and its folder is
    given to that user.
    """
    why_root_stays = ""
    if sys.platform == "linux" and os.getuid() == 0:
        why_root_stays = _why_root_stays(scratch.root)
    user = None if why_root_stays else scratch.chown_to_worker_user()
    threads = SPARE_THREADS
    if user is None:  # then the kernel counts threads of the judge's user as well
        threads += _running_threads()
    return WorkerConfig(
        cpu_seconds=cpu_seconds,
        user=user,
        why_root_stays=why_root_stays,
        threads=threads,
        scratch=scratch.folder,
        judge_file=scratch.lock_file,
    )


def _why_root_stays(temporary: Path) -> str:
    """Return why root's workers stay root; '' if they can take another user.

    Another user must be able to read Python's files and to write in the temporary folder.
    """
    if kernel.capabilities("CapEff") & kernel.READ_SEARCH:
        return ""  # a worker keeps this capability if it needs it
    for path in (*_needed_files(), str(temporary)):
        unreadable = _unreadable_part(path)
        if unreadable is not None:
            return (
                f"other users cannot read {unreadable}, and this root lacks "
                "CAP_DAC_READ_SEARCH, so that workers stay root"
            )
    return ""


def _unreadable_part(path: str) -> Path | None:
    """Return the first folder or file on a path that is closed to other users; None if none is."""
    for variant in dict.fromkeys((Path(path), Path(path).resolve())):
        for part in (*reversed(variant.parents), variant):
            permission = stat.S_IXOTH if part.is_dir() else stat.S_IROTH
            if not part.stat().st_mode & permission:
                return part
    return None


@functools.cache
def _needed_files() -> tuple[str, ...]:
    """Return one file of each thing that a worker must read: Python, `worker`, numpy, torch."""
    files = [os.__file__, str(WORKER / "serve.py")]
    for site in site_folders():
        for package in ("numpy", "torch"):
            file = Path(site, package, "__init__.py")
            if file.is_file():
                files.append(str(file))
    return tuple(files)


def worker_environment(folder: str) -> dict[str, str]:
    """Return all environment variables of a worker; the judge's variables are not passed on.

    Each library may use one thread.  Without MALLOC_ARENA_MAX the C library would reserve 64 MB of
    addresses for each thread of a program, most of them unused, and many threads would reach the
    limit.  Without `tcache_count=0` it would count small freed pieces as allocated, and
    `measure.kept_memory` would have to trace them.
    """
    libraries = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "MALLOC_ARENA_MAX": "2",
        "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        **dict.fromkeys(FOLDERS, folder),
        **dict.fromkeys(USER, "drill"),
        **{f"{library}_NUM_THREADS": "1" for library in libraries},
    }


def _running_threads() -> int:
    """Return the number of threads of all users on this machine; 4096 if it is unknown."""
    try:
        running_and_all = Path("/proc/loadavg").read_text(encoding="ascii").split()[3]
        return int(running_and_all.split("/")[1])
    except (OSError, ValueError, IndexError):
        return 4096


@functools.cache
def landlock_grants(*, torch: bool, devices: tuple[str, ...] = _DEVICES) -> tuple[Grant, ...]:
    """Return pairs (rights, path) of all that a worker may use, except for its scratch folder.

    `devices` are the device files that it may read and write.
    """
    sites = site_folders()
    packages = [str(Path(site, name)) for site in sites for name in PACKAGES[torch]]
    readable = dict.fromkeys([str(WORKER), *_SYSTEM_FILES, *packages, *_library_paths()])
    listed = (*sites, *_LISTED_FOLDERS)  # the import system looks for modules in the sites
    return (
        *((READ, path) for path in readable),
        *((LIST_FOLDER, path) for path in listed),
        *((USE_DEVICE, path) for path in devices),
    )


@functools.cache
def site_folders() -> tuple[str, ...]:
    """Return the folders of packages of this interpreter, where a worker finds numpy and torch."""
    names = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    folders = [name for name in names if Path(name).is_dir()]
    # A development install or `python -m venv --system-site-packages` may have numpy elsewhere.
    for path in sys.path:
        if path.endswith("-packages") and path not in folders and Path(path).is_dir():
            folders.append(path)
    return tuple(folders)


def _library_paths() -> list[str]:
    """Return paths of the standard library and the system's shared libraries, without packages."""
    standard_library = Path(os.__file__).parent.resolve()
    paths = [path for path in standard_library.iterdir() if not path.name.endswith("-packages")]
    for folder in {folder.resolve() for folder in _library_folders() if folder.is_dir()}:
        content = list(folder.iterdir())
        others = [path for path in content if not path.name.startswith("python")]
        if others == content:
            paths.append(folder)  # the fewer paths, the sooner a worker starts
        else:
            paths += others
    return [str(path) for path in paths]


def _library_folders() -> list[Path]:
    """Return folders that may contain shared libraries."""
    folders = [Path(name) for name in _LIBRARIES]
    # Debian has a subfolder for each kind of machine; only this one's is needed.
    triplet = getattr(sys.implementation, "_multiarch", "")
    own_folders = [folder / triplet for folder in folders if (folder / triplet).is_dir()]
    if triplet and own_folders:
        folders = [*own_folders, Path("/lib64"), Path("/usr/lib64")]
    base = Path(sys.base_prefix)
    if base not in {Path("/usr"), Path("/")}:
        folders += [base / "lib", base / "lib64"]
    return folders


_device = "auto"


def choose_device(device: str) -> None:
    """Choose if checks that need a GPU are measured; call this before any worker starts.

    Args:
        device: `auto`: measure if there is a GPU; `cpu`: never; `cuda`: always, needs a GPU.

    Raises:
        UsageError: `device` is another text, or no GPU was found.
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
    """Return the files that CUDA needs; empty if there is no device or torch may not use it."""
    return () if _device == "cpu" else _existing_cuda_files()


@functools.cache
def _existing_cuda_files() -> tuple[str, ...]:
    cards = [str(path) for path in Path("/dev").glob("nvidia[0-9]*")]
    return (*_CUDA_FILES, *cards) if cards else ()
