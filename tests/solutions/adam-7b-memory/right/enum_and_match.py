"""Enums refuse what is unknown; a match statement does the rest."""

from enum import Enum, IntEnum


class Recipe(Enum):
    MIXED = "bf16_mixed"
    MIXED_FP32_GRAD = "bf16_mixed_fp32grad"
    NO_MASTER = "bf16_no_master"
    PURE = "torch_pure_bf16"
    AUTOCAST = "torch_autocast"


class Stage(IntEnum):
    NONE = 0
    OPTIMIZER = 1
    GRADIENTS = 2
    WEIGHTS = 3


def training_state(n_params, recipe):
    match Recipe(recipe):
        case Recipe.MIXED:
            widths = [2, 2, 4, 4, 4]
        case Recipe.MIXED_FP32_GRAD:
            widths = [2, 4, 4, 4, 4]
        case Recipe.NO_MASTER:
            widths = [2, 2, 4, 4, 0]
        case Recipe.PURE:
            widths = [2, 2, 2, 2, 0]
        case Recipe.AUTOCAST:
            widths = [4, 4, 4, 4, 0]
    keys = ("weights", "grads", "exp_avg", "exp_avg_sq", "master")
    return {**{k: w * n_params for k, w in zip(keys, widths)}, "total": sum(widths) * n_params}


def to_gb(nbytes):
    return nbytes / 10**9


def to_gib(nbytes):
    return nbytes / 2**30


def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = _parts(Stage(stage))
    quotient, rest = divmod(split * n_params, world)
    return whole * n_params + quotient + rest / world


def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = _parts(Stage(stage))
    room = usable_bytes - whole * n_params
    match (split * n_params, room):
        case (0, r):
            return 1 if r >= 0 else None
        case (s, r) if r > 0:
            return (s - 1) // r + 1
        case _:
            return None


def _parts(stage):
    match stage:
        case Stage.NONE:
            return 16, 0
        case Stage.OPTIMIZER:
            return 4, 12
        case Stage.GRADIENTS:
            return 2, 14
        case Stage.WEIGHTS:
            return 0, 16


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
