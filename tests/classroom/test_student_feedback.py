"""Feedback to students: its contents, and everything that it must leave out."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from grader.bank import load_question
from grader.classroom.export import gradescope_result
from grader.classroom.results import ClassResults
from grader.classroom.student_feedback import (
    HIDDEN_CHECK_NOTICE,
    NOT_GRADED_NOTICE,
    feedback,
    student_file_stem,
    student_view,
    to_html,
    write_feedback,
)
from grader.commands import app
from grader.explain.session import GradingSession
from grader.model.classroom import LatePolicy
from grader.model.question import Question
from grader.model.report import (
    NON_FAILING_VERDICTS,
    CheckResult,
    Clause,
    Entries,
    ExceptionRecord,
    Explanation,
    Frame,
    Grids,
    IdeaMatch,
    Mismatch,
    Panel,
    Report,
    Verdict,
)
from grader.reports import html_charts
from grader.reports.blocks import Heading, render_markdown, render_text
from tests.bank.test_validation_errors import IN_PARTS
from tests.classroom.builders import (
    FAIL,
    HOSTILE,
    MEAN,
    PRODUCT,
    Page,
    class_entry,
    hostile,
    report,
    rule,
    tree,
    write_results,
)
from tests.classroom.builders import TERMS as CLASS

TERMS = replace(CLASS, questions=(MEAN,), deadline="")
SECRET = "zqx"
RIGHT = CheckResult("forward", "outputs", Verdict.PASS, "2 cases", ("few", "many"))


def failing_check(id_: str, case: str, mark: str = "", *other_cases: str) -> CheckResult:
    """Return a failing check, with `mark` in each of its texts."""
    cases = (case, *other_cases)
    panel = Panel(f"{mark}x", ((f"{mark}1", "2"),), note=f"{mark}plane")
    panels = (panel, replace(panel, title="y, yours"), replace(panel, title="y, expected"))
    count = f"{len(cases)} of {len(cases) + 1} cases"
    frames = (Frame(3, f"{mark}g", f"{mark}source"),)
    return CheckResult(
        id_, "outputs", FAIL, f"{mark}y differs in {count}; the smallest is {case}",
        ("few", *cases), cases, case_line=f"{mark}line", about=f"{mark}about",
        inputs={f"{mark}n": f"{mark}3"}, call=f"f({mark}7)",
        exhibit=Grids(panels, Entries((1, 2), (1.25, 2.25), (3.25, 2.25), (0,))),
        mismatch=Mismatch(f"{mark}y", case, (0,), f"{mark}4.5", f"{mark}5.5", f"{mark}+-1", 1, 3),
        raised=ExceptionRecord(f"{mark}Error", f"{mark}said", frames, mark, mark) if mark else None,
        figures={f"{mark}f": 3.25}, clauses=(Clause(1, "y is the mean."),),
    )  # fmt: skip


def failing_report(*checks: CheckResult, **changes: object) -> Report:
    return report(FAIL, checks=checks, **changes)


def idea(id_: str, feedback: str, *seen: str, checks: tuple[str, ...] = ()) -> IdeaMatch:
    """Return an idea that gives the numbers of some cases."""
    return IdeaMatch(id_, feedback, True, ("y",), len(seen), 9, seen, checks)


def feedback_text(report: Report | None, hidden: tuple[str, ...] = (), **changes: object) -> str:
    """Return the text of both files, which must be the same, and of their pictures."""
    question = replace(MEAN, hidden=hidden)
    terms = replace(TERMS, questions=(question,))
    entries = [replace(class_entry("ada", report, question=question), **changes)]  # type: ignore[arg-type]
    with mock.patch.object(html_charts, "heat_maps", lambda _grids, _said, rest: rest):
        blocks = feedback(terms, entries)
    markdown, html = render_markdown(blocks), Page.of(to_html(blocks)).text
    rendered = Page.of(MarkdownIt().render(markdown)).text

    def words_of(text: str) -> list[str]:
        return re.sub(r"[()]", " ", text).split()

    assert isinstance(blocks[0], Heading)
    title = words_of(blocks[0].title)
    assert [*title, *words_of(rendered)] == words_of(html)
    drawn = to_html(feedback(terms, entries))
    labels = re.findall('aria-label="([^"]*)"', drawn)
    return " ".join([*html.split(), *Page.of(drawn).text.split(), *labels])


def test_feedback_on_a_pass_shows_the_points() -> None:
    text = feedback_text(report())
    for part in (
        "Total: 10 of 10 points", "A mean mean Passes: 10 of 10 points", "Right: values.",
        "Part 1 passes: 6 of 6 points Part 2 passes: 4 of 4 points",
    ):  # fmt: skip
        assert part in text


def test_feedback_on_a_fail_shows_the_smallest_case_and_the_idea() -> None:
    match = idea("adds-it", "You add. Use `x * y`:\n\n    x * y\n", "tied", "more")
    failing = failing_report(
        RIGHT, failing_check("backward", "tied", "", "more"), misconceptions=(match,),
        explanations=(rule("y is twice the right one.", "tied", "more"),),
    )  # fmt: skip
    text = feedback_text(failing)
    for part in (
        "Does not pass: 0 of 10 points", "Part 1 does not pass: 0 of 6 points",
        "Part 2 not asked yet: 0 of 4 points", "contract, 1: y is the mean.",
        "backward: y differs in 2 of 3 cases. The smallest is tied: about",
        "y[0] is 4.5, expected 5.5 (allowed +-1)", "Idea: adds-it. It gives exactly your numbers",
        "You add. Use x * y: x * y", "Rule: y is twice the right one.", "Right: forward.",
    ):  # fmt: skip
        assert part in text
    starter = feedback_text(replace(failing, unchanged=True))
    assert "This is still the starter's code" in starter
    assert "adds-it" not in starter
    assert "expected 5.5" not in starter


def test_feedback_hides_the_details_of_an_error_of_the_grader() -> None:
    for fault in ("the disk of host-17 is full", ""):
        text = feedback_text(None, fault=fault)
        assert NOT_GRADED_NOTICE in text
        assert "Total: 0 of 10 points so far: 1 question not graded yet" in text
        assert "disk" not in text


def test_a_missing_file_or_a_file_without_a_program_earns_nothing() -> None:
    second = replace(MEAN, id="spread", title="A spread", weight=0.5, of=30)
    third = replace(MEAN, id="far", title="Far", weight=0.1, of=1)
    terms = replace(TERMS, questions=(MEAN, second, third))
    link = class_entry("ada", question=second, no_answer="Too many levels of symbolic links")
    text = render_markdown(feedback(terms, [class_entry("ada", report()), link]))
    assert "**Total:** 10 of 25.1 points" in text
    assert "**No answer:** 0 of 30 points, which count 0.5 times" in text
    assert "There is no answer in ada/spread.py: Too many levels of symbolic links." in text
    assert "**Nothing handed in:** 0 of 1 point, which count 0.1 times" in text


def test_lateness_is_shown_in_the_time_zone_of_the_deadline() -> None:
    terms = replace(TERMS, deadline="2026-11-20T22:30:00+01:00")
    late = class_entry("ada", report(), at="2026-11-20T22:00:00+00:00", late=True)
    text = to_html(feedback(terms, [late]))
    assert "10 of 10 points" in text
    assert (
        "handed in 2026-11-20 23:00:00+01:00, the deadline was 2026-11-20 22:30:00+01:00." in text
    )
    assert "Late" not in to_html(feedback(terms, [replace(late, late=False)]))
    extended = replace(terms, late=LatePolicy(10, 3, {"ada": 2}))
    after = replace(late, hand_in=replace(late.hand_in, at="2026-11-22T22:59:01+00:00"))
    assert "the deadline was 2026-11-22 22:30:00+01:00." in to_html(feedback(extended, [after]))
    marked = replace(late, hand_in=replace(late.hand_in, at="", late=True))
    assert "as the learning platform says." in to_html(feedback(terms, [marked]))


def test_feedback_names_unread_lines() -> None:
    lost = report(FAIL, unread=("line 3 could not be read: gb is no unit here",))
    assert "**Left out:** line 3 could not be read: gb is no unit here." in render_markdown(
        feedback(TERMS, [class_entry("ada", lost)])
    )
    entry = class_entry("ada", lost)
    assert entry.note == "line 3 could not be read: gb is no unit here"
    assert gradescope_result([entry.question], {"mean": entry})["output"] == f"mean: {entry.note}."


def test_the_right_figure_of_an_estimate_is_not_shown() -> None:
    worst = Mismatch("total", "seven", None, "the number 1,024", "the number 16,777", "+-16", 1, 1)
    check = CheckResult(
        "ledger", "outputs", FAIL, "total is 1,024, expected 16,777", ("seven",), ("seven",),
        call="total(7)", estimate=True, figures={"right": 16777.0}, mismatch=worst,
    )  # fmt: skip
    text = feedback_text(
        failing_report(check, explanations=(rule("total is 16,777 over 16.4.", "seven"),))
    )
    assert "total(7) returned 1,024, which is wrong" in text
    assert not re.search(r"16,777|16\.4|\+-16", text)


# -- what is hidden ------------------------------------------------------------------------------

HIDDEN_CHECK = failing_check(f"{SECRET}-check", f"{SECRET}-case", SECRET)
OPEN = failing_check("backward", "tied")
ON_HIDDEN = replace(  # and passes there
    OPEN, cases=("few", "tied", f"{SECRET}-case"),
    message="y differs in 2 of 9 cases; the smallest is tied",
)  # fmt: skip
FAILS_THERE_TOO = replace(ON_HIDDEN, failing=("tied", f"{SECRET}-case"))
# What is shown of it was found on the hidden case.
FIRST = failing_check("backward", f"{SECRET}-case", SECRET, "tied")
FAILS_THERE_FIRST = replace(FIRST, verdict=Verdict.ERROR)
FAILS_THERE_ALONE = failing_check("backward", f"{SECRET}-case", SECRET)
PASSES_THERE = CheckResult(
    "backward", "flops", Verdict.PASS, f"{SECRET} operations in {SECRET}-case",
    ("few", f"{SECRET}-case"), exhibit=HIDDEN_CHECK.exhibit, figures={SECRET: 3.0},
)  # fmt: skip
BLOCKED = CheckResult(
    "blocked", "outputs", Verdict.SKIPPED, f"needs {SECRET}-check", blocked_by=f"{SECRET}-check"
)
BOTH = (f"{SECRET}-check", f"{SECRET}-case")
KNOWN = {
    "misconceptions": (
        idea(f"{SECRET}-idea", f"{SECRET} it.", f"{SECRET}-case", checks=(f"{SECRET}-check",)),
        idea(f"{SECRET}-mixed", f"{SECRET} it.", "tied", checks=(f"{SECRET}-check",)),
        idea("open-cases", f"Look at {SECRET}-case.", "tied", checks=("backward",)),
        idea("unseen", f"{SECRET} it.", checks=(f"{SECRET}-check",)),
    ),
    "explanations": (
        rule(f"{SECRET} is twice.", f"{SECRET}-case", "tied"),
        Explanation("pair", SECRET, ("tied",)),
        rule("y is off by one in 9 failing cases.", "tied"),
    ),
    "printed": f"{SECRET} [1, 2]",
    "note": f"{SECRET}-check took all the time",
}


@pytest.mark.parametrize(
    "checks",
    [
        (HIDDEN_CHECK,),
        (HIDDEN_CHECK, RIGHT, BLOCKED),
        (RIGHT, OPEN, HIDDEN_CHECK),
        (ON_HIDDEN, HIDDEN_CHECK),
        (FAILS_THERE_TOO, HIDDEN_CHECK),
        (FAILS_THERE_FIRST,),
        (FAILS_THERE_FIRST, HIDDEN_CHECK, BLOCKED),
        (FAILS_THERE_ALONE,),
        (PASSES_THERE, HIDDEN_CHECK),
        (PASSES_THERE, replace(HIDDEN_CHECK, verdict=Verdict.LIMIT)),
    ],
)
@pytest.mark.parametrize("explained", [{}, KNOWN], ids=["", "known"])
def test_hidden_checks_and_cases_are_never_mentioned(
    checks: tuple[CheckResult, ...], explained: dict[str, Any]
) -> None:
    failing = failing_report(*checks, **explained)
    assert SECRET in feedback_text(failing)  # else nothing is shown here
    text = feedback_text(failing, hidden=BOTH)
    assert SECRET not in text.lower()
    assert "3.25" not in text
    assert not re.search(r"\b9 (failing )?cases", text)  # a count over hidden ones
    assert (HIDDEN_CHECK_NOTICE[:-1] in text) == (HIDDEN_CHECK.id in [check.id for check in checks])
    assert "LIMIT" not in text.upper()
    if FAILS_THERE_ALONE in checks:
        assert "backward: it does not pass on a hidden case." in text
    if FAILS_THERE_FIRST in checks:
        assert "backward: it does not pass in case tied." in text
    if ON_HIDDEN in checks or FAILS_THERE_TOO in checks:
        assert "backward: y is wrong in case tied: about" in text
        assert "4.5" not in text  # the program's own number
    assert "No listed idea" not in text or not explained


def test_the_cases_of_a_hidden_check_alone_are_hidden_as_well() -> None:
    assert SECRET not in feedback_text(failing_report(HIDDEN_CHECK, OPEN, **KNOWN), hidden=BOTH[:1])


def test_ideas_that_rest_on_open_cases_are_shown() -> None:
    match = idea("adds-it", "You add.", "tied", f"{SECRET}-case", checks=("backward",))
    twice = rule("y is twice the right one.", "tied")
    failing = failing_report(
        FAILS_THERE_TOO, HIDDEN_CHECK, misconceptions=(match,), explanations=(twice,)
    )
    text = feedback_text(failing, hidden=BOTH)
    assert "Idea: adds-it. It gives exactly your numbers in the failing case. You add." in text
    assert "twice" not in text  # what explains may be a program's word
    assert SECRET not in text


FIXED_ENTRIES = {  # so that no drawn number looks like one that is searched for
    "few: {x: [1.0, 2.0, 6.0]}": "few: {x: [731.0, 732.0, 739.0]}",
    "many: {x: {normal: [7]}}": "many: {x: [0.25, 0.5, 1.5, 4.0]}",
    "far: {x: {normal: [5], shift: 1.0e+8}}": "far: {x: [100000054.0, 100000056.0, 100000065.0]}",
}


@pytest.fixture
def fixed_question(tmp_path: Path) -> Question:
    """Return the question of three parts, with fixed entries in place of drawn ones."""
    text = IN_PARTS
    for drawn, fixed in FIXED_ENTRIES.items():
        assert text.count(drawn) == 1
        text = text.replace(drawn, fixed)
    bank = tree(tmp_path, {"questions/mean-and-spread.yaml": text})
    return load_question([bank], "mean-and-spread")


KEEPS = b"""

SEEN = []
_spread = spread


def spread(x):
    SEEN.append(x.tolist())
    if len(SEEN) > 1:
        %s
    return _spread(x)
"""


@pytest.mark.usefixtures("one_zygote")
@pytest.mark.parametrize(
    "tells",
    [
        "return SEEN[0][-1]",
        "return repr(SEEN)",
        "return {repr(SEEN): 1.0}",
        "raise ValueError(repr(SEEN))",
        "raise type(repr(SEEN[0][-1]), (Exception,), {})",
        "exec(compile(f'def f():\\n    raise ValueError\\nf()', repr(SEEN), 'exec'))",
        "exec(compile('\\n' * int(100 * abs(SEEN[0][-1])) + '1 / 0', __file__, 'exec'))",
        "raise SyntaxError('no', (__file__, 3, 1, repr(SEEN)))",
        "import sys; sys.exit(repr(SEEN))",
    ],
)
def test_a_program_cannot_tell_the_inputs_of_a_hidden_case_that_it_keeps(
    fixed_question: Question, tells: str
) -> None:
    source = fixed_question.reference + KEEPS % tells.encode()
    with GradingSession(fixed_question) as session:
        graded = session.grade(source, seed=7)
    hidden = ("few",)  # the first that runs, so that all others could tell of it
    kept = re.compile(r"73[129]|\[\[|line \d")
    failing = [
        c
        for c in student_view(graded, hidden).report.checks
        if c.verdict not in NON_FAILING_VERDICTS
    ]
    assert failing
    for check in failing:
        assert (check.raised, check.mismatch, check.call, check.figures) == (None, None, "", {})
    is_told = not tells.startswith("return {")  # the keys of a dict are on no page
    assert bool(kept.search(feedback_text(graded))) == is_told
    assert not kept.search(feedback_text(graded, hidden=hidden))
    question = replace(MEAN, hidden=hidden, parts=(1, 2, 3))
    content = gradescope_result([question], {"mean": class_entry("ada", graded, question=question)})
    assert not kept.search(json.dumps(content["tests"]))


def test_only_the_type_of_a_builtin_exception_is_shown() -> None:
    names = {"ValueError": "ValueError", "[0.5, 7.25]": "an exception"}
    for name, expected in names.items():
        raised = ExceptionRecord(name, "0.5", (Frame(725, "0.5", "0.5"),), "y = f(x)", "x (0, 5)")
        check = replace(OPEN, verdict=Verdict.ERROR, message=f"{name} 0.5", mismatch=None,
                        exhibit=None, raised=raised)  # fmt: skip
        failing = failing_report(
            check, explanations=(rule("y is 7.25 times the right one.", "tied"),)
        )
        text = feedback_text(failing, hidden=("nothing-else",))
        assert f"backward: your code raised {expected} in case tied: about" in text
        assert "contract, 1: y is the mean." in text
        assert not re.search(r"0\.5|725|7\.25", text)
        assert "0.5" in feedback_text(failing)


def test_measurements_are_left_out_if_anything_is_hidden() -> None:
    measured = replace(RIGHT, kind="flops", message="31,415 operations")
    passing = report(checks=(RIGHT, measured))
    assert "31,415" in feedback_text(passing)
    assert "31,415" not in feedback_text(passing, hidden=("nothing-else",))


def test_inputs_and_expected_results_of_an_open_case_are_shown() -> None:
    x, y = Panel("x", (("1", "2"),)), Panel("y, expected", (("7.7125",),))
    yours = Panel("y, yours", (("8.8125",),), frozenset({(0, 0)}), frozenset({(0, 0)}))
    check = replace(OPEN, exhibit=Grids((x, yours, y)))
    text = feedback_text(failing_report(check), hidden=("nothing-else",))
    assert "y is wrong in case tied" in text
    assert "7.7125" in text
    assert "8.8125" not in text


def test_feedback_on_a_pass_mentions_nothing_hidden() -> None:
    checks = (RIGHT, PASSES_THERE, replace(PASSES_THERE, id=f"{SECRET}-check"))
    text = feedback_text(report(checks=checks, follow_up=f"And {SECRET}-case?"), hidden=BOTH)
    assert SECRET not in text
    assert "Right: forward and backward." in text
    assert HIDDEN_CHECK_NOTICE not in text


def texts(*parts: object) -> set[str]:
    """Return every text and number in parts of a report."""
    return {text for _, text in re.findall(r"""(["'])(.+?)\1""", repr(parts))}


@pytest.mark.usefixtures("one_zygote")
def test_feedback_on_a_real_grade_mentions_nothing_hidden(fixed_question: Question) -> None:
    source = fixed_question.reference + b"\n\n" + fixed_question.variants["cancels"][0]
    with GradingSession(fixed_question) as session:
        graded = session.grade(source, seed=7)
    far = graded.checks[-1]
    assert (far.id, far.verdict) == ("far", Verdict.FAIL)
    speaking = texts(far, graded.explanations, graded.misconceptions)
    speaking |= {word for text in texts(far.exhibit) for word in text.split()}
    speaking -= texts(graded.checks[:-1]) | {"outputs", "fail", "s"}
    assert len(speaking) > 8
    assert "cancels" in feedback_text(graded)
    hidden_text = feedback_text(graded, hidden=("far",))
    assert f"{HIDDEN_CHECK_NOTICE.removesuffix('.')} in part 3." in hidden_text
    assert [
        text for text in speaking if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", hidden_text)
    ] == []
    assert "Right: mean, nothing, alone and spread." in hidden_text


# -- what is hostile -----------------------------------------------------------------------------

TAGS = {*Page.of(to_html(feedback(TERMS, [class_entry("ada", report())]))).tags} | {"pre", "code"}


def acting(markdown: str) -> list[str]:
    """Return the markup of a document that is not a heading, paragraph, list, code or bold."""
    fine = {
        "heading", "paragraph", "inline", "text", "strong", "fence", "code_inline", "bullet_list",
        "list_item", "softbreak",
    }  # fmt: skip
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    kinds = []
    for token in reader.parse(markdown):
        for part in (token, *(token.children or ())):
            kind = part.type.removesuffix("_open").removesuffix("_close")
            kinds += [] if kind in fine else [kind]
    return kinds


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_a_student_are_only_text(text: str) -> None:
    blocks = feedback(TERMS, [hostile(text)])
    markdown, html = render_markdown(blocks), to_html(blocks)
    page = Page.of(html)
    assert {*page.tags} <= TAGS
    assert {name for _, name, _ in page.attributes} <= {
        "lang", "charset", "name", "content", "class", "http-equiv",
    }  # fmt: skip
    assert html.count("<h1>") == 1
    assert html.count("<h2>") == 1
    assert acting(markdown) == []
    headings = [
        document.tag for document in MarkdownIt().parse(markdown) if document.type == "heading_open"
    ]
    assert headings == ["h1", "h2"]
    for document in (markdown, html):
        assert all(c in "\n\xa0" or c.isprintable() for c in document)
        assert PRODUCT not in document
    # What makes links of bare addresses finds none outside of code.
    outside = re.sub(r"(?ms)^(`{3,})text$.*?^\1$|`[^`\n]+`", "", markdown)
    assert not re.search(r"://|www\.|\w@\w", outside)


# -- files ---------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
@example("ada", "Ada")
@example("", ".")
@example("../ada", "..-ada")
@example("con", "CON")
@example("\ud800", "\ud801")
@example("a" * 70, "a" * 71)
def test_names_of_files_are_safe_and_unique(student: str, other: str) -> None:
    stems = (student_file_stem(student), student_file_stem(other))
    for stem in stems:
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", stem)
        assert not re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", stem)
        assert not stem.endswith(".")
    assert (stems[0].casefold() == stems[1].casefold()) == (student == other)


def test_no_name_of_a_student_equals_the_safe_name_of_another() -> None:
    taken = student_file_stem("Ada Lovelace")
    assert taken.startswith("Ada-Lovelace-")
    assert student_file_stem(taken) != taken
    assert student_file_stem(taken.lower()) != taken.lower()
    assert student_file_stem("ada.lovelace_2") == "ada.lovelace_2"


def test_only_changed_feedback_is_written(tmp_path: Path) -> None:
    results, out = tmp_path / "results", tmp_path / "feedback"
    entries = [
        class_entry("../../ben", failing_report(failing_check("forward", "few"))),
        class_entry("ada", report()),
    ]
    write_results(results, TERMS, [*entries, class_entry("cem")])
    with ClassResults(results) as read:
        assert write_feedback(read, out) == (3, 6, [])
        assert sorted(path.name for path in tmp_path.iterdir()) == ["feedback", "results"]
        names = sorted(
            f"{student_file_stem(student)}{end}"
            for student in read.all_students()
            for end in (".md", ".html")
        )
        assert sorted(path.name for path in out.iterdir()) == sorted(names)
        assert NOT_GRADED_NOTICE in (out / "cem.html").read_text()
        before = {path.name: path.stat().st_ino for path in out.iterdir()}
        assert write_feedback(read, out) == (3, 0, [])
    write_results(results, TERMS, [*entries, class_entry("cem", report())])
    with ClassResults(results) as read:
        assert write_feedback(read, out) == (3, 2, [])
    after = {path.name: path.stat().st_ino for path in out.iterdir()}
    assert {name for name in after if after[name] != before[name]} == {"cem.md", "cem.html"}


def test_old_pages_are_named_and_not_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "told"
    results = write_results(
        tmp_path / "results", TERMS, [class_entry("ada", report()), class_entry("ben")]
    )
    command = ["class", "report", str(results), "--feedback", str(out)]
    assert app.run(command) == 0
    assert "of nobody" not in capsys.readouterr().err
    (out / "notes.txt").write_text("the instructor's")
    before = sorted(out.iterdir())
    write_results(tmp_path / "results", TERMS, [class_entry("ada", report())])
    assert app.run(command) == 0
    warnings = capsys.readouterr().err
    assert "pages of nobody in" in warnings
    assert "ben.html and ben.md; remove what is old" in warnings
    assert "notes.txt" not in warnings
    assert sorted(out.iterdir()) == before


def test_the_command_writes_feedback_and_a_page_if_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "told"
    results = write_results(
        tmp_path / "results", TERMS, [class_entry("ada", report()), class_entry("ben")]
    )
    command = ["class", "report", str(results), "--feedback", str(out)]
    assert app.run(command) == 0
    assert capsys.readouterr().out == f"2 students, 4 files written in {out}\n"
    assert app.run([*command, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["students"], content["changed"]) == (2, 0)
    assert app.run([*command, "--html", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").exists()
    assert "0 files written" in capsys.readouterr().out
    (tmp_path / "taken").write_text("")
    assert app.run([*command[:-1], str(tmp_path / "taken")]) == 2
    assert "taken: expected a folder to write" in capsys.readouterr().err


def test_feedback_says_once_what_a_file_raised() -> None:
    raised = ExceptionRecord("ValueError", "no data here", (Frame(3, "<module>", "load(data)"),))
    message = "loading the file raised ValueError: no data here"
    graded = report(Verdict.ERROR, message=message, raised=raised, checks=())
    text = render_text(feedback(TERMS, [class_entry("ann", graded)]))
    assert text.count("no data here") == text.count("ValueError") == 1
    assert "load(data)" in text
