"""The libraries that a question may use."""

from __future__ import annotations

from typing import Literal, get_args

Library = Literal["numpy", "torch", "einops", "pandas", "scipy", "sympy"]


def further(used: set[str]) -> tuple[str, ...]:
    """The known ones among some names besides numpy and torch, in alphabetical order."""
    return tuple(sorted(used & {*get_args(Library)} - {"numpy", "torch"}))
