"""How much a session saves: grades one by one against the same grades in one session.

    python benchmarks/session.py [QUESTION ...] [--grades 5]

Everything that is compared runs in turns within one process, so that other work on the machine
slows all alike; the medians are printed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from grader import bank
from grader.explain.session import GradingSession, grade
from grader.grading.session import GradeOptions
from grader.model.question import Question

ROOT = Path(__file__).parents[1]
QUESTIONS = (
    "maxpool-routing", "softmax-cross-entropy", "vram-bottleneck", "hooked-gradients",
    "zero-or-none",
)  # fmt: skip


def clocked(work: Callable[..., object], *given: object, **named: object) -> float:
    """Seconds that a call takes."""
    began = time.perf_counter()
    work(*given, **named)
    return time.perf_counter() - began


def compared(question: Question, source: bytes, grades: int) -> tuple[float, ...]:
    """Medians: a grade alone, in a session on a new seed, on a seed that it knows; and a save.

    A save is what watching does: from the file to its verdict, the explanation not waited for.
    """
    alone, new, known, saved = [], [], [], []
    with GradingSession(question) as session:
        session.grade(source, seed=0)
        for seed in range(1, grades + 1):
            alone.append(clocked(grade, question, source, seed=seed))
            new.append(clocked(session.grade, source, seed=seed))
            known.append(clocked(session.grade, source, seed=seed))
            saved.append(until_verdict(session, source, seed))
    return tuple(map(statistics.median, (alone, new, known, saved)))


def until_verdict(session: GradingSession, source: bytes, seed: int) -> float:
    """Seconds until there is a verdict, without what is only reported."""
    times: list[float] = []
    began = time.perf_counter()
    session.grade(
        source,
        seed=seed,
        options=GradeOptions(on_verdict=lambda _: times.append(time.perf_counter() - began)),
    )
    return times[0]


def main() -> None:
    """Print a row of a Markdown table for each submission."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="*", default=QUESTIONS)
    parser.add_argument("--grades", type=int, default=5)
    chosen = parser.parse_args()
    print("| submission | alone | new seed | known seed | save |")
    print("|---|---|---|---|---|")
    for name in chosen.questions:
        question = bank.load_question([ROOT], name)
        for which, source in (("starter", question.starter), ("reference", question.reference)):
            seconds = compared(question, source, chosen.grades)
            shown = " | ".join(f"{1000 * one:.0f} ms" for one in seconds)
            print(f"| {name}, {which} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
