"""What the judge asks of a worker, and what the worker answers: every message, written once.

A request names itself by its class: `Run` is sent as the operation `run`.  An answer is `Header`
and one of the replies in one dict, or `Header` with `ok` false and a `Fault`.
"""

from __future__ import annotations

from typing import Any

from .typed import Message, message
from .wire import Array

# -- parts of requests ------------------------------------------------------------------------


@message
class Argument(Message):
    """An argument of a step: a name to look up, or a literal."""

    name: str | None
    literal: Any = None
    keyword: str | None = None


@message
class Step(Message):
    """One assignment of a call."""

    targets: tuple[str, ...]
    unpack: bool  # whether the result is a tuple to be spread over the targets
    owner: str  # submission, torch or driver
    function: str
    arguments: tuple[Argument, ...]

    @property
    def backward(self) -> bool:
        """Whether it is torch that is called, to differentiate."""
        return self.owner == "torch" and self.function == "vjp"


@message
class Input(Message):
    """A value, and for arrays how it lies in memory."""

    value: Any
    layout: str = "contiguous"  # see `layouts`
    tensor: bool = False  # whether an array becomes a tensor
    grad: bool = False  # which then requires a gradient


Inputs = dict[str, Input]

# -- requests ---------------------------------------------------------------------------------


@message
class Load(Message):
    """Execute a program and say which of the wanted functions it lacks."""

    program: str
    sources: tuple[Array, ...]  # of bytes
    driver: Array | None
    filename: str
    functions: tuple[str, ...]
    forbids: tuple[str, ...]  # see `policy`


@message
class Run(Message):
    """Run the steps once, and look at inputs and earlier results after each."""

    program: str
    steps: tuple[Step, ...]
    inputs: Inputs
    want: tuple[str, ...]


@message
class Time(Run):
    """Run the steps once, and look at nothing meanwhile."""


@message
class Interleave(Message):
    """Run the steps on several inputs in lockstep."""

    program: str
    steps: tuple[Step, ...]
    inputs: tuple[Inputs, ...]
    want: tuple[str, ...]


@message
class Differentiate(Message):
    """Differentiate a result numerically; see `differences`."""

    program: str
    steps: tuple[Step, ...]
    inputs: Inputs
    wrt: tuple[str, ...]
    result: str
    cotangent: Array | None
    kinks: bool


@message
class State(Run):
    """Say what the steps keep in a result, and carry on to the wanted results."""

    of: str
    rest: tuple[Step, ...]


@message
class Measure(State):
    """Measure an autograd graph; see `autograd.measure`."""

    quantity: str
    without: tuple[str, ...]


@message
class Hold(Message):
    """Run the steps many times and keep what they leave; no times: let go of all that."""

    program: str
    count: int
    steps: tuple[Step, ...]
    inputs: Inputs
    of: str


@message
class Mutants(Message):
    """Derive small changes of a source, and send some of them; nothing is executed."""

    program: str
    source: Array  # of bytes
    first: int
    count: int


REQUESTS: tuple[type[Message], ...] = (
    Load, Run, Time, Interleave, Differentiate, State, Measure, Hold, Mutants,
)  # fmt: skip


def operation(kind: type[Message]) -> str:
    """What a request calls itself."""
    return kind.__name__.lower()


# -- replies ----------------------------------------------------------------------------------


@message
class Header(Message):
    """What every answer says, and all that the answer to `Hold` does."""

    ok: bool
    evidence: tuple[tuple[str, int, str], ...] = ()  # what, line or 0, "text" or "run"
    replaced: tuple[str, ...] = ()  # see `seal`


@message
class Raised(Message):
    """An exception, with the frames that belong to the program."""

    type: str
    message: str
    frames: tuple[tuple[int, str, str], ...]  # line, function, text
    column: int | None = None  # of a syntax error
    memory: bool = False  # whether the memory limit was met


@message
class Fault(Message):
    """Why there is no reply: one of the three, and the step at which it happened."""

    step: int | None = None
    fault: str = ""  # the result cannot be used, in a sentence
    raised: Raised | None = None
    broken: str = ""  # a traceback of the worker's own


@message
class Loaded(Message):
    """What a file defines of what it should."""

    missing: tuple[str, ...]
    uncallable: tuple[tuple[str, str], ...]  # name and type
    defined: tuple[str, ...]
    unknown: tuple[str, ...] = ()  # of what is forbidden, that there is no such thing


@message
class Outcome(Message):
    """What one run computed, and what it did to its inputs and earlier results."""

    values: dict[str, Any]
    changed: tuple[tuple[int, str], ...] = ()  # (step, input) that the step changed
    stale: tuple[tuple[str, int], ...] = ()  # (result, step) that a later step changed
    shared: tuple[tuple[str, str], ...] = ()  # (result, input) in the same memory
    spent: int = 0  # CPU nanoseconds of a timed run, as the worker says


@message
class Outcomes(Message):
    """What runs in lockstep computed, and results that they share in memory."""

    runs: tuple[Outcome, ...]
    common: tuple[str, ...]


@message
class Gradients(Message):
    """By input, its numerical gradient and the estimated absolute error of each entry."""

    gradients: dict[str, dict[str, Array]]  # by input `value` and `error`


@message
class Kept(Message):
    """What a run keeps for a later step, in bytes."""

    reachable: int  # from the result
    allocated: int  # left otherwise, without other results and `added`
    added: int  # by the objects that are reachable, without their data
    results: dict[str, Any] | None = None  # of the measured run; None where it failed


@message
class Measured(Message):
    """One measured quantity and what it consists of."""

    value: int | str  # a text is the origin of a graph
    details: tuple[tuple[str, int], ...] = ()
    elements: int = 0
    results: dict[str, Any] | None = None  # of the measured run; None where it failed


@message
class Mutant(Message):
    """One change: bytes `start` to `end` of the source become `text`."""

    scope: str  # "SwiGLUFn.backward"
    line: int
    rule: str
    was: str
    becomes: str
    start: int
    end: int
    text: str


@message
class Page(Message):
    """Some of a source's mutants, and how many there are in all."""

    mutants: tuple[Mutant, ...]
    total: int
