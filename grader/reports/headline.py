"""One line per check, and the few lines that are all a pass needs."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from grader.kinds.registry import get_or_plain
from grader.model.numerals import quantity
from grader.model.report import CheckResult, Report
from grader.model.verdict import FINE, Verdict
from grader.reports.inert import inert
from grader.reports.page import cut, hanging, listed, padded, paragraph
from grader.reports.palette import QUIET, RIGHT, STRONG, WARNED, WRONG

# Words for verdicts, and their styles.
_WORDS = {verdict: (verdict.name, WRONG) for verdict in Verdict} | {
    Verdict.PASS: ("pass", RIGHT),
    Verdict.SKIPPED: ("skipped", QUIET),
    Verdict.INCONCLUSIVE: ("unclear", WARNED),
}
_INDENT = 2
_WORD = max(len(word) for word, _ in _WORDS.values()) + 1  # cells of a verdict
_ID_LIMIT = 24
_MESSAGE_LIMIT = 500

_BLAME = {
    Verdict.INVALID: "the question is at fault, not your code: ",
    Verdict.INTERNAL: "the grader is at fault, not your code: ",
}


def decides(check: CheckResult) -> bool:
    """Whether this check is one that keeps the submission from passing."""
    return not check.stretch and check.verdict not in FINE


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
        names = listed(", ".join(inert(c.id) for c in group))
        stopped = any("stopped" in c.message for c in group)
        why = f"not reached, {root} ended the process" if stopped else f"that need {root}"
        text = f"{len(group)} checks {why}: {names}"
        lines += hanging((_lead(*_WORDS[Verdict.SKIPPED]),), text, width, indent=_INDENT)
    return lines


def _lead(label: str, style: str) -> tuple[str, str]:
    """The word of a verdict, in its column."""
    return padded(label, _WORD), style


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
    label, style = _WORDS[report.verdict]
    sentence = _BLAME.get(report.verdict, "") + inert(report.message, _MESSAGE_LIMIT)
    return hanging((_lead(label.upper(), style),), sentence, width, indent=_INDENT)


def pass_lines(report: Report, width: int, note: str) -> list[Text]:
    """How much was checked, what it cost, and what was measured but does not decide."""
    passed = [c for c in report.checks if c.verdict is Verdict.PASS]
    cases = {case for c in passed for case in c.cases}
    text = f"{quantity(len(passed), 'check')}, {quantity(len(cases), 'case')}, seed {report.seed}"
    text += f"; {note}" if note else ""
    label, style = _WORDS[Verdict.PASS]
    lines = hanging((_lead(label.upper(), f"bold {style}"),), text, width, indent=_INDENT)
    proud = [c for c in passed if c.message and get_or_plain(c.kind).shows_measurement]
    if proud:
        text = "; ".join(f"{inert(c.id)} {inert(c.message, _MESSAGE_LIMIT)}" for c in proud)
        lines += paragraph(text, width, indent=_INDENT + _WORD)
    return lines + check_lines([c for c in report.checks if c.verdict is not Verdict.PASS], width)


def _line(check: CheckResult, across: int, width: int) -> list[Text]:
    label, style = _WORDS[check.verdict]
    sentence = inert(check.message, _MESSAGE_LIMIT)
    if check.verdict is Verdict.SKIPPED and not sentence and check.blocked_by:
        sentence = f"needs {inert(check.blocked_by)}"
    elif check.verdict is Verdict.INCONCLUSIVE:
        sentence += " (too noisy to decide; counts against nobody)"
    elif check.verdict in _BLAME:
        sentence = _BLAME[check.verdict] + sentence
    elif check.stretch and check.verdict not in FINE:
        sentence += " (stretch, does not decide)"
    if check.stretch and check.verdict not in FINE:
        label, style = get_or_plain(check.kind).missed, WARNED
    name = padded(cut(inert(check.id), across), across + 2)
    lead = (_lead(label, style), (name, STRONG if label.isupper() else ""))
    return hanging(lead, sentence, width, indent=_INDENT)
