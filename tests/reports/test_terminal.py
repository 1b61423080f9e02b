"""What a person sees: snapshots of every way a grade can end, and what must hold for all."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType

from grader.model.report import (
    CheckResult,
    Curve,
    Explanation,
    Frame,
    Mismatch,
    Named,
    Raised,
    Report,
)
from grader.model.verdict import Verdict
from grader.reports.terminal import render_report
from tests.reports import scenarios
from tests.reports.conftest import Golden, shown
from tests.reports.scenarios import SCENARIOS

REPEAT = "drill grade --seed 8121"


def page(report: Report, width: int) -> RenderableType:
    """The report with what the command adds to it."""
    passed = report.verdict is Verdict.PASS
    return render_report(
        report,
        width=width,
        repeat=REPEAT,
        footer=("drill solution to compare", "drill next")
        if passed
        else ("drill hint for a nudge",),
        heading_note="attempt 3",
        pass_note="21 minutes since start (25 planned)",
        filename="submission.py",
    )


def text_of(report: Report, width: int = 80) -> str:
    """The page as plain text."""
    return shown(page(report, width), width)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_page_at_80_columns_reads_as_it_did(name: str, golden: Golden) -> None:
    golden(name, text_of(SCENARIOS[name]))


@pytest.mark.parametrize(("name", "width"), [("maxpool_fail", 60), ("large_arrays", 120)])
def test_a_page_at_another_width_reads_as_it_did(name: str, width: int, golden: Golden) -> None:
    golden(f"{name}_{width}", text_of(SCENARIOS[name], width))


def test_colours_are_as_they_were(golden: Golden) -> None:
    golden("maxpool_fail_ansi", shown(page(scenarios.maxpool_fail, 80), 80, colour=True))


@pytest.mark.parametrize("width", [40, 60, 61, 72, 80, 100, 120, 200])
@pytest.mark.parametrize("name", SCENARIOS)
def test_no_line_is_longer_than_the_window_nor_ends_in_blanks(name: str, width: int) -> None:
    lines = text_of(SCENARIOS[name], width).splitlines()
    assert all(cell_len(line) <= width for line in lines)
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("words", range(5, 30))
def test_a_long_case_line_stays_in_the_window_on_its_further_lines_too(words: int) -> None:
    report = scenarios.maxpool_fail
    line = "of three " * words + "grad_y (1, 1, 1, 1), stride 3, kernel 3"
    checks = tuple(replace(c, case_line=line) if c.case_line else c for c in report.checks)
    lines = text_of(replace(report, checks=checks), 60).splitlines()
    assert " ".join(line.split()) in " ".join(" ".join(lines).split()), "nothing is cut off"
    first = next(i for i, text in enumerate(lines) if ", case " in text)
    assert lines[first + 1].startswith("    ")


@pytest.mark.parametrize("name", SCENARIOS)
def test_colour_adds_nothing_but_colour(name: str) -> None:
    coloured = shown(page(SCENARIOS[name], 80), 80, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == text_of(SCENARIOS[name])


@pytest.mark.parametrize("name", SCENARIOS)
def test_an_output_that_knows_only_ascii_can_be_written_to(name: str) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    Console(file=out, width=80, color_system=None, _environ={}).print(page(SCENARIOS[name], 80))
    out.flush()
    assert raw.getvalue().isascii()


@pytest.mark.parametrize("colour", [False, True])
def test_nothing_of_a_submission_acts_on_the_terminal(colour: bool) -> None:
    text = shown(page(scenarios.hostile, 80), 80, colour=colour)
    ours = re.sub(r"\x1b\[[0-9;]*m", "", text) if colour else text
    assert "\x1b" not in ours
    assert not set("\x07\x08\r\u202e\u2066") & set(ours)
    assert "[red]PASS[/red]" in ours
    assert ":smile:" in ours
    assert not any(line.lstrip().startswith("PASS") for line in ours.splitlines())


def test_only_what_is_beside_the_point_is_dim() -> None:
    coloured = shown(page(scenarios.large_arrays, 80), 80, colour=True)
    dim = re.findall(r"\x1b\[[0-9;]*\b2(?:;[0-9;]*)?m(.*?)\x1b\[0m", coloured)
    assert "... " in dim
    assert not any(re.search(r"\.\d\d\d", text) for text in dim)


def test_a_failure_fits_one_screen() -> None:
    assert len(text_of(scenarios.maxpool_fail).splitlines()) <= 24


def test_the_caret_stands_below_its_column() -> None:
    lines = text_of(scenarios.syntax_error, 120).splitlines()
    caret = next(n for n, line in enumerate(lines) if line.strip() == "^")
    column = lines[caret].index("^")
    assert lines[caret - 1][: column + 1].endswith("sliding_window_view(")


def test_the_caret_survives_wide_and_escaped_characters_and_long_lines() -> None:
    source = "\tprint('\u4e2d\u6587\x1b', " + "a, " * 60 + "b c)"
    raised = Raised("SyntaxError", "oops", (Frame(7, "", source),), column=source.index("b c") + 1)
    for width in (60, 80, 120, 200):
        lines = text_of(replace(scenarios.syntax_error, raised=raised), width).splitlines()
        caret = next(n for n, line in enumerate(lines) if line.strip() == "^")
        assert lines[caret - 1][lines[caret].index("^")] == "b"
    early = Raised("SyntaxError", "", (Frame(7, "", "x = '\u4e2d\x1b' ?"),), column=10)
    lines = text_of(replace(scenarios.syntax_error, raised=early)).splitlines()
    caret = next(n for n, line in enumerate(lines) if line.strip() == "^")
    above = lines[caret - 1]
    assert cell_len(above[: above.index("?")]) == lines[caret].index("^")


def test_a_recursion_is_folded_and_a_long_traceback_loses_its_middle() -> None:
    assert "the same line 994 times more" in text_of(scenarios.recursion)
    frames = tuple(Frame(n, f"f{n}", f"step({n})") for n in range(20))
    check = replace(scenarios.recursion.checks[0], raised=Raised("ValueError", "", frames))
    text = text_of(replace(scenarios.recursion, checks=(check,)))
    assert "... 14 more lines" in text
    assert "step(0)" in text
    assert "step(19)" in text
    assert "step(9)" not in text


def test_a_stretch_goal_that_was_missed_is_not_the_failure_shown() -> None:
    text = text_of(scenarios.maxpool_slow)
    assert "PASS" in text
    assert re.search(r"slow +speed", text)
    assert re.search(r"missed +tight", text)
    assert re.search(r"unclear +noise", text)
    stretch = replace(scenarios.maxpool_fail.checks[1], id="extra", stretch=True)
    failing = replace(scenarios.maxpool_fail, checks=(stretch, *scenarios.maxpool_fail.checks[1:]))
    assert "\nrouting, case" in text_of(failing)


def test_a_skipped_check_says_what_it_needs() -> None:
    assert re.search(r"skipped +gpus +needs breakdown", text_of(scenarios.adam_fail))


def test_facts_only_when_no_misconception_is_known() -> None:
    text = text_of(scenarios.no_idea)
    assert "This is" not in text
    assert "Your" not in text


def test_all_is_said_only_of_all_failing_cases() -> None:
    assert "in all 4 failing cases" in text_of(scenarios.maxpool_fail)
    fewer = replace(scenarios.maxpool_fail.misconceptions[0], cases=2)
    assert fewer.failing == 4
    text = text_of(replace(scenarios.maxpool_fail, misconceptions=(fewer,)))
    assert "Part of it is even-split, exactly, in 2 of 4 failing cases." in text


def test_what_is_known_of_all_stands_before_an_idea_that_explains_a_part() -> None:
    part = replace(scenarios.maxpool_fail.misconceptions[0], cases=2)
    rule = Explanation("rule", "grad_x is half of the right one.", ("overlap", "ties"))
    report = replace(scenarios.maxpool_fail, misconceptions=(part,), explanations=(rule,))
    text = text_of(report)
    assert text.index("grad_x is half of the right one.") < text.index("Part of it is")
    whole = replace(report, misconceptions=scenarios.maxpool_fail.misconceptions)
    text = text_of(whole)
    assert text.index("This is even-split") < text.index("grad_x is half of the right one.")


def test_what_a_check_says_is_not_said_again() -> None:
    said = Explanation("check", "y is a list.", ("overlap",))
    assert "y is a list" not in text_of(replace(scenarios.maxpool_fail, explanations=(said,)))


def test_independent_mistakes_are_not_called_indistinguishable() -> None:
    ideas = (
        Named("one", "First.", exact=True, results=("grad_x",), cases=4),
        Named("two", "Second.", exact=True, results=("grad_w",), cases=4),
    )
    text = text_of(replace(scenarios.maxpool_fail, misconceptions=ideas))
    assert "matches 2 known wrong ideas" in text
    assert "Part of it" not in text


def test_printed_output_is_shown_after_a_failure_and_not_after_a_pass() -> None:
    assert "your code printed (the last 6 of 40 lines)" in text_of(scenarios.softmax_row)
    noisy = replace(scenarios.maxpool_pass, printed="hello\n")
    assert "hello" not in text_of(noisy)


def test_a_mismatch_without_a_place_is_a_sentence_too() -> None:
    mismatch = Mismatch("y", "one-window", None, "a list", "a float64 array", None, 1, 1)
    check = replace(scenarios.maxpool_fail.checks[1], mismatch=mismatch, exhibit=None)
    text = text_of(replace(scenarios.maxpool_fail, checks=(check,)))
    assert "    y is a list, expected a float64 array\n" in text


def test_a_fault_of_the_bank_or_of_the_grader_is_not_blamed_on_the_person() -> None:
    assert "the question is at fault, not your code" in " ".join(
        text_of(scenarios.bank_at_fault).split()
    )
    ours = replace(scenarios.bank_at_fault, verdict=Verdict.INTERNAL)
    assert "the grader is at fault, not your code" in " ".join(text_of(ours).split())


def test_the_command_that_repeats_the_numbers_is_given_after_a_failure_only() -> None:
    assert f"{REPEAT} repeats these numbers" in text_of(scenarios.maxpool_fail)
    assert REPEAT not in text_of(scenarios.maxpool_pass)


def test_a_traceback_without_a_file_name_says_line() -> None:
    text = shown(render_report(scenarios.conv_raises, width=80, repeat="drill grade"), 80)
    assert "    line 14  y[:, :, t] =" in text


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_has_a_page_even_with_nothing_to_say(verdict: Verdict) -> None:
    check = CheckResult("only", "outputs", verdict, "")
    bare = Report("id", "Title", verdict, 1, "process", 0.0)
    for report in (bare, replace(bare, checks=(check,)), replace(bare, message="Why.")):
        assert text_of(report).startswith("id  Title")


def test_curves_of_any_kind_are_drawn() -> None:
    base = scenarios.curve_fail.checks[1]
    nan, inf = float("nan"), float("inf")
    for yours, expected in (
        ((), ()),
        ((1.0,), (1.0,)),
        ((0.0, 0.0), (0.0, 0.0)),
        ((-1.0, 2.0), (3.0, -4.0)),
        ((nan, inf), (-inf, nan)),
        ((1e-300, 1e300), (0.0, 1.0)),
        ((-1e308, 1e308), (0.0, 5e-324)),
        ((-5e-324, 5e-324), ()),
        (tuple(float(n) for n in range(1000)), (1.0,) * 3),
    ):
        check = replace(base, exhibit=Curve(yours, expected))
        assert "yours" in text_of(replace(scenarios.curve_fail, checks=(check,)))


def test_a_curve_that_breaks_says_where() -> None:
    text = text_of(scenarios.curve_nan)
    assert "yours is NaN from step 14" in text
    assert "??" in text


@pytest.mark.parametrize("level", ["limited", "process"])
def test_a_weak_isolation_is_said_on_every_page(level: str) -> None:
    for name in ("maxpool_pass", "maxpool_fail", "syntax_error"):
        weak = replace(SCENARIOS[name], isolation=level)
        said = " ".join(text_of(weak).split())
        assert f"isolation {level}: on this machine a submission is not walled off" in said
        assert "isolation" not in text_of(SCENARIOS[name])
