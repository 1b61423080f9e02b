"""Pages of follow-up questions, which are asked without code after a pass, and their answers."""

from __future__ import annotations

from grader.forms.follow_up import right_answer
from grader.model.spec import FollowUp
from grader.reports.blocks import BlankLine, Blocks, Item, Paragraph, from_markdown

INDENT = 4
STATES = {"": "open", "pass": "right", "fail": "wrong"}  # by the last verdict


def follow_up_blocks(follow_up: FollowUp, lead: str) -> Blocks:
    """Yield a follow-up question and its choices."""
    yield Paragraph(follow_up.ask, lead, hang=INDENT)
    for number, text in enumerate(follow_up.choice, 1):
        yield Item(text, str(number), INDENT)


def answer_blocks(
    follow_up: FollowUp, verdict: str | None, idea: str = "", feedback: str = ""
) -> Blocks:
    """Yield whether an answer is right, the right answer, and the idea behind a wrong one.

    A question of the kind "points" has no verdict: only our answer is shown.
    """
    if follow_up.kind == "points":
        yield Paragraph("Our answer:")
    elif verdict == "pass":
        yield Paragraph("Right.")
    else:
        yield Paragraph(f"Wrong; {right_answer(follow_up)} is right.")
    yield from from_markdown(follow_up.answer, indent=INDENT)
    if idea:
        yield Paragraph(f"{idea}.", "Idea:")
        yield from from_markdown(feedback, indent=INDENT)


def list_item_blocks(follow_up: FollowUp, name: str, verdict: str) -> Blocks:
    """Yield a follow-up of a list and its state, and the answer unless `verdict` is "" (open)."""
    yield BlankLine()
    yield Paragraph(follow_up.ask, f"{name} {STATES[verdict]}:")
    if verdict:
        yield from from_markdown(follow_up.answer, indent=INDENT)
