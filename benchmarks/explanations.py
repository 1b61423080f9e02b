"""How many wrong submissions are named or explained, and by what?

    python benchmarks/explanations.py OUT.jsonl [--only QUESTION]

Grades every file of `tests/solutions/*/wrong`, in one session for each question.  A line of OUT has
a file's verdict, names and explanations; what is printed is how many there are of each.  Whether a
sentence is true, only a reader can say.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from grader import bank
from grader.model.report import Report
from grader.model.verdict import Verdict
from grader.session import GradingSession

ROOT = Path(__file__).parents[1]
SEED = 8121
KINDS = ("state", "pair", "rule", "class", "before")


def counted(report: Report) -> set[str]:
    """What a report counts as."""
    kinds = {one.kind for one in report.explanations}
    named = {"exact" if one.exact else "in part" for one in report.misconceptions}
    silent = {"silent"} if not (kinds or named or report.message) else set()
    return {"not passed", *kinds, *named, *({"named"} if named else ()), *silent}


def main() -> int:
    """Grade, write and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", action="append", help="a question; may be given several times")
    chosen = parser.parse_args()
    folders = sorted(p.name for p in (ROOT / "tests" / "solutions").iterdir() if p.is_dir())
    count: Counter[str] = Counter()
    with chosen.out.open("w", encoding="utf-8") as out:
        for question in chosen.only or folders:
            with GradingSession(bank.load([ROOT], question)) as session:
                for path in sorted((ROOT / "tests" / "solutions" / question).glob("wrong/*.py")):
                    report = session.grade(path.read_bytes(), seed=SEED)
                    count.update(counted(report) if report.verdict is not Verdict.PASS else ())
                    row = {
                        "file": f"{question}/{path.name}",
                        "verdict": report.verdict,
                        "names": [one.id for one in report.misconceptions],
                        "explanations": [[e.kind, e.text] for e in report.explanations],
                    }
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")
    for key in ("not passed", "named", "exact", "in part", *KINDS, "silent"):
        print(f"{key:12} {count[key]:5} {100 * count[key] / max(1, count['not passed']):6.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
