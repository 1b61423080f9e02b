"""Right programs in another style: a layer over a reference in numpy, for audits.

The audit executes a reference, then this file in a namespace of its own, and calls `install`.  Each
function is replaced by one that calls the original, so that the result is right by construction;
only the precision, the order of sums or the layout differs:

    float64, longdouble   computed wider, and cast back to what the original gives
    reversed              sums, products of matrices and einsums from the last term to the first
    fortran               arrays in Fortran order, taken and given

What has no such style, a class or an object of one, stays as it is.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Value = Any  # whatever a program takes or gives
_WIDE = {"float64": np.float64, "longdouble": np.longdouble}
_TWO = 2


def install(style: str, names: Sequence[str], program: dict[str, Any]) -> None:
    """Replace functions in a program's namespace.

    Raises:
        TypeError: none of the names is a function.
    """
    other = OtherStyle(style)
    found = {name: program.get(name) for name in names}
    plain = {n: f for n, f in found.items() if callable(f) and not isinstance(f, type)}
    if not plain:
        raise TypeError("what is called is no function")
    program.update({name: other.stand_in(function) for name, function in plain.items()})


class OtherStyle:
    """Makes the functions of one style."""

    def __init__(self, style: str) -> None:
        self.style = style
        self.inside = False  # a reference function that calls another gets the original

    def stand_in(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Give the function to call instead of one."""

        @functools.wraps(function)
        def call(*args: Value, **kwargs: Value) -> Value:
            if self.inside:
                return function(*args, **kwargs)
            self.inside = True
            try:
                return self._called(function, (args, kwargs))
            finally:
                self.inside = False

        return call

    def _called(self, function: Callable[..., Any], given: tuple[Value, Value]) -> Value:
        """What a function gives in this style; arrays that it changes are changed all the same."""
        form = None
        if self.style in _WIDE:  # whose types are those of the original's result
            args, kwargs = copy.deepcopy(given)
            form = function(*args, **kwargs)
        taken: list[tuple[Value, Value, Value]] = []  # an array, its stand-in, a copy of that

        def take(array: Value) -> Value:
            made = self._in_style(array)
            taken.append((array, made, made.copy()))
            return made

        args, kwargs = own = _mapped(given, take)
        found = function(*args, **kwargs)
        if _refilled(given, own):
            raise TypeError("what is changed is the list or dict of a caller")
        for array, made, before in taken:
            if not np.array_equal(made, before, equal_nan=made.dtype.kind in "fc"):
                array[...] = made
        return _mapped(found, self._given) if form is None else _like(found, form)

    def _in_style(self, array: Value) -> Value:
        """An argument, in this style."""
        if self.style in _WIDE:
            wide = np.dtype(_WIDE[self.style])
            narrow = array.dtype.kind == "f" and array.dtype.itemsize < wide.itemsize
            return array.astype(wide) if narrow else array
        return backwards(array) if self.style == "reversed" else array.copy(order="F")

    def _given(self, array: Value) -> Value:
        """A result, in this style."""
        plain = np.asarray(array)
        return np.asfortranarray(plain) if self.style == "fortran" and plain.ndim else plain


class Reversed(np.ndarray[Any, Any]):
    """An array whose sums run from the last term to the first, as far as numpy lets it say so."""

    def __array_ufunc__(self, ufunc: Value, method: str, *inputs: Value, **kwargs: Value) -> Value:
        """Take sums and products of matrices in this order, and all else as it is."""
        into = kwargs.get("out")
        inputs, kwargs = _mapped((inputs, kwargs), np.asarray)
        if ufunc is np.add and method == "reduce" and inputs[0].dtype.kind in "fc":
            if inputs[0].ndim and kwargs.get("where", True) is True:
                inputs = (_flipped(inputs[0], kwargs.get("axis", 0)),)
        elif ufunc is np.matmul and method == "__call__" and not kwargs:
            a, b = inputs
            inputs = _flipped(a, -1), _flipped(b, -min(b.ndim, 2))
        found = getattr(ufunc, method)(*inputs, **kwargs)
        if into is not None:
            return into[0] if len(into) == 1 else into
        return _mapped(found, backwards)

    def __array_function__(
        self, function: Value, types: Value, args: Value, kwargs: Value
    ) -> Value:
        """Take contractions in this order, and all else as it is."""
        if function is np.einsum and isinstance(args[0], str):
            operands = _in_reverse(args[0], [np.asarray(operand) for operand in args[1:]])
            return _mapped(np.einsum(args[0], *operands, **kwargs), backwards)
        if function is np.dot and len(args) == _TWO and all(0 < np.ndim(a) <= _TWO for a in args):
            return backwards(args[0]) @ args[1]
        return _mapped(super().__array_function__(function, types, args, kwargs), backwards)

    def dot(self, b: Value, out: Value = None) -> Value:
        """The method is the function."""
        return np.dot(self, b) if out is None else super().dot(b, out)


def backwards(array: Value) -> Value:
    """The same memory as an array whose sums run from the last term to the first."""
    return np.asarray(array).view(Reversed)


def _flipped(array: Value, axes: Value) -> Value:
    return np.ascontiguousarray(np.flip(array, axes))  # a view would be added up as it was


def _in_reverse(subscripts: str, operands: list[Value]) -> list[Value]:
    """The operands of an einsum, turned around along what is summed over, where that is plain."""
    given, arrow, kept = subscripts.replace(" ", "").partition("->")
    if not arrow or "." in given or any(len(set(n)) < len(n) for n in given.split(",")):
        return operands
    return [
        _flipped(operand, tuple(i for i, name in enumerate(names) if name not in kept))
        for names, operand in zip(given.split(","), operands, strict=True)
    ]


def _mapped(value: Value, change: Callable[[Value], Value]) -> Value:
    """The same with every array in it changed, in whatever holds them."""
    if isinstance(value, np.ndarray):
        return change(value)
    if type(value) is dict:
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_mapped(item, change) for item in value))
    if type(value) in {list, tuple}:
        return type(value)(_mapped(item, change) for item in value)
    return value


def _refilled(value: Value, given: Value) -> bool:
    """Whether something else is in a list or a dict by now than was put there."""
    if type(value) in {dict, list} or isinstance(value, tuple):
        pairs = (v.values() if type(v) is dict else v for v in (value, given))
        return len(value) != len(given) or any(map(_refilled, *pairs))
    return not isinstance(value, np.ndarray) and value is not given


def _like(found: Value, form: Value) -> Value:
    """What was found, in the types of what the original gives."""
    if isinstance(form, np.ndarray):
        return found.astype(form.dtype)
    if isinstance(form, dict):
        return {key: _like(found[key], value) for key, value in form.items()}
    if isinstance(form, list | tuple):
        items = [_like(one, other) for one, other in zip(found, form, strict=True)]
        return type(form)(*items) if hasattr(form, "_fields") else type(form)(items)
    if isinstance(form, float | np.floating):
        return type(form)(found)
    known = form is None or isinstance(form, bool | int | str | np.generic)
    return found if known and type(found) is type(form) else form
