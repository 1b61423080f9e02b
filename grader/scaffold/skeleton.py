"""`drill bank new --from FUNCTION`: a skeleton of a question whose reference calls a function.

The signature is read in a worker (`signature.py`).  Nothing else about the function is guessed:
what a person has to decide is marked TODO, and the audit counts what is left of that.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any, NamedTuple, get_args

import yaml

from grader.bank.steps import parse
from grader.cases.recipe import RESERVED
from grader.model.errors import UsageError
from grader.model.keys import Library
from grader.sandbox.client import WorkerClient, WorkerError
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import ProgramError
from grader.scaffold.template import FOLDER, Template

_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_LIBRARIES: tuple[str, ...] = get_args(Library)
_SIGNATURE = Path(__file__).parent / "signature.py"
_UNASKED = ("out", "dtype", "order", "inplace", "size_average", "reduce")  # how, and not what
_WRITTEN = {"int": "1", "float": "1.0", "bool": "false", "str": "''"}  # where nothing is known
_DRAWN = "{normal: [3, 5]}"


class Parameter(NamedTuple):
    """A parameter of the library's function."""

    name: str
    kind: str
    required: bool
    default: Any
    known: bool  # whether the default can be written into a case
    annotation: str

    @property
    def asked(self) -> bool:
        """Whether the candidate's function takes it."""
        offered = self.known and self.kind != "KEYWORD_ONLY" and self.name not in _UNASKED
        return self.required or (offered and not self.name.startswith("_"))

    @property
    def own(self) -> str:
        """What the question calls it."""
        return f"{self.name}_" if self.name in RESERVED else self.name

    @property
    def value(self) -> str:
        """What a case gives for it, as YAML."""
        if self.required:
            return f"{_WRITTEN.get(self.annotation, _DRAWN)}  # TODO what the function takes"
        return yaml.safe_dump(self.default, default_flow_style=True).partition("\n")[0]

    @property
    def passed(self) -> str:
        """The argument of a call of the library's function."""
        if self.kind == "VAR_POSITIONAL":
            return f"*{self.own}"
        # Documentations leave out which of those with a default can be given by name alone.
        by_place = self.kind == "POSITIONAL_ONLY" or (self.required and self.kind != "KEYWORD_ONLY")
        return self.own if by_place else f"{self.name}={self.own}"

    @property
    def meaning(self) -> str:
        """What the interface says of it."""
        if self.required:
            return "TODO shape and dtype"
        return f"TODO what it means; the library's default is {self.default!r}"


def begin(name: str) -> Template:
    """The template of a question about a function of numpy or torch.

    Raises:
        UsageError: there is no such function, or its library is not there.
    """
    module, parameters = _look(name)
    asked = [p for p in parameters if p.asked]
    left = [p.name for p in parameters if not p.asked]
    called = name.rpartition(".")[2]
    inputs = ", ".join(p.own for p in asked)
    marks = {
        "@FUNCTION@": name,
        "@NAME@": called,
        "@LIBRARY@": name.partition(".")[0],
        "@INPUTS@": inputs,
        "@LEFT@": ", ".join(left) or "nothing",
        "@FIRST@": asked[0].own if asked else "x",
        "      @TAKES@": "\n".join(f"      # {p.own}: {p.meaning}" for p in asked),
        "    @VALUES@": "\n".join(f"    {p.own}: {p.value}" for p in asked),
    }
    spec = (FOLDER / "skeleton.yaml.txt").read_text(encoding="utf-8")
    for mark, text in marks.items():
        spec = spec.replace(mark, text)
    head = (
        f'"""TODO what {called} computes, and for whom."""\n\nimport {module}\n\n\n'
        f"def {called}({inputs}):\n"
    )
    fault = "    # TODO plant the fault that the question is about\n"
    call = f"    return {name}({', '.join(p.passed for p in asked)})\n"
    return Template(spec, {"reference": head + call, "starter": head + fault + call})


def _look(name: str) -> tuple[str, list[Parameter]]:
    library = name.partition(".")[0]
    if library not in _LIBRARIES or not _NAME.fullmatch(name):
        raise UsageError(
            f"--from: expected a function of {' or '.join(_LIBRARIES)}, "
            f"which are what a question may use, found {name!r}",
            hint="for instance --from torch.nn.functional.layer_norm, or --from numpy.cumsum",
        )
    if importlib.util.find_spec(library) is None:
        raise UsageError(
            f"--from: {name} needs {library}, which is not installed",
            hint=f"pip install {library}; drill doctor shows what is there",
        )
    try:
        with WorkerClient(torch=library == "torch") as worker:
            program = RemoteProgram(worker, "signature", [_SIGNATURE.read_bytes()])
            program.load(("describe",))
            found = program.run((parse(f"y = describe({name!r})"),), {}, ("y",)).values["y"]
    except (WorkerError, ProgramError) as fault:
        why = getattr(getattr(fault, "raised", None), "message", "") or str(fault)
        raise UsageError(f"--from: {name} cannot be looked at: {why}") from None
    if "fault" in found:
        raise UsageError(f"--from: {found['fault']}")
    rows = found["parameters"] or [["x", "POSITIONAL_OR_KEYWORD", True, None, False, ""]]
    return str(found["module"]), [Parameter(*row) for row in rows]
