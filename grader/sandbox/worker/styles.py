"""Right programs in another style: a layer over a reference, for audits.

The audit executes a reference, then `sum_order` and this file in a namespace of their own, which
has a table as `OTHER_STYLE` and the reference's namespace as `PROGRAM`.  Each function of the table
is replaced by one that calls the original, so that the result is right by construction; only the
precision, the order of the sums or the layout differs:

    float64, longdouble   computed wider, and cast back to what the original gives
    reversed, loops       sums, products of matrices and einsums from the last term to the first,
                          and term by term
    fortran               arrays in Fortran order, taken and given
    contiguous            tensors copied into C order, taken and given

What has no such style, a class or an object of one, stays as it is.
"""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING or "ordered" not in globals():
    from .sum_order import ordered

Value = Any  # whatever a program takes or gives
Change = Callable[[Value], Value]
_PAIR = 2
_WIDE = {"float64": np.float64, "longdouble": np.longdouble}


class OtherStyle:
    """Makes the functions of one style."""

    def __init__(self, style: str) -> None:
        """Keep which it is."""
        self.style = style
        self.inside = False  # a reference function that calls another gets the original

    def stand_in(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Give the function to call instead of one."""

        @functools.wraps(function)
        def call(*args: Value, **kwargs: Value) -> Value:
            if self.inside or any(map(_has_gradient, (*args, *kwargs.values()))):
                return function(*args, **kwargs)
            self.inside = True
            try:
                return self.called(function, args, kwargs)
            finally:
                self.inside = False

        return call

    def called(self, function: Callable[..., Any], args: Value, kwargs: Value) -> Value:
        """What a function gives in this style; arrays that it changes are changed all the same."""
        taken: list[tuple[Value, Value, Value]] = []  # an array, its stand-in, a copy of that
        form = None
        if self.style in _WIDE:
            with _untracked():
                form = function(
                    *_mapped(args, _apart, copy.deepcopy), **_mapped(kwargs, _apart, copy.deepcopy)
                )

        def given(array: Value) -> Value:
            made = self.taken(array)
            if made is not array:
                taken.append((array, made, _apart(made)))
            return made

        values = [_mapped(value, given) for value in (*args, *kwargs.values())]
        with _reversing(self.style):
            found = function(
                *values[: len(args)], **dict(zip(kwargs, values[len(args) :], strict=True))
            )
        if any(map(_refilled, (*args, *kwargs.values()), values)):
            raise TypeError("what is changed is the list or dict of a caller")
        with _untracked():
            for array, made, before in taken:
                if not _equal(made, before):
                    array[...] = made
        return _mapped(found, self.given) if form is None else _like(found, form)

    def taken(self, array: Value) -> Value:
        """An argument, in this style."""
        if not isinstance(array, np.ndarray):
            if self.style == "float64" and array.is_floating_point():
                return array.double()
            return array.contiguous().clone() if self.style == "contiguous" else array
        if self.style in _WIDE:
            wide = _WIDE[self.style]
            narrow = array.dtype.kind == "f" and array.dtype.itemsize < np.dtype(wide).itemsize
            return array.astype(wide) if narrow else array
        if self.style in {"reversed", "loops"}:
            return ordered(array, self.style)
        return array.copy(order="F")

    def given(self, array: Value) -> Value:
        """A result, in this style."""
        if isinstance(array, np.ndarray):
            plain = np.asarray(array)
            return np.asfortranarray(plain) if self.style == "fortran" and plain.ndim else plain
        return array.contiguous() if self.style == "contiguous" else array


def _as_it_is(value: Value) -> Value:
    return value


def _mapped(value: Value, change: Change, other: Change = _as_it_is) -> Value:
    """The same with every array in it changed, in whatever holds them, and all else by `other`."""
    if _is_array(value):
        return change(value)
    if type(value) is dict:
        return {key: _mapped(item, change, other) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_mapped(item, change, other) for item in value))
    if type(value) in {list, tuple}:
        return type(value)(_mapped(item, change, other) for item in value)
    if type(value) is SimpleNamespace:
        return SimpleNamespace(**_mapped(vars(value), change, other))
    return other(value)


def _refilled(value: Value, given: Value) -> bool:
    """Whether something else is in a list or a dict by now than was put there."""
    if type(value) in {dict, list} or isinstance(value, tuple):
        pairs = (v.values() if type(v) is dict else v for v in (value, given))
        return len(value) != len(given) or any(map(_refilled, *pairs))
    return not _is_array(value) and type(value) is not SimpleNamespace and value is not given


def _like(found: Value, form: Value) -> Value:
    """What was found, in the types of what the original gives."""
    if _is_array(form) and _is_array(found):
        if isinstance(form, np.ndarray):
            return found.astype(form.dtype)
        return found.to(form.dtype)
    if isinstance(form, dict) and isinstance(found, dict) and found.keys() == form.keys():
        return {key: _like(found[key], form[key]) for key in form}
    if isinstance(form, list | tuple) and type(found) is type(form) and len(found) == len(form):
        items = [_like(one, other) for one, other in zip(found, form, strict=True)]
        return type(form)(*items) if hasattr(form, "_fields") else type(form)(items)
    if isinstance(form, float | np.floating) and isinstance(found, float | np.floating):
        return type(form)(found)
    plain = form is None or isinstance(form, bool | int | str | np.generic)
    return found if plain and type(found) is type(form) else form


def _apart(array: Value) -> Value:
    """A copy of which nothing leads back."""
    return array.copy() if isinstance(array, np.ndarray) else array.detach().clone()


def _equal(one: Value, other: Value) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    return bool(((one == other) | one.isnan() & other.isnan()).all())


def _has_gradient(value: Value) -> bool:
    """Whether a tensor brings a gradient along, which no copy of it has."""
    if isinstance(value, list | tuple):
        return any(map(_has_gradient, value))
    is_leaf = _is_array(value) and getattr(value, "is_leaf", False)
    return is_leaf and value.grad is not None


def _is_array(value: object) -> bool:
    torch = sys.modules.get("torch")
    return isinstance(value, np.ndarray if torch is None else (np.ndarray, torch.Tensor))


def _untracked() -> Value:
    """A context in which torch keeps no graph."""
    torch = sys.modules.get("torch")
    return nullcontext() if torch is None else torch.no_grad()


def _reversing(style: str) -> Value:
    """A context in which torch takes sums in reverse order, where that is the style."""
    torch = sys.modules.get("torch")
    if torch is None or style != "reversed":
        return nullcontext()

    class Reversing(torch.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined, unused-ignore]
        def __torch_function__(
            self, function: Value, _: Value, args: Value = (), kwargs: Value = None
        ) -> Value:
            return function(*_backwards(function, args, kwargs or {}), **(kwargs or {}))

    return Reversing()


def _backwards(function: Value, args: Value, kwargs: dict[str, Value]) -> Value:
    """The arguments of a function of torch, turned around along what is summed over."""
    name = getattr(function, "__name__", "")
    if name in {"matmul", "__matmul__", "mm", "bmm"} and len(args) == _PAIR:
        return args[0].flip(-1), args[1].flip(-min(args[1].dim(), 2))
    if name == "linear" and len(args) >= _PAIR:
        return args[0].flip(-1), args[1].flip(-1), *args[2:]
    if name in {"sum", "mean"} and len(args) == 1 and not kwargs.keys() - {"dim", "keepdim"}:
        axes = kwargs.get("dim", tuple(range(args[0].dim())))
        return (args[0].flip(axes),)
    return args


def install(table: dict[str, Any], program: dict[str, Any]) -> None:
    """Replace the functions that a table names in a program's namespace."""
    style = OtherStyle(table["style"])
    found = {name: program.get(name) for name in table["functions"]}
    plain = {n: f for n, f in found.items() if callable(f) and not isinstance(f, type)}
    if not plain:
        raise TypeError("what is called is no function")
    program.update({name: style.stand_in(function) for name, function in plain.items()})


if "OTHER_STYLE" in globals():  # else it is imported as a module of the worker's
    install(globals()["OTHER_STYLE"], globals()["PROGRAM"])
