"""Cases of other shapes keep to the numbers of the case that they are made from."""

from __future__ import annotations

import numpy as np

from grader.cases.draw import draw_inputs
from grader.cases.recipe import read_cases
from grader.cases.vary import resized_case


def test_a_sibling_draws_no_whole_number_below_those_that_are_written_out() -> None:
    written = {"one": {"prompt": {"array": [1, 2, 3], "dtype": "int64"}}}
    other = resized_case(read_cases(written)[0]["one"], 20)
    assert other is not None
    prompt = draw_inputs(other, 1, lambda *_: ())["prompt"]
    assert prompt.shape == (23,)
    assert set(np.unique(prompt)) == {1, 2, 3}
