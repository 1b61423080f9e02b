"""A report as its student may read it, where a class hides some of its checks and cases.

Nothing is left that speaks of what is hidden: no name, input, number or sentence, no count that it
is in, no idea or explanation that rests on it alone or is about all cases.  What cannot be told
apart is left out.

One process runs all cases, so that a program can keep the inputs of a hidden one and show them
where an open check fails.  Nothing is left either of what a program chooses: what it prints, texts
and lines of exceptions, values and how many are wrong, measurements, numbers in explanations.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from grader.model.report import (
    FINE,
    CheckResult,
    Exhibit,
    Explanation,
    Grids,
    Named,
    Raised,
    Report,
    Verdict,
)
from grader.reports.words import deciding, smallest

_ABOUT_ALL = {"class", "before"}  # explanations that speak of cases besides those they name
_COUNT = re.compile(
    r"(\d[\d,]*(?: of \d[\d,]*)?|both|all|every|other|no)\b[\w ]{0,24}\bcases?\b", re.IGNORECASE
)
_QUOTES = re.compile(r"""[\d"'`]""")  # in an explanation: what may be a program's number or text
_ERRORS = frozenset(  # names that no program has made up
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)
_NO = "it does not pass"
_SOMEWHERE = f"{_NO} on a hidden case"


@dataclass(frozen=True, slots=True)
class Seen:
    """What may be shown of a report."""

    report: Report
    unseen: tuple[int, ...] = ()  # the parts in which a hidden check does not pass
    left_out: bool = False  # whether something that is known of the fault is not shown


def seen(report: Report, hidden: Collection[str]) -> Seen:
    """Leave out of a report what some checks and cases say.

    Args:
        report: without the figures of estimates.
        hidden: names of checks and of cases.
    """
    if not hidden:
        return Seen(report)
    checks = [c for c in report.checks if c.id not in hidden]
    open_cases = {case for check in checks for case in check.cases} - {*hidden}
    below = {case for c in report.checks if c.id in hidden for case in (*c.cases, *c.failing)}
    names = frozenset(hidden) | (below - open_cases)
    shown = _Hidden(names)
    stopping = deciding(report)
    found = replace(report, checks=tuple(map(shown.check, checks)), printed="")
    failing = deciding(found)
    if stopping:  # the verdict is that of what is shown
        found = replace(found, verdict=failing[0].verdict if failing else Verdict.FAIL)
    visible = dict.fromkeys(case for check in failing for case in check.failing)
    ideas = tuple(shown.ideas(report.misconceptions, len(visible)))
    lost = len(ideas) < len(report.misconceptions)
    explanations = tuple(
        e for e in report.explanations if shown.tells(e) and not (lost and e.kind == "pair")
    )
    return Seen(
        replace(
            found,
            misconceptions=ideas,
            explanations=explanations,
            note=report.note if not shown.speaks(report.note) else "",
            follow_up=report.follow_up if not shown.speaks(report.follow_up) else "",
        ),
        tuple(dict.fromkeys(check.part for check in stopping if check.id in hidden)),
        lost or len(explanations) < len(report.explanations),
    )


class _Hidden:
    """The names of hidden checks and cases."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        listed = "|".join(re.escape(name) for name in sorted(names))
        self._named = re.compile(rf"(?<![\w-])(?:{listed})(?![\w-])", re.IGNORECASE)

    def speaks(self, text: str) -> bool:
        """Whether a text names one of them."""
        return self._named.search(text) is not None

    def check(self, check: CheckResult) -> CheckResult:
        """Return a check without what was found on hidden cases."""
        if check.blocked_by in self._names:
            check = replace(check, blocked_by=None, message="")
        if self._names.isdisjoint((*check.cases, *check.failing, smallest(check))):
            return self._worded(check)
        whole = replace(
            check,
            cases=self._rest(check.cases),
            failing=self._rest(check.failing),
        )
        first = next(iter(check.failing), "")
        if check.verdict not in FINE and first not in self._names and smallest(check) == first:
            # All that is shown of a check is about its first failing case.
            return self._worded(whole)
        message = "" if check.verdict in FINE else _NO if whole.failing else _SOMEWHERE
        return replace(
            whole, message=message, case_line="", about="", inputs={}, call="", mismatch=None,
            exhibit=None, raised=None, figures={},
        )  # fmt: skip

    def ideas(self, named: Collection[Named], failing: int) -> Iterator[Named]:
        """Give the ideas that rest on what is shown, counted in it alone."""
        for idea in named:
            cases, checks = self._rest(idea.seen), self._rest(idea.checks)
            results = self._rest(idea.results)
            rests = (idea.checks, checks), (idea.seen, cases), (idea.results, results)
            if any(before and not after for before, after in rests):
                continue
            uncounted = idea.cases and not idea.seen
            if uncounted or not (checks or cases) or self.speaks(f"{idea.id} {idea.feedback}"):
                continue
            yield replace(
                idea, checks=checks, seen=cases, results=results, cases=len(cases),
                failing=max(failing, len(cases)),
            )  # fmt: skip

    def tells(self, explanation: Explanation) -> bool:
        """Whether an explanation is about what is shown, and nothing else."""
        about = explanation.cases
        text = explanation.text
        if explanation.kind in _ABOUT_ALL or not about or self.speaks(text) or _QUOTES.search(text):
            return False
        counts = (one[1].lower() for one in _COUNT.finditer(explanation.text))
        own = {str(len(about)), *["both"] * (len(about) == 2)}  # else hidden ones may be counted
        return own.issuperset(counts) and self._names.isdisjoint(about)

    def _worded(self, check: CheckResult) -> CheckResult:
        """Return a check in words that no program chooses and that name nothing hidden."""
        message, case = check.message, smallest(check)
        if check.verdict not in FINE:
            message = _NO
            if check.raised is not None:
                message = f"your code raised {_type(check.raised)}"
            elif check.mismatch is not None:
                message = f"{check.mismatch.result.partition('[')[0]} is wrong"
        measured = check.verdict in {Verdict.PASS, Verdict.INCONCLUSIVE}
        if measured or self.speaks(message):
            message = "" if check.verdict in FINE else _NO
        about = "" if self.speaks(check.about) else check.about
        return replace(
            check, message=message, about=about,
            case_line="" if about != check.about else check.case_line,
            failing=tuple(dict.fromkeys([case] * bool(case) + [*check.failing])),
            call="", mismatch=None, exhibit=_given(check.exhibit), raised=None, figures={},
        )  # fmt: skip

    def _rest(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in names if name not in self._names)


def _type(raised: Raised) -> str:
    return raised.type if raised.type in _ERRORS else "an exception"


def _given(exhibit: Exhibit | None) -> Grids | None:
    """Inputs and what is right, whole: what is cut is cut to where a program is wrong."""
    panels = exhibit.panels if isinstance(exhibit, Grids) else ()
    kept = tuple(
        replace(panel, wrong=frozenset(), focus=frozenset())
        for panel in panels
        if not panel.note and not panel.title.endswith(", yours")
    )
    return Grids(kept) if kept else None
