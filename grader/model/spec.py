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

from grader.model.errors import KeyPath, SpecErrors
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
Amount = str | int | float  # arithmetic over sizes; `grader.cases.amounts` reads it
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
    """Base of every mapping of a spec: unknown keys are errors, and values are not converted."""

    # `defer_build` saves time: pydantic builds a model when data is first read with it.  Most
    # models are only parts of another one and are never read by themselves.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


def yaml_key(description: str, default: Any = ..., **limits: Any) -> Any:  # noqa: ANN401 as Field has it
    """Return a pydantic field whose description documents and editors show.

    Args:
        description: What the key means.
        default: Its value if the key is missing; without a default the key is required.
        limits: Other arguments of `pydantic.Field`, such as `gt=0` or `max_length=9`.
    """
    return Field(default, description=description, **limits)


class Limits(StrictModel):
    """Limits of one call, if the usual 5 seconds of CPU time are not enough.

    A call is one run of the steps on one case.  A check that repeats it has twelve times as long.
    """

    cpu_seconds: Seconds | None = yaml_key("Seconds of CPU time, at most 120 (default: 5).", None)
    wall_seconds: Seconds | None = yaml_key(
        "Seconds by the clock, at most 120 (default: 5 idle seconds end a call).", None
    )


@dataclass(frozen=True, slots=True)
class NameReference:
    """A name in a key of a check, and the kind of thing it should name."""

    path: KeyPath  # from the check to the name: ("tolerance", "of", 0)
    name: str
    name_kind: Literal["result", "input", "input or result", "run", "size", "number"]


class Tolerance(StrictModel):
    """Allowed error of a right answer, in addition to rounding.

    Use it only if two right answers may differ: rounding needs no tolerance.  If absolute and
    relative are both given, the larger of the two differences is allowed.
    """

    absolute: float | None = yaml_key(
        "Largest allowed difference.", None, gt=0, allow_inf_nan=False
    )
    relative: float | None = yaml_key(
        "Largest allowed difference, as a share of the expected number.", None, gt=0, lt=1
    )
    because: LongText = yaml_key("The reason; the candidate reads it.")
    of: NameList = yaml_key(
        "The results that it applies to (default: all results of the check).", []
    )

    def applies_to(self, result: str) -> bool:
        """Return True if `of` has the result, or is empty."""
        return not self.of or result in self.of

    @property
    def allowed_in_words(self) -> str:
        """Return how far a result may be off: "off by at most 3 % or by 0.1"; "" if not at all."""
        widths = []
        if self.relative is not None:
            widths.append(f"{short(100 * self.relative)} %")
        if self.absolute is not None:
            widths.append(short(self.absolute))
        return f"off by at most {' or by '.join(widths)}" if widths else ""


class Check(StrictModel):
    """The keys that every kind of check has; each kind adds its keys in a subclass.

    The properties follow from the keys alone, such as the results to compare.  Judging needs
    programs: see `grader.grading.kinds.base.Kind`.
    """

    only_runs: ClassVar[bool] = False  # True if it compares results and measures nothing

    id: Slug = yaml_key("Name of the check, unique in the question.")
    kind: str = yaml_key("Kind of check: what is measured, and which further keys there are.")
    about: str = yaml_key("A phrase that completes 'checks that ...', shown to the candidate.", "")
    run: RunName = yaml_key("The run that it judges.", "main")
    cases: str | list[str] = yaml_key(
        "A case, a list of cases, or all: every case with the inputs of the run.", "all"
    )
    needs: Ids = yaml_key("Checks that have to pass first; otherwise this one is skipped.", [])
    stretch: bool = yaml_key(
        "If true, the check is reported but does not decide the verdict.", False
    )
    clause: Clauses = yaml_key(
        "Numbers of the contract clauses that it enforces, counted through all parts.", []
    )
    points: Points | None = yaml_key(
        "Points that it earns even if its part fails; all add up to the points of the part.",
        None,
    )

    @property
    def results(self) -> tuple[str, ...]:
        """Return the results in the key `of`; none if the kind has no such key."""
        results = getattr(self, "of", ())
        return (results,) if isinstance(results, str) else tuple(results)

    @property
    def required_results(self) -> tuple[str, ...]:
        """Return the results that a worker has to send; none if the worker only measures them."""
        return self.results

    @property
    def compared_results(self) -> tuple[str, ...]:
        """Return the results of which only the expected values pass, within the tolerance."""
        return self.required_results

    def with_default_results(self, steps: Sequence[Step]) -> Self:
        """Return the check; an empty `of` becomes the results that no later step uses."""
        if getattr(self, "of", None) != "":
            return self
        used = {name for step in steps for name in step.names_read}
        results = [name for step in steps for name in step.targets if name not in used]
        return self.model_copy(update={"of": list(dict.fromkeys(results))})

    def referenced_names(self) -> Iterator[NameReference]:
        """Yield every name in its keys that has to exist; those under `of` are results."""
        for number, name in enumerate(self.results):
            yield NameReference(("of", number), name, "result")

    def spec_errors(self) -> SpecErrors:
        """Yield the faults that involve several keys: the path of a key, and a sentence."""
        yield from ()

    def choice_questions(self) -> Iterator[tuple[str, str, Mapping[str, str]]]:
        """Yield the questions to answer by a letter: id, question, and answers by letter."""
        yield from ()

    def missing_configuration(self) -> str:
        """Return a name for keys without which the check cannot fail: "a loss and gradients".

        Returns "" if it has all of them.
        """
        return "the name of a result" if getattr(self, "of", None) == [] else ""


class TolerantCheck(Check):
    """A check of values, which may allow more than rounding explains."""

    tolerance: Tolerance | None = yaml_key(
        "How far a right answer may be off, in addition to rounding.", None
    )

    def referenced_names(self) -> Iterator[NameReference]:
        """Yield the results of the check and of its tolerance."""
        yield from super().referenced_names()
        for number, name in enumerate(self.tolerance.of if self.tolerance else ()):
            yield NameReference(("tolerance", "of", number), name, "result")

    def spec_errors(self) -> SpecErrors:
        """Yield a fault if there is a tolerance with neither `absolute` nor `relative`."""
        if self.tolerance is not None and not self.tolerance.allowed_in_words:
            yield ("tolerance",), "expected absolute or relative, found none"


class Show(StrictModel):
    """Inputs to print with a mismatch."""

    beside: NameList = yaml_key("Inputs to print next to the result.", [])
    window: list[str | int] | None = yaml_key(
        "Kernel, stride and padding of a window to highlight: numbers, or names of scalars.",
        None,
    )


class Code(StrictModel):
    """The programs of a question, written into its spec; each may be a file instead."""

    reference: Source = yaml_key("The right solution (default: drills/ID/reference.py).", "")
    starter: Source = yaml_key(
        "The code that the candidate gets (default: drills/ID/starter.py).", ""
    )
    driver: Source = yaml_key(
        "Functions that steps call as driver.NAME (default: drills/ID/driver.py).", ""
    )
    ideas: Source = yaml_key(
        "Wrong ideas, each below `# %% NAME` (default: drills/ID/ideas.py).", ""
    )
    accepted: Source = yaml_key(
        "Right solutions in other styles, each below `# %% NAME` (default: drills/ID/accepted.py).",
        "",
    )


class AcceptedSolution(StrictModel):
    """Keys of a right solution in another style: lines `# key: value` above it."""

    part: int | None = yaml_key(
        "The last part that it passes, if a colleague would merge it for that (default: all).",
        None,
        ge=1,
    )


class Idea(StrictModel):
    """Keys of a wrong idea, read from its program in `ideas.py`.

    They are the lines `# key: value` above the program; `feedback` is the program's docstring.
    """

    killed_by: Ids = yaml_key(
        "The check or checks that must stop it; the audit can fill this in.", []
    )
    feedback: LongText = yaml_key(
        "What is wrong, why, and what to do; shown to a candidate who holds the idea."
    )
    parameters: dict[Name, Annotated[list[ParameterValue], Field(min_length=1, max_length=12)]] = (
        yaml_key(
            "Constants of its programs (NAME = value at the left margin), each with the values "
            "to try; {NAME} in the feedback becomes the value that was recognized.",
            {},
        )
    )

    @property
    def parameter_combinations(self) -> list[dict[str, ParameterValue]]:
        """Return every combination of parameter values: [{"N": 1}, {"N": 2}] for N: [1, 2].

        Without parameters, this is one empty combination.  Each program of the idea gives one
        variant for each combination, in this order.
        """
        values = itertools.product(*self.parameters.values())
        return [dict(zip(self.parameters, combination, strict=True)) for combination in values]

    def feedback_for(self, setting: Mapping[str, str] | None = None) -> str:
        """Return the feedback with a value for each {PARAMETER} (default: the first values)."""
        text = self.feedback.strip()
        values = self.parameter_combinations[0] if setting is None else setting
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", str(value))
        return text


class Answer(StrictModel):
    """One answer of a question that is answered in a text file."""

    ask: LongText = yaml_key("The question.")
    unit: Annotated[str, BeforeValidator(_number_to_str)] = yaml_key(
        "Unit of an estimate: B, FLOP, s, FLOP/B, B/s, FLOP/s, or 1 for a pure number; or tok, "
        "user, sample, sequence, request or step, also as tok/s and B/tok. Candidates may write "
        "another unit of the same kind, such as GiB or ms.",
        "1",
        max_length=20,
    )
    over: list[Name] = yaml_key("Indices of a formula to derive, at most two.", [])
    must_use: list[FormulaWord] = yaml_key("Words that a formula to derive has to contain.", [])
    may_not_use: list[FormulaWord] = yaml_key(
        "Words that a formula to derive must not contain.", []
    )


class Experiments(StrictModel):
    """The runs of the candidate's script (`drill run`) that a diagnosis allows."""

    function: str = yaml_key(
        "The function that a run calls with the seed, or driver.NAME; it may return numbers by "
        "name or a curve.",
        pattern=r"^(driver\.)?[A-Za-z_][A-Za-z0-9_]*$",
        max_length=60,
    )
    budget: int = yaml_key("Number of runs.", ge=1, le=99)
    seconds: float = yaml_key("Seconds of CPU time that one run may take.", 10, gt=0, le=60)


class FollowUp(StrictModel):
    """A question after a pass; its answer is a choice, a number, an array, or words."""

    ask: LongText = yaml_key("The question; it must make sense without the choices, too.")
    answer: LongText = yaml_key("A good answer.")
    choice: list[LongText] = yaml_key("Answers to choose from.", [], min_length=2, max_length=9)
    right: int | None = yaml_key("The number of the right choice, from 1.", None, ge=1)
    number: Annotated[str, BeforeValidator(_number_to_str)] = yaml_key(
        "The right number, with its unit if it has one: 67.1 MB.", "", max_length=100
    )
    array: list[Annotated[list[float], Field(min_length=1, max_length=8)]] = yaml_key(
        "The right array: a list of rows of one length.", [], max_length=8
    )
    within: float | None = yaml_key(
        "Largest allowed error, as a share (default: 0.03 of the number, 0 of an entry).",
        None,
        ge=0,
        lt=1,
    )
    points: list[LongText] = yaml_key(
        "Key points of an answer in words; the person ticks those that theirs says.", []
    )
    ideas: dict[str, Slug] = yaml_key("Wrong answers, as they are typed, each with its idea.", {})

    @property
    def kind(self) -> Literal["choice", "number", "array", "points"]:
        """Return how it is answered: in words ("points") if it has no choice, number or array."""
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
    """One part of a question; it begins when the part before it passes.

    A question of one part has these keys, without `id` and `points`, next to its other keys.
    """

    id: Slug = yaml_key("Name of the part (default: its number).", "")
    points: Points = yaml_key("Points of the part; those of all parts add up to 100.")
    minutes: int = yaml_key("Minutes that a good candidate takes.", gt=0, le=480)
    prompt: LongText = yaml_key(
        "The interviewer's words: the symptom, not the cause; at most 90 words in part 1."
    )
    interface: LongText = yaml_key(
        "Python signatures with comments on shapes, dtypes and units; in later parts new ones.",
        "",
    )
    contract: list[LongText] = yaml_key(
        "Sentences on which people agree what is right; at most six in part 1.", []
    )
    checks: list[Check] = yaml_key("The checks, in order.", min_length=1)
    hints: list[LongText] = yaml_key(
        "Hints, from a nudge to nearly the answer; shown one at a time.", []
    )
    follow_ups: list[FollowUp] = yaml_key("Questions to think about after a pass.", [])


class Spec(StrictModel):
    """One question, as written in its YAML."""

    format: Literal[3] = yaml_key("Version of the format.")
    title: str = yaml_key("Name in lists.", min_length=1, max_length=80)
    form: FormName = yaml_key(
        "What the candidate hands in: fixed code (fix), numbers with units (estimate), numbers "
        "by hand (predict), formulas (derive), lines of a diff (review), code and its faults "
        "(diagnose), or a test (write-the-test). docs/forms.md explains all.",
        "fix",
    )
    answers: dict[AnswerName, Answer] = yaml_key("The answers of a text form, by name.", {})
    diff: str = yaml_key(
        "The diff of a review: lines that begin with a space, + or -.", "", max_length=8000
    )
    given: Sets = yaml_key(
        "Sets of numbers, mainly for estimates and predictions: a seed draws one of them, and "
        "`{name}`, or arithmetic such as `{2 * name:,}`, in texts and cases becomes its numbers.",
        [],
        max_length=MAX_SETS,
    )
    reasons: dict[Slug, LongText] = yaml_key(
        "Reasons of a review, by name: why a line may be wrong.", {}
    )
    causes: dict[Slug, LongText] = yaml_key(
        "Possible causes of a diagnosis, by name; some are innocent.", {}
    )
    log: str = yaml_key(
        "Log of a diagnosis: the output of the starter with seed 0.", "", max_length=8000
    )
    experiments: Experiments | None = yaml_key("Experiments of a diagnosis.", None)
    track: Slug = yaml_key("Subject: lower-case words joined by hyphens.")
    prerequisites: list[Slug] = yaml_key(
        "Questions to pass first; write this key above `uses`.", [], max_length=9
    )
    then: Slug | Literal[""] = yaml_key("The question to start after a prediction.", "")
    level: Level = yaml_key("Difficulty.")
    roles: list[Audience] = yaml_key(
        "Roles of candidates who are asked it; write this key above `uses`.", []
    )
    limits: Limits = yaml_key("Limits of one call, unless its case has its own.", Limits())
    uses: list[Library] = yaml_key(
        "Libraries that a submission may import: numpy, which is always there, and torch."
    )
    parts: list[Part] = yaml_key(
        "The parts, asked one after another; a single part has its keys here instead.",
        min_length=1,
        max_length=MAX_PARTS,
    )
    run: StepTexts | Annotated[dict[RunName, StepTexts], Field(min_length=1)] = yaml_key(
        "The steps, each 'result = function(inputs)': one step, a list, or several runs by name."
    )
    defaults: dict[str, Any] = yaml_key(
        "Inputs, and dtype, of cases that do not give them but give another input of the run.", {}
    )
    display: Show | None = yaml_key("The `show` of checks without one.", None)
    columns: list[Name] = yaml_key(
        "Names of the inputs, if cases are lists: the rows of a table.", []
    )
    cases: dict[Slug, dict[str, Any]] = yaml_key(
        "The inputs of each case, by name or in the order of `columns`; ~ stands for the default."
    )
    code: Code = yaml_key("The programs, unless they are files in drills/ID/.", Code())
    helpers: list[Name] = yaml_key(
        "Modules (drills/ID/NAME.py) for every program and the candidate.", [], max_length=9
    )
    survivors: list[Survivor] = yaml_key("Mutants of the reference that may pass.", [])
    starter: str = yaml_key(
        "`idea NAME` if the starter is the reference with that idea, so that the repair is the "
        "reference (default: starter.py and repair.py are written).",
        "",
        pattern=r"^(idea [a-z0-9]+(-[a-z0-9]+)*)?$",
    )
    starter_holds: list[Slug] = yaml_key("Ideas that the diagnosis of the starter must name.", [])
    teaches: list[Annotated[str, Field(min_length=1, max_length=110)]] = yaml_key(
        "Lessons of the question, a sentence each; shown with the solution.", [], max_length=3
    )
    sources: list[LongText] = yaml_key(
        "Papers, documentation and incidents that it comes from.", []
    )

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
        """Return how many minutes all parts together take a good candidate."""
        return sum(part.minutes for part in self.parts)

    @property
    def part_ids(self) -> tuple[str, ...]:
        """Return the id of each part, or else its number."""
        return tuple(part.id or str(number) for number, part in enumerate(self.parts, 1))

    @property
    def part_numbers(self) -> dict[str, int]:
        """Map each name of a part to its number: {"1": 1, "forward": 1, "2": 2, "backward": 2}."""
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
        """Return the path of keys to a step: ("run", 0), or ("run", "main", 0) with named runs."""
        return ("run", number) if isinstance(self.run, list) else ("run", run, number)

    @property
    def needs_torch(self) -> bool:
        """Return True if workers have to import torch."""
        return "torch" in self.uses


def normalize_spec(data: Mapping[str, Any]) -> dict[str, Any]:
    """Write out the short forms of a spec: return its data as the models expect it.

    - A question of one part has the keys of the part at the top: they move into `parts`.
    - A case may be a list, a row of the table with `columns`: it becomes a mapping.
    - A check may be one word: it becomes its id and its kind.  The default kind is `outputs`.
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
    """Return a part whose checks are mappings with a kind; a value of a wrong type stays."""
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
    """Map columns to cells, without the empty ones; a row that is too long stays as it is."""
    if len(cells) > len(columns):
        return cells
    return {name: cell for name, cell in zip(columns, cells, strict=False) if cell is not None}


def source_key_path(path: KeyPath, data: Mapping[str, Any]) -> KeyPath:
    """Translate a path in data from `normalize_spec` to the YAML as written, for messages.

    In a question of one part, ("parts", 0, "checks", 2) becomes ("checks", 2).  In a case that is
    written as a row, the name of a column becomes its number.
    """
    if path[:1] == ("cases",) and len(path) > 2 and isinstance(data["cases"].get(path[1]), list):
        return (*path[:2], data["columns"].index(path[2]), *path[3:])
    if path[:2] == ("parts", 0) and "parts" not in data:
        return path[2:]
    return path
