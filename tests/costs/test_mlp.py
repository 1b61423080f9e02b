"""The costs of a perceptron against torch."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from grader.costs.mlp import MODEL
from tests.harness import each, saved_for_backward

CHOICES = list(itertools.product((1, 3), ("yes", "no"), ("relu", "gelu"), ("fp32", "bf16")))


@each(("layers", "bias", "activation", "precision"), CHOICES)
def test_parameters_activations_and_flops_equal_those_of_torch(
    layers: int, bias: str, activation: str, precision: str
) -> None:
    settings = {**MODEL.presets["digits"], "inputs": 24, "hidden": 36, "outputs": 10, "batch": 7}
    settings |= {"layers": layers, "bias": bias, "activation": activation, "precision": precision}
    resolved, notes = MODEL.resolve_settings(settings)
    assert notes == []
    values = MODEL.formula_values(resolved)
    dtype = torch.float32 if precision == "fp32" else torch.bfloat16
    widths = [24, *[36] * layers, 10]
    modules: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(widths):
        activation_module = nn.ReLU() if activation == "relu" else nn.GELU()
        modules += [nn.Linear(inputs, outputs, bias=bias == "yes", dtype=dtype), activation_module]
    model: Any = nn.Sequential(*modules[:-1])
    data, labels = torch.randn(7, 24, dtype=dtype), torch.randint(10, (7,))
    with saved_for_backward(*model.parameters(), labels) as kept:
        functional.cross_entropy(model(data).float(), labels)
    kept_bytes = sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
    assert values["kept"] == kept_bytes - 4  # a scalar: the number of labels that the loss averages
    assert values["params"] == sum(tensor.numel() for tensor in model.parameters())
    with FlopCounterMode(display=False) as counter:
        loss = functional.cross_entropy(model(data).float(), labels)
        ahead = counter.get_total_flops()
        torch.autograd.backward(loss)
    assert (ahead, counter.get_total_flops()) == (values["forward"], values["step"])


def test_activations_of_all_widths_outgrow_the_parameters_at_a_batch_of_224() -> None:
    """One hidden layer: data d, projected and activated m, outputs o, so d + 2 m + o numbers."""
    values = MODEL.formula_values({**MODEL.presets["digits"], "activation": "gelu"})
    each_row = 784 + 2 * 512 + 10
    assert values["params"] / each_row > 223.8
    assert values["kept"] == 4 * 128 * each_row
