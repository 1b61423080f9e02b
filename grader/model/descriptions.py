"""What the words of a case mean, in a line each, for docs/keys.md; keys are described in models."""

from __future__ import annotations

from collections.abc import Mapping

CASE: Mapping[str, str] = {
    "about": "A phrase for the reader.",
    "extends": "Another case to begin from; keys written here replace its.",
    "dtype": "Of all floating arrays: float64 (default), float32 or bfloat16.",
    "layout": "Of all arrays: contiguous (default), fortran, reversed, strided, readonly or "
    "broadcast.",
    "frozen": "In torch: inputs that do not require a gradient.",
}
GENERATORS: Mapping[str, str] = {
    "array": "The values themselves, where modifiers are wanted.",
    "normal": "Standard normal.",
    "uniform": "Uniform between `from` and `to`, which are 0 and 1 if not given.",
    "integers": "Whole numbers between `from` and `to`, both included.",
    "distinct": "A permutation of equally spaced values around 0, `gap` apart (0.25 if not given): "
    "away from ties.",
    "zeros": "Zeros.",
    "ones": "Ones.",
    "full": "`value` throughout.",
    "simplex": "Rows of positive numbers that sum to 1, along the last axis.",
    "one_hot": "Rows with a single 1 at a random place, along the last axis.",
}
MODIFIERS: Mapping[str, str] = {
    "scale": "All values times this.",
    "shift": "Then all values plus this.",
    "sprinkle": "Then a share of the entries is replaced: {value: -.inf, share: 0.8}.",
    "sort": "Then sorted along the last axis.",
    "dtype": "Its own dtype, also int64, int32, int16, uint8 or bool.",
    "layout": "Its own layout in memory.",
}
