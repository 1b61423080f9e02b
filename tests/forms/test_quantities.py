"""Numbers with units, as people write them."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.forms.quantities import UNITS, quantity


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("112 GB", "B", 1.12e11),
        ("112GB", "B", 1.12e11),
        ("1.12e11 B", "B", 1.12e11),
        ("98,304 B", "B", 98_304),
        ("1,098,304.5 B", "B", 1_098_304.5),
        ("98_304 B", "B", 98_304),
        ("96KiB", "B", 98_304),
        ("+3 TiB", "B", 3 * 2**40),
        (".5 kB", "B", 500),
        ("17.3 ms", "s", 0.0173),
        ("2 min", "s", 120),
        ("989 TFLOP", "FLOP", 989e12),
        ("12 FLOP/B", "FLOP/B", 12),
        ("3.35 TB/s", "B/s", 3.35e12),
        ("7", "1", 7),
        ("7 1", "1", 7),
    ],
)
def test_a_quantity_is_read(text: str, unit: str, value: float) -> None:
    assert math.isclose(quantity(text, unit), value, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("text", "unit", "said"),
    [
        ("28.3", "B", "needs a unit: B, kB, KB, MB, GB, TB, KiB, MiB, GiB or TiB"),
        ("28.3 gb", "B", "gb is no unit here; GB is 1e9 bytes, GiB is 2**30, and Gb would be bits"),
        ("28.3 Gb", "B", "Gb is no unit here; GB is 1e9 bytes"),
        ("17 GB", "s", "is a time, which GB is not; units are s, ms, us, min or h"),
        ("1,12 GB", "B", "1,12 reads as two numbers; write 1.12, and commas only between"),
        ("-3 GB", "B", "a quantity is a finite number, 0 or more"),
        ("1e308 TB", "B", "a quantity is a finite number, 0 or more"),
        ("1e999 B", "B", "a quantity is a finite number, 0 or more"),
        ("nan B", "B", "expected a number with a unit, as 1.5 B, found 'nan B'"),
        ("inf B", "B", "expected a number with a unit"),
        ("e5 B", "B", "expected a number with a unit"),
        ("a lot", "1", "expected a number, found 'a lot'"),
        ("46 tok", "1", "is a pure number: write it without tok"),
        ("0x10 B", "B", "x10 B is no unit here"),
        ("3 parsecs", "s", "parsecs is no unit here; units are"),
        ("٣ B", "B", "B"),
    ],
)
def test_what_is_none_is_refused(text: str, unit: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        quantity(text, unit)


@given(st.floats(0, 1e30), st.sampled_from([(u, n) for u, (_, k) in UNITS.items() for n in k]))
def test_what_is_written_is_what_is_read(value: float, unit: tuple[str, str]) -> None:
    base, name = unit
    assert math.isclose(
        quantity(f"{value!r} {name}", base), value * UNITS[base][1][name], rel_tol=1e-12
    )


@given(
    st.text(max_size=40) | st.text(",0123456789._e", min_size=500), st.sampled_from(sorted(UNITS))
)
def test_any_text_is_a_quantity_or_a_sentence(text: str, unit: str) -> None:
    try:
        said = str(quantity(text, unit))
    except ValueError as refused:
        said = str(refused)
    assert said not in {"inf", "nan"}
    assert 0 < len(said) < 200
