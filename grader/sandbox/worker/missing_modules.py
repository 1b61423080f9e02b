"""Stand-ins for modules and functions that a submission uses and that are missing here.

If a program fails because something is missing, it runs again with a stand-in.  Modules that plot
or display do nothing.  So do `display` and `get_ipython`; `input` returns an empty text.  Any other
missing module can be imported, but not used after the file is loaded.
"""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from typing import Any

DISPLAY_MODULES = frozenset({"matplotlib", "seaborn", "plotly", "IPython", "tqdm"})
_RESULT_COUNTS = {"subplots": 2, "hist": 3}  # functions whose results programs unpack
_input = builtins.input


class MissingModule(types.ModuleType):
    """Stand-in for a missing module and for nearly all of its attributes."""

    def _use(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401 any arguments
        """Return the stand-in; raise ModuleNotFoundError if its module may not be used now."""
        root = _root(self.__name__)
        if _finder.is_loaded and root not in DISPLAY_MODULES:
            raise ModuleNotFoundError(
                f"No module named {root!r}: it can be imported here, but not used"
            )
        return self

    __call__ = __getitem__ = __setitem__ = __enter__ = __exit__ = _use

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 any attribute
        if name == "__all__" and _root(self.__name__) not in DISPLAY_MODULES:
            raise _finder.missed[_root(self.__name__)]  # `import *` uses its names
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "tqdm":
            return lambda items=(), *_, **__: items
        if name == "trange":
            return range
        if name in _RESULT_COUNTS:
            return lambda *_, **__: [self] * _RESULT_COUNTS[name]
        return self._use()

    def __iter__(self) -> Iterator[Any]:
        return iter([self._use()])

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        return ()


def _root(name: str | None) -> str:
    return str(name).partition(".")[0]


class _Finder:
    """Finds stand-ins for the modules that a program misses."""

    missed: dict[str, BaseException] = {}  # noqa: RUF012 import errors by package
    is_loaded = False

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:  # noqa: ANN401 a path, a module
        """Return the spec of a stand-in; None for any other module."""
        if _root(name) not in self.missed:
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type, unused-ignore]

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """Return a stand-in."""
        return MissingModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Leave the stand-in empty."""


_finder = _Finder()


def stands_in_for(error: BaseException) -> bool:
    """Provide a stand-in if the error is about a missing module, `display` or `input`.

    Returns:
        True if there is a new stand-in: the program should run again.
    """
    is_display = isinstance(error, NameError) and error.name in {"display", "get_ipython"}
    if (is_display or isinstance(error, EOFError)) and not hasattr(builtins, "display"):
        stand_in = MissingModule("IPython")
        vars(builtins).update(display=stand_in, get_ipython=stand_in, input=lambda *_: "")
        return True
    root = _root(error.name) if isinstance(error, ModuleNotFoundError) else ""
    if root in {"", "None", *sys.stdlib_module_names, *sys.modules, *_finder.missed}:
        return False
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)  # type: ignore[arg-type, unused-ignore]
    _finder.missed[root] = error
    return True


def missing_import_error(value: object) -> BaseException | None:
    """Return the import error of the module that a value stands in for; None if it does not."""
    if not isinstance(value, MissingModule):
        return None
    return _finder.missed.get(_root(value.__name__))


def forbid_stand_ins(text: bytes) -> None:
    """Forbid stand-ins from now on, except for display modules whose name occurs in the text.

    The built-in `input` works again.
    """
    vars(builtins).update(input=_input)
    _finder.is_loaded = True
    _finder.missed = {name: ImportError() for name in DISPLAY_MODULES if name.encode() in text}
    for name, module in list(sys.modules.items()):
        if isinstance(module, MissingModule) and _root(name) not in _finder.missed:
            del sys.modules[name]
