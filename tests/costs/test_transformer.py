"""The costs of a decoder against torch: parameters, gradients, state, kept bytes, FLOPs."""

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
    config = SIZES | changed
    if not GROUPED and config["attention"] == "fused":
        config["kv_heads"] = config["heads"]
    return config


def values(config: dict[str, Any]) -> Values:
    taken, notes = MODEL.resolve_settings(config)
    assert (taken, notes) == (config, [])
    return MODEL.formula_values(taken)


def listed(view: str, numbers: Values) -> Iterator[tuple[str, tuple[int, ...], CostCell]]:
    """Yield title and name, shape and last cell of the visible rows of a view."""
    for table in MODEL.tables:
        for row in table.rows if table.view == view else ():
            if evaluate_formula(row.condition, numbers):
                shape, last = row.cells[1], row.cells[-1]
                assert isinstance(shape, CostCell)
                assert isinstance(last, CostCell)
                sizes = tuple(evaluate_formula(formula, numbers) for formula in shape.formulas)
                yield f"{table.title}: {row.cells[0]}", sizes, last


def nbytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def kept_by_torch(config: dict[str, Any]) -> Counter[tuple[int, int]]:
    """Count elements and bytes of each storage that is kept, without the batch and constants."""
    model, call = decoder.build(config, DTYPES[config["precision"]])
    ids, labels, turn, hidden = call
    with saved_for_backward(*model.parameters(), ids, labels, *turn, hidden) as kept:
        model(*call)
    storages = Counter(
        (tensor.untyped_storage().nbytes() // tensor.element_size(), tensor.element_size())
        for tensor in kept.values()
        if tensor.untyped_storage().nbytes()
    )
    return storages - Counter([(1, 4)])  # a scalar: the number of labels that the loss averages


@each(("precision", "attention", "recompute", "more"), CHOICES)
def test_the_kept_tensors_are_those_that_autograd_saves(
    precision: str, attention: str, recompute: str, more: dict[str, Any]
) -> None:
    config = settings(precision=precision, attention=attention, recompute=recompute, **more)
    numbers, expected = values(config), Counter[tuple[int, int]]()
    for name, shape, kept in listed("activations", numbers):
        elements = torch.Size(shape).numel()
        if nbytes_kept := evaluate_formula(kept.formulas[0], numbers):
            times = config["layers"] if "each layer" in name else 1
            expected[elements, nbytes_kept // elements] += times
    assert kept_by_torch(config) == expected
    assert numbers["kept"] == sum(n * size * times for (n, size), times in expected.items())


def rebuilt(config: dict[str, Any]) -> int:
    """Return the bytes of one layer that are kept only if nothing is recomputed."""
    plain = values(config | {"recompute": "none"})["layers_kept"]
    return (plain - values(config)["layers_kept"]) // int(config["layers"])


@each(("precision", "attention", "recompute", "more"), CHOICES)
def test_the_peak_is_at_a_rebuilt_layer_or_at_the_gradients_of_the_loss(
    precision: str, attention: str, recompute: str, more: dict[str, Any]
) -> None:
    config = settings(precision=precision, attention=attention, recompute=recompute, **more)
    numbers = values(config)
    assert numbers["rebuilt"] == rebuilt(config)
    at_loss = numbers["head_kept"] + 2 * 4 * config["batch"] * config["seq"] * config["vocab"]
    assert numbers["most"] == numbers["layers_kept"] + max(at_loss, rebuilt(config))


def counted(config: dict[str, Any]) -> tuple[int, int]:
    """Count FLOPs of forward and backward with torch's counter and the CPU's fused kernel."""

    counts: Any = flop_counter

    def each_head(q: Any, k: Any, v: Any) -> Any:  # some versions do not support groups
        return q, *((*shape[:1], q[1], *shape[2:]) for shape in (k, v))

    def forward(q: Any, k: Any, v: Any, *_: Any, **__: Any) -> int:
        return int(counts.sdpa_flop_count(*each_head(q, k, v)))

    def backward(grad: Any, q: Any, k: Any, v: Any, *_: Any, **__: Any) -> int:
        return int(counts.sdpa_backward_flop_count(grad, *each_head(q, k, v)))

    fused = ATEN._scaled_dot_product_flash_attention_for_cpu
    fused_backward = ATEN._scaled_dot_product_flash_attention_for_cpu_backward
    model, call = decoder.build(config, DTYPES[config["precision"]])
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
def test_flops_equal_those_that_torch_counts(
    precision: str, attention: str, recompute: str, more: dict[str, Any]
) -> None:
    config = settings(precision=precision, attention=attention, recompute=recompute, **more)
    numbers = values(config)
    assert counted(config) == (numbers["forward"], numbers["backward"] + numbers["recomputed"])
    assert numbers["step"] == numbers["forward"] + numbers["backward"] + numbers["recomputed"]


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
def test_products_read_their_factors_and_write_their_results(
    precision: str, attention: str
) -> None:
    config = settings(precision=precision, attention=attention)
    model, call = decoder.build(config, DTYPES[precision])
    with Moved() as moved:  # type: ignore[no-untyped-call]
        model(*call)
    assert moved.nbytes == values(config)["moved"]


@each("more", [{}, {"mlp": "plain", "output": "tied"}, {"kv_heads": 1}])
def test_parameters_and_gradients_have_the_listed_shapes(more: dict[str, Any]) -> None:
    config = settings(attention="explicit", **more)
    model, call = decoder.build(config, torch.float32)
    torch.autograd.backward(model(*call))
    numbers, expected = values(config), Counter[tuple[int, ...]]()
    for _, shape, elements in listed("parameters", numbers):
        expected[shape] += (
            evaluate_formula(elements.formulas[0], numbers) // torch.Size(shape).numel()
        )
    weights = list(model.parameters())
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    assert Counter(tuple(weight.shape) for weight in weights) == expected
    assert Counter(tuple(gradient.shape) for gradient in gradients) == expected
    assert sum(weight.numel() for weight in weights) == numbers["params"]


OPTIMIZERS: dict[str, Any] = {
    "sgd": lambda weights: torch.optim.SGD(weights, 0.1),
    "momentum": lambda weights: torch.optim.SGD(weights, 0.1, momentum=0.9),
    "adam": torch.optim.AdamW,
}


@each("precision", ["fp32", "bf16", "mixed"])
@each("optimizer", ["sgd", "momentum", "adam"])
def test_the_state_equals_that_after_a_real_step_of_the_optimizer(
    precision: str, optimizer: str
) -> None:
    """AdamW's counters of steps, a scalar per tensor on the CPU, are left out."""
    config = settings(precision=precision, optimizer=optimizer)
    model, call = decoder.build(config, DTYPES[precision])
    torch.autograd.backward(model(*call))
    weights = list(model.parameters())
    grads = [weight.grad for weight in weights if weight.grad is not None]
    stepped, master = weights, []
    if precision == "mixed":
        stepped = master = [torch.nn.Parameter(weight.detach().float()) for weight in weights]
        for weight, grad in zip(master, grads, strict=True):
            weight.grad = grad.float()
    stepper = OPTIMIZERS[optimizer](stepped)
    stepper.step()
    state = (slot for slots in stepper.state.values() for slot in slots.values())
    moments = nbytes(slot for slot in state if isinstance(slot, torch.Tensor) and slot.ndim)
    numbers = values(config)
    assert numbers["weights"] == nbytes(weights)
    assert numbers["gradients"] == nbytes(grads)
    assert (numbers["moments"], numbers["master"]) == (moments, nbytes(master))
    assert numbers["state"] == nbytes([*weights, *grads, *master]) + moments


@each(
    ("preset", "params"),
    [("7b", 6_738_415_616), ("8b", 8_030_261_248), ("70b", 70_553_706_496),
     ("small-124m", 123_551_232)],
)  # fmt: skip
def test_presets_have_the_parameters_of_their_names(preset: str, params: int) -> None:
    config: dict[str, Any] = dict(MODEL.presets[preset])
    with torch.device("meta"):
        model = decoder.Decoder(config)
    assert sum(weight.numel() for weight in model.parameters()) == params
    assert values(config)["params"] == params


def test_a_step_is_never_more_than_four_thirds_of_one_that_recomputes_nothing() -> None:
    """Recomputing adds a forward pass of the layers, without the down projection."""
    config: dict[str, Any] = dict(MODEL.presets["70b"])
    plain, again = (values(config | {"recompute": how})["step"] for how in ("none", "layer"))
    assert 1.2 < again / plain < 4 / 3
