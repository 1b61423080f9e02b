"""class.yaml: what a class is asked and how its grades count, as its instructor wrote it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from grader.bank import document
from grader.bank.document import Document, Problem, dotted
from grader.bank.document import Keys as Path_
from grader.bank.wording import fields, grouped, unlike
from grader.classroom import disk
from grader.model.errors import BankError, UsageError, did_you_mean
from grader.model.question import Question
from grader.model.spec import Keys
from grader.session.session import MAX_SEED

FORMAT: Literal[1] = 1
_MOST_QUESTIONS = 100


class ClassQuestion(Keys):
    """A question of a class; its id alone where nothing else is said of it."""

    id: Annotated[str, Field(min_length=1, max_length=200)] = Field(
        description="ID, or BANK/ID where two banks hold it."
    )
    parts: Annotated[list[int | str], Field(min_length=1)] = Field(
        default=[], description="The parts that count, by number or id; all, if not given."
    )
    weight: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)] = Field(
        default=1, description="What its points are multiplied by in the total."
    )
    hidden: list[str] = Field(
        default=[],
        description="Checks and cases, by name, of which the feedback to students says nothing.",
    )


class ClassFile(Keys):
    """A class: its questions, and what all of its grades share."""

    format: Literal[1] = Field(description="The version of the format: 1.")
    title: str = Field(default="", max_length=200, description="What pages call the class.")
    questions: Annotated[
        list[str | ClassQuestion], Field(min_length=1, max_length=_MOST_QUESTIONS)
    ] = Field(default=[], description="What it is asked: ids, or mappings with the keys below.")
    deadline: str = Field(
        default="",
        description="A time with its offset, 2026-11-20T23:59:00+01:00. What comes later is marked "
        "as late; nothing is subtracted.",
    )
    counts: Literal["last", "best"] = Field(
        default="last", description="Which of several files of a student for a question counts."
    )
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] | None = Field(
        default=None, description="Draws the inputs of everybody; chosen once, if not given."
    )
    isolation: Literal["strong", "limited", "process"] = Field(
        default="strong", description="The least that a submission has to be refused."
    )
    layout: str = Field(
        default="", max_length=200, description="How submissions are laid out, as --layout has it."
    )
    pattern: str = Field(
        default="", max_length=1000, description="The paths of submissions, as --pattern has them."
    )

    @property
    def asked(self) -> tuple[ClassQuestion, ...]:
        """Its questions, each as a mapping."""
        return tuple(
            ClassQuestion(id=one) if isinstance(one, str) else one for one in self.questions
        )


_MOST = 1_000_000  # bytes


class ClassFileError(UsageError):
    """A class.yaml is wrong; `problems` holds every fault, `excerpt` the line of a mistake."""

    def __init__(self, problems: tuple[str, ...], excerpt: tuple[str, ...] = ()) -> None:
        """Store the first problem as the message, all of them, and lines of the file to show."""
        super().__init__(problems[0])
        self.problems, self.excerpt = problems, excerpt


@dataclass(frozen=True, slots=True)
class ClassConfig:
    """What a class is asked, and where it is written."""

    file: ClassFile
    written: Document | None = None  # None: on the command line

    @classmethod
    def of(cls, ids: Sequence[str]) -> ClassConfig:
        """Return one that is asked some questions, and nothing else is said of it."""
        return cls(ClassFile(format=FORMAT, questions=list(dict.fromkeys(ids))))


def read(path: Path) -> ClassConfig:
    """Read a class.yaml.

    Raises:
        UsageError: It cannot be read, or something in it is wrong; `problems` lists every fault.
    """
    try:
        written = document.parse(disk.content(path, disk.followed, _MOST), path)
    except OSError as fault:
        raise UsageError(f"{path}: expected a class.yaml to read: {fault.strerror}") from fault
    except BankError as error:
        raise ClassFileError(error.problems, error.excerpt) from None
    problems = list(written.problems)
    try:
        file = ClassFile.model_validate(written.data)
    except ValidationError as error:
        placed = {problem[:2] for problem in problems}
        found = [_problem(written, *one) for one in grouped(error, written.data).items()]
        problems += [one for one in found if one[:2] not in placed]
    else:
        problems += [(*written.position(at), text) for at, text in _faults(file)]
    if problems:
        raise ClassFileError(written.complaint(problems).problems)
    return ClassConfig(file, written)


def schema() -> str:
    """Return the JSON Schema of a class.yaml, by which editors complete and check it."""
    whole: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(whole | ClassFile.model_json_schema(), indent=2) + "\n"


def unlike_the_question(
    at: Path_, asked: ClassQuestion, question: Question
) -> Iterator[tuple[Path_, str]]:
    """Say which parts, checks and cases a question of a class has not: paths of keys, sentences."""
    known = question.spec.part_numbers
    for i, part in enumerate(asked.parts):
        if str(part) not in known:
            where = (*at, "parts", i)
            listed = ", ".join(known)
            yield where, f"{dotted(where)}: expected one of the parts {listed}, found {part!r}"
    names = [*(check.id for check in question.spec.checks), *question.spec.cases]
    for i, name in enumerate(asked.hidden):
        if name not in names:
            where = (*at, "hidden", i)
            text = f"expected a check or a case of {question.id}, found {name!r}"
            yield where, f"{dotted(where)}: {text}{did_you_mean(name, names)}"


def _problem(written: Document, at: Path_, group: list[ErrorDetails]) -> Problem:
    """Return what is wrong at a place."""
    kind, whole = group[0]["type"], dotted(at[:-1]) or "the class"
    if kind == "missing":
        text = f"{whole}: expected the key {at[-1]!r}, found none"
        return *written.position(at[:-1]), text
    if kind == "extra_forbidden":
        model: type[BaseModel] = ClassQuestion if at[0] == "questions" else ClassFile
        known = list(fields(model))
        hint = did_you_mean(at[-1], known) or f"; known keys: {', '.join(known)}"
        return *written.position(at, key=True), f"{whole}: found the unknown key {at[-1]!r}{hint}"
    return *written.position(at), unlike(at, group)


def _faults(file: ClassFile) -> Iterator[tuple[Path_, str]]:
    """Say what no type says."""
    if file.deadline:
        moment = None
        with suppress(ValueError):
            moment = datetime.fromisoformat(file.deadline)
        if moment is None or moment.utcoffset() is None:
            lacks = "" if moment is None else ", which has no offset"
            expected = "expected a time such as 2026-11-20T23:59:00+01:00"
            yield ("deadline",), f"deadline: {expected}, found {file.deadline!r}{lacks}"
    if file.layout and file.pattern:
        yield ("pattern",), "pattern: expected a layout or a pattern, found both; remove one"
    ids = [one.id.rpartition("/")[2] for one in file.asked]
    for i, name in enumerate(ids):
        if (first := ids.index(name)) < i:
            text = f"expected each question once, found {name!r} again (questions[{first}])"
            yield ("questions", i), f"questions[{i}]: {text}"
