"""Sentences of a page about a report; other files decide how they are laid out.

A check compares results on cases; the smallest failing case is the one that the page shows.  An
idea is a wrong idea that the question lists, with feedback.

A sentence claims no more than was seen.  About an estimate, no sentence lets a candidate derive the
right number: neither the number itself, nor how far off or in which direction a wrong one is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grader.grading.kinds.registry import kind_named
from grader.model import report as model
from grader.model.number_format import format_count, join_words
from grader.model.report import (
    NON_FAILING_VERDICTS,
    CheckResult,
    IdeaMatch,
    Mismatch,
    Report,
    Verdict,
)

FAULT_PREFIXES = {Verdict.INVALID: "The question is at fault, not your code: "}
STARTER_NOTICE = "This is still the starter's code: below is a symptom, not a cause."
UNCHANGED_NOTICE = (
    "This code passed part {}, and has not changed since: below is a symptom, not a cause."
)
PASSED_BEFORE_NOTICE = "You passed {} before, which stays so."
NO_PENALTY_CLAUSE = "this does not count against you"
_NUMBERS = re.compile(r"your numbers in (both|all|the) [^.]*")
_MAX_INPUTS = 72  # characters of the inputs behind a description of the case


class IdeaParagraph(NamedTuple):
    """One fact about a fault: an idea, or a rule that the results follow."""

    lead: str  # "Idea:", "Rule:"; empty for one of several that share a line before them
    text: str
    feedback: str = ""  # of the question's author


# -- the whole report -----------------------------------------------------------------------------


def grade_title(report: Report, asked: int = 0) -> str:
    """Return the question and the part, such as "ID, part 1 of 3".

    If a part was passed just now, `asked` is the next part, and the title names the part before
    `asked`.  Otherwise `asked` is 0.
    """
    many = len(report.parts)
    if many < 2:
        return report.question
    if asked:
        return f"{report.question}, part {asked - 1} of {many}"
    if report.verdict is not Verdict.PASS:
        return f"{report.question}, part {_current_part(report)} of {many}"
    counted = [number for number, part in enumerate(report.parts, 1) if part.of]
    if len(counted) == many:
        return f"{report.question}, all {many} parts"
    parts = "parts" if len(counted) > 1 else "part"
    return f"{report.question}, {parts} {join_words(counted)} of {many}"


def _current_part(report: Report) -> int:
    failing = failing_required_checks(report)
    if failing:
        return failing[0].part
    return min(report.parts_passed + 1, max(len(report.parts), 1))


def points_line(report: Report, time: str) -> str:
    """Return the points, checks and time of a pass: "4 of 10 points; 3 checks, 12 cases"."""
    facts = []
    if max_points := sum(part.of for part in report.parts):
        points = sum(part.of for part in report.parts if part.verdict is Verdict.PASS)
        facts.append(f"{points} of {format_count(max_points, 'point')}")
    passed = [check for check in report.checks if check.verdict is Verdict.PASS]
    facts.append(format_count(len(passed), "check"))
    if cases := {case for check in passed for case in check.cases}:  # answers have none
        facts[-1] += f", {format_count(len(cases), 'case')}"
    if time:
        facts.append(time)
    return "; ".join(facts)


def measurement_lines(report: Report) -> Iterator[str]:
    """Yield the measurements of a pass, and a line for each optional check that did not pass."""
    costs = []
    for check in report.checks:
        shows_measurement = kind_named(check.kind).shows_measurement
        if check.verdict is Verdict.PASS and check.message and shows_measurement:
            costs.append(f"{check.id} {check.message}")
    if costs:
        yield "; ".join(costs)
    for check in report.checks:
        if check.verdict is Verdict.INCONCLUSIVE:
            yield f"{check.id}: too noisy to decide, {check.message}; {NO_PENALTY_CLAUSE}"
        # "not measured": a class leaves this check out for everybody, so nobody needs the line.
        elif check.verdict is Verdict.SKIPPED and check.message not in {"", "not measured"}:
            yield f"{check.id}: not tried; {check.message}"
        elif check.verdict not in NON_FAILING_VERDICTS:
            missed = kind_named(check.kind).missed_stretch_word
            yield f"{check.id}: {missed}, {check.message}; {NO_PENALTY_CLAUSE}"


def file_problem(report: Report) -> str:
    """Return the message of a report as a sentence: why the file was not graded; "" if it was."""
    text = report.message.strip()
    if text and text.split()[0].isalpha():
        text = text[0].upper() + text[1:]
    text = f"{FAULT_PREFIXES.get(report.verdict, '')}{text}"
    if text and not text.endswith((".", "?", "!")):
        text += "."
    return text


def failing_required_checks(report: Report) -> list[CheckResult]:
    """Return the failing checks that are required, of parts that count, in order."""
    uncounted = {number for number, part in enumerate(report.parts, 1) if not part.of}
    failing = [check for check in report.checks if check.verdict not in NON_FAILING_VERDICTS]
    return [check for check in failing if not check.stretch and check.part not in uncounted]


def passed_checks(report: Report) -> list[str]:
    """Return the ids of the required checks that passed."""
    passed = [check for check in report.checks if check.verdict is Verdict.PASS]
    return [check.id for check in passed if not check.stretch]


def shows_only_symptom(report: Report, *, explain: bool = False) -> bool:
    """Return True for an unchanged starter that was graded, unless `explain` asks for more."""
    return report.unchanged and bool(report.checks) and not explain


# -- one check ------------------------------------------------------------------------------------


def describe_finding(check: CheckResult) -> str:
    """Return the finding of a check: "y is wrong, in 3 of 8 cases. The smallest is tiny (n 2)"."""
    message = short_message(check)
    if not smallest_case(check):
        return f"{message}."
    if len(check.failing) > 1 and check.mismatch:
        if " cases" not in message:
            message += f", in {_failing_cases(check)}"
        return f"{message}. The smallest is {_describe_smallest_case(check)}."
    if "," in message:
        message += ","
    return f"{message} in case {_describe_smallest_case(check)}."


def describe_symptom(check: CheckResult) -> str:
    """Return a symptom, which does not say how a result is wrong: "y is wrong in 3 of 8 cases"."""
    worst = check.mismatch
    if check.raised or worst is None:
        return f"{short_message(check)}."
    if check.estimate:
        return describe_finding(check)
    text = f"{worst.result} is wrong in {_failing_cases(check)}"
    if worst.total < 2:
        return f"{text}."
    text += ":" if len(check.cases) == 1 else f". In the smallest, {smallest_case(check)},"
    return f"{text} {worst.wrong:,} of {worst.total:,} entries differ."


def smallest_case(check: CheckResult) -> str:
    """Return the name of the failing case that the page shows; "" if no case fails."""
    if check.mismatch:
        return check.mismatch.case
    return check.failing[0] if check.failing else ""


def _describe_smallest_case(check: CheckResult) -> str:
    """Return the shown case: its name, its description, and the inputs that no grid shows."""
    case = smallest_case(check)
    if check.raised is not None and check.raised.called_with:
        return case
    panels = check.exhibit.panels if isinstance(check.exhibit, model.Grids) else ()
    in_grids = {panel.title for panel in panels if not panel.note}
    inputs = []
    if not (check.estimate and check.call) and not _is_returned_value(check):
        for name, value in check.inputs.items():
            if name not in in_grids and value != "None":
                inputs.append(f"{name} {value}".rstrip())
    if check.about:
        if len(", ".join(inputs)) > _MAX_INPUTS:
            inputs = [text for text in inputs if "(" not in text]  # numbers rather than shapes
        separator = "," if check.about == model.SMALLER_INPUTS_NOTE else ":"
        case += f"{separator} {check.about}"
    return f"{case} ({', '.join(inputs)})" if inputs else case


def short_message(check: CheckResult) -> str:
    """Return the sentence of a check without its case, which the caller adds once."""
    worst = check.mismatch
    if worst is not None:
        if check.estimate and not worst.expected:
            return _describe_wrong_estimate(check, worst)
        if _is_returned_value(check):
            values = f"{_without_type(worst.observed)}, expected {_without_type(worst.expected)}"
            return f"{check.call} returned {values}{_in_how_many_cases(check, worst)}"
    case = smallest_case(check)
    text = check.message.strip().removesuffix(".")
    for ending in (f"; the smallest is {case}", f" in case {case}", f" (case {case})"):
        text = text.removesuffix(ending)
    return text or check.verdict


def _describe_wrong_estimate(check: CheckResult, worst: Mismatch) -> str:
    if not isinstance(check.exhibit, model.Breakdown):
        subject = f"{check.call} returned" if check.call else f"{worst.result} is"
        wrong = f"{_without_type(worst.observed)}, which is wrong"
        return f"{subject} {wrong}{_in_how_many_cases(check, worst)}"
    if not (check.call or check.inputs):  # numbers of a file of answers
        names = [row.name for row in check.exhibit.rows if row.note]
        return f"{join_words(names)} {'is' if len(names) == 1 else 'are'} wrong"
    name = check.call or worst.result.partition("[")[0]
    return f"{name} has {worst.wrong} of {worst.total} parts wrong"


def _without_type(value: str) -> str:
    return re.sub(r"^the (number|text) ", "", value)


def _in_how_many_cases(check: CheckResult, worst: Mismatch) -> str:
    if len(check.failing) < 2:
        return ""
    return f"; {worst.result} is wrong in {_failing_cases(check)}"


def _is_returned_value(check: CheckResult) -> bool:
    """Return True if the mismatch is the value of a call, and not its shape or one entry."""
    worst = check.mismatch
    if not check.call or worst is None or worst.index is not None:
        return False
    return check.message.startswith((f"{worst.result} is ", f"{worst.result} differs in "))


def _failing_cases(check: CheckResult) -> str:
    if len(check.cases) == 1:
        return f"case {smallest_case(check)}"
    return f"{len(check.failing)} of {format_count(len(check.cases), 'case')}"


def worst_entry(check: CheckResult, message: str) -> str:
    """Return the worst entry: "y[0, 2] is 0.5, expected 0.25; 3 of 12 entries differ".

    Empty if the message has these figures already, for an estimate, and for answers in a table.
    """
    worst = check.mismatch
    in_answers = isinstance(check.exhibit, model.Breakdown) and not check.inputs  # has a table
    if worst is None or check.estimate or in_answers:
        return ""
    values = f"is {worst.observed}, expected {worst.expected}"
    if values in message:
        return ""
    if worst.index is None:
        # The figures of a message on several cases are counts or inputs: equal by chance only.
        if not worst.observed or (" differs in " not in message and worst.observed in message):
            return ""
    index = f"[{', '.join(map(str, worst.index))}]" if worst.index else ""
    text = f"{worst.result}{index} {values}"
    if worst.allowed:
        text += f" (allowed\xa0{worst.allowed})"
    if 1 < worst.wrong < worst.total:
        text += f"; {worst.wrong:,} of {worst.total:,} entries differ"
    return text


# -- ideas ----------------------------------------------------------------------------------------


def idea_paragraphs(report: Report, *, complete: bool = True) -> list[IdeaParagraph]:
    """Return the facts about the fault, the surest first.

    If the report leaves some of them out, `complete` is False: then no sentence says that no listed
    idea fits.
    """
    named = report.misconceptions
    failing = failing_required_checks(report)
    # Checks that measure are named in the places where others name a result.
    measuring = {check.id for check in report.checks if not kind_named(check.kind).judges_values}
    is_pair = any(explanation.kind == "pair" for explanation in report.explanations)
    if is_pair and len(named) > 1:
        text = f"{_join_ids(named)}; together they give exactly your numbers."
        with_feedback = [idea for idea in named if idea.feedback.strip()]
        paragraphs = [IdeaParagraph("Two ideas:", text), *map(_listed_idea, with_feedback)]
    else:
        paragraphs = _exact_ideas(report, measuring)
    for explanation in report.explanations:
        if explanation.kind == "results":
            paragraphs.append(IdeaParagraph("Facts:", explanation.text))
        elif explanation.kind != "pair":
            text = explanation.text + _name_other_cases(explanation.cases, report)
            paragraphs.append(IdeaParagraph("Rule:", text))
    if not is_pair:
        paragraphs += [_unsure_idea(m, report, measuring) for m in named if not m.exact]
    values_differ = any(c.mismatch and kind_named(c.kind).judges_values for c in failing)
    if not paragraphs and complete and values_differ and not report.note:
        paragraphs.append(IdeaParagraph("", "No listed idea gives exactly these numbers."))
    if any(idea.rounded for idea in named):
        paragraphs = [p._replace(text=p.text.replace("exactly ", "")) for p in paragraphs]
    if not any(check.failing for check in failing):  # a file of answers has no cases
        paragraphs = [p._replace(text=_NUMBERS.sub("what you wrote", p.text)) for p in paragraphs]
    return paragraphs


def _exact_ideas(report: Report, measuring: set[str]) -> list[IdeaParagraph]:
    """Return the ideas that give exactly the results of the submission."""
    exact = [idea for idea in report.misconceptions if idea.exact]
    if not exact:
        return []
    first = exact[0]
    if len(exact) > 1:
        cases = f"its part of the {_count_cases(first.failing)}"
        if all(idea.cases >= first.failing for idea in exact):
            cases = _all_cases(first.failing)
        text = f"{_join_ids(exact)}; each gives exactly your numbers in {cases}."
        many = {2: "Two", 3: "Three", 4: "Four"}.get(len(exact), len(exact))
        return [IdeaParagraph(f"{many} ideas:", text), *map(_listed_idea, exact)]
    text = f"{first.id}. {_describe_extent(first, measuring)}"
    if not any(check.id in first.checks for check in failing_required_checks(report)[:1]):
        text += _name_other_cases(first.seen, report)
    return [IdeaParagraph("Idea:", text, first.feedback)]


def _describe_extent(idea: IdeaMatch, measuring: set[str]) -> str:
    """Return how much an idea explains: "It gives exactly your numbers in the failing case"."""
    if idea.results and measuring.issuperset(idea.results):
        return f"It gives exactly what {join_words(idea.results)} measured; values agree."
    if not idea.cases and idea.results:
        return f"It gives exactly your {join_words(idea.results)}; more than that is wrong."
    if 0 < idea.cases < idea.failing:
        cases = f"{idea.cases} of the {_count_cases(idea.failing)}"
        return f"It gives exactly your numbers in {cases}; something else is wrong in the others."
    return f"It gives exactly your numbers in {_all_cases(idea.failing or idea.cases)}."


def _join_ids(ideas: Sequence[IdeaMatch]) -> str:
    return join_words((idea.id for idea in ideas), 3)


def _listed_idea(idea: IdeaMatch) -> IdeaParagraph:
    place = f", in {idea.checks[0]}" if idea.checks else ""
    return IdeaParagraph("", f"{idea.id}{place}:", idea.feedback)


def _unsure_idea(idea: IdeaMatch, report: Report, measuring: set[str]) -> IdeaParagraph:
    """Return an idea that may not be the cause, and why: a doubt, or a case it does not explain."""
    if idea.results and measuring.issuperset(idea.results):
        kept = "inputs and results as yours, but a different number of bytes"
        return IdeaParagraph("Unsure:", f"{idea.id}. It keeps the same {kept}.", idea.feedback)
    if idea.doubt:
        cases = _all_cases(idea.failing)
        text = f"{idea.id}. It gives exactly your numbers in {cases}, {idea.doubt}."
        return IdeaParagraph("Unsure:", text, idea.feedback)
    results = f"your {join_words(idea.results)}" if idea.results else "your numbers"
    cases = f"{idea.cases} of {_count_cases(idea.failing)}" if idea.cases else "some cases"
    text = f"{idea.id} gives {results} in {cases}"
    failing = [case for check in failing_required_checks(report) for case in check.failing]
    unexplained = [case for case in failing if case not in idea.seen]
    if idea.seen and unexplained:
        text += f", not what is wrong in case {unexplained[0]}."
    else:
        text += ", and not what else is wrong."
    return IdeaParagraph("Unsure:", text + _name_other_cases(idea.seen, report), idea.feedback)


def _name_other_cases(cases: Sequence[str], report: Report) -> str:
    """Return a sentence on the cases of a paragraph; "" if the page shows one of them."""
    failing = failing_required_checks(report)
    shown_case = smallest_case(failing[0]) if failing else ""
    if not shown_case or not cases or shown_case in cases:
        return ""
    if len(cases) > 3:
        cases = [*cases[:2], f"{len(cases) - 2} more"]
    return f" This is about {join_words(cases)}, not about {shown_case} above."


# -- other checks ---------------------------------------------------------------------------------


def other_checks(report: Report, most: int = 6) -> Iterator[tuple[str, str]]:
    """Yield leads with texts on the other checks, as ("Right:", "shape, values.").

    The texts name the checks that fail after the first failing one, and those that pass, and count
    those not tried.  A text has at most `most` names.
    """
    failing = failing_required_checks(report)
    passed = passed_checks(report)
    if not report.message:
        yield from _other_failing_checks(failing[1:], most)
    if passed and failing:
        yield "Right:", f"{_join_some(passed, most)}."
    if report.message:
        return
    skipped = [c for c in report.checks if c.verdict is Verdict.SKIPPED and c.blocked_by]
    waiting = [check for check in skipped if check.part <= _current_part(report)]
    if waiting and failing:
        yield "Not tried:", f"{format_count(len(waiting), 'check')}, until {failing[0].id} passes."


def _other_failing_checks(checks: Sequence[CheckResult], most: int) -> Iterator[tuple[str, str]]:
    reported = [check for check in checks if kind_named(check.kind).always_reported]
    names = [check.id for check in checks if check not in reported]
    if len(checks) == len(names) == 1 and kind_named(checks[0].kind).shows_measurement:
        names = [f"{names[0]}, {checks[0].message}"]
    if names:
        yield "Also fails:", f"{_join_some(names, most)}."
    for check in reported:
        yield f"{check.id}:", f"{check.message}."


def _join_some(names: Sequence[str], most: int) -> str:
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return ", ".join(names)


def _count_cases(count: int) -> str:
    return format_count(count, "failing case")


def _all_cases(count: int) -> str:
    if count > 2:
        return f"all {_count_cases(count)}"
    return "both failing cases" if count == 2 else "the failing case"


def changes_since(before: Report, now: Report, until: int) -> str:
    """Return the change between two grades: "Since the last save: shape passes now; new: values".

    New failures in parts after `until` are left out.  The text is "" if a grade has no checks.
    """
    if not (before.checks and now.checks):
        return ""
    failed_before = {check.id for check in failing_required_checks(before)}
    passed = [c.id for c in now.checks if c.id in failed_before and c.verdict is Verdict.PASS]
    failing = [check for check in failing_required_checks(now) if check.part <= until]
    new = [check.id for check in failing if check.id not in failed_before]
    changes = []
    if passed:
        changes.append(f"{_join_some(passed, 4)} {'passes' if len(passed) == 1 else 'pass'} now")
    if new:
        changes.append(f"new: {_join_some(new, 4)}")
    return f"Since the last save: {'; '.join(changes) or 'no check changed'}."


def first_sentences(text: str, most: int) -> tuple[str, bool]:
    """Return the first `most` sentences of a text on one line, and True if there are more."""
    parts = re.split(r"(?<=[.!?:])\s+(?=[A-Z`])", " ".join(text.split()))
    return " ".join(parts[:most]), len(parts) > most
