"""What a worker's replies mean to the judge; they are `worker.messages`, checked where they enter.

A submission may have written them: whatever is not the message that was asked for is `Garbled`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from grader.model.question import Step
from grader.model.report import Frame, Raised
from grader.sandbox.client import Garbled
from grader.sandbox.worker import messages
from grader.sandbox.worker.messages import Kept, Loaded, Measured, Outcome
from grader.sandbox.worker.typed import Malformed, read
from grader.sandbox.worker.wire import DTYPES

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


def answer(kind: type[M], reply: object, operation: str, steps: Sequence[Step]) -> M:
    """The message of a class that a reply to an operation on steps holds.

    Raises:
        Garbled: it does not hold it.
        ProgramError: it says how the program failed.
    """
    try:
        header = read(messages.Header, reply)
        if not header.ok:
            raise fault(read(messages.Fault, reply), steps)
        return read(kind, reply)
    except Malformed as error:
        raise Garbled(f"broke the protocol: not a reply to {operation} ({error})") from None


def unwanted(said: object, steps: Sequence[Step], task: messages.Task) -> str:
    """The field in which an answer holds more than a task of steps asks for; '' where none does."""
    made = sum(len(step.targets) for step in steps)
    most = (made + 1) * (len(task.inputs) + 1)  # pairs of a result and an input
    runs = said.runs if isinstance(said, (messages.Outcomes, messages.Several)) else (said,)
    for one in runs:
        values: Mapping[str, object] = {}
        match one:
            case Outcome():
                values = one.values
                for pairs in ("changed", "stale", "shared"):
                    if len(getattr(one, pairs)) > most:
                        return pairs
            case Kept() | Measured():
                values = one.results or {}
                if len(one.kept) > messages.MOST_KEPT or any(
                    len(name) > LONGEST for name in one.kept
                ):
                    return "kept"
                if isinstance(one, Measured) and not _possible(one):
                    return "work"
            case messages.Gradients():
                values = one.gradients
        if not values.keys() <= set(task.want):
            return "values"
    return ""


def _possible(said: Measured) -> bool:
    """Whether the operations that are named are as many as were counted."""
    products = elements = 0
    for one in said.work:
        if one.dtype not in DTYPES or min(one[1:]) < 0:
            return False
        entries = one.batch * one.rows * one.columns * one.times
        products += 2 * entries * one.inner
        elements += 0 if one.inner else entries
    few = len(said.work) <= messages.MOST_WORK and elements <= said.elements
    return not said.work or (few and products == said.value)


def fault(said: messages.Fault, steps: Sequence[Step]) -> Exception:
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
