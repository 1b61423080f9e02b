"""`defaults` and `display`: said once, filled in where they belong, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.bank import load
from grader.cases.recipe import read_cases
from grader.model.errors import BankError
from grader.model.question import Question

SPEC = """\
format: 2
title: Pools
track: pooling
level: core
minutes: 5
uses: [numpy]
prompt: Pool x.
interface: "def pool(x, kernel, stride): ..., def back(grad_y, x): ..., def area(side): ..."
run:
  main: ["y = pool(x, kernel, stride)", "grad_x = back(grad_y, x)"]
  area: [a = area(side)]
%s
checks:
  - {id: pooled, kind: outputs, of: y%s}
  - {id: area, run: area, kind: outputs, of: a}
code: {reference: "x = 1", starter: "x = 2"}
"""
DEFAULTS = "defaults: {kernel: 2, stride: 2, grad_y: {normal: like y}, dtype: float32}\n"
CASES = "cases: {a: {x: [1.0]}, b: {side: 3}}\n"
DISPLAY = "display: {beside: [x, side], window: [kernel, stride, 0]}\n"


def read(folder: Path, keys: str, show: str = "") -> Question:
    """Return the question with some keys in its spec, and in its first check."""
    path = folder / "pools.yaml"
    path.write_text(SPEC % (keys.rstrip("\n"), show), encoding="utf-8")
    return load([path], "pools")


def cases(folder: Path, keys: str) -> dict[str, dict[str, Any]]:
    """Return the cases of the question, without what they are about."""
    found, faults = read_cases(read(folder, keys).spec.cases)
    assert not faults
    return {
        name: {key: one.literal if one.like is None else one.like for key, one in c.inputs.items()}
        | {"dtype": c.dtype}
        for name, c in found.items()
    }


def problems(folder: Path, keys: str, show: str = "") -> list[str]:
    """Return what is wrong, with line and column."""
    with pytest.raises(BankError) as raised:
        read(folder, keys, show)
    return [p.removeprefix(f"{folder / 'pools.yaml'}:") for p in raised.value.problems]


def test_a_case_has_the_defaults_of_the_runs_of_which_it_gives_an_input(tmp_path: Path) -> None:
    found = cases(tmp_path, DEFAULTS + CASES)
    of_main = {"kernel": 2, "stride": 2, "grad_y": "y", "dtype": "float32"}
    assert found == {"a": {"x": [1.0], **of_main}, "b": {"side": 3, "dtype": "float32"}}


def test_a_case_and_those_that_it_extends_come_first(tmp_path: Path) -> None:
    written = (
        "cases: {a: {x: [1.0], kernel: 3}, b: {extends: a, stride: 1}, c: {extends: b, kernel: 4},"
        " d: {extends: c, dtype: float64}, e: {extends: d, side: 1}}\n"
    )
    found = cases(tmp_path, DEFAULTS + written)
    sizes = {name: (c["kernel"], c["stride"], c["dtype"]) for name, c in found.items()}
    assert sizes == {
        "a": (3, 2, "float32"),
        "b": (3, 1, "float32"),
        "c": (4, 1, "float32"),
        "d": (4, 1, "float64"),
        "e": (4, 1, "float64"),
    }


def test_what_a_default_is_shaped_like_comes_with_it(tmp_path: Path) -> None:
    keys = "defaults: {kernel: 2, stride: 2, grad_y: {normal: like mask}, mask: [[1.0]]}\n"
    found = cases(tmp_path, keys + CASES)
    assert found["a"] == {
        "x": [1.0], "kernel": 2, "stride": 2, "grad_y": "mask", "mask": [[1.0]], "dtype": "float64",
    }  # fmt: skip
    assert found["b"] == {"side": 3, "dtype": "float64"}


@pytest.mark.parametrize(
    ("defaults", "expected"),
    [
        ("kernl: 2, kernel: 2", "12:19: defaults.kernl: expected an input that a step reads, found "
         "'kernl'; did you mean 'kernel'?"),
        ("kernel: {normal: -1}", "12:29: defaults.kernel.normal: expected a shape (a list of sizes)"
         " or 'like NAME', found -1"),
        ("kernel: {nromal: [2]}", "12:20: defaults.kernel: expected exactly one generator"),
        ("dtype: float16", "12:19: defaults.dtype: expected one of float32, float64, bfloat16, "
         "found 'float16'"),
        ("about: x", "12:19: defaults.about: expected an input or dtype, found about"),
        ("draws: 3", "12:19: defaults.draws: expected an input or dtype, found draws"),
    ],
)  # fmt: skip
def test_a_wrong_default_is_said_once_where_it_stands(
    tmp_path: Path, defaults: str, expected: str
) -> None:
    all_given = CASES.replace("x:", "kernel: 1, stride: 1, grad_y: [0.0], x:")
    keys = f"defaults: {{{defaults}}}\n{all_given}"
    (problem,) = problems(tmp_path, keys)
    assert problem.startswith(expected)


def test_a_display_is_shown_with_every_check_that_has_none(tmp_path: Path) -> None:
    pooled, area = read(tmp_path, DEFAULTS + CASES + DISPLAY).spec.checks
    assert (pooled.show.inputs, pooled.show.window) == (("x",), ["kernel", "stride", 0])  # type: ignore[attr-defined]
    assert (area.show.inputs, area.show.window) == (("side",), None)  # type: ignore[attr-defined]
    own = read(tmp_path, DEFAULTS + CASES + DISPLAY, ", show: {beside: kernel}").spec.checks[0]
    assert (own.show.inputs, own.show.window) == (("kernel",), None)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("display", "expected"),
    [
        ("{beside: xx}", "14:19: display: expected an input of a run, found 'xx'"),
        ("{beside: y}", "14:19: display: expected an input of a run, found 'y'"),
        ("{beside: x, window: [k, 1, 0]}", "14:31: display: expected an input of a run, found 'k'"),
        ("{besides: x}", "14:11: display: found the unknown key 'besides'; did you mean 'beside'?"),
        ("x", "14:10: display: expected a mapping, found the text 'x'"),
    ],
)
def test_a_display_of_what_there_is_not_is_a_fault(
    tmp_path: Path, display: str, expected: str
) -> None:
    (problem,) = problems(tmp_path, f"{DEFAULTS}{CASES}display: {display}\n")
    assert problem.startswith(expected)
