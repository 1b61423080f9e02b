"""Every right solution passes and every wrong one is rejected, however it is written.

`tests/solutions/ID/right` holds solutions in many styles, `wrong` holds faults, each named in its
first line.  A line `# named: IDEA` in a wrong solution names the idea that its grade must name, and
no other.  Each file goes through all the checks that decide.  So do the solutions that a question
itself comes with, in its audit, which is a part of `.ci/run`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from grader import bank
from grader.explain.session import GradingSession, grade
from grader.grading.bank_errors import BankProgramError
from grader.grading.case_by_case import SubmissionStopped
from grader.model.question import Question
from grader.model.report import CheckResult, Verdict
from tests.grading.kinds.grading import run_check
from tests.harness import named

pytestmark = pytest.mark.usefixtures("one_zygote")

ROOT = Path(__file__).parents[1]
SOLUTIONS = ROOT / "tests" / "solutions"
QUESTIONS = sorted(p.name for p in SOLUTIONS.iterdir() if p.is_dir())
SEED = 20
SLOW = {"memory", "gradcheck"}
NAMED = re.compile(r"^# named: (\S+)$", re.MULTILINE)

Files = list[tuple[str, Path]]


def files(kind: str) -> Files:
    return [(q, path) for q in QUESTIONS for path in sorted((SOLUTIONS / q / kind).glob("*.py"))]


def names(pairs: Files) -> list[str]:
    return [f"{question}-{path.stem}" for question, path in pairs]


@pytest.fixture(scope="module")
def sessions() -> Iterator[dict[str, GradingSession]]:
    opened: dict[str, GradingSession] = {}
    yield opened
    for session in opened.values():
        session.close()


def session_of(sessions: dict[str, GradingSession], question_id: str) -> GradingSession:
    if question_id not in sessions:
        sessions[question_id] = GradingSession(bank.load_question([ROOT], question_id))
    return sessions[question_id]


def faults(session: GradingSession, path: Path, *, every: bool) -> list[CheckResult]:
    """The checks that a file does not pass; only the first, unless every one is wanted.

    A part is asked after the one before it, and what takes long is tried last: a file that is
    rejected is rejected in any order.
    """
    spec = session.question.spec
    evaluation = session.evaluate_bank_program(
        path.stem, _complete(session.question, path.read_bytes()), SEED
    )
    found: list[CheckResult] = []
    passed: set[str] = set()
    with np.errstate(all="ignore"):
        for check in sorted(spec.checks, key=lambda c: (spec.part_of(c.id), c.kind in SLOW)):
            if check.stretch or not set(check.needs) <= passed:
                continue
            try:
                result = run_check(evaluation, check)
            except SubmissionStopped as stop:
                return [*found, stop.result]
            if result.verdict is Verdict.PASS:
                passed.add(check.id)
            else:
                found.append(result)
                if not every:
                    return found
    # In any order, that is, in which no check was left out because it came before what it needs.
    deciding = {check.id for check in spec.checks if not check.stretch}
    assert found or passed == deciding
    return found


def _complete(question: Question, source: bytes) -> list[bytes]:
    """The programs of a file; what later parts ask for and it lacks is that of the reference."""
    later = set(question.functions) - set(question.functions_for_part(1))
    lacks = any(name.encode() not in source for name in later)
    return [question.reference, source] if lacks else [source]


def is_rejected(session: GradingSession, path: Path) -> bool:
    """Whether a check does not pass, or the file itself cannot be loaded."""
    try:
        return bool(faults(session, path, every=False))
    except BankProgramError as fault:
        return path.stem in str(fault)


RIGHT, WRONG = files("right"), files("wrong")


@pytest.mark.parametrize(("question", "path"), RIGHT, ids=names(RIGHT))
def test_a_right_solution_passes(
    question: str, path: Path, sessions: dict[str, GradingSession]
) -> None:
    found = faults(session_of(sessions, question), path, every=True)
    assert not found, [(r.id, r.message) for r in found]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give every wrong solution, or with `--turn` a tenth of them, another one each time."""
    if "wrong" in metafunc.fixturenames:
        turn = metafunc.config.getoption("--turn")
        some = WRONG if turn is None else WRONG[turn % 10 :: 10]
        metafunc.parametrize("wrong", some, ids=names(some))


def test_a_wrong_solution_is_rejected(
    wrong: tuple[str, Path], sessions: dict[str, GradingSession]
) -> None:
    question, path = wrong
    assert is_rejected(session_of(sessions, question), path)


WITH_NAMES = [
    (question, path, found[1])
    for question, path in WRONG
    if (found := NAMED.search(path.read_text("utf-8-sig")))
]


@pytest.mark.parametrize(
    ("question", "path", "idea"), WITH_NAMES, ids=names([(q, path) for q, path, _ in WITH_NAMES])
)
def test_a_wrong_solution_gets_the_name_that_it_claims(
    question: str, path: Path, idea: str, sessions: dict[str, GradingSession]
) -> None:
    report = session_of(sessions, question).grade(path.read_bytes(), seed=SEED)
    assert named(report) == {idea}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_corpus_is_broad(question: str) -> None:
    own = bank.load_question([ROOT], question).accepted.values()
    right = [*own, *(path.read_bytes() for q, path in RIGHT if q == question)]
    wrong = [path.read_bytes() for q, path in WRONG if q == question]
    assert len(own) >= 6
    assert len(right) >= 9
    assert len(wrong) >= 12
    assert len({text.strip() for text in right + wrong}) == len(right) + len(wrong)


@pytest.mark.parametrize("name", ["functional_vjp", "local_autograd"])
def test_what_torch_imports_when_it_is_used_counts_against_nobody(name: str) -> None:
    """In a grade of its own, where the reference has had torch import less than the submission."""
    path = SOLUTIONS / "vram-bottleneck" / "right" / f"{name}.py"
    report = grade(bank.load_question([ROOT], "vram-bottleneck"), path.read_bytes(), seed=SEED)
    assert report.verdict is Verdict.PASS, [c.message for c in report.checks]
