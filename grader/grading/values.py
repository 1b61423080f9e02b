"""Values that programs take and return: encoding, description and comparison."""

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

Value: TypeAlias = Any  # an argument or a result: a number, a text, an array, a container

# Share of the largest entry.  Two programs with the same idea differ by less, two ideas by more.
RELATIVE_TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "bfloat16": 5e-2, "float16": 5e-2}

# Modes of encoding an input.
NATIVE = "native"  # in the dtypes of the case
PRECISE = "precise"  # all in float64
# Every value is moved by one unit in its last place, up or down at random, then all in float64.
NUDGES = ("nudge-1", "nudge-2", "nudge-3", "nudge-4")

MAX_LISTED_KEYS = 8  # keys of a dict in a message
MAX_KEY_LENGTH = 40  # characters of each
MAX_TEXT_LENGTH = 60  # characters of a text in a message


def to_array(value: Value) -> Array:
    """Return the entries of an array or a tensor; a scalar becomes a 0-d array."""
    return value.values if isinstance(value, Tensor) else np.asarray(value)


def dtype_of(value: Value) -> str:
    """Return the name of the dtype of an array, a tensor or a scalar."""
    return value.dtype if isinstance(value, Tensor) else _dtype_name(np.asarray(value).dtype)


@functools.lru_cache(maxsize=64)  # numpy builds the name again at each access
def _dtype_name(dtype: np.dtype[Any]) -> str:
    return str(dtype.name)


def as_real_array(array: Array) -> Array:
    """Return a complex array as a real one with a new last axis; other arrays unchanged."""
    return np.stack([array.real, array.imag], axis=-1) if array.dtype.kind == "c" else array


def largest_magnitude(array: Array) -> float:
    """Return the largest magnitude of the finite entries; 0 if there are none."""
    return float(np.abs(array[np.isfinite(array)]).max(initial=0.0))


def deviations(actual: Array, expected: Array) -> Array | None:
    """Return the absolute differences of the entries that are expected to be finite.

    Returns None if the shapes differ, or if NaN and infinities are in other places.
    """
    finite = np.isfinite(expected)
    if actual.shape != expected.shape or not np.isfinite(actual[finite]).all():
        return None
    if not np.array_equal(actual[~finite], expected[~finite], equal_nan=True):
        return None
    return np.asarray(np.abs(actual[finite] - expected[finite]))


def item_keys(actual: Value, expected: Value) -> Iterable[Any] | None:
    """Return the keys or indices of an expected container.

    Returns None if the actual value is another kind of container or has other keys; a list and a
    tuple count as the same kind.
    """
    if isinstance(expected, dict):
        has_same_keys = isinstance(actual, dict) and actual.keys() == expected.keys()
        return expected if has_same_keys else None
    are_sequences = all(isinstance(value, (list, tuple)) for value in (actual, expected))
    return range(len(expected)) if are_sequences and len(actual) == len(expected) else None


def format_dict_keys(value: Value) -> str:
    """Return the keys of a dict as a text to follow "a dict"; empty for other values."""
    if not isinstance(value, dict):
        return ""
    keys = [str(key)[:MAX_KEY_LENGTH] for key in list(value)[:MAX_LISTED_KEYS]]
    text = f" with {', '.join(keys) or 'no keys'}"
    if len(value) > MAX_LISTED_KEYS:
        text += f" and {len(value) - MAX_LISTED_KEYS:,} more"
    return text


def describe_value(value: Value) -> str:
    """Describe a value: `a float64 array of shape (2, 3)`, `None`, `the number 3`."""
    match value:
        case None:
            return "None"
        case Opaque(type=type_name):
            article = "an" if type_name[:1] in "aeiou" else "a"
            return f"{article} {type_name}"
        case Tensor() | np.ndarray():
            dtype = dtype_of(value)
            article = "an" if dtype.startswith("int") else "a"
            noun = "tensor" if isinstance(value, Tensor) else "array"
            return f"{article} {dtype} {noun} of shape {format_shape(to_array(value).shape)}"
        case bool() | np.bool_():
            return str(bool(value))
        case int() | float() | np.integer() | np.floating():
            return f"the number {format_number(value)}"
        case str():
            return f"the text {value[:MAX_TEXT_LENGTH]!r}"
        case list() | tuple():
            return f"a {type(value).__name__} of {len(value)}"
        case dict():
            return "a dict"
        case _:
            return f"a {type(value).__name__}"


def same_value(a: Value, b: Value, dtype: str = "float64", *, exact: bool = False) -> bool:
    """Return True if two results are equal, up to the rounding of two ways of computing.

    Not a verdict on a submission (that is `compare`): use it to see whether two programs or two
    runs gave the same result.

    Args:
        a: One result.
        b: The other one; differences are measured against its largest entry.
        dtype: The dtype of the case, for scalars.
        exact: The results must agree to the last bit. Zeros of either sign are equal.
    """
    if any(value is None or isinstance(value, (Opaque, str)) for value in (a, b)):
        return type(a) is type(b) and bool(a == b)
    if any(isinstance(value, (dict, list, tuple)) for value in (a, b)):
        keys = item_keys(a, b)
        return keys is not None and all(same_value(a[k], b[k], dtype, exact=exact) for k in keys)
    x, y = to_array(a), to_array(b)
    is_array = isinstance(a, (np.ndarray, Tensor))
    if x.shape != y.shape or (is_array and dtype_of(a) != dtype_of(b)):
        return False
    kinds = x.dtype.kind + y.dtype.kind
    if not set(kinds) & set("fc") or "O" in kinds:  # an int beyond 64 bits is an object
        return bool(np.array_equal(x, y))
    tolerance = 0.0
    if not exact:
        own_dtype = dtype_of(a) if is_array and x.ndim else dtype
        tolerance = RELATIVE_TOLERANCES.get(own_dtype, RELATIVE_TOLERANCES["float64"])
    if "c" in kinds:
        x, y = (as_real_array(np.asarray(array, np.complex128)) for array in (x, y))
    y = y.astype(np.float64)
    differences = deviations(x.astype(np.float64), y)
    if differences is None:
        return False
    return float(differences.max(initial=0.0)) <= tolerance * largest_magnitude(y)


def to_floats(value: Value) -> Array | None:
    """Return a float, an array or a tensor of floats as float64; None for other values.

    Complex numbers become two numbers each, along a last axis.
    """
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
    """Encode one input of a case for a program: the fields of a `protocol.Input`.

    The mode is `NATIVE`, `PRECISE`, one of `NUDGES`, or a layout to use in place of the case's.
    """
    if not isinstance(value, np.ndarray):
        return {"value": value}
    recipe = case.inputs[name]
    dtype = recipe.dtype or case.dtype
    is_floating = dtype in {"float32", "float64", "bfloat16"}
    is_precise = mode in {PRECISE, *NUDGES}
    if is_precise and is_floating:
        if mode in NUDGES:
            value = nudge(value, dtype, NUDGES.index(mode))
        value = value.astype(np.float64)
        dtype = "float64"
    layout = mode
    if is_precise or mode == NATIVE:
        layout = recipe.layout or case.layout
    fields: dict[str, Any] = {
        "value": Tensor(value, dtype) if dtype == "bfloat16" else value,
        "layout": layout,
    }
    if question.spec.needs_torch:
        is_frozen = name in case.frozen or is_incoming_gradient(name)
        fields |= {"tensor": True, "grad": is_floating and not is_frozen}
    return fields


def is_incoming_gradient(name: str) -> bool:
    """Return True if an input is the gradient of a result: its name begins with grad_."""
    return name.startswith("grad_")


def nudge(value: Array, dtype: str, index: int) -> Array:
    """Move every value except 0 up or down by one unit in the last place of its dtype.

    The index seeds the choice of directions.  Equal values stay equal and neighbors keep their
    order, so only rounding is measured.
    """
    unique, inverse = np.unique(value, return_inverse=True)
    size = np.abs(unique)
    unit = size * 2.0**-8 if dtype == "bfloat16" else np.spacing(size)
    # Values that could meet or cross if one went up and the other down move the same way.
    are_apart = ~(np.diff(unique) <= 2 * np.maximum(unit[1:], unit[:-1]))
    group = np.concatenate([[0], np.cumsum(are_apart)])[: unique.size].astype(np.int64)
    signs = np.random.default_rng([index, unique.size]).choice([-1.0, 1.0], unique.size)[group]
    if dtype == "bfloat16":
        moved = unique * (1 + signs * 2.0**-8)
    else:
        moved = np.nextafter(unique, np.copysign(np.inf, signs).astype(unique.dtype))
    stays = ~np.isfinite(unique) | ~np.isfinite(moved) | (unique == 0)
    moved = np.where(stays, unique, moved)
    return np.asarray(moved[inverse].reshape(value.shape), value.dtype)
