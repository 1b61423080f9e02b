"""What a worker's replies mean to the judge; they are `worker.protocol`, checked where they enter.

A submission may have written them: whatever is not the message that was asked for is `Garbled`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from grader.model.question import Step
from grader.model.report import Frame, Raised
from grader.sandbox.client import Garbled
from grader.sandbox.worker import protocol
from grader.sandbox.worker.protocol import Kept, Loaded, Measured, Outcome

__all__ = ["Kept", "Loaded", "Measured", "Outcome", "ProgramError"]

M = TypeVar("M")

LONGEST = 400  # characters of what is said about one thing that is kept

WALLED = (
    "A submission runs walled off: it may not start programs or processes, use the network, or "
    "touch files outside its scratch folder"
)
HIDDEN = "A submission is given an empty folder to work in, and no files of yours"


class ProgramError(Exception):
    """The program raised, or returned what a step cannot use."""

    def __init__(
        self,
        message: str,
        raised: Raised | None = None,
        step: Step | None = None,
        where: str = "",
    ) -> None:
        """Store a sentence, the step, and the exception with the program's own frames, if any.

        `where` is the place in the driver, or in a module beside the program, that raised it.
        """
        super().__init__(message)
        self.where = where
        self.message = message
        self.raised = raised
        self.step = step

    @property
    def of_support(self) -> bool:
        """Whether none of the program's own code was at work: a driver was, or a helper."""
        return bool(self.where) and (self.raised is None or not self.raised.frames)

    @property
    def out_of_memory(self) -> bool:
        """Whether the memory limit was what stopped it."""
        return self.raised is not None and self.raised.type == "MemoryError"


_STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True)
_readers: dict[object, TypeAdapter[Any]] = {}  # by class, made when first needed


def read(kind: type[M], data: object, operation: str) -> M:
    """The message of a class that plain data holds.

    Raises:
        Garbled: it does not hold it.
    """
    if kind not in _readers:
        _readers[kind] = TypeAdapter(kind, config=_STRICT)
    try:
        found: M = _readers[kind].validate_python(data)
    except ValidationError as error:
        where = ".".join(map(str, error.errors(include_input=False)[0]["loc"]))[:80]
        raise Garbled(f"broke the protocol: not a reply to {operation} ({where})") from None
    return found


def answer(kind: type[M], reply: Mapping[str, object], operation: str, steps: Sequence[Step]) -> M:
    """The message of a class that a reply to an operation on steps holds.

    Raises:
        Garbled: it does not hold it.
        ProgramError: it says how the program failed.
    """
    if reply["ok"] is not True:
        raise fault(read(protocol.Fault, reply.get("fault"), operation), steps)
    return read(kind, reply.get("reply"), operation)


def unwanted(said: object, want: Collection[str], most_pairs: int = 0) -> str:
    """The field in which an answer holds more than was asked for; '' where none does.

    Args:
        said: the answer.
        want: names of results.
        most_pairs: of a result or step and an input, that can be changed, stale or shared.
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
            case Kept() | Measured():
                names = (*one.kept, *(w for w, _ in getattr(one, "details", ())))
                if len(one.kept) > protocol.MOST_KEPT or any(len(n) > LONGEST for n in names):
                    return "kept"
                if len(getattr(one, "products", ())) > protocol.MOST_PRODUCTS:
                    return "products"
            case protocol.Gradients():
                values = one.gradients
        if not values.keys() <= set(want):
            return "values"
    return ""


def fault(said: protocol.Fault, steps: Sequence[Step]) -> Exception:
    """The exception that a fault stands for."""
    index = said.step
    step = steps[index] if index is not None and 0 <= index < len(steps) else None
    if said.fault:
        return ProgramError(said.fault[:2000], step=step)
    if said.raised is None:
        *_, last = said.broken.strip().splitlines() or [""]  # above it, the traceback of our own
        return Garbled(f"broke the process it runs in: {last[:300]}")
    raised = said.raised
    record = Raised(
        # numpy has a MemoryError of its own: what was met matters, not whose class it is
        type="MemoryError" if raised.memory else raised.type[:200],
        message=_explained(raised.type, raised.message[:2000]),
        frames=tuple(Frame(*frame) for frame in raised.frames),
        column=raised.column,
    )
    return ProgramError(f"raised {record.type}", record, step, " ".join(raised.where.split())[:400])


def _explained(type_name: str, text: str) -> str:
    """An exception's text; where a wall was met, with what a submission may not do."""
    met = {"PermissionError": WALLED, "FileNotFoundError": HIDDEN}.get(type_name)
    return f"{text}. {met}" if met else text


def plain(text: str) -> str:
    """An exception's text as the program gave it, without what `_explained` added."""
    for added in (WALLED, HIDDEN):
        text = text.removesuffix(f". {added}")
    return text
