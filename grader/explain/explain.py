"""What is not listed is explained all the same, as far as it can be done truthfully.

The surest comes first: what is remembered between calls, which makes every comparison of values
worthless; a rule that the results follow; a small change of the reference that computes the same;
the cases on which it is wrong; and what the check says, where that is more than a count.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.bench.bench import BankFault, Bench
from grader.explain import mutants, rules_entries, rules_whole, state
from grader.explain.cells import Cell, Looked, cells, looked_at
from grader.explain.classes import possible, separating
from grader.explain.further import SEED, Further
from grader.explain.rules import (
    Rule,
    confirmed,
    is_broad,
    is_constant,
    is_refuted,
    surviving,
)
from grader.model.report import STATE, CheckResult, Explanation, Named
from grader.model.verdict import Verdict
from grader.sandbox.client import WorkerError
from grader.sandbox.deadline import OutOfTime

WRONG = {Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT, Verdict.POLICY}
PROPOSALS = (*rules_whole.PROPOSALS, *rules_entries.PROPOSALS)
MOST = 6  # explanations of one grade
# Further inputs of one run: from each case that fails and each that does not, and of all.
FROM_FAILING, FROM_OTHERS, MOST_FAILING, MOST_OTHERS = 8, 3, 60, 50
SECONDS = 2.0  # of CPU time for the inputs of one request
# What a check says where it only counts, or shows one number.
_COUNT = re.compile(
    r"differs in |(is|are) wrong in case|disagrees with differences .* in |"
    r"^\S+ is [-\d.]\S*, expected"
)
WHEREVER = " wherever it is wrong"
NAMES_AT_MOST = 4  # results that one sentence lists


def explain(
    bench: Bench,
    checks: Sequence[CheckResult],
    names: Callable[[], Sequence[Named]],
) -> tuple[Explanation, ...]:
    """What is true of a submission that does not pass, the surest first.

    Args:
        bench: with the submission, after its checks.
        checks: what they came to.
        names: gives the misconceptions that it holds, when values are worth comparing; what an
            exact one explains is not explained again.

    Returns:
        What was found until the deadline; nothing that happens here changes a verdict.
    """
    found: list[Explanation] = []
    failed = [check for check in checks if check.verdict in WRONG and not check.stretch]
    worker = bench.submission.worker
    printed, output = worker.printed, worker.output_bytes
    with contextlib.suppress(WorkerError, OutOfTime, BankFault):
        if failed and worker.failure is None:
            for one in _of_values(bench, failed, names):
                found.append(one)
                if one.kind == STATE:
                    break
    worker.printed, worker.output_bytes = printed, output  # the report shows the grade's
    told = next((check for check in failed if is_telling(check)), None)
    if told is not None:
        found = [*found[: MOST - 1], Explanation("check", _told(told), told.failing)]
    return tuple(found[:MOST])


def mutant(bench: Bench, checks: Sequence[CheckResult]) -> Explanation | None:
    """The small change of the reference that computes what the submission does, if there is one."""
    failed = [check for check in checks if check.verdict in WRONG and not check.stretch]
    looked = looked_at(bench)
    own = cells(bench, looked, _roots(bench, failed, looked))
    return next(mutants.explain(bench, [cell for cell in own if not cell.ok]), None)


def is_telling(check: CheckResult) -> bool:
    """Whether the sentence of a check says more than how many entries are wrong, or one number."""
    counts = check.verdict is Verdict.FAIL and _COUNT.search(check.message) is not None
    return not counts or (check.mismatch is not None and not _is_number(check.mismatch.observed))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text.split(" ")[0].replace(",", "")))
    except ValueError:
        return False


def _told(check: CheckResult) -> str:
    """The sentence of a check; where it counts, what its worst entry is."""
    text, worst = check.message, check.mismatch
    if worst is not None and _COUNT.search(text) and worst.observed not in text:
        text = f"{worst.result} is {worst.observed}, expected {worst.expected}"
    return text.strip().rstrip(".") + "."


@dataclass
class _Component:
    """One result, or one number of it, with everything known of it so far."""

    result: str  # "grad_x", "mixed['weights']"; of whatever run
    cells: list[Cell]

    @property
    def failing(self) -> list[Cell]:
        return [cell for cell in self.cells if not cell.ok]

    @property
    def right(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.ok]

    def groups(self) -> dict[str, list[Cell]]:
        """The failing cells by sort; first all of them that gave a result."""
        found: dict[str, list[Cell]] = {"any": [c for c in self.failing if not c.raised]}
        for cell in self.failing:
            found.setdefault(cell.group, []).append(cell)
        return found


def _of_values(
    bench: Bench, failed: Sequence[CheckResult], names: Callable[[], Sequence[Named]]
) -> Iterator[Explanation]:
    looked = looked_at(bench)
    roots = _roots(bench, failed, looked)
    own = cells(bench, looked, roots)
    failing = [cell for cell in own if not cell.ok]
    if not failing:
        return
    alone = state.right_when_alone(bench, looked, failing)
    if alone:
        cases = tuple(dict.fromkeys(cell.case for cell in alone))
        yield Explanation("state", state.sentence(alone, failing), cases)
        return
    explained = {result for name in names() if name.exact for result in name.results}
    components = [c for c in _components(own) if c.result.split("[")[0] not in explained]
    proposed = {
        (c.result, group): surviving(PROPOSALS, mine)
        for c in components
        for group, mine in c.groups().items()
        if group != "raised"
    }
    wanted = {
        cell.run
        for c in components
        if possible(c.failing, c.right) or any(proposed.get((c.result, g)) for g in c.groups())
        for cell in c.cells
    }
    more = _further(bench, looked, roots, own, wanted)
    for component in components:
        component.cells += [
            part for cell in more for part in cell.parts() if part.result == component.result
        ]
    spoken = [s for c in components for s in _spoken(c, proposed)]
    yield from _sentences([s for s in spoken if s.kind == "rule"])
    yield from _sentences([s for s in spoken if s.kind == "class"])


def _roots(bench: Bench, failed: Sequence[CheckResult], looked: Looked) -> list[tuple[str, str]]:
    """The runs and results that the checks that failed look at."""
    by_id = {check.id: check for check in bench.question.spec.checks}
    found = [(by_id[f.id].run, result) for f in failed for result in by_id[f.id].compared]
    return [root for root in dict.fromkeys(found) if root in looked]


def _components(own: Sequence[Cell]) -> list[_Component]:
    """By result, or by number of it, those that are wrong on some case of the question."""
    found: dict[str, _Component] = {}
    for cell in own:
        for part in cell.parts():
            found.setdefault(part.result, _Component(part.result, [])).cells.append(part)
    return [component for component in found.values() if component.failing]


def _further(
    bench: Bench,
    looked: Looked,
    roots: Sequence[tuple[str, str]],
    own: Sequence[Cell],
    runs: set[str],
) -> list[Cell]:
    """What the submission does on further inputs of the runs in which something is to be found."""
    if not runs or bench.bank is None:
        return []
    made = bench.bank.memory.get(("further",), lambda: Further(bench))
    program = replace(bench.submission, call_seconds=SECONDS)
    theirs = made.bench.with_submission(program, SEED)
    found = []
    for run in sorted(runs):
        wrong = dict.fromkeys(c.origin for c in own if c.run == run and not c.ok)
        others = dict.fromkeys(c.origin for c in own if c.run == run and c.origin not in wrong)
        most = {
            origin: max(1, min(each, limit // len(origins)))
            for origins, each, limit in (
                (wrong, FROM_FAILING, MOST_FAILING),
                (others, FROM_OTHERS, MOST_OTHERS),
            )
            for origin in origins
        }
        places = made.of(run, most)
        theirs.ask_all(program, run, [case for case, _ in places])
        found += cells(theirs, looked, [root for root in roots if root[0] == run], places)
    return found


@dataclass(frozen=True)
class _Said:
    """One statement about one result."""

    kind: str
    result: str
    text: str  # what follows its name
    cases: tuple[str, ...]


def _spoken(
    component: _Component, proposed: Mapping[tuple[str, str], Sequence[Rule]]
) -> Iterator[_Said]:
    """What to say of a result: at most one statement on each sort of failure."""
    failing, right = component.failing, component.right
    rounding = all(not cell.raised and rules_entries.right_to(cell, digits=5) for cell in failing)
    when = "" if rounding else separating(failing, right)
    own = {(cell.run, cell.case) for cell in failing if cell.own}
    said = False
    for group, mine in component.groups().items():
        cases = {(cell.run, cell.case): cell.case for cell in mine if cell.own}
        rules = proposed.get((component.result, group), ())
        if not cases or not rules:
            continue
        rules = confirmed(surviving((), mine, rules), mine)
        text = _best(rules, mine, right, when if len(mine) == len(failing) else "")
        if not text:
            continue
        if len(cases) < len(own):
            text = text.removesuffix(WHEREVER)
            text += f" in {len(cases)} of {len(own)} failing cases"
        said = True
        yield _Said("rule", component.result, text, tuple(dict.fromkeys(cases.values())))
        if group == "any":
            break
    if not said and is_constant(component.cells):
        said = True
        text = "is the same in every case, whatever the inputs are"
        yield _Said("rule", component.result, text, tuple(dict.fromkeys(c for _, c in own)))
    if when and not said:
        yield _Said(
            "class", component.result, f"{_wrong(failing)} exactly where {when}",
            tuple(dict.fromkeys(case for _, case in own)),
        )  # fmt: skip


def _best(rules: Sequence[Rule], mine: Sequence[Cell], right: Sequence[Cell], when: str) -> str:
    """The most telling rule that no right case refutes, and where it applies."""
    only = f", exactly where {when}" if when else ""
    for rule in rules:
        refuted = is_refuted(rule, right)
        if rule.clashes is not None and not refuted:
            return rule.text
        if only and not rule.always:
            return rule.text + only
        if rule.local or not right:
            return rule.text
        if not refuted or is_broad(mine):
            return rule.text + WHEREVER
    return ""


def _wrong(failing: Sequence[Cell]) -> str:
    raised = {cell.raised for cell in failing}
    if len(raised) == 1 and (name := raised.pop()):
        return f"is not computed ({name})"
    return "is wrong"


def _sentences(said: Sequence[_Said]) -> Iterator[Explanation]:
    """One explanation for each text; results of which the same is true share one."""
    texts: dict[str, list[_Said]] = {}
    for one in said:
        texts.setdefault(one.text, []).append(one)
    for text, several in texts.items():
        names = list(dict.fromkeys(one.result for one in several))
        cases = tuple(dict.fromkeys(case for one in several for case in one.cases))
        subject = names[0]
        if len(names) > 1:
            listed = names[:NAMES_AT_MOST]
            rest = f" and {len(names) - len(listed)} more" if len(names) > len(listed) else ""
            joined = ", ".join(listed) if rest else f"{', '.join(listed[:-1])} and {listed[-1]}"
            subject = f"Of {joined}{rest}, each"
        kind = several[0].kind
        assert kind in {"rule", "class"}
        yield Explanation("rule" if kind == "rule" else "class", f"{subject} {text}.", cases)
