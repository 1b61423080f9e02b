"""Does the text give what the cases and checks ask for, and do the hints give away no more?

Only what a search for a word or a number settles is looked for: a dtype, a unit, NaN or infinity
among the inputs and results, the numbers of a budget.  Each finding is a remark with a sentence
to begin with; nothing here understands English.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.bench.bench import BankFault, Bench
from grader.bench.results import array_of
from grader.model.audit import Remark
from grader.model.numerals import quantity

if TYPE_CHECKING:
    from grader.model.question import Question

DTYPES = {
    "float64": r"float64|fp64|double|64[- ]bit|any float",
    "float32": r"float32|fp32|single precision|32[- ]bit|any float",
    "bfloat16": r"bfloat16|bf16",
}
WORDS = {
    0.25: "quarter", 0.5: "half", 2: "two|twice|double", 3: "three", 4: "four", 5: "five",
    6: "six", 8: "eight", 10: "ten", 12: "twelve", 20: "twenty", 100: "hundred", 1024: "KiB",
}  # fmt: skip

SHOWN = 5  # places of a longer list
LONG = 6  # tokens shared in a row that are no accident, if enough of them are signs
SIGNS = 2  # of them that are operators or brackets: prose has hardly any
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?|\*\*|//|->|[-+*/@=<>!]=|<<|>>|[^\w\s]")
_PROSE = re.compile(r"\"\"\".*?\"\"\"|'''.*?'''|#[^\n]*", re.DOTALL)
_PUNCTUATION = set(".,;:!?'\"`")
Missing = Iterator[tuple[str, str]]  # what is missing, and a sentence to add


def remarks(question: Question, bench: Bench) -> list[Remark]:
    """What the text leaves out, with a sentence to add for each; the bench has the reference."""
    text = _stated(question)
    found = [*_of_dtypes(text, bench), *_of_odd_values(text, bench), *_of_checks(text, question)]
    return [Remark("wording", what, add) for what, add in found]


def todos(question: Question) -> list[Remark]:
    """How many places an author has marked TODO, and where the first of them are."""
    places = question.todos
    more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    count = quantity(len(places), "TODO is", "TODOs are")
    text = f"{count} left: {', '.join(places[:SHOWN])}{more}"
    return [Remark("todo", text)] if places else []


def _stated(question: Question) -> str:
    """All that a candidate is given to read before starting."""
    spec = question.spec
    return "\n".join([spec.prompt, spec.interface, *spec.contract])


def _of_dtypes(text: str, bench: Bench) -> Missing:
    used: dict[str, str] = {}
    for case in {c.name: c for check in bench.question.spec.checks for c in bench.cases_of(check)}:
        recipe = bench.cases[case]
        for name, value in bench.drawn(recipe).items():
            if isinstance(value, np.ndarray):
                used.setdefault(recipe.inputs[name].dtype or recipe.dtype, f"{name} of case {case}")
    listed = " or ".join(sorted(used.keys() & DTYPES.keys()))
    for dtype, where in used.items():
        if dtype in DTYPES and not _says(text, DTYPES[dtype]):
            yield (
                f"the text never says {dtype}, which {where} is",
                f"Arrays are {listed}, and the dtype given is the dtype returned.",
            )


def _of_odd_values(text: str, bench: Bench) -> Missing:
    """NaN and infinity, where they go in or come out."""
    odd = {"NaN": (np.isnan, r"\bnan\b"), "infinity": (np.isinf, r"\binf")}
    missing = {what: found for what, (found, word) in odd.items() if not _says(text, word)}
    for where, name, value in _values(bench) if missing else ():
        array = array_of(value)
        for what, found in list(missing.items()):
            if array.dtype.kind == "f" and found(array).any():
                del missing[what]
                yield f"the text does not mention {what}, as in {where}", f"Where {name} is ..."


def _values(bench: Bench) -> Iterator[tuple[str, str, Any]]:
    """Every input and every result of the reference, and where it is."""
    for check in bench.question.spec.checks:
        if not check.compared:
            continue
        for case in bench.cases_of(check):
            results: Mapping[str, Any] = {}
            with contextlib.suppress(BankFault):  # it may be meant to raise
                results = bench.truth(check.run, case).values
            for name, value in {**bench.drawn(case), **results}.items():
                if isinstance(getattr(value, "values", value), (np.ndarray, float)):
                    yield f"{name} of case {case.name}", name, value


def _of_checks(text: str, question: Question) -> Missing:
    """Units and budgets that checks hold a solution to."""
    for check in question.spec.checks:
        if (budget := check.budget()) is not None:
            yield from _of_budget(text, check.id, *budget)
        if (found := check.unit_of()) is not None and not _says(text, re.escape(found[1])):
            result, unit = found
            yield f"the text does not name the unit of {result}: {unit}", f"{result} is in {unit}."


def _of_budget(text: str, check: str, amount: str, what: str) -> Missing:
    numbers = dict.fromkeys(re.findall(r"(?<![\w.])\d+(?:\.\d+)?", amount))
    missing = [number for number in numbers if not gives(text, float(number))]
    if missing:
        bare = amount.removesuffix(" bytes")
        yield (
            f"the text does not give the budget of {check}, {amount}: {' and '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not in it",
            f"At most {bare} {what} ... (optional, if it is a stretch).",
        )


def gives(text: str, number: float) -> bool:
    """Whether a text gives a number in digits, in words or in per cent; 0 and 1 always."""
    plain = re.escape(f"{number:.10g}")
    zeros = r"0*" if "." in plain else r"(?:\.0+)?"
    pattern = rf"(?<![\w.]){plain}{zeros}(?!\d|\.\d)"
    percent = rf"|(?<![\w.]){number * 100:.10g} ?(?:%|per ?cent)" if number < 1 else ""
    word = rf"|\b(?:{WORDS[number]})\b" if number in WORDS else ""
    return number in {0, 1} or _says(text.replace(",", ""), pattern + percent + word)


def _says(text: str, pattern: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def hints(question: Question) -> list[Remark]:
    """The hints, the last left out, that hold code of the reference.

    A run of tokens that both share says what to type.  What the candidate has been given anyway
    (the text, the starter) gives nothing away.
    """
    code = _joined(_TOKEN.findall(_PROSE.sub(" ", question.reference.decode("utf-8", "replace"))))
    starter = question.starter.decode("utf-8", "replace")
    given = _joined(_TOKEN.findall(_stated(question) + "\n" + starter))
    count = len(question.spec.hints)
    return [
        Remark(
            "hints",
            f"hint {number} of {count} holds {shared} of the reference: "
            "only the last may give the answer away; ask a question instead",
        )
        for number, hint in enumerate(question.spec.hints[:-1], 1)
        if (shared := _longest(_TOKEN.findall(hint), code, given))
    ]


def _longest(hint: Sequence[str], code: str, given: str) -> str:
    """The longest run of tokens in a hint that is code of the reference and of nothing given."""
    for length in range(len(hint), LONG - 1, -1):
        for start in range(len(hint) - length + 1):
            part = hint[start : start + length]
            signs = sum(not t[0].isalnum() and t[0] != "_" for t in part)
            signs -= sum(t in _PUNCTUATION for t in part)
            if signs >= SIGNS and _joined(part) in code and _joined(part) not in given:
                return " ".join(part)
    return ""


def _joined(tokens: Sequence[str]) -> str:
    return " " + " ".join(tokens) + " "
