"""A program in this process: source texts executed over each other, and steps run on them.

A misconception is layered over the reference in this way; a submission is a layer of its own.
Steps are assignments of calls, one by one.  Whatever a program raises becomes data: its type, its
text, and the frames that belong to it.
"""

from __future__ import annotations

import dis
import functools
import itertools
import linecache
import sys
import time
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import MappingProxyType
from typing import Any

from . import layouts, missing_modules, protocol, values
from .limits import MAX_FRAMES, MAX_MESSAGE
from .protocol import Outcome, Outcomes, Run, WireArgument, WireException, WireInputs, WireStep
from .wire import Array, type_name, without_tensors

Namespace = dict[str, Any]


class StepFault(Exception):
    """A step's result cannot be used as the question says, though nothing was raised."""


class StepFailed(Exception):
    """A step raised, or returned what cannot be used."""

    def __init__(self, step: int, error: BaseException) -> None:
        super().__init__(step)
        self.step = step
        self.error = error


# -- programs ---------------------------------------------------------------------------------


@dataclass(slots=True)
class LoadedModule:
    """One namespace, and the driver that runs with it."""

    module: Any  # a module, or what stands for one in another process
    driver: types.ModuleType | None
    filename: str
    support_files: tuple[str, ...] = ()  # of the driver and of modules beside it
    taken: str = ""  # the name that the driver took last from the program
    stopped: tuple[
        WireException, ...
    ] = ()  # exceptions at top level that it was loaded in spite of

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 a driver may take any name of the program
        self.taken = name
        return getattr(self.module, name)

    def function(self, owner: str, name: str) -> Callable[..., Any]:
        """The callable behind a step's function name."""
        self.taken = ""
        if owner == "judge":
            judge: Callable[..., Any] = getattr(self.driver, name)
            return judge
        if owner == "driver":
            return functools.partial(getattr(self.driver, name), self)
        function: Callable[..., Any] = self.found(name)
        return function

    def found(self, name: str) -> Any:  # noqa: ANN401 whatever the program calls so
        """What the program's module has by a name; None where it has nothing.

        Of CLASS.METHOD it is the method; the class itself if that is no class, or if its instances
        may get the method later.
        """
        owner, _, method = name.rpartition(".")
        if owner:
            value = self.found(owner)
            if not isinstance(value, type) or _may_assign(value, method):
                return value
            return getattr(value, method, None)
        if name in vars(self.module):
            return vars(self.module)[name]
        return getattr(self.module, name, None)  # a module may make it up


class _FilesBeside:
    """Finds the files beside a program when it imports them, and runs them then."""

    files: Mapping[str, Array] = MappingProxyType({})

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:  # noqa: ANN401 a path, a module
        """Return where a file is loaded from; None for any other module."""
        return ModuleSpec(name, self) if name in self.files else None  # type: ignore[arg-type, unused-ignore]

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make the module."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the file."""
        _run(self.files[module.__name__].tobytes(), module, f"{module.__name__}.py")


_beside = _FilesBeside()


def _may_assign(owner: type, name: str) -> bool:
    """Return True if a class lacks a method whose name its code has, as in `self.append = f`."""
    if hasattr(owner, name):
        return False
    members = [value for one in owner.__mro__ for value in vars(one).values()]
    codes = [value.__code__ for value in members if isinstance(value, types.FunctionType)]
    texts = (const for code in codes for const in code.co_consts)
    words = [word for text in texts for word in (text if isinstance(text, tuple) else (text,))]
    mentioned = {*words, *(word for code in codes for word in code.co_names)}
    return name in mentioned or hasattr(owner, "__getattr__")


def execute_program(name: str, asked: protocol.Load) -> LoadedModule:
    """Run the sources in order in one module, and then its driver.

    Whatever they raise is raised, SystemExit included.  A submission gets stand-ins for what it
    misses, and runs again with them.
    """
    _beside.files = {file.name: file.content for file in asked.modules}
    if _beside not in sys.meta_path:
        sys.meta_path.insert(0, _beside)  # type: ignore[arg-type, unused-ignore]
    module, stopped = _run_file(name, asked)
    driver = None
    if asked.driver is not None:
        driver = _new_module(f"{name}_driver")
        _run(asked.driver.tobytes(), driver, asked.driver_file)
    return LoadedModule(module, driver, asked.filename, support_files(asked), stopped=stopped)


def _run_file(
    name: str, asked: protocol.Load
) -> tuple[types.ModuleType, tuple[WireException, ...]]:
    """Run a program's sources; return its module, and the exceptions that were passed over."""
    module, errors = _new_module(name), list[BaseException]()
    for file in _beside.files:
        sys.modules.pop(file, None)  # of a program that was loaded before
    sources = [source.tobytes() for source in asked.sources]
    for source in sources:
        for piece in _pieces(source, asked.cells):
            try:
                _run(piece, module, asked.filename, source)
            except BaseException as error:
                if asked.stand_ins and missing_modules.stands_in_for(error):
                    return _run_file(name, asked)
                if not asked.keep or isinstance(error, MemoryError):
                    raise
                errors.append(error)
                if not asked.skip:
                    break
    found = [vars(module).get(function.partition(".")[0]) for function in asked.functions]
    if errors and all(value is None for value in found):
        raise errors[0]
    if asked.stand_ins:
        missed = list(filter(None, map(missing_modules.missing_import_error, found)))
        if missed:
            raise missed[0]
        files = (file.tobytes() for file in _beside.files.values())
        missing_modules.forbid_stand_ins(b"".join([*sources, *files]))
    others = support_files(asked)
    return module, tuple(describe_exception(error, asked.filename, others) for error in errors)


def _pieces(source: bytes, cells: Sequence[int]) -> list[bytes]:
    """Return a source, or its cells, each at the lines at which it stands; see `Load.cells`."""
    if not cells:
        return [source]
    lines = source.splitlines(keepends=True)
    ends = [*(first - 1 for first in cells[1:]), len(lines)]
    ranges = zip(cells, ends, strict=True)
    return [b"\n" * first + b"".join(lines[first:end]) for first, end in ranges]


def support_files(asked: protocol.Load) -> tuple[str, ...]:
    """The files that a program is loaded with, besides its own."""
    return (asked.driver_file, *(f"{beside.name}.py" for beside in asked.modules))


def _new_module(name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    sys.modules[name] = module
    return module


def _run(source: bytes, module: types.ModuleType, filename: str, whole: bytes = b"") -> None:
    """Run a source in a module; it may be a piece of a whole text."""
    module.__file__ = filename
    text = (whole or source).decode("utf-8", "replace")
    # Tracebacks, inspect.getsource and torch.jit read the lines here: there is no such file.
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    try:
        code = _renamed(_compiled(source), filename)
    except (SyntaxError, ValueError):  # raised again, with the file's name
        code = _compiled_again(source, filename)
    exec(code, vars(module))  # noqa: S102 this is what the process is for


def _compiled_again(source: bytes, filename: str) -> types.CodeType:
    """Compile a source that has failed to; its error names the file."""
    try:
        return compile(_decoded(source), filename, "exec", dont_inherit=True)
    except SyntaxError as error:
        error.filename = error.filename or filename  # it has none if the file cannot be decoded
        raise


@functools.lru_cache(maxsize=8)  # many programs are layered over one, and have one driver
def _compiled(source: bytes) -> types.CodeType:
    return compile(_decoded(source), "", "exec", dont_inherit=True)


def _renamed(code: types.CodeType, filename: str) -> types.CodeType:
    """The same code, said to be of another file."""
    inner = (_renamed(c, filename) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return code.replace(co_filename=filename, co_consts=tuple(inner))


def _decoded(source: bytes) -> str | bytes:
    """The text of a source, which must be UTF-8; bytes where it says how it is encoded itself."""
    if b"coding" in b"".join(source.splitlines()[:2]):
        return source
    try:
        # As text, because of bytes some versions of Python count the columns of errors in bytes.
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        message = f"(unicode error) 'utf-8' codec can't decode byte 0x{source[error.start]:02x}"
        raise SyntaxError(f"{message} in line {line}") from None


def defined_functions(module: types.ModuleType) -> tuple[str, ...]:
    """The public callables that the file defines, for 'found instead'."""
    public = ((n, v) for n, v in vars(module).items() if callable(v) and not n.startswith("_"))
    return tuple(n for n, v in public if getattr(v, "__module__", None) == module.__name__)[:20]


_OF_A_STUB = {
    "RESUME", "NOP", "COPY_FREE_VARS", "PUSH_NULL", "PRECALL", "CALL",
    "LOAD_CONST", "LOAD_GLOBAL", "RETURN_CONST", "RETURN_VALUE", "RAISE_VARARGS",
}  # fmt: skip


def is_stub(value: object) -> bool:
    """Return True for a function that only returns None or raises NotImplementedError."""
    code = getattr(value, "__code__", None)
    if not isinstance(code, types.CodeType):
        return False
    found = list(dis.get_instructions(code))
    if any(one.opname not in _OF_A_STUB for one in found):
        return False
    loaded = {one.argval for one in found if one.opname == "LOAD_GLOBAL"}
    constants = [one.argval for one in found if one.opname in {"LOAD_CONST", "RETURN_CONST"}]
    if loaded:
        return loaded == {"NotImplementedError"} and found[-1].opname == "RAISE_VARARGS"
    return constants == [None]


# -- steps ------------------------------------------------------------------------------------

differentiate: list[Callable[..., Any]] = []  # torch's way: see `measure.autograd`


def build_inputs(inputs: WireInputs) -> Namespace:
    """Make fresh inputs that nobody else holds."""
    return {name: layouts.build_input(given) for name, given in inputs.items()}


def perform_step(program: LoadedModule, step: WireStep, names: Namespace) -> Namespace:
    """Carry out one step and return what it assigned; `names` is updated."""
    given = [(a.keyword, _given(a, names)) for a in step.arguments]
    if step.owner == "judge":
        given = [(keyword, without_tensors(values.snapshot(value))) for keyword, value in given]
    args = [value for keyword, value in given if keyword is None]
    kwargs = {keyword: value for keyword, value in given if keyword is not None}
    if step.owner == "torch":
        result = differentiate[0](step.arguments[0].name or "", *args, **kwargs)
    else:
        result = program.function(step.owner, step.function)(*args, **kwargs)
    assigned = _assign(step, result)
    names.update(assigned)
    return assigned


def _given(argument: WireArgument, names: Namespace) -> Any:  # noqa: ANN401 whatever it is
    """The value of an argument; a list is a new one for each call."""
    if argument.items is not None:
        return [_given(item, names) for item in argument.items]
    return argument.literal if argument.name is None else names[argument.name]


def _assign(step: WireStep, result: object) -> Namespace:
    targets = step.targets
    if not step.unpack:
        return {targets[0]: result}
    wanted = f"{len(targets)} results ({', '.join(targets)})"
    if not isinstance(result, (tuple, list)):
        found = "None" if result is None else f"one {type_name(result)}"
        raise StepFault(f"{step.function} returned {found}, expected {wanted}")
    if len(result) != len(targets):
        raise StepFault(
            f"{step.function} returned a {type(result).__name__} of {len(result)}, "
            f"expected {wanted}"
        )
    return dict(zip(targets, result, strict=True))


def perform_steps(program: LoadedModule, steps: Sequence[WireStep], names: Namespace) -> None:
    """Carry out steps one after another; raises Stopped by the first that fails."""
    for index, step in enumerate(steps):
        try:
            perform_step(program, step, names)
        except BaseException as error:  # noqa: BLE001 whatever it is, it is the program's
            raise StepFailed(index, error) from None


def run_timed(program: LoadedModule, asked: protocol.Timed) -> Outcome:
    """Run the steps without looking at inputs, and tell the CPU time."""
    names = build_inputs(asked.inputs)
    start = time.process_time_ns()
    perform_steps(program, asked.steps, names)
    spent = time.process_time_ns() - start
    return Outcome({n: values.snapshot(names[n]) for n in asked.want}, spent=spent)


def run_in_lockstep(program: LoadedModule, asked: Run) -> Outcomes:
    """Run the same steps on one or more sets of inputs in lockstep, as callers in turn would."""
    runs = [ObservedRun(program, asked, inputs) for inputs in asked.inputs]
    for index in range(len(asked.steps)):
        for one in runs:
            one.advance(index)
    common = {
        name
        for name in asked.want
        for a, b in itertools.combinations(runs, 2)
        if values.share_memory(a.results.get(name), b.results.get(name))
    }
    return Outcomes(tuple(one.outcome() for one in runs), tuple(sorted(common)))


class ObservedRun:
    """One run of the steps, which looks at inputs and earlier results after each."""

    def __init__(self, program: LoadedModule, asked: Run, inputs: WireInputs) -> None:
        self.program = program
        self.asked = asked
        self.lent = build_inputs(inputs)
        self.names = dict(self.lent)
        self.before = {name: values.fingerprint(value) for name, value in self.lent.items()}
        self.results: Namespace = {}
        self.first_seen: Namespace = {}
        self.changed: dict[str, int] = {}  # the first step that changed an input
        self.stale: dict[str, int] = {}  # the first step that changed an earlier result
        self.shared: list[tuple[str, str]] = []

    def advance(self, index: int) -> None:
        """Carry out the next step."""
        try:
            assigned = perform_step(self.program, self.asked.steps[index], self.names)
            for name, before in self.before.items():
                if name not in self.changed and values.fingerprint(self.lent[name]) != before:
                    self.changed[name] = index
            self._look_back(index)
            for name in [n for n in assigned if n in self.asked.want]:
                value = self.results[name] = assigned[name]
                self.first_seen[name] = values.snapshot(value)  # may run code of its class
                for lent, given in self.lent.items():
                    if values.share_memory(value, given):
                        self.shared.append((name, lent))
        except BaseException as error:  # noqa: BLE001 whatever it is, it is the program's
            raise StepFailed(index, error) from None

    def _look_back(self, index: int) -> None:
        for name, value in self.results.items():
            seen = self.first_seen[name]
            if name not in self.stale and not values.same_bits(values.snapshot(value), seen):
                self.stale[name] = index

    def outcome(self) -> Outcome:
        """What it came to."""
        self._look_back(len(self.asked.steps))
        return Outcome(
            self.first_seen,
            tuple((step, name) for name, step in self.changed.items()),
            tuple(self.stale.items()),
            tuple(self.shared),
        )


def describe_exception(
    error: BaseException, filename: str, others: Collection[str] = (), after: str = ""
) -> WireException:
    """Return an exception of a program as data; `others` are the files that it was loaded with.

    It was raised `after` the driver took this name of the program.
    """
    frames, where = _frames(error, filename, others)
    column: int | None = None
    if isinstance(error, SyntaxError) and error.filename in others:
        line = error.lineno or 0
        text = (error.text or linecache.getline(str(error.filename), line)).strip()
        where = f"{error.filename}:{line}: {text}" if line else str(error.filename)
        frames, message = (), str(error.msg)[:MAX_MESSAGE]
    elif isinstance(error, SyntaxError) and error.filename == filename:
        line = error.lineno or 0
        source = error.text or linecache.getline(filename, line)
        # No line is known where the file cannot be decoded.
        frames = ((line, "", (source or "").rstrip("\r\n")),) if line else ()
        column = error.offset
        message = str(error.msg)[:MAX_MESSAGE]
    else:
        message = exception_text(error)
    memory = isinstance(error, MemoryError)
    own = (frame for frame, _ in traceback_frames(error) if frame.f_code.co_filename == filename)
    first = next(own, None)
    given = "" if first is None else values.describe_arguments(first)[:MAX_MESSAGE]
    where = where[:MAX_MESSAGE]
    return WireException(type_name(error), message, frames, column, memory, where, after, given)


def exception_text(error: BaseException) -> str:
    """What an exception says of itself."""
    try:
        if isinstance(error, SystemExit):
            code = "" if error.code is None else repr(error.code)
            return f"the code called sys.exit({code})"[:MAX_MESSAGE]
        return str.__getitem__(str(error), slice(MAX_MESSAGE))  # a subclass of str has no say
    except BaseException:  # noqa: BLE001 a hostile __str__ may raise anything
        return "(its text cannot be shown)"


def _frames(
    error: BaseException, filename: str, others: Collection[str]
) -> tuple[tuple[tuple[int, str, str], ...], str]:
    """The frames of the program's own file, and where in it or another file the last is."""
    frames: list[tuple[int, str, str]] = []
    where = ""
    for frame, line in traceback_frames(error):
        file = frame.f_code.co_filename
        text = linecache.getline(file, line).strip() if file in {*others, filename} else ""
        if file in {*others, filename}:
            where = f"{file}:{line}: {text}"
        if file == filename:
            frames.append((line, frame.f_code.co_name, text))
            if len(frames) > 4 * MAX_FRAMES:  # endless recursion: the innermost are no news
                break
    return tuple(frames[-MAX_FRAMES:]), where


def traceback_frames(error: BaseException) -> Iterator[tuple[types.FrameType, int]]:
    """The frames and lines through which an exception went, the outermost first."""
    at = BaseException.__dict__["__traceback__"].__get__(error)
    while at is not None:
        yield at.tb_frame, at.tb_lineno
        at = at.tb_next
