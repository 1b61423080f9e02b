"""Read the steps of a run: `y, ctx = forward(x, kernel, padding=1)`.

Python's own parser reads the text of the bank (never of a submission).  Only assignments of calls
with names and literals are accepted.  Nothing is generated or evaluated.
"""

from __future__ import annotations

import ast
from contextlib import suppress

from grader.model.steps import Argument, Owner, Step

MAX_TEXT = 200  # characters of a step
VJP = "vjp"  # gradients by torch; implemented in the worker


class StepError(Exception):
    """A step is not written as the format says."""


def parse_step(text: str, *, torch: bool = False) -> Step:
    """Read one step; with `torch`, `vjp(...)` asks torch for gradients.

    Raises:
        StepError: the text is not one assignment of a call; says what is expected and found.
    """
    if len(text) > MAX_TEXT:
        raise StepError(f"expected a step of at most {MAX_TEXT} characters, found {len(text):,}")
    target, call = _parse_assignment(text)
    if isinstance(target, (ast.Tuple, ast.List)):
        items = target.elts
    else:
        items = [target]
    targets = tuple(item.id for item in items if isinstance(item, ast.Name))
    if len(targets) < len(items):
        raise StepError(f"expected names on the left of '=', found {ast.unparse(target)!r}")
    arguments = _read_arguments(call)
    owner, function = _read_function(call.func, torch=torch)
    return Step(
        text=text.strip(),
        targets=targets,
        unpack=not isinstance(target, ast.Name),
        owner=owner,
        function=function,
        arguments=arguments,
    )


def _parse_assignment(text: str) -> tuple[ast.expr, ast.Call]:
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = getattr(error, "msg", str(error)) or "too deep"
        message = f"expected 'NAME = FUNCTION(NAMES)', found {text!r} ({reason})"
        if text.count("(") != text.count(")"):
            message += "; inside [ ] a step that holds a comma needs quotes"
        raise StepError(message) from None
    match body:
        case [ast.Assign(targets=[target], value=ast.Call() as call)]:
            return target, call
        case [ast.Assign(targets=[_], value=other)]:
            raise StepError(f"expected a call on the right of '=', found {ast.unparse(other)!r}")
    raise StepError(f"expected one assignment of a call, found {text!r}")


def _read_arguments(call: ast.Call) -> tuple[Argument, ...]:
    arguments = [_read_argument(node, None) for node in call.args]
    for keyword in call.keywords:
        if keyword.arg is None:
            raise StepError("expected plain arguments, found '**'")
        if any(argument.keyword == keyword.arg for argument in arguments):
            raise StepError(f"expected each argument once, found {keyword.arg} again")
        arguments.append(_read_argument(keyword.value, keyword.arg))
    return tuple(arguments)


def _read_argument(node: ast.expr, keyword: str | None) -> Argument:
    if isinstance(node, ast.List):
        items = tuple(_read_argument(item, None) for item in node.elts)
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


def _read_function(node: ast.expr, *, torch: bool) -> tuple[Owner, str]:
    """Return the owner and the name of the called function: (driver, train) for `driver.train`."""
    match node:
        case ast.Name(id=name):
            return "torch" if torch and name == VJP else "submission", name
        case ast.Attribute(value=ast.Name(id="driver"), attr=name):
            return "driver", name
        case ast.Attribute(value=ast.Name(id="judge"), attr=name):
            return "judge", name
    raise StepError(
        f"expected FUNCTION, driver.FUNCTION or judge.FUNCTION, found {ast.unparse(node)!r}"
    )
