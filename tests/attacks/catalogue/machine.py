"""Attacks on resources of the machine: time, memory, threads, files, output."""

from __future__ import annotations

from tests.attacks.attack import ERROR, LIMIT, Attack

OVERRUN = r"did not finish within 0\.3 seconds"

# fmt: off
ATTACKS = (
    Attack(
        "endless-loop", "never ends",
        "def centre(x, w):\n    while True: pass",
        verdict=LIMIT, says=OVERRUN, seconds=0.3,
    ),
    Attack(
        "deaf-and-asleep", "ignores all signals and sleeps while it is loaded",
        """
        import signal
        for number in range(1, 65):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
        time.sleep(600)
        """,
        verdict=LIMIT, says=r"was idle for more than 0\.3 seconds.* while it was being loaded",
        seconds=0.3,
    ),
    Attack(
        "processor-time", "uses more processor time than it may, in many threads of C",
        """
        import hashlib
        def centre(x, w):
            run = lambda: [hashlib.sha256(bytes(1 << 22)).digest() for _ in range(10**6)]
            threads = [threading.Thread(target=run) for _ in range(4)]
            [t.start() for t in threads]; [t.join() for t in threads]
        """,
        verdict=LIMIT, says="used up its CPU time", seconds=30, cpu_seconds=1,
    ),
    Attack(
        "memory", "6 GB of memory",
        "def centre(x, w):\n    return np.ones(6 << 27), None",
        verdict=LIMIT, says="Memory",
    ),
    Attack(
        "memory-without-owner", "files in memory, shared segments, locked, secret and huge pages",
        acts="""
        import mmap
        for _ in range(40):
            attempt("memory file", os.memfd_create, "x")
        attempt("huge", os.memfd_create, "x", 4)
        attempt("segment", call, 29, 194, 0, 1 << 30, 0o1600)
        attempt("lock", call, 149, 228, id(0) & ~4095, 1 << 20, also=(12,))
        attempt("lock all", call, 151, 230, 3, also=(12,))
        attempt("faults", call, 323, 282, 0)
        attempt("huge map", lambda: call(9, 222, None, 64 << 30, 3, 0x21, -1, 0), also=(12,))
        """,
    ),
    Attack(
        "threads", "five thousand threads",
        """
        started = []
        def centre(x, w):
            wait = threading.Event().wait
            try:
                for _ in range(5000):
                    threading.Thread(target=wait, daemon=True).start()
                    started.append(1)
            except RuntimeError as error:
                assert len(started) < 2000, len(started)
                raise RuntimeError(f"no more: {error}") from None
        """,
        verdict=ERROR, says="no more: can't start new thread",
    ),
    Attack(
        "output", "prints for ever",
        "def centre(x, w):\n    while True: os.write(1, bytes(1 << 16))",
        verdict=LIMIT, says="printed more than 16 MB",
    ),
    Attack(
        "one-large-file", "one file of 1 GB",
        """
        def centre(x, w):
            with open("large", "wb") as file:
                for _ in range(1024):
                    file.write(bytes(1 << 20))
        """,
        verdict=(ERROR, LIMIT),
        says="File too large|SIGXFSZ|wrote more than 64 MB",  # whichever is noticed first
    ),
    Attack(
        "files-without-names",
        "writes files and unlinks them, and keeps each alive by a small mapping",
        """
        import mmap
        kept = []
        def centre(x, w):
            while True:
                with open("file", "w+b") as file:
                    file.write(bytes(8 << 20))
                    file.flush()
                    kept.append(mmap.mmap(file.fileno(), 4096, access=mmap.ACCESS_COPY))
                os.unlink("file")
                if len(kept) > 100:
                    time.sleep(0.3)
                    print("DID keep 800 MB", flush=True)
                    raise LookupError
        """,
        verdict=LIMIT, says="wrote more than",
    ),
    Attack(
        "files-written-by-mapped-pages",
        "the same without a call that writes, and without a descriptor: shared pages, raw mappings",
        """
        libc.mmap.restype = ctypes.c_void_p
        size, number = ctypes.c_size_t, ctypes.c_int
        libc.mmap.argtypes = [ctypes.c_void_p, size, number, number, number, ctypes.c_long]
        libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        def centre(x, w):
            for number in range(100):
                file = os.open("file", os.O_RDWR | os.O_CREAT)
                os.truncate(file, 8 << 20)
                pages = libc.mmap(None, 8 << 20, 3, 1, file, 0)
                if pages == 2**64 - 1:
                    raise OSError(ctypes.get_errno(), "not mapped")
                ctypes.memset(pages, 1, 8 << 20)
                libc.munmap(pages + 4096, (8 << 20) - 4096)
                os.close(file)
                os.unlink("file")
            time.sleep(0.3)
            print("DID keep 800 MB", flush=True)
            raise LookupError
        """,
        verdict=ERROR, says="PermissionError: .*not mapped",
    ),
    Attack(
        "files-out-of-sight",
        "writes files so deep that their path is too long, and where the judge may not look",
        """
        def centre(x, w):
            os.mkdir("hidden", 0o300)
            os.chdir("hidden")
            for _ in range(20):
                os.mkdir("d" * 250)
                os.chdir("d" * 250)
            for number in range(40):
                with open(str(number), "wb") as file:
                    file.write(bytes(8 << 20))
            time.sleep(0.3)
            print("DID keep 320 MB", flush=True)
            raise LookupError
        """,
        verdict=LIMIT, says="wrote more than|made",
    ),
    Attack(
        "files-that-never-had-a-name",
        "opens files that are in no folder, by every call that opens, and fills them",
        acts="""
        flags = os.O_TMPFILE | os.O_RDWR
        none = (errno.EOPNOTSUPP,)
        for folder in (".", os.getcwd(), "/dev/shm", "/tmp"):
            attempt("unnamed", os.open, folder, flags, 0o600, also=none)
            attempt("openat", call, 257, 56, -100, folder.encode(), flags, 0o600, also=none)
            attempt("open", call, 2, None, folder.encode(), flags, 0o600, also=none)
        how = (ctypes.c_uint64 * 3)(flags, 0o600, 0)
        attempt("openat2", call, 437, 437, -100, b".", how, 24)
        """,
    ),
    Attack(
        "memory-in-sockets", "fills the buffers of sockets, after making them as large as may be",
        acts="""
        import socket
        ours, theirs = socket.socketpair()
        for option in (7, 8, 32, 33):  # SO_SNDBUF, SO_RCVBUF, and both by force
            attempt("buffer", ours.setsockopt, 1, option, 64 << 20)
        attempt("sockets within sockets", socket.send_fds, ours, [b"x"], [theirs.fileno()])
        attempt("messages", call, 307, 269, ours.fileno(), bytes(64), 1, 0)
        kept, held = [], 0
        try:
            while True:
                kept.append(socket.socketpair())
                for end in kept[-1]:
                    end.setblocking(False)
                    try:
                        while True:
                            held += end.send(bytes(1 << 16))
                    except BlockingIOError:
                        pass
        except OSError as error:
            print("refused", held, "bytes held", error, flush=True)
        if held > 64 << 20:
            print("DID hold", held, flush=True)
        """,
    ),
    Attack(
        "allocated-without-writing", "has the file system set room aside",
        acts="""
        kept = os.open("file", os.O_CREAT | os.O_RDWR)
        attempt("fallocate", call, 285, 47, kept, 0, 0, 8 << 20)
        ours, theirs = os.pipe()
        attempt("splice", call, 275, 76, ours, None, kept, None, 10, 2, also=(11,))
        attempt("vmsplice", call, 278, 75, theirs, (ctypes.c_size_t * 2)(id(0), 8), 1, 0)
        attempt("tee", call, 276, 77, ours, theirs, 10, 2, also=(22,))
        """,
    ),
    Attack(
        "many-files", "ten thousand empty files",
        """
        def centre(x, w):
            for number in range(10_000):
                open(str(number), "w").close()
            time.sleep(0.3)
        """,
        verdict=LIMIT, says="made more than 1,000 files",
    ),
    Attack(
        "a-folder-without-bottom", "folders in folders, deeper than a path or a recursion goes",
        """
        def centre(x, w):
            for _ in range(1500):
                os.mkdir("d", 0o700)
                os.chdir("d")
            time.sleep(0.3)
        """,
        verdict=LIMIT, says="made",
    ),
    Attack(
        "recursion", "recursion without end, and with the guard taken away",
        """
        sys.setrecursionlimit(10**9)
        def deeper(x):
            return deeper([x].__class__(map(deeper, [x])))
        def centre(x, w):
            return deeper(x)
        """,
        verdict=ERROR, says="ended its process|RecursionError|MemoryError|memory",
    ),
    Attack(
        "leftover-threads", "threads that go on writing and printing after a wrong answer",
        """
        def spin():
            while True:
                print("still here", flush=True)
        def centre(x, w):
            threading.Thread(target=spin, daemon=True).start()
            return x * 0, (x, w)
        """,
        says="y differs",
    ),
)
