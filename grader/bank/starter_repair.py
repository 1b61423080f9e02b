"""The repair of a starter: its smallest right changes, with reasons.

A repair is written in `drills/ID/repair.py`, or `repair.txt`.  `# why: SENTENCE` stands above each
changed run of lines; `# why 2: ...` if part 2 asks for the change.  The sentence continues in
comments right below it that begin with two blanks or more.  Without these comments the file is a
right solution.  In a file of answers they stand above each answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from grader.forms import form_of
from grader.model.question import Question

_WHY = re.compile(r"\s*# why(?: (\d+))?: *(.*)")
_CONTINUATION = re.compile(r"\s*#  +(\S.*)")
_MAX_GAP = 2  # unchanged lines between two runs that one sentence may explain

ChangeReason = tuple[int, str]  # the part that asks for the change, and a sentence
Reasons = tuple[ChangeReason, ...]
ExplainedLine = tuple[str | None, Reasons]  # a line, and the sentences right above it


@dataclass(frozen=True, slots=True)
class RepairChange:
    """One change: the lines `before`, which begin at `line` of the starter, become `after`."""

    line: int  # from 1
    before: tuple[str, ...]
    after: tuple[str, ...]
    why: Reasons = ()

    @property
    def part(self) -> int:
        """Return the first part that asks for the change."""
        return min((part for part, _ in self.why), default=1)


def repair_changes(question: Question) -> tuple[RepairChange, ...]:
    """Return the changes of a starter from top to bottom; none if no repair is written."""
    if not question.repair:
        return ()
    repaired_lines = _explained_lines(question.repair)
    if form_of(question.spec).is_text:
        return tuple(_answer_changes(repaired_lines))
    starter_lines = _lines(question.without_leading_blank_lines(question.starter))
    return tuple(_code_changes(starter_lines, repaired_lines))


def repaired_starter(question: Question, parts: int | None = None) -> bytes:
    """Return the starter with the changes of parts 1 to `parts`.

    By default, and always in a file of answers, all changes are made.
    """
    if parts is None or form_of(question.spec).is_text:
        lines = [line for line, _ in _explained_lines(question.repair) if line is not None]
    else:
        lines = _lines(question.without_leading_blank_lines(question.starter))
        for change in reversed(repair_changes(question)):
            if change.part <= parts:
                start = change.line - 1
                lines[start : start + len(change.before)] = change.after
    return "\n".join([*lines, ""]).encode()


def repair_errors(question: Question) -> Iterator[str]:
    """Yield errors: a change without a sentence, a sentence without a change, an unknown part."""
    parts = len(question.spec.parts)
    for change in repair_changes(question):
        line = _first_text(*change.after, *change.before)
        if not change.why:
            yield f"expected `# why: SENTENCE` above the change to {line!r}, found none"
        for part, sentence in change.why:
            if not 1 <= part <= parts or not sentence:
                yield f"expected `# why N: SENTENCE` of a part from 1 to {parts} above {line!r}"
            elif change.before == change.after:
                yield f"expected a change below {sentence!r}, found none"


def _first_text(*lines: str) -> str:
    """Return the first line that is not blank, or ""."""
    for line in lines:
        if line.strip():
            return line.strip()
    return ""


def _lines(source: bytes) -> list[str]:
    return source.decode("utf-8", "replace").splitlines()


def _explained_lines(source: bytes) -> Iterator[ExplainedLine]:
    """Yield every line with the sentences right above it.

    If the file ends with sentences, they come last, with None in place of a line.
    """
    reasons: list[ChangeReason] = []
    for line in _lines(source):
        if why := _WHY.fullmatch(line):
            reasons.append((int(why[1] or 1), why[2].strip()))
        elif reasons and (continuation := _CONTINUATION.fullmatch(line)):
            part, sentence = reasons[-1]
            reasons[-1] = (part, f"{sentence} {continuation[1].strip()}".strip())
        else:
            yield line, tuple(reasons)
            reasons = []
    if reasons:
        yield None, tuple(reasons)


def _answer_changes(explained_lines: Iterable[ExplainedLine]) -> Iterator[RepairChange]:
    """Yield a change for every answer of a file of answers, with the sentences above it."""
    pending: Reasons = ()
    for number, (line, reasons) in enumerate(explained_lines, 1):
        pending += reasons
        if line is None:
            yield RepairChange(number, (), (), pending)
        elif line.partition("#")[0].strip():
            yield RepairChange(number, (), (line,), pending)
            pending = ()


# -- changes of code ------------------------------------------------------------------------------

# A line, or the sentences above the next line.  Sentences are compared like lines, because a run
# should begin at the sentence that its author has put there.
_Entry = str | Reasons


class _Run(NamedTuple):
    """Lines of the starter that become entries of the repair; ends are exclusive."""

    start: int
    end: int
    first_entry: int
    end_entry: int


def _code_changes(
    starter: Sequence[str], explained_lines: Iterable[ExplainedLine]
) -> Iterator[RepairChange]:
    """Yield the changes: changed runs of lines, split at every sentence."""
    entries: list[_Entry] = []
    for line, reasons in explained_lines:
        if reasons:
            entries.append(reasons)
        if line is not None:
            entries.append(line)
    matcher = SequenceMatcher(None, starter, entries, autojunk=False)
    runs: list[_Run] = []
    for tag, *bounds in matcher.get_opcodes():
        if tag == "equal":
            continue
        run = _Run(*bounds)
        if runs and _belong_together(runs[-1], run, entries):
            earlier = runs.pop()
            run = run._replace(start=earlier.start, first_entry=earlier.first_entry)
        runs.append(run)
    for run in runs:
        before = starter[run.start : run.end]
        yield from _divided(run.start, before, entries[run.first_entry : run.end_entry])


def _belong_together(earlier: _Run, run: _Run, entries: Sequence[_Entry]) -> bool:
    """Return True if one sentence explains both of two runs.

    They have to be close together.  The second run may not have a sentence, unless the first run
    has only sentences.
    """
    if run.start - earlier.end > _MAX_GAP:
        return False
    earlier_entries = entries[earlier.first_entry : earlier.end_entry]
    if all(isinstance(entry, tuple) for entry in earlier_entries):
        return True
    return all(isinstance(entry, str) for entry in entries[run.first_entry : run.end_entry])


def _divided(
    start: int, before: Sequence[str], entries: Sequence[_Entry]
) -> Iterator[RepairChange]:
    """Yield a change for each sentence of one run.

    In the run, the lines `before`, which begin at index `start` of the starter, become `entries`.
    """
    reasons: list[Reasons] = [()]
    pieces: list[list[str]] = [[]]
    for entry in entries:
        if isinstance(entry, str):
            pieces[-1].append(entry)
        elif reasons[-1] or any(line.strip() for line in pieces[-1]):
            reasons.append(entry)
            pieces.append([])
        else:
            reasons[-1] = entry
    first = 0
    ends = _piece_ends(before, pieces)
    for why, after, end in zip(reasons, pieces, ends, strict=True):
        replaced = tuple(before[first:end])
        yield RepairChange(start + first + 1, replaced, tuple(after), why)
        first = end


def _piece_ends(before: Sequence[str], pieces: Sequence[Sequence[str]]) -> list[int]:
    """Return the end (exclusive) of the lines that each piece replaces.

    A piece is the part of the new lines that one sentence explains.  It replaces the lines most
    like it.  An empty piece deletes at least one line, if it can.
    """
    likeness = [[_likeness(line, piece) for piece in pieces] for line in before]
    # Maps each possible end of the pieces so far to the best score and the ends of these pieces.
    best: dict[int, tuple[float, list[int]]] = {0: (0, [])}
    for number, piece in enumerate(pieces):
        shorter = best
        best = {}
        for start, (score, ends) in shorter.items():
            for end in range(start, len(before) + 1):
                total = score + sum(likeness[line][number] for line in range(start, end))
                if not piece and start == end:
                    total -= 1
                candidate = (total, [*ends, end])
                best[end] = max(best.get(end, candidate), candidate)
    return best[len(before)][1]


def _likeness(line: str, piece: Sequence[str]) -> float:
    """Return how much a line is like the most similar line of a piece, from 0 to 1."""
    matchers = [SequenceMatcher(None, line.strip(), other.strip()) for other in piece]
    return max((matcher.ratio() for matcher in matchers), default=0)
