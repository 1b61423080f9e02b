"""What follows from the grades of a class that is made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.classroom.findings import find, handles
from grader.model.classroom import Entry
from grader.model.findings import Findings, Held, Standing
from grader.model.report import CheckResult, Explanation, Report
from grader.model.verdict import Verdict
from tests.classroom.making import MEAN, SUM, TERMS, attempts, entry, named, report, rule

FAIL = Verdict.FAIL
ONE = replace(TERMS, posed=(MEAN,))


def found(*entries: Entry) -> Findings:
    return find(ONE, attempts(entries))


def standing(one: Entry) -> Standing:
    (student,) = found(one).students
    return student.cells[0].standing


def idea(of: Findings, name: str) -> Held:
    (held,) = [one for one in of.asked[0].ideas if one.id == name]
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
    counts = found(given).asked[0].standings
    assert counts[stands] == 1
    assert sum(counts.values()) == 1


def test_two_ideas_that_only_fit_together_are_both_held() -> None:
    pair = Explanation("pair", "both", ("small", "wide"))
    two = [named("axis", exact=False), named("off-by-one", exact=False)]
    both = found(entry("a", report(FAIL, *two, explanations=(pair,))))
    assert both.students[0].cells[0].ideas == ("axis", "off-by-one")
    assert idea(both, "axis").shared == ()


def test_points_are_weighted_and_a_fault_of_the_grader_is_no_zero() -> None:
    of = find(
        TERMS,
        attempts([
            entry("ada", report()), entry("ada", report(question="sum"), posed=SUM),
            entry("ben", report(FAIL)), entry("ben", fault="the disk is full", posed=SUM),
            entry("cem", report(), late=True),
        ]),
    )  # fmt: skip
    ada, ben, cem = of.students
    assert of.of == 10 + 2.5 * 4
    assert (ada.points, ada.passed) == (10 + 2.5 * 10, True)
    assert (ben.points, ben.so_far, ben.cells[1].points) == (None, 0, None)
    assert ben.cells[1].note == "the disk is full"
    assert (cem.points, cem.cells[0].late, cem.cells[1].standing) == (10, True, Standing.MISSING)
    # Who is not graded throughout counts in no average.
    assert (of.mean, of.median, of.complete, of.passed) == (22.5, 22.5, 2, 1)
    assert of.asked[1].standings[Standing.MISSING] == 1


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
    assert of.asked[0].judged == 4
    assert (held.students, held.share, held.unsure) == (("a",), 0.25, ("d",))
    assert held.lines == ("You take the mean along the wrong axis.",)


def test_ideas_that_nothing_tells_apart_are_marked_and_those_of_other_cases_are_not() -> None:
    alike = found(entry("a", report(FAIL, named("axis"), named("off-by-one"))))
    assert idea(alike, "axis").shared == idea(alike, "off-by-one").shared == ("a",)
    each = [named("axis", cases=1), named("off-by-one", cases=1)]
    assert idea(found(entry("a", report(FAIL, *each))), "axis").shared == ()


def in_part_two(*ids: str) -> Report:
    first = CheckResult("values", "outputs", Verdict.PASS, "2 cases", ("small",))
    more = [CheckResult(i, "outputs", FAIL, "wrong", ("edge",), ("edge",), part=2) for i in ids]
    return replace(report(FAIL, named("axis", checks=("edges",))), checks=(first, *more))


def test_an_idea_shows_in_the_parts_of_the_checks_that_caught_it() -> None:
    of = found(entry("a", in_part_two("edges")), entry("b", report(FAIL, named("axis"))))
    assert idea(of, "axis").by_part == {1: 1, 2: 1}
    # A check that is not there to catch it says nothing of the idea's part, its cases do.
    first = CheckResult("first", "outputs", FAIL, "wrong", ("wide",), ("wide",))
    both = in_part_two("other")
    seen = replace(
        both, checks=(first, *both.checks), misconceptions=(named("axis", seen=("edge",)),)
    )
    assert idea(found(entry("a", seen)), "axis").by_part == {2: 1}


DAYS = [f"2026-11-{day}T12:00:00+00:00" for day in (18, 19, 20)]


def test_an_idea_over_time_and_who_no_longer_holds_it() -> None:
    axis = report(FAIL, named("axis"))
    of = found(
        entry("ada", axis, at=DAYS[0]), entry("ada", report(), at=DAYS[2]),
        entry("ben", axis, at=DAYS[0]), entry("ben", axis, at=DAYS[1]),
        # Another fault hides the idea: nobody knows whether it is gone.
        entry("cem", axis, at=DAYS[1]), entry("cem", report(Verdict.ERROR), at=DAYS[2]),
        # The starter holds it by design.
        entry("dov", replace(axis, unchanged=True), at=DAYS[1]),
    )  # fmt: skip
    held = idea(of, "axis")
    assert of.intervals == ("Nov 18", "Nov 19", "Nov 20")
    assert (held.over_time, of.asked[0].handed_in) == ((2, 2, 0), (2, 3, 2))
    assert (held.students, held.gone, of.asked[0].several) == (("ben",), ("ada",), 3)


def test_an_idea_is_gone_too_where_its_checks_pass_and_something_else_fails() -> None:
    of = found(
        entry("ada", report(FAIL, named("axis")), at=DAYS[0]),
        entry("ada", in_part_two("edges"), at=DAYS[1]),
        entry("ben", report(FAIL, named("off-by-one")), at=DAYS[0]),
        entry("ben", replace(in_part_two("edges"), misconceptions=()), at=DAYS[1]),
    )
    assert idea(of, "axis").gone == ()  # now in part 2
    assert idea(of, "off-by-one").gone == ("ben",)


def test_an_idea_that_no_check_is_there_to_catch_is_gone_with_a_pass_alone() -> None:
    unclaimed = report(FAIL, named("axis", checks=()))
    last = replace(in_part_two("edges"), misconceptions=())
    of = found(entry("a", unclaimed, at=DAYS[0]), entry("a", last, at=DAYS[1]))
    assert idea(of, "axis").gone == ()


def test_who_holds_an_idea_in_the_file_that_counts_has_not_left_it_behind() -> None:
    best = entry("a", report(FAIL, named("axis")), at=DAYS[0])
    last = entry("a", replace(in_part_two("edges"), misconceptions=()), at=DAYS[1])
    of = find(ONE, [(best, [best, last])])
    assert (idea(of, "axis").students, idea(of, "axis").gone) == (("a",), ())


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
    first, second = of.asked[0].groups
    assert (first.name, first.handle, first.students) == ("mean#1", "a3f9", ("b", "c"))
    assert (second.name, second.handle, second.students) == ("mean#2", "bbbb", ("a",))
    assert first.sentence == "values: y is wrong, in 2 of 2 cases. The smallest is small."
    assert first.case == "small"
    assert [student.cells[0].group for student in of.students] == [
        "bbbb", "a3f9", "a3f9", "", "", "",
    ]  # fmt: skip


@pytest.mark.parametrize(("many", "listed"), [(1, False), (2, True), (4, True), (5, False)])
def test_only_few_who_share_a_result_are_for_a_person_to_look_at(many: int, listed: bool) -> None:
    of = found(*(entry(f"s{n}", report(FAIL, outputs="c" * 64)) for n in range(many)))
    assert bool(of.asked[0].rare) is listed


def test_one_file_of_several_students_is_listed_once() -> None:
    wrong = report(FAIL, outputs="c" * 64)
    of = found(
        entry("a", wrong, sha256="1" * 64), entry("b", wrong, sha256="1" * 64),
        entry("c", report(), sha256="2" * 64), entry("d", report(), sha256="2" * 64),
        entry("e", report(FAIL, unchanged=True), sha256="3" * 64),
        entry("f", report(FAIL, unchanged=True), sha256="3" * 64),
    )  # fmt: skip
    same = [(one.students, one.passes) for one in of.asked[0].same]
    assert same == [(("a", "b"), False), (("c", "d"), True)]
    assert of.asked[0].rare == ()
    assert of.asked[0].groups[0].files == 1


def test_digests_are_cut_where_they_still_differ() -> None:
    assert handles(["abcdef", "abcdxy", "ffff00"]) == {
        "abcdef": "abcde", "abcdxy": "abcdx", "ffff00": "ffff",
    }  # fmt: skip


def test_a_class_of_nobody() -> None:
    of = find(TERMS, [])
    assert (of.students, of.mean, of.intervals) == ((), None, ())
    assert [asked.ideas for asked in of.asked] == [(), ()]


def test_feedback_that_differs_is_given_as_most_are_given_it() -> None:
    texts = ["By 2. More.", "By 3.", "By 3."]
    of = found(*(
        entry(f"s{n}", report(FAIL, named("scale", feedback=text))) for n, text in enumerate(texts)
    ))  # fmt: skip
    assert idea(of, "scale").lines == ("By 3.", "By 2.")


def test_a_handle_tells_a_group_from_answers_that_are_explained_too() -> None:
    known = report(FAIL, named("axis"), outputs="a3f9" + "1" * 60)
    of = found(
        entry("a", known, at=DAYS[0]), entry("a", report(), at=DAYS[1]),
        entry("b", report(FAIL, outputs="a3f9" + "0" * 60)),
    )  # fmt: skip
    assert [group.handle for group in of.asked[0].groups] == ["a3f90"]


def test_weights_add_up_without_noise() -> None:
    tenth = replace(TERMS, posed=(replace(MEAN, weight=0.1), replace(SUM, weight=0.2, of=10)))
    of = find(tenth, attempts([entry("a", report()), entry("a", report(), posed=SUM)]))
    assert (of.of, of.students[0].points) == (3, 3)
    assert of.scores.counts[-1].count == 1
