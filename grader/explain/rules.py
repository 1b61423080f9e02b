"""Statements that hold on every failing case of a result, and on further inputs.

A rule is proposed by one failing case and kept while it holds on all others.  "It is half of the
right one" also has to be refuted by no right case: one that came out right although half of it
would be something else.  A statement about numbers rests on three cases and three different
numbers at least: one number alone is always some multiple of another.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from grader.cases.draw import Array
from grader.evaluation.results import largest
from grader.explain.cells import Cell

CASES = 3  # that a statement about numbers rests on
NUMBERS = 3  # different ones, in those
SEEDS = 2  # failing cases that propose
# What numpy raises on what a submission may have returned.
UNUSABLE = (ValueError, TypeError, LookupError, ArithmeticError)
Predict = Callable[[Cell], Array | None]


@dataclass(frozen=True)
class Rule:
    """One statement about a result, as the end of a sentence that begins with its name."""

    rank: int  # the lower, the more it says
    text: str
    holds: Callable[[Cell], bool]
    # Whether a right case could not be, were the statement true of it; None where it could.
    clashes: Callable[[Cell], bool] | None = None
    numeric: bool = True  # it may hold by chance where there are few numbers
    varies: Callable[[Cell], float] | None = None  # what has to differ from case to case
    local: bool = False  # it speaks of wrong entries alone, and so of no right case
    # On which cases it is so says nothing: of rounding, where it comes from; of a type, its own.
    anywhere: bool = False
    seen: str = ""  # what is added unless the cases are named: how far it goes
    own: int = 1  # failing cases of the question, other inputs apart, that it rests on
    # Said only if it holds on all that is wrong, not of one sort of failure.
    entire: bool = False
    # It is about all entries, which other wrong cases may have right ones among.
    sweeping: bool = False
    # What it comes to on one failing case, with places and numbers.
    example: Callable[[Cell], str] | None = None


def predicted(
    rank: int,
    text: str,
    predict: Predict,
    *,
    varies: Callable[[Cell], float] | None = None,
) -> Rule:
    """A rule that says what the whole result is."""

    def holds(cell: Cell) -> bool:
        made = predict(cell)
        if cell.a is None or cell.b is None or made is None:
            return False
        # What cannot be told from the right one says nothing of a wrong one.
        return cell.close(cell.a, made) and not cell.close(cell.b, made)

    def clashes(cell: Cell) -> bool:
        if cell.b is None:
            return False
        made = predict(cell)
        return made is not None and not cell.close(cell.b, made)

    return Rule(rank, text, holds, clashes, varies=varies)


Propose = Callable[[Cell], Iterator[Rule]]


def surviving(
    proposals: Iterable[Propose], failing: Sequence[Cell], among: Iterable[Rule] = ()
) -> list[Rule]:
    """The rules that hold on every failing case, each text once.

    Args:
        proposals: what to say of a cell.
        failing: of one group.
        among: rules that were found before, instead of new ones.
    """
    known = {rule.text: rule for rule in among}
    if not known:
        telling = sorted(failing, key=_telling, reverse=True)[:SEEDS]
        for cell in telling:
            for propose in proposals:
                with contextlib.suppress(*UNUSABLE):
                    known |= {rule.text: rule for rule in propose(cell)}
    return [rule for rule in known.values() if all(_safely(rule.holds, c) for c in failing)]


def confirmed(rules: Iterable[Rule], failing: Sequence[Cell]) -> list[Rule]:
    """Those with enough behind them, the most telling first."""
    broad = len(failing) >= CASES and len({form(cell) for cell in failing}) > 1
    enough = broad and _numbers(failing, NUMBERS) >= NUMBERS
    # What is said of wrong entries, several on every case, is seen there: no chance makes it so.
    seen = _numbers(failing, NUMBERS) >= NUMBERS and all(
        _safely(lambda c: c.wrong.sum() > 1, cell) for cell in failing
    )
    kept = [
        rule
        for rule in rules
        if (enough or not rule.numeric or (rule.local and seen))
        and (rule.varies is None or len({rule.varies(cell) for cell in failing}) > 1)
    ]
    return sorted(kept, key=lambda rule: (rule.rank, len(rule.text), rule.text))


def is_refuted(rule: Rule, right: Iterable[Cell]) -> bool:
    """Whether a case came out right that the rule would have made wrong."""
    return rule.clashes is not None and any(_safely(rule.clashes, cell) for cell in right)


def is_constant(cells: Sequence[Cell]) -> bool:
    """Whether one number comes out of whatever the inputs are, although it should not."""
    if len(cells) <= CASES or any(c.raised or c.a is None or c.a.ndim for c in cells):
        return False
    wanted = {repr(cell.want) for cell in cells}
    return len(wanted) >= CASES and len({float(c.a) for c in cells if c.a is not None}) == 1


def _safely(ask: Callable[[Cell], bool], cell: Cell) -> bool:
    """An answer about whatever was returned: what cannot be computed with does not hold."""
    try:
        return bool(ask(cell))
    except UNUSABLE:
        return False


def _telling(cell: Cell) -> tuple[int, int]:
    """How many different numbers a case has, up to some; of those alike the smaller first."""
    values = np.zeros(0) if cell.b is None else cell.b
    return min(12, _numbers([cell], 12)), -values.size


def is_broad(failing: Sequence[Cell]) -> bool:
    """Whether there are so many cases that no coincidence explains them."""
    return len(failing) >= 2 * CASES and _numbers(failing, 2 * NUMBERS) >= 2 * NUMBERS


def form(cell: Cell) -> tuple[object, ...]:
    """The shapes and the numbers of the inputs: what is seen may come from any of them."""
    return tuple(getattr(v, "shape", ()) or repr(v)[:60] for v in cell.given.values())


def _numbers(cells: Sequence[Cell], most: int) -> int:
    """Different numbers that are expected, zeros apart; counted up to `most`."""
    seen: set[float] = set()
    for cell in cells:
        if cell.b is not None:
            values = cell.b.ravel()[:200]
            seen |= set(values[np.isfinite(values) & (values != 0)].tolist())
        if len(seen) >= most:
            break
    return len(seen)


def scale(cell: Cell) -> float:
    """The largest magnitude that is expected."""
    return 0.0 if cell.b is None else largest(cell.b)
