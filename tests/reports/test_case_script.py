"""The file of a case is called so that no script imports it by mistake."""

from __future__ import annotations

import pytest

from grader.reports.case_script import module_name


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("wide-gap", "wide_gap"),
        ("2-rows", "case_2_rows"),
        ("is", "case_is"),
        ("random", "case_random"),
        ("numpy", "case_numpy"),
        ("driver", "case_driver"),
        ("submission", "case_submission"),
    ],
)
def test_a_case_has_a_file_that_nothing_imports(case: str, name: str) -> None:
    assert module_name(case) == name
