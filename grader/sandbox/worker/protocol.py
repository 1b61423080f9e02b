"""What the judge asks of a worker, and what the worker answers: every message, written once.

A request is `{"op": NAME, ...}` with the fields of the class of that name, in lower case.  An
answer is `{"ok": true, "reply": {...}}` with those of the class that the request names, or
`{"ok": false, "fault": {...}}` with those of a `Fault`.  While the test of somebody is at work,
`{"ok": true, "said": {...}}` comes with those of a `Said`, and `{"said": {...}}` goes back.

Both sides import this.  The worker takes requests as they are (`build`), because the judge wrote
them; the judge reads nothing but what pydantic finds to be of these types (`sandbox/messages.py`).
Messages are named tuples: no other class takes less time to make.
"""

from __future__ import annotations

import functools
import types
import typing
from typing import Annotated, Any, NamedTuple

from .wire import Array


class _Bounded:
    """Has pydantic, where there is one, refuse integers that no count can be."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:  # noqa: ANN401 pydantic's
        return {**handler(source), "ge": -(1 << 63), "lt": 1 << 63}


BoundedInt = Annotated[int, _Bounded()]
NameTuple = tuple[str, ...]


class WireArgument(NamedTuple):
    """An argument of a step: a name to look up, a literal, or a list of these."""

    name: str | None
    literal: Any = None
    keyword: str | None = None
    items: tuple[WireArgument, ...] | None = None  # of a list


class WireStep(NamedTuple):
    """One assignment of a call."""

    targets: NameTuple
    unpack: bool  # whether the result is a tuple to be spread over the targets
    owner: str  # submission, driver, judge, or torch, which differentiates
    function: str
    arguments: tuple[WireArgument, ...]


class WireInput(NamedTuple):
    """A value, and for arrays how it lies in memory."""

    value: Any
    layout: str = "contiguous"  # see `layouts`
    tensor: bool = False  # whether an array becomes a tensor
    grad: bool = False  # which then requires a gradient


WireSteps = tuple[WireStep, ...]
WireInputs = dict[str, WireInput]


# -- requests ---------------------------------------------------------------------------------


class Walls(NamedTuple):
    """What was refused to this process when it tried: `IsolationReport`."""


class File(NamedTuple):
    """A name and the bytes that go by it."""

    name: str
    content: Array


class Load(NamedTuple):
    """Execute a program and say which of the wanted functions it lacks: `Loaded`."""

    program: str
    sources: tuple[Array, ...]  # of bytes
    driver: Array | None
    filename: str
    functions: NameTuple
    driver_file: str = "driver.py"
    driven: NameTuple = ()  # functions that the driver is to define
    modules: tuple[File, ...] = ()  # that the program may import, by these names
    cells: tuple[BoundedInt, ...] = ()  # of a notebook: the number of the line above each cell
    skip: bool = False  # whether the next cell runs after one that raises
    keep: bool = False  # whether the program counts as far as it ran; `Loaded.stopped` says why
    stand_ins: bool = False  # whether what it imports may be missing
    before: Array | None = None  # a text of bytes, to compare its code with that of the program
    code: NameTuple = ()  # what that code defines, see `syntax`


class Run(NamedTuple):
    """Run steps on sets of inputs in lockstep, and look at inputs and results: `Outcomes`."""

    program: str
    steps: WireSteps
    inputs: tuple[WireInputs, ...]
    want: NameTuple = ()  # results to send
    apart: bool = False  # whether only the driver runs here, and the program somewhere else


class Several(NamedTuple):
    """Run steps on sets of inputs one after another: `Answers`."""

    programs: NameTuple  # all of which run them; where that takes long, the last runs are left out
    steps: WireSteps
    inputs: tuple[WireInputs, ...]
    want: NameTuple = ()


class Timed(NamedTuple):
    """Run steps on inputs, look at nothing else, and tell the CPU time: `Outcome`."""

    program: str
    steps: WireSteps
    inputs: WireInputs
    want: NameTuple = ()


class Differentiate(NamedTuple):
    """Numerical gradients of a result, see `measure.differences`: `Gradients`."""

    program: str
    steps: WireSteps
    inputs: WireInputs
    want: NameTuple  # inputs
    of: str
    cotangent: Array | None = None
    kinks: bool = False  # whether the function is smooth in pieces only


class Measure(NamedTuple):
    """A quantity of a run, see `measure.autograd` and `measure.kept`: `Measured`."""

    program: str
    steps: WireSteps
    inputs: WireInputs
    quantity: str
    of: str = ""
    without: NameTuple = ()  # inputs that are not counted


MOVED_BOUND_RULE = (
    "another bound"  # the rule of a mutant that moves a number that something is compared with
)


class Mutants(NamedTuple):
    """Derive small changes of a source, see `mutate.mutants`: `DerivedMutants`; nothing is executed."""

    source: Array  # of bytes
    numbers: Array  # where there are any: only bounds that are one of them are moved


class PassedValue(NamedTuple):
    """A value on its way from one program to another; see `calls`."""

    value: Any = None
    keyword: str = ""  # by which it is passed
    function: BoundedInt = -1  # the number of a function, in place of a value
    wide: str = ""  # of an array whose bytes are the value: its dtype, and its shape
    shape: tuple[BoundedInt, ...] = ()
    readonly: bool = False
    generator: bool = False  # whether the value is the state of one


class PeerMessage(NamedTuple):
    """What one program has another one do, or what came of it, while a request goes on.

    - `ask` for a call of the submission's function `name`: `gives`, or `over` where it failed;
    - `call` for one of the function with that `number` among its arguments: `gives`.
    """

    about: str
    name: str = ""
    number: BoundedInt = -1  # of a result: the same one for all in the same memory
    given: tuple[PassedValue, ...] = ()  # arguments, or the result
    changed: tuple[
        tuple[BoundedInt, PassedValue], ...
    ] = ()  # arrays that the call changed, by index
    raised: tuple[str, str] | None = None  # the name of a class of Python's own, and the text


class Call(NamedTuple):
    """Call a function of a program that is a test, see `calls`: `Said`."""

    program: str
    said: PeerMessage


# -- replies ----------------------------------------------------------------------------------


class IsolationReport(NamedTuple):
    """By act what became of it (see `walls.canary`), and why walls are missing."""

    acts: dict[str, str]
    missing: NameTuple


class WireException(NamedTuple):
    """An exception, with the frames that belong to the program."""

    type: str
    message: str
    frames: tuple[tuple[BoundedInt, str, str], ...]  # line, function, text
    column: BoundedInt | None = None  # of a syntax error
    memory: bool = False  # whether the memory limit was met
    where: str = ""  # FILE:LINE: TEXT in a driver or a module beside it, where it was raised there
    after: str = ""  # the name that a driver took last from the program
    given: str = ""  # arguments of the program's first call, in words


class WorkerFault(NamedTuple):
    """Why there is no reply: one of the three, and the step at which it happened."""

    step: BoundedInt | None = None
    fault: str = ""  # the result cannot be used, in a sentence
    raised: WireException | None = None
    broken: str = ""  # a traceback of the worker's own


class Loaded(NamedTuple):
    """What a file defines of what it should."""

    missing: NameTuple
    uncallable: tuple[tuple[str, str], ...]  # name and type
    defined: NameTuple
    stubs: NameTuple = ()  # functions without a body: `pass`, `...`, or NotImplementedError alone
    undriven: NameTuple = ()  # missing in the driver
    driver: NameTuple = ()  # what it defines
    stopped: tuple[
        WireException, ...
    ] = ()  # exceptions at top level after which it counts all the same
    same: bool = False  # whether its code is that of the text before


class Outcome(NamedTuple):
    """What one run computed, and what it did to its inputs and earlier results."""

    values: dict[str, Any]
    changed: tuple[tuple[BoundedInt, str], ...] = ()  # (step, input) that the step changed
    stale: tuple[tuple[str, BoundedInt], ...] = ()  # (result, step) that a later step changed
    shared: tuple[tuple[str, str], ...] = ()  # (result, input) in the same memory
    spent: BoundedInt = 0  # CPU nanoseconds of a timed run, as the worker says


class Outcomes(NamedTuple):
    """What runs in lockstep computed, and results that they share in memory."""

    runs: tuple[Outcome, ...]
    common: NameTuple


class Answers(NamedTuple):
    """What each of several runs computed, or why it did not; program by program."""

    runs: tuple[Outcome | WorkerFault, ...]
    longest: BoundedInt = 0  # CPU nanoseconds of one of them


class Gradients(NamedTuple):
    """By input, its numerical gradient and the estimated absolute error of each element."""

    gradients: dict[str, dict[str, Array]]  # by input `value` and `error`


class MatmulCount(NamedTuple):
    """Equal products of matrices."""

    batch: BoundedInt
    rows: BoundedInt
    inner: BoundedInt
    columns: BoundedInt
    times: BoundedInt


class Measured(NamedTuple):
    """One measured quantity and what it consists of."""

    value: BoundedInt | str  # a text is the origin of a graph
    details: tuple[tuple[str, BoundedInt], ...] = ()
    elements: BoundedInt = 0
    kept: NameTuple = ()  # what is saved or alive, by name: see `measure.kept`
    course: tuple[BoundedInt, ...] = ()  # of a peak: the bytes alive from the beginning to the end
    products: tuple[
        MatmulCount, ...
    ] = ()  # of which FLOPs were counted; none where it is not known


class DerivedMutants(NamedTuple):
    """The mutants of a source."""

    mutants: Array  # the bytes of JSON: a list of their fields, a list each


# -- in the worker ----------------------------------------------------------------------------


@functools.cache
def _parts(kind: Any) -> tuple[Any, Any]:  # noqa: ANN401 any type
    """What a type is made of: a message, `tuple`, `dict` or another, and of what."""
    if typing.get_origin(kind) is types.UnionType:  # of None and one other
        kind = next(one for one in typing.get_args(kind) if one is not types.NoneType)
    if hasattr(kind, "_fields"):
        return kind, typing.get_type_hints(kind)
    return typing.get_origin(kind) or kind, typing.get_args(kind)


def build_message(kind: Any, data: Any) -> Any:  # noqa: ANN401 a message of that class
    """The message of a class that holds plain data, which is taken to fit."""
    if data is None:
        return None
    origin, inside = _parts(kind)
    if hasattr(origin, "_fields"):
        return origin(**{name: build_message(inside[name], value) for name, value in data.items()})
    if origin is tuple and inside[-1] is Ellipsis:
        return tuple([build_message(inside[0], value) for value in data])
    if origin is tuple:
        return tuple([build_message(one, value) for one, value in zip(inside, data, strict=True)])
    if origin is dict:
        return {name: build_message(inside[1], value) for name, value in data.items()}
    return data
