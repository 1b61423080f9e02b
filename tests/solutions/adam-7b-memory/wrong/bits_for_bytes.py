"""Counts bits where bytes are asked for."""

from typing import NamedTuple


class Held(NamedTuple):
    role: str
    bits: int
    sharded_from: int  # the first stage that shards it

    def bytes(self, n_params):
        return n_params * self.bits


def _recipe(weights, grads, moments, master):
    return (
        Held("weights", weights, 3),
        Held("grads", grads, 2),
        Held("exp_avg", moments, 1),
        Held("exp_avg_sq", moments, 1),
        Held("master", master, 1),
    )


MIXED = _recipe(16, 16, 32, 32)


def _held(recipe):
    match recipe:
        case "bf16_mixed":
            return MIXED
        case "bf16_mixed_fp32grad":
            return _recipe(16, 32, 32, 32)
        case "bf16_no_master":
            return _recipe(16, 16, 32, 0)
        case "torch_pure_bf16":
            return _recipe(16, 16, 16, 0)
        case "torch_autocast":
            return _recipe(32, 32, 32, 0)
    raise ValueError(recipe)


def training_state(n_params, recipe):
    plan = {held.role: held.bytes(n_params) for held in _held(recipe)}
    plan["total"] = sum(plan.values())
    return plan


def to_gb(nbytes):
    return nbytes / 1000 / 1000 / 1000


def to_gib(nbytes):
    return nbytes / 1024 / 1024 / 1024


def _split(n_params, stage):
    if not (isinstance(stage, int) and stage in range(4)):
        raise ValueError(stage)
    sharded = sum(held.bytes(n_params) for held in MIXED if 0 < held.sharded_from <= stage)
    return 128 * n_params - sharded, sharded


def zero_bytes_per_gpu(n_params, stage, world):
    whole, sharded = _split(n_params, stage)
    return whole + sharded / world


def min_gpus(n_params, usable_bytes, stage=3):
    whole, sharded = _split(n_params, stage)
    if whole + sharded <= usable_bytes:
        return 1
    if usable_bytes <= whole:
        return None
    # More than one is needed: the smallest world with sharded <= world * room.
    room = usable_bytes - whole
    return None if not sharded else (sharded + room - 1) // room


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
