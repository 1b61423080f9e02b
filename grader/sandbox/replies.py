"""What a worker's replies say, read with distrust: a submission may have written them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.model.mutation import Mutant
from grader.model.question import Step
from grader.model.report import Frame, Raised
from grader.sandbox.failures import Garbled

WALLED = (
    "A submission runs walled off: it may not start programs or processes, use the network, or "
    "touch files outside its scratch folder"
)
HIDDEN = "A submission is given an empty folder to work in, and no files of yours"
# What looking into a reply may raise when it is not what was asked for: it holds whatever it likes.
UNREADABLE = (AttributeError, LookupError, TypeError, ValueError, OverflowError)


class ProgramError(Exception):
    """The program raised, or returned what a step cannot use."""

    def __init__(
        self, message: str, raised: Raised | None = None, step: Step | None = None
    ) -> None:
        """Store a sentence, the step, and the exception with the program's own frames, if any."""
        super().__init__(message)
        self.message = message
        self.raised = raised
        self.step = step

    @property
    def out_of_memory(self) -> bool:
        """Whether the memory limit was what stopped it."""
        return self.raised is not None and self.raised.type == "MemoryError"


class Flagged(ProgramError):
    """Evidence that the program does what the question forbids, for a person to look at."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run computed, and what it did to its inputs and earlier results."""

    values: Mapping[str, Any]
    changed: tuple[tuple[int, str], ...] = ()  # (step, input) that the step changed
    stale: tuple[tuple[str, int], ...] = ()  # (result, step) that a later step changed
    shared: tuple[tuple[str, str], ...] = ()  # (result, input) in the same memory


@dataclass(frozen=True, slots=True)
class Measured:
    """One measured quantity and what it consists of."""

    value: float | str
    details: tuple[tuple[str, int], ...] = ()
    elements: int = 0
    results: Mapping[str, Any] | None = None  # of the measured run; None where it failed


@dataclass(frozen=True, slots=True)
class Kept:
    """What a run keeps for a later step, in bytes."""

    reachable: int  # from the result
    allocated: int  # left besides, without other results and `added`
    added: int  # by the objects that are reachable, besides their data
    results: Mapping[str, Any] | None  # of the measured run; None where it failed


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a file defines of what it should."""

    missing: tuple[str, ...]
    uncallable: tuple[tuple[str, str], ...]
    defined: tuple[str, ...]
    unknown: tuple[str, ...] = ()  # of what is forbidden, that there is no such thing


_WITNESSES = {"text": "by reading the file", "run": "while it ran"}


def calls(evidence: Any) -> str:  # noqa: ANN401 what a worker says
    """Say what a program was seen to call that it may not."""
    try:
        name, line, how = evidence[0]
        where = f" in line {int(line)}" if line else ""
        seen = _WITNESSES[how]
    except (KeyError, TypeError, ValueError, IndexError, OverflowError):
        raise Garbled("broke the protocol: not evidence") from None
    return (
        f"calls {str(name)[:80]}{where} (noticed {seen}), "
        "which this question asks you to write yourself"
    )


def mutant(row: Sequence[Any]) -> Mutant:
    """A mutant from its row."""
    scope, line, rule, was, becomes, start, end, text = row
    if not 0 <= start <= end:
        raise ValueError
    return Mutant(
        str(scope), int(line), str(rule), str(was), str(becomes), int(start), int(end), str(text)
    )


def outcome(reply: Mapping[str, Any]) -> Outcome:
    """What one run computed and did.

    Raises:
        Garbled: it is not that.
    """
    try:
        values = reply["values"]
        if not isinstance(reply, dict) or not isinstance(values, dict):
            raise TypeError
        return Outcome(
            values=values,
            changed=tuple((int(i), str(n)) for i, n in reply.get("changed", ())),
            stale=tuple((str(n), int(i)) for n, i in reply.get("stale", ())),
            shared=tuple((str(r), str(i)) for r, i in reply.get("shared", ())),
        )
    except UNREADABLE:
        raise Garbled("broke the protocol: not a reply to run") from None


def results_of(reply: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The results of a measured run; None where it failed."""
    found = reply.get("results")
    return found if isinstance(found, dict) else None


def _explained(type_name: str, message: str) -> str:
    """An exception's text; where a wall was met, with what a submission may not do."""
    met = {"PermissionError": WALLED, "FileNotFoundError": HIDDEN}.get(type_name)
    return f"{message}. {met}" if met else message


def plain(message: str) -> str:
    """An exception's text as the program gave it, without what `_explained` added."""
    for added in (WALLED, HIDDEN):
        message = message.removesuffix(f". {added}")
    return message


def fault(reply: Mapping[str, Any], steps: Sequence[Step]) -> Exception:
    """The exception that a reply of 'not ok' stands for."""
    index = reply.get("step")
    step = steps[index] if isinstance(index, int) and 0 <= index < len(steps) else None
    if isinstance(reply.get("fault"), str):
        return ProgramError(str(reply["fault"])[:2000] or "gave no usable result", step=step)
    raised = reply.get("raised")
    if isinstance(raised, dict):
        try:
            frames = tuple(Frame(int(n), str(f), str(s)) for n, f, s in raised["frames"])
            column = raised.get("column")
            record = Raised(
                # numpy has a MemoryError of its own: what was met matters, not whose class it is
                type="MemoryError" if raised.get("memory") is True else str(raised["type"])[:200],
                message=_explained(str(raised["type"]), str(raised["message"])[:2000]),
                frames=frames,
                column=int(column) if isinstance(column, int) else None,
            )
        except UNREADABLE:
            return Garbled("broke the protocol: not a fault")
        return ProgramError(f"raised {record.type}", record, step)
    broken = reply.get("broken")
    return Garbled(
        f"broke the process it runs in: {broken[-300:] if isinstance(broken, str) else ''}"
    )
