"""The program in a notebook, and every way in which there is none."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.hand_in import code_of as program
from grader.model.errors import UsageError
from tests.classroom.handing_in import notebook


def test_cells_are_joined_by_an_empty_line() -> None:
    book = notebook("import numpy\nx = 1", "", "\ny = 2\n\n", "z = 3")
    assert program(book).decode() == "import numpy\nx = 1\n\n\n\n\ny = 2\n\nz = 3\n"


def test_what_is_no_code_is_left_out() -> None:
    others: list[dict[str, object]] = [
        {"cell_type": kind, "source": "no code", "metadata": {}} for kind in ("raw", "markdown")
    ]
    code = {"cell_type": "code", "source": "x = 1\r\ny = 2\r", "outputs": [{"text": "x"}]}
    book = notebook(cells=[others[0], code, others[1]])
    assert program(b"\xef\xbb\xbf" + book) == b"x = 1\ny = 2\n"


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
    assert program(notebook(cell)).decode() == expected + "\n"


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
        program(content)
    assert said in error.value.message
    assert "\n" not in error.value.message


def test_half_a_character_is_no_crash() -> None:
    assert program(b'{"nbformat":4,"cells":[{"cell_type":"code","source":"\\ud800"}]}') == b"?\n"


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from(["cells", "cell_type", "source", "nbformat"])
FLAT = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(KEYS, SCALARS, max_size=3)
JSON = FLAT | st.lists(FLAT, max_size=3) | st.dictionaries(KEYS, FLAT, max_size=3)


@given(JSON, st.booleans())
def test_no_json_does_more_than_be_refused(value: object, is_book: bool) -> None:
    if is_book:
        value = {"nbformat": 4, "cells": [value, {"cell_type": "code", "source": value}]}
    with suppress(UsageError):
        assert isinstance(program(json.dumps(value).encode()), bytes)


@given(st.lists(st.text(st.sampled_from("%!?\\\n'\"()#= x"), max_size=40), min_size=1, max_size=4))
def test_every_line_keeps_its_place(sources: list[str]) -> None:
    book = notebook(*sources, "last = 1")
    lines = program(book).decode().split("\n")[:-1]
    at = 0
    for source in [*sources, "last = 1"]:
        for line in source.rstrip("\n").split("\n"):
            assert lines[at].endswith((line, line.strip()))
            at += 1
        at += 1
    assert at == len(lines) + 1
