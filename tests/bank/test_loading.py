"""A question is a spec and its programs, as files or in the spec; what is missing has its place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from grader.bank import load_question
from grader.bank.starter_repair import repair_changes, repaired_starter
from grader.cases.recipe import read_cases
from grader.explain.session import grade
from grader.model.question import Question
from grader.model.report import Verdict
from tests.bank.specs import edited, load_problems, one_file, problems, write_bank
from tests.bank.test_validation_errors import PARTS

HOME = "drills/scaled-copy"

ONE = """\
format: 3
title: A gate
track: basics
level: warm-up
minutes: 5
uses: [numpy]
prompt: Mend the gate.
interface: "def gate(g, x): ..."
run:
  - out = driver.twice(g, x)
  - once = gate(g, x)
cases:
  signs: {x: [-1.0, 0.0, 2.0, 5.0], g: [3.0, 4.0, 5.0, 6.0]}
checks:
  - {id: gate, kind: outputs, of: [out, once]}
starter_holds: [no-gate]
code:
  reference: |
    import numpy as np


    def gate(g, x):
        return np.where(x > 0, g, 0.0)
  starter: |
    def gate(g, x):
        return g * 1.0
  driver: |
    def twice(program, g, x):
        return program.gate(program.gate(g, x), x)
  accepted: |
    # %% selected
    def gate(g, x):
        return g * (x > 0)
  ideas: |
    # %% no-gate
    # killed_by: gate
    '''You ignore x.'''
    def gate(g, x):
        return g.copy()

    # %% opens-elsewhere
    # killed_by: gate
    # parameters: {EDGE: [0.0, 3.0, .inf]}
    '''You open at {EDGE} and {more}.'''
    EDGE = 1
    def gate(g, x):
        return np.where(x >= EDGE, g, 0.0)
"""
RIGHT = "        return np.where(x > 0, g, 0.0)\n"


def one(folder: Path, *edits: str) -> Question:
    """Load the question that is one file, edited."""
    return load_question([one_file(folder, edited(*edits, text=ONE))], "one")


def test_a_question_has_its_programs_as_bytes_and_their_places(tmp_path: Path) -> None:
    home = write_bank(tmp_path) / HOME
    (home / "starter.py").write_bytes(b"\xff not even text")
    (home / "ideas.py").write_bytes(b"# %% adds-it\n'''You add.'''\nx + factor  # TODO\n")
    (home / "accepted.py").write_bytes(b"# %% loops\nright = 1\n")
    question = load_question([tmp_path], "scaled-copy")
    assert (question.starter, question.driver) == (b"\xff not even text", None)
    assert question.variants == {"adds-it": (b"\n'''You add.'''\nx + factor  # TODO\n",)}
    idea = question.ideas["adds-it"]
    assert (idea.feedback, idea.killed_by) == ("You add.", [])
    assert (question.accepted, question.accepted_until_part) == (
        {"loops": b"\nright = 1\n"},
        {"loops": 1},
    )
    assert question.functions == ("scale", "scale_backward")
    assert question.spec.runs == {
        "main": ["y, ctx = scale(x, factor)", "grad_x = scale_backward(grad_y, ctx)"]
    }
    assert question.spec_path == tmp_path / "questions" / "scaled-copy.yaml"
    assert question.todos == (f"{HOME}/ideas.py:3",)
    (home / "accepted.py").write_bytes(b"# %% loops\nright = 2\n")
    assert load_question([tmp_path], "scaled-copy").digest != question.digest


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("starter.py", None, "1:1: the question: expected the file PATH, or code.starter or "
         "`starter: idea NAME` in the spec, found: No such file or directory"),
        ("more.py", b"", "1:1: the question: expected a program or a helper, found PATH, which "
         "nothing uses"),
        ("accepted.txt", b"", "1:1: the question: expected a program or a helper, found PATH, "
         "which nothing uses"),
        ("misconceptions", b"", "1:1: the question: expected a program or a helper, found PATH, "
         "which nothing uses"),
        ("reference.py", b"#" * ((1 << 20) + 1), "1:1: the question: expected at most 1,048,576 "
         "bytes in PATH, found more"),
    ],
)  # fmt: skip
def test_a_missing_unused_or_too_long_file_is_reported(
    tmp_path: Path, file: str, content: bytes | None, message: str
) -> None:
    home = write_bank(tmp_path) / HOME
    for name in ("_notes.py", "README.md", "test_it.py"):
        (home / name).touch()
    (home / file).unlink() if content is None else (home / file).write_bytes(content)
    assert load_problems(tmp_path) == [message.replace("PATH", str(home / file))]


def test_a_program_in_the_spec_has_the_lines_of_the_spec(tmp_path: Path) -> None:
    question = one(tmp_path)
    assert question.spec_path == question.bank == tmp_path / "one.yaml"
    assert (
        question.without_leading_blank_lines(question.starter)
        == b"def gate(g, x):\n    return g * 1.0\n"
    )
    assert question.driver is not None
    variants = [source for sources in question.variants.values() for source in sources]
    assert len(variants) == 4
    lines = ONE.splitlines()
    others = (*question.accepted.values(), *variants)
    for source in (question.reference, question.starter, question.driver, *others):
        for number, line in enumerate(source.decode().partition("\nEDGE = ")[0].splitlines()):
            assert not line or lines[number].strip() == line.strip()


def test_a_bank_of_one_file_is_graded_and_the_parameter_is_named(tmp_path: Path) -> None:
    question = one(tmp_path)
    for right in (question.reference, question.accepted["selected"]):
        assert grade(question, right, seed=1).verdict is Verdict.PASS
    assert [n.id for n in grade(question, question.starter, seed=1).misconceptions] == ["no-gate"]
    (named,) = grade(question, b"def gate(g, x): return 0.0 * g", seed=1).misconceptions
    assert (named.feedback, named.exact) == ("You open at inf and {more}.", True)


@pytest.mark.parametrize(
    ("wrong", "message", "end"),
    [
        ("        return np.where(\n", "the reference cannot be loaded: ", r"(line |yaml:)23\b.*"),
        (
            "        return x.nothing\n",
            "the reference fails on case signs: ",
            r", in \./one.yaml:23: return x.nothing",
        ),
    ],
)
def test_a_mistake_in_code_has_the_line_of_the_file(
    tmp_path: Path, wrong: str, message: str, end: str
) -> None:
    report = grade(one(tmp_path, RIGHT, wrong), b"def gate(g, x): return g\n", seed=1)
    assert report.verdict is Verdict.INVALID
    assert report.message.startswith(f"{tmp_path / 'one.yaml'}: {message}")
    assert re.search(f"{end}$", report.message)


def test_a_folder_may_hold_some_programs_and_the_spec_others(tmp_path: Path) -> None:
    starter = ONE[ONE.index("  starter: |") : ONE.index("  driver: |")]
    bank = write_bank(tmp_path, edited(starter, "", text=ONE))
    (bank / HOME / "reference.py").unlink()
    (bank / HOME / "ideas.py").unlink()
    (bank / HOME / "starter.py").write_bytes(b"starter")
    assert load_question([bank], "scaled-copy").starter == b"starter"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  starter: |\n", "  starters: |\n", "24:3: code.starters: found an unknown key; did you "
         "mean 'starter'?"),
        ("  starter: |\n    def gate(g, x):\n        return g * 1.0\n", "", "1:1: the question: "
         "expected code.starter or `starter: idea NAME`, because there are no files, found none"),
        ("  driver: |", "  driver: >", "27:3: code.driver: expected code below '|', found '>', "
         "which joins its lines"),
        ("and {more}.", "and {MORE}.", "41:1: opens-elsewhere: expected a parameter MORE "
         "for {MORE}, found EDGE"),
        ("EDGE = 1\n    def", "def", "43:16: opens-elsewhere.parameters.EDGE: expected EDGE = ... "
         "at the left margin of every program, found none"),
        ("3.0, .inf]", f"{', '.join(map(str, range(11)))}], X: [1, 2, 3]", "43:3: opens-elsewhere."
         "parameters: expected at most 24 combinations of values, found 36"),
        ("[0.0, 3.0, .inf]", "[[1]]", "43:23: opens-elsewhere.parameters.EDGE[0]: "
         "expected true or false or a whole number or a number or text, found a list of 1"),
        ("starter_holds:", "helpers: [json]\nstarter_holds:", "16:11: helpers[0]: expected a name "
         "that no other module has, found json"),
    ],
)  # fmt: skip
def test_wrong_code_in_a_spec_is_reported_with_its_place(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert message in load_problems(one_file(tmp_path, edited(old, new, text=ONE)), "one")


@pytest.mark.parametrize("line", ["LOW, EDGE = 0, 1", "[LOW, (*_, EDGE)] = 0, [1]", "A = EDGE = 1"])
def test_a_parameter_may_be_bound_with_other_names(tmp_path: Path, line: str) -> None:
    variants = one(tmp_path, "    EDGE = 1\n", f"    {line}\n").variants["opens-elsewhere"]
    assert variants[1].endswith(b"\nEDGE = 3.0\n")


@pytest.mark.parametrize("line", ["print(EDGE)", "for EDGE in (1,): pass", "if EDGE: pass"])
def test_a_parameter_that_is_only_read_is_refused(tmp_path: Path, line: str) -> None:
    text = edited("    EDGE = 1\n", f"    {line}\n", text=ONE)
    (found,) = load_problems(one_file(tmp_path, text), "one")
    assert "expected EDGE = ... at the left margin of every program" in found


def test_a_spec_of_one_part_is_the_same_as_one_with_parts(tmp_path: Path) -> None:
    question = load_question([PARTS], "mean-and-spread")
    spec = question.spec
    assert spec.part_ids == ("1", "2", "spread")
    assert [c.id for c in spec.checks] == ["mean", "nothing", "alone", "spread", "far"]
    assert [spec.part_of(c.id) for c in spec.checks] == [1, 2, 2, 3, 3]
    assert (spec.minutes, len(spec.contract)) == (9, 3)
    assert [question.functions_for_part(n) for n in (1, 2, 3)] == [
        ("mean",), ("mean",), ("mean", "spread"),
    ]  # fmt: skip
    text = (PARTS / "questions" / "mean-and-spread.yaml").read_text(encoding="utf-8")
    more = edited("m, cases: nothing", "m, clause: [2, 1], cases: nothing", text=text)
    assert load_problems(one_file(tmp_path, more), "one") == []


# -- what is said once, and filled in where it belongs ---------------------------------------------

POOLS = """\
format: 3
title: Pools
track: pooling
level: core
minutes: 5
uses: [numpy]
prompt: Pool x.
interface: "def pool(x, kernel, stride): ..., def back(grad_y, x): ..., def area(side): ..."
run:
  main: ["y = pool(x, kernel, stride)", "grad_x = back(grad_y, x)"]
  area: [a = area(side)]
defaults: {kernel: 2, stride: 2, grad_y: {normal: like y}, dtype: float32}
display: {beside: [x, side], window: [kernel, stride, 0]}
cases: {a: {x: [1.0]}, b: {side: 3}}
checks:
  - {id: pooled, kind: outputs, of: y}
  - {id: area, run: area, kind: outputs, of: a}
code: {reference: "x = 1", starter: "x = 2"}
"""


def pools(folder: Path, *edits: str) -> Question:
    """Load the question about pools, edited."""
    return load_question([one_file(folder, edited(*edits, text=POOLS))], "one")


def cases(question: Question) -> dict[str, dict[str, Any]]:
    """The inputs of the cases, and their dtypes."""
    found, faults = read_cases(question.spec.cases)
    assert not faults
    return {
        name: {key: one.like or one.literal for key, one in case.inputs.items()}
        | {"dtype": case.dtype}
        for name, case in found.items()
    }


def test_a_case_has_the_defaults_of_each_run_that_reads_one_of_its_inputs(tmp_path: Path) -> None:
    of_main = {"kernel": 2, "stride": 2, "grad_y": "y", "dtype": "float32"}
    only_side = {"side": 3, "dtype": "float32"}
    assert cases(pools(tmp_path)) == {"a": {"x": [1.0], **of_main}, "b": only_side}
    found = cases(pools(tmp_path, "like y}", "like mask}, mask: [[1.0]]"))
    assert found["a"] == {"x": [1.0], **of_main, "grad_y": "mask", "mask": [[1.0]]}
    assert found["b"] == only_side


def test_keys_of_a_case_and_of_extended_cases_come_before_defaults(tmp_path: Path) -> None:
    found = cases(
        pools(
            tmp_path,
            "{a: {x: [1.0]}, b: {side: 3}}",
            "{a: {x: [1.0], kernel: 3}, b: {extends: a, stride: 1}, c: {extends: b, kernel: 4},"
            " d: {extends: c, dtype: float64}, e: {extends: d, side: 1}}",
        )
    )
    sizes = {name: (c["kernel"], c["stride"], c["dtype"]) for name, c in found.items()}
    assert sizes == {
        "a": (3, 2, "float32"), "b": (3, 1, "float32"), "c": (4, 1, "float32"),
        "d": (4, 1, "float64"), "e": (4, 1, "float64"),
    }  # fmt: skip


def test_display_applies_to_every_check_without_show(tmp_path: Path) -> None:
    def shown(*edits: str) -> list[tuple[Any, Any]]:
        checks: list[Any] = pools(tmp_path, *edits).spec.checks
        return [(check.show.beside, check.show.window) for check in checks]

    area = (["side"], None)
    assert shown() == [(["x"], ["kernel", "stride", 0]), area]
    assert shown("of: y}", "of: y, show: {beside: kernel}}") == [(["kernel"], None), area]


def test_a_check_without_of_compares_results_that_no_later_step_uses(tmp_path: Path) -> None:
    bare = ", kind: outputs, of: y}", "}"
    checks: list[Any] = pools(tmp_path, *bare).spec.checks
    assert [(one.kind, one.of) for one in checks] == [
        ("outputs", ["y", "grad_x"]),
        ("outputs", "a"),
    ]
    steps = '"y = pool(x, kernel, stride)", "grad_x = back(grad_y, x)"'
    with_ctx = '"y, ctx = pool(x, kernel, stride)", "grad_x = back(grad_y, ctx)"'
    checks = [*pools(tmp_path, steps, with_ctx, *bare).spec.checks]
    assert checks[0].of == ["y", "grad_x"]


def test_one_word_is_a_check_of_that_kind(tmp_path: Path) -> None:
    words = "  - gradcheck\n  - side-effects\n"
    checks: list[Any] = pools(
        tmp_path, "  - {id: pooled, kind: outputs, of: y}\n", words
    ).spec.checks
    law, manners = checks[:2]
    assert (law.id, law.kind, law.loss, law.cotangent) == ("gradcheck", "gradcheck", "y", "grad_y")
    assert law.gradients == {"x": "grad_x"}
    assert (manners.kind, manners.of) == ("side-effects", ["y", "grad_x"])


# -- cases as a table ------------------------------------------------------------------------------

TABLE = ("cases: {a: {x: [1.0]}, b: {side: 3}}", "columns: [about, x, kernel]\ncases: ")


def test_a_case_that_is_a_list_is_a_row_of_the_table(tmp_path: Path) -> None:
    rows = "{a: [short, [1.0]], b: {side: 3}, c: [all, [2.0], 5], d: [none, [3.0], ~]}"
    found = pools(tmp_path, TABLE[0], TABLE[1] + rows).spec.cases
    seen = {name: tuple(map(case.get, ("about", "x", "kernel"))) for name, case in found.items()}
    assert seen == {
        "a": ("short", [1.0], 2), "b": (None, None, None), "c": ("all", [2.0], 5),
        "d": ("none", [3.0], 2),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("{a: [1, [1.0], 2, 3], b: {side: 3}}", "15:9: cases.a: expected at most 3 entries, one "
         "for each of the columns, found 4"),
        ("{a: [a, {nromal: [3]}], b: {side: 3}}", "15:16: cases.a[1]"),
        ("{a: a, b: {side: 3}}", "15:9: cases.a: expected a mapping, found the text 'a'"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_reported_with_its_place(tmp_path: Path, rows: str, message: str) -> None:
    (found,) = load_problems(
        one_file(tmp_path, edited(TABLE[0], TABLE[1] + rows, text=POOLS)), "one"
    )
    assert found.startswith(message)


# -- the starter is an idea ------------------------------------------------------------------------

BEGUN = (
    "starter_holds: [no-gate]\n", "starter: idea no-gate\n",
    "  starter: |\n    def gate(g, x):\n        return g * 1.0\n", "",
)  # fmt: skip


def test_a_starter_may_be_the_reference_with_an_idea(tmp_path: Path) -> None:
    question = one(tmp_path, *BEGUN)
    reference = question.without_leading_blank_lines(question.reference)
    assert question.starter == reference.replace(b"np.where(x > 0, g, 0.0)", b"g.copy()")
    assert question.spec.starter_holds == ["no-gate"]
    (change,) = repair_changes(question)
    assert (change.why, repaired_starter(question)) == (((1, "You ignore x."),), reference)
    named = grade(question, question.starter, seed=1).misconceptions
    assert [one.id for one in named] == ["no-gate"]


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        (("idea no-gate", "idea no-gat"), "starter: expected an idea, found 'no-gat'; did"),
        (("idea no-gate", "no-gate"), "starter: expected `idea NAME`, found the text 'no-gate'"),
        (("return np.where(x > 0, g, 0.0)", "return ("), "23:12: expected Python, found: '(' was "),
        (("return g.copy()", "return )"), ": expected Python, found: unmatched ')'"),
        (("# %% no-gate\n", "# %% No-gate\n"), "No-gate: expected lower-case words joined by "),
    ],
)  # fmt: skip
def test_a_starter_from_an_unknown_idea_is_reported(
    tmp_path: Path, edits: tuple[str, str], message: str
) -> None:
    text = edited(*edits, text=edited(*BEGUN, text=ONE))
    (found,) = load_problems(one_file(tmp_path, text), "one")
    assert message in found


def test_a_starter_from_an_idea_without_ideas_names_the_file_of_ideas(tmp_path: Path) -> None:
    bank = write_bank(tmp_path, edited("hints:", "starter: idea adds-it\nhints:"))
    (bank / "drills" / "scaled-copy" / "ideas.py").unlink()
    (bank / "drills" / "scaled-copy" / "starter.py").unlink()
    (found,) = load_problems(bank)
    assert "starter: expected an idea, found 'adds-it'; the question has no ideas: write " in found
    assert "drills/scaled-copy/ideas.py" in found


def test_a_question_with_several_parts_needs_a_written_starter(tmp_path: Path) -> None:
    text = (PARTS / "questions" / "mean-and-spread.yaml").read_text(encoding="utf-8")
    text = edited("starter_holds: [sums]", "starter: idea sums", text=text)
    (found,) = load_problems(one_file(tmp_path, text), "one")
    assert "starter: expected a starter of its own" in found


# -- never by accident -----------------------------------------------------------------------------


def test_a_helper_cannot_lie_outside_its_folder(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, edited("hints:", "helpers: [../reference]\nhints:"))
    assert "expected a name (letters, digits, _)" in found
    assert "found the text '../" in found
