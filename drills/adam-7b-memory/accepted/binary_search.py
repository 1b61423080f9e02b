"""Binary search over the number of GPUs with bisect."""

import bisect

OPT = {"exp_avg": 4, "exp_avg_sq": 4}


def training_state(n_params, recipe):
    base = {"weights": 2, "grads": 2, **OPT, "master": 0}
    changes = {
        "bf16_mixed": {"master": 4},
        "bf16_mixed_fp32grad": {"master": 4, "grads": 4},
        "bf16_no_master": {},
        "torch_pure_bf16": {"exp_avg": 2, "exp_avg_sq": 2},
        "torch_autocast": {"weights": 4, "grads": 4},
    }
    if recipe not in changes:
        raise ValueError("recipe must be one of " + ", ".join(sorted(changes)))
    base.update(changes[recipe])
    out = {k: n_params * b for k, b in base.items()}
    out["total"] = n_params * sum(base.values())
    return out


def to_gb(nbytes):
    return nbytes / 1_000_000_000


def to_gib(nbytes):
    return nbytes / (1 << 30)


def zero_bytes_per_gpu(n_params, stage, world):
    w, g, o = _split(stage)
    return n_params * (
        (2 / world if w else 2) + (2 / world if g else 2) + (12 / world if o else 12)
    )


def min_gpus(n_params, usable_bytes, stage=3):
    w, g, o = _split(stage)
    split = n_params * (2 * w + 2 * g + 12 * o)
    whole = 16 * n_params - split

    def fits(world):
        return whole * world + split <= usable_bytes * world

    worlds = range(1, 2**60)
    at = bisect.bisect_left(worlds, True, key=fits)
    return worlds[at] if at < len(worlds) else None


def _split(stage):
    if stage not in (0, 1, 2, 3):
        raise ValueError("stage must be 0, 1, 2 or 3")
    return stage >= 3, stage >= 2, stage >= 1


def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] <= card_mib * 2**20


def fsdp_bytes(model, world):
    shard = 4 * model["params"] / world
    unit = model["largest_unit"]
    out = dict.fromkeys(("weights", "grads", "exp_avg", "exp_avg_sq"), shard)
    out["gathered"] = 2 * (2 * unit) + 2 * unit + 4 * unit
    return out


def activation_bytes(model, tokens, checkpoint):
    d = model["d"]
    kv = d * model["kv_heads"] // model["heads"]
    layer = 2 * (6 * d + 2 * kv + 4 * model["f"]) + 8 + 4 * model["heads"]
    head = 4 * d + 4 + 12 * model["vocab"]
    if not checkpoint:
        return tokens * (model["layers"] * layer + head)
    inputs = model["layers"] * 2 * d
    return tokens * max(inputs + head, inputs + layer - 2 * d)


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = (1 - headroom) * card_mib * 2**20 - sum(fsdp_bytes(model, world).values())

    def too_many(tokens):
        return activation_bytes(model, tokens, checkpoint) > room

    return max(0, bisect.bisect_left(range(2**40), True, key=too_many) - 1)
