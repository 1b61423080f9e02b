"""Questions in parts: when a part is asked, which parts count, and what a report says."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.bank import load_question
from grader.explain.session import GradingSession
from grader.grading.check_order import (
    award_points,
    overall_verdict,
    part_results,
    resolve_counted_parts,
)
from grader.model.question import Question
from grader.model.report import NON_FAILING_VERDICTS, CheckResult, Clause, Report, Verdict
from grader.reports.json import to_json
from tests.pages import page_of

pytestmark = pytest.mark.usefixtures("one_zygote")

BANK = Path(__file__).parents[1] / "banks" / "parts"
SPEC = BANK / "questions" / "mean-and-spread.yaml"
QUESTION = load_question([BANK], "mean-and-spread")
MEAN = "def mean(x):\n    return float(x.sum() / x.size)\n"
WHOLE_MEAN = "def mean(x):\n    return float(x.sum() / x.size) if x.size else 0.0\n"
DIES = "import os\ndef mean(x):\n    return float(x.mean()) if x.size else os._exit(3)\n"
SPREAD = "def spread(x):\n    return float(x.std())\n"


@pytest.fixture(scope="module")
def session() -> Iterator[GradingSession]:
    with GradingSession(QUESTION) as opened:
        yield opened


def verdicts(report: Report) -> list[str]:
    return [part.verdict.value for part in report.parts]


def by_id(report: Report) -> dict[str, CheckResult]:
    return {check.id: check for check in report.checks}


def test_all_parts_pass_at_once(session: GradingSession) -> None:
    report = session.grade(QUESTION.reference, seed=1)
    assert report.verdict is Verdict.PASS
    assert [(p.id, p.points, p.of) for p in report.parts] == [
        ("1", 50, 50), ("2", 30, 30), ("spread", 20, 20),
    ]  # fmt: skip
    assert [c.part for c in report.checks] == [1, 2, 2, 3, 3]
    assert report.parts_passed == 3
    assert report.follow_up


def test_the_starter_is_asked_only_the_first_part(session: GradingSession) -> None:
    report = session.grade(QUESTION.starter, seed=1)
    assert verdicts(report) == ["fail", "skipped", "skipped"]
    checks = by_id(report)
    assert checks["nothing"].message == "part 2 is asked when part 1 passes"
    assert checks["spread"].message == "part 3 is asked when part 1 passes"
    assert {c.blocked_by for c in report.checks if c.part > 1} == {"mean"}
    assert [m.id for m in report.misconceptions] == ["sums"]
    assert (report.parts_passed, report.follow_up) == (0, "")


def test_the_second_part_is_asked_when_the_first_passes(session: GradingSession) -> None:
    report = session.grade(MEAN.encode(), seed=1)
    assert report.verdict is Verdict.FAIL
    assert verdicts(report) == ["pass", "fail", "skipped"]
    assert [p.points for p in report.parts] == [50, 0, 0]
    assert by_id(report)["spread"].message == "part 3 is asked when part 2 passes"
    assert [m.id for m in report.misconceptions] == ["divides-by-nothing"]


def test_a_function_of_a_later_part_may_be_missing_until_it_is_asked(
    session: GradingSession,
) -> None:
    report = session.grade(WHOLE_MEAN.encode(), seed=1)
    assert verdicts(report) == ["pass", "pass", "error"]
    assert report.verdict is Verdict.ERROR
    checks = by_id(report)
    assert checks["spread"].message == "submission.py does not define spread(x) yet"
    assert (checks["far"].verdict, checks["far"].blocked_by) == (Verdict.SKIPPED, "spread")
    near = session.grade(f"{WHOLE_MEAN}\ndef sprad(x):\n    return 0\n".encode(), seed=1)
    assert by_id(near)["spread"].message.endswith("; is sprad meant to be spread?")
    uncallable = session.grade(f"{WHOLE_MEAN}\nspread = 3\n".encode(), seed=1)
    assert by_id(uncallable)["spread"].message == "expected a function called spread, found an int"


def test_a_process_that_ends_in_the_second_part_has_passed_the_first(
    session: GradingSession,
) -> None:
    report = session.grade(DIES.encode(), seed=1)
    assert verdicts(report) == ["pass", "error", "skipped"]
    checks = by_id(report)
    assert checks["alone"].message == "the process was stopped in nothing"
    assert checks["spread"].message == "part 3 is asked when part 2 passes"


def test_the_report_says_nothing_about_parts_that_were_not_asked(session: GradingSession) -> None:
    """The submission is off by one on every input, also on the input of the second part."""
    off = "def mean(x):\n    return 1.0 + (float(x.sum() / x.size) if x.size else 0.0)\n"
    report = session.grade(off.encode(), seed=1)
    assert verdicts(report) == ["fail", "skipped", "skipped"]
    nowhere = "def mean(x):\n    return float(x.sum()) + (not x.size)\n"
    (idea,) = session.grade(nowhere.encode(), seed=1).misconceptions
    assert (idea.id, idea.cases, idea.failing, idea.exact) == ("sums", 2, 2, True)


@pytest.mark.parametrize(
    ("source", "parts", "verdict", "points"),
    [
        (MEAN, {1}, "pass", [(50, 50), (0, 0), (0, 0)]),
        (MEAN, {1, 2}, "fail", [(50, 50), (0, 30), (0, 0)]),
        (MEAN + SPREAD, {1, 3}, "pass", [(50, 50), (0, 0), (20, 20)]),
        (SPREAD, {3}, "pass", [(0, 0), (0, 0), (20, 20)]),
        (MEAN, {2}, "fail", [(0, 0), (0, 30), (0, 0)]),
        (MEAN, {3}, "error", [(0, 0), (0, 0), (0, 20)]),
    ],
)
def test_parts_that_do_not_count_decide_nothing(
    source: str, parts: set[int], verdict: str, points: list[tuple[int, int]]
) -> None:
    with GradingSession(QUESTION, parts=parts) as session:
        report = session.grade(source.encode(), seed=1)
    assert (report.verdict, [(p.points, p.of) for p in report.parts]) == (verdict, points)


def test_a_process_that_ends_in_a_part_that_does_not_count_does_not_fail() -> None:
    with GradingSession(QUESTION, parts=[1, 3]) as session:
        report = session.grade((DIES + SPREAD).encode(), seed=1)
    assert report.verdict is Verdict.PASS
    assert verdicts(report) == ["pass", "error", "pass"]


@pytest.mark.parametrize("parts", [[], [0], [4], [1, 4], [-1]])
def test_a_part_that_does_not_exist_is_refused(parts: list[int]) -> None:
    with pytest.raises(ValueError, match="parts: expected numbers from 1 to 3, found"):
        GradingSession(QUESTION, parts=parts)


VERDICTS = st.sampled_from(["pass", "fail", "error", "limit", "skipped", "inconclusive"])


def test_a_question_without_parts_has_one_part_of_a_hundred_points() -> None:
    mini = load_question([BANK.parent / "mini"], "deviations")
    assert [(p.points, p.id) for p in mini.spec.parts] == [(100, "")]
    assert resolve_counted_parts(mini, None) == {1}
    assert mini.functions_for_part(1) == mini.functions


def test_a_submission_passes_although_its_process_ends_in_a_stretch_check(tmp_path: Path) -> None:
    spec = yaml.safe_load(SPEC.read_text())
    first, second, _ = spec["parts"]
    first["checks"].append(second["checks"].pop(0) | {"stretch": True})
    second["checks"] = [{"id": "alone", "kind": "outputs", "of": "m", "cases": "many"}]
    (tmp_path / "moved.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    with GradingSession(load_question([tmp_path / "moved.yaml"], "moved")) as session:
        report = session.grade((DIES + SPREAD).encode(), seed=1)
    assert report.verdict is Verdict.PASS
    assert [c.id for c in report.checks] == ["mean", "nothing", "alone", "spread", "far"]
    assert by_id(report)["nothing"].verdict is Verdict.ERROR


def test_an_explanation_of_one_part_may_be_untrue_of_the_next(session: GradingSession) -> None:
    twice = "def mean(x):\n    return 2.0 * float(x.sum() / x.size) if x.size else 7.0\n"
    report = session.grade(twice.encode(), seed=1)
    assert "m is twice the right one." in [explanation.text for explanation in report.explanations]
    raises = "def mean(x):\n    return sum(x) / x.size / 0\n"
    explanations = session.grade(raises.encode(), seed=1).explanations
    assert explanations
    assert {case for explanation in explanations for case in explanation.cases} <= {"few", "many"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Question:
    """Return the question whose second and third part divide their points among their checks."""
    spec = yaml.safe_load(SPEC.read_text())
    of_check = {"nothing": 10, "alone": 20, "spread": 15, "far": 5}
    for part in spec["parts"]:
        for check in part["checks"]:
            check |= {"points": of_check[check["id"]]} if check["id"] in of_check else {}
    path = tmp_path_factory.mktemp("shared") / "shared.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False))
    return load_question([path], "shared")


def test_passing_checks_of_a_failing_part_earn_their_points(shared: Question) -> None:
    # Right of few and many; of far the variance is lost in rounding, as the question wants it.
    cancels = WHOLE_MEAN + "def spread(x): return max(0.0, (x * x).mean() - x.mean() ** 2) ** 0.5\n"
    with GradingSession(shared) as session:
        whole = session.grade(shared.reference, seed=1)
        partly = session.grade(cancels.encode(), seed=1)
        starter = session.grade(shared.starter, seed=1)
    assert [(p.points, p.of) for p in whole.parts] == [(50, 50), (30, 30), (20, 20)]
    of_checks = [(0, 0), (10, 10), (20, 20), (15, 15), (5, 5)]
    assert [(c.points, c.of) for c in whole.checks] == of_checks
    assert partly.verdict is Verdict.FAIL
    assert [(p.points, p.of) for p in partly.parts] == [(50, 50), (30, 30), (15, 20)]
    assert [c.points for c in partly.checks if c.part == 3] == [15, 0]
    page = page_of(partly, width=80)
    assert "points" not in page  # which a pass says
    # What is skipped earns nothing, though skipping turns nobody down.
    assert [(p.points, p.of) for p in starter.parts] == [(0, 50), (0, 30), (0, 20)]
    plain = to_json(partly)["checks"]
    assert isinstance(plain, list)
    assert (plain[3]["points"], plain[4]["points"], plain[4]["of"]) == (15, 0, 5)


@settings(deadline=None)
@given(
    st.lists(st.tuples(VERDICTS, st.booleans()), min_size=5, max_size=5),
    st.sets(st.integers(1, 3), min_size=1),
)
def test_points_and_verdicts_agree_and_add_up(
    shared: Question, given_: list[tuple[str, bool]], parts: Collection[int]
) -> None:
    spec = shared.spec
    checks = [
        CheckResult(c.id, c.kind, Verdict(v), "", part=spec.part_of(c.id), stretch=stretch)
        for c, (v, stretch) in zip(spec.checks, given_, strict=True)
    ]
    with_points = award_points(spec, checks, parts)
    results = part_results(spec, with_points, parts)
    for number, part in enumerate(results, 1):
        assert part.of == (spec.parts[number - 1].points if number in parts else 0)
        assert part.points == part.of or part.verdict is not Verdict.PASS
        own = [check for check in with_points if check.part == number]
        if number > 1:  # whose checks have points
            assert sum(check.points for check in own) == part.points
            assert sum(check.of for check in own) == part.of
        if part.verdict is not Verdict.PASS:
            assert not any(c.points for c in own if c.verdict is Verdict.SKIPPED)
    assert results[0].points in {0, results[0].of}
    decisive = [results[number - 1].verdict for number in sorted(parts)]
    first = next((v for v in decisive if v not in NON_FAILING_VERDICTS), Verdict.PASS)
    assert overall_verdict(checks, parts) is first


# -- the clauses of the contract that a failing check quotes --------------------------------------

RAISES = "def mean(x):\n    return float(sum(x) / len(x))\n"
BROKEN = "def mean(x):\n    return float(x.men())\n"
LONG = "The mean of no entries, which is what a worker without any work to do sends us, is 0."
EDITS = {
    "m, cases: [few": "m, clause: 1, cases: [few",
    "m, cases: nothing": "m, clause: [2, 1], cases: nothing",
    "[The mean of no entries is 0.]": f'["{LONG}"]',
}
CLAUSES = (Clause(2, LONG), Clause(1, "m is the arithmetic mean of the entries of x."))


@pytest.fixture(scope="module")
def quoting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GradingSession]:
    text = SPEC.read_text()
    for old, new in EDITS.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    path = tmp_path_factory.mktemp("bank") / "quoted.yaml"
    path.write_text(text)
    with GradingSession(load_question([path], "quoted")) as opened:
        yield opened


def quoted(report: Report) -> dict[str, tuple[Clause, ...]]:
    return {check.id: check.clauses for check in report.checks if check.clauses}


def test_a_failing_check_quotes_its_clauses(quoting: GradingSession) -> None:
    report = quoting.grade(MEAN.encode(), seed=1)
    assert quoted(report) == {"nothing": CLAUSES}
    checks = {check["id"]: check for check in to_json(report)["checks"]}  # type: ignore[attr-defined]
    assert [clause["number"] for clause in checks["nothing"]["clauses"]] == [2, 1]
    assert checks["mean"]["clauses"] == []


def test_an_exception_breaks_a_clause_if_another_check_passes(
    quoting: GradingSession,
) -> None:
    assert quoted(quoting.grade(RAISES.encode(), seed=1)) == {"nothing": CLAUSES}
    assert quoted(quoting.grade(BROKEN.encode(), seed=1)) == {}


def test_the_starter_is_shown_no_clause(quoting: GradingSession) -> None:
    report = quoting.grade(quoting.question.starter, seed=1)
    assert quoted(report) == {"mean": CLAUSES[1:]}
    assert "contract" not in page_of(report)
    assert "contract, 1: m is the" in page_of(report, explain=True)
