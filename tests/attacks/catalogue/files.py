"""Attacks on files: read secrets, change files of others, leave something behind."""

from __future__ import annotations

from tests.attacks.attack import ERROR, Attack

# fmt: off
ATTACKS = (
    Attack(
        "read-the-reference", "returns what the reference in the bank says, or a copy of it",
        """
        def centre(x, w):
            names = {}
            exec(open(T["bank"]).read(), names)
            return names["centre"](x, w)
        """,
        verdict=ERROR, says="PermissionError: .*Permission denied.*walled off",
    ),
    Attack(
        "read-what-is-private",
        "other submissions, the journal, keys, the judge's environment and command line",
        acts="""
        ssh, parent = os.path.expanduser("~root/.ssh"), f"/proc/{T['judge']}"
        for path in (T["private"], T["other"], T["reference"], T["journal"], T["tool"],
                     "/etc/passwd",
                     "/etc/shadow", parent + "/environ", parent + "/cmdline", parent + "/maps",
                     parent + "/fd/0", parent + "/mem", parent + "/root/etc/passwd",
                     "/proc/1/environ",
                     "/proc/kcore", "/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/tty", "/dev/ptmx",
                     "/proc/sys/kernel/core_pattern", "/sys/kernel/debug"):
            attempt(path, lambda: open(path, "rb").close(), also=(2, 6, 19))
        for path in (T["home"], "/", "/tmp", "/home", "/root", "/proc", parent, "/dev/shm", ssh,
                     os.path.dirname(os.getcwd())):
            attempt(path, os.listdir, path, also=(2,))
        """,
    ),
    Attack(
        "read-round-the-corner",
        "the same files by links, magic links, folders' descriptors, `openat2`, handles and paths",
        acts="""
        private, flags = T["private"], os.O_PATH | os.O_CLOEXEC
        attempt("/proc/self/root", lambda: open("/proc/self/root" + private).close())
        attempt("/proc/self/cwd", lambda: open("/proc/self/cwd/../../" + private[1:]).close(),
                also=(2,))
        attempt("/proc/thread-self/root", lambda: open("/proc/thread-self/root" + private).close())
        named = os.open(private, flags)
        attempt("O_PATH again", lambda: open(f"/proc/self/fd/{named}").close())
        folder = os.open(T["home"], flags)
        attempt("openat", lambda: os.open("private.txt", os.O_RDONLY, dir_fd=folder))
        attempt("symlink", os.symlink, private, "link")
        attempt("hard link", os.link, private, "hard", also=(18,))
        attempt("link by descriptor", call, 265, 37, named, b"", -100, b"hard", 0x1000,
                also=(18, 2))
        how = (ctypes.c_uint64 * 3)(os.O_RDONLY, 0, 0)
        attempt("openat2", call, 437, 437, -100, private.encode(), how, 24)
        handle, mount = ctypes.create_string_buffer(b"\\x80", 256), (ctypes.c_int * 1)()
        attempt("handle", call, 303, 264, -100, private.encode(), handle, mount, 0)
        attempt("open handle", call, 304, 265, folder, handle, os.O_RDONLY)
        attempt("tree", call, 428, 428, -100, T["home"].encode(), 1)
        attempt("sendfile", lambda: os.sendfile(1, named, 0, 10), also=(9,))
        attempt("read", os.read, named, 10, also=(9,))
        import mmap
        attempt("map", mmap.mmap, named, 10, mmap.MAP_PRIVATE, mmap.PROT_READ, also=(9,))
        os.close(named); os.close(folder)
        """,
    ),
    Attack(
        "change-what-is-others",
        "overwrites, truncates, renames, deletes and links the journal and a private file",
        acts="""
        for path in (T["journal"], T["private"], T["bank"], T["tool"]):
            for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC,
                          os.O_WRONLY | os.O_APPEND):
                attempt("open", os.open, path, flags)
            attempt("truncate", os.truncate, path, 0)
            attempt("unlink", os.unlink, path)
            attempt("rename", os.rename, path, path + ".old", also=(18,))
            attempt("take", os.rename, path, "mine", also=(18,))
            open("new", "w").close()
            attempt("replace", os.replace, "new", path, also=(18,))
            attempt("link over", os.link, "new", path + ".link", also=(18,))
            attempt("exchange", call, 316, 276, -100, b"new", -100, path.encode(), 2, also=(18,))
        attempt("rmdir", os.rmdir, T["home"] + "/records")
        attempt("mkdir", os.mkdir, T["home"] + "/made")
        attempt("mknod", os.mkfifo, T["home"] + "/fifo")
        attempt("bind", call, 49, 200, 0, b"", 0, also=(88,))  # no socket: beside a GPU it may
        """,
    ),
    Attack(
        "change-modes-and-times",
        "modes, owners, times, attributes and flags, which Landlock does not cover",
        acts="""
        fd = os.open(np.__file__, os.O_RDONLY)
        for path in (T["private"], T["journal"], T["home"], np.__file__, fd, "."):
            attempt("chmod", os.chmod, path, 0)
            attempt("chown", os.chown, path, os.getuid(), os.getgid())
            attempt("utime", os.utime, path)
            attempt("setxattr", os.setxattr, path, "user.drill-mark", b"1")
        path = T["private"].encode()
        attempt("fchmodat", call, 268, 53, -100, path, 0)
        attempt("fchmodat2", call, 452, 452, -100, path, 0, 0)
        attempt("utimes", call, 235, None, path, None)
        attempt("utimensat", call, 280, 88, -100, path, None, 0)
        attempt("lchown", call, 94, None, path, os.getuid(), -1)
        attempt("setxattrat", call, 463, 463, -100, path, 0, b"user.x", None, 0)
        attempt("file_setattr", call, 469, 469, -100, path, None, 0, 0)
        import fcntl
        for number in (0x40086602, 0x401C5820, 0x40087602, 0x40806685, 0x5000940E):
            attempt("ioctl", fcntl.ioctl, fd, number, bytes(128))
        os.close(fd)
        """,
    ),
    Attack(
        "leave-something", "leaves data for the next submission wherever anybody may write",
        acts="""
        name = T["mark"]
        for place in (*T["public"], T["home"], os.path.expanduser("~root"), ".."):
            attempt(place, lambda: open(f"{place}/{name}", "w").close(), also=(2,))
            attempt("unnamed " + place, os.open, place, os.O_TMPFILE | os.O_RDWR, also=(2, 95))
        attempt("message queue", lambda: call(240, 180, b"drill-mark", 0o102, 0o600, None))
        attempt("memory file", os.memfd_create, name)
        attempt("secret memory", call, 447, 447, 0)
        for key in (0, 0x6472696C):
            attempt("segment", call, 29, 194, key, 4096, 0o1600)
            attempt("semaphores", call, 64, 190, key, 1, 0o1600)
            attempt("messages", call, 68, 186, key, 0o1600)
        attempt("key", call, 248, 217, b"user", b"drill-mark", b"x", 1, -5)
        attempt("keyring", call, 250, 219, 0, -5, 1)
        for tag in ("self", "thread-self"):
            for file in ("comm", "oom_score_adj", "coredump_filter", "clear_refs", "timerslack_ns"):
                attempt(file, lambda: open(f"/proc/{tag}/{file}", "w").close(), also=(2,))
        """,
    ),
    Attack(
        "message-in-the-page-cache",
        "marks files of Python's library as read or not, and looks which ones are",
        acts="""
        fd, room = os.open(os.__file__, os.O_RDONLY), ctypes.create_string_buffer(16)
        vector = (ctypes.c_size_t * 2)(ctypes.addressof(room), 16)
        for advice in range(6):
            attempt("advise", call, 221, 223, fd, 0, 0, advice)
        attempt("read ahead", call, 187, 213, fd, 0, 4096)
        for flags in (8, 0):
            attempt("read what is there", call, 327, 286, fd, vector, 1, 0, 0, flags)
        attempt("ask", call, 451, 451, fd, (ctypes.c_uint64 * 2)(0, 4096), room, 0)
        attempt("ask of memory", call, 27, 232, ctypes.addressof(room) & -4096, 1, room)
        """,
    ),
    Attack(
        "delete-a-message-queue", "unlinks, drains and watches a message queue of the same user",
        acts="""
        name = T["queue"].encode()[1:]
        attempt("mq_open", call, 240, 180, name, os.O_RDWR, 0, None)
        attempt("mq_unlink", call, 241, 181, name)
        attempt("mq_send", call, 242, 182, 0, b"x", 1, 0, None)
        attempt("mq_receive", call, 243, 183, 0, ctypes.create_string_buffer(8), 8, None, None)
        attempt("mq_notify", call, 244, 184, 0, None)
        """,
    ),
    Attack(
        "odd-things-in-the-scratch-folder",
        "folders without permissions, names that are no text, and what may not be made there",
        acts="""
        os.makedirs("a/b/c"); open("a/b/c/file", "w").write("x")
        os.mkdir("closed", 0); os.mkdir("write-only", 0o300); open("write-only/x", "w").close()
        for name in (b"\\xff\\xfe", b"-rf", b" ", b"\\n", "\\u202e".encode(), b"\\x1b[2J", b"~",
                     b"*",
                     b"x" * 255):
            os.mkdir(name); open(name + b"/" + name, "w").close()
        attempt("chmod", os.chmod, "a", 0)
        attempt("link", os.symlink, "/", "root")
        attempt("fifo", os.mkfifo, "fifo")
        attempt("device", os.mknod, "device", 0o20666, os.makedev(1, 3))
        attempt("replace", os.rename, ".", "../other", also=(16, 18))
        attempt("leave", os.rename, "a", "../witness", also=(18,))
        attempt("upwards", os.rmdir, "../scratch", also=(39,))
        attempt("witness", lambda: open("../witness", "w").close())
        attempt("mount", call, 165, 40, b"/", b"a", b"", 4096, None)
        import fcntl
        attempt("immutable", fcntl.ioctl, os.open("a", 0), 0x40086602, b"\\x10" * 8)
        os.chdir("a/b/c")
        """,
    ),
    Attack(
        "import-another-package",
        "imports what happens to be installed beside numpy, or reads its source",
        acts="""
        site = os.path.dirname(os.path.dirname(np.__file__))
        sys.path.append(site)
        for name in ("pytest", "yaml", "pydantic", "grader", "torch"):
            attempt(name, __import__, name, also=(ModuleNotFoundError, ImportError))
        for name in ("pytest/__init__.py", "torch/__init__.py", "yaml/__init__.py"):
            attempt(name, lambda: open(os.path.join(site, name)).close(), also=(2,))
        """,
    ),
)
