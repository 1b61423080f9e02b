"""The YAML of a question as a typed, frozen tree.  `docs/keys.md` explains every key.

The models define the values of each key.  `grader.bank.consistency` finds the faults that involve
several keys, such as a name that no case gives.  The keys of each kind of check are defined with
the kind; `grader.grading.kinds.registry` reads a whole spec.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from grader.model.limits import GRADE_SECONDS
from grader.model.number_format import short
from grader.model.number_sets import MAX_SETS
from grader.model.steps import Step

MAX_PARTS = 9
Level = Literal["warm-up", "core", "senior"]
Library = Literal["numpy", "torch"]
Audience = Literal["training", "inference", "research", "kernels"]
ArrayLayout = Literal["contiguous", "fortran", "reversed", "strided", "readonly", "broadcast"]
FormName = Literal["fix", "estimate", "predict", "derive", "review", "diagnose", "write-the-test"]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
LongText = Annotated[str, Field(min_length=1, max_length=20_000)]
Source = Annotated[str, Field(min_length=1, max_length=1 << 20)]  # a program, written out
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=60)]
RunName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$", max_length=60)]
AnswerName = Annotated[
    str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\[\d{1,4}(,\d{1,4}){0,3}\])?$", max_length=60)
]
_Short = Field(max_length=100)
Sets = list[dict[Name, int | float | Annotated[str, _Short] | Annotated[list[float], _Short]]]
Multiple = Annotated[float, Field(gt=0, allow_inf_nan=False)]
FormulaWord = Literal["exp", "log", "sum", "d"]
Seconds = Annotated[float, Field(gt=0, le=GRADE_SECONDS)]
Points = Annotated[int, Field(gt=0, le=100)]
ParameterValue = bool | int | float | str | None
Amount = str | int | float  # arithmetic over sizes; `grader.cases.size_expr` reads it
KeyPath = tuple[str | int, ...]  # of keys and indices
PART_KEYS = ("minutes", "prompt", "interface", "contract", "checks", "hints", "follow_ups")


def _number_to_str(written: object) -> object:
    return str(written) if type(written) in {int, float} else written


def _ensure_list(written: object) -> object:
    return written if isinstance(written, list) else [written]


def _ensure_steps(written: object) -> object:
    return [written] if isinstance(written, str) else written


# Keys that take one value or a list of values are read as a list.
_Steps = Annotated[list[str], Field(min_length=1)]  # an empty run would pass anybody
StepTexts = Annotated[_Steps, BeforeValidator(_ensure_steps, json_schema_input_type=str | _Steps)]
_Clauses = Annotated[list[Annotated[int, Field(gt=0)]], Field(max_length=9)]
Ids = Annotated[list[str], BeforeValidator(_ensure_list, json_schema_input_type=str | list[str])]
NameList = Annotated[
    list[Name], BeforeValidator(_ensure_list, json_schema_input_type=Name | list[Name])
]
Clauses = Annotated[
    _Clauses,
    BeforeValidator(_ensure_list, json_schema_input_type=Annotated[int, Field(gt=0)] | _Clauses),
]


class StrictModel(BaseModel):
    """Base of every mapping of a spec: unknown keys are errors, and nothing changes."""

    # `defer_build`: pydantic builds a model when it is first used alone; most never are.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


def yaml_key(description: str, default: Any = ..., **limits: Any) -> Any:  # noqa: ANN401 as Field has it
    """Return a key with its description for documents and editors; required without a default."""
    return Field(default, description=description, **limits)


class Limits(StrictModel):
    """How long one call may take, where the usual 5 seconds of CPU time are not enough.

    A call is one run of the steps on one case; a check that repeats it has twelve times as long.
    """

    cpu_seconds: Seconds | None = yaml_key("Of CPU time; 5 if not given, at most 120.", None)
    wall_seconds: Seconds | None = yaml_key(
        "By the clock, at most 120; if not given, 5 seconds idle end it.", None
    )


@dataclass(frozen=True, slots=True)
class NameReference:
    """A name in a key of a check, and the kind of thing it should name."""

    path: KeyPath  # below that of the check
    name: str
    name_kind: Literal["result", "input", "input or result", "run", "size", "number"]


class Tolerance(StrictModel):
    """How far a right answer may be off, besides what rounding explains; all of them are allowed.

    Only for what two right answers may differ by: rounding needs none.
    """

    absolute: float | None = yaml_key("By this much.", None, gt=0, allow_inf_nan=False)
    relative: float | None = yaml_key("By this share of the expected number.", None, gt=0, lt=1)
    because: LongText = yaml_key("Why; the candidate reads it.")
    of: NameList = yaml_key("The results that it is about; all of the check, if not given.", [])

    def applies_to(self, result: str) -> bool:
        """Return True if the tolerance is about a result."""
        return not self.of or result in self.of

    @property
    def allowed_in_words(self) -> str:
        """Return how far a result may be off: "off by at most 3 % or by 0.1"."""
        widths = []
        if self.relative is not None:
            widths.append(f"{short(100 * self.relative)} %")
        if self.absolute is not None:
            widths.append(short(self.absolute))
        return f"off by at most {' or by '.join(widths)}" if widths else ""


class Check(StrictModel):
    """The keys of every kind of check; each kind derives its own from it.

    What follows from the keys alone is a property of them; what needs programs is a method of the
    `grader.grading.kinds.base.Kind`.
    """

    only_runs: ClassVar[bool] = False  # it compares results and measures nothing

    id: Slug = yaml_key("Its name, once in a question.")
    kind: str = yaml_key("What is measured, and which further keys there are.")
    about: str = yaml_key("A phrase that completes 'checks that ...', shown to the candidate.", "")
    run: RunName = yaml_key("The run that it looks at.", "main")
    cases: str | list[str] = yaml_key(
        "A case, a list, or all that have the inputs of the run.", "all"
    )
    needs: Ids = yaml_key("Checks that have to pass first; else this one is skipped.", [])
    stretch: bool = yaml_key("Whether it is reported without deciding the verdict.", False)
    clause: Clauses = yaml_key(
        "The clauses of the contract that it enforces: numbers, counted through all parts.", []
    )
    points: Points | None = yaml_key(
        "What it earns of its part's where that does not pass; all add up to the part's.", None
    )

    @property
    def results(self) -> tuple[str, ...]:
        """Return the results of the run that the check compares, if it has the key `of`."""
        results = getattr(self, "of", ())
        return (results,) if isinstance(results, str) else tuple(results)

    @property
    def required_results(self) -> tuple[str, ...]:
        """Return the results that workers have to send; none if they measure themselves."""
        return self.results

    @property
    def compared_results(self) -> tuple[str, ...]:
        """Return the results whose values decide: no other values would pass."""
        return self.required_results

    def with_default_results(self, steps: Sequence[Step]) -> Self:
        """Return the check with its results, if its keys do not name them.

        By default, these are the results that no later step uses.
        """
        if getattr(self, "of", None) != "":
            return self
        used = {name for step in steps for name in step.names_read}
        results = [name for step in steps for name in step.targets if name not in used]
        return self.model_copy(update={"of": list(dict.fromkeys(results))})

    def referenced_names(self) -> Iterator[NameReference]:
        """Yield every name in its keys that has to exist; those under `of` are results."""
        for number, name in enumerate(self.results):
            yield NameReference(("of", number), name, "result")

    def spec_errors(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield the faults that involve several keys: the path of a key, and a sentence."""
        yield from ()

    def choice_questions(self) -> Iterator[tuple[str, str, Mapping[str, str]]]:
        """Yield the questions to answer by a letter: id, question, and answers by letter."""
        yield from ()

    def missing_configuration(self) -> str:
        """Return the key without which the check could not fail, or "" if nothing is missing."""
        return "the name of a result" if getattr(self, "of", None) == [] else ""


class TolerantCheck(Check):
    """A check of values, which may allow more than rounding explains."""

    tolerance: Tolerance | None = yaml_key("How far a right answer may be off besides.", None)

    def referenced_names(self) -> Iterator[NameReference]:
        """Yield the results of the check and those of its tolerance."""
        yield from super().referenced_names()
        for number, name in enumerate(self.tolerance.of if self.tolerance else ()):
            yield NameReference(("tolerance", "of", number), name, "result")

    def spec_errors(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield a tolerance that allows nothing."""
        if self.tolerance is not None and not self.tolerance.allowed_in_words:
            yield ("tolerance",), "expected absolute or relative, found none"


class Show(StrictModel):
    """What to print with a mismatch."""

    beside: NameList = yaml_key("Inputs to print with a mismatch.", [])
    window: list[str | int] | None = yaml_key(
        "Kernel, stride and padding of the window to cut out: numbers, or names of scalars.", None
    )


class Code(StrictModel):
    """The programs of a question, written into its spec; each may be a file instead."""

    reference: Source = yaml_key("The right solution; else drills/ID/reference.py.", "")
    starter: Source = yaml_key("What the candidate gets; else drills/ID/starter.py.", "")
    driver: Source = yaml_key("Functions of steps, driver.NAME; else drills/ID/driver.py.", "")
    ideas: Source = yaml_key("Wrong ideas, each below `# %% NAME`; else drills/ID/ideas.py.", "")
    accepted: Source = yaml_key(
        "Right solutions in other styles, each below `# %% NAME`; else drills/ID/accepted.py.", ""
    )


class AcceptedSolution(StrictModel):
    """What stands as `# key: value` above a right solution in another style."""

    part: int | None = yaml_key(
        "The last part whose checks it passes, where a colleague would merge it for that.",
        None,
        ge=1,
    )


class Idea(StrictModel):
    """A named wrong idea: `# key: value` lines above its program, whose docstring is feedback."""

    killed_by: Ids = yaml_key(
        "The check, or each check, that has to stop it; the audit can write it.", []
    )
    feedback: LongText = yaml_key("What is wrong, why, and what to do; said to who holds it.")
    parameters: dict[Name, Annotated[list[ParameterValue], Field(min_length=1, max_length=12)]] = (
        yaml_key(
            "Constants of its programs, NAME = value at the left margin, with the values to try in "
            "their place; {NAME} in the feedback becomes the value that was recognized.",
            {},
        )
    )

    @property
    def parameter_combinations(self) -> list[dict[str, ParameterValue]]:
        """Return every combination of values of its parameters; an empty one without parameters.

        The variants of an idea are its programs, each with every combination in this order.
        """
        values = itertools.product(*self.parameters.values())
        return [dict(zip(self.parameters, combination, strict=True)) for combination in values]

    def feedback_for(self, setting: Mapping[str, str] | None = None) -> str:
        """Return the feedback with the values of parameters (default: the first ones)."""
        text = self.feedback.strip()
        values = self.parameter_combinations[0] if setting is None else setting
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", str(value))
        return text


class Answer(StrictModel):
    """What is asked for in a form of which the answers are text."""

    ask: LongText = yaml_key("The question, in words.")
    unit: Annotated[str, BeforeValidator(_number_to_str)] = yaml_key(
        "Of an estimate: B, FLOP, s, FLOP/B, B/s, FLOP/s, or 1 for a pure number; or tok, user, "
        "sample, sequence, request or step, also as tok/s and B/tok. Others of the same sort may "
        "be written, as GiB or ms.",
        "1",
        max_length=20,
    )
    over: list[Name] = yaml_key("Of a line to derive: its indices, two at most.", [])
    must_use: list[FormulaWord] = yaml_key("Of a line to derive: what has to stand in it.", [])
    may_not_use: list[FormulaWord] = yaml_key("Of a line to derive: what must not.", [])


class Experiments(StrictModel):
    """The runs of the candidate's script, `drill run`, that a diagnosis allows."""

    function: str = yaml_key(
        "What a run calls with the seed, or driver.NAME: it may return numbers by name or a curve.",
        pattern=r"^(driver\.)?[A-Za-z_][A-Za-z0-9_]*$",
        max_length=60,
    )
    budget: int = yaml_key("How many runs there are.", ge=1, le=99)
    seconds: float = yaml_key("Of CPU time that one run may take.", 10, gt=0, le=60)


class FollowUp(StrictModel):
    """A question after a pass: to choose, a number, an array, or in words against key points."""

    ask: LongText = yaml_key("The question, which can be asked without the choices, too.")
    answer: LongText = yaml_key("What a good answer says.")
    choice: list[LongText] = yaml_key("Answers to choose from.", [], min_length=2, max_length=9)
    right: int | None = yaml_key("The number of the right one of them, from 1.", None, ge=1)
    number: Annotated[str, BeforeValidator(_number_to_str)] = yaml_key(
        "The right number, with its unit if it has one: 67.1 MB.", "", max_length=100
    )
    array: list[Annotated[list[float], Field(min_length=1, max_length=8)]] = yaml_key(
        "The right array: a list of rows of one length.", [], max_length=8
    )
    within: float | None = yaml_key(
        "By which share it, or an entry, may be off; 0.03 and 0 if not given.", None, ge=0, lt=1
    )
    points: list[LongText] = yaml_key("In words: what has to be said, for the person to tick.", [])
    ideas: dict[str, Slug] = yaml_key("Wrong answers, as they are typed, and the idea of each.", {})

    @property
    def kind(self) -> Literal["choice", "number", "array", "points"]:
        """Return the kind of its answer."""
        if self.choice:
            return "choice"
        if self.number:
            return "number"
        return "array" if self.array else "points"


class Survivor(StrictModel):
    """A mutant of the reference that every check passes, and why that is right."""

    scope: str = yaml_key(
        "The changed function, or module.", alias="in", min_length=1, max_length=200
    )
    was: LongText = yaml_key("The code before, as drill bank audit --mutants prints it.")
    becomes: LongText = yaml_key("The code after.")
    because: LongText = yaml_key("Why nothing is wrong with it.")


class Part(StrictModel):
    """What is asked at one time: it begins when the part before it passes.

    A question of one part has these keys, without `id` and `points`, beside its other ones.
    """

    id: Slug = yaml_key("Its name; its number if not given.", "")
    points: Points = yaml_key("Those of all parts add up to 100.")
    minutes: int = yaml_key("How long a good candidate takes.", gt=0, le=480)
    prompt: LongText = yaml_key(
        "The interviewer's words: the symptom, not the cause; at first at most 90 words."
    )
    interface: LongText = yaml_key(
        "Python signatures with comments: shapes, dtypes, units; in later parts what is new.", ""
    )
    contract: list[LongText] = yaml_key(
        "What people need to agree on what is right, a sentence each; at first at most six.", []
    )
    checks: list[Check] = yaml_key("What is measured, in this order.", min_length=1)
    hints: list[LongText] = yaml_key("From a nudge to nearly the answer, one at a time.", [])
    follow_ups: list[FollowUp] = yaml_key("To think about after a pass.", [])


class Spec(StrictModel):
    """One question, as its YAML says it."""

    format: Literal[3] = yaml_key("The version of the format.")
    title: str = yaml_key("What it is called in lists.", min_length=1, max_length=80)
    form: FormName = yaml_key(
        "What is handed in: code that was fixed, or answers in a text file: numbers with units, "
        "numbers by hand, formulas, or lines of a diff; or code, and its faults; or a test, which "
        "is tried on what is right and what is wrong. docs/forms.md has all.",
        "fix",
    )
    answers: dict[AnswerName, Answer] = yaml_key("What is asked for, by name, in text forms.", {})
    diff: str = yaml_key("Of a review: lines that begin with a space, + or -.", "", max_length=8000)
    given: Sets = yaml_key(
        "Sets of numbers, one of which a seed draws, for estimates and predictions above all: "
        "`{name}`, or arithmetic as `{2 * name:,}`, in texts and cases becomes its numbers.",
        [],
        max_length=MAX_SETS,
    )
    reasons: dict[Slug, LongText] = yaml_key("Of a review: why a line may be wrong, by name.", {})
    causes: dict[Slug, LongText] = yaml_key(
        "Of a diagnosis: what may be wrong, and is not, by name.", {}
    )
    log: str = yaml_key("Of a diagnosis: what the starter prints with seed 0.", "", max_length=8000)
    experiments: Experiments | None = yaml_key("Of a diagnosis: the runs that are allowed.", None)
    track: Slug = yaml_key("Its subject: lower-case words joined by hyphens.")
    prerequisites: list[Slug] = yaml_key(
        "Questions to pass before; above `uses`.", [], max_length=9
    )
    then: Slug | Literal[""] = yaml_key("Of a prediction: the question to begin next.", "")
    level: Level = yaml_key("How hard it is.")
    roles: list[Audience] = yaml_key("Who is asked it; above `uses`.", [])
    limits: Limits = yaml_key("How long one call may take, where no case has its own.", Limits())
    uses: list[Library] = yaml_key("What a submission may import: numpy, always there, and torch.")
    parts: list[Part] = yaml_key(
        "What is asked, one after another; a single part has its keys here in place of it.",
        min_length=1,
        max_length=MAX_PARTS,
    )
    run: StepTexts | Annotated[dict[RunName, StepTexts], Field(min_length=1)] = yaml_key(
        "The steps, 'result = function(inputs)' each, or a single one; or several runs by name."
    )
    defaults: dict[str, Any] = yaml_key(
        "Inputs, and dtype, for cases that give some input of a run and not these.", {}
    )
    display: Show | None = yaml_key("The `show` of checks that have none.", None)
    columns: list[Name] = yaml_key(
        "The inputs of cases that are lists: of a table, row by row.", []
    )
    cases: dict[Slug, dict[str, Any]] = yaml_key(
        "The inputs by the name of the case, or in the order of `columns`; ~ for the default."
    )
    code: Code = yaml_key("The programs, where they are not files in drills/ID/.", Code())
    helpers: list[Name] = yaml_key(
        "Modules, drills/ID/NAME.py, for every program and the candidate.", [], max_length=9
    )
    survivors: list[Survivor] = yaml_key("Mutants of the reference that are right to pass.", [])
    starter: str = yaml_key(
        "`idea NAME` where the starter is the reference with that idea, and its repair the "
        "reference; else starter.py and repair.py are written.",
        "",
        pattern=r"^(idea [a-z0-9]+(-[a-z0-9]+)*)?$",
    )
    starter_holds: list[Slug] = yaml_key("What the starter must be diagnosed as.", [])
    teaches: list[Annotated[str, Field(min_length=1, max_length=110)]] = yaml_key(
        "What is to be kept of it, a sentence each; the solution shows them.", [], max_length=3
    )
    sources: list[LongText] = yaml_key("Papers, documentation, incidents it comes from.", [])

    @property
    def contract(self) -> list[str]:
        """Return the clauses of all parts."""
        return [clause for part in self.parts for clause in part.contract]

    @property
    def checks(self) -> list[Check]:
        """Return the checks of all parts, in order."""
        return [check for part in self.parts for check in part.checks]

    @property
    def follow_ups(self) -> list[FollowUp]:
        """Return the questions after a pass, of all parts."""
        return [follow_up for part in self.parts for follow_up in part.follow_ups]

    @property
    def minutes(self) -> int:
        """Return the minutes of a good candidate for all parts."""
        return sum(part.minutes for part in self.parts)

    @property
    def part_ids(self) -> tuple[str, ...]:
        """Return the id of each part, or else its number."""
        return tuple(part.id or str(number) for number, part in enumerate(self.parts, 1))

    @property
    def part_numbers(self) -> dict[str, int]:
        """Map each part's number, as text, and its id to the number."""
        numbers = {str(number): number for number, _ in enumerate(self.parts, 1)}
        return numbers | {name: number for number, name in enumerate(self.part_ids, 1)}

    def part_of(self, check: str) -> int:
        """Return the number of the part that has a check, from 1.

        Raises:
            KeyError: no part has it.
        """
        numbers = {own.id: n for n, part in enumerate(self.parts, 1) for own in part.checks}
        return numbers[check]

    @property
    def runs(self) -> dict[str, list[str]]:
        """Return every run by name; a plain list is the run `main`."""
        return {"main": self.run} if isinstance(self.run, list) else dict(self.run)

    def step_path(self, run: str, number: int) -> KeyPath:
        """Return the path of keys to a step of a run."""
        return ("run", number) if isinstance(self.run, list) else ("run", run, number)

    @property
    def needs_torch(self) -> bool:
        """Return True if workers have to import torch."""
        return "torch" in self.uses


def normalize_spec(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return parsed data of a spec with `parts`, cases as mappings, and the kind of every check.

    In the YAML, a question of one part has its keys at the top, a row of the table of cases is a
    list, and a check may be a word that is its id and its kind.
    """
    spec = dict(data)
    if "parts" not in spec:
        part = {key: spec.pop(key) for key in PART_KEYS if key in spec}
        spec["parts"] = [{"points": 100, **part}]
    if isinstance(spec["parts"], list):
        spec["parts"] = [_with_kinds(part) for part in spec["parts"]]
    columns = spec.get("columns")
    cases = spec.get("cases")
    if isinstance(columns, list) and isinstance(cases, dict):
        spec["cases"] = {
            name: _case_of_row(columns, case) if isinstance(case, list) else case
            for name, case in cases.items()
        }
    return spec


def _with_kinds(part: object) -> object:
    """Return a part whose checks are mappings with a kind (default: outputs)."""
    if not isinstance(part, dict) or not isinstance(part.get("checks"), list):
        return part
    checks: list[object] = []
    for check in part["checks"]:
        if isinstance(check, str):
            checks.append({"kind": check, "id": check})
        elif isinstance(check, dict):
            checks.append({"kind": "outputs", **check})
        else:
            checks.append(check)
    return part | {"checks": checks}


def _case_of_row(columns: list[Any], cells: list[Any]) -> object:
    """Return the case of a row; the row itself if it has more cells than there are columns."""
    if len(cells) > len(columns):
        return cells
    return {name: cell for name, cell in zip(columns, cells, strict=False) if cell is not None}


def source_key_path(path: KeyPath, data: Mapping[str, Any]) -> KeyPath:
    """Return the path in the data as written, for a path in the normalized data."""
    if path[:1] == ("cases",) and len(path) > 2 and isinstance(data["cases"].get(path[1]), list):
        return (*path[:2], data["columns"].index(path[2]), *path[3:])
    if path[:2] == ("parts", 0) and "parts" not in data:
        return path[2:]
    return path
