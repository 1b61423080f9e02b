"""Amounts in a spec: arithmetic over sizes, such as `8 * y.size + 256 bytes`.

Interpreted over a tree of numbers, names and the four operations; there is no call, no power, no
loop.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

Sizes = Mapping[str, Any]  # scalars and arrays by name
MAX_AMOUNT_LENGTH = 200  # of an amount
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
    """The amount is not written as the format says, or names something unknown."""


def names_in_amount(amount: str | float) -> set[str]:
    """Names that the amount needs.

    Raises:
        AmountError: it cannot be read.
    """
    tree = _tree(amount)
    _worked_out(tree, None)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def evaluate_amount(amount: str | float, known: Sizes) -> float:
    """Work out the amount from scalars and arrays by name.

    Raises:
        AmountError: it cannot be read, or a name is not known.
    """
    try:
        return float(_worked_out(_tree(amount), known))
    except ZeroDivisionError:
        raise AmountError("the amount divides by zero on this case") from None
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError):
        raise AmountError(f"{amount!r} uses a size that a value of this case lacks") from None


def _tree(amount: str | float) -> ast.expr:
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


def _worked_out(node: ast.expr, known: Sizes | None) -> float:
    """The value of a tree; without any sizes it is only looked through, as if each were 1."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(
            number, bool
        ) and math.isfinite(number):
            return number
        case ast.Name(id=name):
            found = _look_up(name, known)
            if isinstance(found, (int, float)):
                return found
            raise AmountError(f"{name} is not a number; use {name}.size or {name}.nbytes")
        case ast.Attribute(value=ast.Name(id=name), attr="size" | "nbytes" | "itemsize" as attr):
            found = _look_up(name, known)
            return float(getattr(found, attr)) if known is not None else found
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
            slice=ast.Constant(value=int(axis)),
        ):
            found = _look_up(name, known)
            shape = found.shape if known is not None else (1.0,) * (axis + 1)
            if axis < len(shape):
                return float(shape[axis])
            raise AmountError(f"{name} has {len(shape)} axes, so no .shape[{axis}]")
        case ast.UnaryOp(op=op, operand=inner) if type(op) in _OPERATIONS:
            return _OPERATIONS[type(op)](_worked_out(inner, known))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            one, other = _worked_out(left, known), _worked_out(right, known)
            return _OPERATIONS[type(op)](one, other) if known is not None else 1.0
    raise AmountError(
        "expected numbers, names, + - * / // and .size .nbytes .itemsize .shape[i], "
        f"found {ast.unparse(node)!r}"
    )


def _look_up(name: str, known: Sizes | None) -> Any:  # noqa: ANN401 a scalar or an array
    if known is None:
        return 1.0
    if name not in known:
        raise AmountError(f"{name} is not an input of the case nor a result of the run")
    return known[name]
