"""Messages at the judge's side: what is sent, each thing encoded once, and what replies mean.

They are those of `worker.protocol`.  A submission may have written a reply: whatever is not the
message that was asked for is `ProtocolViolation`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import Any, TypeVar, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError

from grader.model.limits import MAX_KEPT_NAME_LENGTH
from grader.model.question import Argument, Step
from grader.model.report import ExceptionRecord, Frame
from grader.sandbox.client import ProtocolViolation
from grader.sandbox.worker import protocol
from grader.sandbox.worker.limits import MAX_COURSE_POINTS, MAX_KEPT_NAMES, MAX_PRODUCTS
from grader.sandbox.worker.protocol import Loaded, Measured, Outcome
from grader.sandbox.worker.wire import EncodedValue

__all__ = ["Loaded", "Measured", "Outcome"]

M = TypeVar("M")
Inputs = Mapping[str, Mapping[str, Any]]  # by name: the fields of a `protocol.Input`
Steps = Sequence[Step]

_ADDED = {  # to the text of an exception where a wall was met: what a submission may not do
    "PermissionError": ". A submission runs walled off: it may not start programs or processes, "
    "use the network, or touch files outside its scratch folder",
    "FileNotFoundError": ". A submission is given an empty folder to work in, and no files of "
    "yours",
}
_STEPS_DEPTH, _INPUT_DEPTH = 1, 3  # where they lie in a request, at most


# -- what is sent -----------------------------------------------------------------------------


class EncodedInput(dict[str, Any]):
    """The fields of an input, encoded once however often it is sent; they must not change."""

    @cached_property
    def wire_value(self) -> EncodedValue:
        """What is sent."""
        return EncodedValue(protocol.WireInput(**self), _INPUT_DEPTH)


def encode_inputs(inputs: Inputs) -> Any:  # noqa: ANN401 `protocol.Inputs`, some of them encoded
    """What is sent for inputs; an encoded one stands for itself until it is on the wire."""
    return {n: getattr(s, "sent", None) or protocol.WireInput(**s) for n, s in inputs.items()}


def array_bytes(inputs: Inputs) -> int:
    """Bytes of the arrays among inputs."""
    values = [spec["value"] for spec in inputs.values()]
    return sum(int(getattr(getattr(v, "values", v), "nbytes", 0)) for v in values)


def to_wire_steps(steps: Steps) -> protocol.WireSteps:
    """The steps of a question as a worker takes them."""
    return tuple(
        protocol.WireStep(
            s.targets, s.unpack, s.owner, s.function, tuple(map(_argument, s.arguments))
        )
        for s in steps
    )


def _argument(a: Argument) -> protocol.WireArgument:
    items = None if a.items is None else tuple(map(_argument, a.items))
    return protocol.WireArgument(a.name, a.literal, a.keyword, items)


@lru_cache(maxsize=256)
def encode_steps(steps: tuple[Step, ...]) -> protocol.WireSteps:
    """What is sent for steps, encoded once however often they are."""
    return cast(protocol.WireSteps, EncodedValue(to_wire_steps(steps), _STEPS_DEPTH))


# -- what comes back --------------------------------------------------------------------------


class ProgramError(Exception):
    """The program raised, or returned what a step cannot use."""

    def __init__(
        self,
        message: str,  # a sentence
        raised: ExceptionRecord | None = None,  # with the program's own frames
        step: Step | None = None,
        where: str = "",  # FILE:LINE: SOURCE in it, the driver or a module beside it
        after: str = "",  # the name that the driver took last from the program
        given: str = "",  # arguments of the program's first call, in words
    ) -> None:
        super().__init__(message)
        self.message, self.raised, self.step, self.where = message, raised, step, where
        self.after, self.given = after, given

    @property
    def is_from_support_code(self) -> bool:
        """Whether none of the program's own code was at work: a driver was, or a helper."""
        return bool(self.where) and (self.raised is None or not self.raised.frames)

    @property
    def is_out_of_memory(self) -> bool:
        """Whether the memory limit was what stopped it."""
        return self.raised is not None and self.raised.type == "MemoryError"


_STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True)


@cache
def _reader(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 a message
    return TypeAdapter(kind, config=_STRICT)


def parse_message(kind: type[M], data: object, operation: str) -> M:
    """The message of a class that plain data holds; raises Garbled where it does not hold it."""
    try:
        found: M = _reader(cast(Any, kind)).validate_python(data)
    except ValidationError as error:
        where = ".".join(map(str, error.errors(include_input=False)[0]["loc"]))[:80]
        raise ProtocolViolation(
            f"broke the protocol: not a reply to {operation} ({where})"
        ) from None
    return found


def parse_reply(kind: type[M], reply: Mapping[str, object], operation: str, steps: Steps) -> M:
    """The message of a class that a reply to an operation on steps holds.

    Raises:
        Garbled: it does not hold it.
        ProgramError: it says how the program failed.
    """
    if reply["ok"] is not True:
        raise exception_of_fault(
            parse_message(protocol.WorkerFault, reply.get("fault"), operation), steps
        )
    return parse_message(kind, reply.get("reply"), operation)


def unrequested_field(said: object, want: Collection[str], most_pairs: int = 0) -> str:
    """The field in which an answer holds more than was asked for; '' where none does.

    `most_pairs` of a result or step and an input can be changed, stale or shared.
    """
    runs = said.runs if isinstance(said, (protocol.Outcomes, protocol.Answers)) else (said,)
    for one in runs:
        values: Mapping[str, object] = {}
        match one:
            case Outcome():
                values = one.values
                for pairs in ("changed", "stale", "shared"):
                    if len(getattr(one, pairs)) > most_pairs:
                        return pairs
            case Measured():
                names = (*one.kept, *(what for what, _ in one.details))
                if len(one.kept) > MAX_KEPT_NAMES or any(
                    len(n) > MAX_KEPT_NAME_LENGTH for n in names
                ):
                    return "kept"
                if len(one.products) > MAX_PRODUCTS:
                    return "products"
                if len(one.course) > MAX_COURSE_POINTS:
                    return "course"
            case protocol.Gradients():
                values = one.gradients
        if not values.keys() <= set(want):
            return "values"
    return ""


def exception_of_fault(said: protocol.WorkerFault, steps: Steps) -> Exception:
    """The exception that a fault stands for."""
    index = said.step
    step = steps[index] if index is not None and 0 <= index < len(steps) else None
    if said.fault:
        return ProgramError(said.fault[:2000], step=step)
    if said.raised is None:
        *_, last = said.broken.strip().splitlines() or [""]  # above it, the traceback of our own
        return ProtocolViolation(f"broke the process it runs in: {last[:300]}")
    raised = said.raised
    record = to_exception_record(raised)
    where, after, given = (
        " ".join(text.split())[:400] for text in (raised.where, raised.after, raised.given)
    )
    return ProgramError(f"raised {record.type}", record, step, where, after, given)


def to_exception_record(raised: protocol.WireException) -> ExceptionRecord:
    """The exception of a report that a worker's stands for."""
    return ExceptionRecord(
        # numpy has a MemoryError of its own: what was met matters, not whose class it is
        type="MemoryError" if raised.memory else raised.type[:200],
        message=raised.message[:2000] + _ADDED.get(raised.type, "") * bool(raised.message),
        frames=tuple(Frame(*frame) for frame in raised.frames),
        column=raised.column,
    )


def without_added_text(text: str) -> str:
    """An exception's text as the program gave it, without what was added here."""
    for added in _ADDED.values():
        text = text.removesuffix(added)
    return text
