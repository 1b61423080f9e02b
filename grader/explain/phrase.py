"""A mutant in the question's words: what kind of thing changed, and in which function.

No statement is shown and no name but those of the question's interface; numbers only as relations,
because the reference's may be the answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from grader.model.mutation import Mutant

FUNCTIONS = {
    "sum": "a sum", "mean": "a mean", "min": "a minimum", "max": "a maximum",
    "amin": "a minimum", "amax": "a maximum", "argmax": "the place of the largest",
    "argmin": "the place of the smallest", "zeros": "zeros", "ones": "ones",
    "zeros_like": "zeros", "ones_like": "ones", "exp": "an exponential",
    "expm1": "an exponential minus 1", "log": "a logarithm", "log1p": "a logarithm of 1 + x",
    "minimum": "the smaller of two", "maximum": "the larger of two", "floor": "rounding down",
    "ceil": "rounding up", "silu": "silu", "relu": "relu", "sigmoid": "a sigmoid",
    "tanh": "a tanh", "var": "a variance", "std": "a standard deviation", "prod": "a product",
    "cumsum": "a running sum", "cumprod": "a running product", "abs": "an absolute value",
    "sqrt": "a square root",
}  # fmt: skip
OPERATORS = {
    "Add": "added", "Sub": "subtracted", "Mult": "multiplied", "Div": "divided",
    "FloorDiv": "divided and rounded down", "Mod": "taken for a remainder",
    "Pow": "raised to a power", "MatMult": "multiplied as a matrix",
}  # fmt: skip
NUMBERS = {
    "twice": "twice one of its numbers", "half": "half of one of its numbers",
    "more": "one of its numbers larger by 1", "less": "one of its numbers smaller by 1",
    "negative": "the sign of one of its numbers changed",
}  # fmt: skip
METHODS = ("forward", "backward")  # of what torch asks for
STATEMENTS = {
    "branch": "a special case", "loop": "a loop", "addition": "a step that adds something up",
    "refusal": "a refusal", "filling": "a step that fills in a part of a result", "step": "a step",
}  # fmt: skip


def phrase(mutant: Mutant, interface: Collection[str]) -> str:
    """How a mutant differs from a right solution; '' where no words fit.

    Args:
        mutant: of the reference.
        interface: names of the question's functions, inputs and results.
    """
    how = _how(mutant, interface)
    function, *methods = mutant.scope.split(".")
    if how and function in interface:
        return f"{how}, in {function}"
    if how and methods and methods[-1] in METHODS:
        return f"{how}, in its {methods[-1]}"
    # Neither where nor of what: nobody could do anything with it.
    return how if set(re.findall(r"\w+", how)) & set(interface) else ""


def _how(mutant: Mutant, interface: Collection[str]) -> str:
    old, new = mutant.old, mutant.new
    known = [name for name in mutant.names if name in interface]
    of = f" that is about {known[0]}" if known else ""
    match mutant.rule:
        case "dropped statement":
            return f"without {STATEMENTS.get(old, 'a step')}{of if old == 'branch' else ''}"
        case "dropped factor":
            if old == "Div" and new != "negated":
                return f"without a division{f' by {known[0]}' if known else ''}"
            factor = known[0] if len(known) == len(mutant.names) == 1 else "one factor"
            return f"without {factor}" if known else "without one factor"
        case "dropped term":
            if new == "negated":
                return "with one term of a difference missing"
            return f"with one term not {OPERATORS.get(old, 'added')}"
        case "another number":
            return f"with {NUMBERS[new]}" if new in NUMBERS else ""
        case "off by one":
            return f"with a bound or an axis off by one{of}"
        case "another operator":
            if old in OPERATORS and new in OPERATORS:
                return f"with something {OPERATORS[new]} that should be {OPERATORS[old]}"
            return ""
        case "another function":
            if old in FUNCTIONS and new in FUNCTIONS and FUNCTIONS[old] != FUNCTIONS[new]:
                return f"with {FUNCTIONS[new]} in the place of {FUNCTIONS[old]}"
            return ""
        case "dropped call":
            return f"without {FUNCTIONS[old]}" if old in FUNCTIONS else ""
        case "swapped arguments" | "swapped items" | "swapped targets" | "swapped operands":
            return _swapped(mutant, known)
        case _:
            return _SIMPLE.get(mutant.rule, "")


def _swapped(mutant: Mutant, known: list[str]) -> str:
    """Two things in each other's place: which, where the question knows them."""
    if len(known) == 2:
        return f"with {known[0]} and {known[1]} in each other's place"
    if mutant.old in OPERATORS:
        what = f"two things that are {OPERATORS[mutant.old]}"
    elif mutant.old in FUNCTIONS:
        what = f"two things that go into {FUNCTIONS[mutant.old]}"
    else:
        what = SWAPPED[mutant.rule]
    return f"with {what} in each other's place"


SWAPPED = {
    "swapped arguments": "two arguments of a call",
    "swapped items": "two things that belong in an order",
    "swapped targets": "two results of a call",
    "swapped operands": "two operands",
}
_SIMPLE = {
    "swapped subscripts": "with two axes exchanged",
    "dropped transpose": "without a transpose",
    "swapped branches": "with a condition turned round",
    "negated condition": "with a condition turned round",
    "another comparison": "with a comparison that decides its border case the other way",
    "and/or": "with a condition that is too wide or too narrow",
    "dropped condition": "with one condition left out",
    "dropped axis": "with one axis left out",
    "dropped bound": "with a range that is not bounded on one side",
    "assigned, not added": "with a value overwritten each time instead of added to",
    "dropped sign or not": "with a sign left out",
}
