"""Read the steps of a run: `y, ctx = forward(x, kernel, padding=1)`.

Python's own parser reads the text of the bank (never of a submission), and everything but
assignments of calls with names and literals is refused.  Nothing is generated or evaluated.
"""

from __future__ import annotations

import ast
from contextlib import suppress

from grader.model.question import Argument, Owner, Step

MAX_TEXT = 200
VJP = "vjp"  # of torch; implemented in the worker


class StepError(Exception):
    """A step is not written as the format says."""


def parse_step(text: str, *, torch: bool = False) -> Step:
    """Read one step; with `torch`, `vjp(...)` asks torch for gradients.

    Raises:
        StepError: expected and found, in one sentence.
    """
    if len(text) > MAX_TEXT:
        raise StepError(f"expected a step of at most {MAX_TEXT} characters, found {len(text):,}")
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        why = getattr(error, "msg", str(error)) or "too deep"
        said = f"expected 'NAME = FUNCTION(NAMES)', found {text!r} ({why})"
        cut = text.count("(") != text.count(")")
        hint = "; inside [ ] a step that holds a comma needs quotes" if cut else ""
        raise StepError(said + hint) from None
    match body:
        case [ast.Assign(targets=[target], value=ast.Call() as call)]:
            pass
        case [ast.Assign(targets=[_], value=other)]:
            raise StepError(f"expected a call on the right of '=', found {ast.unparse(other)!r}")
        case _:
            raise StepError(f"expected one assignment of a call, found {text!r}")
    unpack = not isinstance(target, ast.Name)
    items = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    targets = tuple(item.id for item in items if isinstance(item, ast.Name))
    if len(targets) < len(items):
        raise StepError(f"expected names on the left of '=', found {ast.unparse(target)!r}")
    arguments = [_argument(argument, None) for argument in call.args]
    for keyword in call.keywords:
        if keyword.arg is None:
            raise StepError("expected plain arguments, found '**'")
        if any(argument.keyword == keyword.arg for argument in arguments):
            raise StepError(f"expected each argument once, found {keyword.arg} again")
        arguments.append(_argument(keyword.value, keyword.arg))
    match call.func:
        case ast.Name(id=name):
            owner: Owner = "torch" if torch and name == VJP else "submission"
            return Step(text.strip(), targets, unpack, owner, name, tuple(arguments))
        case ast.Attribute(value=ast.Name(id="driver" | "judge" as place), attr=name):
            by: Owner = "driver" if place == "driver" else "judge"
            return Step(text.strip(), targets, unpack, by, name, tuple(arguments))
    found = ast.unparse(call.func)
    raise StepError(f"expected FUNCTION, driver.FUNCTION or judge.FUNCTION, found {found!r}")


def _argument(node: ast.expr, keyword: str | None) -> Argument:
    if isinstance(node, ast.List):
        items = tuple(_argument(item, None) for item in node.elts)
        if all(item.items is None for item in items):
            return Argument(None, None, keyword, items)
    if isinstance(node, ast.Name):
        return Argument(node.id, None, keyword)
    with suppress(ValueError, TypeError):
        value = ast.literal_eval(node)
        if value is None or isinstance(value, (bool, int, float, str)):
            return Argument(None, value, keyword)
    expected = "expected a name, a literal or a list of these as an argument"
    hint = "; a list holds no lists" if isinstance(node, ast.List) else ""
    raise StepError(f"{expected}, found {ast.unparse(node)!r}{hint}")
