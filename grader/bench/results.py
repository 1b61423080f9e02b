"""A result as arrays, and in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.cases.draw import Array
from grader.model.numerals import number, shape_text
from grader.sandbox.worker.wire import Opaque, Tensor


def array_of(value: Any) -> Array:  # noqa: ANN401 an array or a tensor
    """The array in a result, or a scalar as a 0-d array."""
    return value.values if isinstance(value, Tensor) else np.asarray(value)


def dtype_of(value: Any) -> str:  # noqa: ANN401 an array or a tensor
    """The name of the dtype of an array, a tensor or a scalar."""
    return value.dtype if isinstance(value, Tensor) else str(np.asarray(value).dtype.name)


def real_parts(array: Array) -> Array:
    """Complex entries as two numbers along a last axis; anything else as it is."""
    return np.stack([array.real, array.imag], axis=-1) if array.dtype.kind == "c" else array


def dict_keys(value: Any) -> str:  # noqa: ANN401 any result
    """The keys of a dict, to be put behind 'a dict'."""
    if not isinstance(value, dict):
        return ""
    shown = ", ".join(str(key)[:40] for key in list(value)[:8]) or "no keys"
    return f" with {shown}" + (f" and {len(value) - 8:,} more" if len(value) > 8 else "")


def describe(value: Any) -> str:  # noqa: ANN401 any result
    """A value in words: `a float64 array of shape (2, 3)`, `None`, `the number 3`."""
    match value:
        case None:
            return "None"
        case Opaque(type=kind):
            return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"
        case Tensor():
            return f"{_article(value.dtype)} tensor of shape {shape_text(value.values.shape)}"
        case np.ndarray():
            return f"{_article(value.dtype.name)} array of shape {shape_text(value.shape)}"
        case bool() | np.bool_():
            return str(bool(value))
        case int() | float() | np.integer() | np.floating():
            return f"the number {number(value.item() if isinstance(value, np.generic) else value)}"
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
