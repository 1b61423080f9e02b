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


def min_gpus(n_params, usable_bytes, stage=3):
    floor = {0: 16, 1: 4, 2: 2, 3: 0}.get(stage, 0) * n_params
    if share(n_params, stage, 1) > usable_bytes and floor >= usable_bytes or stage == 0:
        return 1 if share(n_params, stage, 1) <= usable_bytes else None
    too_few = takewhile(lambda w: share(n_params, stage, w) > usable_bytes, count(1))
    return sum(1 for _ in too_few) + 1


def fits(n_params, recipe, card_mib):
    return Fraction(training_state(n_params, recipe)["total"], card_mib << 20) <= 1


def fsdp_bytes(model, world):
    shard = float(Fraction(4 * model["params"], world))
    names = "weights grads exp_avg exp_avg_sq".split()
    return {**{name: shard for name in names}, "gathered": sum([2, 2, 2, 4]) * model["largest_unit"]}


def activation_bytes(model, tokens, checkpoint):
    width = {"d": model["d"], "f": model["f"]}
    width["kv"] = int(Fraction(model["kv_heads"], model["heads"]) * model["d"])
    layer = 2 * sum(width[name] for name in "d d d d d d kv kv f f f f".split())
    layer += 4 * (1 + 1 + model["heads"])
    at_the_turn = 2 * (width["d"] + width["d"]) + 4 * (1 + 3 * model["vocab"])
    if checkpoint:
        kept = 2 * width["d"] * model["layers"]
        return tokens * (kept + max(at_the_turn, layer - 2 * width["d"]))
    return tokens * (layer * model["layers"] + at_the_turn)


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    usable = (1 - Fraction(headroom)) * card_mib * 2**20
    state = Fraction(16 * model["params"], world) + 10 * model["largest_unit"]
    return max(0, (usable - state) // activation_bytes(model, 1, checkpoint))
