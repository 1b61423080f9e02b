"""Words and colors of verdicts.  The word carries the meaning; the color only helps."""

from __future__ import annotations

from grader.model.verdict import Verdict

WRONG = "bold red"
RIGHT = "green"
FOCUS = "bold cyan"
STRONG = "bold"
QUIET = "dim"
WARNED = "yellow"

WORDS: dict[Verdict, tuple[str, str]] = {
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
