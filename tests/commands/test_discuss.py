"""Follow-ups: which are asked, in which order, and how an answer is judged and recorded."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.records import events
from grader.records.events import Event, Store
from tests.commands.conftest import CommandResult, Drill, Program, follow

ROOT = Path(__file__).parents[2]
ID = "mean-and-spread"
SPEC = (ROOT / "tests" / "banks" / "parts" / "questions" / f"{ID}.yaml").read_text("utf-8")
FIRST = """
      - ask: What would a weighted mean divide by?
        answer: The sum of the weights.
        choice: [By nothing., "By N, or 1.", The sum of the weights.]
        right: 3
        ideas: {1: sums, 2: divides-by-nothing}
      - ask: Why do you add up in float64?
        answer: Sums lose digits.
        points: [Sums grow., Digits are lost., It costs little.]
"""
SECOND = """
    follow_ups:
      - {ask: How large are 3 MiB?, answer: 3.1 million bytes., number: 3.1 MB}
"""
THIRD = """
    follow_ups:
      - {ask: "And the spreads?", answer: Roots., array: [[1, 0], [0, 2]], ideas: {"1 0; 0 4": variance}}
"""  # noqa: E501 - one line of YAML


Discuss = Callable[..., CommandResult]


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bank of one question of three parts, with follow-ups of every kind."""
    follow_ups = '[{ask: "What would a weighted mean divide by?", answer: The sum of the weights.}]'
    text = SPEC.replace(follow_ups, FIRST.rstrip())
    text = text.replace('    hints: ["What is 0 / 0?"]\n', SECOND.lstrip("\n"))
    text = text.replace("needs: spread}\n", f"needs: spread}}\n{THIRD.lstrip(chr(10))}")
    path = tmp_path / f"{ID}.yaml"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("DRILL_BANK", str(path))
    return path


@pytest.fixture
def record_event(home: Path, bank: Path) -> Callable[..., None]:
    """Give what records that parts were passed, as in "pass pass fail", or another event."""

    def record(parts: str = "", what: str = "graded", **more: object) -> None:
        verdict = "pass" if parts and {*parts.split()} == {"pass"} else "fail"
        of = ("2026-11-27T10:00:00.000+00:00", "me", "1", ID, str(bank))
        if what != "graded":
            Store(home).write(lambda db: events.append_event(db, Event(what, *of, **more)))  # type: ignore[arg-type]
            return
        begun = Event("begun", *of)
        number = Store(home).write(lambda db: events.begin_attempt(db, begun, parts.encode()))
        report = json.dumps({"follow_up": more.get("asked", "")})
        graded = Event("graded", *of, attempt=number, verdict=verdict, parts=parts, report=report)
        Store(home).write(lambda db: events.append_event(db, graded))

    return record


@pytest.fixture
def discuss(real: Drill, monkeypatch: pytest.MonkeyPatch) -> Discuss:
    """Return a function that runs `drill discuss`, with typed lines and further arguments."""

    def run_discuss(typed: str, *arguments: str) -> CommandResult:
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        return real("discuss", ID, *arguments)

    return run_discuss


def recorded_answers(home: Path) -> list[tuple[str | None, dict[str, object]]]:
    """Every answer on record: its verdict and its detail."""
    query = "SELECT verdict, detail FROM events WHERE what = 'discussed' ORDER BY id"
    rows = Store(home).read(lambda db: db.execute(query).fetchall(), empty=[])
    return [(verdict, json.loads(detail)) for verdict, detail in rows]


def follow_up_order(real: Drill) -> list[tuple[int, int, str | None]]:
    """The follow-ups in the order in which they come, with the last verdict."""
    rows = real("discuss", ID, "--json").data["follow_ups"]
    return [(row["part"], row["number"], row["verdict"]) for row in rows]


def test_follow_ups_of_a_part_are_hidden_until_it_is_passed(
    discuss: Discuss, record_event: Callable[..., None]
) -> None:
    said = f"part 1 of {ID} is not passed yet, and its follow-ups come after that"
    for arguments in ((), ("--all",), ("--json",), ("--answer", "1")):
        result = discuss("1\n", *arguments)
        assert result.status == 2
        assert said in result.out + result.err
        assert "weighted" not in result.out + result.err
    record_event("fail skipped skipped")
    discuss("1\n").refused(said, f"Next: drill start {ID}\n")
    record_event("pass fail skipped")
    result = discuss("")
    assert result.status == 0
    assert "weighted" in result.out
    assert "MiB" not in discuss("", "--all").out
    discuss("", "--part", "2").refused(f"part 2 of {ID} is not passed yet")
    discuss("", "--part", "9").refused("--part: expected a number from 1 to 3, found 9")


def test_after_giving_up_a_part_its_follow_ups_are_asked(
    real: Drill, record_event: Callable[..., None]
) -> None:
    record_event("pass fail skipped")
    record_event(what="solution")
    assert {part for part, _, _ in follow_up_order(real)} == {1, 2}


def test_an_answer_is_judged_and_recorded_before_ours_is_shown(
    discuss: Discuss, record_event: Callable[..., None], home: Path
) -> None:
    record_event("pass pass pass")
    result = discuss("2\nNot today\n\nn\ny\ny\n3\n3.1\n3 MiB\n1 0 0 4\n1 0; 0 4\n")
    assert (result.status, result.err) == (0, "")
    assert (
        result.out
        == """\
mean-and-spread: 4 questions; Enter leaves one for later, Ctrl-D ends

1 of 4, part 1: What would a weighted mean divide by?
    1 By nothing.
    2 By N, or 1.
    3 The sum of the weights.
Answer, a number from 1 to 3: 2
Wrong; 3 is right.
    The sum of the weights.
Idea: divides-by-nothing.
    You divide by the number of entries even where there are none, which is not
    a number.

2 of 4, part 1: Why do you add up in float64?
Answer, in words; an empty line ends it:
> Not today
>
Our answer:
    Sums lose digits.
Which of these does yours say?
    1 Sums grow.
    y or n: n
    2 Digits are lost.
    y or n: y
    3 It costs little.
    y or n: y
2 of 3 key points: right

3 of 4, part 2: How large are 3 MiB?
Answer, a number with its unit: 3
that is no answer: expected a number with its unit, found no unit
Answer, a number with its unit: 3.1
that is no answer: expected a number with its unit, found no unit
Answer, a number with its unit: 3 MiB
Right.
    3.1 million bytes.

4 of 4, part 3: And the spreads?
Answer, 2 rows of 2 numbers, as 1 2; 3 4: 1 0 0 4
that is no answer: expected 2 rows of 2 numbers, as 1 2; 3 4, found 4 numbers
Answer, 2 rows of 2 numbers, as 1 2; 3 4: 1 0; 0 4
Wrong; 1 0; 0 2 is right.
    Roots.
Idea: variance.
    You give the variance, without the root.

2 right, 2 wrong, 0 left
Next: drill discuss mean-and-spread --all   drill next
""".replace("\n>\n", "\n> \n")
    )
    graded = {"ticked": None, "of": None}
    assert recorded_answers(home) == [
        ("fail", {"part": 1, "number": 1, "kind": "choice", "idea": "divides-by-nothing"} | graded
         | {"text": "2"}),
        ("pass", {"part": 1, "number": 2, "kind": "points", "idea": None, "ticked": 2, "of": 3,
                  "text": "Not today"}),
        ("pass", {"part": 2, "number": 1, "kind": "number", "idea": None} | graded
         | {"text": "3 MiB"}),
        ("fail", {"part": 3, "number": 1, "kind": "array", "idea": "variance"} | graded
         | {"text": "1 0; 0 4"}),
    ]  # fmt: skip


def test_an_idea_of_a_later_part_is_neither_shown_nor_recorded(
    discuss: Discuss, record_event: Callable[..., None], home: Path
) -> None:
    record_event("pass fail skipped")
    result = discuss("", "--answer", "2")
    assert "Wrong; 3 is right." in result.out
    assert "Idea" not in result.out
    assert recorded_answers(home)[0][1]["idea"] is None
    assert "Idea: sums." in discuss("\n1\n").out  # after the other one


def test_follow_ups_without_an_answer_come_first_then_wrong_ones_then_the_oldest(
    discuss: Discuss, real: Drill, record_event: Callable[..., None]
) -> None:
    record_event("pass pass pass", asked="How large are 3 MiB?")
    assert follow_up_order(real) == [(2, 1, None), (1, 1, None), (1, 2, None), (3, 1, None)]
    follow(
        real,
        f"""
        discuss {ID} --answer "3 MiB" => 0 | part 2: How large are 3 MiB? Right. 3.1 million
        discuss {ID} --answer 1 => 0 | Wrong; 3 is right. | Idea: sums. | Next: drill discuss {ID}
        discuss {ID} --answer "1 0; 0 2" --part 3 => 0 | Right.
        """,
    )
    asked = [(1, 2, None), (1, 1, "fail"), (2, 1, "pass"), (3, 1, "pass")]
    assert follow_up_order(real) == asked
    assert follow_up_order(real) == asked  # looking changes nothing
    assert "2 of 3 key points: right" in discuss("y\nn\ny\n", "--part", "1", "--answer", "hm").out
    follow(real, f"discuss {ID} --answer 3 => 0 | Right.")
    assert follow_up_order(real) == [(2, 1, "pass"), (3, 1, "pass"), (1, 2, "pass"), (1, 1, "pass")]
    said = discuss("", "--part", "1", "--answer", "hm", "--ticked", "1, 3").out  # nobody is asked
    assert said.startswith("Our answer:\n")
    assert said.endswith("2 of 3 key points: right\n")
    page = discuss("", "--all").out
    assert page.index("1.1 right: What") < page.index("1.2 right: Why") < page.index("2.1 right:")


def test_key_points_of_an_answer_can_be_ticked_line_by_line(
    real: Drill, discuss: Discuss, record_event: Callable[..., None], home: Path
) -> None:
    record_event("pass pass pass", asked="Why do you add up in float64?")
    hidden = real("discuss", ID, "--json").data["follow_ups"][0]
    assert (hidden["kind"], hidden["answer"], hidden["verdict"]) == ("points", None, None)
    said = discuss("", "--answer", "They grow")
    assert (
        said.out
        == f"""\
part 1: Why do you add up in float64?
Our answer:
    Sums lose digits.
Which of these does yours say?
    1 Sums grow.
    y or n:\x20
Next: drill discuss {ID}
"""
    )
    assert [verdict for verdict, _ in recorded_answers(home)] == [None]
    assert follow_up_order(real)[0] == (1, 2, None)
    data = real("discuss", ID, "--answer", "They grow", "--json").data
    assert (data["verdict"], data["answer"], data["idea"]) == (None, "Sums lose digits.", "")
    assert data["points"] == ["Sums grow.", "Digits are lost.", "It costs little."]
    assert "1 of 3 key points: wrong" in discuss("y\nn\nn\n", "--answer", "They grow").out
    assert [(verdict, one["ticked"]) for verdict, one in recorded_answers(home)] == [
        (None, None), (None, None), ("fail", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("typed", ["7", "two", "\x1b[31m", "9" * 100_000])
def test_text_that_is_not_an_answer_is_refused_and_not_recorded(
    real: Drill, record_event: Callable[..., None], home: Path, typed: str
) -> None:
    record_event("pass fail skipped")
    result = real("discuss", ID, "--answer", typed)
    assert result.status == 2
    assert "that is no answer: expected a number from 1 to 3, found" in result.err
    assert "\x1b" not in result.err
    assert len(result.err) < 400
    assert recorded_answers(home) == []


def test_an_empty_line_skips_one_follow_up_and_the_end_of_input_skips_the_others(
    discuss: Discuss, record_event: Callable[..., None], home: Path
) -> None:
    record_event("pass pass pass")
    result = discuss("\n\n")
    assert result.status == 0
    assert "\n0 right, 0 wrong, 4 left\n" in result.out
    assert "4 of 4" not in result.out
    # The text of an answer is recorded even if its key points are not ticked.
    assert "\n0 right, 0 wrong, 4 left\n" in discuss("\nwords\n\ny\n").out
    assert [(verdict, detail["text"]) for verdict, detail in recorded_answers(home)] == [
        (None, "words")
    ]


def test_answers_before_an_interruption_are_kept(
    discuss: Discuss, record_event: Callable[..., None], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_event("pass pass pass")
    typed = iter(["3", "much", "and more", "", "y"])

    def line(_: str) -> str:
        if (found := next(typed, None)) is None:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr("builtins.input", line)
    result = discuss("")
    assert result.status == 130
    assert result.err == "drill: 1 answer kept\ninterrupted\n"
    verdicts = [(verdict, detail["text"]) for verdict, detail in recorded_answers(home)]
    assert verdicts == [("pass", "3"), (None, "much\nand more")]


def test_long_and_odd_answers_are_recorded_up_to_the_limit(
    discuss: Discuss, record_event: Callable[..., None], home: Path
) -> None:
    record_event("pass pass pass", asked="Why do you add up in float64?")
    result = discuss("\x1b[2J\u202e" + "x" * 20_000 + "\n\ny\ny\nn\n")
    assert result.status == 0
    assert "\x1b" not in result.out
    assert len(str(recorded_answers(home)[0][1]["text"])) == 10_000


def test_answers_through_a_pipe_may_hold_any_bytes(
    program: Program, record_event: Callable[..., None]
) -> None:
    record_event("pass fail skipped")
    process = program("discuss", ID, stdin=-1)
    assert process.stdin is not None
    process.stdin.buffer.write(b"\xff\xfe\n3\n")  # type: ignore[attr-defined]
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert "found '\\\\xff\\\\xfe'" in out
    assert "Right." in out


def test_closed_input_counts_as_its_end(
    real: Drill, record_event: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    record_event("pass fail skipped")
    monkeypatch.setattr(sys, "stdin", None)
    result = real("discuss", ID)
    assert result.status == 0
    assert "0 right, 0 wrong, 2 left" in result.out


def test_answers_are_judged_even_if_they_cannot_be_recorded(
    discuss: Discuss, record_event: Callable[..., None], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_event("pass fail skipped")

    def full(*_: object) -> None:
        raise events.RecordsError("the disk is full")

    monkeypatch.setattr(Store, "write", full)
    result = discuss("3\n")
    assert "Right." in result.out
    assert (
        result.err
        == "drill: Your history cannot be written; this is not saved (the disk is full)\n"
    )
    assert recorded_answers(home) == []


def test_a_question_without_follow_ups_says_so(
    discuss: Discuss, record_event: Callable[..., None], bank: Path
) -> None:
    bank.write_text(bank.read_text("utf-8").replace(SECOND.lstrip("\n"), ""), encoding="utf-8")
    record_event("pass pass pass")
    discuss("", "--part", "2").refused(f"part 2 of {ID} has no follow-ups", "Next: drill next")


def test_a_pass_and_its_solution_lead_to_the_discussion(drill: Drill) -> None:
    follow(
        drill,
        """
        start double-trouble => 0
        double-trouble/submission.py < # pass
        grade => 0 | One more, without code: And halving? | Next: drill solution drill discuss drill next
        discuss --json => 0 | "wanted": "in words"
        solution => 0 | Next: drill discuss drill solution --mine drill solution --full
        """,  # noqa: E501
    )
