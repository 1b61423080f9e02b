"""A report describes its case well enough to work it by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.explain.session import GradingSession
from grader.grading import exhibits
from grader.model.report import CheckResult, Entries, Grids, Panel
from tests.grading.kinds.one_file import graded, of, opened

pytestmark = pytest.mark.usefixtures("one_zygote")

QUESTION = """\
run:
  y: ["y = scaled(x, w, factor)"]
  share: ["share = shared(total, by, unit='GB')"]
  both: ["low, high = bounds(total)"]
  listed: ["sum = added([total, by])"]
  wide: ["row = scaled(x, w, factor)"]
  given: ["z = weighed(x, unit, offset, missing)"]
defaults: {unit: g, offset: {normal: 2}, missing: ~}
cases:
  small: {about: two rows, x: [[[1.0, 2.0]], [[3.0, 4.0]]], w: [5.0, 6.0], factor: 2}
  large: {x: {normal: [3, 4, 5]}, w: {normal: 5}, factor: 3}
  shares: {about: one to five, total: 1, by: 5}
  row: {x: {ones: [1, 40]}, w: {ones: 40}, factor: 3}
  pair: {x: [1.0, 2.0]}
  heavy: {x: [1.0, 2.0], unit: kg}
checks:
  - {id: scaled, kind: outputs, run: y, of: y, cases: [small, large]}
  - {id: large, kind: outputs, run: y, of: y, cases: large}
  - {id: shared, kind: outputs, run: share, of: share, cases: shares}
  - {id: listed, kind: outputs, run: listed, of: sum, cases: shares}
  - {id: wide, kind: outputs, run: wide, of: row, cases: row}
  - {id: usual, kind: outputs, run: given, of: z, cases: pair}
  - {id: unusual, kind: outputs, run: given, of: z, cases: heavy}
  - {id: bounds, kind: outputs, run: both, of: low, cases: shares}
"""
REFERENCE = """\
def scaled(x, w, factor):
    return factor * x * w

def shared(total, by, unit):
    return total / by

def added(numbers):
    return float(sum(numbers))

def bounds(total):
    return total - 1.0, total + 1.0

def weighed(x, unit, offset, missing):
    return x + offset
"""
WRONG = """\
def scaled(x, w, factor):
    return x * w + (factor - 1) * (x > 3) * x * w

def shared(total, by, unit):
    return total * by

def added(numbers):
    return 0.0

def bounds(total):
    return total + 1.0, total + 1.0

def weighed(x, unit, offset, missing):
    return x - offset
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GradingSession]:
    with opened(tmp_path_factory.mktemp("bank"), QUESTION, REFERENCE) as opened_:
        yield opened_


def failing_check(session: GradingSession, check: str) -> CheckResult:
    result = of(graded(session, WRONG), check)
    assert result.verdict == "fail"
    return result


def panels(result: CheckResult) -> list[Panel]:
    assert isinstance(result.exhibit, Grids)
    return list(result.exhibit.panels)


def test_the_case_is_described_in_its_own_words_and_by_its_inputs(session: GradingSession) -> None:
    result = failing_check(session, "scaled")
    assert result.about == "two rows"
    assert dict(result.inputs) == {"x": "(2, 1, 2)", "w": "(2,)", "factor": "2"}
    assert result.case_line == "two rows: x (2, 1, 2), w (2,), factor 2"


def test_small_arrays_are_all_shown_without_axes_of_length_1(session: GradingSession) -> None:
    all_panels = panels(failing_check(session, "scaled"))
    assert [p.title for p in all_panels] == ["x", "w", "y, yours", "y, expected"]
    x, w, yours, expected = all_panels
    assert (x.rows, x.focus, x.note) == ((("1", "2"), ("3", "4")), frozenset(), "")
    assert w.rows == (("5", "6"),)
    assert expected.rows == (("10", "24"), ("30", "48"))
    assert yours.rows == (("5", "12"), ("15", "48"))
    assert yours.wrong == {(0, 0), (0, 1), (1, 0)}


def test_a_small_result_is_kept_whole_as_numbers(
    session: GradingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    exhibit = failing_check(session, "scaled").exhibit
    assert isinstance(exhibit, Grids)
    expected = (10.0, 24.0, 30.0, 48.0)
    assert exhibit.entries == Entries((2, 1, 2), (5.0, 12.0, 15.0, 48.0), expected, (0, 1, 2))
    monkeypatch.setattr(exhibits, "MAX_ENTRIES", 3)
    exhibit = failing_check(session, "scaled").exhibit
    assert isinstance(exhibit, Grids)
    assert exhibit.entries is None


def test_large_arrays_are_not_all_shown(session: GradingSession) -> None:
    assert [p.title for p in panels(failing_check(session, "large"))] == ["y, yours", "y, expected"]


def test_a_part_of_an_array_says_which_entries_are_shown(session: GradingSession) -> None:
    yours = panels(failing_check(session, "large"))[0]
    assert yours.note.startswith("entries [")
    assert yours.note.endswith(", :, :] of shape (3, 4, 5)")
    assert (len(yours.rows), len(yours.rows[0])) == (4, 5)
    wide = panels(failing_check(session, "wide"))[0]
    assert wide.note == "entries [:, 0:12] of shape (1, 40)"


def test_inputs_that_all_cases_share_are_not_listed(session: GradingSession) -> None:
    result = failing_check(session, "usual")
    assert dict(result.inputs) == {"x": "(2,)", "offset": "(2,)"}
    assert result.case_line == "x (2,), offset (2,)"
    assert failing_check(session, "unusual").inputs["unit"] == "kg"


def test_a_call_with_short_arguments_is_written_out(session: GradingSession) -> None:
    assert failing_check(session, "shared").call == "shared(1, 5, unit='GB')"
    assert failing_check(session, "scaled").call == "", "it is given arrays"
    assert failing_check(session, "listed").call == "", "it is given a list"
    assert failing_check(session, "bounds").call == "", "it returns two results"
