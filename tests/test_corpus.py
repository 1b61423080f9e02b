"""Every right program of the corpus passes and every wrong one is rejected, however it is written.

Each program goes through all the checks that decide.  So do the accepted solutions of a question,
in its audit, which is a part of `.ci/run`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from grader import bank
from grader.explain.session import GradingSession, grade
from grader.grading.bank_errors import BankProgramError
from grader.grading.case_by_case import SubmissionStopped
from grader.model.question import Question
from grader.model.report import CheckResult, Verdict
from tests import corpus
from tests.content import content
from tests.corpus import QUESTIONS, ROOT, CorpusProgram
from tests.grading.kinds.grading import run_check
from tests.harness import named

pytestmark = pytest.mark.usefixtures("one_zygote")

SEED = 20
SLOW = {"memory", "gradcheck"}

PROGRAMS = [program for question in QUESTIONS for program in corpus.programs(question).values()]
RIGHT = [program for program in PROGRAMS if program.is_right]
WRONG = [program for program in PROGRAMS if not program.is_right]
WITH_IDEAS = [program for program in WRONG if program.idea]


def each_program(programs: list[CorpusProgram]) -> pytest.MarkDecorator:
    """Run a test for some programs of the corpus."""
    return pytest.mark.parametrize(
        "program", [content(p.question_id, p, id=p.id) for p in programs]
    )


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


def failing_checks(
    session: GradingSession, program: CorpusProgram, *, only_first: bool
) -> list[CheckResult]:
    """Return the checks that a program does not pass.

    A part is asked after the one before it, and what takes long is tried last: a program that is
    rejected is rejected in any order.
    """
    spec = session.question.spec
    evaluation = session.evaluate_bank_program(
        program.name, complete(session.question, program.source), SEED
    )
    failing: list[CheckResult] = []
    passed: set[str] = set()
    with np.errstate(all="ignore"):
        for check in sorted(spec.checks, key=lambda c: (spec.part_of(c.id), c.kind in SLOW)):
            if check.stretch or not set(check.needs) <= passed:
                continue
            try:
                result = run_check(evaluation, check)
            except SubmissionStopped as stop:
                return [*failing, stop.result]
            if result.verdict is Verdict.PASS:
                passed.add(check.id)
            else:
                failing.append(result)
                if only_first:
                    return failing
    # In any order, that is, in which no check was left out because it came before what it needs.
    deciding = {check.id for check in spec.checks if not check.stretch}
    assert failing or passed == deciding
    return failing


def complete(question: Question, source: bytes) -> list[bytes]:
    """Return the program, below the reference if it lacks functions of later parts."""
    later = set(question.functions) - set(question.functions_for_part(1))
    lacks = any(name.encode() not in source for name in later)
    return [question.reference, source] if lacks else [source]


def is_rejected(session: GradingSession, program: CorpusProgram) -> bool:
    """Return whether a check does not pass, or the program cannot be loaded."""
    try:
        return bool(failing_checks(session, program, only_first=True))
    except BankProgramError as fault:
        return program.name in str(fault)


@each_program(RIGHT)
def test_a_right_program_passes(
    program: CorpusProgram, sessions: dict[str, GradingSession]
) -> None:
    session = session_of(sessions, program.question_id)
    failing = failing_checks(session, program, only_first=False)
    assert not failing, [(result.id, result.message) for result in failing]


@each_program(WRONG)
def test_a_wrong_program_is_rejected(
    program: CorpusProgram, sessions: dict[str, GradingSession]
) -> None:
    assert is_rejected(session_of(sessions, program.question_id), program)


@each_program(WITH_IDEAS)
def test_a_wrong_program_gets_the_name_that_it_claims(
    program: CorpusProgram, sessions: dict[str, GradingSession]
) -> None:
    session = session_of(sessions, program.question_id)
    assert named(session.grade(program.source, seed=SEED)) == {program.idea}


@pytest.mark.parametrize("question", [content(question) for question in QUESTIONS])
def test_the_corpus_is_broad(question: str) -> None:
    accepted = list(bank.load_question([ROOT], question).accepted.values())
    right = [program.source for program in corpus.right_programs(question).values()]
    wrong = [program.source for program in corpus.wrong_programs(question).values()]
    assert len(accepted) >= 6
    assert len(accepted + right) >= 9
    assert len(wrong) >= 12
    texts = [text.strip() for text in accepted + right + wrong]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    "name",
    [content("vram-bottleneck", name) for name in ("functional_vjp", "local_autograd")],
)
def test_what_torch_imports_when_it_is_used_counts_against_nobody(name: str) -> None:
    """Grade in a session of its own: the reference has made torch import less than the program."""
    program = corpus.programs("vram-bottleneck")[name]
    report = grade(bank.load_question([ROOT], "vram-bottleneck"), program.source, seed=SEED)
    assert report.verdict is Verdict.PASS, [check.message for check in report.checks]


def test_an_edit_that_does_not_fit_its_program_is_refused() -> None:
    lines = ["a = 1", "b = 2", "a = 1"]
    corpus.apply_edit(["-b = 2", "+b = 3"], lines, "x")
    assert lines == ["a = 1", "b = 3", "a = 1"]
    with pytest.raises(ValueError, match="found them 2 times:\na = 1"):
        corpus.apply_edit(["-a = 1"], lines, "x")
    with pytest.raises(ValueError, match="found them 0 times:\nb = 2"):
        corpus.apply_edit([" b = 2", "+c = 1"], lines, "x")
