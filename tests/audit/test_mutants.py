"""Mutants are small, can be parsed, change one statement, and hold the mistakes people make."""

from __future__ import annotations

import ast
import difflib
import re
from pathlib import Path

import pytest

from grader.audit import mutants
from grader.audit.mutants import derive_mutants
from grader.grading.bank_errors import BankProgramError

ROOT = Path(__file__).parents[2]
NAMES = ("autograd-tape", "kv-cache", "maxpool-routing", "top-p-sampling")  # of many styles
REFERENCES = [ROOT / "drills" / name / "reference.py" for name in NAMES]


def new_statements(source: str) -> set[str]:
    """Return the changed statements of all mutants of a source."""
    return {mutant.becomes for mutant in derive_mutants(source.encode())}


def changed_lines(source: str, mutated: str) -> tuple[list[str], list[str]]:
    """Return the lines that only the source has, and those that only the mutated one has."""
    lines = list(difflib.ndiff(source.splitlines(), mutated.splitlines()))
    removed = [line[2:].strip() for line in lines if line.startswith("- ")]
    added = [line[2:].strip() for line in lines if line.startswith("+ ")]
    return removed, added


@pytest.mark.parametrize("path", REFERENCES, ids=[path.parent.name for path in REFERENCES])
def test_a_mutant_of_a_reference_changes_one_statement(path: Path) -> None:
    source = path.read_bytes()
    original = ast.unparse(ast.parse(source))
    source_lines = source.decode().splitlines()
    derived = derive_mutants(source)
    assert len(derived) > 80
    assert len({mutant.source for mutant in derived}) == len(derived)
    for mutant in derived:
        ast.parse(mutant.source)
        assert mutant.was != mutant.becomes
        first_name = re.findall(r"\w+", mutant.was)[0]
        assert first_name in source_lines[mutant.line - 1]
        removed, added = changed_lines(original, mutant.source.decode())
        first_line = mutant.was.splitlines()[0]
        assert first_line in removed
        if mutant.becomes != "nothing":
            assert (len(removed), len(added)) == (1, 1) or "\n" in mutant.was
            assert mutant.becomes.splitlines()[0] in added


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y = a + b", {"y = a - b", "y = a", "y = b"}),
        ("y = a - b", {"y = a + b", "y = a", "y = -b", "y = b - a"}),
        ("y = a * b", {"y = a / b", "y = a", "y = b"}),
        ("y = a @ b", {"y = a * b", "y = b @ a"}),
        ("y = a // b", {"y = a / b", "y = a % b"}),
        ("y = a ** 2", {"y = a * 2", "y = a ** 3", "y = a ** 1", "y = a"}),
        ("y = -a", {"y = a"}),
        ("y = a < b", {"y = a <= b", "y = a >= b"}),
        ("y = a == b", {"y = a != b"}),
        ("y = a and not b", {"y = a or not b", "y = a", "y = not b", "y = a and b"}),
        ("y = a if b else 0", {"y = 0 if b else a", "y = a if not b else 0"}),
        ("y = a.sum(axis=1)", {"y = a.sum(axis=0)", "y = a.sum(axis=2)", "y = a.mean(axis=1)"}),
        ("y = a.sum(axis=(0, 2))", {"y = a.sum(axis=(0,))", "y = a.sum(axis=(2,))"}),
        ("y = a.sum(axis=-1, keepdims=True)", {"y = a.sum(axis=-1, keepdims=False)"}),
        ("y = np.argmax(a)", {"y = np.argmin(a)", "y = a"}),
        ("y = np.maximum(a, b)", {"y = np.minimum(a, b)", "y = np.maximum(b, a)"}),
        ("y = np.zeros(a, b.dtype)", {"y = np.ones(a, b.dtype)", "y = np.zeros(a, 'float32')"}),
        ("y = a.astype(np.int64)", {"y = a", "y = a.astype('float32')"}),
        ("y = np.where(m, a, -np.inf)", {"y = np.where(m, a, -10000.0)"}),
        ("y = np.where(m, a, np.nan)", {"y = np.where(m, a, 0.0)"}),
        ("y = min(a, float('-inf'))", {"y = min(a, -10000.0)"}),
        ("y = a / (b + 1e-05)", {"y = a / (b + 1e-06)", "y = a / (b + 0.0)"}),
        ("y = a / np.sqrt(b + eps)", {"y = a / (np.sqrt(b) + eps)"}),
        ("y = a / (np.sqrt(b) + 1e-08)", {"y = a / np.sqrt(b + 1e-08)"}),
        ("y = a / np.maximum(b, eps)", {"y = a / (b + eps)"}),
        ("y = a.mean(axis=-1)", {"y = a.mean(axis=0)", "y = a.mean()"}),
        ("y = a.sum(dtype=np.float64)", {"y = a.sum(dtype=np.float32)", "y = a.sum()"}),
        ("y = np.zeros(n, dtype=a.dtype)", {"y = np.zeros(n)", "y = np.zeros(n, dtype='float64')"}),
        ("y = a[1:b:2]", {"y = a[:b:2]", "y = a[1::2]", "y = a[1:b]", "y = a[1:b + 1:2]"}),
        ("y = a[-1]", {"y = a[0]", "y = a[-2]", "y = a[1]"}),
        ("y = 0.5", {"y = 1.5", "y = -0.5", "y = 1.0"}),
        ("y, z = f(a)", {"z, y = f(a)"}),
        ("y += a", {"y = a", "y -= a", "nothing"}),
        ("y = a.T", {"y = a"}),
        ("y = np.einsum('ij,jk->ik', a, b)", {"y = np.einsum('ji,jk->ik', a, b)"}),
        ("y = [c for c in a if c]", {"y = [c for c in a]"}),
        ("a.sort()", {"nothing"}),
    ],
)
def test_a_line_becomes_the_mistakes_that_people_make(line: str, expected: set[str]) -> None:
    source = f"import numpy as np\n\n\ndef f(a, b):\n    y = 0\n    {line}\n    return y\n"
    assert expected <= new_statements(source)


def test_a_module_is_not_an_operand() -> None:
    source = "import numpy as np\n\n\ndef f(a):\n    return np.sum(a, axis=0)\n"
    assert "return np" not in new_statements(source)


def test_another_local_is_returned_and_tuples_are_permuted() -> None:
    found = new_statements("def f(a):\n    b = a + 1\n    return b, a\n")
    assert {"return (a, a)", "return (b, b)", "return (a, b)"} <= found


def test_heads_keep_their_bodies() -> None:
    source = (
        "def f(a, n=3):\n"
        "    if a and n > 0:\n"
        "        return a\n"
        "    elif n:\n"
        "        return 7\n"
        "    else:\n"
        "        if a:\n"
        "            n = 1\n"
        "        a = n\n"
        "    for i in range(n):\n"
        "        a += i\n"
        "    return a"
    )
    sources = {mutant.source.decode() for mutant in derive_mutants(source.encode())}
    for old, new in (
        ("a and n > 0", "a or n > 0"),
        ("elif n:", "elif not n:"),
        ("if a:", "if not a:"),
        ("        if a:\n            n = 1\n", "        pass\n"),
        ("range(n)", "n"),
        ("n=3", "n=4"),
        ("    for i in range(n):\n        a += i\n", "    pass\n"),
    ):
        assert source.replace(old, new) in sources
    assert "elif not n:" in new_statements(source)
    assert "if not a:" in new_statements(source)


@pytest.mark.parametrize(
    ("line", "moved"),
    [
        ("y = a <= 256", {"a <= 255", "a <= 257", "a <= 128", "a <= 512", "a < 256"}),
        ("y = 0.5 > a", {"0.25 > a", "1.0 > a", "0.5 >= a"}),
        ("y = a < 2 ** 8 < b", {"a < 255 < b", "a < 257 < b", "a < 128 < b", "a < 512 < b",
                                "a <= 2 ** 8 < b", "a < 2 ** 8 <= b"}),
        ("y = a == -256", {"a == -257", "a == -255", "a == -128", "a == -512"}),
        ("y = a <= 200 or f(256, b * 256)", set()),  # another number, and no bound
    ],
)  # fmt: skip
def test_only_bounds_with_a_given_number_are_moved(line: str, moved: set[str]) -> None:
    found = derive_mutants(f"def f(a, b):\n    {line}\n    return y + 1\n".encode(), (0.5, 256.0))
    assert {mutant.becomes for mutant in found} == {f"y = {value}" for value in moved}


def test_imports_annotations_decorators_and_messages_stay() -> None:
    source = (
        '"""Sum of 1 and 2."""\n'
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True)\n"
        "class C:\n"
        "    n: tuple[int, int]\n"
        "def f(a: 'x + y') -> 3:\n"
        '    """1 + 2"""\n'
        "    raise ValueError(f'{a + 1} is more than 4')\n"
    )
    assert new_statements(source) == {"nothing"}


@pytest.mark.parametrize(
    "source", [b"def f(:", b"x = 1\0", b"x = '\xff'", b"x = " + b"a + " * 5000 + b"a"]
)
def test_a_source_that_cannot_be_parsed_or_written_is_an_error_of_the_bank(source: bytes) -> None:
    with pytest.raises(BankProgramError, match="no mutants can be derived from the reference: "):
        derive_mutants(source)


def test_a_source_with_too_many_mutants_is_an_error_of_the_bank(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = b"def f(a, b):\n    return a * 2 + b\n"
    total = sum(len(mutant.source) for mutant in derive_mutants(source))
    monkeypatch.setattr(mutants, "MAX_MUTANT_BYTES", total // 2)
    with pytest.raises(BankProgramError, match="make the reference shorter"):
        derive_mutants(source)


def test_a_byte_order_mark_and_other_line_ends_change_nothing() -> None:
    source = b"def f(a):\n    return a + 1\n"
    marked = b"\xef\xbb\xbf" + source.replace(b"\n", b"\r\n")
    assert derive_mutants(marked) == derive_mutants(source)


def test_a_key_depends_neither_on_the_line_nor_on_the_layout() -> None:
    source = "def f(a):\n    return a + 1\n"
    moved = "# a comment\n\n\n" + source.replace("a + 1", "(a +\n            1)")
    keys, moved_keys = (
        [mutant.key for mutant in derive_mutants(text.encode())] for text in (source, moved)
    )
    assert keys == moved_keys
