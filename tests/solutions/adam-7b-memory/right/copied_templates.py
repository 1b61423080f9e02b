"""Caches the widths of a recipe and returns an OrderedDict of its own to each caller."""

from collections import OrderedDict
from functools import lru_cache


@lru_cache(maxsize=None)
def widths(recipe):
    fp32_module = recipe == "torch_autocast"
    pure = recipe == "torch_pure_bf16"
    known = ("bf16_mixed", "bf16_mixed_fp32grad", "bf16_no_master")
    if not (fp32_module or pure or recipe in known):
        raise ValueError(recipe)
    weight = 4 if fp32_module else 2
    grad = 4 if recipe == "bf16_mixed_fp32grad" else weight
    moment = 2 if pure else 4
    master = 4 if recipe in known[:2] else 0
    return (
        ("weights", weight),
        ("grads", grad),
        ("exp_avg", moment),
        ("exp_avg_sq", moment),
        ("master", master),
    )


def training_state(n_params, recipe):
    plan = OrderedDict((part, width * n_params) for part, width in widths(recipe))
    plan["total"] = sum(plan.values())
    return plan


@lru_cache(maxsize=None)
def to_gb(nbytes):
    return nbytes / 1e9


@lru_cache(maxsize=None)
def to_gib(nbytes):
    return nbytes / 2**30


def sharded(stage):
    if stage not in (0, 1, 2, 3):
        raise ValueError(stage)
    order = (("exp_avg", "exp_avg_sq", "master"), ("grads",), ("weights",))
    return {part for group in order[:stage] for part in group}


@lru_cache(maxsize=None)
def zero_bytes_per_gpu(n_params, stage, world):
    split = sharded(stage)
    return sum(w * n_params / (world if p in split else 1) for p, w in widths("bf16_mixed"))


@lru_cache(maxsize=None)
def min_gpus(n_params, usable_bytes, stage=3):
    split = sum(w for p, w in widths("bf16_mixed") if p in sharded(stage)) * n_params
    whole = 16 * n_params - split
    for world in range(1, 20_001):
        if split <= (usable_bytes - whole) * world:
            return world
    return None


def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] <= card_mib * 2**20


def fsdp_bytes(model, world):
    shard = 4 * model["params"] / world
    unit = model["largest_unit"]
    return {
        "weights": shard,
        "grads": shard,
        "exp_avg": shard,
        "exp_avg_sq": shard,
        "gathered": 4 * unit + 2 * unit + 4 * unit,
    }


def activation_bytes(model, tokens, checkpoint):
    d = model["d"]
    kv = d * model["kv_heads"] // model["heads"]
    layer = 2 * (6 * d + 2 * kv + 4 * model["f"]) + 4 * (2 + model["heads"])
    head = 4 * d + 4 + 12 * model["vocab"]
    if checkpoint:
        return tokens * (model["layers"] * 2 * d + max(head, layer - 2 * d))
    return tokens * (model["layers"] * layer + head)


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = (1 - headroom) * card_mib * 2**20 - sum(fsdp_bytes(model, world).values())
    return max(0, int(room / activation_bytes(model, 1, checkpoint)))
