"""What is said of each result that is wrong, and how several of them share a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.explain.classes import separating
from grader.explain.observation import Observation
from grader.explain.rules import (
    WEAK,
    Rule,
    confirmed,
    holding,
    is_broad,
    is_refuted,
    is_right_to,
)
from grader.model.report import Explanation

WHEREVER = "wherever it is wrong: "  # before what is true of the failing cases alone
RAISES = "raises "
NAMES_AT_MOST = 4  # results that one sentence lists


@dataclass
class ResultObservations:
    """One result, or one number of it, with everything known of it so far."""

    result: str  # "grad_x", "mixed['weights']"; of whatever run
    observations: list[Observation]

    @property
    def failing(self) -> list[Observation]:
        """Those that are wrong."""
        return [seen for seen in self.observations if not seen.ok]

    @property
    def right(self) -> list[Observation]:
        """Those that are right."""
        return [seen for seen in self.observations if seen.ok]

    def groups(self) -> dict[str, list[Observation]]:
        """The failing ones by sort; first all of them that gave a result."""
        found = {"any": [seen for seen in self.failing if not seen.raised]}
        for seen in self.failing:
            found.setdefault(seen.group, []).append(seen)
        return found


@dataclass(frozen=True)
class Statement:
    """One statement about one result."""

    is_rule: bool  # else it says on which cases the result is wrong
    result: str
    text: str  # what follows its name
    cases: tuple[str, ...]


def statements(
    known: ResultObservations, proposed: Mapping[str, Sequence[Rule]]
) -> Iterator[Statement]:
    """What to say of a result: at most one statement on each sort of failure.

    Args:
        known: on the question's cases and on further inputs.
        proposed: rules by sort of failure, which the question's own cases follow.
    """
    failing, name = known.failing, known.result
    is_rounding = all(not seen.raised and is_right_to(seen, 5) for seen in failing)
    when = "" if is_rounding else separating(failing, known.right)
    own = {(seen.run, seen.case): seen.case for seen in failing if seen.own}
    every_case = tuple(dict.fromkeys(own.values()))
    said = False
    for group, mine in known.groups().items():
        cases = {(seen.run, seen.case): seen.case for seen in mine if seen.own}
        if not cases or not proposed.get(group):
            continue
        several, whole = len(set(cases.values())), len(mine) == len(failing)
        usable = [r for r in proposed[group] if several >= r.least and (whole or not r.entire)]
        rules = confirmed(holding(usable, mine), mine)
        rule, text = _best(rules, mine, known.right, when if whole else "")
        if rule is None or (rule.rank >= WEAK and any(seen.raised for seen in failing)):
            continue  # where others raise, what the rest have in common may be chance
        bare = text == WHEREVER + rule.text or (text == rule.text and rule.clashes is None)
        if bare and len({seen.origin for seen in mine}) == 1:
            # What one case shows need not be so on others.
            text = f"{text.removeprefix(WHEREVER)} in case {mine[0].origin}"
        elif len(cases) < len(own):
            text = text.removeprefix(WHEREVER) + f" in {len(cases)} of {len(own)} failing cases"
        said = True
        yield Statement(True, name, text, tuple(dict.fromkeys(cases.values())))
        if group == "any":
            break
    if when and not said:
        text = f"{_verb(failing)} where {when}, and in no other case that was tried"
        yield Statement(False, name, text, every_case)


def _best(
    rules: Sequence[Rule], mine: Sequence[Observation], right: Sequence[Observation], when: str
) -> tuple[Rule | None, str]:
    """The most informative rule that no right case refutes, with where it applies."""
    only = f" where {when}, and is right in every other case that was tried" if when else ""
    for rule in rules:
        refuted = is_refuted(rule, right)
        if rule.clashes is not None and not refuted:
            return rule, rule.text
        if only and not rule.anywhere:
            # What says itself where it holds does not say it twice.
            twice = " where " in rule.text and " should be " in when
            return rule, rule.text if twice else rule.text + only
        if rule.local or rule.seen or not right:
            return rule, rule.text + rule.seen
        if not refuted or is_broad(mine):
            return rule, WHEREVER + rule.text
    return None, ""


def _verb(failing: Sequence[Observation]) -> str:
    raised = {seen.raised for seen in failing}
    # Other texts say that what was returned cannot be used.
    if len(raised) == 1 and (name := raised.pop()).isidentifier():
        return f"{RAISES}{name}"
    return "is wrong"


def to_sentences(said: Sequence[Statement]) -> Iterator[Explanation]:
    """One explanation for each text; results share one where the same is true of them."""
    texts: dict[str, list[Statement]] = {}
    for one in said:
        texts.setdefault(one.text, []).append(one)
    for text, several in texts.items():
        names = list(dict.fromkeys(one.result for one in several))
        cases = tuple(dict.fromkeys(case for one in several for case in one.cases))
        kind = "rule" if several[0].is_rule else "class"
        yield Explanation(kind, _sentence(names, text), cases)  # type: ignore[arg-type]
        if text.startswith(RAISES):
            return  # that one result is not computed is why the next one is not


def _sentence(names: Sequence[str], text: str) -> str:
    """One sentence about results that share a text."""
    if text.startswith(RAISES):
        return f"Your code {text}."
    one = len(names) == 1
    listed = [*names[:NAMES_AT_MOST]]
    if more := len(names) - len(listed):
        listed.append(f"{more} more")
    joined = names[0] if one else f"{', '.join(listed[:-1])} and {listed[-1]}"
    if text.startswith(WHEREVER):
        text = text.removeprefix(WHEREVER)
        return f"Wherever {joined} {'is wrong, it' if one else 'are wrong, each'} {text}."
    return f"{joined} {text}." if one else f"Of {joined}, each {text}."
