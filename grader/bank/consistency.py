"""What needs more than one key to be wrong: names nothing gives, checks nothing follows."""

from __future__ import annotations

from collections.abc import Iterator

from grader.bank.document import Keys
from grader.bank.gaps import Gaps
from grader.bank.reading import Problem, functions, unknown, unknown_names, unread
from grader.cases import size_expr
from grader.cases.dataflow import case_names, free_names, results
from grader.cases.recipe import CaseRecipe, read_cases
from grader.model import mutation
from grader.model import spec as model
from grader.model.question import Question

__all__ = ["case_names", "free_names", "problems", "results"]


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
        yield from _results(question, check, at, cases)
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
    check: model.AnyCheck,
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
    against = getattr(check, "against", None)
    if against is not None and against not in gaps.runs:
        if against not in question.runs:
            yield (*at, "against"), unknown("expected the name of a run", against, question.runs)
        else:
            runs.append(question.runs[against])
    large = getattr(check, "large", "")
    if large and large not in cases:
        yield (*at, "large"), unknown(f"{check.id}: expected the name of a case", large, cases)
    large = getattr(check, "large", "")
    if large:
        names = [*names, large]
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
        if isinstance(check, model.PerformanceCheck) and not any(
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


def _results(
    question: Question, check: model.AnyCheck, at: Keys, cases: dict[str, CaseRecipe]
) -> Iterator[Problem]:
    steps = question.runs[check.run]
    made = results(steps)
    wanted: list[tuple[Keys, str]] = []
    given: list[tuple[Keys, str]] = []
    match check:
        case model.OutputsCheck() | model.ContractCheck():
            wanted = [(("of", j), name) for j, name in enumerate(check.results)]
        case model.StateCheck() | model.NumbersCheck() | model.CurveCheck() | model.GraphCheck():
            wanted = [(("of",), check.of)]
        case model.GradcheckCheck():
            wanted = [(("loss",), check.loss)]
            wanted += [(("gradients", name), g) for name, g in check.gradients.items()]
            laws = [*enumerate(check.conserves)]
            wanted += [(("conserves", j, "sum"), law.sum) for j, law in laws]
            given += [(("gradients", name), name) for name in check.gradients]
            given += [(("cotangent",), check.cotangent)] if check.cotangent is not None else []
            known = {*made, *free_names(steps)}
            for j, law in laws:
                if isinstance(law.equals, str) and law.equals not in known:
                    yield (
                        (*at, "conserves", j, "equals"),
                        unknown(f"{check.id}: expected an input or a result", law.equals, known),
                    )
        case model.MemoryCheck():
            given = [(("except", j), name) for j, name in enumerate(check.without)]
        case _:
            wanted = [(("of", j), name) for j, name in enumerate(check.results)]
    if isinstance(check, model.OutputsCheck):
        given = [(("show", "beside", j), name) for j, name in enumerate(check.show.inputs)]
        given += [
            (("show", "window", j), name)
            for j, name in enumerate(check.show.window or [])
            if isinstance(name, str)
        ]
    for key, name in given:
        if name not in free_names(steps):
            yield (
                (*at, *key),
                unknown(f"{check.id}: expected an input of the run", name, free_names(steps)),
            )
    for key, name in wanted:
        if name not in made:
            yield (
                (*at, *key),
                unknown(f"{check.id}: expected a result of the run {check.run}", name, made),
            )
    if isinstance(check, (model.StateCheck, model.MemoryCheck)):
        sized = isinstance(check, model.StateCheck) or check.against is None
        known = (
            set()
            if not sized
            else {
                *made,
                *(
                    n
                    for name in case_names(check, steps, cases)
                    if name in cases
                    for n in cases[name].inputs
                ),
            }
        )
        try:
            for name in size_expr.names(check.at_most):
                if name not in known:
                    what = "an input or a result" if sized else "a number"
                    yield (
                        (*at, "at_most"),
                        unknown(f"{check.id}: expected {what}", name, known),
                    )
        except size_expr.AmountError as error:
            yield (*at, "at_most"), f"{check.id}: {error}"
    lacks = _idle(check)
    if lacks:
        yield at, f"{check.id}: expected {lacks}, found none: the check could not fail"
    if isinstance(check, model.OutputsCheck) and check.exact and check.zeros == "exact":
        yield (
            (*at, "zeros"),
            f"{check.id}: expected exact or zeros, found both; exact already includes zeros",
        )


def _idle(check: model.AnyCheck) -> str:
    """What a check would need to be able to fail, where it has nothing."""
    match check:
        case model.CurveCheck() if check.ends_below is None and not check.falls:
            return "ends_below or falls"
        case model.GradcheckCheck() if not check.gradients and not check.conserves:
            return "gradients or conserves"
        case model.OutputsCheck() | model.ContractCheck() if not check.results:
            return "the name of a result"
        case model.NumbersCheck() if not check.parts:
            return "the names of parts"
        case _:
            return ""


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
        if check.kind in {"graph", "memory", "flops"} and not question.spec.needs_torch:
            yield (
                ("checks", gaps.place(i), "kind"),
                f"{check.id}: the kind {check.kind} needs torch in uses, "
                f"found {question.spec.uses}",
            )
