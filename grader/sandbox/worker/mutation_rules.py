"""What may change in an expression: the mistakes that are one token or one term away.

Source of the families: R. A. DeMillo, R. J. Lipton and F. G. Sayward, "Hints on test data
selection", Computer 11(4), 1978 (a test that tells a program from its near neighbors tells it
from most wrong ones); what is particular to arrays (axes, casts, reductions) comes from the wrong
ideas in the questions.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
Function = ast.FunctionDef | ast.AsyncFunctionDef
Change = tuple[str, ast.expr]  # by which rule, and what it becomes
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


# Where nothing changes: no question is about it.
_LEFT_ALONE = {"annotation", "returns", "decorator_list"}


@dataclass(frozen=True, slots=True)
class Slot:
    """Where in a statement an expression stands."""

    node: ast.AST
    name: str  # of the node's field
    index: int | None  # where the field is a list
    role: str  # test, axis, dtype, subscripts, or operator (the function of a call)

    def get(self) -> ast.expr:
        """What stands there."""
        found = getattr(self.node, self.name)
        expression: ast.expr = found if self.index is None else found[self.index]
        return expression

    def set(self, new: ast.expr) -> None:
        """Put something else there."""
        if self.index is None:
            setattr(self.node, self.name, new)
        else:
            getattr(self.node, self.name)[self.index] = new


def slots(node: ast.AST) -> Iterator[Slot]:
    """Every expression in a statement or an expression, outermost first."""
    function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    for name, value in ast.iter_fields(node):
        if name in _LEFT_ALONE:
            continue
        listed = isinstance(value, list)
        for index, item in enumerate(value if listed else [value]):
            if isinstance(item, ast.expr):
                yield Slot(node, name, index if listed else None, _role(node, name, index, item))
                if not isinstance(item, ast.JoinedStr) and _signed(item) is None:
                    yield from slots(item)
            elif isinstance(item, ast.keyword | ast.comprehension | ast.withitem) or (
                function and isinstance(item, ast.arguments)  # their defaults
            ):
                yield from slots(item)


def _role(node: ast.AST, name: str, index: int, item: ast.expr) -> str:
    """What an expression is for, as far as its position and its text say."""
    match node:
        case ast.Call() if name == "func":
            return "operator"
        case ast.Call() if index == 0 and ast.unparse(node.func).endswith("einsum"):
            return "subscripts"
        case ast.Call():
            return "dtype" if ast.unparse(item).endswith("dtype") else ""
        case ast.keyword(arg=str(word)):
            return "axis" if word == "dim" else word
        case ast.If() | ast.While() | ast.IfExp() if name == "test":
            return "test"
        case ast.comprehension() if name == "ifs":
            return "test"
        case _:
            return ""


def replacements(slot: Slot, modules: set[str]) -> Iterator[Change]:
    """Everything that an expression may become, in a file that imports these modules."""
    node, role = slot.get(), slot.role
    stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
    if stored and not isinstance(node, ast.Subscript):
        return
    number = _signed(node)
    if number is not None:
        yield from _numbers(number, role)
        return
    if role == "test":
        yield "negated condition", ast.UnaryOp(ast.Not(), node)
    if role == "dtype":
        for name in ("float32", "float64"):
            yield "changed cast", ast.Constant(name)
    match node:
        case ast.Constant(value=bool(value)):
            yield "flipped flag", ast.Constant(not value)
        case ast.Constant(value=str(value)) if role == "subscripts":
            yield from _transposed(value)
        case ast.BinOp():
            yield from _binary(node)
        case ast.Compare():
            yield from _comparison(node)
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "and/or", ast.BoolOp(other, node.values)
            for index in range(len(node.values)):
                rest = _without(node.values, index)
                kept = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
                yield "dropped condition", kept
        case ast.UnaryOp():
            yield "dropped sign or not", node.operand
        case ast.IfExp():
            yield "swapped branches", ast.IfExp(node.test, node.orelse, node.body)
        case ast.Tuple():
            for i in range(len(node.elts) - 1):
                if ast.dump(node.elts[i]) != ast.dump(node.elts[i + 1]):
                    yield "swapped items", ast.Tuple(_swapped(node.elts, i), node.ctx)
            for i in range(len(node.elts) if role == "axis" else 0):
                yield "dropped axis", ast.Tuple(_without(node.elts, i), node.ctx)
        case ast.Subscript():
            yield from _subscript(node)
        case ast.Call():
            yield from _call(node, modules)
        case ast.Attribute(attr="T" | "mT" | "H"):
            yield "dropped transpose", node.value
        case ast.Attribute() if role == "operator" and node.attr in NAMES:
            yield "another function", ast.Attribute(node.value, NAMES[node.attr], node.ctx)
        case ast.Name() if role == "operator" and node.id in NAMES:
            yield "another function", ast.Name(NAMES[node.id], node.ctx)
        case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
            yield from _comprehension(node)
        case _:
            return


def _call(node: ast.Call, modules: set[str]) -> Iterator[Change]:
    func, args, keywords = node.func, node.args, node.keywords
    plain = not any(isinstance(a, ast.Starred) for a in args)
    for i in range(len(args) - 1 if plain else 0):
        yield "swapped arguments", ast.Call(func, _swapped(args, i), keywords)
    for i in range(len(keywords)):
        yield "dropped argument", ast.Call(func, args, _without(keywords, i))
    if plain and len(args) > 1:
        yield "dropped argument", ast.Call(func, args[:-1], keywords)
    if isinstance(func, ast.Attribute) and not _is_module(func.value, modules):
        yield "dropped call", func.value
        if func.attr == "astype":
            for name in ("float32", "float64", "int64"):
                cast: list[ast.expr] = [ast.Constant(name), *args[1:]]
                yield "changed cast", ast.Call(func, cast, keywords)
    elif plain and len(args) == 1:
        yield "dropped call", args[0]


def _is_module(node: ast.expr, modules: set[str]) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in modules


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


def _transposed(subscripts: str) -> Iterator[Change]:
    """The subscripts of an einsum with two neighboring axes exchanged."""
    for i, (a, b) in enumerate(itertools.pairwise(subscripts)):
        if a != b and f"{a}{b}".isalpha():
            new = f"{subscripts[:i]}{b}{a}{subscripts[i + 2 :]}"
            yield "swapped subscripts", ast.Constant(new)


def _comparison(node: ast.Compare) -> Iterator[Change]:
    for index, op in enumerate(node.ops):
        for other in COMPARISONS[type(op)]:
            ops = [*node.ops[:index], other(), *node.ops[index + 1 :]]
            yield "another comparison", ast.Compare(node.left, ops, node.comparators)


def _subscript(node: ast.Subscript) -> Iterator[Change]:
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for index, part in enumerate(parts):
        for rule, other in _slice(part) if isinstance(part, ast.Slice) else ():
            items = [*parts[:index], other, *parts[index + 1 :]]
            whole = ast.Tuple(items, ast.Load()) if isinstance(node.slice, ast.Tuple) else other
            yield rule, ast.Subscript(node.value, whole, node.ctx)


def _slice(part: ast.Slice) -> Iterator[Change]:
    for bound in ("lower", "upper", "step"):
        value: ast.expr | None = getattr(part, bound)
        if value is None:
            continue
        changed: list[tuple[str, ast.expr | None]] = [("dropped bound", None)]
        if bound != "step" and _signed(value) is None:
            for op in (ast.Add, ast.Sub):
                changed.append(("off by one", ast.BinOp(value, op(), ast.Constant(1))))
        for rule, new in changed:
            other = copy.copy(part)
            setattr(other, bound, new)
            yield rule, other


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


def _without(items: list[T], index: int) -> list[T]:
    return items[:index] + items[index + 1 :]


def _signed(node: ast.expr) -> int | float | None:
    """The number that an expression is, with its sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _signed(node.operand) if isinstance(node.operand, ast.Constant) else None
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        value: int | float = node.value  # type: ignore[assignment]
        return value
    return None


def _numbers(value: int | float, role: str) -> Iterator[Change]:
    axis = role == "axis"
    for new in dict.fromkeys([value + 1, value - 1, *([] if axis else [2 * value, -value])]):
        if new != value:
            number = ast.Constant(abs(new))
            written = number if new >= 0 else ast.UnaryOp(ast.USub(), number)
            yield "off by one" if axis else "another number", written


def rewritten(node: ast.stmt, function: Function | None) -> Iterator[tuple[str, ast.stmt]]:
    """What a statement as a whole may become, in the function that it stands in."""
    match node:
        case ast.AugAssign():
            yield from _augmented(node)
        case ast.Assign():
            yield from _swapped_targets(node)
        case ast.Return() if function is not None:
            yield from _other_results(node, local_names(function, before=node.lineno))
        case _:
            return


def _augmented(node: ast.AugAssign) -> Iterator[tuple[str, ast.stmt]]:
    """What `a += b` may become, apart from what `b` may become."""
    loaded = ast.parse(ast.unparse(node.target), mode="eval").body
    yield "assigned, not added", ast.Assign([node.target], node.value, lineno=node.lineno)
    for other in ARITHMETIC.get(type(node.op), ()):
        yield "another operator", ast.AugAssign(node.target, other(), node.value)
    if isinstance(node.op, ast.Sub):
        value = ast.BinOp(node.value, ast.Sub(), loaded)
        yield "swapped operands", ast.Assign([node.target], value, lineno=node.lineno)


def _swapped_targets(node: ast.Assign) -> Iterator[tuple[str, ast.stmt]]:
    for index, target in enumerate(node.targets):
        targets = target.elts if isinstance(target, ast.Tuple) else []
        for i, pair in enumerate(itertools.pairwise(targets)):
            if not any(isinstance(one, ast.Starred) for one in pair):
                swapped: ast.expr = ast.Tuple(_swapped(targets, i), ast.Store())
                new = copy.copy(node)
                new.targets = [*node.targets[:index], swapped, *node.targets[index + 1 :]]
                yield "swapped targets", new


def _other_results(node: ast.Return, names: list[str]) -> Iterator[tuple[str, ast.stmt]]:
    """The statement with another local instead of each one that it returns."""
    parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
    for index, part in enumerate(parts):
        for name in names if isinstance(part, ast.Name) else ():
            other = ast.Name(name, ast.Load())
            if isinstance(part, ast.Name) and name != part.id:
                several = [*parts[:index], other, *parts[index + 1 :]]
                whole = ast.Tuple(several, ast.Load()) if node.value is not part else other
                yield "another local returned", ast.Return(whole)


def local_names(function: Function, *, before: int) -> list[str]:
    """The parameters of a function and what it assigns before a line, in order."""
    spec = function.args
    found = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.lineno < before:
            found.append(node.id)
    return [name for name in dict.fromkeys(found) if name not in {"self", "cls", "_"}]
