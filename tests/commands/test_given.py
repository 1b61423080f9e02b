"""Fresh numbers of questions on paper, from the start to a class: shown and judged are the same."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from grader import open_question
from grader.bank import load_question
from grader.bank.starter_repair import repaired_starter
from grader.commands.context import choose_seed
from grader.model.classroom import ClassSettings
from grader.model.errors import UsageError
from tests.classroom.builders import graded, tree
from tests.commands.conftest import ROOT, Drill

NAME = "three-rows"
FOLDER, ANSWERS, MARKER = Path(NAME), Path(NAME, "answers.txt"), Path(NAME, ".drill")
SETS = [load_question([ROOT], NAME, n) for n in range(5)]
RIGHT = [repaired_starter(numbered) for numbered in SETS]

pytestmark = pytest.mark.usefixtures("one_zygote")


@pytest.fixture
def own_bank(real: Drill, monkeypatch: pytest.MonkeyPatch) -> Drill:
    """Call the command line with our bank."""
    monkeypatch.setenv("DRILL_BANK", str(ROOT))
    return real


def shown_seed(text: str) -> int:
    """The seed that a page says its numbers are of."""
    match = re.search(r"numbers\s+of\s+seed\s+(\d+)", text)
    assert match is not None, text
    number = int(match[1])
    logits = f"ln {SETS[number].spec.given[number]['powers'][1]:g}"  # type: ignore[index]
    assert logits in " ".join(text.split())
    return number


def test_start_draws_numbers_and_shows_their_seed(own_bank: Drill) -> None:
    number = shown_seed(own_bank("start", NAME).out)
    assert shown_seed((FOLDER / "QUESTION.md").read_text()) == number
    assert json.loads(MARKER.read_text())["seed"] == number
    assert shown_seed(own_bank("show", NAME).out) == number
    assert own_bank("show", NAME, "--json").data["numbers"] == number
    assert ANSWERS.read_bytes() == SETS[number].starter
    ANSWERS.write_bytes(RIGHT[number])
    result = own_bank("grade", NAME, "--yes", "--json")
    assert (result.status, result.data["seed"] % 5) == (0, number)
    assert shown_seed(own_bank("show", NAME, "--seed", "9").out) == 4  # the page shows the seed


def test_an_unrecorded_folder_is_graded_with_its_own_numbers(
    own_bank: Drill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_bank("start", NAME, "--seed", "7")
    ANSWERS.write_bytes(RIGHT[2])
    other = tmp_path / "handed"
    shutil.copytree(FOLDER, other / NAME)
    monkeypatch.setenv("DRILL_HOME", str(tmp_path / "another"))
    monkeypatch.chdir(other)
    own_bank("grade", NAME, "--yes").refused("expected your own first prediction of three-rows")
    own_bank("solution", NAME, "--give-up")
    assert own_bank("grade", NAME, "--yes").out.startswith("PASS")
    # A file in a folder has that folder's numbers, wherever one is.
    monkeypatch.chdir(tmp_path)
    file = str(Path("handed", NAME, "answers.txt"))
    assert own_bank("grade", NAME, "--file", file, "--yes").out.startswith("PASS")
    assert own_bank("grade", NAME, "--file", file, "--yes", "--seed", "2").out.startswith("PASS")
    text = "the numbers here are those of seed 2, not those of 3"
    own_bank("grade", NAME, "--file", file, "--seed", "3").refused(
        text, "drill show three-rows --seed"
    )


def test_a_file_outside_of_a_drill_has_the_numbers_of_the_seed(own_bank: Drill) -> None:
    own_bank("solution", NAME, "--give-up")
    for number, right in enumerate(RIGHT):
        Path("mine.txt").write_bytes(right)
        for seed, status in ((number, 0), (number + 50, 0), (number + 1, 1)):
            result = own_bank("grade", NAME, "--file", "mine.txt", "--yes", "--seed", str(seed))
            assert result.status == status
    Path("mine.txt").write_bytes(RIGHT[0])
    assert (
        own_bank("grade", NAME, "--file", "mine.txt", "--yes").status == 0
    )  # as drill show has it
    assert shown_seed(own_bank("show", NAME).out) == 0
    # If there is a folder, `drill show` has the numbers of that folder.
    own_bank("start", NAME, "--seed", "1")
    Path("mine.txt").write_bytes(RIGHT[1])
    result = own_bank("grade", NAME, "--file", "mine.txt", "--yes")
    assert (result.status, shown_seed(own_bank("show", NAME).out)) == (0, 1)


def test_each_sitting_has_other_numbers(own_bank: Drill) -> None:
    number, seeds = shown_seed(own_bank("start", NAME).out), list[int]()
    for _ in range(8):
        ANSWERS.write_bytes(RIGHT[number])
        assert own_bank("grade", NAME, "--yes").status == 0
        again = own_bank("start", NAME, "--again")
        before, number = number, shown_seed(again.out)
        assert number != before
        assert shown_seed((FOLDER / "QUESTION.md").read_text()) == number
        assert ANSWERS.read_bytes() == SETS[number].starter
        seeds.append(number)
    assert len({*seeds}) > 1
    names = sorted(path.name for path in FOLDER.glob("QUESTION*"))
    assert names == ["QUESTION.md"]  # the old files were written by drill: no copy is kept
    ANSWERS.write_bytes(RIGHT[before])  # right with the numbers before
    assert own_bank("grade", NAME, "--yes").status == 1
    shutil.rmtree(FOLDER)  # and the records know the last numbers without it
    assert shown_seed(own_bank("start", NAME, "--again").out) != number


def test_a_seed_may_be_chosen_and_a_folder_keeps_its_own(own_bank: Drill) -> None:
    assert shown_seed(own_bank("start", NAME, "--seed", "13").out) == 3
    assert shown_seed(own_bank("start", NAME).out) == 3
    assert shown_seed(own_bank("start", NAME, "--seed", "8").out) == 3
    own_bank("start", NAME, "--seed", "2").refused(
        "the numbers here are those of seed 3, not those of 2"
    )
    ANSWERS.write_bytes(RIGHT[3])
    own_bank("grade", NAME, "--seed", "4", "--yes").refused("those of seed 3, not those of 4")
    assert own_bank("grade", NAME, "--seed", "8", "--yes").status == 0
    assert shown_seed(own_bank("start", NAME, "--again", "--seed", "6").out) == 1


def test_other_pages_have_the_numbers_of_the_folder(own_bank: Drill) -> None:
    own_bank("start", NAME, "--seed", "3")
    assert "p is 1, 4 and 3 over 8" in own_bank("hint", NAME, "--number", "3").out
    ANSWERS.write_text("grad[0] = 1\ngrad[1] = 1\ngrad[2] = 1\n")
    own_bank("grade", NAME, "--yes")
    assert "(0.5 - 1) / 2" in own_bank("solution", NAME).out
    guide = own_bank("show", NAME, "--interviewer")
    assert "1, 4 and 3" in guide.out
    guide = own_bank("show", NAME, "--interviewer", "--seed", "4")
    assert "1, 14 and 5" in guide.out
    assert "for the interviewer, 4 min, numbers of seed 4" in " ".join(guide.out.split())
    page = own_bank("solution", NAME, "--seed", "4", "--give-up", "--full").out
    assert repaired_starter(SETS[4]).decode().splitlines()[-1] in page
    other = "four-averages"
    own_bank("start", other, "--seed", "1")
    Path(other, "answers.txt").write_bytes(repaired_starter(load_question([ROOT], other, 1)))
    own_bank("grade", other, "--yes")
    assert "add up to 15" in own_bank("discuss", other, "--json").out


def test_a_pack_has_the_numbers_of_its_seed(own_bank: Drill) -> None:
    for seed, number in ((None, 0), ("20261123", 3)):
        option = () if seed is None else ("--seed", seed)
        result = own_bank("pack", NAME, "--out", f"out{seed}", *option)
        assert f"--file FILE{' --seed 20261123' * bool(seed)}" in result.out
        assert shown_seed(Path(f"out{seed}", NAME, "README.md").read_text()) == number


def test_a_class_has_the_numbers_of_its_seed(tmp_path: Path) -> None:
    handed = {f"s{n}/{NAME}.txt": right for n, right in enumerate(RIGHT)}
    tree(tmp_path / "in", handed)

    def passing_students(**options: object) -> list[str]:
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        verdicts = graded(tmp_path, ROOT, questions=(NAME,), **options)
        return sorted(x.entry.hand_in.student for x in verdicts if x.entry.verdict == "pass")

    assert passing_students(seed=7) == ["s2"]
    assert passing_students(seed=9) == ["s4"]  # in the same processes, which have a session open
    assert passing_students(seed=None) == [
        "s0"
    ]  # one that nobody chose draws what pack and show have
    file = tmp_path / "class.yaml"
    lines = f"format: 1\nseed: per student\nisolation: process\nquestions: [{NAME}]\n"
    file.write_text(lines)
    shutil.rmtree(tmp_path / "out")
    verdicts = graded(tmp_path, ROOT, questions=(), file=file, level="", seed=8)
    assert [x.entry.hand_in.student for x in verdicts if x.entry.verdict == "pass"] == ["s3"]


def test_each_student_has_a_seed_with_the_numbers_of_the_class() -> None:
    terms = ClassSettings(20261123, "process", "0", (), per_student=True)
    seeds = [terms.seed_of(f"s{n}") for n in range(20)]
    assert len({*seeds}) == 20
    assert all(seed % n == 20261123 % n for seed in seeds for n in range(1, 13))


def test_a_fresh_seed_draws_the_numbers_of_its_question() -> None:
    assert {choose_seed(numbered) % 5 for numbered in SETS for _ in range(9)} == {0, 1, 2, 3, 4}
    assert all(choose_seed(numbered) % 5 == numbered.number_set for numbered in SETS)
    assert len({choose_seed() for _ in range(9)}) > 1
    assert all(choose_seed() % n == 0 for n in range(1, 13))


def test_a_notebook_has_the_numbers_that_it_was_opened_with() -> None:
    for number in (1, 3):
        with open_question(NAME, ROOT, seed=number + 5) as question:
            assert shown_seed(repr(question)) == number
            assert question.grade(RIGHT[number]).verdict == "pass"
            assert question.grade(RIGHT[number], seed=number).verdict == "pass"
            with pytest.raises(UsageError, match=f"those of seed {number}, not those of 10"):
                question.grade(RIGHT[number], seed=10)
    with open_question(NAME, ROOT) as question:
        assert shown_seed(repr(question)) == 0


def test_the_answers_as_read_are_shown_before_the_grade_that_counts(own_bank: Drill) -> None:
    own_bank("start", NAME, "--seed", "0")
    ANSWERS.write_text("grad[0] = 1/20 # a\ngrad[1] = -7 / 20\ngrad[2] = 0.3\n")
    own_bank("grade", NAME).refused(
        "the first grade of a prediction is the one that counts",
        "read: grad[0] = 1/20 # a   read as 0.05; grad[1] = -7 / 20   read as -0.35; grad[2] = 0.3",
        "Next: drill grade --yes",
    )
    assert own_bank("grade", NAME, "--yes").status == 0
