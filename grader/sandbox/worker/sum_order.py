"""Arrays whose sums are taken in another order: from the last term to the first, or term by term.

Sums, means, products of matrices and einsums are meant, as far as numpy lets an array say how it
computes them; whatever else is done with such an array is done as always.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

Value = Any  # whatever numpy takes or gives
MOST_TERMS = 4096  # of a sum in a Python loop
_PAIR, _CUBE = 2, 3  # arguments, dimensions


class Ordered(np.ndarray[Any, Any]):
    """An array whose sums are taken in another order."""

    order = "reversed"

    def __array_finalize__(self, made_of: Value) -> None:
        """Keep the order, whatever an array is made of."""
        self.order = getattr(made_of, "order", "reversed")

    def __array_ufunc__(self, ufunc: Value, method: str, *inputs: Value, **kwargs: Value) -> Value:
        """Take sums and products of matrices in this order, and all else as it is."""
        inputs = tuple(_changed(list(inputs), np.asarray))
        into = kwargs.get("out")
        kwargs = {key: _changed(value, np.asarray) for key, value in kwargs.items()}
        if ufunc is np.add and method == "reduce":
            found = _summed(self.order, *inputs, **kwargs)
        elif ufunc is np.matmul and method == "__call__" and not kwargs:
            found = _product(self.order, *inputs)
        else:
            found = getattr(ufunc, method)(*inputs, **kwargs)
        if into is not None:
            return into[0] if len(into) == 1 else into
        return _changed(found, lambda array: ordered(array, self.order))

    def __array_function__(
        self, function: Value, types: Value, args: Value, kwargs: Value
    ) -> Value:
        """Take contractions in this order, and all else as it is."""
        if function is np.einsum and isinstance(args[0], str) and not kwargs.keys() - {"optimize"}:
            operands = [np.asarray(operand) for operand in args[1:]]
            found = _contracted(self.order, args[0], operands)
        elif (
            function is np.dot and len(args) == _PAIR and all(0 < np.ndim(a) < _CUBE for a in args)
        ):
            found = _product(self.order, *map(np.asarray, args))
        else:
            found = super().__array_function__(function, types, args, kwargs)
        return _changed(found, lambda array: ordered(array, self.order))

    def dot(self, b: Value, out: Value = None) -> Value:
        """The method is the function."""
        return np.dot(self, b) if out is None else super().dot(b, out)


def ordered(array: Value, order: str) -> Value:
    """The same memory as an array whose sums are taken in another order."""
    if not isinstance(array, np.ndarray):
        return array
    view = np.asarray(array).view(Ordered)
    view.order = order
    return view


def _summed(order: str, array: Value, axis: Value = 0, **kwargs: Value) -> Value:
    chosen = kwargs.get("where", True) is not True
    if np.ndim(array) == 0 or array.dtype.kind not in "fc" or chosen:
        return np.add.reduce(array, axis, **kwargs)
    axes = tuple(range(array.ndim)) if axis is None else (axis,) if np.ndim(axis) == 0 else axis
    backwards = np.ascontiguousarray(np.flip(array, axes))
    terms = int(np.prod([array.shape[a] for a in axes], dtype=int))
    if order == "reversed" or not terms or kwargs.get("initial") is not None:
        return np.add.reduce(backwards, axis, **kwargs)
    last = np.moveaxis(array, axes, range(-len(axes), 0))
    rows = last.reshape(*last.shape[: array.ndim - len(axes)], terms)
    total = np.add.accumulate(rows, -1, dtype=kwargs.get("dtype"))[..., -1][()]
    if kwargs.get("keepdims"):
        total = np.expand_dims(total, tuple(a % array.ndim for a in axes))
    if kwargs.get("out"):
        kwargs["out"][0][...] = total
    return total


def _product(order: str, a: Value, b: Value) -> Value:
    """`a @ b`, for any number of dimensions that it takes."""
    rows = min(b.ndim, 2)
    if order == "reversed" or not 0 < a.shape[-1] <= MOST_TERMS:
        left, right = np.flip(a, -1), np.flip(b, -rows)
        return np.matmul(np.ascontiguousarray(left), np.ascontiguousarray(right))
    left, right = np.atleast_2d(a), b[:, None] if rows == 1 else b
    total = left[..., :, :1] * right[..., :1, :]
    for k in range(1, a.shape[-1]):
        total = total + left[..., :, k : k + 1] * right[..., k : k + 1, :]
    if rows == 1:
        total = total[..., 0]
    return total[..., 0, :][()] if a.ndim == 1 and rows > 1 else total[0] if a.ndim == 1 else total


def _contracted(order: str, subscripts: str, operands: list[Value]) -> Value:
    """An einsum; one without an arrow, or with dots, as numpy takes it."""
    given, arrow, kept = subscripts.replace(" ", "").partition("->")
    labels = given.split(",")
    if not arrow or "." in subscripts or any(len(set(names)) < len(names) for names in labels):
        return np.einsum(subscripts, *operands)
    summed = sorted(set(given) - {",", *kept})
    sizes = {
        name: size
        for names, operand in zip(labels, operands, strict=True)
        for name, size in zip(names, operand.shape, strict=True)
    }
    terms = int(np.prod([sizes[name] for name in summed], dtype=int))
    if order == "reversed" or not 0 < terms <= MOST_TERMS:
        flipped = [
            np.flip(operand, tuple(i for i, name in enumerate(names) if name in summed))
            for names, operand in zip(labels, operands, strict=True)
        ]
        return np.einsum(subscripts, *map(np.ascontiguousarray, flipped))
    left = ",".join("".join(n for n in names if n not in summed) for names in labels)
    total = None
    for places in itertools.product(*(range(sizes[name]) for name in summed)):
        at = dict(zip(summed, places, strict=True))
        picked = [
            operand[tuple(at.get(name, slice(None)) for name in names)]
            for names, operand in zip(labels, operands, strict=True)
        ]
        term = np.einsum(f"{left}->{kept}", *picked)
        total = term if total is None else total + term
    return total


def _changed(value: Value, change: Callable[[Value], Value]) -> Value:
    """An array, or those in a list or a tuple, changed."""
    if isinstance(value, np.ndarray):
        return change(value)
    if type(value) in {list, tuple}:
        return type(value)(_changed(item, change) for item in value)
    return value
