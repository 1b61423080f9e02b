"""Form `predict`: some numbers by hand, before anything is run; then they are compared."""

from __future__ import annotations

import math
import re

from grader.forms.estimate import Estimate

_FRACTION = re.compile(r"([+-]?\d{1,15}(?:\.\d{1,15})?)\s*(?:/\s*(\d{1,15}))?", re.ASCII)


class Predict(Estimate):
    """As an estimate, with decimals and fractions, and what is right is shown."""

    shows_expected = True

    def number(self, text: str, unit: str) -> float:  # noqa: ARG002
        """A decimal or a fraction."""
        found = _FRACTION.fullmatch(text)
        if found is None:
            raise ValueError("needs a number such as 0.25, -3 or 2/3")
        over = float(found[2] or 1)
        if not over:
            raise ValueError(f"{text} is no number")
        value = float(found[1]) / over
        if not math.isfinite(value):
            raise ValueError("is too large")
        return value
