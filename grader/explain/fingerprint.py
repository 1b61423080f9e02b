"""A digest of what is wrong in what a submission computed, so that equal answers can be found.

Two programs that hold one wrong idea have one digest although they are written in other ways; two
ideas have two.  It takes what is known once the checks are carried out, and asks nothing.

Of the failing checks that compare values, all that is wrong counts; only where nothing is, what
was measured.  So it does not matter to an idea that one way of writing it keeps more bytes.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe
from grader.evaluation.evaluation import BankFault, Evaluation
from grader.evaluation.results import LOOSE, Value, array_of, dtype_of, keys_of, largest, real_parts
from grader.kinds import registry
from grader.kinds.base import Count
from grader.model.keys import Check
from grader.model.report import CheckResult
from grader.model.verdict import FINE, Verdict
from grader.sandbox.client import WorkerError
from grader.sandbox.deadline import OutOfTime
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import ProgramError
from grader.sandbox.worker.wire import Opaque

DIGITS = 16  # hexadecimal ones of a digest
FINE_STEP = 1e-4  # of the largest deviation: entries closer than this are the same
COARSE_STEP = 0.02  # of what is less precise than float64
NEARLY = 3e-6  # of the largest entry: float32 inside gives any such deviation
ROUNDING = 1e-7  # of the largest entry, the least step: the rest is how it was rounded
COUNT_STEP = 0.05  # of a count of bytes whose parts nobody knows
# Numbers that mean something are not halfway between two steps: 0.5, 1/3, 2e-5.
APART = 0.23606797749978969
DIRECTIONS = 4  # in which an imprecise array is looked at
MOST_ENTRIES = 1 << 18  # of an array that are looked at
Texts = Iterator[str]


class _Unknown(Exception):
    """Nobody asked for it yet."""


class _Silent:
    """A program that cannot be asked: what the evaluation knows of it is all that there is."""

    def __init__(self, program: RemoteProgram) -> None:
        self.name = program.name
        self.limits = program.limits

    def __getattr__(self, name: str) -> NoReturn:
        raise _Unknown(name)


def fingerprint(evaluation: Evaluation, checks: Sequence[CheckResult]) -> str:
    """Return a digest of what is wrong; empty where all passed or nothing was computed.

    Args:
        evaluation: with the submission, after its checks.
        checks: what they came to.
    """
    silent: Any = _Silent(evaluation.submission)
    quiet = copy.copy(evaluation)
    quiet.submission, quiet.called = silent, []
    specs = {check.id: check for check in evaluation.question.spec.checks}
    failing = [
        specs[c.id]
        for c in checks
        if c.verdict not in FINE and c.verdict is not Verdict.SKIPPED
        if c.cases or c.figures
    ]
    places = {(c.run, case.name): case for c in failing for case in evaluation.cases_of(c)}
    valued = {
        (c.run, case.name): case
        for c in failing
        if not registry.get(c.kind).is_observed(c)
        for case in evaluation.cases_of(c)
    }
    with contextlib.suppress(OutOfTime, BankFault):
        found = sorted(_wrong(quiet, valued)) or sorted(_wrong(quiet, places))
        if failing and not found:
            found = sorted(_measures(quiet, failing, {c.id: c.message for c in checks}))
            found += sorted(check.id for check in failing)
        if found:
            return hashlib.sha256("\n".join(found).encode()).hexdigest()[:DIGITS]
    return ""


def _wrong(evaluation: Evaluation, places: Mapping[tuple[str, str], CaseRecipe]) -> Texts:
    """A text for everything that is wrong on some cases of some runs."""
    for (run, name), case in places.items():
        try:
            given = _outcome(evaluation, run, case)
        except _Unknown:
            continue
        if isinstance(given, str):
            yield f"{run} {name} {given}"
            continue
        wanted, values = given
        truth = evaluation.truth(run, case).values
        for result in wanted:
            text = "".join(_value(values.get(result), truth.get(result), case.dtype))
            right = "".join(_value(truth.get(result), truth.get(result), case.dtype))
            if text != right:
                yield f"{run} {name} {result} {text}"


def _outcome(evaluation: Evaluation, run: str, case: CaseRecipe) -> str | tuple[Sequence[str], Any]:
    """What a run gave, with the results that were asked for; a text where it raised.

    Raises:
        _Unknown: it was not carried out.
    """
    asked = copy.copy(evaluation)
    for parts in range(evaluation.parts_asked, 0, -1):  # more results are asked for with each part
        asked.parts_asked = parts
        try:
            return asked.wanted[run], asked.observed(run, case).values
        except ProgramError as error:
            return f"raised {error.raised.type}" if error.raised else error.message
        except WorkerError as error:
            return type(error).__name__
        except _Unknown:
            continue
    raise _Unknown


def _measures(evaluation: Evaluation, checks: Sequence[Check], said: Mapping[str, str]) -> Texts:
    """A text for everything that was measured and does not depend on how an idea is written.

    Where what was measured is not remembered, what is said of it.
    """
    for check in checks:
        kind = registry.get(check.kind)
        if kind.timed or kind.by_style(check):
            continue
        observed = False
        for case in evaluation.cases_of(check) if kind.is_observed(check) else ():
            try:
                seen = kind.observe(evaluation, check, case)
            except (ProgramError, WorkerError) as error:
                seen = type(error).__name__
            except _Unknown:
                continue
            observed = True
            yield f"{check.id} {case.name} {''.join(_measure(seen, case.dtype))}"
        if not observed:
            yield f"{check.id} {said[check.id]}"


def _measure(seen: Value, dtype: str) -> Texts:
    if not isinstance(seen, Count):
        yield from _value(seen, None, dtype)
    elif seen.kept is not None:
        yield " ".join(seen.kept)
    else:
        yield str(_step(math.log(max(seen.value, 1.0)), COUNT_STEP))


def _value(got: Value, want: Value, dtype: str) -> Texts:
    """A result in a form that is equal for equal ideas; the dtype is that of the case."""
    match got:
        case None | bool() | np.bool_():
            yield f"{got};"
        case Opaque(type=name):
            yield f"an object {len(name)} {name};"
        case str():
            yield f"text {len(got)} {got};"
        case dict() | list() | tuple():
            keys = list(got) if isinstance(got, dict) else list(range(len(got)))
            alike = keys_of(got, want) is not None if want is not None else False
            yield f"{'dict' if isinstance(got, dict) else 'list'} {len(keys)}("
            for key in sorted(keys, key=str):
                yield f"{len(str(key))} {key}:"
                yield from _value(got[key], want[key] if alike else None, dtype)
            yield ")"
        case int() | float() | np.generic():
            yield from _number(got, want, dtype)
        case _:
            yield from _array(got, want, dtype)


def _number(got: Value, want: Value, dtype: str) -> Texts:
    got = got.item() if isinstance(got, np.generic) else got
    want = want.item() if isinstance(want, np.generic) else want
    if isinstance(got, float) and got.is_integer() and isinstance(want, int):
        got = int(got)  # an integral float is as good
    if isinstance(got, int) and (want is None or isinstance(want, int)):
        yield f"number {got};"
    else:
        right = np.asarray(want) if isinstance(want, (int, float, complex)) else None
        yield f"number {_floats(np.asarray(got), right, dtype)};"


def _array(got: Value, want: Value, dtype: str) -> Texts:
    array = array_of(got)
    yield f"{type(got).__name__} {array.shape} {array.dtype.kind} "
    if array.dtype.kind not in "fc":
        plain = _looked_at(np.ascontiguousarray(array))
        plain = plain.astype(np.int64 if plain.dtype.kind in "iub" else plain.dtype)
        yield f"{hashlib.sha256(plain.tobytes()).hexdigest()};"
        return
    right = array_of(want) if isinstance(want, type(got)) else None
    if right is not None and (right.shape != array.shape or right.dtype.kind not in "fc"):
        right = None
    precisions = {dtype_of(got), dtype if right is None else dtype_of(want)}
    coarsest = max(precisions, key=lambda one: LOOSE.get(one, 0.0))
    text = _floats(array, right, coarsest)
    # Where nothing else is wrong, the dtype may be.
    yield f"{f'{dtype_of(got)} {text}' if text in RIGHT else text};"


RIGHT = {"right", "nearly"}


def _floats(got: Array, want: Array | None, dtype: str) -> str:
    """What is wrong with numbers, as how far they are from the right ones where these are known."""
    parts = [
        real_parts(np.asarray(v, np.complex128)) if v.dtype.kind == "c" else v.astype(np.float64)
        for v in (got, got if want is None else want)
    ]
    found, base = (_looked_at(np.ascontiguousarray(v)).ravel() for v in parts)
    if found.shape != base.shape:  # complex where real numbers are right
        want, base = None, found
    odd = np.isnan(found) + 2 * np.isposinf(found) + 3 * np.isneginf(found)
    right_odd = np.isnan(base) + 2 * np.isposinf(base) + 3 * np.isneginf(base)
    places = "" if want is not None and np.array_equal(odd, right_odd) else _places(odd)
    base = np.zeros_like(found) if want is None else base
    off = np.where(odd == 0, np.nan_to_num(found, posinf=0.0, neginf=0.0), 0.0)
    off -= np.where((odd == 0) & np.isfinite(base), np.nan_to_num(base, posinf=0, neginf=0), 0.0)
    size, top = largest(base), largest(off)
    loose = LOOSE.get(dtype, LOOSE["float64"])
    if not math.isfinite(top):
        return f"overflow {places}"
    if top <= loose * (size or 1.0):
        return places or "right"
    if loose > LOOSE["float64"]:
        return f"{_coarse(off / top, top, dtype)} {places}"
    if top <= NEARLY * size:
        return f"nearly {places}".rstrip()
    step = max(FINE_STEP, ROUNDING * size / top)
    steps = np.floor(off / top / step + APART).astype(np.int64)
    return f"{_step(math.log(top), step)} {hashlib.sha256(steps.tobytes()).hexdigest()} {places}"


def _coarse(off: Array, top: float, dtype: str) -> str:
    """Imprecise numbers in a few directions: rounding hardly moves these."""
    if LOOSE[dtype] > LOOSE["float32"]:
        return "wrong"
    norm = float(np.linalg.norm(off))
    order = np.arange(1, off.size + 1, dtype=np.float64)
    seen = [float(off @ np.sin(order * math.sqrt(n + 2))) / norm for n in range(DIRECTIONS)]
    size = _step(math.log(top) + math.log(norm), COARSE_STEP)
    return " ".join(map(str, [size, *(_step(one, COARSE_STEP) for one in seen)]))


def _places(odd: Array) -> str:
    return hashlib.sha256(odd.astype(np.uint8).tobytes()).hexdigest() if odd.any() else "finite"


def _step(value: float, step: float) -> int:
    return math.floor(value / step + APART)


def _looked_at(array: Array) -> Array:
    flat = array.reshape(-1)
    return flat if flat.size <= MOST_ENTRIES else flat[:: -(-flat.size // MOST_ENTRIES)]
