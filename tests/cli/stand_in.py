"""A bank of three small questions and a judge that reads the verdict from the submission.

The command line is tested against these, so that what it does with a verdict can be told from
how a verdict is reached.  `python -m tests.cli.stand_in ARGS` is `drill ARGS` with both in place.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from types import ModuleType

import grader.bank
import grader.session
from grader.kinds import registry
from grader.model.errors import BankError, UsageError
from grader.model.question import Header, Question
from grader.model.report import CheckResult, Report, Verdict
from grader.model.spec import Spec

BANK = Path("/banks/first")
DIGEST = "d"
PROVED: list[bool] = []  # what each grade was given
STARTER = b"def double(x):\n    return x + x + 1\n"
REFERENCE = b"def double(x):\n    return 2 * x\n"


def spec(title: str, track: str, uses: list[str]) -> Spec:
    """Return a spec with everything the command line shows."""
    return registry.read(
        {
            "format": 2,
            "title": title,
            "track": track,
            "level": "core",
            "minutes": 25,
            "uses": uses,
            "prompt": "A colleague doubles numbers, and the sums come out too\nlarge. Why?\n",
            "interface": "def double(x):\n    # x is a number\n",
            "contract": ["Any number will do.", "Nothing is modified."],
            "run": ["y = double(x)"],
            "cases": {"one": {"x": 1}},
            "checks": [{"id": "value", "kind": "outputs", "of": "y"}],
            "hints": ["Try 0.", "What is 0 + 0?", "Leave out the 1."],
            "follow_ups": [{"ask": "And halving?", "answer": "Multiply by 0.5."}],
            "sources": ["Arithmetic, p. 1"],
        }
    )


SPECS = {
    "double-trouble": spec("The sum that came out too large", "arithmetic", ["numpy"]),
    "halve-well": spec("Half of what is there", "arithmetic", ["numpy"]),
    "needs-torch": spec("A question that only torch can answer", "tensors", ["torch"]),
}


def banks(
    explicit: Path | None,
    gone: Callable[[str, str], None] | None = None,
) -> list[Path]:
    """Return the banks; a folder that is not there is refused as the real one does."""
    if explicit is not None and not explicit.is_dir():
        raise UsageError(f"--bank {explicit}: there is no such folder")
    return [*([explicit] if explicit else []), BANK]


def headers(found: Sequence[Path]) -> list[Header]:
    """Return what a list shows."""
    return [
        Header(name, spec.title, spec.track, spec.level, spec.minutes, found[-1], spec.needs_torch)
        for name, spec in SPECS.items()
    ]


def closest(word: str, words: Iterable[str]) -> str | None:
    """Return the nearest word."""
    return next(iter(get_close_matches(word, list(words), 1)), None)


def find(found: Sequence[Path], question_id: str) -> tuple[Path, str]:
    """Return the bank that holds a question."""
    if question_id not in {*SPECS, "broken-yaml"}:
        near = closest(question_id, SPECS)
        raise UsageError(f"no question {question_id}", f"did you mean {near}?" if near else "")
    return found[-1], question_id


def load(found: Sequence[Path], question_id: str) -> Question:
    """Return a question."""
    found = [find(found, question_id)[0]]
    if question_id == "broken-yaml":
        raise BankError(
            "broken.yaml:3:1: expected a title",
            problems=("broken.yaml:3:1: expected a title", "second"),
        )
    spec, path = SPECS[question_id], Path("x.yaml")
    return Question(
        question_id, found[-1], spec, {}, STARTER, REFERENCE, None, {}, path, digest=DIGEST
    )


def grade(
    question: Question,
    submission: bytes,
    *,
    seed: int,
    filename: str = "submission.py",
    workers: object = None,
    proved: bool = False,
    parts: Collection[int] | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Report:
    """Return the verdict that the submission names in its first line, `# pass`."""
    assert parts is None, "its questions have one part"
    assert workers is None, "there is no such bank to start workers for"
    PROVED.append(proved)
    progress(1, 1)
    first = submission.decode("utf-8", "replace").split("\n")[0].removeprefix("# ").strip()
    if first == "crash":
        raise RuntimeError("the judge fell over")
    if first == "broken pipe":
        raise BrokenPipeError(errno.EPIPE, "a worker has gone")
    if first == "interrupt":
        raise KeyboardInterrupt
    verdict = Verdict(first) if first in set(Verdict) else Verdict.FAIL
    passed = verdict is Verdict.PASS
    message = "agrees" if passed else "y differs in 1 case"
    check = CheckResult("value", "outputs", verdict, message, ("one",), () if passed else ("one",))
    return Report(
        question.id,
        question.spec.title,
        verdict,
        seed,
        "process",
        0.25,
        checks=(check,),
        message=f"{filename} is at fault" if verdict is Verdict.ERROR else "",
        sha256=sha256(submission).hexdigest(),
        follow_up="And halving?" if passed else "",
    )


STANDING_IN: dict[ModuleType, dict[str, Callable[..., object]]] = {
    grader.bank: {
        "banks": banks,
        "headers": headers,
        "closest": closest,
        "find": find,
        "load": load,
    },
    grader.session: {"grade": grade},
}


def main() -> None:
    """Run the command line with the stand-ins in place."""
    for module, functions in STANDING_IN.items():
        for name, function in functions.items():
            setattr(module, name, function)
    from grader.cli.app import main

    main()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    main()
