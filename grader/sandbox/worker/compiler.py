"""Torch's compiler: imported before a program runs, or not at all.

Optimizers, `torch.utils.checkpoint` and dispatch modes import it when they are first used, which
may take longer than a call may take.  A worker without it refuses that import and says so in its
reply; the judge then has the zygote import it, and repeats the request in a new worker.  So a
program that needs the compiler never pays for it, and one that does not never waits for it.
"""

from __future__ import annotations

import gc
import importlib
import sys
from contextlib import suppress
from typing import Any

MODULES = ("torch._dynamo", "torch._inductor")


class CompilerMissing(BaseException):
    """A program needs the compiler; nothing that it can do now counts."""


class _Refusal:
    """A finder of modules that refuses to find the compiler."""

    needed = False  # whether it was looked for

    def find_spec(self, name: str, *_: Any) -> None:  # noqa: ANN401 a path, and a module
        """Return None for any other module."""
        if name in MODULES:
            self.needed = True
            raise CompilerMissing(name)


_refusal = _Refusal()


def block_import() -> None:
    """From now on, refuse to import what is not imported yet of the compiler."""
    if not all(name in sys.modules for name in MODULES):
        sys.meta_path.insert(0, _refusal)  # type: ignore[arg-type, unused-ignore]


def was_requested() -> bool:
    """Return True if a program tried to import it and was refused."""
    return _refusal.needed


def import_compiler() -> None:
    """Import it; where that fails, a program that needs it finds out why by itself."""
    with suppress(ValueError):
        sys.meta_path.remove(_refusal)  # type: ignore[arg-type, unused-ignore]
    gc.disable()
    with suppress(Exception):
        importlib.import_module(MODULES[0])
    gc.freeze()  # as with all that is imported before the fork: it never dies
    gc.enable()
