"""Attacks with processes: start them; outlive, signal, read, limit and slow the judge."""

from __future__ import annotations

from tests.attacks.attack import LIMIT, Attack

# fmt: off
ATTACKS = (
    Attack(
        "fork-bomb", "three hundred children that sleep",
        acts="""
        def child():
            if os.fork() == 0:
                time.sleep(600); os._exit(0)
        for _ in range(300):
            attempt("fork", child)
        """,
    ),
    Attack(
        "daemon", "forks twice into a session of its own and writes a file later",
        acts="""
        def daemon():
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    time.sleep(1); open(T["home"] + "/late", "w").write("x")
                os._exit(0)
        attempt("fork", daemon)
        attempt("session", os.setsid)
        attempt("group", os.setpgid, 0, 0)
        attempt("another's group", os.setpgid, 0, T["judge"])
        """,
    ),
    Attack(
        "other-ways-to-a-process", "clone without a thread's flags, clone3, and multiprocessing",
        acts="""
        for flags in (17, 0, 0x4000 | 17, 0x8000 | 17, 0x100 | 17, 0x10000000, 0x20000000, 0x1000):
            attempt("clone", call, 56, 220, flags, None, None, None, None)
        attempt("clone3", call, 435, 435, (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17), 88)
        import multiprocessing, pty
        context = multiprocessing.get_context("fork")
        attempt("multiprocessing", lambda: context.Process(target=print).start())
        attempt("forkpty", pty.fork, also=(None,))
        """,
    ),
    Attack(
        "vfork", "vfork by machine code in a thread, whose child spins in a process of its own",
        acts="""
        import mmap
        code = mmap.mmap(-1, 4096, prot=7)
        # pop the return address, vfork, push it back; a child pauses for ever, a parent returns
        code.write(bytes.fromhex("48c7c03a0000005f0f05574885c0750b48c7c0220000000f05ebf5c3"))
        vfork = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
        def start():
            results = []
            thread = threading.Thread(target=lambda: results.append(vfork()), daemon=True)
            thread.start()
            thread.join(1.0)
            if results and results[0] < 0:
                raise OSError(-results[0], "refused")
            return "a thread that is still in vfork"
        attempt("vfork", start if X86 else lambda: call(None, None))
        """,
    ),
    Attack(
        "run-a-program", "a shell, a script of ours, an interpreter, by every road there is",
        acts="""
        import subprocess
        for command in (["/bin/sh", "-c", "id"], [T["tool"]], [sys.executable, "-c", "0"]):
            attempt("subprocess", subprocess.run, command)
            attempt("posix_spawn", os.posix_spawn, command[0], command, {})
            attempt("exec", os.execv, command[0], command)
        attempt("system", lambda: 1 / 0 if os.system("id") != 0 else 0, also=(ZeroDivisionError,))
        attempt("popen", lambda: os.popen("id"))
        file = os.open("/proc/self/exe", os.O_PATH)
        empty = (ctypes.c_char_p * 1)()
        attempt("execveat", call, 322, 281, file, b"", empty, empty, 0x1000)
        attempt("the worker again", os.execv, sys.executable, [sys.executable])
        """,
    ),
    Attack(
        "signal-the-judge",
        "kills, stops and queues signals, by process, group, thread, handle, descriptor and timer",
        acts="""
        import fcntl, signal, socket
        judge, parent = T["judge"], os.getppid()
        for target in (judge, parent, -judge, -1, 0, 1, -T["group"], -os.getpgrp(),
                       2**32 + judge):
            for which in (0, signal.SIGKILL, signal.SIGSTOP, signal.SIGUSR1):
                attempt("kill", call, 62, 129, target, int(which), also=(3, 22))
        for target in (judge, parent):
            attempt("tkill", call, 200, 130, target, 9)
            attempt("tgkill", call, 234, 131, target, target, 9)
            attempt("queue", call, 129, 138, target, 9, bytes(128))
            attempt("queue to a thread", call, 297, 240, target, target, 9, bytes(128))
            attempt("pidfd", os.pidfd_open, target)
            attempt("pidfd signal", call, 424, 424, 0, 9, None, 0)
            attempt("death of the parent", lambda: libc.prctl(1, 0) and call(None, None))
        ours, theirs = socket.socketpair()
        for owner in (judge, -T["group"], parent):
            attempt("F_SETOWN", fcntl.fcntl, ours, 8, owner)
            attempt("F_SETOWN_EX", fcntl.fcntl, ours, 15, bytes(8))
            packed = owner.to_bytes(4, "little", signed=True)
            attempt("FIOSETOWN", fcntl.ioctl, ours, 0x8901, packed)
            attempt("SIOCSPGRP", fcntl.ioctl, ours, 0x8902, packed)
        attempt("F_SETSIG", fcntl.fcntl, ours, 10, 9)
        attempt("F_NOTIFY", fcntl.fcntl, os.open(".", 0), 1026, 1)
        attempt("lease", fcntl.fcntl, os.open("file", os.O_CREAT), 1024, 0)
        attempt("notice", call, 254, 27, 0, b"/", 1)
        event = (ctypes.c_int * 16)(0, 0, 9, 4, judge)  # SIGEV_THREAD_ID, of the judge
        attempt("timer", call, 222, 107, 0, event, (ctypes.c_int * 1)(), also=(22,))
        """,
    ),
    Attack(
        "into-the-judge",
        "reads and writes the judge's memory, its descriptors, and those of what forked it",
        acts="""
        here = ctypes.create_string_buffer(64)
        pair = (ctypes.c_size_t * 2)(ctypes.addressof(here), 64)
        there = (ctypes.c_size_t * 2)(id(0), 64)
        for target in (T["judge"], os.getppid(), 1):
            attempt("read memory", call, 310, 270, target, pair, 1, there, 1, 0)
            attempt("write memory", call, 311, 271, target, pair, 1, there, 1, 0)
            for request in (16, 0x4206, 12, 5):  # attach, seize, registers, poke
                attempt("ptrace", call, 101, 117, request, target, None, None)
            attempt("descriptor", call, 438, 438, 3, 0, 0)
            attempt("compare", call, 312, 272, target, target, 2, 0, 0)
            attempt("advise", call, 440, 440, 0, pair, 1, 4, 0)
            attempt("release", call, 448, 448, 0, 0)
            attempt("robust list", call, 274, 100, target, here, here)
            attempt("move pages", call, 279, 239, target, 0, None, None, None, 0)
            attempt("migrate", call, 256, 238, target, 0, None, None)
            for file in ("mem", "environ", "maps", "fd/0", "cwd", "task", "stack", "io", "stat"):
                path = f"/proc/{target}/{file}"
                attempt(path, lambda: os.close(os.open(path, os.O_RDONLY)), also=(2,))
        attempt("traced by its parent", call, 101, 117, 0, 0, None, None)
        attempt("monitor", call, 298, 241, bytes(128), T["judge"], -1, -1, 0)
        """,
    ),
    Attack(
        "limit-the-judge", "sets the judge's limits, priorities, processors and scheduling",
        acts="""
        one = (ctypes.c_uint64 * 2)(1, 1)
        for target in (T["judge"], os.getppid(), 2**32 + T["judge"]):
            attempt("prlimit", call, 302, 261, target, 0, one, None)
            attempt("old limits", call, 302, 261, target, 0, None, one)
            attempt("affinity", call, 203, 122, target, 8, (ctypes.c_uint64 * 1)(1))
            attempt("scheduler", call, 144, 119, target, 5, (ctypes.c_int * 1)(0))
            attempt("parameters", call, 142, 118, target, (ctypes.c_int * 1)(0))
            attempt("attributes", call, 314, 274, target, bytes(56), 0)
            attempt("priority", call, 141, 140, 0, target, 19)
            attempt("io priority", call, 251, 30, 1, target, 3 << 13)
        attempt("all of a user", call, 141, 140, 2, os.getuid(), 19)
        """,
    ),
    Attack(
        "read-what-others-set", "reads what another submission could spell with its own settings",
        acts="""
        room = (ctypes.c_uint64 * 16)()
        for target in (T["judge"], os.getppid(), 1, 2**32 + T["judge"]):
            attempt("affinity", call, 204, 123, target, 128, room)
            attempt("scheduler", call, 145, 120, target)
            attempt("parameters", call, 143, 121, target, room)
            attempt("attributes", call, 315, 275, target, room, 56, 0)
            attempt("interval", call, 148, 127, target, room)
            attempt("priority", call, 140, 141, 0, target)
            attempt("io priority", call, 252, 31, 1, target)
            attempt("group", call, 121, 155, target)
            attempt("session", call, 124, 156, target)
        attempt("priority of a user", call, 140, 141, 2, os.getuid())
        assert os.sched_getaffinity(0) and os.getpriority(os.PRIO_PROCESS, 0) >= 0
        """,
    ),
    Attack(
        "another-user", "becomes somebody else, or takes back what was given up",
        acts="""
        for who in (0, 1000, 65534):
            for act in (os.setuid, os.setgid, os.seteuid, os.setegid, os.setfsuid
                        if hasattr(os, "setfsuid") else os.setuid):
                attempt(act.__name__, act, who)
            attempt("all", os.setresuid, who, who, who)
        attempt("groups", os.setgroups, [0])
        attempt("capset", call, 126, 91, b"\\x22\\x05\\x08\\x20\\0\\0\\0\\0", b"\\xff" * 24)
        attempt("keyring", call, 250, 219, 1, None)
        for value in (0, 1, 2):
            attempt("dumpable", lambda: libc.prctl(4, value) and call(None, None))
        attempt("root", os.chroot, ".")
        """,
    ),
    Attack(
        "die-with-threads-running", "leaves spinning threads behind and ends its main thread",
        """
        def spin():
            while True: pass
        def centre(x, w):
            for _ in range(8):
                threading.Thread(target=spin).start()
            libc.syscall(60 if X86 else 93, 0)
        """,
        verdict=LIMIT, seconds=0.3,
    ),
)
