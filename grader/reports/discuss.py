"""Follow-ups as they are asked, and what is said of an answer."""

from __future__ import annotations

from grader.forms import follow_up
from grader.model.spec import FollowUp
from grader.reports.blocks import BlankLine, Blocks, Item, Paragraph, from_markdown

INDENT = 4
STATES = {"": "open", "pass": "right", "fail": "wrong"}  # by the last verdict


def question_blocks(one: FollowUp, lead: str) -> Blocks:
    """What is asked, and what there is to choose from."""
    yield Paragraph(one.ask, lead, hang=INDENT)
    yield from (Item(text, str(n), INDENT) for n, text in enumerate(one.choice, 1))


def answer_blocks(one: FollowUp, verdict: str | None, idea: str = "", feedback: str = "") -> Blocks:
    """Whether an answer is right, ours, and the idea that a wrong one shows."""
    said = "Right." if verdict == "pass" else f"Wrong; {follow_up.right_answer(one)} is right."
    yield Paragraph("Our answer:" if one.kind == "points" else said)
    yield from from_markdown(one.answer, indent=INDENT)
    if idea:
        yield Paragraph(f"{idea}.", "Idea:")
        yield from from_markdown(feedback, indent=INDENT)


def list_item_blocks(one: FollowUp, name: str, verdict: str) -> Blocks:
    """A follow-up in a list, with the answer where it was answered."""
    yield BlankLine()
    yield Paragraph(one.ask, f"{name} {STATES[verdict]}:")
    if verdict:
        yield from from_markdown(one.answer, indent=INDENT)
