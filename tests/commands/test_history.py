"""`drill history` lists every version, and `restore` brings one back without losing a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.commands import history
from tests.commands.conftest import Drill

SUBMISSION = Path("double-trouble/submission.py")


def test_restore_brings_back_the_bytes_and_keeps_the_old_file(drill: Drill) -> None:
    drill("start", "double-trouble")
    SUBMISSION.write_bytes(b"# fail\r\n\xff")
    drill("grade")
    SUBMISSION.write_text("newer work")
    result = drill("history", "restore", "1", "--json")
    assert SUBMISSION.read_bytes() == b"# fail\r\n\xff"
    assert Path(result.data["kept"]).read_text() == "newer work"
    assert Path(result.data["kept"]).name == "submission.before-restore-1.py"
    attempt = drill("history", "--json").data["attempts"][-1]
    assert attempt["kind"] == "kept"


def test_history_that_cannot_be_read_is_an_error(drill: Drill, home: Path) -> None:
    (home / "drill.sqlite3").mkdir(parents=True)
    drill("history").refused("drill.sqlite3")


def test_a_long_history_shows_the_latest_versions_and_how_to_see_all(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MAX_ROWS", 2)
    for name in ("double-trouble", "halve-well"):
        drill("start", name)
        for _ in range(3):
            drill("grade", name)

    def numbers(*words: str) -> list[str]:
        lines = drill("history", *words).out.splitlines()
        return [line.split()[0] for line in lines if line.split()[0].isdigit() and "FAIL" in line]

    assert numbers() == ["5", "6"]
    last_lines = "2 of 6 versions\nNext: drill history --all   drill history restore 5\n"
    assert drill("history").out.endswith(last_lines)
    page = drill("history", "double-trouble").out
    assert "2 of 3 versions\nNext: drill history double-trouble --all" in page
    assert len(numbers("--all")) == 6
    assert " of 6" not in drill("history", "--all").out
    assert len(drill("history", "--json").data["attempts"]) == 6


def test_the_try_of_a_page_and_the_number_to_restore_are_both_listed(drill: Drill) -> None:
    drill("start", "halve-well")
    drill("grade")
    drill("start", "double-trouble")
    pages = []
    for text in ("# fail\n", "# error\n", "# error\n", "# fail\n\n"):
        SUBMISSION.write_text(text)
        pages.append(drill("grade", "double-trouble").out.replace("\xa0", " "))
    tries = [page.partition("try ")[2][:1] for page in pages]
    assert tries == ["1", "2", "", "3"]  # a version is one try
    rows = drill("history", "--json").data["attempts"]
    assert [(row["attempt"], row["tries"]) for row in rows[1:]] == [(2, 1), (3, 2), (4, 0), (5, 3)]
    head, *lines = drill("history", "double-trouble").out.splitlines()
    assert head.split()[:3] == ["no.", "when", "try"]
    assert [line.split()[0::4][:2] for line in lines[:2]] == [["2", "1"], ["3", "2"]]
    assert "no. in drill history, not the try" in drill("history", "restore", "--help").out


def test_history_leaves_out_rows_with_the_same_result(drill: Drill) -> None:
    drill("start", "double-trouble")
    for verdict in ("fail", "fail", "fail", "error", "pass"):
        SUBMISSION.write_text(f"# {verdict}\n")
        drill("grade")
    out = drill("history", "double-trouble").out.splitlines()
    assert [line.split()[0] for line in out[1:-2]] == ["1", "4", "5"]
    assert out[-2] == "3 of 5 versions"
    assert out[-1].startswith("Next: drill history double-trouble --all")
    assert out[1].split()[-2:] == ["FAIL", "value"]
    assert "question" not in out[0]
    drill("hint")
    drill("grade")
    data = drill("history", "--json").data["attempts"]
    assert [row["failed"] for row in data] == 3 * ["value"] + ["submission.py is at fault", "", ""]
    assert [row["hints"] for row in data] == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("columns", "head"),
    [(80, "no. question when verdict idea, or what failed first hints"),
     (70, "no. question when verdict idea, or what failed first"),
     (60, "no. question verdict idea, or what failed first")],
)  # fmt: skip
def test_columns_are_left_out_until_the_page_is_wide_enough(
    drill: Drill, monkeypatch: pytest.MonkeyPatch, columns: int, head: str
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    drill("start", "double-trouble")
    drill("grade")
    drill("hint")
    drill("grade")
    lines = drill("history").out.splitlines()
    assert max(map(len, lines)) <= columns
    assert " ".join(lines[0].split()) == head
