"""What programs are compared by: every result and measured quantity that the checks look at.

A *component* is one aspect of one result of one run, or one measured quantity, over all its cases.
The dtype of a result is an aspect of its own, so that a lost dtype does not hide what the values
show.  A component on one case is a *cell*; what is wrong with a submission is known cell by cell.

A digest of what is wrong finds equal answers: two programs that hold one wrong idea have one digest
although they are written in other ways; two ideas have two.  Of the failing checks that compare
values, all that is wrong counts; only where nothing is, what was measured.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from grader import forms
from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe, run_inputs, steps_producing
from grader.grading.compare import find_mismatch
from grader.grading.evaluation import BankProgramError, Evaluation
from grader.grading.kinds import registry
from grader.grading.kinds.base import CaseTrial, Count
from grader.grading.tolerance_bands import allowed_by_check
from grader.grading.values import (
    RELATIVE_TOLERANCES,
    Value,
    deviations,
    dtype_of,
    item_keys,
    largest_magnitude,
    same_value,
    to_array,
    to_floats,
)
from grader.model.report import NON_FAILING_VERDICTS, CheckResult, Verdict
from grader.model.spec import Check, Tolerance
from grader.sandbox import OutOfTime
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import Outcome, ProgramError
from grader.sandbox.worker.wire import Opaque, Tensor

FAILED_VERDICTS = {Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT}
SAME_COUNT = 0.01  # counts of the same idea written differently differ by a few small tensors
MAX_NUMBERS = 100  # of a result, that are counted
MIN_TOLERANCES_APART = (
    10  # tolerances between an idea and what is right, for a tolerance to be left to the idea
)
_PRECISION = {"float16": 0, "bfloat16": 0, "float32": 1, "float64": 2}
_FAULT = "\0"  # no program returns a text that begins so


@dataclass(frozen=True, slots=True)
class Component:
    """One thing that programs can be compared by."""

    name: str  # of a result, or of a measuring check
    run: str
    checks: Mapping[str, Collection[str]] = field(compare=False, hash=False)  # by case, their ids
    aspect: Literal["values", "dtype", "measure"] = "values"
    measured_by: Check | None = field(default=None, compare=False)  # of a measure
    exact: bool = False  # every check of it asks for the last bit
    varies_with_style: bool = False  # it depends on how an idea is written too
    relative_rounding: float = 0.0  # relative, of numbers that a person has written and rounded
    # By which right programs may differ: the least that a check of it allows; None if one does not.
    tolerance: Tolerance | None = field(default=None, compare=False)
    compares_in_float32: bool = False  # what float32 does not tell apart is the same

    @property
    def is_dtype(self) -> bool:
        """Whether it is about the dtype of a result alone."""
        return self.aspect == "dtype"

    @property
    def cases(self) -> tuple[str, ...]:
        """The cases on which some check looks at it."""
        return tuple(self.checks)


ResultCell = tuple[Component, str]


def compared_components(evaluation: Evaluation) -> list[Component]:
    """Everything that the checks look at whose part is asked."""
    found: dict[tuple[str, str], Component] = {}
    measured: list[tuple[bool, bool, Component]] = []
    is_text = forms.form_of(evaluation.question.spec).is_text
    for check in evaluation.checks:
        names = [c.name for c in evaluation.cases_of(check)]
        kind = registry.kind_named(check.kind)
        if kind.uses_observation(check) or (
            kind.judges_values and not is_text
        ):  # of these, effects
            name = (
                check.results[0] if kind.compares_final_value_only else check.id
            )  # a curve is a result
            style, by_case = kind.varies_with_style(check), {case: (check.id,) for case in names}
            component = Component(
                name, check.run, by_case, "measure", check, varies_with_style=style
            )
            measured.append((style, kind.is_slow_to_observe, component))
        if kind.uses_observation(check):
            continue
        allowed: Tolerance | None = getattr(check, "tolerance", None)
        for result in check.compared_results:
            known = found.get((check.run, result)) or Component(result, check.run, {}, exact=True)
            looking = {case: [*known.checks.get(case, ()), check.id] for case in names}
            found[check.run, result] = replace(
                known,
                checks={**known.checks, **looking},
                exact=known.exact and getattr(check, "exact", False),
                relative_rounding=(allowed.relative or 0.0)
                if is_text and allowed
                else known.relative_rounding,
            )
    values = [
        replace(component, tolerance=_least_tolerance(evaluation, component))
        for component in found.values()
        if component.checks
    ]
    # Most variants are ruled out by one: the quick ones first, and last what few programs agree in.
    last = [component for *_, component in sorted(measured, key=lambda m: m[:2])]
    return [*values, *(replace(c, aspect="dtype", relative_rounding=0.0) for c in values), *last]


def _least_tolerance(evaluation: Evaluation, component: Component) -> Tolerance | None:
    """Return the least tolerance of the checks that compare a result; None if one has none."""
    found = []
    for check in evaluation.checks:
        if check.run == component.run and component.name in check.compared_results:
            allowed: Tolerance | None = getattr(check, "tolerance", None)
            if allowed is None or not allowed.applies_to(component.name):
                return None
            found.append(allowed)
    return min(found, key=lambda one: (one.relative or 0.0, one.absolute or 0.0), default=None)


def observe_component(evaluation: Evaluation, component: Component, case: str) -> Value:
    """What the submission gives for a component on one case; a fault becomes a text."""

    def observe() -> Value:
        check = component.measured_by
        try:
            if check is not None:
                trial = CaseTrial(evaluation, check, evaluation.cases[case])
                return registry.kind_named(check.kind).observe(trial)
            found = evaluation.submission_outcome(component.run, evaluation.cases[case])
            value = found.values.get(component.name)
            if not component.is_dtype:
                return value
            return dtype_of(value) if isinstance(value, (np.ndarray, Tensor)) else ""
        except ProgramError as error:
            return f"{_FAULT}raised {error.raised.type if error.raised else 'nothing'}"
        except WorkerError as error:
            return f"{_FAULT}stopped: {error}"

    return evaluation.remember(("observed", component, case), observe, evaluation.submission)


def is_fault(value: Value) -> bool:
    """Whether there is no result: the program raised, or its process ended."""
    return isinstance(value, str) and value.startswith(_FAULT)


def same_in_cell(a: Evaluation, b: Evaluation, component: Component, case: str) -> bool:
    """Whether what two programs show of a component on one case shows the same idea."""
    one, other = observe_component(a, component, case), observe_component(b, component, case)
    if isinstance(one, Count) or isinstance(other, Count):
        return isinstance(one, Count) and isinstance(other, Count) and _same_count(one, other)
    if is_fault(one) or is_fault(other):
        # Who returns nothing has no dtype: that is about the values.
        alike = is_fault(one) and is_fault(other) and one == other
        return component.is_dtype or (alike and _fail_alike(a, b, component, case))
    if component.relative_rounding:
        return _is_rounded_alike(one, other, component.relative_rounding)
    if component.compares_in_float32:
        one, other = (_in_float32(value) for value in (one, other))
        return same_value(one, other, "float32")
    return same_value(*_in_one_dtype(one, other), a.cases[case].dtype, exact=component.exact)


def is_within_tolerance(
    mine: Evaluation, idea: Evaluation, reference: Evaluation, component: Component, case: str
) -> bool:
    """Return True if a submission is as near to an idea as two right programs are to each other.

    The idea has to be far from right there: within the tolerance nothing tells the two apart.
    """
    allowed = component.tolerance
    if (
        allowed is None or component.is_dtype or component.relative_rounding
    ):  # what people write is rounded
        return False
    values = [observe_component(one, component, case) for one in (mine, idea, reference)]
    if len({dtype_of(v) if isinstance(v, (np.ndarray, Tensor)) else "" for v in values}) > 1:
        return False
    got, want, right = (to_floats(value) for value in values)
    if got is None or want is None or right is None or not got.shape == want.shape == right.shape:
        return False
    off = deviations(got, want)
    finite = np.isfinite(want)
    if off is None or (off > allowed_by_check(allowed, want[finite])).any():
        return False
    apart = np.abs(want[finite] - right[finite])
    return bool((apart > MIN_TOLERANCES_APART * allowed_by_check(allowed, right[finite])).any())


def _in_float32(value: Value) -> Value:
    """A float64 array in float32; all else as it is."""
    is_double = isinstance(value, np.ndarray) and value.dtype == np.float64
    return value.astype(np.float32) if is_double else value


def _is_rounded_alike(one: Value, other: Value, within: float) -> bool:
    """Whether two dicts have the same numbers, up to rounding by hand."""
    if not (isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys()):
        return False
    return all(
        isinstance(number, (int, float)) for number in (*one.values(), *other.values())
    ) and all(math.isclose(one[name], other[name], rel_tol=within, abs_tol=1e-12) for name in one)


def _same_count(one: Count, other: Count) -> bool:
    """Whether two programs keep as much, and the same things where it is known what."""
    if one.kept is not None and other.kept is not None and one.kept != other.kept:
        return False
    return math.isclose(one.value, other.value, rel_tol=SAME_COUNT, abs_tol=256)


def _fail_alike(a: Evaluation, b: Evaluation, component: Component, case: str) -> bool:
    """Whether what came before an exception, which may be why, is right in both or wrong alike."""
    try:
        one, other = (wrong_results_before_failure(x, component.run, x.cases[case]) for x in (a, b))
    except WorkerError:  # both ended there, or one does where less is asked of it
        return True
    return one == other


def _in_one_dtype(one: Value, other: Value) -> tuple[Value, Value]:
    """Two arrays of floating numbers in the less precise dtype of both; all else as it is."""
    if type(one) is not type(other) or not isinstance(one, (np.ndarray, Tensor)):
        return one, other
    dtypes = dtype_of(one), dtype_of(other)
    if dtypes[0] == dtypes[1] or not all(dtype in _PRECISION for dtype in dtypes):
        return one, other
    coarser = min(dtypes, key=_PRECISION.__getitem__)
    if isinstance(one, Tensor):
        return Tensor(one.values, coarser), Tensor(other.values, coarser)
    return one.astype(coarser), other.astype(coarser)


# -- what is computed before the step that raises: that may be why it does -------------------------


def wrong_results_before_failure(evaluation: Evaluation, run: str, case: CaseRecipe) -> str:
    """What is wrong, on a case, of the results that the step that raises needs; else ''."""
    try:
        evaluation.submission_outcome(run, case)
    except ProgramError as error:
        steps, step = evaluation.steps(run), error.step
    else:
        return ""
    if step is None or step not in steps:
        return ""
    needed = steps_producing(steps[: steps.index(step) + 1], step.targets[0])[:-1]
    for result in (name for earlier in needed for name in earlier.targets):
        found = (
            result_despite_failure(evaluation, run, case, result)
            if result in evaluation.wanted_results[run]
            else None
        )
        if found and (fault := find_mismatch(evaluation, run, case, result, found)):
            return fault.sentence
    return ""


def result_despite_failure(
    evaluation: Evaluation, run: str, case: CaseRecipe, result: str
) -> Outcome | None:
    """A result by itself, of a run that raises in a step that it does not need; None where it does.

    Raises:
        WorkerError: the process did not survive it.
    """
    steps = steps_producing(evaluation.steps(run), result)

    def ask() -> Outcome | None:
        drawn = evaluation.inputs(case, run)
        given = {name: drawn[name] for name in run_inputs(steps)}
        try:
            return evaluation.submission.run(steps, given, [result])
        except ProgramError:
            return None

    return evaluation.remember(("up to", run, case.name, result), ask, evaluation.submission)


# -- what is wrong with a submission, cell by cell ------------------------------------------------


@dataclass(frozen=True)
class Failure:
    """What is wrong with a submission that did not pass, cell by cell."""

    submission_evaluation: Evaluation
    checks: Sequence[CheckResult]
    compares_in_float32: bool = False  # see `Component`
    lenient: bool = False  # results that are made apart from the wrong ones contradict nothing
    based_on_accepted: str = (
        ""  # the accepted solution that the submission was made of, in an audit
    )

    @cached_property
    def reference(self) -> Evaluation:
        """The reference on the same cases."""
        return self.submission_evaluation.with_bank_program(self.submission_evaluation.reference)

    @cached_property
    def all_components(self) -> list[Component]:
        """All that checks look at: values, then dtypes, then what is measured."""
        found = compared_components(self.submission_evaluation)
        return (
            [replace(c, compares_in_float32=True) for c in found if not c.exact]
            if self.compares_in_float32
            else found
        )

    @cached_property
    def value_components(self) -> list[Component]:
        """The results and their dtypes."""
        return [c for c in self.all_components if c.measured_by is None]

    @cached_property
    def failed_checks(self) -> frozenset[str]:
        """The checks that were tried and did not pass."""
        return frozenset(c.id for c in self.checks if c.verdict in FAILED_VERDICTS)

    @cached_property
    def passed_checks(self) -> frozenset[str]:
        """The checks that passed."""
        return frozenset(c.id for c in self.checks if c.verdict is Verdict.PASS)

    @cached_property
    def wrong_cells(self) -> dict[ResultCell, None]:
        """The cells on which the submission differs from the reference, in their order."""
        # A measure within its budget is not wrong, however much it differs.
        every = ((c, case) for c in self.all_components for case in c.cases)
        cells = (
            e
            for e in every
            if not e[0].measured_by or e[0].measured_by.id not in self.passed_checks
        )
        return dict.fromkeys(cell for cell in cells if self._is_wrong(cell))

    def _is_wrong(self, cell: ResultCell) -> bool:
        """Whether there is a difference, and more than rounding, as the checks see it."""
        c, case = cell
        if same_in_cell(self.submission_evaluation, self.reference, c, case):
            return False
        if (
            c.measured_by is not None
            or c.is_dtype
            or c.exact
            or c.compares_in_float32
            or self.has_no_result(cell)
        ):
            return True
        outcome = self.submission_evaluation.submission_outcome(
            c.run, self.submission_evaluation.cases[case]
        )
        return (
            find_mismatch(
                self.submission_evaluation,
                c.run,
                self.submission_evaluation.cases[case],
                c.name,
                outcome,
            )
            is not None
        )

    @cached_property
    def failing_cells(self) -> list[ResultCell]:
        """What is wrong where a check was tried and failed: what was skipped suggests nothing."""
        return [
            cell
            for cell in self.wrong_cells
            if not self.failed_checks.isdisjoint(cell[0].checks[cell[1]])
        ]

    @cached_property
    def value_cells(self) -> list[ResultCell]:
        """Every cell of results, those first where something is wrong."""
        every = ((c, case) for c in self.value_components for case in c.cases)
        cells = dict.fromkeys((*self.wrong_cells, *every))
        return [cell for cell in cells if cell[0].measured_by is None]

    @cached_property
    def _wrong_functions(self) -> set[tuple[str, str]]:
        """The functions that gave a wrong result, each with its owner."""
        cells = (c for c, _ in self.wrong_cells if c.measured_by is None)
        steps = (
            steps_producing(self.submission_evaluation.steps(c.run), c.name)[-1] for c in cells
        )
        return {(step.owner, step.function) for step in steps}

    def is_unrelated_to_failures(self, cell: ResultCell) -> bool:
        """Return True if a result is made by functions that give no wrong result in any case.

        One function of the reference may call another, so that an idea shows in both; a submission
        may have written the same lines twice.
        """
        component, _ = cell
        steps = steps_producing(self.submission_evaluation.steps(component.run), component.name)
        return all((step.owner, step.function) not in self._wrong_functions for step in steps)

    def has_no_result(self, cell: ResultCell) -> bool:
        """Whether the submission returned nothing there, so that no idea can be seen."""
        return is_fault(observe_component(self.submission_evaluation, *cell))

    def telling_numbers(self, cells: Iterable[ResultCell]) -> set[float]:
        """The different numbers that are right there and say something: neither 0 nor 1."""
        found: set[float] = set()
        for value in (observe_component(self.reference, *cell) for cell in cells):
            for part in value.values() if isinstance(value, dict) else [value]:
                if isinstance(part, (int, float, np.number, np.ndarray, Tensor)):
                    array = np.asarray(to_array(part))
                    if array.dtype.kind in "iuf":
                        finite = array[np.isfinite(array)][:MAX_NUMBERS].astype(np.float64)
                        found |= set(finite.tolist()) - {0.0, 1.0}
        return found


# -- a digest of what is wrong --------------------------------------------------------------------

DIGITS = 16  # hexadecimal ones of a digest
FINE_STEP, COARSE_STEP = 1e-4, 0.02  # of the largest deviation, in float64 and what is less so
MAX_INNER_FLOAT32_DEVIATION = 3e-6  # of the largest entry: float32 inside gives any such deviation
ROUNDING = 1e-7  # of the largest entry, the least step: the rest is how it was rounded
# Numbers that mean something are not halfway between two steps: 0.5, 1/3, 2e-5.
GOLDEN_FRACTION = 0.23606797749978969
DIRECTIONS = 4  # in which an imprecise array is looked at
MAX_ENTRIES = 1 << 18  # of an array that are looked at


def failure_digest(failure: Failure) -> str:
    """Return a digest of what is wrong; empty where all passed or nothing was computed."""
    failing = {
        check.id: check.message
        for check in failure.checks
        if check.verdict not in NON_FAILING_VERDICTS and (check.cases or check.figures)
    }
    with contextlib.suppress(OutOfTime, BankProgramError, WorkerError):
        found = [*_wrong_results(failure, failing.keys())]
        if not found:  # what was measured, unless it depends on how an idea is written
            style = {
                c.measured_by.id
                for c in failure.all_components
                if c.measured_by and c.varies_with_style
            }
            found = [f"{one} {'' if one in style else said}" for one, said in failing.items()]
        if found:
            return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()[:DIGITS]
    return ""


def _wrong_results(failure: Failure, failing: Collection[str]) -> Iterator[str]:
    """A text for every result that is wrong on a case of a failing check."""
    for c, case in ((one, case) for one in failure.value_components for case in one.cases):
        if not c.is_dtype and not set(failing).isdisjoint(c.checks[case]):
            dtype, right = (
                failure.submission_evaluation.cases[case].dtype,
                observe_component(failure.reference, c, case),
            )
            form = _form(observe_component(failure.submission_evaluation, c, case), right, dtype)
            if form != _form(right, right, dtype):
                yield f"{c.run} {case} {c.name} {form}"


def _form(got: Value, right: Value, dtype: str) -> str:
    """A result in a form that is equal for equal ideas; the dtype is that of the case."""
    match got:
        case None | bool() | np.bool_() | str():
            return f"{type(got).__name__} {len(str(got))} {got};"
        case Opaque(type=name):
            return f"an object {len(name)} {name};"
        case dict() | list() | tuple():
            keys = sorted(got if isinstance(got, dict) else range(len(got)), key=str)
            alike = right is not None and item_keys(got, right) is not None
            parts = [
                f"{len(str(key))} {key}:{_form(got[key], right[key] if alike else None, dtype)}"
                for key in keys
            ]
            return f"{'dict' if isinstance(got, dict) else 'list'} {len(keys)}({''.join(parts)})"
        case _:
            return _of_numbers(got, right, dtype)


def _of_numbers(got: Value, right: Value, dtype: str) -> str:
    """Of an array or a number: its sort, and how far it is from the right one if known."""
    array, is_array = to_array(got), isinstance(got, (np.ndarray, Tensor))
    # An integral float is as good as a whole number, where it is not an entry of an array.
    sort = f"{type(got).__name__} {array.shape} {array.dtype.kind}" if is_array else "number"
    if array.dtype.kind not in "fiu":
        return f"{sort} {hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()};"
    wanted = to_array(right) if isinstance(right, (type(got), float, int)) else None
    if wanted is not None and (wanted.shape != array.shape or wanted.dtype.kind not in "fiu"):
        wanted = None
    if is_array:
        dtypes = [dtype_of(got), dtype if wanted is None else dtype_of(right)]
        dtype = max(dtypes, key=lambda one: RELATIVE_TOLERANCES.get(one, 0.0))
    text = _differences(array, np.zeros_like(array) if wanted is None else wanted, dtype)
    # Where nothing else is wrong, the dtype may be.
    is_right = is_array and text in {"right", "nearly"}
    return f"{sort} {f'{dtype_of(got)} {text}' if is_right else text};"


def _differences(got: Array, right: Array, dtype: str) -> str:
    """How far numbers are from the right ones, in steps that no rounding moves."""
    every = max(1, -(-got.size // MAX_ENTRIES))
    found, base = (v.reshape(-1)[::every].astype(np.float64) for v in (got, right))
    odd, right_odd = (np.isnan(v) + 2 * np.isposinf(v) + 3 * np.isneginf(v) for v in (found, base))
    places = "" if np.array_equal(odd, right_odd) else _digest(odd)
    both = np.isfinite(found) & np.isfinite(base)
    off = np.subtract(found, base, out=np.where(odd == 0, found, 0.0), where=both)
    size, top = largest_magnitude(base), largest_magnitude(off)
    loose = RELATIVE_TOLERANCES.get(dtype, RELATIVE_TOLERANCES["float64"])
    if not np.isfinite(off).all():
        return f"overflow {places}"
    if top <= loose * (size or 1.0):
        return places or "right"
    if loose > RELATIVE_TOLERANCES["float32"]:
        return f"wrong {places}"
    if loose > RELATIVE_TOLERANCES["float64"]:  # in a few directions, which rounding hardly moves
        norm, order = float(np.linalg.norm(off)), np.arange(1, off.size + 1, dtype=np.float64)
        seen = [float(off @ np.sin(order * math.sqrt(n + 2))) / norm for n in range(DIRECTIONS)]
        return f"{[_step(one, COARSE_STEP) for one in (math.log(norm), *seen)]} {places}"
    if top <= MAX_INNER_FLOAT32_DEVIATION * size:
        return f"nearly {places}".rstrip()
    step = max(FINE_STEP, ROUNDING * size / top)
    fine = np.floor(off / top / step + GOLDEN_FRACTION).astype(np.int64)
    return f"{_step(math.log(top), step)} {_digest(fine)} {places}"


def _digest(array: Array) -> str:
    return hashlib.sha256(array.astype(np.int64).tobytes()).hexdigest() if array.any() else "0"


def _step(value: float, step: float) -> int:
    return math.floor(value / step + GOLDEN_FRACTION)
