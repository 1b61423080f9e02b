"""Does the text give what the checks demand: budgets, units, inputs left alone?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from grader.kinds import registry

if TYPE_CHECKING:
    from grader.model.question import Question

WORDS = {
    0.25: "quarter", 0.5: "half", 1: "one", 2: "two|twice|double", 3: "three", 4: "four",
    5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten", 12: "twelve",
    15: "fifteen", 20: "twenty", 30: "thirty", 50: "fifty", 100: "hundred", 1024: "KiB|kibibyte",
}  # fmt: skip
MUTATION = (
    r"\bmodif|\bmutat|\bin[- ]place\b|\bunchanged\b|\balone\b|\bread-only\b|\bnot change"
    r"|\bnever (?:written|changed)|\bas they (?:are|were)\b|\bmemory of (?:its|their) own\b"
)


Missing = Iterator[tuple[str, str]]  # what is missing, and a sentence to add


def says(text: str, pattern: str) -> bool:
    """Whether a text holds a pattern, in capitals or not."""
    return re.search(pattern, text, re.IGNORECASE) is not None


def of_checks(text: str, question: Question) -> Missing:
    """Demands of checks that the text does not mention."""
    for check in question.spec.checks:
        if registry.get(check.kind).judges_inputs and not says(text, MUTATION):
            yield (
                f"the text does not say that inputs are left alone, which {check.id} checks",
                "Inputs are never modified, and results own their memory.",
            )
        if (budget := check.budget()) is not None:
            yield from _of_budget(text, check.id, *budget)
        if (found := check.unit_of()) is not None and not says(text, re.escape(found[1])):
            result, unit = found
            yield (
                f"the text does not name the unit of {result}: {unit}",
                f"{result} is in {unit}.",
            )


def _of_budget(text: str, check: str, amount: str, what: str) -> Missing:
    """A budget whose numbers the text does not give."""
    numbers = re.findall(r"(?<![\w.])\d+(?:\.\d+)?", amount)
    missing = [n for n in dict.fromkeys(numbers) if not gives(text, float(n))]
    if missing:
        bare = amount.removesuffix(" bytes")
        yield (
            f"the text does not give the budget of {check}, {amount}: {listing(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not in it",
            f"At most {bare} {what} ... (optional, if it is a stretch).",
        )


def gives(text: str, number: float) -> bool:
    """Whether a text gives a number in digits, in words or in per cent."""
    plain = re.escape(f"{number:.10g}")
    zeros = r"0*" if "." in plain else r"(?:\.0+)?"
    pattern = rf"(?<![\w.]){plain}{zeros}(?!\d|\.\d)"
    percent = rf"|(?<![\w.]){number * 100:.10g} ?(?:%|per ?cent)" if number < 1 else ""
    word = rf"|\b(?:{WORDS[number]})\b" if number in WORDS else ""
    bare = r"|." if number in {0, 1} else ""  # nothing, or once: said in too many ways
    return says(text.replace(",", ""), pattern + percent + word + bare)


def listing(parts: list[str]) -> str:
    """Give a list in words."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
