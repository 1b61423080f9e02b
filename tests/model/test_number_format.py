"""How numbers read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.model.number_format import (
    format_aligned_numbers,
    format_amount,
    format_band,
    format_bytes,
    format_count,
    format_distinct_amounts,
    format_distinct_numbers,
    format_duration,
    format_minutes,
    format_number,
    format_ratio,
    format_shape,
)

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        *[(format_number(value), text) for value, text in (
            (0.1111111, "0.1111"), (1.0, "1.000"), (0.99996, "1.000"), (-12.3456, "-12.35"),
            (0.0, "0"), (-0.0, "0"), (1048576, "1,048,576"), (1048576.0, "1,048,576"),
            (12345.678, "12,346"), (1e-7, "1.000e-7"), (0.0012345, "0.001234"),
            (1.5e20, "1.500e20"), (10**20, "1.000e20"), (NAN, "NaN"), (INF, "inf"), (-INF, "-inf"),
            (True, "True"), (np.float32(0.5), "0.5000"), (np.int64(1234567), "1,234,567"),
        )],
        *[(format_aligned_numbers(values), texts) for values, texts in (
            ([0, 1, 2], ["0", "1", "2"]),
            ([0, 1 / 9, 1], ["0", "0.111", "1.000"]),
            ([NAN, 1.5, -INF], ["NaN", "1.500", "-inf"]),
            ([1e-9, 0.5, 0], ["1e-9", "0.500", "0"]),
            ([1e-7, 2e-8, 0], ["1.00e-7", "2.00e-8", "0"]),
            ([0.0123, 0.0456], ["0.01230", "0.04560"]),
            ([123.456, 1.2], ["123.5", "1.2"]),
            ([NAN, NAN], ["NaN", "NaN"]),
            ([], []),
        )],
        (format_distinct_numbers(1.0, 1.0 + 1e-9), ("1.000000000", "1.000000001")),
        (format_distinct_numbers(0.5, NAN), ("0.5000", "NaN")),
        (format_distinct_numbers(2.0, 2.0), ("2.000", "2.000")),
        (format_distinct_amounts(14e9, 14e9 + 1e5, "GB"), ("14.0000 GB", "14.0001 GB")),
        ([format_bytes(n) for n in (1179648, 1, 6.125)],
         ["1,179,648 bytes", "1 byte", "6.1 bytes"]),
        ([format_amount(n, "GB") for n in (14e9, 0, 1000, INF)],
         ["14.0 GB", "0.0 GB", "1.000e-6 GB", "inf GB"]),
        (format_amount(2**30, "GiB"), "1.0 GiB"),
        ([format_band(1e-7), format_band(1.5e-10)], ["+-1e-7", "+-1.5e-10"]),
        ([format_ratio(r) for r in (0.71, 1.3, 7.15, 120)], ["0.71x", "1.30x", "7.2x", "120x"]),
        ([format_duration(s) for s in (0.413, 0.999, 1.93, 42, 200)],
         ["0.41 s", "1.0 s", "1.9 s", "42 s", "3 min 20 s"]),
        ([format_minutes(m) for m in (-3, 0.6, 119, 121, 47 * 60, 60 * 24 * 3)],
         ["0 minutes", "1 minute", "119 minutes", "2 hours", "47 hours", "3 days"]),
        ([format_count(1, "try", "tries"), format_count(10**6, "byte")],
         ["1 try", "1,000,000 bytes"]),
        (format_shape(np.zeros((2, 3)).shape), "(2, 3)"),
    ],
)  # fmt: skip
def test_numbers_read_as_a_person_writes_them(read: Any, expected: Any) -> None:
    assert read == expected


def test_only_zero_reads_as_zero() -> None:
    for scale in 10.0 ** np.arange(-12, 12):
        for text in format_aligned_numbers([scale, scale * 1e-5, scale * 1.5]):
            assert float(text) != 0
