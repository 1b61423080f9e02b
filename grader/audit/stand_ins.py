"""Programs that an audit derives from a reference: restyled references and trivial answers.

The audit executes a reference, then this file in a separate namespace, and calls `install`.  Each
function is replaced by one that calls the original.  The restyled references are right by
construction: `float64` and `longdouble` compute with more digits, and cast the result back.

Any other kind is a trivial answer, such as `zeros`: it has the types, shapes and dtypes of the
original's result, but other content.  Opaque results (a ctx), which only another function reads,
stay unchanged.  If the original raises, it counts as if it had returned 0.0.  The kind `first-call`
is the exception: it repeats the first result, and raises if the original does.
"""

from __future__ import annotations

import copy
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

AnyValue = Any  # an argument or a result
Function = Callable[..., AnyValue]
Arguments = tuple[Sequence[AnyValue], Mapping[str, AnyValue]]
_STYLES = {"float64": np.float64, "longdouble": np.longdouble}


def install(kind: str, functions: Mapping[str, Sequence[int]], program: dict[str, Any]) -> None:
    """Replace functions in the namespace of a program by their stand-ins.

    Args:
        kind: `float64`, `longdouble`, or the name of a trivial answer.
        functions: by name, the indices of the function's opaque results.  Names that are not
            callable are skipped; in a style, classes too.
        program: the namespace.

    Raises:
        TypeError: a style was asked for, but no name is a function.
    """
    originals = {name: program[name] for name in functions if callable(program.get(name))}
    if kind in _STYLES:
        originals = {
            name: original for name, original in originals.items() if not isinstance(original, type)
        }
        if not originals:
            raise TypeError("what is called is no function")
    stand_ins = StandIns(kind)
    for name, original in originals.items():
        program[name] = stand_ins.stand_in(original, functions[name])


class StandIns:
    """Makes stand-ins for functions, in one style or with one kind of trivial answer."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.number = {"ones": 1.0, "nan": float("nan")}.get(kind, 0.0)
        self.inside = False  # True during a call: the originals call each other, not stand-ins

    def stand_in(self, function: Function, opaque_results: Sequence[int] = ()) -> Function:
        """Return the stand-in for a function; `opaque_results` are indices of its results."""
        first_result: list[AnyValue] = []

        def call(*args: AnyValue, **kwargs: AnyValue) -> AnyValue:
            args = tuple(_original(value) for value in args)
            kwargs = {name: _original(value) for name, value in kwargs.items()}
            if self.inside:
                return function(*args, **kwargs)
            if first_result:
                return _copy_arrays(first_result[0])
            self.inside = True
            try:
                if self.kind in _STYLES:
                    return self._call_in_style(function, (args, kwargs))
                result = function(*args, **kwargs)
            except Exception:
                if self.kind in {*_STYLES, "first-call"}:
                    raise
                result = 0.0  # a trivial answer refuses no arguments
            finally:
                self.inside = False
            if self.kind == "first-call":
                first_result.append(result)
                return _copy_arrays(result)
            arrays = [value for value in (*args, *kwargs.values()) if _is_array(value)]
            if not isinstance(result, tuple):
                return result if 0 in opaque_results else self.filled(result, arrays)
            return tuple(
                value if index in opaque_results else self.filled(value, arrays, index)
                for index, value in enumerate(result)
            )

        return call

    def _call_in_style(self, function: Function, arguments: Arguments) -> AnyValue:
        """Call a function with wider floats, and cast the result back.

        Changes that it makes in the wider arrays are written into the caller's arrays.

        Raises:
            TypeError: the function changes a list or dict of its caller.
        """
        args, kwargs = copy.deepcopy(arguments)
        original_result = function(*args, **kwargs)
        wide = np.dtype(_STYLES[self.kind])
        # Arrays of the caller, the wide array for each, and a copy of the wide array.
        conversions: list[tuple[AnyValue, AnyValue, AnyValue]] = []

        def widen(array: AnyValue) -> AnyValue:
            is_narrow = array.dtype.kind == "f" and array.dtype.itemsize < wide.itemsize
            wide_array = array.astype(wide) if is_narrow else array
            conversions.append((array, wide_array, wide_array.copy()))
            return wide_array

        wide_arguments = _map_arrays(widen, arguments)
        leaves = _leaves(wide_arguments)
        args, kwargs = wide_arguments
        result = function(*args, **kwargs)
        for before, after in itertools.zip_longest(leaves, _leaves(wide_arguments)):
            if before is not after:
                raise TypeError("what is changed is the list or dict of a caller")
        for array, wide_array, before in conversions:
            has_nan = wide_array.dtype.kind in "fc"
            if not np.array_equal(wide_array, before, equal_nan=has_nan):
                array[...] = wide_array
        return _map_leaves(_cast, original_result, result)

    def filled(self, value: AnyValue, arrays: Sequence[AnyValue], index: int = 0) -> AnyValue:
        """Return a value of the same form as a result, with another content.

        Args:
            value: the result.
            arrays: the arrays among the arguments; some kinds answer with them.
            index: position of the result; the kind `arguments` answers with `arrays[index]`.
        """
        indices = itertools.count(0 if isinstance(value, list | tuple) else index)
        return _map_leaves(lambda leaf: self._filled_leaf(leaf, arrays, next(indices)), value)

    def _filled_leaf(self, value: AnyValue, arrays: Sequence[AnyValue], index: int) -> AnyValue:
        if self.kind == "none":
            return None
        if _is_array(value):
            position = {"first-argument": 0, "arguments": index}.get(self.kind, len(arrays))
            if position < len(arrays):
                return _copy_arrays(arrays[position])
            return self._constant_array(value)
        if isinstance(value, str):
            return ""
        if isinstance(value, np.floating) or (isinstance(value, int) and self.kind != "nan"):
            return type(value)(self.number)
        if value is None or isinstance(value, int | float | np.generic):
            return self.number
        return _ObjectStandIn(self, value)

    def _constant_array(self, value: AnyValue) -> AnyValue:
        """Return an array or tensor of the same form whose entries are all `number`.

        NaN becomes 0 where the entries are no floats.
        """
        integer = int(self.number == 1)
        if isinstance(value, np.ndarray):
            number = self.number if value.dtype.kind in "fc" else integer
            return np.full(value.shape, number, value.dtype)
        if not value.is_floating_point():
            return value * 0 + integer
        # A product stays in the graph, with gradients of zero.
        return value.nan_to_num() * 0 + self.number


class _ObjectStandIn:
    """Stand-in for an instance of a class of the reference; its methods answer trivially too."""

    # Long names, because an attribute here hides one of the original.
    def __init__(self, stand_ins: StandIns, original: AnyValue) -> None:
        self.drill_stand_ins = stand_ins
        self.drill_original = original

    def __getattr__(self, name: str) -> AnyValue:
        value = getattr(self.drill_original, name)
        return self.drill_stand_ins.stand_in(value) if callable(value) else value

    def __call__(self, *args: AnyValue, **kwargs: AnyValue) -> AnyValue:
        return self.drill_stand_ins.stand_in(self.drill_original)(*args, **kwargs)


def _map_leaves(change: Function, value: AnyValue, *others: AnyValue) -> AnyValue:
    """Return a nested value with each leaf changed.

    `others` have the same form; their leaves are further arguments of `change`.
    """
    if isinstance(value, dict):
        new = copy.copy(value)
        for key, item in value.items():
            new[key] = _map_leaves(change, item, *(other[key] for other in others))
        return new
    if isinstance(value, list | tuple):
        items = [_map_leaves(change, *row) for row in zip(value, *others, strict=True)]
        if hasattr(value, "_fields"):
            return type(value)(*items)
        return items if isinstance(value, list) else tuple(items)
    return change(value, *others)


def _map_arrays(change: Function, value: AnyValue) -> AnyValue:
    return _map_leaves(lambda leaf: change(leaf) if isinstance(leaf, np.ndarray) else leaf, value)


def _leaves(value: AnyValue) -> list[AnyValue]:
    leaves: list[AnyValue] = []
    _map_leaves(leaves.append, value)
    return leaves


def _cast(original: AnyValue, value: AnyValue) -> AnyValue:
    """Return a value with the type of the original: arrays and floats are cast.

    An int, a text or None is returned if it has the type of the original, else the original.
    """
    if isinstance(original, np.ndarray):
        return value.astype(original.dtype)
    if isinstance(original, float | np.floating):
        return type(original)(value)
    is_plain = original is None or isinstance(original, int | str | np.generic)
    return value if is_plain and type(value) is type(original) else original


def _original(value: AnyValue) -> AnyValue:
    """Return the original of a stand-in for an object; any other value is unchanged."""
    return value.drill_original if isinstance(value, _ObjectStandIn) else value


def _copy_arrays(value: AnyValue) -> AnyValue:
    """Copy every array, because shared memory would reveal the trivial answer."""

    def copy_leaf(leaf: AnyValue) -> AnyValue:
        if isinstance(leaf, np.ndarray):
            return leaf.copy()
        return leaf.clone() if _is_array(leaf) else leaf

    return _map_leaves(copy_leaf, value)


def _is_array(value: object) -> bool:
    torch = sys.modules.get("torch")
    return isinstance(value, np.ndarray if torch is None else (np.ndarray, torch.Tensor))
