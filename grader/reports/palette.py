"""Words and colors of verdicts.  The word carries the meaning; the color only helps."""

from __future__ import annotations

from grader.model.report import CheckResult
from grader.model.verdict import Verdict

WRONG = "bold red"
RIGHT = "green"
FOCUS = "bold cyan"
STRONG = "bold"
QUIET = "dim"
WARNED = "yellow"

_WORDS: dict[Verdict, tuple[str, str]] = {
    Verdict.PASS: ("pass", RIGHT),
    Verdict.FAIL: ("FAIL", WRONG),
    Verdict.ERROR: ("ERROR", WRONG),
    Verdict.LIMIT: ("LIMIT", WRONG),
    Verdict.POLICY: ("POLICY", WRONG),
    Verdict.SKIPPED: ("skipped", QUIET),
    Verdict.INCONCLUSIVE: ("unclear", WARNED),
    Verdict.INVALID: ("INVALID", WRONG),
    Verdict.INTERNAL: ("INTERNAL", WRONG),
}
WORD_WIDTH = max(len(word) for word, _ in _WORDS.values())

_SETTLED = frozenset({Verdict.PASS, Verdict.SKIPPED, Verdict.INCONCLUSIVE})


def word(verdict: Verdict) -> tuple[str, str]:
    """The word for a verdict and its style."""
    return _WORDS[verdict]


def check_word(check: CheckResult) -> tuple[str, str]:
    """The word for a check; a stretch goal that was not reached has the word of its kind."""
    if check.stretch and check.verdict not in _SETTLED:
        from grader.kinds import registry

        return registry.get_or_plain(check.kind).missed, WARNED
    return word(check.verdict)


def decides(check: CheckResult) -> bool:
    """Whether this check is one that keeps the submission from passing."""
    return not check.stretch and check.verdict not in _SETTLED
