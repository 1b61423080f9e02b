"""A grade repeats by its seed, skips checks after a failure, and becomes a report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.explain.session import grade
from grader.grading.check_order import overall_verdict
from grader.model.limits import MAX_REPORTED_OUTPUT
from grader.model.report import CheckResult, Verdict
from tests.asking import asked, settled
from tests.pages import page_of

pytestmark = pytest.mark.usefixtures("one_zygote")


# Right on every literal case of its question, wrong on larger ones, which are all drawn.
WRONG_WHEN_LARGE = b"""

_right = cross_entropy_grad


def cross_entropy_grad(*a):
    r = _right(*a)
    return r * 1.5 if r.size > 20 else r
"""


def test_a_seed_repeats_a_grade_and_another_draws_other_inputs() -> None:
    question = asked("softmax-cross-entropy")
    source = question.reference + WRONG_WHEN_LARGE
    first, again, other = (grade(question, source, seed=seed) for seed in (5, 5, 6))
    assert settled(first) == settled(again)
    assert (first.seed, other.seed) == (5, 6)
    first_check, other_check = (next(c for c in r.checks if c.mismatch) for r in (first, other))
    assert first_check.mismatch
    assert other_check.mismatch
    assert first_check.mismatch.case == other_check.mismatch.case
    # One small whole number may be the same by chance.
    assert (first_check.mismatch, first_check.exhibit) != (
        other_check.mismatch,
        other_check.exhibit,
    )


def test_checks_that_depend_on_a_failed_one_name_it() -> None:
    question = asked("maxpool-routing")
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


@pytest.mark.parametrize(
    ("second", "stretch", "whole"),
    [
        ("fail", False, "fail"), ("error", False, "error"), ("limit", False, "limit"),
        ("fail", True, "pass"), ("error", True, "pass"), ("limit", True, "pass"),
        ("inconclusive", False, "pass"), ("skipped", True, "pass"),
    ],
)  # fmt: skip
def test_the_first_failing_required_check_decides_the_verdict(
    second: str, stretch: bool, whole: str
) -> None:
    def result_of(name: str, verdict: str, *, stretch: bool = False) -> CheckResult:
        return CheckResult(name, "outputs", Verdict(verdict), "", stretch=stretch)

    later = [] if whole == "pass" else [result_of(v, v) for v in ("limit", "error", "fail")]
    checks = [result_of("a", "pass"), result_of("b", second, stretch=stretch), *later]
    assert overall_verdict(checks, {1}) == whole


def test_the_tail_of_the_output_is_kept() -> None:
    question = replace(asked("adam-7b-memory"), variants={})
    source = question.reference + b"\nprint('first ' + 'x' * 10_000)\nprint('last')\n"
    report = grade(question, source, seed=0)
    assert report.verdict == "pass"
    assert len(report.printed) <= MAX_REPORTED_OUTPUT
    assert report.printed.endswith("x\nlast\n")
    assert "first" not in report.printed


def test_a_broken_question_is_not_blamed_on_the_submission() -> None:
    question = asked("adam-7b-memory")
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
    for what, broken_question in broken.items():
        report = grade(broken_question, question.starter, seed=0)
        assert report.verdict == "invalid", what
        assert "questions/adam-7b-memory.yaml: " in report.message
        assert "\n" not in report.message
        assert "Traceback" not in page_of(report, 80)


def test_a_grade_without_a_run_names_no_isolation() -> None:
    question = asked("adam-7b-memory")
    for source in (b"", b"#" * (2 << 20)):
        assert grade(question, source, seed=0).isolation == ""
    assert grade(question, b"syntax error", seed=0).isolation in {"strong", "limited", "process"}
