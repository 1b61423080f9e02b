"""What a class is asked: from its class.yaml, or from the command line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from grader import __version__
from grader.app import requirements
from grader.app.context import Context
from grader.bank.document import Keys, Problem
from grader.classroom import config
from grader.classroom.config import Asked, Course
from grader.classroom.jobs import versions
from grader.classroom.results import agree
from grader.model.classroom import Posed, Terms
from grader.model.errors import UsageError
from grader.model.question import Question


def course_of(file: Path | None, questions: tuple[str, ...]) -> Course:
    """Return what a class is asked.

    Args:
        file: Its class.yaml, if there is one.
        questions: Those of the command line.

    Raises:
        UsageError: Both name questions or neither does, or the file is wrong.
    """
    if file is None:
        if not questions:
            raise UsageError("expected --question ID or --class class.yaml, found neither")
        return Course.of(tuple(dict.fromkeys(questions)))
    course = config.read(file)
    if questions and course.file.questions:
        text = f"expected --question or the questions of {file}, found both"
        raise UsageError(text, hint="name them in one place: a file keeps what counts with them")
    if not (questions or course.file.questions):
        raise UsageError(f"{file}: expected the key 'questions', or --question ID, found neither")
    if questions:
        named = {"questions": list(dict.fromkeys(questions))}
        return Course(course.file.model_copy(update=named))
    return course


def load(ctx: Context, course: Course) -> list[Question]:
    """Load the questions of a class.

    Raises:
        UsageError: There is no such question, part, check or case.
        BankError: A question cannot be loaded.
    """
    found: list[Question] = []
    problems: list[Problem] = []
    for i, asked in enumerate(course.file.asked):
        at: Keys = ("questions", i)
        try:
            question = ctx.load(asked.id)
        except UsageError as error:
            if course.written is None:
                raise
            hint = f"; {error.hint}" if error.hint and not error.hint.startswith("Next:") else ""
            whole = course.written
            where = whole.position((*at, "id") if (*at, "id") in whole.spots else at)
            problems.append((*where, f"questions[{i}]: {error.message}{hint}"))
            continue
        requirements.need_torch(question)
        found.append(question)
        if course.written is not None:
            wrong = config.unlike_the_question(at, asked, question)
            problems += [(*course.written.position(place), text) for place, text in wrong]
    if problems:
        raise course.complaint(problems)
    return found


def terms(
    course: Course,
    questions: Sequence[Question],
    submissions: Path,
    out: Path,
    *,
    level: str,
    seed: int | None,
) -> Terms:
    """Return the terms of a class, and keep them: what was drawn by chance stays from then on.

    Args:
        course: What the class is asked.
        questions: The same, loaded.
        submissions: What was handed in.
        out: The folder of its results.
        level: The isolation that a grade must have had at least.
        seed: That of the command line, which goes before that of the file.

    Raises:
        UsageError: What the folder holds cannot be read, or it cannot be written.
    """
    file = course.file
    wanted = file.seed if seed is None else seed
    drawn = int.from_bytes(os.urandom(4), "big") if wanted is None else wanted
    asked = tuple(posed(*one) for one in zip(file.asked, questions, strict=True))
    found = Terms(
        drawn, level, __version__, asked, title=file.title, deadline=file.deadline,
        counts=file.counts, submissions=str(submissions.resolve()),
    )  # fmt: skip
    return agree(out, found, drawn=wanted is None)


def posed(asked: Asked, question: Question) -> Posed:
    """Return a question as a class is asked it."""
    parts = question.spec.parts
    names = ("python", "numpy", *(one for one in question.spec.uses if one != "numpy"))
    known = question.spec.part_numbers
    counting = {known[str(part)] for part in asked.parts} or set(known.values())
    return Posed(
        question.id,
        question.spec.title,
        question.digest,
        str(question.bank),
        tuple(sorted(counting)),
        sum(parts[number - 1].points for number in counting),
        weight=asked.weight,
        hidden=tuple(dict.fromkeys(asked.hidden)),
        libraries=versions(names),
    )
