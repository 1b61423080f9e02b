"""What a question begun from a library's function says, until its author says it better."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.scaffold.oracle import Known

CHECKS = {
    "values": [
        "  - id: values",
        "    kind: outputs",
        "    of: y",
        "    cases: [few, others]",
        "    about: the values are the library's",
    ],
    "single": [
        "  - id: single-precision",
        "    kind: outputs",
        "    of: y",
        "    cases: single",
        "    needs: values",
        "    about: float32 goes in and comes out",
    ],
    "gradients": [
        "  - id: gradients",
        "    kind: outputs",
        "    of: [@GRADS@]",
        "    cases: [few, others]",
        "    needs: values",
        "    about: autograd finds the library's gradients",
    ],
}
KILLERS = {"leaves-the-graph": "gradients", "keeps-float64": "single-precision"}  # else values
_FEEDBACK = {
    "wrong": "You work along the first axis, whatever {word} says.",
    "ignores": "You ignore {word} and use a value of your own: right by default only.",
    "forgotten": "You leave {word} out. Where it is what it was initialised to, nobody notices.",
    "other-reduction": "You add up where the mean is asked for: the loss grows with its size.",
    "other-approximate": "You compute the approximation by tanh, which is near and not the same.",
    "rounds-to-single": (
        "You compute in float32 and give back float64: half of the digits are made up."
    ),
    "keeps-float64": "Your result is float64 whatever came in: give back the dtype of the input.",
    "leaves-the-graph": (
        "Your result is right and a leaf: gradients end there, and nothing before it learns."
    ),
}


def feedback(variant: str, name: str) -> str:
    """A sentence about a variant, to be said better."""
    if variant in _FEEDBACK:
        return f"{_FEEDBACK[variant]} Compare with {name}."
    kind, _, word = variant.partition("-")
    if word == "forgotten":
        kind, word = word, kind
    return f"{_FEEDBACK[kind].format(word=word)} Compare with {name}."


def said(known: Known) -> Iterator[str]:
    """Lines about the arguments and the result, for the interface."""
    across = max((len(n) for n in known.inputs), default=0)
    for name in known.inputs:
        if name in known.recipes:
            recipe = known.recipes[name]
            shape = recipe[next(iter(recipe))]
            size = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
            dtype = "int64" if "integers" in recipe else "float64 or float32"
            yield f"{name:<{across}}  an array, for instance of shape ({size}); {dtype}"
        else:
            number = known.scalars[name][0]
            yield f"{name:<{across}}  {'an int' if isinstance(number, int) else 'a float'}"
    yield f"-> y, as {known.name} gives it"
