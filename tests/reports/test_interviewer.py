"""The interviewer's guide of every question: one page to lead from, and everything."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from grader import forms
from grader.bank import load_question, starter_repair
from grader.commands.show import collect_evidence
from grader.model.question import Question
from grader.model.report import Bar, Bars, Breakdown, BreakdownRow, CheckResult, Mismatch, Verdict
from grader.model.spec import Part
from grader.reports.blocks import render_html, render_markdown, render_terminal
from grader.reports.interviewer import (
    ROWS,
    WIDTH,
    IdeaEvidence,
    interviewer_guide,
    smallest_case_text,
    wrong_result_text,
)
from grader.reports.question import question_blocks
from tests.classroom.builders import HOSTILE
from tests.content import ALWAYS, each_question
from tests.pages import text
from tests.reports.conftest import Golden

pytestmark = pytest.mark.usefixtures("one_zygote")

ROOT = Path(__file__).parents[2]
TORCH = find_spec("torch") is not None
SHORT = 12  # letters: a number that answers a follow-up may stand anywhere
every_question = each_question(always=ALWAYS)


@functools.cache
def guided(name: str) -> tuple[Question, list[IdeaEvidence], str]:
    """A question, what shows its ideas, and the whole guide as Markdown."""
    question = load_question([ROOT], name)
    if question.spec.needs_torch and not TORCH:
        pytest.skip("torch is not installed")
    found = collect_evidence(question)
    return question, found, render_markdown(interviewer_guide(question, evidence=found))


@functools.cache
def lead(name: str) -> tuple[Question, str]:
    """A question, and the page to lead an interview from."""
    question = load_question([ROOT], name)
    return question, render_markdown(interviewer_guide(question))


def listing(page: str) -> list[str]:
    """The lines of the starter, and what changes in it."""
    return page.partition("```text\n")[2].partition("\n```")[0].splitlines()


def pages(markdown: str) -> list[str]:
    """The pages of the parts."""
    return re.split(r"^(?=## Part )", markdown.partition("\n## Marks")[0], flags=re.M)[1:]


def listed(page: str) -> list[str]:
    """The ideas of a page, or of a part of it."""
    return re.findall(r"^  - `([^`]+)` \S", page, re.M)


def code(line: str) -> str:
    """A line without its margin; nothing of a comment or a docstring."""
    text = line.strip()
    return "" if text.startswith(("#", '"""')) else text


def bare(words: str) -> str:
    """Words without what marks them up, and however they are folded."""
    words = re.sub(r"&#(\d+);", lambda m: chr(int(m[1])), words)
    return " ".join(re.sub(r"[\\`]", "", words).split())


def stopped_in(question: Question, part: Part) -> set[str]:
    checks = {check.id for check in part.checks}
    ideas = question.ideas.items()
    return {name for name, idea in ideas if checks & set(idea.killed_by)}


@every_question
def test_a_part_has_its_prompt_hints_and_follow_ups_in_order(name: str) -> None:
    question, _, markdown = guided(name)
    parts = question.spec.parts
    assert len(pages(markdown)) == len(parts)
    for page, part in zip(pages(markdown), parts, strict=True):
        said, at = bare(page), 0
        assert f"{part.minutes} minute" in said
        assert f"{part.points} point" in said
        for words in [part.prompt, *part.hints]:
            at = said.index(bare(words), at)
        for one in part.follow_ups:
            at = said.index(bare(one.ask), at)
            if one.right is not None:
                right = bare(one.choice[one.right - 1]).rstrip(".")
                at = said.index(
                    f". Right is {one.right} -", said.index(f"({one.right}) {right}", at)
                )
            at = said.index(bare(one.answer), at)


@every_question
def test_an_idea_stands_once_in_each_part_that_stops_it_and_in_no_other(name: str) -> None:
    question, found, markdown = guided(name)
    for page, part in zip(pages(markdown), question.spec.parts, strict=True):
        assert sorted(listed(page)) == sorted(stopped_in(question, part))
        for check, below in re.findall(r"^- `([^`]+)`[^\n]*\n((?:  - [^\n]*\n)*)", page, re.M):
            for idea in listed(below):
                assert check in question.ideas[idea].killed_by
                words = bare(question.ideas[idea].feedback_for()).split()[:2]
                assert f"{idea} {' '.join(words).rstrip('.:')}" in bare(below)
    for one in found:
        assert one.answer, one
        assert one.case in {"", *question.spec.cases}, one


@every_question
def test_the_markdown_is_well_formed(name: str) -> None:
    """It is headings, paragraphs, and lists with lists in them, as it is meant to be."""
    _, _, markdown = guided(name)
    assert all(line == line.rstrip() for line in markdown.splitlines())
    tokens = MarkdownIt("commonmark").parse(markdown)
    kinds = {token.type for token in tokens}
    assert kinds <= {
        "heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "fence",
        "bullet_list_open", "bullet_list_close", "ordered_list_open", "ordered_list_close",
        "list_item_open", "list_item_close",
    }  # fmt: skip
    inner = {child.type for token in tokens for child in token.children or ()}
    assert inner <= {
        "text",
        "text_special",
        "softbreak",
        "code_inline",
        "strong_open",
        "strong_close",
    }
    inner_items = sum(token.type == "list_item_open" and token.level == 3 for token in tokens)
    assert inner_items == len(re.findall(r"^  - ", markdown, re.M))


@every_question
def test_a_candidate_sees_no_text_of_the_guide(name: str) -> None:
    question, _, _ = guided(name)
    seen = bare(render_markdown(question_blocks(question), written=True))
    for part in question.spec.parts:
        further = [words for one in part.follow_ups for words in (*one.choice, *one.points)]
        for words in [*part.hints, *further, *(one.answer for one in part.follow_ups)]:
            assert len(words) < SHORT or bare(words) not in seen
    for idea in question.ideas.values():
        assert bare(idea.feedback) not in seen


def test_an_idea_has_the_smallest_case_on_which_it_shows() -> None:
    found = {one.idea: one for one in guided("maxpool-routing")[1]}
    assert found["mean-over-windows"].given == (
        "one element that wins all four windows: "
        "`x = [[[[0, 1, 0], [2, 9, 3], [0, 4, 0]]]]`, kernel 2, stride 1, "
        "`grad_y = [[[[1, 2], [3, 4]]]]`"
    )
    assert found["mean-over-windows"].answer == "`grad_x[0, 0, 1, 1]` is 2.500, expected 10.00."


@every_question
def test_a_part_has_its_clauses_and_its_right_answers(name: str) -> None:
    question, _, markdown = guided(name)
    for page, part in zip(pages(markdown), question.spec.parts, strict=True):
        said = bare(page)
        assert all(bare(clause) in said for clause in part.contract)
    for change in starter_repair.repair_changes(question):
        for number, sentence in change.why:
            assert bare(sentence) in bare(pages(markdown)[number - 1])


@every_question
def test_the_page_to_lead_from_is_within_its_bound(name: str) -> None:
    question, page = lead(name)
    assert sum(-(-len(line) // WIDTH) for line in page.splitlines()) <= ROWS
    last = 40 if len(question.spec.parts) > 1 else question.spec.minutes
    *_, until = re.findall(r"^\| \d \| \d+ to (\d+) \|", page, re.M)
    assert min(last, question.spec.minutes) - 10 < int(until) <= last
    assert len(pages(page)) == page.count("| yes / no |")


@every_question
def test_the_marked_lines_are_those_that_a_repair_changes(name: str) -> None:
    question, _, markdown = guided(name)
    if forms.form_of(question.spec).is_text:
        return
    rows = listing(markdown)
    starter = {int(row[2:6]): row[8:] for row in rows if row[2:6].strip().isdigit()}
    lines = question.without_leading_blank_lines(question.starter).decode().splitlines()
    assert starter == {n: line for n, line in enumerate(lines, 1) if line.strip()}
    for part in range(1, len(question.spec.parts) + 1):
        signs = {f"{n}{sign}" for n in range(1, part + 1) for sign in "+-"}
        shown = [
            row[8:] for row in rows
            if row.strip() and (row[:2] in signs or not row[:2].strip() or row[1] == "-")
            if not (row[1] == "-" and row[:2] in signs)
        ]  # fmt: skip
        right = starter_repair.repaired_starter(question, part).decode().splitlines()
        assert [one for one in map(code, shown) if one] == [one for one in map(code, right) if one]


@every_question
def test_a_reason_stands_with_the_lines_it_is_written_above(name: str) -> None:
    question, _, markdown = guided(name)
    if forms.form_of(question.spec).is_text:
        return
    whys = re.findall(r"^- (After line|Lines?) (\d+)(?: to (\d+))?: (.*)", markdown, re.M)
    expected = []
    for number, _ in enumerate(question.spec.parts, 1):
        for change in starter_repair.repair_changes(question):
            if why := " ".join(text for asks, text in change.why if asks == number):
                expected.append((bare(why), change))
    assert [bare(why) for *_, why in whys] == [why for why, _ in expected]
    for (how, first, last, _), (_, change) in zip(whys, expected, strict=True):
        begin, end = change.line, change.line + len(change.before)
        if how == "After line":
            assert begin - 1 <= int(first) <= end
        else:
            assert begin <= int(first) <= int(last or first) < end


@every_question
def test_the_starters_ideas_come_first_then_the_likeliest(name: str) -> None:
    question, page = lead(name)
    for shown, part in zip(pages(page), question.spec.parts, strict=False):
        every = [one for one in question.ideas if one in stopped_in(question, part)]
        holds = [one for one in every if one in question.spec.starter_holds]
        others = [one for one in every if one not in holds]
        said = shown.partition("**Listen for**")[2].partition("**Hints,**")[0]
        named = re.findall(r"^- `([^`]+)` ", said, re.M)
        assert named[: len(holds)] == holds
        assert [one for one in named if one not in holds] == others[: len(named) - len(holds)]
        rest = re.findall(r"`([a-z0-9-]+)`", said.partition("\n- Others: ")[2])
        assert named + rest == holds + others


@every_question
def test_no_reader_meets_a_backslash(name: str) -> None:
    markdown = re.sub(r"^```.*?^```", "", guided(name)[2], flags=re.M | re.S)
    assert "\\" not in re.sub("`[^`\n]*`", "", markdown)
    assert "&#" not in markdown


@pytest.mark.parametrize(
    ("minutes", "asked"),
    [
        ((20, 20), "**40 minutes: parts 1 and 2.**"),
        ((45,), "**45 minutes: part 1.**"),
        ((25, 12, 12), "**37 minutes: parts 1 and 2.**"),
        ((20, 30, 15), "**40 minutes: parts 1 and 2.**"),
        ((15, 15, 20), "**40 minutes: parts 1, 2 and 3.**"),
        ((50, 10), "**40 minutes: part 1.**"),
    ],
)
def test_the_short_guide_has_the_parts_that_fit_into_40_minutes(
    minutes: tuple[int, ...], asked: str
) -> None:
    page = timed(minutes, "b/maxpool-routing --bank x")
    file = (
        '`submission.py` ("the file", "starter"), made by `drill start b/maxpool-routing --bank x`.'
    )
    shown = "What they read, with the contract, is `drill show b/maxpool-routing --bank x --all`."
    assert f"\n\nThe candidate edits {file} {shown}\n\n{asked} " in page
    assert "`drill show b/maxpool-routing --bank x --interviewer --all` has every part" in page


def timed(minutes: tuple[int, ...], called: str = "") -> str:
    """The page of a question whose parts take so many minutes."""
    question = lead("maxpool-routing")[0]
    parts = [question.spec.parts[0].model_copy(update={"minutes": each}) for each in minutes]
    spec = question.spec.model_copy(update={"parts": parts})
    return render_markdown(interviewer_guide(replace(question, spec=spec), called))


def test_the_page_of_a_question_without_a_repair_has_its_starter(golden: Golden) -> None:
    question = load_question([ROOT / "tests" / "banks" / "parts"], "mean-and-spread")
    golden("interviewer", render_markdown(interviewer_guide(question)))


def test_each_hint_has_the_minute_to_give_it_at() -> None:
    page = timed((20, 30, 15))
    assert re.findall(r"^\d\. \(minute (\d+)\)", page, re.M) == ["8", "12", "16", "28", "32", "36"]
    assert "**Hints,** if they are stuck at these minutes. By minute 20: go on to part 2." in page
    assert "By minute 40: stop." in page
    assert "\n- `mark 4` says what must hold" in page  # a list would count up from 4
    assert "| 2 | 20 to 40 | 4 3 2 1 | 0 1 2 3 | yes / no |" in page


def test_new_lines_stand_below_the_lines_that_they_replace() -> None:
    page = lead("adam-7b-memory")[1]
    assert (
        """
1-  14      "bf16_mixed": (BF16, BF16, FP32, FP32),
1-  15      "torch_pure_bf16": (BF16, BF16, FP32, FP32),
1-  16      "torch_autocast": (BF16, BF16, FP32, FP32),
1+          "bf16_mixed": (BF16, BF16, FP32, FP32, FP32),
1+          "torch_pure_bf16": (BF16, BF16, BF16, BF16, 0),
1+          "torch_autocast": (FP32, FP32, FP32, FP32, 0),
"""
        in page
    )
    assert "\n- Lines 14 to 16: torch.optim.AdamW makes its moments with zeros_like" in page
    assert "\n- After line 14: 0 times NaN is NaN" in lead("nan-step-zero")[1]
    assert "\n- `grad[0] = (0.1 - 0) / 2` The gradient" in lead("three-rows")[1]


def test_more_than_four_new_lines_are_counted() -> None:
    page = lead("adam-7b-memory")[1]
    assert "2+      def min_gpus(n_params, usable_bytes, stage=3):  ... 7 more lines\n" in page


def test_an_interface_is_a_list_of_calls() -> None:
    page = lead("paged-kv-cache")[1]
    calls = "`class PagedCache`, `__init__(self, blocks, size, width)`, `new(self)`, `append("
    assert f"**Interface:** {calls}" in page


def test_a_case_to_ask_about_can_be_read_out() -> None:
    page = pages(guided("maxpool-routing")[2])[0]
    assert "Ask `one-window` (one window whose winner is off the diagonal: `x = [[[[1, 3," in page
    found = {one.idea: one.given for one in guided("rope")[1]}
    assert found["queries-only"] == ""  # its arrays are drawn


def test_a_part_without_hints_and_follow_ups_has_no_room_for_them() -> None:
    question = guided("maxpool-routing")[0]
    bare_part = question.spec.parts[0].model_copy(update={"hints": [], "follow_ups": []})
    spec = question.spec.model_copy(update={"parts": [bare_part]})
    page = render_markdown(interviewer_guide(replace(question, spec=spec)))
    assert "(minute " not in page
    assert "Follow-ups" not in page
    assert "| 4 3 2 1 | 0 | yes / no |" in page


CHECK = CheckResult("value", "outputs", Verdict.FAIL, "", cases=("one",), failing=("one",))


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (replace(CHECK, verdict=Verdict.PASS, message="1 case"), ""),
        (
            replace(CHECK, message="your f raised ValueError in case one"),
            "f raised ValueError.",
        ),
        (
            replace(CHECK, mismatch=Mismatch("y", "one", (0, 2), "1.0", "2.0", "+-1e-9 (a)", 3, 4)),
            "`y[0, 2]` is 1.0, expected 2.0.",
        ),
        (
            replace(CHECK, exhibit=Breakdown(tuple(BreakdownRow(n, "1", "2") for n in "abc"))),
            "a is 1, expected 2; b is 1, expected 2; 1 more.",
        ),
        (
            replace(CHECK, exhibit=Breakdown(tuple(BreakdownRow(n * 40, "1", "2") for n in "abc"))),
            f"{'a' * 40} is 1, expected 2; 2 more.",
        ),
        (
            replace(CHECK, exhibit=Breakdown((BreakdownRow("a", "the text 'x'", 'the text "y"'),))),
            "a is 'x', expected \"y\".",
        ),
        (replace(CHECK, message="x" * 300, exhibit=Bars((Bar("a", 1, "1"),))), f"{'x' * 107}..."),
    ],
)
def test_an_answer_is_one_line(result: CheckResult, said: str) -> None:
    assert wrong_result_text(result) == said


def test_an_unknown_case_has_no_description() -> None:
    question = guided("maxpool-routing")[0]
    assert smallest_case_text(question, replace(CHECK, inputs={"n": "3", "m": "None"})) == "n 3"
    assert smallest_case_text(question, replace(CHECK, inputs={"x": "(1, 2)", "n": "3"})) == ""
    long = {"n": "1.0986122886681098", "m": "10.0", "eps": "1e-05"}
    assert smallest_case_text(question, replace(CHECK, inputs=long)) == "n 1.09861, m 10, eps 1e-05"


def test_hostile_texts_are_escaped() -> None:
    question = guided("maxpool-routing")[0]
    words = [f"zq{n} {hostile}" for n, hostile in enumerate(HOSTILE)]
    found = [IdeaEvidence(one, "gaps", one, one, one, one) for one in words]
    markdown = render_markdown(interviewer_guide(question, evidence=found))
    shown = text(render_terminal([*interviewer_guide(question, evidence=found)], 80))
    for page in (markdown, shown, render_html(interviewer_guide(question, evidence=found))):
        assert all(f"zq{n}" in page for n, _ in enumerate(words))
        assert "\x1b" not in page
    assert "<script" not in MarkdownIt("commonmark", {"html": True}).render(markdown)
