"""What keys of a spec are made of, and the keys that every kind of check has.

The keys of a kind of check stand with the kind, in `grader.kinds`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

Level = Literal["warm-up", "core", "senior"]
Library = Literal["numpy", "torch"]
Layout = Literal["contiguous", "fortran", "reversed", "strided", "readonly", "broadcast"]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Source = Annotated[str, Field(min_length=1, max_length=1 << 20)]  # a program, written out
Sources = Annotated[list[Source], Field(min_length=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=60)]
RunName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$", max_length=60)]
Steps = Annotated[list[str], Field(min_length=1)]  # an empty run would pass anybody
Multiple = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Clause = Annotated[int, Field(gt=0)]
Value = bool | int | float | str | None
Amount = str | int | float  # arithmetic over sizes; `grader.cases.size_expr` reads it


class Keys(BaseModel):
    """What every mapping of a spec shares: unknown keys are errors, and nothing changes."""

    # Built when first used: most are only ever used inside a spec.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


GRADE_SECONDS = 120  # by the clock, for a whole grade and its explanation


class Limits(Keys):
    """How long one call may take, where the usual 5 seconds of CPU time are not enough.

    A call is one run of the steps on one case; a check that repeats it has twelve times as long.
    """

    cpu_seconds: Annotated[float, Field(gt=0, le=GRADE_SECONDS)] | None = Field(
        default=None, description="Of CPU time; 5 if not given, at most 120."
    )
    wall_seconds: Annotated[float, Field(gt=0, le=GRADE_SECONDS)] | None = Field(
        default=None,
        description="By the clock; if not given, 25 more than the CPU time or twice that, at most "
        "120.",
    )


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a key of a check, and what it has to be the name of."""

    path: tuple[str | int, ...]  # of keys, below the check's own
    name: str
    of: Literal["result", "input", "input or result", "run", "case", "size", "number"]


class Tolerance(Keys):
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


class Check(Keys):
    """The keys of every kind of check; each kind derives its own from it.

    What follows from the keys alone is a property of them; what needs programs is a method of the
    `grader.kinds.base.Kind`.
    """

    only_runs: ClassVar[bool] = False  # it asks a submission for results, and measures nothing

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
    clause: Clause | Annotated[list[Clause], Field(max_length=9)] = Field(
        default=[],
        description="The clause of the contract that it enforces, or a list of them: its number "
        "as the candidate sees it, counted through all parts. A page that says what is wrong "
        "quotes it.",
    )
    points: Annotated[int, Field(gt=0, le=100)] | None = Field(
        default=None,
        description="Of its part's points, those that it earns where the part does not pass; those "
        "of a part's checks add up to the part's.",
    )

    @property
    def needed(self) -> tuple[str, ...]:
        """The ids in `needs`, always as a tuple."""
        return (self.needs,) if isinstance(self.needs, str) else tuple(self.needs)

    @property
    def enforced(self) -> tuple[int, ...]:
        """The numbers in `clause`, always as a tuple."""
        return (self.clause,) if isinstance(self.clause, int) else tuple(self.clause)

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

    def asks(self) -> Iterator[tuple[str, str, Mapping[str, str]]]:
        """What the candidate answers by choosing: an id, the question, the answers by letter."""
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


class Show(Keys):
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
