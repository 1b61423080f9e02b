"""Counts the tensors of a layer instead of knowing the numbers, dtype by dtype, in floats."""

import numpy as np

DTYPES = {"bf16": np.uint16, "fp32": np.float32}  # numpy has no bfloat16; the size is what counts


class Tensor:
    def __init__(self, numel, dtype):
        self.numel, self.dtype = numel, np.dtype(DTYPES[dtype])

    @property
    def nbytes(self):
        return float(self.numel) * self.dtype.itemsize


class AdamW:
    def __init__(self, param, master_weights=False):
        self.state = {"exp_avg": param, "exp_avg_sq": param}
        if master_weights:
            fp32 = Tensor(param.numel, "fp32")
            self.state = {"exp_avg": fp32, "exp_avg_sq": fp32, "fp32_from_bf16": fp32}


def training_state(n_params, recipe):
    param = Tensor(n_params, "fp32" if recipe == "torch_autocast" else "bf16")
    optimizer = AdamW(param, master_weights=recipe == "bf16_mixed")
    tensors = {"weights": param, "grads": param, **optimizer.state}
    sheet = {name: tensor.nbytes for name, tensor in tensors.items()}
    return {**sheet, "total": sum(sheet.values())}


def to_gb(nbytes):
    return nbytes * 1e-9


def to_gib(nbytes):
    return nbytes / 2.0**30


def fits(n_params, recipe, card_mib):
    return bool(training_state(n_params, recipe)["total"] <= card_mib * 1024.0**2)
