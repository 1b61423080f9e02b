"""What changed in a mutant, in words that say nothing of how the source is written.

The judge reads no code: it makes a sentence of these, and shows neither statement nor local name.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

_STATEMENTS: dict[type[ast.stmt], str] = {
    ast.If: "branch", ast.For: "loop", ast.While: "loop", ast.AugAssign: "addition",
    ast.Raise: "refusal", ast.Assert: "refusal",
}  # fmt: skip


class Words(NamedTuple):
    """What stood there, what stands there now, and the names that are in it."""

    old: str = ""  # an operator ("Add"), a function ("mean"), a sort of statement ("loop")
    new: str = ""  # likewise; of a number how it relates to the old one ("half")
    names: tuple[str, ...] = ()


def words(old: ast.AST, new: ast.AST | None = None) -> Words:
    """Describe a change of one expression or statement; None where it is left out."""
    if new is None:
        names = _names(old.test) if isinstance(old, ast.If) else ()
        return Words(_statement(old), "", names)
    was, becomes = _number(old), _number(new)
    if was is not None and becomes is not None:
        return Words("number", _relation(was, becomes))
    if isinstance(old, ast.BinOp) and isinstance(new, ast.AST):
        gone = [side for side in (old.left, old.right) if not _is(side, new)]
        if len(gone) == 1:
            negated = "negated" if isinstance(new, ast.UnaryOp) else ""
            what = "number" if _number(gone[0]) is not None else ""
            return Words(type(old.op).__name__, negated or what, _names(gone[0]))
    return Words(_word(old), _word(new), _names(old))


def _is(side: ast.AST, new: ast.AST) -> bool:
    kept = new.operand if isinstance(new, ast.UnaryOp) else new
    return ast.dump(side) == ast.dump(kept)


def _statement(node: ast.AST) -> str:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        return "filling"
    return _STATEMENTS.get(type(node), "step")  # type: ignore[arg-type]


def _word(node: ast.AST) -> str:
    """The operator, or the last name of what is called."""
    operator = getattr(node, "op", None)
    if isinstance(operator, ast.AST):
        return type(operator).__name__
    if isinstance(node, ast.Call):
        return _word(node.func)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value[:20]
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _names(node: ast.AST) -> tuple[str, ...]:
    found = [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
    return tuple(dict.fromkeys(found))[:8]


def _number(node: ast.AST) -> float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    plain = isinstance(node, ast.Constant) and type(node.value) in (int, float)
    return float(node.value) if plain else None  # type: ignore[attr-defined]


def _relation(was: float, becomes: float) -> str:
    if becomes == 2 * was and was:
        return "twice"
    if 2 * becomes == was and was:
        return "half"
    if becomes == was + 1:
        return "more"
    if becomes == was - 1:
        return "less"
    return "negative" if becomes == -was else "another"
