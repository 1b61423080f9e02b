"""What the judge asks of a worker, and what the worker answers: every message, written once.

A request is an operation's name and the fields of `Load`, `Loads`, `Mutants` or, for all others,
`Task`.
An answer is `Header` and one of the replies in one dict, or `Header` with `ok` false and a `Fault`.
Messages are named tuples: no other class takes less time to make.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .wire import Array

MOST_KEPT = 32  # names of what is kept in one reply: the largest things come first

# -- requests ---------------------------------------------------------------------------------


class Item(NamedTuple):
    """An item of a list among arguments: a name to look up, or a literal."""

    name: str | None
    literal: Any = None


class Argument(NamedTuple):
    """An argument of a step: a name to look up, a literal, or a list of these."""

    name: str | None
    literal: Any = None
    keyword: str | None = None
    items: tuple[Item, ...] | None = None


class Step(NamedTuple):
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


class Lent(NamedTuple):
    """Where a value lies in the memory that the judge has mapped as well."""

    offset: int
    shape: tuple[int, ...]
    dtype: str


class Input(NamedTuple):
    """A value, and for arrays how it lies in memory."""

    value: Any
    layout: str = "contiguous"  # see `layouts`
    tensor: bool = False  # whether an array becomes a tensor
    grad: bool = False  # which then requires a gradient
    lent: Lent | None = None  # instead of the value


Inputs = dict[str, Input]


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
    functions: tuple[str, ...]
    driver_file: str = "driver.py"
    driven: tuple[str, ...] = ()  # functions that the driver is to define
    modules: tuple[File, ...] = ()  # that the program may import, by these names


class Loads(NamedTuple):
    """Execute programs one after another, whatever becomes of those before: `AllLoaded`."""

    programs: tuple[Load, ...]


class Work(NamedTuple):
    """Operations alike: products of matrices, or element-wise ones that give `columns` entries."""

    dtype: str
    batch: int
    rows: int
    inner: int  # 0 of element-wise operations
    columns: int
    times: int = 1


class Task(NamedTuple):
    """Steps to run on a program; the operation says what to look at.

    - `run` for inputs and earlier results after each step, of runs in lockstep: `Outcomes`;
    - `several` for the same of several runs, one after another, of one program or more: `Several`;
    - `time` for CPU time only: `Outcome`;
    - `differentiate` for a result's numerical gradients, see `differences`: `Gradients`;
    - `state` for what the steps keep in a result, see `reach`: `Kept`;
    - `measure` for a quantity of an autograd graph, see `autograd`, or without torch for what the
      last step allocates at once, see `allocated`: `Measured`;
    - `pause` for nothing: the judge looks from outside, see `reach`;
    - `resume` for the results of the run that was paused last: `Outcome`.
    """

    program: str
    steps: tuple[Step, ...]
    inputs: Inputs
    want: tuple[str, ...] = ()  # results to send; with `differentiate`, inputs
    others: tuple[Inputs, ...] = ()  # of further runs
    of: str = ""  # the result that it is about
    rest: tuple[Step, ...] = ()  # with which a run goes on that was measured
    quantity: str = ""
    factor: float = 1.0  # of `graph`: what gradients are multiplied by in the program's own node
    without: tuple[str, ...] = ()  # inputs that are not counted
    cotangent: Array | None = None
    kinks: bool = False  # whether the function is smooth in pieces only
    apart: bool = False  # whether only the driver runs here, and the program somewhere else
    also: tuple[str, ...] = ()  # programs on which `several` runs the same, while there is time


class Passed(NamedTuple):
    """A value on its way from one program to another; see `calls`."""

    value: Any = None
    keyword: str = ""  # by which it is passed
    function: int = -1  # the number of a function, in place of a value
    wide: str = ""  # of an array whose bytes are the value: its dtype, and its shape
    shape: tuple[int, ...] = ()
    readonly: bool = False
    generator: bool = False  # whether the value is the state of one


class Said(NamedTuple):
    """What one program has another one do, or what came of it, while a request goes on.

    - `ask` for a call of the submission's function `name`: `gives`, or `over` where it failed;
    - `call` for one of the function with that `number` among its arguments: `gives`.
    """

    about: str
    name: str = ""
    number: int = -1  # of a result: the same one for all in the same memory
    given: tuple[Passed, ...] = ()  # arguments, or the result
    changed: tuple[tuple[int, Passed], ...] = ()  # arguments that the call changed, by index
    argument: int = -1  # which of them is the result
    raised: tuple[str, str] | None = None  # the name of a class of Python's own, and the text


class Mutants(NamedTuple):
    """Derive small changes of a source, and send some of them: `Page`; nothing is executed."""

    source: Array  # of bytes
    first: int
    most: int


MOST_WORK = 256  # kinds of operations in one message


# -- replies ----------------------------------------------------------------------------------


class Header(NamedTuple):
    """What every answer says, and all that some answers do."""

    ok: bool


class Raised(NamedTuple):
    """An exception, with the frames that belong to the program."""

    type: str
    message: str
    frames: tuple[tuple[int, str, str], ...]  # line, function, text
    column: int | None = None  # of a syntax error
    memory: bool = False  # whether the memory limit was met
    where: str = ""  # FILE:LINE: TEXT in a driver or a module beside it, where it was raised there


class Fault(NamedTuple):
    """Why there is no reply: one of the three, and the step at which it happened."""

    step: int | None = None
    fault: str = ""  # the result cannot be used, in a sentence
    raised: Raised | None = None
    broken: str = ""  # a traceback of the worker's own


class Loaded(NamedTuple):
    """What a file defines of what it should."""

    missing: tuple[str, ...]
    uncallable: tuple[tuple[str, str], ...]  # name and type
    defined: tuple[str, ...]
    undriven: tuple[str, ...] = ()  # missing in the driver
    driver: tuple[str, ...] = ()  # what it defines


class AllLoaded(NamedTuple):
    """What each of several files defines, or why it cannot be executed."""

    programs: tuple[Loaded | Fault, ...]


class Outcome(NamedTuple):
    """What one run computed, and what it did to its inputs and earlier results."""

    values: dict[str, Any]
    changed: tuple[tuple[int, str], ...] = ()  # (step, input) that the step changed
    stale: tuple[tuple[str, int], ...] = ()  # (result, step) that a later step changed
    shared: tuple[tuple[str, str], ...] = ()  # (result, input) in the same memory
    spent: int = 0  # CPU nanoseconds of a timed run, as the worker says


class Outcomes(NamedTuple):
    """What runs in lockstep computed, and results that they share in memory."""

    runs: tuple[Outcome, ...]
    common: tuple[str, ...]


class Several(NamedTuple):
    """What each of several runs computed, or why it did not; program by program."""

    runs: tuple[Outcome | Fault, ...]


class Gradients(NamedTuple):
    """By input, its numerical gradient and the estimated absolute error of each entry."""

    gradients: dict[str, dict[str, Array]]  # by input `value` and `error`


class Kept(NamedTuple):
    """What a run keeps for a later step, in bytes."""

    reachable: int  # from the result
    allocated: int  # also left, without other results and `added`
    added: int  # by the objects that are reachable, apart from their data
    results: dict[str, Any] | None = None  # of the measured run; None where it failed
    kept: tuple[str, ...] = ()  # what is reachable, by name: see `kept`


class Measured(NamedTuple):
    """One measured quantity and what it consists of."""

    value: int | str  # a text is the origin of a graph
    details: tuple[tuple[str, int], ...] = ()
    elements: int = 0
    results: dict[str, Any] | None = None  # of the measured run; None where it failed
    kept: tuple[str, ...] = ()  # what is saved or alive, by name: see `kept`
    work: tuple[Work, ...] = ()  # what FLOPs were counted of; none where it cannot be said


class Mutant(NamedTuple):
    """One change: bytes `start` to `end` of the source become `text`."""

    scope: str  # "SwiGLUFn.backward"
    line: int
    rule: str
    was: str
    becomes: str
    start: int
    end: int
    text: str
    old: str = ""  # what changed, in words; see `mutant_words`
    new: str = ""
    names: tuple[str, ...] = ()


class Page(NamedTuple):
    """Some of a source's mutants, and how many there are in all."""

    mutants: tuple[Mutant, ...]
    total: int
