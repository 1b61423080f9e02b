"""The judge's side of messages: encode the inputs and steps of requests, and check replies.

`worker.protocol` defines the messages.  A submission may have written a reply, so anything
that is not the expected message is a `ProtocolViolation`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import Any, TypeVar, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError

from grader.model.limits import MAX_KEPT_NAME_LENGTH
from grader.model.report import ExceptionRecord, Frame
from grader.model.steps import Step
from grader.sandbox.client import ProtocolViolation
from grader.sandbox.worker import protocol
from grader.sandbox.worker.limits import (
    MAX_COURSE_POINTS,
    MAX_KEPT_NAMES,
    MAX_MESSAGE,
    MAX_PRODUCTS,
)
from grader.sandbox.worker.protocol import Loaded, Measured, Outcome
from grader.sandbox.worker.wire import EncodedValue

__all__ = ["Loaded", "Measured", "Outcome"]

M = TypeVar("M")
Inputs = Mapping[str, Mapping[str, Any]]  # by name: the fields of a `protocol.WireInput`
Steps = Sequence[Step]

# Characters that are kept of a reply's texts.  Longer ones come only from a broken worker.
_TYPE_NAME_LENGTH = 200
_PLACE_LENGTH = 400
_WORKER_ERROR_LENGTH = 300
_FIELD_PATH_LENGTH = 80

# Added to the text of an exception that a wall may have caused.
_ADDED_TEXTS = {
    "PermissionError": ". A submission runs walled off: it may not start programs or processes, "
    "use the network, or touch files outside its scratch folder",
    "FileNotFoundError": ". A submission is given an empty folder to work in, and no files of "
    "yours",
}
# How deep steps and inputs are nested in a request, at most; part of MAX_FRAME_DEPTH.
_STEPS_DEPTH = 1
_INPUT_DEPTH = 3


# -- requests ---------------------------------------------------------------------------------


class EncodedInput(dict[str, Any]):
    """The fields of an input for many requests: it is encoded only once, so do not change them."""

    @cached_property
    def wire_value(self) -> EncodedValue:
        """The encoded input, which can be put into a request."""
        return EncodedValue(protocol.WireInput(**self), _INPUT_DEPTH)


def encode_inputs(inputs: Inputs) -> Any:  # noqa: ANN401 `protocol.WireInputs`, or encoded values
    """Return the inputs in the form for a request; an `EncodedInput` is encoded only once."""
    return {
        name: fields.wire_value
        if isinstance(fields, EncodedInput)
        else protocol.WireInput(**fields)
        for name, fields in inputs.items()
    }


def array_bytes(inputs: Inputs) -> int:
    """Return the total size in bytes of the arrays and tensors among the inputs.

    Lists, tuples and dicts count as 0, even if they contain arrays.
    """
    total = 0
    for fields in inputs.values():
        value = fields["value"]
        array = getattr(value, "values", value)
        total += int(getattr(array, "nbytes", 0))
    return total


def to_wire_steps(steps: Steps) -> protocol.WireSteps:
    """Return the steps without their texts, which a worker does not read."""
    wire_steps = []
    for step in steps:
        fields = step._asdict()
        del fields["text"]
        wire_steps.append(protocol.WireStep(**fields))
    return tuple(wire_steps)


@lru_cache(maxsize=256)
def encode_steps(steps: tuple[Step, ...]) -> protocol.WireSteps:
    """Return the steps encoded for a request; cached, because many requests repeat them."""
    return cast(protocol.WireSteps, EncodedValue(to_wire_steps(steps), _STEPS_DEPTH))


# -- replies ----------------------------------------------------------------------------------


class ProgramError(Exception):
    """The program raised, or returned a value that a step cannot use."""

    def __init__(
        self,
        message: str,  # a sentence
        raised: ExceptionRecord | None = None,  # with the program's own frames
        step: Step | None = None,
        where: str = "",  # FILE:LINE: SOURCE in the program, the driver or a module next to it
        after: str = "",  # last name that the driver read from the program
        given: str = "",  # description of the arguments of the program's first call
    ) -> None:
        super().__init__(message)
        self.message = message
        self.raised = raised
        self.step = step
        self.where = where
        self.after = after
        self.given = given

    @property
    def is_from_support_code(self) -> bool:
        """True if a driver or a helper raised and the program's own code was not running."""
        return bool(self.where) and (self.raised is None or not self.raised.frames)

    @property
    def is_out_of_memory(self) -> bool:
        """True if the program raised MemoryError, as it does at the memory limit."""
        return self.raised is not None and self.raised.type == "MemoryError"


@cache
def _message_reader(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 a message
    return TypeAdapter(kind, config=ConfigDict(strict=True, arbitrary_types_allowed=True))


def parse_message(kind: type[M], data: object, operation: str) -> M:
    """Build a message of class `kind` from plain data; raise ProtocolViolation if it does not fit.

    `operation`, as "run", names the request in the error.
    """
    try:
        message: M = _message_reader(cast(Any, kind)).validate_python(data)
    except ValidationError as error:
        location = error.errors(include_input=False)[0]["loc"]
        field = ".".join(map(str, location))[:_FIELD_PATH_LENGTH]
        raise ProtocolViolation(
            f"broke the protocol: not a reply to {operation} ({field})"
        ) from None
    return message


def parse_reply(kind: type[M], reply: Mapping[str, object], operation: str, steps: Steps) -> M:
    """Return the message of class `kind` that a reply contains.

    Args:
        kind: The class.
        reply: The reply to a request.
        operation: The name of the request, for errors.
        steps: The steps of the request; a ProgramError names the one that failed.

    Raises:
        ProtocolViolation: The reply contains no such message, or says that the worker is broken.
        ProgramError: The reply says that the program failed.
    """
    if reply["ok"] is not True:
        fault = parse_message(protocol.WorkerFault, reply.get("fault"), operation)
        raise exception_of_fault(fault, steps)
    return parse_message(kind, reply.get("reply"), operation)


def unrequested_field(reply: object, want: Collection[str], max_pairs: int = 0) -> str:
    """Return the name of a field that is too long or has unrequested values; '' if all are right.

    Results and gradients must have names in `want`.  The fields `changed`, `stale` and `shared`
    list pairs such as (result, input), and may have at most `max_pairs` pairs each.
    """
    runs: Sequence[object] = (reply,)
    if isinstance(reply, (protocol.Outcomes, protocol.Answers)):
        runs = reply.runs
    for run in runs:
        values: Mapping[str, object] = {}
        max_lengths = {}
        match run:
            case Outcome():
                values = run.values
                max_lengths = dict.fromkeys(("changed", "stale", "shared"), max_pairs)
            case Measured():
                names = (*run.kept, *(name for name, _ in run.details))
                if any(len(name) > MAX_KEPT_NAME_LENGTH for name in names):
                    return "kept"
                max_lengths = {
                    "kept": MAX_KEPT_NAMES,
                    "products": MAX_PRODUCTS,
                    "course": MAX_COURSE_POINTS,
                }
            case protocol.Gradients():
                values = run.gradients
        for field, max_length in max_lengths.items():
            if len(getattr(run, field)) > max_length:
                return field
        if not values.keys() <= set(want):
            return "values"
    return ""


def exception_of_fault(fault: protocol.WorkerFault, steps: Steps) -> Exception:
    """Return a ProgramError if the program failed, a ProtocolViolation if the worker is broken."""
    step = None
    if fault.step is not None and 0 <= fault.step < len(steps):
        step = steps[fault.step]
    if fault.fault:
        return ProgramError(fault.fault[:MAX_MESSAGE], step=step)
    if fault.raised is None:
        # The lines above the last one are a traceback of the worker itself.
        *_, last_line = fault.broken.strip().splitlines() or [""]
        return ProtocolViolation(
            f"broke the process it runs in: {last_line[:_WORKER_ERROR_LENGTH]}"
        )
    record = to_exception_record(fault.raised)
    return ProgramError(
        f"raised {record.type}",
        raised=record,
        step=step,
        where=_one_line(fault.raised.where),
        after=_one_line(fault.raised.after),
        given=_one_line(fault.raised.given),
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_PLACE_LENGTH]


def to_exception_record(raised: protocol.WireException) -> ExceptionRecord:
    """Return an exception in the form for a report, with shortened texts.

    Its message also explains the walls if one of them may have caused it.
    """
    message = raised.message[:MAX_MESSAGE]
    if raised.message:
        message += _ADDED_TEXTS.get(raised.type, "")
    return ExceptionRecord(
        # numpy raises a subclass of MemoryError; a report does not distinguish them.
        type="MemoryError" if raised.memory else raised.type[:_TYPE_NAME_LENGTH],
        message=message,
        frames=tuple(Frame(*frame) for frame in raised.frames),
        column=raised.column,
    )


def without_added_text(text: str) -> str:
    """Return an exception's text as the program raised it, without the text added here."""
    for added in _ADDED_TEXTS.values():
        text = text.removesuffix(added)
    return text
