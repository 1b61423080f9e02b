"""`drill class grade`: grade every submission of a class, each once even if it is started again.

The submissions are stored in the results first.  The ones without a verdict are then graded by
several processes, and each verdict is committed before it is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from grader.commands import entrypoint, output
from grader.commands.options import (
    Jobs,
    JsonOption,
    Seed,
    argument,
    command_context,
    flag,
    ids,
    option,
)
from grader.model.errors import UsageError
from grader.model.number_format import format_count, format_minutes, join_words

if TYPE_CHECKING:
    from grader.classroom.class_file import ClassFile
    from grader.classroom.grading_jobs import DaskPool, LocalPool
    from grader.classroom.results import ClassResults
    from grader.commands.context import Context
    from grader.model.classroom import ClassEntry, ClassSettings
    from grader.model.question import Question


class ClassPlan(NamedTuple):
    """Arguments of `drill class grade`."""

    submissions: Path
    questions: tuple[str, ...]  # empty if its class.yaml names them
    out: Path  # the folder of the results
    seed: int | None = None
    level: str = ""  # minimum isolation; by default that of its class.yaml
    stretch: bool = False  # run stretch checks, which are reported but not required, too
    strict_text: bool = False  # text answers are read literally
    jobs: int | None = None  # processes of this machine; None: one for each core
    layout: str = ""  # how submissions are laid out, if their paths do not show it
    pattern: str = ""  # their paths, as {student}/{question}.py, if no layout fits
    file: Path | None = None  # its class.yaml
    scheduler: str = ""  # address of a Dask cluster that grades


class ClassProgress(NamedTuple):
    """One finished submission, and how many of the class are finished, this one included."""

    done: int
    total_files: int
    entry: ClassEntry
    was_known: bool = False  # an earlier command graded it, or it has no program


def grade_class(ctx: Context, plan: ClassPlan) -> Iterator[ClassProgress]:
    """Store the submissions of a class in `plan.out`, grade them, and yield each when it is done.

    Those that need no grade come first.  Warn of doubtful submissions, for example of a student
    without a file.  UsageError if this machine isolates less than is asked for, if `plan.out` is
    among the submissions or would lose grades, if the submissions or the class.yaml cannot be read,
    or if no student has an answer.
    """
    from grader import bank
    from grader.classroom.hand_ins import HandIns
    from grader.classroom.notices import grading_notices
    from grader.classroom.results import SETTINGS_FILE, ClassResults, read_settings
    from grader.classroom.submission_layout import AnswerNames

    config, questions = read_class(ctx, plan.file, plan.questions, plan.level)
    if not plan.scheduler:
        _require_isolation(config.isolation)
    if plan.out.resolve().is_relative_to(plan.submissions.resolve()):
        raise UsageError(
            f"--out {plan.out}: expected a folder outside of {plan.submissions}, found one in it",
            hint="results among submissions would be taken for submissions",
        )
    settings = _class_settings(plan, config, questions)
    earlier = read_settings(plan.out) if (plan.out / SETTINGS_FILE).exists() else settings
    _require_all_questions(plan, earlier, settings)
    described = plan if plan.layout or plan.pattern else config
    names = AnswerNames(
        (question.id for question in settings.questions),
        [question.id for question in settings.questions if question.is_text],
        bank.question_ids(ctx.banks()),
    )
    is_drawn = plan.seed is None and not isinstance(config.seed, int)
    # Nothing is written before the submissions were found: they may be refused.
    with (
        HandIns(
            plan.submissions,
            names,
            layout=described.layout,
            pattern=described.pattern,
            skips_errors=config.on_error == "skip",
            questions=questions,
        ) as hand_ins,
        ClassResults(plan.out, write=settings, drawn=is_drawn) as results,
    ):
        count = results.store_hand_ins(hand_ins, hand_ins.unused_files())
        for notice in grading_notices(
            plan.submissions, hand_ins, results, earlier, questions, count
        ):
            ctx.warn(notice)
        yield from _grade_waiting(ctx, plan, results, questions, count)


def read_class(
    ctx: Context, file: Path | None, ids: Sequence[str], level: str = ""
) -> tuple[ClassFile, list[Question]]:
    """Return the settings and questions of a class, from `file`, its class.yaml, or from `ids`.

    `level`, such as "strong", replaces the isolation that the file asks for.  UsageError if both
    or neither name questions, if there is an error in the file, or if torch is needed and missing.
    """
    from grader.classroom.class_file import (
        ClassFile,
        class_file_errors,
        class_question_errors,
        parse_class_file,
    )
    from grader.classroom.grading_jobs import LEVELS
    from grader.classroom.overrides import ClassFileError
    from grader.commands.context import require_torch

    if level and level not in LEVELS:
        raise UsageError(f"--isolation: expected {', '.join(LEVELS)}, found {level}")
    config, document = parse_class_file(file) if file else (ClassFile(format=1), None)
    errors = list(class_file_errors(config))
    if ids and config.questions:
        raise UsageError(
            f"expected --question or the questions of {file}, found both",
            hint="name them in one place: a file keeps what counts with them",
        )
    if ids:
        config = config.model_copy(update={"questions": list(dict.fromkeys(ids))})
    if not config.questions:
        raise UsageError("expected --question ID or --class class.yaml with questions, found none")
    questions: list[Question] = []
    for number, asked in enumerate(config.questions_asked):
        try:
            question = ctx.load(asked.id)
        except UsageError as error:
            if ids:
                raise
            hint = f"; {error.hint}" if error.hint and not error.hint.startswith("Next:") else ""
            errors.append((("questions", number, "id"), f"{error.message}{hint}"))
        else:
            questions.append(question)
            require_torch(question)
            errors += class_question_errors(number, asked, question)
    if errors:
        assert document is not None  # the command line names neither parts nor checks
        raise ClassFileError(document.to_bank_error(errors, "the class"))
    if level:
        config = config.model_copy(update={"isolation": level})
    return config, questions


def _require_isolation(level: str) -> None:
    """Raise UsageError if a worker here is isolated less than `level`, such as "strong"."""
    from grader.classroom.grading_jobs import LEVELS
    from grader.sandbox.client import WorkerClient

    with WorkerClient(torch=False) as worker:
        actual = worker.isolation.level
    if LEVELS.index(actual) < LEVELS.index(level):
        raise UsageError(
            f"isolation: expected {level}, found {actual}: a submission may do what it must not",
            hint="drill doctor --walls shows what this machine does not refuse; where you trust "
            f"everybody, --isolation {actual} grades all the same",
        )


def _class_settings(
    plan: ClassPlan, config: ClassFile, questions: Sequence[Question]
) -> ClassSettings:
    from grader.classroom.class_file import assign_question
    from grader.commands.context import choose_seed
    from grader.model.classroom import ClassSettings, LatePolicy
    from grader.model.version import __version__

    seed = plan.seed
    if seed is None and isinstance(config.seed, int):
        seed = config.seed
    shares_points = config.partial == "checks"
    return ClassSettings(
        seed=choose_seed() if seed is None else seed,
        level=config.isolation,
        program=__version__,
        questions=tuple(
            assign_question(asked, question, shares_points=shares_points)
            for asked, question in zip(config.questions_asked, questions, strict=True)
        ),
        title=config.title,
        deadline=config.deadline,
        late=LatePolicy(**config.late.model_dump()) if config.late else None,
        submissions=str(plan.submissions.resolve()),
        stretch=plan.stretch or config.stretch,
        strict_text=plan.strict_text or config.strict_text,
        per_student=config.seed == "per student",
        file=str(plan.file or ""),
        counts=config.counts,
    )


def _require_all_questions(
    plan: ClassPlan, earlier: ClassSettings, settings: ClassSettings
) -> None:
    """Without `--class`, raise UsageError if earlier results in `--out` would lose something.

    They would lose what a class.yaml set, or the grades of a question that `--question` omits.
    """
    if plan.file is not None:
        return
    if earlier.file:
        raise UsageError(
            f"{plan.out}: --question would forget the deadline, the weights and the questions of "
            "the class.yaml that these results were made with",
            hint=f"--class {earlier.file} again, or another --out",
        )
    graded = [question.id for question in earlier.questions]
    asked = [question.id for question in settings.questions]
    if not {*graded} <= {*asked}:
        options = " ".join(f"--question {name}" for name in dict.fromkeys([*graded, *asked]))
        raise UsageError(
            f"{plan.out}: it has grades of {join_words(graded)}, "
            "which this command would leave out",
            hint=f"{options}, or another --out",
        )


def _grade_waiting(
    ctx: Context,
    plan: ClassPlan,
    results: ClassResults,
    questions: Sequence[Question],
    count: int,
) -> Iterator[ClassProgress]:
    """Yield the submissions that need no grade; grade the others, and yield each once stored.

    `count` is the number of all submissions.
    """
    from grader.bank.bank_files import question_files
    from grader.classroom.grading_jobs import DaskPool, GradingJob, LocalPool, grade_all
    from grader.commands.context import available_cores

    done = 0
    for entry in results.settled_entries():
        done += 1
        yield ClassProgress(done, count, entry, was_known=True)
    if done == count:
        return
    pool: LocalPool | DaskPool = LocalPool(plan.jobs or available_cores())
    if plan.scheduler:
        files = {question.id: question_files(question) for question in questions}
        pool = DaskPool(plan.scheduler, files)
    settings = results.class_settings  # a seed that was drawn by an earlier grading stays
    jobs = (
        GradingJob(
            key=key,
            question=question,
            program=program,
            seed=settings.seed_of(student),
            level=settings.level,
            stretch=settings.stretch,
            literal=settings.strict_text,
        )
        for question in settings.questions
        for key, program, student in results.programs_to_grade(question)
    )
    with closing(grade_all(jobs, pool)) as grades:
        for grade in grades:
            results.store_grade(grade, ctx.now())
            for entry in results.entries_of_program(grade.key):
                done += 1
                yield ClassProgress(done, count, entry)


# The command.

ClassFileOption = Annotated[
    Path | None, option("FILE", "A class.yaml: questions, parts, weights, deadline.", "--class")
]
IsolationOption = Annotated[
    str, option("LEVEL", "At least strong (if not given), limited or process.")
]


def grade(
    ctx: typer.Context,
    submissions: Annotated[Path, argument("SUBMISSIONS", "A folder or a zip file.")],
    out: Annotated[Path, option("RESULTS", "Where the verdicts are kept.")],
    question: Annotated[
        list[str] | None, option("ID", "A question of the class (repeatable).", autocompletion=ids)
    ] = None,
    file: ClassFileOption = None,
    jobs: Jobs = None,
    isolation: IsolationOption = "",
    seed: Seed = None,
    stretch: Annotated[bool, flag("--stretch", "Measure what is only reported, too.")] = False,
    strict_text: Annotated[
        bool, flag("--strict-text", "Read text answers literally: '37 users' is no number.")
    ] = False,
    layout: Annotated[str, option("NAME", "How files are laid out, if it does not show.")] = "",
    pattern: Annotated[str, option("PATH", "Their paths, like '{student}/{question}.py'.")] = "",
    scheduler: Annotated[str, option("ADDRESS", "Grade on this Dask cluster.")] = "",
    json: JsonOption = False,
) -> int:
    """Grade a class; begun again, it goes on where it was."""
    import logging

    entrypoint.end_by_signals()
    if scheduler:
        logging.disable()  # an error of the cluster ends in a sentence, not in its tracebacks
    plan = ClassPlan(
        submissions, tuple(question or ()), out, seed=seed, level=isolation, jobs=jobs,
        stretch=stretch, strict_text=strict_text, layout=layout, pattern=pattern, file=file,
        scheduler=scheduler,
    )  # fmt: skip
    tally = _grade_and_show(command_context(ctx), plan, json=json)
    if not json:
        tally.show(out)
    return entrypoint.EXIT_GRADER_FAULT if tally.faults else 0


def _grade_and_show(ctx: Context, plan: ClassPlan, *, json: bool) -> _Tally:
    """Grade a class, show how far it is and who does not pass, and return the counts."""
    tally = _Tally()
    rate_start = monotonic()  # when the first submission that needed a grade was started
    done_before = 0  # submissions that were finished by then
    try:
        with output.show_status() as show_status:
            for progress in grade_class(ctx, plan):
                tally.add(progress)
                text = f"{progress.done} of {progress.total_files}"
                if progress.was_known:
                    rate_start = monotonic()
                    done_before = progress.done
                else:
                    seconds_each = (monotonic() - rate_start) / (progress.done - done_before)
                    minutes = seconds_each * (progress.total_files - progress.done) / 60
                    text += f", {format_minutes(minutes)} left"
                show_status(text, _result_line(progress))
                if json:
                    _write_json_line(progress)
    except KeyboardInterrupt:
        output.info(f"{tally.done} of {tally.total} are kept; begun again, it goes on from there")
        raise
    return tally


@dataclass
class _Tally:
    """Counts of the submissions that are finished."""

    verdicts: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)  # by the reason why one is not graded
    graded_before: int = 0
    done: int = 0
    total: int = 0

    def add(self, progress: ClassProgress) -> None:
        entry = progress.entry
        self.done = progress.done
        self.total = progress.total_files
        if progress.was_known and not entry.hand_in.fault:
            self.graded_before += 1
        if entry.points is None:
            self.faults[entry.note] += 1
        else:
            self.verdicts[entry.verdict] += 1

    def show(self, out: Path) -> None:
        """Print the counts of verdicts and faults, and the command to type next."""
        counts = ", ".join(f"{count} {name}" for name, count in self.verdicts.most_common())
        output.write(f"{format_count(self.total, 'submission')}: {counts or 'none graded'}")
        if self.graded_before:
            output.write(f"{self.graded_before} of them graded before")
        for fault, count in self.faults.items():
            output.warn(f"not graded, and not the students' fault ({count}): {fault}")
        if self.faults:
            output.info("begin it again: what was graded is kept")
        output.write(f"\nNext: drill class report {out}")


def _result_line(progress: ClassProgress) -> str:
    """Return the line on a finished submission; empty if it passes or was graded before."""
    entry = progress.entry
    report = entry.report
    verdict = "NOT GRADED"
    about = entry.note
    if entry.hand_in.fault:
        verdict = "ERROR"
        about = entry.hand_in.fault
    elif progress.was_known or entry.verdict == "pass":
        return ""
    elif report:
        verdict = report.verdict.upper()
        # `drill class report` counts certain and possible ideas apart, too.
        ideas = (idea.id if idea.exact else f"maybe {idea.id}" for idea in report.misconceptions)
        about = "the starter, unchanged" if report.unchanged else ", ".join(ideas)
    return f"{verdict:7} {entry.hand_in.student}  {entry.hand_in.question}  {about}".rstrip()


def _write_json_line(progress: ClassProgress) -> None:
    entry = progress.entry
    report = entry.report
    verdict = report.verdict if report else None
    output.write_json(
        indent=None,
        done=progress.done,
        of=progress.total_files,
        **asdict(entry.hand_in),
        known=progress.was_known,
        verdict="error" if entry.hand_in.fault else verdict,
        points=entry.points,
        misconceptions=[idea.id for idea in report.misconceptions] if report else [],
        not_graded=entry.note if entry.points is None else "",
    )
