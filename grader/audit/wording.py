"""Does the text say what the cases ask for?

Two reasonable people must agree on what is right by the prompt, the interface and the contract
alone.  So what a case contains (a dtype, no rows, NaN, ties that decide) or a check demands (a
budget, inputs left alone) must be mentioned there.  Only words are looked for, never understood:
each finding is a remark with a sentence to begin with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.audit.budgets import Missing, listing, of_checks, says
from grader.audit.ties import decided_by_ties, is_array
from grader.bench.bench import BankFault, Bench, array_of
from grader.cases.recipe import CaseRecipe
from grader.kinds import registry
from grader.model.audit import Remark

if TYPE_CHECKING:
    from grader.model.question import Question

DTYPES = {
    "float64": r"float64|fp64|double|64[- ]bit|any float",
    "float32": r"float32|fp32|single precision|32[- ]bit|any float",
    "bfloat16": r"bfloat16|bf16",
}
SHAPES = r"\bshape|\(\s*(?:[A-Za-z]\w*|\d+|\.\.\.)\s*,[^()]*\)|\bscalar|\bany size"
EMPTY = (
    r"\bempty\b|\bno (?:rows?|samples?|entries|elements|tokens|items)\b|\bmay be 0\b|>= ?0\b"
    r"|\b[A-Z]\w? ?= ?0\b|\bis 0\b|\bzero rows\b|\blength 0\b|\bsize 0\b|\bat least 0\b|\bnothing\b"
)
TIES = r"\bties?\b|\btied\b|\bequal\b|\bdraws?\b|\bat 0\b|\bat zero\b|\bexactly 0\b|\bduplicate"


def remarks(question: Question, bench: Bench) -> list[Remark]:
    """What the text leaves out, with a sentence to add for each.

    Args:
        question: the question.
        bench: one with its reference.
    """
    text = stated(question)
    found = [
        *_of_dtypes(text, bench),
        *_of_shapes(text, bench),
        *_of_odd_inputs(text, bench),
        *_of_odd_results(text, bench),
        *_of_padding(question, bench),
        *_of_ties(text, bench),
        *of_checks(text, question),
    ]
    return [Remark("wording", what, add) for what, add in found]


def stated(question: Question) -> str:
    """All that a candidate is told before starting."""
    spec = question.spec
    return "\n".join([spec.prompt, spec.interface, *spec.contract])


def _arrays(bench: Bench) -> Iterator[tuple[CaseRecipe, str, Any]]:
    """Every array input of every case that is used."""
    for case in _used(bench):
        for name, value in bench.drawn(case).items():
            if isinstance(value, np.ndarray):
                yield case, name, value


def _used(bench: Bench) -> list[CaseRecipe]:
    checks = bench.question.spec.checks
    names = dict.fromkeys(c.name for check in checks for c in bench.cases_of(check))
    return [bench.cases[name] for name in names]


def _of_dtypes(text: str, bench: Bench) -> Missing:
    used: dict[str, tuple[str, str]] = {}
    for case, name, _ in _arrays(bench):
        used.setdefault(case.inputs[name].dtype or case.dtype, (case.name, name))
    for dtype, (case_name, name) in used.items():
        if dtype in DTYPES and not says(text, DTYPES[dtype]):
            yield (
                f"the text never says {dtype}, which {name} of case {case_name} is",
                f"Arrays are {listing(sorted(d for d in used if d in DTYPES))}, and the dtype "
                "given is the dtype returned.",
            )


def _of_shapes(text: str, bench: Bench) -> Missing:
    named = next((name for _, name, value in _arrays(bench) if value.ndim), None)
    uncalled = re.sub(r"\w\([^()]*\)", "", text)  # f(x, y) is a call, x (N, D) a shape
    if named is not None and not says(uncalled, SHAPES):
        yield (
            "the text states no shape",
            f"In the interface, behind the arguments: # {named} (N, D), ... -> what comes back.",
        )


def _of_odd_inputs(text: str, bench: Bench) -> Missing:
    done: set[str] = set()
    for case, name, value in _arrays(bench):
        real = value if value.dtype.kind == "f" else np.zeros(0)
        odd = {
            "an empty input": (value.size == 0, EMPTY, f"{name} may be empty; the results are ..."),
            "NaN": (np.isnan(real).any(), r"\bnan\b", f"{name} may hold NaN; then ..."),
            "infinity": (np.isinf(real).any(), r"\binf", f"{name} may hold infinity; then ..."),
        }
        for what, (there, pattern, sentence) in odd.items():
            if there and what not in done and not says(text, pattern):
                done.add(what)
                yield (
                    f"the text does not mention {what}, as in {name} of case {case.name}",
                    sentence,
                )


def _of_odd_results(text: str, bench: Bench) -> Missing:
    done: set[str] = set()
    for run, case, values in _truths(bench):
        for name, value in values.items():
            array = array_of(value)
            if array.dtype.kind != "f":
                continue
            odd = {"NaN": (np.isnan(array), r"\bnan\b"), "infinity": (np.isinf(array), r"\binf")}
            for what, (there, pattern) in odd.items():
                if there.any() and what not in done and not says(text, pattern):
                    done.add(what)
                    yield (
                        f"the text does not mention {what}, which {name} is to hold in case "
                        f"{case.name} (run {run})",
                        f"{name} is {what} where ...",
                    )


def _truths(bench: Bench) -> Iterator[tuple[str, CaseRecipe, Mapping[str, Any]]]:
    for check in bench.question.spec.checks:
        if check.compared:
            for case in bench.cases_of(check):
                try:
                    values = bench.truth(check.run, case).values
                except BankFault:
                    continue
                numbers = {k: v for k, v in values.items() if is_array(v)}
                yield check.run, case, numbers


def _of_padding(question: Question, bench: Bench) -> Missing:
    spec = question.spec
    lines = [n for n in spec.interface.splitlines() if not n.lstrip().startswith("def ")]
    text = "\n".join([spec.prompt, *lines, *spec.contract])
    for case in _used(bench):
        for name, value in bench.drawn(case).items():
            if "pad" in name.lower() and np.any(np.asarray(value) != 0) and not says(text, "pad"):
                yield (
                    f"the text does not say what {name} is, which is {value} in case {case.name}",
                    f"{name} entries of 0 are added at both ends of ...",
                )
                return


def _of_ties(text: str, bench: Bench) -> Missing:
    if says(text, TIES):
        return
    tried: set[tuple[str, str]] = set()
    for check in bench.question.spec.checks:
        for case in bench.cases_of(check):
            if (check.run, case.name) in tried or not registry.get(check.kind).judges_values:
                continue
            tried.add((check.run, case.name))
            jumped = decided_by_ties(bench, check.run, case)
            if jumped is not None:
                yield (
                    "the text does not say what happens at ties, or at 0, which decide "
                    f"{jumped} in case {case.name}",
                    "Among equal entries the first wins.",
                )
                return
