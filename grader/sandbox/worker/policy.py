"""Calls that a question asks a candidate to write instead: who makes one leaves evidence here.

The run is watched: torch's operators are overridden in the dispatcher, functions of Python and
numpy are wrapped, and both note who called.  And the text is read, simply: names are resolved
through the file's imports, so that a helper of the candidate's own with the same name is nobody's
business.  A person decides what the evidence is worth: code in the same process can silence it.
"""

from __future__ import annotations

import ast
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

KEYS = ("CPU", "AutogradCPU", "CUDA", "AutogradCUDA", "MkldnnCPU", "QuantizedCPU")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
MOST = 8  # pieces of evidence that are sent

Evidence = tuple[str, int, str]  # what, line (0 where unknown), "text" or "run"


class Forbidden(RuntimeError):
    """What a program gets instead of a result."""


class Policy:
    """What is forbidden in this process, and the evidence so far."""

    def __init__(self, forbids: Sequence[str], measuring: int) -> None:
        """Watch dotted names (`torch.nn.functional.fold`) and operators (`aten::max_pool*`).

        Nothing that is called in the thread that measures is a program's.
        """
        self._measuring = measuring
        self.forbids = list(forbids)
        self.evidence: dict[Evidence, None] = {}  # in order, none twice
        self._filenames: set[str] = set()
        self._library: Any = None
        self._overridden: set[str] = set()
        # Those of which there is nothing that can be watched.
        self.unknown = [n for n in forbids if not self._override(n) | self._wrap(n)]

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
        except (ImportError, AttributeError, ValueError):  # none, or the name of an operator
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
        if threading.get_ident() == self._measuring:
            return None
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


def mentions(
    source: bytes, forbidden: Sequence[str], functions: Sequence[str]
) -> list[tuple[str, int]]:
    """Return (forbidden name, line) pairs, in the order of the file, in code that is reached.

    A name is met when what it resolves to begins with the same package and ends with the same word:
    `torch.max_pool2d` is `torch.nn.functional.max_pool2d`.

    Args:
        source: of a file; one that cannot be parsed mentions nothing, because it will not run.
        forbidden: dotted names.
        functions: that will be called; they and the file's own lines reach the rest.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    wanted = {_ends(name): name for name in forbidden}
    imported = _imported(tree)
    found = set()
    for node in _reached(tree, functions):
        first, dot, rest = ast.unparse(node).partition(".")
        whole = f"{imported.get(first, '')}{dot}{rest}"
        name = wanted.get(_ends(whole))
        if name and "." in whole and not name.startswith(f"{whole}."):  # a module of that name
            found.add((node.lineno, name))
    return [(name, line) for line, name in sorted(found)]


def _ends(dotted: str) -> tuple[str, str]:
    """The package and the last word of a name."""
    return dotted.partition(".")[0], dotted.rpartition(".")[2]


def _imported(tree: ast.Module) -> dict[str, str]:
    """By name in the file, what it is imported from, wherever that happens."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in tree.body:
        if isinstance(node, _DEFINITIONS):
            names.pop(node.name, None)  # the file's own definition comes later
    return names


def _reached(tree: ast.Module, functions: Sequence[str]) -> Iterator[ast.Name | ast.Attribute]:
    """Every name and attribute that is read in code that is reached."""
    defined = {node.name: node for node in tree.body if isinstance(node, _DEFINITIONS)}
    waiting: list[ast.AST] = [
        node
        for node in tree.body
        if not isinstance(node, _DEFINITIONS)
        and not (isinstance(node, ast.If) and ast.unparse(node.test).startswith("__name__"))
    ]
    waiting += [defined.pop(name) for name in functions if name in defined]
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                yield node
            if isinstance(node, ast.Name) and node.id in defined:
                waiting.append(defined.pop(node.id))
