"""A question's YAML as a typed, frozen tree.  `docs/format.md` explains every key.

The models say what each key may hold; what needs two keys at once (a name that no case
gives, a check that needs an unknown one) is `grader.bank.consistency`'s business.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Level = Literal["warm-up", "core", "senior"]
Dtype = Literal["float32", "float64", "bfloat16", "int64", "int32", "int16", "uint8", "bool"]
FloatDtype = Literal["float32", "float64", "bfloat16"]
Layout = Literal["contiguous", "fortran", "reversed", "strided", "readonly", "broadcast"]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Source = Annotated[str, Field(min_length=1, max_length=1 << 20)]  # a program, written out
Sources = Annotated[list[Source], Field(min_length=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=60)]
RunName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$", max_length=60)]
# A name of numpy's or torch's, or operators of torch's.
_CALL = r"^((numpy|torch)(\.[A-Za-z_][A-Za-z0-9_]*)+|aten::[A-Za-z0-9_*]+)$"
Call = Annotated[str, Field(pattern=_CALL, max_length=120)]
Steps = Annotated[list[str], Field(min_length=1)]  # an empty run would pass anybody
Multiple = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Amount = str | int | float  # arithmetic over sizes; `grader.cases.size_expr` reads it


class Part(BaseModel):
    """What every part of a spec shares: unknown keys are errors, nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Check(Part):
    """What every kind of check shares."""

    id: Slug
    kind: str
    about: str = ""
    run: RunName = "main"
    cases: str | list[str] = "all"
    needs: str | list[str] = []
    stretch: bool = False

    @property
    def needed(self) -> tuple[str, ...]:
        """The ids in `needs`, always as a tuple."""
        return (self.needs,) if isinstance(self.needs, str) else tuple(self.needs)

    @property
    def results(self) -> tuple[str, ...]:
        """The results of the run that the check looks at, where it has the key `of`."""
        of = getattr(self, "of", ())
        return (of,) if isinstance(of, str) else tuple(of)


class Show(Part):
    """What to set beside a mismatch for the reader."""

    beside: Name | list[Name] = []
    window: list[str | int] | None = None  # kernel, stride, padding: names of scalars, or numbers

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names in `beside`, always as a tuple."""
        return (self.beside,) if isinstance(self.beside, str) else tuple(self.beside)


class OutputsCheck(Check):
    """Results agree with the reference."""

    kind: Literal["outputs"]
    of: Name | list[Name]
    exact: bool = False
    zeros: Literal["close", "exact"] = "close"
    show: Show = Show()


class Conserved(Part):
    """A sum of a gradient that must equal something known."""

    sum: Name
    over: list[int]
    equals: Name | int | float


class GradcheckCheck(Check):
    """Gradients agree with differences of the reference's forward."""

    kind: Literal["gradcheck"]
    loss: Name
    cotangent: Name | None = None
    gradients: dict[Name, Name]
    kinks: bool = False
    conserves: list[Conserved] = []


class ContractCheck(Check):
    """The manners of a function: inputs, ownership, memory of earlier calls, strides."""

    kind: Literal["contract"]
    of: Name | list[Name]
    layouts: list[Layout] = ["fortran", "reversed", "strided", "readonly"]


class StateCheck(Check):
    """Bytes reachable from an object that one step hands to another."""

    kind: Literal["state"]
    of: Name
    at_most: Amount
    large: Slug | Literal[""] = ""  # the case on which the system's own account is taken


class NumbersCheck(Check):
    """A dict of named numbers."""

    kind: Literal["numbers"]
    of: Name
    parts: list[str]
    unit: str = ""
    shown_in: Literal["", "KB", "MB", "GB", "KiB", "MiB", "GiB"] = ""


class CurveCheck(Check):
    """A training curve."""

    kind: Literal["curve"]
    of: Name
    ends_below: Annotated[float, Field(allow_inf_nan=False)] | None = None
    falls: bool = False


class GraphCheck(Check):
    """The tensor comes out of the submission's own autograd.Function."""

    kind: Literal["graph"]
    of: Name


class MemoryCheck(Check):
    """Bytes of an autograd graph."""

    kind: Literal["memory"]
    quantity: Literal["saved", "live", "peak"]
    without: list[Name] = Field(default=[], alias="except")
    at_most: Amount
    against: RunName | None = None
    called: str = ""  # what the other run is, in words
    device: Literal["cpu", "cuda"] = "cpu"
    large: Slug | Literal[""] = ""  # the case on which the system's own account is taken


class FlopsCheck(Check):
    """Matmul FLOPs against another run of the reference."""

    kind: Literal["flops"]
    against: RunName
    called: str = ""  # what the other run is, in words
    at_most: Multiple


class PerformanceCheck(Check):
    """CPU time against the reference, measured in the same grade."""

    kind: Literal["performance"]
    at_most: Multiple


AnyCheck = Annotated[
    OutputsCheck
    | GradcheckCheck
    | ContractCheck
    | StateCheck
    | NumbersCheck
    | CurveCheck
    | GraphCheck
    | MemoryCheck
    | FlopsCheck
    | PerformanceCheck,
    Field(discriminator="kind"),
]


class Code(Part):
    """The programs of a question, written into its spec; each may be a file instead."""

    reference: Source = ""
    starter: Source = ""
    driver: Source = ""


class Misconception(Part):
    """A named wrong idea.  Its code is here, or in `drills/ID/misconceptions/`."""

    killed_by: str | list[str]
    feedback: Text
    variants: list[Name] = []
    code: Source | Sources = ""  # a list when one idea has several faces

    @property
    def killers(self) -> tuple[str, ...]:
        """The ids in `killed_by`, always as a tuple."""
        return (self.killed_by,) if isinstance(self.killed_by, str) else tuple(self.killed_by)

    @property
    def faces(self) -> tuple[str, ...]:
        """The programs in `code`, always as a tuple; none where they are files."""
        return tuple(self.code) if isinstance(self.code, list) else (self.code,) * bool(self.code)


class FollowUp(Part):
    """A question to think about after a pass."""

    ask: Text
    answer: Text


class Survivor(Part):
    """A mutant of the reference that every check passes, and why that is right."""

    scope: Annotated[str, Field(alias="in", min_length=1, max_length=200)]  # function, or `module`
    was: Text
    becomes: Text
    because: Text


class Spec(Part):
    """One question, as its YAML says it."""

    format: Literal[1]
    title: Annotated[str, Field(min_length=1, max_length=80)]
    track: Slug
    level: Level
    minutes: Annotated[int, Field(gt=0, le=480)]
    deadline: Annotated[float, Field(gt=0, le=3600)] = 120  # seconds by the clock, for one grade
    uses: list[Literal["numpy", "torch"]]
    prompt: Text
    interface: Text
    contract: list[Text] = []
    forbids: list[Call] = []
    run: Steps | Annotated[dict[RunName, Steps], Field(min_length=1)]
    cases: dict[Slug, dict[str, Any]]
    checks: Annotated[list[AnyCheck], Field(min_length=1)]
    code: Code = Code()
    misconceptions: dict[Slug, Misconception] = {}
    survivors: list[Survivor] = []
    starter: list[Slug] = []
    hints: list[Text] = []
    follow_ups: list[FollowUp] = []
    sources: list[Text] = []

    @property
    def runs(self) -> dict[str, list[str]]:
        """Every run by name; a plain list is the run `main`."""
        return {"main": self.run} if isinstance(self.run, list) else dict(self.run)

    @property
    def needs_torch(self) -> bool:
        """Whether the worker has to import torch."""
        return "torch" in self.uses
