"""A tree of its own: what a worker may read is there, and nothing else is.

Landlock refuses to read a file, but lets anybody ask whether it exists, how large it is and when it
was changed.  So this process gets a tree of its own, in which the files that it may read are
mounted at their own places, with its scratch folder and, of `/proc`, what is about itself.  It is
what bubblewrap does, by the same calls, without a program that must be there and a process that
stands between.  Network and shared memory need no namespaces: `seccomp` refuses them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .kernel import PR_SET_DUMPABLE, call, capabilities, prctl

Mount = tuple[bool, str]  # a file or folder, and whether what is in it is to be seen

# <linux/sched.h>
_TREE, _USERS = 0x00020000, 0x10000000
# <linux/mount.h>, <sys/mount.h>
_NOSUID, _NODEV, _BIND, _RECURSIVE, _PRIVATE = 2, 4, 1 << 12, 1 << 14, 1 << 18
_DETACH = 2
_MOST_LINKS = 40  # on one way, as in the kernel

# Where a distribution keeps namespaces from ordinary programs.  Ubuntu's lets a process have them
# and then refuses what they are for, so this is asked first.
_SWITCHES = (
    ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
    ("/proc/sys/user/max_user_namespaces", "0"),
)


def apply(mounts: Sequence[Mount], scratch: str, *, root: bool) -> str | None:
    """Give this process, which must have one thread, a tree with nothing else in it.

    Args:
        mounts: what is to be there, the outer before what lies within it; what does not exist is
            left out.
        scratch: the folder in which it may write, empty so far; it becomes the current one.
        root: whether this is root, which needs no namespace of users for it.

    Returns:
        Why it did not work, or None.  Everything can be seen then, as before.
    """
    if not root and (why_not := switched_off()):
        return why_not
    # A capability to read reaches no further than the namespace of users it is in.
    if not root and capabilities("CapPrm"):
        return "it has capabilities, which it would lose"
    user, group = os.getuid(), os.getgid()
    try:
        call("unshare", _TREE | (0 if root else _USERS))
        if not root:
            _stay(user, group)
        _mount("", "/", _PRIVATE | _RECURSIVE)  # so that nothing of this reaches the old tree
        _build(mounts, scratch)
    except OSError as error:
        return str(error.strerror)
    return None


def switched_off() -> str | None:
    """Why ordinary users have no namespaces here, where a switch of the system says so."""
    for path, off in _SWITCHES:
        with suppress(OSError):
            if Path(path).read_text(encoding="ascii").strip() == off:
                return f"{path} is {off}"
    return None


def _stay(user: int, group: int) -> None:
    """Be in the new namespace of users who this was."""
    prctl(PR_SET_DUMPABLE, 1)  # else these files are root's
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")


def _build(mounts: Sequence[Mount], scratch: str) -> None:
    """Build the tree over the scratch folder, which moves into it, and make it the only one."""
    writable = os.open(scratch, os.O_PATH | os.O_CLOEXEC)
    try:
        _empty(scratch)
        try:
            seen: set[str] = set()
            for whole, path in mounts:
                _show(scratch, path, seen, whole=whole)
            _mount(f"/proc/self/fd/{writable}", place(scratch, scratch, folder=True), _BIND)
            os.chdir(scratch)
            call("pivot_root", b".", b".")
        except OSError:
            _detach(scratch)
            os.chdir(scratch)
            raise
    finally:
        os.close(writable)
    _detach(".")  # the old tree, which lies over the new one now
    os.chdir(scratch)


def _show(tree: str, path: str, seen: set[str], *, whole: bool) -> None:
    try:
        folder = stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return
    at, real = place(tree, path, folder=folder), os.path.realpath(path)
    if not whole:
        _empty(at)
    elif real not in seen:  # else a link leads to it
        _mount(path, at, _BIND | _RECURSIVE)
        seen.add(real)


def place(tree: str, path: str, *, folder: bool) -> str:
    """Where a path is in a tree, after making it, the folders above it and the links on the way."""
    parts, at, links = path.split("/")[1:], "", 0
    while parts:
        here = f"{at}/{parts.pop(0)}"
        there = tree + here
        if links < _MOST_LINKS and os.path.islink(here):
            links += 1
            target = os.readlink(here)
            with suppress(FileExistsError):
                os.symlink(target, there)
            onward = os.path.normpath(os.path.join(at or "/", target))
            parts, at = [*onward.split("/")[1:], *parts], ""
            continue
        with suppress(FileExistsError):
            if parts or folder:
                os.mkdir(there, 0o755)
            else:
                os.mknod(there, 0o644)
        at = here
    return tree + at


def _empty(folder: str) -> None:
    """Mount an empty file system on a folder."""
    call("mount", b"tmpfs", os.fsencode(folder), b"tmpfs", _NOSUID | _NODEV, b"mode=755")


def _mount(source: str, target: str, flags: int) -> None:
    call("mount", os.fsencode(source), os.fsencode(target), None, flags, None)


def _detach(path: str) -> None:
    call("umount2", os.fsencode(path), _DETACH)
