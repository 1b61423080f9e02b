"""Values as programs take and return them, in words, and whether two are the same."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe
from grader.model.number_format import format_number, format_shape
from grader.model.question import Question
from grader.sandbox.worker.wire import Opaque, Tensor

Value: TypeAlias = Any  # what a program takes or returns: numbers, texts, arrays, containers

# Relative to the largest entry: two ways of writing one idea differ by less, two ideas by more.
RELATIVE_TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "bfloat16": 5e-2, "float16": 5e-2}
NATIVE, PRECISE = "native", "precise"  # the case's own dtypes, or float64 throughout
# Every value moved by one unit in its last place, up or down at random, then float64.
NUDGES = ("nudge-1", "nudge-2", "nudge-3", "nudge-4")


def to_array(value: Value) -> Array:
    """The array in a result, or a scalar as a 0-d array."""
    return value.values if isinstance(value, Tensor) else np.asarray(value)


def dtype_of(value: Value) -> str:
    """The name of the dtype of an array, a tensor or a scalar."""
    return value.dtype if isinstance(value, Tensor) else _name(np.asarray(value).dtype)


@functools.lru_cache(maxsize=64)  # numpy puts a name together whenever it is asked for
def _name(dtype: np.dtype[Any]) -> str:
    return str(dtype.name)


def as_real_array(array: Array) -> Array:
    """Complex entries as two numbers along a last axis; anything else as it is."""
    return np.stack([array.real, array.imag], axis=-1) if array.dtype.kind == "c" else array


def largest_magnitude(array: Array) -> float:
    """The largest magnitude among the finite entries; 0 where there are none."""
    return float(np.abs(array[np.isfinite(array)]).max(initial=0.0))


def deviations(got: Array, want: Array) -> Array | None:
    """How far entries are from those wanted, where these are finite.

    None where they have another shape, or NaN and infinities are not where they should be.
    """
    finite = np.isfinite(want)
    if got.shape != want.shape or not np.isfinite(got[finite]).all():
        return None
    alike = np.array_equal(got[~finite], want[~finite], equal_nan=True)
    return np.abs(got[finite] - want[finite]) if alike else None


def item_keys(observed: Value, native: Value) -> Iterable[Any] | None:
    """What the items of a container are found by; None where the other has not the same."""
    if isinstance(native, dict):
        return native if isinstance(observed, dict) and observed.keys() == native.keys() else None
    alike = all(isinstance(v, (list, tuple)) for v in (observed, native))
    return range(len(native)) if alike and len(observed) == len(native) else None


def format_dict_keys(value: Value) -> str:
    """The keys of a dict, to be put behind 'a dict'."""
    if not isinstance(value, dict):
        return ""
    shown = ", ".join(str(key)[:40] for key in list(value)[:8]) or "no keys"
    return f" with {shown}" + (f" and {len(value) - 8:,} more" if len(value) > 8 else "")


def describe_value(value: Value) -> str:
    """A value in words: `a float64 array of shape (2, 3)`, `None`, `the number 3`."""
    match value:
        case None:
            return "None"
        case Opaque(type=kind):
            return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"
        case Tensor():
            return f"{_article(value.dtype)} tensor of shape {format_shape(value.values.shape)}"
        case np.ndarray():
            return f"{_article(value.dtype.name)} array of shape {format_shape(value.shape)}"
        case bool() | np.bool_():
            return str(bool(value))
        case int() | float() | np.integer() | np.floating():
            return f"the number {format_number(value.item() if isinstance(value, np.generic) else value)}"
        case str():
            return f"the text {value[:60]!r}"
        case list() | tuple():
            return f"a {type(value).__name__} of {len(value)}"
        case dict():
            return "a dict"
        case _:
            return f"a {type(value).__name__}"


def _article(dtype: str) -> str:
    return f"{'an' if dtype.startswith('int') else 'a'} {dtype}"


def same_value(a: Value, b: Value, dtype: str = "float64", *, exact: bool = False) -> bool:
    """Whether two results are the same, up to what two ways of computing them differ by.

    This tells ideas apart; `compare` judges.  The dtype is that of the case, for scalars, which
    have none of their own; `exact` means to the last bit, zeros of either sign being the same.
    """
    if any(v is None or isinstance(v, (Opaque, str)) for v in (a, b)):
        return type(a) is type(b) and bool(a == b)
    if any(isinstance(v, (dict, list, tuple)) for v in (a, b)):
        keys = item_keys(a, b)
        return keys is not None and all(same_value(a[k], b[k], dtype, exact=exact) for k in keys)
    x, y = to_array(a), to_array(b)
    if x.shape != y.shape or (isinstance(a, (np.ndarray, Tensor)) and dtype_of(a) != dtype_of(b)):
        return False
    kinds = x.dtype.kind + y.dtype.kind
    if not set(kinds) & set("fc") or "O" in kinds:  # an int beyond 64 bits is an object
        return bool(np.array_equal(x, y))
    arrays = isinstance(a, (np.ndarray, Tensor)) and x.ndim
    loose = (
        0.0
        if exact
        else RELATIVE_TOLERANCES.get(
            dtype_of(a) if arrays else dtype, RELATIVE_TOLERANCES["float64"]
        )
    )
    if "c" in kinds:
        x, y = (as_real_array(np.asarray(v, np.complex128)) for v in (x, y))
    off = deviations(x.astype(np.float64), y := y.astype(np.float64))
    return off is not None and float(off.max(initial=0.0)) <= loose * largest_magnitude(y)


def to_floats(value: Value) -> Array | None:
    """The real numbers in a result as float64, two of them for a complex one."""
    if isinstance(value, (float, np.inexact, np.ndarray, Tensor)):
        array = as_real_array(to_array(value))
        if array.dtype.kind == "f":
            return np.asarray(array, np.float64)
    return None


def encode_input(
    question: Question,
    case: CaseRecipe,
    name: str,
    value: Value,
    mode: str = NATIVE,
) -> dict[str, Any]:
    """One input of a case as a program takes it: the fields of a `protocol.Input`.

    The mode is `NATIVE`, `PRECISE`, one of `NUDGES`, or another layout than that of the case.
    """
    if not isinstance(value, np.ndarray):
        return {"value": value}
    recipe = case.inputs[name]
    dtype = recipe.dtype or case.dtype
    floating = dtype in {"float32", "float64", "bfloat16"}
    changed = mode in {PRECISE, *NUDGES}
    if changed and floating:
        value = nudge(value, dtype, NUDGES.index(mode)) if mode in NUDGES else value
        value, dtype = value.astype(np.float64), "float64"
    spec: dict[str, Any] = {
        "value": Tensor(value, dtype) if dtype == "bfloat16" else value,
        "layout": recipe.layout or case.layout if changed or mode == NATIVE else mode,
    }
    if question.spec.needs_torch:
        frozen = name in case.frozen or is_incoming_gradient(name)
        spec |= {"tensor": True, "grad": floating and not frozen}
    return spec


def is_incoming_gradient(name: str) -> bool:
    """Return True if an input is the gradient of a result: its name begins with grad_."""
    return name.startswith("grad_")


def nudge(value: Array, dtype: str, which: int) -> Array:
    """Move every value by one unit in the last place of its dtype, equal values alike.

    Equal values stay equal and neighbors keep their order: what is measured is rounding alone.
    """
    unique, inverse = np.unique(value, return_inverse=True)
    size = np.abs(unique)
    unit = size * 2.0**-8 if dtype == "bfloat16" else np.spacing(size)
    # Values that could meet or cross if one went up and the other down move the same way.
    apart = ~(np.diff(unique) <= 2 * np.maximum(unit[1:], unit[:-1]))
    group = np.concatenate([[0], np.cumsum(apart)])[: unique.size].astype(np.int64)
    signs = np.random.default_rng([which, unique.size]).choice([-1.0, 1.0], unique.size)[group]
    if dtype == "bfloat16":
        moved = unique * (1 + signs * 2.0**-8)
    else:
        moved = np.nextafter(unique, np.copysign(np.inf, signs).astype(unique.dtype))
    stays = ~np.isfinite(unique) | ~np.isfinite(moved) | (unique == 0)
    moved = np.where(stays, unique, moved)
    return np.asarray(moved[inverse].reshape(value.shape), value.dtype)
