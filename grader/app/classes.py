"""Grade a class: what was handed in becomes verdicts, each once, however often it is begun."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader import __version__
from grader.app import requirements
from grader.app.context import Context
from grader.classroom.jobs import LEVELS, Job, job_for, key_of, versions
from grader.classroom.layouts import Layout, Plain
from grader.classroom.ledger import Index, Ledger
from grader.classroom.pools import Local, Pool
from grader.classroom.results import (
    read_handed_in,
    read_terms,
    same_terms,
    write_handed_in,
    write_terms,
)
from grader.classroom.run import grade_all
from grader.classroom.submissions import Submissions
from grader.model.classroom import Graded, HandedIn, Posed, Terms
from grader.model.errors import UsageError
from grader.model.numerals import quantity
from grader.model.question import Question


@dataclass(frozen=True, slots=True)
class Plan:
    """How a class is to be graded."""

    submissions: Path
    questions: tuple[str, ...]
    out: Path
    seed: int | None = None
    level: str = "strong"
    jobs: int | None = None  # processes here; as many as there are cores when None
    shard: tuple[int, int] = (1, 1)  # of how many
    open_pool: Callable[[], Pool] | None = None  # where grades run, if not on this machine


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


def grade_class(ctx: Context, plan: Plan) -> Iterator[Progress]:
    """Grade what was not graded before, and give every submission when it is done with.

    Raises:
        UsageError: It is not clear what is meant, or this machine is not isolated as it has to be.
        BankError: A question cannot be loaded.
    """
    if plan.level not in LEVELS:
        raise UsageError(f"--isolation: expected {', '.join(LEVELS)}, found {plan.level}")
    questions = [_usable(ctx, name) for name in dict.fromkeys(plan.questions)]
    if plan.open_pool is None:
        _need(plan.level)
    plan.out.mkdir(parents=True, exist_ok=True)
    shard = "" if plan.shard == (1, 1) else f"-{plan.shard[0]}-of-{plan.shard[1]}"
    with Ledger(plan.out / f"verdicts{shard}.jsonl") as ledger:
        terms = _terms(plan, [_posed(one) for one in questions])
        if terms.submissions != (where := str(plan.submissions.resolve())):
            terms = replace(terms, submissions=where)
            write_terms(plan.out, terms)
        layout: Layout = Plain([one.id for one in questions])
        with Submissions(plan.submissions, layout) as submissions:
            if not write_handed_in(plan.out, submissions):
                ids = " or ".join(f"STUDENT/{one.id}.py" for one in questions)
                text = f"{plan.submissions}: expected files like {ids}, found none"
                raise UsageError(text, hint="--pattern says how they are named")
            yield from _graded(ctx, plan, terms, submissions, ledger)


def _usable(ctx: Context, name: str) -> Question:
    question = ctx.load(name)
    requirements.need_libraries(question)
    return question


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


def _posed(question: Question) -> Posed:
    parts = question.spec.parts
    names = ("python", "numpy", *(one for one in question.spec.uses if one != "numpy"))
    return Posed(
        question.id,
        question.spec.title,
        question.digest,
        str(question.bank),
        tuple(range(1, len(parts) + 1)),
        sum(part.points for part in parts),
        libraries=versions(names),
    )


def _terms(plan: Plan, posed: Sequence[Posed]) -> Terms:
    """Return the terms of a class: what was drawn by chance stays when it is graded again."""
    seed = plan.seed
    try:
        old = read_terms(plan.out)
    except UsageError:
        if (plan.out / "class.json").exists():
            raise
        old = None
    if seed is None:
        seed = int.from_bytes(os.urandom(4), "big") if old is None else old.seed
    terms = Terms(seed, plan.level, __version__, tuple(posed))
    if old is None or not same_terms(old, terms):
        write_terms(plan.out, terms)
    return terms


def _graded(
    ctx: Context, plan: Plan, terms: Terms, submissions: Submissions, ledger: Ledger
) -> Iterator[Progress]:
    """Grade what is not known yet; what needs no grade comes first, so that a rate means grades."""
    index = Index(plan.out)
    known = index.settled()
    count = sum(1 for _ in _of_shard(plan, terms))
    done = 0
    for handed, _, key in _of_shard(plan, terms):
        if handed.fault or bytes.fromhex(key) in known:
            done += 1
            graded = None if handed.fault else index.get(key)
            yield Progress(done, count, handed, graded, known=not handed.fault)
    waiting: dict[str, list[HandedIn]] = {}  # by key: several may have handed in one program
    aside: list[tuple[HandedIn, Graded]] = []  # done with, but not by the grade that ends next

    def jobs() -> Iterator[Job]:
        before = frozenset(known)
        for handed, posed, key in _of_shard(plan, terms):
            if handed.fault or bytes.fromhex(key) in before:
                continue
            if key in waiting:
                waiting[key].append(handed)
            elif bytes.fromhex(key) in known and (same := Index(plan.out).get(key)):
                aside.append((handed, same))
            elif (source := _source(submissions, handed)) is None:
                fault = f"{handed.path} was changed while the class was graded"
                aside.append((handed, Graded(key, fault=fault)))
            else:
                waiting[key] = [handed]
                yield job_for(terms, posed, source)

    size = plan.jobs or requirements.cores()
    open_pool = plan.open_pool or (lambda: Local(size))
    with closing(grade_all(jobs(), open_pool, ledger, known, ctx.now)) as found:
        for graded in found:
            for handed, one in [*aside, *((h, graded) for h in waiting.pop(graded.key))]:
                done += 1
                yield Progress(done, count, handed, one)
            aside.clear()
    for handed, one in aside:
        done += 1
        yield Progress(done, count, handed, one)


def _of_shard(plan: Plan, terms: Terms) -> Iterator[tuple[HandedIn, Posed, str]]:
    """Give what a shard has to do with and its key, one question after another.

    Programs that are equal fall into one shard.
    """
    number, shards = plan.shard
    for posed in terms.posed:
        for handed in read_handed_in(plan.out):
            if handed.question == posed.id:
                key = key_of(terms, posed, handed.sha256)
                if int(key[:8], 16) % shards == number - 1:
                    yield handed, posed, key


def _source(submissions: Submissions, handed: HandedIn) -> bytes | None:
    """Return the program of a file; None where it is not what it was when its turn was planned."""
    try:
        source = submissions.program(handed.path)
    except (OSError, UsageError):
        return None
    return source if hashlib.sha256(source).hexdigest() == handed.sha256 else None
