"""Derive mutants of a program: small changes, one at a time, that people really make by mistake.

One statement changes and every other line of the source stays as it was, at the same line number.
Messages of exceptions, annotations, decorators and documentation are left alone: no question is
about them.

Source of the families: R. A. DeMillo, R. J. Lipton and F. G. Sayward, "Hints on test data
selection", Computer 11(4), 1978 (a test that tells a program from its near neighbors tells it
from most wrong ones); what is particular to arrays (axes, casts, reductions, eps) comes from the
wrong ideas in the questions.
"""

from __future__ import annotations

import ast
import copy
import itertools
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from .protocol import MOVED_BOUND_RULE

T = TypeVar("T")


class MutantChange(NamedTuple):
    """One change: bytes `start` to `end` of the source become `text`."""

    scope: str  # "SwiGLUFn.backward"
    line: int
    rule: str
    was: str
    becomes: str
    start: int
    end: int
    text: str


Function = ast.FunctionDef | ast.AsyncFunctionDef
MutantIterator = Iterator[MutantChange]
Replacement = tuple[str, ast.expr]  # by which rule, and what an expression becomes

_OPERATORS = (
    "Add Sub", "Sub Add", "Mult Div", "Div Mult", "FloorDiv Div Mod", "Mod FloorDiv", "Pow Mult",
    "MatMult Mult", "BitAnd BitOr", "BitOr BitAnd", "LShift RShift", "RShift LShift",
    "Lt LtE GtE", "LtE Lt Gt", "Gt GtE LtE", "GtE Gt Lt", "Eq NotEq", "NotEq Eq", "In NotIn",
    "NotIn In", "Is IsNot", "IsNot Is", "BitXor",
)  # fmt: skip
# By operator of two operands, those that it may become.
OPERATORS: dict[type[ast.AST], list[type[Any]]] = {
    getattr(ast, one): [getattr(ast, other) for other in others]
    for one, *others in map(str.split, _OPERATORS)
}
NON_COMMUTATIVE = (
    ast.Sub,
    ast.Div,
    ast.FloorDiv,
    ast.Mod,
    ast.Pow,
    ast.MatMult,
)  # a op b is not b op a
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

_AT: dict[type[ast.cmpop], type[ast.cmpop]] = {  # other only at the number itself
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
MAX_EPSILON = 1e-3  # a positive number up to this is there to keep another from 0
_SENTINELS = {"inf": 1e4, "nan": 0.0}  # what people write instead
_PRECISIONS = {"float64": "float32", "double": "float32", "float32": "float64"}
_ROOTS = {"sqrt", "rsqrt"}
_LEFT_ALONE = {"annotation", "returns", "decorator_list"}  # no question is about them
MODULE_SCOPE = "module"  # the scope of what stands in no function
_UNCHANGED = (ast.Raise, ast.Import, ast.ImportFrom, ast.ClassDef, ast.Match)


def derive_mutants(data: bytes, numbers: tuple[float, ...] = ()) -> list[MutantChange]:
    """Return every mutant of a source, in its order, none twice.

    Args:
        data: UTF-8 with newlines, no byte order mark.
        numbers: where there are any, only what moves a bound that is one of them.

    Raises:
        SyntaxError: it is not Python.
    """
    tree = ast.parse(data)
    found: dict[bytes, MutantChange] = {}
    for mutant in _Source(data, tree, numbers).of_block(tree.body, MODULE_SCOPE, None):
        mutated = data[: mutant.start] + mutant.text.encode() + data[mutant.end :]
        with suppress(SyntaxError, ValueError):
            if mutated not in found:
                compile(mutated, "mutant", "exec", dont_inherit=True)
                found[mutated] = mutant
    return list(found.values())


class _Source:
    """One source, and the mutants of its statements."""

    def __init__(self, data: bytes, tree: ast.Module, numbers: Collection[float]) -> None:
        self.data, self.numbers = data, numbers
        lengths = (len(line) + 1 for line in data.split(b"\n"))
        self.starts = [0, *itertools.accumulate(lengths)]  # of lines, in bytes
        imports = (n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom))
        # Names of imported modules: `np` in `np.sum(x)` is no operand.
        self.modules = {(a.asname or a.name).split(".")[0] for n in imports for a in n.names}

    def of_block(
        self, body: list[ast.stmt], scope: str, function: Function | None
    ) -> MutantIterator:
        for index, node in enumerate(body):
            if index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue  # documentation
            inner, owner = scope, function
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = node.name if scope == MODULE_SCOPE else f"{scope}.{node.name}"
                owner = None if isinstance(node, ast.ClassDef) else node
            yield from self._of_statement(node, inner, function)
            for name in ("body", "orelse", "finalbody"):
                yield from self.of_block(getattr(node, name, []), inner, owner)
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                yield from self.of_block(part.body, inner, owner)

    def _of_statement(
        self, node: ast.stmt, scope: str, function: Function | None
    ) -> MutantIterator:
        """Every mutant of one statement, without the statements inside it."""
        start, end = self._span(node)
        elif_ = self.data[start : start + 4] == b"elif"
        was = _text(node, elif_=elif_)

        def mutant(rule: str, text: str, upto: int = end, becomes: str = "") -> MutantChange:
            glued = upto != self._end(node) and self.data[upto - 1 : upto] != b"\n"
            # As many newlines as it replaces, so that lines keep their numbers.
            fill = "\n" * (self.data[start:upto].count(b"\n") - text.count("\n"))
            new = text + " " * glued + fill
            return MutantChange(scope, node.lineno, rule, was, becomes or text, start, upto, new)

        if not isinstance(node, _UNCHANGED):
            for slot in expression_slots(node):
                original = slot.holder[slot.key]
                for rule, changed in (
                    moved_bounds(original, self.numbers)
                    if self.numbers
                    else replacements(original, slot.role, self.modules)
                ):
                    slot.holder[slot.key] = changed
                    text = _text(node, elif_=elif_)
                    slot.holder[slot.key] = original
                    if text != was:
                        yield mutant(rule, text)
        if self.numbers:
            return
        for rule, new in statement_changes(node, function):
            yield mutant(rule, ast.unparse(new))
        if can_be_removed(node, function) and not elif_:
            yield mutant("dropped statement", "pass", self._end(node), "nothing")

    def _span(self, node: ast.stmt) -> tuple[int, int]:
        """Where a statement stands; of a compound one, its head up to the first statement in it."""
        start = self._at(node.lineno, node.col_offset)
        body: list[ast.stmt] = getattr(node, "body", [])
        if not body or isinstance(node, ast.Expr):
            return start, self._end(node)
        first = body[0]
        line = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))])
        begin = self._at(line, 0)
        inside = self._at(first.lineno, first.col_offset)
        alone = not self.data[begin:inside].strip() or line != first.lineno
        return start, begin if alone else inside

    def _end(self, node: ast.stmt) -> int:
        return self._at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def _at(self, line: int, column: int) -> int:
        """The byte of a place as `ast` gives it."""
        return self.starts[line - 1] + column


def _text(node: ast.stmt, *, elif_: bool) -> str:
    """One statement as text; of a compound one, its head."""
    if not isinstance(getattr(node, "body", None), list):
        return ast.unparse(node)
    head = copy.copy(node)
    head.body = [ast.Pass()]  # type: ignore[attr-defined]
    for name in ("orelse", "finalbody", "decorator_list", "handlers"):
        if hasattr(head, name) and not isinstance(node, ast.Try):
            setattr(head, name, [])
    text = ast.unparse(head).removesuffix("pass").rstrip()
    return f"el{text}" if elif_ else text


# -- what may change ---------------------------------------------------------------------------


class ExpressionSlot(NamedTuple):
    """Where in a statement an expression stands."""

    holder: Any  # a list, or the fields of a node
    key: Any  # index or name
    role: str  # test, axis, dtype, subscripts, or operator (the function of a call)


def expression_slots(node: ast.AST) -> Iterator[ExpressionSlot]:
    """Every expression in a statement or an expression, outermost first."""
    function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    for name, value in ast.iter_fields(node):
        if name in _LEFT_ALONE:
            continue
        listed = isinstance(value, list)
        for index, item in enumerate(value if listed else [value]):
            if isinstance(item, ast.expr):
                role = _role(node, name, index, item)
                yield (
                    ExpressionSlot(value, index, role)
                    if listed
                    else ExpressionSlot(vars(node), name, role)
                )
                if not isinstance(item, ast.JoinedStr) and _signed(item) is None:
                    yield from expression_slots(item)
            elif isinstance(item, ast.keyword | ast.comprehension | ast.withitem) or (
                function and isinstance(item, ast.arguments)  # their defaults
            ):
                yield from expression_slots(item)


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
        case ast.If() | ast.While() | ast.IfExp() | ast.comprehension() if name in {"test", "ifs"}:
            return "test"
        case _:
            return ""


# -- expressions -----------------------------------------------------------------------------------


def replacements(node: ast.expr, role: str, modules: set[str]) -> Iterator[Replacement]:
    """Everything that an expression may become, in a file that imports these modules."""
    stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
    if stored and not isinstance(node, ast.Subscript):
        return
    number = _signed(node)
    if number is not None:
        yield from _numbers(number, role)
        return
    yield from _sentinels(node, modules)
    yield from _moved_eps(node)
    if role == "test":
        yield "negated condition", ast.UnaryOp(ast.Not(), node)
    if role == "dtype":
        for name in ("float32", "float64"):
            yield "changed cast", ast.Constant(name)
    match node:
        case ast.Constant(value=bool(value)):
            yield "flipped flag", ast.Constant(not value)
        case ast.Constant(value=str(value)) if role == "subscripts":
            for i, (a, b) in enumerate(itertools.pairwise(value)):
                if a != b and f"{a}{b}".isalpha():
                    new = f"{value[:i]}{b}{a}{value[i + 2 :]}"
                    yield "swapped subscripts", ast.Constant(new)
        case ast.BinOp():
            yield from _binary(node)
        case ast.Compare(left=left, ops=ops, comparators=right):
            for index, op in enumerate(ops):
                for other in OPERATORS[type(op)]:
                    rule = MOVED_BOUND_RULE if _AT.get(type(op)) is other else "another comparison"
                    yield rule, ast.Compare(left, _without(ops, index, other()), right)
        case ast.BoolOp(op=op, values=values):
            yield "and/or", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for index in range(len(values)):
                rest = _without(values, index)
                yield "dropped condition", rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.UnaryOp():
            yield "dropped sign or not", node.operand
        case ast.IfExp():
            yield "swapped branches", ast.IfExp(node.test, node.orelse, node.body)
        case ast.Tuple():
            for i, (one, two) in enumerate(itertools.pairwise(node.elts)):
                if ast.dump(one) != ast.dump(two):
                    yield "swapped items", ast.Tuple(_swapped(node.elts, i), node.ctx)
            for i in range(len(node.elts) if role == "axis" else 0):
                yield "dropped axis", ast.Tuple(_without(node.elts, i), node.ctx)
        case ast.Subscript():
            for index, part in enumerate(_items(node.slice)):
                for rule, bounds in _slice(part) if isinstance(part, ast.Slice) else ():
                    whole = _with_item(node.slice, index, bounds)
                    yield rule, ast.Subscript(node.value, whole, node.ctx)
        case ast.Call():
            yield from _call(node, modules)
        case ast.Attribute(attr="T" | "mT" | "H"):
            yield "dropped transpose", node.value
        case ast.Attribute(attr=name) if role == "operator" and name in NAMES:
            yield "another function", _changed(node, attr=NAMES[name])
        case ast.Name(id=name) if role == "operator" and name in NAMES:
            yield "another function", _changed(node, id=NAMES[name])
        case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
            for index, loop in enumerate(node.generators):
                if loop.ifs:
                    generators = _without(node.generators, index, _changed(loop, ifs=[]))
                    yield "dropped condition", _changed(node, generators=generators)
        case _:
            return


def _call(node: ast.Call, modules: set[str]) -> Iterator[Replacement]:
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


def _binary(node: ast.BinOp) -> Iterator[Replacement]:
    for side in (node.left, node.right):
        if isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str):
            return  # text
    for other in OPERATORS[type(node.op)]:
        yield "another operator", ast.BinOp(node.left, other(), node.right)
    if isinstance(node.op, NON_COMMUTATIVE) and ast.dump(node.left) != ast.dump(node.right):
        yield "swapped operands", ast.BinOp(node.right, node.op, node.left)
    rule = "dropped term" if isinstance(node.op, ast.Add | ast.Sub) else "dropped factor"
    if not isinstance(node.op, ast.MatMult):
        yield rule, node.left
    if isinstance(node.op, ast.Add | ast.Mult):
        yield rule, node.right
    elif isinstance(node.op, ast.Sub):
        yield rule, ast.UnaryOp(ast.USub(), node.right)


def _slice(part: ast.Slice) -> Iterator[Replacement]:
    for bound in ("lower", "upper", "step"):
        value: ast.expr | None = getattr(part, bound)
        if value is None:
            continue
        yield "dropped bound", _changed(part, **{bound: None})
        if bound != "step" and _signed(value) is None:
            for op in (ast.Add(), ast.Sub()):
                moved = ast.BinOp(value, op, ast.Constant(1))
                yield "off by one", _changed(part, **{bound: moved})


# -- numbers ---------------------------------------------------------------------------------------


def _signed(node: ast.expr) -> int | float | None:
    """The number that an expression is, with its sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _signed(node.operand) if isinstance(node.operand, ast.Constant) else None
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        value: int | float = node.value  # type: ignore[assignment]
        return value
    return None


def _numbers(value: float, role: str) -> Iterator[Replacement]:
    """What a number may become; `role` says whether it is an axis."""
    axis = role == "axis"
    for new in dict.fromkeys([value + 1, value - 1, *([] if axis else [2 * value, -value])]):
        if new != value:
            yield "off by one" if axis else "another number", _written(new)
    if 0 < value <= MAX_EPSILON and isinstance(value, float):
        for new in (float(f"{value / 10:.12g}"), 0.0):
            yield "another eps", _written(new)


def moved_bounds(node: ast.expr, numbers: Collection[float]) -> Iterator[Replacement]:
    """A comparison with one of some numbers, which is moved, or the other way at the number."""
    if not isinstance(node, ast.Compare):
        return
    sides = [node.left, *node.comparators]
    for i, side in enumerate(sides):
        value = _signed(side)
        if isinstance(side, ast.BinOp) and re.fullmatch(
            r"(2 \*\*|1 <<) \d{1,2}", ast.unparse(side)
        ):
            value = 2 ** int(ast.unparse(side)[4:])
        if value is None or abs(value) not in numbers:
            continue
        steps = (value - 1, value + 1, value // 2) if isinstance(value, int) else (value / 2,)
        for new in (*steps, 2 * value):
            left, *right = _without(sides, i, _written(new))
            yield MOVED_BOUND_RULE, ast.Compare(left, node.ops, right)
        for j in range(max(0, i - 1), min(i + 1, len(node.ops))):
            if other := _AT.get(type(node.ops[j])):
                ops = _without(node.ops, j, other())
                yield MOVED_BOUND_RULE, ast.Compare(node.left, ops, node.comparators)


def _written(value: float) -> ast.expr:
    number = ast.Constant(abs(value))
    return number if value >= 0 else ast.UnaryOp(ast.USub(), number)


def _sentinels(node: ast.expr, modules: set[str]) -> Iterator[Replacement]:
    """A number instead of an infinity or a NaN, and another precision of a module's."""
    match node:
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in modules:
            if name in _SENTINELS:
                yield "a number for none", ast.Constant(_SENTINELS[name])
            if name in _PRECISIONS:
                yield "another precision", _changed(node, attr=_PRECISIONS[name])
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))]):
            name = text.strip().lower().lstrip("+-")
            if name in _SENTINELS:
                sign = -1 if text.strip().startswith("-") else 1
                yield "a number for none", _written(sign * _SENTINELS[name])


def _moved_eps(node: ast.expr) -> Iterator[Replacement]:
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


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_eps(node: ast.expr) -> bool:
    """Whether a summand is there to keep something from 0, by its size or its name."""
    number = _signed(node)
    return "eps" in _name(node).lower() if number is None else 0 < number <= MAX_EPSILON


# -- statements ------------------------------------------------------------------------------------


def statement_changes(node: ast.stmt, function: Function | None) -> Iterator[tuple[str, ast.stmt]]:
    """What a statement as a whole may become, in the function that it stands in."""
    match node:
        case ast.AugAssign():
            loaded = ast.parse(ast.unparse(node.target), mode="eval").body
            yield "assigned, not added", ast.Assign([node.target], node.value, lineno=node.lineno)
            for other in OPERATORS[type(node.op)]:
                yield "another operator", ast.AugAssign(node.target, other(), node.value)
            if isinstance(node.op, ast.Sub):
                value = ast.BinOp(node.value, ast.Sub(), loaded)
                yield "swapped operands", ast.Assign([node.target], value, lineno=node.lineno)
        case ast.Assign():
            for index, target in enumerate(node.targets):
                for i, pair in enumerate(itertools.pairwise(_items(target))):
                    if not any(isinstance(one, ast.Starred) for one in pair):
                        new = _changed(target, elts=_swapped(_items(target), i))
                        targets = _without(node.targets, index, new)
                        yield "swapped targets", _changed(node, targets=targets)
        case ast.Return(value=ast.expr() as value) if function is not None:
            names = _local_names(function, before=node.lineno)
            for index, part in enumerate(_items(value)):
                for name in names if isinstance(part, ast.Name) else ():
                    named = ast.Name(name, ast.Load())
                    if ast.dump(named) != ast.dump(part):
                        yield "another local returned", ast.Return(_with_item(value, index, named))
        case _:
            return


def can_be_removed(node: ast.stmt, function: Function | None) -> bool:
    """Whether a statement may be left out without a name being missing for that alone."""
    match node:
        case ast.Expr():
            return not isinstance(node.value, ast.Constant)
        case ast.AugAssign() | ast.For() | ast.While() | ast.Delete() | ast.Assert() | ast.Raise():
            return True
        case ast.If():
            return not node.orelse
        case ast.Assign(targets=[ast.Name(id=name)]):
            return function is not None and name in _local_names(function, before=node.lineno)
        case ast.Assign():
            return not any(isinstance(t, ast.Name | ast.Tuple | ast.List) for t in node.targets)
        case _:
            return False


def _local_names(function: Function, *, before: int) -> list[str]:
    """The parameters of a function and what it assigns before a line, in order."""
    spec = function.args
    found = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.lineno < before:
            found.append(node.id)
    return [name for name in dict.fromkeys(found) if name not in {"self", "cls", "_"}]


# -- nodes and lists with a change -----------------------------------------------------------------


def _items(node: ast.expr) -> list[ast.expr]:
    """The items of a tuple, or one that is not in a tuple."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _with_item(node: ast.expr, index: int, new: ast.expr) -> ast.expr:
    """A tuple with another item, or the item where there is no tuple."""
    if not isinstance(node, ast.Tuple):
        return new
    return _changed(node, elts=_without(node.elts, index, new))


def _changed(node: T, **fields: object) -> T:
    new = copy.copy(node)
    vars(new).update(fields)
    return new


def _swapped(items: list[T], index: int) -> list[T]:
    """The items with one and the next in each other's place."""
    return [*items[:index], items[index + 1], items[index], *items[index + 2 :]]


def _without(items: list[T], index: int, *new: T) -> list[T]:
    """The items with something else, or nothing, instead of one."""
    return [*items[:index], *new, *items[index + 1 :]]
