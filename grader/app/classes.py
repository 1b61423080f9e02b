"""Grade a class: what was handed in becomes verdicts, each once, however often it is begun."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from grader import __version__
from grader.app import requirements
from grader.app.context import Context
from grader.classroom.jobs import LEVELS, Job, job_for, key_of, versions
from grader.classroom.layouts import Layout, Plain
from grader.classroom.ledger import Ledger, settled
from grader.classroom.pools import Local, Pool
from grader.classroom.results import (
    Results,
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
        layout: Layout = Plain([one.id for one in questions])
        with Submissions(plan.submissions, layout) as submissions:
            count = write_handed_in(plan.out, submissions)
            if not count:
                ids = " or ".join(f"STUDENT/{one.id}.py" for one in questions)
                text = f"{plan.submissions}: expected files like {ids}, found none"
                raise UsageError(text, hint="--pattern says how they are named")
            yield from _graded(ctx, plan, terms, submissions, ledger, count)


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
    ctx: Context, plan: Plan, terms: Terms, submissions: Submissions, ledger: Ledger, count: int
) -> Iterator[Progress]:
    posed = {one.id: one for one in terms.posed}
    known = settled(plan.out)
    waiting: dict[str, list[HandedIn]] = {}  # by key: several may have handed in one file
    at_once: list[Progress] = []  # what needs no grade
    done = 0

    def jobs() -> Iterator[Job]:
        for question in posed:
            for handed in read_handed_in(plan.out):
                if handed.question != question:
                    continue
                key = key_of(terms, posed[question], handed.sha256)
                if int(key[:8], 16) % plan.shard[1] != plan.shard[0] - 1:
                    continue
                if handed.fault or (bytes.fromhex(key) in known and key not in waiting):
                    at_once.append(Progress(0, count, handed, None, known=not handed.fault))
                    continue
                waiting.setdefault(key, []).append(handed)
                if len(waiting[key]) == 1:
                    yield job_for(terms, posed[question], submissions.program(handed.path))

    size = plan.jobs or requirements.cores()
    open_pool = plan.open_pool or (lambda: Local(size))
    with closing(grade_all(jobs(), open_pool, ledger, known, ctx.now)) as found:
        for graded in found:
            for one in at_once:
                done += 1
                yield replace(one, done=done)
            at_once.clear()
            for handed in waiting.pop(graded.key):
                done += 1
                yield Progress(done, count, handed, graded)
    for one in at_once:
        done += 1
        yield replace(one, done=done)


def results(folder: Path) -> Results:
    """Return what is known of a class."""
    return Results(folder)
