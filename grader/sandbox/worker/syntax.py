"""The code of a text, as a syntax tree: nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterable


def has_same_code(one: bytes, other: bytes, names: Iterable[str]) -> bool:
    """Return True if two texts have the same code; a text that is no Python has not.

    The code of a text is its definitions of some names, of the names in these definitions, and so
    on; and every statement that defines no name, because it may do anything. So comments,
    docstrings, layout, imports, constants and functions make no difference as long as none of these
    definitions uses them.
    """
    try:
        return _code(one, names) == _code(other, names)
    except Exception:  # noqa: BLE001 - it cannot be read, or is nested too deeply
        return False


def _code(source: bytes, names: Iterable[str]) -> dict[str, list[str]]:
    """Return the definitions that count, by name; all that define none are under an empty one."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            texts = [s for s in body if isinstance(s, ast.Expr) and type(s.value) is ast.Constant]
            body[:] = [s for s in body if s not in texts]
    defined: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in _names(statement):
            defined.setdefault(name, []).append(statement)
    code: dict[str, list[str]] = {}
    waiting = ["", *names]
    while waiting:
        name = waiting.pop()
        if name not in code:
            nodes = defined.get(name, [])
            code[name] = list(map(ast.dump, nodes))
            waiting += [n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)]
    return code


def _names(statement: ast.stmt) -> list[str]:
    """Return the names that a statement defines; an empty one if it may define or do anything."""
    match statement:
        case ast.Import() | ast.ImportFrom():
            return [(n.asname or n.name).partition(".")[0].strip("*") for n in statement.names]
        case ast.Assign(targets=[ast.Name(id=name)]):
            return [name]
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return []  # it runs where the file is the main program
    return [getattr(statement, "name", "")]
