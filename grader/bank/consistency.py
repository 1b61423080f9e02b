"""What needs more than one key to be wrong: names nothing gives, checks nothing follows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from grader import forms
from grader.bank.yaml_document import DocumentPath, SpecError
from grader.cases import size_expr
from grader.cases.recipe import (
    FLOATS,
    RESERVED,
    CaseRecipe,
    RecipeError,
    assigned_names,
    cases_of_check,
    read_input,
    run_inputs,
)
from grader.forms import follow_up
from grader.grading.kinds import registry
from grader.model import mutants
from grader.model.errors import did_you_mean
from grader.model.question import Question
from grader.model.spec import Check, NameReference, Part, Spec


def check_defaults(spec: Spec) -> Iterator[SpecError]:
    """Defaults that are none."""
    for name, written in spec.defaults.items():
        at: DocumentPath = ("defaults", name)
        if name == "dtype":
            if written not in FLOATS:
                yield at, f"expected one of {', '.join(FLOATS)}, found {written!r}"
        elif name in RESERVED:
            yield at, f"expected an input or dtype, found {name}"
        else:
            try:
                read_input(written)
            except RecipeError as error:
                yield at if error.key is None else (*at, error.key), str(error)


def shape_sources(written: object) -> list[str]:
    """The names of which an input takes the shape."""
    values = written.values() if isinstance(written, dict) else ()
    texts = [value for value in values if isinstance(value, str)]
    return [text.removeprefix("like ") for text in texts if text.startswith("like ")]


def no_ideas_clause(question_id: str) -> str:
    """The end of a sentence about an idea of a question that has none."""
    return f"; the question has no ideas: write drills/{question_id}/ideas.py or code.ideas"


MAX_LISTED_WORDS = 8  # words that a sentence lists
_NUMBER = re.compile(r"[-+]?(inf|infinity|nan|[0-9.]+(e[-+]?[0-9]+)?)", re.IGNORECASE)


class ConsistencyChecker:
    """Looks for inconsistencies in a question; paths are those of a spec with `parts`."""

    def __init__(self, question: Question, cases: Mapping[str, CaseRecipe]) -> None:
        self._question, self._spec, self._runs = question, question.spec, question.runs
        self._cases = dict(cases)
        self._read = {name for steps in self._runs.values() for name in run_inputs(steps)}
        self._ids = [check.id for check in question.spec.checks]
        self._lacking: set[tuple[str, str]] = set()  # cases and inputs of which that was said

    def find_problems(self) -> Iterator[SpecError]:
        """Every inconsistency."""
        spec = self._spec
        yield from self._once_for_all()
        unknown = dict(self._unknown_names())
        yield from unknown.values()
        if not unknown:  # else a name that seems unread is likely what was meant
            yield from self._unread()
        for p, part in enumerate(spec.parts):
            yield from self._part(part, p)
            for i, check in enumerate(part.checks):
                at: DocumentPath = ("parts", p, "checks", i)
                yield from self._order(check, at)
                most = sum(len(one.contract) for one in spec.parts[: p + 1])
                for j, number in enumerate(check.clause):
                    if number > most:
                        there = f"up to {most}" if most else "of a contract, and there is none"
                        text = f"expected the number of a clause {there}, found {number}"
                        yield (*at, "clause", j), text
                yield from _one_of(
                    (*at, "run"), "the name of a run (default: main)", check.run, self._runs
                )
                if check.run in self._runs:
                    yield from self._check(check, at, {name for _, name in unknown})
        if (total := sum(part.points for part in spec.parts)) != 100:
            each = " + ".join(str(part.points) for part in spec.parts)
            yield ("parts",), f"expected points that add up to 100, found {each} = {total}"
        made = {result for run in self._runs.values() for result in assigned_names(run)}
        for name, case in self._cases.items():
            for key, recipe in case.inputs.items():
                if word := self._wordy(key, recipe.literal) * (key in spec.cases[name]):
                    yield ("cases", name, key), word
                if recipe.like not in (None, key):
                    known = ({*case.inputs} | made) - {key}
                    expected = "'like' an input or a result"
                    yield from _one_of(("cases", name, key), expected, str(recipe.like), known)
        for i, name in enumerate(spec.starter_holds):
            expected = "the name of an idea"
            ideas, hint = self._question.ideas, no_ideas_clause(self._question.id)
            yield from _one_of(("starter_holds", i), expected, name, ideas, "" if ideas else hint)
        explained = [mutants.mutant_key(s.scope, s.was, s.becomes) for s in spec.survivors]
        for i, mutant in enumerate(explained):
            if (first := explained.index(mutant)) < i:
                text = f"expected each mutant once, found that of survivors[{first}] again"
                yield ("survivors", i), text

    def unused_cases(self) -> Iterator[DocumentPath]:
        """Cases that no check looks at, and that no case extends: a check may have lost one."""
        used = {str(case.get("extends")) for case in self._spec.cases.values()}
        for check in self._spec.checks:
            used.update(cases_of_check(check, self._runs[check.run], self._cases))
        yield from (("cases", name) for name in sorted(self._cases.keys() - used))

    def incomplete_cases(self) -> Iterator[SpecError]:
        """Cases that no check looks at because they lack an input: a row may have lost a cell."""
        for at in self.unused_cases():
            given = self._cases[str(at[1])].inputs.keys()
            needs = {run: run_inputs(steps).keys() for run, steps in self._runs.items()}
            begun = [(needs[run] - given, run) for run in needs if given & needs[run]]
            names, run = min(begun, key=lambda one: len(one[0]), default=(set[str](), ""))
            if names:
                text = f"gives no {' and no '.join(sorted(names))}, which the run {run} needs"
                yield at, f"{text}, so that no check looks at it"

    def _wordy(self, name: str, value: object) -> str:
        """What is wrong with a text that reads as a number, where other cases give a number."""
        given = (case.inputs[name].literal for case in self._cases.values() if name in case.inputs)
        if not _NUMBER.fullmatch(str(value)) or not any(isinstance(g, (int, float)) for g in given):
            return ""
        found = f"found the text {value!r}; infinity is .inf, NaN .nan"
        return f"expected a number as in other cases, {found}" * isinstance(value, str)

    def _once_for_all(self) -> Iterator[SpecError]:
        """The driver, and names in `defaults` and `display` that no run reads."""
        question, spec = self._question, self._spec
        if question.driver is not None and not question.driver_functions:
            yield ("run",), "expected a step that calls driver.NAME, or no driver, found none"
        for run, steps in self._runs.items():
            for i, step in enumerate(steps):
                if step.owner != "judge" and any(before.owner == "judge" for before in steps[:i]):
                    text = f"expected the steps of judge last, found {step.text!r} after one"
                    yield spec.step_path(run, i), text
                if step.owner in {"driver", "judge"} and question.driver is None:
                    text = "expected driver.py next to reference.py, or code.driver, found neither"
                    yield spec.step_path(run, i), text
        like = {other for written in spec.defaults.values() for other in shape_sources(written)}
        for name in sorted(spec.defaults.keys() - RESERVED.keys() - like):
            yield from _one_of(("defaults", name), "an input that a step reads", name, self._read)
        for name, shown in spec.display or ():  # the fields of a model, with their values
            for i, word in enumerate(shown or ()):
                if isinstance(word, str):
                    yield from _one_of(("display", name, i), "an input of a run", word, self._read)

    def _unknown_names(self) -> Iterator[tuple[tuple[str, str], SpecError]]:
        """Names in steps that no case gives and no earlier step assigns, by run and name."""
        given = dict.fromkeys(name for case in self._cases.values() for name in case.inputs)
        for run, steps in self._runs.items():
            for name, step in run_inputs(steps).items():
                if name in given:
                    continue
                i = steps.index(step)
                text = f"expected an input of a case or an earlier result, found {name!r}"
                if name in assigned_names(steps):
                    text += ", which only a later step gives"
                else:
                    text += did_you_mean(name, [*given, *assigned_names(steps[:i])])
                yield (run, name), (self._spec.step_path(run, i), text)

    def _unread(self) -> Iterator[SpecError]:
        """Inputs that nothing reads: a misspelled one would leave its case out of every check."""
        read = set(self._read)
        for check in self._spec.checks:
            read.update(mention.name for mention in _mentions(check)[0])
        columns = self._spec.columns
        for case, recipe in self._cases.items():
            alike = {r.like for r in recipe.inputs.values()}
            unread = recipe.inputs.keys() & self._spec.cases[case].keys() - read - alike
            for name in sorted(unread):
                near = did_you_mean(name, sorted(read - recipe.inputs.keys()))
                text = f"expected an input that a step reads, found {name!r}{near}"
                at = ("columns", columns.index(name)) if name in columns else ("cases", case, name)
                yield at, text

    def _part(self, part: Part, p: int) -> Iterator[SpecError]:
        """What the first part lacks, ids, points, parts that decide nothing, and follow-ups."""
        spec, at = self._spec, ("parts", p)
        if p == 0 and not part.interface and not forms.form_of(spec).is_text:
            yield at, "expected the key 'interface', found none"
        if spec.part_ids[p] in spec.part_ids[:p]:
            yield (*at, "id"), f"expected each id once, found {spec.part_ids[p]!r} again"
        if len(spec.parts) > 1 and all(check.stretch for check in part.checks):
            text = "expected a check that decides, found none: no submission could fail this part"
            yield (*at, "checks"), text
        for i, check in enumerate(part.checks):
            judged = any(step.owner == "judge" for step in self._runs.get(check.run, ()))
            if judged and registry.kind_named(check.kind).is_timed:
                text = f"expected a run without steps of judge, found {check.run}"
                yield (*at, "checks", i, "kind"), text
        sharing = {i: c.points for i, c in enumerate(part.checks) if c.points is not None}
        for i, points in sharing.items():
            if part.checks[i].stretch:
                text = f"expected no points of a stretch, found {points}"
                yield (*at, "checks", i, "points"), text
        if sharing and sum(sharing.values()) != part.points:
            found = " + ".join(map(str, sharing.values()))
            text = f"expected points that add up to the part's {part.points}, found {found}"
            yield (*at, "checks", next(iter(sharing)), "points"), text
        elif sharing:
            yield from self._without_points(part, at)
        for i, one in enumerate(part.follow_ups):
            for path, text in follow_up.spec_errors(one, self._question.ideas):
                yield (*at, "follow_ups", i, *path), text

    def _without_points(self, part: Part, at: DocumentPath) -> Iterator[SpecError]:
        """Name checks that fail the part and cost no points."""
        earning = {check.id for check in part.checks if check.points}
        for check in reversed(part.checks):
            if check.id in earning:
                earning.update(check.needs)
        for i, check in enumerate(part.checks):
            if not check.stretch and check.id not in earning:
                text = f"expected points of {check.id}, or of a check that needs it, found none"
                yield (*at, "checks", i), f"{text}: a part that fails only it would earn all points"

    def _order(self, check: Check, at: DocumentPath) -> Iterator[SpecError]:
        """What is wrong with a check whatever its run is: its id, its kind, what it needs."""
        kind, torch, checks = (
            registry.kind_named(check.kind),
            self._spec.needs_torch,
            self._spec.checks,
        )
        if kind.needs_torch and not torch:
            yield (*at, "kind"), f"{check.kind} needs torch in uses, found {self._spec.uses}"
        if kind.without_torch and torch:
            sees = "does not see what torch allocates; kind: memory with quantity: peak does"
            yield (*at, "kind"), f"{check.kind} {sees}"
        earlier = self._ids[: next(i for i, one in enumerate(checks) if one is check)]
        if check.id in earlier:
            yield (*at, "id"), f"expected each id once, found {check.id!r} again"
        for j, needed in enumerate(check.needs):
            where = (*at, "needs", j)
            if needed not in earlier:
                known = () if needed in self._ids else earlier
                yield from _one_of(where, "the id of an earlier check", needed, known)
            elif checks[self._ids.index(needed)].stretch and not check.stretch:
                text = f"expected a check that decides, because {check.id} does"
                yield where, f"{text}, found the stretch {needed}"

    def _check(self, check: Check, at: DocumentPath, unknown: set[str]) -> Iterator[SpecError]:
        """What is wrong with the keys of a check whose run is there.

        Nothing is said again about `unknown`, the names of inputs that no case gives.
        """
        mentions, wrong = _mentions(check)
        if wrong:
            yield (*at, "at_most"), wrong
        yield from self._cases_of(check, at, unknown, mentions)
        steps = self._runs[check.run]
        made, given = assigned_names(steps), run_inputs(steps)
        named = cases_of_check(check, steps, self._cases)
        inputs = {n for c in named if c in self._cases for n in self._cases[c].inputs}
        known: dict[str, tuple[str, Iterable[str]]] = {
            "result": (f"a result of the run {check.run}", made),
            "input": ("an input of the run", given),
            "input or result": ("an input or a result", {*made, *given}),
            "size": ("an input or a result", {*made, *inputs}),
            "number": ("a number", ()),
            "run": ("the name of a run", self._runs),
        }
        for mention in mentions:
            expected, names = known[mention.name_kind]
            given_by = [
                run for run, some in self._runs.items() if mention.name in assigned_names(some)
            ]
            hint = f"; say `run: {given_by[0]}`, which gives it" if given_by else ""
            yield from _one_of((*at, *mention.path), expected, mention.name, names, hint)
        if lacks := check.missing_configuration():
            yield at, f"expected {lacks}, found none: the check could not fail"
        for path, text in check.spec_errors():
            yield (*at, *path), text

    def _cases_of(
        self, check: Check, at: DocumentPath, unknown: set[str], mentions: list[NameReference]
    ) -> Iterator[SpecError]:
        """What is wrong with the cases of a check: what they are called, and what they give."""
        needed = run_inputs(self._runs[check.run])
        names = cases_of_check(check, self._runs[check.run], self._cases)
        if not names and not unknown & needed.keys():
            text = f"expected at least one case, found none with {', '.join(needed)}"
            yield (*at, "cases"), text
        readers = needed
        for mention in mentions:
            if mention.name_kind == "run":
                readers = run_inputs(self._runs.get(mention.name, ())) | readers
        for j, name in enumerate(names):
            where: DocumentPath = (*at, "cases", j)
            yield from _one_of(where, "the name of a case", name, self._cases)
            if name not in self._cases:
                continue
            inputs = self._cases[name].inputs
            for free, step in readers.items():
                if free not in inputs and free not in unknown and (name, free) not in self._lacking:
                    self._lacking.add((name, free))
                    text = f"case {name} gives no value for {free}, which '{step.text}' needs"
                    yield where, text
            drawn = any(inputs[free].is_drawn for free in needed if free in inputs)
            if registry.kind_named(check.kind).needs_drawn_inputs and not drawn:
                text = f"expected inputs that are drawn, found only fixed ones in case {name}"
                yield where, f"{text}: remembering the answer would be fast"


def _one_of(
    at: DocumentPath, expected: str, word: str, known: Iterable[str], hint: str = ""
) -> Iterator[SpecError]:
    """A sentence about a word that is none of those known, which it lists if they are few."""
    words = sorted(known)
    if word not in words:
        few = f"; known: {', '.join(words)}" if 0 < len(words) <= MAX_LISTED_WORDS else ""
        yield at, f"expected {expected}, found {word!r}{hint or did_you_mean(word, words) or few}"


def _mentions(check: Check) -> tuple[list[NameReference], str]:
    """What the keys of a check name, and what is wrong with an amount among them."""
    found: list[NameReference] = []
    try:
        for mention in check.referenced_names():
            found.append(mention)
    except size_expr.AmountError as error:
        return found, str(error)
    return found, ""
