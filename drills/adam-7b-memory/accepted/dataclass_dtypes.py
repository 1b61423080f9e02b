"""A dataclass of dtypes by name; the widths follow from the names."""

from dataclasses import asdict, dataclass

BYTES = {"bf16": 2, "fp32": 4, "none": 0}


@dataclass(frozen=True)
class Recipe:
    weights: str
    grads: str
    exp_avg: str = "fp32"
    exp_avg_sq: str = "fp32"
    master: str = "none"


RECIPES = {
    "bf16_mixed": Recipe("bf16", "bf16", master="fp32"),
    "bf16_mixed_fp32grad": Recipe("bf16", "fp32", master="fp32"),
    "bf16_no_master": Recipe("bf16", "bf16"),
    "torch_pure_bf16": Recipe("bf16", "bf16", "bf16", "bf16"),
    "torch_autocast": Recipe("fp32", "fp32"),
}


class UnknownPlan(ValueError):
    """A recipe or a stage that is not on the sheet."""


def training_state(n_params, recipe):
    try:
        dtypes = asdict(RECIPES[recipe])
    except KeyError:
        raise UnknownPlan(recipe) from None
    plan = {part: BYTES[dtype] * n_params for part, dtype in dtypes.items()}
    return plan | {"total": sum(plan.values())}


def to_gb(nbytes):
    return nbytes * 1e-9


def to_gib(nbytes):
    return nbytes * 2**-30


def parts(n_params, stage):
    if stage not in range(4):
        raise UnknownPlan(stage)
    plan = training_state(n_params, "bf16_mixed")
    sharded_from = {"weights": 3, "grads": 2, "exp_avg": 1, "exp_avg_sq": 1, "master": 1}
    whole = sum(plan[part] for part, first in sharded_from.items() if stage < first)
    return whole, plan["total"] - whole


def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = parts(n_params, stage)
    return whole + split / world


def min_gpus(n_params, gpu_bytes, stage=3):
    whole, split = parts(n_params, stage)
    room = gpu_bytes - whole
    if split == 0:
        return 1 if room >= 0 else None
    if room <= 0:
        return None
    count, rest = divmod(split, room)
    return count + (rest > 0)
