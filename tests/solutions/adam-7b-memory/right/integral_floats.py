"""Bytes as floats where floats are exact, whole numbers where they are not."""

import math


def training_state(n_params, recipe):
    n = float(n_params)
    master = 4.0 * n if recipe in ("bf16_mixed", "bf16_mixed_fp32grad") else 0.0
    if recipe in ("bf16_mixed", "bf16_no_master"):
        weights, grads, moment = 2.0 * n, 2.0 * n, 4.0 * n
    elif recipe == "bf16_mixed_fp32grad":
        weights, grads, moment = 2.0 * n, 4.0 * n, 4.0 * n
    elif recipe == "torch_pure_bf16":
        weights, grads, moment = 2.0 * n, 2.0 * n, 2.0 * n
    elif recipe == "torch_autocast":
        weights, grads, moment = 4.0 * n, 4.0 * n, 4.0 * n
    else:
        raise ValueError(recipe)
    return {
        "weights": weights,
        "grads": grads,
        "exp_avg": moment,
        "exp_avg_sq": moment,
        "master": master,
        "total": math.fsum([weights, grads, moment, moment, master]),
    }


def to_gb(nbytes):
    return float(nbytes) / 1e9


def to_gib(nbytes):
    return math.ldexp(float(nbytes), -30)


def zero_bytes_per_gpu(n_params, stage, world):
    shares = [1.0 / world if stage >= first else 1.0 for first in (1, 2, 3)]
    if stage not in (0, 1, 2, 3):
        raise ValueError(stage)
    return float(n_params) * (12.0 * shares[0] + 2.0 * shares[1] + 2.0 * shares[2])


def min_gpus(n_params, usable_bytes, stage=3):
    if stage not in (0, 1, 2, 3):
        raise ValueError(stage)
    split = n_params * (0, 12, 14, 16)[stage]
    whole = n_params * 16 - split
    low, high = 0, 1
    while whole * high + split > usable_bytes * high:  # doubles until it fits
        low, high = high, 2 * high
        if high > 1 << 60:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if whole * middle + split > usable_bytes * middle:
            low = middle
        else:
            high = middle
    return float(high)


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
