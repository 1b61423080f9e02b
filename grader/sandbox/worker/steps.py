"""Load a program in this process, and run steps on it.

A program is one or more source texts, which are executed in order in one module.  A submission is
one text.  A variant is executed after the reference, and replaces some of its definitions.  Steps
are assignments of calls, such as `y = forward(x)`, carried out one by one.  They call functions of
the program, or of the driver, a file of the question that runs next to the program.  An exception
of a program becomes data: its type, its text, and the frames that belong to the program.
"""

from __future__ import annotations

import dis
import functools
import itertools
import linecache
import sys
import time
import types
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from typing import Any

from . import layouts, missing_modules, protocol, values
from .limits import MAX_FRAMES, MAX_MESSAGE
from .protocol import Outcome, Outcomes, Run, WireArgument, WireException, WireInputs, WireStep
from .wire import Array, type_name, without_tensors

Namespace = dict[str, Any]

MAX_NAMES = 20  # public names of a file in one reply


class StepFault(Exception):
    """The program raised nothing, but a step cannot use its result, as one value instead of two."""


class StepFailed(Exception):
    """Step number `step` failed with `error`: an exception of the program, or a StepFault."""

    def __init__(self, step: int, error: BaseException) -> None:
        super().__init__(step)
        self.step = step
        self.error = error


# -- programs ---------------------------------------------------------------------------------


@dataclass(slots=True)
class LoadedProgram:
    """A loaded program, and the driver that runs with it.

    A driver reads the program's names from this object.  So a name of the program that is also an
    attribute of this class is hidden from the driver.
    """

    module: Any  # a module, or a stand-in for one in another process
    driver: types.ModuleType | None
    filename: str
    support_files: tuple[str, ...] = ()  # names of the driver and of helper modules
    taken: str = ""  # the name that the driver read last from the program
    # Exceptions at top level that did not keep the program from being loaded.
    stopped: tuple[WireException, ...] = ()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 a driver may read any name
        self.taken = name
        return getattr(self.module, name)

    def function(self, owner: str, name: str) -> Any:  # noqa: ANN401 a function of any program
        """Return the function that a step calls.

        A function of the owner `driver` gets this object as its first argument.  One of the owner
        `judge` is in the driver too, but gets only the step's arguments.
        """
        self.taken = ""
        if owner == "judge":
            return getattr(self.driver, name)
        if owner == "driver":
            return functools.partial(getattr(self.driver, name), self)
        return find_name(self.module, name)


def find_name(module: Any, name: str) -> Any:  # noqa: ANN401 any module, any value
    """Return the value of a name in a module; None if it is not defined.

    For CLASS.METHOD, return the method, or None if the class lacks it.  But return the value of
    CLASS itself if it is not a class (a function that makes objects, for example), or if the class
    may assign the method later: then only a call shows if the method exists.
    """
    owner_name, _, method = name.rpartition(".")
    if owner_name:
        owner = find_name(module, owner_name)
        if not isinstance(owner, type) or _may_assign(owner, method):
            return owner
        return getattr(owner, method, None)
    if name in vars(module):
        return vars(module)[name]
    return getattr(module, name, None)  # a module may define __getattr__


class _HelperFinder:
    """Finds the helper modules of a program, and runs them when they are imported."""

    files: dict[str, Array] = {}  # noqa: RUF012 contents by name of the module

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:  # noqa: ANN401 a path, a module
        """Return the spec of a helper module; None for any other module."""
        return ModuleSpec(name, self) if name in self.files else None  # type: ignore[arg-type, unused-ignore]

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None: Python makes the module."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the file of a module."""
        _run(self.files[module.__name__].tobytes(), module, f"{module.__name__}.py")


_helpers = _HelperFinder()


def _may_assign(owner: type, name: str) -> bool:
    """Return True if a class lacks a method that its code may assign, as in `self.append = f`.

    It may if one of its functions mentions the name, or if it has a `__getattr__`.
    """
    if hasattr(owner, name):
        return False
    members = [member for base in owner.__mro__ for member in vars(base).values()]
    mentioned: set[object] = set()
    for member in members:
        if isinstance(member, types.FunctionType):
            mentioned.update(member.__code__.co_names)
            for constant in member.__code__.co_consts:
                mentioned.update(constant if isinstance(constant, tuple) else (constant,))
    return name in mentioned or hasattr(owner, "__getattr__")


def execute_program(name: str, request: protocol.Load) -> LoadedProgram:
    """Run the sources in order in the module `name`, and then the driver in its own.

    Every exception is raised, including SystemExit, unless `request.keep`: then most are only noted
    in `LoadedProgram.stopped`.  If `request.stand_ins` and a module is missing, the sources run
    again with a stand-in for it.
    """
    _helpers.files = {file.name: file.content for file in request.modules}
    if _helpers not in sys.meta_path:
        sys.meta_path.insert(0, _helpers)  # type: ignore[arg-type, unused-ignore]
    module, errors = _run_sources(name, request)
    others = support_files(request)
    stopped = tuple(describe_exception(error, request.filename, others) for error in errors)
    driver = None
    if request.driver is not None:
        driver = _new_module(f"{name}_driver")
        _run(request.driver.tobytes(), driver, request.driver_file)
    return LoadedProgram(module, driver, request.filename, others, stopped=stopped)


def _run_sources(name: str, request: protocol.Load) -> tuple[types.ModuleType, list[BaseException]]:
    """Run the sources of a program; return its module, and the exceptions that were kept.

    An exception is kept instead of raised if `request.keep`, unless memory ran out or not one of
    the requested functions is defined.
    """
    module = _new_module(name)
    errors: list[BaseException] = []
    for helper in _helpers.files:
        sys.modules.pop(helper, None)  # an earlier program may have imported another one
    sources = [source.tobytes() for source in request.sources]
    for source in sources:
        for cell in _cells(source, request.cells):
            try:
                _run(cell, module, request.filename, source)
            except BaseException as error:
                if request.stand_ins and missing_modules.stands_in_for(error):
                    return _run_sources(name, request)
                if not request.keep or isinstance(error, MemoryError):
                    raise
                errors.append(error)
                if not request.skip:
                    break
    functions = [vars(module).get(function.partition(".")[0]) for function in request.functions]
    if errors and all(function is None for function in functions):
        raise errors[0]
    if request.stand_ins:
        for function in functions:
            import_error = missing_modules.missing_import_error(function)
            if import_error is not None:
                raise import_error
        files = (file.tobytes() for file in _helpers.files.values())
        missing_modules.forbid_stand_ins(b"".join([*sources, *files]))
    return module, errors


def _cells(source: bytes, line_numbers: Sequence[int]) -> list[bytes]:
    """Split the source of a notebook into cells.

    Each begins with as many empty lines as the source has lines before it, so its lines keep their
    numbers.  `line_numbers` are `Load.cells`.  Without any, the source is one cell.
    """
    if not line_numbers:
        return [source]
    lines = source.splitlines(keepends=True)
    ends = [*(first - 1 for first in line_numbers[1:]), len(lines)]
    ranges = zip(line_numbers, ends, strict=True)
    return [b"\n" * first + b"".join(lines[first:end]) for first, end in ranges]


def support_files(request: protocol.Load) -> tuple[str, ...]:
    """Return the file names of the driver and of helper modules, as in tracebacks."""
    return (request.driver_file, *(f"{module.name}.py" for module in request.modules))


def _new_module(name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    sys.modules[name] = module
    return module


def _run(source: bytes, module: types.ModuleType, filename: str, whole: bytes = b"") -> None:
    """Run a source in a module; `whole` is the text of the file if the source is only a cell."""
    module.__file__ = filename
    text = (whole or source).decode("utf-8", "replace")
    # The file does not exist, so tracebacks, inspect.getsource and torch.jit read its lines here.
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    try:
        code = _compile(source)
    except SyntaxError as error:
        error.filename = filename
        raise
    exec(_with_filename(code, filename), vars(module))  # noqa: S102 this process runs programs


@functools.lru_cache(maxsize=8)  # many programs share a reference and a driver
def _compile(source: bytes) -> types.CodeType:
    return compile(_decode(source), "", "exec", dont_inherit=True)


def _with_filename(code: types.CodeType, filename: str) -> types.CodeType:
    """Return the same code with another filename, as though compiled from that file."""
    constants = tuple(
        _with_filename(constant, filename) if isinstance(constant, types.CodeType) else constant
        for constant in code.co_consts
    )
    return code.replace(co_filename=filename, co_consts=constants)


def _decode(source: bytes) -> str | bytes:
    """Return the text of a source, which must be UTF-8; bytes if it declares its encoding."""
    if b"coding" in b"".join(source.splitlines()[:2]):
        return source
    try:
        # Text, because some versions of Python count columns of errors in bytes if given bytes.
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        message = f"(unicode error) 'utf-8' codec can't decode byte 0x{source[error.start]:02x}"
        raise SyntaxError(f"{message} in line {line}") from None


def defined_functions(module: types.ModuleType) -> tuple[str, ...]:
    """Return the names of public functions and classes that a file defines, at most MAX_NAMES.

    A message about missing functions lists them.
    """
    names = []
    for name, value in vars(module).items():
        if not callable(value) or name.startswith("_"):
            continue
        if getattr(value, "__module__", None) == module.__name__:
            names.append(name)
    return tuple(names[:MAX_NAMES])


_STUB_INSTRUCTIONS = {
    "RESUME", "NOP", "COPY_FREE_VARS", "PUSH_NULL", "PRECALL", "CALL",
    "LOAD_CONST", "LOAD_GLOBAL", "RETURN_CONST", "RETURN_VALUE", "RAISE_VARARGS",
}  # fmt: skip


def is_stub(value: object) -> bool:
    """Return True for a function that only returns None or raises NotImplementedError."""
    code = getattr(value, "__code__", None)
    if not isinstance(code, types.CodeType):
        return False
    constants: list[object] = []
    names: set[object] = set()
    for instruction in dis.get_instructions(code):
        if instruction.opname not in _STUB_INSTRUCTIONS:
            return False
        if instruction.opname == "LOAD_GLOBAL":
            names.add(instruction.argval)
        elif instruction.opname in {"LOAD_CONST", "RETURN_CONST"}:
            constants.append(instruction.argval)
    if names:
        return names == {"NotImplementedError"} and instruction.opname == "RAISE_VARARGS"
    return constants == [None]


# -- steps ------------------------------------------------------------------------------------

differentiate: list[Callable[..., Any]] = []  # `measure.autograd` puts its function here


def build_inputs(inputs: WireInputs) -> Namespace:
    """Build new inputs that nothing else refers to."""
    return {name: layouts.build_input(wire_input) for name, wire_input in inputs.items()}


def perform_step(program: LoadedProgram, step: WireStep, names: Namespace) -> Namespace:
    """Carry out one step; return the values that it assigns, by name, and add them to `names`."""
    arguments = [(argument.keyword, argument_value(argument, names)) for argument in step.arguments]
    if step.owner == "judge":
        arguments = [(keyword, without_tensors(values.snapshot(x))) for keyword, x in arguments]
    args = [value for keyword, value in arguments if keyword is None]
    kwargs = {keyword: value for keyword, value in arguments if keyword is not None}
    if step.owner == "torch":
        result = differentiate[0](step.arguments[0].name or "", *args, **kwargs)
    else:
        result = program.function(step.owner, step.function)(*args, **kwargs)
    assigned = _assign(step, result)
    names.update(assigned)
    return assigned


def argument_value(argument: WireArgument, names: Namespace) -> Any:  # noqa: ANN401 any value
    """Return the value of an argument; a list is a new list for each call."""
    if argument.items is not None:
        return [argument_value(item, names) for item in argument.items]
    return argument.literal if argument.name is None else names[argument.name]


def _assign(step: WireStep, result: object) -> Namespace:
    targets = step.targets
    if not step.unpack:
        return {targets[0]: result}
    expected = f"{len(targets)} results ({', '.join(targets)})"
    if isinstance(result, (tuple, list)):
        if len(result) == len(targets):
            return dict(zip(targets, result, strict=True))
        actual = f"a {type(result).__name__} of {len(result)}"
    else:
        actual = "None" if result is None else f"one {type_name(result)}"
    raise StepFault(f"{step.function} returned {actual}, expected {expected}")


def perform_steps(program: LoadedProgram, steps: Sequence[WireStep], names: Namespace) -> None:
    """Carry out steps one after another; the first one that fails raises StepFailed."""
    for index, step in enumerate(steps):
        try:
            perform_step(program, step, names)
        except BaseException as error:  # noqa: BLE001 the program may raise anything
            raise StepFailed(index, error) from None


def run_timed(program: LoadedProgram, request: protocol.Timed) -> Outcome:
    """Run the steps and measure the CPU time; changed inputs are not noticed."""
    names = build_inputs(request.inputs)
    start = time.process_time_ns()
    perform_steps(program, request.steps, names)
    spent = time.process_time_ns() - start
    return Outcome({name: values.snapshot(names[name]) for name in request.want}, spent=spent)


def run_in_lockstep(program: LoadedProgram, request: Run) -> Outcomes:
    """Run each step on every set of inputs before the next step, like callers that take turns."""
    runs = [ObservedRun(program, request, inputs) for inputs in request.inputs]
    for index in range(len(request.steps)):
        for run in runs:
            run.advance(index)
    shared_results = {
        name
        for name in request.want
        for left, right in itertools.combinations(runs, 2)
        if values.share_memory(left.results.get(name), right.results.get(name))
    }
    return Outcomes(tuple(run.outcome() for run in runs), tuple(sorted(shared_results)))


class ObservedRun:
    """A run of the steps that notes which inputs and earlier results each step changes."""

    def __init__(self, program: LoadedProgram, request: Run, inputs: WireInputs) -> None:
        self.program = program
        self.request = request
        self.inputs = build_inputs(inputs)
        self.names = dict(self.inputs)
        self.fingerprints = {name: values.fingerprint(x) for name, x in self.inputs.items()}
        self.results: Namespace = {}
        self.snapshots: Namespace = {}  # of results, when they were assigned
        self.changed: dict[str, int] = {}  # the first step that changed an input
        self.stale: dict[str, int] = {}  # the first step that changed an earlier result
        self.shared: list[tuple[str, str]] = []

    def advance(self, index: int) -> None:
        """Carry out the step with this index, and note the inputs and results that it changed.

        Raises:
            StepFailed: The step failed, or its results or inputs could not be compared.
        """
        try:
            assigned = perform_step(self.program, self.request.steps[index], self.names)
            for name, before in self.fingerprints.items():
                if name not in self.changed and values.fingerprint(self.inputs[name]) != before:
                    self.changed[name] = index
            self._note_stale_results(index)
            for name in assigned:
                if name in self.request.want:
                    self._add_result(name, assigned[name])
        except BaseException as error:  # noqa: BLE001 the program may raise anything
            raise StepFailed(index, error) from None

    def _note_stale_results(self, index: int) -> None:
        for name, value in self.results.items():
            before = self.snapshots[name]
            if name not in self.stale and not values.same_bits(values.snapshot(value), before):
                self.stale[name] = index

    def _add_result(self, name: str, value: object) -> None:
        self.results[name] = value
        self.snapshots[name] = values.snapshot(value)  # may run code of its class
        for input_name, input_value in self.inputs.items():
            if values.share_memory(value, input_value):
                self.shared.append((name, input_name))

    def outcome(self) -> Outcome:
        """Return the results, and how the run changed inputs and earlier results."""
        self._note_stale_results(len(self.request.steps))
        return Outcome(
            values=self.snapshots,
            changed=tuple((step, name) for name, step in self.changed.items()),
            stale=tuple(self.stale.items()),
            shared=tuple(self.shared),
        )


def describe_exception(
    error: BaseException, filename: str, others: Collection[str] = (), after: str = ""
) -> WireException:
    """Return an exception of a program as data.

    Args:
        error: The exception.
        filename: The program's file, as in tracebacks.
        others: Files of the driver and of helper modules, as in tracebacks.
        after: The name that the driver read last from the program.
    """
    frames, where = _frames(error, filename, others)
    column = None
    if isinstance(error, SyntaxError) and error.filename in (*others, filename):
        message = str(error.msg)[:MAX_MESSAGE]
        file = str(error.filename)
        line = error.lineno or 0  # 0 if the file cannot be decoded
        source = error.text or linecache.getline(file, line)
        frames = ()
        if file not in others:
            column = error.offset
            if line:
                frames = ((line, "", source.rstrip("\r\n")),)
        elif line:
            where = f"{file}:{line}: {source.strip()}"
        else:
            where = file
    else:
        message = exception_text(error)
    return WireException(
        type=type_name(error),
        message=message,
        frames=frames,
        column=column,
        memory=isinstance(error, MemoryError),
        where=where[:MAX_MESSAGE],
        after=after,
        given=_first_arguments(error, filename),
    )


def _first_arguments(error: BaseException, filename: str) -> str:
    """Describe the arguments of the first call in a file that led to the error; '' without one."""
    for frame, _ in traceback_frames(error):
        if frame.f_code.co_filename == filename:
            return values.describe_arguments(frame)[:MAX_MESSAGE]
    return ""


def exception_text(error: BaseException) -> str:
    """Return the message of an exception, at most MAX_MESSAGE characters; never raise."""
    try:
        if isinstance(error, SystemExit):
            code = "" if error.code is None else repr(error.code)
            return f"the code called sys.exit({code})"[:MAX_MESSAGE]
        return str.__getitem__(str(error), slice(MAX_MESSAGE))  # str may be subclassed
    except BaseException:  # noqa: BLE001 a hostile __str__ may raise anything
        return "(its text cannot be shown)"


def _frames(
    error: BaseException, filename: str, others: Collection[str]
) -> tuple[tuple[tuple[int, str, str], ...], str]:
    """Return the innermost frames in the program's file, and FILE:LINE: TEXT of the last frame.

    The last frame may also be in one of the `others`.
    """
    frames: list[tuple[int, str, str]] = []
    where = ""
    for frame, line in traceback_frames(error):
        file = frame.f_code.co_filename
        if file not in {*others, filename}:
            continue
        text = linecache.getline(file, line).strip()
        where = f"{file}:{line}: {text}"
        if file == filename:
            frames.append((line, frame.f_code.co_name, text))
            if len(frames) > 4 * MAX_FRAMES:  # endless recursion: inner frames add nothing
                break
    return tuple(frames[-MAX_FRAMES:]), where


def traceback_frames(error: BaseException) -> Iterator[tuple[types.FrameType, int]]:
    """Yield the frames and line numbers of a traceback, the outermost first."""
    traceback = BaseException.__dict__["__traceback__"].__get__(error)
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next
