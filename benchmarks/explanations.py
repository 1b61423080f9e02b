"""How many wrong submissions are named or explained, and by what?

    python benchmarks/explanations.py OUT.jsonl [--part tuning|held-out|all] [--only QUESTION]

Grades every file of `tests/solutions/*/wrong` and 40 pairs of two listed misconceptions, one
layered over the other so that it differs from both, in one session for each question.  A line of
OUT has a file's verdict, names and explanations; what is printed is how many there are of each.

A third of the files, those whose SHA-256 of the name is divisible by 3, is held out: nobody looked
at them while the rules were written.  Whether a sentence is true, only a reader can say.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from grader import bank
from grader.evaluation.evaluation import BankFault, Evaluation
from grader.explain.components import components, same
from grader.model.report import Report
from grader.model.verdict import Verdict
from grader.session import GradingSession

ROOT = Path(__file__).parents[1]
SEED = 8121
PAIRS = 8  # of each question
KINDS = ("state", "pair", "rule", "class", "check")


def held_out(name: str) -> bool:
    """Whether a file is of the third that is set aside."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 3 == 0


def files(session: GradingSession) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every wrong file of a question, then of its pairs."""
    question = session.question.id
    for path in sorted((ROOT / "tests" / "solutions" / question / "wrong").glob("*.py")):
        yield f"{question}/{path.name}", path.read_bytes()
    yield from pairs(session)


def pairs(session: GradingSession) -> Iterator[tuple[str, bytes]]:
    """Pairs of listed ideas, in an order that follows from their names alone."""
    question = session.question
    ideas = [(name, i) for name, made in question.variants.items() for i in range(len(made))]
    every = [(a, b) for a, b in itertools.permutations(ideas, 2) if a[0] != b[0]]
    every.sort(key=lambda pair: hashlib.sha256(repr(pair).encode()).digest())
    found = 0
    used: set[frozenset[str]] = set()
    for one, other in every:
        if found == PAIRS:
            return
        if (both := frozenset((one[0], other[0]))) in used:
            continue
        source = layered(question.reference, *(question.variants[n][i] for n, i in (one, other)))
        if differs(session, source, (one, other)):
            found += 1
            used.add(both)
            yield f"{question.id}/pair {one[0]} {one[1]} + {other[0]} {other[1]}", source


def layered(*sources: bytes) -> bytes:
    """One file of several, each executed on top of those before it."""
    future = b"from __future__ import annotations"
    plain = [b"\n".join(line for line in s.split(b"\n") if line.strip() != future) for s in sources]
    return b"\n\n".join([future, *plain])


def differs(session: GradingSession, source: bytes, ideas: tuple[tuple[str, int], ...]) -> bool:
    """Whether a program computes something else than either idea, and something at all."""
    try:
        evaluation = session.examine("pair", [source], SEED)
        others = [evaluation.with_bank_program(session.bank.variant(*idea)) for idea in ideas]
        looked = [c for c in components(evaluation) if c.measured_by is None]
        with np.errstate(all="ignore"):
            return all(any(not same(evaluation, o, c) for c in looked) for o in others) and any(
                _works(evaluation, component.run) for component in looked
            )
    except BankFault:
        return False


def _works(evaluation: Evaluation, run: str) -> bool:
    """Whether some case of a run gives a result at all."""
    for check in evaluation.question.spec.checks:
        for case in evaluation.cases_of(check) if check.run == run else ():
            try:
                evaluation.observed(run, case)
            except Exception:  # noqa: BLE001 whatever it is, it is no result
                continue
            return True
    return False


def row(name: str, report: Report) -> dict[str, object]:
    """What is kept of one report."""
    return {
        "file": name,
        "part": "held-out" if held_out(name) else "tuning",
        "verdict": str(report.verdict),
        "names": {n.id: "exact" if n.exact else "partial" for n in report.misconceptions},
        "explanations": [[e.kind, e.text, list(e.cases)] for e in report.explanations],
        "checks": {c.id: c.message for c in report.checks if c.verdict not in _FINE},
        "message": report.message,
        "seconds": round(report.seconds, 3),
    }


_FINE = {Verdict.PASS, Verdict.SKIPPED, Verdict.INCONCLUSIVE}


def table(rows: list[dict[str, object]]) -> Iterator[str]:
    """The counts, a line each."""
    wrong = [r for r in rows if r["verdict"] != "pass"]
    count: Counter[str] = Counter()
    for one in wrong:
        kinds = {kind for kind, _, _ in one["explanations"]}  # type: ignore[attr-defined]
        named = bool(one["names"])
        count["named"] += named
        count["named exactly"] += "exact" in one["names"].values()  # type: ignore[attr-defined]
        count.update(kinds)
        count["named or explained"] += named or bool(kinds) or bool(one["message"])
        count["named or explained, without check"] += named or bool(kinds - {"check"})
        count["silent"] += not (named or kinds or one["message"])
    yield f"{'files that do not pass':36} {len(wrong):4}"
    keys = ("named", "named exactly", *KINDS, "named or explained")
    for key in (*keys, "named or explained, without check", "silent"):
        yield f"{key:36} {count[key]:4}  {100 * count[key] / max(1, len(wrong)):5.1f} %"


def main() -> int:
    """Grade, write and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--part", choices=("tuning", "held-out", "all"), default="all")
    parser.add_argument("--only", action="append", help="a question; may be given several times")
    parser.add_argument("--match", default="", help="a part of the file's name")
    chosen = parser.parse_args()
    folders = sorted(p.name for p in (ROOT / "tests" / "solutions").iterdir() if p.is_dir())
    rows: list[dict[str, object]] = []
    with chosen.out.open("w", encoding="utf-8") as out:
        for question in chosen.only or folders:
            with GradingSession(bank.load([ROOT], question)) as session:
                for name, source in files(session):
                    part = "held-out" if held_out(name) else "tuning"
                    if chosen.part not in ("all", part) or chosen.match not in name:
                        continue
                    rows.append(row(name, session.grade(source, seed=SEED)))
                    out.write(json.dumps(rows[-1], ensure_ascii=False) + "\n")
                    out.flush()
    for part in ("tuning", "held-out"):
        mine = [r for r in rows if r["part"] == part]
        if mine:
            print(f"-- {part}", *table(mine), sep="\n")
    if chosen.part == "all":
        print("-- all", *table(rows), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
