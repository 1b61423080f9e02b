"""Generator `walk`: a random walk along the last axis, `{walk: [2, 50], step: 0.1}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.api import Generator


def draw(
    shape: tuple[int, ...], options: Mapping[str, Any], rng: np.random.Generator
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the sums of normal steps."""
    steps = rng.standard_normal(shape) * options.get("step", 1.0)
    return np.cumsum(steps, axis=-1) if shape else steps


def refuse(options: Mapping[str, Any]) -> str:
    """Return what is wrong with the options."""
    step = options.get("step", 1.0)
    if isinstance(step, bool) or not isinstance(step, (int, float)) or not step > 0:
        return f"expected a step above 0, found {step!r}"
    return ""


GENERATOR = Generator(draw, options=("step",), refuse=refuse)
