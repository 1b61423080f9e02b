"""Predictions against runs of the machine, and the report against single microseconds."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.harness import Program, ideas_of, load


def script(item: bool = True, workers: int = 0, reduce: bool = True, fused: bool = False) -> float:
    """The ms per step of the script as it came, with repairs."""
    machine = importlib.import_module("machine")
    m = machine.Machine(workers)
    for k in range(14):
        copied = m.copy(m.next_batch())
        for layer in range(12):
            m.fwd(k, layer, copied)
        loss = m.criterion(k)
        for layer in reversed(range(12)):
            m.bwd(k, layer)
            if not reduce:
                m.wait("comm", m.record("gpu"))
                m.all_reduce(k, layer, "comm")
        for layer in reversed(range(12)):
            if reduce:
                m.all_reduce(k, layer)
        m.wait("gpu", m.record("comm"))
        if item:
            m.item(loss)
        m.adam(k, fused=fused)
    assert m.faults == []
    ends = machine.ends(m.events)
    return float(ends[-2] - ends[5]) / 7 / 1000


def test_what_single_repairs_bring(program: Program) -> None:
    found = program.predicted()
    measured = {
        "item": script(item=False), "batch": script(workers=2),
        "both": script(item=False, workers=2), "reduce": script(reduce=False),
        "small": script(fused=True),
    }  # fmt: skip
    assert found == pytest.approx(measured, rel=1e-3)
    assert script() == pytest.approx(58.05, abs=0.01)
    said = {"item": 31.69, "batch": 34.05, "both": 31.44, "reduce": 50.35, "small": 53.74}
    assert measured == pytest.approx(said, abs=0.01)


def pace(m: Any) -> float:
    """The ms per step of a run of 26."""
    ends = importlib.import_module("machine").ends(m.events)
    return float(ends[-2] - ends[4]) / 20 / 1000


def test_a_loss_that_is_read_takes_the_lead_of_the_thread() -> None:
    """Batches that the thread makes cost 4.5 ms a step without the reading, and 23.6 with it."""
    ideas, reference = ideas_of(__file__), Path(__file__).with_name("reference.py").read_bytes()
    by_thread, reads = ideas["made-by-the-thread"], ideas["fetches-each-step"]
    for added, ms in ((b"", 19.9), (reads, 19.9), (by_thread, 24.39), (by_thread + reads, 43.54)):
        m, _ = load(reference + b"\n" + added).train(26)
        assert m.faults == []
        assert pace(m) == pytest.approx(ms, abs=0.01)


def test_what_the_texts_say_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = importlib.import_module("machine").Machine
    kernels = 12 * (machine.forward + machine.backward) + machine.loss
    assert (kernels, 12 * machine.reduce) == (18300, 8400)
    both = script(item=False, workers=2)
    copying = machine.pageable / 1000
    computing = (kernels + 12 * 9 * 4 * machine.small) / 1000 / both
    assert (both - copying) / both == pytest.approx(0.9, abs=0.005)
    assert computing == pytest.approx(0.64, abs=0.005)
    monkeypatch.setattr(machine, "forward", 250)  # a card of twice the speed
    monkeypatch.setattr(machine, "backward", 500)
    monkeypatch.setattr(machine, "loss", 150)
    assert 58.05 - script() == pytest.approx(9, abs=0.2)


def test_a_report_counts_single_microseconds(program: Program) -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        events: list[dict[str, Any]] = []
        for start, n in rng.integers(0, 20, (8, 2)):
            kind = str(rng.choice(["compute", "comm", "copy", "host"]))
            events.append({"kind": kind, "start": int(start), "end": int(start + n)})
        runs = [{e["kind"] for e in events if e["start"] <= t < e["end"]} for t in range(5, 30)]
        assert program.report(events, 5, 30) == {
            "busy": sum("compute" in on for on in runs),
            "exposed": sum("comm" in on and "compute" not in on for on in runs),
            "idle": sum(not on - {"host"} for on in runs),
        }
