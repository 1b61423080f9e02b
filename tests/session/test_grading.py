"""A grade repeats by its seed, skips what makes no sense any more, and becomes a report."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader import bank
from grader.model.question import Question
from grader.model.report import CheckResult, Report, Verdict
from grader.session import GradingSession, grade
from grader.session.order import overall
from grader.session.session import SHOWN_OUTPUT
from tests.pages import page_of

pytestmark = pytest.mark.usefixtures("one_zygote")

ROOT = Path(__file__).parents[2]


def is_code_of_numpy(spec: Path) -> bool:
    text = spec.read_text("utf-8")
    return not re.search(r"^form: |^uses: .*torch", text, re.MULTILINE)


NUMPY = sorted(p.stem for p in (ROOT / "questions").glob("*.yaml") if is_code_of_numpy(p))


def load(question_id: str) -> Question:
    return bank.load([ROOT], question_id)


def settled(report: Report) -> Report:
    """The report without what is measured in time."""
    checks = tuple(c for c in report.checks if c.kind != "performance")
    return replace(report, seconds=0.0, checks=checks)


def shown(report: Report, width: int = 80) -> str:
    return page_of(report, width)


# Right on every literal case of its question, wrong on larger ones, which are all drawn.
WRONG_WHEN_LARGE = b"""

_right = cross_entropy_grad


def cross_entropy_grad(*a):
    r = _right(*a)
    return r * 1.5 if r.size > 20 else r
"""


def test_a_seed_repeats_a_grade_and_another_draws_other_inputs() -> None:
    question = load("softmax-cross-entropy")
    source = question.reference + WRONG_WHEN_LARGE
    first, again, other = (grade(question, source, seed=seed) for seed in (5, 5, 6))
    assert settled(first) == settled(again)
    assert (first.seed, other.seed) == (5, 6)
    mine, theirs = (next(c for c in r.checks if c.mismatch) for r in (first, other))
    assert mine.mismatch
    assert theirs.mismatch
    assert mine.mismatch.case == theirs.mismatch.case
    # One small whole number may be the same by chance.
    assert (mine.mismatch, mine.exhibit) != (theirs.mismatch, theirs.exhibit)


Graded = Callable[[str, bytes, int], Report]


@pytest.fixture(scope="module")
def graded() -> Iterator[Graded]:
    """The report of a question, a submission and a seed, in one session for each question."""
    with contextlib.ExitStack() as stack:
        session_of = functools.cache(lambda name: stack.enter_context(GradingSession(load(name))))
        yield functools.cache(
            lambda name, submission, seed: session_of(name).grade(submission, seed=seed)
        )


@pytest.mark.parametrize("question_id", NUMPY)
def test_the_reference_passes_with_a_question_to_think_about(
    question_id: str, graded: Graded
) -> None:
    question = load(question_id)
    reports = [graded(question_id, question.reference, seed) for seed in (3, 4)]
    asked = [f.ask for f in question.spec.follow_ups]
    for report in reports:
        assert report.verdict == "pass"
        assert report.follow_up in asked
        assert report.misconceptions == ()
        assert {c.id for c in report.checks} == {c.id for c in question.spec.checks}
    assert reports[0].follow_up != reports[1].follow_up


@pytest.mark.parametrize("question_id", NUMPY)
def test_the_starter_fails_and_nothing_is_asked_yet(question_id: str, graded: Graded) -> None:
    question = load(question_id)
    report = graded(question_id, question.starter, 4)
    assert report.verdict == "fail"
    assert report.follow_up == ""
    # Two that act in one case are exact together, and neither of them is alone.
    named = {m.id for m in report.misconceptions if m.exact or m.cases < m.failing}
    assert named >= set(question.spec.starter_holds)


def test_checks_that_depend_on_a_failed_one_name_it() -> None:
    question = load("maxpool-routing")
    source = question.reference + b"\n\n\ndef maxpool2d_backward(g, ctx):\n    raise ValueError\n"
    report = grade(question, source, seed=1)
    by_id = {check.id: check for check in report.checks}
    spec = {check.id: check for check in question.spec.checks}
    skipped = [check for check in report.checks if check.verdict is Verdict.SKIPPED]
    assert skipped
    assert {check.part for check in skipped} == {1, 2, 3}
    for check in skipped:
        assert check.blocked_by is not None
        assert by_id[check.blocked_by].verdict not in {Verdict.PASS, Verdict.INCONCLUSIVE}
        if check.part == 1:
            assert check.blocked_by in spec[check.id].needs
            assert check.message == f"needs {check.blocked_by}"
        else:
            assert by_id[check.blocked_by].part == 1
            assert check.message == f"part {check.part} is asked when part 1 passes"
    for check in report.checks:
        if check not in skipped:
            assert all(by_id[n].verdict is Verdict.PASS for n in spec[check.id].needs)


def test_after_a_dead_process_nothing_more_is_tried() -> None:
    question = replace(load("maxpool-routing"), variants={})
    source = (
        question.reference + b"\n\n\ndef maxpool2d_backward(g, ctx):\n    import os; os.abort()\n"
    )
    report = grade(question, source, seed=1)
    verdicts = [check.verdict for check in report.checks]
    died = verdicts.index(Verdict.ERROR)
    assert set(verdicts[died + 1 :]) == {Verdict.SKIPPED}
    assert all(check.blocked_by for check in report.checks[died + 1 :])


def found(check_id: str, verdict: Verdict, *, stretch: bool = False, by: str = "") -> CheckResult:
    return CheckResult(check_id, "outputs", verdict, "", stretch=stretch, blocked_by=by or None)


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT])
def test_the_first_check_that_does_not_pass_decides(verdict: Verdict) -> None:
    good = found("a", Verdict.PASS)
    others = [found(str(v), v) for v in (Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT)]
    assert overall([good, found("b", verdict), *others], {1}) is verdict


def test_nobody_fails_for_a_stretch_or_for_noise() -> None:
    good = found("a", Verdict.PASS)
    for verdict in (Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT):
        assert overall([good, found("b", verdict, stretch=True)], {1}) is Verdict.PASS
    assert overall([good, found("b", Verdict.INCONCLUSIVE)], {1}) is Verdict.PASS
    missing_device = found("b", Verdict.SKIPPED, stretch=True)
    assert overall([good, missing_device], {1}) is Verdict.PASS


def test_the_end_of_what_is_printed_is_kept() -> None:
    question = replace(load("adam-7b-memory"), variants={})
    source = question.reference + b"\nprint('first ' + 'x' * 10_000)\nprint('last')\n"
    report = grade(question, source, seed=0)
    assert report.verdict == "pass"
    assert len(report.printed) <= SHOWN_OUTPUT
    assert report.printed.endswith("x\nlast\n")
    assert "first" not in report.printed


def test_a_broken_question_is_not_blamed_on_the_submission() -> None:
    question = load("adam-7b-memory")
    broken = {
        "a reference that cannot be loaded": replace(question, reference=b"import nothing\n"),
        "a reference without its functions": replace(question, reference=b"x = 1\n"),
        "a reference that raises": replace(
            question, reference=question.reference + b"\n\ndef to_gb(n):\n    raise KeyError\n"
        ),
        "a variant that cannot be loaded": replace(
            question, variants={next(iter(question.variants)): (b"import nothing\n",)}
        ),
    }
    for what, one in broken.items():
        report = grade(one, question.starter, seed=0)
        assert report.verdict == "invalid", what
        assert "questions/adam-7b-memory.yaml: " in report.message
        assert "\n" not in report.message
        assert "Traceback" not in shown(report)


def test_nothing_is_said_about_isolation_where_nothing_was_run() -> None:
    question = load("adam-7b-memory")
    for source in (b"", b"#" * (2 << 20)):
        assert grade(question, source, seed=0).isolation == ""
    assert grade(question, b"syntax error", seed=0).isolation in {"strong", "limited", "process"}
