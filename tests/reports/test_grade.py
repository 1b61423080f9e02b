"""What a person sees: snapshots of every shape of a page, and what must hold for all of them."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.model import report as model
from grader.model.report import (
    NON_FAILING_VERDICTS,
    CheckResult,
    Explanation,
    Frame,
    Mismatch,
    Report,
    Verdict,
)
from grader.reports import grade, grade_sentences
from grader.reports.blocks import render_html, render_markdown, render_terminal, render_text
from grader.reports.grade import GradeContext
from grader.reports.grade_sentences import describe_finding, idea_paragraphs
from grader.reports.text_layout import display_width, without_styles
from tests.pages import page_of, text
from tests.reports import scenarios
from tests.reports.conftest import Golden
from tests.reports.scenarios import SCENARIOS, around
from tests.reports.strategies import TEXTS, reports

ROWS = 22  # of a page
STYLES = {"\x1b[7m", "\x1b[1m", "\x1b[31m", "\x1b[0m"}


def page(name: str, width: int = 80, **more: Any) -> str:
    """The page of a scenario."""
    here = around(name)
    own = {field: getattr(here, field) for field in here.__slots__}
    return page_of(SCENARIOS[name], width, **(own | more))


def words_of(report: Report, **more: Any) -> str:
    """The page of a report on one line."""
    return " ".join(page_of(report, **more).split())


def test_pages_equal_their_snapshots(golden: Golden) -> None:
    golden("pages", "\n".join(f"{name}\n\n{page(name)}" for name in SCENARIOS))
    found = {
        "maxpool_fail, aloud": page("maxpool_fail", aloud=True),
        "estimate, aloud": page("estimate", aloud=True),
        "part_1_passes, aloud": page("part_1_passes", aloud=True),
        "two_ideas, in full": page("two_ideas", full=True),
        "starter, explained": page("starter", explain=True),
        "named_idea, 60 columns": page("named_idea", 60),
        "named_idea, 120 columns": page("named_idea", 120),
        "named_idea, with styles": page("named_idea", color=True),
    }
    golden("other_pages", "\n".join(f"{name}\n\n{shown}" for name, shown in found.items()))


@pytest.mark.parametrize("width", [40, 50, 60, 80, 120])
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_page_fits_the_window_and_a_screen_of_24_lines(name: str, width: int) -> None:
    colored, shown = page(name, width, color=True), page(name, width)
    lines = shown.splitlines()
    # What has no blank to be broken at is left to the terminal.
    assert all(display_width(line) <= width or "AAAA" in line for line in lines)
    assert all(line == line.rstrip() for line in lines)
    assert len(lines) <= ROWS
    # Styles add nothing but styles, and only those of the list.
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == shown
    assert set(re.findall(r"\x1b\[[^m]*m", colored)) <= STYLES


@pytest.mark.parametrize("words", [10, 2000])
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_long_page_fits_and_counts_the_parts_left_out(name: str, words: int) -> None:
    much = "A sentence of some words. " * words
    report = SCENARIOS[name]
    report = replace(
        report,
        printed="line\n" * words,
        misconceptions=tuple(replace(m, feedback=much) for m in report.misconceptions),
        explanations=tuple(replace(e, text=much) for e in report.explanations),
        checks=tuple(replace(c, about=much[:300], message=c.message * 3) for c in report.checks),
    )
    here = around(name)
    lines = text(render_terminal(grade.grade_page(report, here), 80, rows=here.rows)).splitlines()
    assert len(lines) <= ROWS
    assert lines[-1] == "Next: " + "   ".join(here.steps)
    if words == 2000 and report.misconceptions and not report.unchanged:
        assert any(line.startswith("drill grade --full") for line in lines)


def test_a_few_printed_lines_are_shown_and_many_are_cut() -> None:
    here = around("named_idea")
    for printed, is_shown in (("x (2, 3)\ny 0.5\n", True), ("line\n" * 40, False)):
        told = "A sentence of some words. " * 200
        report = replace(
            SCENARIOS["named_idea"],
            printed=printed,
            misconceptions=tuple(
                replace(m, feedback=told) for m in SCENARIOS["named_idea"].misconceptions
            ),
        )
        shown = text(render_terminal(grade.grade_page(report, here), 80, rows=here.rows))
        assert ("Your code printed" in shown) == is_shown
        assert not is_shown or "    x (2, 3)\n    y 0.5\n" in shown


def test_an_input_of_none_is_not_listed() -> None:
    check = next(c for c in SCENARIOS["named_idea"].checks if c.failing)
    check = replace(check, inputs={"n": "3", "w2": "None", "rows": "None"}, raised=None)
    assert "n 3" in describe_finding(check)
    assert "None" not in describe_finding(check)


def test_a_command_is_never_broken() -> None:
    long = "drill grade /a/very/long/folder/" + "name-" * 30 + "/submission.py --explain"
    lines = page_of(scenarios.starter, steps=("drill hint", long)).splitlines()
    assert lines[-2:] == ["Next: drill hint", f"      {long}"]
    path = "/a/" + "long/" * 30 + "submission.py"
    assert page_of(scenarios.starter, file=path).splitlines()[0] == f"FAIL  {path}"


@pytest.mark.parametrize("more", [{}, {"aloud": True}, {"full": True}, {"explain": True}])
def test_no_page_has_control_characters_or_texts_that_are_kept_back(more: dict[str, bool]) -> None:
    hostile = page("hostile", **more)
    assert not set("\x1b\x07\x08\r\u202e\u2066") & set(hostile)
    assert "[red]PASS[/red]" in hostile
    assert not any(line.lstrip().startswith("PASS") for line in hostile.splitlines())
    estimate = page("estimate", **more)
    assert "14.0 GB" in estimate
    assert not any(word in estimate for word in scenarios.KEPT_BACK)
    starter = page("starter", **more)
    if more.keys() & {"full", "explain"}:
        assert "even-split" in starter
    else:
        assert "This is still the starter's code" in starter
        assert not any(w in starter for w in ("even-split", "expected", "0.111", "winner at"))


_TWO = scenarios.two_ideas
_ALONE = replace(_TWO, explanations=())
_RULED = replace(_TWO, misconceptions=())
_ABOUT = "This is about shared-winner and overlapping, not about tied above."


def test_an_idea_that_claims_the_check_above_is_about_its_case_too() -> None:
    idea = replace(_TWO.misconceptions[1], exact=True)
    first = next(c.id for c in _ALONE.checks if c.verdict not in NON_FAILING_VERDICTS)
    for checks, elsewhere in (((), True), ((first,), False), (("speed",), True)):
        report = replace(_ALONE, misconceptions=(replace(idea, checks=checks),))
        (said, *_) = idea_paragraphs(report)
        assert (_ABOUT in f"{said}") is elsewhere


def explained(*cases: str) -> Report:
    rule = Explanation("rule", "grad_x is half in 2 of 4 failing cases.", cases)
    return replace(_RULED, explanations=(rule,))


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (  # an exact idea of some cases does not claim the others
            replace(
                scenarios.maxpool_fail,
                misconceptions=(replace(scenarios.maxpool_fail.misconceptions[0], cases=2),),
            ),
            "exactly your numbers in 2 of the 3 failing cases; something else is wrong",
        ),
        (
            scenarios.unsure,
            "Unsure: last-tie-wins gives your grad_x in 2 of 4 failing cases, not what is wrong in"
            " case shared-winner",
        ),
        # An idea of other cases than the one above it names them.
        *(
            (replace(_ALONE, misconceptions=(replace(_TWO.misconceptions[1], exact=e),)), _ABOUT)
            for e in (True, False)
        ),
        (
            explained("shared-winner", "x"),
            "failing cases. This is about shared-winner and x, not about tied above.",
        ),
        (explained(*"abcd"), "This is about a, b and 2 more, not about tied above."),
        (  # a call with short arguments stands for its inputs
            scenarios.called,
            "zero: zero_bytes_per_gpu(1, 1, 5) returned 9.600, expected 6.400",
        ),
        (  # a figure that is that of a count, too
            replace(
                scenarios.called,
                checks=(
                    replace(
                        scenarios.called.checks[0],
                        call="",
                        mismatch=Mismatch("total", "shares-1", None, "8", "6.400", None, 1, 1),
                    ),
                ),
            ),
            "total is 8, expected 6.400",
        ),
        (scenarios.maxpool_slow, "speed: slow, 34x the reference"),
        (scenarios.recursion, "the same line 994 times more"),
        (scenarios.curve_nan, "Yours is NaN from step 14 on."),
        (scenarios.bank_at_fault, "is at fault, not your code"),
        *(
            (
                replace(SCENARIOS[name], isolation=level),
                f"Isolation is only {level} on this machine: drill doctor",
            )
            for name in ("maxpool_pass", "maxpool_fail", "syntax_error")
            for level in ("limited", "process")
        ),
    ],
)
def test_a_page_contains_a_text(report: Report, said: str) -> None:
    assert said in words_of(report)


@pytest.mark.parametrize(
    ("report", "word"),
    [
        (_TWO, "This is about"),
        (replace(_ALONE, misconceptions=_TWO.misconceptions[:1]), "This is about"),
        (scenarios.called, "n_params"),
        (scenarios.maxpool_pass, "Isolation"),
    ],
)
def test_a_page_does_not_contain_a_text(report: Report, word: str) -> None:
    assert word not in words_of(report)


def with_check(report: Report, check: CheckResult, **more: Any) -> Report:
    return replace(report, checks=(replace(check, **more),))


def test_a_stretch_goal_that_was_missed_is_not_the_failure_shown() -> None:
    stretch = replace(scenarios.maxpool_fail.checks[1], id="extra", stretch=True)
    checks = (stretch, *scenarios.maxpool_fail.checks[1:])
    shown = page_of(replace(scenarios.maxpool_fail, checks=checks))
    assert "\nrouting: " in shown
    assert "extra" not in shown


def test_the_caret_stands_below_its_column() -> None:
    source = "\tprint('\u4e2d\u6587\x1b', " + "a, " * 60 + "b c)"
    early = "x = '\u4e2d\x1b' ?"
    for line, column, width in (
        *((source, source.index("b c") + 1, width) for width in (60, 80, 120)),
        (early, 10, 80),
    ):
        raised = model.ExceptionRecord("SyntaxError", "oops", (Frame(7, "", line),), column=column)
        lines = page_of(replace(scenarios.syntax_error, raised=raised), width).splitlines()
        caret = next(n for n, shown in enumerate(lines) if shown.strip() == "^")
        above, at = lines[caret - 1], lines[caret].index("^")
        sign = line[column - 1]
        assert at in {
            display_width(above[: m.start()]) for m in re.finditer(re.escape(sign), above)
        }


def test_a_long_traceback_loses_its_beginning() -> None:
    frames = tuple(Frame(n, f"f{n}", f"step({n})") for n in range(20))
    raised = model.ExceptionRecord("ValueError", "", frames)
    shown = page_of(with_check(scenarios.recursion, scenarios.recursion.checks[0], raised=raised))
    assert "... 14 more lines" in shown
    assert ("step(0)" in shown, "step(19)" in shown, "step(14)" in shown) == (False, True, True)


def test_a_mismatch_without_a_place_is_a_sentence_too() -> None:
    worst = Mismatch("y", "one-window", None, "a list", "a float64 array", None, 1, 1)
    routing = scenarios.maxpool_fail.checks[1]
    shown = page_of(with_check(scenarios.maxpool_fail, routing, mismatch=worst, exhibit=None))
    assert "    y is a list, expected a float64 array\n" in shown


def test_changes_since_the_last_save_are_listed_for_checks_that_are_asked() -> None:
    def report(**verdicts: Verdict) -> Report:
        checks = tuple(
            CheckResult(name, "outputs", verdict, "", part=2 if name == "later" else 1)
            for name, verdict in verdicts.items()
        )
        return Report("id", "Title", Verdict.FAIL, 1, "strong", 0.0, checks=checks)

    good, bad, idle = Verdict.PASS, Verdict.FAIL, Verdict.SKIPPED
    before = report(one=bad, two=bad, three=good, four=idle)
    now = report(one=good, two=good, three=bad, four=Verdict.ERROR, later=bad)
    whole = "Since the last save: one, two pass now; new: three, four"
    assert grade_sentences.changes_since(before, now, 1) == f"{whole}."
    assert grade_sentences.changes_since(before, now, 2) == f"{whole}, later."
    assert (
        grade_sentences.changes_since(before, before, 2) == "Since the last save: no check changed."
    )
    assert (
        grade_sentences.changes_since(before, report(), 2)
        == grade_sentences.changes_since(report(), now, 2)
        == ""
    )
    many = {f"check-{n}": bad for n in range(9)}
    assert grade_sentences.changes_since(report(a=good), report(**many), 2).endswith(
        "new: check-0, check-1, check-2, 6 more."
    )
    assert page_of(before, news=("What changed.",), steps=("drill hint",)).endswith(
        "\n\nWhat changed.\nNext: drill hint\n"
    )


def test_every_verdict_has_a_page_even_for_an_empty_report() -> None:
    for verdict in Verdict:
        bare = Report("id", "Title", verdict, 1, "process", 0.0)
        check = CheckResult("only", "outputs", verdict, "")
        for report in (bare, replace(bare, checks=(check,)), replace(bare, message="Why.")):
            first = page_of(report).splitlines()[0]
            assert first.split() == [verdict.upper(), "submission.py", "id", "seed", "1"]


@given(reports(st.floats()), st.integers(60, 200), TEXTS)
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_report_has_a_page(report: Report, width: int, note: str) -> None:
    blocks = grade.grade_page(report, GradeContext(note, 3, note, steps=("drill hint",)))
    shown = render_terminal(blocks, width, rows=ROWS)
    assert sum(max(1, -(-display_width(without_styles(line)) // width)) for line in shown) <= ROWS
    for said in (text(shown), render_text(blocks), render_html(blocks), render_markdown(blocks)):
        assert not any(unicodedata.category(c) in {"Cc", "Cf", "Cs"} for c in said if c != "\n")


def data_of(name: str, **more: Any) -> dict[str, Any]:
    """The page of a scenario as data, with the checks by id."""
    data: dict[str, Any] = grade.assistant_document(SCENARIOS[name], replace(around(name), **more))
    return data | {"checks": {check["id"]: check for check in data["checks"]}}


def test_the_document_for_an_assistant_has_no_more_facts_than_the_page() -> None:
    named = data_of("maxpool_fail")
    assert [idea["id"] for idea in named["misconceptions"]] == ["even-split"]
    first, *others = [c for c in named["checks"].values() if c["verdict"] == "fail"]
    assert first["mismatch"]["expected"]
    assert all("mismatch" not in check and "message" not in check for check in others)
    starter = data_of("starter")
    assert not any(word in str(starter) for word in ("even-split", "expected", "0.111"))
    said = "grad_x is wrong in 3 of 3 cases. In the smallest, one-window, 9 of 9 entries differ."
    assert starter["checks"]["routing"] == {
        "id": "routing", "verdict": "fail", "part": 1, "message": said,
    }  # fmt: skip
    assert data_of("starter", explain=True)["misconceptions"]
    assert not any(word in str(data_of("estimate")) for word in scenarios.KEPT_BACK)
    assert "1.10x" in data_of("maxpool_pass")["checks"]["speed"]["message"]
    assert data_of("syntax_error")["raised"]["column"] == 34


def test_the_document_for_an_assistant_ends_with_the_part_that_passes() -> None:
    wrong = replace(scenarios.curve_fail, parts=scenarios.parts(1, 40, 30, 30), message="so")
    told = replace(wrong, misconceptions=_TWO.misconceptions, printed="what part 2 prints")
    data = grade.assistant_document(told, GradeContext(asked_part=2))
    assert (data["verdict"], data["asked"], data["misconceptions"]) == ("pass", 2, [])
    assert [part["points"] for part in data["parts"]] == [40]  # type: ignore[attr-defined]
    assert "learning" not in str(data)
    assert "what part 2 prints" not in str(data)
    assert "learning" in str(grade.assistant_document(told))  # where part 2 is asked


@given(reports(st.floats()), st.integers(0, 3))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_report_has_a_document_for_an_assistant(report: Report, asked: int) -> None:
    data: dict[str, Any] = grade.assistant_document(report, GradeContext(asked_part=asked))
    assert json.loads(json.dumps(data, allow_nan=False))["bank"] == ""
    assert len({check["id"] for check in data["checks"] if "mismatch" in check}) <= 1
