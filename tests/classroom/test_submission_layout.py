"""The student of a file follows from the part of its path that the student did not choose."""

from __future__ import annotations

import os
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.hand_ins import HandIns
from grader.classroom.submission_layout import (
    LAYOUTS,
    UNFIT,
    AnswerNames,
    Claim,
    Layout,
    PatternLayout,
    detect_layout,
    has_control_characters,
    read_submitters,
    to_student_id,
)
from grader.model.errors import UsageError
from tests.classroom.builders import Files, assigned_programs, notebook, read_hand_ins, tree, zipped

BOOK = notebook("x = 1")


LAID_OUT = {  # whose each file is; "": nobody's
    "files": {"alice.py": "alice", "José Núñez.py": "José Núñez", "readme.md": ""},
    "folders": {
        "alice/mean.py": "alice", "bob/submission.py": "bob", "bob/data.csv": "",
        "cem/src/mean.py": "cem",
    },
    "gradescope": {
        "submission_1/anything.py": "submission_1", "submission_22/src/mean.py": "submission_22",
    },
    "moodle": {
        "Ann Lee_123_assignsubmission_file_/hw.py": "123",
        "Bo Lee_124_assignsubmission_file/hw.py": "124",
        "Cem_125_assignsubmission_file_mean.py": "125",
        "Dov_126_assignsubmission_onlinetext_/onlinetext.html": "",
        "Team 7_9_assignsubmission_file_/mean.py": "9",
        "Default group_assignsubmission_file_/mean.py": "Default group",
    },
    "canvas": {
        "leeann_12345_67890_mean.py": "leeann_12345",
        "obriencem_LATE_12346_67891_my work-2.py": "obriencem_12346",
        "anon_aB3xY_67892_mean.py": "anon_aB3xY", "LATE_anon_zZ9_67893_mean.py": "anon_zZ9",
        "dovdoe_12347_text.html": "",
    },
}  # fmt: skip


@pytest.mark.parametrize("layout", LAID_OUT)
def test_a_layout_is_recognized(tmp_path: Path, layout: str) -> None:
    files = dict.fromkeys(LAID_OUT[layout], "x = 1")
    expected = {path: student for path, student in LAID_OUT[layout].items() if student}
    plain = tree(tmp_path / "plain", files)
    (tmp_path / "packed.zip").write_bytes(zipped(files))
    wrapped = tree(tmp_path / "wrapped", {f"hw 1/{name}": text for name, text in files.items()})
    for root in (plain, tmp_path / "packed.zip"):
        assert {path: student for student, _, path in assigned_programs(root)} == expected
        assert {
            path: student for student, _, path in assigned_programs(root, layout=layout)
        } == expected
    assert {
        path.removeprefix("hw 1/"): student for student, _, path in assigned_programs(wrapped)
    } == expected
    with HandIns(wrapped, AnswerNames(["mean"])) as submissions:
        assert submissions.layout.name == layout


def test_late_marks_and_names_of_platforms(tmp_path: Path) -> None:
    tree(tmp_path, {"leeann_LATE_1_2_a.py": "", "bo_3_4_a.py": ""})
    assert [(hand_in.name, hand_in.late, hand_in.at) for hand_in in read_hand_ins(tmp_path)] == [
        ("bo", False, ""), ("leeann", True, "")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "student"),
    [
        # Who may choose a name cannot choose another one's.
        ("eve_1001_5_x_2002_77_mean.py", "eve_1001"),
        ("submission_1/submission_2/mean.py", "submission_1"),
        ("Eve_1_assignsubmission_file_/Ann_2_assignsubmission_file_/mean.py", "1"),
        ("eve/../ann/mean.py", None), ("../ann/mean.py", None), ("/ann/mean.py", None),
        ("eve/ann/mean.py", "eve"), ("eve\n/mean.py", None), ("e\u202ee/mean.py", None),
    ],
)  # fmt: skip
def test_no_student_can_hand_in_for_another(tmp_path: Path, path: str, student: str | None) -> None:
    other_paths = {"eve_": "zoe_9_9_mean.py", "subm": "submission_9/mean.py",
             "Eve_": "Z_9_assignsubmission_file_/m.py"}  # fmt: skip
    second = other_paths.get(path[:4], "zoe/mean.py")
    (tmp_path / "all.zip").write_bytes(zipped({path: "", second: ""}))
    students = {
        hand_in.path: hand_in.student
        for hand_in in read_hand_ins(tmp_path / "all.zip")
        if not hand_in.fault
    }
    assert students.get(path) == student
    assert students[second] not in {student, "ann", "2"}


@pytest.mark.parametrize(
    ("own", "question"),
    [
        ("layer-norm.py", "layer-norm"), ("layer_norm.py", "layer-norm"),
        ("Layer-Norm (1).py", "layer-norm"), ("layer-norm-3.py", "layer-norm"),
        ("layer-norm.ipynb", "layer-norm"), ("layer-norm-2.py", "layer-norm-2"),
        ("layer.py", ""), ("submission.py", ""), ("layer-norm", ""),
        # With more behind it; another question of the banks is none.
        ("layer-norm - Copy.py", "layer-norm"), ("layer_norm_final.py", "layer-norm"),
        ("layer-norm-2-v3.py", "layer-norm-2"), ("layer-norms.py", ""), ("rope.py", ""),
        ("rope/layer-norm.py", ""), ("rope_2/submission.py", ""),
        ("new/layer-norm.py", "layer-norm"),
        # As `drill` makes it.
        ("layer-norm/submission.py", "layer-norm"), ("paper/answers.txt", "paper"),
        # Questions that ask for a text.
        ("paper.txt", "paper"), ("Paper (2).txt", "paper"), ("paper.py", ""),
        ("layer-norm.txt", ""), ("layer-norm/answers.txt", ""), ("answers.txt", "paper"),
        ("Answers (1).txt", "paper"), ("rope/answers.txt", ""), ("rope/paper.txt", ""),
        ("readme.txt", ""),
    ],
)  # fmt: skip
def test_the_question_is_in_the_name(own: str, question: str) -> None:
    names = AnswerNames(["layer-norm", "layer-norm-2", "paper"], ["paper"], ["rope", "layer"])
    questions, certainty = names.questions_answered(own.split("/"))
    answers = list(questions) if certainty < UNFIT else []
    assert answers == ([question] if question else [])


def test_a_notebook_for_several_questions_answers_each(tmp_path: Path) -> None:
    tree(tmp_path, {"ann.ipynb": BOOK, "bo.ipynb": BOOK, "cem.py": ""})
    assert [assigned[:2] for assigned in assigned_programs(tmp_path, "mean", "var")] == [
        ("ann", "mean"), ("ann", "var"), ("bo", "mean"), ("bo", "var")
    ]  # fmt: skip
    exported = tree(tmp_path / "lms", {"submission_1/hw.ipynb": BOOK, "submission_1/var.py": ""})
    # What has a question's name is its answer; the notebook is that of the other one.
    assert assigned_programs(exported, "mean", "var") == [
        ("submission_1", "mean", "submission_1/hw.ipynb"),
        ("submission_1", "var", "submission_1/var.py"),
    ]


def test_the_most_likely_files_count_and_the_last_of_them_last(tmp_path: Path) -> None:
    names = ["submission_1/helper.py", "submission_1/mean.py", "submission_1/old/mean.py",
             "submission_2/b10.py", "submission_2/b9.py"]  # fmt: skip
    tree(tmp_path, dict.fromkeys(names, ""))
    with HandIns(tmp_path, AnswerNames(["mean"])) as submissions:
        assert [hand_in.path for hand_in, _ in submissions] == [
            "submission_1/old/mean.py", "submission_1/mean.py", "submission_2/b9.py",
            "submission_2/b10.py",
        ]  # fmt: skip
        assert [path for path, _ in submissions.unused_files()] == ["submission_1/helper.py"]


@pytest.mark.parametrize(
    "later", ["mean - Copy.py", "mean_final.py", "new/mean.py", "mean (2).py", "mean/submission.py"]
)
def test_a_copy_or_a_file_in_a_folder_is_as_likely_and_the_last_one_counts(
    tmp_path: Path, later: str
) -> None:
    tree(tmp_path, {"ann/mean.py": "", f"ann/{later}": "", "ann/mean_old.py": ""})
    os.utime(tmp_path / "ann/mean.py", (86_400, 86_400))
    with HandIns(tmp_path, AnswerNames(["mean"]), "folders") as submissions:
        assert [hand_in.path for hand_in, _ in submissions] == ["ann/mean.py", f"ann/{later}"]
        assert [path for path, _ in submissions.unused_files()] == ["ann/mean_old.py"]
    os.utime(tmp_path / "ann/mean.py")
    os.utime(tmp_path / "ann" / later, (86_400, 86_400))
    assert [hand_in.path for hand_in in read_hand_ins(tmp_path, layout="folders")] == [
        f"ann/{later}",
        "ann/mean.py",
    ]


def test_a_file_named_after_another_question_never_counts(tmp_path: Path) -> None:
    both = {"mean/submission.py": "1", "rope/submission.py": "2", "rope.py": "3"}
    packed = {f"pack/{name}": text for name, text in both.items()}
    tree(tmp_path, {"ann/README.md": "", "bo.zip": zipped(packed), "cy/rope.py": ""})
    tree(tmp_path / "ann", both)
    others: Any = {"others": ["rope", "mean", "adamw"]}
    assert assigned_programs(tmp_path, **others) == [
        ("ann", "mean", "ann/mean/submission.py"), ("bo", "mean", "bo.zip/pack/mean/submission.py")
    ]  # fmt: skip
    alone = tree(tmp_path / "alone", {f"gus/{name}": text for name, text in both.items()})
    assert assigned_programs(alone, **others) == [("gus", "mean", "gus/mean/submission.py")]
    # Where the banks hold no rope, as on Gradescope, the folder that is named after it says more.
    assert assigned_programs(alone, layout="folders")[-1] == (
        "gus",
        "mean",
        "gus/mean/submission.py",
    )


def test_a_file_of_a_wrong_type_is_reported_next_to_a_right_answer(tmp_path: Path) -> None:
    tree(tmp_path, {"ann/mean.py": "", "ann/paper.docx": "", "bo/paper.txt": "", "bo/mean.md": "",
                    "cy/paper.ipynb": BOOK, "cy/mean.py": "", "dov/answers.txt": "",
                    "dov/submission.py": ""})  # fmt: skip
    with HandIns(tmp_path, AnswerNames(["mean", "paper"], ["paper"])) as submissions:
        faults = {(hand_in.student, hand_in.question): hand_in.fault for hand_in, _ in submissions}
        assert faults == {
            ("ann", "mean"): "", ("ann", "paper"): "expected a .txt file, found paper.docx",
            ("bo", "mean"): "expected a .py or .ipynb file, found mean.md", ("bo", "paper"): "",
            ("cy", "paper"): "expected a .txt file, found paper.ipynb", ("cy", "mean"): "",
            ("dov", "mean"): "", ("dov", "paper"): "",
        }  # fmt: skip
        assert (
            dict(submissions.unused_files())["ann/paper.docx"]
            == "expected a .txt file, found paper.docx"
        )
        assert submissions.students_without_file == ["ann to paper", "bo to mean", "cy to paper"]


def test_the_number_of_files_of_one_student_is_limited(tmp_path: Path) -> None:
    tree(tmp_path, {f"submission_1/{number}.py": "" for number in range(30)})
    assert [assigned[2] for assigned in assigned_programs(tmp_path)] == [
        f"submission_1/{n}.py" for n in range(10, 30)
    ]


@pytest.mark.parametrize(
    ("files", "message", "hint"),
    [
        (["a.py", "b/mean.py"], r"1 like STUDENT\.py; 1 like STUDENT/QUESTION",
         "--layout files or folders"),
        (["x_1_2_mean.py", "b.py"], "an export of Canvas .*STUDENT.py|STUDENT.py.*Canvas",
         "--layout canvas or files"),
        (["hw/mean.py", "hw/ann.py"], "found hw alone", "--layout folders if"),
        (["ann/bob/mean.py"], "found ann alone", "--layout folders if"),
        (["ann/bob.py"], "found ann alone", "give that folder as SUBMISSIONS"),
        (["ann/submission_1/mean.py"], "found ann alone", "--layout folders if"),
        (["hw/mean.py", "hw/submission_1/a.py", "hw/submission_2/a.py"], "found hw alone", ""),
    ],
)  # fmt: skip
def test_an_ambiguous_layout_is_an_error(
    tmp_path: Path, files: list[str], message: str, hint: str
) -> None:
    tree(tmp_path, dict.fromkeys(files, ""))
    with pytest.raises(UsageError, match=message) as error:
        read_hand_ins(tmp_path)
    assert hint in error.value.hint


def test_a_single_student_cannot_make_folders_for_others(tmp_path: Path) -> None:
    for others in ({"bob/readme.txt": ""}, {"cem/a/data.csv": "", "bob/x.pdf": ""}):
        root = tree(tmp_path / f"{len(others)}", {"ann/bob/mean.py": "", "ann/cem/mean.py": ""})
        assert {assigned[0] for assigned in assigned_programs(root, layout="folders")} == {"ann"}
        tree(root, others)
        assert {assigned[0] for assigned in assigned_programs(root)} == {"ann"}


def test_the_name_of_a_zip_file_decides_whose_it_is(tmp_path: Path) -> None:
    packed = {"ann.zip": zipped({"bob.py": "", "cem/mean.py": ""})}
    for options in ({}, {"layout": "files"}, {"layout": "folders"}):
        assert {
            assigned[0] for assigned in assigned_programs(tree(tmp_path, packed), **options)
        } == {"ann"}


@pytest.mark.parametrize(
    ("layout", "path", "student"),
    [("gradescope", "submission_1/a.py", "submission_1"), ("files", "ann.py", "ann"),
     ("canvas", "ann_1_2_a.py", "ann_1")],
)  # fmt: skip
def test_a_folder_around_a_layout_that_is_named(
    tmp_path: Path, layout: str, path: str, student: str
) -> None:
    tree(tmp_path, {f"all/{path}": "", "readme.md": ""})
    assert [assigned[0] for assigned in assigned_programs(tmp_path, layout=layout)] == [student]


def test_a_layout_that_is_named_is_taken(tmp_path: Path) -> None:
    tree(tmp_path, {"a.py": "", "b/mean.py": "", "hw/mean.py": ""})
    assert [assigned[0] for assigned in assigned_programs(tmp_path, layout="folders")] == [
        "b",
        "hw",
    ]
    assert [assigned[0] for assigned in assigned_programs(tmp_path, layout="files")] == ["a"]
    with pytest.raises(UsageError, match="expected files, folders, gradescope"):
        read_hand_ins(tmp_path, layout="blackboard")
    with pytest.raises(UsageError, match="--layout or --pattern, found both"):
        read_hand_ins(tmp_path, layout="files", pattern="{student}.py")


TWICE = "HW1_ann_attempt_2026-11-20-10-00-00_{}_bob_attempt_2026-11-20-11-00-00_mean.py"


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("{student}/{question}.py", "ann/mean.py", ("ann", "mean", "", "", "")),
        ("{question}-{student}.{_}", "mean-ann-lee.ipynb", ("ann-lee", "mean", "", "", "")),
        ("{question}-{student}.py", "mean-1-ann.py", ("1-ann", "mean", "", "", "")),
        # What stands behind a student may be chosen by one: it does not say where the name ends.
        ("{student}_{question}.py", "ann_lee_mean.py", None),
        ("{student}_{question}.py", "ann_mean-2.py", ("ann", "mean", "", "", "")),
        ("{question}_{student}.py", "mean_ann_lee.py", ("ann_lee", "mean", "", "", "")),
        *(("{_}_{student}_attempt_{at}_{question}.py", TWICE.format(tail), None)
          for tail in ("\u200e", "x" * 201, "x", "mean")),
        ("{_}_{student}_{question}.py", "HW1_\u200e_bob_mean.py", None),
        ("{_}_{student}_{at}_{_}.py", "ps1_ann_2016-01-30_my_mean.py",
         ("ann", "mean", "2016-01-30T00:00:00+00:00", "", "")),
        ("{_}/{name} <{email}>/{student}.py", "x/Ann Lee <a@b>/7.py",
         ("7", "mean", "", "Ann Lee", "a@b")),
        ("{_}_{student}_attempt_{at}_{question}.py", "ps1_ann_attempt_2016-01-30 15:00:00_mean.py",
         ("ann", "mean", "2016-01-30T15:00:00+00:00", "", "")),
        ("{student}.zip/{_}.py", "ann.zip/hw.py", ("ann", "mean", "", "", "")),
        ("{student}.py", "ann.py.py", ("ann.py", "mean", "", "", "")),
        ("{student}/{question}.py", "ann/deep/mean.py", None),
        ("{student}/{question}.py", "ann/other.py", None),
        ("{student}/{_}", "ann/mean.txt", None),
        ("{student}_{at}.py", "ann_yesterday.py", None),
        ("{student}_{at}.py", "ann_0001-01-01 00:00+14:00.py", None),
        ("{student}_{at}.py", "ann_2024-01-30T15:30:10+02:00.py",
         ("ann", "mean", "2024-01-30T13:30:10+00:00", "", "")),
        ("{student}" + "_{_}" * 5 + "x.py", "_" * 240 + ".py", None),
    ],
)  # fmt: skip
def test_a_pattern_describes_other_layouts(
    pattern: str, path: str, expected: tuple[str, ...] | None
) -> None:
    claims = PatternLayout(pattern, AnswerNames(["mean"])).claims(path)
    fields = [
        (claim.student, claim.question, claim.time or "", claim.name, claim.email)
        for claim in claims
    ]
    assert fields == ([expected] if expected else [])


def test_a_question_with_the_text_between_in_its_name() -> None:
    pattern, several = "{question}-{student}.py", ["layer-norm", "layer-norm-2", "mean"]
    (claim,) = PatternLayout(pattern, AnswerNames(several[::2])).claims("layer-norm-ann-lee.py")
    assert (claim.student, claim.question) == ("ann-lee", "layer-norm")
    # 2-ann's, or ann's
    assert PatternLayout(pattern, AnswerNames(several)).claims("layer-norm-2-ann.py") == []


@pytest.mark.parametrize("pattern", [
    "{question}.py", "{student}/{student}", "{student}/{who}.py", "{student}{question}", "{student",
    "{student}/{}.py",
])  # fmt: skip
def test_an_invalid_pattern_is_an_error(pattern: str) -> None:
    with pytest.raises(UsageError, match=r"expected the fields \{student\}, \{question\}, "):
        PatternLayout(pattern, AnswerNames(["mean"]))


METADATA = """\
---
submission_1:
  :submitters:
  - :name: Ann Lee
    :sid: '0070'
    :email: ann@x.edu
  - :name: "Jos\\u00e9 \\"Joe\\""
    :sid: ''
    :email: joe@x.edu
  :created_at: 2024-02-03 04:05:06.789123456 Z
  :score: 3.0
  :results:
    tests:
    - name: one
      output: |
        submission_9:
          :submitters:
          - :name: Forged
submission_2:
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: &1 2024-02-03 04:05:06.000000000 Z
    time: 2024-02-02 20:05:06.000000000 Z
  :submitters:
  - :name: |-
      Eve
      :sid: '0070'
    :sid: 8
    :email: eve@x.edu
"""


def test_metadata_of_gradescope_gives_students_and_times(tmp_path: Path) -> None:
    tree(tmp_path, {
        "submission_metadata.yml": METADATA, "submission_1/mean.py": "", "submission_2/mean.py": "",
        "submission_3/mean.py": "", "submission_2/submission_metadata.yml": METADATA,
    })  # fmt: skip
    first, later = "2024-02-03T04:05:06.789+00:00", "2024-02-03T04:05:06+00:00"
    assert [
        (hand_in.student, hand_in.name, hand_in.email, hand_in.at)
        for hand_in in read_hand_ins(tmp_path)
    ] == [
        ("0070", "Ann Lee", "ann@x.edu", first),
        ("joe@x.edu", 'José "Joe"', "joe@x.edu", first),
        ("8", "Eve\n:sid: '0070'", "eve@x.edu", later),
        ("submission_3", "", "", ""),
    ]


def test_metadata_in_other_places_is_ignored(tmp_path: Path) -> None:
    tree(tmp_path, {"submission_2/submission_metadata.yml": METADATA, "submission_2/mean.py": ""})
    assert [hand_in.student for hand_in in read_hand_ins(tmp_path)] == ["submission_2"]
    (tmp_path / "submission_metadata.yml").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match=r"submission_metadata\.yml: a link"):
        read_hand_ins(tmp_path)


@pytest.mark.parametrize(
    ("sids", "ids"),
    [
        (("7", "7", "9"), ["0@x", "1@x", "9"]), (("7", "'7 '"), ["0@x", "1@x"]),
        (("7", "'7\u00a0'"), ["0@x", "1@x"]), (("jos\u00e9", "jose\u0301"), ["0@x", "1@x"]),
        (("1@x", "", "submission_9"), ["0@x", "1@x", "2@x"]),
    ],
)  # fmt: skip
def test_a_number_of_two_students_identifies_neither(sids: tuple[str, ...], ids: list[str]) -> None:
    text = "".join(
        f"submission_{n}:\n  :submitters:\n  - :sid: {sid}\n    :email: {n}@x\n"
        for n, sid in enumerate(sids)
    )
    submitters = read_submitters(text.encode()).values()
    assert [person.student for people in submitters for person in people] == ids


def test_a_name_like_a_number_is_no_number_with_a_space_either(tmp_path: Path) -> None:
    files = {f"{name}_assignsubmission_file_/mean.py": "" for name in ("Ann_7", " 7", "Bo_8")}
    assert [assigned[0] for assigned in assigned_programs(tree(tmp_path, files))] == ["7", "8"]


def test_files_of_no_student_are_counted_and_named(tmp_path: Path) -> None:
    files: Files = {f"ann/{n}.py": "" for n in range(9)} | {"ann/mean.py": "", "ann/a.csv": ""}
    tree(tmp_path, {**files, "bo/mean.py": ""})
    with HandIns(tmp_path, AnswerNames(["mean"])) as submissions:
        assert len(list(submissions)) == 2
        assert len(list(submissions.unused_files())) == 9
        assert submissions.describe_unassigned().startswith(
            "9 files not taken for an answer: ann/0.py (another file is"
        )
        assert submissions.describe_unassigned().endswith(" and 4 more")


# Whatever is handed in: nothing raises, and nobody gets another one's answer.

ASKED = ("mean", "layer-norm")
PIECES = st.sampled_from(
    ["ann", "bo", "mean", "layer_norm", "submission", "submission_1", "submission_22", ".py",
     ".ipynb", ".zip", ".txt", "_", "-1", " (2)", "_LATE", "_1_2_", "anon_x1_7_", "..", ".", "/",
     "//", "\\", ":", "\n", "\0", "\u202e", "\udcff", "e\u0301", " ", "__MACOSX", "%s",
     "{student}", "=1+1", "Ann Lee_12_assignsubmission_file_",
     "Bo_13_assignsubmission_onlinetext_"]
)  # fmt: skip
PATHS = st.lists(PIECES | st.text(max_size=3), min_size=1, max_size=8).map("".join)


def is_within_rules(claim: Claim, path: str) -> bool:
    """Return True if a claim keeps the rules."""
    plain = unicodedata.normalize("NFC", path)
    name = claim.student.removeprefix("anon_").rpartition("_")[0] or claim.student
    return (
        claim.question in ASKED
        and claim.student == to_student_id(claim.student) != ""
        and not has_control_characters(claim.student)
        and "/" not in claim.student
        and claim.student not in {".", ".."}
        and name in plain
    )


@given(PATHS, PATHS)
def test_any_path_is_somebodys_within_the_rules_or_nobodys(path: str, text: str) -> None:
    names = AnswerNames(ASKED)
    layouts: list[Layout | PatternLayout] = [Layout(name, names) for name in LAYOUTS]
    for pattern in ("{student}/{question}.py", "{student}_{_}/{question}", "{student}" + text):
        with suppress(UsageError):
            layouts.append(PatternLayout(pattern, names))
    assert all(is_within_rules(claim, path) for layout in layouts for claim in layout.claims(path))


@given(PATHS, PATHS)
def test_names_chosen_by_a_student_do_not_change_the_owner(first: str, second: str) -> None:
    """The student chooses the name of a file, and the folders around it."""
    for name, top in [
        ("gradescope", "submission_7/"), ("moodle", "Eve_7_assignsubmission_file_/"),
        ("canvas", "eve_7_8_"), ("folders", "eve/"),
    ]:  # fmt: skip
        layout = Layout(name, AnswerNames(ASKED))
        students = {
            claim.student for path in (first, second) for claim in layout.claims(top + path)
        }
        assert len(students) <= 1


@given(st.lists(PATHS, max_size=6), st.sampled_from(["", *LAYOUTS]))
def test_any_class_has_a_layout_or_is_refused(paths: list[str], name: str) -> None:
    with suppress(UsageError):
        layout = detect_layout(paths, AnswerNames(ASKED), name)
        assert layout.name in LAYOUTS
        assert layout.base_folder.count("/") <= 1


@given(st.lists(st.sampled_from(
    ["submission_1:", "  :submitters:", "  - :name: Ann", "    :sid: '7'", "    :email: a@b", "x",
     "  :created_at: 2024-01-02 03:04:05 Z", "  - :sid: \"\\x", "    - :sid: |", "", "---", " - :"]
) | st.text(max_size=12)))  # fmt: skip
def test_any_metadata_is_read(lines: list[str]) -> None:
    with suppress(UsageError):
        for people in read_submitters("\n".join(lines).encode("utf-8", "replace")).values():
            assert all(person.student for person in people)
