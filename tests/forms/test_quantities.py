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
        ("1.12e11 B", "B", 1.12e11),
        ("1,098,304.5 B", "B", 1_098_304.5),
        ("96KiB", "B", 98_304),
        (".5 kB", "B", 500),
        ("2 min", "s", 120),
        ("12 FLOP/B", "FLOP/B", 12),
        ("7", "1", 7),
    ],
)
def test_a_quantity_is_read(text: str, unit: str, value: float) -> None:
    assert math.isclose(quantity(text, unit), value, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("text", "unit", "said"),
    [
        ("28.3", "B", "needs a unit: B, kB, KB, MB, GB, TB, KiB, MiB, GiB or TiB"),
        ("28.3 Gb", "B", "Gb is no unit here; GB is 1e9 bytes"),
        ("1,12 GB", "B", "1,12 reads as two numbers; write 1.12, and commas only between"),
        ("1e308 TB", "B", "a quantity is a finite number, 0 or more"),
        ("nan B", "B", "expected a number with a unit, as 1.5 B, found 'nan B'"),
        ("e5 B", "B", "expected a number with a unit"),
        ("17 GB", "s", "is a time, which GB is not; units are s, ms, us, min or h"),
        ("-3 GB", "B", "a quantity is a finite number, 0 or more"),
        ("46 tok", "1", "is a pure number: write it without tok"),
        ("3 parsecs", "s", "parsecs is no unit here; units are"),
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
