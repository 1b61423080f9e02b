"""Grade a class: what was handed in becomes verdicts, each once, however often it is begun.

Read what is handed in, into the table; grade what waits there, side by side; one commit a verdict.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from grader import __version__, forms
from grader.app import requirements
from grader.app.context import Context
from grader.bank.document import Keys, Problem
from grader.bank.storage import files_of
from grader.classroom import config as class_file
from grader.classroom.config import ClassConfig, ClassFileError, ClassQuestion
from grader.classroom.hand_in import SHOWN, HandIns
from grader.classroom.results import Results, agreed
from grader.classroom.run import (
    LEVELS,
    DaskPool,
    Job,
    LocalPool,
    Pool,
    grade_all,
    versions,
)
from grader.model.classroom import AssignedQuestion, Entry, Terms
from grader.model.errors import UsageError
from grader.model.numerals import quantity
from grader.model.question import Question
from grader.reports.sheet import inert


class NothingHandedIn(UsageError):
    """No file is anybody's answer."""


@dataclass(frozen=True, slots=True)
class ClassPlan:
    """How a class is to be graded."""

    submissions: Path
    questions: tuple[str, ...]  # none where its class.yaml names them
    out: Path
    seed: int | None = None
    level: str = ""  # of isolation, at least; what its class.yaml says, else strong, when empty
    jobs: int | None = None  # processes here; as many as there are cores when None
    layout: str = ""  # how submissions are laid out, where that does not show
    pattern: str = ""  # their paths, with fields, where no layout fits
    file: Path | None = None  # its class.yaml
    scheduler: str = ""  # address of a Dask cluster, where grades run there


@dataclass(frozen=True, slots=True)
class ClassProgress:
    """One more submission that is done with, and how far the class is."""

    done: int
    of: int
    entry: Entry
    known: bool = False  # whether there was nothing to grade


@dataclass(slots=True)
class Tally:
    """What came of a class, counted."""

    verdicts: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)  # of the grader, by what they say
    known: int = 0
    done: int = 0
    of: int = 0

    def add(self, one: ClassProgress) -> None:
        """Count one more submission."""
        self.done, self.of = one.done, one.of
        self.known += one.known and not one.entry.handed.fault
        if one.entry.points is None:
            self.faults[one.entry.note] += 1
        else:
            self.verdicts[one.entry.verdict] += 1

    def lines(self) -> Iterator[str]:
        """Say it."""
        counts = [f"{count} {name}" for name, count in self.verdicts.most_common()]
        yield f"{quantity(self.of, 'submission')}: {', '.join(counts) or 'none graded'}"
        if self.known:
            yield f"{self.known} of them graded before"


def grade_class(
    ctx: Context, plan: ClassPlan, begin: Callable[[int, int], None] = lambda _done, _of: None
) -> Iterator[ClassProgress]:
    """Grade what was not graded before, and give every submission when it is done with.

    Args:
        ctx: Where the person is.
        plan: What is to be graded, and how.
        begin: Called before the first grade: how many are done with, and of how many.

    Raises:
        UsageError: It is not clear what is meant, or this machine is not isolated as it has to be.
        BankError: A question cannot be loaded.
    """
    config = config_of(plan.file, plan.questions)
    questions = load(ctx, config)
    level = checked_level(plan.level or config.file.isolation)
    if not plan.scheduler:
        _need(level)
    _need_apart(plan.submissions, plan.out)
    asked = [one.id for one in questions]
    texts = [one.id for one in questions if forms.of(one.spec).is_text]
    laid_out = plan.layout or plan.pattern
    how = (plan.layout, plan.pattern) if laid_out else (config.file.layout, config.file.pattern)
    # Before anything is written: it may be refused.
    with HandIns(plan.submissions, asked, *how, texts) as handed:
        terms = _terms(config, questions, plan, level)
        with Results(plan.out, write=terms) as results:
            count = results.take(handed)
            _say_found(ctx, plan.submissions, asked, handed, count)
            yield from _graded(ctx, plan, questions, results, count, begin)


def _graded(
    ctx: Context,
    plan: ClassPlan,
    questions: Sequence[Question],
    results: Results,
    count: int,
    begin: Callable[[int, int], None],
) -> Iterator[ClassProgress]:
    """Give what is known already, then grade the rest; of equal programs one is graded."""
    done = 0
    for entry in results.settled():
        done += 1
        yield ClassProgress(done, count, entry, known=True)
    begin(done, count)
    if done == count:
        return

    terms = results.terms

    def jobs() -> Iterator[Job]:
        for question in terms.questions:
            for key, program in results.waiting(question):
                yield Job(key, question, program, terms.seed, terms.level)

    with closing(grade_all(jobs(), _pool(plan, questions))) as outcomes:
        for graded in outcomes:
            results.keep(graded, ctx.now())
            for entry in results.with_key(graded.key):
                done += 1
                yield ClassProgress(done, count, entry)


def _pool(plan: ClassPlan, questions: Sequence[Question]) -> Pool:
    if plan.scheduler:
        return DaskPool(plan.scheduler, {one.id: files_of(one) for one in questions})
    return LocalPool(plan.jobs or requirements.cores())


def _need(level: str) -> None:
    """Try what this machine refuses.

    Raises:
        UsageError: It is less than is asked for.
    """
    from grader.sandbox.client import WorkerClient

    with WorkerClient(torch=False) as worker:
        found = worker.isolation.level
    if LEVELS.index(found) < LEVELS.index(level):
        raise UsageError(
            f"isolation: expected {level}, found {found}: a submission may do what it must not",
            hint=f"drill doctor shows what is missing; --isolation {found} grades all the same",
        )


def _need_apart(submissions: Path, out: Path) -> None:
    """Refuse results where submissions lie: the next grade would take them for some.

    Raises:
        UsageError: They would lie there.
    """
    inside, folder = out.resolve(), submissions.resolve()
    if inside == folder or folder in inside.parents:
        raise UsageError(
            f"--out {out}: expected a folder outside of {submissions}, found one in it",
            hint="results among submissions would be taken for submissions",
        )


def _say_found(ctx: Context, root: Path, asked: Sequence[str], handed: HandIns, count: int) -> None:
    """Say how files are laid out, which are nobody's answer, and from whom there is none.

    Raises:
        NothingHandedIn: No file is an answer.
    """
    layout, unused = handed.layout, handed.unused
    count -= len(unused.lacking)
    if not count:
        like = " or ".join(f"STUDENT/{one}.py" for one in asked)
        if layout.looks_like != "STUDENT/QUESTION.py":
            like = f"{layout.looks_like} ({layout.name})"
        found = str(unused) or "none"
        raise NothingHandedIn(
            f"{root}: expected files like {like}, found {found}",
            hint="--layout or --pattern says how they are named",
        )
    ctx.say(f"{root}: {quantity(count, 'answer')} like {layout.looks_like} ({layout.name})", "")
    if unused.programs:
        ctx.say(f"{root}: {unused}", "")
    if without := list(dict.fromkeys(unused.lacking)):
        more = f" and {len(without) - SHOWN:,} more" if len(without) > SHOWN else ""
        listed = ", ".join(inert(one, 60) for one in without[:SHOWN])
        ctx.say(f"{root}: no answer from {quantity(len(without), 'student')}: {listed}{more}", "")


# What a class is asked.


def config_of(file: Path | None, questions: Sequence[str]) -> ClassConfig:
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
        return ClassConfig.of(questions)
    config = class_file.read(file)
    if questions and config.file.questions:
        text = f"expected --question or the questions of {file}, found both"
        raise UsageError(text, hint="name them in one place: a file keeps what counts with them")
    if not (questions or config.file.questions):
        raise UsageError(f"{file}: expected the key 'questions', or --question ID, found neither")
    if questions:
        named = {"questions": list(dict.fromkeys(questions))}
        return ClassConfig(config.file.model_copy(update=named))
    return config


def load(ctx: Context, config: ClassConfig) -> list[Question]:
    """Load the questions of a class.

    Raises:
        UsageError: There is no such question, part, check or case.
        BankError: A question cannot be loaded.
    """
    found: list[Question] = []
    problems: list[Problem] = []
    for i, asked in enumerate(config.file.asked):
        at: Keys = ("questions", i)
        try:
            question = ctx.load(asked.id)
        except UsageError as error:
            if config.written is None:
                raise
            hint = f"; {error.hint}" if error.hint and not error.hint.startswith("Next:") else ""
            whole = config.written
            where = whole.position((*at, "id") if (*at, "id") in whole.spots else at)
            problems.append((*where, f"questions[{i}]: {error.message}{hint}"))
            continue
        requirements.need_torch(question)
        found.append(question)
        if config.written is not None:
            wrong = class_file.unlike_the_question(at, asked, question)
            problems += [(*config.written.position(place), text) for place, text in wrong]
    if problems:
        assert config.written is not None
        raise ClassFileError(config.written.complaint(problems).problems)
    return found


def checked_level(level: str) -> str:
    """Return a level of isolation.

    Raises:
        UsageError: There is no such level.
    """
    if level not in LEVELS:
        raise UsageError(f"--isolation: expected {', '.join(LEVELS)}, found {level}")
    return level


def assigned(asked: ClassQuestion, question: Question) -> AssignedQuestion:
    """Return a question as a class is asked it."""
    parts = question.spec.parts
    names = ("python", "numpy", *(one for one in question.spec.uses if one != "numpy"))
    known = question.spec.part_numbers
    counting = {known[str(part)] for part in asked.parts} or set(known.values())
    return AssignedQuestion(
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


def _terms(
    config: ClassConfig, questions: Sequence[Question], plan: ClassPlan, level: str
) -> Terms:
    """Return what all grades of a class share; the seed of the command line goes first."""
    file = config.file
    wanted = file.seed if plan.seed is None else plan.seed
    seed = int.from_bytes(os.urandom(4), "big") if wanted is None else wanted
    asked = tuple(assigned(*one) for one in zip(file.asked, questions, strict=True))
    found = Terms(
        seed, level, __version__, asked, title=file.title, deadline=file.deadline,
        counts=file.counts, submissions=str(plan.submissions.resolve()),
    )  # fmt: skip
    return agreed(plan.out, found, drawn=wanted is None)
