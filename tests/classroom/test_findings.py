"""What follows from the grades of a class that is made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.classroom.report import ClassFindings, HeldIdea, Standing, find
from grader.model.classroom import Entry
from grader.model.report import Explanation, Verdict
from tests.classroom.making import MEAN, SUM, TERMS, entry, named, report, rule

FAIL = Verdict.FAIL
ONE = replace(TERMS, questions=(MEAN,))


def found(*entries: Entry) -> ClassFindings:
    return find(ONE, entries)


def standing(one: Entry) -> Standing:
    (student,) = found(one).students
    return student.results[0].standing


def idea(of: ClassFindings, name: str) -> HeldIdea:
    (held,) = [one for one in of.questions[0].ideas if one.id == name]
    return held


@pytest.mark.parametrize(
    ("given", "stands"),
    [
        (entry("a", report()), Standing.PASSED),
        (entry("a", report(FAIL, named("axis"))), Standing.IDEA),
        (entry("a", report(FAIL, named("axis", exact=False))), Standing.UNEXPLAINED),
        (entry("a", report(FAIL, explanations=(rule(),))), Standing.EXPLAINED),
        (entry("a", report(FAIL)), Standing.UNEXPLAINED),
        (entry("a", report(Verdict.ERROR)), Standing.STOPPED),
        (entry("a", report(FAIL, named("axis"), unchanged=True)), Standing.STARTER),
        (entry("a", handed="it is a link"), Standing.NO_PROGRAM),
        (entry("a", fault="the disk is full"), Standing.NOT_GRADED),
        (entry("a", report(Verdict.INTERNAL), fault="no memory"), Standing.NOT_GRADED),
        (entry("a"), Standing.NOT_GRADED),
    ],
)
def test_everybody_stands_somewhere(given: Entry, stands: Standing) -> None:
    assert standing(given) is stands
    counts = found(given).questions[0].standings
    assert counts[stands] == 1
    assert sum(counts.values()) == 1


def test_two_ideas_that_only_fit_together_are_both_held() -> None:
    pair = Explanation("pair", "both", ("small", "wide"))
    two = [named("axis", exact=False), named("off-by-one", exact=False)]
    both = found(entry("a", report(FAIL, *two, explanations=(pair,))))
    assert both.students[0].results[0].ideas == ("axis", "off-by-one")


def test_points_are_weighted_and_a_fault_of_the_grader_is_no_zero() -> None:
    of = find(
        TERMS,
        [
            entry("ada", report()), entry("ada", report(question="sum"), posed=SUM),
            entry("ben", report(FAIL)), entry("ben", fault="the disk is full", posed=SUM),
            entry("cem", report(), late=True),
        ],
    )  # fmt: skip
    ada, ben, cem = of.students
    assert of.of == 10 + 2.5 * 4
    assert (ada.points, ada.passed) == (10 + 2.5 * 10, True)
    assert (ben.points, ben.so_far, ben.results[1].points) == (None, 0, None)
    assert ben.results[1].note == "the disk is full"
    assert (cem.points, cem.results[0].late, cem.results[1].standing) == (
        10,
        True,
        Standing.MISSING,
    )
    # Who is not graded throughout counts in no average.
    assert (of.mean, of.median, of.unfinished, of.passed) == (22.5, 22.5, 1, 1)
    assert of.questions[1].standings[Standing.MISSING] == 1


def test_shares_are_of_those_who_were_judged_and_did_not_hand_in_the_starter() -> None:
    of = found(
        entry("a", report(FAIL, named("axis"))),
        entry("b", report(FAIL, named("axis"), unchanged=True)),
        entry("c", report()),
        entry("d", report(FAIL, named("axis", exact=False))),
        entry("e", handed="it is a link"),
        entry("f", fault="the disk is full"),
        entry("g", report(FAIL)),
    )
    held = idea(of, "axis")
    assert of.questions[0].judged == 4
    assert (held.students, held.share, held.unsure) == (["a"], 0.25, ["d"])
    assert held.line == "You take the mean along the wrong axis."


def test_equal_answers_are_together_the_most_first() -> None:
    two = "a3f9" + "0" * 60
    of = found(
        entry("a", report(FAIL, outputs="b" * 64)),
        entry("b", report(FAIL, outputs=two)),
        entry("c", report(FAIL, outputs=two, explanations=(rule("y is twice"),))),
        entry("d", report(FAIL, named("axis"), outputs=two)),
        entry("e", report(FAIL)),
        entry("f", report(FAIL, named("axis"), unchanged=True, outputs=two)),
    )
    first, second = of.questions[0].groups
    assert (first.handle, first.students) == ("a3f90000", ["b", "c"])
    assert (second.handle, second.students) == ("bbbbbbbb", ["a"])
    assert first.sentence == "values: y is wrong, in 2 of 2 cases. The smallest is small."
    assert [student.results[0].group for student in of.students] == [
        "bbbbbbbb", "a3f90000", "a3f90000", "", "", "",
    ]  # fmt: skip


def test_weights_add_up_without_noise() -> None:
    tenth = replace(TERMS, questions=(replace(MEAN, weight=0.1), replace(SUM, weight=0.2, of=10)))
    of = find(tenth, [entry("a", report()), entry("a", report(), posed=SUM)])
    assert (of.of, of.students[0].points) == (3, 3)
    assert of.scores["100 %"] == 1
