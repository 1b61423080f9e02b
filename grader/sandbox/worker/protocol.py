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

MOST_KEPT = 32  # names of what is kept in one reply: the largest things come first
MOST_PRODUCTS = 256  # different products in one reply
MOST_POINTS = 60  # of a course of bytes


class _Bounded:
    """Has pydantic, where there is one, refuse integers that no count can be."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:  # noqa: ANN401 pydantic's
        return {**handler(source), "ge": -(1 << 63), "lt": 1 << 63}


Count = Annotated[int, _Bounded()]
Names = tuple[str, ...]


class Argument(NamedTuple):
    """An argument of a step: a name to look up, a literal, or a list of these."""

    name: str | None
    literal: Any = None
    keyword: str | None = None
    items: tuple[Argument, ...] | None = None  # of a list


class Step(NamedTuple):
    """One assignment of a call."""

    targets: Names
    unpack: bool  # whether the result is a tuple to be spread over the targets
    owner: str  # submission, driver, judge, or torch, which differentiates
    function: str
    arguments: tuple[Argument, ...]


class Input(NamedTuple):
    """A value, and for arrays how it lies in memory."""

    value: Any
    layout: str = "contiguous"  # see `layouts`
    tensor: bool = False  # whether an array becomes a tensor
    grad: bool = False  # which then requires a gradient


Steps = tuple[Step, ...]
Inputs = dict[str, Input]


# -- requests ---------------------------------------------------------------------------------


class Walls(NamedTuple):
    """What was refused to this process when it tried: `Tried`."""


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
    functions: Names
    driver_file: str = "driver.py"
    driven: Names = ()  # functions that the driver is to define
    modules: tuple[File, ...] = ()  # that the program may import, by these names
    cells: tuple[Count, ...] = ()  # of a notebook: the number of the line above each cell
    skip: bool = False  # whether the next cell runs after one that raises
    keep: bool = False  # whether the program counts as far as it ran; `Loaded.stopped` says why
    stand_ins: bool = False  # whether what it imports may be missing
    before: Array | None = None  # a text of bytes, to compare its code with that of the program
    code: Names = ()  # what that code defines, see `syntax`


class Run(NamedTuple):
    """Run steps on sets of inputs in lockstep, and look at inputs and results: `Outcomes`."""

    program: str
    steps: Steps
    inputs: tuple[Inputs, ...]
    want: Names = ()  # results to send
    apart: bool = False  # whether only the driver runs here, and the program somewhere else


class Several(NamedTuple):
    """Run steps on sets of inputs one after another: `Answers`."""

    programs: Names  # all of which run them; where that takes long, the last runs are left out
    steps: Steps
    inputs: tuple[Inputs, ...]
    want: Names = ()


class Timed(NamedTuple):
    """Run steps on inputs, look at nothing else, and tell the CPU time: `Outcome`."""

    program: str
    steps: Steps
    inputs: Inputs
    want: Names = ()


class Differentiate(NamedTuple):
    """Numerical gradients of a result, see `measure.differences`: `Gradients`."""

    program: str
    steps: Steps
    inputs: Inputs
    want: Names  # inputs
    of: str
    cotangent: Array | None = None
    kinks: bool = False  # whether the function is smooth in pieces only


class Measure(NamedTuple):
    """A quantity of a run, see `measure.autograd` and `measure.kept`: `Measured`."""

    program: str
    steps: Steps
    inputs: Inputs
    quantity: str
    of: str = ""
    without: Names = ()  # inputs that are not counted


BOUND = "another bound"  # the rule of a mutant that moves a number that something is compared with


class Mutants(NamedTuple):
    """Derive small changes of a source, see `mutate.mutants`: `Derived`; nothing is executed."""

    source: Array  # of bytes
    numbers: Array  # where there are any: only bounds that are one of them are moved


class Passed(NamedTuple):
    """A value on its way from one program to another; see `calls`."""

    value: Any = None
    keyword: str = ""  # by which it is passed
    function: Count = -1  # the number of a function, in place of a value
    wide: str = ""  # of an array whose bytes are the value: its dtype, and its shape
    shape: tuple[Count, ...] = ()
    readonly: bool = False
    generator: bool = False  # whether the value is the state of one


class Said(NamedTuple):
    """What one program has another one do, or what came of it, while a request goes on.

    - `ask` for a call of the submission's function `name`: `gives`, or `over` where it failed;
    - `call` for one of the function with that `number` among its arguments: `gives`.
    """

    about: str
    name: str = ""
    number: Count = -1  # of a result: the same one for all in the same memory
    given: tuple[Passed, ...] = ()  # arguments, or the result
    changed: tuple[tuple[Count, Passed], ...] = ()  # arrays that the call changed, by index
    raised: tuple[str, str] | None = None  # the name of a class of Python's own, and the text


class Call(NamedTuple):
    """Call a function of a program that is a test, see `calls`: `Said`."""

    program: str
    said: Said


# -- replies ----------------------------------------------------------------------------------


class Tried(NamedTuple):
    """By act what became of it (see `walls.canary`), and why walls are missing."""

    acts: dict[str, str]
    missing: Names


class Raised(NamedTuple):
    """An exception, with the frames that belong to the program."""

    type: str
    message: str
    frames: tuple[tuple[Count, str, str], ...]  # line, function, text
    column: Count | None = None  # of a syntax error
    memory: bool = False  # whether the memory limit was met
    where: str = ""  # FILE:LINE: TEXT in a driver or a module beside it, where it was raised there
    after: str = ""  # the name that a driver took last from the program
    given: str = ""  # arguments of the program's first call, in words


class Fault(NamedTuple):
    """Why there is no reply: one of the three, and the step at which it happened."""

    step: Count | None = None
    fault: str = ""  # the result cannot be used, in a sentence
    raised: Raised | None = None
    broken: str = ""  # a traceback of the worker's own


class Loaded(NamedTuple):
    """What a file defines of what it should."""

    missing: Names
    uncallable: tuple[tuple[str, str], ...]  # name and type
    defined: Names
    stubs: Names = ()  # functions without a body: `pass`, `...`, or NotImplementedError alone
    undriven: Names = ()  # missing in the driver
    driver: Names = ()  # what it defines
    stopped: tuple[Raised, ...] = ()  # exceptions at top level after which it counts all the same
    same: bool = False  # whether its code is that of the text before


class Outcome(NamedTuple):
    """What one run computed, and what it did to its inputs and earlier results."""

    values: dict[str, Any]
    changed: tuple[tuple[Count, str], ...] = ()  # (step, input) that the step changed
    stale: tuple[tuple[str, Count], ...] = ()  # (result, step) that a later step changed
    shared: tuple[tuple[str, str], ...] = ()  # (result, input) in the same memory
    spent: Count = 0  # CPU nanoseconds of a timed run, as the worker says


class Outcomes(NamedTuple):
    """What runs in lockstep computed, and results that they share in memory."""

    runs: tuple[Outcome, ...]
    common: Names


class Answers(NamedTuple):
    """What each of several runs computed, or why it did not; program by program."""

    runs: tuple[Outcome | Fault, ...]
    longest: Count = 0  # CPU nanoseconds of one of them


class Gradients(NamedTuple):
    """By input, its numerical gradient and the estimated absolute error of each element."""

    gradients: dict[str, dict[str, Array]]  # by input `value` and `error`


class Product(NamedTuple):
    """Equal products of matrices."""

    batch: Count
    rows: Count
    inner: Count
    columns: Count
    times: Count


class Measured(NamedTuple):
    """One measured quantity and what it consists of."""

    value: Count | str  # a text is the origin of a graph
    details: tuple[tuple[str, Count], ...] = ()
    elements: Count = 0
    kept: Names = ()  # what is saved or alive, by name: see `measure.kept`
    course: tuple[Count, ...] = ()  # of a peak: the bytes alive from the beginning to the end
    products: tuple[Product, ...] = ()  # of which FLOPs were counted; none where it is not known


class Derived(NamedTuple):
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


def build(kind: Any, data: Any) -> Any:  # noqa: ANN401 a message of that class
    """The message of a class that holds plain data, which is taken to fit."""
    if data is None:
        return None
    origin, inside = _parts(kind)
    if hasattr(origin, "_fields"):
        return origin(**{name: build(inside[name], value) for name, value in data.items()})
    if origin is tuple and inside[-1] is Ellipsis:
        return tuple([build(inside[0], value) for value in data])
    if origin is tuple:
        return tuple([build(one, value) for one, value in zip(inside, data, strict=True)])
    if origin is dict:
        return {name: build(inside[1], value) for name, value in data.items()}
    return data
