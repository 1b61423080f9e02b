"""A file with a byte order mark and CRLF line ends; recursion instead of loops."""

WIDTHS = {
    "weights": {"torch_autocast": 4},
    "grads": {"torch_autocast": 4, "bf16_mixed_fp32grad": 4},
    "exp_avg": dict.fromkeys(
        ("bf16_mixed", "bf16_mixed_fp32grad", "bf16_no_master", "torch_autocast"), 4
    ),
}
MASTER = {"bf16_mixed": 4, "bf16_mixed_fp32grad": 4}
KNOWN = ["bf16_mixed", "bf16_mixed_fp32grad", "bf16_no_master", "torch_pure_bf16", "torch_autocast"]


def training_state(n_params, recipe):
    """∑ of the parts: naïvely, one after the other."""
    if recipe not in KNOWN:
        raise ValueError("unbekannt: " + repr(recipe) + " — choose another")
    weights, grads, moment = (table.get(recipe, 2) * n_params for table in WIDTHS.values())
    master = MASTER.get(recipe, 0) * n_params
    return {
        "weights": weights,
        "grads": grads,
        "exp_avg": moment,
        "exp_avg_sq": moment,
        "master": master,
        "total": weights + grads + 2 * moment + master,
    }


def to_gb(nbytes):
    return nbytes / 1e9


def to_gib(nbytes):
    return nbytes / 1073741824


def zero_bytes_per_gpu(n_params, stage, world):
    if stage == 0:
        return 16 * n_params
    if stage not in (1, 2, 3):
        raise ValueError(stage)
    moved = {1: 12, 2: 2, 3: 2}[stage] * n_params
    return zero_bytes_per_gpu(n_params, stage - 1, world) - moved + moved / world


def min_gpus(n_params, usable_bytes, stage=3):
    if stage not in (0, 1, 2, 3):
        raise ValueError(stage)
    split = {0: 0, 1: 12, 2: 14, 3: 16}[stage] * n_params
    room = usable_bytes - (16 * n_params - split)
    if room < 0 or room == 0 and split:
        return None
    return smallest(split, room, 1)


def smallest(split, room, world):
    if split <= room * world:
        return world
    if split > room * world * 2:
        return smallest(split, room, world * 2)
    return -(split // -room)


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
