"""A class of 155 hand-ins as classes are: each gets the mark that a careful teacher would give it.

Three layouts, one of them twice, graded once each.  What a mark should be follows from the question
alone: a program that holds an idea passes the parts before the one whose check is about it.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from grader import bank
from grader.classroom.export import export
from grader.classroom.results import ClassResults
from grader.model.classroom import ClassEntry
from grader.model.question import Question
from grader.model.report import Verdict
from tests import corpus
from tests.classroom.builders import ROOT, Files, graded, notebook, tree, zipped

pytestmark = pytest.mark.slow  # test_careful_teacher.py grades a smaller class

POOL, PAPER = "maxpool-routing", "decode-on-paper"
IN_TIME, DEADLINE = "2026-11-19T10:00:00+00:00", "2026-11-20T23:59:00+00:00"
PASS, FAIL, WRONG, ANY = str(Verdict.PASS), str(Verdict.FAIL), "fail or error", "any"
ERROR, LIMIT, NOTHING = str(Verdict.ERROR), str(Verdict.LIMIT), "no answer"
TERMS = f"""\
format: 1
title: The whole class
deadline: {DEADLINE}
late: {{penalty: 10, days: 3, extensions: {{"allowed": 2}}}}
on_error: skip
seed: 5
isolation: process
questions: [{POOL}, {PAPER}]
"""
OVERRIDES = f"student,question,points,note\nspoke,{POOL},60,explained it in office hours\n"


@dataclass(frozen=True)
class Hand:
    """Files of one student, and the mark that they should get."""

    who: str
    files: Files
    points: int
    verdict: str = FAIL  # or WRONG: what shows on paper is the number
    idea: str = ""  # that it should be told, and no other; ANY of a stranger's program
    question: str = POOL
    at: str = IN_TIME
    late: bool = False


@cache
def question(name: str) -> Question:
    return bank.load_question([ROOT], name)


def text(source: bytes) -> str:
    return Question.without_leading_blank_lines(source).decode()


RIGHT = text(question(POOL).reference)
HEAD, _, BODY = RIGHT.partition("\n\n\n")
PAPER_RIGHT = next(iter(question(PAPER).accepted.values()))
HELD = f"{RIGHT}\n\n{text(question(POOL).variants['stride-is-kernel'][0])}"


def points_with(name: str, idea: str) -> int:
    """Return the points of a program with an idea: those of the checks that it passes.

    Which checks it fails is read from the committed proof of the question.
    """
    asked_question = question(name)
    proof = json.loads((ROOT / "questions" / f"{name}.proof.json").read_text())
    lost = set(re.sub(r" \(.*?\)", "", proof["programs"][idea]).split(", "))
    part = asked_question.spec.part_of(asked_question.ideas[idea].killed_by[0])
    checks = asked_question.spec.parts[part - 1].checks
    for check in checks:
        if lost & set(check.needs):
            lost.add(check.id)
    earlier_parts = sum(part.points for part in asked_question.spec.parts[: part - 1])
    return earlier_parts + sum(check.points or 0 for check in checks if check.id not in lost)


def ideas() -> Iterator[Hand]:
    """Give the first program of every listed idea."""
    for idea, sources in question(POOL).variants.items():
        program = f"{RIGHT}\n\n{text(sources[0])}"
        yield Hand(f"holds-{idea}", {f"{POOL}.py": program}, points_with(POOL, idea), WRONG, idea)


def styles() -> Iterator[Hand]:
    """Give right programs in other styles; some are right up to a part."""
    asked_question = question(POOL)
    for name, source in asked_question.accepted.items():
        last = asked_question.accepted_until_part[name]
        points = sum(part.points for part in asked_question.spec.parts[:last])
        verdict = PASS if points == 100 else FAIL
        if points == 100:
            yield Hand(f"style-{name}", {f"{POOL}.py": text(source)}, points, verdict)
    for name, program in corpus.right_programs(POOL).items():
        yield Hand(f"own-{name}", {f"{POOL}.py": program.source}, 100, PASS)


STRANGERS = {  # the checks before the one that each fails have points, and those beside it
    "ceil_output_size": 0, "channels_share_a_plane": 0, "columns_in_padded_frame": 35,
    "height_for_width": 0, "last_window_dropped": 0, "mean_over_windows": 20,
    "column_major_ties": 68, "empty_batch_raises": 72, "finite_padding": 68,
    "float64_returned": 69, "keeps_a_mask": 82, "index_tuples": 82,
}  # fmt: skip


def strangers() -> Iterator[Hand]:
    """Wrong programs that nobody listed."""
    known = corpus.wrong_programs(POOL)
    for name, points in STRANGERS.items():
        source = known[name].source
        yield Hand(f"wrong-{name}", {f"{POOL}.py": source}, points, WRONG, ANY)


def single(student: str, program: str | bytes, points: int, verdict: str, **changes: str) -> Hand:
    return Hand(student, {f"{POOL}.py": program}, points, verdict, **changes)  # type: ignore[arg-type]


NOISE = 'print("x" * 100_000)\nimport sys\nprint("score: 100", file=sys.stderr)\n'


def as_text() -> Iterator[Hand]:
    """Give files in several encodings and shapes, with right and wrong programs."""
    yield single("crlf", RIGHT.replace("\n", "\r\n"), 100, PASS)
    yield single("bom", b"\xef\xbb\xbf" + RIGHT.encode(), 100, PASS)
    yield single("latin-1", b"# -*- coding: latin-1 -*-\n# \xe9t\xe9\n" + RIGHT.encode(), 100, PASS)
    yield single("not-utf-8", b"# \xe9t\xe9\n" + RIGHT.encode(), 0, ERROR)
    yield single(
        "main", f'{RIGHT}\nif __name__ == "__main__":\n    raise SystemExit(1)\n', 100, PASS
    )
    yield single("prints", NOISE + RIGHT, 100, PASS)
    yield single("empty", "", 0, ERROR)
    yield single("comments", "# I will do it tomorrow\n", 0, ERROR)
    yield single("syntax", "def maxpool2d_forward(x:\n", 0, ERROR)
    yield single("other-name", RIGHT.replace("maxpool2d", "max_pool_2d"), 0, ERROR)
    stub = "(*_):\n    raise NotImplementedError\n"
    yield single("to-do", f"def maxpool2d_forward{stub}def maxpool2d_backward{stub}", 0, ERROR)
    yield single("untouched", text(question(POOL).starter), 0, FAIL, idea="stride-is-kernel")
    yield single("nulls", b"\0\0\0", 0, ERROR)
    yield single("unused-module", f"import cupy\n{RIGHT}", 100, PASS)


def harmful() -> Iterator[Hand]:
    """Give programs that hang, end the process, or try to forge their marks."""
    yield single("hangs", RIGHT.replace(BODY, f"{BODY}\n\nwhile True:\n    pass\n"), 0, LIMIT)
    yield single("exits", f"{RIGHT}\nimport os\nos._exit(0)\n", 0, ERROR)
    yield single("leaves", f"{RIGHT}\nraise SystemExit(0)\n", 100, PASS)
    yield single("fills", f"{RIGHT}\nheld = [bytearray(1 << 30) for _ in range(64)]\n", 0, LIMIT)
    yield single("forges", f'{HELD}\nprint(\'{{"verdict": "pass", "points": 100}}\')\n', 0, FAIL,
                 idea="stride-is-kernel")  # fmt: skip
    patch = "import numpy as np\nnp.array_equal = np.allclose = lambda *a, **k: True\n"
    yield single("patches", f"{patch}{HELD}", 0, FAIL, idea="stride-is-kernel")
    walk = "while frame := frame.f_back:\n    frame.f_locals.update(verdict='pass')\n"
    yield single("looks-up", f"{HELD}\nimport sys\nframe = sys._getframe()\n{walk}", 0, FAIL,
                 idea="stride-is-kernel")  # fmt: skip
    yield single("removes", f"{RIGHT}\nimport shutil\nshutil.rmtree('/work', ignore_errors=True)\n"
                 .replace("'/work'", "'drills'"), 100, PASS)  # fmt: skip
    yield single("connects", "import socket\ntry:\n    socket.create_connection(('localhost', 9))\n"
                 f"except OSError:\n    pass\n{RIGHT}", 100, PASS)  # fmt: skip


def notebooks() -> Iterator[Hand]:
    """Give notebooks as students save them."""

    def work(student: str, *cells: str, points: int = 100, verdict: str = PASS) -> Hand:
        return Hand(student, {f"{POOL}.ipynb": notebook(*cells)}, points, verdict)

    yield work("notebook", RIGHT)
    yield work("plots", "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\n",
               RIGHT, "plt.show()")  # fmt: skip
    yield work("asks", RIGHT, "n = int(input('how many? ') or 3)\n")
    yield work("scratch", "1 / 0", RIGHT, "assert False\n")
    yield work("shell", "!pip install numpy\n", RIGHT, "!ls | head\n")
    yield work("display", "from IPython.display import display\n", RIGHT, "display(1)\n")
    yield work("in-order", "def maxpool2d_forward(x, k, s, p):\n    return x\n", RIGHT)
    yield work("unfinished", "import numpy as np\n", points=0, verdict=ERROR)
    yield Hand("any-name", {"homework.ipynb": notebook(RIGHT)}, 100, PASS)
    yield Hand("broken-notebook", {f"{POOL}.ipynb": "{"}, 0, NOTHING)


def several() -> Iterator[Hand]:
    """Give programs of two files, copies, archives, and files without a program."""
    two = {f"{POOL}.py": "from pool_utils import *\n" + HEAD + "\n\n\n" + BODY}
    again = "from pool_utils import the_maxpool2d_forward as maxpool2d_forward\n"
    again += "from pool_utils import the_maxpool2d_backward as maxpool2d_backward\n"
    renamed = {"pool_utils.py": re.sub(r"\bmaxpool2d_", "the_maxpool2d_", RIGHT)}
    yield Hand("two-files", {f"{POOL}.py": again, **renamed}, 100, PASS)
    yield Hand("star", {**two, "pool_utils.py": "PAD = 0\n"}, 100, PASS)
    yield Hand("module-missing", {f"{POOL}.py": again}, 0, ERROR)
    yield Hand("copy", {f"{POOL}.py": HELD, f"{POOL} (1).py": RIGHT}, 100, PASS)
    yield Hand("copy-2", {f"{POOL}.py": RIGHT, f"{POOL}-2.py": HELD}, 0, idea="stride-is-kernel")
    yield Hand("archive", {"work.zip": zipped({f"{POOL}.py": RIGHT})}, 100, PASS)
    yield Hand("deep", {f"final/really/{POOL}.py": RIGHT}, 100, PASS)
    yield Hand(
        "junk", {f"{POOL}.py": RIGHT, "__MACOSX/._x.py": b"\0", ".DS_Store": b"\0"}, 100, PASS
    )
    yield Hand("both", {f"{POOL}.py": RIGHT, f"{PAPER}.txt": PAPER_RIGHT}, 100, PASS)


def late() -> Iterator[Hand]:
    """Give late work, and work with points by hand."""
    for student, time, points, is_late in (
        ("on-time", "2026-11-20T23:59:00+00:00", 100, False),
        ("a-second", "2026-11-20T23:59:01+00:00", 90, True),
        ("a-day", "2026-11-21T23:59:00+00:00", 90, True),
        ("three-days", "2026-11-23T23:00:00+00:00", 70, True),
        ("four-days", "2026-11-24T23:00:00+00:00", 0, True),
        ("allowed", "2026-11-22T12:00:00+00:00", 100, False),
    ):
        yield Hand(student, {f"{POOL}.py": RIGHT}, points, PASS, at=time, late=is_late)
    yield Hand("spoke", {f"{POOL}.py": HELD}, 60, FAIL, idea="stride-is-kernel")


def on_paper() -> Iterator[Hand]:
    """Give answers in text files."""

    def work(student: str, content: str | bytes, points: int, verdict: str, idea: str = "") -> Hand:
        return Hand(student, {f"{PAPER}.txt": content}, points, verdict, idea, PAPER)

    for name, source in question(PAPER).accepted.items():
        yield work(f"paper-{name}", text(source), 100, PASS)
    yield work("paper-untouched", text(question(PAPER).starter), 0, ERROR)
    yield work("paper-empty", "", 0, ERROR)


def unreadable() -> Iterator[Hand]:
    """Give answers as people write them: a clear line is read, and a lost line costs one answer."""

    def work(student: str, *edit: str, points: int = 100, encoding: str = "utf-8") -> Hand:
        answers = PAPER_RIGHT.decode()
        for old, new in zip(edit[::2], edit[1::2], strict=True):
            assert old in answers
            answers = answers.replace(old, new)
        verdict = PASS if points == 100 else FAIL
        return Hand(student, {f"{PAPER}.txt": answers.encode(encoding)}, points, verdict, "", PAPER)

    yield work("micro", "17.3 ms", "17300 \u00b5s")
    yield work("words", "98.3 kB", "98304 bytes", "17.3 ms", "0.0173 sec")
    yield work("times", "28.3 GB", "28.3\u00d710^9")
    yield work("colon", "kv_token =", "kv_token:")
    yield work("name", "kv_token", "Name: Zed\nkv_token")
    yield work("umlaut", "kv_token", "# f\u00fcnf\nkv_token", encoding="latin-1")
    yield work("notepad", encoding="utf-16")
    yield work("gb", "GB", "gb")
    yield work("about", "98.3 kB", "~98 kB")
    yield work("comma", "98.3", "98,3")
    yield work("reckoned", "98.3 kB", "98304 B (2*48*8*128)")
    yield work("twice", "kv_token", "kv_token = 3 kB\nkv_token", points=80)
    yield work("deleted", "prefill_time = 431 ms", "", points=80)


def strays() -> Iterator[Hand]:
    """Give files of other questions, of other types and with other names."""
    both = {f"{POOL}/submission.py": RIGHT, "rope/submission.py": "x = 1\n", "adamw.py": "1\n"}
    yield Hand("packs", both, 100, PASS)
    yield Hand("zipped", {"pack.zip": zipped(both)}, 100, PASS)
    yield Hand(
        "started", {"submission.py": RIGHT, "answers.txt": PAPER_RIGHT}, 100, PASS, "", PAPER
    )
    yield Hand("word", {f"{POOL}.py": RIGHT, f"{PAPER}.docx": "PK"}, 0, NOTHING, "", PAPER)
    starter = text(question(POOL).starter).replace("\n", "\r\n")
    yield single("windows", starter, 0, FAIL, idea="stride-is-kernel")


GRADESCOPE = [
    *ideas(), *styles(), *strangers(), *as_text(), *harmful(), *notebooks(), *several(), *late(),
]  # fmt: skip
FOLDERS = [
    *on_paper(),
    single("Zoë Ångström", RIGHT, 100, PASS),
    single("李 小龙", HELD, 0, FAIL, idea="stride-is-kernel"),
    single("O'Neil, Pat", RIGHT, 100, PASS), single("=cmd()", RIGHT, 100, PASS),
    Hand("any file", {"solution.py": RIGHT}, 100, PASS),
    Hand("two of one", {"a.py": RIGHT, "b.py": RIGHT}, 100, PASS),
    Hand("a picture", {"photo.jpg": b"\xff\xd8"}, 0, NOTHING),
    Hand("homework", {"homework.ipynb": notebook(RIGHT)}, 100, PASS),
    Hand("two files", {f"{POOL}.py": "from own import *\n", "own.py": RIGHT}, 100, PASS),
]  # fmt: skip
SHARED = [*unreadable(), *strays()]
FLAT = [single(f"flat{n}", RIGHT if n % 2 else HELD, 100 * (n % 2), PASS if n % 2 else FAIL,
            idea="" if n % 2 else "stride-is-kernel") for n in range(4)]  # fmt: skip
CLASSES = {"gradescope": GRADESCOPE, "folders": FOLDERS, "files": FLAT, "checks": SHARED}


def test_the_class_has_the_stated_number_of_students() -> None:
    assert sum(map(len, CLASSES.values())) == 155
    assert all(len({hand.who for hand in hands}) == len(hands) for hands in CLASSES.values())


def hand_in(root: Path, layout: str, hands: list[Hand]) -> None:
    """Write the files of all students, as a learning platform or a teacher lays them out."""
    if layout == "gradescope":
        people = {}
        for number, hand in enumerate(hands):
            folder = f"submission_{number}"
            person = {":name": hand.who.title(), ":sid": hand.who, ":email": f"{number}@x.org"}
            people[folder] = {":submitters": [person], ":created_at": hand.at}
            tree(root / folder, hand.files)
        tree(root, {"submission_metadata.yml": json.dumps(people)})
    for hand in hands if layout != "gradescope" else ():
        if layout != "files":
            tree(root / hand.who, hand.files)
        else:
            tree(root, {f"{hand.who}.py": next(iter(hand.files.values()))})


@pytest.fixture(scope="module")
def whole_class(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the folders of results, by layout."""
    results = {}
    for layout, hands in CLASSES.items():
        root = tmp_path_factory.mktemp(layout)
        hand_in(root / "in", layout, hands)
        settings = TERMS.replace(f", {PAPER}", "") if layout == "files" else TERMS
        if layout != "gradescope":  # where nothing but the file's own time is known
            settings = re.sub(r"^(deadline|late): .*\n", "", settings, flags=re.MULTILINE)
        settings += "partial: checks\n" * (layout == "checks")
        file = root / "class.yaml"
        file.write_text(settings)
        tree(root / "out", {"overrides.csv": OVERRIDES} if layout == "gradescope" else {})
        graded(root, ROOT, questions=(), file=file, level="", jobs=2)
        results[layout] = root / "out"
    return results


@cache
def entries(results: Path) -> dict[tuple[str, str], ClassEntry]:
    with ClassResults(results) as read:
        return {
            (entry.hand_in.student, entry.question.id): entry for entry in read.counting_entries()
        }


@pytest.mark.parametrize(
    ("layout", "hand"),
    [(layout, hand) for layout, hands in CLASSES.items() for hand in hands],
    ids=lambda value: getattr(value, "who", value),
)
def test_every_student_gets_the_mark_of_a_careful_teacher(
    whole_class: dict[str, Path], layout: str, hand: Hand
) -> None:
    entry = entries(whole_class[layout])[hand.who, hand.question]
    report = entry.report
    message = report.message if report is not None else entry.hand_in.fault
    assert (entry.points, entry.late) == (hand.points, hand.late), message
    assert entry.verdict == hand.verdict or (hand.verdict == WRONG and entry.verdict in WRONG)
    named = {idea.id for idea in report.misconceptions if idea.exact} if report else set()
    assert hand.idea == ANY or named == ({hand.idea} if hand.idea else set())


def test_no_student_is_left_out_and_no_grade_fails(whole_class: dict[str, Path]) -> None:
    for layout, hands in CLASSES.items():
        entry_by_student = entries(whole_class[layout])
        assert {student for student, _ in entry_by_student} == {hand.who for hand in hands}
        assert [entry.note for entry in entry_by_student.values() if entry.points is None] == []


def test_the_exports_have_the_same_marks(whole_class: dict[str, Path]) -> None:
    with ClassResults(whole_class["gradescope"]) as results:
        rows = list(csv.DictReader("".join(export(results, "csv")).splitlines()))
        lines = [json.loads(line) for line in "".join(export(results, "jsonl")).splitlines()]
        expected = {hand.who: hand.points for hand in GRADESCOPE}
        pooled = {row["student"]: int(row["points"]) for row in rows if row["question"] == POOL}
        assert pooled == expected
        assert {x["student"]: x["points"] for x in lines if x["question"] == POOL} == expected
        for student, points in list(expected.items())[::10]:
            scores = json.loads("".join(export(results, "gradescope", student=student)))
            total = scores.get("score", sum(test["score"] for test in scores["tests"]))
            assert total == points + 100 * (student == "both")
