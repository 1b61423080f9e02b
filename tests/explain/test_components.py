"""Submissions with the same wrong results have one digest, even if written differently."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.explain.failure_digest import DIGEST_LENGTH
from grader.model.report import Verdict
from tests.explain.making import Grade, load, reference_with, solution

pytestmark = pytest.mark.usefixtures("one_zygote")

MINI = Path(__file__).parents[1] / "banks" / "mini"
SEED = 3  # of `graded`

LOOPS = b"""
def softmax_jacobian(p):
    out = np.zeros((len(p), len(p)), p.dtype)
    for i in range(len(p)):
        for j in range(len(p)):
            out[i, j] = p[i] * (float(i == j) + p[j])
    return out
"""
EINSUM = b"""
def softmax_jacobian(p):
    return np.einsum("i,ij->ij", p, np.eye(len(p), dtype=p.dtype)) + np.einsum("i,j->ji", p, p)
"""
WRONG = {
    "twice": b"def centre(x, w): return 2 * w * (x - x.mean(1, keepdims=True)), (x, w)",
    "a little more": b"def centre(x, w): return 2.001 * w * (x - x.mean(1, keepdims=True)), (x, w)",
    "swapped": b"def centre(x, w): return x * (w - w.mean(1, keepdims=True)), (x, w)",
    "nan": b"def centre(x, w): return np.full_like(x, np.nan), (x, w)",
    "nan once": b"def centre(x, w):\n y = x - 0.5\n y.flat[:1] = np.nan\n return y, (x, w)",
    "other shape": b"def centre(x, w): return x.T.copy(), (x, w)",
    "a list": b"def centre(x, w): return x.tolist(), (x, w)",
    "text": b"def centre(x, w): return 'x', (x, w)",
    "raises": b"def centre(x, w): raise ValueError(str(x))",
    "raises another": b"def centre(x, w): raise KeyError(str(x))",
    "one for two": b"def centre(x, w): return 1",
    "ends": b"import os\ndef centre(x, w): os._exit(3)",
}


@pytest.mark.parametrize(
    ("idea", "file"),
    [
        ("height-for-width", "height_for_width"),
        ("column-major-ties", "column_major_ties"),
        ("output-size-rounded-up", "ceil_output_size"),
    ],
)
def test_a_listed_idea_and_a_submission_with_it_have_one_digest(
    idea: str, file: str, graded: Grade
) -> None:
    listed = load("maxpool-routing").variants[idea][0]
    variant = graded("maxpool-routing", reference_with("maxpool-routing", listed))
    submission = graded("maxpool-routing", solution("maxpool-routing", file))
    assert variant.outputs == submission.outputs != ""


def test_style_and_rounding_do_not_change_a_digest(graded: Grade) -> None:
    rounded = EINSUM.replace(b"return ", b"return (1 + 3e-14) * (") + b")\n"
    digests = {
        graded("softmax-cross-entropy", reference_with("softmax-cross-entropy", layer)).outputs
        for layer in (LOOPS, EINSUM, rounded.replace(b")\n)", b"))"))
    }
    assert len(digests) == 1
    assert len(digests.pop()) == DIGEST_LENGTH


def test_rounding_of_float32_does_not_change_a_digest(graded: Grade) -> None:
    layers = (
        b"def spread(x): return float(((x - x.mean(1, keepdims=True)) ** 2).sum())",
        b"def spread(x): return sum(float(((r - r.mean()) ** 2).sum()) for r in x)",
    )
    only_float32 = [
        b"_right = centre_backward\ndef centre_backward(g, c):\n a, b = _right(g, c)\n"
        b" return (%s if a.dtype == np.float32 else a), b\n" % a
        for a in (b"a * a.dtype.type(1.5)", b"((a + a) + a) / a.dtype.type(2)")
    ]
    for pair in (layers, only_float32):
        first, second = (
            graded("deviations", reference_with("deviations", layer)) for layer in pair
        )
        assert first.verdict is Verdict.FAIL
        assert first.outputs == second.outputs != ""


def test_other_ideas_have_other_digests(graded: Grade) -> None:
    digests = {
        name: graded("deviations", reference_with("deviations", layer)).outputs
        for name, layer in WRONG.items()
    }
    assert "" not in digests.values()
    assert len(set(digests.values())) == len(WRONG), digests


def test_a_submission_that_passes_or_computes_nothing_has_no_digest(graded: Grade) -> None:
    right = load("deviations").reference
    sources = (right, b"def centre(x, w", b"import nothing_like_this", b"centre = 1", b" ")
    assert [graded("deviations", source).outputs for source in sources] == [""] * len(sources)


def test_another_process_computes_the_same_digest(graded: Grade) -> None:
    source = reference_with("deviations", WRONG["swapped"])
    code = (
        "import sys; from pathlib import Path; from grader import bank; "
        "from grader.explain.session import grade; "
        "q = bank.load_question([Path(sys.argv[1])], 'deviations'); "
        f"print(grade(q, sys.stdin.buffer.read(), seed={SEED}, proved=True).outputs)"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code, str(MINI)],
        input=source,
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "5"},
    )
    assert completed.stdout.decode().strip() == graded("deviations", source).outputs
