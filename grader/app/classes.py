"""Grade a class: what was handed in becomes verdicts, each once, however often it is begun."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from grader import bank
from grader.app import requirements
from grader.app.context import Context
from grader.app.handed_in import say_found
from grader.app.posing import course_of, load
from grader.app.posing import terms as terms_of
from grader.bank.storage import files_of
from grader.classroom.config import ClassFile, Course
from grader.classroom.executors import Dask
from grader.classroom.jobs import LEVELS, Job, job_for
from grader.classroom.ledger import Index, Ledger
from grader.classroom.pools import Local, Pool
from grader.classroom.results import TERMS, make_folder, read_terms, write_handed_in
from grader.classroom.run import grade_all
from grader.classroom.submissions import Submissions
from grader.classroom.work import Work
from grader.forms import registry as forms
from grader.model.classroom import Graded, HandedIn, Terms
from grader.model.errors import UsageError
from grader.model.numerals import quantity
from grader.model.question import Question


@dataclass(frozen=True, slots=True)
class Plan:
    """How a class is to be graded."""

    submissions: Path
    questions: tuple[str, ...]  # none where its class.yaml names them
    out: Path
    seed: int | None = None
    level: str = ""  # of isolation, at least; what its class.yaml says, else strong, when empty
    jobs: int | None = None  # processes here; as many as there are cores when None
    open_pool: Callable[[], Pool] | None = None  # where grades run, if not on this machine
    layout: str = ""  # how submissions are laid out, where that does not show
    pattern: str = ""  # their paths, with fields, where no layout fits
    file: Path | None = None  # its class.yaml
    scheduler: str = ""  # address of a Dask cluster, where grades run there


@dataclass(frozen=True, slots=True)
class Progress:
    """One more submission that is done with, and how far the class is."""

    done: int
    of: int
    handed: HandedIn
    graded: Graded | None  # None: there is no program in the file
    known: bool = False  # whether it was graded before

    @property
    def needs_none(self) -> bool:
        """Whether there was nothing to grade."""
        return self.known or bool(self.handed.fault)


@dataclass(slots=True)
class Tally:
    """What came of a class, counted."""

    verdicts: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)  # of the grader, by what they say
    known: int = 0
    done: int = 0
    of: int = 0

    def add(self, one: Progress) -> None:
        """Count one more submission."""
        self.done, self.of = one.done, one.of
        self.known += one.known
        if one.handed.fault:
            self.verdicts["no program"] += 1
        elif one.graded is None or not one.graded.settled:
            self.faults[one.graded.fault if one.graded else "it came to no end"] += 1
        elif one.graded.report is not None:
            self.verdicts[one.graded.report.verdict] += 1

    def lines(self) -> Iterator[str]:
        """Say it."""
        counts = [f"{count} {name}" for name, count in self.verdicts.most_common()]
        yield f"{quantity(self.of, 'submission')}: {', '.join(counts) or 'none graded'}"
        if self.known:
            yield f"{self.known} of them graded before"


def grade_class(
    ctx: Context, plan: Plan, begin: Callable[[int, int], None] = lambda _done, _of: None
) -> Iterator[Progress]:
    """Grade what was not graded before, and give every submission when it is done with.

    Args:
        ctx: Where the person is.
        plan: What is to be graded, and how.
        begin: Called before the first grade: how many are done with, and of how many.

    Raises:
        UsageError: It is not clear what is meant, or this machine is not isolated as it has to be.
        BankError: A question cannot be loaded.
    """
    course = course_of(plan.file, plan.questions)
    plan = _completed(plan, course.file)
    if plan.level not in LEVELS:
        raise UsageError(f"--isolation: expected {', '.join(LEVELS)}, found {plan.level}")
    questions = load(ctx, course)
    if plan.open_pool is None and not plan.scheduler:
        _need(plan.level)
    asked = [one.id for one in questions]
    texts = [one.id for one in questions if forms.of(one.spec).is_text]
    _need_apart(plan.submissions, plan.out)
    # Before anything is written: it may be refused.
    with Submissions(plan.submissions, asked, plan.layout, plan.pattern, texts) as submissions:
        yield from _kept(ctx, plan, course, questions, submissions, begin)


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


def _kept(
    ctx: Context,
    plan: Plan,
    course: Course,
    questions: Sequence[Question],
    submissions: Submissions,
    begin: Callable[[int, int], None],
) -> Iterator[Progress]:
    """Grade into the folder of results."""
    make_folder(plan.out)
    with Ledger(plan.out / "verdicts.jsonl") as ledger:
        before = _posed_before(plan.out)
        terms = terms_of(
            course, questions, plan.submissions, plan.out, level=plan.level, seed=plan.seed
        )
        asked = [one.id for one in questions]
        if left := [name for name in before if name not in asked]:
            ctx.warn(
                f"{plan.out}: {', '.join(left)} was graded here before and is not asked any more",
                "the verdicts are kept: ask it again, or give --out another folder",
            )
        count = write_handed_in(plan.out, submissions)
        say_found(ctx, plan.submissions, asked, submissions, count)
        yield from _graded(ctx, plan, terms, submissions, ledger, begin)


def _posed_before(folder: Path) -> list[str]:
    """Return the questions of the results that are there already."""
    if not (folder / TERMS).exists():
        return []
    return [one.id for one in read_terms(folder).posed]


def _completed(plan: Plan, file: ClassFile) -> Plan:
    """Take from a class.yaml what the command line does not say."""
    laid_out = plan.layout or plan.pattern
    return replace(
        plan,
        level=plan.level or file.isolation,
        layout=plan.layout if laid_out else file.layout,
        pattern=plan.pattern if laid_out else file.pattern,
    )


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


def _graded(
    ctx: Context,
    plan: Plan,
    terms: Terms,
    submissions: Submissions,
    ledger: Ledger,
    begin: Callable[[int, int], None],
) -> Iterator[Progress]:
    """Grade what is not known yet; what needs no grade comes first, so that a rate means grades.

    Of a program that several have handed in, the first is graded.  All that is held of the class
    are keys, and where copies are.
    """
    index = Index(plan.out)
    with Work(plan.out, terms) as work:
        count, copies = _counted(work, index)
        done = 0
        for piece in work:
            if piece.handed.fault or index.is_settled(piece.short):
                done += 1
                graded = None if piece.handed.fault else index.get(piece.key)
                yield Progress(done, count, piece.handed, graded, known=graded is not None)
        begin(done, count)
        begun: set[bytes] = set()
        waiting: dict[str, HandedIn] = {}  # by key: whose grade goes on
        changed: dict[int, tuple[HandedIn, Graded]] = {}  # by place: not what it was any more

        def jobs() -> Iterator[Job]:
            for piece in work:
                if piece.handed.fault or piece.short in begun or index.is_settled(piece.short):
                    continue
                source = _source(submissions, piece.handed)
                if source is None:
                    fault = f"{piece.handed.path} was changed while the class was graded"
                    changed[piece.place] = piece.handed, Graded(piece.key, fault=fault)
                else:
                    waiting[piece.key] = piece.handed
                    yield job_for(terms, piece.posed, source, archives.get(piece.posed.id, {}))

        open_pool, archives = _where(plan, terms)
        with closing(grade_all(jobs(), open_pool, ledger, begun, ctx.now, ctx.say)) as found:
            for graded in found:
                first = waiting.pop(graded.key)
                places = copies.pop(bytes.fromhex(graded.key), None)
                for place in [None] if places is None else places:
                    if place is None or place not in changed:
                        done += 1
                        handed = first if place is None else work.at(place)
                        yield Progress(done, count, handed, graded)
        for handed, fault in changed.values():
            done += 1
            yield Progress(done, count, handed, fault)


def _counted(work: Work, index: Index) -> tuple[int, dict[bytes, array[int]]]:
    """Return how much there is, and where copies are of programs that are to be graded."""
    first: dict[bytes, int] = {}
    copies: dict[bytes, array[int]] = {}
    count = 0
    for piece in work:
        count += 1
        key = piece.short
        if piece.handed.fault or index.is_settled(key):
            continue
        if key in first:
            copies.setdefault(key, array("q", [first[key]])).append(piece.place)
        else:
            first[key] = piece.place
    return count, copies


def _where(plan: Plan, terms: Terms) -> tuple[Callable[[], Pool], dict[str, dict[str, bytes]]]:
    """Return what opens a pool, and what jobs carry of their banks to where grades run."""
    size = requirements.cores()
    if plan.open_pool is None and not plan.scheduler:
        return partial(Local, plan.jobs or size), {}
    open_pool = plan.open_pool or partial(Dask, plan.scheduler)
    return open_pool, {one.id: files_of(bank.load([Path(one.bank)], one.id)) for one in terms.posed}


def _source(submissions: Submissions, handed: HandedIn) -> bytes | None:
    """Return the program of a file; None where it is not what it was when its turn was planned."""
    try:
        source = submissions.program(handed.path)
    except (OSError, UsageError):
        return None
    return source if hashlib.sha256(source).hexdigest() == handed.sha256 else None
