"""Notebooks: what is Python in them, what stands in for what is not there, cells that raise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.notebook import code_of
from grader.model.errors import UsageError
from tests.classroom.builders import notebook


def ran(folder: Path, *cells: str, skip: bool = False) -> subprocess.CompletedProcess[str]:
    """What comes of a notebook's program where nothing but Python is installed."""
    file = folder / "program.py"
    file.write_bytes(code_of(notebook(*cells), skip=skip))
    command = [sys.executable, "-I", "-S", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


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
print(total, repr(name))
"""


def test_what_plots_shows_or_asks_does_nothing(tmp_path: Path) -> None:
    for cells in (
        [SHOWS],
        ["%matplotlib inline", SHOWS],
        ["from __future__ import annotations", SHOWS],
    ):
        done = ran(tmp_path, *cells)
        assert (done.stdout, done.stderr) == ("9 ''\n", "")
    assert ran(tmp_path, SHOWS, skip=True).stdout == "9 ''\n"
    missing = ran(tmp_path, "import matplotlib\nimport pandas")
    assert "No module named 'pandas'" in missing.stderr


CELLS = (
    "from __future__ import annotations\nx = 1", "1 / 0", "def f(:", "def f():\n    return x + 1",
    "text = r'''a\n%d'''", "both = '''a''' + \"\"\"b\\\"\"\"\"",
    "y = 'it\\'s \\\\'", "raise SystemExit(3)",
    "import inspect\nclass A:\n    def g(self):\n        return 1 / 0",
    "print(f(), repr(text), both, y, x)",
)  # fmt: skip


def test_cells_that_raise_are_passed_over_where_that_is_asked_for(tmp_path: Path) -> None:
    stops = ran(tmp_path, *CELLS[:2], *CELLS[3:])
    assert (stops.stdout, stops.returncode) == ("", 1)
    assert "ZeroDivisionError" in stops.stderr
    skips = ran(tmp_path, *CELLS, skip=True)
    assert skips.stdout == "2 'a\\n%d' ab\" it's \\ 1\n"
    assert skips.returncode == 0
    for error in ("ZeroDivisionError: division by zero", "SyntaxError", "SystemExit: 3"):
        assert error in skips.stderr


def test_a_cell_that_runs_apart_keeps_its_lines(tmp_path: Path) -> None:
    done = ran(tmp_path, *CELLS[:9], "A().g()", skip=True)
    lines = (tmp_path / "program.py").read_text().split("\n")
    places = [line for line in done.stderr.split("\n") if "program.py" in line and "in g" in line]
    (number,) = [int(place.split("line ")[1].split(",")[0]) for place in places]
    assert lines[number - 1] == "        return 1 / 0"


def test_cells_are_joined_by_an_empty_line() -> None:
    book = notebook("import numpy\nx = 1", "", "\ny = 2\n\n", "z = 3")
    assert code_of(book).decode() == "import numpy\nx = 1\n\n\n\n\ny = 2\n\nz = 3\n"


def test_what_is_no_code_is_left_out() -> None:
    others: list[dict[str, object]] = [
        {"cell_type": kind, "source": "no code", "metadata": {}} for kind in ("raw", "markdown")
    ]
    code = {"cell_type": "code", "source": "x = 1\r\ny = 2\r", "outputs": [{"text": "x"}]}
    book = notebook(cells=[others[0], code, others[1]])
    assert code_of(b"\xef\xbb\xbf" + book) == b"x = 1\ny = 2\n"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%matplotlib inline", "# %matplotlib inline"),
        ("!pip install x \\\n  y\nz = 1", "# !pip install x \\\n#   y\nz = 1"),
        ("?len", "# ?len"), ("np.dot?", "# np.dot?"), ("len??", "# len??"),
        ("x = 1  # why?", None), ("print('why?')", None), ("# why?", None), ("'why?'", None),
        ("files = !ls", "# files = !ls"), ("a, b = %timeit -o f()", "# a, b = %timeit -o f()"),
        ("a = b\nif a != b:\n    !ls\n", "a = b\nif a != b:\n    pass  # !ls"),
        ("if a:  # b\n    # c\n    %ls \\\n    x\n    y",
         "if a:  # b\n    # c\n    pass  # %ls \\\n#     x\n    y"),
        ("%%time\nx = 1", "# %%time\nx = 1"), ("%%timeit -n 3\nx = 1", "# %%timeit -n 3\nx = 1"),
        ("%%bash\nls\n\nx", "# %%bash\n# ls\n\n# x"),
        ("%%writefile a.py\nx = 1", "# %%writefile a.py\n# x = 1"),
        # A line of Python's may begin with the same signs where another goes on.
        ("y = (\n    a\n    % b\n)", None), ("y = a \\\n  % b", None),
        ('y = """\n%d\n!\n""" % 3', None), ("y = '''\n\"\"\"\n% b'''", None),
        ('y = "(" \n%time f()', 'y = "(" \n# %time f()'),
        ("y = '\\'('\n!ls", "y = '\\'('\n# !ls"), ("x = 1  # (\n!ls", "x = 1  # (\n# !ls"),
        ("!echo \"it's (\nx = 1", "# !echo \"it's (\nx = 1"),
        ("x = ['%d', # (\n     2]\n%ls", "x = ['%d', # (\n     2]\n# %ls"),
        ("x %= 3", None), ("x = y\n", None), ("assert x == 1", None), ("x[0] = 1", None),
    ],
)  # fmt: skip
def test_lines_of_ipython_become_comments(cell: str, expected: str | None) -> None:
    expected = cell.rstrip("\n") if expected is None else expected
    assert code_of(notebook(cell)).decode() == expected + "\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "something else"), (b"{", "something else"), (b"\xff\xfe{}", "something else"),
        (b"[" * 100_000, "something else"), (b"[" * 500_000, "400,000 values"),
        (b'{"nbformat": ' + b"9" * 9_000 + b"}", "something else"),
        (b"[]", "something else"), (b"{}", "something else"), (b"null", "something else"),
        (b'{"nbformat": 3, "worksheets": []}', "of format 4, found 3: save it again"),
        (b'{"nbformat": "4"}', "something else"),
        (b'{"nbformat": [4]}', "something else"),
        (b'{"nbformat": 1e999}', "something else"),
        (b'{"nbformat": 4}', "something else"),
        (b'{"nbformat": 4, "cells": [1]}', "something else"),
        (b'{"nbformat": 4, "cells": []}', "found no cell of it"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": "x"}]}', "no cell of it"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": " \\n"}]}', "no cell of it"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code"}]}', "something else"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": [1]}]}', "something else"),
        (notebook("x" * 1_000_001), "1,000,000 bytes of code"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_is_no_notebook_is_said(content: bytes, said: str) -> None:
    with pytest.raises(UsageError) as error:
        code_of(content)
    assert said in error.value.message
    assert "\n" not in error.value.message


def test_half_a_character_is_no_crash() -> None:
    assert code_of(b'{"nbformat":4,"cells":[{"cell_type":"code","source":"\\ud800"}]}') == b"?\n"


@given(st.lists(st.text(st.sampled_from("%!?\\\n'\"()#= x"), max_size=40), min_size=1, max_size=4))
def test_every_line_keeps_its_place(sources: list[str]) -> None:
    book = notebook(*sources, "last = 1")
    lines = code_of(book).decode().split("\n")[:-1]
    at = 0
    for source in [*sources, "last = 1"]:
        for line in source.rstrip("\n").split("\n"):
            assert lines[at].endswith((line, line.lstrip()))
            at += 1
        at += 1
    assert at == len(lines) + 1
