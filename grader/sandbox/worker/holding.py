"""Hold what runs leave behind, many times over, while the judge looks at the process from outside.

One run leaves too little for pages of memory to show it; the state of a hundred does.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from . import steps as stepping
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


def hold(
    program: LoadedModule,
    steps: Sequence[dict[str, Any]],
    inputs: dict[str, dict[str, Any]],
    *,
    of: str,
    count: int,
) -> int:
    """Run the steps and keep their results alive, and nothing else of ours.

    Args:
        program: whose functions the steps call.
        steps: the run; of a torch question those before the first backward only.
        inputs: as for a run, built afresh each time.
        of: the result that is kept; all of them where it is empty.
        count: how often.

    Returns:
        How many runs are held by now.
    """
    _huge_pages(wanted=False)
    forward = [s for s in steps if not (s["owner"] == "torch" and s["function"] == "vjp")]
    for _ in range(count):
        names = stepping.build(inputs)
        stepping.perform_all(program, forward, names)
        wanted = [of] if of else [t for step in forward for t in step["targets"]]
        held.append([names[name] for name in wanted])
        del names
    settle()
    return len(held)


def drop() -> None:
    """Let go of everything."""
    held.clear()
    settle()
    _huge_pages(wanted=True)


def settle() -> None:
    """Give back what is not in use, so that what is can be seen."""
    gc.collect()
    _trim(0)
