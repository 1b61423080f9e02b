"""What the judge sees itself of runs: inputs that were changed, results that do not stay.

A program may have put its own words into its worker's mouth.  So what a worker says of a run is
completed by what became of the inputs, which lie in memory that the judge has mapped too; and by
what became of the results after the judge has written something else into that memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grader.sandbox.lending import Lending, Loan
from grader.sandbox.worker import wire
from grader.sandbox.worker.messages import Input, Outcome

Again = Callable[[], Sequence[Outcome]]  # sends the results once more


class Witness:
    """Inputs of runs in lockstep, lent for as long as these take."""

    def __init__(self, lending: Lending, inputs: Sequence[Mapping[str, Mapping[str, Any]]]) -> None:
        """Write the inputs, as many as there is room for."""
        self.sent: list[dict[str, Input]] = []  # in place of those inputs
        self._loans: list[Loan] = []
        for given in inputs:
            sent, loan = lending.lend(given)
            self.sent.append(sent)
            self._loans.append(loan)

    def complete(
        self, said: Sequence[Outcome], last: int, again: Again | None = None
    ) -> tuple[Outcome, ...]:
        """What a worker said of the runs, and what it should have said.

        Args:
            said: one outcome for each.
            last: index of the last step, which is said to have done what nobody knows more about.
            again: where results have to last, what sends them once more.
        """
        seen = [
            _with_changed(one, loan.changed(), last)
            for one, loan in zip(said, self._loans, strict=True)
        ]
        if again is None or any(one.changed or one.shared or one.stale for one in seen):
            return tuple(seen)  # there is something to find fault with already
        try:
            return self._lasting(seen, last, again)
        finally:
            self._restore()

    def _lasting(self, seen: Sequence[Outcome], last: int, again: Again) -> tuple[Outcome, ...]:
        for loan in self._loans:
            loan.spoil()
        if not any(_differing(one, now) for one, now in zip(seen, again(), strict=True)):
            return tuple(seen)
        self._restore()
        plain = list(again())
        found = [
            one._replace(stale=tuple((name, last) for name in _differing(one, now)))
            for one, now in zip(seen, plain, strict=True)
        ]
        for loan in self._loans:
            for lent in loan.written:
                loan.spoil(lent)
                for index, now in enumerate(again()):
                    shared = [(name, lent) for name in _differing(plain[index], now)]
                    found[index] = found[index]._replace(shared=(*found[index].shared, *shared))
                loan.restore()
        return tuple(found)

    def _restore(self) -> None:
        for loan in self._loans:
            loan.restore()


def _with_changed(said: Outcome, names: Sequence[str], last: int) -> Outcome:
    known = {name for _, name in said.changed}
    more = [(last, name) for name in names if name not in known]
    return said._replace(changed=(*said.changed, *more))


def _differing(first: Outcome, now: Outcome) -> list[str]:
    """The results that are not what they were, to the bit."""
    return [
        name
        for name, value in first.values.items()
        if name not in now.values or _encoded(value) != _encoded(now.values[name])
    ]


def _encoded(value: object) -> bytes:
    return b"".join(bytes(piece) for piece in wire.encode(value))
