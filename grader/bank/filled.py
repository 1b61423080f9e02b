"""What a question says once for many places: `defaults` of its cases, and the `display` of checks.

Both are filled in when a question is loaded, so that nothing else knows of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from grader.bank.document import Fault, Keys
from grader.cases.dataflow import free_names
from grader.cases.inputs import FLOATS, RecipeError, read_input
from grader.cases.recipe import RESERVED
from grader.model.keys import Check, Show
from grader.model.nearest import did_you_mean
from grader.model.question import Step
from grader.model.spec import Spec

Runs = Mapping[str, tuple[Step, ...]]
_NOT_INPUTS = ("dtype",)  # that a default may be for


def fill(spec: Spec, runs: Runs) -> None:
    """Fill in what cases and checks leave to the question, in place."""
    given = {name: _given(name, spec.cases) for name in spec.cases}
    for name, case in spec.cases.items():
        wanted = _wanted(given[name], spec.defaults, runs)
        case.update((key, spec.defaults[key]) for key in wanted if key not in given[name])
    for part in spec.parts:
        for i, check in enumerate(part.checks):
            if spec.display is not None and _may_show(check):
                show = _shown(spec.display, free_names(runs.get(check.run, ())))
                part.checks[i] = check.model_copy(update={"show": show})


def problems(spec: Spec, runs: Runs) -> Iterator[Fault]:
    """What is wrong with either, in a question whose runs could all be read."""
    read = {name for steps in runs.values() for name in free_names(steps)}
    like = [str(v).removeprefix("like ") for d in spec.defaults.values() for v in _values(d)]
    for name in spec.defaults:
        if name not in RESERVED and name not in read and name not in like:
            text = f"expected an input that a step reads, found {name!r}{did_you_mean(name, read)}"
            yield ("defaults", name), f"defaults.{name}: {text}"
    display = spec.display
    for path, name in _names(display) if display is not None else ():
        if name not in read:
            text = f"expected an input of a run, found {name!r}{did_you_mean(name, read)}"
            yield ("display", *path), f"display: {text}"


def unreadable(spec: Spec) -> Iterator[Fault]:
    """Defaults that are none; they become one, so that nothing else need complain."""
    for name, written in list(spec.defaults.items()):
        wrong = ""
        if name in RESERVED and name not in _NOT_INPUTS:
            wrong = f"expected an input or {' or '.join(_NOT_INPUTS)}, found {name}"
        elif name in RESERVED and written not in FLOATS:
            wrong = f"expected one of {', '.join(FLOATS)}, found {written!r}"
        if wrong:
            yield ("defaults", name), f"defaults.{name}: {wrong}"
            del spec.defaults[name]
            continue
        try:
            if name not in RESERVED:
                read_input(written)
        except RecipeError as error:
            path = ("defaults", name) if error.key is None else ("defaults", name, error.key)
            yield path, f"{'.'.join(path)}: {error}"
            spec.defaults[name] = 0


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
    wanted = {name for names in begun for name in names} | set(_NOT_INPUTS if begun else ())
    waiting = [name for name in wanted if name in defaults]
    while waiting:  # what a default is shaped like is wanted too
        for value in _values(defaults[waiting.pop()]):
            other = str(value).removeprefix("like ")
            if str(value).startswith("like ") and other in defaults and other not in wanted:
                wanted.add(other)
                waiting.append(other)
    return [name for name in defaults if name in wanted]


def _values(written: object) -> list[object]:
    return list(written.values()) if isinstance(written, dict) else []


def _may_show(check: Check) -> bool:
    """Whether a check takes `show` and has none of its own."""
    return "show" in type(check).model_fields and "show" not in check.model_fields_set


def _shown(display: Show, inputs: Mapping[str, object]) -> Show:
    """What can be shown of a display where a run has only some of its inputs."""
    beside = [name for name in display.inputs if name in inputs]
    window = display.window
    if any(isinstance(size, str) and size not in inputs for size in window or ()):
        window = None
    return Show(beside=beside, window=window if beside else None)


def _names(display: Show) -> Iterator[tuple[Keys, str]]:
    for i, name in enumerate(display.inputs):
        yield ("beside", i), name
    for i, size in enumerate(display.window or ()):
        if isinstance(size, str):
            yield ("window", i), size
