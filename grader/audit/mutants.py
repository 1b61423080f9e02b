"""Derive mutants of a program: small changes, one at a time, that people really make by mistake.

One statement of the syntax tree changes, and `ast.unparse` writes the tree.  A source is parsed and
never compiled.  Messages of exceptions, annotations, decorators and documentation are left alone,
because no question is about them.

Source of the kinds of changes: R. A. DeMillo, R. J. Lipton and F. G. Sayward, "Hints on test data
selection", Computer 11(4), 1978 (a test that tells a program from its near neighbors tells it
from most wrong ones).  Those for arrays (axes, casts, reductions, eps) come from the ideas in the
questions.
"""

from __future__ import annotations

import ast
import copy
import itertools
import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple, TypeVar

from grader.grading.bank_errors import BankProgramError
from grader.model.limits import MAX_MUTANT_BYTES
from grader.model.mutants import Mutant

T = TypeVar("T")

LocalNames = dict[str, int]  # the line of the first assignment of each; 0 for a parameter
Replacement = tuple[str, ast.expr]  # the rule, and the new expression

_OPERATORS = (
    "Add Sub", "Sub Add", "Mult Div", "Div Mult", "FloorDiv Div Mod", "Mod FloorDiv", "Pow Mult",
    "MatMult Mult", "BitAnd BitOr", "BitOr BitAnd", "LShift RShift", "RShift LShift",
    "Lt LtE GtE", "LtE Lt Gt", "Gt GtE LtE", "GtE Gt Lt", "Eq NotEq", "NotEq Eq", "In NotIn",
    "NotIn In", "Is IsNot", "IsNot Is", "BitXor",
)  # fmt: skip
# Maps each operator of two operands to the operators that replace it.
OPERATORS: dict[type[ast.AST], list[type[Any]]] = {
    getattr(ast, operator): [getattr(ast, other) for other in others]
    for operator, *others in map(str.split, _OPERATORS)
}
NON_COMMUTATIVE = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
_PAIRS = (
    "min max", "amin amax", "minimum maximum", "fmin fmax", "argmin argmax", "nanmin nanmax",
    "sum mean", "prod sum", "var std", "cumsum cumprod", "zeros ones", "zeros_like ones_like",
    "floor ceil", "any all", "exp expm1", "log log1p", "sin cos", "sigmoid tanh", "relu silu",
    "hstack vstack", "tril triu", "append extend",
)  # fmt: skip
# `zeros` does not become `empty`, whose results are random and mostly zeros.
NAMES: dict[str, str] = {"empty": "zeros", "empty_like": "zeros_like"}
for _pair in _PAIRS:
    _left, _right = _pair.split()
    NAMES.setdefault(_left, _right)
    NAMES.setdefault(_right, _left)

# Comparisons that differ only if both sides are equal.
_WITH_OR_WITHOUT_EQUALITY: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
MAX_EPSILON = 1e-3  # a positive number up to this one keeps another number away from 0
_SENTINELS = {"inf": 1e4, "-inf": -1e4, "nan": 0.0}  # numbers that people write instead
_PRECISIONS = {"float64": "float32", "double": "float32", "float32": "float64"}
_ROOTS = {"sqrt", "rsqrt"}
_UNCHANGED_FIELDS = {"annotation", "returns", "decorator_list"}
MOVED_BOUND_RULE = "another bound"  # `<=` for `<`, or another number in a comparison
MODULE_SCOPE = "module"  # the scope of statements outside functions
_UNCHANGED_STATEMENTS = (ast.Raise, ast.Import, ast.ImportFrom, ast.ClassDef, ast.Match)


def derive_mutants(
    source: bytes, numbers: Collection[float] = (), scope_prefix: str = ""
) -> list[Mutant]:
    """Return every mutant of a source, in the order of the source, without repetitions.

    Args:
        source: the source of a reference or of an accepted solution.
        numbers: if not empty, the only mutants are those that move a bound with one of these
            numbers: `n < 9` or `n <= 8` in place of `n < 8`.
        scope_prefix: text in front of the scope of each mutant, such as "accepted/loops.".

    Raises:
        BankProgramError: the source cannot be parsed, or its mutants take too many bytes.
    """
    mutants: dict[bytes, Mutant] = {}
    total_bytes = 0
    try:
        for mutant in _Mutator(ast.parse(source), numbers, scope_prefix).mutants():
            mutants.setdefault(mutant.source, mutant)
            total_bytes += len(mutant.source)
            if total_bytes > MAX_MUTANT_BYTES:
                raise BankProgramError(
                    f"expected at most {MAX_MUTANT_BYTES:,} bytes of mutants, found more: make the "
                    "reference shorter"
                )
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise BankProgramError(f"no mutants can be derived from the reference: {reason}") from None
    return list(mutants.values())


class _Mutator:
    """Changes a syntax tree in place, writes a mutant, and takes the change back."""

    def __init__(self, tree: ast.Module, numbers: Collection[float], scope_prefix: str) -> None:
        self.tree = tree
        self.numbers = numbers
        self.scope_prefix = scope_prefix
        # Names of imported modules: `np` in `np.sum(x)` is not an operand.
        self.modules = {
            (alias.asname or alias.name).split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }

    def mutants(self) -> Iterator[Mutant]:
        """Yield the mutants of all statements."""
        return self._block_mutants(self.tree.body, MODULE_SCOPE, {})

    def _block_mutants(
        self, body: list[ast.stmt], scope: str, local_names: LocalNames, column: int = -1
    ) -> Iterator[Mutant]:
        """Yield the mutants of the statements of a block, including nested ones.

        `column` is that of the statement around the block: an `if` in this column is an `elif`.
        """
        for index, node in enumerate(body):
            if index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue  # documentation
            inner_scope = scope
            inner_names = local_names
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner_scope = node.name if scope == MODULE_SCOPE else f"{scope}.{node.name}"
                inner_names = {} if isinstance(node, ast.ClassDef) else _local_names(node)
            is_elif = isinstance(node, ast.If) and node.col_offset == column
            yield from self._statement_mutants(
                body, index, inner_scope, local_names, is_elif=is_elif
            )
            blocks = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
            blocks += [part.body for part in getattr(node, "handlers", ())]
            blocks += [part.body for part in getattr(node, "cases", ())]
            for block in blocks:
                yield from self._block_mutants(block, inner_scope, inner_names, node.col_offset)

    def _statement_mutants(
        self,
        body: list[ast.stmt],
        index: int,
        scope: str,
        local_names: LocalNames,
        *,
        is_elif: bool,
    ) -> Iterator[Mutant]:
        """Yield the mutants of one statement, without mutants of the statements inside it."""
        node = body[index]
        was = _statement_text(node, is_elif=is_elif)

        def mutant(rule: str, becomes: str) -> Mutant:
            source = ast.unparse(self.tree).encode()
            return Mutant(f"{self.scope_prefix}{scope}", node.lineno, rule, was, becomes, source)

        if not isinstance(node, _UNCHANGED_STATEMENTS):
            for slot in expression_slots(node):
                original = slot.holder[slot.key]
                for rule, changed in self._replacements(slot):
                    slot.holder[slot.key] = changed
                    becomes = _statement_text(node, is_elif=is_elif)
                    if becomes != was:
                        yield mutant(rule, becomes)
                    slot.holder[slot.key] = original
        if self.numbers:
            return
        for rule, new_statement in statement_changes(node, local_names):
            body[index] = new_statement
            yield mutant(rule, ast.unparse(new_statement))
            body[index] = node
        if can_be_removed(node, local_names) and not is_elif:
            body[index] = ast.Pass()
            yield mutant("dropped statement", "nothing")
            body[index] = node

    def _replacements(self, slot: ExpressionSlot) -> Iterator[Replacement]:
        expression = slot.holder[slot.key]
        if self.numbers:
            return moved_bounds(expression, self.numbers)
        return replacements(expression, slot.role, self.modules)


def _statement_text(node: ast.stmt, *, is_elif: bool) -> str:
    """Return the text of a statement; if it contains statements, only its head."""
    if not isinstance(getattr(node, "body", None), list):
        return ast.unparse(node)
    head = _with_fields(node, body=[ast.Pass()], orelse=[], decorator_list=[])
    text = ast.unparse(head).removesuffix("pass").rstrip()
    return f"el{text}" if is_elif else text


# -- expressions that may change -------------------------------------------------------------------


class ExpressionSlot(NamedTuple):
    """The place of an expression in a statement: `holder[key]` can be replaced."""

    holder: Any  # a list, or the fields of a node
    key: Any  # index or name
    # test, axis, dtype, subscripts, operator (the function of a call), a keyword, or ""
    role: str


def expression_slots(node: ast.AST) -> Iterator[ExpressionSlot]:
    """Yield the place of every expression in a node, the outermost first."""
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    for name, value in ast.iter_fields(node):
        if name in _UNCHANGED_FIELDS:
            continue
        places: list[tuple[Any, Any]] = [(vars(node), name)]
        if isinstance(value, list):
            places = [(value, index) for index in range(len(value))]
        for holder, key in places:
            item = holder[key]
            if isinstance(item, ast.expr):
                yield ExpressionSlot(holder, key, _role(node, name, key, item))
                if not isinstance(item, ast.JoinedStr) and _number(item) is None:
                    yield from expression_slots(item)
            elif isinstance(item, ast.keyword | ast.comprehension | ast.withitem):
                yield from expression_slots(item)
            elif is_function and isinstance(item, ast.arguments):
                yield from expression_slots(item)  # default values


def _role(node: ast.AST, name: str, key: object, item: ast.expr) -> str:
    """Return the role of an expression (see `ExpressionSlot`) that is in field `name` of a node."""
    match node:
        case ast.Call() if name == "func":
            return "operator"
        case ast.Call() if key == 0 and ast.unparse(node.func).endswith("einsum"):
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
    """Yield every replacement of an expression; `role` is as in `ExpressionSlot`."""
    is_stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
    if is_stored and not isinstance(node, ast.Subscript):
        return
    number = _number(node)
    if number is not None:
        yield from _number_replacements(number, is_axis=role == "axis")
        return
    yield from _sentinel_replacements(node, modules)
    yield from _eps_replacements(node)
    if role == "test":
        yield "negated condition", ast.UnaryOp(ast.Not(), node)
    if role == "dtype":
        for name in ("float32", "float64"):
            yield "changed cast", ast.Constant(name)
    match node:
        case ast.Constant(value=bool(value)):
            yield "flipped flag", ast.Constant(not value)
        case ast.Constant(value=str(value)) if role == "subscripts":
            yield from _swapped_subscripts(value)
        case ast.BinOp():
            yield from _binary_replacements(node)
        case ast.Compare():
            yield from _comparison_replacements(node)
        case ast.BoolOp():
            yield from _bool_replacements(node)
        case ast.UnaryOp():
            yield "dropped sign or not", node.operand
        case ast.IfExp():
            yield "swapped branches", ast.IfExp(node.test, node.orelse, node.body)
        case ast.Tuple():
            yield from _tuple_replacements(node, is_axis=role == "axis")
        case ast.Subscript():
            yield from _subscript_replacements(node)
        case ast.Call():
            yield from _call_replacements(node, modules)
        case ast.Attribute(attr="T" | "mT" | "H"):
            yield "dropped transpose", node.value
        case ast.Attribute() | ast.Name() if role == "operator" and _name(node) in NAMES:
            field = "attr" if isinstance(node, ast.Attribute) else "id"
            yield "another function", _with_fields(node, **{field: NAMES[_name(node)]})
        case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
            for index, loop in enumerate(node.generators):
                if loop.ifs:
                    generators = _with_item(node.generators, index, _with_fields(loop, ifs=[]))
                    yield "dropped condition", _with_fields(node, generators=generators)
        case _:
            return


def _swapped_subscripts(subscripts: str) -> Iterator[Replacement]:
    for index, (left, right) in enumerate(itertools.pairwise(subscripts)):
        if left != right and f"{left}{right}".isalpha():
            swapped = f"{subscripts[:index]}{right}{left}{subscripts[index + 2 :]}"
            yield "swapped subscripts", ast.Constant(swapped)


def _comparison_replacements(node: ast.Compare) -> Iterator[Replacement]:
    for index, operator in enumerate(node.ops):
        for other in OPERATORS[type(operator)]:
            rule = "another comparison"
            if _WITH_OR_WITHOUT_EQUALITY.get(type(operator)) is other:
                rule = MOVED_BOUND_RULE
            yield rule, _with_fields(node, ops=_with_item(node.ops, index, other()))


def _bool_replacements(node: ast.BoolOp) -> Iterator[Replacement]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "and/or", _with_fields(node, op=other)
    for index in range(len(node.values)):
        values = _without_item(node.values, index)
        conditions = values[0] if len(values) == 1 else _with_fields(node, values=values)
        yield "dropped condition", conditions


def _tuple_replacements(node: ast.Tuple, *, is_axis: bool) -> Iterator[Replacement]:
    for items in _swapped_lists(node.elts):
        yield "swapped items", ast.Tuple(items)
    if is_axis:
        for index in range(len(node.elts)):
            yield "dropped axis", ast.Tuple(_without_item(node.elts, index))


def _subscript_replacements(node: ast.Subscript) -> Iterator[Replacement]:
    for index, part in enumerate(_tuple_items(node.slice)):
        if not isinstance(part, ast.Slice):
            continue
        for bound, value in ast.iter_fields(part):
            if value is None:
                continue
            changes: list[tuple[str, ast.expr | None]] = [("dropped bound", None)]
            if bound != "step" and _number(value) is None:
                for operator in (ast.Add(), ast.Sub()):
                    moved = ast.BinOp(value, operator, ast.Constant(1))
                    changes.append(("off by one", moved))
            for rule, change in changes:
                new = copy.deepcopy(node)
                setattr(_tuple_items(new.slice)[index], bound, change)
                yield rule, new


def _call_replacements(node: ast.Call, modules: set[str]) -> Iterator[Replacement]:
    func, args = node.func, node.args
    has_starred = any(isinstance(argument, ast.Starred) for argument in args)
    if not has_starred:
        for arguments in _swapped_lists(args):
            yield "swapped arguments", _with_fields(node, args=arguments)
    for index in range(len(node.keywords)):
        keywords = _without_item(node.keywords, index)
        yield "dropped argument", _with_fields(node, keywords=keywords)
    if not has_starred and len(args) > 1:
        yield "dropped argument", _with_fields(node, args=args[:-1])
    if isinstance(func, ast.Attribute) and not _is_module(func.value, modules):
        yield "dropped call", func.value
        if func.attr == "astype":
            for name in ("float32", "float64", "int64"):
                cast = [ast.Constant(name), *args[1:]]
                yield "changed cast", _with_fields(node, args=cast)
    elif not has_starred and len(args) == 1:
        yield "dropped call", args[0]


def _is_module(node: ast.expr, modules: set[str]) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in modules


def _binary_replacements(node: ast.BinOp) -> Iterator[Replacement]:
    for side in (node.left, node.right):
        if isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str):
            return  # text
    for other in OPERATORS[type(node.op)]:
        yield "another operator", _with_fields(node, op=other())
    if isinstance(node.op, NON_COMMUTATIVE) and ast.dump(node.left) != ast.dump(node.right):
        yield "swapped operands", ast.BinOp(node.right, node.op, node.left)
    rule = "dropped term" if isinstance(node.op, ast.Add | ast.Sub) else "dropped factor"
    if not isinstance(node.op, ast.MatMult):
        yield rule, node.left
    if isinstance(node.op, ast.Add | ast.Mult):
        yield rule, node.right
    elif isinstance(node.op, ast.Sub):
        yield rule, ast.UnaryOp(ast.USub(), node.right)


# -- numbers ---------------------------------------------------------------------------------------


def _number(node: ast.expr) -> int | float | None:
    """Return the value of a number with its sign; None for any other expression."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        operand = _number(node.operand) if isinstance(node.operand, ast.Constant) else None
        return None if operand is None else -operand
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        value: int | float = node.value  # type: ignore[assignment]
        return value
    return None


def _number_replacements(value: float, *, is_axis: bool) -> Iterator[Replacement]:
    rule = "off by one" if is_axis else "another number"
    new_values = [value + 1, value - 1]
    if not is_axis:
        new_values += [2 * value, -value]
    for new in dict.fromkeys(new_values):
        if new != value:
            yield rule, _number_node(new)
    if 0 < value <= MAX_EPSILON and isinstance(value, float):
        for new in (float(f"{value / 10:.12g}"), 0.0):
            yield "another eps", _number_node(new)


def moved_bounds(node: ast.expr, numbers: Collection[float]) -> Iterator[Replacement]:
    """Yield comparisons with one of these numbers moved, or with equality added or removed."""
    if not isinstance(node, ast.Compare):
        return
    sides = [node.left, *node.comparators]
    for index, side in enumerate(sides):
        value = _bound(side)
        if value is None or abs(value) not in numbers:
            continue
        new_values: list[float] = [value / 2]
        if isinstance(value, int):
            new_values = [value - 1, value + 1, value // 2]
        for new in (*new_values, 2 * value):
            left, *right = _with_item(sides, index, _number_node(new))
            yield MOVED_BOUND_RULE, ast.Compare(left, node.ops, right)
        # The operators on both sides of the number.
        for neighbor in range(max(0, index - 1), min(index + 1, len(node.ops))):
            if other := _WITH_OR_WITHOUT_EQUALITY.get(type(node.ops[neighbor])):
                operators = _with_item(node.ops, neighbor, other())
                yield MOVED_BOUND_RULE, _with_fields(node, ops=operators)


def _bound(node: ast.expr) -> int | float | None:
    """Return the value of a number or a power of two such as `1 << 10`; None for the rest."""
    if isinstance(node, ast.BinOp):
        text = ast.unparse(node)
        if re.fullmatch(r"(2 \*\*|1 <<) \d{1,2}", text):
            return 1 << int(text[4:])
    return _number(node)


def _number_node(value: float) -> ast.expr:
    number = ast.Constant(abs(value))
    return number if value >= 0 else ast.UnaryOp(ast.USub(), number)


def _sentinel_replacements(node: ast.expr, modules: set[str]) -> Iterator[Replacement]:
    """Yield a number for `np.inf` or `float("nan")`, and `np.float32` for `np.float64`."""
    match node:
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in modules:
            if name in _SENTINELS:
                yield "a number for none", ast.Constant(_SENTINELS[name])
            if name in _PRECISIONS:
                yield "another precision", _with_fields(node, attr=_PRECISIONS[name])
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))]):
            if text in _SENTINELS:
                yield "a number for none", _number_node(_SENTINELS[text])


def _eps_replacements(node: ast.expr) -> Iterator[Replacement]:
    """Yield `sqrt(x) + eps` for `sqrt(x + eps)` and back, and `x + eps` for `maximum(x, eps)`."""
    match node:
        case ast.Call(func=func, args=[ast.BinOp(left=inner, op=ast.Add(), right=eps)]):
            if _name(func) in _ROOTS and _is_eps(eps):
                root = ast.Call(func, [inner], node.keywords)
                yield "eps outside of the root", ast.BinOp(root, ast.Add(), eps)
        case ast.Call(func=func, args=[inner, eps]) if _name(func) == "maximum" and _is_eps(eps):
            yield "eps added, no floor", ast.BinOp(inner, ast.Add(), eps)
        case ast.BinOp(left=ast.Call(func=func, args=[inner]) as root, op=ast.Add(), right=eps):
            if _name(func) in _ROOTS and _is_eps(eps):
                radicand = ast.BinOp(inner, ast.Add(), eps)
                yield "eps inside of the root", ast.Call(func, [radicand], root.keywords)


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_eps(node: ast.expr) -> bool:
    """Return True if a value keeps another one from 0: a small number, or a name with `eps`."""
    number = _number(node)
    if number is None:
        return "eps" in _name(node).lower()
    return 0 < number <= MAX_EPSILON


# -- statements ------------------------------------------------------------------------------------


def statement_changes(node: ast.stmt, local_names: LocalNames) -> Iterator[tuple[str, ast.stmt]]:
    """Yield changes of a statement as a whole, such as swapped targets or another local returned.

    `local_names` are those of the function around it.
    """
    match node:
        case ast.AugAssign():
            yield "assigned, not added", ast.Assign([node.target], node.value, lineno=node.lineno)
            for other in OPERATORS[type(node.op)]:
                yield "another operator", _with_fields(node, op=other())
            if isinstance(node.op, ast.Sub):
                value = ast.BinOp(node.value, ast.Sub(), node.target)
                yield "swapped operands", ast.Assign([node.target], value, lineno=node.lineno)
        case ast.Assign():
            for index, target in enumerate(node.targets):
                for items in _swapped_lists(_tuple_items(target), starred=False):
                    new_target = _with_fields(target, elts=items)
                    targets = _with_item(node.targets, index, new_target)
                    yield "swapped targets", _with_fields(node, targets=targets)
        case ast.Return(value=ast.expr() as value):
            parts = _tuple_items(value)
            is_tuple = isinstance(value, ast.Tuple)
            for index, part in enumerate(parts):
                if not isinstance(part, ast.Name):
                    continue
                for name, line in local_names.items():
                    if line < node.lineno and name != part.id:
                        returned = _with_item(parts, index, ast.Name(name))
                        result = ast.Tuple(returned) if is_tuple else returned[0]
                        yield "another local returned", ast.Return(result)
        case _:
            return


def can_be_removed(node: ast.stmt, local_names: LocalNames) -> bool:
    """Return True if `pass` may replace a statement.

    It may replace a call, a loop, an `if` without `else`, `del`, `assert`, `raise`, `x += 1`, and
    an assignment without which no name is missing.
    """
    match node:
        case ast.Expr():
            return not isinstance(node.value, ast.Constant)
        case ast.AugAssign() | ast.For() | ast.While() | ast.Delete() | ast.Assert() | ast.Raise():
            return True
        case ast.If():
            return not node.orelse
        case ast.Assign(targets=[ast.Name(id=name)]):
            return local_names.get(name, node.lineno) < node.lineno
        case ast.Assign():
            names = ast.Name | ast.Tuple | ast.List
            return not any(isinstance(target, names) for target in node.targets)
        case _:
            return False


def _local_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> LocalNames:
    """Return the names that a function assigns, with the first line of each; 0 for parameters.

    `self`, `cls` and `_` are left out.
    """
    parameters = function.args
    names = {
        parameter.arg: 0
        for parameter in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs)
    }
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names[node.id] = min(names.get(node.id, node.lineno), node.lineno)
    return {name: line for name, line in names.items() if name not in {"self", "cls", "_"}}


# -- nodes and lists with a change -----------------------------------------------------------------


def _tuple_items(node: ast.expr) -> list[ast.expr]:
    """Return the items of a tuple; any other expression is the only item."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _with_fields(node: T, **fields: object) -> T:
    new = copy.copy(node)
    vars(new).update(fields)
    return new


def _swapped_lists(items: list[ast.expr], *, starred: bool = True) -> Iterator[list[ast.expr]]:
    """Yield the list with each pair of neighbors swapped: [a, b, c] gives [b, a, c] and [a, c, b].

    Pairs of equal items are skipped and, unless `starred`, pairs with a starred item.
    """
    for index, (left, right) in enumerate(itertools.pairwise(items)):
        has_starred = isinstance(left, ast.Starred) or isinstance(right, ast.Starred)
        if ast.dump(left) != ast.dump(right) and (starred or not has_starred):
            yield [*items[:index], right, left, *items[index + 2 :]]


def _with_item(items: list[T], index: int, item: T) -> list[T]:
    return [*items[:index], item, *items[index + 1 :]]


def _without_item(items: list[T], index: int) -> list[T]:
    return [*items[:index], *items[index + 1 :]]
