"""Reading inputs in every form, and cases that extend others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.cases.recipe import GENERATORS, Recipe, RecipeError, read_cases, read_input

KEYS = [*GENERATORS, "from", "to", "gap", "value", "scale", "shift", "sprinkle", "sort", "dtype",
        "layout", "share", "nonsense"]  # fmt: skip


@pytest.mark.parametrize("value", [None, True, 3, -0.5, "text", float("inf")])
def test_a_scalar_stays_what_it_is(value: object) -> None:
    assert read_input(value) == Recipe(None, literal=value)


@pytest.mark.parametrize("value", [[], [[]], [1, 2], [[1.5], [True]], [[[], []]]])
def test_a_nested_list_is_an_array(value: list[Any]) -> None:
    assert read_input(value) == Recipe("array", literal=value)


@pytest.mark.parametrize(
    ("written", "shape", "like"),
    [([2, 3], (2, 3), None), ([], (), None), ([0, 4], (0, 4), None), (5, (5,), None),
     ("like y", None, "y"), ("like  grad_y ", None, "grad_y")],
)  # fmt: skip
def test_a_shape_is_a_list_a_number_or_the_shape_of_another_input(
    written: object, shape: tuple[int, ...] | None, like: str | None
) -> None:
    recipe = read_input({"normal": written})
    assert (recipe.shape, recipe.like) == (shape, like)


def test_a_case_is_the_extended_case_with_its_own_keys_on_top() -> None:
    cases, faults = read_cases(
        {
            "base": {"about": "the base", "x": [1], "k": 2, "dtype": "float32", "frozen": ["x"]},
            "child": {"extends": "base", "k": 3, "layout": "fortran"},
            "grandchild": {"extends": "child", "about": "the last", "x": {"zeros": [2]}},
        }
    )
    assert faults == []
    child, last = cases["child"], cases["grandchild"]
    assert list(child.inputs) == ["x", "k"]
    assert (child.about, child.dtype, child.layout) == ("", "float32", "fortran")
    assert (child.inputs["k"].literal, child.frozen) == (3, ("x",))
    assert (last.about, last.dtype, last.layout) == ("the last", "float32", "fortran")
    assert last.inputs["x"].generator == "zeros"
    assert last.inputs["k"].literal == 3


def test_circles_of_cases_end() -> None:
    _, faults = read_cases({n: {"extends": m, "x": 1} for n, m in ("ab", "bc", "ca", "dd")})
    assert faults
    assert {text for _, text in faults} == {"expected the name of another case, found itself"}


OPTIONS = st.dictionaries(
    st.sampled_from(KEYS),
    st.none() | st.booleans() | st.integers(-3, 4) | st.floats() | st.text(max_size=3)
    | st.lists(st.integers(-1, 3) | st.floats(), max_size=3)
    | st.dictionaries(st.sampled_from(["value", "share"]), st.floats() | st.none(), max_size=3),
    max_size=4,
)  # fmt: skip


@settings(deadline=None)
@given(OPTIONS)
def test_any_mapping_is_an_input_or_refused_with_a_sentence(written: dict[str, Any]) -> None:
    fault: RecipeError | None = None
    try:
        assert read_input(written).generator in GENERATORS
    except RecipeError as error:
        fault = error
    assert fault is None or (str(fault) and (fault.key is None or fault.key in KEYS))
