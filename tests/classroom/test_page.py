"""What a class shows: in a terminal, read aloud, as data, and as a page on which nothing acts."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

from grader.app.classes import report_class
from grader.classroom.report import class_page, find
from grader.cli import app
from grader.model.classroom import Entry
from grader.model.errors import UsageError
from grader.model.report import Raised, Report, Verdict
from tests.classroom.making import TERMS, entry, named, report, rule, write_results
from tests.classroom.pages import Page

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


def ordinary() -> list[Entry]:
    return [
        entry("ada", report(), name="Ada L."),
        entry("ben", report(FAIL, named("axis")), at="2026-11-20T23:30:00+00:00"),
        entry("cem", report(FAIL, named("off-by-one"))),
        entry("dov", report(FAIL, outputs="a3f9" * 16)),
        entry("eve", report(FAIL, outputs="a3f9" * 16)),
        entry("fay", report(FAIL, outputs="b3f9" * 16, explanations=(rule(),))),
        entry("gus", fault="the disk is full"), entry("hal", handed="it is a link"),
        entry("ivy", report(FAIL, named("axis"), unchanged=True)),
        entry("jo", report(FAIL, named("axis", exact=False))),
    ]  # fmt: skip


def page_of(entries: list[Entry]) -> str:
    return "".join(class_page(find(TERMS, entries), entries, "RESULTS"))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A class that was graded."""
    return write_results(tmp_path / "results", TERMS, ordinary())


@pytest.mark.parametrize("entries", [ordinary(), hostile_class(), []])
def test_a_page_is_well_formed_and_nothing_on_it_acts(entries: list[Entry]) -> None:
    content = page_of(entries)
    page = Page.of(content)
    assert page.wrong == page.open == []
    assert page.values("href") == []
    assert page.tags.keys() & {"script", "link", "img", "iframe", "object", "form", "base"} == set()
    assert [name for _, name, _ in page.attributes if name.startswith("on")] == []
    assert page.values("src") == page.values("style") == []
    acting = {c for c in content if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert acting <= {"\n"}
    assert "49" not in page.text
    content.encode()
    assert len(re.findall("<details><summary>", content)) == len(
        {one.handed.student for one in entries}
    )


def test_the_tables_say_who_passed_and_what_the_class_holds(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.run(["class", "report", str(results)]) == 0
    text = capsys.readouterr().out
    rows = [" ".join(line.split()) for line in text.splitlines()]
    said = " ".join(rows)
    assert "Class of 2026" in rows
    assert "ada Ada L. 10 pass - 10 of 20" in rows
    assert "ben 0 fail, late - 0 of 20" in rows
    assert "gus not graded - 0 of 20 so far" in rows
    assert "axis 1 of 7, 14 %" in rows
    assert "1 more: it fits a part of what is wrong" in rows
    assert "a3f9a3f9 2 students: dov, eve (2 different files)" in rows
    assert f"drill bank new-idea mean --from {results} a3f9a3f9 --name NAME" in said
    assert "1 more answer that nobody shares" in rows
    assert "The starter holds its ideas by design" in said


def test_the_same_as_data(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["class", "report", str(results), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["format"] == 1
    ideas = {one["id"]: one["students"] for one in content["questions"][0]["ideas"]}
    assert ideas == {"axis": ["ben"], "off-by-one": ["cem"]}
    assert [student["points"] for student in content["students"][:2]] == [10, 0]


def test_the_page_is_written_whole_and_every_student_opens(
    results: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = results.parent / "class.html"
    assert app.run(["class", "report", str(results), "--html", str(page)]) == 0
    assert "10 students, 0 passed all questions" in capsys.readouterr().out
    before = page.read_text("utf-8")
    assert before.count("<details>") == 10
    monkeypatch.setattr("grader.classroom.report._student", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        report_class(results, html=page)
    assert page.read_text("utf-8") == before
    assert sorted(path.name for path in results.parent.iterdir()) == ["class.html", "results"]
    with pytest.raises(UsageError, match="nowhere"):
        report_class(results, html=results.parent / "nowhere" / "class.html")


def test_names_do_nothing_on_their_way_from_results_to_paper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [name for name in HOSTILE if "\ud800" not in name]  # no name of a file has these
    wrong = report(FAIL, named("axis"), outputs="c" * 64)
    given = [entry(name, wrong, name=name, sha256=f"{n:064x}") for n, name in enumerate(names)]
    results, page = write_results(tmp_path / "results", TERMS, given), tmp_path / "class.html"
    for arguments in ([], ["--json"], ["--html", str(page)]):
        assert app.run(["class", "report", str(results), *arguments]) == 0
        assert not {"\x1b", "\u202e"} & {*capsys.readouterr().out}
    assert Page.of(page.read_bytes().decode()).tags["script"] == 0
