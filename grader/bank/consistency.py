"""What needs more than one key to be wrong: names nothing gives, checks nothing follows."""

from __future__ import annotations

from collections.abc import Iterator

from grader.bank import amounts
from grader.bank.document import Keys
from grader.bank.locate import closest
from grader.cases.recipe import CaseRecipe, read_cases
from grader.model import spec as model
from grader.model.question import Question, Step

Problem = tuple[Keys, str]


def problems(question: Question) -> Iterator[Problem]:
    """Every inconsistency of a question, as (path of keys, sentence)."""
    spec = question.spec
    cases, faults = read_cases(spec.cases)
    for path, text in faults:
        yield ("cases", *path), f"cases.{'.'.join(path)}: {text}"
    yield from _owners(question)
    ids = [check.id for check in spec.checks]
    for i, check in enumerate(spec.checks):
        at: Keys = ("checks", i)
        if check.id in ids[:i]:
            yield (*at, "id"), f"checks[{i}].id: expected each id once, found {check.id!r} again"
        for needed in check.needed:
            if needed not in ids[:i]:
                yield (
                    (*at, "needs"),
                    _unknown(
                        f"checks[{i}].needs: expected the id of an earlier check", needed, ids[:i]
                    ),
                )
            elif not check.stretch and spec.checks[ids.index(needed)].stretch:
                where = f"checks[{i}].needs"
                yield (*at, "needs"), f"{where}: {check.id} decides, but needs the stretch {needed}"
        if check.run not in question.runs:
            yield (
                (*at, "run"),
                _unknown(f"checks[{i}].run: expected the name of a run", check.run, question.runs),
            )
            continue
        yield from _cases(question, check, at, cases)
        yield from _results(question, check, at, cases)
    for name, item in spec.misconceptions.items():
        for killer in item.killers:
            if killer not in ids:
                yield (
                    ("misconceptions", name, "killed_by"),
                    _unknown("expected the id of a check", killer, ids),
                )
    for i, name in enumerate(spec.starter):
        if name not in spec.misconceptions:
            yield (
                ("starter", i),
                _unknown("expected the id of a misconception", name, spec.misconceptions),
            )


def _unknown(expected: str, word: str, words: object) -> str:
    known = [str(w) for w in words] if hasattr(words, "__iter__") else []
    near = closest(word, known)
    hint = f"; did you mean {near!r}?" if near else ""
    return f"{expected}, found {word!r}{hint}"


def case_names(
    check: model.Check, steps: tuple[Step, ...], cases: dict[str, CaseRecipe]
) -> list[str]:
    """The cases of a check, in the order of the file; `all`: those that have the run's inputs."""
    if check.cases == "all":
        wanted = set(free_names(steps))
        return [name for name, case in cases.items() if wanted <= case.inputs.keys()]
    return [check.cases] if isinstance(check.cases, str) else list(check.cases)


def free_names(steps: tuple[Step, ...]) -> list[str]:
    """Names that steps read before any step assigns them: the inputs."""
    assigned: set[str] = set()
    free: dict[str, None] = {}
    for step in steps:
        for name in step.reads:
            if name not in assigned:
                free[name] = None
        assigned.update(step.targets)
    return list(free)


def results(steps: tuple[Step, ...]) -> list[str]:
    """Names that the steps assign."""
    return [name for step in steps for name in step.targets]


def _cases(
    question: Question, check: model.AnyCheck, at: Keys, cases: dict[str, CaseRecipe]
) -> Iterator[Problem]:
    steps = question.runs[check.run]
    made = {name for run in question.runs.values() for name in results(run)}
    names = case_names(check, steps, cases)
    if not names:
        yield (
            (*at, "cases"),
            f"{check.id}: expected at least one case, "
            f"found none with {', '.join(free_names(steps))}",
        )
    runs = [steps]
    against = getattr(check, "against", None)
    if against is not None:
        if against not in question.runs:
            yield (*at, "against"), _unknown("expected the name of a run", against, question.runs)
        else:
            runs.append(question.runs[against])
    for name in names:
        if name not in cases:
            yield (*at, "cases"), _unknown(f"{check.id}: expected the name of a case", name, cases)
            continue
        for run in runs:
            for free in free_names(run):
                if free not in cases[name].inputs:
                    step = next(s for s in run if free in s.reads)
                    yield (
                        (*at, "cases"),
                        f"{check.id}: case {name} gives no value for {free}, "
                        f"which '{step.text}' needs",
                    )
        for key, recipe in cases[name].inputs.items():
            like = recipe.like
            if like is not None and like not in cases[name].inputs and like not in made:
                yield (
                    ("cases", name, key),
                    f"cases.{name}.{key}: expected 'like' an input or a result, found {like!r}",
                )


def _results(
    question: Question, check: model.AnyCheck, at: Keys, cases: dict[str, CaseRecipe]
) -> Iterator[Problem]:
    steps = question.runs[check.run]
    made = results(steps)
    wanted: list[tuple[str, str]] = []
    given: list[tuple[str, str]] = []
    match check:
        case model.OutputsCheck() | model.ContractCheck():
            wanted = [("of", name) for name in check.results]
        case model.StateCheck() | model.NumbersCheck() | model.CurveCheck() | model.GraphCheck():
            wanted = [("of", check.of)]
        case model.GradcheckCheck():
            wanted = [("loss", check.loss), *(("gradients", g) for g in check.gradients.values())]
            wanted += [("conserves", law.sum) for law in check.conserves]
            given += [("gradients", name) for name in check.gradients]
            given += [("cotangent", check.cotangent)] if check.cotangent is not None else []
            known = {*made, *free_names(steps)}
            for law in check.conserves:
                if isinstance(law.equals, str) and law.equals not in known:
                    yield (
                        (*at, "conserves"),
                        _unknown(f"{check.id}: expected an input or a result", law.equals, known),
                    )
        case model.MemoryCheck():
            given = [("except", name) for name in check.without]
        case _:
            pass
    if isinstance(check, model.OutputsCheck):
        given = [("show", name) for name in check.show.inputs]
        given += [("show", name) for name in check.show.window or [] if isinstance(name, str)]
    for key, name in given:
        if name not in free_names(steps):
            yield (
                (*at, key),
                _unknown(f"{check.id}: expected an input of the run", name, free_names(steps)),
            )
    for key, name in wanted:
        if name not in made:
            yield (
                (*at, key),
                _unknown(f"{check.id}: expected a result of the run {check.run}", name, made),
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
            for name in amounts.names(check.at_most):
                if name not in known:
                    what = "an input or a result" if sized else "a number"
                    yield (
                        (*at, "at_most"),
                        _unknown(f"{check.id}: expected {what}", name, known),
                    )
        except amounts.AmountError as error:
            yield (*at, "at_most"), f"{check.id}: {error}"
    lacks = _idle(check)
    if lacks:
        yield at, f"{check.id}: expected {lacks}, found none: the check could not fail"
    if isinstance(check, model.OutputsCheck) and check.exact and check.zeros == "exact":
        yield (*at, "zeros"), f"{check.id}: exact already includes zeros"


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


def _owners(question: Question) -> Iterator[Problem]:
    """Steps and checks that need a file or a library that the question has not."""
    plain = isinstance(question.spec.run, list)
    for name, steps in question.runs.items():
        for i, step in enumerate(steps):
            at: Keys = ("run", i) if plain else ("run", name, i)
            if step.owner == "driver" and question.driver is None:
                yield at, f"'{step.text}' needs the file driver.py beside reference.py, found none"
            if step.owner == "torch" and not question.spec.needs_torch:
                yield at, f"'{step.text}' needs torch in uses, found {question.spec.uses}"
    for i, check in enumerate(question.spec.checks):
        if check.kind in {"graph", "memory", "flops"} and not question.spec.needs_torch:
            yield ("checks", i, "kind"), f"{check.id}: the kind {check.kind} needs torch in uses"
