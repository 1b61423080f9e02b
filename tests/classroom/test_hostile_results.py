"""A folder of results into which somebody else may write."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from grader.app.exporting import export
from grader.app.feedback import write_feedback
from grader.app.reporting import write_page
from grader.classroom import config, disk
from grader.classroom.disk import write_whole
from grader.classroom.ledger import Ledger
from grader.classroom.results import Results, write_handed_in, write_terms
from grader.model.errors import UsageError
from tests.classroom.making import TERMS, entry, write_results


def test_a_link_under_a_name_that_can_be_guessed_is_not_written_through(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    results = write_results(tmp_path / "results", TERMS, [entry("ada")])
    for name in ("page.html", "grades.csv"):
        (tmp_path / f".{name}.{os.getpid()}").symlink_to(precious)
    write_page(results, tmp_path / "page.html")
    write_whole(tmp_path / "grades.csv", export(Results(results), "csv"))
    assert "ada" in (tmp_path / "page.html").read_text()
    assert "ada" in (tmp_path / "grades.csv").read_text()
    assert precious.read_text() == "mine"
    assert not [path for path in tmp_path.iterdir() if not path.exists()]


def test_a_ledger_that_is_a_link_or_a_pipe_is_refused(tmp_path: Path) -> None:
    precious, path = tmp_path / "precious", tmp_path / "verdicts.jsonl"
    precious.write_text("mine")
    path.symlink_to(precious)
    with pytest.raises(UsageError, match=r"verdicts\.jsonl: expected a file to write"):
        Ledger(path)
    assert precious.read_text() == "mine"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(UsageError, match="it is no regular file"):
        Ledger(path)


def test_a_link_in_place_of_what_is_kept_is_replaced(tmp_path: Path) -> None:
    made = write_results(tmp_path / "made", TERMS, [entry("ada")])
    folder = tmp_path / "results"
    folder.mkdir()
    for name in ("class.json", "handed-in.jsonl"):
        (folder / name).symlink_to(made / name)
    write_terms(folder, TERMS)
    write_handed_in(folder, [entry("ada").handed])
    assert not [path for path in folder.iterdir() if path.is_symlink()]


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59-14:00", ""])
def test_a_time_at_the_end_of_all_times_keeps_nothing_from_anybody(tmp_path: Path, at: str) -> None:
    late = replace(entry("ada", at=at).handed, late=not at)
    results = write_results(tmp_path / "results", TERMS, [entry("ben")])
    write_handed_in(results, [late, entry("ben").handed])
    assert write_feedback(Results(results), tmp_path / "out").students == 2
    assert "Late" in (tmp_path / "out" / "ada.md").read_text()
    assert "Late" not in (tmp_path / "out" / "ben.md").read_text()
    for form in ("csv", "jsonl"):
        assert "".join(export(Results(results), form))
    write_page(results, tmp_path / "page.html")


def test_a_link_in_place_of_feedback_is_refused_and_everybody_else_has_theirs(
    tmp_path: Path,
) -> None:
    results = write_results(tmp_path / "results", TERMS, [entry("ada"), entry("ben")])
    out, precious = tmp_path / "out", tmp_path / "precious"
    out.mkdir()
    precious.write_text("mine")
    (out / "ada.md").symlink_to(precious)
    with pytest.raises(UsageError, match=r"ada\.md: .* found a symbolic link .*; all other files"):
        write_feedback(Results(results), out)
    assert precious.read_text() == "mine"
    assert all((out / name).is_file() for name in ("ada.html", "ben.md", "ben.html"))


@pytest.mark.parametrize("name", ["class.json", "handed-in.jsonl", "verdicts-x.jsonl"])
def test_a_pipe_or_a_device_in_the_results_is_refused(tmp_path: Path, name: str) -> None:
    results = write_results(tmp_path / "results", TERMS, [entry("ada")])
    path = results / name
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/null")
    with pytest.raises(UsageError, match=name):
        list(Results(results).entries())
    path.unlink()
    os.mkfifo(path)
    holds = os.open(path, os.O_RDWR)  # else a reader that waits would wait for ever
    os.write(holds, b"{}\n")
    try:
        with pytest.raises(UsageError, match=f"{name}.*no regular file"):
            list(Results(results).entries())
    finally:
        os.close(holds)


def test_a_class_file_is_regular_and_short(tmp_path: Path) -> None:
    path = tmp_path / "class.yaml"
    path.symlink_to("/dev/null")
    with pytest.raises(UsageError, match="no regular file"):
        config.read(path)
    path.unlink()
    (tmp_path / "mine.yaml").write_text("format: 1\nquestions: [mean]\n")
    path.symlink_to("mine.yaml")
    assert config.read(path).file.asked[0].id == "mean"
    path.write_bytes(b"#" * 2_000_000)
    with pytest.raises(UsageError, match="expected at most 1,000,000 bytes"):
        config.read(path)


def test_a_line_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = write_results(tmp_path / "results", TERMS, [entry("ada")])
    monkeypatch.setattr(disk, "MOST_LINE", 5000)
    assert len(list(Results(results).entries())) == 1
    for name in ("verdicts-x.jsonl", "handed-in.jsonl"):
        (results / name).write_bytes(b"x" * 5001)
        with pytest.raises(UsageError, match=f"{name}: expected lines of at most 5,000 bytes"):
            list(Results(results).entries())
        (results / name).unlink()


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    "line",
    [
        "nonsense", "[]", "{}", DEEP, '{"student": 1}', '{"at": "2026-11-20T12:00:00"}',
        '{"at": "yesterday"}', '{"late": "x"}', '{"other": 1}', '{"fault": null}',
    ],
)  # fmt: skip
def test_a_line_that_says_no_hand_in_is_named(tmp_path: Path, line: str) -> None:
    results = write_results(tmp_path / "results", TERMS, [entry("ada")])
    path = results / "handed-in.jsonl"
    good = path.read_text()
    if line.startswith('{"'):
        line = json.dumps(json.loads(good) | json.loads(line))
    path.write_text(f"{good}{line}\n")
    with pytest.raises(UsageError, match=r"handed-in\.jsonl: line 2: expected"):
        list(Results(results).entries())


@pytest.mark.parametrize(
    "change",
    [
        {"seed": "x"}, {"title": 3}, {"deadline": "2026-11-20"}, {"deadline": None}, {"posed": 3},
        {"weight": "x"}, {"weight": float("inf")}, {"weight": float("nan")}, {"weight": -1},
        {"of": 1.5}, {"parts": ["1"]}, {"hidden": [1]}, {"libraries": {"numpy": 2}}, {"id": None},
    ],
)  # fmt: skip
def test_terms_of_other_types_are_refused(tmp_path: Path, change: dict[str, object]) -> None:
    results = write_results(tmp_path / "results", TERMS, [entry("ada")])
    path = results / "class.json"
    content = json.loads(path.read_text())
    (content if change.keys() <= content.keys() else content["posed"][0]).update(change)
    path.write_text(json.dumps(content))
    with pytest.raises(UsageError, match=r"class\.json: expected"):
        Results(results)


def test_a_verdict_that_is_nested_without_end_is_counted_as_unreadable(tmp_path: Path) -> None:
    results = write_results(tmp_path / "results", TERMS, [entry("ada")])
    (results / "verdicts-x.jsonl").write_text(f'{{"format":{DEEP},"report":null}}\n')
    assert Results(results).unreadable == 1


def test_terms_that_are_nested_without_end_are_refused(tmp_path: Path) -> None:
    (tmp_path / "class.json").write_text(DEEP)
    with pytest.raises(UsageError, match=r"class\.json: expected"):
        Results(tmp_path)
