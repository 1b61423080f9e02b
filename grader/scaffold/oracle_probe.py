"""Look at a library's function from inside a worker: how is it called, and on what does it work?

This file is never imported: `grader.scaffold.oracle` has a worker execute it, as it would a
submission, so that the judge needs no library.  Inputs are guessed from the names and defaults of
the parameters, and tried until a call gives finite numbers; then calls that are nearly right are
tried for results that differ.
"""

import ast
import difflib
import importlib
import inspect
import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

Rows = list[list[Any]]  # arguments: parameter, kind, what
Arrays = dict[str, Any]

LEFT_OUT = {
    "out", "inplace", "where", "casting", "order", "dtype", "subok", "like", "device", "generator",
    "size_average", "reduce", "_stacklevel", "requires_grad", "layout", "pin_memory", "signature",
    "interpolation", "method", "weights", "initial", "keepdim", "keepdims", "axes", "dropout_p",
    "attn_mask", "return_indices", "ceil_mode", "training", "sorted", "stable", "kind",
}  # fmt: skip
TENSORS = {
    "input", "x", "a", "other", "tensor", "self", "target", "query", "key", "value", "mat1", "mat2",
    "mat", "vec", "x1", "x2", "a1", "a2", "b", "y", "v", "m", "ar", "arr", "array", "ary", "logits",
    "input1", "input2", "anchor", "positive", "negative", "log_input", "A", "B", "var",
    "running_mean", "running_var", "z",
}  # fmt: skip
OPTIONAL_TENSORS = ("weight", "bias")
AXES = ("dim", "axis")
SIZES: dict[str, list[float]] = {
    "kernel_size": [2, 3], "num_groups": [2], "num_classes": [6], "output_size": [2], "k": [2],
    "n": [2], "shifts": [1], "shift": [1], "groups": [1], "normalized_shape": [],
    "min": [-0.5], "max": [0.5], "a_min": [-0.5], "a_max": [0.5], "threshold": [0.1],
    "value": [-1.0], "p": [2.0], "q": [0.3],
}  # fmt: skip
CHOICES = {"reduction": "sum", "approximate": "tanh"}  # words whose other value is a known mistake
STORIES: list[dict[str, Any]] = [
    {"first": [3, 5], "target": "classes", "weight": [5]},
    {"first": [3, 5], "weight": [5], "bias": [5]},
    {"first": [3, 5], "weight": [4, 5], "bias": [4]},
    {"first": [2, 4, 6], "weight": [4], "bias": [4], "running_mean": [4], "running_var": [4]},
    {"first": [2, 3, 8], "weight": [4, 3, 3], "bias": [4]},
    {"first": [2, 3, 6, 6], "weight": [4, 3, 3, 3], "bias": [4]},
    {"first": [3, 5], "others": [5, 4]},
    {"first": [2, 2, 4, 3]},
    {"first": "indices", "weight": [6, 3]},
    {"first": [4, 4]},
    {"first": [6]},
    {"first": [3, 5], "others": [3]},
]
STYLES = ({"normal": True}, {"uniform": (0.05, 0.95)}, {"uniform": (1.05, 2.95)})
MOST_CALLS = 600
DRAWS = 6  # on each of which a mistake has to show


def describe(name: str) -> dict[str, Any]:
    """Return, as plain data, how the function of this dotted name can be asked about."""
    warnings.simplefilter("ignore")
    function, module, fault = _resolve(name)
    if fault:
        return {"fault": fault}
    found: dict[str, Any] = {
        "module": module,
        "torch": name.startswith("torch"),
        "todo": [],
        "variants": [],
    }
    parameters = _parameters(function)
    if parameters is None:
        found["todo"].append(f"the parameters: {name} does not say what it takes")
        parameters = [("x", inspect.Parameter.empty)]
    looked = _Probe(function, parameters, torch=found["torch"])
    return {**found, "names": looked.names, **looked.look(found["todo"])}


def _resolve(name: str) -> tuple[Any, str, str]:
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


def _parameters(function: Any) -> list[tuple[str, Any]] | None:  # noqa: ANN401 any callable
    """Names and defaults, by the signature or by the first line of the documentation."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return _documented(inspect.getdoc(function) or "")
    named = [p for p in signature.parameters.values() if p.kind not in {p.VAR_KEYWORD}]
    if any(p.kind is p.VAR_POSITIONAL for p in named):
        return _documented(inspect.getdoc(function) or "")
    return [(p.name, p.default) for p in named]


def _documented(text: str) -> list[tuple[str, Any]] | None:
    line = " ".join(text.partition("\n\n")[0].split())  # it may be folded
    line = line.partition("->")[0].replace("[", "").replace("]", "").rstrip(" :")
    line = line.rpartition(".")[2] if "(" not in line.rpartition(".")[0] else line
    try:
        (made,) = ast.parse(f"def {line}: pass").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(made, ast.FunctionDef):
        return None
    plain = [*made.args.posonlyargs, *made.args.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(made.args.defaults))
    pairs = [*zip(plain, [*defaults, *made.args.defaults], strict=True)]
    found = [(a.arg, _literal(d)) for a, d in pairs]
    # Behind a star most documentations leave defaults out.
    found += [
        (a.arg, None if d is None else _literal(d))
        for a, d in zip(made.args.kwonlyargs, made.args.kw_defaults, strict=True)
    ]
    return found


def _literal(node: ast.expr | None) -> Any:  # noqa: ANN401 any default
    if node is None:
        return inspect.Parameter.empty
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


class _Probe:
    """Calls of one function."""

    def __init__(self, function: Any, parameters: list[tuple[str, Any]], *, torch: bool) -> None:  # noqa: ANN401
        self.function = function
        self.torch = importlib.import_module("torch") if torch else None
        self.names = [n for n, _ in parameters]
        self.parameters = [(n, d) for n, d in parameters if n not in LEFT_OUT]
        self.calls = 0
        self.said = ""  # why results will not do
        self.raised = ""  # what the last call that failed did

    def look(self, todo: list[str]) -> dict[str, Any]:
        """Find inputs, and what differs on them."""
        for arguments, recipes in self._guesses():
            drawn = _draw(recipes, 0)
            y = self._called(arguments, drawn)
            if y is None:
                continue
            if not all(_alike(y, self._called(arguments, drawn)) for _ in range(DRAWS)):
                self.said = "its results are random"
                break
            if any(self._called(arguments, _draw(recipes, s)) is None for s in range(1, DRAWS)):
                continue
            return self._known(arguments, recipes, drawn, y)
        if self.said:
            todo.append(f"the inputs of the cases: it can be called, but {self.said}")
        else:
            why = f": {self.raised}" if self.raised else ""
            todo.append(f"the inputs of the cases: none were found on which it can be called{why}")
        required = [n for n, d in self.parameters if d is inspect.Parameter.empty] or ["x"]
        recipes = {n: {"normal": [3, 5]} for n in required}
        arguments = [[n, "name", n] for n in required]
        return {
            "arguments": arguments, "recipes": recipes, "scalars": {}, "differentiable": [],
            "frozen": [], "variants": [["rounds-to-single", arguments]], "integral": False,
        }  # fmt: skip

    def _known(
        self,
        arguments: Rows,
        recipes: Arrays,
        drawn: Arrays,
        y: Any,  # noqa: ANN401
    ) -> dict[str, Any]:
        arguments, scalars = self._with_numbers(arguments, drawn, y)
        differentiable, frozen = self._slopes(arguments, recipes, scalars, drawn)
        return {
            "arguments": arguments,
            "recipes": recipes,
            "scalars": scalars,
            "differentiable": differentiable,
            "frozen": frozen,
            "variants": self._variants(arguments, recipes, scalars, drawn),
            "integral": y.dtype.kind != "f",
        }

    def _guesses(self) -> Iterator[tuple[Rows, dict[str, Any]]]:
        names = {n for n, _ in self.parameters}
        stories = [s for s in STORIES if "target" not in s or "target" in names]
        for style, story, rich in itertools.product(STYLES, stories, (True, False)):
            # Whole numbers will do for most functions: only what looks up gets them first.
            if story["first"] == "indices" and style != STYLES[-1] and "weight" not in names:
                continue
            options = [self._options(n, d, story, style, rich=rich) for n, d in self.parameters]
            for chosen in itertools.product(*options):
                if self.calls > MOST_CALLS:
                    return
                arguments = [a for a, _ in chosen if a is not None]
                recipes = {a[2]: r for a, r in chosen if a is not None and r is not None}
                if recipes:
                    yield arguments, recipes

    def _options(
        self,
        name: str,
        default: Any,  # noqa: ANN401
        story: Arrays,
        style: Arrays,
        *,
        rich: bool,
    ) -> list[tuple[list[Any] | None, Any]]:
        """What may be given for a parameter: pairs of an argument and, for arrays, a recipe."""
        bare = type(default).__name__ == "_NoValueType"  # numpy's word for left out
        required = default is inspect.Parameter.empty or (bare and name in SIZES)
        first = next(n for n, _ in self.parameters)
        if name == first or name in TENSORS:
            if not required and default is not None:
                return [(None, None)]
            if default is None and not rich:
                return [(None, None)]
            recipe = _recipe(story, style, name, first=name == first)
            return [([name, "name", name], recipe)]
        if name in OPTIONAL_TENSORS and (required or default is None):
            if not required and (not rich or name not in story):
                return [(None, None)]
            return [([name, "name", name], _recipe(story, style, name, first=False))]
        if name in AXES:
            must = default is inspect.Parameter.empty
            return [([name, "number", -1], None), *([] if must else [(None, None)])]
        if name == "normalized_shape":
            return [([name, "tail", first], None)]
        if not required:
            return [(None, None)]
        if bare and name in {"min", "max"}:
            return [(None, None)]  # numpy.clip has these twice
        numbers = [([name, "number", n], None) for n in SIZES.get(name, [2, 1, 0.5])]
        return [*numbers, ([name, "name", name], _recipe(story, style, name, first=False))]

    def _called(self, arguments: Rows, values: Arrays) -> Any:  # noqa: ANN401
        """The result as an array; None where it is none that could be compared."""
        self.calls += 1
        try:
            y = self._apply(arguments, {n: self._tensor(v) for n, v in values.items()})
        except Exception as error:  # noqa: BLE001 whatever a library may raise
            lines = str(error).strip().splitlines()
            self.raised = ": ".join([type(error).__name__, *(line[:120] for line in lines[:1])])
            return None
        if self.torch is not None and isinstance(y, self.torch.Tensor):
            y = y.detach().numpy()
        if isinstance(y, (tuple, list)):
            self.said = "its several results cannot be compared: return one of them"
            return None
        y = np.asarray(y)
        if y.dtype.kind not in "fiub" or y.size == 0 or not np.isfinite(y).all():
            self.said = "its results are not finite numbers"
            return None
        return y

    def _apply(self, arguments: Rows, tensors: Arrays) -> Any:  # noqa: ANN401
        positional: list[Any] = []
        given: dict[str, Any] = {}
        for place, (parameter, kind, what) in enumerate(arguments):
            value = what
            if kind == "name":
                value = tensors[what]
            elif kind == "tail":
                value = tuple(tensors[what].shape[-1:])
            # Arrays in front go by position, because some have no keyword.
            in_front = len(positional) == place and self.names[place : place + 1] == [parameter]
            if in_front and kind in {"name", "tail"}:
                positional.append(value)
            else:
                given[parameter] = value
        return self.function(*positional, **given)

    def _tensor(self, value: Any) -> Any:  # noqa: ANN401 an array
        return value if self.torch is None else self.torch.from_numpy(value.copy())

    def _with_numbers(
        self,
        arguments: Rows,
        drawn: Arrays,
        y: Any,  # noqa: ANN401
    ) -> tuple[Rows, dict[str, Any]]:
        """Add the numbers with defaults that matter; for each, its default and another value."""
        scalars: Arrays = {}
        known = {a[0] for a in arguments}
        changes: Rows = []  # those that go together
        for name, default in self.parameters:
            if name in known or type(default) not in {int, float}:
                continue
            for other in [0.5, 0.1, 3.0, 2.0] if type(default) is float else [2, 1, 3, 0]:
                change = [name, "number", other]
                changed = self._called([*arguments, change], drawn)
                if other == default or changed is None or _alike(changed, y):
                    continue
                if self._called([*arguments, *changes, change], drawn) is not None:
                    scalars[name] = [default, other]
                    changes.append(change)
                    break
        added = [*arguments, *([n, "argument", n] for n in scalars)]
        for row in added:
            if row[1] == "number":  # what was guessed becomes an argument too
                scalars[row[0]] = [row[2], row[2]]
                row[1:] = ["argument", row[0]]
        order = [n for n, _ in self.parameters]
        return sorted(added, key=lambda a: order.index(a[0])), scalars

    def _at(self, arguments: Rows, scalars: Arrays, drawn: Arrays) -> Any:  # noqa: ANN401
        """The result with every number at its other value."""
        return self._called(_filled(arguments, scalars, 1), drawn)

    def _slopes(
        self, arguments: Rows, recipes: Arrays, scalars: Arrays, drawn: Arrays
    ) -> tuple[list[str], list[str]]:
        """Inputs of which there are gradients, and floating ones of which there are none."""
        floats = [n for n, r in recipes.items() if "integers" not in r]
        if self.torch is None:
            return [], []
        filled = _filled(arguments, scalars, 0)
        for wanted in (floats, *([n] for n in floats)):
            tensors = {n: self._tensor(v) for n, v in drawn.items()}
            for name in wanted:
                tensors[name].requires_grad_()
            try:
                y = self._apply(filled, tensors)
                grads = self.torch.autograd.grad(y.sum(), [tensors[n] for n in wanted])
            except Exception:  # noqa: BLE001 whatever a library may raise
                continue
            if all(bool(self.torch.isfinite(g).all()) for g in grads):
                return list(wanted), [n for n in floats if n not in wanted]
        return [], floats

    def _variants(self, arguments: Rows, recipes: Arrays, scalars: Arrays, drawn: Arrays) -> Rows:
        """Calls that are nearly right and give something else, the likeliest mistake first."""
        draws = [drawn, *(_draw(recipes, seed) for seed in range(1, DRAWS))]
        rights = [self._at(arguments, scalars, d) for d in draws]
        if any(y is None for y in rights):
            return []
        words = {n: d for n, d in self.parameters if n in CHOICES and isinstance(d, str)}
        tried: list[tuple[str, Rows]] = []
        for name in words:
            tried.append((f"other-{name}", [*arguments, [name, "number", CHOICES[name]]]))
        for name in scalars:
            if name in AXES:
                tried.append((f"wrong-{name}", _with(arguments, name, 0)))
        for name in OPTIONAL_TENSORS:
            if dict(self.parameters).get(name, 0) is None and name in recipes:
                tried.append((f"{name}-forgotten", [a for a in arguments if a[0] != name]))
        for name, (default, other) in scalars.items():
            if name not in AXES:
                values = [default] if default != other else [None, 0, 1, 3]
                tried += [(f"ignores-{name}", _with(arguments, name, v)) for v in values]
        found: dict[str, Rows] = {}
        seen = [rights]
        for name, call in tried:
            if name in found:
                continue
            wrongs = [self._at(call, scalars, d) for d in draws]
            # On every draw, from what is right and from every other mistake.
            # Of another shape, autograd would refuse it before anything is compared.
            shows = all(
                w is not None and w.shape == y.shape for w, y in zip(wrongs, rights, strict=True)
            )
            if shows and not any(any(map(_alike, wrongs, others)) for others in seen):
                found[name] = call
                seen.append(wrongs)
        if rights[0].dtype.kind == "f" and any("integers" not in r for r in recipes.values()):
            found["rounds-to-single"] = arguments
        return [[name, call] for name, call in found.items()]


def _filled(arguments: Rows, scalars: Arrays, which: int) -> Rows:
    """The arguments with a value for every number: its default (0) or its other value (1)."""
    return [
        [p, "number", scalars[p][which]] if kind == "argument" else [p, kind, what]
        for p, kind, what in arguments
    ]


def _with(arguments: Rows, name: str, value: object) -> Rows:
    return [[p, "number", value] if p == name else [p, k, w] for p, k, w in arguments]


def _recipe(story: Arrays, style: Arrays, name: str, *, first: bool) -> dict[str, Any]:
    shape = story["first"] if first else story.get(name, story.get("others", story["first"]))
    if shape == "classes":
        return {"integers": story["first"][:1], "from": 0, "to": story["first"][1] - 1}
    if shape == "indices":
        return {"integers": [4], "from": 0, "to": 5}
    if name == "running_var":
        return {"uniform": shape, "from": 0.5, "to": 2.0}
    if "normal" in style:
        return {"normal": shape}
    low, high = style["uniform"]
    return {"uniform": shape, "from": low, "to": high}


def _draw(recipes: Arrays, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    drawn: Arrays = {}
    for name, recipe in recipes.items():
        if "integers" in recipe:
            drawn[name] = rng.integers(recipe["from"], recipe["to"] + 1, recipe["integers"])
        elif "normal" in recipe:
            drawn[name] = rng.standard_normal(recipe["normal"])
        else:
            drawn[name] = rng.uniform(recipe["from"], recipe["to"], recipe["uniform"])
    return drawn


def _alike(a: Any, b: Any) -> bool:  # noqa: ANN401 arrays or None
    if a is None or b is None or a.shape != b.shape:
        return False
    scale = max(float(np.abs(a).max()), 1e-300)
    return bool(np.abs(a.astype(float) - b.astype(float)).max() <= 1e-6 * scale)
