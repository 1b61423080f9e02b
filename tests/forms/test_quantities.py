"""Quantities are read as a teacher reads them; an ambiguous one is refused."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.forms.base import UnreadableAnswer
from grader.forms.quantities import parse_fraction, parse_quantity
from grader.forms.units import UNITS, base_unit

ABOUT = {
    "1": "users that fit on one card, each with 8,192 tokens",
    "B": "cache that one token of one user adds",
    "s": "least time of that step",
    "tok/s": "tokens that all users get",
    "B/s": "bandwidth",
    "FLOP": "work of a step",
    "FLOP/s": "peak",
    "FLOP/B": "work per byte",
    "user": "users that fit",
}
READ = [
    # Units and their spellings.
    ("131072 bytes", "B", 131_072),
    ("131072 Bytes", "B", 131_072),
    ("131072 bytes each", "B", 131_072),
    ("131072 bytes per token", "B", 131_072),
    ("128 KiB/token", "B", 131_072),
    ("128 kib", "B", 131_072),
    ("1.07 GBs", "B", 1.07e9),
    ("1.07 gb", "B", 1.07e9),
    ("1.07 gigabytes", "B", 1.07e9),
    ("1.07 Gigabytes.", "B", 1.07e9),
    ("1.07 GByte", "B", 1.07e9),
    ("1 gibibyte", "B", 2**30),
    ("1.07 G", "B", 1.07e9),
    ("1.07 billion bytes", "B", 1.07e9),
    ("3.35 TB/s", "B/s", 3.35e12),
    ("3.35 terabytes per second", "B/s", 3.35e12),
    ("500 MB/sec", "B/s", 5e8),
    ("4200 tok/s", "tok/s", 4200),
    ("4.2k tok/s", "tok/s", 4200),
    ("4,200 tokens per second", "tok/s", 4200),
    ("4200 tokens/s", "tok/s", 4200),
    ("28 FLOPs", "FLOP", 28),
    ("28 TFLOPs", "FLOP", 28e12),
    ("28 teraflops", "FLOP", 28e12),
    ("989 TFLOP/s", "FLOP/s", 989e12),
    ("989 TFLOPS", "FLOP/s", 989e12),
    ("989 TFLOPs per second", "FLOP/s", 989e12),
    ("295 FLOPs/byte", "FLOP/B", 295),
    ("295 flops per byte", "FLOP/B", 295),
    ("7 milliseconds", "s", 0.007),
    ("7 msec", "s", 0.007),
    ("2 hours", "s", 7200),
    ("2 hrs", "s", 7200),
    ("5 minutes", "s", 300),
    ("12 secs", "s", 12),
    ("250 ns", "s", 2.5e-7),
    ("36.4 %", "1", 0.364),
    ("36.4%", "1", 0.364),
    ("36.4 percent", "1", 0.364),
    # The nouns of a question, and remarks.
    ("37 users", "1", 37),
    ("37 Users", "1", 37),
    ("37 users per card", "1", 37),
    ("37 users in total", "1", 37),
    ("37 users", "user", 37),
    ("37 (rounded down)", "1", 37),
    ("37 (of 40) users", "1", 37),
    ("37 (37.25 without rounding, see (2))", "1", 37),
    ("37 (rounded", "1", 37),
    ("37 rounded down", "1", 37),
    ("98304 B (2*48)", "B", 98_304),
    ("about 37", "1", 37),
    ("About 37 users", "1", 37),
    ("approx. 37", "1", 37),
    ("approximately 37", "1", 37),
    ("roughly 37", "1", 37),
    ("ca. 37", "1", 37),
    ("37 approx.", "1", 37),
    ("~37", "1", 37),
    ("\u2248 37", "1", 37),
    ("~98 kB", "B", 98e3),
    # Separators and signs.
    ("1,07 GB", "B", 1.07e9),
    ("0,512 GB", "B", 0.512e9),
    ("1,0737 GB", "B", 1.0737e9),
    ("1,234", "1", 1234),
    ("1.234", "1", 1.234),
    ("1,073,741,824", "B", 2**30),
    ("1 073 741 824 B", "B", 2**30),
    ("1_073_741_824 B", "B", 2**30),
    ("1'073'741'824 B", "B", 2**30),
    ("1\u2019073\u2019741\u2019824 B", "B", 2**30),
    ("1\u2009073\u2009741\u2009824 B", "B", 2**30),
    ("1\u202f073\u202f741\u202f824,5 B", "B", 2**30 + 0.5),
    ("1.07e9", "B", 1.07e9),
    ("1.07E9", "B", 1.07e9),
    ("1.07 * 10^9", "B", 1.07e9),
    ("1.07 x 10^9 B", "B", 1.07e9),
    ("1.07\u00d710\u2079 B", "B", 1.07e9),
    ("1.07\u00b710\u2079 B", "B", 1.07e9),
    ("7 * 10\u207b\u00b3 s", "s", 0.007),
    ("2 x 48 x 128", "B", 12_288),
    ("8.03B", "1", 8.03e9),
    ("8.03 billion", "1", 8.03e9),
    ("8k users", "1", 8000),
    ("2 * 7B * 2", "1", 28e9),
    ("37.", "1", 37),
    ("37;", "1", 37),
    ("37,", "1", 37),
    # Equations, and units inside of arithmetic.
    ("8192 * 131072 B = 1.07 GB", "B", 1.07e9),
    ("8192 * 131072 = 1.07 GB", "B", 1.07e9),
    ("8192 * 131072 B = 1073741824 B = 1.07 GB", "B", 1.07e9),
    ("8192 * 131072 B ~ 1.07 GB", "B", 1.07e9),
    ("8192 * 131072 B = about 1.07 GB", "B", 1.07e9),
    ("8192 * 131072 B = ~1.07 GB", "B", 1.07e9),
    ("8192 * 131072 B -> 1.07 GB", "B", 1.07e9),
    ("8192 tokens * 131072 B/token = 1.07 GB", "B", 1.07e9),
    ("8192 tokens * 131072 B per token = 1.07 GB", "B", 1.07e9),
    ("2 * 7 = 14 GB", "B", 14e9),
    ("40 / 1.07 = 37.38 = 37 users", "1", 37),
    ("80 GB / 1.07 GB = 74.8", "1", 74.8),
    ("80 GB / 1.07 GB per user", "1", 80 / 1.07),
    ("14 GB / 2 TB/s = 7 ms", "s", 0.007),
    ("14e9 B / 2e12 B/s", "s", 0.007),
    ("28e12 FLOP / 989 TFLOPS = 28.3 ms", "s", 0.0283),
    ("2 GB + 500 MB", "B", 2.5e9),
    ("40 % * 80 GB", "B", 32e9),
    ("(2 + 3) GB", "B", 5e9),
    # Nouns and counts inside of an equation that agrees.
    ("2 x 32 layers x 8 heads x 128 = 64 KiB per token", "B", 65_536),
    ("2 x 32 layers x 8 heads x 128 = 64 KiB/token", "B", 65_536),
    ("2 * 32 layers * 8 kv_heads * 128 dims = 65,536 bytes", "B", 65_536),
    ("2 * 32 layers * 8 KV heads * 128 = 65536 B = 64 KiB", "B", 65_536),
    ("2 (K and V) x 32 layers x 8 heads x128 = 64 KiB", "B", 65_536),
    ("= 64 KiB/token", "B", 65_536),
    ("32 layers \u00d7 8 heads = 256", "1", 256),
    ("2 bytes x 1024 tokens = 2 KiB", "B", 2048),
    ("2 x 1024 tokens = 2 KiB", "B", 2048),
    ("2 bytes/param x 7 billion params = 14 GB", "B", 14e9),
    ("16 requests x 8192 tokens x 128 KiB per token = 16 GiB", "B", 2**34),
    ("16 requests x 8192 tokens x 128 KiB = 16 GiB", "B", 2**34),
    ("14 GB / 32 layers = 0.4375 GB", "B", 0.4375e9),
    ("2 FLOP per weight x 7e9 weights = 14 GFLOP", "FLOP", 14e9),
    ("8 samples x 500 tokens / 2 s = 2000 tok/s", "tok/s", 2000),
    ("80 GB / 2 GB per user = 40 users", "user", 40),
]  # fmt: skip


@pytest.mark.parametrize(("text", "unit", "value"), READ)
def test_a_number_is_read_as_a_teacher_reads_it(text: str, unit: str, value: float) -> None:
    assert math.isclose(parse_quantity(text, unit, ABOUT[unit]), value, rel_tol=1e-12)


REFUSED = [
    # Two numbers, bounds, and sides that differ.
    ("10-12", "1", "10-12 may be two numbers; write one"),
    ("10\u201312", "1", "may be two numbers"),
    ("10 \u2013 12 GB", "B", "may be two numbers"),
    ("37 or 38", "1", "37 or 38 may be two numbers"),
    ("37 to 38", "1", "may be two numbers"),
    ("37..38", "1", "may be two numbers"),
    ("about 37-38", "1", "37-38 may be two numbers"),
    ("~10-12 GB", "B", "may be two numbers"),
    ("5 + 5 = 10-12", "1", "may be two numbers"),
    ("37, 38", "1", "write it without 38"),
    ("37 / 38 =", "1", "expected a number"),
    ("3 = 4", "1", "two numbers in 3 = 4 are not equal; write one of them"),
    ("36 = 37", "1", "are not equal"),
    ("17 ms = 17 GB", "B", "is an amount of memory, which ms is not"),
    ("8192 * 131072 B = 1 KB", "B", "are not equal"),
    ("1e9 = 37", "1", "are not equal"),
    ("80 GB / 1.07 GB = 37", "1", "are not equal"),
    ("> 37", "1", "expected a number, found '> 37'"),
    (">= 37", "1", "expected a number, found '>= 37'"),
    ("\u2264 37", "1", "expected a number"),
    ("not 37", "1", "expected a number, found 'not 37'"),
    ("at most 37", "1", "expected a number"),
    ("37 (38)", "1", "did not expect (38) here; write * for a product"),
    ("2 (3 + 4)", "1", "write * for a product"),
    ("2(48)(128)", "1", "write * for a product"),
    ("1,2,3", "1", "1,2,3 reads as two numbers"),
    ("1,07,374", "1", "reads as two numbers"),
    ("1.2.3", "1", "did not expect .3 here"),
    ("3 4", "1", "did not expect 4 here"),
    # Nouns that are not of the question, where nothing says that they are only that.
    ("2 x 32 layers x 8 heads x 128", "B", "layers is no unit here"),
    ("2 x 32 layers x 8 heads x 128 = 60 KiB", "B", "= 60 KiB are not equal; write one of them"),
    ("2 x 32 layers x 8 heads x 128 = 64 KiB per layer", "B", "KiB per layer is no unit here"),
    ("2 x 3 = 6 layers", "B", "layers is no unit here"),
    ("14 GB x 2 layers", "B", "layers is no unit here"),
    ("37 cats = 37", "1", "write it without cats"),
    ("32 layers, 8 heads", "1", "write it without layers"),
    ("32 layers 8 heads = 8", "1", "write it without layers"),
    ("5 x 37 or 38 = 38", "1", "write it without or"),
    ("12 tokens = 12 GB", "FLOP", "is an amount of work, which tokens is not"),
    ("2 x 8 Gbit = 16 GB", "B", "Gbit is no unit here"),
    ("2 x 8 Gb = 16 GB", "B", "Gb is no unit here"),
    ("16e9 bits x 1 = 16 GB", "B", "bits is no unit here"),
    ("2 x 3 days = 6 s", "s", "days is no unit here"),
    ("5 m x 2 = 10 s", "s", "m is no unit here"),
    ("2 GB x 3 GB = 6 GB", "B", "the units of 2 GB x 3 GB do not make B"),
    ("2 ms x 7 layers = 14 GB", "B", "which ms is not"),
    ("2 GB x 3 tokens = 6 s", "s", "do not make s"),
    # Another dimension.
    ("37 GB", "1", "is a pure number: write it without GB"),
    ("37 ms", "1", "is a pure number: write it without ms"),
    ("37 cats", "1", "is a pure number: write it without cats"),
    ("37 GB", "user", "is a count, which GB is not"),
    ("14 GB / 2e12 B", "B", "the units of 14 GB / 2e12 B do not make B"),
    ("2 GB * 3 GB", "B", "do not make B"),
    ("2 GB + 3 s", "B", "do not make B"),
    ("14 GB", "B/s", "is a bandwidth, which GB is not"),
    ("989 TFLOP", "FLOP/s", "is a rate of work, which TFLOP is not"),
    ("28 TB", "FLOP", "is an amount of work, which TB is not"),
    ("28 B", "FLOP", "is an amount of work, which B is not"),
    ("36 %", "B", "is an amount of memory, which % is not"),
    ("12 samples/s", "tok/s", "is a rate, which samples/s is not"),
    ("131072 B per layer", "B", "is no unit here"),
    # Units that may be another.
    ("8.6 Gb", "B", "Gb is no unit here; GB is 1e9 bytes"),
    ("8.6 Gbit", "B", "Gbit is no unit here"),
    ("8 b", "B", "b is no unit here"),
    ("5 m", "s", "m is no unit here; units are s, ms"),
    # What is no number, or too much of one; nothing is run.
    ("NaN", "1", "expected a number"),
    ("inf", "B", "expected a number"),
    ("-inf", "B", "expected a number"),
    ("1e999", "1", "a finite number"),
    ("1e9999", "1", "did not expect 9 here"),
    ("9 ** 9 ** 9 ** 9", "1", "is no number"),
    ("10^10^10", "1", "is no number"),
    ("10\u2079\u2079\u2079\u2079", "1", "is no number"),
    ("(" * 299, "1", "expected a number"),
    ("-" * 300, "1", "expected a number"),
    ("9" * 301, "1", "expected a number, found '999"),
    ("0x10", "1", "write it without x10"),
    ("0b11", "1", "write it without b11"),
    ("1_0e1_0", "1", "write it without _0"),
    ("1j", "1", "write it without j"),
    ("__import__('os').system('id')", "1", "expected a number"),
    ("37 if 1 else 2", "1", "write it without if"),
    ("len([1, 2])", "1", "expected a number"),
    ("37 and 1", "1", "write it without and"),
    ("37 % 5", "1", "did not expect 5 here"),
    ("7 // 2", "1", "expected a number"),
    ("\u0663\u0667", "1", "expected a number"),  # digits, but not of ASCII
    ("= 37 =", "1", "expected a number"),
    ("-37", "1", "a quantity is a finite number, 0 or more"),
    ("", "1", "expected a number"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "unit", "sentence"), REFUSED)
def test_an_ambiguous_answer_is_refused(text: str, unit: str, sentence: str) -> None:
    with pytest.raises(UnreadableAnswer, match=re.escape(sentence)) as refused:
        parse_quantity(text, unit, ABOUT.get(unit, ""))
    assert len(refused.value.sentence) < 250


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-3", -3.0), ("\u22123", -3.0), ("\u20133", -3.0), ("2/3", 2 / 3),
        ("-2/3 = -0.667", -0.667),
        ("0,25", 0.25), ("25 %", 0.25), ("10 - 12", -2.0), ("+0.5", 0.5), ("\u00f7 2", None),
        ("2 GB", None), ("10-12", None), ("3 = -3", None),
    ],
)  # fmt: skip
def test_a_prediction_may_be_negative(text: str, value: float | None) -> None:
    if value is None:
        with pytest.raises(UnreadableAnswer):
            parse_fraction(text)
    else:
        assert math.isclose(parse_fraction(text), value)


@pytest.mark.parametrize(
    ("text", "about", "value"),
    [
        ("36.4 %", "utilization in percent", 0.364),
        ("36.4 percent", "utilization in percent", 36.4),
        ("36.4 %", "utilization in %", 36.4),
        ("36.4 %", "the share at 40 % of peak", 0.364),
        ("8.03 billion", "parameters, in billions", 8.03),
        ("8.03B", "parameters", 8.03e9),
        ("12 GB", "memory, in GB", 12.0),
    ],
)
def test_a_question_may_name_the_unit_of_a_number(text: str, about: str, value: float) -> None:
    assert math.isclose(parse_quantity(text, "1", about), value)


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("14 GB", True), ("2*48*128", True), ("1.12e11 B", True), ("1,073,741,824 bytes", True),
        ("2.8\u00d710^10", True), ("(1 + 2) GB", True),
        ("about 37", False), ("37 users", False), ("37 (rounded down)", False), ("1,07 GB", False),
        ("8192 * 131072 B = 1.07 GB", False), ("14 gb", False), ("36 %", False), ("3 400", False),
        ("80 GB / 1.07 GB", False), ("8k", False), ("1'000", False), ("10\u2079", False),
        ("0,512", False), ("37.;", False), ("2 bytes x 1024 tokens = 2 KiB", False),
    ],
)  # fmt: skip
def test_literal_reading_accepts_only_the_documented_notation(text: str, is_read: bool) -> None:
    try:
        parse_quantity(text, "B", "users", literal=True)
    except UnreadableAnswer:
        assert not is_read
    else:
        assert is_read


@given(st.text(max_size=60) | st.text("0123456789.,eE+-*/^()= ~%xBGMks'_", max_size=60))
def test_any_text_is_a_finite_number_or_a_sentence(text: str) -> None:
    for unit in ("1", "B", "tok/s"):
        try:
            value = parse_quantity(text, unit, ABOUT[unit])
        except UnreadableAnswer as refused:
            assert 0 < len(refused.sentence) < 250  # noqa: PT017
        else:
            assert 0 <= value < math.inf


@given(st.text("0123456789.,eE+-*/^() BGMks", max_size=40))
def test_literal_reading_gives_the_same_number(text: str) -> None:
    try:
        value = parse_quantity(text, "B", literal=True)
    except UnreadableAnswer:
        return
    try:
        assert math.isclose(parse_quantity(text, "B"), value) or value == 0
    except UnreadableAnswer as refused:  # 10-12
        assert "may be two numbers" in refused.sentence  # noqa: PT017


@pytest.mark.parametrize(
    ("written", "unit"),
    [
        ("bytes", "B"), ("Byte", "B"), ("seconds", "s"), ("FLOPs", "FLOP"), ("FLOPS", "FLOP/s"),
        ("bytes/s", "B/s"), ("tokens/s", "tok/s"), ("token", "tok"), ("user", "user"),
        ("samples", "sample"), ("B/token", "B/tok"), ("1", "1"), ("GB", ""), ("parsec", ""),
    ],
)  # fmt: skip
def test_an_author_may_spell_a_unit(written: str, unit: str) -> None:
    assert base_unit(written) == unit
    assert not unit or unit in UNITS
