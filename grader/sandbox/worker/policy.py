"""Calls that a question asks a candidate to write instead: who makes one leaves evidence here.

The run is watched: torch's operators are overridden in the dispatcher, functions of Python and
numpy are wrapped, and both note who called.  And the text is read, see `mentions`.  A person
decides what the evidence is worth: code that shares a process with what collects it can silence it.
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
from typing import Any

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
        self.evidence: list[Evidence] = []
        self.unknown: list[str] = []
        self._filenames: set[str] = set()
        self._library: Any = None
        self._overridden: set[str] = set()
        for name in forbids:
            overridden = sum([self._override(name, pattern) for pattern in _patterns(name)])
            wrapped = "::" not in name and self._wrap(name)
            if not overridden and not wrapped:
                self.unknown.append(name)

    def read(self, source: bytes, filename: str, functions: Sequence[str]) -> None:
        """Note what a file mentions; from now on, calls from it are noted too."""
        self._filenames.add(filename)
        names = [name for name in self.forbids if "::" not in name]
        for name, line in mentions(source, names, functions):
            self._note(name, line, "text")

    def take(self) -> list[Evidence]:
        """The evidence since this was last asked."""
        found, self.evidence = self.evidence, []
        return found[:MOST]

    def _note(self, name: str, line: int, how: str) -> None:
        if (name, line, how) not in self.evidence:
            self.evidence.append((name, line, how))

    def _override(self, name: str, pattern: str) -> int:
        """Refuse the operators of a pattern; return how many there are."""
        torch = sys.modules.get("torch")
        if torch is None:
            return 0
        if self._library is None:
            self._library = torch.library.Library("aten", "IMPL")
        every = {n.removeprefix("aten::") for n in torch._C._dispatch_get_all_op_names()
                 if n.startswith("aten::")}  # fmt: skip
        found = [op for op in every if fnmatch.fnmatchcase(op.partition(".")[0], pattern)]

        def refused(*_: object, **__: object) -> None:
            self._note(name, self._line() or 0, "run")
            raise Forbidden(f"{name} is what this question asks you to write yourself")

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that an operator is overridden is the point
            # Once each: an older torch refuses to override an operator twice.
            for op in sorted(set(found) - self._overridden):
                for key in KEYS:
                    self._library.impl(op, refused, key)
        self._overridden.update(found)
        return len(found)

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
            if line is not None:
                self._note(name, line, "run")
                raise Forbidden(f"{name} is what this question asks you to write yourself")
            return real(*args, **kwargs)

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
        yield name.removeprefix("aten::")
    elif name.startswith("torch."):
        word = name.rpartition(".")[2]
        yield from (word, f"{word}_", f"_{word}", f"{word}_with_indices")
