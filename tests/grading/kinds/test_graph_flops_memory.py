"""The kinds `graph`, `flops` and `memory` on right and on wrong submissions."""

# ruff: noqa: E501 a sentence that is compared stands on one line

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from grader.bank import load_question
from grader.grading.bank_errors import BankProgramError
from grader.model.question import Support
from grader.model.report import Bars, Verdict
from grader.sandbox import config
from grader.sandbox.client import WorkerClient
from tests.grading.kinds.grading import MINI, Desk, run_check
from tests.harness import Lend

pytest.importorskip("torch")

KEEPS = load_question([MINI], "squares-graph").variants["keeps-the-product"][0].decode()
PLAIN = "def squares(x, w):\n    return (x @ w) ** 2\n"
BACKWARD = """\
class Squares(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        {forward}
    @staticmethod
    def backward(ctx, grad_y):
        x, w = ctx.saved_tensors
        g = (x @ w).mul_(grad_y).mul_(2)
        need_x, need_w = ctx.needs_input_grad
        return {dx} if need_x else None, {dw} if need_w else None
"""
FORWARD, DX, DW = "return (x @ w).square_()", "g @ w.t()", "x.t() @ g"


def function(forward: str = FORWARD, dx: str = DX, dw: str = DW) -> str:
    return BACKWARD.format(forward=forward, dx=dx, dw=dw)


@pytest.fixture(scope="module")
def desk(lend: Lend) -> Iterator[Desk]:
    with WorkerClient(torch=True, zygote=lend(torch=True)) as worker:
        yield Desk("squares-graph", worker, worker)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("values", "4 cases"),
        ("node", "1 case"),
        ("saved", "1,024 bytes kept for backward, 1,088 bytes allowed"),
        ("alive", "0 bytes alive after forward, 64 bytes allowed"),
        ("peak", "0.47x the run plain, 1.50x allowed"),
        ("cost", "1.333x the run plain, 1.34x allowed"),
    ],
)
def test_the_reference_passes(desk: Desk, check: str, message: str) -> None:
    result = desk.result(check)
    assert (result.verdict, result.message) == (Verdict.PASS, message)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (PLAIN, None),
        (function(dx="g @ w.t() * 2"), "dx differs in 4 of 4 cases; the smallest is few"),
        (function(dw="x.t() @ g * (1 + 1e-7)"), "dw differs in 20 of 20 entries"),
        (function(dx="None"), "dx is None, expected a float64 tensor of shape (3, 4)"),
        (function(dw="x.t() @ g + 0 * float('nan')"), "dw holds NaN where"),
        (function("return (x.float() @ w.float()).square_().to(x.dtype)"), "y differs in 2 of 4 cases; the smallest is few"),
        (function("return (x @ w).square_().float()"), "y is float32, expected float64"),
        ("def squares(x, w):\n    return ((x @ w) ** 2).detach().numpy()\n", "y is a numpy.ndarray, expected a tensor (case few)"),
        ("def squares(x, w):\n    return ((x @ w) ** 2).detach()\n", "y has no graph: nothing can flow back through it (case few)"),
        ("def squares(x, w):\n    return None\n", "y is None, expected a tensor (case few)"),
    ],
)  # fmt: skip
def test_values_of_tensors(desk: Desk, source: str, message: str | None) -> None:
    result = desk.result("values", source)
    if message is None:
        assert result.verdict is Verdict.PASS
    else:
        assert result.verdict in {Verdict.FAIL, Verdict.ERROR}
        assert result.message.startswith(message)


def test_a_frozen_input_has_no_gradient(desk: Desk) -> None:
    evaluation = desk.evaluation()
    assert evaluation.reference_outcome("main", evaluation.cases["frozen"]).values["dw"] is None
    always = KEEPS.replace("if need_w else None", "")
    assert desk.result("values", always).verdict is Verdict.PASS, "autograd drops what is not asked"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (KEEPS, None),
        ("def squares(x, w):\n    return Squares.apply(x, w).reshape(-1).view(3, 5)\n", None),
        (PLAIN, "y comes from PowBackward0, not from an autograd.Function of yours (case few)"),
        (
            "from torch.utils.checkpoint import checkpoint\ndef squares(x, w):\n"
            "    return checkpoint(lambda a, b: (a @ b) ** 2, x, w, use_reentrant=True)\n",
            "y comes from torch.utils.checkpoint, not from an autograd.Function of yours",
        ),
        (
            "def squares(x, w):\n    return ((x @ w) ** 2).detach()\n",
            "y has no graph: nothing can flow back through it (case few)",
        ),
        ("def squares(x, w):\n    return 3\n", "y comes from int, not from an autograd.Function of yours (case few)"),
    ],
)  # fmt: skip
def test_graph_requires_an_own_autograd_function(
    desk: Desk, source: str, message: str | None
) -> None:
    result = desk.result("node", source)
    assert result.verdict is (Verdict.PASS if message is None else Verdict.FAIL)
    if message is not None:
        assert result.message == message


def test_saved_memory_is_listed_by_tensor(desk: Desk) -> None:
    result = desk.result("saved", KEEPS, cases="wide")
    assert result.verdict is Verdict.FAIL
    assert result.message == (
        "9,216 bytes kept for backward, 1,088 bytes allowed (8.5x) in case wide"
    )
    assert isinstance(result.exhibit, Bars)
    assert [(b.label, b.text) for b in result.exhibit.bars] == [
        ("yours", "9,216 bytes"), ("allowed", "1,088 bytes"), ("reference", "1,024 bytes"),
    ]  # fmt: skip
    assert result.exhibit.details == (
        "(32, 64) float32  8,192 bytes", "(32, 8) float32  1,024 bytes",
    )  # fmt: skip


def test_memory_in_bfloat16_is_counted_in_its_two_bytes(desk: Desk) -> None:
    result = desk.result("saved", cases="half")
    assert result.message == "24 bytes kept for backward, 88 bytes allowed"


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("ctx.h = x @ w; return ctx.h * ctx.h", 8192),
        ("ctx.h = (x + 0); return (x @ w) ** 2", 1024),
        ("squares.hidden = x @ w; return (x @ w) ** 2", 8192),
    ],
)
def test_memory_that_is_alive_anywhere_counts(desk: Desk, line: str, kept: int) -> None:
    result = desk.result("alive", function(line))
    assert result.verdict is Verdict.FAIL
    assert result.figures["bytes"] == kept


def test_peak_memory_is_compared_with_another_run(desk: Desk) -> None:
    greedy = function("xs = [x @ w for _ in range(9)]; return xs[0] * xs[1]")
    result = desk.result("peak", greedy)
    assert result.verdict is Verdict.FAIL
    assert result.message.endswith("x the run plain, 1.50x allowed in case wide")
    assert result.figures["ratio"] > 1.5
    assert isinstance(result.exhibit, Bars)
    yours, right = result.exhibit.course
    assert max(yours) == result.figures["bytes"] > max(right) > 0
    assert len(yours) <= 60
    # Nine of (32, 64) and their product, beside what backward has not made yet.
    assert result.exhibit.details[0] == "(32, 64) float32  81,920 bytes"
    assert desk.result("peak", at_most="1 / 2").verdict is Verdict.PASS


def test_flops_count_every_product(desk: Desk) -> None:
    result = desk.result("cost", function("x @ w; return (x @ w).square_()"))
    assert (result.verdict, result.message) == (
        Verdict.FAIL,
        "1.667x the run plain, 1.34x allowed in case wide",
    )


def test_flops_hidden_in_elements_are_found(desk: Desk) -> None:
    product = "(x[:, :, None] * w[None]).sum(1)"
    spelled = function(
        f"return {product}.square_()",
        "(g[:, None] * w[None]).sum(2)",
        "(x.t()[:, :, None] * g).sum(1)",
    ).replace("(x @ w)", product)
    assert desk.result("values", spelled).verdict is Verdict.PASS
    result = desk.result("cost", spelled)
    assert result.verdict is Verdict.FAIL
    assert result.figures["ratio"] == 0
    assert "a product written as multiply-and-sum costs FLOPs too" in result.message


def test_a_device_that_is_not_there_skips_the_check(desk: Desk) -> None:
    if config.cuda_device_files():
        pytest.skip("this machine has the device")
    result = desk.result("peak", device="cuda")
    assert (result.verdict, result.message) == (
        Verdict.SKIPPED,
        "needs a CUDA device, which this machine does not have",
    )


def test_a_device_on_which_the_reference_fails_skips_the_check(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    if config.cuda_device_files():
        pytest.skip("this machine has a device that works")
    monkeypatch.setattr(config, "cuda_device_files", lambda: ("/dev/nvidia0",))
    result = desk.result("peak", device="cuda")
    assert result.verdict is Verdict.SKIPPED
    assert result.message.startswith("cannot be measured on this machine's CUDA device: the ref")


def test_an_exception_while_measuring_is_the_submissions(desk: Desk) -> None:
    for check in ("node", "saved", "alive", "peak", "cost"):
        result = desk.result(check, "def squares(x, w):\n    raise ValueError('no')\n")
        assert result.verdict is Verdict.ERROR
        assert result.message.startswith("your squares raised ValueError in case ")


def test_a_baseline_that_fails_is_the_banks_fault(desk: Desk) -> None:
    evaluation = desk.evaluation()
    evaluation.reference = replace(
        desk.reference, name="broken", support=Support(b"def plain(_, x, w): return x.y")
    )
    evaluation.reference.load(())
    with pytest.raises(BankProgramError, match="the run plain of the reference fails on case wide"):
        run_check(evaluation, desk.check("cost"))
