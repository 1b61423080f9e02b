"""Amounts in a spec: arithmetic over sizes, such as `8 * y.size + 256 bytes`.

An amount is parsed into a tree of numbers, names and the four operations, and the tree is
interpreted.  Calls, powers and loops are refused.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

Sizes = Mapping[str, Any]  # scalars and arrays by name
MAX_AMOUNT_LENGTH = 200  # characters
_OPERATIONS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


class AmountError(Exception):
    """The amount is not written as the format says, or has no value on a case."""


def names_in_amount(amount: str | float) -> set[str]:
    """Return the inputs and results that the amount names: {"y"} for `8 * y.size + 256 bytes`.

    Raises:
        AmountError: the amount is not written as the format says.
    """
    tree = _parse(amount)
    _evaluate(tree, None)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def evaluate_amount(amount: str | float, sizes: Sizes) -> float:
    """Evaluate the amount with these scalars and arrays.

    Raises:
        AmountError: the amount cannot be parsed, has an unknown name, or asks for a size that a
            value lacks, or divides by zero.
    """
    try:
        return float(_evaluate(_parse(amount), sizes))
    except ZeroDivisionError:
        raise AmountError("the amount divides by zero on this case") from None
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError):
        raise AmountError(f"{amount!r} uses a size that a value of this case lacks") from None


def _parse(amount: str | float) -> ast.expr:
    text = re.sub(r"(?<![A-Za-z_.])bytes\s*$", "", str(amount)).strip()
    if len(text) > MAX_AMOUNT_LENGTH:
        raise AmountError(f"expected an amount of at most {MAX_AMOUNT_LENGTH} characters")
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        unit = re.search(r"\b[KMGT]i?B\b", text)
        hint = f"; {unit[0]} is no unit here: write 60 * 1024 for 60 KiB" if unit else ""
        raise AmountError(
            f"expected arithmetic such as '8 * y.size + 256 bytes', found {amount!r}{hint}"
        ) from None


def _evaluate(node: ast.expr, sizes: Sizes | None) -> float:
    """Evaluate a tree.  If `sizes` is None, only check its form, as if each size were 1."""
    match node:
        case ast.Constant(value=int() | float() as number):
            if not isinstance(number, bool) and math.isfinite(number):
                return number
        case ast.Name(id=name):
            value = _look_up(name, sizes)
            if isinstance(value, (int, float)):
                return value
            raise AmountError(f"{name} is not a number; use {name}.size or {name}.nbytes")
        case ast.Attribute(
            value=ast.Name(id=name), attr="size" | "nbytes" | "itemsize" as attribute
        ):
            value = _look_up(name, sizes)
            return 1.0 if sizes is None else float(getattr(value, attribute))
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
            slice=ast.Constant(value=int(axis)),
        ):
            value = _look_up(name, sizes)
            shape = (1.0,) * (axis + 1) if sizes is None else value.shape
            if axis < len(shape):
                return float(shape[axis])
            raise AmountError(f"{name} has {len(shape)} axes, so no .shape[{axis}]")
        case ast.UnaryOp(op=operation, operand=operand) if type(operation) in _OPERATIONS:
            return _OPERATIONS[type(operation)](_evaluate(operand, sizes))
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _OPERATIONS:
            left_value = _evaluate(left, sizes)
            right_value = _evaluate(right, sizes)
            if sizes is None:
                return 1.0  # 1 // 1 - 1 must not look like a division by zero
            return _OPERATIONS[type(operation)](left_value, right_value)
    raise AmountError(
        "expected numbers, names, + - * / // and .size .nbytes .itemsize .shape[i], "
        f"found {ast.unparse(node)!r}"
    )


def _look_up(name: str, sizes: Sizes | None) -> Any:  # noqa: ANN401 a scalar or an array
    if sizes is None:
        return 1.0
    if name not in sizes:
        raise AmountError(f"{name} is not an input of the case nor a result of the run")
    return sizes[name]
