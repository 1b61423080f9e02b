"""Panels, tables and bars: what is marked, what is cut, and that the cut is announced."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from grader.model.report import Bar, Bars, Breakdown, Grids, Panel, Row
from grader.reports import sheet
from grader.reports.blocks import render_terminal
from grader.reports.figures import figure, grid_lines, shown_columns
from grader.reports.sheet import Line


def plain(lines: Iterable[Line]) -> list[str]:
    """The lines without style."""
    return [sheet.plain(line).rstrip() for line in lines]


def table(breakdown: Breakdown | Bars, *, most: int = 9, hidden: bool = False) -> list[str]:
    return plain(render_terminal([*figure(breakdown, most=most, hidden=hidden)], 80))


def panel(rows: int, columns: int, **marks: frozenset[tuple[int, int]]) -> Panel:
    """A panel whose entries say where they are."""
    cells = tuple(tuple(f"{r}.{c}" for c in range(columns)) for r in range(rows))
    return Panel("a", cells, **marks)  # type: ignore[arg-type]


def test_a_wrong_entry_has_a_star_and_the_focus_brackets() -> None:
    marks = panel(2, 3, wrong=frozenset({(0, 2)}), focus=frozenset({(1, 0), (1, 1)}))
    assert plain(grid_lines(Grids((marks,)), 80)) == [
        "    a",
        "      .0   .1   .2*",
        "    [1.0  1.1] 1.2",
    ]


def test_a_focus_on_everything_is_left_out() -> None:
    whole = panel(1, 2, focus=frozenset({(0, 0), (0, 1)}))
    assert plain(grid_lines(Grids((whole,)), 80)) == ["    a", "    .0  .1"]


def test_only_a_leading_zero_of_a_fraction_is_dropped() -> None:
    cells = Panel("a", (("0.5", "-0.25", "0", "10.5", "-0", "1e-9", "0x1"),))
    assert plain(grid_lines(Grids((cells,)), 80))[1].split() == [
        ".5",
        "-.25",
        "0",
        "10.5",
        "-0",
        "1e-9",
        "0x1",
    ]


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


def test_yours_stays_beside_expected_when_three_do_not_fit() -> None:
    three = [Panel(t, panel(3, 5).rows) for t in ("x", "y, yours", "y, expected")]
    lines = plain(grid_lines(Grids(tuple(three)), 60))
    assert any("y, yours" in line and "y, expected" in line for line in lines)
    assert not any("x" in line.split() and "yours" in line for line in lines)


def test_rows_of_uneven_length_and_empty_panels_are_survived() -> None:
    assert grid_lines(Grids(()), 80) == []
    assert grid_lines(Grids((Panel("a", ()),)), 80) == []
    assert plain(grid_lines(Grids((Panel("a", ((),)),)), 80))[0] == "    a"
    ragged = Panel("a", (("1",), ("2", "3")), wrong=frozenset({(0, 5), (9, 9)}))
    assert plain(grid_lines(Grids((ragged,)), 80))[2].split() == ["2", "3"]


def test_a_clip_never_leaves_the_array() -> None:
    for total in range(1, 30):
        for at in range(total):
            one = panel(1, total, focus=frozenset({(0, at)}))
            part = shown_columns(one, [one], 5)
            assert at in part
            assert len(part) == min(total, 5)
            assert part.stop <= total


def test_a_focus_larger_than_the_clip_is_shown_from_its_beginning() -> None:
    one = panel(1, 60, focus=frozenset((0, c) for c in range(10, 40)))
    assert shown_columns(one, [one], 5) == range(10, 15)


def test_a_part_that_differs_without_a_note_says_so() -> None:
    lines = table(Breakdown((Row("w", "1", "2"), Row("v", "1", "1"))))
    assert lines[1].endswith("differs")
    assert lines[2].endswith("1")


def test_of_a_long_breakdown_the_wrong_parts_are_shown() -> None:
    rows = [Row(f"part{n}", "1", "1") for n in range(40)] + [Row("bad", "0", "1", "missing")]
    lines = table(Breakdown(tuple(rows)))
    assert len(lines) == 3
    assert "missing" in lines[1]
    assert lines[2].strip() == "... 40 parts agree"


def test_what_is_right_of_an_estimate_is_hidden() -> None:
    rows = Breakdown((Row("w", "1 GB", "2 GB", "half"), Row("v", "1 GB", "1 GB")))
    lines = table(rows, hidden=True)
    assert [line.split() for line in lines[1:]] == [["w", "1", "GB", "no"], ["v", "1", "GB", "yes"]]


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
