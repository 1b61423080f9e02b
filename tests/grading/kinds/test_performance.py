"""Deciding a race from given times: no clock affects these tests."""

# ruff: noqa: E501 a sentence that is compared stands on one line

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest

from grader.grading.kinds.performance import MAX_PAIRS, Race
from grader.model.report import Bars, CheckResult, Verdict
from grader.sandbox.messages import Outcome
from grader.sandbox.remote_program import RemoteProgram
from tests.grading.kinds.grading import Desk, run_check


def race(*ratios: float, allowed: float = 2.0) -> Race:
    run = Race(allowed)
    for ratio in ratios:
        run.add(int(ratio * 1_000_000), 1_000_000)
    return run


@pytest.mark.parametrize(
    ("ratios", "lead", "decided"),
    [
        ((), 0, False),
        ((1.0,), -1, False),
        ((3.0,), 1, False),
        ((2.0,), -1, False),
        ((1.0,) * 4, -4, False),
        ((1.0,) * 5, -5, True),
        ((3.0,) * 5, 5, True),
        ((3.0, 1.0) * 30, 0, False),
        ((3.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0), 5, True),
        ((6.1,) * 3, 6, True),  # clear ones count twice
        ((0.6,) * 2, -4, False),
        ((6.1, 0.6) * 30, 0, False),
    ],
)
def test_one_side_must_lead_by_five(ratios: tuple[float, ...], lead: int, decided: bool) -> None:
    run = race(*ratios)
    assert (run.lead, run.is_decided) == (lead, decided)


def test_a_time_of_zero_does_not_divide_by_zero() -> None:
    run = Race(2.0)
    run.add(5, 0)
    run.add(0, 5)
    assert run.ratios == [5.0, 0.0]
    assert run.spent == 5


@pytest.fixture
def timed(deviations: Desk, monkeypatch: pytest.MonkeyPatch) -> Any:

    def run(
        submission_times: list[int], reference_times: list[int], source: str = "", **changes: Any
    ) -> CheckResult:
        clocks: dict[bool, Iterator[int]] = {
            True: cycle(submission_times),
            False: cycle(reference_times),
        }
        real = RemoteProgram.run_timed

        def clocked(self: RemoteProgram, steps: Any, inputs: Any, want: Any) -> tuple[Outcome, int]:
            outcome, _ = real(self, steps, inputs, want)
            return outcome, next(clocks[self.name == "submission"]) if steps else 100

        with monkeypatch.context() as patch:
            patch.setattr(RemoteProgram, "run_timed", clocked)
            return deviations.result("speed", source, **changes)

    return run


def test_a_slow_submission_fails_with_bars(timed: Any) -> None:
    result = timed([120_100], [1_100], at_most=50.0)
    assert result.verdict is Verdict.FAIL
    assert result.message == "120x the reference's CPU time, 50x allowed in case rows"
    assert isinstance(result.exhibit, Bars)
    assert [(b.label, b.text) for b in result.exhibit.bars] == [
        ("yours", "120x"),
        ("allowed", "50x"),
    ]


@pytest.mark.parametrize(
    ("submission_times", "reference_times", "at_most", "message"),
    [
        ([1_100], [2_100], 50.0, "0.50x the reference's CPU time, 50x allowed"),
        ([3_100, 1_100], [1_100], 2.0, "2.0x the reference's CPU time, 2.0x allowed; too close to call in rows"),
        # The exchange itself is taken off both sides.
        ([2_100], [1_100], 1.9, "2.0x the reference's CPU time, 1.90x allowed in case rows"),
        # Slow code need not prove it sixty times.
        ([10**9, 4 * 10**9, 10**9], [10**9], 2.0, "1.00x the reference's CPU time, 2.0x allowed; too close to call in rows"),
    ],
)  # fmt: skip
def test_a_race_is_described_in_one_sentence(
    timed: Any,
    submission_times: list[int],
    reference_times: list[int],
    at_most: float,
    message: str,
) -> None:
    assert timed(submission_times, reference_times, at_most=at_most).message == message


def test_a_fast_wrong_answer_fails(timed: Any) -> None:
    source = "def centre(x, w):\n    return w * 0, (x, w)\n"
    result = timed([1_100], [100_100], source)
    assert result.verdict not in {Verdict.PASS, Verdict.INCONCLUSIVE}
    assert result.message.startswith("grad_w is wrong") or result.message.startswith("y is wrong")


def test_an_answer_that_is_wrong_only_later_fails(timed: Any) -> None:
    source = (
        "calls = []\ndef centre(x, w):\n    calls.append(1)\n    d = _centred(x)\n"
        "    return w * d * (len(calls) < 4), (d, np.array(w))\n"
    )
    result = timed([3_100, 1_100], [1_100], source, at_most=2.0)
    assert result.verdict is Verdict.FAIL


def test_every_pair_runs_on_fresh_inputs_that_both_sides_get(
    deviations: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, bytes]] = []
    real = RemoteProgram.run_timed

    def watched(self: RemoteProgram, steps: Any, inputs: Any, want: Any) -> tuple[Outcome, int]:
        if steps:
            calls.append((self.name, inputs["grad_y"]["value"].tobytes()))
        return real(self, steps, inputs, want)[0], 100 + len(calls) % 3

    monkeypatch.setattr(RemoteProgram, "run_timed", watched)
    evaluation = deviations.evaluation()
    check = deviations.check("speed", cases="rows", at_most=1.0)
    run_check(evaluation, check)
    pairs = [calls[i : i + 2] for i in range(0, len(calls), 2)]
    assert 5 <= len(pairs) <= MAX_PAIRS
    names = {"submission", "reference of deviations"}
    assert all({name for name, _ in pair} == names for pair in pairs)
    assert all(len({data for _, data in pair}) == 1 for pair in pairs)
    assert len({data for _, data in calls}) == len(pairs)
    assert [pair[0][0] == "submission" for pair in pairs[:3]] == [True, False, True]
