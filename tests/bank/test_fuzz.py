"""Whatever a bank holds, loading it ends in a question or in a `BankError`, and soon."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.model.errors import BankError
from tests.bank.specs import SPEC, loaded


def fuzz(examples: int = 100) -> settings:
    """Return settings that let the examples of a test share its folder."""
    shared = HealthCheck.function_scoped_fixture
    return settings(max_examples=examples, deadline=None, suppress_health_check=[shared])


WORDS = st.sampled_from(
    [
        "x", "y", "grad_x", "main", "small", "wide", "forward", "backward", "all", "like y",
        "like x", "id", "kind", "of", "cases", "run", "needs", "at_most", "against", "outputs",
        "gradcheck", "contract", "state", "numbers", "curve", "graph", "memory", "flops",
        "performance", "side-effects", "conservation", "normal", "sprinkle", "extends", "frozen",
        "dtype", "layout", "y = f(x)", "8 * y.size", "float32", "1e-6",
    ]
)  # fmt: skip
SCALARS = (
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.floats() | WORDS | st.text(max_size=6)
)
PLACE = r"/questions/scaled-copy\.yaml:[1-9][0-9]*:[1-9][0-9]*: ."
KEYS = WORDS | st.text(max_size=4)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def survives(folder: Path, spec: str | bytes) -> None:
    try:
        loaded(folder, spec)
    except BankError as error:
        problems = error.problems
    else:
        return
    for problem in problems:
        assert re.match(PLACE, problem.removeprefix(str(folder))), problem
        assert problem.isprintable()
        assert len(problem) < 2000
    assert len(set(problems)) == len(problems)


@fuzz()
@given(st.binary(max_size=200))
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    survives(tmp_path, data)


@fuzz()
@given(st.data())
def test_a_right_spec_with_a_piece_cut_out_or_doubled(tmp_path: Path, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(SPEC)))
    end = data.draw(st.integers(start, min(len(SPEC), start + 40)))
    piece = data.draw(
        st.sampled_from(["", SPEC[start:end] * 2, "\t", ": ", "- ", "{", "*a", "!!x "])
    )
    survives(tmp_path, SPEC[:start] + piece + SPEC[end:])


@fuzz()
@given(TREES)
def test_any_nested_data(tmp_path: Path, tree: Any) -> None:
    survives(tmp_path, yaml.safe_dump(tree))


def _places(tree: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(tree, list):
        tree = dict(enumerate(tree))
    items = tree.items() if isinstance(tree, dict) else ()
    return [at, *(place for key, value in items for place in _places(value, (*at, key)))]


RIGHT = yaml.safe_load(SPEC)
PLACES = _places(RIGHT)[1:]


@fuzz()
@given(st.sampled_from(PLACES), TREES, st.booleans())
def test_a_right_spec_with_any_data_in_any_place(
    tmp_path: Path, place: tuple[Any, ...], tree: Any, beside: bool
) -> None:
    spec = copy.deepcopy(RIGHT)
    here = spec
    for key in place[:-1]:
        here = here[key]
    if beside and isinstance(here, dict):
        here[f"{place[-1]}s"] = tree
    else:
        here[place[-1]] = tree
    survives(tmp_path, yaml.safe_dump(spec, sort_keys=False))


CHECKS = st.fixed_dictionaries(
    {"id": st.just("forward"), "kind": WORDS},
    optional={
        key: TREES
        for key in ("of", "cases", "run", "needs", "at_most", "against", "loss", "cotangent",
                    "gradients", "conserves", "sum", "over", "equals", "parts", "ends_below",
                    "quantity", "except", "show")
    },
)  # fmt: skip
INPUTS = st.dictionaries(
    st.sampled_from(["normal", "integers", "distinct", "simplex", "one_hot", "full", "array",
                     "from", "to", "gap", "value", "scale", "sprinkle", "sort", "dtype", "layout"]),
    TREES | st.lists(st.integers(0, 3), max_size=3), max_size=4,
)  # fmt: skip
CASES = st.dictionaries(
    st.sampled_from(["x", "factor", "grad_y", "extends", "frozen", "dtype", "layout", "about"]),
    INPUTS | TREES,
    max_size=4,
)


STEPS = ["y = scale(x, [factor, x])", "g = vjp(y, y, x)", "y = f([[x]])"]
NEWER = st.fixed_dictionaries(
    {},
    optional={
        "defaults": st.dictionaries(WORDS, INPUTS | TREES, max_size=3) | TREES,
        "display": st.dictionaries(st.sampled_from(["beside", "window"]), TREES) | TREES,
        "helpers": st.lists(WORDS | SCALARS, max_size=2) | TREES,
        "data": st.lists(st.just("x.npy") | SCALARS, max_size=2) | TREES,
        "uses": st.lists(st.sampled_from(["numpy", "torch", "scipy"]) | SCALARS, max_size=3),
        "starter_holds": TREES,
        "run": st.lists(st.sampled_from(STEPS), max_size=3),
    },
)  # fmt: skip


@fuzz()
@given(NEWER, CHECKS, CASES)
def test_any_check_and_any_case_beside_any_other_keys(
    tmp_path: Path, newer: dict[str, Any], check: Any, case: Any
) -> None:
    spec = copy.deepcopy(RIGHT) | newer
    spec["checks"][0] = check
    spec["cases"]["small"] = case
    survives(tmp_path, yaml.safe_dump(spec, sort_keys=False))


INLINE = (
    SPEC
    + """\
code:
  reference: |
    import numpy as np

    def scale(x, factor):
        return x * factor, factor
  starter: |
    def scale(x, factor):
        return x, factor
  driver: |
    def twice(program, x):
        return program.scale(x, 2)
"""
)
MARKS = st.sampled_from(["", ":", " ", "\n", "\t", "|", ">", "- ", "{", "}", "[", "'", "#",
                         "&a ", "*a", "!!x ", "\u2028", "\u00e9", "null", "1e-6",
                         "\n  code: |\n    x\n"])  # fmt: skip


@fuzz()
@given(st.data())
def test_a_right_spec_with_any_marks_changed_says_where(
    tmp_path: Path, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(INLINE)))
    length = data.draw(st.integers(0, 4))
    survives(tmp_path, INLINE[:at] + data.draw(MARKS) + INLINE[at + length :])


LINES = INLINE.splitlines(keepends=True)


@fuzz(150)
@given(st.lists(st.sampled_from(LINES), max_size=6), st.integers(0, len(LINES)), st.integers(0, 6))
def test_a_right_spec_with_lines_moved_says_where(
    tmp_path: Path, lines: list[str], at: int, gone: int
) -> None:
    survives(tmp_path, "".join([*LINES[:at], *lines, *LINES[at + gone :]]))


SPOTS = [
    (name, SPEC.index("run:") + spot.start())
    for name in ("forward", "grad_x", "grad_y", "ctx", "factor", "adds-it", "outputs")
    for spot in re.finditer(
        rf"(?<![\w-]){name}(?![\w-])", SPEC[SPEC.index("run:") : SPEC.index("feedback")]
    )
]


@pytest.mark.parametrize(("name", "at"), SPOTS)
def test_a_misspelt_name_is_never_accepted_in_silence(tmp_path: Path, name: str, at: int) -> None:
    middle = at + len(name) // 2
    with pytest.raises(BankError) as raised:
        loaded(tmp_path, SPEC[:middle] + "q" + SPEC[middle + 1 :])
    assert any("did you mean " in problem for problem in raised.value.problems)
