"""Divides by zero where the card holds just what is not sharded."""

RECIPES = {
    "bf16_mixed": (2, 2, 4, 4, 4),
    "bf16_mixed_fp32grad": (2, 4, 4, 4, 4),
    "bf16_no_master": (2, 2, 4, 4, 0),
    "torch_pure_bf16": (2, 2, 2, 2, 0),
    "torch_autocast": (4, 4, 4, 4, 0),
}
PARTS = ("weights", "grads", "exp_avg", "exp_avg_sq", "master")


def training_state(n_params, recipe):
    if recipe not in RECIPES:
        raise ValueError(recipe)
    plan = {part: width * n_params for part, width in zip(PARTS, RECIPES[recipe])}
    plan["total"] = sum(plan.values())
    return plan


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


def min_gpus(n_params, gpu_bytes, stage=3):
    whole, split = terms(n_params, stage)
    room = gpu_bytes - whole
    if split == 0:
        return 1 if room >= 0 else None
    return -(-split // room) if room >= 0 else None
