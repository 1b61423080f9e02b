"""Faults that involve several keys: unknown names, unread inputs, checks that no run supports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from grader.cases.amounts import AmountError
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
from grader.forms import follow_up, form_of
from grader.grading.kinds.registry import kind_named
from grader.model.errors import KeyPath, SpecError, SpecErrors, did_you_mean
from grader.model.mutants import mutant_key
from grader.model.question import Question
from grader.model.spec import Check, NameReference, Part, Spec

MAX_LISTED_WORDS = 8  # words that a sentence lists
_NUMBER = re.compile(r"[-+]?(inf|infinity|nan|[0-9.]+(e[-+]?[0-9]+)?)", re.IGNORECASE)


def check_defaults(spec: Spec) -> SpecErrors:
    """Yield defaults that are faulty by themselves.

    They are an unknown dtype, an input that cannot be read, and a key of cases that is neither an
    input nor dtype, such as `extends`.
    """
    for name, default in spec.defaults.items():
        path: KeyPath = ("defaults", name)
        if name == "dtype":
            if default not in FLOATS:
                yield path, f"expected one of {', '.join(FLOATS)}, found {default!r}"
        elif name in RESERVED:
            yield path, f"expected an input or dtype, found {name}"
        else:
            try:
                read_input(default)
            except RecipeError as error:
                yield path if error.key is None else (*path, error.key), str(error)


def shape_sources(written: object) -> list[str]:
    """Return the names whose shape an input takes: x for `{normal: like x}`."""
    values = written.values() if isinstance(written, dict) else ()
    texts = [value for value in values if isinstance(value, str)]
    return [text.removeprefix("like ") for text in texts if text.startswith("like ")]


def no_ideas_clause(question_id: str) -> str:
    """Return the hint to add if a question names an idea and has no ideas."""
    return f"; the question has no ideas: write drills/{question_id}/ideas.py or code.ideas"


class ConsistencyChecker:
    """Finds inconsistencies in a question.

    The path of a fault in a part begins with `parts`, even if the spec has no such key.
    """

    def __init__(self, question: Question, cases: Mapping[str, CaseRecipe]) -> None:
        self._question = question
        self._spec = question.spec
        self._runs = question.runs
        self._cases = dict(cases)
        self._read = {name for steps in self._runs.values() for name in run_inputs(steps)}
        self._earlier_checks: dict[str, Check] = {}  # by id, in their order
        self._reported_missing: set[tuple[str, str]] = set()  # cases and inputs

    def find_problems(self) -> SpecErrors:
        """Yield every inconsistency."""
        yield from self._step_errors()
        yield from self._default_errors()
        unknown = dict(self._unknown_names())
        yield from unknown.values()
        if not unknown:  # else an input that seems unread is likely the intended one
            yield from self._unread_inputs()
        unknown_inputs = {name for _, name in unknown}
        clauses = 0
        for p, part in enumerate(self._spec.parts):
            clauses += len(part.contract)
            yield from self._part_errors(part, p)
            for i, check in enumerate(part.checks):
                path: KeyPath = ("parts", p, "checks", i)
                yield from self._position_errors(check, path)
                yield from _clause_errors(check, path, clauses)
                expected = "the name of a run (default: main)"
                yield from _unknown_word((*path, "run"), expected, check.run, self._runs)
                if check.run in self._runs:
                    yield from self._check_errors(check, path, unknown_inputs)
                self._earlier_checks[check.id] = check
        yield from self._point_errors()
        yield from self._case_errors()
        yield from self._starter_errors()
        yield from self._survivor_errors()

    def unused_cases(self) -> Iterator[KeyPath]:
        """Yield cases that no check uses and no case extends: a check may have lost one."""
        used = {case.get("extends") for case in self._spec.cases.values()}
        for check in self._spec.checks:
            used.update(cases_of_check(check, self._runs[check.run], self._cases))
        for name in sorted(self._cases.keys() - used):
            yield ("cases", name)

    def incomplete_cases(self) -> SpecErrors:
        """Yield unused cases that lack an input of a run: a row may have lost a cell."""
        for path in self.unused_cases():
            inputs = self._cases[str(path[1])].inputs.keys()
            missing_by_run = []
            for run, steps in self._runs.items():
                needed = run_inputs(steps).keys()
                if needed & inputs:
                    missing_by_run.append((run, sorted(needed - inputs)))
            run, missing = min(missing_by_run, key=lambda item: len(item[1]), default=("", []))
            if missing:
                text = f"gives no {' and no '.join(missing)}, which the run {run} needs"
                yield path, f"{text}, so that no check looks at it"

    # -- the question as a whole ------------------------------------------------------------------

    def _step_errors(self) -> SpecErrors:
        """Yield a driver that no step calls, a missing driver, and steps after a step of judge."""
        question = self._question
        if question.driver is not None and not question.driver_functions:
            yield ("run",), "expected a step that calls driver.NAME, or no driver, found none"
        for run, steps in self._runs.items():
            is_judging = False
            for i, step in enumerate(steps):
                path = self._spec.step_path(run, i)
                if step.owner == "judge":
                    is_judging = True
                elif is_judging:
                    text = "expected the steps of judge last"
                    yield path, f"{text}, found {step.text!r} after one"
                if step.owner in {"driver", "judge"} and question.driver is None:
                    text = "expected driver.py next to reference.py, or code.driver, found neither"
                    yield path, text

    def _default_errors(self) -> SpecErrors:
        """Yield names in `defaults` and `display` that no run reads."""
        defaults = self._spec.defaults
        sources = {name for default in defaults.values() for name in shape_sources(default)}
        for name in sorted(defaults.keys() - RESERVED.keys() - sources):
            expected = "an input that a step reads"
            yield from _unknown_word(("defaults", name), expected, name, self._read)
        for key, words in self._spec.display or ():  # the fields of a model, with their values
            for i, word in enumerate(words or ()):
                if isinstance(word, str):
                    path = ("display", key, i)
                    yield from _unknown_word(path, "an input of a run", word, self._read)

    def _unknown_names(self) -> Iterator[tuple[tuple[str, str], SpecError]]:
        """Yield names in steps that no case gives and no earlier step assigns.

        Each comes as its run and name, and the error.
        """
        inputs = dict.fromkeys(name for case in self._cases.values() for name in case.inputs)
        for run, steps in self._runs.items():
            for name, step in run_inputs(steps).items():
                if name in inputs:
                    continue
                i = steps.index(step)
                text = f"expected an input of a case or an earlier result, found {name!r}"
                if name in assigned_names(steps):
                    text += ", which only a later step gives"
                else:
                    text += did_you_mean(name, [*inputs, *assigned_names(steps[:i])])
                yield (run, name), (self._spec.step_path(run, i), text)

    def _unread_inputs(self) -> SpecErrors:
        """Yield inputs of cases that nothing reads: they may be misspelled."""
        read = set(self._read)
        for check in self._spec.checks:
            read.update(reference.name for reference in _references(check)[0])
        columns = self._spec.columns
        for case, recipe in self._cases.items():
            shape_names = {source.like for source in recipe.inputs.values()}
            inputs = recipe.inputs.keys() & self._spec.cases[case].keys()
            for name in sorted(inputs - read - shape_names):
                near = did_you_mean(name, sorted(read - recipe.inputs.keys()))
                text = f"expected an input that a step reads, found {name!r}{near}"
                if name in columns:
                    yield ("columns", columns.index(name)), text
                else:
                    yield ("cases", case, name), text

    def _point_errors(self) -> SpecErrors:
        """Yield an error if the points of the parts do not add up to 100."""
        points = [part.points for part in self._spec.parts]
        if sum(points) != 100:
            text = f"{' + '.join(map(str, points))} = {sum(points)}"
            yield ("parts",), f"expected points that add up to 100, found {text}"

    def _case_errors(self) -> SpecErrors:
        """Yield inputs of cases that are text instead of a number, or `like` an unknown name."""
        results = {result for run in self._runs.values() for result in assigned_names(run)}
        for name, case in self._cases.items():
            for key, recipe in case.inputs.items():
                path = ("cases", name, key)
                if key in self._spec.cases[name] and self._should_be_number(key, recipe.literal):
                    text = f"found the text {recipe.literal!r}; infinity is .inf, NaN .nan"
                    yield path, f"expected a number as in other cases, {text}"
                if recipe.like not in (None, key):
                    names = (case.inputs.keys() | results) - {key}
                    expected = "'like' an input or a result"
                    yield from _unknown_word(path, expected, str(recipe.like), names)

    def _should_be_number(self, name: str, literal: object) -> bool:
        """Return True if a text reads as a number, and other cases give a number."""
        if not isinstance(literal, str) or not _NUMBER.fullmatch(literal):
            return False
        for case in self._cases.values():
            if name in case.inputs and isinstance(case.inputs[name].literal, int | float):
                return True
        return False

    def _starter_errors(self) -> SpecErrors:
        """Yield unknown names in `starter_holds`, the list of the starter's ideas."""
        ideas = self._question.ideas
        hint = "" if ideas else no_ideas_clause(self._question.id)
        for i, name in enumerate(self._spec.starter_holds):
            path = ("starter_holds", i)
            yield from _unknown_word(path, "the name of an idea", name, ideas, hint)

    def _survivor_errors(self) -> SpecErrors:
        """Yield survivors that are listed twice."""
        first_places: dict[tuple[str, str, str], int] = {}
        for i, survivor in enumerate(self._spec.survivors):
            key = mutant_key(survivor.scope, survivor.was, survivor.becomes)
            first = first_places.setdefault(key, i)
            if first < i:
                text = f"expected each mutant once, found that of survivors[{first}] again"
                yield ("survivors", i), text

    # -- parts ------------------------------------------------------------------------------------

    def _part_errors(self, part: Part, p: int) -> SpecErrors:
        """Yield faults of a part, such as no interface, a repeated id, or no check that decides."""
        spec = self._spec
        path: KeyPath = ("parts", p)
        if p == 0 and not part.interface and not form_of(spec).is_text:
            yield path, "expected the key 'interface', found none"
        if spec.part_ids[p] in spec.part_ids[:p]:
            yield (*path, "id"), f"expected each id once, found {spec.part_ids[p]!r} again"
        if len(spec.parts) > 1 and all(check.stretch for check in part.checks):
            text = "expected a check that decides, found none: no submission could fail this part"
            yield (*path, "checks"), text
        for i, check in enumerate(part.checks):
            owners = {step.owner for step in self._runs.get(check.run, ())}
            if "judge" in owners and kind_named(check.kind).is_timed:
                text = f"expected a run without steps of judge, found {check.run}"
                yield (*path, "checks", i, "kind"), text
        yield from _shared_point_errors(part, path)
        for i, question in enumerate(part.follow_ups):
            for keys, text in follow_up.spec_errors(question, self._question.ideas):
                yield (*path, "follow_ups", i, *keys), text

    # -- checks -----------------------------------------------------------------------------------

    def _position_errors(self, check: Check, path: KeyPath) -> SpecErrors:
        """Yield faults of a check that do not depend on its run: in its kind, id and needs."""
        kind = kind_named(check.kind)
        if kind.needs_torch and not self._spec.needs_torch:
            yield (*path, "kind"), f"{check.kind} needs torch in uses, found {self._spec.uses}"
        if kind.without_torch and self._spec.needs_torch:
            text = "does not see what torch allocates; kind: memory with quantity: peak does"
            yield (*path, "kind"), f"{check.kind} {text}"
        earlier = self._earlier_checks
        if check.id in earlier:
            yield (*path, "id"), f"expected each id once, found {check.id!r} again"
        ids = [other.id for other in self._spec.checks]
        for j, needed in enumerate(check.needs):
            needs_path = (*path, "needs", j)
            if needed not in earlier:
                suggested = () if needed in ids else earlier
                expected = "the id of an earlier check"
                yield from _unknown_word(needs_path, expected, needed, suggested)
            elif earlier[needed].stretch and not check.stretch:
                text = f"expected a check that decides, because {check.id} does"
                yield needs_path, f"{text}, found the stretch {needed}"

    def _check_errors(self, check: Check, path: KeyPath, unknown_inputs: set[str]) -> SpecErrors:
        """Yield faults in the keys of a check whose run exists.

        Inputs in `unknown_inputs`, which no case gives, are skipped: `find_problems` has reported
        them.
        """
        references, amount_error = _references(check)
        if amount_error:
            yield (*path, "at_most"), amount_error
        yield from self._check_case_errors(check, path, unknown_inputs, references)
        for reference in references:
            expected, names = self._names_for(reference, check)
            hint = ""
            for run, steps in self._runs.items():
                if not hint and reference.name in assigned_names(steps):
                    hint = f"; say `run: {run}`, which gives it"
            key_path = (*path, *reference.path)
            yield from _unknown_word(key_path, expected, reference.name, names, hint)
        if missing := check.missing_configuration():
            yield path, f"expected {missing}, found none: the check could not fail"
        for keys, text in check.spec_errors():
            yield (*path, *keys), text

    def _names_for(self, reference: NameReference, check: Check) -> tuple[str, Iterable[str]]:
        """Return a noun phrase for the names allowed in a key of a check, and these names."""
        steps = self._runs[check.run]
        results = assigned_names(steps)
        inputs = run_inputs(steps)
        match reference.name_kind:
            case "result":
                return f"a result of the run {check.run}", results
            case "input":
                return "an input of the run", inputs
            case "input or result":
                return "an input or a result", {*results, *inputs}
            case "size":
                names = set(results)
                for case in cases_of_check(check, steps, self._cases):
                    if case in self._cases:
                        names |= self._cases[case].inputs.keys()
                return "an input or a result", names
            case "number":
                return "a number", ()
            case "run":
                return "the name of a run", self._runs

    def _check_case_errors(
        self,
        check: Check,
        path: KeyPath,
        unknown_inputs: set[str],
        references: list[NameReference],
    ) -> SpecErrors:
        """Yield faults in the cases of a check, such as an unknown case or one without an input."""
        steps = self._runs[check.run]
        needed = run_inputs(steps)
        names = cases_of_check(check, steps, self._cases)
        if not names and not unknown_inputs & needed.keys():
            text = f"expected at least one case, found none with {', '.join(needed)}"
            yield (*path, "cases"), text
        readers = needed  # the step that reads each input, also in other runs of the check
        for reference in references:
            if reference.name_kind == "run":
                readers = run_inputs(self._runs.get(reference.name, ())) | readers
        for j, name in enumerate(names):
            case_path: KeyPath = (*path, "cases", j)
            yield from _unknown_word(case_path, "the name of a case", name, self._cases)
            if name not in self._cases:
                continue
            inputs = self._cases[name].inputs
            for input_name, step in readers.items():
                if input_name in inputs or input_name in unknown_inputs:
                    continue
                if (name, input_name) not in self._reported_missing:
                    self._reported_missing.add((name, input_name))
                    text = f"gives no value for {input_name}, which '{step.text}' needs"
                    yield case_path, f"case {name} {text}"
            drawn = any(inputs[key].is_drawn for key in needed if key in inputs)
            if kind_named(check.kind).needs_drawn_inputs and not drawn:
                text = f"expected inputs that are drawn, found only fixed ones in case {name}"
                yield case_path, f"{text}: remembering the answer would be fast"


def _clause_errors(check: Check, path: KeyPath, clauses: int) -> SpecErrors:
    """Yield numbers above `clauses`, the number of clauses in this part and the earlier ones."""
    for j, number in enumerate(check.clause):
        if number > clauses:
            known = f"up to {clauses}" if clauses else "of a contract, and there is none"
            text = f"expected the number of a clause {known}, found {number}"
            yield (*path, "clause", j), text


def _shared_point_errors(part: Part, path: KeyPath) -> SpecErrors:
    """Yield errors if a stretch has points, the sum is wrong, or a check that decides costs none.

    There are no errors if no check of the part has points.
    """
    shares: dict[int, int] = {}
    for i, check in enumerate(part.checks):
        if check.points is None:
            continue
        shares[i] = check.points
        if check.stretch:
            text = f"expected no points of a stretch, found {check.points}"
            yield (*path, "checks", i, "points"), text
    if not shares:
        return
    if sum(shares.values()) == part.points:
        yield from _pointless_checks(part, path)
    else:
        total = " + ".join(map(str, shares.values()))
        text = f"expected points that add up to the part's {part.points}, found {total}"
        yield (*path, "checks", min(shares), "points"), text


def _pointless_checks(part: Part, path: KeyPath) -> SpecErrors:
    """Yield checks that fail the part if they fail, but would cost no points."""
    earning = {check.id for check in part.checks if check.points}
    for check in reversed(part.checks):
        if check.id in earning:
            earning.update(check.needs)
    for i, check in enumerate(part.checks):
        if not check.stretch and check.id not in earning:
            text = f"expected points of {check.id}, or of a check that needs it, found none"
            yield (*path, "checks", i), f"{text}: a part that fails only it would earn all points"


def _unknown_word(
    path: KeyPath, expected: str, word: str, known: Iterable[str], hint: str = ""
) -> SpecErrors:
    """Yield a sentence on a word that is not known; it lists the known words if they are few."""
    words = sorted(known)
    if word in words:
        return
    hint = hint or did_you_mean(word, words)
    if not hint and 0 < len(words) <= MAX_LISTED_WORDS:
        hint = f"; known: {', '.join(words)}"
    yield path, f"expected {expected}, found {word!r}{hint}"


def _references(check: Check) -> tuple[list[NameReference], str]:
    """Return the names in the keys of a check, and the error of an unreadable amount, or ""."""
    references: list[NameReference] = []
    try:
        for reference in check.referenced_names():
            references.append(reference)
    except AmountError as error:
        return references, str(error)
    return references, ""
