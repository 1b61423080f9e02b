"""How long `drill watch` takes from a save to its verdict, and to its page, beside a grade alone.

    python benchmarks/watch.py [QUESTION ...] [--saves 10]

This is the loop of the command without its terminal: files that are saved, the look at them (which
the command takes every 20 ms), the records, the session.  A wrong file has its verdict before it is
explained.  Versions that are right and wrong are saved in turn, and after each save the same
version is graded in a session on a seed that it knows, so that other work on the machine slows both
alike; medians are printed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from session import clocked

from grader import bank
from grader.commands import start
from grader.commands.context import Context
from grader.commands.options import now
from grader.commands.watched_drill import WatchedDrill
from grader.explain.session import GradingSession
from grader.model.question import Question

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = (
    "maxpool-routing", "softmax-cross-entropy", "vram-bottleneck", "hooked-gradients",
    "zero-or-none",
)  # fmt: skip


def programs(question: Question) -> dict[str, bytes]:
    """What is saved: the starter, an idea of the first part that is not in it, the reference."""
    spec = question.spec
    idea = next(
        name
        for name, one in question.ideas.items()
        if spec.part_of(one.killed_by[0]) == 1 and name not in spec.starter_holds
    )
    held = question.reference + b"\n\n" + question.variants[idea][0].lstrip(b"\n")
    return {"starter": question.starter, idea: held, "reference": question.reference}


def measured(name: str, rounds: int) -> dict[str, list[float]]:
    """Medians in seconds by what is saved: until its verdict, its page, and of a grade alone."""
    question = bank.load_question([ROOT], name)
    spent: dict[str, list[tuple[float, float, float]]] = {}
    decided = list[float]()
    with tempfile.TemporaryDirectory() as place, GradingSession(question) as session:
        here = Context(Path(place), Path(place, "home"), now, ROOT)
        start.start_drill(here, name)
        with WatchedDrill(here, name) as watched:
            watched.on_verdict = lambda _: decided.append(time.perf_counter())
            watched.grade_if_changed()
            for number in range(rounds + 1):
                for which, program in programs(question).items():
                    version = program + f"\n# version {number}\n".encode()
                    aside = watched.path.with_name("aside")
                    aside.write_bytes(version)
                    decided.clear()
                    began = time.perf_counter()
                    os.replace(aside, watched.path)  # noqa: PTH105 as an editor saves
                    assert watched.grade_if_changed()
                    ended = time.perf_counter()
                    assert watched.last_grade is not None
                    passes = watched.last_grade.report.verdict == "pass"
                    assert passes == (which == "reference")
                    known = clocked(session.grade, version, seed=0)
                    if number:  # the first of each is what warms a session
                        told = [*decided, ended][0]
                        spent.setdefault(which, []).append((told - began, ended - began, known))
    return {
        which: [*map(statistics.median, zip(*rows, strict=True))] for which, rows in spent.items()
    }


def main() -> None:
    """Print a row of a Markdown table for each submission."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="*", default=QUESTIONS)
    parser.add_argument("--saves", type=int, default=10)
    chosen = parser.parse_args()
    print("| saved | verdict | page | a grade alone |")
    print("|---|---|---|---|")
    for name in chosen.questions:
        for which, seconds in measured(name, chosen.saves).items():
            shown = " | ".join(f"{1000 * one:.0f} ms" for one in seconds)
            print(f"| {name}, {which} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
