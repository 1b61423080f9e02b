"""The estimates of `decode-on-paper`: by hand, and as people round them."""

from __future__ import annotations

import pytest

from grader.explain.session import GradingSession
from grader.model.report import Report, Verdict
from tests.harness import Program, named

NUMBERS = (
    "kv_token = {}\nkv_total = {}\ndecode_intensity = {}\ndecode_time = {}\nprefill_time = {}\n"
)
ESTIMATES = {
    "": ("96 KiB", "28.3 GB", "17.2 FLOP/B", "17.3 ms", "431 ms"),
    "query-heads": ("480 KiB", "141.6 GB", "5.8 FLOP/B", "51 ms", "0.431 s"),
    "keys-only": ("48 KiB", "14.2 GB", "22.7 FLOP/B", "13 ms", "0.431 s"),
    "cache-in-bf16": ("192 KiB", "56.6 GB", "11.5 FLOP/B", "25.7 ms", "0.431 s"),
    "one-layer": ("2 KiB", "590 MB", "32.9 FLOP/B", "9.01 ms", "0.431 s"),
    "one-sequence": ("96 KiB", "1.18 GB", "17.2 FLOP/B", "17.3 ms", "0.431 s"),
    "gib-labelled-gb": ("96 KiB", "26.4 GB", "17.2 FLOP/B", "17.3 ms", "0.431 s"),
    "gb-labelled-gib": ("96 KiB", "28.3 GiB", "17.2 FLOP/B", "17.3 ms", "0.431 s"),
    "cache-not-read": ("96 KiB", "28.3 GB", "33.6 FLOP/B", "8.84 ms", "0.431 s"),
    "weights-per-sequence": ("96 KiB", "28.3 GB", "1.345 FLOP/B", "220 ms", "0.431 s"),
    "decode-by-peak": ("96 KiB", "28.3 GB", "17.2 FLOP/B", "1.005 ms", "0.431 s"),
    "attention-not-counted": ("96 KiB", "28.3 GB", "12.3 FLOP/B", "17.3 ms", "359 ms"),
    "attention-by-key-value-heads": ("96 KiB", "28.3 GB", "13.2 FLOP/B", "17.3 ms", "0.373 s"),
    "scores-alone": ("96 KiB", "28.3 GB", "14.7 FLOP/B", "17.3 ms", "0.395 s"),
    "prefill-without-a-mask": ("96 KiB", "28.3 GB", "17.2 FLOP/B", "17.3 ms", "0.502 s"),
    "one-flop-per-weight": ("96 KiB", "28.3 GB", "8.58 FLOP/B", "17.3 ms", "0.215 s"),
    "sparse-peak": ("96 KiB", "28.3 GB", "17.2 FLOP/B", "17.3 ms", "0.215 s"),
    "bits-for-bytes": ("96 KiB", "28.3 GB", "17.2 FLOP/B", "138 ms", "0.431 s"),
}


def graded(session: GradingSession, texts: tuple[str, ...]) -> Report:
    return session.grade(NUMBERS.format(*texts).encode(), seed=11, filename="answers.txt")


@pytest.mark.parametrize("idea", ESTIMATES)
def test_estimates_as_people_round_them_are_named(idea: str, session: GradingSession) -> None:
    report = graded(session, ESTIMATES[idea])
    assert report.verdict is (Verdict.FAIL if idea else Verdict.PASS)
    assert named(report) == ({idea} if idea else set())
    assert all(one.rounded for one in report.misconceptions)


@pytest.mark.parametrize(
    "texts",
    [
        ("98 B", "28.3 GB", "17.2 FLOP/B", "17.3 ms", "431 ms"),  # a thousand times too small
        ("96 KiB", "29.3 GB", "17.2 FLOP/B", "17.3 ms", "431 ms"),  # rounded too far
        ("96 KiB", "28.3 GB", "295 FLOP/B", "17.3 ms", "431 ms"),  # the ridge of the card
        ("96 KiB", "28.3 GB", "17.2 FLOP/B", "17.3 s", "431 ms"),
        ("96 KiB", "28.3 GB", "17.2 FLOP/B", "17.3 ms", "0.0000299 s"),  # of one token
        ("0 B", "0 B", "0 FLOP/B", "0 s", "0 s"),
    ],
)
def test_other_wrong_estimates_are_given_no_name(
    texts: tuple[str, ...], session: GradingSession
) -> None:
    report = graded(session, texts)
    assert report.verdict is Verdict.FAIL
    assert named(report) == set()


def test_the_figures_of_the_estimate(reference: Program) -> None:
    """Bytes by hand: 2 * 48 * 8 * 128, times 288,000 tokens; the rest by division."""
    shape = (48, 40, 8, 128, 12_000, 24)
    assert reference.cache(*shape) == {"kv_token": 98_304, "kv_total": 98_304 * 288_000}
    decode = reference.decode(*shape, 14_800_000_000)
    read = 29.6e9 + 28.311552e9
    # The loops that attention is: a score has `head` products, and so has its share of an average.
    one_token = sum(2 * 2 * 128 * 12_000 for _layer in range(48) for _head in range(40))
    assert round(one_token / 1e9, 1) == 11.8
    assert round((29.6e9 + one_token) / 1e9, 1) == 41.4
    assert one_token * 24 / 28.311552e9 == pytest.approx(10, rel=0.01)
    flop = 24 * (29.6e9 + one_token)
    assert decode == pytest.approx({"decode_intensity": flop / read, "decode_time": read / 3.35e12})
    assert 989e12 / 3.35e12 / decode["decode_intensity"] == pytest.approx(17, abs=0.5)
    seen = sum(range(1, 12_001))
    flop = 355.2e12 + 48 * 40 * 2 * 2 * 128 * seen
    found = reference.prefill(48, 40, 8, 128, 12_000, 14_800_000_000)
    assert found["prefill_time"] == pytest.approx(flop / 989e12)
