"""Read the steps of a run: `y, ctx = forward(x, kernel, padding=1)`.

Python's own parser reads the text of the bank (never of a submission), and everything but
assignments of calls with names and literals is refused.  Nothing is generated or evaluated.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import Literal

from grader.model.question import Argument, Step

Owner = Literal["submission", "torch", "driver"]
MAX_TEXT = 200
BUILT_IN = "vjp"  # of torch; implemented in the worker


_ARGUMENT = "expected a name, a literal or a list of these as an argument"


class StepError(Exception):
    """A step is not written as the format says."""


def parse(text: str, *, torch: bool = False) -> Step:
    """Read one step.

    Args:
        text: as it is written.
        torch: whether `vjp(...)` asks torch for gradients, which is not the submission's then.

    Raises:
        StepError: expected and found, in one sentence.
    """
    if len(text) > MAX_TEXT:
        raise StepError(f"expected a step of at most {MAX_TEXT} characters, found {len(text):,}")
    try:
        return _read(text, torch=torch)
    except (SyntaxError, ValueError) as error:
        raise StepError(f"expected 'NAME = FUNCTION(NAMES)', found {text!r} ({error})") from None
    except (MemoryError, RecursionError):
        found = f"found {text[:40]!r}, nested too deep"
        raise StepError(f"expected 'NAME = FUNCTION(NAMES)', {found}") from None


def _read(text: str, *, torch: bool) -> Step:
    match ast.parse(text.strip()).body:
        case [ast.Assign(targets=[target], value=ast.Call() as call)]:
            targets = _targets(target)
        case [ast.Assign(targets=[_], value=other)]:
            raise StepError(f"expected a call on the right of '=', found {ast.unparse(other)!r}")
        case _:
            raise StepError(f"expected one assignment of a call, found {text!r}")
    owner, function = _function(call.func)
    if torch and (owner, function) == ("submission", BUILT_IN):
        owner = "torch"
    arguments = [_argument(a, None) for a in call.args]
    for keyword in call.keywords:
        if keyword.arg is None:
            raise StepError("expected plain arguments, found '**'")
        if any(a.keyword == keyword.arg for a in arguments):
            raise StepError(f"expected each argument once, found {keyword.arg} again")
        arguments.append(_argument(keyword.value, keyword.arg))
    unpack = not isinstance(target, ast.Name)
    return Step(text.strip(), targets, unpack, owner, function, tuple(arguments))


def _targets(node: ast.expr) -> tuple[str, ...]:
    items = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
    names = tuple(item.id for item in items if isinstance(item, ast.Name))
    if len(names) < len(items):
        raise StepError(f"expected names on the left of '=', found {ast.unparse(node)!r}")
    return names


def _function(node: ast.expr) -> tuple[Owner, str]:
    match node:
        case ast.Name(id=name):
            return "submission", name
        case ast.Attribute(value=ast.Name(id="driver"), attr=name):
            return "driver", name
    found = ast.unparse(node)
    raise StepError(f"expected a function or driver.FUNCTION, found {found!r}")


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
    raise StepError(f"{_ARGUMENT}, found {ast.unparse(node)!r}")
