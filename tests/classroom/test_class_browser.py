"""The page of a class as a browser lays it out: wide, narrow, light, dark, and on paper."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.findings import find
from grader.model.verdict import Verdict
from grader.reports.class_page import class_page
from tests.classroom import browser
from tests.classroom.making import TERMS, attempts, entry, named, report
from tests.reports.scenarios import SCENARIOS

pytestmark = pytest.mark.skipif(browser.PROGRAM is None, reason=browser.MISSING)

WIDTHS = (1200, 390)  # of a desk, and of a telephone
# How much wider a page is than a frame of some width: windows have a least width of their own.
OVER = """
new Promise(done => {
  document.querySelectorAll('script').forEach(one => one.remove());
  const frame = document.createElement('iframe');
  frame.style = 'width: %dpx; height: 900px; border: 0';
  frame.onload = () => {
    const inside = frame.contentDocument;
    inside.querySelectorAll('details').forEach(one => one.open = true);
    done([inside.documentElement.scrollWidth, frame.contentWindow.innerWidth]);
  };
  frame.srcdoc = document.documentElement.outerHTML;
  document.body.append(frame);
})
"""
COLORS = """
Object.fromEntries(['body', 'a', '.soft', 'caption', '.late', 'dt', 'code'].map(name => {
  const style = getComputedStyle(document.querySelector(name));
  return [name, [style.color, getComputedStyle(document.body).backgroundColor]];
}))
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class with everything that a page can hold, and long words in it."""
    early = "2026-11-18T12:00:00+00:00"
    wrong = replace(report(Verdict.FAIL), outputs="a3f9" * 16)
    entries = [
        entry("a" * 200, wrong, name="Ada Byron King, Countess of Lovelace"),
        entry("b" * 200, replace(wrong, outputs="b3f9" * 16)),
        entry("ben", wrong, late=True),
        entry("cem", report(Verdict.FAIL, named("axis")), at=early),
        entry("cem", report(Verdict.FAIL, named("off-by-one"), named("axis"))),
        entry("dov", report()),
        entry("eve", fault="the disk is full"),
        *(entry(f"s-{name}", replace(SCENARIOS[name], question="mean")) for name in SCENARIOS),
    ]  # fmt: skip
    found = find(TERMS, attempts(entries))
    path = tmp_path_factory.mktemp("class") / "class.html"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(class_page(found, attempts(entries), "RESULTS"))
    return path


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_runs_over_the_edge(page: Path, width: int) -> None:
    across, inside = browser.measured(page, OVER % width, "--window-size=1400,1000")
    assert (across, inside) == (width, width)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_stands_out_from_its_ground(page: Path, dark: bool) -> None:
    scheme = f"--blink-settings=preferredColorScheme={int(not dark)}"
    colors: dict[str, Any] = browser.measured(page, COLORS, scheme)
    grounds = {ground for _, ground in colors.values()}
    assert len(grounds) == 1
    assert (luminance(grounds.pop()) < 0.2) is dark
    for name, (ink, ground) in colors.items():
        light, deep = sorted((luminance(ink), luminance(ground)), reverse=True)
        assert (light + 0.05) / (deep + 0.05) >= 4.5, name  # WCAG 2.2, 1.4.3, level AA


def luminance(color: str) -> float:
    """Return the relative luminance of "rgb(r, g, b)", as WCAG defines it."""
    shares = [int(n) / 255 for n in re.findall(r"\d+", color)[:3]]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return sum(w * s for w, s in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_a_click_on_a_name_opens_the_student_without_a_script(page: Path) -> None:
    shown = "[...document.querySelectorAll('.student')].map(one => one.open)"
    assert not any(browser.measured(page, shown))
    opened = browser.measured(page, shown, fragment="s3")
    assert [n for n, is_open in enumerate(opened, 1) if is_open] == [3]


def test_bars_are_as_long_as_their_numbers(page: Path) -> None:
    script = """[...document.querySelectorAll('table.top tbody tr')].map(row => [
      parseInt(row.cells[1].textContent), row.querySelector('rect').getBoundingClientRect().width
    ])"""
    rows = browser.measured(page, script)
    assert len(rows) > 1
    most = max(count for count, _ in rows)
    longest = max(width for _, width in rows)
    assert longest > 100
    for count, width in rows:
        assert width == pytest.approx(longest * count / most, abs=1)


def test_it_prints_on_a4_and_only_who_is_open(page: Path, tmp_path: Path) -> None:
    paper = tmp_path / "class.pdf"
    browser.run(page, "--no-pdf-header-footer", f"--print-to-pdf={paper}")
    content = paper.read_bytes()
    sizes = {
        tuple(map(float, box.split())) for box in re.findall(rb"/MediaBox \[([^]]*)\]", content)
    }
    assert len(sizes) == 1
    assert [round(n) for n in sizes.pop()] == [0, 0, 595, 842]
    pages = len(re.findall(rb"/Type /Page\b", content))
    every = page.with_name("open.html")
    every.write_text(
        page.read_text("utf-8").replace(
            '<details class="student">', '<details class="student" open>'
        ),
        encoding="utf-8",
    )
    browser.run(every, "--no-pdf-header-footer", f"--print-to-pdf={paper}")
    assert len(re.findall(rb"/Type /Page\b", paper.read_bytes())) > pages
