"""A program: source texts executed one over the other in a single namespace.

A misconception is layered over the reference in this way; a submission is a layer of its own.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .protocol import Load
    from .wire import Array


@dataclass(slots=True)
class LoadedModule:
    """One namespace, and the driver that runs with it."""

    module: Any  # a module, or what stands for one in another process
    driver: types.ModuleType | None
    filename: str
    support_files: tuple[str, ...] = ()  # of the driver and of modules beside it

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 a driver may take any name of the program
        return getattr(self.module, name)

    def function(self, owner: str, name: str) -> Callable[..., Any]:
        """The callable behind a step's function name."""
        if owner == "driver":
            return functools.partial(getattr(self.driver, name), self)
        function: Callable[..., Any] = self.found(name)
        return function

    def found(self, name: str) -> Any:  # noqa: ANN401 whatever the program calls so
        """What the program's module has by a name; None where it has nothing."""
        if name in vars(self.module):
            return vars(self.module)[name]
        return getattr(self.module, name, None)  # a module may make it up


def execute(sources: Sequence[bytes], name: str, asked: Load) -> LoadedModule:
    """Run the sources in order in one module, after what lies beside it and before its driver.

    Args:
        sources: Python files, decoded as Python decodes files (BOM, coding line, any newline).
        name: the module's name; dataclasses and pickling look it up in `sys.modules`.
        asked: the request to load it, with the driver and modules.

    Raises:
        BaseException: whatever the sources raise, SystemExit included.
    """
    for beside in asked.modules:
        _beside(beside.content, beside.name, f"{beside.name}.py")
    module = _execute(sources, name, asked.filename)
    driver = asked.driver
    if driver is not None:
        driven = _beside(driver, f"{name}_driver", asked.driver_file)
        return LoadedModule(module, driven, asked.filename, support_files(asked))
    return LoadedModule(module, None, asked.filename, support_files(asked))


def support_files(asked: Load) -> tuple[str, ...]:
    """The files that a program is loaded with, besides its own."""
    return (asked.driver_file, *(f"{beside.name}.py" for beside in asked.modules))


def _beside(source: Array, name: str, file: str) -> types.ModuleType:
    try:
        return _execute([source.tobytes()], name, file)
    except SyntaxError as error:
        error.filename = error.filename or file  # it has none where the file cannot be decoded
        raise


def _execute(sources: Sequence[bytes], name: str, filename: str) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__file__ = filename
    sys.modules[name] = module
    for source in sources:
        code = _compiled(source, filename)
        text = source.decode("utf-8", "replace")
        # Tracebacks, inspect.getsource and torch.jit read the lines here: there is no such file.
        linecache.cache[filename] = (len(source), None, text.splitlines(keepends=True), filename)
        exec(code, vars(module))  # noqa: S102 this is what the process is for
    return module


def _compiled(source: bytes, filename: str) -> types.CodeType:
    with contextlib.suppress(SyntaxError, ValueError):  # raised again below, with the file's name
        return _renamed(_shared(source), filename)
    return compile(_decoded(source), filename, "exec", dont_inherit=True)


@functools.lru_cache(maxsize=8)  # many programs are layered over one, and have one driver
def _shared(source: bytes) -> types.CodeType:
    return compile(_decoded(source), "", "exec", dont_inherit=True)


def _renamed(code: types.CodeType, filename: str) -> types.CodeType:
    """The same code, said to be of another file."""
    inner = (_renamed(c, filename) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return code.replace(co_filename=filename, co_consts=tuple(inner))


def _decoded(source: bytes) -> str | bytes:
    """The text of a source; bytes where the file itself says how it is encoded.

    Raises:
        SyntaxError: it is not UTF-8 and does not say so; `compile` overlooks that in comments.
    """
    if b"coding" in b"".join(source.splitlines()[:2]):
        return source
    try:
        # As text, because of bytes some versions of Python count the columns of errors in bytes.
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        message = f"(unicode error) 'utf-8' codec can't decode byte 0x{source[error.start]:02x}"
        raise SyntaxError(f"{message} in line {line}") from None


def defined(module: types.ModuleType) -> list[str]:
    """The public callables that the file defines, for 'found instead'."""
    public = ((n, v) for n, v in vars(module).items() if callable(v) and not n.startswith("_"))
    return [n for n, v in public if getattr(v, "__module__", None) == module.__name__][:20]
