"""Answers that take no thought, in the right form: a layer over a reference, for audits.

The audit executes a reference, then this file in a namespace of its own, and calls `install`.  Each
function is replaced by one that calls the original, keeps nothing of what it gives but types,
shapes and dtypes, and fills these with something else.  So every question has these answers,
whatever its functions take and return.

Where a function hands something on to another (a ctx), that is left as it is; where the original
raises, there is no form to keep, and the answer is a bare number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Value = Any  # whatever a program takes or gives


def install(answer: str, functions: Mapping[str, list[int]], program: dict[str, Any]) -> None:
    """Replace functions in a program's namespace, each with indices of what it hands on."""
    answers = TrivialAnswers(answer)
    for name, handed_on in functions.items():
        if callable(program.get(name)):
            program[name] = answers.stand_in(program[name], handed_on)


class TrivialAnswers:
    """Makes the functions of one kind of answer."""

    def __init__(self, answer: str) -> None:
        """Keep the kind: zeros, ones, nan, none, first-argument, arguments or first-call."""
        self.answer = answer
        self.number = {"ones": 1.0, "nan": float("nan")}.get(answer, 0.0)
        self.inside = False  # a reference function that calls another gets the true one

    def stand_in(self, function: Callable[..., Any], handed_on: list[int]) -> Callable[..., Any]:
        """Give the function to call instead of one; `handed_on` are indices of its results."""
        first: list[Value] = []

        def answer(*args: Value, **kwargs: Value) -> Value:
            given = [_original(a) for a in args]
            named = {key: _original(a) for key, a in kwargs.items()}
            if self.inside:
                return function(*given, **named)
            if first:
                return _copied(first[0])
            self.inside = True
            try:
                found = function(*given, **named)
            except Exception:
                if self.answer == "first-call":
                    raise
                found = 0.0  # a trivial answer does not know what to refuse
            finally:
                self.inside = False
            if self.answer == "first-call":
                first.append(found)
                return _copied(found)
            arrays = [a for a in (*given, *named.values()) if _is_array(a)]
            if not isinstance(found, tuple):
                return found if 0 in handed_on else self.filled(found, arrays, 0)
            return tuple(
                value if i in handed_on else self.filled(value, arrays, i)
                for i, value in enumerate(found)
            )

        return answer

    def filled(self, value: Value, arrays: list[Value], index: int) -> Value:
        """Something of the form of a result, with nothing of its content."""
        if isinstance(value, dict):
            return {key: self.filled(item, arrays, index) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            items = [self.filled(item, arrays, i) for i, item in enumerate(value)]
            return items if isinstance(value, list) else tuple(items)
        if self.answer == "none":
            return None
        if _is_array(value):
            at = {"first-argument": 0, "arguments": index}.get(self.answer, len(arrays))
            return _copied(arrays[at]) if at < len(arrays) else self._full(value)
        if isinstance(value, str):
            return ""
        if isinstance(value, (bool, int)) and self.answer != "nan":
            return type(value)(self.number)
        if value is None or isinstance(value, (bool, int, float, np.generic)):
            return type(value)(self.number) if isinstance(value, np.floating) else self.number
        return _Object(self, value)

    def _full(self, value: Value) -> Value:
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

    def __init__(self, answers: TrivialAnswers, original: Value) -> None:
        self.drill_answers = answers
        self.drill_original = original

    def __getattr__(self, name: str) -> Value:
        found = getattr(self.drill_original, name)
        return self.drill_answers.stand_in(found, []) if callable(found) else found

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        return self.drill_answers.stand_in(self.drill_original, [])(*args, **kwargs)


def _original(value: Value) -> Value:
    """What an object stands in for, for the originals to work with."""
    return value.drill_original if isinstance(value, _Object) else value


def _copied(value: Value) -> Value:
    """A copy of every array, so that whose memory it is does not give the answer away."""
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if type(value) in {list, tuple}:
        return type(value)(_copied(item) for item in value)
    if _is_array(value):
        return value.copy() if isinstance(value, np.ndarray) else value.clone()
    return value


def _is_array(value: object) -> bool:
    torch = sys.modules.get("torch")
    return isinstance(value, np.ndarray if torch is None else (np.ndarray, torch.Tensor))
