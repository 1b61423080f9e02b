"""The file class.yaml: the questions of a class, and the settings that all its grades share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from grader import forms
from grader.bank import yaml_document
from grader.bank.bank_files import read_regular_file
from grader.bank.validation_errors import validation_errors
from grader.bank.yaml_document import Document
from grader.classroom.grading_jobs import library_versions
from grader.classroom.overrides import ClassFileError
from grader.grading.session import MAX_SEED
from grader.model.classroom import AssignedQuestion
from grader.model.errors import BankError, SpecError, UsageError, did_you_mean
from grader.model.limits import MAX_SOURCE
from grader.model.question import Question
from grader.model.spec import StrictModel, yaml_key

_MAX_QUESTIONS = 100


class ClassQuestion(StrictModel):
    """A question of a class. The file may have its id alone if it has no other key."""

    id: str = yaml_key("ID, or BANK/ID where two banks hold it.", min_length=1, max_length=200)
    parts: list[int | str] = yaml_key(
        "The parts that count, by number or id; all, if not given.", [], min_length=1
    )
    weight: float = yaml_key(
        "What its points are multiplied by in the total.", 1, gt=0, le=1000, allow_inf_nan=False
    )
    hidden: list[str] = yaml_key(
        "Checks and cases, by name, of which the feedback to students says nothing.", []
    )


class LateKeys(StrictModel):
    """Penalty for late submissions."""

    penalty: float = yaml_key(
        "Percent of the points for each day begun after the deadline.", ge=0, le=100
    )
    days: int = yaml_key(
        "What comes more days later is worth nothing, and an earlier file counts.",
        366,
        ge=0,
        le=366,
    )
    extensions: dict[str, Annotated[int, Field(ge=0, le=366)] | str] = yaml_key(
        "By student, days more than others have, or a time with its offset.", {}
    )


class ClassFile(StrictModel):
    """Content of a class.yaml."""

    format: Literal[1] = yaml_key("The version of the format: 1.")
    title: str = yaml_key("What pages call the class.", "", max_length=200)
    questions: list[str | ClassQuestion] = yaml_key(
        "What it is asked: ids, or mappings with the keys below.",
        [],
        min_length=1,
        max_length=_MAX_QUESTIONS,
    )
    deadline: str = yaml_key(
        "A time with its offset, 2026-11-20T23:59:00+01:00. What comes later is marked "
        "as late; `late` says what that costs.",
        "",
    )
    late: LateKeys | None = yaml_key("What coming late costs; nothing, if not given.", None)
    counts: Literal["last", "best"] = yaml_key(
        "Which of several files of a student for a question counts.", "last"
    )
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] | Literal["per student"] | None = yaml_key(
        "Draws the inputs of everybody; chosen once, if not given. `per student`: each "
        "has a seed of that.",
        None,
    )
    partial: Literal["written", "checks"] = yaml_key(
        "What a part that fails earns: the points that its author wrote beside checks "
        "that pass, or, `checks`, equal shares for them where the author wrote none.",
        "written",
    )
    isolation: Literal["strong", "limited", "process"] = yaml_key(
        "The least that a submission has to be refused.", "strong"
    )
    stretch: bool = yaml_key("Whether what is only reported is measured, too.", False)
    strict_text: bool = yaml_key(
        "Whether answers in words and numbers are read literally: `37 users` is no number.", False
    )
    on_error: Literal["stop", "skip"] = yaml_key(
        "What a cell of a notebook that raises does to those after it.", "skip"
    )
    layout: str = yaml_key("How submissions are laid out, as --layout has it.", "", max_length=200)
    pattern: str = yaml_key("The paths of submissions, as --pattern has them.", "", max_length=1000)

    @property
    def questions_asked(self) -> list[ClassQuestion]:
        """The questions of the class; an id alone becomes a `ClassQuestion`, too."""
        return [
            ClassQuestion(id=question) if isinstance(question, str) else question
            for question in self.questions
        ]


def class_schema() -> str:
    """Return the JSON Schema of a class.yaml, for editors that complete and check it."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    schema |= ClassFile.model_json_schema()
    return json.dumps(schema, indent=2) + "\n"


def parse_class_file(path: Path) -> tuple[ClassFile, Document]:
    """Return the content of a class.yaml, and its YAML document, which knows the lines of errors.

    UsageError if it cannot be read; ClassFileError lists what is wrong in it.
    """
    try:
        text = read_regular_file(path.resolve(), MAX_SOURCE + 1)[0]
        document = yaml_document.parse_yaml(text, path)
    except OSError as error:
        raise UsageError(f"{path}: expected a class.yaml to read: {error.strerror}") from error
    except BankError as error:
        raise ClassFileError(error) from None
    try:
        return ClassFile.model_validate(document.data), document
    except ValidationError as error:
        errors = validation_errors(error, document.data, ClassFile)
        raise ClassFileError(document.to_bank_error(errors, "the class")) from None


def class_file_errors(config: ClassFile) -> Iterator[SpecError]:
    """Give the errors of a class.yaml with valid types, such as a question that is listed twice."""
    yield from _time_errors(config)
    if config.late and not config.deadline:
        yield ("late",), "expected a deadline with it, found none"
    if config.layout and config.pattern:
        yield ("pattern",), "expected a layout or a pattern, found both; remove one"
    names = [asked.id.rpartition("/")[2] for asked in config.questions_asked]
    for number, name in enumerate(names):
        first = names.index(name)
        if first < number:
            text = f"expected each question once, found {name!r} again (questions[{first}])"
            yield ("questions", number), text


def _time_errors(config: ClassFile) -> Iterator[SpecError]:
    expected = "expected a time with its offset, as 2026-11-20T23:59:00+01:00"
    deadline = _to_time(config.deadline)
    if config.deadline and not deadline:
        yield ("deadline",), f"{expected}, found {config.deadline!r}"
    extensions = config.late.extensions if config.late else {}
    for student, time in extensions.items():
        if isinstance(time, str):
            place = ("late", "extensions", student)
            moment = _to_time(time)
            if not moment:
                yield place, f"{expected}, found {time!r}"
            elif deadline and moment < deadline:
                yield place, f"expected a time after the deadline, found {time!r}"


def _to_time(text: str) -> datetime | None:
    """Parse an ISO 8601 time with an offset from UTC; None for any other text."""
    with suppress(ValueError):
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo else None
    return None


def class_question_errors(
    number: int, asked: ClassQuestion, question: Question
) -> Iterator[SpecError]:
    """Give an error for each part, check or case that a question does not have."""
    part_numbers = question.spec.part_numbers
    for i, part in enumerate(asked.parts):
        if str(part) not in part_numbers:
            text = f"expected one of the parts {', '.join(part_numbers)}, found {part!r}"
            yield ("questions", number, "parts", i), text
    names = [*(check.id for check in question.spec.checks), *question.spec.cases]
    for i, name in enumerate(asked.hidden):
        if name not in names:
            text = f"expected a check or a case of {question.id}, found {name!r}"
            yield ("questions", number, "hidden", i), f"{text}{did_you_mean(name, names)}"


def assign_question(
    asked: ClassQuestion, question: Question, *, shares_points: bool
) -> AssignedQuestion:
    """Return a question with the parts, weight and hidden checks that a class chose.

    If `shares_points`, a part divides its points equally among its checks, unless its author
    wrote points at them.
    """
    spec = question.spec
    numbers = {spec.part_numbers[str(part)] for part in asked.parts}
    numbers = numbers or {*spec.part_numbers.values()}
    return AssignedQuestion(
        id=question.id,
        title=spec.title,
        digest=question.digest,
        bank=str(question.bank),
        parts=tuple(sorted(numbers)),
        of=sum(spec.parts[number - 1].points for number in numbers),
        weight=asked.weight,
        hidden=tuple(dict.fromkeys(asked.hidden)),
        shared=shares_points,
        libraries=library_versions(dict.fromkeys(["python", "drill", "numpy", *spec.uses])),
        is_text=forms.form_of(spec).is_text,
    )
