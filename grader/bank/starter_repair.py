"""The least that has to change in a starter, and why: `drills/ID/repair.py`, or `repair.txt`.

`# why: SENTENCE` stands above each changed run of lines; `# why 2: ...` where part 2 is what asks
for it. The sentence goes on in comments right below it that begin with two blanks or more. Without
these comments the file is a right solution. In a file of answers they stand above each answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from grader import forms
from grader.model.question import Question

_WHY = re.compile(r"\s*# why(?: (\d+))?: *(.*)")
_MORE = re.compile(r"\s*#  +(\S.*)")
_NEAR = 2  # unchanged lines at most between two runs that one sentence may be about

ChangeReason = tuple[int, str]  # the part that asks for it, a sentence
ExplainedLine = tuple[
    str | None, tuple[ChangeReason, ...]
]  # a line, and the sentences right above it


@dataclass(frozen=True, slots=True)
class RepairChange:
    """One run of lines to change: `before`, from a line of the starter on, becomes `after`."""

    line: int  # from 1
    before: tuple[str, ...]
    after: tuple[str, ...]
    why: tuple[ChangeReason, ...] = ()

    @property
    def part(self) -> int:
        """The first part that asks for it."""
        return min((part for part, _ in self.why), default=1)


def repair_changes(question: Question) -> tuple[RepairChange, ...]:
    """What has to change in the starter, in its order; nothing where no repair is written."""
    if not question.repair:
        return ()
    written = _read(question.repair)
    if forms.form_of(question.spec).is_text:
        return tuple(_answered(written))
    return tuple(_compared(_lines(question.without_leading_blank_lines(question.starter)), written))


def repaired_starter(question: Question, parts: int | None = None) -> bytes:
    """The starter with the changes that the first parts ask for, all if not said."""
    if parts is None or forms.form_of(question.spec).is_text:
        lines = [line for line, _ in _read(question.repair) if line is not None]
    else:
        lines = _lines(question.without_leading_blank_lines(question.starter))
        for change in reversed(repair_changes(question)):
            if change.part <= parts:
                at = change.line - 1
                lines[at : at + len(change.before)] = change.after
    return "\n".join([*lines, ""]).encode()


def repair_errors(question: Question) -> Iterator[str]:
    """Changes without a sentence, sentences without a change, and parts that there are not."""
    most = len(question.spec.parts)
    for change in repair_changes(question):
        shown = next((line.strip() for line in (*change.after, *change.before) if line.strip()), "")
        if not change.why:
            yield f"expected `# why: SENTENCE` above the change to {shown!r}, found none"
        for part, sentence in change.why:
            if not 1 <= part <= most or not sentence:
                yield f"expected `# why N: SENTENCE` of a part from 1 to {most} above {shown!r}"
            elif change.before == change.after:
                yield f"expected a change below {sentence!r}, found none"


def _lines(source: bytes) -> list[str]:
    return source.decode("utf-8", "replace").splitlines()


def _read(source: bytes) -> Iterator[ExplainedLine]:
    """Every line with the sentences right above it; None after the last, if some are left."""
    why: list[ChangeReason] = []
    for line in _lines(source):
        if found := _WHY.fullmatch(line):
            why.append((int(found[1] or 1), found[2].strip()))
        elif why and (more := _MORE.fullmatch(line)):
            why[-1] = (why[-1][0], f"{why[-1][1]} {more[1].strip()}".strip())
        else:
            yield line, tuple(why)
            why = []
    if why:
        yield None, tuple(why)


def _answered(written: Iterable[ExplainedLine]) -> Iterator[RepairChange]:
    """Every answer, with the sentences above it."""
    why: tuple[ChangeReason, ...] = ()
    for number, (line, found) in enumerate(written, 1):
        why += found
        if line is None or line.partition("#")[0].strip():
            yield RepairChange(number, (), () if line is None else (line,), why)
            why = ()


def _compared(starter: Sequence[str], written: Iterable[ExplainedLine]) -> Iterator[RepairChange]:
    """The changed runs, each divided where a sentence stands."""
    # A sentence is an entry of its own, so that a run begins where its author says it does.
    right: list[str | tuple[ChangeReason, ...]] = []
    for line, why in written:
        right += [why] * bool(why) + ([] if line is None else [line])
    runs: list[tuple[int, int, int, int]] = []
    for tag, a, b, c, d in SequenceMatcher(None, starter, right, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        near = runs and a - runs[-1][1] <= _NEAR
        unexplained = not any(isinstance(one, tuple) for one in right[c:d])
        if near and (unexplained or all(isinstance(o, tuple) for o in right[slice(*runs[-1][2:])])):
            a, c = runs[-1][0], runs.pop()[2]
        runs.append((a, b, c, d))
    for a, b, c, d in runs:
        yield from _divided(a, starter[a:b], right[c:d])


def _divided(
    start: int, before: Sequence[str], right: Sequence[str | tuple[ChangeReason, ...]]
) -> Iterator[RepairChange]:
    """One run as a change for each sentence in it."""
    pieces: list[tuple[tuple[ChangeReason, ...], list[str]]] = [((), [])]
    for one in right:
        if isinstance(one, str):
            pieces[-1][1].append(one)
        elif any(line.strip() for line in pieces[-1][1]) or pieces[-1][0]:
            pieces.append((one, []))
        else:
            pieces[-1] = (one, pieces[-1][1])
    ends = _shares(before, [lines for _, lines in pieces])
    for (why, lines), first, end in zip(pieces, [0, *ends], ends, strict=False):
        yield RepairChange(start + first + 1, tuple(before[first:end]), tuple(lines), why)


def _shares(before: Sequence[str], pieces: Sequence[Sequence[str]]) -> list[int]:
    """Where the lines end that each piece replaces: those most like it, at least one if empty."""

    def alike(line: str, piece: Sequence[str]) -> float:
        return max((SequenceMatcher(None, line, other).ratio() for other in piece), default=0)

    like = [
        [alike(line.strip(), [o.strip() for o in piece]) for piece in pieces] for line in before
    ]
    best: dict[int, tuple[float, list[int]]] = {0: (0, [])}
    for number, piece in enumerate(pieces):
        ends: dict[int, tuple[float, list[int]]] = {}
        for begin, (score, chosen) in best.items():
            for end in range(begin, len(before) + 1):
                total = score + sum(like[n][number] for n in range(begin, end))
                total -= not piece and begin == end
                ends[end] = max(ends.get(end, (-math.inf, [])), (total, [*chosen, end]))
        best = ends
    return best[len(before)][1]
