"""Amounts in a spec: arithmetic over sizes, such as `8 * y.size + 256 bytes`.

Interpreted over a tree of numbers, names and the four operations; there is no call, no power, no
loop.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}


class AmountError(Exception):
    """The amount is not written as the format says, or names something unknown."""


def names(amount: str | float) -> set[str]:
    """Names that the amount needs.

    Raises:
        AmountError: it cannot be read.
    """
    return {node.id for node in ast.walk(_tree(amount)) if isinstance(node, ast.Name)}


def value(amount: str | float, known: Mapping[str, Any]) -> float:
    """Work out the amount.

    Args:
        amount: a number, or text.
        known: scalars and arrays by name; of arrays only `.size`, `.nbytes`, `.itemsize` and
            `.shape[i]`.

    Raises:
        AmountError: it cannot be read, or a name is not known.
    """
    try:
        return float(_value(_tree(amount), known))
    except ZeroDivisionError:
        raise AmountError("the amount divides by zero on this case") from None
    except (AttributeError, LookupError, TypeError, OverflowError):
        raise AmountError(
            f"{amount!r} asks for a size that something on this case has not"
        ) from None


def _tree(amount: str | float) -> ast.expr:
    text = str(amount).strip().removesuffix("bytes").strip()
    if len(text) > 200:
        raise AmountError("expected an amount of at most 200 characters")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise AmountError(
            f"expected arithmetic such as '8 * y.size + 256 bytes', found {amount!r}"
        ) from None
    _check(tree)
    return tree


def _check(node: ast.expr) -> None:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(
            number, bool
        ) and math.isfinite(number):
            pass
        case ast.Name() | ast.Attribute(value=ast.Name(), attr="size" | "nbytes" | "itemsize"):
            pass
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(), attr="shape"), slice=ast.Constant(value=int())
        ):
            pass
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=inner):
            _check(inner)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            _check(left)
            _check(right)
        case _:
            raise AmountError(
                "expected numbers, names, + - * / // and .size .nbytes .itemsize .shape[i], "
                f"found {ast.unparse(node)!r}"
            )


def _value(node: ast.expr, known: Mapping[str, Any]) -> Any:  # noqa: ANN401 of arrays, any number
    """What a checked tree comes to."""
    match node:
        case ast.Constant(value=number):
            return number
        case ast.Name(id=name):
            found = _look_up(name, known)
            if isinstance(found, (int, float)):
                return found
            raise AmountError(f"{name} is not a number; use {name}.size or {name}.nbytes")
        case ast.UnaryOp(op=op, operand=inner):
            return -_value(inner, known) if isinstance(op, ast.USub) else _value(inner, known)
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATIONS[type(op)](_value(left, known), _value(right, known))
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            return float(getattr(_look_up(name, known), attr))
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=name)), slice=ast.Constant(value=int(axis))
        ):
            shape = _look_up(name, known).shape
            if axis < len(shape):
                return float(shape[axis])
            raise AmountError(f"{name} has {len(shape)} axes, so no .shape[{axis}]")


def _look_up(name: str, known: Mapping[str, Any]) -> Any:  # noqa: ANN401 a scalar or an array
    if name not in known:
        raise AmountError(f"{name} is not an input of the case nor a result of the run")
    return known[name]
