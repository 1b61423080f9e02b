"""One line per check, and the few lines that are all a pass needs."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from grader.model.report import CheckResult, Report
from grader.model.verdict import Verdict
from grader.reports.inert import inert
from grader.reports.page import cut, hanging, listed, padded, paragraph
from grader.reports.palette import STRONG, WORD_WIDTH, check_word, word

_INDENT = 2
_ID_LIMIT = 24
_MESSAGE_LIMIT = 500

_OURS = {
    Verdict.INVALID: "the question is at fault, not your code: ",
    Verdict.INTERNAL: "the grader is at fault, not your code: ",
}


def check_lines(checks: Sequence[CheckResult], width: int) -> list[Text]:
    """Verdict, id and sentence of every check in columns; one line for all skipped alike."""
    groups: dict[str, list[CheckResult]] = {}
    for check in checks:
        if check.verdict is Verdict.SKIPPED and check.blocked_by:
            groups.setdefault(_root(check, checks), []).append(check)
    together = {root: group for root, group in groups.items() if len(group) > 1}
    alone = [c for c in checks if not any(c in group for group in together.values())]
    across = min(max((cell_len(inert(c.id)) for c in alone), default=0), _ID_LIMIT)
    lines = [line for check in alone for line in _line(check, across, width)]
    for root, group in together.items():
        label, style = check_word(group[0])
        names = listed(", ".join(inert(c.id) for c in group))
        stopped = any("stopped" in c.message for c in group)
        why = f"not reached, {root} ended the process" if stopped else f"that need {root}"
        lead = ((padded(label, WORD_WIDTH + 1), style),)
        lines += hanging(lead, f"{len(group)} checks {why}: {names}", width, indent=_INDENT)
    return lines


def _root(check: CheckResult, checks: Sequence[CheckResult]) -> str:
    """The check that did not pass and for which, directly or not, this one was skipped."""
    by_id = {c.id: c for c in checks}
    seen: set[str] = set()
    while check.verdict is Verdict.SKIPPED and check.blocked_by and check.id not in seen:
        seen.add(check.id)
        check = by_id.get(check.blocked_by, check)
    return inert(check.id)


def verdict_line(report: Report, width: int) -> list[Text]:
    """The verdict on a submission that never got as far as a check, and why."""
    label, style = word(report.verdict)
    lead = ((padded(label.upper(), WORD_WIDTH + 1), style),)
    sentence = _OURS.get(report.verdict, "") + inert(report.message, _MESSAGE_LIMIT)
    return hanging(lead, sentence, width, indent=_INDENT)


def pass_lines(report: Report, width: int, note: str) -> list[Text]:
    """How much was checked, what it cost, and what was measured but does not decide."""
    from grader.kinds.registry import get_or_plain

    passed = [c for c in report.checks if c.verdict is Verdict.PASS]
    cases = {case for c in passed for case in c.cases}
    facts = [_count(len(passed), "check"), _count(len(cases), "case"), f"seed {report.seed}"]
    text = ", ".join(facts) + (f"; {note}" if note else "")
    label, style = word(Verdict.PASS)
    lead = ((padded(label.upper(), WORD_WIDTH + 1), f"bold {style}"),)
    lines = hanging(lead, text, width, indent=_INDENT)
    proud = [c for c in passed if c.message and get_or_plain(c.kind).shows_measurement]
    if proud:
        text = "; ".join(f"{inert(c.id)} {inert(c.message, _MESSAGE_LIMIT)}" for c in proud)
        lines += paragraph(text, width, indent=_INDENT + WORD_WIDTH + 1)
    others = [c for c in report.checks if c.verdict is not Verdict.PASS]
    return [*lines, *check_lines(others, width)]


def _line(check: CheckResult, across: int, width: int) -> list[Text]:
    label, style = check_word(check)
    lead = (
        (padded(label, WORD_WIDTH + 1), style),
        (padded(cut(inert(check.id), across), across + 2), STRONG if label.isupper() else ""),
    )
    return hanging(lead, _sentence(check), width, indent=_INDENT)


def _sentence(check: CheckResult) -> str:
    sentence = inert(check.message, _MESSAGE_LIMIT)
    if check.verdict is Verdict.SKIPPED and not sentence and check.blocked_by:
        return f"needs {inert(check.blocked_by)}"
    if check.verdict is Verdict.INCONCLUSIVE:
        return f"{sentence} (too noisy to decide; counts against nobody)"
    if check.verdict in _OURS:
        return _OURS[check.verdict] + sentence
    if check.stretch and check_word(check) != word(check.verdict):
        return f"{sentence} (stretch, does not decide)"
    return sentence


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"
