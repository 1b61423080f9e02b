"""Attacks on the kernel: namespaces, mounts, other numbers of calls, gaps of filters."""

from __future__ import annotations

from tests.attacks.attack import ERROR, Attack

# fmt: off
ATTACKS = (
    Attack(
        "namespaces", "new namespaces, and what may be mounted in them",
        acts="""
        for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000, 0x8000000, 0x4000000, 0x80,
                     0x2000000,
                     0x10020000, 0x200, 0x400):
            attempt("unshare", call, 272, 97, flag)
            attempt("clone", call, 56, 220, flag | 17, None, None, None, None)
        attempt("setns", call, 308, 268, os.open("/proc/self/ns/user", os.O_RDONLY), 0)
        attempt("mount", call, 165, 40, b"none", b"/tmp", b"tmpfs", 0, None)
        attempt("bind", call, 165, 40, b"/", b".", None, 4096, None)
        attempt("umount", call, 166, 39, b"/tmp", 2)
        attempt("pivot", call, 155, 41, b".", b".")
        for number in (428, 429, 430, 431, 432, 433, 442, 457, 458):
            attempt(f"mount api {number}", call, number, number, 0, 0, 0, 0, 0)
        """,
    ),
    Attack(
        "walls-again",
        "lowers walls: another filter, another ruleset, undone requests, another personality",
        acts="""
        program = ctypes.create_string_buffer(bytes([6, 0, 0, 0, 0, 0, 255, 127]))
        filter_ = (ctypes.c_size_t * 2)(1, ctypes.addressof(program))
        attempt("seccomp", call, 317, 277, 1, 0, filter_)
        attempt("listener", call, 317, 277, 1, 8, filter_)
        attempt("strict", call, 317, 277, 0, 0, None)
        for option in (1, 4, 22):
            attempt(f"prctl {option}", call, 157, 167, option, 0, 0, 0, 0)
        attempt("ruleset", call, 444, 444, None, 0, 1)
        attempt("personality", call, 135, 92, 0x0040000)
        """,
    ),
    Attack(
        "dangerous-calls", "the clock, modules, swap, reboot, quotas, accounting, ports and logs",
        acts="""
        for x86, arm in ((227, 112), (164, 170), (305, 266), (159, 171), (175, 105), (313, 273),
                         (176, 106), (167, 224), (168, 225), (169, 142), (179, 60), (163, 89),
                         (173, None), (172, None), (103, 116), (246, 104), (320, 294), (170, 161),
                         (171, 162), (153, 58), (300, 262), (443, 443), (162, 81), (306, 267)):
            attempt(f"call {x86}", call, x86, arm, 0, 0, 0, 0, 0, 0)
        """,
    ),
    Attack(
        "32-bit-calls", "calls the kernel by int 80h, where numbers mean other calls",
        """
        import mmap
        def centre(x, w):
            if not X86:
                os.abort()
            code = mmap.mmap(-1, 4096, prot=7)
            code.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20 (getpid); int 0x80; ret
            at = ctypes.addressof(ctypes.c_char.from_buffer(code))
            print("DID", ctypes.CFUNCTYPE(ctypes.c_int)(at)(), flush=True)
        """,
        verdict=ERROR, says=r"ended its process \(SIG(SYS|SEGV|ABRT)\)",
    ),
    Attack(
        "x32-calls", "calls the kernel with the numbers of the x32 convention",
        """
        def centre(x, w):
            if not X86:
                os.abort()
            print("DID", libc.syscall(ctypes.c_long(0x40000000 + 39)), flush=True)
        """,
        verdict=ERROR, says=r"ended its process \(SIG(SYS|ABRT)\)",
    ),
    Attack(
        "number-with-a-high-half", "numbers and arguments whose upper halves are not zero",
        acts="""
        for high in (1 << 32, 1 << 40):
            attempt("socket", call, high + 41, high + 198, 1, 1, 0)
            attempt("kill", call, 62, 129, T["judge"] | high, 0, also=(3,))
            attempt("family", call, 53, 199, 1 | high, 2 | high, 0, (ctypes.c_int * 2)())
        """,
    ),
    Attack(
        "inherited-descriptors", "uses whatever is open besides the usual three and the channel",
        """
        def centre(x, w):
            import stat
            found = []
            for fd in range(3, 1024):
                try: about = os.fstat(fd)
                except OSError: continue
                found.append((fd, stat.S_IFMT(about.st_mode)))
            print("found", [(fd, oct(kind)) for fd, kind in found])
            kinds = [kind for _, kind in found]
            assert kinds == [stat.S_IFSOCK], found
            assert not os.isatty(0) and not os.isatty(1)
            assert os.fstat(0).st_rdev == os.stat("/dev/null").st_rdev
            raise LookupError("nothing to use")
        """,
        verdict=ERROR, says="nothing to use",
    ),
    Attack(
        "peer-of-the-channel", "asks the channel for a handle of the judge, and uses it",
        acts="""
        import socket, stat
        is_open = lambda n: os.path.exists(f"/proc/self/fd/{n}")
        is_socket = lambda n: stat.S_ISSOCK(os.fstat(n).st_mode)
        fd = next(filter(is_socket, filter(is_open, range(3, 64))))
        ours = socket.socket(fileno=os.dup(fd))
        try:
            handle = int.from_bytes(ours.getsockopt(1, 77, 4), "little")  # SO_PEERPIDFD
        except OSError:
            handle = 0
        attempt("signal", call, 424, 424, handle, 9, None, 0)
        attempt("descriptor", call, 438, 438, handle, 3, 0)
        attempt("namespace", call, 308, 268, handle, 0x20000)
        attempt("advise", call, 440, 440, handle, None, 0, 4, 0)
        attempt("release", call, 448, 448, handle, 0)
        """,
    ),
)
