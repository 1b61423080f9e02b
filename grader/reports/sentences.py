"""What a page says of a report, as sentences; how they are laid out is decided elsewhere.

A sentence claims no more than was seen.  Of an estimate nothing is said from which the right number
could be had: neither it, nor how far off or in which direction a wrong one is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grader.grading.kinds.registry import kind_named
from grader.model import report as model
from grader.model.number_format import format_count, join_words
from grader.model.report import NON_FAILING_VERDICTS, CheckResult, IdeaMatch, Report, Verdict

FAULT_PREFIXES = {
    Verdict.INVALID: "The question is at fault, not your code: ",
}
STARTER_NOTICE = "This is still the starter's code: below is a symptom, not a cause."
UNCHANGED_NOTICE = (
    "This code passed part {}, and has not changed since: below is a symptom, not a cause."
)
PASSED_BEFORE_NOTICE = "You passed {} before, which stays so."
NO_PENALTY_CLAUSE = "this does not count against you"
_NUMBERS = re.compile(r"your numbers in (both|all|the) [^.]*")
_LONGEST_INPUTS = 72  # characters of what stands behind a description of the case


class IdeaParagraph(NamedTuple):
    """One thing that is known of a fault."""

    lead: str  # "Idea:", "Rule:"; empty for one of several that share a line before them
    text: str
    feedback: str = ""  # what the author of the question says of it


def grade_title(report: Report, asked: int = 0) -> str:
    """Which question, and which part: "ID, part 1 of 3", where part 2 is `asked` after a pass."""
    many = len(report.parts)
    if many < 2:
        return report.question
    if asked or report.verdict is not Verdict.PASS:
        return f"{report.question}, part {asked - 1 if asked else _reached(report)} of {many}"
    counted = [n for n, part in enumerate(report.parts, 1) if part.of]
    if len(counted) == many:
        return f"{report.question}, all {many} parts"
    return f"{report.question}, part{'s' * (len(counted) > 1)} {join_words(counted)} of {many}"


def _reached(report: Report) -> int:
    failing = failing_required_checks(report)
    return failing[0].part if failing else min(report.parts_passed + 1, max(len(report.parts), 1))


def points_line(report: Report, time: str) -> str:
    """Points, checks and time of a pass."""
    passed = [c for c in report.checks if c.verdict is Verdict.PASS]
    cases = {case for c in passed for case in c.cases}
    tried = f", {format_count(len(cases), 'case')}" * bool(cases)  # what is written has none
    facts = [f"{format_count(len(passed), 'check')}{tried}", time]
    if of := sum(part.of for part in report.parts):
        got = sum(part.of for part in report.parts if part.verdict is Verdict.PASS)
        facts.insert(0, f"{got} of {format_count(of, 'point')}")
    return "; ".join(filter(None, facts))


def measurement_lines(report: Report) -> Iterator[str]:
    """What was measured of a pass, and the goals that were missed."""
    passed = [c for c in report.checks if c.verdict is Verdict.PASS and c.message]
    costs = [f"{c.id} {c.message}" for c in passed if kind_named(c.kind).shows_measurement]
    yield from ["; ".join(costs)] if costs else []
    for check in report.checks:  # what did not pass and need not
        if check.verdict is Verdict.INCONCLUSIVE:
            yield f"{check.id}: too noisy to decide, {check.message}; {NO_PENALTY_CLAUSE}"
        # What is only reported a class leaves out for all, which helps nobody to know.
        elif check.verdict is Verdict.SKIPPED and check.message not in {"", "not measured"}:
            yield f"{check.id}: not tried; {check.message}"
        elif check.verdict not in NON_FAILING_VERDICTS:
            yield f"{check.id}: {kind_named(check.kind).missed_stretch_word}, {check.message}; {NO_PENALTY_CLAUSE}"


def file_problem(report: Report) -> str:
    """Why a submission never got as far as a check, as a sentence."""
    text = report.message.strip()
    if text and text.split()[0].isalpha():
        text = text[0].upper() + text[1:]
    text = f"{FAULT_PREFIXES.get(report.verdict, '')}{text}"
    return text if text.endswith((".", "?", "!")) or not text else f"{text}."


def failing_required_checks(report: Report) -> list[CheckResult]:
    """The checks that keep the submission from passing, in order."""
    idle = {number for number, part in enumerate(report.parts, 1) if not part.of}
    wrong = (check for check in report.checks if check.verdict not in NON_FAILING_VERDICTS)
    return [check for check in wrong if not check.stretch and check.part not in idle]


def shows_only_symptom(report: Report, *, explain: bool = False) -> bool:
    """Whether only a symptom is shown: of the starter as it was handed out, unless asked for."""
    return report.unchanged and bool(report.checks) and not explain


def describe_finding(check: CheckResult) -> str:
    """What a check found, on how many cases, and the smallest of them."""
    said = short_message(check)
    if not smallest_case(check):
        return f"{said}."
    if len(check.failing) > 1 and check.mismatch:
        many = "" if " cases" in said else f", in {_of(check)}"
        return f"{said}{many}. The smallest is {_where(check)}."
    return f"{said}{',' if ',' in said else ''} in case {_where(check)}."


def describe_symptom(check: CheckResult) -> str:
    """What is seen of an untouched starter: that something is wrong, and on which case."""
    worst = check.mismatch
    if check.raised or worst is None:
        return f"{short_message(check)}."
    if check.estimate:
        return describe_finding(check)
    text = f"{worst.result} is wrong in {_of(check)}"
    if worst.total < 2:
        return f"{text}."
    where = ":" if len(check.cases) == 1 else f". In the smallest, {smallest_case(check)},"
    return f"{text}{where} {worst.wrong:,} of {worst.total:,} entries differ."


def smallest_case(check: CheckResult) -> str:
    """The case that is shown."""
    return check.mismatch.case if check.mismatch else next(iter(check.failing), "")


def _where(check: CheckResult) -> str:
    """The case that is shown, in the question's words, with the inputs that no grid shows."""
    case = smallest_case(check)
    if check.raised is not None and check.raised.called_with:
        return case
    panels = check.exhibit.panels if isinstance(check.exhibit, model.Grids) else ()
    shown = {panel.title for panel in panels if not panel.note}
    given = {} if (check.estimate and check.call) or _is_called(check) else check.inputs
    texts = [
        f"{name} {words}".rstrip()
        for name, words in given.items()
        if name not in shown and words != "None"  # which is: not given
    ]
    if check.about and len(", ".join(texts)) > _LONGEST_INPUTS:
        texts = [text for text in texts if "(" not in text]  # numbers rather than shapes
    if check.about:
        case += f"{',' if check.about == model.SMALLER_INPUTS_NOTE else ':'} {check.about}"
    return f"{case} ({', '.join(texts)})" if texts else case


def short_message(check: CheckResult) -> str:
    """The sentence of a check without its case, which is said once; with the call, if short."""
    worst = check.mismatch
    case = smallest_case(check)
    if worst is not None:
        many = f"; {worst.result} is wrong in {_of(check)}" if len(check.failing) > 1 else ""
        observed, expected = (
            re.sub(r"^the (number|text) ", "", value) for value in (worst.observed, worst.expected)
        )
        if check.estimate and not worst.expected:
            if not isinstance(check.exhibit, model.Breakdown):
                said = f"{check.call} returned" if check.call else f"{worst.result} is"
                return f"{said} {observed}, which is wrong{many}"
            if not (check.call or check.inputs):  # numbers that were written, and not computed
                wrong = [row.name for row in check.exhibit.rows if row.note]
                return f"{join_words(wrong)} {'is' if len(wrong) == 1 else 'are'} wrong"
            name = check.call or worst.result.partition("[")[0]
            return f"{name} has {worst.wrong} of {worst.total} parts wrong"
        if _is_called(check):
            return f"{check.call} returned {observed}, expected {expected}{many}"
    text = check.message.strip().removesuffix(".")
    for ending in (f"; the smallest is {case}", f" in case {case}", f" (case {case})"):
        text = text.removesuffix(ending)
    return text or check.verdict


def _is_called(check: CheckResult) -> bool:
    """Whether a value, and not a shape or an entry, is what a call returned."""
    worst = check.mismatch
    if not check.call or worst is None or worst.index is not None:
        return False
    return check.message.startswith((f"{worst.result} is ", f"{worst.result} differs in "))


def _of(check: CheckResult) -> str:
    """How many cases fail."""
    if len(check.cases) == 1:
        return f"case {smallest_case(check)}"
    return f"{len(check.failing)} of {format_count(len(check.cases), 'case')}"


def worst_entry(check: CheckResult, message: str) -> str:
    """The worst entry in figures, and how many are wrong; '' where that is said already."""
    worst = check.mismatch
    written = isinstance(check.exhibit, model.Breakdown) and not check.inputs  # by hand: a table
    if worst is None or check.estimate or written:
        return ""
    values = f"is {worst.observed}, expected {worst.expected}"
    # What differs in some cases is said without figures: counts and inputs may be the same ones.
    known = not worst.observed or (" differs in " not in message and worst.observed in message)
    known = known and worst.index is None
    if known or values in message:
        return ""
    index = f"[{', '.join(map(str, worst.index))}]" if worst.index else ""
    allowed = f" (allowed\xa0{worst.allowed})" if worst.allowed else ""
    differ = f"; {worst.wrong:,} of {worst.total:,} entries differ"
    return f"{worst.result}{index} {values}{allowed}" + differ * (1 < worst.wrong < worst.total)


def idea_paragraphs(report: Report, *, complete: bool = True) -> list[IdeaParagraph]:
    """What is known of the fault, the surest first; `complete`: all of that is in the report."""
    named = report.misconceptions
    exact = [m for m in named if m.exact]
    # Checks that measure are named where others name a result.
    measured = {c.id for c in report.checks if not kind_named(c.kind).judges_values}
    pair = next((e for e in report.explanations if e.kind == "pair"), None)
    found: list[IdeaParagraph] = []
    if pair is not None and len(named) > 1:
        text = f"{_some_of(named)}; together they give exactly your numbers."
        found += [
            IdeaParagraph("Two ideas:", text),
            *(_listed(m) for m in named if m.feedback.strip()),
        ]
    elif len(exact) > 1:
        failing = exact[0].failing
        whole = all(idea.cases >= failing for idea in exact)
        of = _all(failing) if whole else f"its part of the {_cases(failing)}"
        many = {2: "Two", 3: "Three", 4: "Four"}.get(len(exact), len(exact))
        text = f"{_some_of(exact)}; each gives exactly your numbers in {of}."
        found += [IdeaParagraph(f"{many} ideas:", text), *map(_listed, exact)]
    elif exact:
        claimed = any(check.id in exact[0].checks for check in failing_required_checks(report)[:1])
        elsewhere = "" if claimed else _not_shown(exact[0].seen, report)
        text = _one(exact[0], measured) + elsewhere
        found.append(IdeaParagraph("Idea:", f"{exact[0].id}. {text}", exact[0].feedback))
    for one in report.explanations:
        if one.kind in {"before", "results"}:
            found.append(IdeaParagraph("Facts:", one.text))
        elif one.kind != "pair":
            found.append(IdeaParagraph("Rule:", one.text + _not_shown(one.cases, report)))
    if pair is None:
        found += [_unsure(idea, report, measured) for idea in named if not idea.exact]
    judged = any(
        c.mismatch and kind_named(c.kind).judges_values for c in failing_required_checks(report)
    )
    if not found and complete and judged and not report.note:
        found.append(IdeaParagraph("", "No listed idea gives exactly these numbers."))
    if any(idea.rounded for idea in named):
        found = [one._replace(text=one.text.replace("exactly ", "")) for one in found]
    if not any(
        check.failing for check in failing_required_checks(report)
    ):  # of what is written by hand
        found = [one._replace(text=_NUMBERS.sub("what you wrote", one.text)) for one in found]
    return found


def _one(idea: IdeaMatch, measured: set[str]) -> str:
    """How much of what is wrong one idea explains."""
    if idea.results and measured.issuperset(idea.results):
        return f"It gives exactly what {join_words(idea.results)} measured; values agree."
    if not idea.cases and idea.results:
        return f"It gives exactly your {join_words(idea.results)}; more than that is wrong."
    if 0 < idea.cases < idea.failing:
        of = f"{idea.cases} of the {_cases(idea.failing)}"
        return f"It gives exactly your numbers in {of}; something else is wrong in the others."
    return f"It gives exactly your numbers in {_all(idea.failing or idea.cases)}."


def _some_of(ideas: Sequence[IdeaMatch]) -> str:
    return join_words((idea.id for idea in ideas), 3)


def _listed(idea: IdeaMatch) -> IdeaParagraph:
    place = f", in {idea.checks[0]}" if idea.checks else ""
    return IdeaParagraph("", f"{idea.id}{place}:", idea.feedback)


def _unsure(idea: IdeaMatch, report: Report, measured: set[str]) -> IdeaParagraph:
    """An idea that fits a part, with a case that it does not fit."""
    if idea.results and measured.issuperset(idea.results):
        of = "inputs and results as yours, but a different number of bytes"
        return IdeaParagraph("Unsure:", f"{idea.id}. It keeps the same {of}.", idea.feedback)
    if idea.doubt:
        text = f"{idea.id}. It gives exactly your numbers in {_all(idea.failing)}, {idea.doubt}."
        return IdeaParagraph("Unsure:", text, idea.feedback)
    results = f"your {join_words(idea.results)}" if idea.results else "your numbers"
    where = f"{idea.cases} of {_cases(idea.failing)}" if idea.cases else "some cases"
    failing = [case for check in failing_required_checks(report) for case in check.failing]
    other = next((case for case in failing if case not in idea.seen), "") if idea.seen else ""
    text = f"{idea.id} gives {results} in {where}"
    text += f", not what is wrong in case {other}." if other else ", and not what else is wrong."
    return IdeaParagraph("Unsure:", text + _not_shown(idea.seen, report), idea.feedback)


def _not_shown(cases: Sequence[str], report: Report) -> str:
    """Which cases something is said of, where the one that is shown is none of them."""
    shown = next(map(smallest_case, failing_required_checks(report)), "")
    if not shown or not cases or shown in cases:
        return ""
    several = [*cases[:2], f"{len(cases) - 2} more"] if len(cases) > 3 else cases
    return f" This is about {join_words(several)}, not about {shown} above."


def other_checks(report: Report, most: int = 6) -> Iterator[tuple[str, str]]:
    """What else fails, what passes, what was not tried: a lead, and its line of `most` names."""
    failing = failing_required_checks(report)
    passed = [c.id for c in report.checks if c.verdict is Verdict.PASS and not c.stretch]
    right = [("Right:", f"{_some(passed, most)}.")] if passed and failing else []
    if report.message:
        yield from right
        return
    said = [c for c in failing[1:] if kind_named(c.kind).always_reported]
    names = [c.id for c in failing[1:] if c not in said]
    if len(names) == 1 == len(failing[1:]) and kind_named(failing[1].kind).shows_measurement:
        names = [f"{names[0]}, {failing[1].message}"]
    if names:
        yield "Also fails:", f"{_some(names, most)}."
    yield from ((f"{check.id}:", f"{check.message}.") for check in said)
    yield from right
    skipped = (c for c in report.checks if c.verdict is Verdict.SKIPPED and c.blocked_by)
    waiting = [c for c in skipped if c.part <= _reached(report)]
    if waiting and failing:
        yield "Not tried:", f"{format_count(len(waiting), 'check')}, until {failing[0].id} passes."


def _some(names: Sequence[str], most: int) -> str:
    more = len(names) - most + 1
    return ", ".join(names if more < 2 else [*names[: most - 1], f"{more} more"])


def _cases(count: int) -> str:
    return format_count(count, "failing case")


def _all(cases: int) -> str:
    few = "both failing cases" if cases == 2 else "the failing case"
    return few if cases <= 2 else f"all {_cases(cases)}"


def changes_since(
    before: Report, now: Report, until: int, lost: tuple[int, int] | None = None
) -> str:
    """What another version of a file changed in the checks of parts up to `until`.

    `lost` is a part that fails now, and the try that had passed it.
    """
    if not (before.checks and now.checks):
        return ""
    failed = {check.id for check in failing_required_checks(before)}
    right = [c.id for c in now.checks if c.id in failed and c.verdict is Verdict.PASS]
    new = [c.id for c in failing_required_checks(now) if c.id not in failed and c.part <= until]
    said = []
    if right:
        said.append(f"{_some(right, 4)} {'passes' if len(right) == 1 else 'pass'} now")
    if new:
        said.append(f"new: {_some(new, 4)}")
    if lost:
        said.append(f"part {lost[0]} passed in try {lost[1]}, fails now")
    return f"Since the last save: {'; '.join(said) or 'no check changed'}."


def first_sentences(text: str, most: int) -> tuple[str, bool]:
    """The first sentences of a text on one line, and whether there are more."""
    parts = re.split(r"(?<=[.!?:])\s+(?=[A-Z`])", " ".join(text.split()))
    return " ".join(parts[:most]), len(parts) > most
