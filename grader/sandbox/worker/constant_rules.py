"""What may become of a number: of its size, of what stands for none, and of where an eps is added.

An infinity that is only large, a NaN that is 0, an eps of another size or on the other side of a
root, a sum in another precision: each passes wherever the numbers of a case are harmless.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

Change = tuple[str, ast.expr]  # by which rule, and what it becomes
SMALL = 1e-3  # a positive number below is there to keep another from 0
LARGE = 1e4  # what people write for infinity
_SENTINELS = {"inf": LARGE, "nan": 0.0}
_PRECISIONS = {"float64": "float32", "double": "float32", "float32": "float64"}
_ROOTS = {"sqrt", "rsqrt"}


def signed(node: ast.expr) -> int | float | None:
    """The number that an expression is, with its sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = signed(node.operand) if isinstance(node.operand, ast.Constant) else None
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        value: int | float = node.value  # type: ignore[assignment]
        return value
    return None


def numbers(value: float, role: str) -> Iterator[Change]:
    """What a number may become; `role` says whether it is an axis."""
    axis = role == "axis"
    for new in dict.fromkeys([value + 1, value - 1, *([] if axis else [2 * value, -value])]):
        if new != value:
            yield "off by one" if axis else "another number", _written(new)
    if 0 < value <= SMALL and isinstance(value, float):
        for new in (float(f"{value / 10:.12g}"), 0.0):
            yield "another eps", _written(new)


def _written(value: float) -> ast.expr:
    number = ast.Constant(abs(value))
    return number if value >= 0 else ast.UnaryOp(ast.USub(), number)


def sentinels(node: ast.expr, modules: set[str]) -> Iterator[Change]:
    """A number instead of an infinity or a NaN, and another precision of a module's."""
    match node:
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in modules:
            if name in _SENTINELS:
                yield "a number for none", ast.Constant(_SENTINELS[name])
            if name in _PRECISIONS:
                other = ast.Attribute(node.value, _PRECISIONS[name], node.ctx)
                yield "another precision", other
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))]):
            name = text.strip().lower().lstrip("+-")
            if name in _SENTINELS:
                sign = -1 if text.strip().startswith("-") else 1
                yield "a number for none", _written(sign * _SENTINELS[name])


def moved(node: ast.expr) -> Iterator[Change]:
    """An eps on the other side of a root, or added where it was a floor."""
    match node:
        case ast.Call(func=func, args=[ast.BinOp(left=inner, op=ast.Add(), right=eps)]):
            if _name(func) in _ROOTS and _is_eps(eps):
                root = ast.Call(func, [inner], node.keywords)
                yield "eps outside of the root", ast.BinOp(root, ast.Add(), eps)
        case ast.Call(func=func, args=[inner, eps]) if _name(func) == "maximum" and _is_eps(eps):
            yield "eps added, no floor", ast.BinOp(inner, ast.Add(), eps)
        case ast.BinOp(left=ast.Call(func=func, args=[inner]) as root, op=ast.Add(), right=eps):
            if _name(func) in _ROOTS and _is_eps(eps):
                within = ast.BinOp(inner, ast.Add(), eps)
                yield "eps inside of the root", ast.Call(func, [within], root.keywords)


def _name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def _is_eps(node: ast.expr) -> bool:
    """Whether a summand is there to keep something from 0, by its size or its name."""
    number = signed(node)
    if number is not None:
        return 0 < number <= SMALL
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return "eps" in name.lower()
