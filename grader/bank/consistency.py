"""What needs more than one key to be wrong: names nothing gives, checks nothing follows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from grader import forms
from grader.bank.document import Fault, Keys, dotted
from grader.cases import size_expr
from grader.cases.dataflow import case_names, free_names, results
from grader.cases.recipe import CaseRecipe
from grader.kinds import registry
from grader.model import mutation
from grader.model.errors import did_you_mean
from grader.model.question import Question, Step
from grader.model.spec import Check, Mention


class Review:
    """Looks for inconsistencies in a question of which every key can be read by itself."""

    def __init__(
        self, question: Question, cases: Mapping[str, CaseRecipe], *, in_parts: bool
    ) -> None:
        """Look at nothing yet.

        Args:
            question: as it was read.
            cases: its cases.
            in_parts: whether the spec has `parts`; else its one part's keys stand at the top.
        """
        self._question, self._spec, self._runs = question, question.spec, question.runs
        self._cases, self._in_parts = dict(cases), in_parts

    def problems(self) -> Iterator[Fault]:
        """Every inconsistency."""
        spec = self._spec
        for run, steps in self._runs.items():
            for i, step in enumerate(steps):
                yield from self._step(run, i, step)
        if self._question.driver is not None and not self._question.driven:
            yield ("run",), "run: expected a step that calls driver.NAME, or no driver, found none"
        unknown = dict(self._unknown_names())
        yield from unknown.values()
        if not unknown:  # else a name that seems unread is likely what was meant
            yield from self._unread()
        yield from self._parts()
        for p, part in enumerate(spec.parts):
            for i, check in enumerate(part.checks):
                own = self._at(p, "checks", i)
                yield from self._order(check, own)
                yield from self._clauses(check, p, own)
                at: Keys = (*own, "run")
                expected = f"{dotted(at)}: expected the name of a run"
                yield from _one_of(at, expected, check.run, self._runs)
                if check.run in self._runs:
                    yield from self._check(check, own, {name for _, name in unknown})
        ids = [check.id for check in spec.checks]
        for name, item in spec.misconceptions.items():
            for j, killer in enumerate(item.killers):
                at = ("misconceptions", name, "killed_by", j)
                yield from _one_of(at, "expected the id of a check", killer, ids)
        for i, name in enumerate(spec.starter_holds):
            expected = "expected the id of a misconception"
            yield from _one_of(("starter_holds", i), expected, name, spec.misconceptions)
        explained = [mutation.key(s.scope, s.was, s.becomes) for s in spec.survivors]
        for i, mutant in enumerate(explained):
            if (first := explained.index(mutant)) < i:
                text = f"expected each mutant once, found that of survivors[{first}] again"
                yield ("survivors", i), f"survivors[{i}]: {text}"

    def unused_cases(self) -> Iterator[Fault]:
        """Cases that no check looks at, and that no case extends: a check may have lost one."""
        used = {str(case.get("extends")) for case in self._spec.cases.values()}
        for check in self._spec.checks:
            used.update(case_names(check, self._runs[check.run], self._cases))
            used.update(mention.name for mention in _mentions(check)[0] if mention.of == "case")
        for name in sorted(self._cases.keys() - used):
            text = f"cases.{name}: no check looks at it; name it in a check, or remove it"
            yield ("cases", name), text

    def _at(self, part: int, *keys: str | int) -> Keys:
        """The path of keys of a part, by its number from 0, as they are written."""
        return ("parts", part, *keys) if self._in_parts else keys

    @property
    def _no_torch(self) -> str:
        return f"needs torch in uses, found {self._spec.uses}"

    def _step(self, run: str, i: int, step: Step) -> Iterator[Fault]:
        """A driver that is not there, and a function that goes by the name of torch's."""
        at, spec = self._spec.step_keys(run, i), self._spec
        if step.backward and re.search(r"\bdef vjp\b", spec.interface):
            yield at, f"'{step.text}' asks torch for gradients: the interface needs another name"
        if step.owner == "driver" and self._question.driver is None:
            where = "driver.py next to reference.py, or code.driver, found neither"
            yield at, f"'{step.text}' needs the file {where}"

    def _unknown_names(self) -> Iterator[tuple[tuple[str, str], Fault]]:
        """Names in steps that no case gives and no earlier step assigns, by run and name."""
        given = dict.fromkeys(name for case in self._cases.values() for name in case.inputs)
        for run, steps in self._runs.items():
            for name, step in free_names(steps).items():
                if name in given:
                    continue
                i = steps.index(step)
                text = f"step {i + 1} of {run}: expected an input of a case or an earlier result"
                if name in results(steps):
                    text += f", found {name!r}, which only a later step gives"
                else:
                    text = _unknown(text, name, [*given, *results(steps[:i])])
                yield (run, name), (self._spec.step_keys(run, i), text)

    def _unread(self) -> Iterator[Fault]:
        """Inputs that nothing reads: a misspelled one would leave its case out of every check."""
        read = {name for steps in self._runs.values() for name in free_names(steps)}
        for check in self._spec.checks:
            read.update(mention.name for mention in _mentions(check)[0])
        for case, recipe in self._cases.items():
            alike = {r.like for r in recipe.inputs.values()}
            missing = sorted(read - recipe.inputs.keys())
            for name in recipe.inputs:
                if name not in read and name not in alike and name in self._spec.cases[case]:
                    at: Keys = ("cases", case, name)
                    expected = f"{dotted(at)}: expected an input that a step reads"
                    yield at, _unknown(expected, name, missing)

    def _parts(self) -> Iterator[Fault]:
        """Points that do not add up, what the first part lacks, and parts that decide nothing."""
        parts, ids = self._spec.parts, self._spec.part_ids
        if not parts[0].interface and not forms.of(self._spec).is_text:
            whole = dotted(self._at(0)) or "the question"
            yield self._at(0), f"{whole}: expected the key 'interface', found none"
        if (total := sum(part.points for part in parts)) != 100:
            each = " + ".join(str(part.points) for part in parts)
            yield ("parts",), f"parts: expected points that add up to 100, found {each} = {total}"
        for p, part in enumerate(parts):
            at: Keys = ("parts", p)
            if ids[p] in ids[:p]:
                text = f"expected each id once, found {ids[p]!r} again"
                yield (*at, "id"), f"{dotted(at)}.id: {text}"
            if len(parts) > 1 and all(check.stretch for check in part.checks):
                text = "expected a check that decides, found none: nobody could fail this part"
                yield (*at, "checks"), f"{dotted(at)}.checks: {text}"
            yield from self._points_of_checks(p)

    def _points_of_checks(self, p: int) -> Iterator[Fault]:
        """Points of a part's checks that do not add up to the part's."""
        part, own = self._spec.parts[p], self._at(p, "checks")
        sharing = {i: c.points for i, c in enumerate(part.checks) if c.points is not None}
        for i, points in sharing.items():
            if part.checks[i].stretch:
                at: Keys = (*own, i, "points")
                yield at, f"{dotted(at)}: expected no points of a stretch, found {points}"
        if sharing and (total := sum(sharing.values())) != part.points:
            each = " + ".join(map(str, sharing.values()))
            found = each if len(sharing) < 2 else f"{each} = {total}"
            text = f"expected points that add up to the part's {part.points}, found {found}"
            yield (*own, next(iter(sharing)), "points"), f"{dotted(own)}: {text}"

    def _order(self, check: Check, at: Keys) -> Iterator[Fault]:
        """What is wrong with a check whatever its run is: its id, its kind, what it needs."""
        kind = registry.get(check.kind)
        if kind.needs_torch and not self._spec.needs_torch:
            yield (*at, "kind"), f"{check.id}: the kind {check.kind} {self._no_torch}"
        if kind.without_torch and self._spec.needs_torch:
            sees = "does not see what torch allocates; kind: memory with quantity: peak does"
            yield (*at, "kind"), f"{check.id}: the kind {check.kind} {sees}"
        checks = self._spec.checks
        number = next(i for i, one in enumerate(checks) if one is check)
        ids = [one.id for one in checks]
        earlier = ids[:number]
        if check.id in earlier:
            yield (*at, "id"), f"{dotted(at)}.id: expected each id once, found {check.id!r} again"
        for j, needed in enumerate(check.needed):
            where, expected = (*at, "needs", j), f"{dotted(at)}.needs: expected"
            if needed not in earlier:
                known = () if needed in ids else earlier
                yield from _one_of(where, f"{expected} the id of an earlier check", needed, known)
            elif checks[ids.index(needed)].stretch and not check.stretch:
                text = f"a check that decides, because {check.id} does"
                yield where, f"{expected} {text}, found the stretch {needed}"

    def _clauses(self, check: Check, part: int, at: Keys) -> Iterator[Fault]:
        """Clauses that are not in the contract when the check is asked."""
        most = sum(len(one.contract) for one in self._spec.parts[: part + 1])
        for j, number in enumerate(check.enforced):
            if number > most:
                there = f"up to {most}" if most else "of a contract, which this has not"
                text = f"expected the number of a clause {there}, found {number}"
                yield (*at, "clause", j), f"{dotted(at)}.clause: {text}"

    def _check(self, check: Check, at: Keys, unknown: set[str]) -> Iterator[Fault]:
        """What is wrong with the keys of a check whose run is there.

        Nothing is said again about `unknown`, the names of inputs that no case gives.
        """
        mentions, wrong = _mentions(check)
        if wrong:
            yield (*at, "at_most"), f"{check.id}: {wrong}"
        yield from self._cases_of(check, at, unknown, mentions)
        steps = self._runs[check.run]
        made, given = results(steps), free_names(steps)
        named = case_names(check, steps, self._cases)
        inputs = {n for c in named if c in self._cases for n in self._cases[c].inputs}
        known: dict[str, tuple[str, Iterable[str]]] = {
            "result": (f"a result of the run {check.run}", made),
            "input": ("an input of the run", given),
            "input or result": ("an input or a result", {*made, *given}),
            "size": ("an input or a result", {*made, *inputs}),
            "number": ("a number", ()),
            "case": ("the name of a case", self._cases),
            "run": ("the name of a run", self._runs),
        }
        for mention in mentions:
            what, names = known[mention.of]
            expected = f"{check.id}: expected {what}"
            yield from _one_of((*at, *mention.path), expected, mention.name, names)
        if lacks := check.lacks():
            yield at, f"{check.id}: expected {lacks}, found none: the check could not fail"
        for path, text in check.faults():
            yield (*at, *path), f"{check.id}: {text}"

    def _cases_of(
        self, check: Check, at: Keys, unknown: set[str], mentions: list[Mention]
    ) -> Iterator[Fault]:
        """What is wrong with the cases of a check: what they are called, and what they give."""
        needed = free_names(self._runs[check.run])
        names = case_names(check, self._runs[check.run], self._cases)
        if not names and not unknown & needed.keys():
            text = f"expected at least one case, found none with {', '.join(needed)}"
            yield (*at, "cases"), f"{check.id}: {text}"
        readers = needed
        for mention in mentions:
            if mention.of == "run":
                readers = free_names(self._runs.get(mention.name, ())) | readers
            elif mention.of == "case" and mention.name in self._cases:
                names.append(mention.name)
        for j, name in enumerate(names):
            where: Keys = (*at, "cases", j)
            yield from _one_of(where, f"{check.id}: expected the name of a case", name, self._cases)
            if name not in self._cases:
                continue
            inputs = self._cases[name].inputs
            for free, step in readers.items():
                if free not in inputs and free not in unknown:
                    text = f"case {name} gives no value for {free}, which '{step.text}' needs"
                    yield where, f"{check.id}: {text}"
            drawn = any(inputs[free].is_drawn for free in needed if free in inputs)
            if registry.get(check.kind).needs_drawn_inputs and not drawn:
                text = f"expected inputs that are drawn, found only fixed ones in case {name}"
                yield where, f"{check.id}: {text}: remembering the answer would be fast"
            yield from self._likes(name)

    def _likes(self, case: str) -> Iterator[Fault]:
        """Inputs of a case that are to have the shape of nothing there is."""
        inputs = self._cases[case].inputs
        made = {name for run in self._runs.values() for name in results(run)}
        for key, recipe in inputs.items():
            if recipe.like not in (None, key):
                known = [name for name in [*inputs, *made] if name != key]
                text = f"cases.{case}.{key}: expected 'like' an input or a result"
                yield from _one_of(("cases", case, key), text, str(recipe.like), known)


def _one_of(at: Keys, expected: str, word: str, known: Iterable[str]) -> Iterator[Fault]:
    """A sentence about a word that is none of those known."""
    words = list(known)
    if word not in words:
        yield at, _unknown(expected, word, words)


def _unknown(expected: str, word: str, words: Iterable[str]) -> str:
    return f"{expected}, found {word!r}{did_you_mean(word, words)}"


def _mentions(check: Check) -> tuple[list[Mention], str]:
    """What the keys of a check name, and what is wrong with an amount among them."""
    found: list[Mention] = []
    try:
        for mention in check.mentions():
            found.append(mention)
    except size_expr.AmountError as error:
        return found, str(error)
    return found, ""
