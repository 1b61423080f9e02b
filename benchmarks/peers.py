"""The same programs judged by this grader and by what others publish: time, and what each accepts.

    git clone https://github.com/duoan/TorchCode
    git clone https://github.com/stanford-cs336/assignment1-basics
    python benchmarks/peers.py --torchcode TorchCode --cs336 assignment1-basics [--every 1]

Judged are the corpus' programs of three questions that all of them ask.  `oracle` is a test as one
writes it in a minute: results and gradients against the reference on inputs from a normal
distribution.  The others' tests are run as they are, on the same functions under their names; a
program's backward is that of an autograd Function.  A wrong program counts where a check fails that
calls nothing but those functions.  What others ask for may be less: not all that is wrong here is
wrong by their statement, gradients of the wrong size are.
"""
# ruff: noqa: ANN401 what torch and the peers hand over has no types

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import signal
import sys
import time
import types
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from grader import bank
from grader.explain.session import GradingSession
from grader.model.question import Question
from grader.model.report import NON_FAILING_VERDICTS, Report
from tests import corpus

ROOT = Path(__file__).parents[1]
SECONDS = 20  # for a program in a peer's tests
Module = Any  # a program's namespace, by attribute


def function(forward: Callable[..., Any], backward: Callable[..., Any]) -> Callable[..., Any]:
    """An autograd Function of numpy: `forward` gives (y, ctx), `backward` a gradient for each."""

    class Numpy(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *given: torch.Tensor) -> Any:
            ctx.dtype = given[0].dtype
            y, ctx.kept = forward(*(one.detach().numpy() for one in given))
            return torch.as_tensor(np.array(y)).to(ctx.dtype)

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> Any:
            grads = backward(grad.numpy(), ctx.kept)
            return tuple(None if g is None else torch.as_tensor(np.array(g)) for g in grads)

    apply: Callable[..., Any] = Numpy.apply
    return apply


def cross_entropy(p: Module) -> Callable[..., Any]:
    """Both functions of softmax-cross-entropy as one loss."""
    return function(
        lambda z, target: (p.cross_entropy(z, target), (z, target)),
        lambda g, kept: (g * p.cross_entropy_grad(*kept), None),
    )


def layer_norm(p: Module) -> Callable[..., Any]:
    """Both functions of layernorm-backward as one layer."""
    return function(p.layernorm, p.layernorm_backward)


def optimizer(p: Module, decay: float) -> type:
    """The steps of adamw as an optimizer of torch's interface."""

    class Optimizer:
        def __init__(
            self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
            eps: float = 1e-8, weight_decay: float = decay,
        ) -> None:  # fmt: skip
            self.params, self.how = list(params), (lr, *betas, eps, weight_decay)
            self.state = p.init([one.detach().numpy().copy() for one in self.params])

        def step(self) -> None:
            held = [one.detach().numpy().copy() for one in self.params]
            grads = [None if one.grad is None else one.grad.numpy().copy() for one in self.params]
            new, self.state = p.step(held, grads, self.state, *self.how)
            with torch.no_grad():
                for one, value in zip(self.params, new, strict=True):
                    one.copy_(torch.as_tensor(value))

        def zero_grad(self) -> None:
            for one in self.params:
                if one.grad is not None:
                    one.grad.zero_()

    return Optimizer


# Of each question: the functions that are asked for, a program's results for the oracle, and under
# which names TorchCode and CS336 ask for them.
Results = Callable[[Module, np.random.Generator], Sequence[Any]]
ASKED: dict[str, tuple[set[str], Results]] = {
    "softmax-cross-entropy": (
        {"cross_entropy", "cross_entropy_grad"},
        lambda p, rng: [
            f(z, t)
            for z, t in [(rng.normal(size=(4, 10)), rng.integers(0, 10, 4))]
            for f in (p.cross_entropy, p.cross_entropy_grad)
        ],
    ),
    "layernorm-backward": (
        {"layernorm", "layernorm_backward"},
        lambda p, rng: [
            one
            for y, ctx in [p.layernorm(*(rng.normal(size=s) for s in ((4, 16), 16, 16)))]
            for one in (y, *p.layernorm_backward(rng.normal(size=(4, 16)), ctx))
        ],
    ),
    "adamw": (
        {"init", "step"},
        lambda p, rng: [
            one
            for w, g in [([rng.normal(size=(3, 2))], [rng.normal(size=(3, 2))])]
            for one in p.step(w, g, p.init(w), 1e-3)[0]
        ],
    ),
}  # fmt: skip


def oracle(name: str, program: bytes) -> None:
    """Compare results with those of the reference."""
    _, results = ASKED[name]
    right = load((ROOT / "drills" / name / "reference.py").read_bytes())
    found, wanted = (results(p, np.random.default_rng(0)) for p in (load(program), right))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def torchcode(folder: Path, name: str, program: bytes) -> None:
    """Run the tests of the task, which are texts."""
    task, made = {
        "softmax-cross-entropy": ("cross_entropy", cross_entropy),
        "layernorm-backward": ("layernorm", layer_norm),
        "adamw": ("adam", lambda p: optimizer(p, 0.0)),
    }[name]
    tests = load((folder / "torch_judge" / "tasks" / f"{task}.py").read_bytes()).TASK["tests"]
    asked = made(load(program))
    for test in tests:
        exec(test["code"].replace("{fn}", "asked"), {"asked": asked})  # noqa: S102 as its judge does


def cs336(folder: Path, name: str, program: bytes) -> None:
    """Call the test of the assignment, with adapters of ours."""
    stub: Any = types.ModuleType("tests.adapters")
    stub.__getattr__ = lambda _: None
    p = load(program)
    stub.run_cross_entropy = cross_entropy(p)
    stub.get_adamw_cls = lambda: optimizer(p, 0.01)
    package = types.ModuleType("tests")
    package.__path__ = [str(folder / "tests")]
    sys.modules |= {"tests": package, "tests.adapters": stub}
    os.chdir(folder)
    if name == "adamw":
        conftest: Any = importlib.import_module("tests.conftest")
        snapshot = types.SimpleNamespace(
            assert_match=lambda actual, **how: conftest.NumpySnapshot().assert_match(
                actual, "test_adamw", **how
            )
        )
        importlib.import_module("tests.test_optimizer").test_adamw(snapshot)
    else:
        importlib.import_module("tests.test_nn_utils").test_cross_entropy()


def load(program: bytes) -> Module:
    """Return the namespace of a program."""
    module = types.ModuleType("program")
    sys.modules["program"] = module  # dataclasses look their module up
    exec(program, module.__dict__)  # noqa: S102 programs of this repository and of peers
    return module


def accepts(test: Callable[..., None], *given: Any) -> bool:
    """Whether a test passes, in a process of its own that may not take long."""
    pid = os.fork()
    if not pid:
        with open(os.devnull, "w") as nowhere:  # noqa: PTH123
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        signal.alarm(SECONDS)
        try:
            test(*given)
        except BaseException:  # noqa: BLE001 whatever it raises
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def counts(report: Report, question: Question, functions: set[str]) -> bool:
    """Whether a check fails that calls nothing but some functions."""
    runs = {check.id: check.run for check in question.spec.checks}
    return any(
        set(question.functions_called_by_runs({runs[c.id]})) <= functions
        for c in report.checks
        if c.verdict not in NON_FAILING_VERDICTS and not c.stretch
    )


def main() -> None:
    """Print a row of a Markdown table for each question and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torchcode", type=Path)
    parser.add_argument("--cs336", type=Path)
    parser.add_argument("--every", type=int, default=1)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    print("| question | judge | wrong programs | accepted | right programs | rejected | s each |")
    print("|---|---|---|---|---|---|---|")
    for name, (functions, _) in ASKED.items():
        question = bank.load_question([ROOT], name)
        right = [p.source for p in corpus.right_programs(name).values()][:: chosen.every]
        others = [p.source for p in corpus.wrong_programs(name).values()][:: chosen.every]
        wrong, took, judged = [], defaultdict[str, float](float), Counter[str]()
        accepted: dict[str, set[bytes]] = {"drill": set(), "oracle": set()}
        with GradingSession(question) as session:
            session.grade(question.reference, seed=0)
            for program in [*right, *others]:
                judged["drill"] += 1
                began = time.perf_counter()
                report = session.grade(program, seed=1)
                took["drill"] += time.perf_counter() - began
                if report.verdict == "pass":
                    accepted["drill"].add(program)
                if program not in right and counts(report, question, functions):
                    wrong.append(program)
        judges: dict[str, tuple[Any, ...]] = {"oracle": (oracle,)}
        if chosen.torchcode:
            judges["TorchCode"] = (torchcode, chosen.torchcode.resolve())
        if chosen.cs336 and name != "layernorm-backward":
            judges["CS336"] = (cs336, chosen.cs336.resolve())
        for judge, how in judges.items():
            accepted[judge] = set()
            for program in [*right, *wrong]:
                judged[judge] += 1
                began = time.perf_counter()
                if accepts(*how, name, program):
                    accepted[judge].add(program)
                took[judge] += time.perf_counter() - began
        for judge, those in accepted.items():
            each = took[judge] / judged[judge]
            print(
                f"| {name} | {judge} | {len(wrong)} | {len(those & set(wrong))} | {len(right)} "
                f"| {len(set(right) - those)} | {each:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
