"""Programs over a reference, for audits: right in another style, or answering without a thought.

The audit executes a reference, then this file in a namespace of its own, and calls `install`.  Each
function is replaced by one that calls the original.  In a style the result is right by
construction: `float64` and `longdouble` compute wider, and cast back to what the original gives.

Any other kind is a trivial answer: of what the original gives, types, shapes and dtypes are kept
and filled with something else, so that every question has these answers.  What a function hands on
to another (a ctx) is left as it is; where the original raises, the answer is a bare number.
"""

from __future__ import annotations

import copy
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

AnyValue = Any  # whatever a program takes or gives
_STYLES = {"float64": np.float64, "longdouble": np.longdouble}


def install(kind: str, functions: Mapping[str, Sequence[int]], program: dict[str, Any]) -> None:
    """Replace functions in a program's namespace, each with indices of what it hands on.

    Raises:
        TypeError: none of them is a function, and no class or object has a style.
    """
    found = {name: program[name] for name in functions if callable(program.get(name))}
    if kind in _STYLES:
        found = {
            name: function for name, function in found.items() if not isinstance(function, type)
        }
        if not found:
            raise TypeError("what is called is no function")
    made = StandIns(kind)
    program.update({name: made.stand_in(f, functions[name]) for name, f in found.items()})


class StandIns:
    """Makes the functions of one style, or of one kind of answer."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.number = {"ones": 1.0, "nan": float("nan")}.get(kind, 0.0)
        self.inside = False  # a reference function that calls another gets the original

    def stand_in(self, function: Callable[..., Any], handed_on: Sequence[int] = ()) -> AnyValue:
        """Give the function to call instead of one; `opaque_results` are indices of its results."""
        first: list[AnyValue] = []

        def call(*args: AnyValue, **kwargs: AnyValue) -> AnyValue:
            given = [_original(a) for a in args], {k: _original(a) for k, a in kwargs.items()}
            if self.inside:
                return function(*given[0], **given[1])
            if first:
                return _copied(first[0])
            self.inside = True
            try:
                if self.kind in _STYLES:
                    return self._styled(function, given)
                found = function(*given[0], **given[1])
            except Exception:
                if self.kind in {*_STYLES, "first-call"}:
                    raise
                found = 0.0  # a trivial answer does not know what to refuse
            finally:
                self.inside = False
            if self.kind == "first-call":
                first.append(found)
                return _copied(found)
            arrays = [a for a in (*given[0], *given[1].values()) if _is_array(a)]
            if not isinstance(found, tuple):
                return found if 0 in handed_on else self.filled(found, arrays)
            return tuple(
                value if i in handed_on else self.filled(value, arrays, i)
                for i, value in enumerate(found)
            )

        return call

    def _styled(self, function: Callable[..., Any], given: AnyValue) -> AnyValue:
        """What a function gives in a style; arrays that it changes are changed all the same."""
        args, kwargs = copy.deepcopy(given)
        form = function(*args, **kwargs)  # which has the types of the result
        wide = np.dtype(_STYLES[self.kind])
        taken: list[
            tuple[AnyValue, AnyValue, AnyValue]
        ] = []  # an array, its stand-in, a copy of that

        def take(array: AnyValue) -> AnyValue:
            narrow = array.dtype.kind == "f" and array.dtype.itemsize < wide.itemsize
            made = array.astype(wide) if narrow else array
            taken.append((array, made, made.copy()))
            return made

        args, kwargs = own = _arrays(take, given)
        before = _leaves(own)
        found = function(*args, **kwargs)
        if any(one is not other for one, other in itertools.zip_longest(before, _leaves(own))):
            raise TypeError("what is changed is the list or dict of a caller")
        for array, made, original in taken:
            if not np.array_equal(made, original, equal_nan=made.dtype.kind in "fc"):
                array[...] = made
        return _mapped(_cast, form, found)

    def filled(self, value: AnyValue, arrays: Sequence[AnyValue], index: int = 0) -> AnyValue:
        """Something of the form of a result, with nothing of its content.

        Args:
            value: the result.
            arrays: among the arguments, to be given for arrays.
            index: of the first of them.
        """
        places = itertools.count(0 if isinstance(value, list | tuple) else index)
        return _mapped(lambda leaf: self._filled(leaf, arrays, next(places)), value)

    def _filled(self, value: AnyValue, arrays: Sequence[AnyValue], index: int) -> AnyValue:
        if self.kind == "none":
            return None
        if _is_array(value):
            at = {"first-argument": 0, "arguments": index}.get(self.kind, len(arrays))
            return _copied(arrays[at]) if at < len(arrays) else self._full(value)
        if isinstance(value, str):
            return ""
        if isinstance(value, np.floating) or (isinstance(value, int) and self.kind != "nan"):
            return type(value)(self.number)
        if value is None or isinstance(value, int | float | np.generic):
            return self.number
        return _Object(self, value)

    def _full(self, value: AnyValue) -> AnyValue:
        """An array or tensor of that form that holds one number throughout."""
        whole = int(self.number == 1)
        if isinstance(value, np.ndarray):
            number = self.number if value.dtype.kind in "fc" else whole
            return np.full(value.shape, number, value.dtype)
        if not value.is_floating_point():
            return value * 0 + whole
        # A product, so that it stays in the graph and its gradients are zeros.
        return value.nan_to_num() * 0 + self.number


class _Object:
    """An instance of a class of the reference, whose methods answer trivially too."""

    def __init__(self, answers: StandIns, original: AnyValue) -> None:
        self.drill_answers = answers
        self.drill_original = original

    def __getattr__(self, name: str) -> AnyValue:
        found = getattr(self.drill_original, name)
        return self.drill_answers.stand_in(found) if callable(found) else found

    def __call__(self, *args: AnyValue, **kwargs: AnyValue) -> AnyValue:
        return self.drill_answers.stand_in(self.drill_original)(*args, **kwargs)


def _mapped(change: Callable[..., AnyValue], value: AnyValue, *others: AnyValue) -> AnyValue:
    """The same with every leaf of it changed; `others` are of that form, and their leaves go in."""
    if isinstance(value, dict):
        new = copy.copy(value)
        for key, item in value.items():
            new[key] = _mapped(change, item, *(other[key] for other in others))
        return new
    if isinstance(value, list | tuple):
        items = [_mapped(change, *row) for row in zip(value, *others, strict=True)]
        if hasattr(value, "_fields"):
            return type(value)(*items)
        return items if isinstance(value, list) else tuple(items)
    return change(value, *others)


def _arrays(change: Callable[[AnyValue], AnyValue], value: AnyValue) -> AnyValue:
    return _mapped(lambda leaf: change(leaf) if isinstance(leaf, np.ndarray) else leaf, value)


def _leaves(value: AnyValue) -> list[AnyValue]:
    found: list[AnyValue] = []
    _mapped(found.append, value)
    return found


def _cast(form: AnyValue, found: AnyValue) -> AnyValue:
    """What was found, in the type of what the original gives."""
    if isinstance(form, np.ndarray):
        return found.astype(form.dtype)
    if isinstance(form, float | np.floating):
        return type(form)(found)
    known = form is None or isinstance(form, int | str | np.generic)
    return found if known and type(found) is type(form) else form


def _original(value: AnyValue) -> AnyValue:
    """What an object stands in for, for the originals to work with."""
    return value.drill_original if isinstance(value, _Object) else value


def _copied(value: AnyValue) -> AnyValue:
    """A copy of every array, so that whose memory it is does not give the answer away."""

    def copied(leaf: AnyValue) -> AnyValue:
        if isinstance(leaf, np.ndarray):
            return leaf.copy()
        return leaf.clone() if _is_array(leaf) else leaf

    return _mapped(copied, value)


def _is_array(value: object) -> bool:
    torch = sys.modules.get("torch")
    return isinstance(value, np.ndarray if torch is None else (np.ndarray, torch.Tensor))
