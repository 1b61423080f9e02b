"""The rows of a plan, whatever its author calls those that nobody named; and the models planned."""

from __future__ import annotations

import math
from types import SimpleNamespace

ROUNDING = 1e-3  # bytes that arithmetic in floats may leave of whole ones

NAMED = ("weights", "grads", "exp_avg", "exp_avg_sq")

# Sources: Touvron et al., arXiv:2302.13971 and arXiv:2307.09288; Grattafiori et al.,
# arXiv:2407.21783, table 3.  The largest unit is a layer in the first, the embedding in the second.
MODELS = {
    "llama-2-7b": {
        "params": 6_738_415_616, "largest_unit": 202_383_360, "layers": 32, "d": 4096,
        "heads": 32, "kv_heads": 32, "f": 11_008, "vocab": 32_000,
    },
    "llama-3-8b": {
        "params": 8_030_261_248, "largest_unit": 525_336_576, "layers": 32, "d": 4096,
        "heads": 32, "kv_heads": 8, "f": 14_336, "vocab": 128_256,
    },
    "tiny": {
        "params": 1000, "largest_unit": 70, "layers": 3, "d": 12,
        "heads": 3, "kv_heads": 1, "f": 20, "vocab": 17,
    },
}  # fmt: skip


def rows(program: SimpleNamespace, plan: object, last: str) -> object:  # noqa: ARG001
    """Return the rows with known names, and as `other` the sum of those with names of their own.

    What is not a dict, or lacks a row, is left for the check to find.
    """
    if not isinstance(plan, dict):
        return plan
    found = {name: plan[name] for name in (*NAMED, last) if name in plan}
    others = [size for name, size in plan.items() if name not in (*NAMED, last, "total")]
    try:
        found["other"] = sum(others)
    except TypeError:
        found["other"] = repr(others)
    return {name: _whole(size) for name, size in found.items()}


def _whole(size: object) -> object:
    """Return a float that is next to a whole number as that number, and all else as it is."""
    if isinstance(size, float) and math.isfinite(size) and abs(size - round(size)) < ROUNDING:
        return round(size)
    return size


def whole(program: SimpleNamespace, count: object) -> int:  # noqa: ARG001
    """Return a count that may have been drawn as a whole number of Python's."""
    return int(count)  # type: ignore[call-overload]


def shape(program: SimpleNamespace, model: object) -> dict[str, int]:  # noqa: ARG001
    """Return the sizes of a model, in a dict that the caller may change.

    A model is a name, or nine numbers from 0 to 9 that make up a small one.
    """
    if isinstance(model, str):
        return dict(MODELS[model])
    more, unit, layers, d, heads, groups, f, vocab, _ = (int(n) for n in model)
    kv_heads = 1 + groups % 3
    heads = kv_heads * (1 + heads % 4)
    sizes = {"layers": 2 + layers, "d": heads * 2 * (1 + d), "f": 20 + f, "vocab": 17 + vocab}
    sizes |= {"heads": heads, "kv_heads": kv_heads, "largest_unit": 70 + unit}
    return {"params": 1008 + 48 * more, **sizes}
