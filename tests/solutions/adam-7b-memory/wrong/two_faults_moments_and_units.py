"""Two faults: the moments of bf16_mixed are bf16, and a GB is 2**30 bytes."""

BYTES = dict(
    bf16_mixed=22224,
    bf16_mixed_fp32grad=24444,
    bf16_no_master=22440,
    torch_pure_bf16=22220,
    torch_autocast=44440,
)


class UnknownPlan(ValueError):
    pass


def training_state(n_params, recipe):
    if recipe not in BYTES:
        raise UnknownPlan(recipe)
    weights, grads, exp_avg, exp_avg_sq, master = (
        int(digit) * n_params for digit in str(BYTES[recipe])
    )
    return dict(
        weights=weights,
        grads=grads,
        exp_avg=exp_avg,
        exp_avg_sq=exp_avg_sq,
        master=master,
        total=weights + grads + exp_avg + exp_avg_sq + master,
    )


def to_gb(nbytes):
    return nbytes / 2**30


def to_gib(nbytes):
    return nbytes / 2**30


def _fits(n_params, stage, world, usable_bytes):
    whole = (16, 4, 2, 0)[stage] * n_params
    return whole * world + (16 * n_params - whole) <= usable_bytes * world


def zero_bytes_per_gpu(n_params, stage, world):
    if stage not in {0, 1, 2, 3}:
        raise UnknownPlan(stage)
    whole = (16, 4, 2, 0)[stage] * n_params
    return whole + (16 * n_params - whole) / world


def min_gpus(n_params, usable_bytes, stage=3):
    if stage not in {0, 1, 2, 3}:
        raise UnknownPlan(stage)
    enough = 1
    while not _fits(n_params, stage, enough, usable_bytes):
        enough *= 2
        if enough > 32 * max(
            n_params, 1
        ):  # half as many left each less than a byte of what is split
            return None
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if _fits(n_params, stage, middle, usable_bytes):
            enough = middle
        else:
            too_few = middle
    return enough


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
