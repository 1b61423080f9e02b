"""Grades in one session equal single grades, and leave nothing behind."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from grader import bank
from grader.explain.session import GradingSession, grade
from grader.grading.session import GradeOptions
from grader.model.question import Question
from grader.model.report import Report, Verdict
from grader.reports import grade_sentences
from grader.sandbox.client import WorkerClient
from grader.sandbox.worker import wire
from tests.asking import ROOT, asked, settled
from tests.audit.audits import question as small

pytestmark = pytest.mark.usefixtures("one_zygote")

MINI = ROOT / "tests" / "banks" / "mini"
POOL = "maxpool-routing"

HOSTILE = {
    "kills its process": "def centre_backward(g, ctx):\n    import os\n    os.abort()\n",
    "raises": "def centre_backward(g, ctx):\n    raise KeyError(len(g))\n",
    "prints a lot": "print('x' * 100_000)\n",
    "leaves state": "import builtins\nbuiltins.sum = max\nleft = [bytearray(1 << 20)]\n",
    "does not load": "import nothing\n",
    "hangs": "def centre_backward(g, ctx):\n    while True: pass\n",
    "lacks functions": "del centre\n",
    "answers for the judge": "import os\nfor n in range(3, 64):\n"
    "    try:\n        os.write(n, b'drl1' + bytes(12))\n    except OSError:\n        pass\n",
}
# Right on the inputs of every check but the race.
FORGING = b"""
_right = maxpool2d_forward
def maxpool2d_forward(x, *rest, **named):
    y, ctx = _right(x, *rest, **named)
    return (2 * y if x.shape == (4, 8, 32, 32) else y), ctx
"""


def submissions(question: Question) -> dict[str, bytes]:
    over = {name: text.encode() for name, text in HOSTILE.items()}
    over |= {name: texts[0] for name, texts in question.variants.items()}
    layered = {name: question.reference + b"\n\n" + text for name, text in over.items()}
    return {"starter": question.starter, "empty": b"", "right": question.reference} | layered


def test_grades_in_a_session_equal_single_grades_in_any_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("grader.sandbox.remote_program.CALL_SECONDS", 0.5)  # for what hangs
    question = bank.load_question([MINI], "deviations")
    files = submissions(question)
    alone = {name: settled(grade(question, text, seed=7)) for name, text in files.items()}
    assert {r.verdict for r in alone.values()} >= {"pass", "fail", "error", "limit"}
    with GradingSession(question) as session:
        for name in ("starter", *reversed(files)):
            assert settled(session.grade(files[name], seed=7)) == alone[name], name


def test_every_submission_has_its_own_process_which_ends() -> None:
    question = replace(asked("adam-7b-memory"), variants={})
    tells = question.reference + b"\nimport math\nprint(getattr(math, 'held', 0))\nmath.held = 1\n"
    with GradingSession(question) as session:
        printed = [session.grade(tells, seed=n).printed.split() for n in range(3)]
        assert printed == [["0"]] * 3
        pids = workers_of(session)
        assert len(pids) == 1  # the reference's
    assert not any(map(psutil.pid_exists, pids))


@pytest.mark.parametrize(
    "question_id", ["adam-7b-memory", pytest.param("gradient-check", marks=pytest.mark.slow)]
)
def test_no_submission_ever_runs_in_a_worker_of_the_bank(
    question_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bank's workers receive neither the submission's text nor a program outside the bank.

    `gradient-check` asks for a test: its driver runs in the reference's worker.
    """
    question, mark = asked(question_id), b"\n# written by somebody else\n"
    marked, ours = set[WorkerClient](), set[WorkerClient]()
    ran = set[str]()  # programs, of ours
    exchange = WorkerClient.exchange

    def watched(worker: WorkerClient, request: Any, *limits: Any) -> Any:
        marked.update({worker} if mark in wire.encode(request) else ())
        if worker in session.bank._workers.values():
            ours.add(worker)
            ran.update({request["program"]} if "program" in request else ())
            ran.update(request.get("programs", ()))
        return exchange(worker, request, *limits)

    monkeypatch.setattr(WorkerClient, "exchange", watched)
    with GradingSession(question) as session:
        verdicts = {
            session.grade(text + mark, seed=seed).verdict
            for text in (question.reference, question.starter, question.reference + b"\n1 / 0")
            for seed in (1, 2)
        }
    assert verdicts >= {Verdict.PASS, Verdict.FAIL, Verdict.ERROR}
    assert len(marked) >= 6  # a process for each at least
    assert not marked & ours
    own = {f"{name}/{n}" for name, texts in question.variants.items() for n in range(len(texts))}
    assert "reference" in ran
    assert {part for name in ran for part in name.split("+")} <= {"reference", *own}


def workers_of(session: GradingSession) -> list[int]:
    """Return the ids of the processes that run programs of the bank."""
    return [worker.pid for worker in session.bank._workers.values()]


def test_bank_processes_that_end_are_started_again() -> None:
    question = asked("adam-7b-memory")
    alone = settled(grade(question, question.starter, seed=2))
    assert alone.misconceptions
    with GradingSession(question) as session:
        session.grade(question.starter, seed=1)
        for pid in workers_of(session):
            os.kill(pid, signal.SIGKILL)
        assert settled(session.grade(question.starter, seed=2)) == alone


def test_an_idea_that_ends_its_process_does_not_affect_others(tmp_path: Path) -> None:
    dies = "import os\ndef relu(x):\n    os.abort()\n"
    variants = {"dies": dies, "open": "def relu(x):\n    return x.copy()\n"}
    ideas = {name: {"killed_by": "gate", "feedback": "Wrong."} for name in variants}
    question = small(tmp_path, variants=variants, misconceptions=ideas, begin=variants["open"])
    with GradingSession(question) as session:
        for _ in range(2):
            first = session.grade(question.starter, seed=1)
            assert [m.id for m in first.misconceptions] == ["open"]
            second = session.grade(dies.encode(), seed=1)
            assert [m.id for m in second.misconceptions] == ["dies"]
            assert second.verdict is Verdict.ERROR


def test_the_memory_does_not_grow_with_the_grades() -> None:
    question = asked(POOL)
    with GradingSession(question) as session:
        seeds_remembered = []
        for seed in range(6):
            session.grade(question.reference, seed=seed)
            seeds_remembered.append(
                {key[0] for key in session.bank.memory if isinstance(key[0], int)}
            )
        assert seeds_remembered[-1] == {2, 3, 4, 5}
        again = session.grade(question.starter, seed=0)  # what was dropped is computed again
        assert settled(again) == settled(grade(question, question.starter, seed=0))


def test_a_second_thread_is_refused() -> None:
    question = asked("adam-7b-memory")
    with (
        GradingSession(question) as session,
        session._exclusive_use(),
        pytest.raises(RuntimeError, match="one thread at a time"),
    ):
        session.grade(question.reference, seed=0)


def test_a_closed_session_refuses_to_grade() -> None:
    question = asked("adam-7b-memory")
    with GradingSession(question) as session:
        pass
    with pytest.raises(RuntimeError, match="this GradingSession is closed: open another one"):
        session.grade(question.starter, seed=1)


@pytest.mark.parametrize(
    ("submission", "seed", "error", "message"),
    [
        ("text", 1, TypeError, "submission: expected bytes, found str"),
        (b"x = 1", -1, ValueError, "seed: expected a whole number from 0 to .*, found -1"),
        (b"x = 1", 2**63, ValueError, "found 9,223,372,036,854,775,808"),
        (b"x = 1", 1.5, TypeError, "seed: expected a whole number .*, found float"),
        (b"x = 1", None, TypeError, "found NoneType"),
    ],
)
def test_a_submission_or_seed_of_the_wrong_type_is_refused(
    submission: Any, seed: Any, error: type[Exception], message: str
) -> None:
    with GradingSession(asked(POOL)) as session, pytest.raises(error, match=message):
        session.grade(submission, seed=seed)


def test_a_verdict_comes_before_stretch_checks_are_measured() -> None:
    question = asked(POOL)
    verdicts: list[Report] = []
    with GradingSession(question) as session:
        right, wrong, forging = (
            session.grade(text, seed=1, options=GradeOptions(on_verdict=verdicts.append))
            for text in (question.reference, question.starter, question.reference + FORGING)
        )
    sooner, early, _ = verdicts
    assert [report.verdict for report in verdicts] == [Verdict.PASS, Verdict.FAIL, Verdict.FAIL]
    before = {check.id: check for check in sooner.checks}
    checks = {check.id: check for check in right.checks}
    assert right.verdict is Verdict.PASS
    assert before["speed"].verdict is Verdict.SKIPPED
    assert before["speed"].message == "not measured"
    assert "not measured" not in "".join(
        grade_sentences.measurement_lines(sooner)
    )  # nobody has to know
    assert "the reference's CPU time" in checks["speed"].message
    assert [c.id for c in early.checks] == [c.id for c in wrong.checks]
    assert wrong.misconceptions
    assert not early.misconceptions
    assert forging.verdict is Verdict.FAIL
    assert [c.id for c in forging.checks if c.verdict is Verdict.FAIL] == ["speed"]
    assert "is wrong on fresh inputs" in forging.checks[-1].message


def test_a_process_that_ended_before_the_verdict_is_not_asked_again() -> None:
    question = asked(POOL)
    verdicts: list[Report] = []
    with GradingSession(question) as session:
        gone = b"import os\nprint(end='loaded;')\n\n\ndef maxpool2d_forward(*_):\n    os._exit(3)\n"
        report = session.grade(
            gone + b"\n\ndef maxpool2d_backward(*_):\n    pass\n",
            seed=1,
            options=GradeOptions(on_verdict=verdicts.append),
        )
    (early,) = verdicts
    assert report.printed == "loaded;"
    assert report.verdict is early.verdict is Verdict.ERROR
    assert [c.message for c in report.checks] == [c.message for c in early.checks]


def test_an_unchanged_starter_is_explained_only_on_request() -> None:
    question = asked(POOL)
    edited = question.starter + b"\nprint()\n"
    with GradingSession(question) as session:
        bare = session.grade(question.starter, seed=1, options=GradeOptions(explain_starter=False))
        whole = session.grade(question.starter, seed=1)
        assert session.grade(
            edited, seed=1, options=GradeOptions(explain_starter=False)
        ).misconceptions
    assert whole.misconceptions
    assert (bare.misconceptions, bare.explanations, bare.outputs) == ((), (), "")
    assert [(c.id, c.verdict) for c in bare.checks] == [(c.id, c.verdict) for c in whole.checks]
