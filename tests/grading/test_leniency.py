"""Errors of loading that do not fail a submission: at home, and in a class."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from grader import bank
from grader.classroom.notebook import notebook_code
from grader.explain.session import GradingSession
from grader.grading.session import GradeOptions
from grader.model.report import Report, Verdict
from tests.classroom.builders import BANK, PROGRAMS, notebook

pytestmark = pytest.mark.usefixtures("one_zygote")
RIGHT = (PROGRAMS / "reference.py").read_text()


@pytest.fixture(scope="module")
def session() -> Iterator[GradingSession]:
    with GradingSession(bank.load_question([BANK], "deviations")) as opened:
        yield opened


def at_home(session: GradingSession, text: str) -> Report:
    return session.grade(text.encode(), seed=3)


def in_class(session: GradingSession, text: str) -> Report:
    return session.grade(text.encode(), seed=3, options=GradeOptions(lenient=True))


SHOWS = """
import matplotlib as mpl, matplotlib.pyplot as plt, seaborn as sns
from matplotlib.colors import LogNorm
from IPython.display import display as show, clear_output
from tqdm.notebook import tqdm, trange
fig, axes = plt.subplots(2, 2, figsize=(3, 3))
axes[0, 1].plot([1, 2]); axes.flat[0].set_title("x")
line, = plt.plot([1], "r")
n, bins, patches = plt.hist([1, 2])
plt.rcParams["font.size"] = 3
mpl.use("agg"); sns.set_theme(style="dark"); plt.cm.viridis(0.5)
with plt.style.context("x"):
    plt.show()
for ax in axes.ravel():
    ax.legend()
fig.savefig("x.png"); show(fig); display(3); clear_output(); get_ipython().run_line_magic("x", "")
total = sum(tqdm(range(4), desc="x")) + sum(trange(3))
name = input("who? ")
assert (total, name) == (9, "")
"""
TRIES = """
try:
    import {0}
except ImportError:
    {0} = None
assert {0} is None
"""
FORGIVEN = {
    "shows": SHOWS,
    "scipy": "import scipy\nfrom scipy.special import erf",
    "pandas": "import pandas as pd\ndef frame(x) -> pd.DataFrame:\n    return pd.DataFrame(x)",
    "torch": "import torch.nn.functional as F\nimport torch\ntorch.manual_seed(0)\n"
    "class Net(torch.nn.Module):\n    pass",
    "decorated": "import torch\n@torch.no_grad()\ndef unused():\n    return torch.ones(3)",
    "colab": "from google.colab import drive\ndrive.mount('/content/drive')",
    "exported": "get_ipython().system('pip install numpy')\n"
    "get_ipython().run_line_magic('matplotlib', 'inline')\ndisplay(3)",
    "magics": "%matplotlib inline\n!pip install numpy",
    "in-a-function": "def show(x):\n    import matplotlib.pyplot as plt\n    plt.plot(x)",
    "optional": TRIES.format("scipy"),
    "optional-plots": TRIES.format("tqdm"),
}


@pytest.mark.parametrize("name", FORGIVEN)
def test_a_script_may_use_missing_modules_for_display(session: GradingSession, name: str) -> None:
    report = at_home(session, f"{FORGIVEN[name]}\n{RIGHT}")
    assert report.verdict is Verdict.PASS, report.message


def test_a_cell_may_use_missing_modules_for_display(session: GradingSession) -> None:
    for cells in (
        ["%matplotlib inline", SHOWS, RIGHT],
        ["from __future__ import annotations", RIGHT, SHOWS],
    ):
        for skip in (False, True):
            report = in_class(session, of_cells(*cells, skip=skip))
            assert (report.verdict, report.stopped) == (Verdict.PASS, ())


CELLS = (
    "from __future__ import annotations\nx = 1", "1 / 0", "def f(:", "def f():\n    return x + 1",
    "text = r'''a\n%d'''", "both = '''a''' + \"\"\"b\\\"\"\"\"",
    "y = 'it\\'s \\\\'", "raise SystemExit(3)",
    "assert (f(), text, both, y, x) == (2, 'a\\n%d', 'ab\"', \"it's \\\\\", 1)",
)  # fmt: skip


def test_cells_run_one_by_one(session: GradingSession) -> None:
    report = in_class(session, of_cells(*CELLS, RIGHT, skip=True))
    raised = [
        re.sub(r".* raised (\w+) at (cell \d), .*", r"\1 \2", note) for note in report.stopped
    ]
    assert raised == ["ZeroDivisionError cell 2", "SyntaxError cell 3", "SystemExit cell 8"]
    assert report.verdict is Verdict.PASS


def test_a_missing_module_that_a_graded_function_uses_is_named(session: GradingSession) -> None:
    used = RIGHT.replace("    d, w = ctx\n", "    d, w = ctx\n    scipy.special.erf(w)\n")
    for line in ("import scipy", "import scipy.special", "from scipy import special\nimport scipy"):
        report = at_home(session, f"{line}\n{used}")
        (first, *_) = [check for check in report.checks if check.raised]
        assert first.raised is not None
        assert first.raised.type == "ModuleNotFoundError"
        assert first.raised.message.startswith("No module named 'scipy': it can be imported here")


def test_a_function_of_a_missing_module_does_not_load(session: GradingSession) -> None:
    for text in (
        "from answers import centre, centre_backward, spread\n",
        RIGHT.replace("def centre(", "@numba.njit\ndef centre(").replace(
            "import numpy", "import numba, numpy"
        ),
    ):
        report = at_home(session, text)
        assert report.verdict is Verdict.ERROR
        assert report.message.startswith("loading the file raised ModuleNotFoundError: No module")
        assert report.message.endswith("this question allows numpy and the standard library")


STOPS = {
    "sys.exit": ("import sys\nsys.exit(0)", "SystemExit", "the code called sys.exit(0)"),
    "exit": ("exit()", "SystemExit", "the code called sys.exit()"),
    "exit-status": ("exit(3)", "SystemExit", "the code called sys.exit(3)"),
    "quit": ("import builtins\nbuiltins.quit()", "SystemExit", "the code called sys.exit()"),
    "raised": ("raise SystemExit", "SystemExit", "the code called sys.exit()"),
    "data": (
        "import numpy as np\nnp.load('C:\\\\Users\\\\kim\\\\data.npy')",
        "FileNotFoundError",
        "",
    ),
    "assertion": ("assert False, 'scratch'", "AssertionError", "scratch"),
}


@pytest.mark.parametrize("name", STOPS)
def test_in_a_class_definitions_before_an_exception_count(
    session: GradingSession, name: str
) -> None:
    line, kind, text = STOPS[name]
    program = f"{RIGHT}\n\n{line}\n"
    assert at_home(session, program).verdict is Verdict.ERROR
    report = in_class(session, program)
    assert report.verdict is Verdict.PASS
    (note,) = report.stopped
    number = len(program.splitlines())
    assert note.startswith(f"your file raised {kind} at line {number} (")
    assert text in note
    assert note.endswith("; what was defined before it counts")


def test_a_cell_may_exit(session: GradingSession) -> None:
    report = in_class(session, of_cells("x = 1", "exit()", RIGHT, "quit(0)", skip=True))
    assert report.verdict is Verdict.PASS
    assert ["raised SystemExit at cell" in note for note in report.stopped] == [True, True]


def test_a_function_that_exits_is_an_error_and_stops_nothing_else(session: GradingSession) -> None:
    program = RIGHT.replace("    d, w = ctx\n", "    exit()\n    d, w = ctx\n")
    report = at_home(session, program)
    (first, *_) = [check for check in report.checks if check.raised]
    assert first.raised is not None
    assert (first.raised.type, first.raised.message) == (
        "SystemExit", "the code called sys.exit()"
    )  # fmt: skip
    assert in_class(session, RIGHT).verdict is Verdict.PASS


def test_a_file_that_raises_above_its_definitions_does_not_load(session: GradingSession) -> None:
    report = in_class(session, f"1 / 0\n{RIGHT}")
    assert report.verdict is Verdict.ERROR
    assert report.message == "loading the file raised ZeroDivisionError: division by zero"
    assert report.stopped == ()


def test_definitions_after_an_exception_are_missing(
    session: GradingSession,
) -> None:
    before, _, after = RIGHT.partition("def spread")
    report = in_class(session, f"{before}1 / 0\ndef spread{after}")
    assert "does not define spread(x) yet" in report.message
    assert report.stopped != ()


def test_a_file_of_invalid_python_does_not_load(session: GradingSession) -> None:
    report = in_class(session, f"{RIGHT}\ndef f(:\n")
    assert report.verdict is Verdict.ERROR
    assert report.message.startswith("the file is not valid Python at line ")


def of_cells(*cells: str, skip: bool) -> str:
    return notebook_code(notebook(*cells), skip=skip).decode()


def test_the_error_of_a_notebook_names_the_cell_and_its_line(session: GradingSession) -> None:
    cells = ("import numpy as np", "x = 1\n\ndef f(:\n    pass", RIGHT)
    report = at_home(session, of_cells(*cells, skip=False))
    assert report.message.startswith("the file is not valid Python at cell 2, line 3: ")
    assert report.raised is not None
    assert [(frame.cell, frame.line) for frame in report.raised.frames] == [(2, 3)]
    raises = RIGHT.replace("    d, w = ctx\n", "    d, w = ctx\n    raise ValueError('no')\n")
    line = raises.splitlines().index("    raise ValueError('no')") + 1
    for skip in (False, True):
        report = at_home(session, of_cells("a = 1\n", raises, skip=skip))
        (first, *_) = [check.raised for check in report.checks if check.raised]
        assert [(frame.cell, frame.line) for frame in first.frames] == [(2, line)]


def test_cells_that_raise_are_skipped_in_a_class(session: GradingSession) -> None:
    cells = ("import pandas", "1 / 0", "def f(:", RIGHT, "x = 1\nassert False, 'scratch'")
    report = in_class(session, of_cells(*cells, skip=True))
    assert report.verdict is Verdict.PASS
    assert [note.partition(" (")[0] for note in report.stopped] == [
        "your file raised ZeroDivisionError at cell 2, line 1",
        "your file raised SyntaxError at cell 3, line 1",
        "your file raised AssertionError at cell 5, line 2",
    ]
    assert all(note.endswith("; the other cells count") for note in report.stopped)


def test_a_notebook_that_stops_counts_as_far_as_it_ran(session: GradingSession) -> None:
    report = in_class(session, of_cells(RIGHT, "def f(:", skip=False))
    assert report.verdict is Verdict.PASS
    assert report.stopped[0].startswith("your file raised SyntaxError at cell 2, line 1")
