"""`drill bank new --from FUNCTION`: a question whose reference calls a library's function.

What the function takes is found out in a worker (`oracle_probe.py`), which returns plain data; the
texts are put together here.  The question asks to write the function, compares values, and in
torch also the gradients, which autograd takes of whatever the candidate has written.
"""

from __future__ import annotations

import importlib.util
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.model.errors import UsageError
from grader.scaffold.oracle_words import CHECKS, KILLERS, feedback, said
from grader.scaffold.template import Template

_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_LIBRARIES = ("numpy", "torch")
_SECONDS = 30.0  # hundreds of small calls
_PROBE = Path(__file__).parent / "oracle_probe.py"
Argument = tuple[str, str, Any]  # parameter, kind, what


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a function."""

    name: str
    module: str
    names: tuple[str, ...]  # of all its parameters
    arguments: tuple[Argument, ...]
    recipes: Mapping[str, Mapping[str, Any]]  # of its arrays
    scalars: Mapping[str, Sequence[Any]]  # default and another value
    differentiable: tuple[str, ...]
    frozen: tuple[str, ...]
    variants: tuple[tuple[str, tuple[Argument, ...]], ...]
    integral: bool
    todo: tuple[str, ...]

    @property
    def called(self) -> str:
        """The last part of its name, which is what the candidate writes."""
        return self.name.rpartition(".")[2]

    @property
    def torch(self) -> bool:
        """Whether it is torch's."""
        return self.name.startswith("torch.")

    @property
    def inputs(self) -> list[str]:
        """What the candidate's function takes, in the library's order."""
        taken = [what for _, kind, what in self.arguments if kind in {"name", "argument"}]
        return list(dict.fromkeys(taken))


def begin(name: str) -> tuple[Template, tuple[str, ...]]:
    """Return the template of a question about a function, and what a human has to decide.

    Raises:
        UsageError: there is no such function, or its library is not there.
    """
    known = _look(name)
    return Template(_spec(known), _programs(known)), known.todo


def _look(name: str) -> Known:
    from grader.bank.steps import parse
    from grader.sandbox.client import WorkerClient, WorkerError
    from grader.sandbox.remote import RemoteProgram
    from grader.sandbox.replies import ProgramError

    library = name.partition(".")[0]
    if library not in _LIBRARIES or not _NAME.fullmatch(name):
        raise UsageError(
            "--from: expected a function of numpy or torch, which are what a question may use, "
            f"found {name!r}",
            hint="for instance --from torch.nn.functional.layer_norm, or --from numpy.cumsum",
        )
    if importlib.util.find_spec(library) is None:
        raise UsageError(
            f"--from: {name} needs {library}, which is not installed",
            hint=f"pip install {library}; drill doctor shows what is there",
        )
    try:
        with WorkerClient(torch=library == "torch") as worker:
            program = RemoteProgram(worker, "probe", [_PROBE.read_bytes()], call_seconds=_SECONDS)
            program.load(("describe",))
            found = program.run((parse(f"y = describe({name!r})"),), {}, ("y",)).values["y"]
    except (WorkerError, ProgramError) as fault:
        why = getattr(getattr(fault, "raised", None), "message", "") or str(fault)
        raise UsageError(f"--from: {name} cannot be looked at: {why}") from None
    if "fault" in found:
        raise UsageError(f"--from: {found['fault']}")
    todo = [str(text) for text in found["todo"]]
    if not found["variants"]:
        todo.append("a misconception: no call that is nearly right gave another result")
    return Known(
        name=name,
        module=str(found["module"]),
        names=tuple(found["names"]),
        arguments=_arguments(found["arguments"]),
        recipes=found["recipes"],
        scalars=found["scalars"],
        differentiable=tuple(found["differentiable"]),
        frozen=tuple(found["frozen"]),
        variants=tuple((str(n), _arguments(call)) for n, call in found["variants"]),
        integral=bool(found["integral"]),
        todo=tuple(todo),
    )


def _arguments(rows: Sequence[Sequence[Any]]) -> tuple[Argument, ...]:
    return tuple((str(p), str(kind), what) for p, kind, what in rows)


# -- programs --------------------------------------------------------------------------------------


def _programs(known: Known) -> dict[str, str]:
    chosen = _chosen(known)
    right = _function(known, _call(known, known.arguments))
    faulty = {_slug(name): _faulty(known, name, call) for name, call in chosen}
    begun = f"import {known.module}\n\n\n"
    return {
        "reference": f'"""{known.name}, by its own name."""\n\n{begun}{right}',
        "starter": f'"""{known.called}, as somebody wrote it."""\n\n{begun}'
        + next(iter(faulty.values()), right),
        **faulty,  # on top of the reference, with its imports
    }


def _chosen(known: Known) -> list[tuple[str, tuple[Argument, ...]]]:
    """The variants that become misconceptions."""
    rounds = [v for v in known.variants if v[0] == "rounds-to-single"]
    own = [v for v in known.variants if v[0] != "rounds-to-single"][:2]
    leaves = [("leaves-the-graph", known.arguments)] if known.differentiable else []
    keeps = [] if known.integral else [("keeps-float64", known.arguments)]
    return [*own, *rounds, *keeps, *leaves]


def _faulty(known: Known, name: str, call: tuple[Argument, ...]) -> str:
    text = _call(known, call)
    arrays = [n for n, r in known.recipes.items() if "integers" not in r]
    match name:
        case "rounds-to-single" if known.torch:
            text = _call(known, call, {n: f"{n}.float()" for n in arrays})
            text = f"{text}.to({arrays[0]}.dtype)" if arrays else text
        case "rounds-to-single":
            text = _call(known, call, {n: f"{n}.astype(numpy.float32)" for n in arrays})
            text = f"numpy.asarray({text}).astype({arrays[0]}.dtype)" if arrays else text
        case "keeps-float64" if known.torch:
            text = f"{text}.double()"
        case "keeps-float64":
            text = f"numpy.asarray({text}, numpy.float64)"
        case "leaves-the-graph":
            text = f"{text}.detach().requires_grad_()"
    return _function(known, text)


def _function(known: Known, call: str) -> str:
    return f"def {known.called}({', '.join(known.inputs)}):\n    return {call}\n"


def _call(
    known: Known, arguments: Sequence[Argument], instead: Mapping[str, str] | None = None
) -> str:
    """The text of a call of the library's function."""
    instead = instead or {}
    texts = []
    positional = True
    for place, (parameter, kind, what) in enumerate(arguments):
        match kind:
            case "name":
                text = instead.get(what, what)
            case "argument":
                text = what
            case "tail":
                text = f"{what}.shape[-1:]"
            case _:
                text = repr(what)
        # The first ones have no keyword in many functions of C.
        there = known.names[place : place + 1] == (parameter,)
        positional = positional and there and kind in {"name", "tail"}
        texts.append(text if positional else f"{parameter}={text}")
    return f"{known.name}({', '.join(texts)})"


# -- the spec --------------------------------------------------------------------------------------


def _spec(known: Known) -> str:
    name, inputs = known.called, known.inputs
    library = "torch" if known.torch else "numpy"
    grads = [f"grad_{n}" for n in known.differentiable]
    run = [f"  - y = {name}({', '.join(inputs)})"]
    if grads:
        run.append(
            f"  - {', '.join(grads)} = torch.vjp(y, grad_y, {', '.join(known.differentiable)})"
        )
    chosen = _chosen(known)
    todo = [f"# TODO {text}" for text in known.todo]
    lines = [
        "# yaml-language-server: $schema=@SCHEMA@",
        f"# Begun from {known.name} as oracle: the reference calls it.",
        "# docs/authoring.md explains the format, docs/keys.md every key.",
        "format: 1",
        'title: "@TITLE@"',
        'track: "@TRACK@"',
        "level: core",
        "minutes: 20",
        f"uses: [{library}]",
        *([f"starter: [{_slug(chosen[0][0])}]"] if chosen else []),
        "",
        "# TODO the story: what goes wrong, for whom, and how it shows. Never the cause.",
        "prompt: |",
        *_prose(f"This {name} does not do what {known.name} does. Find out why, and fix it."),
        "",
        "# TODO shapes in words: which sizes are free, and which have to agree.",
        "interface: |",
        f"  def {name}({', '.join(inputs)}):",
        *(f"      # {text}" for text in said(known)),
        "      return y",
        "",
        "contract:",
        f"  - The values are those of {known.name};",
        "    what its arguments mean, its documentation says.",
        *_floats(known),
        *([f"  - Autograd finds the gradients of y, namely {_and(grads)}."] if grads else []),
        "  - Inputs are never modified.",
        "  # TODO what else two reasonable people would ask: ties, empty inputs, NaN, the border",
        "",
        "# TODO to ask for code of the candidate's own, write the programs below without the",
        "# library's function; whoever calls it is then flagged:",
        f"# forbids: [{known.name}]",
        "",
        "run:",
        *run,
        "",
        "# TODO a literal case that can be worked out in the head, as the first one",
        *(line for line in todo if "inputs" in line),
        "cases:",
        *_cases(known, grads=bool(grads)),
        "",
        "checks:",
        *CHECKS["values"],
        *(CHECKS["single"] if not known.integral else []),
        *(
            [line.replace("@GRADS@", ", ".join(grads)) for line in CHECKS["gradients"]]
            if grads
            else []
        ),
        "",
        "@CODE@",
        *(line for line in todo if "inputs" not in line),
        "# TODO wrong ideas that people hold, in their words; these were found by trying.",
        "misconceptions:" if chosen else "misconceptions: {}",
    ]
    for variant, _ in chosen:
        killer = KILLERS.get(variant, "values")
        lines += [
            f"  {_slug(variant)}:",
            f"    killed_by: {killer}",
            "    feedback: >-",
            f"      {feedback(variant, known.name)}",
            f"@CODE {_slug(variant)}@",
        ]
    lines += [
        "",
        "# TODO from a nudge to nearly the answer",
        "hints:",
        f"  - Work the smallest case out by hand, and compare it with what your {name} gives.",
        "",
        "sources:",
        f'  - "{library} documentation: {known.name}"',
    ]
    return "\n".join(lines) + "\n"


def _prose(text: str) -> list[str]:
    """A paragraph in a block of YAML, on lines that a window of 80 columns holds."""
    lines = textwrap.wrap(text, 76, break_long_words=False, break_on_hyphens=False)
    return [f"  {line}" for line in lines]


def _floats(known: Known) -> list[str]:
    if known.integral:
        return ["  - Inputs of float64 are exact; results have the dtype that the library gives."]
    return [
        "  - Arrays are float64 or float32. The result has their dtype, and its precision; float64"
        " is right to float64."
    ]


def _cases(known: Known, *, grads: bool) -> list[str]:
    first = [f"    {n}: {_flow(r)}" for n, r in known.recipes.items()]
    first += [f"    {n}: {_scalar(values[0])}" for n, values in known.scalars.items()]
    others = [
        f"    {n}: {_scalar(values[1])}"
        for n, values in known.scalars.items()
        if values[1] != values[0]
    ]
    if known.frozen:
        first.append(f"    frozen: [{', '.join(known.frozen)}]")
    if grads:
        first.append("    grad_y: {normal: like y}")
    lines = ["  few:", "    about: random inputs", *first, "  others:"]
    lines += ["    about: other inputs" + (", other arguments" if others else "")]
    lines += ["    extends: few", *others]
    if not known.integral:
        lines += ["  single:", "    about: float32", "    extends: others", "    dtype: float32"]
    return lines


def _flow(recipe: Mapping[str, Any]) -> str:
    parts = {k: list(v) if isinstance(v, (list, tuple)) else v for k, v in recipe.items()}
    if "integers" in parts:
        parts["dtype"] = "int64"
    return "{" + ", ".join(f"{k}: {v}" for k, v in parts.items()) + "}"


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        text = f"{value!r}"  # YAML reads 1e-05 as text: the point makes it a number
        return text.replace("e", ".0e") if "e" in text and "." not in text else text
    return str(value)


def _slug(variant: str) -> str:
    return variant.replace("_", "-").lower()


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
