"""Calls that a question asks a candidate to write instead: who makes one leaves evidence here.

The run is watched: torch's operators are overridden in the dispatcher, functions of Python and
numpy are wrapped, and both note who called.  And the text is read, see `mentions`.  A person
decides what the evidence is worth: code in the same process can silence it.
"""

from __future__ import annotations

import fnmatch
import functools
import pkgutil
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np

from .mentions import mentions

KEYS = ("CPU", "AutogradCPU", "CUDA", "AutogradCUDA", "MkldnnCPU", "QuantizedCPU")
MOST = 8  # pieces of evidence that are sent

Evidence = tuple[str, int, str]  # what, line (0 where unknown), "text" or "run"


class Forbidden(RuntimeError):
    """What a program gets instead of a result."""


class Policy:
    """What is forbidden in this process, and the evidence so far."""

    def __init__(self, forbids: Sequence[str]) -> None:
        """Watch what is forbidden.

        Args:
            forbids: dotted names (`torch.nn.functional.max_pool2d`) and operators
                (`aten::max_pool*`).
        """
        self.forbids = list(forbids)
        self.evidence: dict[Evidence, None] = {}  # in order, none twice
        self._filenames: set[str] = set()
        self._library: Any = None
        self._overridden: set[str] = set()
        # By name, whether there is something that can be watched.
        watched = {n: self._override(n) | ("::" not in n and self._wrap(n)) for n in forbids}
        self.unknown = [name for name, found in watched.items() if not found]

    def read(self, source: bytes, filename: str, functions: Sequence[str]) -> None:
        """Note what a file mentions; from now on, calls from it are noted too."""
        self._filenames.add(filename)
        names = [name for name in self.forbids if "::" not in name]
        for name, line in mentions(source, names, functions):
            self.evidence[name, line, "text"] = None

    def take(self) -> list[Evidence]:
        """The evidence since this was last asked."""
        found, self.evidence = list(self.evidence), {}
        return found[:MOST]

    def _refuse(self, name: str, line: int) -> NoReturn:
        self.evidence[name, line, "run"] = None
        raise Forbidden(f"{name} is what this question asks you to write yourself")

    def _override(self, name: str) -> bool:
        """Refuse the operators that a name stands for; whether there are any."""
        torch = sys.modules.get("torch")
        if torch is None:
            return False
        every = torch._C._dispatch_get_all_op_names()
        found = {
            operator.removeprefix("aten::")
            for pattern in _patterns(name)
            for operator in every
            if fnmatch.fnmatchcase(operator.partition(".")[0], pattern)
        }

        def refused(*_: object, **__: object) -> None:
            self._refuse(name, self._line() or 0)

        self._library = self._library or torch.library.Library("aten", "IMPL")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that an operator is overridden is the point
            # Once each: an older torch refuses to override an operator twice.
            for operator in sorted(found - self._overridden):
                for key in KEYS:
                    self._library.impl(operator, refused, key)
        self._overridden |= found
        return bool(found)

    def _wrap(self, name: str) -> bool:
        """Watch a function of Python wherever its package holds it; whether there is one."""
        holder, _, word = name.rpartition(".")
        try:
            found = getattr(pkgutil.resolve_name(holder), word)
        except (ImportError, AttributeError):
            return False
        if isinstance(found, type):
            with suppress(TypeError, KeyError):  # a class of C: only the text is read
                type.__setattr__(found, "__init__", self._watched(name, vars(found)["__init__"]))
            return True
        if isinstance(found, np.ufunc):
            return True  # its methods and identity are needed: only the text is read
        watched = self._watched(name, found)
        top = name.partition(".")[0]
        for module_name, module in list(sys.modules.items()):
            if module_name.partition(".")[0] == top and isinstance(module, types.ModuleType):
                for attribute, value in list(vars(module).items()):
                    if value is found:
                        setattr(module, attribute, watched)
        return True

    def _watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def watched(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 whatever it takes and gives
            line = self._line()
            return real(*args, **kwargs) if line is None else self._refuse(name, line)

        return watched

    def _line(self) -> int | None:
        """The line of the program's innermost frame; None where no program is calling."""
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename in self._filenames:
                return frame.f_lineno
            frame = frame.f_back
        return None if threading.current_thread() is threading.main_thread() else 0


def _patterns(name: str) -> Iterator[str]:
    """Patterns of the operators that a name stands for: itself, in place, and beneath."""
    if name.startswith("aten::"):
        yield name
    elif name.startswith("torch."):
        word = name.rpartition(".")[2]
        yield from (f"aten::{n}" for n in (word, f"{word}_", f"_{word}", f"{word}_with_indices"))
