"""A folder of results into which somebody else may write."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from grader.app.exporting import export
from grader.app.feedback import write_feedback
from grader.app.reporting import write_page
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
    for form in ("csv", "jsonl", "nbgrader", "otter"):
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
