"""What a page says of a report, as sentences; how they are laid out is decided elsewhere.

A sentence claims no more than was seen.  Of an estimate nothing is said from which the right number
could be had: neither it, nor how far off or in which direction a wrong one is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.kinds.registry import get
from grader.model.numerals import quantity
from grader.model.report import (
    MADE_SMALLER,
    Breakdown,
    CheckResult,
    Explanation,
    Grids,
    Mismatch,
    Named,
    Report,
)
from grader.model.verdict import FINE, Verdict
from grader.reports.sheet import joined

BLAME = {
    Verdict.INVALID: "The question is at fault, not your code: ",
    Verdict.INTERNAL: "The grader is at fault, not your code: ",
}
STARTER = "This is the starter, unchanged: below is a symptom, not a cause."
HARMLESS = "this does not count against you"
_LEADS = {"state": "Rule:", "rule": "Rule:", "class": "Rule:"}  # by kind of explanation
_NUMBERS = {2: "Two", 3: "Three", 4: "Four"}
_LONGEST_INPUTS = 72  # characters of what stands behind a description of the case


@dataclass(frozen=True, slots=True)
class Idea:
    """One thing that is known of a fault."""

    lead: str  # "Idea:", "Rule:"; empty for one of several that share a line before them
    text: str
    feedback: str = ""  # what the author of the question says of it


def head(report: Report, asked: int = 0) -> str:
    """Which question, and which part of it: "ID, part 1 of 3".

    Args:
        report: of a grade.
        asked: the number of the part that is asked because those before it pass; 0 if none is.
    """
    many = len(report.parts)
    if many < 2:
        return report.question
    if asked:
        return f"{report.question}, part {asked - 1} of {many}"
    if report.verdict is not Verdict.PASS:
        return f"{report.question}, part {_reached(report)} of {many}"
    counted = [n for n, part in enumerate(report.parts, 1) if part.of]
    if len(counted) == many:
        return f"{report.question}, all {many} parts"
    return f"{report.question}, part{'s' * (len(counted) > 1)} {joined(counted)} of {many}"


def _reached(report: Report) -> int:
    """The number of the part that fails."""
    failing = deciding(report)
    return failing[0].part if failing else min(report.parts_passed + 1, max(len(report.parts), 1))


def earned(report: Report, time: str = "") -> str:
    """Points, checks and time of a pass."""
    passed = [c for c in report.checks if c.verdict is Verdict.PASS]
    cases = {case for c in passed for case in c.cases}
    facts = [f"{quantity(len(passed), 'check')}, {quantity(len(cases), 'case')}", time]
    if of := sum(part.of for part in report.parts):
        points = sum(part.points for part in report.parts)
        facts.insert(0, f"{points} of {quantity(of, 'point')}")
    return "; ".join(filter(None, facts))


def measured(report: Report) -> Iterator[str]:
    """What was measured of a pass, and the goals that were missed."""
    passed = [c for c in report.checks if c.verdict is Verdict.PASS and c.message]
    costs = [f"{c.id} {c.message}" for c in passed if get(c.kind).shows_measurement]
    if costs:
        yield "; ".join(costs)
    for check in report.checks:  # what did not pass and need not
        if check.verdict is Verdict.INCONCLUSIVE:
            yield f"{check.id}: too noisy to decide, {check.message}; {HARMLESS}"
        elif check.verdict is Verdict.SKIPPED and check.message:
            yield f"{check.id}: not tried; {check.message}"
        elif check.verdict not in FINE:
            missed = get(check.kind).missed
            yield f"{check.id}: {missed}, {check.message}; {HARMLESS}"


def about_the_file(report: Report) -> str:
    """Why a submission never got as far as a check, as a sentence."""
    text = report.message.strip()
    if text and text.split()[0].isalpha():
        text = text[0].upper() + text[1:]
    text = f"{BLAME.get(report.verdict, '')}{text}"
    return text if text.endswith((".", "?", "!")) or not text else f"{text}."


def deciding(report: Report) -> list[CheckResult]:
    """The checks that keep the submission from passing, in order."""
    idle = {number for number, part in enumerate(report.parts, 1) if not part.of}
    return [
        check
        for check in report.checks
        if not check.stretch and check.verdict not in FINE and check.part not in idle
    ]


def keeps_back(report: Report, *, explain: bool = False) -> bool:
    """Whether only a symptom is shown: of the starter as it was handed out, unless asked for."""
    return report.unchanged and bool(report.checks) and not explain


def finding(check: CheckResult) -> str:
    """What a check found, on how many cases, and the smallest of them."""
    case, place = smallest(check), where(check)
    said = _said(check, case)
    if not case:
        return f"{said}."
    if len(check.failing) > 1 and check.mismatch:
        many = "" if " cases" in said else f", in {_of(check)}"
        return f"{said}{many}. The smallest is {place}"
    return f"{said}{',' if ',' in said else ''} in case {place}"


def symptom(check: CheckResult) -> str:
    """What is seen of an untouched starter: that something is wrong, and on which case."""
    worst = check.mismatch
    if check.raised or worst is None:
        return f"{_said(check, smallest(check))}."
    if check.estimate:
        return finding(check)
    count = f"{worst.wrong:,} of {worst.total:,} entries differ" if worst.total > 1 else ""
    text = f"{worst.result} is wrong in {_of(check)}"
    if not count:
        return f"{text}."
    one = len(check.cases) == 1
    return f"{text}: {count}." if one else f"{text}. In the smallest, {smallest(check)}, {count}."


def smallest(check: CheckResult) -> str:
    """The case that is shown."""
    return check.mismatch.case if check.mismatch else next(iter(check.failing), "")


def where(check: CheckResult) -> str:
    """The case that is shown, in the question's words, with the inputs that no grid shows."""
    panels = check.exhibit.panels if isinstance(check.exhibit, Grids) else ()
    shown = {panel.title for panel in panels if not panel.note}
    said = check.estimate and check.call
    given = {} if said or _is_called(check) else check.inputs
    texts = [f"{name} {words}".rstrip() for name, words in given.items() if name not in shown]
    if check.about and len(", ".join(texts)) > _LONGEST_INPUTS:
        texts = [text for text in texts if "(" not in text]  # numbers rather than shapes
    inputs, case = ", ".join(texts), smallest(check)
    if check.raised is not None and check.raised.called_with:
        return f"{case}."
    if not check.about:
        return f"{case} ({inputs})." if inputs else f"{case}."
    about = f", {check.about}" if check.about == MADE_SMALLER else f": {check.about}"
    return f"{case}{about} ({inputs})." if inputs else f"{case}{about}."


def _said(check: CheckResult, case: str) -> str:
    """The sentence of a check without its case, which is said once; with the call, if short."""
    worst = check.mismatch
    if worst is not None and check.estimate and not worst.expected:
        if not isinstance(check.exhibit, Breakdown):
            found = re.sub(r"^the (number|text) ", "", worst.observed)
            said = f"{check.call} returned" if check.call else f"{worst.result} is"
            more = f"; {worst.result} is wrong in {_of(check)}" if len(check.failing) > 1 else ""
            return f"{said} {found}, which is wrong{more}"
        if not (check.call or check.inputs):  # numbers that were written, and not computed
            wrong = [row.name for row in check.exhibit.rows if row.note]
            return f"{joined(wrong)} {'is' if len(wrong) == 1 else 'are'} wrong"
        name = check.call or worst.result.partition("[")[0]
        return f"{name} has {worst.wrong} of {worst.total} parts wrong"
    if worst is not None and _is_called(check):
        found, wanted = (
            text.removeprefix("the number ").removeprefix("the text ")
            for text in (worst.observed, worst.expected)
        )
        said = f"{check.call} returned {found}, expected {wanted}"
        many = len(check.failing) > 1
        return f"{said}; {worst.result} is wrong in {_of(check)}" if many else said
    text = check.message.strip().removesuffix(".")
    for ending in (f"; the smallest is {case}", f" in case {case}", f" (case {case})"):
        text = text.removesuffix(ending)
    return text or check.verdict


def _is_called(check: CheckResult) -> bool:
    """Whether a value, and not a shape or an entry, is what a call returned."""
    worst = check.mismatch
    if not check.call or worst is None or worst.index is not None:
        return False
    return bool(re.match(rf"{re.escape(worst.result)} (is|differs in) ", check.message))


def _of(check: CheckResult) -> str:
    """How many cases fail."""
    if len(check.cases) == 1:
        return f"case {smallest(check)}"
    return f"{len(check.failing)} of {quantity(len(check.cases), 'case')}"


def entry(worst: Mismatch, message: str) -> str:
    """The worst entry in figures, and how many are wrong; '' where a message says it already."""
    if worst.index is None and (not worst.observed or worst.observed in message):
        return ""
    if f"is {worst.observed}, expected {worst.expected}" in message:
        return ""
    index = f"[{', '.join(map(str, worst.index))}]" if worst.index else ""
    allowed = f" (allowed\xa0{worst.allowed})" if worst.allowed else ""
    text = f"{worst.result}{index} is {worst.observed}, expected {worst.expected}{allowed}"
    if 1 < worst.wrong < worst.total:
        text += f"; {worst.wrong:,} of {worst.total:,} entries differ"
    return text


def ideas(report: Report, *, complete: bool = True) -> list[Idea]:
    """What is known of the fault, the surest first.

    Args:
        report: what the grade found.
        complete: whether all that is known of the fault is in it.
    """
    exact = [m for m in report.misconceptions if m.exact]
    pair = next((e for e in report.explanations if e.kind == "pair"), None)
    found: list[Idea] = []
    if pair is not None and len(report.misconceptions) > 1:
        found += _together(report.misconceptions, len(pair.cases))
    elif len(exact) > 1:
        found += _several(exact)
    elif exact:
        one = _one(exact[0], _measured(report))
        found.append(replace(one, text=one.text + _not_shown(exact[0].seen, report)))
    for explanation in report.explanations:
        lead = _LEADS.get(explanation.kind)
        if lead is not None:
            found.append(Idea(lead, explanation.text + _not_shown(explanation.cases, report)))
        elif explanation.kind == "check" and _is_news(report, explanation):
            found.append(Idea("Facts:", explanation.text))
    if pair is None:
        found += [_unsure(m, report) for m in report.misconceptions if not m.exact]
    judged = any(c.mismatch and get(c.kind).judges_values for c in deciding(report))
    if not found and complete and judged and not report.note:
        found.append(Idea("", "No listed idea gives exactly these numbers."))
    if any(m.rounded for m in report.misconceptions):
        found = [replace(one, text=one.text.replace("exactly ", "")) for one in found]
    return found


def _is_news(report: Report, explanation: Explanation) -> bool:
    """Whether it says more than the check's line: what was wrong before something raised."""
    return any(f"; after that {check.message}" in explanation.text for check in report.checks)


def _measured(report: Report) -> set[str]:
    """Checks that measure, which are named where others name a result."""
    return {c.id for c in report.checks if not get(c.kind).judges_values}


def _one(idea: Named, measured: set[str]) -> Idea:
    if idea.results and set(idea.results) <= measured:
        text = f"{idea.id}. It gives exactly what {joined(idea.results)} measured; values agree."
        return Idea("Idea:", text, idea.feedback)
    text = f"{idea.id}. It gives exactly your numbers in {_all(idea.failing or idea.cases)}."
    if not idea.cases and idea.results:
        text = f"{idea.id}. It gives exactly your {joined(idea.results)}; more than that is wrong."
    elif 0 < idea.cases < idea.failing:
        text = (
            f"{idea.id}. It gives exactly your numbers in {idea.cases} of the {idea.failing} "
            "failing cases; something else is wrong in the others."
        )
    return Idea("Idea:", text, idea.feedback)


def _together(named: Sequence[Named], cases: int) -> Iterator[Idea]:
    """Two ideas that explain everything between them."""
    alone = [idea.cases for idea in named]
    each = (
        f"each alone fits {alone[0]}" if len(set(alone)) < 2 else f"alone they fit {joined(alone)}"
    )
    text = f"{each} of the {cases} failing cases, together exactly all {cases}."
    if cases < 2 or not all(alone):
        text = "together they give exactly your numbers."
    described = [idea for idea in named if idea.feedback.strip()]
    names = "" if described else f"{joined([idea.id for idea in named])}: "
    yield Idea("Two ideas:", names + text)
    yield from map(_listed, described)


def _several(exact: Sequence[Named]) -> Iterator[Idea]:
    """Ideas that are all exact: of different results, or not to be told from each other."""
    failing = exact[0].failing
    whole = all(idea.cases >= failing for idea in exact)
    of = _all(failing) if whole else f"its own part of the {failing} failing cases"
    text = f"each gives exactly your numbers in {of}."
    yield Idea(f"{_NUMBERS.get(len(exact), len(exact))} ideas:", text)
    yield from map(_listed, exact)


def _listed(idea: Named) -> Idea:
    place = f", in {idea.checks[0]}" if idea.checks else ""
    return Idea("", f"{idea.id}{place}:", idea.feedback)


def _unsure(idea: Named, report: Report) -> Idea:
    """An idea that fits a part, with a case that it does not fit."""
    if idea.results and set(idea.results) <= _measured(report):
        of = "inputs and results as yours, in another number of bytes"
        text = f"{idea.id}. It keeps the same {of}."
        return Idea("Unsure:", text, idea.feedback)
    results = f"your {joined(idea.results)}" if idea.results else "your numbers"
    where = f"{idea.cases} of {idea.failing} failing cases" if idea.cases else "some cases"
    failing = dict.fromkeys(case for check in deciding(report) for case in check.failing)
    other = next((case for case in failing if case not in idea.seen), "") if idea.seen else ""
    text = f"{idea.id} gives {results} in {where}"
    text += f", not what is wrong in case {other}." if other else ", and not what else is wrong."
    return Idea("Unsure:", text + _not_shown(idea.seen, report), idea.feedback)


def _not_shown(cases: Sequence[str], report: Report) -> str:
    """Which cases something is said of, where the one that is shown is none of them."""
    failing = deciding(report)
    shown = smallest(failing[0]) if failing else ""
    if not shown or not cases or shown in cases:
        return ""
    several = [*cases[:2], f"{len(cases) - 2} more"] if len(cases) > 3 else cases
    return f" This is about {joined(several)}, not about {shown} above."


def others(report: Report, room: int = 67) -> Iterator[tuple[str, str]]:
    """What else fails, what passes, and what was not tried: a lead and the rest of its line.

    Of many checks as many are named as fit on a line of `room` characters.
    """
    failing, part = deciding(report), _reached(report)
    said = [c for c in failing[1:] if get(c.kind).always_said]
    names = [c.id for c in failing[1:] if c not in said]
    if len(names) == 1 == len(failing[1:]) and get(failing[1].kind).shows_measurement:
        names = [f"{names[0]}, {failing[1].message}"]
    if names:
        yield "Also fails:", f"{_some(names, room)}."
    yield from ((f"{check.id}:", f"{check.message}.") for check in said)
    passed = [c.id for c in report.checks if c.verdict is Verdict.PASS and not c.stretch]
    if passed and failing:
        right = f"{_some(passed, room - 7)} {'pass' if len(passed) > 1 else 'passes'}."
        if report.verdict is Verdict.POLICY:
            yield "Right all the same:", f"{right} A person may look at this."
        else:
            yield "Not to blame:", right
    skipped = [c for c in report.checks if c.verdict is Verdict.SKIPPED and c.part <= part]
    waiting = [c for c in skipped if c.blocked_by]
    if waiting and failing:
        yield "Not tried:", f"{quantity(len(waiting), 'check')}, until {failing[0].id} passes."
    if any(check.of for check in report.checks):  # else no part of them can be earned
        points = sum(one.points for one in report.parts)
        yield "Earned:", f"{points} of {quantity(sum(one.of for one in report.parts), 'point')}."


def _some(names: Sequence[str], room: int) -> str:
    """As many names as there is room for, and how many more there are."""
    for kept in range(len(names), 1, -1):
        more = f", {len(names) - kept} more" if kept < len(names) else ""
        text = ", ".join(names[:kept]) + more
        if len(text) <= room:
            return text
    return names[0] if len(names) == 1 else f"{names[0]}, {len(names) - 1} more"


def _all(cases: int) -> str:
    """Every failing case."""
    if cases <= 2:
        return "both failing cases" if cases == 2 else "the failing case"
    return f"all {cases} failing cases"


def sentences(text: str, most: int | None) -> tuple[str, bool]:
    """The first sentences of a text on one line, and whether there are more."""
    whole = " ".join(text.split())
    parts = re.split(r"(?<=[.!?:])\s+(?=[A-Z`])", whole)
    if most is None or len(parts) <= most:
        return whole, False
    return " ".join(parts[:most]), True
