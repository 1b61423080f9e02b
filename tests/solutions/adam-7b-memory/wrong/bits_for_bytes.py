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


def min_gpus(n_params, gpu_bytes, stage=3):
    whole, sharded = _split(n_params, stage)
    if whole + sharded <= gpu_bytes:
        return 1
    if gpu_bytes <= whole:
        return None
    # More than one is needed: the smallest world with sharded <= world * room.
    room = gpu_bytes - whole
    return None if not sharded else (sharded + room - 1) // room
