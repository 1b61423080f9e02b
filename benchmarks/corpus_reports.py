"""Grade the whole corpus, say where two such collections differ, and what one explains.

    python benchmarks/corpus_reports.py write OUT.jsonl [--only ID ...] [--every N] [--jobs N]
    python benchmarks/corpus_reports.py compare BEFORE.jsonl AFTER.jsonl [--whole]
    python benchmarks/corpus_reports.py tally REPORTS.jsonl [--list WAY] [--only ID ...]

The corpus: each program of `tests/solutions`, each accepted solution, each starter and each
reference of a question with code, graded with the same seed in sessions that two processes share.
What is compared is the verdict, the names, and the first check that fails; with `--whole` all of a
report but clocks and what a byte counter of the system says.

`tally` counts what is said of the wrong programs, by question.  A third of them is held out, by a
digest of their names: no idea and no rule is made to fit those, and they are counted apart.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from grader import bank
from grader.explain.session import GradingSession
from grader.reports.json import to_json
from tests import corpus

ROOT = Path(__file__).parents[1]
SEED = 20
AT_ONCE = 60  # programs of one session
# Of a report: clocks, places; and of a check: what depends on the machine.
UNSTABLE = {"seconds", "figures", "isolation", "sha256", "printed", "bank", "digest"}
MEASURED = {"performance"}  # kinds whose verdict may be `inconclusive` on a busy machine
FINE = {"pass", "skipped", "missed", "inconclusive"}

# What a check says that gives numbers and no reason; see docs/adr/0019-explanations.md.
NUMBERS_ALONE = re.compile(
    r" differs in | disagrees with differences | summed over | (is|are) wrong (in|on) "
    r"|^the last of |^not all |\d causes| holds \S+ where "
    r"| is (-?[\d.]|True|False|None)[^ ]* ?.*, expected (the number )?(-?[\d.]|True|False|None)"
)
# How a report says why a program is wrong: the first that applies counts.
WAYS = ("named", "explained", "results", "check", "numbers")

Report = dict[str, Any]


def portions(only: list[str], every: int) -> Iterator[tuple[str, list[str]]]:
    """Yield questions, each with names of its programs, in portions."""
    for question_id in corpus.QUESTIONS:
        if not only or question_id in only:
            names = sorted(programs(question_id))[::every]
            for first in range(0, len(names), AT_ONCE):
                yield question_id, names[first : first + AT_ONCE]


def programs(question_id: str) -> dict[str, bytes]:
    """Return all programs of a question: `ID/right/NAME`, `ID/wrong/NAME`, `ID/accepted/NAME`."""
    question = bank.load_question([ROOT], question_id)
    found = {p.id: p.source for p in corpus.programs(question_id).values()}
    found |= {f"{question_id}/accepted/{name}": text for name, text in question.accepted.items()}
    found[f"{question_id}/reference"] = question.reference
    found[f"{question_id}/starter"] = question.starter
    return found


def graded(portion: tuple[str, list[str]]) -> list[dict[str, Any]]:
    """Return the reports of some programs of a question, each with the name of its program."""
    question_id, names = portion
    sources = programs(question_id)
    rows = []
    with GradingSession(bank.load_question([ROOT], question_id)) as session:
        for name in names:
            found = session.grade(sources[name], seed=SEED)
            rows.append({"program": name, "report": to_json(found, whole=True)})
    return rows


def write(out: Path, only: list[str], every: int, jobs: int) -> None:
    """Grade everything and write a line of JSON for each program."""
    with ProcessPoolExecutor(jobs) as pool, out.open("w", encoding="utf-8") as file:
        for rows in pool.map(graded, portions(only, every)):
            file.writelines(json.dumps(row, sort_keys=True) + "\n" for row in rows)
            file.flush()


def essence(report: Report) -> Report:
    """What must never change: the verdict, the names, and the first check that fails."""
    failing = (c for c in report.get("checks", ()) if c["verdict"] not in FINE and not c["stretch"])
    return {
        "verdict": report.get("verdict"),
        "names": [idea["id"] for idea in report.get("misconceptions", ())],
        "first": next(((c["id"], c["verdict"]) for c in failing), None),
    }


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:  # noqa: ANN401 JSON
    """Where two documents differ, as dotted paths with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        measured = before.get("kind") in MEASURED
        unstable = {*UNSTABLE, "message", "exhibit"} if measured else UNSTABLE
        for key in before.keys() & after.keys() - unstable:
            yield from differences(before[key], after[key], f"{path}.{key}".lstrip("."))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, pair in enumerate(zip(before, after, strict=True)):
            yield from differences(*pair, f"{path}[{number}]")
    elif before != after:
        yield f"{path}: {json.dumps(before)[:300]} -> {json.dumps(after)[:300]}"


def explained(report: Report) -> str:
    """How a report explains a failure: a name, the kinds of its explanations, or nothing."""
    kinds = sorted({one["kind"] for one in report.get("explanations", ())})
    return "named" if report.get("misconceptions") else " ".join(kinds) or "nothing"


def compare(before: Path, after: Path, *, whole: bool) -> int:
    """Print every difference; return how many programs have one."""

    def read(path: Path) -> dict[str, Report]:
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        return {row["program"]: row["report"] for row in rows}

    old, new = read(before), read(after)
    both = sorted(old.keys() & new.keys())
    look = (lambda report: report) if whole else essence
    different = 0
    for name in both:
        if found := list(differences(look(old[name]), look(new[name]))):
            print(name, *(f"    {line}" for line in found), sep="\n")
            different += 1
    for title, reports in (("before", old), ("after", new)):
        some = [reports[name] for name in both]
        verdicts = Counter(report.get("verdict", "none") for report in some)
        ways = Counter(explained(r) for r in some if r.get("verdict") not in {"pass", None})
        print(f"{title}: {dict(verdicts)}; {dict(ways.most_common())}")
    print(f"{len(both)} programs in both, {len(old)} before, {len(new)} after, {different} differ")
    return different


def is_held_out(program_id: str) -> bool:
    """Return whether a wrong program, `ID/wrong/NAME`, is one of the third that nobody reads."""
    name = program_id.replace("/wrong/", "/")
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 3 == 0


def way_of(report: Report) -> str:
    """Why it is wrong as the report says it, the surest way first: see `WAYS`."""
    if report.get("misconceptions"):
        return "named"
    kinds = {one["kind"] for one in report.get("explanations", ())}
    if kinds:
        return "results" if kinds == {"results"} else "explained"
    failing = [c for c in report["checks"] if c["verdict"] not in FINE and not c["stretch"]]
    said = [c["message"] for c in failing] or [report["message"]]
    return "numbers" if all(map(NUMBERS_ALONE.search, said)) else "check"


def tally(path: Path, only: list[str], listed: str) -> None:
    """Print how the wrong programs are explained, by question and in all; or list those of a way.

    Of what is held out no file is listed.
    """
    counts: dict[tuple[str, bool], Counter[str]] = {}
    kinds: Counter[str] = Counter()
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        name, report = row["program"], row["report"]
        question = name.partition("/")[0]
        if "/wrong/" not in name or (only and question not in only):
            continue
        held = is_held_out(name)
        if report["verdict"] in {"pass", "invalid"}:
            print(f"{name}: {report['verdict']}", file=sys.stderr)
            continue
        way = way_of(report)
        for group in (question, "all"):
            counts.setdefault((group, held), Counter())[way] += 1
        kinds.update({one["kind"] for one in report.get("explanations", ())})
        if way == listed and not held:
            print(name, *[c["message"] for c in report["checks"] if c["verdict"] not in FINE])
    if listed:
        return
    titles = [*WAYS, "said", "no check", "no results"]
    print(f"{'':24}{'wrong':>7}" + "".join(f"{title:>11}" for title in titles))
    for name, held in sorted(counts, key=lambda key: (key[0] == "all", key)):
        found = counts[name, held]
        # In all; without those that only a check explains; and without those of `results` as well.
        shares = [sum(found[way] for way in WAYS[:most]) / found.total() for most in (4, 3, 2)]
        where = f"{name}{' (held out)' if held else ''}"
        counted = [found[way] for way in WAYS]
        print(
            f"{where:24.24}{found.total():>7}"
            + "".join(f"{number:>11}" for number in counted)
            + "".join(f"{share:>11.0%}" for share in shares)
        )
    print("explanations by kind:", dict(kinds.most_common()))


def main() -> int:
    """Parse, and do the one or the other."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("out", type=Path)
    writing.add_argument("--only", nargs="*", default=[])
    writing.add_argument("--every", type=int, default=1)
    writing.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--whole", action="store_true")
    tallying = commands.add_parser("tally")
    tallying.add_argument("reports", type=Path)
    tallying.add_argument("--only", nargs="*", default=[])
    tallying.add_argument("--list", choices=WAYS, default="", dest="listed")
    chosen = parser.parse_args()
    if chosen.command == "tally":
        tally(chosen.reports, chosen.only, chosen.listed)
        return 0
    if chosen.command == "write":
        write(chosen.out.resolve(), chosen.only, chosen.every, chosen.jobs)
        return 0
    return min(1, compare(chosen.before, chosen.after, whole=chosen.whole))


if __name__ == "__main__":
    sys.exit(main())
