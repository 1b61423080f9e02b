"""Mutants are small, compile, keep every other line, and hold the mistakes people make."""

from __future__ import annotations

import ast
import difflib
from pathlib import Path

import pytest

from grader.model.mutants import Mutant
from grader.sandbox.client import WorkerError
from grader.sandbox.worker.mutants import derive_mutants
from tests.sandbox.running import load, started

ROOT = Path(__file__).parents[2]
NAMES = ("autograd-tape", "kv-cache", "maxpool-routing", "top-p-sampling")  # of many styles
REFERENCES = [ROOT / "drills" / name / "reference.py" for name in NAMES]


def told(source: str) -> list[Mutant]:
    """Every mutant of a source, as the judge has it."""
    return [
        Mutant(m.scope, m.line, m.rule, m.was, m.becomes, m.start, m.end, m.text)
        for m in derive_mutants(source.encode())
    ]


def becomes(source: str) -> set[str]:
    """What the statements of a source may become."""
    return {m.becomes for m in derive_mutants(source.encode())}


def lines_changed(one: str, other: str) -> set[int]:
    """The numbers of lines of the first text that the second lacks."""
    matcher = difflib.SequenceMatcher(None, one.split("\n"), other.split("\n"), autojunk=False)
    changed = (b for b in matcher.get_opcodes() if b[0] != "equal")
    return {line + 1 for _, first, last, _, _ in changed for line in range(first, last)}


@pytest.mark.parametrize("path", REFERENCES, ids=[p.parent.name for p in REFERENCES])
def test_a_mutant_of_a_reference_compiles_and_changes_one_statement(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    mutants = told(source)
    assert len(mutants) > 80
    assert len({m.mutated_source(source.encode()) for m in mutants}) == len(mutants)
    for mutant in mutants:
        mutated = mutant.mutated_source(source.encode()).decode()
        ast.parse(mutated)
        assert mutated.count("\n") == source.count("\n")
        assert mutant.line in lines_changed(source, mutated)
        assert mutant.was != mutant.becomes


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
def test_what_a_line_may_become(line: str, expected: set[str]) -> None:
    source = f"import numpy as np\n\n\ndef f(a, b):\n    y = 0\n    {line}\n    return y\n"
    assert expected <= becomes(source)


def test_numpy_is_no_operand() -> None:
    source = "import numpy as np\n\n\ndef f(a):\n    return np.sum(a, axis=0)\n"
    assert "return np" not in becomes(source)


def test_another_local_is_returned_and_tuples_are_permuted() -> None:
    found = becomes("def f(a):\n    b = a + 1\n    return b, a\n")
    assert {"return (a, a)", "return (b, b)", "return (a, b)"} <= found


def test_heads_keep_their_bodies() -> None:
    source = (
        "def f(a, n=3):\n"
        "    if (a and\n"
        "            n > 0):  # why\n"
        "        return a\n"
        "    elif n: return 7\n"
        "    for i in range(n):\n"
        "        a += i\n"
        "    return a\n"
    )
    sources = {m.mutated_source(source.encode()).decode() for m in told(source)}
    first = source.replace("(a and\n            n > 0):  # why\n", "a or n > 0:\n\n")
    assert first in sources
    assert source.replace("elif n: return", "elif not n: return") in sources
    assert source.replace("range(n)", "n") in sources
    assert source.replace("n=3", "n=4") in sources
    assert source.replace("    for i in range(n):\n        a += i\n", "    pass\n\n") in sources


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
def test_of_bounds_that_are_some_numbers_only_these_are_moved(line: str, moved: set[str]) -> None:
    found = derive_mutants(f"def f(a, b):\n    {line}\n    return y + 1\n".encode(), (0.5, 256.0))
    assert {m.becomes for m in found} == {f"y = {one}" for one in moved}


def test_what_no_question_is_about_is_left_alone() -> None:
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
    assert becomes(source) == {"nothing"}


def test_a_worker_derives_them_and_executes_none() -> None:
    lines = [f"def f{n}(a, b):\n    print(a + b)\n    return a * {n} + b\n" for n in range(60)]
    with started() as worker:
        program = load(worker, "\r\n".join("\n".join(lines).split("\n")))
        mutants = program.derive_mutants()
        assert len(mutants) == len({(m.line, m.becomes) for m in mutants}) > 500  # several replies
        assert all(isinstance(m, Mutant) for m in mutants)
        assert worker.printed == b""
        changed = mutants[-1].mutated_source(program.sources[0])
        assert b"\r" not in changed
        ast.parse(changed)


def test_what_is_no_python_has_no_mutants() -> None:
    with started() as worker:
        program = load(worker, "x = 1")
        program.sources = [b"def f(:"]
        with pytest.raises(WorkerError, match="invalid syntax"):
            program.derive_mutants()


def test_a_key_depends_neither_on_the_line_nor_on_the_layout() -> None:
    source = "def f(a):\n    return a + 1\n"
    moved = "# a comment\n\n\n" + source.replace("a + 1", "(a +\n            1)")
    assert [m.key for m in told(source)] == [m.key for m in told(moved)]
