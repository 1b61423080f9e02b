"""The messages between the judge and a worker.

A request is `{"op": NAME, ...}` with the fields of the class of that name, in lower case.  A reply
is `{"ok": true, "reply": {...}}` with the fields of the class that the docstring of the request
names after "Reply:", or `{"ok": false, "fault": {...}}` with the fields of `WorkerFault`.

While a test that a candidate wrote runs, the worker may first send `{"ok": true, "said": {...}}`
with a `PeerMessage`.  The judge answers it with `{"said": {...}}`.

Both sides import this file.  The worker builds requests without checking them (`build_message`),
because the judge wrote them.  The judge reads only what pydantic accepts as one of these types
(`sandbox/messages.py`).  Messages are named tuples, because no other class is built faster.
"""

from __future__ import annotations

import functools
import types
import typing
from typing import Annotated, Any, NamedTuple

from .wire import Array


class _Bounded:
    """Makes pydantic refuse integers of more than 64 bits; a worker has no pydantic."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:  # noqa: ANN401 pydantic's
        return {**handler(source), "ge": -(1 << 63), "lt": 1 << 63}


BoundedInt = Annotated[int, _Bounded()]
NameTuple = tuple[str, ...]


class WireArgument(NamedTuple):
    """An argument of a step: a name to look up, a literal, or a list of arguments."""

    name: str | None
    literal: Any = None
    keyword: str | None = None
    items: tuple[WireArgument, ...] | None = None  # if it is a list


class WireStep(NamedTuple):
    """One step of a run: `targets = function(arguments)`."""

    targets: NameTuple
    unpack: bool  # True if each target gets one entry of the result
    owner: str  # submission, driver, judge, or torch, which computes gradients
    function: str
    arguments: tuple[WireArgument, ...]


class WireInput(NamedTuple):
    """An input of a run: a value, and for an array its layout in memory."""

    value: Any
    layout: str = "contiguous"  # see `layouts`
    tensor: bool = False  # True if the array becomes a tensor
    grad: bool = False  # True if the tensor requires a gradient


WireSteps = tuple[WireStep, ...]
WireInputs = dict[str, WireInput]


# -- requests ---------------------------------------------------------------------------------


class ReportIsolation(NamedTuple):
    """Report which forbidden acts this process could do at its start.  Reply: `IsolationReport`."""


class File(NamedTuple):
    """A file's name and content."""

    name: str
    content: Array


class Load(NamedTuple):
    """Execute a program, and report which of the functions are missing.  Reply: `Loaded`."""

    program: str
    sources: tuple[Array, ...]  # each an array of bytes
    driver: Array | None
    filename: str
    functions: NameTuple
    driver_file: str = "driver.py"
    driven: NameTuple = ()  # functions that the driver should define
    modules: tuple[File, ...] = ()  # files that the program may import under these names
    cells: tuple[BoundedInt, ...] = ()  # number of the line above each cell of a notebook
    skip: bool = False  # True if the next cells run after one that raises
    keep: bool = False  # True if a program that raises is kept as far as it ran
    stand_ins: bool = False  # True if stand-ins replace missing modules
    before: Array | None = None  # bytes of an earlier version, for `Loaded.same`
    code: NameTuple = ()  # names that the earlier version defines, see `syntax`


class Run(NamedTuple):
    """Run each step on every set of inputs before the next step.  Reply: `Outcomes`.

    The reply also tells which results share memory between the runs.
    """

    program: str
    steps: WireSteps
    inputs: tuple[WireInputs, ...]
    want: NameTuple = ()  # results to send
    apart: bool = False  # True if only the driver runs here, and the program elsewhere


class Several(NamedTuple):
    """Run all steps on one set of inputs after another.  Reply: `Answers`."""

    programs: NameTuple  # all of them run the steps; if that takes long, the last runs are missing
    steps: WireSteps
    inputs: tuple[WireInputs, ...]
    want: NameTuple = ()


class Timed(NamedTuple):
    """Run steps once and measure their CPU time.  Reply: `Outcome`, without changes of inputs."""

    program: str
    steps: WireSteps
    inputs: WireInputs
    want: NameTuple = ()


class Differentiate(NamedTuple):
    """Compute numerical gradients, see `measure.differences`.  Reply: `Gradients`."""

    program: str
    steps: WireSteps
    inputs: WireInputs
    want: NameTuple  # inputs with respect to which the result is differentiated
    of: str  # the result
    cotangent: Array | None = None  # weights of its entries; None for a scalar
    kinks: bool = False  # True if the function has kinks


class Measure(NamedTuple):
    """Measure a quantity of a run.  Reply: `Measured`.

    The quantity is `state` (`measure.kept_memory`), or with torch one of those of
    `measure.autograd.measure_graph`.  Without torch, any other name means the memory that the
    last step allocates (`measure_allocation`).
    """

    program: str
    steps: WireSteps
    inputs: WireInputs
    quantity: str
    of: str = ""  # the measured result, for `state` and `graph`
    without: NameTuple = ()  # inputs whose memory does not count, for `saved`


class PassedValue(NamedTuple):
    """An argument or result that goes from one program to another; see `peer_calls`."""

    value: Any = None
    keyword: str = ""  # if it is passed by keyword
    function: BoundedInt = -1  # number of a function, instead of a value
    wide: str = ""  # dtype of an array whose bytes are the value
    shape: tuple[BoundedInt, ...] = ()
    readonly: bool = False
    generator: bool = False  # True if the value is the state of a random generator


class PeerMessage(NamedTuple):
    """A call from one program to another, or its result, within a request.

    - `ask`: call the submission's function `name`; the answer is `gives`, or `over` if it failed.
    - `call`: call the function `number` among its arguments; the answer is `gives`.
    """

    about: str
    name: str = ""
    number: BoundedInt = -1  # of a function; or of a result, equal for results in the same memory
    given: tuple[PassedValue, ...] = ()  # arguments, or the result
    changed: tuple[tuple[BoundedInt, PassedValue], ...] = ()  # changed arrays with their index
    raised: tuple[str, str] | None = None  # name of a built-in class, and the text


class Call(NamedTuple):
    """Call a function of a candidate's test, see `peer_calls`.  Reply: `PeerMessage`."""

    program: str
    said: PeerMessage


# -- replies ----------------------------------------------------------------------------------


class IsolationReport(NamedTuple):
    """Result of each forbidden act (see `walls.canary`), and which walls are missing and why."""

    acts: dict[str, str]  # "refused", "done", or "absent": the system does not have it
    missing: NameTuple = ()  # sentences


class WireException(NamedTuple):
    """An exception as data, with the frames of its traceback that belong to the program."""

    type: str
    message: str
    frames: tuple[tuple[BoundedInt, str, str], ...]  # line, function, text
    column: BoundedInt | None = None  # of a syntax error
    memory: bool = False  # True if the memory limit was reached
    where: str = ""  # FILE:LINE: TEXT, if a driver or a module next to it raised
    after: str = ""  # last name that a driver read from the program
    given: str = ""  # description of the arguments of the program's first call


class WorkerFault(NamedTuple):
    """Why a request failed: one of `fault`, `raised` and `broken`, and the failed step, if any."""

    step: BoundedInt | None = None
    fault: str = ""  # sentence that says why a result cannot be used
    raised: WireException | None = None
    broken: str = ""  # traceback of the worker itself


class Loaded(NamedTuple):
    """Reply to `Load`: names that the program and its driver define, and those that they lack."""

    missing: NameTuple
    uncallable: tuple[
        tuple[str, str], ...
    ]  # names of other values than functions, with their types
    defined: NameTuple
    stubs: NameTuple = ()  # functions with only `pass`, `...` or NotImplementedError
    undriven: NameTuple = ()  # missing in the driver
    driver: NameTuple = ()  # defined by the driver
    stopped: tuple[WireException, ...] = ()  # exceptions despite which the program is kept
    same: bool = False  # True if its code equals that of `Load.before`


class Outcome(NamedTuple):
    """Results of one run, and how it changed its inputs and earlier results."""

    values: dict[str, Any]
    changed: tuple[tuple[BoundedInt, str], ...] = ()  # (step, input) that the step changed
    stale: tuple[tuple[str, BoundedInt], ...] = ()  # (result, step) that a later step changed
    shared: tuple[tuple[str, str], ...] = ()  # (result, input) in the same memory
    spent: BoundedInt = 0  # CPU nanoseconds of a timed run, measured by the worker


class Outcomes(NamedTuple):
    """Reply to `Run`: one outcome for each set of inputs."""

    runs: tuple[Outcome, ...]
    common: NameTuple  # results that share memory between runs


class Answers(NamedTuple):
    """Reply to `Several`: an outcome or fault for each run, first all runs of the first program."""

    runs: tuple[Outcome | WorkerFault, ...]
    longest: BoundedInt = 0  # CPU nanoseconds of the longest run


class Gradients(NamedTuple):
    """Reply to `Differentiate`: numerical gradients and their estimated errors, by input."""

    # By input: `value`, the gradient, and `error`, the estimated absolute error of each element.
    gradients: dict[str, dict[str, Array]]


class MatmulCount(NamedTuple):
    """How often (`times`) a rows x inner matrix was multiplied by an inner x columns matrix."""

    batch: BoundedInt
    rows: BoundedInt
    inner: BoundedInt
    columns: BoundedInt
    times: BoundedInt


class Measured(NamedTuple):
    """Reply to `Measure`: the measured quantity, and what it consists of."""

    value: BoundedInt | str  # bytes or FLOPs; a text is the origin of a graph
    details: tuple[tuple[str, BoundedInt], ...] = ()  # largest allocations: shape and dtype, bytes
    elements: BoundedInt = 0  # of results of operations whose FLOPs are not counted
    kept: NameTuple = ()  # names of tensors that are saved or alive: see `measure.kept_memory`
    course: tuple[BoundedInt, ...] = ()  # bytes alive over time, for a peak
    # All products whose FLOPs were counted; empty if other FLOPs were, or if there are too many.
    products: tuple[MatmulCount, ...] = ()


# -- in the worker ----------------------------------------------------------------------------


@functools.cache
def _type_parts(kind: Any) -> tuple[Any, Any]:  # noqa: ANN401 any type
    """Return the class of a type (a message, `tuple`, `dict` or another), and its inner types.

    `X | None` counts as `X`.
    """
    if typing.get_origin(kind) is types.UnionType:  # of None and one other type
        (kind,) = (part for part in typing.get_args(kind) if part is not types.NoneType)
    if hasattr(kind, "_fields"):
        return kind, typing.get_type_hints(kind)
    return typing.get_origin(kind) or kind, typing.get_args(kind)


def build_message(kind: Any, data: Any) -> Any:  # noqa: ANN401 a message of that class
    """Build a message of class `kind` from plain data, without checks; None stays None."""
    if data is None:
        return None
    origin, inner = _type_parts(kind)
    if hasattr(origin, "_fields"):
        fields = {name: build_message(inner[name], value) for name, value in data.items()}
        return origin(**fields)
    if origin is tuple and inner[-1] is Ellipsis:
        return tuple([build_message(inner[0], item) for item in data])
    if origin is tuple:
        items = zip(inner, data, strict=True)
        return tuple([build_message(item_kind, item) for item_kind, item in items])
    if origin is dict:
        return {name: build_message(inner[1], value) for name, value in data.items()}
    return data
