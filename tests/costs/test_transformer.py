"""What a decoder costs, against torch: parameters, gradients, state, what is kept, FLOPs, bytes."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.nn import functional
from torch.utils import flop_counter
from torch.utils._python_dispatch import TorchDispatchMode

from grader.costs.formulas import CostCell, Values, evaluate_formula
from grader.costs.transformer import MODEL
from grader.sandbox.worker.measure.autograd import Meter
from tests.costs import decoder
from tests.harness import each, saved_for_backward

GROUPED = "enable_gqa" in str(functional.scaled_dot_product_attention.__doc__)  # torch 2.5
SIZES = {
    "layers": 2, "width": 32, "heads": 4, "kv_heads": 2, "mlp": "gated", "ffn": 56, "vocab": 101,
    "output": "own", "batch": 3, "seq": 6, "attention": "fused", "recompute": "none",
    "precision": "fp32", "optimizer": "adam", "zero": "0", "gpus": 1,
}  # fmt: skip
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "mixed": torch.bfloat16}
ATEN: Any = torch.ops.aten
CHOICES = list(
    itertools.product(
        ("fp32", "bf16"), ("fused", "explicit"), ("none", "attention", "layer"),
        ({"mlp": "gated"}, {"mlp": "plain", "output": "tied"}, {"kv_heads": 4, "layers": 3}),
    )
)  # fmt: skip


def settings(**changed: int | str) -> dict[str, Any]:
    found = SIZES | changed
    if not GROUPED and found["attention"] == "fused":
        found["kv_heads"] = found["heads"]
    return found


def values(given: dict[str, Any]) -> Values:
    taken, notes = MODEL.resolve_settings(given)
    assert (taken, notes) == (given, [])
    return MODEL.formula_values(taken)


def listed(view: str, known: Values) -> Iterator[tuple[str, tuple[int, ...], CostCell]]:
    """The rows that are there of the tables of a view: title and name, shape, last cell."""
    for table in MODEL.tables:
        for row in table.rows if table.view == view else ():
            if evaluate_formula(row.condition, known):
                shape, last = row.cells[1], row.cells[-1]
                assert isinstance(shape, CostCell)
                assert isinstance(last, CostCell)
                sizes = tuple(evaluate_formula(one, known) for one in shape.formulas)
                yield f"{table.title}: {row.cells[0]}", sizes, last


def nbytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(one.numel() * one.element_size() for one in tensors)


def kept_by_torch(given: dict[str, Any]) -> Counter[tuple[int, int]]:
    """Elements and bytes of each storage that is kept; the batch and constants are not counted."""
    model, call = decoder.of(given, DTYPES[given["precision"]])
    ids, labels, turn, hidden = call
    with saved_for_backward(*model.parameters(), ids, labels, *turn, hidden) as kept:
        model(*call)
    found = Counter(
        (one.untyped_storage().nbytes() // one.element_size(), one.element_size())
        for one in kept.values()
        if one.untyped_storage().nbytes()
    )
    return found - Counter([(1, 4)])  # how many labels the loss is a mean of: a scalar


@each(("precision", "attention", "recompute", "more"), CHOICES)
def test_what_is_kept_for_backward_is_what_autograd_saves_tensor_by_tensor(
    precision: str, attention: str, recompute: str, more: dict[str, Any]
) -> None:
    given = settings(precision=precision, attention=attention, recompute=recompute, **more)
    known, expected = values(given), Counter[tuple[int, int]]()
    for name, shape, kept in listed("activations", known):
        elements = torch.Size(shape).numel()
        if held := evaluate_formula(kept.formulas[0], known):
            times = given["layers"] if "each layer" in name else 1
            expected[elements, held // elements] += times
    assert kept_by_torch(given) == expected
    assert known["kept"] == sum(n * size * times for (n, size), times in expected.items())


def rebuilt(given: dict[str, Any]) -> int:
    """Bytes that one layer keeps where nothing is recomputed and not as it is set."""
    plain = values(given | {"recompute": "none"})["layers_kept"]
    return (plain - values(given)["layers_kept"]) // int(given["layers"])


@each(("precision", "attention", "recompute", "more"), CHOICES)
def test_at_the_most_a_layer_is_rebuilt_or_the_loss_has_its_gradients(
    precision: str, attention: str, recompute: str, more: dict[str, Any]
) -> None:
    given = settings(precision=precision, attention=attention, recompute=recompute, **more)
    known = values(given)
    assert known["rebuilt"] == rebuilt(given)
    at_loss = known["head_kept"] + 2 * 4 * given["batch"] * given["seq"] * given["vocab"]
    assert known["most"] == known["layers_kept"] + max(at_loss, rebuilt(given))


def counted(given: dict[str, Any]) -> tuple[int, int]:
    """FLOPs of forward and backward by torch's counter, which leaves out the CPU's fused kernel."""

    counts: Any = flop_counter

    def each_head(q: Any, k: Any, v: Any) -> Any:  # not all versions know of groups
        return q, *((*one[:1], q[1], *one[2:]) for one in (k, v))

    def forward(q: Any, k: Any, v: Any, *_: Any, **__: Any) -> int:
        return int(counts.sdpa_flop_count(*each_head(q, k, v)))

    def backward(grad: Any, q: Any, k: Any, v: Any, *_: Any, **__: Any) -> int:
        return int(counts.sdpa_backward_flop_count(grad, *each_head(q, k, v)))

    fused = ATEN._scaled_dot_product_flash_attention_for_cpu
    fused_backward = ATEN._scaled_dot_product_flash_attention_for_cpu_backward
    model, call = decoder.of(given, DTYPES[given["precision"]])
    counter = flop_counter.FlopCounterMode(
        display=False, custom_mapping={fused: forward, fused_backward: backward}
    )
    with counter:
        loss = model(*call)
        ahead = counter.get_total_flops()
        torch.autograd.backward(loss)
    return ahead, counter.get_total_flops() - ahead


@each("precision", ["fp32", "bf16"])
def test_three_tensors_of_the_vocabulary_are_alive_in_fp32_at_the_loss(precision: str) -> None:
    dtype, tokens, width, vocab = DTYPES[precision], 16, 8, 4096
    h, head = (torch.randn(n, width, dtype=dtype, requires_grad=True) for n in (tokens, vocab))
    labels = torch.randint(vocab, (tokens,))
    with Meter() as meter:
        torch.autograd.backward(functional.cross_entropy((h @ head.T).float(), labels))
    wide = 4 * tokens * vocab
    assert wide + 8 * tokens * vocab == meter.peak // wide * wide


@each(("precision", "attention", "recompute", "more"), CHOICES)
def test_flops_are_those_that_torch_counts(
    precision: str, attention: str, recompute: str, more: dict[str, Any]
) -> None:
    given = settings(precision=precision, attention=attention, recompute=recompute, **more)
    known = values(given)
    assert counted(given) == (known["forward"], known["backward"] + known["recomputed"])
    assert known["step"] == known["forward"] + known["backward"] + known["recomputed"]


class Moved(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Bytes that matrix products read and write, each operand once."""

    nbytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        name = func.__name__.partition(".")[0]
        if name in {"mm", "bmm", "addmm"}:
            self.nbytes += nbytes([*args[-2:], out])
        elif "scaled_dot_product" in name:  # its number per query left out
            self.nbytes += nbytes([*args[:3], out[0]])
        return out


@each("precision", ["fp32", "bf16"])
@each("attention", ["fused", "explicit"])
def test_products_move_their_factors_and_results(precision: str, attention: str) -> None:
    given = settings(precision=precision, attention=attention)
    model, call = decoder.of(given, DTYPES[precision])
    with Moved() as moved:  # type: ignore[no-untyped-call]
        model(*call)
    assert moved.nbytes == values(given)["moved"]


@each("more", [{}, {"mlp": "plain", "output": "tied"}, {"kv_heads": 1}])
def test_parameters_and_gradients_have_the_shapes_that_are_listed(more: dict[str, Any]) -> None:
    given = settings(attention="explicit", **more)
    model, call = decoder.of(given, torch.float32)
    torch.autograd.backward(model(*call))
    known, expected = values(given), Counter[tuple[int, ...]]()
    for _, shape, elements in listed("parameters", known):
        expected[shape] += (
            evaluate_formula(elements.formulas[0], known) // torch.Size(shape).numel()
        )
    found = list(model.parameters())
    assert Counter(tuple(one.shape) for one in found) == expected
    assert Counter(tuple(one.grad.shape) for one in found if one.grad is not None) == expected
    assert sum(one.numel() for one in found) == known["params"]


OPTIMIZERS: dict[str, Any] = {
    "sgd": lambda found: torch.optim.SGD(found, 0.1),
    "momentum": lambda found: torch.optim.SGD(found, 0.1, momentum=0.9),
    "adam": torch.optim.AdamW,
}


@each("precision", ["fp32", "bf16", "mixed"])
@each("optimizer", ["sgd", "momentum", "adam"])
def test_state_is_what_a_real_step_of_the_optimizer_leaves(precision: str, optimizer: str) -> None:
    """AdamW's counters of steps, a scalar per tensor on the CPU, are left out."""
    given = settings(precision=precision, optimizer=optimizer)
    model, call = decoder.of(given, DTYPES[precision])
    torch.autograd.backward(model(*call))
    weights = list(model.parameters())
    grads = [one.grad for one in weights if one.grad is not None]
    stepped, master = weights, []
    if precision == "mixed":
        stepped = master = [torch.nn.Parameter(one.detach().float()) for one in weights]
        for one, grad in zip(master, grads, strict=True):
            one.grad = grad.float()
    made = OPTIMIZERS[optimizer](stepped)
    made.step()
    state = (one for slots in made.state.values() for one in slots.values())
    moments = nbytes(one for one in state if isinstance(one, torch.Tensor) and one.ndim)
    known = values(given)
    assert known["weights"] == nbytes(weights)
    assert known["gradients"] == nbytes(grads)
    assert (known["moments"], known["master"]) == (moments, nbytes(master))
    assert known["state"] == nbytes([*weights, *grads, *master]) + moments


@each(
    ("preset", "params"),
    [("7b", 6_738_415_616), ("8b", 8_030_261_248), ("70b", 70_553_706_496),
     ("small-124m", 123_551_232)],
)  # fmt: skip
def test_presets_have_the_parameters_of_their_names(preset: str, params: int) -> None:
    given: dict[str, Any] = dict(MODEL.presets[preset])
    with torch.device("meta"):
        found = decoder.Decoder(given)
    assert sum(one.numel() for one in found.parameters()) == values(given)["params"] == params


def test_a_step_is_never_more_than_four_thirds_of_one_that_recomputes_nothing() -> None:
    """One forward pass of the layers more, but for the down projection, whose result none needs."""
    given: dict[str, Any] = dict(MODEL.presets["70b"])
    plain, again = (values(given | {"recompute": how})["step"] for how in ("none", "layer"))
    assert 1.2 < again / plain < 4 / 3
