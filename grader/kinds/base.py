"""What a kind of check is: its keys, how it is carried out, and what is made of it elsewhere.

Everything that the program knows of a kind stands in one class, in one file; `registry` finds it by
its name.  What follows from the keys alone (the results it needs, the names that have to exist) is
said by the keys, which derive from `grader.model.spec.Check`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from grader.model.report import CheckResult
from grader.model.spec import Check

if TYPE_CHECKING:
    from grader.evaluation import api as api
else:

    class _Toolkit:
        """`grader.evaluation.api`, imported when first used: a spec is read without numpy."""

        def __getattr__(self, name: str) -> object:
            return getattr(import_module("grader.evaluation.api"), name)

    api = _Toolkit()

__all__ = ["Check", "CheckResult", "Count", "Kind", "Written", "api"]

K = TypeVar("K", bound=Check)


@dataclass(frozen=True, slots=True)
class Count:
    """An observation that is a number of bytes or operations: nearly the same is the same."""

    value: float
    kept: tuple[str, ...] | None = None  # what the bytes are of, sorted, where that is known


class Kind(Generic[K]):
    """A kind of check.

    The keys and `judge` are all that a kind needs.  Whatever else there is has a default that fits
    a check of results by value.
    """

    keys: type[K]  # with `kind: Literal[...]`, the name of the kind

    needs_torch: ClassVar[bool] = False  # it asks the autograd graph
    without_torch: ClassVar[bool] = False  # it does not see what torch allocates
    needs_drawn_inputs: ClassVar[bool] = False  # fixed ones could be remembered
    judges_values: ClassVar[bool] = False  # by themselves: zeros or ones should not pass
    only_course: ClassVar[bool] = False  # of a series: where it goes, not each of its values
    hides_expected: ClassVar[bool] = False  # an estimate: what is right is not shown before a pass
    timed: ClassVar[bool] = False  # on the reference only in an audit, and never on mutants
    long_limit: ClassVar[bool] = False  # a call that hangs is stopped late
    slow: ClassVar[bool] = False  # to observe: the others rule most ideas out
    shows_measurement: ClassVar[bool] = False  # what it measured is worth a line of a pass
    always_said: ClassVar[bool] = False  # it fails: that is worth a line of its own
    missed: ClassVar[str] = "missed"  # the word for a stretch that is not reached

    def carry_out(self, evaluation: api.Evaluation, check: K) -> CheckResult:
        """Try the evaluation's submission on every case of the check.

        Raises:
            Stopped: the submission's process is gone; its result says how.
            BankFault: the reference or the spec fails.
        """
        return api.tally(evaluation, check, lambda case: self.judge(evaluation, check, case))

    def judge(self, evaluation: api.Evaluation, check: K, case: api.Case) -> api.Finding | None:
        """What is wrong on one case, or was measured there; what it raises, the submission did."""
        raise NotImplementedError

    # -- diagnosis --------------------------------------------------------------------------

    def is_observed(self, check: K) -> bool:
        """Whether ideas are recognized by `observe`, rather than by the values of `compared`."""
        return type(self).observe is not Kind.observe and self.decides_anywhere(check)

    def observe(self, evaluation: api.Evaluation, check: K, case: api.Case) -> Any:  # noqa: ANN401
        """What the submission shows on one case: a result, a `Count`, a text or None."""
        raise NotImplementedError

    def is_exact(self, check: K) -> bool:  # noqa: ARG002
        """Whether results that differ in a last bit are of different ideas."""
        return False

    def by_style(self, check: K) -> bool:  # noqa: ARG002
        """Whether what is observed depends on how an idea is written, as peaks of memory do."""
        return False

    # -- audit ------------------------------------------------------------------------------

    def decides_anywhere(self, check: K) -> bool:  # noqa: ARG002
        """Whether it can turn a submission down on every machine."""
        return not self.timed

    def layouts(self, check: K) -> tuple[str, ...]:  # noqa: ARG002
        """The layouts of arrays that it tries."""
        return ()


class Written(Kind[K]):
    """A kind that judges what a person has written: it looks once, and speaks of no case."""

    def carry_out(self, evaluation: api.Evaluation, check: K) -> CheckResult:
        first = evaluation.cases_of(check)[0].name
        found = super().carry_out(evaluation, check.model_copy(update={"cases": first}))
        return replace(found, cases=(), failing=(), case_line="", about="", inputs={})
