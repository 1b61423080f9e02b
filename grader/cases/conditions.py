"""What a draw of a case has to have, such as `ties(x) > 0`: the property that the case is about.

A comparison of amounts: arithmetic over sizes and numbers, as `size_expr` has it, in which these
functions of an input may stand, or of a part of one (`x[0]`, `x[1, 2]`).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from grader.cases import size_expr
from grader.cases.size_expr import AmountError, Sizes

FUNCTIONS = {
    "max": "The largest entry.",
    "min": "The smallest entry.",
    "spread": "The largest less the smallest entry.",
    "largest": "The largest magnitude.",
    "ties": "How many entries equal one before them.",
    "top_ties": "How many rows, along the last axis, have their largest entry more than once.",
    "zeros": "How many entries are 0.",
    "rows": "How many different rows there are, along the first axis.",
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
_EXPECTED = "expected a comparison such as 'ties(x) > 0'"


def names(condition: str) -> set[str]:
    """The inputs that a condition is about.

    Raises:
        AmountError: it is not written as the format says.
    """
    tree = _tree(condition)
    _parts(tree)
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = (n for n in ast.walk(tree) if isinstance(n, ast.Name) and n not in called)
    return {node.id for node in found}


def holds(condition: str, drawn: Mapping[str, Any]) -> bool:
    """Whether drawn inputs meet a condition.

    Raises:
        AmountError: it cannot be read, or asks for something that an input has not.
    """
    tree = _tree(condition)
    values = [size_expr.worked_out(part, condition, drawn) for part in _parts(tree)]
    pairs = zip(tree.ops, values, values[1:], strict=False)
    return all(_COMPARISONS[type(op)](one, other) for op, one, other in pairs)


def _tree(condition: str) -> ast.Compare:
    tree = size_expr.tree(condition, f"{_EXPECTED}, found {condition!r}")
    if (
        not isinstance(tree, ast.Compare)
        or not {type(op) for op in tree.ops} <= _COMPARISONS.keys()
    ):
        raise AmountError(f"{_EXPECTED}, found {condition!r}")
    return tree


def _parts(tree: ast.Compare) -> list[size_expr.Compiled]:
    return [size_expr.compiled(part, _call) for part in (tree.left, *tree.comparators)]


def _call(node: ast.expr) -> size_expr.Compiled | None:
    """A function of an input, or of a part of it; None where it is something else."""
    match node:
        case ast.Call(func=ast.Name(id=function), args=[argument], keywords=[]):
            if function in FUNCTIONS:
                picked = _picked(argument)
                return lambda drawn: _measured(function, picked(drawn))
    if isinstance(node, ast.Call):
        known = ", ".join(FUNCTIONS)
        raise AmountError(f"expected {known} of an input, found {ast.unparse(node)!r}")
    return None


def _picked(node: ast.expr) -> Callable[[Sizes], Any]:
    match node:
        case ast.Name(id=name):
            return lambda drawn: np.asarray(size_expr.look_up(name, drawn))
        case ast.Subscript(value=ast.Name(id=name), slice=inside):
            places = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            numbers = tuple(_place(place) for place in places)
            return lambda drawn: np.asarray(size_expr.look_up(name, drawn))[numbers]
    raise AmountError(f"expected an input, or a part such as x[0], found {ast.unparse(node)!r}")


def _place(node: ast.expr) -> int:
    try:
        found = ast.literal_eval(node)
    except ValueError:
        found = None
    if type(found) is not int:
        raise AmountError(f"expected a whole number between [ and ], found {ast.unparse(node)!r}")
    return found


def _measured(function: str, given: Any) -> float:  # noqa: ANN401 an array, or a number of one
    values = np.asarray(given, np.float64)
    match function:
        case "ties":
            return float(values.size - np.unique(values).size)
        case "zeros":
            return float((values == 0).sum())
        case "rows":
            return float(len(np.unique(values, axis=0))) if values.ndim else 1.0
    if not values.size:
        raise AmountError(f"{function} needs an entry, and there is none")
    match function:
        case "max":
            return float(values.max())
        case "min":
            return float(values.min())
        case "largest":
            return float(np.abs(values).max())
        case "spread":
            return float(values.max() - values.min())
    rows = values.reshape(-1, values.shape[-1]) if values.ndim else values.reshape(1, 1)
    top = (rows == rows.max(axis=1, keepdims=True)).sum(axis=1)
    return float((top > 1).sum())
