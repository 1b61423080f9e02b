"""Which misconceptions can no case tell apart, and which case would?

Two ideas that compute the same on every case cannot be named.  A short random search over the
cases' own sizes, scalars and generators looks for inputs on which they differ; the smallest found
is handed to the author as YAML.  It knows nothing of the contract, so the author has the last word.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.bench.bench import BankFault, Bench
from grader.bench.sameness import same_value
from grader.cases.dataflow import free_names, results
from grader.cases.recipe import CaseRecipe, Recipe, read_cases
from grader.model.audit import Twins
from grader.sandbox.client import WorkerError
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import ProgramError

if TYPE_CHECKING:
    from grader.model.question import Question
    from grader.session import GradingSession

TRIES = 120  # candidates for one pair; each costs three runs of small inputs
ENOUGH = 4  # cases found, of which the smallest is shown

Written = dict[str, Any]


def pairs(named: Iterable[tuple[str | None, Sequence[tuple[str, ...]]]]) -> list[tuple[str, str]]:
    """Misconceptions that go by each other's names on every seed.

    Args:
        named: of each program its misconception, and what diagnosis called it, seed by seed.
    """
    found: dict[tuple[str, str], None] = {}
    for own, by_seed in named:
        if own is None or not by_seed:
            continue
        always = set.intersection(*(set(names) for names in by_seed))
        if own in always:
            for other in sorted(always - {own}):
                found[min(own, other), max(own, other)] = None
    return list(found)


def tell_apart(session: GradingSession, one: str, other: str) -> Twins:
    """Search for a case on which two misconceptions differ."""
    question = session.question
    rng = random.Random(f"{question.id}/{one}/{other}")
    first, second = (
        [session.bank.variant(name, i) for i in range(len(question.variants[name]))]
        for name in (one, other)
    )
    found: list[tuple[int, Written, str]] = []
    tried = 0
    for written in itertools.islice(_candidates(question, rng), TRIES):
        tried += 1
        run = _differs(session, written, first, second)
        if run is not None:
            found.append((_weight(written), written, run))
            if len(found) == ENOUGH:
                break
    if not found:
        return Twins(one, other, tried=tried)
    _, written, run = min(found, key=lambda f: f[0])
    return Twins(one, other, tuple(_yaml(written)), tried, run)


def _differs(
    session: GradingSession,
    written: Written,
    first: Sequence[RemoteProgram],
    second: Sequence[RemoteProgram],
) -> str | None:
    """The run whose results differ on a case, if the reference can do it and they do."""
    question = session.question
    spec = question.spec.model_copy(update={"cases": {"candidate": written}})
    trial = replace(question, spec=spec)
    reference = session.bank.reference
    bench = Bench(trial, 0, reference, reference)
    case = bench.cases["candidate"]
    for run, steps in question.runs.items():
        if not set(free_names(steps)) <= case.inputs.keys():
            continue
        names = [n for n in bench.wanted[run] if n in results(steps)]
        try:
            with np.errstate(all="ignore"):
                bench.truth(run, case)  # what the reference cannot do, nobody need do
                left = [bench.outcome(p, run, case).values for p in first]
                right = [bench.outcome(p, run, case).values for p in second]
        except (BankFault, ProgramError, WorkerError, ValueError):
            continue  # outside of what these functions take
        if all(
            any(not same_value(a[n], b[n], case.dtype) for n in names) for a in left for b in right
        ):
            return run
    return None


def _candidates(question: Question, rng: random.Random) -> Iterator[Written]:
    """Cases like those of the question, of other sizes and with other numbers in them."""
    known = [c for c in read_cases(question.spec.cases)[0].values() if c.inputs]
    while known:
        yield _varied(rng.choice(known), rng)


def _varied(case: CaseRecipe, rng: random.Random) -> Written:
    """One case with every size, scalar and generator open to change.

    Equal sizes stay equal, whatever input they are in: that is what most functions ask for.
    """
    sizes: dict[int, int] = {}
    kinds = rng.choice(["as-written", "normal", "integers", "distinct"])
    written: Written = {} if case.dtype == "float64" else {"dtype": case.dtype}
    for name, recipe in case.inputs.items():
        if recipe.generator is None:
            written[name] = _scalar(recipe.literal, rng)
        else:
            written[name] = _array(recipe, kinds, sizes, rng)
    return written


def _array(recipe: Recipe, kind: str, sizes: dict[int, int], rng: random.Random) -> Written:
    shape = recipe.shape
    if recipe.generator == "array":
        shape = tuple(np.asarray(recipe.literal).shape)
    size: object = f"like {recipe.like}"
    if recipe.like is None:
        size = [sizes.setdefault(n, rng.randint(1, min(2 * n + 2, 12))) for n in shape or ()]
    generator = recipe.generator if kind == "as-written" else kind
    options = dict(recipe.options or {})
    if recipe.generator in {"simplex", "one_hot"} or (recipe.dtype or "float64")[:5] != "float":
        generator = recipe.generator  # indices and probabilities stay what they are
    if recipe.generator == "array" and generator == "array":
        whole = bool(np.all(np.asarray(recipe.literal) % 1 == 0))
        generator = "integers" if whole else "normal"
    if generator != recipe.generator:
        options = {}
    if generator == "integers" and "to" not in options:
        values = np.asarray(recipe.literal) if recipe.generator == "array" else np.asarray([0, 2])
        options = {"from": int(values.min(initial=0)), "to": int(values.max(initial=1))}
    written: Written = {str(generator): size, **options}
    if recipe.dtype:
        written["dtype"] = recipe.dtype
    return written


def _scalar(value: Any, rng: random.Random) -> Any:  # noqa: ANN401 any scalar
    match value:
        case bool():
            return rng.random() < 0.5
        case int():
            return rng.choice([value, value, value + 1, max(0, value - 1), 2 * value])
        case float():
            return rng.choice([value, value, value * 10, value / 10])
        case _:
            return value


def _weight(written: Mapping[str, Any]) -> int:
    """How much there is to read in a case."""
    weight = 0
    for value in written.values():
        shape = next(iter(value.values())) if isinstance(value, dict) else []
        weight += int(np.prod(shape)) if isinstance(shape, list) else 0
    return weight


def _yaml(written: Mapping[str, Any]) -> Iterator[str]:
    for name, value in written.items():
        yield f"{name}: {_flow(value)}"


def _flow(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, float):
        text = repr(value)  # YAML wants a dot in a number with an exponent
        return text.replace("e", ".0e") if "e" in text and "." not in text else text
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)
