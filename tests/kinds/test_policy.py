"""Calls that a question forbids: who makes one is flagged, who merely uses the word is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from grader.bank import load
from grader.model.report import Report
from grader.model.verdict import Verdict
from grader.sandbox.client import Garbled, WorkerClient, WorkerError
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Flagged, ProgramError
from grader.sandbox.sending import Inputs
from grader.sandbox.spawn import Zygote
from grader.sandbox.worker.policy import mentions
from grader.session import grade
from tests.harness import Lend
from tests.kinds.grading import MINI
from tests.sandbox.running import steps

RAN = "in line 2 (noticed while it ran)"
POOL = ("torch.nn.functional.max_pool2d", "torch.nn.MaxPool2d", "aten::*max_pool*")
NAMES = ("torch.nn.functional.max_pool2d", "numpy.linalg.solve")


def met(source: str, *functions: str) -> list[tuple[str, int]]:
    """What the reader notes, with the last word of each name."""
    found = mentions(source.encode(), NAMES, functions or ("f",))
    return [(name.rpartition(".")[2], line) for name, line in found]


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ndef f(x): return torch.nn.functional.max_pool2d(x, 2)",
        "import torch.nn.functional as F\ndef f(x): return F.max_pool2d(x, 2)",
        "from torch.nn import functional as F\ndef f(x): return F.max_pool2d(x, 2)",
        "from torch.nn.functional import max_pool2d\ndef f(x): return max_pool2d(x, 2)",
        "from torch.nn.functional import max_pool2d as mine\ndef f(x): return mine(x, 2)",
        "import torch\ndef f(x): return torch.max_pool2d(x, 2)",
        "import torch\ndef f(x): return torch.ops.aten.max_pool2d(x, [2, 2])",
        "import torch\ndef f(x): return g(x)\n\ndef g(x): return torch.max_pool2d(x, 2)",
        "import torch\nclass Net:\n    def g(self, x): return torch.max_pool2d(x, 2)\nf = Net().g",
        "import torch\np = torch.max_pool2d\ndef f(x): return p(x, 2)",
        "def f(x):\n    import torch\n    return torch.max_pool2d(x, 2)",
        "import torch\nf = lambda x: torch.max_pool2d(x, 2)",
    ],
)
def test_a_call_in_the_text_is_noted(source: str) -> None:
    found = met(source)
    assert {name for name, _ in found} == {"max_pool2d"}
    line = found[0][1]
    assert any(word in source.splitlines()[line - 1] for word in ("pool2d", "mine"))


@pytest.mark.parametrize(
    "source",
    [
        "def max_pool2d(x, k): return x\ndef f(x): return max_pool2d(x, 2)",
        "import torch\nclass F:\n    @staticmethod\n    def max_pool2d(x, k): return x\n"
        "def f(x): return F.max_pool2d(x, 2)",
        "import torch\ndef f(self, x): return self.max_pool2d(x, 2)",
        "import torch\ndef f(x):\n    'Not torch.max_pool2d.'\n    return x  # torch.max_pool2d",
        "import torch\ndef check(x): return torch.max_pool2d(x, 2)\ndef f(x): return x",
        "import torch\ndef f(x): return x\nif __name__ == '__main__':\n"
        "    print(torch.max_pool2d(f(torch.ones(1, 4, 4)), 2))",
        "from torch.nn.functional import max_pool2d\ndef max_pool2d(x, k): return x\n"
        "def f(x): return max_pool2d(x, 2)",
        "import numpy as np\ndef f(x): return np.max_pool2d(x)",
        "from scipy.linalg import solve\ndef f(a, b): return solve(a, b)",
        "def f(x): return solve(x)",
        "import torch\ndef f(x): return torch.max_pool3d(x, 2)",
        "def f(:",
        "",
        "\0",
        "def f(x): return " + "(" * 5000,
    ],
)
def test_a_word_that_is_something_else_is_not(source: str) -> None:
    assert met(source) == []


@pytest.fixture(scope="module")
def zygotes(lend: Lend) -> dict[bool, Zygote | None]:
    """Give what workers are forked from, with torch and without."""
    pytest.importorskip("torch")
    return {torch: lend(torch=torch) for torch in (True, False)}


def outcome(zygotes: dict[bool, Zygote | None], source: str, forbids: tuple[str, ...]) -> str:
    """Load a source, call its function, and return what was noted, or `fine`."""
    torch = any(not name.startswith("numpy") for name in forbids)
    x = np.arange(16.0).reshape(1, 1, 4, 4) if torch else np.eye(3) * 2
    spec: Inputs = {"x": {"value": x, "layout": "contiguous", "tensor": torch, "grad": torch}}
    with WorkerClient(torch=torch, zygote=zygotes[torch]) as worker:
        program = RemoteProgram(worker, "submission", [source.encode()], forbids=forbids)
        try:
            program.load(["f"])
            program.run(steps("y = f(x)"), spec, ["y"])
        except Flagged as evidence:
            return evidence.message
        except (ProgramError, WorkerError) as error:
            return f"error: {error}"
    return "fine"


HEAD = "import torch, threading\nimport torch.nn.functional as F\nword = 'max_' + 'pool2d'\n"
WAYS = {
    "functional": "F.max_pool2d(x, 2)",
    "torch": "torch.max_pool2d(x, 2)",
    "a module": "torch.nn.MaxPool2d(2)(x)",
    "with indices": "F.max_pool2d(x, 2, return_indices=True)[0]",
    "the binding": "torch._C._nn.max_pool2d_with_indices(x, 2)[0]",
    "the operator": "torch.ops.aten.max_pool2d(x, [2, 2])",
    "an overload": "torch.ops.aten.max_pool2d_with_indices.default(x, [2, 2])[0]",
    "getattr": "getattr(F, word)(x, 2)",
    "a star": "starred['max_pool2d'](x, 2)",
    "a dictionary of the module": "vars(F)[word](x, 2)",
    "eval": "eval('F.' + word + '(x, 2)')",
    "adaptive": "F.adaptive_max_pool2d(x, 2)",
    "three dimensions": "F.max_pool3d(x[None], (1, 2, 2))",
    "one dimension": "F.max_pool1d(x[0], 2)",
    "fractional": "F.fractional_max_pool2d(x, 2, output_size=2)",
    "quantised": "torch.quantized_max_pool2d(torch.quantize_per_tensor(x.detach().float(), 0.1, 0,"
    " torch.quint8), [2, 2]).dequantize()",
    "mkldnn": "torch.mkldnn_max_pool2d(x.detach().float().to_mkldnn(), [2, 2]).to_dense()",
    "without torch functions": "without(x)",
    "a thread": "aside(x)",
    "a script": "torch.jit.script(torch.nn.MaxPool2d(2))(x)",
    "vmap": "torch.vmap(lambda t: F.max_pool2d(t, 2))(x)",
    "caught": "caught(x)",
    "inference mode": "quiet(x)",
}
HELPERS = """
starred = {}
exec('from torch.nn.functional import *', starred)
def without(x):
    with torch._C.DisableTorchFunction():
        return getattr(F, word)(x, 2)
def aside(x):
    found = []
    helper = threading.Thread(target=lambda: found.append(getattr(F, word)(x, 2)))
    helper.start()
    helper.join()
    return found[0]
def caught(x):
    try:
        return getattr(F, word)(x, 2)
    except BaseException:
        return x
def quiet(x):
    with torch.inference_mode():
        return getattr(F, word)(x.detach().clone(), 2)
"""


@pytest.mark.parametrize("call", WAYS.values(), ids=WAYS)
def test_a_forbidden_operator_is_noted_however_it_is_called(
    zygotes: dict[bool, Zygote | None], call: str
) -> None:
    source = f"{HEAD}{HELPERS}\ndef f(x):\n    return {call}\n"
    found = outcome(zygotes, source, POOL)
    assert found.startswith("calls ")
    assert found.endswith("which this question asks you to write yourself")


@pytest.mark.parametrize(
    "body",
    [
        "x.unfold(2, 2, 2).unfold(3, 2, 2).amax((-1, -2))",
        "x.reshape(1, 1, 2, 2, 2, 2).amax((3, 5))",
        "max_pool2d(x)",
    ],
)
def test_other_ways_to_the_same_result_are_fine(
    zygotes: dict[bool, Zygote | None], body: str
) -> None:
    source = f"{HEAD}def max_pool2d(x): return x[:, :, ::2, ::2]\ndef f(x): return {body}\n"
    assert outcome(zygotes, source, POOL) == "fine"


@pytest.mark.parametrize(
    ("body", "noted"),
    [
        ("np.linalg.solve(x, x)", "in line 2 (noticed by reading the file)"),
        ("getattr(np.linalg, 's' + 'olve')(x, x)", RAN),
        (
            "vars(getattr(np.linalg, '_linalg', np.linalg))['solve'](x, x)",
            "in line 2 (noticed while it ran)",
        ),
        ("np.linalg.tensorsolve(x, x[0])", RAN),
        ("np.linalg.inv(x) @ x", None),
        ("solve(x, x)", None),
    ],
)
def test_functions_of_numpy_can_be_forbidden_too(
    zygotes: dict[bool, Zygote | None], body: str, noted: str | None
) -> None:
    source = f"import numpy as np\ndef f(x): return {body}\ndef solve(a, b): return a\n"
    found = outcome(zygotes, source, ("numpy.linalg.solve",))
    if noted is None:
        assert found == "fine"
    else:
        assert found == (
            f"calls numpy.linalg.solve {noted}, which this question asks you to write yourself"
        )


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("torch.nn.functional.cross_entropy", "getattr(F, 'cross_' + 'entropy')(x[0, 0], x[0, 0])"),
        (
            "torch.nn.functional.nll_loss",
            "vars(F)['nll_' + 'loss'](x[0, 0], x[0, 0, 0].long() * 0)",
        ),
        ("torch.utils.checkpoint.checkpoint", "again(torch.sin, x, use_reentrant=False)"),
        ("torch.relu", "x.relu()"),
        ("torch.relu", "x.clone().relu_()"),
        ("torch.nn.functional.softmax", "x.softmax(-1)"),
        ("torch.matmul", "x @ x"),
    ],
)
def test_other_calls_of_torch_are_noted(
    zygotes: dict[bool, Zygote | None], name: str, call: str
) -> None:
    again = "import torch.utils.checkpoint as c\nagain = vars(c)['check' + 'point']\n"
    source = f"{HEAD}{again}def f(x): return {call}\n"
    assert outcome(zygotes, source, (name,)).startswith(f"calls {name} in line 6 (noticed while")


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("torch.max", "x.unfold(2, 2, 2).unfold(3, 2, 2).amax((-1, -2))"),
        ("torch.max", "F.max_pool2d(x, 2)"),
        ("torch.log", "F.log_softmax(x, -1)"),
        ("torch.nn.functional.relu", "x.clamp(min=0)"),
    ],
)
def test_other_calls_with_a_longer_name_are_not(
    zygotes: dict[bool, Zygote | None], name: str, call: str
) -> None:
    assert outcome(zygotes, f"{HEAD}def f(x): return {call}\n", (name,)) == "fine"


def test_what_does_not_exist_cannot_be_forbidden(zygotes: dict[bool, Zygote | None]) -> None:
    with WorkerClient(torch=False, zygote=zygotes[False]) as worker:
        program = RemoteProgram(
            worker, "submission", [b"def f(x): return x"], forbids=["numpy.linalg.slove"]
        )
        assert program.load(["f"]).unknown == ("numpy.linalg.slove",)


STRICT = ["numpy.mean"]
REST = """
import numpy as np
def centre(x, w):
    d = x - {mean}(x, axis=-1, keepdims=True)
    return w * d, (d, np.array(w))
def centre_backward(grad_y, ctx):
    d, w = ctx
    g = w * grad_y
    return g - g.mean(axis=-1, keepdims=True), grad_y * d
def spread(x):
    return float(((x - x.mean(axis=-1, keepdims=True)) ** 2).mean())
"""


def graded(mean: str, forbids: list[str]) -> Report:
    """Grade a solution of a question that forbids something."""
    question = load([MINI], "deviations")
    spec = question.spec.model_copy(update={"forbids": forbids})
    return grade(replace(question, spec=spec), REST.format(mean=mean).encode(), seed=1)


def test_a_call_that_is_read_ends_a_grade_before_any_check() -> None:
    report = graded("np.mean", STRICT)
    assert (report.verdict, report.checks) == (Verdict.POLICY, ())
    assert report.message == (
        "flagged for review: your code calls numpy.mean in line 4 (noticed by reading the file), "
        "which this question asks you to write yourself"
    )


def test_a_call_that_is_met_is_the_verdict_of_its_check() -> None:
    report = graded("getattr(np, 'me' + 'an')", STRICT)
    assert report.verdict is Verdict.POLICY
    first = report.checks[0]
    assert first.verdict is Verdict.POLICY
    assert first.message == (
        "flagged for review: your code calls numpy.mean in line 4 (noticed while it ran), "
        "which this question asks you to write yourself (case small)"
    )


def test_what_is_not_forbidden_passes() -> None:
    assert graded("np.mean", []).verdict is Verdict.PASS
    assert graded("np.ndarray.mean", STRICT).verdict is Verdict.POLICY  # by its name in the text
    assert graded("(lambda a, **k: a.mean(**k))", STRICT).verdict is Verdict.PASS


def test_a_submission_is_not_believed_about_what_there_is_to_forbid() -> None:
    report = graded("np.mean", ["numpy.maen"])
    assert report.verdict is Verdict.PASS


@pytest.mark.parametrize("said", [np.zeros(3), {"a": 1}, "numpy.mean", 3, [[1]], [["x", 1, []]]])
def test_evidence_that_is_none_ends_the_worker_and_not_the_judge(said: object) -> None:
    class Liar(WorkerClient):
        def ask(self, *_: Any, **__: Any) -> dict[str, Any]:
            return {"ok": True, "missing": [], "uncallable": [], "defined": [], "evidence": said}

    with Liar(torch=False) as worker:
        program = RemoteProgram(worker, "submission", [b""], forbids=["numpy.mean"])
        with pytest.raises(Garbled, match="evidence"):
            program.load(["f"])
