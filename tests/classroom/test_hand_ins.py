"""Folders, zip files and notebooks, also those that were made to trip whoever opens them."""

from __future__ import annotations

import json
import os
import stat
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.bank.bank_files import read_regular_file
from grader.classroom import submitted_files
from grader.classroom.hand_ins import HandIns
from grader.classroom.results import ClassResults, grade_key
from grader.classroom.submission_layout import LAYOUTS, AnswerNames, to_student_id
from grader.model.classroom import SubmittedProgram
from grader.model.errors import UsageError
from grader.model.limits import MAX_ARCHIVE_ENTRIES, MAX_BYTES_BY_SUFFIX, MAX_SUBMISSION_FILE_BYTES
from tests.classroom.builders import (
    MEAN,
    TERMS,
    Files,
    assigned_programs,
    faults,
    notebook,
    programs,
    read_hand_ins,
    tree,
    zipped,
)
from tests.classroom.test_submission_layout import ASKED, PATHS

DAMAGED = "expected a zip file, found a damaged one"
LINK = "a link, which is not followed"


def walked(root: Path) -> dict[str, str]:
    """Return the fault of every file, by path."""
    with HandIns(root, AnswerNames(["mean"]), pattern="{student}") as submissions:
        return {hand_in.path: hand_in.fault for hand_in in submissions.files}


def packed(*entries: tuple[zipfile.ZipInfo, bytes]) -> bytes:
    """A zip file with entries as they are given."""
    return zipped(dict(entries))


def info(name: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    """An entry of a zip file, with any name at all."""
    entry = zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6))
    entry.filename = name.encode("utf-8", "replace").decode()
    entry.external_attr = mode << 16
    return entry


def test_pipes_devices_and_links_are_reported_and_never_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("x = 1")
    root = tree(tmp_path / "all", {"zoe/mean.py": ""})
    for name in ("ann", "bo", "cem"):
        (root / name).mkdir()
    (root / "ann" / "mean.py").symlink_to(secret)
    os.mkfifo(root / "bo" / "mean.py")
    (root / "cem" / "mean.py").mkdir()
    (root / "dov").symlink_to(root / "zoe")
    (root / "eve.zip").symlink_to(secret)
    assert faults(root) == {
        "ann/mean.py": LINK, "bo/mean.py": "a device or a pipe, and no file", "eve.zip": LINK,
        "zoe/mean.py": "",
    }  # fmt: skip
    with HandIns(root, AnswerNames(["mean"])) as submissions:
        list(submissions)
        assert list(submissions.unused_files()) == [("dov", LINK)]


def test_the_highest_version_is_last_among_files_of_one_time(tmp_path: Path) -> None:
    names = ("mean.py", "mean (1).py", "mean (2).py", "mean_v2.py", "mean-v10.py", "mean_v2 (1).py")
    root = tree(tmp_path, {f"ann/{name}": "" for name in reversed(names)})
    for name in names:
        os.utime(root / "ann" / name, (0, 0))
    hand_ins = read_hand_ins(root, layout="folders")
    assert [hand_in.path.removeprefix("ann/") for hand_in in hand_ins] == [
        "mean.py", "mean (1).py", "mean (2).py", "mean_v2.py", "mean_v2 (1).py", "mean-v10.py",
    ]  # fmt: skip


def test_a_folder_that_becomes_a_link_is_not_followed(tmp_path: Path) -> None:
    root = tree(tmp_path, {"ann/a/mean.py": "x", "zoe/a/mean.py": "y"})
    with HandIns(root, AnswerNames(["mean"])) as submissions:
        (root / "ann").rename(root / "gone")
        (root / "ann").symlink_to(root / "zoe")
        assert [(hand_in.path, hand_in.fault) for hand_in, _ in submissions] == [
            ("ann/a/mean.py", "expected a file, found something else in its place"),
            ("zoe/a/mean.py", ""),
        ]


def test_files_of_operating_systems_and_editors_are_ignored(tmp_path: Path) -> None:
    names = [
        "__MACOSX/ann/._mean.py", ".DS_Store", ".git/mean.py", "ann/__pycache__/mean.py",
        "ann/.ipynb_checkpoints/mean.py", "ann/._mean.py", "ann/.drill", "Thumbs.db",
    ]  # fmt: skip
    files = dict.fromkeys([*names, "ann/mean.py"], "")
    tree(tmp_path / "plain", files)
    (tmp_path / "all.zip").write_bytes(zipped(files))
    assert list(walked(tmp_path / "plain")) == list(walked(tmp_path / "all.zip")) == ["ann/mean.py"]


def test_names_with_control_characters_are_reported(tmp_path: Path) -> None:
    names = [
        "ann/me\nan.py", "ann/mean.py", "b\x1b[1mo/mean.py", "zoe/\u202emean.py", "علی‌رضا/mean.py",
        "山田　太郎/mean.py",
    ]  # fmt: skip
    tree(tmp_path, dict.fromkeys(names, ""))
    os.mkdir(os.fsencode(tmp_path) + b"/b\xff")  # noqa: PTH102 - no Path holds these bytes
    with HandIns(tmp_path, AnswerNames(["mean"])) as submissions:
        assert [hand_in.student for hand_in, _ in submissions if not hand_in.fault] == [
            "ann", "علی‌رضا", "山田　太郎"
        ]  # fmt: skip
        message = "its name has characters that cannot be shown"
        assert [reason for path, reason in submissions.unused_files() if path[0] == "b"] == [
            message
        ] * 2


def test_a_read_error_of_this_machine_is_no_students_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, dict.fromkeys(("ann/mean.py", "bo/mean.py", "cem/mean.py"), ""))
    lstat = Path.lstat

    def failing(path: Path, most: int) -> tuple[bytes, os.stat_result]:
        if path.parent.name == "bo":
            raise OSError(5, "Input/output error")
        return read_regular_file(path, most)

    def closed(path: Path) -> os.stat_result:
        if path.parent.name == "cem":  # it may be listed, and no more
            raise PermissionError(13, "Permission denied")
        return lstat(path)

    monkeypatch.setattr("grader.classroom.submitted_files.read_regular_file", failing)
    monkeypatch.setattr(Path, "lstat", closed)
    with HandIns(tmp_path, AnswerNames(["mean"])) as submissions:
        assert [hand_in.student for hand_in, _ in submissions] == ["ann"]
        assert list(submissions.unused_files()) == [
            ("bo/mean.py", "cannot be read: Input/output error"),
            ("cem/mean.py", "cannot be read: Permission denied"),
        ]


def test_a_disk_error_in_a_zip_file_is_no_students_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed_twice: Files = {"ann/mean.py": "", "bo.zip": zipped({"mean.py": ""}), "cem/mean.py": ""}
    (tmp_path / "all.zip").write_bytes(zipped(packed_twice))
    read = zipfile.ZipFile.open

    def failing(self: zipfile.ZipFile, name: Any, *rest: Any) -> Any:
        if name.filename.startswith(("ann", "bo")):
            raise OSError(5, "Input/output error")
        return read(self, name, *rest)

    monkeypatch.setattr(zipfile.ZipFile, "open", failing)
    with HandIns(tmp_path / "all.zip", AnswerNames(["mean"])) as submissions:
        assert [hand_in.student for hand_in, _ in submissions] == ["cem"]
        assert {path for path, _ in submissions.unused_files()} == {"ann/mean.py", "bo.zip"}


def test_a_program_that_is_too_large_is_refused(tmp_path: Path) -> None:
    large = b"#" * (MAX_SUBMISSION_FILE_BYTES + 1)
    tree(tmp_path, {"ann.py": large, "bo.py": large[1:], "cem.zip": zipped({"mean.py": large})})
    message = f"expected at most {MAX_SUBMISSION_FILE_BYTES:,} bytes, found more"
    assert faults(tmp_path) == {
        "ann.py": message,
        "bo.py": "",
        "cem.zip/mean.py": message.replace(" bytes", " bytes unpacked"),
    }


def test_zip_files_of_students_are_unpacked(tmp_path: Path) -> None:
    inner: Files = {"hw/mean.py": "x = 1", "hw/data.csv": "1", "__MACOSX/hw/._mean.py": ""}
    book = notebook("x = 1")
    named = {
        "submission_1/hw.zip": zipped(inner),
        "submission_2/hw.ZIP": zipped({"a.zip": zipped(inner)}),
        "submission_3/hw.zip": zipped({"any.ipynb": book}), "submission_4/hw.zip": zipped({}),
        "submission_5/hw.zip": zipped({"notes.txt": ""}), "submission_6/hw.zip": b"PK",
    }  # fmt: skip
    tree(tmp_path / "plain", named)
    (tmp_path / "all.zip").write_bytes(zipped(named))
    for root in (tmp_path / "plain", tmp_path / "all.zip"):
        hand_ins = {hand_in.path: hand_in for hand_in in read_hand_ins(root)}
        assert {path: hand_in.fault for path, hand_in in hand_ins.items()} == {
            "submission_1/hw.zip/hw/mean.py": "",
            "submission_2/hw.ZIP/a.zip/hw/mean.py": "",
            "submission_3/hw.zip/any.ipynb": "",
            "submission_4/hw.zip": "a zip file with nothing in it",
            "submission_5/hw.zip/notes.txt": "expected a .py or .ipynb file, found notes.txt",
            "submission_6/hw.zip": f"{DAMAGED}: File is not a zip file",
        }
        assert [program for _, program in programs(root)][:2] == [b"x = 1"] * 2


def test_a_damaged_zip_file_is_not_graded_for_what_it_defines(tmp_path: Path) -> None:
    tree(tmp_path, {"ann.zip": b"PK", "bo.py": "x = 1"})
    with HandIns(tmp_path, AnswerNames(["mean"])) as submissions:
        assert [hand_in.path for hand_in, _ in submissions] == ["ann.zip", "bo.py"]
        assert submissions.recognized == {}


def test_times_in_a_students_zip_file_are_ignored(tmp_path: Path) -> None:
    tree(tmp_path, {"ann.zip": packed((info("mean.py"), b""))})
    os.utime(tmp_path / "ann.zip", (86_400, 86_400))
    assert [hand_in.at for hand_in in read_hand_ins(tmp_path)] == ["1970-01-02T00:00:00+00:00"]
    (tmp_path / "all.zip").write_bytes(packed((info("ann.py"), b"")))
    assert [hand_in.at for hand_in in read_hand_ins(tmp_path / "all.zip")] == [
        "2026-01-02T03:04:06+00:00"
    ]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        *((name, "its path leads out of the zip file")
          for name in ("../mean.py", "/mean.py", "a/../mean.py", "C:\\mean.py", "a//mean.py")),
        ("a//notes.md", "its path leads out of the zip file"),
        ("./mean.py", ""), ("b\\mean.py", ""),
        ("mean.py/", "a zip file with nothing in it"),
        ("me\0an.py", "its name has characters that cannot be shown"),
        ("m" * 1001 + ".py", None), ("a/" * 9_000 + "mean.py", None),
    ],
)  # fmt: skip
def test_paths_that_lead_out_of_a_zip_file_are_the_students_fault(
    tmp_path: Path, name: str, fault: str | None
) -> None:
    content = packed((info(name), b""))
    tree(tmp_path, {"submission_1/hw.zip": content, "submission_2/hw.py": ""})
    faults_by_student = {hand_in.student: hand_in.fault for hand_in in read_hand_ins(tmp_path)}
    assert faults_by_student.get("submission_1", "nobody's") == (
        "nobody's" if fault is None else fault
    )


def test_readable_files_count_before_unreadable_ones(tmp_path: Path) -> None:
    tree(tmp_path, {"ann/mean.py": "x = 1"})
    (tmp_path / "ann" / "mean (2).py").symlink_to(tmp_path / "ann/mean.py")
    with HandIns(tmp_path, AnswerNames(["mean"]), "folders") as submissions:
        assert [hand_in.path for hand_in, _ in submissions] == ["ann/mean.py"]
        assert list(submissions.unused_files()) == [("ann/mean (2).py", LINK)]


def test_unread_entries_of_a_zip_file_are_reported(tmp_path: Path) -> None:
    secret = bytearray(packed((info("mean.py"), b"x = 1")))
    secret[6] |= 1
    secret[secret.index(b"PK\x01\x02") + 8] |= 1
    other = info("mean.py")
    other.compress_type = zipfile.ZIP_LZMA
    tree(tmp_path, {
        "ann.zip": bytes(secret), "bo.zip": packed((other, b"x = 1")),
        "cem.zip": packed((info("mean.py", stat.S_IFLNK | 0o777), b"/etc/passwd")),
        "dov.zip": packed((info("mean.py", stat.S_IFIFO), b"")),
    })  # fmt: skip
    assert faults(tmp_path) == {
        "ann.zip/mean.py": "it is encrypted",
        "bo.zip/mean.py": "it is packed in a way that is not read: pack it as a plain zip file",
        "cem.zip/mean.py": LINK, "dov.zip/mean.py": "a device or a pipe, and no file",
    }  # fmt: skip


@pytest.mark.parametrize("is_marked_utf8", [True, False])
def test_names_are_read_in_every_encoding_of_zip_programs(
    tmp_path: Path, is_marked_utf8: bool
) -> None:
    content = packed((info("josé/mean.py"), b""))
    if not is_marked_utf8:  # as a Mac does
        flags = content.index(b"PK\x01\x02") + 8
        content = content[:7] + b"\0" + content[8 : flags + 1] + b"\0" + content[flags + 2 :]
    (tmp_path / "all.zip").write_bytes(content)
    assert assigned_programs(tmp_path / "all.zip") == [("josé", "mean", "josé/mean.py")]
    cp437 = packed((info("x/mean.py"), b"")).replace(b"x/mean", b"\x82/mean")
    (tmp_path / "old.zip").write_bytes(cp437)
    assert [assigned[0] for assigned in assigned_programs(tmp_path / "old.zip")] == ["é"]


@pytest.mark.parametrize("layout", ["folders", ""])
def test_a_backslash_in_a_name_is_no_folder_in_a_class(tmp_path: Path, layout: str) -> None:
    paths = ["eve/x.py", "bo/mean.py", "bo\\mean.py"] if layout else ["ann.py", "bo.py", "bo\\x.py"]
    (tmp_path / "all.zip").write_bytes(packed(*((info(path), b"") for path in paths)))
    assert "bo/x.py" not in walked(tmp_path / "all.zip")
    assert paths[-1] in walked(tmp_path / "all.zip")
    own_paths = [
        hand_in.path
        for hand_in in read_hand_ins(tmp_path / "all.zip", layout=layout)
        if hand_in.student == "bo"
    ]
    assert own_paths == paths[1:2]


def test_bombs_do_not_go_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MAX_BYTES_BY_SUFFIX, ".zip", 200_000)
    zeros = bytes(900_000)
    large = zipped({"mean.py": "x", "noise": os.urandom(300_000)})
    nested = zipped({"mean.py": "x"})
    for _ in range(4):
        nested = zipped({"a.zip": nested})
    tree(tmp_path, {
        "ann.zip": zipped({"mean.py": zeros}), "bo.zip": large,
        "cem.zip": zipped({"a.zip": zeros}), "dov.zip": nested,
        "eve.zip": zipped({f"{n}.zip": packed((info("x"), bytes(90_000))) for n in range(4)}),
    })  # fmt: skip
    fault_by_path = faults(tmp_path)
    assert fault_by_path.pop("ann.zip/mean.py") == "its zip files hold more than 200,000 bytes"
    assert fault_by_path.pop("bo.zip") == "expected a zip file of at most 200,000 bytes, found more"
    assert fault_by_path.pop("cem.zip/a.zip") == (
        "expected a zip file of at most 200,000 bytes unpacked, found more"
    )
    assert fault_by_path.pop("dov.zip/a.zip/a.zip/a.zip").startswith("expected at most 3 zip files")
    assert fault_by_path == dict.fromkeys(
        ("eve.zip/2.zip", "eve.zip/3.zip"), "its zip files hold more than 200,000 bytes"
    )


def test_many_zip_files_of_one_student_take_no_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / "tmp").mkdir()
    bomb = packed(*((info(f"{n}.py"), b"#" * MAX_SUBMISSION_FILE_BYTES) for n in range(4)))
    bombs: Files = {f"eve/{n}.zip": bomb for n in range(4)}
    tree(tmp_path / "in", {"ann/mean.zip": zipped({"mean.py": "x = 1"}), **bombs})
    with HandIns(tmp_path / "in", AnswerNames(["mean"])) as submissions:
        size = os.fstat(submissions._submitted._temporary.fileno()).st_size
        assert size < MAX_SUBMISSION_FILE_BYTES
        assert [*(tmp_path / "tmp").iterdir()] == []  # nothing has a name that a kill could leave
        program_by_path = {hand_in.path: program.main for hand_in, program in submissions}
    assert program_by_path["ann/mean.zip/mean.py"] == b"x = 1"
    assert program_by_path["eve/0.zip/0.py"] == b"#" * MAX_SUBMISSION_FILE_BYTES


def test_nothing_is_written_outside_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / "tmp").mkdir()
    entries = [(info(name), b"x = 1") for name in ("../../mean.py", "/mean.py", "mean.py")]
    tree(tmp_path / "in", {"ann.zip": packed(*entries)})
    assert len(programs(tmp_path / "in")) == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["ann.zip", "in", "tmp"]


def test_a_zip_file_of_countless_files_is_refused(tmp_path: Path) -> None:
    entry = packed((info("a"), b""))
    many = entry * (MAX_ARCHIVE_ENTRIES + 1)
    tree(tmp_path, {"ann.zip": many})
    assert faults(tmp_path) == {"ann.zip": "its zip files hold more than 20,000 files"}


def test_nested_zip_files_share_one_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submitted_files, "MAX_ARCHIVE_ENTRIES", 12)
    four = zipped({f"{number}.py": "" for number in range(4)})
    tree(tmp_path, {"ann.zip": zipped({"a.zip": four, "b.zip": four, "c.zip": four})})
    assert walked(tmp_path) == {"ann.zip/c.zip": "its zip files hold more than 12 files"} | {
        f"ann.zip/{inner}.zip/{number}.py": "" for inner in "ab" for number in range(4)
    }


def test_every_cut_and_every_wrong_byte_of_a_zip_file_is_survived(tmp_path: Path) -> None:
    content = zipped({"mean.py": "x = 1" * 20})
    (tmp_path / "zoe.py").touch()
    for position in range(len(content)):
        (tmp_path / "ann.zip").write_bytes(content[:position])
        assert faults(tmp_path)["ann.zip"].startswith(DAMAGED)
        (tmp_path / "ann.zip").write_bytes(
            content[:position] + bytes([content[position] ^ 0xFF]) + content[position + 1 :]
        )
        assert {hand_in.student for hand_in in read_hand_ins(tmp_path)} <= {"ann", "zoe"}


def test_a_root_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("no zip")
    os.mkfifo(tmp_path / "pipe")
    for name, message in [
        ("none", "a folder or a zip file, found none"),
        ("notes", "a folder or a zip file: expected a zip"),
        ("pipe", "expected a folder or a zip file"),
    ]:  # fmt: skip
        with pytest.raises(UsageError, match=message):
            read_hand_ins(tmp_path / name)


CONTENT = st.sampled_from([b"x = 1", b"{", b"PK\x05\x06", zipped({"mean.py": "", "a/b": ""})])


@pytest.mark.filterwarnings("ignore:Duplicate name")
@settings(deadline=None, max_examples=60, suppress_health_check=[*HealthCheck])
@given(
    names=st.lists(st.tuples(PATHS, CONTENT), max_size=5),
    name=st.sampled_from(["", *LAYOUTS]),
    damage=st.none() | st.tuples(st.integers(0, 400), st.integers(0, 255)),
)
def test_any_zip_file_is_read_or_refused(
    tmp_path: Path, names: list[tuple[str, bytes]], name: str, damage: tuple[int, int] | None
) -> None:
    modes = [(info(path, number * 0o20000), data) for number, (path, data) in enumerate(names)]
    content = bytearray(packed(*modes))
    if damage and damage[0] < len(content):
        content[damage[0]] = damage[1]
    (tmp_path / "all.zip").write_bytes(content)
    with (
        suppress(UsageError),
        HandIns(tmp_path / "all.zip", AnswerNames(ASKED), name) as submissions,
    ):
        for hand_in, program in submissions:
            assert hand_in.student == to_student_id(hand_in.student) != ""
            assert bool(hand_in.sha256) != bool(hand_in.fault)
            assert hand_in.question in ASKED
            assert not (hand_in.fault and program.main)
        assert "\n" not in submissions.describe_unassigned() or any(
            "\n" in path for path, _ in names
        )


# Notebooks.


def modules(root: Path, *questions: str, **options: Any) -> dict[str, dict[str, bytes]]:
    """Return the modules of each program, by its path."""
    with HandIns(root, AnswerNames(questions or ("mean",)), **options) as submissions:
        return {
            hand_in.path: dict(program.modules)
            for hand_in, program in submissions
            if hand_in.sha256
        }


def test_imported_files_of_the_folder_come_with_a_program(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "ann/mean.py": b"from __future__ import annotations\nimport os, shapes as s, lost\n",
            "ann/shapes.py": b"def f():\n    from sums import total\n",
            "ann/sums.py": b"import shapes, numpy\nfrom sys import path\n",
            "ann/numpy.py": b"1 / 0",
            "ann/sys.py": b"1 / 0",
            "ann/notes.py": b"1 / 0",
            "ann/deep/lost.py": b"1 / 0",
            "bo/mean.py": b"import shapes\n",
            "cy/mean.ipynb": notebook("import shapes # and more, sums"),
            "cy/shapes.py": b"caf\xe9 = 1",
            "cy/sums.py": b"",
        },
    )
    modules_by_path = modules(tmp_path)
    assert {path: list(names) for path, names in modules_by_path.items()} == {
        "ann/mean.py": ["shapes", "sums"], "bo/mean.py": [], "cy/mean.ipynb": ["shapes"],
    }  # fmt: skip
    assert modules_by_path["cy/mean.ipynb"]["shapes"] == b"caf\xe9 = 1"
    with HandIns(tmp_path, AnswerNames(["mean"])) as submissions:
        before = {hand_in.path: hand_in.sha256 for hand_in, _ in submissions}
        unused = [path for path, _ in submissions.unused_files()]
    assert unused == [
        "ann/deep/lost.py",
        "ann/notes.py",
        "ann/numpy.py",
        "ann/sys.py",
        "cy/sums.py",
    ]
    (tmp_path / "ann/sums.py").write_text("total = 1")
    with HandIns(tmp_path, AnswerNames(["mean"])) as submissions:
        after = {hand_in.path: hand_in.sha256 for hand_in, _ in submissions}
    assert [path for path in before if before[path] != after[path]] == ["ann/mean.py"]


def test_an_imported_file_is_no_answer_by_itself(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "ann/main.py": b"\xef\xbb\xbffrom utils import *",
            "ann/utils.py": b"x = 1; import zoo",
            "ann/zoo.py": b"\r",
            "bo/work.ipynb": notebook("try: import utils\nexcept ImportError: pass"),
            "bo/utils.py": b"pass\rimport one",
            "bo/one.py": b"import utils",
            "cy/one.py": b"import two",
            "cy/two.py": b"import one",
        },
    )
    with HandIns(tmp_path, AnswerNames(["mean"])) as submissions:
        modules_by_path = {hand_in.path: list(program.modules) for hand_in, program in submissions}
        joined, unused = submissions.joined, list(submissions.unused_files())
    assert modules_by_path == {
        "ann/main.py": ["utils", "zoo"], "bo/work.ipynb": ["utils", "one"],
        "cy/one.py": ["two", "one"], "cy/two.py": ["one", "two"],
    }  # fmt: skip
    assert joined["ann/main.py"] == ["utils.py", "zoo.py"]
    assert "ann/utils.py" not in joined
    assert unused == []


def test_the_number_of_imported_files_is_limited(tmp_path: Path) -> None:
    files = {f"ann/m{n}.py": f"import m{n + 1}\n".encode() for n in range(1300)}
    tree(tmp_path, {**files, "ann/mean.py": b"import m0\n", "bo/mean.py": b"import large, huge"})
    tree(tmp_path, {f"bo/{name}.py": b"#" * 600_000 for name in ("large", "huge")})
    message = "expected at most 20 files and 1,000,000 bytes that a program imports, found more"
    assert faults(tmp_path) == {"ann/mean.py": message, "bo/mean.py": message}


def test_no_program_imports_a_file_of_another_student(tmp_path: Path) -> None:
    tree(tmp_path, {"ann.py": b"from bo import *\n", "bo.py": b"import ann\n"})
    assert modules(tmp_path, layout="files") == {"ann.py": {}, "bo.py": {}}


@pytest.mark.parametrize("forged", [b"\0{", b'\0{"x": "y"}', b'\0{"": "x", "a": "y"}', b"\0[1]"])
def test_a_file_is_one_program_whatever_it_begins_with(tmp_path: Path, forged: bytes) -> None:
    tree(tmp_path, {"ann/mean.py": forged})
    with HandIns(tmp_path, AnswerNames(["mean"])) as submissions:
        assert [program for _, program in submissions] == [SubmittedProgram(forged)]


def test_no_file_has_the_key_of_another_with_its_modules() -> None:
    several = SubmittedProgram(b"import a", {"a": b"x = 1"})
    alone = SubmittedProgram(json.dumps(several.hashes).encode())
    keys = {
        grade_key(TERMS, MEAN, program, "ann")
        for program in (several, alone, SubmittedProgram(b"import a"))
    }
    assert len(keys) == 3


def test_a_bug_of_the_grader_affects_one_student_and_costs_no_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bug is in reading a notebook, or a zip file."""

    def buggy(content: bytes, *, skip: bool) -> bytes:
        raise KeyError("a bug")

    def broken(*_: object) -> str:
        raise AssertionError("a bug")

    monkeypatch.setattr("grader.classroom.hand_ins.notebook_code", buggy)
    files: Files = {"ann/mean.py": "x", "bo/mean.ipynb": notebook("x"), "cy/mean.py": "y"}
    tree(tmp_path / "in", files)
    with HandIns(tmp_path / "in", AnswerNames(["mean"])) as submissions:
        hand_ins = {hand_in.student: hand_in for hand_in, _ in submissions}
    assert [name for name, hand_in in hand_ins.items() if hand_in.sha256] == ["ann", "cy"]
    assert (hand_ins["bo"].fault, "KeyError" in hand_ins["bo"].unread) == ("", True)
    monkeypatch.setattr("grader.classroom.submitted_files._entry_path", broken)
    tree(tmp_path / "in", {"dee/mean.zip": zipped({"mean.py": "x"})})
    with HandIns(tmp_path / "in", AnswerNames(["mean"])) as submissions:
        hand_ins = {hand_in.student: hand_in for hand_in, _ in submissions}
        assert not submissions.students_without_file
    assert "a bug" in hand_ins["dee"].unread
    results = tmp_path / "out"
    with (
        HandIns(tmp_path / "in", AnswerNames(["mean"])) as submissions,
        ClassResults(results, write=TERMS) as stored,
    ):
        assert stored.store_hand_ins(submissions, submissions.unused_files()) == 4
        assert len(list(stored.programs_to_grade(MEAN))) == 2
        entries = {entry.hand_in.student: entry for entry in stored.settled_entries()}
    assert {name: entry.points for name, entry in entries.items()} == {"bo": None, "dee": None}
    assert all("failed to read it" in entry.note for entry in entries.values())
