"""`drill case` writes scripts with the inputs of a grade, and without expected results."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bank.specs import edited, write_bank
from tests.commands.conftest import ROOT, Drill

pytestmark = pytest.mark.usefixtures("one_zygote")

ID = "maxpool-routing"


def reference_of(question: str) -> str:
    """Return a right solution."""
    return (ROOT / "drills" / question / "reference.py").read_text(encoding="utf-8")


def output_of(script: Path) -> str:
    """Run a script as a person would, from another folder."""
    command = [sys.executable, str(script.absolute())]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd="/").stdout


def test_a_small_case_is_written_out_and_runs(real: Drill) -> None:
    real("start", ID)
    Path(ID, "submission.py").write_text(reference_of(ID))
    result = real("case", "shared-winner")
    assert result.status == 0
    assert "  x = np.array([[[[0., 1., 0.],\n" in result.out
    assert "  kernel = 2\n" in result.out
    assert "  grad_x = submission.maxpool2d_backward(grad_y, ctx)\n" in result.out
    assert f"Wrote {ID}/cases/shared_winner.py\nNext: python" in result.out
    assert "10." not in Path(ID, "cases/shared_winner.py").read_text()  # which is expected
    assert "[ 0. 10.  0.]" in output_of(Path(ID, "cases/shared_winner.py"))
    assert list(Path(ID, "cases").iterdir()) == [Path(ID, "cases/shared_winner.py")]


def test_the_list_of_cases_describes_numbered_cases(real: Drill) -> None:
    real("start", "chunked-cross-entropy")
    cases = {case["case"]: case["about"] for case in real("case", "--json").data["cases"]}
    numbered = {name: about for name, about in cases.items() if name.endswith(" (2)")}
    assert numbered
    for name, about in numbered.items():
        assert about == f"{name.removesuffix(' (2)')} with other numbers"


def test_a_case_has_the_inputs_of_the_last_grade(real: Drill) -> None:
    real("start", ID)
    report = real("grade", "--seed", "77", "--json").data
    (gaps,) = (check for check in report["checks"] if check["id"] == "gaps")
    assert "gaps" in gaps["failing"]
    data = real("case", "gaps", "--json").data
    assert (data["seed"], data["drawn"], data["run"]) == (77, True, "main")
    assert data["script"] == real("case", "gaps", "--seed", "77", "--json").data["script"]
    first = output_of(Path(ID, "cases/gaps.py"))
    real("case", "gaps", "--seed", "78")
    assert output_of(Path(ID, "cases/gaps.py")) != first
    assert Path(ID, "cases/gaps.npz").exists()
    failing = {case["case"]: case["failing"] for case in real("case", "--json").data["cases"]}
    assert failing["gaps"] is True
    assert failing["planes"] is False
    assert re.search(r"^gaps +fails +a stride larger", real("case").out, re.MULTILINE)


def test_the_script_that_was_there_is_kept(real: Drill) -> None:
    real("start", ID)
    path = Path(ID, "cases/planes.py")
    assert real("case", "planes", "--seed", "1", "--json").data["kept"] is None
    assert real("case", "planes", "--seed", "1", "--json").data["kept"] is None
    path.write_text(path.read_text() + "print('what a person added')\n")
    data = real("case", "planes", "--seed", "3", "--json").data
    assert Path(data["kept"]).read_text().endswith("print('what a person added')\n")
    assert "a person added" not in path.read_text()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("x: {zeros: [0, 5]}, grad_y: {zeros: like y}", 'x = arrays["x"]'),
        (
            "x: {normal: [2, 5]}, grad_y: {normal: like y, layout: broadcast}",
            "np.broadcast_to(grad_y[:1], grad_y.shape)",
        ),
        ("x: [[-.inf, 1.0]], grad_y: [[1.0, 2.0]]", "-np.inf, "),
        ("dtype: float32, x: {normal: [20, 25]}, grad_y: {normal: like y}", 'x = arrays["x"]'),
    ],
    ids=["empty", "expanded", "masked", "float32"],
)
def test_a_script_keeps_layouts_and_types_of_inputs(
    real: Drill, tmp_path: Path, spec: str, expected: str
) -> None:
    question = "scaled-copy"
    wide = "x: {normal: [2, 5]}, factor: 2, grad_y: {normal: like y}"
    bank = write_bank(tmp_path / "bank", edited(wide, f"{spec}, factor: 2"))
    backward = "def scale_backward(grad_y, ctx):\n    return grad_y * ctx\n"
    right = f"def scale(x, factor):\n    return x * factor, factor\n\n\n{backward}"
    (bank / "drills" / question / "reference.py").write_text(right)
    (bank / "drills" / question / "starter.py").write_text(right)
    real("--bank", str(bank), "start", question)
    data = real("case", "wide", "--json").data
    assert expected in data["script"]
    output_of(Path(data["path"]))


def test_the_driver_of_a_question_is_written_next_to_the_script(real: Drill) -> None:
    question = "softmax-cross-entropy"
    real("start", question)
    Path(question, "submission.py").write_text(reference_of(question))
    cases = real("case", "--json").data["cases"]
    name = next(case["case"] for case in cases if case["checks"] == ["descent"])
    data = real("case", name, "--json").data
    assert "losses = driver.descend(submission, z, target, rate, steps)" in data["script"]
    assert "[" in output_of(Path(data["path"]))


def test_a_script_makes_tensors_as_a_grade_does(real: Drill) -> None:
    pytest.importorskip("torch")
    question = "vram-bottleneck"
    real("start", question)
    Path(question, "submission.py").write_text(reference_of(question))
    data = real("case", "one-unit", "--json").data
    assert "x = np.array([[1., 3.]])\nx = torch.from_numpy(x)\n" in data["script"]
    assert "x.requires_grad_()" in data["script"]
    assert "grad_y.requires_grad_()" not in data["script"]
    assert " = vjp(y, grad_y, x, w_gate, w_up, w_down)\n" in data["script"]
    assert "tensor" in output_of(Path(data["path"]))


def test_an_unknown_case_suggests_the_nearest_and_without_a_folder_a_case_is_printed(
    real: Drill,
) -> None:
    result = real("case", "shared-winner", ID)
    assert (result.status, "print(" in result.out, "Wrote" in result.out) == (0, True, False)
    assert f"Next: drill start {ID}" in result.out
    assert list(Path().iterdir()) == []
    real("start", ID)
    suggestion = "did you mean 'shared-winner'?"
    real("case", "shared-winer").refused(suggestion, "Next: drill case\n")
    assert not Path(ID, "cases").exists()


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_existing_files_are_not_overwritten(real: Drill, tmp_path: Path, kind: str) -> None:
    real("start", ID)
    path = Path(ID, "cases")
    if kind == "file":
        path.write_text("mine")
    elif kind == "link":
        (tmp_path / "elsewhere").mkdir()
        path.symlink_to(tmp_path / "elsewhere")
    else:
        (path / "shared_winner.py").mkdir(parents=True)
    result = real("case", "shared-winner")
    assert result.status == 0
    assert "print(" in result.out
    assert "Wrote" not in result.out
    assert "the script is not written" in result.err
    assert kind != "link" or not list((tmp_path / "elsewhere").iterdir())


def test_the_description_of_a_case_is_one_comment_line(real: Drill, tmp_path: Path) -> None:
    bank = tmp_path / "bank"
    about = json.dumps("one\nimport os; os.abort()\r\x1b[2J")
    small = "small: {x: [[1.0, 2.0]], factor: 3, grad_y: {normal: like y}}"
    fixed = f"small: {{about: {about}, x: [[1.0, 2.0]], factor: 3, grad_y: [[1.0, 2.0]]}}"
    write_bank(bank, edited(small, fixed))
    real("--bank", str(bank), "start", "scaled-copy")
    data = real("case", "small", "--json").data
    first, *others = data["script"].splitlines()
    assert "os.abort" in first
    assert first.startswith("# ")
    assert not any("abort" in line for line in others)
    assert "\x1b" not in data["script"]


def test_the_debugger_stops_in_the_function_of_the_candidate(real: Drill, home: Path) -> None:
    real("start", ID)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "DRILL_HOME": str(home)}
    program = "from grader.commands.app import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", program, "case", "shared-winner", "--debug"],
        input="args\nquit\n",
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=60,
    )
    assert f"{ID}/submission.py(" in result.stdout
    assert "maxpool2d_forward()" in result.stdout
    assert "kernel = 2" in result.stdout
