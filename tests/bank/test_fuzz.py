"""Whatever a bank holds, loading it ends in a question or in a `BankError`, and soon."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from grader.bank import load_question
from grader.model.errors import BankError
from tests.bank.specs import SPEC, loaded, one_file, write_bank
from tests.bank.test_loading import ONE, POOLS

fuzz = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # examples share a folder
)
WORDS = st.sampled_from(
    [
        "x", "y", "grad_x", "main", "small", "wide", "forward", "backward", "all", "like y",
        "like x", "id", "kind", "of", "cases", "run", "needs", "at_most", "against", "outputs",
        "gradcheck", "state", "numbers", "curve", "graph", "memory", "flops", "performance",
        "side-effects", "conservation", "normal", "sprinkle", "extends", "frozen", "dtype",
        "layout", "y = f(x)", "8 * y.size", "float32", "1e-6",
    ]
)  # fmt: skip
SCALARS = (
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.floats() | WORDS | st.text(max_size=6)
)
KEYS = WORDS | st.text(max_size=4)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
RIGHT = yaml.safe_load(SPEC)
FILES = r"([a-z/-]+\.yaml|drills/[a-z-]+/(ideas|accepted)\.py)"


def survives(folder: Path, spec: Any, *, alone: bool = False) -> None:
    """Load a spec, or data of one: every fault has a place and is one short line."""
    text = spec if isinstance(spec, str | bytes) else yaml.safe_dump(spec, sort_keys=False)
    made, name = (one_file, "one") if alone else (write_bank, "scaled-copy")
    ends_in_a_sentence(folder, made(folder, text), name)


def ends_in_a_sentence(folder: Path, bank: Path, name: str) -> None:
    """Load a question of a bank in a folder: every fault has a place and is one short line."""
    problems: tuple[str, ...] = ()
    try:
        load_question([bank], name)
    except BankError as error:
        problems = error.problems
    assert len(set(problems)) == len(problems)
    for problem in problems:
        place = problem.removeprefix(str(folder))
        assert re.match(rf"/{FILES}:[1-9][0-9]*:[1-9][0-9]*: .", place), problem
        assert problem.isprintable()
        assert len(problem) < 2000


@fuzz
@given(st.binary(max_size=200) | TREES)
def test_any_bytes_and_any_data(tmp_path: Path, spec: Any) -> None:
    survives(tmp_path, spec)


def _places(tree: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(tree, list):
        tree = dict(enumerate(tree))
    items = tree.items() if isinstance(tree, dict) else ()
    return [at, *(place for key, value in items for place in _places(value, (*at, key)))]


@fuzz
@given(st.sampled_from(_places(RIGHT)[1:]), TREES, st.booleans())
def test_a_right_spec_with_any_data_in_any_place(
    tmp_path: Path, place: tuple[Any, ...], tree: Any, beside: bool
) -> None:
    spec = copy.deepcopy(RIGHT)
    here = spec
    for key in place[:-1]:
        here = here[key]
    key = f"{place[-1]}s" if beside and isinstance(here, dict) else place[-1]
    here[key] = tree
    survives(tmp_path, spec)


CHECKS = st.fixed_dictionaries(
    {"id": st.just("forward"), "kind": WORDS},
    optional={
        key: TREES
        for key in ("of", "cases", "run", "needs", "at_most", "against", "loss", "cotangent",
                    "gradients", "sum", "over", "equals", "parts", "ends_below", "quantity",
                    "except", "show", "tolerance", "clause")
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
OTHERS = st.fixed_dictionaries(
    {},
    optional={
        "defaults": st.dictionaries(WORDS, INPUTS | TREES, max_size=3) | TREES,
        "display": st.dictionaries(st.sampled_from(["beside", "window"]), TREES) | TREES,
        "helpers": st.lists(WORDS | SCALARS, max_size=2) | TREES,
        "uses": st.lists(st.sampled_from(["numpy", "torch", "scipy"]) | SCALARS, max_size=3),
        "starter_holds": TREES,
        "run": st.lists(st.sampled_from(STEPS), max_size=3),
    },
)


@fuzz
@given(OTHERS, CHECKS, CASES)
def test_any_check_and_any_case_beside_any_other_keys(
    tmp_path: Path, others: dict[str, Any], check: Any, case: Any
) -> None:
    spec = copy.deepcopy(RIGHT) | others
    spec["checks"][0] = check
    spec["cases"]["small"] = case
    survives(tmp_path, spec)


MARKS = st.sampled_from(["", ":", " ", ": ", "\n", "\t", "|", ">", "- ", "{", "}", "[", "'", "#",
                         "&a ", "*a", "!!x ", "\u2028", "\u00e9", "null", "1e-6",
                         "\n  code: |\n    x\n"])  # fmt: skip


@fuzz
@given(st.sampled_from([ONE, POOLS]), st.data())
def test_a_right_spec_with_marks_lines_or_pieces_changed(
    tmp_path: Path, spec: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(spec)))
    end = data.draw(st.integers(at, min(len(spec), at + 40)))
    lines = st.lists(st.sampled_from(spec.splitlines(keepends=True)), max_size=6).map("".join)
    piece = data.draw(MARKS | lines | st.just(spec[at:end] * 2))
    survives(tmp_path, spec[:at] + piece + spec[end:], alone=True)


CELLS = st.sampled_from(
    [
        "# %% adds-it\n", "# %%\n", "#%% other\n", "# %% other / more\n", "# %% a / b / c\n",
        "# killed_by: forward\n", "# killed_by: [backward\n", "# killed_by: 3\n",
        "# parameters: {A: [1, 2]}\n", "# parameters: {A: []}\n", "# part: 9\n", "# x: !!x\n",
        "# x: &a *a\n", '"""You add.', '"""\n', "A = 1\n", "\udc80", "\ufeff", "\r", "\0",
    ]
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*invalid escape sequence")  # Python says so of "\\+"
@fuzz
@given(st.lists(CELLS | st.text(max_size=8), max_size=9), st.sampled_from(["ideas", "accepted"]))
@example(["# %% adds-it\n", '"""You add.', "\\+", '"""\n'], "ideas")
def test_any_text_in_a_file_of_several_programs(
    tmp_path: Path, pieces: list[str], file: str
) -> None:
    bank = write_bank(tmp_path)
    path = bank / "drills" / "scaled-copy" / f"{file}.py"
    path.write_bytes("".join(pieces).encode("utf-8", "surrogateescape"))
    ends_in_a_sentence(tmp_path, bank, "scaled-copy")
    path.unlink()


BODY = SPEC[SPEC.index("run:") : SPEC.index("hints")]
SPOTS = [
    (name, SPEC.index("run:") + spot.start())
    for name in ("forward", "grad_x", "grad_y", "ctx", "factor", "adds-it", "outputs")
    for spot in re.finditer(rf"(?<![\w-]){name}(?![\w-])", BODY)
]


@pytest.mark.parametrize(("name", "at"), SPOTS)
def test_a_misspelled_name_is_always_reported(tmp_path: Path, name: str, at: int) -> None:
    middle = at + len(name) // 2
    with pytest.raises(BankError) as raised:
        loaded(tmp_path, SPEC[:middle] + "q" + SPEC[middle + 1 :])
    assert any("did you mean " in problem for problem in raised.value.problems)
