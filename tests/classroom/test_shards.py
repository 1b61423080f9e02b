"""Shards of a class: they agree, share nothing they must not, and come together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.app.classes import Plan, grade_class
from grader.app.context import Context
from grader.classroom.jobs import key_of
from grader.classroom.ledger import Ledger
from grader.classroom.merging import merge
from grader.classroom.results import (
    Results,
    agree,
    differences,
    read_terms,
    write_handed_in,
    write_terms,
)
from grader.classroom.work import Work, shard_of
from grader.model.classroom import Graded, HandedIn, Posed, Terms
from grader.model.errors import UsageError
from tests.classroom.fakes import NOW, report

BANK = Path(__file__).parents[1] / "banks" / "mini"
REFERENCE = BANK / "drills" / "deviations" / "reference.py"
POSED = Posed("mean", "A mean", "d" * 64, "/bank", (1,), 10, libraries={"numpy": "2.4"})
TERMS = Terms(7, "strong", "0.2", (POSED, replace(POSED, id="sum", digest="e" * 64)))


def handed(number: int, question: str = "mean", *, copies: int = 1) -> HandedIn:
    """One file; `copies` have one program."""
    sha256 = f"{number // copies:064x}"
    return HandedIn(f"s{number}", question, f"s{number}/{question}.py", sha256, at=NOW)


def results(folder: Path, files: list[HandedIn], graded: list[int], terms: Terms = TERMS) -> Path:
    """A folder of results in which some of the files are graded."""
    folder.mkdir(parents=True)
    write_terms(folder, terms)
    write_handed_in(folder, files)
    posed = {one.id: one for one in terms.posed}
    with Ledger(folder / "verdicts.jsonl") as ledger:
        for number in graded:
            one = files[number]
            key = key_of(terms, posed[one.question], one.sha256)
            ledger.add([Graded(key, report(), at=NOW)])
    return folder


def everything(folder: Path) -> dict[str, bytes]:
    """What is in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_each_file_falls_to_one_shard_and_copies_fall_together(tmp_path: Path) -> None:
    files = [handed(n, q, copies=3) for n in range(60) for q in ("mean", "sum")]
    folder = results(tmp_path / "out", files, [])
    found: dict[str, int] = {}
    owners: dict[str, int] = {}
    for number in range(1, 5):
        with Work(folder, TERMS, (number, 4)) as work:
            for piece in work:
                assert found.setdefault(piece.handed.path, number) == number
                assert owners.setdefault(piece.key, number) == number
                assert work.at(piece.place) == piece.handed
    assert found.keys() == {one.path for one in files}
    assert set(owners.values()) == {1, 2, 3, 4}


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2", "1/2/3", ""])
def test_what_is_no_shard_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="expected NUMBER/SHARDS like 1/8"):
        shard_of(text)


def test_shards_that_begin_at_once_agree(tmp_path: Path) -> None:
    barrier = threading.Barrier(8)
    agreed: list[Terms] = []

    def begin(seed: int) -> None:
        barrier.wait()
        agreed.append(agree(tmp_path, replace(TERMS, seed=seed), drawn=True, shared=True))

    threads = [threading.Thread(target=begin, args=(seed,)) for seed in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert agreed == [read_terms(tmp_path)] * 8
    assert [path.name for path in tmp_path.iterdir()] == ["class.json"]


def test_a_shard_does_not_change_the_terms_of_the_others(tmp_path: Path) -> None:
    agree(tmp_path, TERMS, drawn=False, shared=True)
    elsewhere = replace(TERMS, posed=tuple(replace(p, bank="/mnt/bank") for p in TERMS.posed))
    agree(tmp_path, elsewhere, drawn=False, shared=True)
    with pytest.raises(UsageError, match="found seed 7 and 8"):
        agree(tmp_path, replace(TERMS, seed=8), drawn=False, shared=True)
    assert read_terms(tmp_path) == TERMS
    # Without shards, nobody else is there.
    assert agree(tmp_path, replace(TERMS, seed=8), drawn=False).seed == 8
    assert read_terms(tmp_path).seed == 8


def test_what_was_handed_in_stays_where_it_is_the_same(tmp_path: Path) -> None:
    write_handed_in(tmp_path, [handed(1), handed(2)])
    before = (tmp_path / "handed-in.jsonl").stat().st_ino
    assert write_handed_in(tmp_path, [handed(1), handed(2)]) == 2
    assert (tmp_path / "handed-in.jsonl").stat().st_ino == before
    write_handed_in(tmp_path, [handed(1), handed(3)])
    assert (tmp_path / "handed-in.jsonl").stat().st_ino != before


def test_results_come_together_and_theirs_stay(tmp_path: Path) -> None:
    files = [handed(n) for n in range(6)]
    a = results(tmp_path / "a", files[:4], [0, 1])
    b = results(tmp_path / "b", [replace(files[1], at="2026-11-23T00:00:00Z"), *files[4:]], [0, 1])
    with Ledger(b / "verdicts-2-of-2.jsonl") as ledger:
        ledger.add([Graded(f"{9:032x}", fault="the disk was full")])
    before = everything(a), everything(b)
    out = tmp_path / "out"
    found = merge(out, [a, b])
    assert (found.added, found.files) == (3, 6)
    assert (everything(a), everything(b)) == before
    entries = {one.handed.student: one.points for one in Results(out).entries()}
    graded = {name for name, points in entries.items() if points is not None}
    assert graded == {"s0", "s1", "s4"}
    assert entries.keys() == {one.student for one in files}
    # Again, there is nothing to do; what comes later is added.
    assert merge(out, [a, b]).added == 0
    later = results(tmp_path / "c", files, [2])
    assert (merge(out, [later]).added, merge(out, [later]).files) == (1, 6)
    assert read_terms(out) == TERMS


def test_a_merge_that_was_killed_goes_on(tmp_path: Path) -> None:
    a = results(tmp_path / "a", [handed(n) for n in range(5)], list(range(5)))
    out = tmp_path / "out"
    merge(out, [a])
    whole = (out / "verdicts.jsonl").read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        (out / "verdicts.jsonl").write_bytes(whole[:length])
        merge(out, [a])
        assert (out / "verdicts.jsonl").read_bytes() == whole


def variations() -> Iterator[tuple[Terms, str]]:
    """Terms that are other ones, and what is said of it."""
    first, second = TERMS.posed
    yield replace(TERMS, seed=8), "seed 7 and 8"
    yield replace(TERMS, level="process"), "isolation strong and process"
    yield replace(TERMS, program="0.3"), r"drill 0\.2 and 0\.3"
    yield replace(TERMS, posed=(first,)), "questions mean sum and mean"
    yield replace(TERMS, posed=(replace(first, digest="f" * 64), second)), "mean in two versions"
    other = replace(first, libraries={"numpy": "2.5", "torch": "2.13"})
    yield replace(TERMS, posed=(other, second)), r"numpy 2\.4 and 2\.5; torch none and 2\.13"
    yield replace(TERMS, posed=(replace(first, parts=(1, 2)), second)), "other parts of mean"


@pytest.mark.parametrize(("other", "said"), list(variations()))
def test_results_on_other_terms_are_refused(tmp_path: Path, other: Terms, said: str) -> None:
    a = results(tmp_path / "a", [handed(1)], [0])
    b = results(tmp_path / "b", [handed(2)], [0], other)
    with pytest.raises(UsageError, match=f"b: expected the terms of .*a, found {said}"):
        merge(tmp_path / "out", [a, b])
    assert not (tmp_path / "out").exists()


def test_what_only_counts_points_is_no_other_term() -> None:
    counted = replace(TERMS, title="Fall", deadline="2026-11-22T12:00+00:00", counts="best")
    heavier = replace(counted, posed=tuple(replace(p, weight=2.0) for p in counted.posed))
    assert differences(TERMS, heavier) == []


@pytest.mark.parametrize("out", ["a", "b", "../x/a"])
def test_nothing_is_merged_into_itself(tmp_path: Path, out: str) -> None:
    for name in ("a", "b"):
        results(tmp_path / "x" / name, [handed(1)], [0])
    folders = [tmp_path / "x" / "a", tmp_path / "x" / "b"]
    with pytest.raises(UsageError, match="expected a folder of its own"):
        merge(tmp_path / "x" / out, folders)


def test_results_that_are_none_are_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected results of a class, found no class\.json"):
        merge(tmp_path / "out", [tmp_path])
    with pytest.raises(UsageError, match="found none"):
        merge(tmp_path / "out", [])


def test_a_class_is_graded_in_shards_and_brought_together(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    text = REFERENCE.read_text()
    for number in range(6):
        (tmp_path / "in" / f"s{number}.py").write_text(f"# {number % 5}\n{text}")
    ctx = Context(tmp_path, tmp_path / "data", lambda: NOW, bank=BANK)
    seen = []
    for number in (1, 2):
        plan = Plan(
            tmp_path / "in", ("deviations",), tmp_path / "out", level="process", jobs=1,
            shard=(number, 2),
        )  # fmt: skip
        found = list(grade_class(ctx, plan))
        assert [(one.done, one.of) for one in found] == [
            (n, len(found)) for n in range(1, len(found) + 1)
        ]
        seen += [one.handed.student for one in found]
    assert sorted(seen) == [f"s{n}" for n in range(6)]
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"verdicts-1-of-2.jsonl", "verdicts-2-of-2.jsonl"} <= files
    assert merge(tmp_path / "all", [tmp_path / "out"]).added == 5
    points = [one.points for one in Results(tmp_path / "all").entries()]
    assert points == [100] * 6
