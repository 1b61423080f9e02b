"""A report and its document say the same."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.model.report import Grids, Panel, Report
from grader.reports.json import dumps, without_expected_values
from tests.pages import from_json
from tests.reports.scenarios import maxpool_fail
from tests.reports.strategies import reports

_numbers = st.floats(allow_nan=False) | st.integers(-(2**70), 2**70).map(float)


@given(reports(_numbers))
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_report_comes_back_exactly(report: Report) -> None:
    text = dumps(report)
    assert from_json(json.loads(text)) == without_expected_values(report)
    assert text.startswith('{"format": 1,')
    assert text.isascii()
    assert "\n" not in text


def test_values_that_json_lacks_are_written_plainly() -> None:
    figures: dict[str, Any] = {
        "a": math.nan, "b": math.inf, "c": -math.inf, "d": np.float32(0.5), "e": np.int64(3)
    }  # fmt: skip
    grids = Grids((Panel("x", (), frozenset({(1, 0), (0, 2), (0, 1)})),))
    check = replace(maxpool_fail.checks[1], figures=figures, exhibit=grids)
    data = json.loads(dumps(replace(maxpool_fail, checks=(check,))))["checks"][0]
    assert data["figures"] == {"a": "NaN", "b": "inf", "c": "-inf", "d": 0.5, "e": 3}
    assert (data["exhibit"]["kind"], data["verdict"]) == ("grids", "fail")
    assert data["exhibit"]["panels"][0]["wrong"] == [[0, 1], [0, 2], [1, 0]]
