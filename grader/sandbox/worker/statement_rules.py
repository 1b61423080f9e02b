"""What may happen to a statement as a whole, apart from what may change in its expressions."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from .mutation_rules import OPERATORS, Function, changed, items, swapped, with_item, without

StatementChange = tuple[str, ast.stmt]


def rewritten(node: ast.stmt, function: Function | None) -> Iterator[StatementChange]:
    """What a statement as a whole may become, in the function that it stands in."""
    match node:
        case ast.AugAssign():
            yield from _augmented(node)
        case ast.Assign():
            for index, target in enumerate(node.targets):
                for i, pair in enumerate(itertools.pairwise(items(target))):
                    if not any(isinstance(one, ast.Starred) for one in pair):
                        new = changed(target, elts=swapped(items(target), i))
                        targets = without(node.targets, index, new)
                        yield "swapped targets", changed(node, targets=targets)
        case ast.Return(value=ast.expr() as value) if function is not None:
            names = local_names(function, before=node.lineno)
            for index, part in enumerate(items(value)):
                for name in names if isinstance(part, ast.Name) else ():
                    other = ast.Name(name, ast.Load())
                    if ast.dump(other) != ast.dump(part):
                        yield "another local returned", ast.Return(with_item(value, index, other))
        case _:
            return


def _augmented(node: ast.AugAssign) -> Iterator[StatementChange]:
    """What `a += b` may become, apart from what `b` may become."""
    loaded = ast.parse(ast.unparse(node.target), mode="eval").body
    yield "assigned, not added", ast.Assign([node.target], node.value, lineno=node.lineno)
    for other in OPERATORS[type(node.op)]:
        yield "another operator", ast.AugAssign(node.target, other(), node.value)
    if isinstance(node.op, ast.Sub):
        value = ast.BinOp(node.value, ast.Sub(), loaded)
        yield "swapped operands", ast.Assign([node.target], value, lineno=node.lineno)


def local_names(function: Function, *, before: int) -> list[str]:
    """The parameters of a function and what it assigns before a line, in order."""
    spec = function.args
    found = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.lineno < before:
            found.append(node.id)
    return [name for name in dict.fromkeys(found) if name not in {"self", "cls", "_"}]
