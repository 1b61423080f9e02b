"""Which forbidden names a file mentions, in code that is reached.

Names are resolved through the file's imports and plain assignments, so that a helper of the
candidate's own with the same name is nobody's business.  What runs only when the file is a script
is left out, and so is a function that neither the wanted ones nor the file's own lines reach.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

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
    wanted = {(n.partition(".")[0], n.rpartition(".")[2]): n for n in forbidden}
    names = _imported(tree)
    defined = {n.name: n for n in tree.body if isinstance(n, _DEFINITIONS)}
    _follow_assignments(tree, names)
    starred = {n.module.partition(".")[0] for n in ast.walk(tree)
               if isinstance(n, ast.ImportFrom) and n.module
               and any(a.name == "*" for a in n.names)}  # fmt: skip
    found = []
    for node in _reached(tree, defined, functions):
        dotted = _dotted(node)
        if dotted is None:
            continue
        first, _, rest = dotted.partition(".")
        if first in names:
            whole = f"{names[first]}.{rest}" if rest else names[first]
            key = (whole.partition(".")[0], whole.rpartition(".")[2])
            name = wanted.get(key, "")
            if name and "." in whole and not name.startswith(f"{whole}."):  # a module of that name
                found.append((name, node.lineno))
        elif not rest and first not in defined:
            found += [
                (wanted[top, first], node.lineno) for top in starred if (top, first) in wanted
            ]
    return sorted(set(found), key=lambda pair: (pair[1], pair[0]))


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


def _follow_assignments(tree: ast.Module, names: dict[str, str]) -> None:
    """Add names that are given to what is imported: `pool = F.max_pool2d`."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1):
            continue
        target, dotted = node.targets[0], _dotted(node.value)
        if isinstance(target, ast.Name) and dotted is not None:
            first, _, rest = dotted.partition(".")
            if first in names and target.id not in names:
                names[target.id] = f"{names[first]}.{rest}" if rest else names[first]


def _reached(
    tree: ast.Module, defined: Mapping[str, ast.stmt], functions: Sequence[str]
) -> Iterator[ast.expr]:
    """Every name, attribute and call in code that is reached."""
    waiting: list[ast.AST] = [
        n for n in tree.body if not isinstance(n, _DEFINITIONS) and not _is_script_only(n)
    ]
    waiting += [defined[name] for name in functions if name in defined]
    seen = {id(node) for node in waiting}
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Call) or (
                isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)
            ):
                yield node
            if isinstance(node, ast.Name) and node.id in defined:
                other = defined[node.id]
                if id(other) not in seen:
                    seen.add(id(other))
                    waiting.append(other)


def _is_script_only(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Compare)
        and _dotted(node.test.left) == "__name__"
    )


def _dotted(node: ast.AST) -> str | None:
    """`a.b.c` of nested attributes, and of `getattr(a, "b")`; None for anything else."""
    words: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            words.append(node.attr)
            node = node.value
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "getattr"
            and len(node.args) >= 2
            and isinstance(node.args[1], ast.Constant)
        ):
            words.append(str(node.args[1].value))
            node = node.args[0]
        elif isinstance(node, ast.Name):
            return ".".join([node.id, *reversed(words)])
        else:
            return None
