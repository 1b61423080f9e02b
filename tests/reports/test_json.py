"""A report and its document say the same."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.model.report import Grids, Panel, Report
from grader.reports.json import dumps, to_json, withheld
from tests.reports import scenarios
from tests.reports.decoding import from_json
from tests.reports.scenarios import SCENARIOS
from tests.reports.strategies import reports

_numbers = st.floats(allow_nan=False) | st.integers(-(2**70), 2**70).map(float)


@given(reports(_numbers))
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_report_comes_back_exactly(report: Report) -> None:
    text = dumps(report)
    assert from_json(json.loads(text)) == withheld(report)
    assert text.isascii()
    assert "\n" not in text


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_comes_back_and_writes_the_same(name: str) -> None:
    text = dumps(SCENARIOS[name])
    assert json.loads(dumps(from_json(json.loads(text)))) == json.loads(text)


def test_the_format_comes_first_and_an_exhibit_carries_its_kind() -> None:
    data = to_json(scenarios.maxpool_fail)
    assert next(iter(data)) == "format"
    routing = json.loads(dumps(scenarios.maxpool_fail))["checks"][1]
    assert routing["exhibit"]["kind"] == "grids"
    assert routing["verdict"] == "fail"


def test_sets_are_sorted_lists() -> None:
    marks = frozenset({(1, 0), (0, 2), (0, 1)})
    check = replace(scenarios.maxpool_fail.checks[1], exhibit=Grids((Panel("x", (), marks),)))
    data = json.loads(dumps(replace(scenarios.maxpool_fail, checks=(check,))))
    assert data["checks"][0]["exhibit"]["panels"][0]["wrong"] == [[0, 1], [0, 2], [1, 0]]


def test_what_is_not_finite_is_text_and_comes_back() -> None:
    figures = {"a": math.nan, "b": math.inf, "c": -math.inf}
    check = replace(scenarios.maxpool_fail.checks[1], figures=figures)
    data = json.loads(dumps(replace(scenarios.maxpool_fail, checks=(check,))))
    assert data["checks"][0]["figures"] == {"a": "NaN", "b": "inf", "c": "-inf"}
    back = from_json(data).checks[0].figures
    assert math.isnan(back["a"])
    assert (back["b"], back["c"]) == (math.inf, -math.inf)


def test_numpy_figures_are_numbers() -> None:
    figures: dict[str, Any] = {"a": np.float32(0.5), "b": np.int64(3), "c": np.float64("nan")}
    check = replace(scenarios.maxpool_fail.checks[1], figures=figures)
    data = json.loads(dumps(replace(scenarios.maxpool_fail, checks=(check,))))
    assert data["checks"][0]["figures"] == {"a": 0.5, "b": 3, "c": "NaN"}


def test_a_lone_surrogate_can_be_written() -> None:
    report = replace(scenarios.maxpool_fail, printed="\ud800")
    assert from_json(json.loads(dumps(report))) == report
