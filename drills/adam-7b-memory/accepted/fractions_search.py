"""Exact fractions, and a search over the number of GPUs."""

from fractions import Fraction
from itertools import count, takewhile

W = {
    "bf16_mixed": "22444",
    "bf16_mixed_fp32grad": "24444",
    "bf16_no_master": "22440",
    "torch_pure_bf16": "22220",
    "torch_autocast": "44440",
}


def training_state(n_params, recipe):
    if recipe not in W:
        raise ValueError(f"no such recipe: {recipe}")
    names = "weights grads exp_avg exp_avg_sq master".split()
    d = {}
    for name, width in zip(names, W[recipe]):
        d[name] = int(width) * n_params
    d["total"] = sum(d[name] for name in names)
    return d


def to_gb(nbytes):
    return float(Fraction(nbytes) / 10**9)


def to_gib(nbytes):
    return float(Fraction(nbytes) / 2**30)


def share(n_params, stage, world):
    if stage not in {0, 1, 2, 3}:
        raise ValueError(f"no such stage: {stage}")
    divisor = {"optimizer": 1, "grads": 1, "weights": 1}
    for tensor in list(divisor)[:stage]:
        divisor[tensor] = world
    return sum(
        Fraction(width * n_params, divisor[tensor])
        for tensor, width in (("optimizer", 12), ("grads", 2), ("weights", 2))
    )


def zero_bytes_per_gpu(n_params, stage, world):
    return float(share(n_params, stage, world))


def min_gpus(n_params, gpu_bytes, stage=3):
    floor = {0: 16, 1: 4, 2: 2, 3: 0}.get(stage, 0) * n_params
    if share(n_params, stage, 1) > gpu_bytes and floor >= gpu_bytes or stage == 0:
        return 1 if share(n_params, stage, 1) <= gpu_bytes else None
    too_few = takewhile(lambda w: share(n_params, stage, w) > gpu_bytes, count(1))
    return sum(1 for _ in too_few) + 1
