"""Load drill files by path and layer them as a worker does, to compare them with an oracle."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from grader import bank
from grader.bank import idea_cells
from grader.model.question import Question
from grader.model.report import Report
from grader.sandbox.spawn import Zygote
from tests import corpus

Array = np.ndarray[Any, np.dtype[Any]]
Program = types.SimpleNamespace  # the names that a file defines

ROOT = Path(__file__).resolve().parents[1]
Lend = Callable[..., Zygote | None]  # gives a zygote to who needs one; see `lend` in conftest.py


def right_solutions(question_id: str) -> dict[str, bytes]:
    """Return what passes all parts, by name: what the question comes with, and files of others."""
    question = bank.load_question([ROOT], question_id)
    until, last = question.accepted_until_part, len(question.spec.parts)
    sources = {name: p.source for name, p in corpus.right_programs(question_id).items()}
    # Some styles have only the first parts.
    found = {
        name: source
        for name, source in sources.items()
        if all(function.encode() in source for function in question.functions)
    }
    found |= {name: text for name, text in question.accepted.items() if until[name] == last}
    return dict(sorted(found.items()))


def load(program: Path | bytes) -> Program:
    """Execute one program in a namespace of its own and return its names as attributes."""
    with contextlib.redirect_stdout(io.StringIO()):  # some print
        return _execute(program)


def variants(test: str) -> Callable[[str], Program]:
    """Return what loads a misconception beside a file of tests by its name, over the reference.

    A further variant has the idea's name, a slash and its own.
    """
    ideas = ideas_of(test)
    return lambda name: _execute(Path(test).with_name("reference.py"), ideas[name])


def ideas_of(test: str) -> dict[str, bytes]:
    """Return the programs of the misconceptions beside a file of tests, by name and variant."""
    path = Path(test).with_name("ideas.py")
    return {cell.name: cell.source for cell in idea_cells.read_cells(path.read_bytes(), path)[1]}


def load_text(*texts: str | bytes) -> Program:
    """Execute what files would hold, one after the other in the same namespace."""
    return _execute(*texts)


def _execute(*programs: Path | str | bytes) -> Program:
    module = types.ModuleType("submission")
    sys.modules["submission"] = module  # dataclasses look their module up
    for one in programs:
        text, name = (one.read_bytes(), str(one)) if isinstance(one, Path) else (one, "submission")
        exec(compile(text, name, "exec", dont_inherit=True), module.__dict__)
    return Program(**module.__dict__)


def question_of(test: str) -> Question:
    """Return the question that a file of tests lies beside."""
    return bank.load_question([ROOT], Path(test).parent.name)


def named(report: Report) -> set[str]:
    """Return the wrong ideas that a report says a submission holds, without a doubt."""
    return {one.id for one in report.misconceptions if one.exact}


def each(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[..., Callable[..., None]]:
    """Run a test with every value in turn, as `parametrize` does, but as one test.

    For what takes less time than pytest does for a test.
    """
    wanted = (names,) if isinstance(names, str) else names
    several = [(value,) if isinstance(names, str) else value for value in values]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**others: Any) -> None:
            for value in several:
                given = dict(zip(wanted, value, strict=True))
                try:
                    test(**others, **given)
                except BaseException as error:
                    error.add_note(f"with {given}")
                    raise

        signature = inspect.signature(test)
        left = [p for name, p in signature.parameters.items() if name not in wanted]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate


def leaves(*arrays: Array) -> list[Any]:
    """Return arrays as torch's tensors in float64 that ask for gradients."""
    import torch

    return [torch.tensor(np.array(a, np.float64), requires_grad=True) for a in arrays]


def by_autograd(function: Callable[..., Any], *arrays: Array, grad_y: Any = 1.0) -> list[Array]:
    """Return what a function of torch gives of arrays in float64, and their gradients.

    Args:
        function: of tensors.
        arrays: those that gradients are wanted of.
        grad_y: the gradient that arrives at the result, 1 at each entry if none is given.
    """
    import torch

    given = leaves(*arrays)
    y = function(*given)
    arriving = torch.tensor(np.asarray(grad_y, np.float64)).expand(y.shape)
    grads = torch.autograd.grad(y, given, arriving)
    return [tensor.detach().numpy() for tensor in (y, *grads)]


def normal(seed: Any, *shapes: tuple[int, ...], dtype: str = "float64") -> list[Array]:
    """Return arrays of some shapes, drawn from the standard normal distribution."""
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.standard_normal(shape)).astype(dtype) for shape in shapes]


def assert_close(
    found: Any,
    wanted: Any,
    band: float | Mapping[str, float],
    dtype: str | np.dtype[Any] | None = None,
    least: float = 0.0,
) -> None:
    """Demand the shape, the non-finite entries and nearly the values of what is wanted.

    Args:
        found: an array, or a list of them.
        wanted: the same of the oracle.
        band: a share of the largest entry, or shares by dtype.
        dtype: what is found has to have, and to be an array; any number will do if not given.
        least: what the largest entry counts for at least.
    """
    if isinstance(wanted, list | tuple):
        for one, other in zip(found, wanted, strict=True):
            assert_close(one, other, band, dtype, least)
        return
    mine, right = np.asarray(found), np.asarray(wanted)
    assert mine.shape == right.shape
    if dtype is not None:
        assert isinstance(found, np.ndarray)
        assert found.dtype == dtype
    share = band if isinstance(band, float | int) else band[mine.dtype.name]
    finite = np.isfinite(right)
    np.testing.assert_array_equal(mine[~finite], right[~finite])
    off = np.abs(mine[finite].astype(right.dtype) - right[finite]).max(initial=0.0)
    assert off <= share * max(least, np.abs(right[finite]).max(initial=0.0))


@contextlib.contextmanager
def saved_for_backward(*without: Any) -> Iterator[dict[int, Any]]:
    """Give what torch saves for backward in the meantime, by storage; not those of some tensors."""
    import torch

    found: dict[int, Any] = {}
    given = {tensor.untyped_storage().data_ptr() for tensor in without}

    def pack(tensor: Any) -> Any:
        if (place := tensor.untyped_storage().data_ptr()) not in given:
            found[place] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        yield found
