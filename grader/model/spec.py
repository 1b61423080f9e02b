"""A question's YAML as a typed, frozen tree.  `docs/keys.md` explains every key.

The models say what each key may hold; what needs two keys at once (a name that no case gives, a
check that needs an unknown one) is `grader.bank.consistency`'s business.  The keys of each kind of
check stand with the kind; `grader.kinds.registry` reads a whole spec.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from grader.model.numerals import short
from grader.model.question import MOST_SETS, Step

GRADE_SECONDS = 120  # by the clock, for a whole grade and its explanation
MOST_PARTS = 9
Level = Literal["warm-up", "core", "senior"]
Library = Literal["numpy", "torch"]
Role = Literal["training", "inference", "research", "kernels"]
Layout = Literal["contiguous", "fortran", "reversed", "strided", "readonly", "broadcast"]
Form = Literal["fix", "estimate", "predict", "derive", "review", "diagnose", "write-the-test"]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Source = Annotated[str, Field(min_length=1, max_length=1 << 20)]  # a program, written out
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=60)]
RunName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$", max_length=60)]
AnswerName = Annotated[
    str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\[\d{1,4}(,\d{1,4}){0,3}\])?$", max_length=60)
]
_Short = Field(max_length=100)
Sets = list[dict[Name, int | float | Annotated[str, _Short] | Annotated[list[float], _Short]]]
Multiple = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Word = Literal["exp", "log", "sum", "d"]  # of a formula
Seconds = Annotated[float, Field(gt=0, le=GRADE_SECONDS)]
Points = Annotated[int, Field(gt=0, le=100)]
Value = bool | int | float | str | None
Amount = str | int | float  # arithmetic over sizes; `grader.cases.size_expr` reads it
Path = tuple[str | int, ...]  # of keys
OF_A_PART = ("minutes", "prompt", "interface", "contract", "checks", "hints", "follow_ups")


def _worded(written: object) -> object:
    return str(written) if type(written) in {int, float} else written


def _listed(written: object) -> object:
    return written if isinstance(written, list) else [written]


def _stepped(written: object) -> object:
    return [written] if isinstance(written, str) else written


# One, or a list of them; read as a list.
_Steps = Annotated[list[str], Field(min_length=1)]  # an empty run would pass anybody
Steps = Annotated[_Steps, BeforeValidator(_stepped, json_schema_input_type=str | _Steps)]
_Clauses = Annotated[list[Annotated[int, Field(gt=0)]], Field(max_length=9)]
Ids = Annotated[list[str], BeforeValidator(_listed, json_schema_input_type=str | list[str])]
Names = Annotated[list[Name], BeforeValidator(_listed, json_schema_input_type=Name | list[Name])]
Clauses = Annotated[
    _Clauses,
    BeforeValidator(_listed, json_schema_input_type=Annotated[int, Field(gt=0)] | _Clauses),
]


class Keys(BaseModel):
    """What every mapping of a spec shares: unknown keys are errors, and nothing changes."""

    # Built when first used: most are only ever used inside a spec.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


def key(description: str, default: Any = ..., **limits: Any) -> Any:  # noqa: ANN401 as Field has it
    """A key with what it means, which the documents and editors show; needed without a default."""
    return Field(default, description=description, **limits)


class Limits(Keys):
    """How long one call may take, where the usual 5 seconds of CPU time are not enough.

    A call is one run of the steps on one case; a check that repeats it has twelve times as long.
    """

    cpu_seconds: Seconds | None = key("Of CPU time; 5 if not given, at most 120.", None)
    wall_seconds: Seconds | None = key(
        "By the clock, at most 120; if not given, 5 seconds idle end it.", None
    )


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a key of a check, and what it has to be the name of."""

    path: Path  # below the check's own
    name: str
    of: Literal["result", "input", "input or result", "run", "size", "number"]


class Tolerance(Keys):
    """How far a right answer may be off, besides what rounding explains; all of them are allowed.

    Only for what two right answers may differ by: rounding needs none.
    """

    absolute: float | None = key("By this much.", None, gt=0, allow_inf_nan=False)
    relative: float | None = key("By this share of the expected number.", None, gt=0, lt=1)
    because: Text = key("Why; the candidate reads it.")
    of: Names = key("The results that it is about; all of the check, if not given.", [])

    def covers(self, result: str) -> bool:
        """Whether it is about a result."""
        return not self.of or result in self.of

    @property
    def words(self) -> str:
        """What a result may be: "off by at most 3 % or by 0.1"."""
        widths = []
        if self.relative is not None:
            widths.append(f"{short(100 * self.relative)} %")
        if self.absolute is not None:
            widths.append(short(self.absolute))
        return f"off by at most {' or by '.join(widths)}" if widths else ""


class Check(Keys):
    """The keys of every kind of check; each kind derives its own from it.

    What follows from the keys alone is a property of them; what needs programs is a method of the
    `grader.kinds.base.Kind`.
    """

    only_runs: ClassVar[bool] = False  # it asks a submission for results, and measures nothing

    id: Slug = key("Its name, once in a question.")
    kind: str = key("What is measured, and which further keys there are.")
    about: str = key("A phrase that completes 'checks that ...', shown to the candidate.", "")
    run: RunName = key("The run that it looks at.", "main")
    cases: str | list[str] = key("A case, a list, or all that have the inputs of the run.", "all")
    needs: Ids = key("Checks that have to pass first; else this one is skipped.", [])
    stretch: bool = key("Whether it is reported without deciding the verdict.", False)
    clause: Clauses = key(
        "The clauses of the contract that it enforces: numbers, counted through all parts.", []
    )
    points: Points | None = key(
        "What it earns of its part's where that does not pass; all add up to the part's.", None
    )

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

    def filled(self, steps: Sequence[Step]) -> Self:
        """The check with what follows from the steps of its run, where its keys do not say it.

        The results that it looks at are those that no later step takes.
        """
        if getattr(self, "of", None) != "":
            return self
        taken = {name for step in steps for name in step.reads}
        last = [name for step in steps for name in step.targets if name not in taken]
        return self.model_copy(update={"of": list(dict.fromkeys(last))})

    def mentions(self) -> Iterator[Mention]:
        """Every name in its keys that has to exist; those under `of` are results."""
        for number, name in enumerate(self.results):
            yield Mention(("of", number), name, "result")

    def faults(self) -> Iterator[tuple[Path, str]]:
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

    tolerance: Tolerance | None = key("How far a right answer may be off besides.", None)

    def mentions(self) -> Iterator[Mention]:
        """The results that the tolerance is about."""
        yield from super().mentions()
        for number, name in enumerate(self.tolerance.of if self.tolerance else ()):
            yield Mention(("tolerance", "of", number), name, "result")

    def faults(self) -> Iterator[tuple[Path, str]]:
        """A tolerance that allows nothing."""
        if self.tolerance is not None and not self.tolerance.words:
            yield ("tolerance",), "expected absolute or relative, found none"


class Show(Keys):
    """What to print with a mismatch."""

    beside: Names = key("Inputs to print with a mismatch.", [])
    window: list[str | int] | None = key(
        "Kernel, stride and padding of the window to cut out: numbers, or names of scalars.", None
    )


class Code(Keys):
    """The programs of a question, written into its spec; each may be a file instead."""

    reference: Source = key("The right solution; else drills/ID/reference.py.", "")
    starter: Source = key("What the candidate gets; else drills/ID/starter.py.", "")
    driver: Source = key("Functions of steps, driver.NAME; else drills/ID/driver.py.", "")
    ideas: Source = key("Wrong ideas, each below `# %% NAME`; else drills/ID/ideas.py.", "")
    accepted: Source = key(
        "Right solutions in other styles, each below `# %% NAME`; else drills/ID/accepted.py.", ""
    )


class Accepted(Keys):
    """What stands as `# key: value` above a right solution in another style."""

    part: int | None = key(
        "The last part whose checks it passes, where a colleague would merge it for that.",
        None,
        ge=1,
    )


class Misconception(Keys):
    """A named wrong idea: `# key: value` lines above its program, whose docstring is feedback."""

    killed_by: Ids = key(
        "The check, or each check, that has to stop it; the audit can write it.", []
    )
    feedback: Text = key("What is wrong, why, and what to do; said to who holds it.")
    parameters: dict[Name, Annotated[list[Value], Field(min_length=1, max_length=12)]] = key(
        "Constants of its programs, NAME = value at the left margin, with the values to try in "
        "their place; {NAME} in the feedback becomes the value that was recognized.",
        {},
    )

    @property
    def settings(self) -> list[dict[str, Value]]:
        """The values of its parameters, every combination; one without values if it has none.

        The variants of a question are its programs, each with every setting in this order.
        """
        values = itertools.product(*self.parameters.values())
        return [dict(zip(self.parameters, chosen, strict=True)) for chosen in values]

    def said_of(self, setting: Mapping[str, str] | None = None) -> str:
        """The feedback, with the values of parameters, the first ones if not given, in place."""
        text = self.feedback.strip()
        for name, value in (self.settings[0] if setting is None else setting).items():
            text = text.replace(f"{{{name}}}", str(value))
        return text


class Answer(Keys):
    """What is asked for in a form of which the answers are text."""

    ask: Text = key("The question, in words.")
    unit: Annotated[str, BeforeValidator(_worded)] = key(
        "Of an estimate: B, FLOP, s, FLOP/B, B/s, FLOP/s, or 1 for a pure number; or tok, user, "
        "sample, sequence, request or step, also as tok/s and B/tok. Others of the same sort may "
        "be written, as GiB or ms.",
        "1",
        max_length=20,
    )
    over: list[Name] = key("Of a line to derive: its indices, two at most.", [])
    must_use: list[Word] = key("Of a line to derive: what has to stand in it.", [])
    may_not_use: list[Word] = key("Of a line to derive: what must not.", [])


class Experiments(Keys):
    """The runs of the candidate's script, `drill run`, that a diagnosis allows."""

    function: str = key(
        "What a run calls with the seed, or driver.NAME: it may return numbers by name or a curve.",
        pattern=r"^(driver\.)?[A-Za-z_][A-Za-z0-9_]*$",
        max_length=60,
    )
    budget: int = key("How many runs there are.", ge=1, le=99)
    seconds: float = key("Of CPU time that one run may take.", 10, gt=0, le=60)


class FollowUp(Keys):
    """A question after a pass: to choose, a number, an array, or in words against key points."""

    ask: Text = key("The question, which can be asked without the choices, too.")
    answer: Text = key("What a good answer says.")
    choice: list[Text] = key("Answers to choose from.", [], min_length=2, max_length=9)
    right: int | None = key("The number of the right one of them, from 1.", None, ge=1)
    number: Annotated[str, BeforeValidator(_worded)] = key(
        "The right number, with its unit if it has one: 67.1 MB.", "", max_length=100
    )
    array: list[Annotated[list[float], Field(min_length=1, max_length=8)]] = key(
        "The right array: a list of rows of one length.", [], max_length=8
    )
    within: float | None = key(
        "By which share it, or an entry, may be off; 0.03 and 0 if not given.", None, ge=0, lt=1
    )
    points: list[Text] = key("In words: what has to be said, for the person to tick.", [])
    ideas: dict[str, Slug] = key("Wrong answers, as they are typed, and the idea of each.", {})

    @property
    def kind(self) -> Literal["choice", "number", "array", "points"]:
        """How it is answered."""
        if self.choice or self.number:
            return "choice" if self.choice else "number"
        return "array" if self.array else "points"


class Survivor(Keys):
    """A mutant of the reference that every check passes, and why that is right."""

    scope: str = key("The changed function, or module.", alias="in", min_length=1, max_length=200)
    was: Text = key("The code before, as drill bank audit --mutants prints it.")
    becomes: Text = key("The code after.")
    because: Text = key("Why nothing is wrong with it.")


class Part(Keys):
    """What is asked at one time: it begins when the part before it passes.

    A question of one part has these keys, without `id` and `points`, beside its other ones.
    """

    id: Slug = key("Its name; its number if not given.", "")
    points: Points = key("Those of all parts add up to 100.")
    minutes: int = key("How long a good candidate takes.", gt=0, le=480)
    prompt: Text = key(
        "The interviewer's words: the symptom, not the cause; at first at most 90 words."
    )
    interface: Text = key(
        "Python signatures with comments: shapes, dtypes, units; in later parts what is new.", ""
    )
    contract: list[Text] = key(
        "What people need to agree on what is right, a sentence each; at first at most six.", []
    )
    checks: list[Check] = key("What is measured, in this order.", min_length=1)
    hints: list[Text] = key("From a nudge to nearly the answer, one at a time.", [])
    follow_ups: list[FollowUp] = key("To think about after a pass.", [])


class Spec(Keys):
    """One question, as its YAML says it."""

    format: Literal[3] = key("The version of the format.")
    title: str = key("What it is called in lists.", min_length=1, max_length=80)
    form: Form = key(
        "What is handed in: code that was fixed, or answers in a text file: numbers with units, "
        "numbers by hand, formulas, or lines of a diff; or code, and its faults; or a test, which "
        "is tried on what is right and what is wrong. docs/forms.md has all.",
        "fix",
    )
    answers: dict[AnswerName, Answer] = key("What is asked for, by name, in text forms.", {})
    diff: str = key("Of a review: lines that begin with a space, + or -.", "", max_length=8000)
    given: Sets = key(
        "Sets of numbers, one of which a seed draws, for estimates and predictions above all: "
        "`{name}`, or arithmetic as `{2 * name:,}`, in texts and cases becomes its numbers.",
        [],
        max_length=MOST_SETS,
    )
    reasons: dict[Slug, Text] = key("Of a review: why a line may be wrong, by name.", {})
    causes: dict[Slug, Text] = key("Of a diagnosis: what may be wrong, and is not, by name.", {})
    log: str = key("Of a diagnosis: what the starter prints with seed 0.", "", max_length=8000)
    experiments: Experiments | None = key("Of a diagnosis: the runs that are allowed.", None)
    track: Slug = key("Its subject: lower-case words joined by hyphens.")
    prerequisites: list[Slug] = key("Questions to pass before; above `uses`.", [], max_length=9)
    then: Slug | Literal[""] = key("Of a prediction: the question to begin next.", "")
    level: Level = key("How hard it is.")
    roles: list[Role] = key("Who is asked it; above `uses`.", [])
    limits: Limits = key("How long one call may take, where no case has its own.", Limits())
    uses: list[Library] = key("What a submission may import: numpy, always there, and torch.")
    parts: list[Part] = key(
        "What is asked, one after another; a single part has its keys here in place of it.",
        min_length=1,
        max_length=MOST_PARTS,
    )
    run: Steps | Annotated[dict[RunName, Steps], Field(min_length=1)] = key(
        "The steps, 'result = function(inputs)' each, or a single one; or several runs by name."
    )
    defaults: dict[str, Any] = key(
        "Inputs, and dtype, for cases that give some input of a run and not these.", {}
    )
    display: Show | None = key("The `show` of checks that have none.", None)
    columns: list[Name] = key("The inputs of cases that are lists: of a table, row by row.", [])
    cases: dict[Slug, dict[str, Any]] = key(
        "The inputs by the name of the case, or in the order of `columns`; ~ for the default."
    )
    code: Code = key("The programs, where they are not files in drills/ID/.", Code())
    helpers: list[Name] = key(
        "Modules, drills/ID/NAME.py, for every program and the candidate.", [], max_length=9
    )
    survivors: list[Survivor] = key("Mutants of the reference that are right to pass.", [])
    starter: str = key(
        "`idea NAME` where the starter is the reference with that idea, and its repair the "
        "reference; else starter.py and repair.py are written.",
        "",
        pattern=r"^(idea [a-z0-9]+(-[a-z0-9]+)*)?$",
    )
    starter_holds: list[Slug] = key("What the starter must be diagnosed as.", [])
    teaches: list[Annotated[str, Field(min_length=1, max_length=110)]] = key(
        "What is to be kept of it, a sentence each; the solution shows them.", [], max_length=3
    )
    sources: list[Text] = key("Papers, documentation, incidents it comes from.", [])

    @property
    def contract(self) -> list[str]:
        """The clauses of all parts."""
        return [clause for part in self.parts for clause in part.contract]

    @property
    def checks(self) -> list[Check]:
        """The checks of all parts, in order."""
        return [check for part in self.parts for check in part.checks]

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
        """The number of the part that a check belongs to, from 1; KeyError where none is."""
        numbers = {one.id: n for n, part in enumerate(self.parts, 1) for one in part.checks}
        return numbers[check]

    @property
    def runs(self) -> dict[str, list[str]]:
        """Every run by name; a plain list is the run `main`."""
        return {"main": self.run} if isinstance(self.run, list) else dict(self.run)

    def step_keys(self, run: str, number: int) -> Path:
        """The path of keys that leads to a step of a run."""
        return ("run", number) if isinstance(self.run, list) else ("run", run, number)

    @property
    def needs_torch(self) -> bool:
        """Whether the worker has to import torch."""
        return "torch" in self.uses


def unified(data: Mapping[str, Any]) -> dict[str, Any]:
    """Parsed data of a spec with `parts`, cases as mappings and every check's kind written out.

    A question of one part has its keys at the top, a row of the table of cases is a list, and a
    check that is a word has it as its id and its kind.
    """
    found = dict(data)
    if "parts" not in found:
        part = {key: found.pop(key) for key in OF_A_PART if key in found}
        found["parts"] = [{"points": 100, **part}]
    if isinstance(parts := found["parts"], list):
        found["parts"] = [_with_kinds(part) for part in parts]
    columns, cases = found.get("columns"), found.get("cases")
    if isinstance(columns, list) and isinstance(cases, dict):
        found["cases"] = {
            name: _row(columns, case) if isinstance(case, list) else case
            for name, case in cases.items()
        }
    return found


def _with_kinds(part: object) -> object:
    if not isinstance(part, dict) or not isinstance(part.get("checks"), list):
        return part
    checks = [{"id": one, "kind": one} if isinstance(one, str) else one for one in part["checks"]]
    return part | {
        "checks": [{"kind": "outputs"} | o if isinstance(o, dict) else o for o in checks]
    }


def _row(columns: list[Any], cells: list[Any]) -> object:
    """A case of a table; as it is where it has more cells than there are columns."""
    if len(cells) > len(columns):
        return cells
    return {name: cell for name, cell in zip(columns, cells, strict=False) if cell is not None}


def as_written(at: Path, data: Mapping[str, Any]) -> Path:
    """The path of keys, in the data as it was written, of something in the unified data."""
    if at[:1] == ("cases",) and len(at) > 2 and isinstance(data["cases"].get(at[1]), list):
        return (*at[:2], data["columns"].index(at[2]), *at[3:])
    return at[2:] if at[:2] == ("parts", 0) and "parts" not in data else at
