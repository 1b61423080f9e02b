"""What a submission gave for one result on one input, beside what is right there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from grader.cases.dataflow import free_names, producing, results
from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe
from grader.evaluation.compare import fault_of
from grader.evaluation.evaluation import Evaluation, blame_bank
from grader.evaluation.results import LOOSE, Value, array_of, dtype_of, largest, same_value
from grader.explain.earlier import up_to
from grader.kinds import registry
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import Outcome, ProgramError
from grader.sandbox.worker.wire import Tensor

SURELY = 1e-3  # of the largest expected entry: no rounding moves a float64 result so far
MOST_ENTRIES = 200_000  # of an array that is looked at
Looked = Mapping[tuple[str, str], Mapping[str, tuple[bool, bool]]]


@dataclass
class Cell:
    """One result on one input."""

    run: str
    result: str
    case: str  # of the question, or made from one
    origin: str  # the case of the question
    own: bool  # a case of the question itself
    got: Value
    want: Value
    ok: bool
    raised: str = ""  # the type of what the run raised
    given: Mapping[str, Value] = field(default_factory=dict)  # what the result depends on
    others: Mapping[str, Value] = field(default_factory=dict)  # right results of the same run
    dtype: str = "float64"
    layout: str = "contiguous"
    layouts: Mapping[str, str] = field(default_factory=dict)  # of inputs with one of their own

    @cached_property
    def a(self) -> Array | None:
        """What was given, as float64 numbers; None where it is something else."""
        return numbers(self.got)

    @cached_property
    def b(self) -> Array | None:
        """What is right, likewise."""
        return numbers(self.want)

    @cached_property
    def loose(self) -> float:
        """By how much of the largest entry two ways of computing one idea differ."""
        want = self.want
        if isinstance(want, (int, np.integer)):
            return 1e-15
        name = dtype_of(want) if isinstance(want, (np.ndarray, Tensor)) else self.dtype
        return LOOSE.get(name, LOOSE["float64"])

    def close(self, one: Array, other: Array) -> bool:
        """Whether two arrays are equal up to rounding."""
        return one.shape == other.shape and not self.differ(one, other).any()

    def differ(self, one: Array, other: Array) -> Array:
        """Where two arrays of one shape differ by more than rounding."""
        both = np.isfinite(one) & np.isfinite(other)
        off = np.abs(np.subtract(one, other, out=np.zeros(one.shape), where=both))
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        return np.where(both, off > self.loose * largest(other), ~same)

    @cached_property
    def wrong(self) -> Array:
        """Where the entries are wrong; only where both have one shape."""
        a, b = self.both
        wrong = self.differ(a, b)
        # Within rounding, where every bit was asked for.
        return wrong if wrong.any() else (a != b) & ~(np.isnan(a) & np.isnan(b))

    @property
    def both(self) -> tuple[Array, Array]:
        """What was given and what is right, where both are numbers.

        Raises:
            ValueError: one is not.
        """
        if self.a is None or self.b is None:
            raise ValueError("nothing to compare")
        return self.a, self.b

    @property
    def group(self) -> str:
        """What sort of failure it is: each is spoken of by itself."""
        if self.raised:
            return "raised"
        a, b = self.a, self.b
        if a is None or b is None:
            return "type"
        if a.shape != b.shape:
            return "shape"
        if (~np.isfinite(a) & np.isfinite(b)).any():
            return "not finite"
        if self.differ(a, b).any():
            return "values"
        alike = isinstance(self.got, type(self.want)) and dtype_of(self.got) == dtype_of(self.want)
        return "last digits" if alike or not a.ndim else "type"

    def parts(self) -> Iterator[Cell]:
        """One cell for each number of a dict; itself where it is none, or lacks some."""
        want, got = self.want, self.got
        if not isinstance(want, dict) or not isinstance(got, dict) or want.keys() != got.keys():
            yield self
            return
        for key in want:
            exact = isinstance(want[key], (int, np.integer))
            yield replace(
                self,
                result=f"{self.result}[{key!r}]",
                got=got[key],
                want=want[key],
                ok=_same_part(got[key], want[key], self.dtype, exact=exact),
                others={n: v for n, v in want.items() if n != key},
            )


def _same_part(got: Value, want: Value, dtype: str, *, exact: bool) -> bool:
    """Whether an item of a dict is right: a whole number to the last one."""
    ours = numbers(got)
    if exact and ours is not None and not ours.ndim:
        return bool(got == want)
    try:
        return same_value(got, want, dtype, exact=exact)
    except (TypeError, ValueError, OverflowError):  # nothing that floats can hold
        return False


def numbers(value: Value) -> Array | None:
    """Float64 numbers of an array, a tensor, a scalar or a list of them."""
    if value is None or isinstance(value, (str, dict, bool, np.bool_)):
        return None
    try:
        if isinstance(value, (list, tuple)):
            plain = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in value)
            return np.asarray(value, np.float64) if plain and value else None
        found = array_of(value)
        fits = found.dtype.kind in "fiu" and found.size <= MOST_ENTRIES
        return found.astype(np.float64) if fits else None
    except (TypeError, ValueError, OverflowError):
        return None


def looked_at(evaluation: Evaluation) -> Looked:
    """By run and result, the cases on which a check compares it: to the last bit, and zeros."""
    found: dict[tuple[str, str], dict[str, tuple[bool, bool]]] = {}
    for check in evaluation.checks:
        kind = registry.get(check.kind)
        if check.stretch or kind.is_observed(check):
            continue
        exact, zeros = kind.is_exact(check), getattr(check, "zeros", None) == "exact"
        for result in check.compared:
            known = found.setdefault((check.run, result), {})
            for case in evaluation.cases_of(check):
                before = known.get(case.name, (False, False))
                known[case.name] = exact or before[0], zeros or before[1]
    return found


def cells(
    evaluation: Evaluation,
    looked: Looked,
    wanted: Iterable[tuple[str, str]],
    cases: Sequence[tuple[CaseRecipe, str]] | None = None,
) -> list[Cell]:
    """The cells of some results, on the question's cases or on others made from them.

    Raises:
        WorkerError: the submission's process did not survive it.
    """
    found = []
    for run, result in wanted:
        own = [(c, c.name) for n, c in evaluation.cases.items() if n in looked[run, result]]
        for case, origin in own if cases is None else cases:
            flags = looked[run, result].get(origin)
            if flags is not None:
                found.append(
                    _cell(evaluation, run, result, (case, origin), flags, own=cases is None)
                )
    return found


def _cell(
    evaluation: Evaluation,
    run: str,
    result: str,
    place: tuple[CaseRecipe, str],
    flags: tuple[bool, bool],
    *,
    own: bool,
) -> Cell:
    case, origin = place
    truth: Mapping[str, Value] = evaluation.truth(run, case).values
    outcome, raised = Outcome({}), ""
    try:
        outcome = evaluation.observed(run, case)
    except ProgramError as error:
        raised = error.raised.type if error.raised else error.message
        needs = error.step is None or error.step in producing(evaluation.steps(run), result)
        before = None if needs else up_to(evaluation, run, case, result)
        if before is not None and not _is_right(evaluation, (run, case, result), before, flags):
            outcome, raised = before, ""  # wrong before it raised: that may be why it did
    except WorkerError:
        if evaluation.submission.worker.failure is not None and not own:
            raise
        raised = "stopped"
    if own:
        key = ("everything", run, case.name, str(evaluation.parts_asked))
        truth = evaluation.fact(key, lambda: _everything(evaluation, run, case))
    drawn = evaluation.drawn(case)
    needed = free_names(producing(evaluation.steps(run), result))
    got = outcome.values.get(result)
    return Cell(
        run, result, case.name, origin, own, got, truth[result],
        not raised and _is_right(evaluation, (run, case, result), outcome, flags), raised,
        {n: drawn[n] for n in needed}, {n: v for n, v in truth.items() if n != result},
        case.dtype, case.layout, {n: r.layout for n, r in case.inputs.items() if r.layout},
    )  # fmt: skip


def _everything(evaluation: Evaluation, run: str, case: CaseRecipe) -> Mapping[str, Value]:
    """The right results of a run on one case that any check of any run looks at."""
    known, names = evaluation.truth(run, case).values, everything(evaluation, run)
    if set(names) <= set(known):
        return known
    with blame_bank(f"the reference fails on case {case.name}"):
        more = evaluation.reference.run(
            evaluation.steps(run), evaluation.inputs(case, run), names
        ).values
    return {**more, **known}


def everything(evaluation: Evaluation, run: str) -> tuple[str, ...]:
    """The results of a run that any check of any run looks at."""
    wanted = [name for names in evaluation.wanted.values() for name in names]
    made = set(results(evaluation.steps(run)))
    return tuple(dict.fromkeys([*evaluation.wanted[run], *(n for n in wanted if n in made)]))


def _is_right(
    evaluation: Evaluation,
    where: tuple[str, CaseRecipe, str],
    outcome: Outcome,
    flags: tuple[bool, bool],
) -> bool:
    run, case, result = where
    got, want = outcome.values.get(result), evaluation.truth(run, case).values[result]
    if isinstance(got, np.ndarray) and isinstance(want, np.ndarray) and case.dtype == "float64":
        a, b = numbers(got), numbers(want)
        if a is not None and b is not None and a.shape == b.shape and largest(b) > 0:
            off = np.abs(a - b)
            if np.isfinite(b).all() and not (off <= SURELY * largest(b)).all():
                return False  # without moving the inputs, which takes the reference twice
    exact, zeros = flags
    return fault_of(evaluation, run, case, result, outcome, exact=exact, zeros=zeros) is None
