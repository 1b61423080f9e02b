"""How much a session saves: grades one by one against the same grades in one session.

    python benchmarks/session.py [QUESTION ...] [--grades 5]

Everything that is compared runs in turns within one process, so that other work on the machine
slows both alike; the medians and their ratio are printed.  `--cold` adds a cold grade by the
command line against `import torch`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from grader import bank
from grader.model.question import Question
from grader.session import GradingSession, grade

ROOT = Path(__file__).parents[1]
QUESTIONS = ("maxpool-routing", "vram-bottleneck")


def clocked(work: Callable[..., object], *given: object, **named: object) -> float:
    """Seconds that a call takes."""
    began = time.perf_counter()
    work(*given, **named)
    return time.perf_counter() - began


def compared(question: Question, source: bytes, grades: int) -> tuple[float, float, float]:
    """Medians: a grade alone, in a session on a new seed, and on a seed that it knows."""
    alone, new, known = [], [], []
    with GradingSession(question) as session:
        session.grade(source, seed=0)
        for seed in range(1, grades + 1):
            alone.append(clocked(grade, question, source, seed=seed))
            new.append(clocked(session.grade, source, seed=seed))
            known.append(clocked(session.grade, source, seed=seed))
    return statistics.median(alone), statistics.median(new), statistics.median(known)


def cold(question: str, name: str, rounds: int) -> tuple[float, float]:
    """Medians: a grade by the command line, and an import of torch, in turns."""
    found: tuple[list[float], list[float]] = ([], [])
    path = ROOT / "drills" / question / f"{name}.py"
    commands = (
        [sys.executable, "-m", "grader", "grade", question, "--file", str(path)],
        [sys.executable, "-c", "import torch"],
    )
    with tempfile.TemporaryDirectory() as home:
        run = partial(
            subprocess.run, cwd=ROOT, env={**os.environ, "DRILL_HOME": home}, capture_output=True
        )
        for _ in range(rounds):
            for command, times in zip(commands, found, strict=True):
                times.append(clocked(run, command))
    return statistics.median(found[0]), statistics.median(found[1])


def main() -> None:
    """Print a row of a Markdown table for each submission."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="*", default=QUESTIONS)
    parser.add_argument("--grades", type=int, default=5)
    parser.add_argument("--cold", action="store_true")
    chosen = parser.parse_args()
    print("| submission | alone | new seed | known seed | alone / new | alone / known |")
    print("|---|---|---|---|---|---|")
    for name in chosen.questions:
        question = bank.load([ROOT], name)
        for which, source in (("starter", question.starter), ("reference", question.reference)):
            one, new, known = compared(question, source, chosen.grades)
            print(
                f"| {name}, {which} | {one:.2f} s | {new:.2f} s | {known:.2f} s "
                f"| {one / new:.1f} | {one / known:.1f} |",
                flush=True,
            )
            if chosen.cold:
                graded, imported = cold(name, which, chosen.grades)
                ratio = graded / imported
                print(f"cold: {graded:.2f} s, import torch {imported:.2f} s, {ratio:.2f}")


if __name__ == "__main__":
    main()
