"""Reviews: what is found and what is not, and what is no review."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader import forms
from grader.explain.session import GradingSession
from grader.forms.base import UnreadableAnswer
from grader.grading.session import GradeOptions
from grader.model.report import Report, Verdict
from tests.asking import asked
from tests.pages import page_of

pytestmark = pytest.mark.usefixtures("one_zygote")

QUESTION = asked("data-parallel-review")
ALL = {12: "overwritten", 13: "wrong-count", 14: "clipped-too-early", 15: "unequal-ranks",
       19: "caller-changed"}  # fmt: skip


@pytest.fixture(scope="module")
def session() -> Iterator[GradingSession]:
    with GradingSession(QUESTION) as opened:
        yield opened


def graded(session: GradingSession, listed: dict[int, str], approve: str = "no") -> Report:
    lines = [*(f"{n} = {reason}" for n, reason in listed.items()), f"approve = {approve}"]
    return session.grade("\n".join(lines).encode(), seed=3, filename="answers.txt")


@pytest.mark.parametrize(
    ("change", "said", "passes"),
    [
        ({}, "5 of 5 faults, 0 false alarms", True),
        ({17: "wrong-sign", 8: "precision"}, "5 of 5 faults, 2 false alarms; line 8 is", False),
        ({15: ""}, "4 of 5 faults, 0 false alarms; with shards of 2, 5 and 7 rows", False),
    ],
)  # fmt: skip
def test_found_faults_are_counted(
    change: dict[int, str], said: str, passes: bool, session: GradingSession
) -> None:
    listed = {n: reason for n, reason in (ALL | change).items() if reason}
    report = graded(session, listed)
    assert report.checks[0].message.startswith(said)
    assert report.verdict is (Verdict.PASS if passes else Verdict.FAIL)


def test_a_pass_says_which_lines_were_listed_and_are_right(session: GradingSession) -> None:
    for line, said in (7, "line 7 is right: the number of ranks is what it says"), (9, "line 9 is"):
        page = " ".join(page_of(graded(session, ALL | {line: "precision"})).split())
        assert page.startswith("PASS")
        assert f"review 5 of 5 faults, 1 false alarm; {said}" in page


def test_an_approval_is_reported_for_any_listed_lines(session: GradingSession) -> None:
    report = graded(session, ALL, "yes")
    assert report.checks[0].message == "you approved, and something is wrong with it"


def test_a_page_without_numbers_mentions_no_number(session: GradingSession) -> None:
    page = page_of(graded(session, {12: "overwritten"}))
    assert "Idea: stops-at-the-loop. It gives exactly what you wrote.\n" in page
    assert "numbers" not in page


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("99 = precision\napprove = no", "answers.txt:1: expected LINE = REASON (lines: 1 to 20;"),
        ("aprove = no", "answers.txt:1: expected LINE = REASON (lines: 1 to 20; reasons: over"),
        ("12 = too-early\napprove = no", "answers.txt:1: too-early is no reason"),
        ("3 = precision\napprove = no", "answers.txt:1: line 3 was removed and cannot be wrong"),
        ("approve = maybe", "answers.txt:1: approve: expected yes or no, found maybe"),
        ("12 = overwritten", "answers.txt: approve has no answer yet; write approve = ..."),
        ("approve = ?", "answers.txt: approve has no answer yet; write approve = yes or no"),
    ],
)
def test_an_unreadable_review_has_a_sentence(text: str, said: str, session: GradingSession) -> None:
    report = session.grade(text.encode(), seed=3, filename="answers.txt")
    assert report.message.startswith(said)


@pytest.mark.parametrize(
    "line",
    [
        "13 = wrong count", "13: wrong count", "13 - wrong count", "13 \u2013 wrong-count",
        "13 \u2014 wrong count", "line 13: wrong count", "Line 13: Wrong Count",
        "line 13 wrong count", "13 wrong count", "13) wrong_count", "1. 13 wrong-count",
        "- 13 wrong count (rows of all ranks)", "13 = wrong-count",
    ],
)  # fmt: skip
def test_a_reason_may_be_written_in_many_ways(line: str, session: GradingSession) -> None:
    lines = [*(f"{n} = {reason}" for n, reason in ALL.items() if n != 13), line, "Approve - no"]
    report = session.grade("\n".join(lines).encode(), seed=3, filename="answers.txt")
    assert report.checks[0].message.startswith("5 of 5 faults, 0 false alarms")
    with pytest.raises(UnreadableAnswer):
        forms.form_of(QUESTION.spec).program("\n".join(lines).encode(), QUESTION, literal=True)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("13 = wrong", "wrong is no reason; reasons are overwritten, wrong-count, "),
        ("13 = wrong count or sign", "wrong count or sign is no reason; reasons are overwritten"),
        ("13 wrong thing", "reasons: overwritten, wrong-count, unequal-ranks, clipped-too-early, "),
        ("13 wrong thing", "), found '13 wrong thing'"),
        ("13 is the wrong count", "), found '13 is the wrong count'"),
        ("12-13 = wrong count", "), found '12-13 = wrong count'"),
        ("aprove = no", "), found 'aprove = no'; did you mean 'approve'?"),
    ],
)
def test_a_reason_in_doubt_is_refused_with_the_list(
    line: str, said: str, session: GradingSession
) -> None:
    text = f"{line}\napprove = no".encode()
    assert said in session.grade(text, seed=3, filename="answers.txt").message


def test_prose_in_a_review_loses_only_its_line(session: GradingSession) -> None:
    prose = "13 is wrong, as it divides by its own rows\napprove? I would not"
    lines = [*(f"{n} = {reason}" for n, reason in ALL.items()), prose, "approve = no"]
    report = session.grade("\n".join(lines).encode(), seed=3, options=GradeOptions(lenient=True))
    assert report.checks[0].message.startswith("5 of 5 faults, 0 false alarms")
    assert len(report.unread) == 2


def test_no_text_of_the_question_gives_the_answer_away() -> None:
    from grader.reports.question import question_markdown

    text = question_markdown(QUESTION)
    assert next(forms.form_of(QUESTION.spec).materials(QUESTION.spec)).text in text
    assert "19  +    params -= lr * velocity" in text
    for secret in ("shards of 2, 5 and 7", "dampening", "the gradient is too small"):
        assert secret not in text


def test_the_page_of_a_pass_without_a_run_counts_no_cases(session: GradingSession) -> None:
    assert "100 of 100 points; 1 check\n" in page_of(graded(session, ALL), 80)
