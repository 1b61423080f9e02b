"""Returns a named tuple."""

from collections import namedtuple

RECIPES = {
    "bf16_mixed": (2, 2, 4, 4, 4),
    "bf16_mixed_fp32grad": (2, 4, 4, 4, 4),
    "bf16_no_master": (2, 2, 4, 4, 0),
    "torch_pure_bf16": (2, 2, 2, 2, 0),
    "torch_autocast": (4, 4, 4, 4, 0),
}
PARTS = ("weights", "grads", "exp_avg", "exp_avg_sq", "master")


Plan = namedtuple("Plan", "weights grads exp_avg exp_avg_sq master total")


def training_state(n_params, recipe):
    if recipe not in RECIPES:
        raise ValueError(recipe)
    widths = RECIPES[recipe]
    return Plan(*(width * n_params for width in widths), sum(widths) * n_params)


def to_gb(nbytes):
    return nbytes / 1e9


def to_gib(nbytes):
    return nbytes / 2**30


def terms(n_params, stage):
    if stage not in (0, 1, 2, 3):
        raise ValueError(stage)
    whole = (16, 4, 2, 0)[stage]
    return whole * n_params, (16 - whole) * n_params


def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = terms(n_params, stage)
    return whole + split / world


def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = terms(n_params, stage)
    room = usable_bytes - whole
    if split == 0:
        return 1 if room >= 0 else None
    return -(-split // room) if room > 0 else None


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
