"""Whatever is handed in: nothing raises, and nobody gets another one's answer."""

from __future__ import annotations

import unicodedata
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.classroom.hand_in import HandIns
from grader.classroom.layout import (
    LAYOUTS,
    AnswerNames,
    Claim,
    Layout,
    Pattern,
    acts,
    detected,
    student_id,
    submitters,
)
from grader.model.errors import UsageError

ASKED = ("mean", "layer-norm")
PIECES = st.sampled_from(
    ["ann", "bo", "mean", "layer_norm", "submission", "submission_1", "submission_22", ".py",
     ".ipynb", ".zip", ".txt", "_", "-1", " (2)", "_LATE", "_1_2_", "anon_x1_7_", "..", ".", "/",
     "//", "\\", ":", "\n", "\0", "\u202e", "\udcff", "e\u0301", " ", "__MACOSX", "%s",
     "{student}", "=1+1", "Ann Lee_12_assignsubmission_file_",
     "Bo_13_assignsubmission_onlinetext_"]
)  # fmt: skip
PATHS = st.lists(PIECES | st.text(max_size=3), min_size=1, max_size=8).map("".join)


def fits(place: Claim, path: str) -> bool:
    """Whether a place is within the rules."""
    plain = unicodedata.normalize("NFC", path)
    said = place.student.removeprefix("anon_").rpartition("_")[0] or place.student
    return (
        place.question in ASKED
        and place.student == student_id(place.student) != ""
        and not acts(place.student)
        and "/" not in place.student
        and place.student not in {".", ".."}
        and said in plain
    )


@given(PATHS, st.sampled_from([*LAYOUTS]))
def test_any_path_is_somebodys_within_the_rules_or_nobodys(path: str, name: str) -> None:
    asked = AnswerNames(ASKED)
    for place in Layout(name, asked).claims(path):
        assert fits(place, path)


@given(PATHS, PATHS)
def test_any_pattern_is_one_or_is_refused(path: str, text: str) -> None:
    for pattern in ("{student}/{question}.py", "{student}_{_}/{question}", "{student}" + text):
        with suppress(UsageError):
            for place in Pattern(pattern, AnswerNames(ASKED)).claims(path):
                assert fits(place, path)


@given(PATHS, PATHS)
def test_what_a_student_chooses_does_not_change_whose_it_is(one: str, two: str) -> None:
    """The name of a file that is handed in, and the folders that are handed in with it."""
    for name, top in [
        ("gradescope", "submission_7/"), ("moodle", "Eve_7_assignsubmission_file_/"),
        ("canvas", "eve_7_8_"), ("folders", "eve/"),
    ]:  # fmt: skip
        layout = Layout(name, AnswerNames(ASKED))
        whose = {place.student for path in (one, two) for place in layout.claims(top + path)}
        assert len(whose) <= 1


@given(st.lists(PATHS, max_size=6), st.sampled_from(["", *LAYOUTS]))
def test_any_class_has_a_layout_or_is_refused(paths: list[str], name: str) -> None:
    with suppress(UsageError):
        found, around = detected(paths, AnswerNames(ASKED), name)
        assert found in LAYOUTS
        assert "/" not in around


@given(st.lists(st.sampled_from(
    ["submission_1:", "  :submitters:", "  - :name: Ann", "    :sid: '7'", "    :email: a@b", "x",
     "  :created_at: 2024-01-02 03:04:05 Z", "  - :sid: \"\\x", "    - :sid: |", "", "---", " - :"]
) | st.text(max_size=12)))  # fmt: skip
def test_any_metadata_is_read(lines: list[str]) -> None:
    with suppress(UsageError):
        for people in submitters("\n".join(lines).encode("utf-8", "replace")).values():
            assert all(isinstance(person.student, str) for person in people)


def archive(names: Iterable[tuple[str, bytes]]) -> bytes:
    """A zip file with any names at all."""
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as made:
        for number, (name, data) in enumerate(names):
            info = zipfile.ZipInfo(f"{number}")
            info.filename = name.encode("utf-8", "replace").decode()
            info.external_attr = (number * 0o20000) << 16
            made.writestr(info, data)
    return content.getvalue()


CONTENT = st.sampled_from(
    [b"x = 1", b"{", b"PK\x05\x06", archive([("mean.py", b""), ("a/b", b"")])]
)


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
    content = bytearray(archive(names))
    if damage and damage[0] < len(content):
        content[damage[0]] = damage[1]
    (tmp_path / "all.zip").write_bytes(content)
    with suppress(UsageError), HandIns(tmp_path / "all.zip", ASKED, name) as handed_in:
        for one, program in handed_in:
            assert one.student == student_id(one.student) != ""
            assert bool(one.sha256) != bool(one.fault)
            assert one.question in ASKED
            assert not (one.fault and program)
        assert "\n" not in handed_in.nobodys() or any("\n" in path for path, _ in names)
