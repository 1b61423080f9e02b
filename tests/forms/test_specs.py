"""What is wrong with a question of a form, in one sentence with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import bank
from grader.model.errors import BankError

TEMPLATES = Path(__file__).parents[2] / "grader" / "app" / "templates"
BROKEN = [
    ("estimate", "unit: B,", "unit: GB,", "weight_bytes: expected a unit of 1, B, FLOP, s,"),
    ("estimate", "parts: [weight_bytes]", "parts: [bytes]", "answers: expected bytes, which size"),
    ("estimate", "parts: [weight_bytes]", "parts: [read_time]", "weight_bytes: expected a numbers"),
    ("estimate", "form: estimate", "form: essay", "form: expected"),
    ("estimate", "form: estimate\n", "", "answers: expected form: estimate, predict or derive"),
    ("estimate", "kind: numbers, run: size, of: size, parts: [weight_bytes]",
     "kind: outputs, run: size, of: size", "size: expected a check of answers by name, as numbers"),
    ("estimate", "form: estimate", "form: review", "form: expected diff and reasons"),
    ("estimate", "form: estimate", "form: review", "form: expected a check of kind findings"),
    ("predict", '"grad_x[0]": {ask', '"grad_x[a]": {ask', "answers.grad_x[a]"),
    ("derive", "over: [i],", "over: [i, j, k],", "ds_dx: expected at most two indices"),
    ("derive", "over: [i],", "over: [for],", "ds_dx: expected another name than for"),
    ("derive", "may_not_use: [exp]", "may_not_use: [tan]", "may_not_use"),
    ("derive", "over: [i],", "over: [i], unit: s,", "ds_dx: expected no unit in a formula"),
    ("review", "lines: [4, 5]", "lines: [3, 4]", "diff: expected a line 3, which review calls"),
    ("review", "lines: [4, 5]", "lines: [9]", "diff: expected a line 9, which review calls wrong"),
    ("review", "reason: unequal-batches", "reason: unequal", "reasons: expected unequal of review"),
    ("review", "by: review\n    feedback: You a", "by: it\n    feedback: You a", "id of a check"),
    ("write-the-test", "uses: [numpy]", "uses: [numpy, torch]", "uses: expected numpy alone"),
    ("write-the-test", "kind: outputs\n    of: extra", "kind: curve\n    of: extra", "measure"),
    ("write-the-test", "accept: [sorts]", "accept: [reverses-it]", "found reverses-it in"),
    ("write-the-test", "accept: [sorts]", "cases: [sorts]", "accept and reject in place of cases"),
    ("write-the-test", "driver.judge(", "judge(", "main: expected a step of the driver"),
]  # fmt: skip


def written(form: str, tmp_path: Path, was: str = "", becomes: str = "") -> Path:
    text = (TEMPLATES / f"{form}.yaml.txt").read_text()
    for mark, value in (("@TITLE@", "A title"), ("@TRACK@", "memory"), ("@SCHEMA@", "x.json")):
        text = text.replace(mark, value)
    assert was in text
    path = tmp_path / "by-hand.yaml"
    path.write_text(text.replace(was, becomes, 1) if was else text)
    return path


@pytest.mark.parametrize(("form", "was", "becomes", "said"), BROKEN)
def test_a_fault_has_a_sentence(
    form: str, was: str, becomes: str, said: str, tmp_path: Path
) -> None:
    path = written(form, tmp_path, was, becomes)
    with pytest.raises(BankError) as refused:
        bank.load([path], "by-hand")
    found = [str(refused.value), *map(str, getattr(refused.value, "problems", ()))]
    assert any(said in text for text in found), found


CHECK = "{id: c, kind: numbers, run: size, of: size, parts: [weight_bytes, read_time]}"
PART = f"{{points: 50, minutes: 1, prompt: a, contract: [b], checks: [{CHECK}]}}"


def test_a_text_is_of_one_part(tmp_path: Path) -> None:
    path = written("estimate", tmp_path)
    lines = path.read_text().splitlines(keepends=True)
    keys = ("minutes:", "prompt:", "contract:", "checks:", "hints:")
    kept: list[str] = []
    inside = False
    for line in lines:
        if line[:1].strip() and not line.startswith("#"):
            inside = line.startswith(keys)
        kept += [] if inside else [line]
    path.write_text("".join([*kept, f"parts:\n  - {PART}\n  - {PART.replace('id: c', 'id: e')}\n"]))
    with pytest.raises(BankError) as refused:
        bank.load([path], "by-hand")
    found = [str(refused.value), *map(str, refused.value.problems)]
    assert any("parts: expected one, which an answers file is about" in text for text in found)


def test_the_templates_are_whole(tmp_path: Path) -> None:
    for form in ("estimate", "predict", "derive", "review"):
        assert bank.load([written(form, tmp_path)], "by-hand").spec.form == form
