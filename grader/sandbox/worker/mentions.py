"""Which forbidden names a file mentions, in code that its wanted functions or its own lines reach.

A simple reading: names are resolved through the file's imports, so that a helper of the candidate's
own with the same name is nobody's business.  What is called in a roundabout way is seen when it
runs; see `policy`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def mentions(
    source: bytes, forbidden: Sequence[str], functions: Sequence[str]
) -> list[tuple[str, int]]:
    """Return (forbidden name, line) pairs, in the order of the file.

    A name is met when what it resolves to begins with the same package and ends with the same word:
    `torch.max_pool2d` is `torch.nn.functional.max_pool2d`.

    Args:
        source: of a file; one that cannot be parsed mentions nothing, because it will not run.
        forbidden: dotted names.
        functions: the functions that will be called.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    wanted = {_ends(name): name for name in forbidden}
    imported = _imported(tree)
    found = set()
    for node in _reached(tree, functions):
        first, dot, rest = ast.unparse(node).partition(".")
        whole = f"{imported.get(first, '')}{dot}{rest}"
        name = wanted.get(_ends(whole))
        if name and "." in whole and not name.startswith(f"{whole}."):  # a module of that name
            found.add((node.lineno, name))
    return [(name, line) for line, name in sorted(found)]


def _ends(dotted: str) -> tuple[str, str]:
    """The package and the last word of a name."""
    return dotted.partition(".")[0], dotted.rpartition(".")[2]


def _imported(tree: ast.Module) -> dict[str, str]:
    """By name in the file, what it is imported from, wherever that happens."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in tree.body:
        if isinstance(node, _DEFINITIONS):
            names.pop(node.name, None)  # the file's own definition comes later
    return names


def _reached(tree: ast.Module, functions: Sequence[str]) -> Iterator[ast.Name | ast.Attribute]:
    """Every name and attribute that is read in code that is reached."""
    defined = {node.name: node for node in tree.body if isinstance(node, _DEFINITIONS)}
    waiting: list[ast.AST] = [node for node in tree.body if not _is_aside(node)]
    waiting += [defined.pop(name) for name in functions if name in defined]
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                yield node
            if isinstance(node, ast.Name) and node.id in defined:
                waiting.append(defined.pop(node.id))


def _is_aside(node: ast.stmt) -> bool:
    """Whether a statement only defines something, or runs only where the file is a script."""
    script = isinstance(node, ast.If) and ast.unparse(node.test).startswith("__name__")
    return script or isinstance(node, _DEFINITIONS)
