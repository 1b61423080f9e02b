"""Numbers that a seed draws stand in every text and in the cases; a place that is none is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.bank import load_question
from grader.cases.recipe import read_cases
from grader.reports.question import question_markdown
from tests.bank.specs import edited, load_problems, one_file

SPEC = """\
format: 3
title: The weights of {n} models
form: estimate
track: memory
level: warm-up
minutes: 5
uses: [numpy]
given:
  - {n: 7000000000, wide: [2, 4], in: bf16}
  - {n: 13000000000, wide: [4, 8], in: float32}
  - {n: 500, wide: [1, 2], in: fp8}
prompt: "A model has {n:,} weights in {in}, {n / 1e9}e9; {n * wide[0] / 1e9:.1f} GB; {wide}."
contract: ["{n} weights."]
answers:
  total: {unit: B, ask: "bytes of {n:,} weights"}
run: ["size = size(n, wide)"]
checks:
  - {id: size, kind: numbers, of: size, parts: [total], tolerance: {relative: 0.03, because: ok},
     about: "the bytes of {n}"}
cases:
  model: {about: "{n} of them", n: "{n}", wide: ["{wide[0]}", "{wide[0] * 2}"]}
hints: ["{wide[0]} bytes each."]
follow_ups:
  - ask: And at {2 * n}?
    answer: "{n * wide[0] * 2 / 1e9:.3g} GB."
    number: "{n * wide[0] * 2} B"
    ideas: {"{n} B": one-byte}
  - {ask: As a list?, answer: So., array: [["{wide[0]}", "{wide[1]}"]]}
code:
  reference: |
    def width(wide):
        return {"a": wide[0]}["a"]

    def size(n, wide):
        return {"total": n * float(width(wide))}
  accepted: |
    # %% plain
    total = {n} * {wide[0]} B
  ideas: |
    # %% one-byte
    # killed_by: size
    # parameters: {BYTES: [1, 3]}
    '''You have {BYTES} of {wide[0]} bytes.'''
    BYTES = 1

    def width(wide):
        return BYTES
"""


def shown(folder: Path, seed: int) -> list[str]:
    """Every text of the question with the numbers of a seed."""
    question = load_question([one_file(folder, SPEC)], "one", seed)
    spec, (one, array) = question.spec, question.spec.follow_ups
    texts = [spec.parts[0].prompt, *spec.contract, spec.answers["total"].ask, spec.checks[0].about]
    texts += [*spec.parts[0].hints, one.ask, one.answer, one.number, *one.ideas, str(array.array)]
    texts += [
        question.ideas["one-byte"].feedback_for(),
        question.accepted["plain"].decode().strip(),
    ]
    case = read_cases(spec.cases)[0]["model"]
    return [*texts, case.about, *(str(recipe.literal) for recipe in case.inputs.values())]


def test_the_numbers_of_a_seed_are_in_every_text(tmp_path: Path) -> None:
    assert shown(tmp_path, 1) == shown(tmp_path, 4) == [
        "A model has 13,000,000,000 weights in float32, 13e9; 52.0 GB; [4, 8].",
        "13000000000 weights.", "bytes of 13,000,000,000 weights", "the bytes of 13000000000",
        "4 bytes each.", "And at 26000000000?", "104 GB.", "104000000000 B", "13000000000 B",
        "[[4.0, 8.0]]", "You have 1 of 4 bytes.", "total = 13000000000 * 4 B",
        "13000000000 of them", "13000000000", "[4, 8]",
    ]  # fmt: skip
    assert "500 weights in fp8, 5e-07e9" in shown(tmp_path, 2)[0]
    assert "7,000,000,000 weights in bf16, 7e9; 14.0 GB" in shown(tmp_path, 0)[0]


def test_a_title_and_code_are_left_as_they_are(tmp_path: Path) -> None:
    question = load_question([one_file(tmp_path, SPEC)], "one", 2)
    assert question.spec.title == "The weights of {n} models"
    assert b'return {"a": wide[0]}["a"]' in question.reference


def test_questions_with_other_numbers_are_the_same_question(tmp_path: Path) -> None:
    ones = [load_question([one_file(tmp_path, SPEC)], "one", seed) for seed in range(4)]
    assert len({one.digest for one in ones}) == 1
    assert [one.number_set for one in ones] == [0, 1, 2, 0]
    assert len({one.starter for one in ones}) == 3
    assert not any(a.is_starter(b.starter) for a in ones[:3] for b in ones[:3] if a is not b)
    assert "numbers of seed 2" in question_markdown(ones[2])


def test_braces_stay_as_they_are_without_drawn_numbers(tmp_path: Path) -> None:
    given = SPEC[SPEC.index("given:") : SPEC.index("prompt:")]
    cases = 'n: "{n}", wide: ["{wide[0]}", "{wide[0] * 2}"]}'
    edits = [given, "", cases, "n: 5, wide: [1, 2]}", '"{n * wide[0] * 2} B"', "5 B"]
    edits += ['{"{n} B": one-byte}', "{1 B: one-byte}", '["{wide[0]}", "{wide[1]}"]', "[1, 2]"]
    edits += ["of {wide[0]} bytes", "of 4"]
    question = load_question([one_file(tmp_path, edited(*edits, text=SPEC))], "one", 3)
    assert question.spec.parts[0].prompt.startswith("A model has {n:,} weights in {in}")
    assert question.number_set == 0


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("weights in {in}, {n", "weights in {inn}, {n",
         "12:1: prompt: expected arithmetic over names of given "
         "(n, wide, in), found {inn}"),
        ('["{n} weights."]', '["{n ** 2} weights."]',
         "13:12: contract[0]: expected arithmetic over names of given "
         "(n, wide, in), found {n ** 2}"),
        ('["{n} weights."]', '["{wide[2]} weights."]',
         "13:12: contract[0]: expected arithmetic over names of given "
         "(n, wide, in), found {wide[2]}"),
        ('["{n} weights."]', '["{n:>9} weights."]',
         "13:12: contract[0]: expected , or .1f or .3g after the colon of a number, found {n:>9}"),
        ('["{n} weights."]', '["{in:,} weights."]',
         "13:12: contract[0]: expected , or .1f or .3g after the colon of a number, found {in:,}"),
        ('n: "{n}", wide', 'n: "{m}", wide',
         "21:33: cases.model.n: expected arithmetic over names of given "
         "(n, wide, in), found {m}"),
        ("bytes of {n:,} weights", "bytes of {} weights",
         "15:20: answers.total.ask: expected arithmetic over names of given "
         "(n, wide, in), found {}"),
        ("{n: 500, wide: [1, 2], in: fp8}", "{n: 500, wide: [1, 2]}",
         "11:5: given[2]: expected the names of the first set, found in in one"),
        ("{n: 500, wide: [1, 2], in: fp8}", "{n: 7000000000, wide: [2, 4], in: bf16}",
         "11:5: given[2]: expected each set once, found that of given[0] again"),
        ("in: bf16}", "in: bf16, seen: 3}",
         "10:5: given[1]: expected the names of the first set, found seen in one"),
        ("of {wide[0]} bytes.'''", "of {width} bytes.'''",
         "40:1: expected arithmetic over names of given "
         "(n, wide, in), found {width}"),
        ("total = {n} *", "total = {nn} *",
         "38:1: expected arithmetic over names of given "
         "(n, wide, in), found {nn}"),
        ("{n: 500,", "{500,", "11:6: given[2]"),
        ("wide: [1, 2], in: fp8", "wide: [1, no], in: fp8",
         "11:24: given[2].wide[1]: expected a number, found the text"),
        ("wide: [1, 2], in: fp8", "wide: ~, in: fp8",
         "11:14: given[2].wide: expected a whole number or a number or text or a"),
        ("in: fp8}", f"in: {'x' * 101}}}",
         "11:28: given[2].in: expected a whole number or a number or text of at"),
    ],
)  # fmt: skip
def test_a_wrong_placeholder_is_reported_with_its_place(
    tmp_path: Path, old: str, new: str, fault: str
) -> None:
    found = load_problems(one_file(tmp_path, edited(old, new, text=SPEC)), "one")
    assert any(one.startswith(fault) for one in found), found


def test_a_name_that_nothing_uses_is_a_fault(tmp_path: Path) -> None:
    text = SPEC.replace("in: bf16}", "in: bf16, seen: 3}").replace(
        "in: float32}", "in: f, seen: 4}"
    )
    found = load_problems(one_file(tmp_path, text.replace("in: fp8}", "in: fp8, seen: 5}")), "one")
    assert found == ["9:45: given[0].seen: expected {seen} in a text or a case, found it in none"]
