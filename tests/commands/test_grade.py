"""`drill grade` finds the drill, refuses other things than files, records, and sets the status."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import grader.bank
import grader.explain.session
from grader.model.question import Question
from tests.bank.specs import write_bank
from tests.commands import stand_in
from tests.commands.conftest import ROOT, CommandResult, Drill

pytestmark = pytest.mark.usefixtures("one_zygote")

SUBMISSION = Path("double-trouble/submission.py")


def attempts(drill: Drill) -> list[dict[str, object]]:
    """Return the recorded attempts."""
    return list(drill("history", "--json").data["attempts"])


@pytest.mark.parametrize(
    ("verdict", "status"),
    [("pass", 0), ("fail", 1), ("error", 1), ("limit", 1), ("invalid", 3)],
)
def test_the_verdict_sets_the_exit_status(drill: Drill, verdict: str, status: int) -> None:
    drill("start", "double-trouble")
    SUBMISSION.write_text(f"# {verdict}\n")
    result = drill("grade")
    assert (result.status, result.err) == (status, "")
    assert result.out.startswith(verdict.upper())
    assert "double-trouble" in result.out
    (attempt,) = attempts(drill)
    assert (attempt["verdict"], attempt["isolation"]) == (verdict, "process")


def test_a_question_counts_as_proved_after_a_verdict_on_its_current_version(
    drill: Drill, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    proved_flags: list[bool] = []

    class Session(stand_in.Session):
        def __init__(self, question: Question, *, proved: bool, **more: Any) -> None:
            proved_flags.append(proved)
            super().__init__(question, **more)

    monkeypatch.setattr(grader.explain.session, "GradingSession", Session)
    bank = shutil.copytree(stand_in.BANK, tmp_path / "bank")
    monkeypatch.setattr(grader.bank, "builtin", lambda: bank)
    drill("start", "double-trouble")
    spec = bank / "questions" / "double-trouble.yaml"
    for verdict in ("error", "fail", "error", "fail", "change", "pass", "pass"):
        if verdict == "change":
            spec.write_text(spec.read_text().replace("minutes: 25", "minutes: 30"))
        SUBMISSION.write_text(f"# {verdict}\n")
        drill("grade")
    assert proved_flags == [False, False, True, True, False, True, True]


def test_grade_takes_the_drill_of_the_folder_or_the_named_one(
    drill: Drill, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def graded(*arguments: str) -> str:
        return str(drill("grade", "--json", *arguments).data["question"])

    drill("start", "double-trouble")
    assert graded() == "double-trouble"  # the only one right below
    drill("start", "halve-well")
    drill("grade").refused(
        "2 drills are in this folder, and none is named",
        "    Next: cd halve-well && drill grade   cd double-trouble && drill grade\n",
    )
    assert graded("double-trouble") == "double-trouble"
    assert graded("--file", "double-trouble/submission.py") == "double-trouble"
    Path("double-trouble/deeper").mkdir()
    for folder in ("double-trouble", "deeper"):
        monkeypatch.chdir(folder)
        assert graded() == "double-trouble"
    monkeypatch.chdir(tmp_path / "home")
    assert graded("double-trouble") == "double-trouble"


def test_a_drill_in_another_folder_is_suggested_and_not_graded(
    drill: Drill, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drill("start", "double-trouble")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "away").mkdir()
    monkeypatch.chdir(tmp_path / "away")
    for command in ("grade", "reset", "hint", "solution"):
        drill(command).refused(
            "no drill in this folder; the last one was double-trouble, in ~/work",
            f"Next: cd ~/work/double-trouble && drill {command}\n",
        )
    assert attempts(drill) == []


@pytest.mark.parametrize("folder", ["double-trouble/copy", "other"])
def test_a_submission_outside_of_a_drill_is_not_graded(
    drill: Drill, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    drill("start", "double-trouble")
    Path(folder).mkdir()
    monkeypatch.chdir(folder)
    Path("submission.py").write_text("# pass\n")
    for command in ("grade", "reset"):
        drill(command).refused(
            "does not belong to a started drill",
            "drill grade ID --file submission.py grades it for the question ID\n",
        )
    assert Path("submission.py").read_text() == "# pass\n"
    assert attempts(drill) == []


def test_a_path_that_is_not_a_file_is_refused_in_one_sentence(drill: Drill) -> None:
    Path("folder").mkdir()
    os.mkfifo("pipe")
    Path("large.py").write_bytes(b"#" * 10_000_000)
    Path("loop").symlink_to("loop")
    Path("whole.py").write_text("# pass")
    Path("link.py").symlink_to("whole.py")
    for path, phrase in {
        "folder": "found a folder",
        "pipe": "found a pipe",
        "/dev/null": "found a device",
        "/dev/zero": "found a device",
        "large.py": "at most 1,000,000 bytes, found 10,000,000",
        "missing.py": "there is no such file",
        "no/where.py": "nor the folder",
        "loop": "found a symbolic link, which is not followed",
        "link.py": "found a symbolic link, which is not followed",
    }.items():
        result = drill("grade", "double-trouble", "--file", path)
        result.refused(phrase)
        assert result.err.count("\n") <= 2
    assert attempts(drill) == []


@pytest.mark.parametrize("name", ["notes.py", "notes.ipynb", "answers.txt", "./notes"])
def test_a_missing_path_is_not_taken_for_a_question(drill: Drill, name: str) -> None:
    drill("grade", name).refused(f"{name}: there is no such file or folder")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"def (", b"# fail\r\n", b"\0"])
def test_every_small_file_is_graded(drill: Drill, content: bytes) -> None:
    Path("any.py").write_bytes(content)
    assert drill("grade", "double-trouble", "--file", "any.py").status == 1
    drill("history", "restore", "1", "--to", "back.py")
    assert Path("back.py").read_bytes() == content


# A marker is a claim: it chooses no bank that is neither in use nor on record.

ID = "maxpool-routing"
RIGHT = (ROOT / "drills" / ID / "reference.py").read_text(encoding="utf-8")
EASY = """\
def scale(x, factor):
    return x * factor, factor


def scale_backward(grad_y, ctx):
    return grad_y * ctx
"""
FIRST, LAST = "0001-01-01T00:00:00Z", "9999-01-01T00:00:00Z"


def easy_bank(folder: Path, question: str = ID) -> Path:
    """Write a bank that holds an easy question, under the id of another one."""
    write_bank(folder, name=question)
    for name in ("starter", "reference"):
        (folder / "drills" / question / f"{name}.py").write_text(EASY)
    return folder


def write_marker(folder: Path, bank: Path | str, question: str = ID) -> None:
    """Write a marker, as anybody can."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"format": 1, "question": question, "bank": str(bank), "started_at": LAST}
    (folder / ".drill").write_text(json.dumps(content))


@pytest.fixture
def strangers_folder(home: Path) -> Path:
    """Give a folder with an easy question, its answer, and a marker that names a copy of it."""
    folder = Path("mal").absolute()
    shutil.copytree(easy_bank(folder / "bank"), folder / "b")
    (folder / "submission.py").write_text(EASY)
    write_marker(folder, "mal/b")
    assert not home.exists()
    return folder


def was_judged_by_real_question(result: CommandResult) -> bool:
    """Return True if the built-in question judged the file, which does not pass it."""
    assert result.status == 1, result
    assert result.data["verdict"] == "error"
    assert "maxpool2d_forward" in result.data["message"]
    return bool(result.data["bank"] == str(ROOT))


def test_a_marker_next_to_a_file_or_in_a_subfolder_cannot_choose_a_bank(
    real: Drill, strangers_folder: Path
) -> None:
    assert strangers_folder.exists()
    file = ("--file", "mal/submission.py")
    first: list[tuple[str, ...]] = [(ID, *file), (), (ID,)]
    for words in first:
        assert was_judged_by_real_question(real("grade", *words, "--json"))
    real("start", ID)  # records that hold another start change nothing
    for words in [(ID, *file), file, ("mal/submission.py",), ("mal/",)]:
        assert was_judged_by_real_question(real("grade", *words, "--json"))


@pytest.mark.parametrize("where", ["mal", "mal/deeper"])
def test_the_marker_of_the_current_folder_or_one_above_cannot_choose_a_bank(
    real: Drill, strangers_folder: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    (strangers_folder / "deeper").mkdir()
    monkeypatch.chdir(where)
    for bank in ("mal/b", "b", strangers_folder / "bank"):
        write_marker(strangers_folder, bank)
        assert was_judged_by_real_question(real("grade", "--json"))
        assert real("show", ID, "--json").data["bank"] == str(ROOT)
        assert "def scaled" not in real("solution", ID, "--give-up").out


def test_a_recorded_start_counts_for_its_folder_question_and_bank_alone(
    real: Drill, strangers_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = easy_bank(tmp_path / "other")
    assert real("--bank", str(other), "start", ID, "--dir", "mine").status == 0
    own = Path("mine") / ID / "submission.py"
    own.write_text(EASY)
    graded = real("grade", str(own), "--json").data
    assert (graded["verdict"], graded["bank"]) == ("pass", str(other))
    write_marker(own.parent, strangers_folder / "bank")  # the bank differs
    assert was_judged_by_real_question(real("grade", str(own), "--json"))
    shutil.copytree(own.parent, "copy")  # the folder differs
    write_marker(Path("copy"), other)
    monkeypatch.chdir("copy")
    assert was_judged_by_real_question(real("grade", "--json"))


def test_a_bank_of_a_recorded_start_is_used_without_being_named(
    real: Drill, tmp_path: Path
) -> None:
    bank = easy_bank(tmp_path / "bank", "scaled-copy")
    real("--bank", str(bank), "start", "scaled-copy")
    Path("scaled-copy/submission.py").write_text(EASY)
    for words in ((), ("scaled-copy",), ("scaled-copy/",)):
        graded = real("grade", *words, "--json").data
        assert (graded["verdict"], graded["bank"]) == ("pass", str(bank))
    assert real("hint").status == 0
    assert real("list", "--json").data["questions"][0]["id"] != "scaled-copy"


def test_without_records_a_marker_names_a_question_of_the_banks_in_use(
    real: Drill, strangers_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILL_HOME", "/proc/nowhere")
    assert was_judged_by_real_question(real("grade", "--json"))
    (strangers_folder / "submission.py").write_text(RIGHT)
    assert real("grade", "--json").data["verdict"] == "pass"
    write_marker(strangers_folder, "mal/b", question="scaled-copy")
    assert real("grade", "--json").status == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a file away")
def test_grade_ignores_a_marker_of_another_user(real: Drill, strangers_folder: Path) -> None:
    os.chown(strangers_folder / ".drill", 65534, 65534)
    real("grade").refused("no drill is here")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 9_999,
        '{"question":' * 900,
        json.dumps({"question": ID, "bank": "x\0y", "started_at": FIRST}),
        json.dumps({"question": "../" + ID, "bank": "x", "started_at": FIRST}),
        json.dumps({"question": ID, "bank": 3, "started_at": FIRST}),
        json.dumps({"question": ID, "bank": "x", "started_at": "last week"}),
        json.dumps({"question": ID, "bank": "x", "started_at": "2026-01-02T03:04:05"}),
        '"' + "\ud800" + '"',
    ],
    ids=["brackets", "braces", "null", "slash", "number", "week", "no zone", "surrogate"],
)
def test_no_content_of_a_marker_causes_an_internal_error(
    real: Drill, home: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    Path("mal").mkdir()
    Path("mal/.drill").write_bytes(text.encode("utf-8", "surrogatepass"))
    for words in (("grade",), ("grade", ID, "--file", "mal/none.py"), ("list",)):
        assert real(*words).status in {0, 2}
    monkeypatch.chdir("mal")
    real("grade").refused("no drill is here")
    assert not home.exists()


def test_a_marker_that_is_not_a_regular_file_is_ignored(real: Drill) -> None:
    write_marker(Path("aside/deeper"), ROOT)
    for name in ("pipe", "link"):
        Path(name).mkdir()
    os.mkfifo("pipe/.drill")
    Path("link/.drill").symlink_to(Path("aside/deeper/.drill").absolute())
    assert "no drill is here" in real("grade").err


def test_a_submission_that_is_not_a_regular_file_is_refused(drill: Drill) -> None:
    drill("start", "double-trouble")
    Path("alice.py").write_text("# pass")
    makes: dict[str, Callable[[Path], None]] = {
        "symbolic link": lambda path: path.symlink_to("../alice.py"),
        "pipe": os.mkfifo,
        "folder": os.mkdir,
    }
    for kind, make in makes.items():
        SUBMISSION.rmdir() if SUBMISSION.is_dir() else SUBMISSION.unlink()
        make(SUBMISSION)
        for words in ((), ("double-trouble",), ("--file", str(SUBMISSION)), (str(SUBMISSION),)):
            # A folder that is named is looked into.
            inside = kind == "folder" and words == (str(SUBMISSION),)
            drill("grade", *words).refused("" if inside else f"expected a file, found a {kind}")
    assert attempts(drill) == []


IN_A_DRILL = ["mp/", "mp", "./mp", "mp/submission.py", "mp/deeper/third.py", "mp/deeper/.."]


@pytest.mark.parametrize("path", IN_A_DRILL)
def test_a_path_names_the_drill_of_its_folder(real: Drill, path: str) -> None:
    write_marker(Path("mp"), "somewhere")
    Path("mp/deeper").mkdir()
    for name in ("submission", "deeper/third"):
        Path(f"mp/{name}.py").write_text(RIGHT)
    assert real("start", "conv1d-per-step").status == 0
    graded = real("grade", path, "--json").data
    assert (graded["question"], graded["verdict"], graded["bank"]) == (ID, "pass", str(ROOT))
    recorded = attempts(real)
    Path("mp/.drill").unlink()  # it is not taken for the drill started last
    result = real("grade", path)
    result.refused("does not belong to a started drill")
    assert "drill grade ID --file PATH grades any file" in " ".join(result.err.split())
    assert attempts(real) == recorded


# A question in parts: one is asked when the one before it passes.

PARTS = "mean-and-spread"
FOLDER = Path(PARTS)
MEAN = "def mean(x):\n    return float(x.sum() / x.size)\n"
WHOLE_MEAN = "def mean(x):\n    return float(x.sum() / x.size) if x.size else 0.0\n"


@pytest.fixture
def parts(real: Drill, monkeypatch: pytest.MonkeyPatch) -> Drill:
    """Call the command line with a question in parts, which was started."""
    monkeypatch.setenv("DRILL_BANK", str(ROOT / "tests" / "banks" / "parts"))
    started = real("start", PARTS).out
    assert "part 1 of 3, 4 min" in started
    assert "sends nothing at all" not in started + question()
    return real


def write(source: str) -> None:
    (FOLDER / "submission.py").write_text(source, encoding="utf-8")


def question() -> str:
    return (FOLDER / "QUESTION.md").read_text(encoding="utf-8")


def test_notes_in_the_question_are_kept(parts: Drill, tmp_path: Path) -> None:
    (FOLDER / "QUESTION.md").write_text("my notes\n", encoding="utf-8")
    (FOLDER / "QUESTION.before-1.md").write_text("older ones\n", encoding="utf-8")
    write(MEAN)
    parts("grade")
    assert question().count("\n## Part ") == 2
    assert (FOLDER / "QUESTION.before-1.md").read_text(encoding="utf-8") == "older ones\n"
    assert (FOLDER / "QUESTION.before-2.md").read_text(encoding="utf-8") == "my notes\n"
    (FOLDER / "QUESTION.md").write_text("more\n", encoding="utf-8")
    parts("grade")  # nothing new is asked, so it is nobody's to write
    assert question() == "more\n"
    (FOLDER / "QUESTION.md").unlink()
    (FOLDER / "QUESTION.md").symlink_to(tmp_path / "elsewhere")
    write(WHOLE_MEAN)
    result = parts("grade")  # the notes do not stop the grade
    assert ("part 2 of 3" in result.out, "QUESTION.md stays as it was" in result.err) == (
        True,
        True,
    )
    assert not (tmp_path / "elsewhere").exists()


def test_hints_and_the_question_are_shown_up_to_the_current_part(parts: Drill) -> None:
    new = parts("show", PARTS)
    assert "sends nothing" not in new.out
    assert new.out.endswith("Next: drill grade   drill show --all\n")
    assert parts("show").out == new.out  # of this place
    assert "how far the entries are" in parts("show", PARTS, "--all").out
    plain = parts("show", PARTS, "--json").data
    assert [p["id"] for p in plain["parts"]] == ["1"]
    assert (plain["parts_in_all"], plain["minutes"], plain["hints"]) == (3, 9, 2)
    assert [c["id"] for c in plain["parts"][0]["checks"]] == ["mean"]
    assert plain["functions"] == ["mean"]
    assert "hint 1 of 2 of part 1\n    What do you divide by?" in parts("hint").out
    write(MEAN)
    parts("grade")
    assert "hint 1 of 1 of part 2\n    What is 0 / 0?" in parts("hint").out
    document = parts("hint", "--json").data
    assert ([h["number"] for h in document["hints"]], document["left"]) == ([1], 0)
    assert "hint 1 of 1" in parts("hint", "--number", "1").out
    assert parts("hint", "--number", "2").status == 2
    assert [p["id"] for p in parts("show", PARTS, "--json").data["parts"]] == ["1", "2"]
    assert len(parts("show", PARTS, "--json", "--all").data["parts"]) == 3
    fresh = parts("start", PARTS, "--dir", "again").out  # the page goes with the starter
    assert ("part 1 of 3" in fresh, "sends nothing" in fresh) == (True, False)
    question_text = (Path("again") / PARTS / "QUESTION.md").read_text(encoding="utf-8")
    assert question_text.count("\n## Part ") == 2  # the file has the parts asked so far
    again = parts("start", PARTS, "--dir", "again").out  # a version that is one's own
    assert ("part 2 of 3" in again, "sends nothing at all" in again) == (True, True)


def test_a_grade_that_is_not_a_try_judges_all_parts(
    parts: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("other.py").write_text(MEAN, encoding="utf-8")
    result = parts("grade", PARTS, "--file", "other.py")
    assert ("m is NaN, expected 0" in result.out, "drill case" in result.out) == (True, False)
    assert question().count("\n## Part ") == 1  # only its cases are known
    write(MEAN)
    monkeypatch.setenv("DRILL_HOME", "/proc/nowhere")  # without records every part is judged
    assert "m is NaN, expected 0" in parts("grade", f"./{PARTS}").out


# Answers that are text.

RIGHT_ANSWERS = "grad_x[1] = 2\ngrad_x[4] = 8\ngrad_x[6] = 0\n"


def test_the_first_prediction_counts(real: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    here = ("--bank", str(ROOT))
    folder = Path("seven-windows")

    def graded(answers: str = "", *options: str) -> tuple[int, str]:
        if answers:
            (folder / "answers.txt").write_text(answers)
        result = real(*here, "grade", "seven-windows", *options)
        assert "drill case" not in result.out
        return result.status, result.out

    assert (
        "Edit  seven-windows/answers.txt"
        in real(*here, "start", "seven-windows", "--seed", "0").out
    )
    assert sorted(p.name for p in folder.iterdir()) == [".drill", "QUESTION.md", "answers.txt"]
    for answers, said in (
        ("", "nothing is answered yet"),
        (
            RIGHT_ANSWERS.replace("8", "8 apples"),
            "answers.txt:2: grad_x[4]: is a pure number: write it without apples",
        ),
    ):
        status, page = graded(answers)
        assert (status, said in page) == (1, True)
        assert "try" not in page.splitlines()[0]  # it costs none
    (folder / "answers.txt").write_text(RIGHT_ANSWERS.replace("8", "5"))
    Path("wrong.txt").write_text(RIGHT_ANSWERS.replace("8", "5"))
    for file, said in (
        ((), "is the one that counts, and shows what is right"),
        (("--file", str(folder / "answers.txt"), "--yes"), "expected your own first prediction"),
        (("--file", "wrong.txt", "--yes"), "drill solution seven-windows"),
        (("--file", "wrong.txt", "--yes", "--json"), ""),
    ):
        result = real(*here, "grade", "seven-windows", *file)
        assert result.status == 2
        assert said in result.err
        assert "8.000" not in result.out + result.err
    assert real(*here, "grade", "wrong.txt", "--yes").status == 2  # in no folder of a drill
    status, page = graded("", "--yes")
    assert (status, "try 1" in page.splitlines()[0]) == (1, True)
    assert real(*here, "grade", "seven-windows", "--file", "wrong.txt").status == 1
    assert "Idea: overwrite. It gives exactly your numbers in the failing case." in page
    assert "8.000" in page  # after a prediction the right numbers are shown
    assert page.endswith(f"\nNext: drill start maxpool-routing --bank {ROOT}\n")
    said = "seven-windows has no case to run as a script: your answers are text"
    real(*here, "case", "seven", "seven-windows").refused(said)
    (folder / "answers.txt").write_text(RIGHT_ANSWERS)
    monkeypatch.chdir(folder)
    status, page = graded()
    assert (status, page.startswith("PASS  answers.txt")) == (0, True)
    assert "try" not in page.splitlines()[0]
    rows = real(*here, "list", "--json").data["questions"]
    assert [row["state"] for row in rows if row["id"] == "seven-windows"] == ["tried"]
    following = real(*here, "next", "--json").data
    assert following["next"]["question"] != "seven-windows"


def test_the_grade_of_an_estimate_never_shows_the_right_number(real: Drill) -> None:
    answers = Path("mine.txt")
    answers.write_text(
        "kv_token = 96 KiB\nkv_total = 14 GB\ndecode_intensity = 24 FLOP/B\n"
        "decode_time = 8.8 ms\nprefill_time = 0.4 s\n"
    )
    for words in ((), ("--full",), ("--plain",), ("--json",)):
        result = real(
            "--bank", str(ROOT), "grade", "decode-on-paper", "--seed", "5", "--file", str(answers),
            *words,
        )  # fmt: skip
        assert result.status == 1
        document = re.sub(r'"(seconds|sha256|digest|outputs)": [^,]+', "", result.out)  # any digits
        for kept_back in ("28.3", "2831", "17.16", "0.0172", "17.2", "0.43", "too large", "half"):
            assert kept_back not in document, (words, kept_back)
        if not words:
            assert (
                "cache: kv_total is wrong in case card: the model and the card of the" in document
            )


def test_a_review_shows_its_program_before_it_is_started(real: Drill) -> None:
    page = real("--bank", str(ROOT), "show", "data-parallel-review").out
    assert "\n  19  +    params -= lr * velocity\n" in page
    assert "\n  overwritten        something that should be added up is replaced\n" in page
    real("--bank", str(ROOT), "start", "data-parallel-review")
    question_text = Path("data-parallel-review", "QUESTION.md").read_text()
    assert "- `overwritten` something that should be added up is replaced\n" in question_text


def test_a_drill_works_in_a_folder_whose_name_is_not_utf_8(drill: Drill) -> None:
    folder = Path(os.fsdecode(b"\xff"))
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("there can be no such name here")
    os.chdir(folder)
    assert drill("start", "double-trouble").status == 0
    SUBMISSION.write_text("# fail\n")
    assert "try 1" in drill("grade").out


def test_html_writes_the_page_and_prints_it_too(drill: Drill) -> None:
    drill("start", "double-trouble")
    SUBMISSION.write_text("# fail <script>\n")
    printed = drill("grade")
    result = drill("grade", "--html", "page.html")
    assert (result.status, result.err) == (1, "the page is in page.html\n")
    assert result.out.splitlines()[-1] == printed.out.splitlines()[-1]  # Next
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<h1>The sum that came out too large</h1>" in page
    assert '<strong class="reverse">FAIL</strong> double-trouble/submission.py' in page
    assert "drill hint" not in page
    SUBMISSION.write_text("# pass\n")
    result = drill("grade", "--html", "page.html", "--json")
    assert (result.status, result.data["verdict"]) == (0, "pass")
    assert "PASS" in Path("page.html").read_text(encoding="utf-8")  # in the place of the other
    assert not list(Path().glob(".page*"))


def test_html_must_name_a_page_that_can_be_written(drill: Drill) -> None:
    drill("start", "double-trouble")
    for name in (str(SUBMISSION), "-", "page"):
        drill("grade", "--html", name).refused("--html: expected a name that ends in .html", name)
    Path("folder.html").mkdir()
    for name in ("no/page.html", "folder.html", f"{SUBMISSION}/page.html"):
        drill("grade", "--html", name).refused("--html: expected a file in a folder that can", name)
    assert attempts(drill) == []  # nothing was graded to be lost
