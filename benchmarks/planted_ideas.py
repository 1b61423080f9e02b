"""Plant every listed idea in accepted solutions, and say what share of them is named.

    python benchmarks/planted_ideas.py [--seed N] [ID ...]

It does for all questions of the repository what an audit does for one, see docs/audit.md.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from grader import bank
from grader.audit.planted_ideas import plant_ideas
from grader.explain.session import GradingSession

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Print a line for each question, and the sum."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    every = sorted(path.stem for path in (ROOT / "questions").glob("*.yaml"))
    named = failing = 0
    for question_id in asked.ids or every:
        began = time.perf_counter()
        with (
            GradingSession(bank.load_question([ROOT], question_id)) as session,
            np.errstate(all="ignore"),
        ):
            found = plant_ideas(session, asked.seed)
        if found is None:
            continue
        count = found.named + len(found.missed)
        named, failing = named + found.named, failing + count
        print(
            f"{question_id}: {found.named} of {count} named, {found.passing} pass, "
            f"{found.impossible} variants fit nowhere, {time.perf_counter() - began:.0f} s",
            flush=True,
        )
        for missed in found.missed:
            print(f"    {missed}", flush=True)
    print(f"all: {named} of {failing} named ({named / max(failing, 1):.1%})")


if __name__ == "__main__":
    main()
