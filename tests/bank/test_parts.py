"""Questions in parts, as YAML: what may stand where, and every fault with its place."""

# ruff: noqa: E501 a message that is compared stands on one line

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.bank import headers, load
from grader.model.errors import BankError

BANK = Path(__file__).parents[1] / "banks" / "parts"
NAME = "mean-and-spread.yaml"
SPEC = (BANK / "questions" / NAME).read_text(encoding="utf-8")


def said(folder: Path, *edits: str) -> list[str]:
    """Return what is said of the question with each text of the pairs replaced by the next one."""
    text = SPEC
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
        text = text.replace(old, new)
    path = folder / NAME
    path.write_text(text, encoding="utf-8")
    try:
        load([path], path.stem)
    except BankError as error:
        return [problem.removeprefix(f"{path}:") for problem in error.problems]
    return []


def test_a_spec_of_parts_is_one_of_all_of_them() -> None:
    spec = load([BANK], "mean-and-spread").spec
    assert spec.part_ids == ("1", "2", "spread")
    assert [c.id for c in spec.checks] == ["mean", "nothing", "alone", "spread", "far"]
    assert [spec.part_of(c.id) for c in spec.checks] == [1, 2, 2, 3, 3]
    assert spec.minutes == 9
    assert spec.prompt == spec.parts[0].prompt
    assert len(spec.contract) == 3
    assert [h.split()[0] for h in spec.hints] == ["What", "Divide", "What"]
    assert spec.interface.index("def mean") < spec.interface.index("def spread")
    with pytest.raises(KeyError):
        spec.part_of("nobody")


def test_functions_are_asked_for_part_by_part() -> None:
    question = load([BANK], "mean-and-spread")
    assert [question.functions_of(n) for n in (1, 2, 3)] == [
        ("mean",),
        ("mean",),
        ("mean", "spread"),
    ]
    assert question.functions == question.functions_of(None) == ("mean", "spread")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "points: 30", "points: 20",
            "7:3: parts: expected points that add up to 100, found 50 + 20 + 20 = 90",
        ),
        ("points: 30", "marks: 30", "20:5: parts[1]: expected the key 'points', found none"),
        ("points: 30", "id: spread\n    points: 30", "29:9: parts[2].id: expected each id once, found 'spread' again"),
        ("  - id: spread", "  - id: 1", "28:9: parts[2].id: expected text, found the number 1"),
        ("{id: far, run", "{id: mean, run", "39:14: parts[2].checks[1].id: expected each id once, found 'mean' again"),
        ("cases: nothing, about", "case: nothing, about", "25:45: parts[1].checks[0]: found the unknown key 'case'; did you mean 'cases'?"),
        ("kind: outputs, of: m, cases: nothing", "kind: outputs, of: n, cases: nothing", "nothing: expected a result of the run main, found 'n'"),
        ("    prompt: One worker now sends nothing at all.\n", "", "20:5: parts[1]: expected the key 'prompt', found none"),
        ("uses: [numpy]", "uses: [numpy]\nhints: [a]", "6:1: the question: found the unknown key 'hints'; it is a key of a part here"),
        ("starter_holds: [sums]", "starter: [sums]", "48:1: the question: found the unknown key 'starter'; did you mean 'starter_holds'?"),
        ("m, cases: nothing", "m, clause: 3, cases: nothing", "25:53: parts[1].checks[0].clause: expected the number of a clause up to 2, found 3"),
        ("m, cases: nothing", "m, clause: 0, cases: nothing", "25:53: parts[1].checks[0].clause: expected a number above 0 or a list, found the number 0"),
        ("killed_by: far", "killed_by: fra", "expected the id of a check, found 'fra'; did you mean 'far'?"),
    ],
)  # fmt: skip
def test_a_fault_of_a_part_has_its_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    found = said(tmp_path, old, new)
    assert any(message in problem for problem in found), found


def test_one_fault_is_one_sentence(tmp_path: Path) -> None:
    """What is wrong in one part takes nothing from the others."""
    assert len(said(tmp_path, "points: 30", "points: 20")) == 1
    assert len(said(tmp_path, "points: 30", "points: lots")) == 1
    assert len(said(tmp_path, "cases: nothing, about", "case: nothing, about")) == 1


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ("parts: []", "parts: expected at least one entry, found a list of 0"),
        ("parts: 3", "parts: expected a list, found the number 3"),
        ("parts: [one]", "parts[0]: expected a mapping, found the text 'one'"),
        ("parts: [{}]", "parts[0]: expected the key 'checks', found none"),
        (
            "parts: [{points: 100, minutes: 1, prompt: a, interface: a, checks: [3]}]",
            "parts[0].checks[0]: expected a mapping, found the number 3",
        ),
    ],
)
def test_parts_that_are_none(tmp_path: Path, parts: str, message: str) -> None:
    begin, end = SPEC.index("parts:"), SPEC.index("run:\n")
    path = tmp_path / NAME
    path.write_text(f"{SPEC[:begin]}{parts}\n{SPEC[end:]}", encoding="utf-8")
    with pytest.raises(BankError) as error:
        load([path], path.stem)
    assert any(message in problem for problem in error.value.problems), error.value.problems


def test_a_part_that_only_a_stretch_could_fail(tmp_path: Path) -> None:
    found = said(
        tmp_path,
        "cases: [few, many]}\n      - {id: far, run: spread, kind: outputs, of: s, cases: far, needs: spread}",
        "cases: [few, many], stretch: true}",
        "killed_by: far", "killed_by: spread",
        "  far: {x: {normal: [5], shift: 1.0e+8}}\n", "",
    )  # fmt: skip
    assert len(found) == 1
    assert "parts[2].checks: expected a check that decides, found none" in found[0]


def test_a_list_knows_the_minutes_and_the_number_of_parts(tmp_path: Path) -> None:
    shutil.copytree(BANK, tmp_path / "parts")
    spec = (BANK / "questions" / NAME).read_text(encoding="utf-8")
    odd = spec.replace("minutes: 3", "minutes: soon").replace("uses: [numpy]\n", "", 1)
    path = tmp_path / "parts" / "questions" / "uses-last.yaml"
    path.write_text(f"{odd}uses: [torch, numpy]\n", encoding="utf-8")
    found = {h.id: (h.minutes, h.parts, h.torch) for h in headers([tmp_path / "parts"])}
    assert found == {"mean-and-spread": (9, 3, False), "uses-last": (6, 3, True)}


def test_a_clause_is_counted_through_all_parts(tmp_path: Path) -> None:
    assert not said(tmp_path, "m, cases: nothing", "m, clause: [2, 1], cases: nothing")
    assert not said(tmp_path, "s, cases: far,", "s, clause: 3, cases: far,")
    broken = said(
        tmp_path, "s, cases: far,", "s, clause: 3, cases: far,",
        "[The mean of no entries is 0.]", "[7]",
    )  # fmt: skip
    assert len(broken) == 1  # the clause that cannot be read is there to be named


def test_there_may_be_no_contract_to_name(tmp_path: Path) -> None:
    found = said(
        tmp_path, "    contract: [m is the arithmetic mean of the entries of x.]\n", "",
        "m, cases: [few, many]", "m, clause: 1, cases: [few, many]",
    )  # fmt: skip
    assert found == [
        "16:50: parts[0].checks[0].clause: expected the number of a clause of a contract, which this has not, found 1"
    ]
