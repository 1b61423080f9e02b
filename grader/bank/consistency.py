"""What needs more than one key to be wrong: names nothing gives, checks nothing follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from grader.bank.document import Keys
from grader.bank.gaps import Gaps
from grader.bank.reading import Problem, functions, unknown, unknown_names, unread
from grader.cases import size_expr
from grader.cases.dataflow import case_names, free_names, results
from grader.cases.recipe import CaseRecipe, read_cases
from grader.kinds import registry
from grader.model import mutation
from grader.model.question import Question
from grader.model.spec import Check, Mention


def problems(question: Question, gaps: Gaps | None = None) -> Iterator[Problem]:
    """Every inconsistency of a question, as (path of keys, sentence).

    Args:
        question: the question, perhaps without parts that are wrong by themselves.
        gaps: what was left out of it; nothing is said about that again.
    """
    gaps = gaps or Gaps()
    spec = question.spec
    cases, faults = read_cases(spec.cases)
    for path, text in faults:
        if not (gaps.cases and path[-1] == "extends"):
            yield ("cases", *path), f"cases.{'.'.join(path)}: {text}"
    yield from _owners(question, gaps)
    yield from functions(question)
    odd = dict(unknown_names(question, gaps, cases))
    yield from odd.values()
    if not odd:  # else a name that seems unread is likely what was meant
        yield from unread(question, gaps, cases)
    for i, name in enumerate(spec.forbids):
        if not name.startswith("numpy.") and not spec.needs_torch:
            yield ("forbids", i), f"forbids: {name} needs torch in uses, found {spec.uses}"
    ids = [check.id for check in spec.checks]
    for number, check in enumerate(spec.checks):
        i = gaps.place(number)
        at: Keys = ("checks", i)
        if check.id in ids[:number]:
            yield (*at, "id"), f"checks[{i}].id: expected each id once, found {check.id!r} again"
        for j, needed in enumerate(check.needed):
            where = f"checks[{i}].needs"
            if needed not in ids[:number] and needed not in gaps.checks:
                later = needed in ids[number:]
                known = [*ids[:number], *sorted(gaps.checks)]
                expected = f"{where}: expected the id of an earlier check"
                yield (*at, "needs", j), unknown(expected, needed, () if later else known)
            elif (
                needed in ids[:number]
                and not check.stretch
                and spec.checks[ids.index(needed)].stretch
            ):
                yield (
                    (*at, "needs", j),
                    f"{where}: expected a check that decides, because {check.id} does, "
                    f"found the stretch {needed}",
                )
        if check.run in gaps.runs:
            continue
        if check.run not in question.runs:
            yield (
                (*at, "run"),
                unknown(f"checks[{i}].run: expected the name of a run", check.run, question.runs),
            )
            continue
        if not gaps.cases:
            yield from _cases(question, check, at, cases, gaps, {name for _, name in odd})
        yield from _keys(question, check, at, cases)
    for name, item in spec.misconceptions.items():
        for j, killer in enumerate(item.killers):
            if killer not in ids and killer not in gaps.checks:
                yield (
                    ("misconceptions", name, "killed_by", j),
                    unknown("expected the id of a check", killer, [*ids, *sorted(gaps.checks)]),
                )
    misconceptions = [*spec.misconceptions, *sorted(gaps.misconceptions)]
    for i, name in enumerate(spec.starter):
        if name not in spec.misconceptions and name not in gaps.misconceptions:
            yield (
                ("starter", i),
                unknown("expected the id of a misconception", name, misconceptions),
            )
    explained = [mutation.key(s.scope, s.was, s.becomes) for s in spec.survivors]
    for i, place in enumerate(explained):
        if place in explained[:i]:
            yield (
                ("survivors", i),
                f"survivors[{i}]: expected each mutant once, found that of "
                f"survivors[{explained.index(place)}] again",
            )


def _cases(
    question: Question,
    check: Check,
    at: Keys,
    cases: dict[str, CaseRecipe],
    gaps: Gaps,
    odd: set[str],
) -> Iterator[Problem]:
    steps = question.runs[check.run]
    made = {name for run in question.runs.values() for name in results(run)}
    names = case_names(check, steps, cases)
    if not names and not odd & set(free_names(steps)):
        yield (
            (*at, "cases"),
            f"{check.id}: expected at least one case, "
            f"found none with {', '.join(free_names(steps))}",
        )
    runs = [steps]
    for mention in _mentions(check, "run"):
        if mention.name in question.runs:
            runs.append(question.runs[mention.name])
        elif mention.name not in gaps.runs:
            text = unknown("expected the name of a run", mention.name, question.runs)
            yield (*at, *mention.path), text
    for mention in _mentions(check, "case"):
        if mention.name in cases:
            names = [*names, mention.name]
        else:
            text = unknown(f"{check.id}: expected the name of a case", mention.name, cases)
            yield (*at, *mention.path), text
    for j, name in enumerate(names):
        if name not in cases:
            expected = f"{check.id}: expected the name of a case"
            yield (*at, "cases", j), unknown(expected, name, cases)
            continue
        for run in runs:
            for free in free_names(run):
                if free not in cases[name].inputs and free not in odd:
                    step = next(s for s in run if free in s.reads)
                    yield (
                        (*at, "cases", j),
                        f"{check.id}: case {name} gives no value for {free}, "
                        f"which '{step.text}' needs",
                    )
        if registry.get(check.kind).needs_drawn_inputs and not any(
            cases[name].inputs[free].is_drawn
            for free in free_names(steps)
            if free in cases[name].inputs
        ):
            yield (
                (*at, "cases", j),
                f"{check.id}: expected inputs that are drawn, found only fixed ones in case "
                f"{name}: whoever remembers the answer would be fast",
            )
        for key, recipe in cases[name].inputs.items():
            like = recipe.like
            if like is None or like in cases[name].inputs or like in made or gaps.runs:
                continue
            expected = f"cases.{name}.{key}: expected 'like' an input or a result"
            known = [*cases[name].inputs, *made]
            yield ("cases", name, key), unknown(expected, like, [n for n in known if n != key])


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


def _owners(question: Question, gaps: Gaps) -> Iterator[Problem]:
    """Steps and checks that need a file or a library that the question has not."""
    plain = isinstance(question.spec.run, list)
    for name, steps in question.runs.items():
        for i, step in enumerate(steps):
            at: Keys = ("run", i) if plain else ("run", name, i)
            if step.owner == "driver" and question.driver is None:
                yield (
                    at,
                    f"'{step.text}' needs the file driver.py beside reference.py, or code.driver, "
                    "found neither",
                )
            if step.owner == "torch" and not question.spec.needs_torch:
                yield at, f"'{step.text}' needs torch in uses, found {question.spec.uses}"
    for i, check in enumerate(question.spec.checks):
        if registry.get(check.kind).needs_torch and not question.spec.needs_torch:
            yield (
                ("checks", gaps.place(i), "kind"),
                f"{check.id}: the kind {check.kind} needs torch in uses, "
                f"found {question.spec.uses}",
            )
