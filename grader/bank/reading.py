"""Names that steps and cases use and nothing gives, and those that they give and nothing reads."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from grader.bank.document import Keys, dotted
from grader.bank.locate import closest
from grader.bank.recovery import LeftOut
from grader.cases import size_expr
from grader.cases.dataflow import free_names, results
from grader.cases.recipe import CaseRecipe
from grader.model.question import Question

Problem = tuple[Keys, str]  # the path of keys, and a sentence


def functions(question: Question) -> Iterator[Problem]:
    """Functions that are not in the question's text, where one like them is."""
    spec = question.spec
    defined = re.findall(r"\b(?:def|class)\s+(\w+)", spec.interface)
    words = set(re.findall(r"\w+", f"{spec.interface} {spec.prompt}"))
    plain = isinstance(spec.run, list)
    for run, steps in question.runs.items():
        for i, step in enumerate(steps):
            if step.owner != "submission" or step.function in words:
                continue
            # Less like than this may be a helper that the interface leaves out.
            near = next(iter(difflib.get_close_matches(step.function, defined, 1, 0.75)), None)
            if near:
                at: Keys = ("run", i) if plain else ("run", run, i)
                expected = f"step {i + 1} of {run}: expected a function of the interface"
                yield at, f"{expected}, found {step.function!r}; did you mean {near!r}?"


def unknown_names(
    question: Question, left_out: LeftOut, cases: dict[str, CaseRecipe]
) -> Iterator[tuple[tuple[str, str], Problem]]:
    """Names in steps that no case gives and no earlier step assigns, by run and name."""
    if left_out.of("cases"):
        return
    given = dict.fromkeys(name for case in cases.values() for name in case.inputs)
    plain = isinstance(question.spec.run, list)
    for run, steps in question.runs.items():
        if run in left_out.of("run"):
            continue
        made = results(steps)
        for name in free_names(steps):
            if name in given:
                continue
            i = next(i for i, step in enumerate(steps) if name in step.reads)
            at: Keys = ("run", i) if plain else ("run", run, i)
            text = f"step {i + 1} of {run}: expected an input of a case or an earlier result"
            if name in made:
                text += f", found {name!r}, which only a later step gives"
            else:
                earlier = [n for step in steps[:i] for n in step.targets]
                text = unknown(text, name, [*given, *earlier])
            yield (run, name), (at, text)


def unread(
    question: Question, left_out: LeftOut, cases: dict[str, CaseRecipe]
) -> Iterator[Problem]:
    """Inputs that nothing reads: a misspelled one would leave its case out of every check."""
    if left_out.of("run") or left_out.indexes is not None:
        return  # what is left out may have read them
    read = {name for steps in question.runs.values() for name in free_names(steps)}
    for check in question.spec.checks:
        with suppress(size_expr.AmountError):
            read.update(mention.name for mention in check.mentions())
        read.update(_texts(check.model_dump()))  # whatever else a kind of a package reads
    for case, recipe in cases.items():
        alike = {r.like for r in recipe.inputs.values()}
        for name in recipe.inputs:
            if name in read or name in alike or name not in question.spec.cases[case]:
                continue
            missing = [n for n in sorted(read) if n not in recipe.inputs]
            at: Keys = ("cases", case, name)
            yield at, unknown(f"{dotted(at)}: expected an input that a step reads", name, missing)


def _texts(value: object) -> Iterator[str]:
    """Every text in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for item in value.values() for text in _texts(item))
    elif isinstance(value, list):
        yield from (text for item in value for text in _texts(item))


def unknown(expected: str, word: str, words: Iterable[str]) -> str:
    """A sentence about a word that is none of some words, with the nearest of them."""
    near = closest(word, [str(w) for w in words])
    hint = f"; did you mean {near!r}?" if near else ""
    return f"{expected}, found {word!r}{hint}"
