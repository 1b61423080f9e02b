"""Read what a library's function takes, from inside a worker.

This file is never imported: `grader.scaffold.skeleton` has a worker execute it, as it would a
submission, so that the judge loads no library.
"""

import ast
import difflib
import importlib
import inspect
import warnings
from typing import Any

POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD, KEYWORD_ONLY = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)
SCALARS = (bool, int, float, str, type(None))


def describe(name: str) -> dict[str, Any]:
    """The function's module and parameters as plain data, or under `fault` why there are none.

    A parameter is its name, its kind, whether it has to be given, its default (None where that is
    no scalar), whether that is known, and its annotation.
    """
    warnings.simplefilter("ignore")
    function, module, fault = _found(name)
    if fault:
        return {"fault": fault}
    rows = []
    for p in _parameters(function):
        known = isinstance(p.default, SCALARS)
        annotation = getattr(p.annotation, "__name__", str(p.annotation))
        default = p.default if known else None
        rows.append([p.name, p.kind.name, p.default is p.empty, default, known, annotation])
    return {"module": module, "parameters": rows}


def _found(name: str) -> tuple[Any, str, str]:
    """The function of a dotted name and its module, or what is there instead."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:cut])
        try:
            thing: Any = importlib.import_module(module)
        except ImportError:
            continue
        for part in parts[cut:]:
            if not hasattr(thing, part):
                near = difflib.get_close_matches(part, dir(thing), 1)
                hint = f"; did you mean {name.rpartition('.')[0]}.{near[0]}?" if near else ""
                where = getattr(thing, "__name__", module)
                return None, "", f"expected a function, found no {part} in {where}{hint}"
            thing = getattr(thing, part)
        if isinstance(thing, type) or not callable(thing):
            what = f"the {'class' if isinstance(thing, type) else type(thing).__name__} {name}"
            return None, "", f"expected a function, found {what}"
        return thing, module, ""
    return None, "", f"expected a function, found no module {parts[0]}"


def _parameters(function: Any) -> list[inspect.Parameter]:  # noqa: ANN401 any callable
    """By the signature, or where that names nothing, by the documentation; often none."""
    try:
        found = [*inspect.signature(function).parameters.values()]
    except (ValueError, TypeError):
        found = []
    if any(p.kind is not p.VAR_POSITIONAL and p.kind is not p.VAR_KEYWORD for p in found):
        return [p for p in found if p.kind is not p.VAR_KEYWORD]
    written = _documented(inspect.getdoc(function) or "")
    return written or [p for p in found if p.kind is not p.VAR_KEYWORD]


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
    plain = len(given.posonlyargs) + len(given.args)
    missing: list[ast.expr | None] = [None] * (plain - len(given.defaults))
    rows = [
        *((a, POSITIONAL_ONLY) for a in given.posonlyargs),
        *((a, POSITIONAL_OR_KEYWORD) for a in given.args),
        *((a, KEYWORD_ONLY) for a in given.kwonlyargs),
    ]
    # Behind a star most documentations leave defaults out.
    behind = [default or ast.Constant(None) for default in given.kw_defaults]
    defaults = [*missing, *given.defaults, *behind]
    return [
        inspect.Parameter(a.arg, kind, default=_literal(default))
        for (a, kind), default in zip(rows, defaults, strict=True)
    ]


def _literal(node: ast.expr | None) -> Any:  # noqa: ANN401 any default
    if node is None:
        return inspect.Parameter.empty
    try:
        return ast.literal_eval(node)
    except ValueError:
        return node  # a default, and none that can be written into a case
