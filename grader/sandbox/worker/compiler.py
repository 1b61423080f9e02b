"""Import the compiler of torch before a program runs, or refuse its import.

Optimizers, `torch.utils.checkpoint` and dispatch modes import it on first use, which may take
longer than the limit of a call.  A worker without the compiler refuses that import and reports it
in its reply.  The judge then makes the zygote import the compiler, and repeats the request in a new
worker.  So the import never counts as time of a program, and programs without it do not wait.
"""

from __future__ import annotations

import gc
import importlib
import sys
from contextlib import suppress
from typing import Any

MODULES = ("torch._dynamo", "torch._inductor")


class CompilerMissing(BaseException):
    """A program needs the compiler; its further results do not count."""


class _Refusal:
    """Import finder that refuses the compiler, and finds nothing else."""

    needed = False  # True after an import was refused

    def find_spec(self, name: str, *_: Any) -> None:  # noqa: ANN401 a path, and a module
        """Raise CompilerMissing for the compiler; return None for any other module."""
        if name in MODULES:
            self.needed = True
            raise CompilerMissing(name)


_refusal = _Refusal()


def block_import() -> None:
    """Refuse to import the compiler from now on, unless it is imported already."""
    if not all(name in sys.modules for name in MODULES):
        sys.meta_path.insert(0, _refusal)  # type: ignore[arg-type, unused-ignore]


def was_requested() -> bool:
    """Return True if an import of the compiler was refused."""
    return _refusal.needed


def import_compiler() -> None:
    """Import the compiler, and no longer refuse it.

    If the import fails, nothing is raised here; a program that needs it gets the same error.
    """
    with suppress(ValueError):
        sys.meta_path.remove(_refusal)  # type: ignore[arg-type, unused-ignore]
    gc.disable()
    with suppress(Exception):
        importlib.import_module(MODULES[0])
    gc.freeze()  # modules imported before the fork are never collected
    gc.enable()
