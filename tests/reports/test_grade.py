"""What a person sees: snapshots of every shape of a page, and what must hold for all of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.model.report import (
    CheckResult,
    Curve,
    Explanation,
    Frame,
    Mismatch,
    Raised,
    Report,
    Verdict,
)
from grader.reports import grade, sheet
from grader.reports.blocks import render_html, render_markdown, render_terminal, render_text
from grader.reports.grade import Around
from grader.reports.sheet import Line, cells
from tests.pages import text
from tests.reports import scenarios
from tests.reports.conftest import Golden, shown
from tests.reports.scenarios import SCENARIOS, around
from tests.reports.strategies import TEXTS, reports

HERE = Path(__file__).parent / "golden"
ROWS = 22  # of a page
STYLES = {"\x1b[7m", "\x1b[1m", "\x1b[31m", "\x1b[0m"}


def lines(report: Report, here: Around, width: int) -> tuple[Line, ...]:
    return render_terminal(grade.page(report, here), width, rows=here.rows)


def page(
    name: str, width: int = 80, *, color: bool = False, aloud: bool = False, **more: Any
) -> str:
    """The page of a scenario as text."""
    here = replace(around(name), **more)
    if aloud:
        return render_text(grade.page(SCENARIOS[name], here), aloud=True)
    return shown(lines(SCENARIOS[name], here, width), color=color)


def text_of(report: Report, width: int = 80, **more: Any) -> str:
    """The page of a report with a command to go on with."""
    here = replace(Around(steps=("drill hint",)), **more)
    return shown(lines(report, here, width))


def words_of(report: Report, **more: Any) -> str:
    """The same on one line."""
    return " ".join(text_of(report, **more).split())


def test_pages_read_as_they_did(golden: Golden) -> None:
    golden("pages", "\n".join(f"{name}\n\n{page(name)}" for name in SCENARIOS), HERE)


def test_pages_in_another_manner_read_as_they_did(golden: Golden) -> None:
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
    golden("other_pages", "\n".join(f"{name}\n\n{text}" for name, text in found.items()), HERE)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_page_fits_the_window_and_a_screen_of_24_lines(name: str, width: int) -> None:
    lines = page(name, width).splitlines()
    # What has no blank to be broken at is left to the terminal.
    assert all(cells(line) <= width or "AAAA" in line for line in lines)
    assert all(line == line.rstrip() for line in lines)
    assert len(lines) <= ROWS


@pytest.mark.parametrize("words", [10, 2000])
@pytest.mark.parametrize("name", SCENARIOS)
def test_however_much_there_is_to_say_a_page_fits_and_counts_what_is_left_out(
    name: str, words: int
) -> None:
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
    found = shown(lines(report, here, 80)).splitlines()
    assert len(found) <= ROWS
    assert found[-1] == "Next: " + "   ".join(here.steps)
    if words == 2000 and report.misconceptions and not report.unchanged:
        assert any(line.startswith("drill grade --full") for line in found)


def test_a_command_is_never_broken() -> None:
    long = "drill grade /a/very/long/folder/" + "name-" * 30 + "/submission.py --explain"
    lines = text_of(scenarios.starter, steps=("drill hint", long)).splitlines()
    assert lines[-2:] == ["Next: drill hint", f"      {long}"]
    path = "/a/" + "long/" * 30 + "submission.py"
    assert text_of(scenarios.starter, file=path).splitlines()[0] == f"FAIL  {path}"


@pytest.mark.parametrize("name", SCENARIOS)
def test_styles_add_nothing_but_styles_and_only_those_of_the_list(name: str) -> None:
    colored = page(name, color=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == page(name)
    assert set(re.findall(r"\x1b\[[^m]*m", colored)) <= STYLES


@pytest.mark.parametrize("more", [{}, {"aloud": True}, {"full": True}])
def test_nothing_of_a_submission_acts_on_the_terminal(more: dict[str, bool]) -> None:
    text = page("hostile", **more)
    assert not set("\x1b\x07\x08\r\u202e\u2066") & set(text)
    assert "[red]PASS[/red]" in text
    assert not any(line.lstrip().startswith("PASS") for line in text.splitlines())


@pytest.mark.parametrize("more", [{}, {"aloud": True}, {"full": True}, {"explain": True}])
def test_of_an_estimate_the_right_numbers_are_kept_back(more: dict[str, bool]) -> None:
    text = page("estimate", **more)
    assert "14.0 GB" in text
    assert not any(word in text for word in scenarios.KEPT_BACK)


def test_of_the_starter_only_a_symptom_is_shown_unless_it_is_asked_for() -> None:
    for more in ({}, {"aloud": True}):
        text = page("starter", **more)
        assert "This is the starter, unchanged" in text
        assert not any(word in text for word in ("even-split", "expected", "0.111", "winner at"))
    assert "even-split" in page("starter", explain=True)
    assert "even-split" in page("starter", full=True)


def test_an_exact_idea_of_some_cases_does_not_claim_the_others() -> None:
    few = replace(scenarios.maxpool_fail.misconceptions[0], cases=2)
    text = words_of(replace(scenarios.maxpool_fail, misconceptions=(few,)))
    assert "exactly your numbers in 2 of the 3 failing cases; something else is wrong" in text


def test_an_idea_that_fits_a_part_is_said_to_be_unsure_with_a_case_that_it_does_not_fit() -> None:
    text = words_of(scenarios.unsure)
    assert "Unsure: last-tie-wins gives your grad_x in 2 of 4 failing cases, not what is" in text
    assert "wrong in case shared-winner" in text


def test_an_idea_of_other_cases_than_the_one_above_it_names_them() -> None:
    about = "This is about shared-winner and overlapping, not about tied above."
    two = scenarios.two_ideas
    for exact in (True, False):
        assign = replace(two.misconceptions[1], exact=exact)
        named = replace(two, misconceptions=(assign,), explanations=())
        assert about in words_of(named)
    rule = Explanation("rule", "grad_x is half in 2 of 4 failing cases.", ("shared-winner", "x"))
    ruled = replace(two, misconceptions=(), explanations=(rule,))
    assert "failing cases. This is about shared-winner and x, not about tied above." in words_of(
        ruled
    )
    assert "This is about" not in words_of(scenarios.two_ideas)
    of_first = replace(two, misconceptions=two.misconceptions[:1], explanations=())
    assert "This is about" not in words_of(of_first)
    many = replace(rule, cases=("a", "b", "c", "d"))
    ruled = replace(ruled, explanations=(many,))
    assert "This is about a, b and 2 more, not about tied above." in words_of(ruled)


def test_a_stretch_goal_that_was_missed_is_not_the_failure_shown() -> None:
    stretch = replace(scenarios.maxpool_fail.checks[1], id="extra", stretch=True)
    checks = (stretch, *scenarios.maxpool_fail.checks[1:])
    text = text_of(replace(scenarios.maxpool_fail, checks=checks))
    assert "\nrouting: " in text
    assert "extra" not in text
    assert "speed: slow, 34x the reference" in page("maxpool_slow")


def test_a_call_with_short_arguments_stands_for_its_inputs() -> None:
    text = words_of(scenarios.called)
    assert "zero: zero_bytes_per_gpu(1, 1, 5) returned 9.600, expected 6.400" in text
    assert "n_params" not in text


def test_the_caret_stands_below_its_column() -> None:
    source = "\tprint('\u4e2d\u6587\x1b', " + "a, " * 60 + "b c)"
    raised = Raised("SyntaxError", "oops", (Frame(7, "", source),), column=source.index("b c") + 1)
    for width in (60, 80, 120):
        lines = text_of(replace(scenarios.syntax_error, raised=raised), width).splitlines()
        caret = next(n for n, line in enumerate(lines) if line.strip() == "^")
        assert lines[caret - 1][lines[caret].index("^")] == "b"
    early = Raised("SyntaxError", "", (Frame(7, "", "x = '\u4e2d\x1b' ?"),), column=10)
    lines = text_of(replace(scenarios.syntax_error, raised=early)).splitlines()
    caret = next(n for n, line in enumerate(lines) if line.strip() == "^")
    above = lines[caret - 1]
    assert cells(above[: above.index("?")]) == lines[caret].index("^")


def test_a_recursion_is_folded_and_a_long_traceback_loses_its_beginning() -> None:
    assert "the same line 994 times more" in page("recursion")
    frames = tuple(Frame(n, f"f{n}", f"step({n})") for n in range(20))
    check = replace(scenarios.recursion.checks[0], raised=Raised("ValueError", "", frames))
    text = text_of(replace(scenarios.recursion, checks=(check,)))
    assert "... 14 more lines" in text
    assert ("step(0)" in text, "step(19)" in text, "step(14)" in text) == (False, True, True)


def test_a_mismatch_without_a_place_is_a_sentence_too() -> None:
    mismatch = Mismatch("y", "one-window", None, "a list", "a float64 array", None, 1, 1)
    check = replace(scenarios.maxpool_fail.checks[1], mismatch=mismatch, exhibit=None)
    text = text_of(replace(scenarios.maxpool_fail, checks=(check,)))
    assert "    y is a list, expected a float64 array\n" in text


@pytest.mark.parametrize("verdict", [Verdict.INVALID, Verdict.INTERNAL])
def test_a_fault_of_the_bank_or_of_the_grader_is_not_blamed_on_the_person(verdict: Verdict) -> None:
    text = words_of(replace(scenarios.bank_at_fault, verdict=verdict))
    assert "is at fault, not your code" in text


def every_bare_report() -> Iterator[Report]:
    """Reports with next to nothing in them."""
    for verdict in Verdict:
        bare = Report("id", "Title", verdict, 1, "process", 0.0)
        check = CheckResult("only", "outputs", verdict, "")
        yield from (bare, replace(bare, checks=(check,)), replace(bare, message="Why."))


def test_every_verdict_has_a_page_even_with_nothing_to_say() -> None:
    for report in every_bare_report():
        first = text_of(report).splitlines()[0]
        assert first.split() == [report.verdict.upper(), "submission.py", "id", "seed", "1"]


def test_curves_of_any_kind_are_shown() -> None:
    base = scenarios.curve_fail.checks[1]
    nan, inf = float("nan"), float("inf")
    for yours, expected in (
        ((1.0,), (1.0,)),
        ((0.0, 0.0), (0.0, 0.0)),
        ((-1.0, 2.0), (3.0, -4.0)),
        ((nan, inf), (-inf, nan)),
        ((1e-300, 1e300), (0.0, 1.0)),
        ((-5e-324, 5e-324), ()),
        (tuple(float(n) for n in range(1000)), (1.0,) * 3),
    ):
        check = replace(base, exhibit=Curve(yours, expected))
        text = text_of(replace(scenarios.curve_fail, checks=(check,)))
        assert re.search(r"^    yours  ", text, re.MULTILINE)
        assert "falls by" not in text
    assert "Yours is NaN from step 14 on." in page("curve_nan")


@pytest.mark.parametrize("level", ["limited", "process"])
def test_a_weak_isolation_is_said_on_every_page(level: str) -> None:
    for name in ("maxpool_pass", "maxpool_fail", "syntax_error"):
        weak = replace(SCENARIOS[name], isolation=level)
        assert f"Isolation is only {level} on this machine: drill doctor" in text_of(weak)
        assert "Isolation" not in text_of(SCENARIOS[name])


ACTING = {"Cc", "Cf", "Cs"}


@given(reports(st.floats()), st.integers(60, 200), TEXTS)
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_report_has_a_page(report: Report, width: int, note: str) -> None:
    here = Around(note, 3, note, steps=("drill hint",))
    shown = lines(report, here, width)
    assert sum(max(1, -(-sheet.cells(sheet.plain(line)) // width)) for line in shown) <= ROWS
    blocks = grade.page(report, here)
    for said in (
        text(shown), render_text(blocks), render_html(blocks), render_markdown(blocks),
    ):  # fmt: skip
        assert not any(unicodedata.category(c) in ACTING for c in said if c != "\n")
