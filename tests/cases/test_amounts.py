"""Amounts: arithmetic over sizes, and nothing that could run, hang or blow up."""

from __future__ import annotations

import ast
import contextlib
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.cases.amounts import AmountError, evaluate_amount, names_in_amount

KNOWN: dict[str, Any] = {
    "x": np.zeros((2, 5), np.float32),
    "y": np.zeros(3),
    "k": 3,
    "rate": 0.5,
    "mode": "same",
    "none": None,
    "table": {"a": 1},
}


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (256, 256.0),
        (1.25, 1.25),
        ("8 * y.size + 256 bytes", 280.0),
        ("1.25 * x.nbytes + 1024 bytes", 1074.0),
        ("x.itemsize", 4.0),
        ("x.shape[0] * x.shape[1]", 10.0),
        ("(k + 1) // 2", 2.0),
        ("-k + 10 / 4", -0.5),
        ("k * rate", 1.5),
        ("+7 bytes", 7.0),
    ],
)
def test_amounts_are_evaluated(amount: str | float, expected: float) -> None:
    assert evaluate_amount(amount, KNOWN) == expected


def test_the_names_of_an_amount() -> None:
    assert names_in_amount("8 * y.size + x.shape[0] * k bytes") == {"x", "y", "k"}
    assert names_in_amount(3) == set()


@pytest.mark.parametrize(
    "amount",
    ["", "8 *", "__import__('os')", "x.T", "x.shape", "x.shape[k]", "x[0]", "2 ** 3", "8 % 3",
     "not k", "k if k else 1", "k and 1", "(k,)", "b'a'", "None", "lambda: 1", "f'{k}'",
     "1e999", "\x00", "-" * 150 + "x.T"],
)  # fmt: skip
def test_anything_that_is_not_arithmetic_over_sizes_is_refused(amount: str) -> None:
    with pytest.raises(AmountError, match=r"^expected "):
        names_in_amount(amount)
    with pytest.raises(AmountError, match=r"^expected "):
        evaluate_amount(amount, KNOWN)


@pytest.mark.parametrize(
    "amount",
    ["z", "z.size", "x", "mode", "none", "table", "k.size", "table.nbytes", "y.shape[1]",
     "k / 0", "k // 0", "1 / (k - 3)", "huge * huge"],
)  # fmt: skip
def test_a_size_that_a_case_lacks_is_reported(amount: str) -> None:
    with pytest.raises(AmountError):
        evaluate_amount(amount, KNOWN | {"huge": 10**300})


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=0x2FF), max_size=210))
def test_any_text_is_an_amount_or_refused(text: str) -> None:
    with contextlib.suppress(AmountError):
        assert isinstance(evaluate_amount(text, KNOWN), float)


PIECES = st.sampled_from(
    ["8", "2.5", "k", "x", "y.size", "x.nbytes", "x.shape[0]", "z", "(", ")", "+", "-", "*", "/",
     "//", "**", " ", "bytes", ".", "[0]", ",", "mode", "none.size"]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(PIECES, max_size=12).map(" ".join))
def test_any_sequence_of_tokens_is_evaluated_as_python_does_or_refused(text: str) -> None:
    try:
        value = evaluate_amount(text, KNOWN)
    except AmountError:
        return
    plain = re.sub(r"(?<![.\w])bytes$", "", text.strip()).strip()
    assert not any(isinstance(n, ast.Pow) for n in ast.walk(ast.parse(plain)))
    expected = eval(plain, {"__builtins__": {}}, KNOWN)
    assert math.isclose(value, float(expected))


@pytest.mark.parametrize(("amount", "unit"), [("60 KiB", "KiB"), ("2 * x.nbytes + 1 MB", "MB")])
def test_an_unknown_unit_is_reported(amount: str, unit: str) -> None:
    with pytest.raises(
        AmountError, match=f"; {unit} is no unit here: write 60 \\* 1024 for 60 KiB"
    ):
        names_in_amount(amount)
