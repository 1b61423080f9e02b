"""Panels, tables and bars: what is marked, what is cut, and that the cut is announced."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.model.report import Bar, Bars, Breakdown, BreakdownRow, Grids, Panel
from grader.reports import text_layout
from grader.reports.blocks import render_terminal
from grader.reports.exhibits import exhibit_blocks, grid_lines, shown_columns
from grader.reports.text_layout import Line


def plain(lines: Iterable[Line]) -> list[str]:
    """The lines without style."""
    return [text_layout.without_styles(line).rstrip() for line in lines]


def table(breakdown: Breakdown | Bars, *, most: int = 9, hidden: bool = False) -> list[str]:
    return plain(render_terminal([*exhibit_blocks(breakdown, most=most, hidden=hidden)], 80))


def panel(rows: int, columns: int, **marks: frozenset[tuple[int, int]]) -> Panel:
    """A panel whose entries say where they are."""
    cells = tuple(tuple(f"{r}.{c}" for c in range(columns)) for r in range(rows))
    return Panel("a", cells, **marks)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shown", "lines"),
    [
        (
            panel(2, 3, wrong=frozenset({(0, 2)}), focus=frozenset({(1, 0), (1, 1)})),
            ["    a", "      .0   .1   .2*", "    [1.0  1.1] 1.2"],
        ),
        # A focus on everything is left out.
        (panel(1, 2, focus=frozenset({(0, 0), (0, 1)})), ["    a", "    .0  .1"]),
        # Only a leading zero of a fraction is dropped.
        (
            Panel("a", (("0.5", "-0.25", "0", "10.5", "-0", "1e-9", "0x1"),)),
            ["    a", "    .5  -.25  0  10.5  -0  1e-9  0x1"],
        ),
        (Panel("a", ()), []),
        (Panel("a", ((),)), ["    a", ""]),
        (
            Panel("a", (("1",), ("2", "3")), wrong=frozenset({(0, 5), (9, 9)})),
            ["    a", "    1", "    2  3"],
        ),
    ],
)
def test_a_panel_reads_with_its_marks(shown: Panel, lines: list[str]) -> None:
    assert plain(grid_lines(Grids((shown,)), 80)) == lines


def test_a_wide_panel_is_clipped_around_its_focus_and_says_so() -> None:
    big = panel(5, 60, focus=frozenset({(2, 30)}))
    lines = plain(grid_lines(Grids((big,)), 80))
    assert any("[2.30]" in line for line in lines)
    assert lines[3].startswith("    ... ")
    assert lines[3].endswith(" ...")
    assert all(len(line) <= 80 for line in lines)


def test_panels_of_one_width_are_clipped_alike() -> None:
    yours = panel(4, 50, wrong=frozenset({(1, 40)}))
    lines = plain(grid_lines(Grids((yours, panel(4, 50))), 80))
    row = next(line for line in lines if "1.40*" in line)
    assert row.count("1.41") == 2


def test_yours_stays_next_to_expected_if_three_panels_do_not_fit() -> None:
    three = [Panel(t, panel(3, 5).rows) for t in ("x", "y, yours", "y, expected")]
    lines = plain(grid_lines(Grids(tuple(three)), 60))
    assert any("y, yours" in line and "y, expected" in line for line in lines)
    assert not any("x" in line.split() and "yours" in line for line in lines)


def test_a_clip_never_leaves_the_array() -> None:
    for total in range(1, 30):
        for at in range(total):
            one = panel(1, total, focus=frozenset({(0, at)}))
            part = shown_columns(one, [one], 5)
            assert at in part
            assert len(part) == min(total, 5)
            assert part.stop <= total
    # A focus larger than the clip is shown from its beginning.
    one = panel(1, 60, focus=frozenset((0, c) for c in range(10, 40)))
    assert shown_columns(one, [one], 5) == range(10, 15)


_SOME = (BreakdownRow("w", "1 GB", "2 GB", "half"), BreakdownRow("v", "1 GB", "1 GB"))


@pytest.mark.parametrize(
    ("rows", "hidden", "lines"),
    [
        (
            (BreakdownRow("w", "1", "2"), BreakdownRow("v", "1", "1")),
            False,
            ["w 1 2 differs", "v 1 1"],
        ),
        # Of a long breakdown the wrong parts are shown.
        (
            (*[BreakdownRow("part", "1", "1")] * 40, BreakdownRow("bad", "0", "1", "missing")),
            False,
            ["bad 0 1 missing", "... 40 parts agree"],
        ),
        # What is right of an estimate is hidden.
        (_SOME, True, ["w 1 GB wrong", "v 1 GB right"]),
    ],
)
def test_a_breakdown_reads(rows: tuple[BreakdownRow, ...], hidden: bool, lines: list[str]) -> None:
    found = table(Breakdown(rows), hidden=hidden)
    assert [" ".join(line.split()) for line in found[1:]] == lines


def test_bars_are_in_proportion_and_survive_strange_values() -> None:
    values = {"a": 100.0, "b": 50.0, "c": 0.001, "d": 0.0, "e": float("nan"), "f": float("inf")}
    bars = Bars(tuple(Bar(name, value, str(value)) for name, value in values.items()))
    counts = [line.count("#") for line in table(bars)]
    assert counts == [20, 10, 1, 0, 0, 20]
    assert table(Bars(())) == []
    assert table(Bars((Bar("a", 0.0, "0"),)))[0].count("#") == 0


def test_many_details_are_counted() -> None:
    lines = table(Bars((), tuple(f"tensor {n}" for n in range(20))), most=8)
    assert lines[-1].strip() == "... and 12 more"


_entries = st.frozensets(st.tuples(st.integers(0, 13), st.integers(0, 30)), max_size=40)
_cell = st.sampled_from(["0", "0.125", "-0.5", "NaN", "-inf", "1.234e-7", "100000"])


@given(
    st.integers(1, 14),
    st.integers(1, 31),
    _cell,
    _entries,
    _entries,
    st.integers(1, 3),
    st.integers(40, 200),
)
@settings(max_examples=80, deadline=None)
def test_any_panels_fit_and_their_marks_balance(
    rows: int,
    columns: int,
    cell: str,
    wrong: frozenset[tuple[int, int]],
    focus: frozenset[tuple[int, int]],
    many: int,
    width: int,
) -> None:
    one = Panel("a", ((cell,) * columns,) * rows, wrong, focus)
    lines = plain(grid_lines(Grids((one,) * many), width))
    assert all(len(line) <= width for line in lines)
    for line in lines:
        assert line.count("[") == line.count("]")
        assert "*[" not in line
        assert "][" not in line
