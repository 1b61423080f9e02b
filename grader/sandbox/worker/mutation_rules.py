"""What may change in an expression: the mistakes that are one token or one term away.

Source of the families: R. A. DeMillo, R. J. Lipton and F. G. Sayward, "Hints on test data
selection", Computer 11(4), 1978 (a test that tells a program from its near neighbours tells it
from most wrong ones); what is particular to arrays (axes, casts, reductions) comes from the wrong
ideas in the questions.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Change = tuple[str, ast.expr]
Operators = dict[type[ast.operator], tuple[type[ast.operator], ...]]

ARITHMETIC: Operators = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Div, ast.Mod),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}
ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)  # a op b is not b op a
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_PAIRS = (
    "min max", "amin amax", "minimum maximum", "fmin fmax", "argmin argmax", "nanmin nanmax",
    "sum mean", "prod sum", "var std", "cumsum cumprod", "zeros ones", "zeros_like ones_like",
    "floor ceil", "any all", "exp expm1", "log log1p", "sin cos", "sigmoid tanh", "relu silu",
    "hstack vstack", "tril triu", "append extend",
)  # fmt: skip
# `zeros` does not become `empty`: what that computes is chance, and mostly zeros.
NAMES: dict[str, str] = {"empty": "zeros", "empty_like": "zeros_like"}
for _pair in _PAIRS:
    _one, _other = _pair.split()
    NAMES.setdefault(_one, _other)
    NAMES.setdefault(_other, _one)


@dataclass(slots=True)
class Slot:
    """A place in a statement that holds an expression."""

    get: Callable[[], ast.expr]
    set: Callable[[ast.expr], None]
    role: str = ""  # test, axis, dtype, subscripts, or operator (the function of a call)


def in_statement(node: ast.stmt) -> Iterator[Slot]:
    """Every expression of a statement's own, outermost first."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for defaults in (node.args.defaults, node.args.kw_defaults):
            for index, default in enumerate(defaults):
                if default is not None:
                    yield from _under(_item(defaults, index))
        return
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "body", "orelse", "finalbody", "handlers", "type_params"}:
            continue
        if isinstance(value, ast.expr):
            test = name == "test" and not isinstance(node, ast.Assert)
            yield from _under(_field(node, name, "test" if test else ""))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, ast.expr):
                    yield from _under(_item(value, index))
                elif isinstance(item, ast.withitem):
                    yield from _under(_field(item, "context_expr"))


def _field(node: ast.AST, name: str, role: str = "") -> Slot:
    return Slot(lambda: getattr(node, name), lambda new: setattr(node, name, new), role)


def _item(items: list[Any], index: int, role: str = "") -> Slot:
    return Slot(lambda: items[index], lambda new: items.__setitem__(index, new), role)


def _under(slot: Slot) -> Iterator[Slot]:
    yield slot
    node = slot.get()
    if isinstance(node, ast.JoinedStr) or _signed(node) is not None:
        return
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.expr):
            role = "operator" if isinstance(node, ast.Call) and name == "func" else ""
            role = "test" if isinstance(node, ast.IfExp) and name == "test" else role
            yield from _under(_field(node, name, role))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, ast.expr):
                    yield from _under(_item(value, index, _role(node, index, item)))
                elif isinstance(item, ast.keyword):
                    role = {"dim": "axis"}.get(item.arg or "", item.arg or "")
                    yield from _under(_field(item, "value", role))
                elif isinstance(item, ast.comprehension):
                    yield from _under(_field(item, "iter"))
                    for at in range(len(item.ifs)):
                        yield from _under(_item(item.ifs, at, "test"))


def _role(node: ast.expr, index: int, item: ast.expr) -> str:
    """What an argument is for, as far as its place and its text say."""
    if not isinstance(node, ast.Call):
        return ""
    if index == 0 and ast.unparse(node.func).endswith("einsum"):
        return "subscripts"
    return "dtype" if ast.unparse(item).endswith("dtype") else ""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules, for a file that imports these modules."""

    modules: set[str]

    def replacements(self, slot: Slot) -> Iterator[Change]:
        """Everything that an expression may become."""
        node = slot.get()
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del) and not isinstance(
            node, ast.Subscript
        ):
            return
        number = _signed(node)
        if number is not None:
            yield from ((rule, _number(n)) for rule, n in _numbers(number, slot.role))
            return
        if slot.role == "test":
            yield "negated condition", ast.UnaryOp(ast.Not(), node)
        if slot.role == "dtype":
            for name in ("float32", "float64"):
                yield "changed cast", ast.Constant(name)
        match node:
            case ast.Constant(value=bool(value)):
                yield "flipped flag", ast.Constant(not value)
            case ast.Constant(value=str(value)) if slot.role == "subscripts":
                yield from (("swapped subscripts", ast.Constant(t)) for t in _transposed(value))
            case ast.BinOp():
                yield from _binary(node)
            case ast.Compare():
                yield from _comparison(node)
            case ast.BoolOp():
                other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
                yield "and/or", ast.BoolOp(other, node.values)
                for index in range(len(node.values)):
                    rest = [v for i, v in enumerate(node.values) if i != index]
                    kept = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
                    yield "dropped condition", kept
            case ast.UnaryOp():
                yield "dropped sign or not", node.operand
            case ast.IfExp():
                yield "swapped branches", ast.IfExp(node.test, node.orelse, node.body)
            case ast.Tuple():
                yield from _tuple(node, slot.role)
            case ast.Subscript():
                yield from _subscript(node)
            case ast.Call():
                yield from self._call(node)
            case ast.Attribute(attr="T" | "mT" | "H"):
                yield "dropped transpose", node.value
            case ast.Attribute() if slot.role == "operator" and node.attr in NAMES:
                yield "another function", ast.Attribute(node.value, NAMES[node.attr], node.ctx)
            case ast.Name() if slot.role == "operator" and node.id in NAMES:
                yield "another function", ast.Name(NAMES[node.id], node.ctx)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                yield from _comprehension(node)
            case _:
                return

    def _call(self, node: ast.Call) -> Iterator[Change]:
        plain = not any(isinstance(a, ast.Starred) for a in node.args)
        if plain:
            for i in range(len(node.args) - 1):
                yield (
                    "swapped arguments",
                    ast.Call(node.func, _swapped(node.args, i), node.keywords),
                )
        for i in range(len(node.keywords)):
            rest = node.keywords[:i] + node.keywords[i + 1 :]
            yield "dropped argument", ast.Call(node.func, node.args, rest)
        if plain and len(node.args) > 1:
            yield "dropped argument", ast.Call(node.func, node.args[:-1], node.keywords)
        if isinstance(node.func, ast.Attribute) and not self._is_module(node.func.value):
            yield "dropped call", node.func.value
            if node.func.attr == "astype":
                for name in ("float32", "float64", "int64"):
                    args: list[ast.expr] = [ast.Constant(name), *node.args[1:]]
                    yield "changed cast", ast.Call(node.func, args, node.keywords)
        elif plain and len(node.args) == 1:
            yield "dropped call", node.args[0]

    def _is_module(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.modules


def _binary(node: ast.BinOp) -> Iterator[Change]:
    if any(
        isinstance(n, ast.JoinedStr) or (isinstance(n, ast.Constant) and isinstance(n.value, str))
        for n in (node.left, node.right)
    ):
        return  # text
    for other in ARITHMETIC.get(type(node.op), ()):
        yield "another operator", ast.BinOp(node.left, other(), node.right)
    if isinstance(node.op, ORDERED) and ast.dump(node.left) != ast.dump(node.right):
        yield "swapped operands", ast.BinOp(node.right, node.op, node.left)
    rule = "dropped term" if isinstance(node.op, ast.Add | ast.Sub) else "dropped factor"
    if not isinstance(node.op, ast.MatMult):
        yield rule, node.left
    match node.op:
        case ast.Add() | ast.Mult():
            yield rule, node.right
        case ast.Sub():
            yield rule, ast.UnaryOp(ast.USub(), node.right)
        case _:
            return


def _transposed(subscripts: str) -> Iterator[str]:
    """The subscripts of an einsum with two neighbouring axes exchanged."""
    for i in range(len(subscripts) - 1):
        pair = subscripts[i : i + 2]
        if pair.isalpha() and pair[0] != pair[1]:
            yield subscripts[:i] + pair[::-1] + subscripts[i + 2 :]


def _comparison(node: ast.Compare) -> Iterator[Change]:
    for index, op in enumerate(node.ops):
        for other in COMPARISONS[type(op)]:
            ops = [*node.ops[:index], other(), *node.ops[index + 1 :]]
            yield "another comparison", ast.Compare(node.left, ops, node.comparators)


def _tuple(node: ast.Tuple, role: str) -> Iterator[Change]:
    for i in range(len(node.elts) - 1):
        if ast.dump(node.elts[i]) != ast.dump(node.elts[i + 1]):
            yield "swapped items", ast.Tuple(_swapped(node.elts, i), node.ctx)
    if role == "axis":
        for i in range(len(node.elts)):
            yield "dropped axis", ast.Tuple(node.elts[:i] + node.elts[i + 1 :], node.ctx)


def _subscript(node: ast.Subscript) -> Iterator[Change]:
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for index, part in enumerate(parts):
        if not isinstance(part, ast.Slice):
            continue
        for bound in ("lower", "upper", "step"):
            value: ast.expr | None = getattr(part, bound)
            if value is None:
                continue
            changed: list[tuple[str, ast.expr | None]] = [("dropped bound", None)]
            if bound != "step" and _signed(value) is None:
                one = ast.Constant(1)
                changed += [
                    ("off by one", ast.BinOp(value, op(), one)) for op in (ast.Add, ast.Sub)
                ]
            for rule, new in changed:
                other = copy.copy(part)
                setattr(other, bound, new)
                items: list[ast.expr] = [*parts[:index], other, *parts[index + 1 :]]
                whole = ast.Tuple(items, ast.Load()) if isinstance(node.slice, ast.Tuple) else other
                yield rule, ast.Subscript(node.value, whole, node.ctx)


def _comprehension(
    node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp,
) -> Iterator[Change]:
    for index, part in enumerate(node.generators):
        if part.ifs:
            new = copy.copy(node)
            bare = ast.comprehension(part.target, part.iter, [], part.is_async)
            new.generators = [*node.generators[:index], bare, *node.generators[index + 1 :]]
            yield "dropped condition", new


def _swapped(items: list[ast.expr], index: int) -> list[ast.expr]:
    return [*items[:index], items[index + 1], items[index], *items[index + 2 :]]


def _signed(node: ast.expr) -> int | float | None:
    """The number that an expression is, with its sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _signed(node.operand) if isinstance(node.operand, ast.Constant) else None
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        value: int | float = node.value  # type: ignore[assignment]
        return value
    return None


def _numbers(value: int | float, role: str) -> Iterator[tuple[str, int | float]]:
    rule = "off by one" if role == "axis" else "another number"
    changed = [value + 1, value - 1]
    if role != "axis":
        changed += [2 * value, -value]
    for new in dict.fromkeys(changed):
        if new != value:
            yield rule, new


def _number(value: int | float) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def augmented(node: ast.AugAssign) -> Iterator[tuple[str, ast.stmt]]:
    """What `a += b` may become besides what `b` may become."""
    loaded = ast.parse(ast.unparse(node.target), mode="eval").body
    yield "assigned, not added", ast.Assign([node.target], node.value, lineno=node.lineno)
    for other in ARITHMETIC.get(type(node.op), ()):
        yield "another operator", ast.AugAssign(node.target, other(), node.value)
    if isinstance(node.op, ast.Sub):
        value = ast.BinOp(node.value, ast.Sub(), loaded)
        yield "swapped operands", ast.Assign([node.target], value, lineno=node.lineno)


def store_swaps(node: ast.Assign) -> Iterator[tuple[str, ast.stmt]]:
    """The assignment with two neighbouring targets exchanged."""
    for index, target in enumerate(node.targets):
        if not isinstance(target, ast.Tuple):
            continue
        for i in range(len(target.elts) - 1):
            one, other = target.elts[i], target.elts[i + 1]
            if not isinstance(one, ast.Starred) and not isinstance(other, ast.Starred):
                new = copy.copy(node)
                swapped: ast.expr = ast.Tuple(_swapped(target.elts, i), ast.Store())
                new.targets = [*node.targets[:index], swapped, *node.targets[index + 1 :]]
                yield "swapped targets", new


def local_names(function: ast.FunctionDef | ast.AsyncFunctionDef, *, before: int) -> list[str]:
    """The parameters of a function and what it assigns before a line, in order."""
    spec = function.args
    found = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.lineno < before:
            found.append(node.id)
    return [name for name in dict.fromkeys(found) if name not in {"self", "cls", "_"}]
