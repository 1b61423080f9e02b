"""A question's YAML as a typed, frozen tree.  `docs/keys.md` explains every key.

The models say what each key may hold; what needs two keys at once (a name that no case
gives, a check that needs an unknown one) is `grader.bank.consistency`'s business.
`grader.kinds.registry` reads a whole spec.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

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


Path = tuple[str | int, ...]  # of keys
Word = Literal["exp", "log", "sum", "d"]  # of a formula
FORMS = Literal["fix", "estimate", "predict", "derive", "review", "diagnose", "write-the-test"]
MOST_PARTS = 9
OF_A_PART = ("minutes", "prompt", "interface", "contract", "checks", "hints", "follow_ups")
AnswerName = Annotated[
    str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\[\d{1,4}(,\d{1,4}){0,3}\])?$", max_length=60)
]


class Code(Keys):
    """The programs of a question, written into its spec; each may be a file instead."""

    reference: Source = Field(
        default="", description="The right solution; else drills/ID/reference.py."
    )
    starter: Source = Field(
        default="",
        description="What the candidate gets, plausible and wrong; else drills/ID/starter.py.",
    )
    driver: Source = Field(
        default="",
        description="Functions that steps call as driver.NAME; else drills/ID/driver.py.",
    )
    accepted: dict[Name, Source] = Field(
        default={}, description="Other right solutions, whole, by name."
    )


class Misconception(Keys):
    """A named wrong idea. Its code is here, or in `drills/ID/misconceptions/`."""

    killed_by: str | list[str] = Field(description="The check, or each check, that has to stop it.")
    feedback: Text = Field(description="What is wrong, why, and what to do; said to who holds it.")
    variants: list[Name] = Field(
        default=[],
        description="Its files, without .py, where it has several or one of another name.",
    )
    parameters: dict[Name, Annotated[list[Value], Field(min_length=1, max_length=12)]] = Field(
        default={},
        description="Constants of its programs, NAME = value at the left margin, with the values "
        "to try in their place; {NAME} in the feedback becomes the value that was recognized.",
    )
    code: Source | Sources = Field(
        default="",
        description="Its program, on top of the reference; a list where it has variants.",
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


class Answer(Keys):
    """What is asked for in a form of which the answers are text."""

    ask: Text = Field(description="The question, in words.")
    unit: str = Field(
        default="1",
        max_length=20,
        description="Of an estimate: B, FLOP, s, FLOP/B, B/s, FLOP/s, tok/s, or 1 for a pure "
        "number; any of the same sort may be written, as GiB or ms.",
    )
    over: list[Name] = Field(
        default=[], description="Of a line to derive: its indices, two at most."
    )
    must_use: list[Word] = Field(
        default=[], description="Of a line to derive: what has to stand in it."
    )
    may_not_use: list[Word] = Field(default=[], description="Of a line to derive: what must not.")


class Experiments(Keys):
    """The runs of the candidate's script, `drill run`, that a diagnosis allows."""

    function: Annotated[
        str, Field(pattern=r"^(driver\.)?[A-Za-z_][A-Za-z0-9_]*$", max_length=60)
    ] = Field(
        description="What a run calls with the seed, of the script or as driver.NAME; it may "
        "return numbers by name, or a list of them for a curve, which are shown."
    )
    budget: Annotated[int, Field(ge=1, le=99)] = Field(description="How many runs there are.")
    seconds: Annotated[float, Field(gt=0, le=60)] = Field(
        default=10, description="Of CPU time that one run may take."
    )


class FollowUp(Keys):
    """A question to think about after a pass."""

    ask: Text = Field(description="The question.")
    answer: Text = Field(description="What a good answer says.")


class Survivor(Keys):
    """A mutant of the reference that every check passes, and why that is right."""

    scope: str = Field(
        alias="in", min_length=1, max_length=200, description="The changed function, or module."
    )
    was: Text = Field(description="The code before, as drill bank audit --mutants prints it.")
    becomes: Text = Field(description="The code after.")
    because: Text = Field(description="Why nothing is wrong with it.")


class Part(Keys):
    """What is asked at one time: it begins when the part before it passes.

    A question of one part has these keys, without `id` and `points`, beside its other ones.
    """

    id: Slug = Field(default="", description="Its name; its number if not given.")
    points: int = Field(gt=0, le=100, description="Those of all parts add up to 100.")
    minutes: int = Field(gt=0, le=480, description="How long a good candidate takes.")
    prompt: Text = Field(
        description="The interviewer's words: the symptom, and not the cause; at most 90 words in "
        "the first part."
    )
    interface: Text = Field(
        default="",
        description="Python signatures with comments: shapes, dtypes, units; needed in the first "
        "part, and in later ones only what is new.",
    )
    contract: list[Text] = Field(
        default=[],
        description="What two reasonable people need to agree on what is right, a sentence each; "
        "at most six in the first part.",
    )
    checks: list[Check] = Field(min_length=1, description="What is measured, in this order.")
    hints: list[Text] = Field(
        default=[], description="From a nudge to nearly the answer, one at a time."
    )
    follow_ups: list[FollowUp] = Field(default=[], description="To think about after a pass.")


class Spec(Keys):
    """One question, as its YAML says it."""

    format: Literal[2] = Field(description="The version of the format.")
    title: str = Field(min_length=1, max_length=80, description="What it is called in lists.")
    form: FORMS = Field(
        default="fix",
        description="What is handed in: code that was fixed, or answers in a text file: numbers "
        "with units, numbers by hand, formulas, or lines of a diff; or code, and its faults; or a "
        "test, which is tried on what is right and what is wrong. docs/forms.md has all.",
    )
    answers: dict[AnswerName, Answer] = Field(
        default={}, description="What is asked for, by name, where the answers are text."
    )
    diff: str = Field(
        default="",
        max_length=8000,
        description="Of a review: lines that begin with a space, + or -.",
    )
    reasons: dict[Slug, Text] = Field(
        default={}, description="Of a review: why a line may be wrong, by name."
    )
    causes: dict[Slug, Text] = Field(
        default={},
        description="Of a diagnosis: what may have been wrong, by name; some are innocent.",
    )
    log: str = Field(
        default="",
        max_length=8000,
        description="Of a diagnosis: what the starter prints with seed 0.",
    )
    experiments: Experiments | None = Field(
        default=None, description="Of a diagnosis: the runs that the candidate may make."
    )
    track: Slug = Field(description="Its subject: lower-case words joined by hyphens.")
    prerequisites: Annotated[list[Slug], Field(max_length=9)] = Field(
        default=[], description="Questions of the bank that are better passed before; above `uses`."
    )
    then: Slug | Literal[""] = Field(
        default="", description="Of a prediction: the question to begin once it was graded."
    )
    level: Level = Field(description="How hard it is.")
    limits: Limits = Field(
        default=Limits(),
        description="How long one call may take; a case may have limits of its own.",
    )
    uses: list[Library] = Field(
        description="What a submission may import besides the standard library: numpy, which is "
        "always there, and torch."
    )
    parts: Annotated[list[Part], Field(min_length=1, max_length=MOST_PARTS)] = Field(
        description="What is asked, one part after another; in place of it a question of one part "
        "has the keys of that part.",
    )
    run: Steps | Annotated[dict[RunName, Steps], Field(min_length=1)] = Field(
        description="The steps, 'result = function(inputs)' each; or several runs by name."
    )
    defaults: dict[str, Any] = Field(
        default={},
        description="Inputs, and dtype, that a case has unless it gives them: those of the runs of "
        "which it gives an input itself.",
    )
    display: Show | None = Field(
        default=None, description="What to print with the mismatches of checks that have no `show`."
    )
    cases: dict[Slug, dict[str, Any]] = Field(
        description="The inputs by the name of the case; docs/keys.md lists what may stand there."
    )
    code: Code = Field(
        default=Code(), description="The programs, where they are not files in drills/ID/."
    )
    helpers: Annotated[list[Name], Field(max_length=9)] = Field(
        default=[],
        description="Modules, drills/ID/NAME.py each, that every program may import; the candidate "
        "receives them too.",
    )
    misconceptions: dict[Slug, Misconception] = Field(
        default={}, description="Wrong ideas by id, each with a program that holds it."
    )
    accepted: list[Name] = Field(
        default=[],
        description="Right solutions in other styles, drills/ID/accepted/NAME.py each: the audit "
        "proves that every check passes them.",
    )
    survivors: list[Survivor] = Field(
        default=[], description="Mutants of the reference that are right to pass."
    )
    starter_holds: list[Slug] = Field(
        default=[], description="The misconceptions that the starter must be diagnosed as."
    )
    sources: list[Text] = Field(
        default=[], description="Papers, documentation, incidents it comes from."
    )

    @property
    def prompt(self) -> str:
        """The first part's."""
        return self.parts[0].prompt

    @property
    def interface(self) -> str:
        """That of all parts."""
        return "\n".join(part.interface for part in self.parts if part.interface)

    @property
    def contract(self) -> list[str]:
        """The clauses of all parts."""
        return [clause for part in self.parts for clause in part.contract]

    @property
    def checks(self) -> list[Check]:
        """The checks of all parts, in order."""
        return [check for part in self.parts for check in part.checks]

    @property
    def hints(self) -> list[str]:
        """The hints of all parts."""
        return [hint for part in self.parts for hint in part.hints]

    @property
    def follow_ups(self) -> list[FollowUp]:
        """The questions after a pass, of all parts."""
        return [one for part in self.parts for one in part.follow_ups]

    @property
    def minutes(self) -> int:
        """How long a good candidate takes for all parts."""
        return sum(part.minutes for part in self.parts)

    @property
    def part_ids(self) -> tuple[str, ...]:
        """What the parts are called: the id of each, else its number."""
        return tuple(part.id or str(number) for number, part in enumerate(self.parts, 1))

    @property
    def part_numbers(self) -> dict[str, int]:
        """The number of each part by what it may be called: that number, or its id."""
        found = {str(number): number for number, _ in enumerate(self.parts, 1)}
        return found | {name: number for number, name in enumerate(self.part_ids, 1)}

    def part_of(self, check: str) -> int:
        """The number of the part that a check belongs to, from 1.

        Raises:
            KeyError: there is no such check.
        """
        for number, part in enumerate(self.parts, 1):
            if any(one.id == check for one in part.checks):
                return number
        raise KeyError(check)

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


def unified(data: Mapping[str, Any]) -> dict[str, Any]:
    """Parsed data of a spec with `parts`: a question of one part has its keys at the top."""
    found = dict(data)
    if "parts" not in found:
        part = {key: found.pop(key) for key in OF_A_PART if key in found}
        found["parts"] = [{"points": 100, **part}]
    return found


def as_written(at: Path, data: Mapping[str, Any]) -> Path:
    """The path of keys, in the data as it was written, of something in the unified data."""
    return at[2:] if at[:2] == ("parts", 0) and "parts" not in data else at
