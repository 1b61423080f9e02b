"""Hold what runs leave behind, many times over, while the judge looks at the process from outside.

One run leaves too little for pages of memory to show it; the state of a hundred does.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from . import steps as stepping
from .messages import Header, Task
from .namespace import LoadedModule

held: list[Any] = []


def _trimmer() -> Callable[[int], int]:
    """C's way of giving free memory back; nothing where its library has none."""
    with suppress(AttributeError, OSError, TypeError):
        found = ctypes.CDLL(None).malloc_trim  # taken before a program could put another in place
        found.argtypes, found.restype = [ctypes.c_size_t], ctypes.c_int
        return found  # type: ignore[no-any-return, unused-ignore]
    return lambda _: 0


_trim = _trimmer()


def _huge_pages(*, wanted: bool) -> None:
    """Let the system hand out memory by 2 MB or not: what is held would be rounded up to that."""
    if sys.platform == "linux":
        from .walls import kernel

        with suppress(OSError):
            kernel.prctl(kernel.PR_SET_THP_DISABLE, int(not wanted))


def hold(program: LoadedModule, task: Task) -> Header:
    """Run the steps many times and keep their results alive, and nothing else of ours.

    Of a torch question only the steps before the first backward run, on inputs built afresh each
    time; the result `of` is kept, or all of them where it is empty.  No times: let go of all.
    """
    _huge_pages(wanted=not task.times)
    forward = [step for step in task.steps if not step.backward]
    for _ in range(task.times):
        names = stepping.build(task.inputs)
        stepping.perform_all(program, forward, names)
        wanted = [task.of] if task.of else [t for step in forward for t in step.targets]
        held.append([names[name] for name in wanted])
        del names
    if not task.times:
        held.clear()
    gc.collect()  # so that what is in use can be seen
    _trim(0)
    return Header(True)
