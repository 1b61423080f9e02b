"""`drill hint` and `drill solution`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import output, place
from grader.cli.choose import Choice, choose
from grader.cli.journal import Journal
from grader.cli.words import quantity
from grader.model.errors import UsageError
from grader.records import progress

_UNFOLDED = 1_000_000  # columns: code that is to be copied is not folded

if TYPE_CHECKING:
    from grader.model.question import Question


def hint(question_id: str | None, *, bank: Path | None, as_json: bool) -> int:
    """Show one hint more than last time; when there is none left, all of them."""
    journal = Journal()
    choice = choose(question_id, bank=bank, journal=journal)
    hints = choice.question.spec.hints
    if not hints:
        return _no_hints(choice, as_json=as_json)
    # Wrapped in a tuple, because None already means that nothing could be written.
    counted = journal.write(lambda db: (progress.show_hint(db, choice.question.id, len(hints)),))
    place_of = counted[0] if counted is not None else 0
    shown = [*enumerate(hints, 1)] if place_of is None else [(place_of + 1, hints[place_of])]
    left = len(hints) - shown[-1][0]
    if as_json:
        output.document(
            {
                "format": 1,
                "question": choice.question.id,
                "hints": [{"number": number, "text": text} for number, text in shown],
                "left": left,
            }
        )
        return 0
    for number, text in shown:
        output.write(f"hint {number} of {len(hints)}")
        _prose(text, indent=4)
    output.write()
    if left:
        output.write(f"{quantity(left, 'more hint')}: drill hint{choice.argument}")
    else:
        again = "these were all the hints" if place_of is None else "that was the last hint"
        output.write(f"{again}; drill solution{choice.argument} --give-up shows the solution")
    return 0


def solution(question_id: str | None, *, bank: Path | None, give_up: bool, as_json: bool) -> int:
    """Show the reference solution, to a person who passed or who gives up."""
    journal = Journal()
    choice = choose(question_id, bank=bank, journal=journal)
    question = choice.question
    passed = journal.read(lambda db: progress.passed(db, question.id), otherwise=False)
    earlier = journal.read(lambda db: progress.given_up(db, question.id), otherwise=False)
    if not (passed or earlier or give_up):
        raise UsageError(
            f"the solution of {question.id} is shown after a pass",
            hint=f"drill hint{choice.argument} for a nudge;"
            f" drill solution{choice.argument} --give-up shows it now",
        )
    if not (passed or earlier):
        journal.write(lambda db: progress.give_up(db, question.id, place.now()))
    source = question.handed_out(question.reference).decode("utf-8", "replace")
    if as_json:
        output.document(
            {
                "format": 1,
                "question": question.id,
                "passed": passed,
                "solution": source,
                "follow_ups": [f.model_dump() for f in question.spec.follow_ups],
                "sources": list(question.spec.sources),
            }
        )
    else:
        _show(question, source)
    return 0


def _show(question: Question, source: str) -> None:
    from grader.reports.page import Page
    from grader.reports.prose import Code

    spec = question.spec
    output.heading(f"{question.id}  a solution")
    output.write()
    output.show(Page([Code(source, _UNFOLDED, indent=0)]))
    if spec.follow_ups:
        output.write()
        output.heading("to think about")
        for follow_up in spec.follow_ups:
            output.write()
            _prose(follow_up.ask, indent=2)
            _prose(follow_up.answer, indent=4)
    if spec.sources:
        output.write()
        output.heading("sources")
        _prose("\n".join(f"- {' '.join(source.split())}" for source in spec.sources), indent=2)


def _prose(text: str, *, indent: int) -> None:
    from grader.reports.page import Page, measure
    from grader.reports.prose import prose_lines

    output.show(Page(prose_lines(text, measure(output.width()), indent=indent)))


def _no_hints(choice: Choice, *, as_json: bool) -> int:
    name = choice.question.id
    if as_json:
        output.document({"format": 1, "question": name, "hints": [], "left": 0})
    else:
        output.write(f"{name} has no hints")
    return 0
