"""An input drawn again and again: all different, and each one that could have been drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.cases.draw import SMALL, several
from grader.cases.recipe import read_cases


def drawn(recipe: Any, shape: tuple[int, ...], count: int) -> list[Any]:
    """Draw an input so many times."""
    case = read_cases({"c": {"about": "one", "x": recipe}})[0]["c"]
    return several(case.inputs["x"], case, shape, np.random.default_rng(3), count)


LARGE = (2, SMALL)


@pytest.mark.parametrize("shape", [(3, 4), LARGE])
@pytest.mark.parametrize("kind", ["normal", "distinct"])
def test_no_two_are_the_same(kind: str, shape: tuple[int, ...]) -> None:
    found = drawn({kind: list(shape)}, shape, 9)
    assert len(found) == 9
    assert {array.shape for array in found} == {shape}
    assert len({array.tobytes() for array in found}) == 9
    if kind == "distinct":  # a permutation of the same entries each time
        assert len({np.sort(array, axis=None).tobytes() for array in found}) == 1


def test_an_order_that_matters_is_kept() -> None:
    found = drawn({"normal": list(LARGE), "sort": True}, LARGE, 6)
    assert all((np.diff(array, axis=-1) >= 0).all() for array in found)
    rows = drawn({"one_hot": [SMALL, 8]}, (SMALL, 8), 6)
    assert all((array.sum(axis=-1) == 1).all() for array in rows)
