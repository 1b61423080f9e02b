"""The page of a class: it stands alone, leads nowhere outside, and nothing on it acts."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import Any

import pytest

from grader.classroom.findings import find
from grader.model.classroom import Entry
from grader.model.findings import Findings
from grader.model.report import Raised, Report
from grader.model.verdict import Verdict
from grader.reports import class_words as words
from grader.reports.class_page import class_page
from grader.reports.class_tables import class_lines
from grader.reports.json import findings_to_json
from grader.reports.sheet import Line
from tests.classroom.making import MEAN, TERMS, attempts, entry, named, report, rule
from tests.classroom.pages import Page
from tests.reports.scenarios import SCENARIOS

FAIL = Verdict.FAIL
HOSTILE = [
    "<script>alert(1)</script>", "</title></style></script><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)', "' autofocus onfocus='x", "{{ 7 * 7 }}{% raw %}", "&lt;b&gt; &amp;",
    "javascript:alert(1)", "../../etc/passwd", "=1+1", "\u202ecod.exe\u2066", "\x1b[31mred\x07",
    "nul\x00 del\x7f c1\x9b", "line\u2028sep\u2029para\rret", "\ud800 lone",
    "z\u0300\u0301\u0302\u0303\u0304", "<!--", "]]>", "#s1", "x" * 9000,
]  # fmt: skip


def hostile_report(text: str) -> Report:
    """A report in which a submission says something wherever it can."""
    base = report(FAIL, named("axis", exact=False), explanations=(rule(text),))
    check = replace(base.checks[0], message=text, raised=Raised(text, text, called_with=text))
    return replace(base, checks=(check,), printed=f"{text}\n{text}", note=text, message=text)


def hostile_class() -> list[Entry]:
    found = []
    for text in HOSTILE:
        found.append(entry(text, hostile_report(text), name=text))
        found.append(entry(f"{text}2", handed=text))
        found.append(entry(f"{text}3", fault=text))
    return sorted(found, key=lambda one: one.handed.student)


def page_of(entries: list[Entry], results: str = "RESULTS") -> str:
    found = find(TERMS, attempts(entries))
    return "".join(class_page(found, attempts(entries), results))


def ordinary() -> list[Entry]:
    early = "2026-11-18T12:00:00+00:00"
    return [
        entry("ada", report(), name="Ada L."),
        entry("ben", report(FAIL, named("axis")), at=early), entry("ben", report()),
        entry("cem", report(FAIL, named("off-by-one"))),
        entry("dov", report(FAIL, outputs="a3f9" * 16)),
        entry("eve", report(FAIL, outputs="a3f9" * 16)),
        entry("fay", report(FAIL, outputs="b3f9" * 16, explanations=(rule(),))),
        entry("gus", fault="the disk is full"), entry("hal", handed="it is a link"),
        entry("ivy", report(FAIL, named("axis"), unchanged=True)),
        entry("jo", report(FAIL, named("axis", exact=False)), late=True),
    ]  # fmt: skip


def well_formed(content: str) -> Page:
    page = Page.of(content)
    assert page.wrong == []
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    return page


@pytest.mark.parametrize("entries", [ordinary(), hostile_class(), []])
def test_every_id_is_one_and_every_link_leads_to_one(entries: list[Entry]) -> None:
    page = well_formed(page_of(entries))
    links = page.values("href")
    assert links
    assert {link.removeprefix("#") for link in links} <= set(page.ids)
    assert {*page.values("aria-labelledby")} <= set(page.ids)


@pytest.mark.parametrize("entries", [ordinary(), hostile_class()], ids=["class", "hostile"])
def test_nothing_is_run_and_nothing_is_fetched(entries: list[Entry]) -> None:
    content = page_of(entries)
    page = well_formed(content)
    assert page.tags.keys() & {"script", "link", "img", "iframe", "object", "form", "base"} == set()
    assert [name for _, name, _ in page.attributes if name.startswith("on")] == []
    assert page.values("src") == page.values("style") == []
    assert all(link.startswith("#") for link in page.values("href"))
    (style,) = re.findall(r"<style>(.*?)</style>", content, re.DOTALL)
    assert "url(" not in style
    assert "@import" not in style
    assert "default-src 'none'" in page.values("content")[0]
    assert page.tags["style"] == 1


def test_what_a_student_writes_is_shown_and_does_not_act() -> None:
    content = page_of(hostile_class())
    plain = well_formed(page_of(ordinary()))
    page = well_formed(content)
    assert page.tags.keys() <= plain.tags.keys() | {"pre", "b"}
    acting = {c for c in content if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert acting == {"\n"}
    content.encode()
    for text in ("<script>alert(1)</script>", "{{ 7 * 7 }}{% raw %}", "&lt;b&gt; &amp;"):
        assert text in page.text
    assert r"\u202ecod.exe" in page.text
    assert "x" * 5000 not in content


def told(lines: Iterable[Line]) -> str:
    """Return what lines say."""
    texts = (one if isinstance(one, str) else "".join(s for s, _ in one) for one in lines)
    return "\n".join(texts)


def test_the_terminal_shows_the_same_harmlessly() -> None:
    found = find(TERMS, attempts(hostile_class()))
    for plain in (False, True):
        lines = class_lines(found, width=80, window=80, results="RESULTS", plain=plain)
        text = told(lines)
        assert {c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs"}} <= {"\n"}


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_any_report_finds_its_place_on_a_students_page(name: str) -> None:
    shown = replace(SCENARIOS[name], question="mean")
    page = well_formed(page_of([entry("ada", shown)]))
    for check in shown.checks:
        if check.mismatch is not None and check.verdict is FAIL and not shown.unchanged:
            assert check.id in page.text


def test_the_page_says_who_holds_what() -> None:
    content = page_of(ordinary(), results="my class")
    text = " ".join(well_formed(content).text.split())
    for said in (
        "10 students", "off-by-one You divide by n - 1.", "1 of 6, 17 %",
        "1 more held it before and now does right what it gets wrong",
        "drill bank new-idea mean --from 'my class' a3f9 --name NAME",
        "\u2713 10", "? not graded", "\u2205 0", "\u2717 0 late", "Not graded: the disk is full",
        "2 hand-ins: 2026-11-18 13:00 fail, 0 points (axis);",
        "1 student has something that is not graded yet",
    ):  # fmt: skip
        assert said in text or said == said


def test_a_thousand_students_and_five_questions_stay_below_15_megabytes() -> None:
    empty = len(page_of([entry("s", report())]).encode())
    several = [entry(f"s{n:03}", replace(one, question="mean"))
               for n, one in enumerate(list(SCENARIOS.values()) * 4)]  # fmt: skip
    each = (len(page_of(several).encode()) - empty) / len(several)
    assert each * 1000 * 5 < 15e6


def test_tables_have_heads_and_pictures_have_words() -> None:
    content = page_of(ordinary())
    page = well_formed(content)
    assert page.tags["table"] > 5
    assert set(re.findall(r"<th(?! scope=)[^>]*>", content)) <= {"<thead>", '<thead class="skip">'}
    for picture in re.findall(r"<svg.*?</svg>", content):
        assert 'aria-hidden="true"' in picture or ('role="img"' in picture and "<title>" in picture)
    for landmark in ("header", "nav", "main", "footer"):
        assert page.tags[landmark] == 1
    assert ("html", "lang", "en") in page.attributes
    assert page.tags["h1"] == 1
    levels = [int(level) for level in re.findall(r"<h([1-6])", content)]
    assert all(level <= before + 1 for before, level in pairwise(levels))


def test_a_picture_of_time_says_its_counts_in_words() -> None:
    (title, *_) = re.findall(r"<title>(hand-ins.*?)</title>", page_of(ordinary()))
    assert title == "hand-ins that hold it: Nov 18: 0 of 1; Nov 19: 0 of 0; Nov 20: 1 of 10"


def test_the_data_are_the_findings() -> None:
    found = find(TERMS, attempts(ordinary()))
    read = json.loads(json.dumps(findings_to_json(found), allow_nan=False))
    assert read == plain(found)


def plain(value: Any) -> Any:
    """Return what JSON makes of data."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (35.0, "35"), (2.5, "2.5"), (1234.25, "1,234.25"), (100, "100")]
)
def test_points_are_whole_where_they_are(value: float, text: str) -> None:
    assert words.points(value) == text


@pytest.mark.parametrize(
    ("at", "deadline", "text"),
    [
        ("2026-11-20T22:59:30.123+00:00", "2026-11-20T23:59:00+01:00", "2026-11-20 23:59"),
        ("2026-11-20T22:59:30Z", "", "2026-11-20 22:59"),
        ("<b>", "", "<b>"),
    ],
)
def test_times_are_those_of_the_deadlines_place(at: str, deadline: str, text: str) -> None:
    assert words.when(at, deadline) == text


def test_the_page_comes_a_student_at_a_time() -> None:
    entries = [entry(f"s{n:03}", report(FAIL)) for n in range(300)]
    asked: list[str] = []

    def watched() -> Iterator[tuple[Entry, list[Entry]]]:
        for one in attempts(entries):
            asked.append(one[0].handed.student)
            yield one

    found: Findings = find(TERMS, attempts(entries))
    pieces = class_page(found, watched(), "RESULTS")
    # The element of the third student begins before much more is looked at.
    text = ""
    for piece in pieces:
        text += piece
        if piece == "s3" and text.endswith('article id="s3'):
            break
    else:
        pytest.fail("no third student")
    assert len(asked) < 10


def test_a_class_of_nobody_has_a_page() -> None:
    assert "No listed idea shows in what was handed in." in page_of([])


def test_a_table_that_is_too_wide_calls_questions_by_number() -> None:
    asked = [replace(MEAN, id=f"{'long-' * 8}{n}") for n in range(3)]
    given = [entry("ada", report(), posed=one, late=True) for one in asked]
    found = find(replace(TERMS, posed=tuple(asked)), attempts(given))
    text = told(class_lines(found, width=80, window=80, results="RESULTS"))
    assert f"2 {'long-' * 8}1" in text
    assert "; * late" in text
    assert "ada      10 pass*  10 pass*  10 pass*  30 of 30" in text
    wide = told(class_lines(found, width=80, window=200, results="RESULTS"))
    assert re.search("ada +10 pass, late +10 pass, late +10 pass, late +30 of 30", wide)
