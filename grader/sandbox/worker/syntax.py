"""Compare the code of texts by their syntax trees, without executing them."""

from __future__ import annotations

import ast
from collections.abc import Iterable


def has_same_code(left: bytes, right: bytes, names: Iterable[str]) -> bool:
    """Return True if two texts have the same code; False if one of them is not Python.

    Two things are compared.  First, the definitions of `names`, of all names that they use, and so
    on.  Second, every statement that defines no name, because it may do anything.  So comments,
    docstrings and layout make no difference, nor do definitions and imports that are not used.
    """
    try:
        return _relevant_code(left, names) == _relevant_code(right, names)
    except Exception:  # noqa: BLE001 - it cannot be read, or is nested too deeply
        return False


def _relevant_code(source: bytes, names: Iterable[str]) -> dict[str, list[str]]:
    """Return dumps of the definitions to compare, by name; "" has the statements without a name."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [statement for statement in body if not _is_constant(statement)]
    definitions: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in _defined_names(statement):
            definitions.setdefault(name, []).append(statement)
    code: dict[str, list[str]] = {}
    pending = ["", *names]
    while pending:
        name = pending.pop()
        if name in code:
            continue
        code[name] = []
        for statement in definitions.get(name, []):
            code[name].append(ast.dump(statement))
            for node in ast.walk(statement):
                if isinstance(node, ast.Name):
                    pending.append(node.id)
    return code


def _is_constant(statement: ast.stmt) -> bool:
    """Return True for a statement that is only a constant, such as a docstring or `...`."""
    return isinstance(statement, ast.Expr) and type(statement.value) is ast.Constant


def _defined_names(statement: ast.stmt) -> list[str]:
    """Return the names that a statement defines; [""] if it may do anything, as a loop may."""
    match statement:
        case ast.Import() | ast.ImportFrom():
            names = [alias.asname or alias.name for alias in statement.names]
            return [name.partition(".")[0].strip("*") for name in names]
        case ast.Assign(targets=[ast.Name(id=name)]):
            return [name]
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return []  # not run when the file is imported
    return [getattr(statement, "name", "")]
