"""What needs more than one key to be wrong: names nothing gives, checks nothing follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from grader.bank.document import Keys, dotted
from grader.bank.reading import Problem, functions, unknown, unknown_names, unread
from grader.bank.recovery import LeftOut
from grader.cases import size_expr
from grader.cases.dataflow import case_names, free_names, results
from grader.cases.recipe import CaseRecipe, read_cases
from grader.kinds import registry
from grader.model import mutation
from grader.model.question import Question, Step
from grader.model.spec import Check, Mention, Spec


def problems(question: Question, left_out: LeftOut | None = None) -> Iterator[Problem]:
    """Every inconsistency of a question, as (path of keys, sentence).

    Args:
        question: the question, perhaps without parts that are wrong by themselves.
        left_out: what was left out of it; nothing is said about that again.
    """
    left_out = left_out or LeftOut()
    spec = question.spec
    cases, faults = read_cases(spec.cases)
    lost_cases, lost_runs = left_out.of("cases"), left_out.of("run")
    for path, text in faults:
        if not (lost_cases and path[-1] == "extends"):
            yield ("cases", *path), f"cases.{'.'.join(path)}: {text}"
    yield from _owners(question, left_out)
    yield from functions(question)
    odd = dict(unknown_names(question, left_out, cases))
    yield from odd.values()
    if not odd:  # else a name that seems unread is likely what was meant
        yield from unread(question, left_out, cases)
    for i, name in enumerate(spec.forbids):
        if not name.startswith("numpy.") and not spec.needs_torch:
            yield ("forbids", i), f"forbids: {name} needs torch in uses, found {spec.uses}"
    ids, lost = [check.id for check in spec.checks], left_out.of("checks")
    for number, check in enumerate(spec.checks):
        at: Keys = ("checks", left_out.index(number))
        yield from _order(spec, number, at, lost)
        if check.run in question.runs and check.run not in lost_runs:
            if not lost_cases:
                yield from _cases(question, check, at, cases, lost_runs, {n for _, n in odd})
            yield from _keys(question, check, at, cases)
        expected = f"{dotted(at)}.run: expected the name of a run"
        yield from _one_of((*at, "run"), expected, check.run, question.runs, lost_runs)
    for name, item in spec.misconceptions.items():
        for j, killer in enumerate(item.killers):
            at = ("misconceptions", name, "killed_by", j)
            yield from _one_of(at, "expected the id of a check", killer, ids, lost)
    for i, name in enumerate(spec.starter):
        known, lost = spec.misconceptions, left_out.of("misconceptions")
        yield from _one_of(("starter", i), "expected the id of a misconception", name, known, lost)
    explained = [mutation.key(s.scope, s.was, s.becomes) for s in spec.survivors]
    for i, mutant in enumerate(explained):
        if (first := explained.index(mutant)) < i:
            text = f"expected each mutant once, found that of survivors[{first}] again"
            yield ("survivors", i), f"survivors[{i}]: {text}"


def _one_of(
    at: Keys, expected: str, word: str, known: Iterable[str], lost: Iterable[str] = ()
) -> Iterator[Problem]:
    """A sentence about a word that names nothing of what is known, nor of what was left out."""
    words = [*known, *lost]
    if word not in words:
        yield at, unknown(expected, word, words)


def _order(spec: Spec, number: int, at: Keys, lost: Sequence[str]) -> Iterator[Problem]:
    """What is wrong with the id of a check, and with what it needs."""
    check, ids = spec.checks[number], [check.id for check in spec.checks]
    where = dotted(at)
    if check.id in ids[:number]:
        yield (*at, "id"), f"{where}.id: expected each id once, found {check.id!r} again"
    for j, needed in enumerate(check.needed):
        if needed not in ids[:number]:
            known = () if needed in ids else ids[:number]
            expected = f"{where}.needs: expected the id of an earlier check"
            yield from _one_of((*at, "needs", j), expected, needed, known, lost)
        elif spec.checks[ids.index(needed)].stretch and not check.stretch:
            yield (
                (*at, "needs", j),
                f"{where}.needs: expected a check that decides, because {check.id} does, "
                f"found the stretch {needed}",
            )


def _cases(
    question: Question,
    check: Check,
    at: Keys,
    cases: dict[str, CaseRecipe],
    lost_runs: Sequence[str],
    odd: set[str],
) -> Iterator[Problem]:
    """What is wrong with the cases of a check: what they are called, and what they give."""
    steps = question.runs[check.run]
    made = {name for run in question.runs.values() for name in results(run)}
    needed = [*free_names(steps)]
    names = case_names(check, steps, cases)
    if not names and not odd & set(needed):
        text = f"expected at least one case, found none with {', '.join(needed)}"
        yield (*at, "cases"), f"{check.id}: {text}"
    readers = _readers(steps)
    for mention in _mentions(check, "run"):
        expected = "expected the name of a run"
        yield from _one_of((*at, *mention.path), expected, mention.name, question.runs, lost_runs)
        readers = _readers(question.runs.get(mention.name, ())) | readers
    expected = f"{check.id}: expected the name of a case"
    for mention in _mentions(check, "case"):
        yield from _one_of((*at, *mention.path), expected, mention.name, cases)
        names = [*names, *(name for name in cases if name == mention.name)]
    for j, name in enumerate(names):
        where: Keys = (*at, "cases", j)
        yield from _one_of(where, expected, name, cases)
        if name not in cases:
            continue
        inputs = cases[name].inputs
        for free, step in readers.items():
            if free not in inputs and free not in odd:
                text = f"case {name} gives no value for {free}, which '{step.text}' needs"
                yield where, f"{check.id}: {text}"
        drawn = any(inputs[free].is_drawn for free in needed if free in inputs)
        if registry.get(check.kind).needs_drawn_inputs and not drawn:
            yield (
                where,
                f"{check.id}: expected inputs that are drawn, found only fixed ones in case "
                f"{name}: remembering the answer would be fast",
            )
        for key, recipe in inputs.items():
            if recipe.like is not None and not lost_runs:
                known = [n for n in [*inputs, *made] if n != key or n == recipe.like]
                text = f"cases.{name}.{key}: expected 'like' an input or a result"
                yield from _one_of(("cases", name, key), text, recipe.like, known)


def _readers(steps: Sequence[Step]) -> dict[str, Step]:
    """The first step that reads each input."""
    free = free_names(tuple(steps))
    return {name: next(step for step in steps if name in step.reads) for name in free}


def _keys(
    question: Question, check: Check, at: Keys, cases: dict[str, CaseRecipe]
) -> Iterator[Problem]:
    """What is wrong with the keys of a check: names, amounts, and what its kind says itself."""
    steps = question.runs[check.run]
    made, given = results(steps), free_names(steps)
    inputs = {n for c in case_names(check, steps, cases) if c in cases for n in cases[c].inputs}
    known: dict[str, tuple[str, Iterable[str]]] = {
        "result": (f"a result of the run {check.run}", made),
        "input": ("an input of the run", given),
        "input or result": ("an input or a result", {*made, *given}),
        "size": ("an input or a result", {*made, *inputs}),
        "number": ("a number", ()),
    }
    try:
        for mention in check.mentions():
            what, names = known.get(mention.of, ("", (mention.name,)))
            if mention.name not in names:
                text = unknown(f"{check.id}: expected {what}", mention.name, names)
                yield (*at, *mention.path), text
    except size_expr.AmountError as error:
        yield (*at, "at_most"), f"{check.id}: {error}"
    lacks = check.lacks()
    if lacks:
        yield at, f"{check.id}: expected {lacks}, found none: the check could not fail"
    for path, text in check.faults():
        yield (*at, *path), f"{check.id}: {text}"


def _mentions(check: Check, of: str) -> list[Mention]:
    """What the keys of a check name of one sort; nothing where an amount among them is broken."""
    with suppress(size_expr.AmountError):
        return [mention for mention in check.mentions() if mention.of == of]
    return []


def _owners(question: Question, left_out: LeftOut) -> Iterator[Problem]:
    """Steps and checks that need a file or a library that the question has not."""
    plain = isinstance(question.spec.run, list)
    for name, steps in question.runs.items():
        for i, step in enumerate(steps):
            at: Keys = ("run", i) if plain else ("run", name, i)
            if step.owner == "driver" and question.driver is None:
                yield (
                    at,
                    f"'{step.text}' needs the file driver.py next to reference.py, or code.driver, "
                    "found neither",
                )
            if step.owner == "torch" and not question.spec.needs_torch:
                yield at, f"'{step.text}' needs torch in uses, found {question.spec.uses}"
    for i, check in enumerate(question.spec.checks):
        if registry.get(check.kind).needs_torch and not question.spec.needs_torch:
            yield (
                ("checks", left_out.index(i), "kind"),
                f"{check.id}: the kind {check.kind} needs torch in uses, "
                f"found {question.spec.uses}",
            )
