"""Results as bytes that another process of the same program can make objects of again.

The judge counts those bytes and never reads them.  Who makes them or reads them is the program's
own process, so that there is nothing to be believed.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .messages import Outcome, Packed, Task
from .namespace import LoadedModule
from .steps import Progress, build, perform_all

PROTOCOL = 5


def pack(program: LoadedModule, task: Task) -> Packed:
    """Run the steps, and give what is wanted as bytes; none where it cannot be moved."""
    names = build(task.inputs)
    perform_all(program, task.steps, names)
    kept = {name: names[name] for name in task.want}
    try:
        content = _dumped(kept, program.module)
    except BaseException:  # noqa: BLE001 whatever it is, it is the program's
        content = b""
    return Packed(np.frombuffer(content, np.uint8))


def go_on(program: LoadedModule, task: Task) -> Outcome:
    """Run the steps on the inputs and on what was packed."""
    assert task.packed is not None
    one = Progress(program, task, task.inputs)
    one.names.update(_loaded(task.packed.tobytes(), program.module))
    for index in range(len(task.steps)):
        one.advance(index)
    return one.outcome()


def _dumped(value: object, module: ModuleType) -> bytes:
    written = io.BytesIO()
    _Pickler(written, module).dump(value)
    return written.getvalue()


def _loaded(content: bytes, module: ModuleType) -> Any:  # noqa: ANN401 what was packed
    return _Unpickler(io.BytesIO(content), module).load()


def _fixed(module: ModuleType) -> list[object]:
    """What every process of the program has: its names, and the code of its functions."""
    return [FunctionType, CellType, vars(module), *_codes(module)]


def _codes(module: ModuleType) -> Iterator[CodeType]:
    """The code of functions of the module and of its classes, and of what they define."""
    of_classes = [
        member
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
        for member in vars(value).values()
    ]
    for value in (*vars(module).values(), *of_classes):
        value = getattr(value, "__func__", value)  # of a static method
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            yield from _nested(value.__code__)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _nested(inner)


class _Pickler(pickle.Pickler):
    """Pickles functions that were made in functions, too: by their code's place in the program."""

    def __init__(self, file: io.BytesIO, module: ModuleType) -> None:
        super().__init__(file, PROTOCOL)
        self._module, self._fixed = module, _fixed(module)  # alive: ids are of living things
        self._places = {id(one): place for place, one in enumerate(self._fixed)}

    def persistent_id(self, obj: object) -> int | str | None:
        if isinstance(obj, ModuleType):
            return obj.__name__
        return self._places.get(id(obj))

    def reducer_override(self, obj: Any) -> Any:  # noqa: ANN401
        if isinstance(obj, CellType):
            return CellType, (obj.cell_contents,)
        if isinstance(obj, FunctionType) and vars(self._module).get(obj.__qualname__) is not obj:
            if obj.__globals__ is not vars(self._module):
                return NotImplemented
            about = (obj.__code__, obj.__globals__, obj.__name__, obj.__defaults__, obj.__closure__)
            return FunctionType, about, (None, {"__kwdefaults__": obj.__kwdefaults__})
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, module: ModuleType) -> None:
        super().__init__(file)
        self._fixed = _fixed(module)

    def persistent_load(self, pid: Any) -> Any:  # noqa: ANN401
        import importlib

        return importlib.import_module(pid) if isinstance(pid, str) else self._fixed[pid]
