"""How numbers read."""

from __future__ import annotations

import numpy as np
import pytest

from grader.model import numerals

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1111111, "0.1111"),
        (1.0, "1.000"),
        (0.99996, "1.000"),
        (-12.3456, "-12.35"),
        (0.0, "0"),
        (-0.0, "0"),
        (1048576, "1,048,576"),
        (1048576.0, "1,048,576"),
        (12345.678, "12,346"),
        (1e-7, "1.000e-7"),
        (0.0012345, "0.001234"),
        (1.5e20, "1.500e20"),
        (10**20, "1.000e20"),
        (NAN, "NaN"),
        (INF, "inf"),
        (-INF, "-inf"),
        (True, "True"),
    ],
)
def test_a_number_has_four_digits(value: float, text: str) -> None:
    assert numerals.number(value) == text


def test_numpy_scalars_read_like_pythons() -> None:
    assert numerals.number(np.float32(0.5)) == "0.5000"
    assert numerals.number(np.int64(1234567)) == "1,234,567"
    assert numerals.numbers_aligned(np.array([0.0, 0.5])) == ["0", "0.500"]
    assert numerals.shape_text(np.zeros((2, 3)).shape) == "(2, 3)"


def test_two_numbers_that_differ_read_differently() -> None:
    assert numerals.numbers_apart(1.0, 1.0 + 1e-9) == ("1.000000000", "1.000000001")
    assert numerals.numbers_apart(0.5, NAN) == ("0.5000", "NaN")
    assert numerals.numbers_apart(2.0, 2.0) == ("2.000", "2.000")
    assert numerals.amounts_apart(14e9, 14e9 + 1e5, "GB") == ("14.0000 GB", "14.0001 GB")


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0, 1, 2], ["0", "1", "2"]),
        ([0, 1 / 9, 1], ["0", "0.111", "1.000"]),
        ([NAN, 1.5, -INF], ["NaN", "1.500", "-inf"]),
        ([1e-9, 0.5, 0], ["1e-9", "0.500", "0"]),
        ([1e-7, 2e-8, 0], ["1.00e-7", "2.00e-8", "0"]),
        ([0.0123, 0.0456], ["0.01230", "0.04560"]),
        ([123.456, 1.2], ["123.5", "1.2"]),
        ([NAN, NAN], ["NaN", "NaN"]),
        ([], []),
    ],
)
def test_the_numbers_of_an_array_are_alike_in_form(values: list[float], texts: list[str]) -> None:
    assert numerals.numbers_aligned(values) == texts


def test_only_zero_reads_as_zero() -> None:
    for scale in 10.0 ** np.arange(-12, 12):
        for text in numerals.numbers_aligned([scale, scale * 1e-5, scale * 1.5]):
            assert float(text) != 0


def test_amounts_have_their_unit() -> None:
    assert numerals.bytes_text(1179648) == "1,179,648 bytes"
    assert numerals.bytes_text(1) == "1 byte"
    assert numerals.bytes_text(6.125) == "6.1 bytes"
    assert numerals.amount(14e9, "GB") == "14.0 GB"
    assert numerals.amount(2**30, "GiB") == "1.0 GiB"
    assert numerals.amount(0, "GB") == "0.0 GB"
    assert numerals.amount(1000, "GB") == "1.000e-6 GB"
    assert numerals.amount(INF, "GB") == "inf GB"


def test_bands_ratios_and_durations() -> None:
    assert numerals.band(1e-7) == "+-1e-7"
    assert numerals.band(1.5e-10) == "+-1.5e-10"
    assert [numerals.times(r) for r in (0.71, 1.3, 7.15, 120)] == ["0.71x", "1.30x", "7.2x", "120x"]
    assert [numerals.duration(s) for s in (0.413, 0.999, 1.93, 42, 200)] == [
        "0.41 s",
        "1.0 s",
        "1.9 s",
        "42 s",
        "3 min 20 s",
    ]


@pytest.mark.parametrize(
    ("minutes", "text"),
    [(-3, "0 minutes"), (0.6, "1 minute"), (119, "119 minutes"), (121, "2 hours"),
     (47 * 60, "47 hours"), (60 * 24 * 3, "3 days")],
)  # fmt: skip
def test_a_span_of_time(minutes: float, text: str) -> None:
    assert numerals.span(minutes) == text


def test_quantities() -> None:
    assert numerals.quantity(1, "try", "tries") == "1 try"
    assert numerals.quantity(1_000_000, "byte") == "1,000,000 bytes"
