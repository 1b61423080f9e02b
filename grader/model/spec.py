"""A question's YAML as a typed, frozen tree.  `docs/keys.md` explains every key.

The models say what each key may hold; what needs two keys at once (a name that no case
gives, a check that needs an unknown one) is `grader.bank.consistency`'s business.  The keys of a
kind of check stand with the kind, in `grader.kinds`; `grader.kinds.registry` reads a whole spec.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Level = Literal["warm-up", "core", "senior"]
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
Value = bool | int | float | str | None
Amount = str | int | float  # arithmetic over sizes; `grader.cases.size_expr` reads it


class Part(BaseModel):
    """What every part of a spec shares: unknown keys are errors, nothing changes after loading."""

    # Built when first used: most parts are only ever used inside a spec.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


MOST_CPU, MOST_WALL = 600, 1200  # seconds that a question may ask for, per call


class Limits(Part):
    """How long one call may take, where the usual 5 seconds of CPU time are not enough.

    A call is one run of the steps on one case; a check that repeats it has twelve times as long.
    """

    cpu_seconds: Annotated[float, Field(gt=0, le=MOST_CPU)] | None = Field(
        default=None, description="Of CPU time; 5 if not given, at most 600."
    )
    wall_seconds: Annotated[float, Field(gt=0, le=MOST_WALL)] | None = Field(
        default=None,
        description="By the clock; if not given, 25 more than the CPU time or twice that, at most "
        "1200.",
    )


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a key of a check, and what it has to be the name of."""

    # What an extension gives is validated, though it is one already.
    __pydantic_config__ = ConfigDict(revalidate_instances="always")

    path: tuple[str | int, ...]  # of keys, below the check's own
    name: str
    of: Literal["result", "input", "input or result", "run", "case", "size", "number"]


class Tolerance(Part):
    """How far a right answer may be off, besides what rounding explains; all of them are allowed.

    Only for what two right answers may differ by: rounding needs none.
    """

    absolute: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, description="By this much."
    )
    relative: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None, description="By this share of the expected number, entry by entry."
    )
    digits: Annotated[int, Field(ge=1, le=15)] | None = Field(
        default=None, description="By half a unit in this significant digit of it."
    )
    because: Text = Field(description="Why; the candidate reads it.")
    of: Name | list[Name] = Field(
        default=[], description="The results that it is about; all of the check, if not given."
    )

    @property
    def names(self) -> tuple[str, ...]:
        """The names in `of`, always as a tuple."""
        return (self.of,) if isinstance(self.of, str) else tuple(self.of)

    def covers(self, result: str) -> bool:
        """Whether it is about a result."""
        return not self.names or result in self.names

    @property
    def words(self) -> str:
        """What a result may be: "rounded to 2 significant digits or off by at most 0.1"."""
        said = []
        if self.digits is not None:
            said.append(f"rounded to {self.digits} significant digit{'s'[: self.digits - 1]}")
        if self.relative is not None:
            said.append(f"off by at most {100 * self.relative:.3g} %")
        if self.absolute is not None:
            said.append(f"off by at most {self.absolute:g}")
        return " or ".join(said)


class Check(Part):
    """The keys of every kind of check; each kind derives its own from it.

    What follows from the keys alone is a property of them; what needs programs is a method of the
    `grader.kinds.base.Kind`.
    """

    id: Slug = Field(description="Its name, once in a question.")
    kind: str = Field(description="What is measured, and which further keys there are.")
    about: str = Field(
        default="", description="A phrase that completes 'checks that ...', shown to the candidate."
    )
    run: RunName = Field(default="main", description="The run that it looks at.")
    cases: str | list[str] = Field(
        default="all",
        description="A case, a list of them, or all: every case that has the inputs of the run.",
    )
    needs: str | list[str] = Field(
        default=[],
        description="Checks that have to pass before this one is tried; otherwise it is skipped.",
    )
    stretch: bool = Field(
        default=False, description="Whether it is reported without deciding the verdict."
    )

    @property
    def needed(self) -> tuple[str, ...]:
        """The ids in `needs`, always as a tuple."""
        return (self.needs,) if isinstance(self.needs, str) else tuple(self.needs)

    @property
    def results(self) -> tuple[str, ...]:
        """The results of the run that the check looks at, where it has the key `of`."""
        of = getattr(self, "of", ())
        return (of,) if isinstance(of, str) else tuple(of)

    @property
    def wanted(self) -> tuple[str, ...]:
        """The results that workers have to send for it; none where they measure themselves."""
        return self.results

    @property
    def compared(self) -> tuple[str, ...]:
        """The results whose values decide, so that no others would pass."""
        return self.wanted

    def mentions(self) -> Iterator[Mention]:
        """Every name in its keys that has to exist; those under `of` are results."""
        listed = not isinstance(getattr(self, "of", ()), str)
        for number, name in enumerate(self.results):
            yield Mention(("of", number) if listed else ("of",), name, "result")

    def faults(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """What is wrong with its keys together: the path of a key, and a sentence."""
        yield from ()

    def lacks(self) -> str:
        """What it would need to be able to fail, where it has nothing; else an empty text."""
        return "the name of a result" if getattr(self, "of", None) == [] else ""


class TolerantCheck(Check):
    """A check of values, which may allow more than rounding explains."""

    tolerance: Tolerance | None = Field(
        default=None,
        description="How far a right answer may be off besides, and why; the candidate is shown "
        "both.",
    )

    def mentions(self) -> Iterator[Mention]:
        """The results that the tolerance is about."""
        yield from super().mentions()
        for number, name in enumerate(self.tolerance.names if self.tolerance else ()):
            yield Mention(("tolerance", "of", number), name, "result")

    def faults(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """A tolerance that allows nothing."""
        given = self.tolerance
        if given is not None and not given.words:
            yield ("tolerance",), "expected absolute, relative or digits, found none"


class Show(Part):
    """What to print with a mismatch."""

    beside: Name | list[Name] = Field(default=[], description="Inputs to print with a mismatch.")
    window: list[str | int] | None = Field(
        default=None,
        description="Kernel, stride and padding (numbers, or names of scalars) of the window to "
        "cut out of them.",
    )

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names in `beside`, always as a tuple."""
        return (self.beside,) if isinstance(self.beside, str) else tuple(self.beside)


class Code(Part):
    """The programs of a question, written into its spec; each may be a file instead."""

    reference: Source = Field(
        default="", description="The right solution; else drills/ID/reference.py."
    )
    starter: Source = Field(
        default="",
        description="What the candidate receives: it runs, looks plausible, and is wrong; else "
        "drills/ID/starter.py.",
    )
    driver: Source = Field(
        default="",
        description="Functions that steps call as driver.NAME; else drills/ID/driver.py.",
    )
    accepted: dict[Name, Source] = Field(
        default={}, description="Other right solutions, whole, by name; `accepted` names files."
    )


class Misconception(Part):
    """A named wrong idea. Its code is here, or in `drills/ID/misconceptions/`."""

    killed_by: str | list[str] = Field(
        description="The check, or each of the checks, that has to stop it."
    )
    feedback: Text = Field(
        description="What is said to a person who holds it: what is wrong, why, and what to do."
    )
    variants: list[Name] = Field(
        default=[],
        description="Its files in drills/ID/misconceptions/, without .py, where it has several "
        "variants; otherwise the one of its own name.",
    )
    parameters: dict[Name, Annotated[list[Value], Field(min_length=1, max_length=12)]] = Field(
        default={},
        description="Constants of its programs, NAME = value at the left margin, with the values "
        "to try in their place; {NAME} in the feedback becomes the value that was recognized.",
    )
    code: Source | Sources = Field(
        default="",
        description="Its program, executed on top of the reference; a list where it has several "
        "variants. Otherwise it is a file.",
    )

    @property
    def killers(self) -> tuple[str, ...]:
        """The ids in `killed_by`, always as a tuple."""
        return (self.killed_by,) if isinstance(self.killed_by, str) else tuple(self.killed_by)

    @property
    def programs(self) -> tuple[str, ...]:
        """The programs in `code`, always as a tuple; none where they are files."""
        return tuple(self.code) if isinstance(self.code, list) else (self.code,) * bool(self.code)

    @property
    def settings(self) -> list[dict[str, Value]]:
        """The values of its parameters, every combination; one without values if it has none.

        The variants of a question are its programs, each with every setting in this order.
        """
        values = itertools.product(*self.parameters.values())
        return [dict(zip(self.parameters, chosen, strict=True)) for chosen in values]

    def said_of(self, setting: Mapping[str, str]) -> str:
        """The feedback, with the values of parameters, as texts, in their places."""
        text = self.feedback.strip()
        for name, value in setting.items():
            text = text.replace(f"{{{name}}}", value)
        return text


class FollowUp(Part):
    """A question to think about after a pass."""

    ask: Text = Field(description="The question.")
    answer: Text = Field(description="What a good answer says.")


class Survivor(Part):
    """A mutant of the reference that every check passes, and why that is right."""

    scope: str = Field(
        alias="in",
        min_length=1,
        max_length=200,
        description="The function that is changed, or module.",
    )
    was: Text = Field(description="The code before, as drill bank audit --mutants prints it.")
    becomes: Text = Field(description="The code after.")
    because: Text = Field(description="Why nothing is wrong with it.")


class Spec(Part):
    """One question, as its YAML says it."""

    format: Literal[1] = Field(description="The version of the format: 1.")
    title: str = Field(
        min_length=1, max_length=80, description="What the question is called in lists."
    )
    track: Slug = Field(
        description="The subject it belongs to: lower-case words joined by hyphens."
    )
    level: Level = Field(description="How hard it is.")
    minutes: int = Field(gt=0, le=480, description="How long a good candidate takes.")
    deadline: float = Field(
        default=120,
        gt=0,
        le=3600,
        description="Seconds by the clock that one grade may take, its diagnosis included; at "
        "most 3600.",
    )
    limits: Limits = Field(
        default=Limits(),
        description="How long one call may take; a case may have limits of its own.",
    )
    uses: list[Literal["numpy", "torch"]] = Field(
        description="What a submission may import besides the standard library."
    )
    prompt: Text = Field(description="The interviewer's words: the symptom, and not the cause.")
    interface: Text = Field(description="Python signatures with comments: shapes, dtypes, units.")
    contract: list[Text] = Field(
        default=[],
        description="What two reasonable people need to agree on what is right, a sentence each.",
    )
    forbids: list[Call] = Field(
        default=[],
        description="Functions and operators that a solution has to do without; a call of one is "
        "flagged.",
    )
    run: Steps | Annotated[dict[RunName, Steps], Field(min_length=1)] = Field(
        description="The steps, 'result = function(inputs)' each; or several runs by name."
    )
    cases: dict[Slug, dict[str, Any]] = Field(
        description="The inputs by the name of the case; docs/keys.md lists what may stand there."
    )
    checks: list[Check] = Field(min_length=1, description="What is measured, in this order.")
    code: Code = Field(
        default=Code(), description="The programs, where they are not files in drills/ID/."
    )
    misconceptions: dict[Slug, Misconception] = Field(
        default={}, description="Wrong ideas by id, each with a program that holds it."
    )
    accepted: list[Name] = Field(
        default=[],
        description="Right solutions in other styles, drills/ID/accepted/NAME.py each: the audit "
        "holds that every check passes them.",
    )
    survivors: list[Survivor] = Field(
        default=[], description="Mutants of the reference that are right to pass."
    )
    starter: list[Slug] = Field(
        default=[], description="The misconceptions that the starter must be diagnosed as."
    )
    hints: list[Text] = Field(
        default=[], description="From a nudge to nearly the answer; shown one at a time."
    )
    follow_ups: list[FollowUp] = Field(default=[], description="To think about after a pass.")
    sources: list[Text] = Field(
        default=[], description="Where it comes from: papers, documentation, incidents."
    )

    @property
    def runs(self) -> dict[str, list[str]]:
        """Every run by name; a plain list is the run `main`."""
        return {"main": self.run} if isinstance(self.run, list) else dict(self.run)

    def step_keys(self, run: str, number: int) -> tuple[str | int, ...]:
        """The path of keys that leads to a step of a run."""
        return ("run", number) if isinstance(self.run, list) else ("run", run, number)

    @property
    def needs_torch(self) -> bool:
        """Whether the worker has to import torch."""
        return "torch" in self.uses
