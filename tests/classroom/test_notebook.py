"""Notebooks: what is Python in them, and what is no notebook."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.notebook import notebook_code
from grader.model.errors import UsageError
from grader.sandbox.notebook_cells import cell_starts
from tests.classroom.builders import notebook


def text_of(*cells: str) -> str:
    """Return the program of a notebook without the lines that name its cells."""
    return re.sub(
        "(?m)^# (?:---- cell|The cells) .*\n", "", notebook_code(notebook(*cells)).decode()
    )


def test_each_cell_is_below_a_line_with_its_number() -> None:
    book = notebook("import numpy\nx = 1", "", "\ny = 2\n\n")
    assert notebook_code(book).decode() == (
        "# The cells of a notebook.\n"
        "# ---- cell 1 ----\nimport numpy\nx = 1\n\n"
        "# ---- cell 2 ----\n\n\n"
        "# ---- cell 3 ----\n\ny = 2\n"
    )


def test_a_program_of_a_notebook_states_if_raising_cells_are_skipped() -> None:
    first, _, rest = notebook_code(notebook("x = 1"), skip=True).partition(b"\n")
    assert first == b"# The cells of a notebook. Those that raise are passed over."
    assert rest == notebook_code(notebook("x = 1")).partition(b"\n")[2]


def test_cells_without_code_are_left_out() -> None:
    others: list[dict[str, object]] = [
        {"cell_type": kind, "source": "no code", "metadata": {}} for kind in ("raw", "markdown")
    ]
    code = {"cell_type": "code", "source": "x = 1\r\ny = 2\r", "outputs": [{"text": "x"}]}
    book = notebook(cells=[others[0], code, others[1]])
    assert notebook_code(b"\xef\xbb\xbf" + book).endswith(b"\n# ---- cell 1 ----\nx = 1\ny = 2\n")


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
    assert text_of(cell) == expected + "\n"


@pytest.mark.parametrize(
    ("content", "message"),
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
def test_a_file_that_is_no_notebook_is_an_error(content: bytes, message: str) -> None:
    with pytest.raises(UsageError) as error:
        notebook_code(content)
    assert message in error.value.message
    assert "\n" not in error.value.message


def test_half_a_character_is_no_crash() -> None:
    book = b'{"nbformat":4,"cells":[{"cell_type":"code","source":"\\ud800"}]}'
    assert notebook_code(book).endswith(b"\n?\n")


@given(st.lists(st.text(st.sampled_from("%!?\\\n'\"()#= x"), max_size=40), min_size=1, max_size=4))
def test_every_line_keeps_its_place(sources: list[str]) -> None:
    program = notebook_code(notebook(*sources, "last = 1"))
    lines = program.decode().split("\n")[:-1]
    for source, first in zip([*sources, "last = 1"], cell_starts(program), strict=True):
        for number, line in enumerate(source.rstrip("\n").split("\n"), first):
            assert lines[number].endswith((line, line.lstrip()))
