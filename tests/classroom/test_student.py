"""What students are told, and what they are not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from grader.bank import load
from grader.classroom.export import gradescope
from grader.classroom.results import Results
from grader.classroom.student import (
    NOT_GRADED,
    UNSEEN,
    feedback,
    seen,
    stem,
    to_html,
    write_feedback,
)
from grader.cli import app
from grader.model.classroom import AssignedQuestion, Entry, HandIn, Terms
from grader.model.report import (
    FINE,
    CheckResult,
    Clause,
    Explanation,
    Frame,
    Grids,
    Mismatch,
    Named,
    Panel,
    PartResult,
    Raised,
    Report,
    Verdict,
)
from grader.reports.blocks import Heading, render_markdown
from grader.session import GradingSession
from tests.bank.test_faults import PARTS as BANK
from tests.classroom.builders import Page, rule, write_results

POSED = AssignedQuestion("mean", "A mean", "d" * 64, "/bank", (1,), 100)
TERMS = Terms(7, "strong", "1", (POSED,), title="Statistics")
HANDED = HandIn("ada", "mean", "ada/mean.py", "0" * 64, "2026-11-20T22:00:00+00:00")


def entry(report: Report | None, posed: AssignedQuestion = POSED, **handed: object) -> Entry:
    """What a student handed in, and what came of it."""
    return Entry(posed, replace(HANDED, **handed), report)  # type: ignore[arg-type]


def passed(points: int = 100) -> Report:
    """A report of a pass."""
    checks = tuple(
        CheckResult(name, "outputs", Verdict.PASS, "2 cases", ("few", "many"))
        for name in ("forward", "backward")
    )
    parts = (PartResult("1", Verdict.PASS, points, points),)
    return Report("mean", "A mean", Verdict.PASS, 7, "strong", 0.1, parts, checks)


def wrong(id_: str, case: str, mark: str = "", *more: str) -> CheckResult:
    """A check that fails, with `mark` in every text of it."""
    cases = (case, *more)
    panel = Panel(f"{mark}x", ((f"{mark}1", "2"),), note=f"{mark}plane")
    grids = Grids((panel, replace(panel, title="y, yours"), replace(panel, title="y, expected")))
    count = f"{len(cases)} of {len(cases) + 1} cases"
    frames = (Frame(3, f"{mark}g", f"{mark}source"),)
    return CheckResult(
        id_,
        "outputs",
        Verdict.FAIL,
        f"{mark}y differs in {count}; the smallest is {case}",
        ("few", *cases),
        cases,
        case_line=f"{mark}line",
        about=f"{mark}about",
        inputs={f"{mark}n": f"{mark}3"},
        call=f"f({mark}7)",
        mismatch=Mismatch(f"{mark}y", case, (0,), f"{mark}4.5", f"{mark}5.5", f"{mark}+-1", 1, 3),
        exhibit=grids,
        raised=Raised(f"{mark}Error", f"{mark}said", frames, mark, mark) if mark else None,
        figures={f"{mark}f": 3.25},
        clauses=(Clause(1, "y is the mean."),),
    )


def failed(*checks: CheckResult, **more: object) -> Report:
    """A report of a failure."""
    parts = (PartResult("1", Verdict.FAIL, 0, 100),)
    report = Report("mean", "A mean", Verdict.FAIL, 7, "strong", 0.1, parts, checks)
    return replace(report, **more)  # type: ignore[arg-type]


def idea(id_: str, feedback: str, *seen: str, checks: tuple[str, ...] = ()) -> Named:
    """An idea that gives the numbers of some cases."""
    return Named(id_, feedback, True, ("y",), len(seen), 9, seen, checks)


SECRET = "zqx"
RIGHT = CheckResult("forward", "outputs", Verdict.PASS, "2 cases", ("few", "many"))


def said(*entries: Entry, hidden: tuple[str, ...] = ()) -> str:
    """The text of both files, in which all that is said is the same."""
    posed = replace(POSED, hidden=hidden)
    found = feedback(
        replace(TERMS, questions=(posed,)), [replace(one, question=posed) for one in entries]
    )
    markdown, html = render_markdown(found), Page.of(to_html(found)).text
    rendered = Page.of(MarkdownIt().render(markdown)).text

    def words_of(text: str) -> list[str]:
        return re.sub(r"[()]", " ", text).split()

    assert isinstance(found[0], Heading)
    title = words_of(found[0].title)
    assert [*title, *words_of(rendered)] == words_of(html)
    return " ".join(html.split())


def test_who_passes_reads_what_is_right_and_what_it_earned() -> None:
    text = said(entry(passed()))
    assert "Total: 100 of 100 points" in text
    assert "A mean mean Passes: 100 of 100 points" in text
    assert "Right: forward and backward." in text


def test_who_does_not_reads_the_smallest_case_and_the_idea() -> None:
    report = failed(
        RIGHT,
        wrong("backward", "tied", "", "more"),
        misconceptions=(idea("adds-it", "You add. Use `x * y`:\n\n    x * y\n", "tied", "more"),),
        explanations=(rule("y is twice the right one.", "tied", "more"),),
    )
    text = said(entry(report))
    assert "Does not pass: 0 of 100 points" in text
    assert "backward: y differs in 2 of 3 cases. The smallest is tied: about" in text
    assert "contract, 1: y is the mean." in text
    assert "y[0] is 4.5, expected 5.5 (allowed +-1)" in text
    assert "Idea: adds-it. It gives exactly your numbers" in text
    assert "You add. Use x * y: x * y" in text
    assert "Rule: y is twice the right one." in text
    assert "Right: forward." in text
    html = to_html(feedback(TERMS, [entry(report)]))
    assert "<code>x * y</code>" in html
    assert re.search(r"<pre>\s*x \* y\s*</pre>", html)
    assert "`x * y`" in render_markdown(feedback(TERMS, [entry(report)]))


def test_a_fault_of_the_grader_is_nobodys_and_says_nothing_of_the_grader() -> None:
    fault = Entry(POSED, HANDED, fault="the disk of host-17 is full")
    for one in (fault, Entry(POSED, HANDED)):
        text = said(one)
        assert NOT_GRADED in text
        assert "Total: 0 of 100 points so far: 1 question not graded yet" in text
        assert "disk" not in text
        assert "yaml" not in text


def test_what_was_not_handed_in_or_is_no_program_earns_nothing() -> None:
    second = replace(POSED, id="spread", title="A spread", weight=0.5, of=30)
    third = replace(POSED, id="far", title="Far", weight=0.1, of=1)
    terms = replace(TERMS, questions=(POSED, second, third))
    link = entry(None, posed=second, sha256="", fault="Too many levels of symbolic links")
    text = render_markdown(feedback(terms, [entry(passed()), link]))
    assert "**Total:** 100 of 115.1 points" in text
    assert "**No program:** 0 of 30 points, which count 0.5 times" in text
    assert "There is no program in ada/mean.py: Too many levels of symbolic links." in text
    assert "**Nothing handed in:** 0 of 1 point, which count 0.1 times" in text


def test_late_is_a_mark_in_the_time_of_the_deadline() -> None:
    terms = replace(TERMS, deadline="2026-11-20T22:30:00+01:00")
    text = to_html(feedback(terms, [replace(entry(passed()), late=True)]))
    late = "handed in 2026-11-20T22:00:00+00:00, the deadline was 2026-11-20T22:30:00+01:00."
    assert late in text
    assert "100 of 100 points" in text
    assert "Late" not in to_html(feedback(terms, [entry(passed())]))
    marked = replace(entry(passed(), at="", late=True), late=True)
    assert "as the learning platform says." in to_html(feedback(terms, [marked]))


def test_parts_say_what_they_earned() -> None:
    parts = (
        PartResult("1", Verdict.PASS, 50, 50), PartResult("2", Verdict.FAIL, 10, 30),
        PartResult("x", Verdict.SKIPPED, 0, 20),
    )  # fmt: skip
    text = said(entry(failed(replace(wrong("backward", "tied"), part=2), parts=parts)))
    assert "Part 1 passes: 50 of 50 points Part 2 does not pass: 10 of 30 points" in text
    assert "Part 3 not asked yet: 0 of 20 points" in text


def test_the_right_figure_of_an_estimate_is_not_shown() -> None:
    check = CheckResult(
        "ledger", "outputs", Verdict.FAIL, "total is 1,024, expected 16,777",
        ("seven",), ("seven",), call="total(7)", estimate=True, figures={"right": 16777.0},
        mismatch=Mismatch(
            "total", "seven", None, "the number 1,024", "the number 16,777", "+-16,777", 1, 1
        ),
    )  # fmt: skip
    text = said(entry(failed(check, explanations=(rule("total is 16,777 over 16.4.", "seven"),))))
    assert "total(7) returned 1,024, which is wrong" in text
    assert "16" not in text


def test_an_untouched_starter_gets_a_symptom_alone() -> None:
    report = failed(
        wrong("backward", "tied"), unchanged=True, misconceptions=(idea("adds-it", "No.", "tied"),)
    )
    text = said(entry(report))
    assert "This is the starter, unchanged" in text
    assert "adds-it" not in text
    assert "expected 5.5" not in text


# -- what is hidden ------------------------------------------------------------------------------

HIDDEN_CHECK = wrong(f"{SECRET}-check", f"{SECRET}-case", SECRET)
OPEN = wrong("backward", "tied")
ON_HIDDEN = replace(
    OPEN,
    cases=("few", "tied", f"{SECRET}-case"),
    message="y differs in 2 of 9 cases; the smallest is tied",
)  # and passes there
FAILS_THERE_TOO = replace(ON_HIDDEN, failing=("tied", f"{SECRET}-case"))
# What is shown of it was found on the hidden case.
FAILS_THERE_FIRST = replace(
    wrong("backward", f"{SECRET}-case", SECRET, "tied"), verdict=Verdict.ERROR
)
FAILS_THERE_ALONE = wrong("backward", f"{SECRET}-case", SECRET)
PASSES_THERE = CheckResult(
    "backward", "flops", Verdict.PASS, f"{SECRET} operations in {SECRET}-case",
    ("few", f"{SECRET}-case"), exhibit=HIDDEN_CHECK.exhibit, figures={SECRET: 3.0},
)  # fmt: skip
BLOCKED = CheckResult(
    "blocked", "outputs", Verdict.SKIPPED, f"needs {SECRET}-check", blocked_by=f"{SECRET}-check"
)
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
@pytest.mark.parametrize("report", [failed(), failed(**KNOWN)])
def test_nothing_hidden_is_said(checks: tuple[CheckResult, ...], report: Report) -> None:
    report = replace(report, checks=checks)
    assert SECRET in said(entry(report))  # else nothing is shown here
    text = said(entry(report), hidden=(f"{SECRET}-check", f"{SECRET}-case"))
    assert SECRET not in text.lower()
    assert "3.25" not in text
    assert "9" not in text  # a count over hidden ones
    assert (UNSEEN in text) == (HIDDEN_CHECK.id in [check.id for check in checks])
    assert "LIMIT" not in text.upper()
    if FAILS_THERE_ALONE in checks:
        assert "backward: it does not pass on a hidden case." in text
    if FAILS_THERE_FIRST in checks:
        assert "backward: it does not pass in case tied." in text
    if ON_HIDDEN in checks or FAILS_THERE_TOO in checks:
        assert "backward: y is wrong in case tied: about" in text
        assert "4.5" not in text  # the program's own number
    assert "No listed idea" not in text or report.misconceptions == ()


def test_the_cases_of_a_hidden_check_alone_are_hidden_as_well() -> None:
    report = failed(HIDDEN_CHECK, OPEN, **KNOWN)
    assert SECRET not in said(entry(report), hidden=(f"{SECRET}-check",))


def test_what_rests_on_open_cases_is_still_said() -> None:
    report = failed(
        FAILS_THERE_TOO,
        HIDDEN_CHECK,
        misconceptions=(
            idea("adds-it", "You add.", "tied", f"{SECRET}-case", checks=("backward",)),
        ),
        explanations=(rule("y is twice the right one.", "tied"),),
    )
    text = said(entry(report), hidden=(f"{SECRET}-check", f"{SECRET}-case"))
    assert "Idea: adds-it. It gives exactly your numbers in the failing case. You add." in text
    assert "twice" not in text  # what explains may be a program's word
    assert SECRET not in text


def gradescope_text(report: Report, hidden: tuple[str, ...]) -> str:
    """What Gradescope shows of a report."""
    posed = replace(POSED, hidden=hidden, parts=(1, 2, 3))
    return json.dumps(gradescope([posed], {"mean": Entry(posed, HANDED, report)})["tests"])


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
def test_a_program_cannot_tell_the_inputs_of_a_hidden_case_that_it_keeps(tells: str) -> None:
    question = load([BANK], "mean-and-spread")
    source = question.reference + KEEPS % tells.encode()
    with GradingSession(question) as session:
        report = session.grade(source, seed=7)
    hidden = ("few",)  # the first that runs, so that all others could tell of it
    kept = re.compile(r"6\.0|(is|returned) 6\b|(?<![\d.])[126](?:\.0)?, |\[\[|line \d")
    failing = [c for c in seen(report, hidden).report.checks if c.verdict not in FINE]
    assert failing
    for check in failing:
        assert (check.raised, check.mismatch, check.call, check.figures) == (None, None, "", {})
    shut, lines = said(entry(report), hidden=hidden), gradescope_text(report, hidden)
    assert not kept.search(shut)
    assert not kept.search(lines)


def test_of_an_exception_only_a_name_that_python_gave_is_said() -> None:
    names = {"ValueError": "ValueError", "[0.5, 7.25]": "an exception"}
    for name, shown in names.items():
        raised = Raised(name, "0.5", (Frame(725, "0.5", "0.5"),), "y = f(x)", "x (0, 5)")
        check = replace(OPEN, verdict=Verdict.ERROR, message=f"{name} 0.5", mismatch=None,
                        exhibit=None, raised=raised)  # fmt: skip
        report = failed(check, explanations=(rule("y is 7.25 times the right one.", "tied"),))
        text = said(entry(report), hidden=("nothing-else",))
        assert f"backward: your code raised {shown} in case tied: about" in text
        assert "contract, 1: y is the mean." in text
        assert not re.search(r"0\.5|725|7\.25", text)
        assert "0.5" in said(entry(report))


def test_what_was_measured_is_not_said_where_something_is_hidden() -> None:
    measured = replace(RIGHT, kind="flops", message="31,415 operations")
    report = replace(passed(), checks=(*passed().checks, measured))
    assert "31,415" in said(entry(report))
    assert "31,415" not in said(entry(report), hidden=("nothing-else",))


def test_what_is_given_and_right_on_an_open_case_is_still_shown() -> None:
    x, y = Panel("x", (("1", "2"),)), Panel("y, expected", (("77",),))
    yours = Panel("y, yours", (("88",),), frozenset({(0, 0)}), frozenset({(0, 0)}))
    check = replace(OPEN, exhibit=Grids((x, yours, y)))
    text = said(entry(failed(check)), hidden=("nothing-else",))
    assert "y is wrong in case tied" in text
    assert "77" in text
    assert "88" not in text


def test_a_pass_says_nothing_of_what_is_hidden() -> None:
    checks = (*passed().checks, PASSES_THERE, replace(PASSES_THERE, id=f"{SECRET}-check"))
    report = replace(passed(), checks=checks, follow_up=f"And {SECRET}-case?")
    text = said(entry(report), hidden=(f"{SECRET}-check", f"{SECRET}-case"))
    assert SECRET not in text
    assert "Right: forward, backward and backward." in text
    assert UNSEEN not in text


def strings(value: object) -> Iterator[str]:
    """Every text in a report, numbers among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from (*strings(key), *strings(item))
    elif isinstance(value, tuple | list | frozenset):
        for item in value:
            yield from strings(item)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from strings(getattr(value, name))


@pytest.mark.usefixtures("one_zygote")
def test_a_real_grade_says_nothing_of_what_is_hidden() -> None:
    question = load([BANK], "mean-and-spread")
    source = question.reference + b"\n\n" + question.variants["cancels"][0]
    with GradingSession(question) as session:
        report = session.grade(source, seed=7)
    far = report.checks[-1]
    assert (far.id, far.verdict) == ("far", Verdict.FAIL)
    public = {*strings(report.checks[:-1]), "outputs", "fail", "s", ""}
    speaking = {
        *strings((far, report.explanations, report.misconceptions)),
        *(word for text in strings(far.exhibit) for word in text.split()),
    } - public
    assert len(speaking) > 8
    open_ = said(entry(report))
    assert "cancels" in open_
    shut = said(entry(report), hidden=("far",))
    assert f"{UNSEEN.removesuffix('.')} in part 3." in shut
    assert [text for text in speaking if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", shut)] == []
    assert "Right: mean, nothing, alone and spread." in shut


# -- what is hostile -----------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>", "</pre></main><h1>you</h1>", "[a](http://evil.example)",
    "a\n\n# b\n<hr>\n```\nc", "\x1b[31mred\x07\u202egnihton\u2066", "http://evil.example",
    "| a | b |", "\ud800",
]  # fmt: skip
TAGS = {*Page.of(to_html(feedback(TERMS, [entry(passed())]))).tags} | {
    "pre", "code", "ul", "li", "span", "strong",
}  # fmt: skip


def hostile(text: str) -> Entry:
    """An entry in which a student has written wherever that is possible."""
    raised = Raised(text, text, (Frame(3, text, text),), text, text)
    check = replace(
        wrong("backward", "tied"), verdict=Verdict.ERROR, raised=raised,
        message=f"your f raised {text} in case tied", inputs={text: text}, call="",
        mismatch=replace(OPEN.mismatch, observed=text) if OPEN.mismatch else None,
    )  # fmt: skip
    report = failed(check, message=text, raised=raised, note=text)
    return entry(report, student=text, name=text, path=text)


def acting(markdown: str) -> list[str]:
    """What a Markdown document has besides headings, paragraphs, lists, code and bold words."""
    fine = {
        "heading", "paragraph", "inline", "text", "strong", "fence", "code_inline", "bullet_list",
        "list_item", "softbreak",
    }  # fmt: skip
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    found = []
    for token in reader.parse(markdown):
        for one in (token, *(token.children or ())):
            kind = one.type.removesuffix("_open").removesuffix("_close")
            found += [] if kind in fine else [kind]
    return found


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_student_writes_acts_nowhere(text: str) -> None:
    found = feedback(TERMS, [hostile(text)])
    markdown, html = render_markdown(found), to_html(found)
    page = Page.of(html)
    assert {*page.tags} <= TAGS
    assert {name for _, name, _ in page.attributes} <= {
        "lang", "charset", "name", "content", "class", "http-equiv",
    }  # fmt: skip
    assert html.count("<h1>") == 1
    assert html.count("<h2>") == 1
    assert acting(markdown) == []
    headings = [one.tag for one in MarkdownIt().parse(markdown) if one.type == "heading_open"]
    assert headings == ["h1", "h2"]
    for one in (markdown, html):
        assert all(c in "\n\xa0" or c.isprintable() for c in one)
        assert "49" not in one
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
def test_a_file_is_safe_and_one_students_alone(one: str, other: str) -> None:
    for name in (stem(one), stem(other)):
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", name)
        assert not re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", name)
        assert not name.endswith(".")
    assert (stem(one).casefold() == stem(other).casefold()) == (one == other)


def test_no_students_name_is_what_anothers_becomes() -> None:
    taken = stem("Ada Lovelace")
    assert taken.startswith("Ada-Lovelace-")
    assert stem(taken) != taken
    assert stem(taken.lower()) != taken.lower()
    assert stem("ada.lovelace_2") == "ada.lovelace_2"


def class_of(folder: Path, reports: dict[str, Report | None]) -> Results:
    """The results of a class in which everybody handed in something of their own."""
    handed = {
        student: HandIn(student, "mean", f"{n}.py", f"{n:064x}")
        for n, student in enumerate(reports)
    }
    entries = [Entry(POSED, one, reports[student]) for student, one in handed.items()]
    return Results(write_results(folder, TERMS, entries))


def test_a_class_is_written_and_what_has_not_changed_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "feedback"
    reports: dict[str, Report | None] = {
        "ada": passed(), "../../ben": failed(wrong("forward", "few")), "cem": None,
    }  # fmt: skip
    found = write_feedback(class_of(tmp_path / "results", reports), out)
    assert found == (3, 6)
    names = sorted(path.name for path in out.iterdir())
    assert names == sorted(f"{stem(one)}{end}" for one in reports for end in (".md", ".html"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["feedback", "results"]
    assert NOT_GRADED in (out / "cem.html").read_text()
    before = {path.name: path.stat().st_ino for path in out.iterdir()}
    assert write_feedback(Results(tmp_path / "results"), out) == (3, 0)
    now = class_of(tmp_path / "results", reports | {"cem": passed()})
    assert write_feedback(now, out) == (3, 2)
    after = {path.name: path.stat().st_ino for path in out.iterdir()}
    assert {name for name in after if after[name] != before[name]} == {"cem.md", "cem.html"}


def test_the_command_writes_feedback_and_a_page_if_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, out = tmp_path / "results", tmp_path / "told"
    class_of(results, {"ada": passed(), "ben": None})
    told = ["class", "report", str(results), "--feedback", str(out)]
    assert app.run(told) == 0
    assert capsys.readouterr().out == f"2 students, 4 files written in {out}\n"
    assert app.run([*told, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["students"], said["changed"]) == (2, 0)
    assert app.run([*told, "--html", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").exists()
    assert "0 files written" in capsys.readouterr().out
    (tmp_path / "taken").write_text("")
    assert app.run([*told[:-1], str(tmp_path / "taken")]) == 2
    assert "taken: expected a folder to write" in capsys.readouterr().err
