"""Whole lines or none: whatever a process was doing when it was killed."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.ledger import Index, Ledger, settled
from grader.classroom.results import make_folder
from grader.model.classroom import Graded
from grader.model.errors import UsageError
from grader.model.report import (
    Bar,
    Bars,
    Breakdown,
    CheckResult,
    Curve,
    Exhibit,
    Grids,
    Mismatch,
    Named,
    Panel,
    PartResult,
    Raised,
    Row,
)
from grader.model.verdict import Verdict
from tests.classroom.fakes import report

KEY, OTHER = f"{1:032x}", f"{2:032x}"
EXHIBITS: list[Exhibit] = [
    Grids((Panel("x", (("1", "2"),), frozenset({(0, 1)}), note="plane"),)),
    Breakdown((Row("weights", "14 GB", "28 GB", "half"),)),
    Bars((Bar("yours", float("inf"), "64 B"),), ("an array",)),
    Curve((1.0, float("nan")), (1.0, 0.5)),
]


def graded(key: str = KEY) -> Graded:
    """A verdict."""
    return Graded(key, report(), at="2026-11-22T12:00:00+00:00")


def written(folder: Path, *found: Graded, name: str = "verdicts.jsonl") -> Path:
    """Write verdicts into a folder."""
    folder.mkdir(exist_ok=True)
    with Ledger(folder / name) as ledger:
        ledger.add(found)
    return folder / name


@pytest.mark.parametrize("exhibit", EXHIBITS[:3], ids=lambda one: type(one).__name__)
def test_a_report_comes_back_as_it_was(tmp_path: Path, exhibit: Exhibit) -> None:
    check = CheckResult(
        "grad", "gradcheck", Verdict.FAIL, "wrong", ("a",), ("a",),
        mismatch=Mismatch("gx", "a", (0, 1), "1", "2", None, 1, 4), exhibit=exhibit,
        raised=Raised("ValueError", "no"), figures={"bytes": 3.0},
    )  # fmt: skip
    full = replace(
        report(Verdict.FAIL), checks=(check,), parts=(PartResult("core", Verdict.FAIL, 0, 60),),
        misconceptions=(Named("idea", "says", True, ("gx",), 1),),
    )  # fmt: skip
    written(tmp_path, Graded(KEY, full))
    kept = Index(tmp_path).get(KEY)
    assert kept is not None
    assert kept.report == full


def test_what_is_not_finite_comes_back(tmp_path: Path) -> None:
    check = CheckResult("loss", "curve", Verdict.FAIL, "wrong", exhibit=EXHIBITS[3])
    written(tmp_path, Graded(KEY, replace(report(), checks=(check,))))
    kept = Index(tmp_path).get(KEY)
    assert kept is not None
    assert kept.report is not None
    assert repr(kept.report.checks[0].exhibit) == repr(EXHIBITS[3])


@pytest.mark.parametrize("torn", [b"{", b'{"format":1,"key":"00', b"x" * 200_000])
def test_half_a_line_is_cut(tmp_path: Path, torn: bytes) -> None:
    path = written(tmp_path, graded())
    with path.open("ab") as file:
        file.write(torn)
    assert settled(tmp_path) == {bytes.fromhex(KEY)}
    written(tmp_path, graded(OTHER))
    assert settled(tmp_path) == {bytes.fromhex(KEY), bytes.fromhex(OTHER)}
    assert len(path.read_bytes().splitlines()) == 2


def test_every_cut_of_the_last_line_is_half_a_line(tmp_path: Path) -> None:
    whole = written(tmp_path, graded(), graded(OTHER)).read_bytes()
    first = whole.index(b"\n") + 1
    for length in range(first, len(whole)):
        (tmp_path / "verdicts.jsonl").write_bytes(whole[:length])
        assert settled(tmp_path) == {bytes.fromhex(KEY)}


@pytest.mark.parametrize(
    "line",
    [
        b"\n", b"null\n", b"[1]\n", b'{"format":1}\n', b"\xff\xfe\n",
        b'{"format":2,"key":"' + KEY.encode() + b'","settled":true,"report":null}\n',
        b'{"format":1,"key":"zz","settled":true,"report":null}\n',
        b'{"format":1,"key":7,"settled":true,"report":null}\n',
        b'{"format":1,"key":"' + KEY.encode() + b'","settled":"yes","report":null}\n',
    ],
)  # fmt: skip
def test_a_line_that_is_no_verdict_is_passed_over(tmp_path: Path, line: bytes) -> None:
    path = written(tmp_path, graded(OTHER))
    path.write_bytes(line + path.read_bytes())
    assert settled(tmp_path) == {bytes.fromhex(OTHER)}
    index = Index(tmp_path)
    assert index.unreadable == 1
    assert index.get(OTHER) == graded(OTHER)


def test_what_is_settled_counts_before_what_is_not(tmp_path: Path) -> None:
    fault = Graded(KEY, fault="the disk was full")
    written(tmp_path, graded(), fault)
    assert Index(tmp_path).get(KEY) == graded()


def test_one_process_at_a_time_writes(tmp_path: Path) -> None:
    with Ledger(tmp_path / "verdicts.jsonl"), pytest.raises(UsageError, match="another drill"):
        Ledger(tmp_path / "verdicts.jsonl")


@contextmanager
def room(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("spare", [0, 1, 40])
def test_on_a_full_disk_what_was_written_stays(tmp_path: Path, spare: int) -> None:
    path = tmp_path / "verdicts.jsonl"
    with Ledger(path) as ledger:
        ledger.add([graded()])
        whole = path.read_bytes()
        with room(len(whole) + spare), pytest.raises(UsageError, match="cannot be written") as said:
            ledger.add([graded(OTHER)])
        assert "what was written is kept" in said.value.hint
        assert path.read_bytes() == whole
        ledger.add([graded(OTHER)])
    assert settled(tmp_path) == {bytes.fromhex(KEY), bytes.fromhex(OTHER)}


def test_results_that_cannot_be_written_are_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "verdicts.jsonl").mkdir()
    with pytest.raises(UsageError, match=r"verdicts\.jsonl: expected a file to write"):
        Ledger(tmp_path / "verdicts.jsonl")
    for folder in (tmp_path / "file", tmp_path / "file" / "out"):
        with pytest.raises(UsageError, match="expected a folder for the results"):
            make_folder(folder)


def test_an_index_reads_on(tmp_path: Path) -> None:
    path = written(tmp_path, graded())
    index = Index(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"torn')
    index.update()
    written(tmp_path, Graded(OTHER, fault="no"), name="verdicts-2-of-2.jsonl")
    index.update()
    assert not index.is_settled(bytes.fromhex(OTHER))
    written(tmp_path, graded(OTHER))  # cuts what is torn
    index.update()
    assert index.settled() == {bytes.fromhex(KEY), bytes.fromhex(OTHER)}
    assert index.get(OTHER) == graded(OTHER)
    assert index.unreadable == 0
