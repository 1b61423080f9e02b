"""Pictures: what is drawn, that it is bounded, and that nothing in it acts."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.grading import exhibits
from grader.model.report import Bar, Bars, Curve, Entries, Exhibit, Grids, Panel, Report
from grader.reports.blocks import Block, Paragraph, Picture, render_html, render_terminal
from grader.reports.exhibits import exhibit_blocks
from grader.reports.grade import GradeContext, grade_page
from grader.reports.html import html_fragment, standalone_page
from tests.classroom.builders import HOSTILE, Page
from tests.reports.scenarios import SCENARIOS
from tests.reports.strategies import reports

FETCHING = {"src", "href", "xlink:href", "data", "action", "background", "srcset", "poster"}


def drawn(shown: Exhibit, bound: str = "") -> str:
    return render_html(exhibit_blocks(shown, bound=bound))


def harmless(content: str) -> Page:
    """What is in a page, once it is sure that it is well nested, runs and fetches nothing."""
    found = Page.of(content)
    assert (found.open, found.wrong) == ([], [])
    assert not found.tags.keys() & {"script", "img", "link", "iframe", "use", "image", "a"}
    for _, name, value in found.attributes:
        assert name not in FETCHING
        assert not name.startswith("on")
        assert "url(" not in value
    assert "@import" not in content
    assert "url(" not in content.partition("</style>")[0]
    return found


def grids(shape: tuple[int, ...], *, off: dict[int, float] | None = None, base: float = 1) -> Grids:
    """A result 1, -2, 3, -4 ... with some entries off."""
    right = tuple(base * (n + 1) * (-1.0) ** n for n in range(math.prod(shape)))
    off = {0: base} if off is None else off
    mine = tuple(value + off.get(n, 0.0) for n, value in enumerate(right))
    panels = (Panel("y, yours", (("1",),)), Panel("y, expected", (("1",),)))
    return Grids(panels, Entries(shape, mine, right, tuple(off)))


def maps(content: str) -> list[str]:
    """The drawings of arrays, each."""
    return re.findall(r"<svg width.*?</svg>", content)


def texts(drawing: str) -> list[str]:
    return re.findall(r'class="number">([^<]*)<', drawing)


def shades(drawing: str, kind: str) -> list[float]:
    return [float(n) for n in re.findall(rf'class="{kind}" fill-opacity="([\d.]+)"', drawing)]


def test_a_small_result_is_drawn_next_to_the_expected_one_and_the_difference_with_numbers() -> None:
    x = Panel("x", (("7", "8"),), focus=frozenset({(0, 1)}))
    small = replace(grids((2, 2)), panels=(x, *grids((2, 2)).panels))
    given, mine, right, off = maps(drawn(small))
    assert [re.findall("<title>(.*)</title>", one) for one in (given, mine, right, off)] == [
        ["x"], ["y, yours"], ["y, expected"], ["yours - expected"],
    ]  # fmt: skip
    assert texts(given) == ["7", "8"]
    assert texts(mine) == ["2", "-2", "3", "-4"]
    assert texts(right) == ["1", "-2", "3", "-4"]
    assert texts(off) == ["1", "", "", ""]  # within what is allowed
    framed = ["M" in line for one in (given, mine, right, off)
              for line in re.findall('class="frame" d="(M[^"]*)"', one)]  # fmt: skip
    assert len(framed) == 2  # the window of x, and what is wrong
    assert "<pre>" not in drawn(small)  # nothing is said twice
    assert len({re.findall(r"h(\d+)", one)[0] for one in (mine, right, off)}) == 1  # one width
    # One scale for both, another for the difference: 1 is its deepest.
    assert max(shades(right, "below")) == max(shades(mine, "below")) == 0.6
    assert shades(right, "above")[0] < 0.6
    assert shades(off, "above") == [0.6]


def test_numbers_below_zero_have_a_dash_if_no_number_is_printed() -> None:
    mine, right, off = maps(drawn(grids((20, 10), off={3: 2.0, 7: -2.0})))
    assert not texts(mine)
    dashes = re.findall('class="mark" d="([^"]*)"', right)
    assert dashes[0].count("M") == 100
    assert re.findall('class="mark" d="([^"]*)"', off)[0].count("M") == 1
    page = harmless(drawn(grids((20, 10))))
    assert "below zero, with a dash" in page.text


def test_nan_and_infinities_are_marked() -> None:
    odd = {0: math.nan, 1: math.inf, 2: -math.inf}
    small, large = drawn(grids((2, 2), off=odd)), drawn(grids((20, 20), off=odd))
    assert texts(maps(small)[0])[:3] == ["NaN", "inf", "-inf"]
    assert 'class="odd"' in maps(small)[0]
    assert 'class="odd"' not in maps(small)[1]
    assert maps(large)[0].count("l12 12m0 -12l-12 12") == 3  # crosses
    assert "NaN or infinity" in Page.of(small).text
    assert "NaN" not in Page.of(drawn(grids((2, 2)))).text


@pytest.mark.parametrize(
    ("shape", "planes"),
    [((), 0), ((3,), 0), ((1, 1, 1), 0), ((1, 4, 1), 0), ((2, 1, 2, 2), 2), ((2, 2, 2, 2), 4)],
)
def test_any_number_of_axes_becomes_planes_of_the_last_two(
    shape: tuple[int, ...], planes: int
) -> None:
    mine = maps(drawn(grids(shape)))[0]
    assert len(texts(mine)) == math.prod(shape)
    assert len(re.findall(r">\[[\d, ]+\]</text>", mine)) == planes


def test_the_size_of_a_picture_is_bounded_for_large_results() -> None:
    many = exhibits.MAX_ENTRIES
    for shape in [(many,), (many, 1), (many // 2, 1, 2), (2,) * 9, (many // 8, 8)]:
        content = drawn(grids(shape, off=dict.fromkeys(range(0, many, 2), 1.0)))
        assert 0 < len(content) < 90_000
        sides = [int(n) for n in re.findall(r'<svg width="(\d+)" height="(\d+)"', content)[0]]
        assert max(sides) < 10_000
        assert "<pre>" in content  # the numbers near the worst one
    assert "<svg" not in drawn(replace(grids((2, 2)), entries=None))


@pytest.mark.parametrize("base", [1e308, 5e-324, 0.0])
def test_numbers_of_any_size_are_drawn(base: float) -> None:
    assert maps(drawn(grids((2, 3), base=base)))
    harmless(drawn(Curve((base, -base, base), (0.0, base, base))))


@pytest.mark.parametrize(
    "entries",
    [
        Entries((0,), (), (), ()), Entries((2, 0), (), (), ()), Entries((2,), (1.0,), (1.0,), (0,)),
        Entries((-1, -1), (1.0,), (2.0,), (0,)), Entries((10**6,), (1.0,), (2.0,), (0,)),
    ],
)  # fmt: skip
def test_entries_that_fit_no_shape_are_shown_as_text(entries: Entries) -> None:
    assert "<svg" not in drawn(replace(grids((1,)), entries=entries))
    assert "<svg" not in drawn(Grids((), entries))


def test_bars_are_cut_at_the_budget_and_followed_by_the_kept_tensors() -> None:
    bars = (Bar("yours", 400.0, "400 bytes"), Bar("allowed", 100.0, "100 bytes"))
    content = drawn(Bars(bars, ("x (5, 5) float32  300 bytes", "y  100 bytes", "unknown")))
    rows = re.findall("<tr>.*?</tr>", content)
    assert [Page.of(row).text for row in rows] == [
        "yours400 bytes", "allowed100 bytes", "kept by yoursx (5, 5) float32  300 bytes",
        "y  100 bytes", "unknown",
    ]  # fmt: skip
    pieces = [re.findall(r'"(within|beyond)" x="([\d.]+)%"[^>]* width="([\d.]+)%', r) for r in rows]
    assert pieces == [
        [("within", "0.00", "25.00"), ("beyond", "25.00", "75.00")], [("within", "0.00", "25.00")],
        [("within", "0.00", "25.00"), ("beyond", "25.00", "50.00")],
        [("beyond", "75.00", "25.00")], [],
    ]  # fmt: skip
    assert content.count('class="bound" x1="25.00%"') == 5


def test_the_bytes_held_until_a_peak_are_a_curve_below_the_bars() -> None:
    bars = (Bar("yours", 4e6, "4,000,000 bytes"), Bar("allowed", 3e6, "3,000,000 bytes"))
    content = drawn(Bars(bars, ("(5, 5) float32  4,000,000 bytes",), ((1e6, 4e6, 2e6), (1e6, 2e6))))
    assert "held at your peak" in content
    assert content.count('class="plot"') == 1
    text = Page.of(content).text
    assert "Millions of bytes held, from the first operation to the last" in text
    assert "yours, ends at 2.000; " in text
    assert "a right one, ends at 2.000; " in text
    assert "below 3" in text
    for course in ((), ((1.0,),), ((), ()), ((math.nan,), (math.inf,)), ((1.0,),) * 3):
        assert 'class="plot"' not in drawn(Bars(bars, (), course))


def test_bars_of_strange_lengths() -> None:
    values = [0.0, math.nan, math.inf, -3.0, 2.0]
    content = drawn(Bars(tuple(Bar(str(n), value, "text") for n, value in enumerate(values))))
    assert re.findall(r'width="([\d.a-z]+)%', content) == ["100.00", "100.00"]
    assert "<svg" not in drawn(Bars((Bar("yours", 0.0, "0"),)))
    assert drawn(Bars((), (", bytes", "9" * 500 + " bytes")))


def test_a_curve_is_drawn_with_the_right_one_and_the_bound() -> None:
    curve = Curve(tuple(1 / (n + 1) for n in range(50)), tuple(10.0**-n for n in range(50)))
    content = drawn(curve, "below 1.000e-8")
    found = harmless(content)
    assert "yours, ends at 0.02000; a right one, ends at 1.000e-49;" in " ".join(found.text.split())
    assert "below 1.000e-8; upward in powers of ten" in " ".join(found.text.split())
    assert content.count('class="bound"') == 2  # the line, and what it means
    (level,) = re.findall(r'class="bound" d="M0 ([\d.]+)h0L100 \1"', content)
    assert float(level) == pytest.approx(96 - 92 * 41 / 49, abs=0.01)
    assert "dots" not in content
    assert "step 0" in found.text
    assert "<table>" in content  # with its numbers
    short = drawn(Curve((0.2, 0.3), (0.8, 0.9)), "above 0.7950")
    assert short.count("dots") == 2
    assert "powers" not in short


def test_a_curve_has_gaps_at_nan_and_is_thinned_if_it_is_long() -> None:
    broken = drawn(Curve((1.0, math.nan, 3.0, math.inf), (1.0, 1.0, 1.0, 1.0)))
    (path,) = re.findall('class="yours" d="(M[^"]*)"/><path class="yours dots"', broken)
    assert path.count("M") == 2
    assert len(drawn(Curve(tuple(range(10**5)), (0.0,) * 10**5))) < 20_000
    for none in (Curve((), ()), Curve((math.nan,), ())):
        assert "<figure>" not in drawn(none)


@pytest.mark.parametrize("text", HOSTILE)
def test_text_in_a_picture_is_escaped(text: str) -> None:
    panels = (
        Panel(text, ((text, "1"), ("2",)), note=text), Panel(f"{text}, yours", ((text,),)),
        Panel(f"{text}, expected", ((text,),), note=text),
    )  # fmt: skip
    entries = Entries((1, 2), (1.0, 2.0), (1.0, 3.0), (1,))
    shown: list[Exhibit] = [
        Grids(panels, entries), Grids(panels), Curve((1.0, 2.0), (1.0, 1.0)),
        Bars((Bar(text, 2.0, text), Bar("allowed", 1.0, text)), (text, f"{text}  9 bytes")),
    ]  # fmt: skip
    for one in shown:
        for content in (
            drawn(one, text),
            html_fragment(exhibit_blocks(one)),
            "".join(standalone_page(text, exhibit_blocks(one))),
        ):
            page = harmless(content)
            assert page.tags["h1"] < 2
            assert content.encode()


@given(reports(st.floats()), st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_report_is_a_page_that_runs_and_fetches_nothing(report: Report, full: bool) -> None:
    harmless("".join(standalone_page(report.title, grade_page(report, GradeContext(full=full)))))


def test_the_page_of_every_scenario_shows_the_verdict_and_stands_alone() -> None:
    for report in SCENARIOS.values():
        content = "".join(standalone_page(report.title, grade_page(report, GradeContext())))
        found = harmless(content)
        assert found.tags["h1"] == 1
        said = found.text.split()
        assert report.verdict.upper() in said or "PASS" in said  # of a part
        policy = {value for _, _, value in found.attributes if "default-src" in value}
        assert policy == {"default-src 'none'; style-src 'unsafe-inline'"}


def test_a_picture_has_a_text_for_readers_who_do_not_see_it() -> None:
    panels = (Panel("y, yours", (("4",),), frozenset({(0, 0)})), Panel("y, expected", (("5",),)))
    grid = Grids(panels, Entries((1, 1), (4.0,), (5.0,), (0,)))
    label = 'role="img" aria-label="y, row 0, column 0: yours 4, expected 5."'
    assert label in drawn(grid)


def test_a_picture_is_html_on_an_html_page_and_blocks_elsewhere() -> None:
    def draw(*given: Any) -> str:
        return repr(given)

    blocks: tuple[Block, ...] = (Picture(draw, (Paragraph("a <b>"),)),)
    assert render_html(blocks) == repr(("a <b>\n", "<p>a &lt;b&gt;</p>\n"))
    assert render_terminal(blocks, 60) == ["a <b>"]
