"""Attacks on the next submission, and of a fork on its zygote."""

from __future__ import annotations

from tests.attacks.attack import ERROR, PASS, Attack

# fmt: off
ATTACKS = (
    Attack(
        "same-numbers-in-every-fork",
        "hopes that forks of one process draw the same numbers, and is right all the same",
        "import random, secrets\nprint(np.random.rand(), random.random(), secrets.token_hex())",
        verdict=PASS, says="pass",
    ),
    Attack(
        "environment-and-arguments", "prints all that it was given",
        """
        def centre(x, w):
            told = repr([sys.argv, dict(os.environ), os.listdir(".")])
            allowed = {"PATH", "LANG", "LC_CTYPE", "HOME", "TMPDIR", "MALLOC_ARENA_MAX"}
            allowed |= {"GLIBC_TUNABLES", "USER", "LOGNAME", "XDG_CACHE_HOME", "TORCH_HOME"}
            allowed |= {"TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"}
            allowed.add("TORCHINDUCTOR_COMPILE_THREADS")
            assert os.environ["USER"] == os.environ["LOGNAME"] == "drill", told
            extra = {n for n in os.environ if n not in allowed and not n.endswith("_NUM_THREADS")}
            assert not extra, extra
            assert sys.argv == ["worker"] and os.listdir(".") == [], told
            raise LookupError("nothing is given")
        """,
        verdict=ERROR, says="nothing is given",
    ),
    Attack(
        "what-the-machine-has-free",
        "reads how much memory and disk other submissions take, which may be a message of theirs",
        acts="""
        import shutil
        for path in ("/proc/meminfo", "/proc/stat", "/proc/vmstat", "/proc/loadavg",
                     "/proc/zoneinfo", "/proc/buddyinfo", "/proc/pressure/memory",
                     "/proc/sys/fs/file-nr"):
            attempt(path, lambda: open(path).read(), also=(errno.ENOENT,))
        for name in ("meminfo", "numastat", "vmstat"):
            path = f"/sys/devices/system/node/node0/{name}"
            attempt(path, lambda: open(path).read(), also=(errno.ENOENT,))
        room = ctypes.create_string_buffer(1024)
        attempt("sysinfo", call, 99, 179, room)
        attempt("ustat", call, 136, None, 0, room)
        for path in (".", "/", "/dev/shm"):
            attempt(f"statfs {path}", os.statvfs, path)
            attempt(f"disk_usage {path}", shutil.disk_usage, path)
        attempt("fstatfs", os.fstatvfs, os.open(".", os.O_RDONLY))
        """,
    ),
)
