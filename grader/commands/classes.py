"""Grade a class: what was handed in becomes verdicts, each once, however often it is begun.

Read what is handed in, into the table; grade what waits there, side by side; one commit a verdict.
What a class is asked stands in a class.yaml, or on the command line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, ValidationError

from grader import bank, forms
from grader.bank import yaml_document
from grader.bank.bank_files import question_files, read_regular_file, write_atomically
from grader.bank.validation_errors import validation_errors as faults_of
from grader.bank.yaml_document import Document, SpecError
from grader.classroom.grading_jobs import (
    LEVELS,
    DaskPool,
    GradingJob,
    LocalPool,
    grade_all,
    library_versions,
)
from grader.classroom.hand_ins import MAX_LISTED_FILES, HandIns
from grader.classroom.overrides import ClassFileError
from grader.classroom.report import ClassFindings, class_findings, class_page
from grader.classroom.results import SETTINGS_FILE, ClassResults, read_settings
from grader.classroom.submission_layout import (
    Layout,
    PatternLayout,
    best_pattern,
    doubtful_students,
)
from grader.commands.context import Context, available_cores, choose_seed, require_torch
from grader.grading.session import MAX_SEED
from grader.model.classroom import AssignedQuestion, ClassEntry, ClassSettings, LatePolicy
from grader.model.errors import BankError, UsageError, did_you_mean
from grader.model.limits import MAX_SOURCE
from grader.model.number_format import format_count, join_words
from grader.model.question import Question
from grader.model.spec import StrictModel, yaml_key
from grader.model.version import __version__
from grader.reports.text_layout import escape_line
from grader.sandbox.client import WorkerClient

_MOST_QUESTIONS = 100


class ClassQuestion(StrictModel):
    """A question of a class; its id alone where nothing else is said of it."""

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
    """What coming late costs."""

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
    """A class: its questions, and what all of its grades share."""

    format: Literal[1] = yaml_key("The version of the format: 1.")
    title: str = yaml_key("What pages call the class.", "", max_length=200)
    questions: list[str | ClassQuestion] = yaml_key(
        "What it is asked: ids, or mappings with the keys below.",
        [],
        min_length=1,
        max_length=_MOST_QUESTIONS,
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
        """Its questions, each as a mapping."""
        return [ClassQuestion(id=q) if isinstance(q, str) else q for q in self.questions]


def class_schema() -> str:
    """Return the JSON Schema of a class.yaml, by which editors complete and check it."""
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(whole | ClassFile.model_json_schema(), indent=2) + "\n"


def read_class(
    ctx: Context, file: Path | None, ids: Sequence[str], level: str = ""
) -> tuple[ClassFile, list[Question]]:
    """Return what a class is asked: as its class.yaml says, or the questions of the command line.

    UsageError where both name questions or neither does, or something in the file is wrong.
    """
    if level and level not in LEVELS:
        raise UsageError(f"--isolation: expected {', '.join(LEVELS)}, found {level}")
    config, written = _read(file) if file else (ClassFile(format=1), None)
    faults = list(_faults(config))
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
    for i, asked in enumerate(config.questions_asked):
        try:
            questions.append(ctx.load(asked.id))
        except UsageError as error:
            if ids:
                raise
            hint = f"; {error.hint}" if error.hint and not error.hint.startswith("Next:") else ""
            faults.append((("questions", i, "id"), f"{error.message}{hint}"))
        else:
            require_torch(questions[-1])
            faults += _unlike_the_question(i, asked, questions[-1])
    if faults:
        assert written is not None  # the command line names neither parts nor checks
        raise ClassFileError(written.to_bank_error(faults, "the class"))
    return config.model_copy(update={"isolation": level} if level else {}), questions


def _read(path: Path) -> tuple[ClassFile, Document]:
    try:
        written = yaml_document.parse_yaml(
            read_regular_file(path.resolve(), MAX_SOURCE + 1)[0], path
        )
    except OSError as fault:
        raise UsageError(f"{path}: expected a class.yaml to read: {fault.strerror}") from fault
    except BankError as error:
        raise ClassFileError(error) from None
    try:
        return ClassFile.model_validate(written.data), written
    except ValidationError as error:
        faults = faults_of(error, written.data, ClassFile)
        raise ClassFileError(written.to_bank_error(faults, "the class")) from None


def _faults(config: ClassFile) -> Iterator[SpecError]:
    """Say what no type says."""
    extensions = config.late.extensions if config.late else {}
    times: list[tuple[tuple[str, ...], int | str]] = [(("deadline",), config.deadline)]
    due: datetime | None = None  # the first of them
    times += [(("late", "extensions", who), at) for who, at in extensions.items()]
    for path, time in times:
        moment: datetime | None = None
        with suppress(ValueError):
            moment = datetime.fromisoformat(str(time))
        if isinstance(time, str) and time and (moment is None or moment.utcoffset() is None):
            expected = "expected a time with its offset, as 2026-11-20T23:59:00+01:00"
            yield path, f"{expected}, found {time!r}"
        elif due is None:
            due = moment
        elif moment and moment < due:
            yield path, f"expected a time after the deadline, found {time!r}"
    if config.late and not config.deadline:
        yield ("late",), "expected a deadline with it, found none"
    if config.layout and config.pattern:
        yield ("pattern",), "expected a layout or a pattern, found both; remove one"
    ids = [one.id.rpartition("/")[2] for one in config.questions_asked]
    for i, name in enumerate(ids):
        if (first := ids.index(name)) < i:
            text = f"expected each question once, found {name!r} again (questions[{first}])"
            yield ("questions", i), text


def _unlike_the_question(
    number: int, asked: ClassQuestion, question: Question
) -> Iterator[SpecError]:
    """Say which parts, checks and cases a question of a class has not."""
    known = question.spec.part_numbers
    names = [*(check.id for check in question.spec.checks), *question.spec.cases]
    for i, part in enumerate(asked.parts):
        if str(part) not in known:
            text = f"expected one of the parts {', '.join(known)}, found {part!r}"
            yield ("questions", number, "parts", i), text
    for i, name in enumerate(asked.hidden):
        if name not in names:
            text = f"expected a check or a case of {question.id}, found {name!r}"
            yield ("questions", number, "hidden", i), f"{text}{did_you_mean(name, names)}"


def assign_question(asked: ClassQuestion, question: Question) -> AssignedQuestion:
    """Return a question as a class is asked it."""
    parts = question.spec.parts
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
        libraries=library_versions(
            dict.fromkeys(["python", "drill", "numpy", *question.spec.uses])
        ),
        is_text=forms.form_of(question.spec).is_text,
    )


# Grading.


class NothingHandedIn(UsageError):
    """No file is anybody's answer."""


class ClassPlan(NamedTuple):
    """How a class is to be graded."""

    submissions: Path
    questions: tuple[str, ...]  # none where its class.yaml names them
    out: Path
    seed: int | None = None
    level: str = ""  # of isolation, at least; what its class.yaml says, else strong, when empty
    stretch: bool = False  # whether what is only reported is measured
    strict_text: bool = False  # whether answers that are texts are read literally
    jobs: int | None = None  # processes here; as many as there are cores when None
    layout: str = ""  # how submissions are laid out, where that does not show
    pattern: str = ""  # their paths, with fields, where no layout fits
    file: Path | None = None  # its class.yaml
    scheduler: str = ""  # address of a Dask cluster, where grades run there


class ClassProgress(NamedTuple):
    """One more submission that is done with, and how far the class is."""

    done: int
    total_files: int
    entry: ClassEntry
    was_known: bool = False  # whether there was nothing to grade


def grade_class(ctx: Context, plan: ClassPlan) -> Iterator[ClassProgress]:
    """Give every submission of a class when it is done with: first what was graded before."""
    config, questions = read_class(ctx, plan.file, plan.questions, plan.level)
    level = config.isolation
    if not plan.scheduler:
        _need(level)
    folder = plan.submissions.resolve()
    if plan.out.resolve().is_relative_to(folder):
        raise UsageError(
            f"--out {plan.out}: expected a folder outside of {plan.submissions}, found one in it",
            hint="results among submissions would be taken for submissions",
        )
    asked = [one.id for one in questions]
    texts = [one.id for one in questions if forms.form_of(one.spec).is_text]
    how = (config.layout, config.pattern)
    skips = config.on_error == "skip"
    if plan.layout or plan.pattern:
        how = (plan.layout, plan.pattern)
    per_student = config.seed == "per student"
    seed = config.seed if isinstance(config.seed, int) else None
    seed = seed if plan.seed is None else plan.seed
    terms = ClassSettings(
        choose_seed() if seed is None else seed, level, __version__,
        tuple(
            replace(assign_question(*one), shared=config.partial == "checks")
            for one in zip(config.questions_asked, questions, strict=True)
        ),
        title=config.title, deadline=config.deadline, counts=config.counts,
        late=LatePolicy(**config.late.model_dump()) if config.late else None,
        strict_text=plan.strict_text or config.strict_text,
        stretch=plan.stretch or config.stretch, submissions=str(folder), per_student=per_student,
        file=str(plan.file or ""),
    )  # fmt: skip
    before = read_settings(plan.out) if (plan.out / SETTINGS_FILE).exists() else terms
    if plan.file is None and before.file:
        raise UsageError(
            f"{plan.out}: --question would forget the deadline, the weights and the questions of "
            "the class.yaml that these results were made with",
            hint=f"--class {before.file} again, or another --out",
        )
    earlier = [one.id for one in before.questions]
    if plan.file is None and not {*earlier} <= {*asked}:
        options = " ".join(f"--question {one}" for one in dict.fromkeys([*earlier, *asked]))
        raise UsageError(
            f"{plan.out}: it has grades of {join_words(earlier)}, which this command would leave out",
            hint=f"{options}, or another --out",
        )
    # Before anything is written: it may be refused.
    with (
        HandIns(
            plan.submissions,
            asked,
            *how,
            texts,
            skips,
            bank.question_ids(ctx.banks()),
            known={question.id: question for question in questions},
        ) as handed,
        ClassResults(plan.out, write=terms, drawn=seed is None) as results,
    ):
        count = results.store_hand_ins(handed, handed.unused)
        _say_changed(ctx, before, results)
        _say_found(ctx, plan.submissions, terms, handed, count)
        for said in hidden_check_notices(terms):
            ctx.warn(said)
        _say_doubtful(ctx, plan.submissions, results)
        _say_numbers(ctx, results.class_settings, questions)
        if others := results.count_other_students():
            ctx.warn(
                f"{plan.out}: {format_count(others, 'student')} of other SUBMISSIONS stay in it"
            )
        if terms.late:
            _say_late(ctx, terms.late, results, handed.layout)
        done = 0
        for entry in results.settled_entries():
            done += 1
            yield ClassProgress(done, count, entry, was_known=True)
        if done == count:
            return
        terms = results.class_settings  # a seed that was drawn once stays
        jobs = (
            GradingJob(
                key,
                question,
                program,
                terms.seed_of(student),
                terms.level,
                terms.stretch,
                terms.strict_text,
            )
            for question in terms.questions
            for key, program, student in results.programs_to_grade(question)
        )
        pool: LocalPool | DaskPool = LocalPool(plan.jobs or available_cores())
        if plan.scheduler:
            pool = DaskPool(plan.scheduler, {one.id: question_files(one) for one in questions})
        with closing(grade_all(jobs, pool)) as outcomes:
            for graded in outcomes:
                results.store_grade(graded, ctx.now())
                for entry in results.entries_of_program(graded.key):
                    done += 1
                    yield ClassProgress(done, count, entry)


def _need(level: str) -> None:
    """Raise UsageError where this machine refuses less than is asked for."""
    with WorkerClient(torch=False) as worker:
        found = worker.isolation.level
    if LEVELS.index(found) < LEVELS.index(level):
        raise UsageError(
            f"isolation: expected {level}, found {found}: a submission may do what it must not",
            hint="drill doctor --walls shows what this machine does not refuse; where you trust "
            f"everybody, --isolation {found} grades all the same",
        )


def hidden_check_notices(terms: ClassSettings) -> list[str]:
    """Return a sentence on each question of which feedback is shortened for hidden checks."""
    return [
        f"{one.id} hides {join_words(one.hidden, MAX_LISTED_FILES)}: all feedback on this question leaves out "
        "lines, shapes, types and texts that a program can choose"
        for one in terms.questions
        if one.hidden
    ]


def _say_found(ctx: Context, root: Path, terms: ClassSettings, handed: HandIns, count: int) -> None:
    """Say how files are laid out, which are no student's answer, and from whom there is none."""
    layout = handed.layout
    unused = handed.describe_unassigned()
    without = list(dict.fromkeys(handed.students_without_file))
    count -= len(handed.students_without_file)
    if not count:
        paths = (f"STUDENT/{one.id}.{'txt' if one.is_text else 'py'}" for one in terms.questions)
        like = " or ".join(paths)
        if layout.name != "folders":
            like = f"{layout.looks_like} ({layout.name})"
        raise NothingHandedIn(
            f"{root}: expected files like {like}, found {unused or 'none'}",
            hint=_pattern_hint(handed) or "--layout or --pattern says how they are named",
        )
    counted = f"{format_count(count, 'answer')} of {format_count(len(handed.students), 'student')}"
    ctx.warn(f"{root}: {counted}, read by the layout {layout.name}")
    if layout.name == "files" and (hint := _pattern_hint(handed)):
        ctx.warn(f"{root}: names begin or end with a question: {hint} better")
    if handed.joined:
        whole = (f"{path} with {', '.join(names)}" for path, names in handed.joined.items())
        shown = join_words((escape_line(one, 200) for one in whole), MAX_LISTED_FILES)
        ctx.warn(f"{root}: graded with what they import: {shown}")
    if handed.recognized:
        files = (f"{path} for {question}" for path, question in handed.recognized.items())
        shown = join_words((escape_line(one, 200) for one in files), MAX_LISTED_FILES)
        ctx.warn(f"{root}: has another name, graded for what it defines: {shown}")
    if unused:
        ctx.warn(f"{root}: {unused}")
    if handed.empty:
        people = layout.claims_by_folder if isinstance(layout, Layout) else {}
        names = [
            ", ".join(one.student for one in people.get(folder, ())) or folder
            for folder in handed.empty
        ]
        listed = join_words((escape_line(one, 90) for one in sorted(names)), MAX_LISTED_FILES)
        ctx.warn(f"{root}: nothing handed in, and so in no table: {listed}")
    if without:
        listed = join_words((escape_line(one, 90) for one in without), MAX_LISTED_FILES)
        ctx.warn(f"{root}: no answer from {format_count(len(without), 'student')}: {listed}")


def _say_changed(ctx: Context, before: ClassSettings, results: ClassResults) -> None:
    """Say whose grades are left out from now on, and which options grade everybody again."""
    if results.gone:
        files = (f"{student} ({question})" for student, question in results.gone)
        ctx.warn(
            f"{results.folder}: left out, as they are not handed in now: {join_words(files, MAX_LISTED_FILES)}"
        )
    terms = (before, results.class_settings)
    if len({(one.seed, one.level, one.strict_text) for one in terms}) > 1:
        text = "another seed, isolation or --strict-text than before: all of this is graded again"
        ctx.warn(f"{results.folder}: {text}")


def _say_numbers(ctx: Context, terms: ClassSettings, questions: Sequence[Question]) -> None:
    """Say whose numbers a question that draws its numbers is graded with."""
    for question in questions:
        sets = len(question.spec.given)
        if not sets:
            continue
        seed = terms.seed % sets
        option = f" --seed {terms.seed}" if seed else ""
        ctx.warn(
            f"{question.id}: graded with the numbers of seed {seed}, which drill pack "
            f"{question.id}{option} hands out; if students got others, choose --seed"
        )


def _say_doubtful(ctx: Context, root: Path, results: ClassResults) -> None:
    """Say which names of students seem to be versions of another student's file."""
    pairs = doubtful_students(results.all_students())
    if pairs:
        shown = join_words(
            (f"{escape_line(second, 60)} of {escape_line(first, 60)}" for first, second in pairs),
            MAX_LISTED_FILES,
        )
        ctx.warn(
            f"{root}: graded as two students each, but it may be one: {shown}. If it is one, "
            "remove the file that must not count; if not, rename one, and the names are clear"
        )


def _pattern_hint(handed: HandIns) -> str:
    """Return the pattern that the files of a flat folder fit, as an option to copy."""
    pattern = best_pattern((one.path for one in handed.files), handed.names)
    return f"--pattern '{pattern}' fits these names" if pattern else ""


def _say_late(
    ctx: Context, late: LatePolicy, results: ClassResults, layout: Layout | PatternLayout
) -> None:
    """Say which times are sure, which unknown, and who has an extension and no file."""
    if layout.name in {"files", "folders", "pattern"} and "{at}" not in layout.looks_like:
        text = "late: the time of a file is when it was last changed, which copying it may alter"
        ctx.warn(text)
    if count := results.count_without_time():
        text = f"late: no time is known of {format_count(count, 'file')}, which lose nothing"
        ctx.warn(text)
    if absent := sorted(late.extensions.keys() - set(results.all_students())):
        listed = join_words((escape_line(one, 60) for one in absent), MAX_LISTED_FILES)
        ctx.warn(f"late: an extension and no file: {listed}")


def report_class(folder: Path, *, html: Path | None) -> ClassFindings:
    """Return what follows from the results of a class, and write a page of it if asked."""
    with ClassResults(folder) as results:
        found = replace(
            class_findings(results.class_settings, results.counting_entries()),
            aside=tuple(results.unassigned_files()),
        )
        if html:
            write_atomically(html, class_page(found, results.counting_entries(), str(folder)))
        return found
