"""Drivers and helpers are loaded with every program; the bank is blamed for their faults."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

from grader.bank import load_question
from grader.explain.session import GradingSession, grade
from grader.grading.bank_errors import BankProgramError
from grader.model.question import Question
from grader.model.report import Verdict
from tests.audit.audits import REFERENCE, question

pytestmark = pytest.mark.usefixtures("one_zygote")

RIGHT = dedent(REFERENCE).encode()
FILE = "drills/gate/driver.py"
DRIVEN = ["y = driver.twice(x)"]
TWICE = """
    def twice(program, x):
        program.relu(x)
        return program.relu(x)
"""


def message_of_invalid(asked: Question, submission: bytes = RIGHT) -> str:
    """Return the message of a report that blames the question."""
    report = grade(asked, submission, seed=1)
    assert report.verdict is Verdict.INVALID
    assert not report.checks
    return report.message.removeprefix(f"{asked.spec_path}: ")


@pytest.mark.parametrize(
    ("driver", "sentence"),
    [
        (
            "def twice(program, x):\n    return program.relu(x\n",
            f"raised SyntaxError: '(' was never closed, in {FILE}:2: return program.relu(x",
        ),
        (
            "import numpy as np\nnp.nothing\n\ndef twice(program, x): pass\n",
            "raised AttributeError: module 'numpy' has no attribute 'nothing', in "
            f"{FILE}:2: np.nothing",
        ),
        ("raise SystemExit\n", f"raised SystemExit: the code called sys.exit(), in {FILE}:1: "),
    ],
)
def test_a_driver_or_helper_that_cannot_be_loaded_is_named(
    tmp_path: Path, driver: str, sentence: str
) -> None:
    asked = question(tmp_path, driver=driver, run=DRIVEN)
    assert message_of_invalid(asked).startswith(f"the driver cannot be loaded: {sentence}")
    report = grade(asked, b"def relu(x): return (", seed=1)  # of its own, which comes first
    assert report.message == "the file is not valid Python at line 1: '(' was never closed"


def test_an_exception_in_the_driver_or_the_reference_has_its_line(tmp_path: Path) -> None:
    driver = "def twice(program, x):\n    y = program.relu(x)\n    return y['n']\n"
    text = message_of_invalid(question(tmp_path, driver=driver, run=DRIVEN))
    assert text.startswith("the driver, or a helper, fails on case signs: raised IndexError: only ")
    assert text.endswith(f", in {FILE}:3: return y['n']")
    asked = question(tmp_path, driver=TWICE, reference="def relu(x): return x['n']", run=DRIVEN)
    text = message_of_invalid(asked)
    assert text.startswith("the reference fails on case signs: raised IndexError: only integers")
    assert text.endswith(", in drills/gate/reference.py:1: def relu(x): return x['n']")


def test_a_missing_function_of_the_driver_is_named_with_the_most_similar(tmp_path: Path) -> None:
    asked = question(tmp_path, driver=TWICE, run=["y = driver.twise(x)"])
    assert message_of_invalid(asked) == (
        "the driver does not define twise, which the step 'y = driver.twise(x)' calls; "
        "did you mean 'twice'?"
    )
    with GradingSession(asked) as session, pytest.raises(BankProgramError, match="twise"):
        session.evaluate_bank_program("reference", [asked.reference], 1)


def test_a_missing_function_that_only_the_driver_calls_is_named(tmp_path: Path) -> None:
    asked = question(tmp_path, driver=TWICE, run=["y = driver.twice(x)"])
    report = grade(asked, b"def rellu(x): return x", seed=1)
    assert report.message == "submission.py does not define relu(x) yet; is rellu meant to be relu?"
    assert report.verdict is Verdict.ERROR


@pytest.mark.parametrize(
    "submission",
    [
        "import numpy\ndel numpy.float64\n",
        "import builtins\nbuiltins.__import__ = None\n",
        "import builtins\ndel builtins.__build_class__\n",
    ],
)
def test_a_submission_that_breaks_the_driver_is_blamed(tmp_path: Path, submission: str) -> None:
    driver = "import numpy as np\nclass A: x = np.float64\n" + dedent(TWICE)
    asked = question(tmp_path, driver=driver, run=DRIVEN)
    report = grade(asked, RIGHT + submission.encode(), seed=1)
    assert report.verdict is Verdict.ERROR
    assert report.message.startswith("loading the file raised ")
    assert FILE not in report.message


@pytest.mark.parametrize(
    ("submission", "line", "sentence"),
    [
        ("(x): return [x]", "y + 1", "the check raised TypeError after the call of your relu"),
        ("(x): return [x]", "y.sum()", "y.sum() raised AttributeError after the call of your relu"),
        ("(): return 1", "y + 1", "your relu does not take the arguments of its interface"),
        ("(x): x.no()", "y + 1", "your relu raised AttributeError"),
    ],
)  # fmt: skip
def test_an_exception_of_a_driver_is_reported_with_the_call_before_it(
    tmp_path: Path, submission: str, line: str, sentence: str
) -> None:
    driver = f"def twice(program, x):\n    y = program.relu(x)\n    {line}\n    return y\n"
    asked = question(tmp_path, driver=driver, run=DRIVEN)
    report = grade(asked, f"def relu{submission}".encode(), seed=1)
    assert report.verdict is Verdict.ERROR
    assert report.checks[0].message == f"{sentence} in case signs"
    assert report.checks[0].raised
    called_with = report.checks[0].raised.called_with
    assert called_with.startswith("x (") if "your relu raised" in sentence else called_with == ""


BLOCKS = "def sizes(x):\n    return len(x)\n\ncalls = []\n"


USES_IT = """
import numpy as np
from blocks import sizes, calls

def relu(x):
    calls.append(sizes(x))
    return np.where(x > 0, x, 0) * len(calls) / len(calls)
"""


USES_BLOCKS = (
    "import blocks\ndef go(program, x):\n    return program.relu(x) + 0 * blocks.sizes(x)\n"
)


def with_blocks(folder: Path, files: dict[str, bytes] | None = None, **changes: Any) -> Question:
    """Return the small question with a helper module."""
    question(folder)
    for name, content in ({"blocks.py": BLOCKS.encode()} if files is None else files).items():
        (folder / "drills" / "gate" / name).write_bytes(content)
    (folder / "drills" / "gate" / "reference.py").write_text(USES_IT)
    path = folder / "questions" / "gate.yaml"
    spec = yaml.safe_load(path.read_text()) | {"helpers": ["blocks"]} | changes
    path.write_text(yaml.safe_dump(spec, sort_keys=False))
    return load_question([folder], "gate")


@pytest.mark.parametrize("driven", [True, False])
def test_every_program_loads_helpers_again(tmp_path: Path, *, driven: bool) -> None:
    changes: dict[str, Any] = {"run": ["y = driver.go(x)"]} if driven else {}
    files = {"blocks.py": BLOCKS.encode()}
    files |= {"driver.py": USES_BLOCKS.encode()} if driven else {}
    asked = with_blocks(tmp_path, files, **changes)
    spoils = "import blocks\nblocks.sizes = sizes = None\n"
    with GradingSession(asked) as session:
        assert session.grade(USES_IT.encode(), seed=1).verdict is Verdict.PASS
        spoilt = session.grade((USES_IT + spoils).encode(), seed=1)
        assert spoilt.verdict is Verdict.ERROR
        assert session.grade(USES_IT.encode(), seed=1).verdict is Verdict.PASS
        report = session.grade(asked.starter, seed=1)
        assert [m.id for m in report.misconceptions] == ["open"]


def test_helpers_are_part_of_the_digest_and_of_the_companion_files(tmp_path: Path) -> None:
    asked = with_blocks(tmp_path)
    assert asked.companion_files == {"blocks.py": BLOCKS.encode()}
    (tmp_path / "drills" / "gate" / "blocks.py").write_text(BLOCKS + "# TODO more\n")
    other = load_question([tmp_path], "gate")
    assert other.digest != asked.digest
    assert other.todos == ("drills/gate/blocks.py:5",)


@pytest.mark.parametrize(
    ("blocks", "sentence"),
    [
        (
            "def sizes(x):\n  return (\n",
            "'(' was never closed, in blocks.py:2: return (",
        ),
        ("calls = []\ndef sizes(x):\n  return x['n']\n", "in blocks.py:3: return x['n']"),
    ],
)
def test_an_error_in_a_helper_is_blamed_on_the_bank_and_names_the_line(
    tmp_path: Path, blocks: str, sentence: str
) -> None:
    asked = with_blocks(tmp_path, {"blocks.py": blocks.encode()})
    assert message_of_invalid(asked, USES_IT.encode()).endswith(sentence)
