"""Read the steps of a run: `y, ctx = forward(x, kernel, padding=1)`.

Python's own parser reads the text of the bank (never of a submission), and everything but
assignments of calls with names and literals is refused.  Nothing is generated or evaluated.
"""

from __future__ import annotations

import ast
from typing import Literal

from grader.model.question import Argument, Scalar, Step

Owner = Literal["submission", "torch", "driver"]
MAX_TEXT = 200
BUILT_IN = ("vjp",)  # what `torch.` offers; implemented in the worker


class StepError(Exception):
    """A step is not written as the format says."""


def parse(text: str) -> Step:
    """Read one step.

    Raises:
        StepError: expected and found, in one sentence.
    """
    if len(text) > MAX_TEXT:
        raise StepError(f"expected a step of at most {MAX_TEXT} characters, found {len(text):,}")
    try:
        return _parse(text)
    except (MemoryError, RecursionError):
        raise StepError(
            f"expected 'NAME = FUNCTION(NAMES)', found {text[:40]!r}, nested too deep"
        ) from None


def _parse(text: str) -> Step:
    try:
        body = ast.parse(text.strip(), mode="exec").body
    except (SyntaxError, ValueError) as error:
        raise StepError(f"expected 'NAME = FUNCTION(NAMES)', found {text!r} ({error})") from None
    if len(body) != 1 or not isinstance(body[0], ast.Assign) or len(body[0].targets) != 1:
        raise StepError(f"expected one assignment of a call, found {text!r}")
    call = body[0].value
    if not isinstance(call, ast.Call):
        raise StepError(f"expected a call on the right of '=', found {ast.unparse(call)!r}")
    targets, unpack = _targets(body[0].targets[0])
    owner, function = _function(call.func)
    arguments = [_argument(a, None) for a in call.args]
    for keyword in call.keywords:
        if keyword.arg is None:
            raise StepError("expected plain arguments, found '**'")
        if any(a.keyword == keyword.arg for a in arguments):
            raise StepError(f"expected each argument once, found {keyword.arg} again")
        arguments.append(_argument(keyword.value, keyword.arg))
    if owner == "torch" and function not in BUILT_IN:
        raise StepError(f"expected torch.{' or torch.'.join(BUILT_IN)}, found torch.{function}")
    return Step(text.strip(), targets, unpack, owner, function, tuple(arguments))


def _targets(node: ast.expr) -> tuple[tuple[str, ...], bool]:
    match node:
        case ast.Name(id=name):
            return (name,), False
        case ast.Tuple(elts=items) | ast.List(elts=items) if all(
            isinstance(item, ast.Name) for item in items
        ):
            return tuple(item.id for item in items if isinstance(item, ast.Name)), True
        case _:
            raise StepError(f"expected names on the left of '=', found {ast.unparse(node)!r}")


def _function(node: ast.expr) -> tuple[Owner, str]:
    match node:
        case ast.Name(id=name):
            return "submission", name
        case ast.Attribute(value=ast.Name(id="torch" | "driver" as owner), attr=name):
            return ("torch" if owner == "torch" else "driver"), name
        case _:
            raise StepError(
                "expected a function, torch.FUNCTION or driver.FUNCTION, "
                f"found {ast.unparse(node)!r}"
            )


def _argument(node: ast.expr, keyword: str | None) -> Argument:
    if isinstance(node, ast.Name):
        return Argument(node.id, None, keyword)
    try:
        value: Scalar = ast.literal_eval(node)
    except (ValueError, TypeError):
        value = ()  # type: ignore[assignment]
    if value is not None and not isinstance(value, (bool, int, float, str)):
        raise StepError(f"expected a name or a literal as an argument, found {ast.unparse(node)!r}")
    return Argument(None, value, keyword)
