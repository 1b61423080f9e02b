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


def min_gpus(n_params, gpu_bytes, stage=3):
    w, g, o = _split(stage)
    split = n_params * (2 * w + 2 * g + 12 * o)
    whole = 16 * n_params - split

    def fits(world):
        return whole * world + split <= gpu_bytes * world

    worlds = range(1, 2**60)
    at = bisect.bisect_left(worlds, True, key=fits)
    return worlds[at] if at < len(worlds) else None


def _split(stage):
    if stage not in (0, 1, 2, 3):
        raise ValueError("stage must be 0, 1, 2 or 3")
    return stage >= 3, stage >= 2, stage >= 1
