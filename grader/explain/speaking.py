"""What is said of each result that is wrong, and how several of them share a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grader.explain import rules_digits
from grader.explain.cells import Cell
from grader.explain.classes import separating
from grader.explain.rules import Rule, confirmed, is_broad, is_constant, is_refuted, surviving
from grader.model.report import Explanation

WEAK = 50  # the rank from which on a rule leaves much to be said
WHEREVER = "wherever it is wrong: "  # before what is true of the failing cases alone
RAISES = "raises "
NAMES_AT_MOST = 4  # results that one sentence lists


@dataclass
class Component:
    """One result, or one number of it, with everything known of it so far."""

    result: str  # "grad_x", "mixed['weights']"; of whatever run
    cells: list[Cell]

    @property
    def failing(self) -> list[Cell]:
        """Those that are wrong."""
        return [cell for cell in self.cells if not cell.ok]

    @property
    def right(self) -> list[Cell]:
        """Those that are right."""
        return [cell for cell in self.cells if cell.ok]

    def groups(self) -> dict[str, list[Cell]]:
        """The failing cells by sort; first all of them that gave a result."""
        found: dict[str, list[Cell]] = {"any": [c for c in self.failing if not c.raised]}
        for cell in self.failing:
            found.setdefault(cell.group, []).append(cell)
        return found


@dataclass(frozen=True)
class Said:
    """One statement about one result."""

    kind: str
    result: str
    text: str  # what follows its name
    cases: tuple[str, ...]
    weak: bool = False


def spoken(
    component: Component, proposed: Mapping[tuple[str, str], Sequence[Rule]]
) -> Iterator[Said]:
    """What to say of a result: at most one statement on each sort of failure."""
    failing, right = component.failing, component.right
    rounding = all(not cell.raised and rules_digits.right_to(cell, digits=5) for cell in failing)
    when = "" if rounding else separating(failing, right)
    own = {(cell.run, cell.case) for cell in failing if cell.own}
    said = False
    for group, mine in component.groups().items():
        cases = {(cell.run, cell.case): cell.case for cell in mine if cell.own}
        rules = proposed.get((component.result, group), ())
        if not cases or not rules:
            continue
        several, whole = len(set(cases.values())), len(mine) == len(failing)
        rules = [r for r in rules if several >= r.own and (whole or not r.entire)]
        rules = confirmed(surviving((), mine, rules), mine) if rules else []
        rule, text = _best(rules, mine, right, when if whole else "")
        raises = any(cell.raised for cell in failing)
        if rule is None or (raises and rule.rank >= WEAK):
            continue  # where others raise, what the rest have in common may be chance
        everywhere = text == WHEREVER + rule.text
        bare = everywhere or (text == rule.text and rule.clashes is None)
        if bare and len({cell.origin for cell in mine}) == 1:
            # What one case shows need not be so on others.
            text = f"{text.removeprefix(WHEREVER)} in case {mine[0].origin}"
        elif len(cases) < len(own):
            text = text.removeprefix(WHEREVER)
            text += f" in {len(cases)} of {len(own)} failing cases"
        if rule.example is not None:
            least = min((c for c in mine if c.own), key=lambda c: np.size(c.want))
            where = f" in case {least.case}"
            text = f"{text.removesuffix(where)};{where} {rule.example(least)}"
        said = True
        named = tuple(dict.fromkeys(cases.values()))
        yield Said("rule", component.result, text, named, weak=rule.rank >= WEAK)
        if group == "any":
            break
    if not said and is_constant(component.cells):
        said = True
        text = "is the same in every case, whatever the inputs are"
        yield Said("rule", component.result, text, tuple(dict.fromkeys(c for _, c in own)))
    if when and not said:
        text = f"{_wrong(failing)} where {when}, and in no other case that was tried"
        yield Said("class", component.result, text, tuple(dict.fromkeys(c for _, c in own)))


def _best(
    rules: Sequence[Rule], mine: Sequence[Cell], right: Sequence[Cell], when: str
) -> tuple[Rule | None, str]:
    """The most telling rule that no right case refutes, with where it applies."""
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
        if not refuted or (is_broad(mine) and not rule.sweeping):
            return rule, WHEREVER + rule.text
    return None, ""


def _wrong(failing: Sequence[Cell]) -> str:
    raised = {cell.raised for cell in failing}
    # Other texts say that what was returned cannot be used.
    if len(raised) == 1 and (name := raised.pop()).isidentifier():
        return f"{RAISES}{name}"
    return "is wrong"


def sentences(said: Sequence[Said]) -> Iterator[Explanation]:
    """One explanation for each text; results of which the same is true share one."""
    texts: dict[str, list[Said]] = {}
    for one in said:
        texts.setdefault(one.text, []).append(one)
    for text, several in texts.items():
        names = list(dict.fromkeys(one.result for one in several))
        cases = tuple(dict.fromkeys(case for one in several for case in one.cases))
        sentence = _sentence(names, text)
        kind = several[0].kind
        assert kind in {"rule", "class"}
        yield Explanation("rule" if kind == "rule" else "class", sentence, cases)
        if text.startswith(RAISES):
            return  # that one result is not computed is why the next one is not


def _sentence(names: Sequence[str], text: str) -> str:
    """One sentence about results of which the same is true."""
    if text.startswith(RAISES):
        return f"Your code {text}."
    listed = names[:NAMES_AT_MOST]
    joined = ", ".join(listed) + f" and {len(names) - len(listed)} more"
    if len(listed) == len(names):
        joined = " and ".join([", ".join(listed[:-1]), listed[-1]] if listed[1:] else listed)
    if text.startswith(WHEREVER):
        text = text.removeprefix(WHEREVER)
        return (
            f"Wherever {joined} {'is wrong, it' if len(names) == 1 else 'are wrong, each'} {text}."
        )
    return f"{joined} {text}." if len(names) == 1 else f"Of {joined}, each {text}."
