"""What a question says once for many places: `defaults` of its cases, and the `display` of checks.

Both are filled in when a question is loaded, so that nothing else knows of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from grader.bank.document import Fault
from grader.cases.dataflow import free_names
from grader.cases.inputs import FLOATS, RecipeError, read_input
from grader.cases.recipe import RESERVED
from grader.model.errors import did_you_mean
from grader.model.question import Step
from grader.model.spec import Show, Spec

Runs = Mapping[str, tuple[Step, ...]]


def unreadable(spec: Spec) -> Iterator[Fault]:
    """Defaults that are none."""
    for name, written in spec.defaults.items():
        path: tuple[str, ...] = ("defaults", name)
        wrong = ""
        if name == "dtype":
            wrong = "" if written in FLOATS else f"one of {', '.join(FLOATS)}, found {written!r}"
        elif name in RESERVED:
            wrong = f"an input or dtype, found {name}"
        else:
            try:
                read_input(written)
            except RecipeError as error:
                path = path if error.key is None else (*path, error.key)
                yield path, f"{'.'.join(path)}: {error}"
        if wrong:
            yield path, f"{'.'.join(path)}: expected {wrong}"


def fill(spec: Spec, runs: Runs) -> None:
    """Fill in what cases and checks leave to the question, in place."""
    given = {name: _given(name, spec.cases) for name in spec.cases}
    for name, case in spec.cases.items():
        wanted = _wanted(given[name], spec.defaults, runs)
        case.update((key, spec.defaults[key]) for key in wanted if key not in given[name])
    for part in spec.parts:
        for i, check in enumerate(part.checks):
            takes = "show" in type(check).model_fields and "show" not in check.model_fields_set
            if spec.display is not None and takes:
                inputs = free_names(runs.get(check.run, ()))
                part.checks[i] = check.model_copy(update={"show": _shown(spec.display, inputs)})


def problems(spec: Spec, runs: Runs) -> Iterator[Fault]:
    """Names in either that no run reads."""
    read = {name for steps in runs.values() for name in free_names(steps)}
    like = {other for written in spec.defaults.values() for other in _like(written)}
    for name in spec.defaults:
        if name not in RESERVED and name not in read and name not in like:
            text = f"expected an input that a step reads, found {name!r}{did_you_mean(name, read)}"
            yield ("defaults", name), f"defaults.{name}: {text}"
    if spec.display is None:
        return
    beside = [(("beside", i), name) for i, name in enumerate(spec.display.inputs)]
    window = [(("window", i), size) for i, size in enumerate(spec.display.window or ())]
    for path, shown in (*beside, *window):
        if isinstance(shown, str) and shown not in read:
            text = f"expected an input of a run, found {shown!r}{did_you_mean(shown, read)}"
            yield ("display", *path), f"display: {text}"


def _given(name: str, cases: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The keys that a case has itself, or from cases that it extends."""
    found: set[str] = set()
    seen: list[object] = []
    at: object = name
    while isinstance(at, str) and at in cases and at not in seen:
        seen.append(at)
        found |= cases[at].keys()
        at = cases[at].get("extends")
    return found


def _wanted(given: set[str], defaults: Mapping[str, Any], runs: Runs) -> list[str]:
    """The defaults for a case: of inputs of the runs that it gives an input of, and dtype."""
    inputs = given - RESERVED.keys()
    begun = [names for names in map(free_names, runs.values()) if inputs & names.keys()]
    wanted = {name for names in begun for name in names} | ({"dtype"} if begun else set())
    waiting = [name for name in wanted if name in defaults]
    while waiting:  # what a default is shaped like is wanted too
        more = [n for n in _like(defaults[waiting.pop()]) if n in defaults and n not in wanted]
        wanted.update(more)
        waiting += more
    return [name for name in defaults if name in wanted]


def _like(written: object) -> list[str]:
    """The names of which an input takes the shape."""
    values = written.values() if isinstance(written, dict) else ()
    texts = [value for value in values if isinstance(value, str)]
    return [text.removeprefix("like ") for text in texts if text.startswith("like ")]


def _shown(display: Show, inputs: Mapping[str, object]) -> Show:
    """What can be shown of a display where a run has only some of its inputs."""
    beside = [name for name in display.inputs if name in inputs]
    window = display.window
    if any(isinstance(size, str) and size not in inputs for size in window or ()):
        window = None
    return Show(beside=beside, window=window if beside else None)
