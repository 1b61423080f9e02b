"""numpy: the recipes are rows of an int64 matrix; bytes come back as numpy integers."""

import numpy as np

NAMES = ["bf16_mixed", "bf16_mixed_fp32grad", "bf16_no_master", "torch_pure_bf16", "torch_autocast"]
WIDTHS = np.array(
    [[2, 2, 4, 4, 4], [2, 4, 4, 4, 4], [2, 2, 4, 4, 0], [2, 2, 2, 2, 0], [4, 4, 4, 4, 0]],
    dtype=np.int64,
)
KEYS = ["weights", "grads", "exp_avg", "exp_avg_sq", "master", "total"]


def training_state(n_params, recipe):
    row = WIDTHS[NAMES.index(recipe)] * np.int64(n_params)  # list.index raises ValueError
    return dict(zip(KEYS, [*row, row.sum()]))


def to_gb(nbytes):
    return np.float64(nbytes) / np.float64(10**9)


def to_gib(nbytes):
    return np.ldexp(np.float64(nbytes), -30)


def zero_bytes_per_gpu(n_params, stage, world):
    sharded = np.arange(3) < _checked(stage)
    tensors = np.array([12, 2, 2], dtype=np.float64) * n_params
    return np.where(sharded, tensors / world, tensors).sum()


def min_gpus(n_params, gpu_bytes, stage=3):
    sharded = np.arange(3) < _checked(stage)
    tensors = np.array([12, 2, 2], dtype=np.int64) * n_params
    whole, split = tensors[~sharded].sum(), tensors[sharded].sum()
    worlds = np.arange(1, 20_001, dtype=np.int64)
    # room, not gpu_bytes * worlds: the product would overflow int64
    room = np.int64(gpu_bytes) - whole
    if room < 0:
        return None
    enough = worlds >= -(-split // room) if room else np.full(worlds.shape, split == 0)
    return worlds[enough][0] if enough.any() else None


def _checked(stage):
    return [0, 1, 2, 3].index(stage)
