"""Read what a library's function takes, from inside a worker.

This file is never imported: `grader.scaffold.skeleton` has a worker execute it, as it would a
submission, so that the judge loads no library.
"""

import ast
import difflib
import inspect
import pkgutil
import warnings
from typing import Any

SCALARS = (bool, int, float, str, type(None))


def describe(name: str) -> dict[str, Any]:
    """The function's module and parameters as plain data, or under `fault` why there are none.

    A parameter is its name, its kind, whether it has to be given, its default (None where that is
    no scalar), whether that is known, and its annotation.
    """
    warnings.simplefilter("ignore")
    try:
        module, function = _found(name)
    except LookupError as fault:
        return {"fault": f"expected a function, found {fault}"}
    rows = []
    for p in _parameters(function):
        known = isinstance(p.default, SCALARS)
        annotation = getattr(p.annotation, "__name__", str(p.annotation))
        default = p.default if known else None
        rows.append([p.name, p.kind.name, p.default is p.empty, default, known, annotation])
    return {"module": module, "parameters": rows}


def _found(name: str) -> tuple[str, Any]:
    """The function of a dotted name, behind the module to import.

    Raises:
        LookupError: what is there instead.
    """
    owner, _, last = name.rpartition(".")
    try:
        scope = pkgutil.resolve_name(owner)
    except (ImportError, AttributeError):
        raise LookupError(f"no {owner}") from None
    if not hasattr(scope, last):
        near = difflib.get_close_matches(last, dir(scope), 1)
        hint = f"; did you mean {owner}.{near[0]}?" if near else ""
        raise LookupError(f"no {last} in {owner}{hint}")
    thing = getattr(scope, last)
    if isinstance(thing, type) or not callable(thing):
        what = "class" if isinstance(thing, type) else type(thing).__name__
        raise LookupError(f"the {what} {name}")
    return owner if inspect.ismodule(scope) else name.partition(".")[0], thing


def _parameters(function: Any) -> list[inspect.Parameter]:  # noqa: ANN401 any callable
    """By the signature, or where that names nothing, by the documentation; often none."""
    try:
        found = [*inspect.signature(function).parameters.values()]
    except (ValueError, TypeError):
        found = []
    kept = [p for p in found if p.kind is not p.VAR_KEYWORD]
    if any(p.kind is not p.VAR_POSITIONAL for p in kept):
        return kept
    return _documented(inspect.getdoc(function) or "") or kept


def _documented(text: str) -> list[inspect.Parameter]:
    """The parameters in the first line of a documentation: `relu(input, inplace=False) -> Tensor`.

    That of C functions is no Python (`where(condition, [x, y], /)`), so it is parsed, not run.
    """
    line = " ".join(text.partition("\n\n")[0].split())  # it may be folded
    line = line.partition("->")[0].replace("[", "").replace("]", "").rstrip(" :")
    before, parenthesis, rest = line.partition("(")
    try:
        (made,) = ast.parse(f"def {before.rpartition('.')[2]}{parenthesis}{rest}: pass").body
    except (SyntaxError, ValueError):
        return []
    assert isinstance(made, ast.FunctionDef)
    given = made.args
    plain = [*given.posonlyargs, *given.args]
    kinds: list[Any] = [inspect.Parameter.POSITIONAL_ONLY] * len(given.posonlyargs)
    kinds += [inspect.Parameter.POSITIONAL_OR_KEYWORD] * len(given.args)
    kinds += [inspect.Parameter.KEYWORD_ONLY] * len(given.kwonlyargs)
    # Behind a star most documentations leave defaults out.
    behind = [default or ast.Constant(None) for default in given.kw_defaults]
    defaults = [*[None] * (len(plain) - len(given.defaults)), *given.defaults, *behind]
    return [
        inspect.Parameter(a.arg, kind, default=_literal(default))
        for a, kind, default in zip([*plain, *given.kwonlyargs], kinds, defaults, strict=True)
    ]


def _literal(node: ast.expr | None) -> Any:  # noqa: ANN401 any default
    if node is None:
        return inspect.Parameter.empty
    try:
        return ast.literal_eval(node)
    except ValueError:
        return node  # a default, and none that can be written into a case
