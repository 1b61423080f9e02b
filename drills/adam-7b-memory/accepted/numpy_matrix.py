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


def min_gpus(n_params, usable_bytes, stage=3):
    sharded = np.arange(3) < _checked(stage)
    tensors = np.array([12, 2, 2], dtype=np.int64) * n_params
    whole, split = tensors[~sharded].sum(), tensors[sharded].sum()
    worlds = np.arange(1, 20_001, dtype=np.int64)
    # room, not usable_bytes * worlds: the product would overflow int64
    room = np.int64(usable_bytes) - whole
    if room < 0:
        return None
    enough = worlds >= -(-split // room) if room else np.full(worlds.shape, split == 0)
    return worlds[enough][0] if enough.any() else None


def _checked(stage):
    return [0, 1, 2, 3].index(stage)


def fits(n_params, recipe, card_mib):
    return np.less_equal(training_state(n_params, recipe)["total"], np.int64(card_mib) << 20)


def fsdp_bytes(model, world):
    shards = np.full(4, 4 * model["params"] / world)
    gathered = np.array([2, 2, 2, 4]) @ np.full(4, model["largest_unit"])
    return dict(zip([*KEYS[:4], "gathered"], [*shards, gathered]))


def _per_token(model):
    """The bytes of a layer, of its input, and of the head."""
    kv = model["d"] * model["kv_heads"] // model["heads"]
    widths = np.array([model["d"], kv, model["f"], 1, model["heads"], model["vocab"]])
    counts = np.array([
        [6, 2, 4, 0, 0, 0], [0, 0, 0, 2, 1, 0],  # a layer, in bf16 and in fp32
        [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0],  # its input
        [2, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 3],  # the head
    ])  # fmt: skip
    return (counts @ widths).reshape(3, 2) @ np.array([2, 4])


def activation_bytes(model, tokens, checkpoint):
    layer, entry, head = _per_token(model)
    kept, again = (entry, layer - entry) if checkpoint else (layer, 0)
    return tokens * (model["layers"] * kept + np.maximum(head, again))


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    usable = np.float64(card_mib) * 2.0**20 * (1 - headroom)
    room = usable - np.sum(list(fsdp_bytes(model, world).values()))
    return np.clip(room / activation_bytes(model, 1, checkpoint), 0, None)
