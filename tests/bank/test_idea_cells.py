"""Several programs in one file: names, what stands above them, feedback, and their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.bank import idea_cells, load_question
from grader.model.errors import BankError
from tests.bank.specs import write_bank

PATH = Path("ideas.py")
TWO = b'''\
# A comment, a docstring, or nothing, may stand above the first.
"""So may this."""

# %% no-gate
# killed_by: [gate, zero]
# parameters: {EDGE: [1, .inf]}
# An ordinary comment is no key.

"""Your gradient ignores x:
  it flows back everywhere.

  Close it."""
EDGE = 0

# %%   no-gate/by-a-product
def gate(g, x):
    return g * 1.0
# %% open
r"""You write \\d."""
'''


def test_a_file_is_read_cell_by_cell() -> None:
    _, found = idea_cells.read_cells(TWO, PATH)
    assert [cell.name for cell in found] == ["no-gate", "no-gate / by-a-product", "open"]
    assert found[0].keys == {
        "killed_by": ["gate", "zero"],
        "parameters": {"EDGE": [1, float("inf")]},
    }
    assert [cell.feedback for cell in found] == [
        "Your gradient ignores x: it flows back everywhere.\nClose it.", "", "You write \\d.",
    ]  # fmt: skip
    lines = TWO.decode().splitlines()
    for cell in found:
        own = cell.source.decode().splitlines()
        assert own[-1]
        for number, line in enumerate(own):
            assert line in {"", lines[number]}


@pytest.mark.parametrize("text", [b"", b"\n\n", b"# x = 1", b'"""x"""\n', b"# a\n"])
def test_text_without_a_name_above_it_is_refused(text: bytes) -> None:
    assert idea_cells.read_cells(text, PATH)[1] == []


@pytest.mark.parametrize(
    "above",
    [
        "# % of all that is right\n# killed_by: forward",
        "# killed_by:forward",
        "# So.\n# killed_by: forward",
        "#killed_by: forward",
    ],
)
def test_a_key_may_stand_among_comments_with_or_without_a_blank(above: str) -> None:
    _, (found,) = idea_cells.read_cells(f"# %% a\n{above}\nx = 1\n".encode(), PATH)
    assert found.keys == {"killed_by": "forward"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"# %% a\n# %% a\n", "ideas.py:2:1: expected each key once, found 'a' again"),
        (b"# %% a\n# killed_by: [x\n", "ideas.py:2:"),
        (b"# %% a\n# killed_by: a: b\n", "needs quotes"),
        (b"\n# c\nx = 1\n# %% a\n", "ideas.py:3:1: expected a line `# %% NAME` above code, found"),
        (b"x = 1\n", "ideas.py:1:1: expected a line `# %% NAME` above code, found none"),
        (b" # %% a\nx = 1", "ideas.py:2:1: expected a line `# %% NAME` above code, found none"),
        (b"# %% a\n#%% b\n", "ideas.py:2:1: expected `# %% NAME`, found '#%% b'"),
        (b"# %% a\n# % b-c\n", "ideas.py:2:1: expected `# %% NAME`, found '# % b-c'"),
        (b"# %% a\n#%b / d\n", "ideas.py:2:1: expected `# %% NAME`, found '#%b / d'"),
        (b"# %% a\n\n# part: 1\n", "ideas.py:3:1: expected keys right below the name, found '# "),
    ],
)
def test_an_unreadable_cell_is_reported_with_its_place(text: bytes, message: str) -> None:
    with pytest.raises(BankError) as caught:
        idea_cells.read_cells(text, PATH)
    assert message in str(caught.value)


GOOD = '# %% adds-it\n# killed_by: forward\n"""You add."""\nx = 1\n'
FURTHER = "x = 1\n# %% {}\nx = 2\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"""You add."""\n', "", "1:1: adds-it: expected a docstring that says what is wrong and "
         "what to do, found none"),
        ("forward", "foward", "2:3: adds-it.killed_by: expected the id of a check, found 'foward'; "
         "did you mean 'forward'?"),
        ("forward", "forward, back", "2:3: adds-it.killed_by: expected the id of a check, found "
         "'forward, back'; several are [forward, back]"),
        ("killed_by", "kiled_by", "2:3: adds-it.kiled_by: found an unknown key; did you mean "
         "'killed_by'?"),
        ("killed_by: forward", "killed_by: 3", "2:3: adds-it.killed_by: expected text, found the "
         "number 3"),
        ("adds-it", "adds_it", "1:1: adds_it: expected lower-case words joined by hyphens, found "
         "the text 'adds_it'"),
        ("x = 1\n", FURTHER.format("other / way"), "5:1: other / way: expected it right below the "
         "idea other"),
        ("x = 1\n", FURTHER.format('adds-it / b\n"""Twice."""'), "5:1: adds-it / b: expected keys "
         "and a docstring above the first variant alone, found some here"),
    ],
)  # fmt: skip
def test_an_idea_that_is_not_written_as_it_should_be_is_one_sentence_with_its_place(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    home = write_bank(tmp_path) / "drills" / "scaled-copy"
    assert GOOD.count(old) == 1
    (home / "ideas.py").write_text(GOOD.replace(old, new))
    with pytest.raises(BankError) as caught:
        load_question([tmp_path], "scaled-copy")
    assert caught.value.problems == (f"{home / 'ideas.py'}:{message}",)


def test_an_accepted_solution_names_a_part_that_exists(tmp_path: Path) -> None:
    home = write_bank(tmp_path) / "drills" / "scaled-copy"
    (home / "accepted.py").write_text("# %% loops\n# part: 2\nx = 1\n")
    with pytest.raises(BankError) as caught:
        load_question([tmp_path], "scaled-copy")
    said = "2:3: loops.part: expected a part from 1 to 1, found 2"
    assert caught.value.problems == (f"{home / 'accepted.py'}:{said}",)


REFERENCE = b"""\
import numpy as np

SCALE = 2


@staticmethod
def gate(x):
    return x > 0


def relu(x):
    return np.where(gate(x), SCALE * x, 0)
"""
IDEA = b"""\
'''Wrong.'''
SCALE = 3
def gate(x):
    return x < 0
def helper():
    pass
"""


def test_definitions_of_an_idea_replace_those_of_the_reference() -> None:
    assert idea_cells.layer_over(REFERENCE, IDEA).decode() == (
        "import numpy as np\n\nSCALE = 3\n\n\ndef gate(x):\n    return x < 0\n\n\n"
        "def relu(x):\n    return np.where(gate(x), SCALE * x, 0)\n\n\ndef helper():\n    pass\n"
    )


def test_names_that_are_bound_together_are_replaced_together() -> None:
    idea, reference = b"A, B = 1, 2\nnp.x = C = 3\n", b"A, B = 5, 6\nD = A\n"
    assert idea_cells.layer_over(reference, idea) == b"A, B = 1, 2\nD = A\n\n\nnp.x = C = 3\n"


def test_imports_of_an_idea_follow_those_of_the_reference() -> None:
    idea = b"from math import (\n    exp,\n)\nimport numpy as np\n\ndef gate(x):\n    pass\n"
    made = idea_cells.layer_over(REFERENCE, idea).decode()
    assert made.startswith("import numpy as np\nfrom math import (\n    exp,\n)\n\nSCALE = 2\n")
    assert made.count("import numpy") == 1
    assert idea_cells.layer_over(b"SCALE = 2\n", b"import math\n") == b"import math\nSCALE = 2\n"


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("A, B = 1, 2", "A B"),
        ("[A, (B, *C)] = D = 1, (2, 3)", "A B C D"),
        ("A: int = 3", "A"),
        ("A += 1", "A"),
        ("A[0], B.x = 1, 2", "A B"),
        ("for A, B in C:\n    D = 1", "A B D"),
        ("with C() as (A, B):\n    pass", "A B"),
        ("if (A := f()):\n    B = 1\nelse:\n    C = 1", "A B C"),
        ("try:\n    import a.b, c as d\nexcept E:\n    from x import y as z", "a d z"),
        ("def A(b):\n    c = 1", "A"),
        ("A = [b for b in C if (D := b)]", "A D"),
    ],
)
def test_every_way_to_bind_a_name_at_the_left_margin_counts(statement: str, names: str) -> None:
    assert sorted(idea_cells.definitions(statement.encode())) == names.split()


@pytest.mark.parametrize(
    ("reference", "idea", "made"),
    [
        ("A, B = 5, 6\nC = A\n", "A = 1\n", "A, B = 5, 6\nA = 1\nC = A\n"),
        ("A = 5\nB = 6\nC = 7\n", "A, B = 1, 2\n", "A, B = 1, 2\nC = 7\n"),
        ("A = 5\nB = A\n", "A += 1\n", "A = 5\nA += 1\nB = A\n"),
        ("A = 5\nB = A\n", "A = 1\nA = 2\n", "A = 2\nB = A\n"),
        ("A = {}\nB = A\n", "A[0] = 1\nfor x in A:\n    pass\n",
         "A = {}\nA[0] = 1\nB = A\n\n\nfor x in A:\n    pass\n"),
    ],
)  # fmt: skip
def test_an_idea_keeps_definitions_that_it_does_not_bind_again(
    reference: str, idea: str, made: str
) -> None:
    assert idea_cells.layer_over(reference.encode(), idea.encode()).decode() == made
