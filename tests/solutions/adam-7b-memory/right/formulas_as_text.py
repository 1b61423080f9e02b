"""Each recipe is written as a sum, `2+2+4+4+4`, and read from there."""

KEYS = "weights grads exp_avg exp_avg_sq master".split()
SHEET = """
bf16_mixed           2+2+4+4+4
bf16_mixed_fp32grad  2+4+4+4+4
bf16_no_master       2+2+4+4+0
torch_pure_bf16      2+2+2+2+0
torch_autocast       4+4+4+4+0
"""
SUMS = dict(line.split() for line in SHEET.strip().splitlines())


def training_state(n_params, recipe):
    try:
        terms = [int(term) for term in SUMS[recipe].split("+")]
    except (KeyError, TypeError):
        raise ValueError(f"no such recipe: {recipe}") from None
    plan = {key: n_params * term for key, term in zip(KEYS, terms, strict=True)}
    return {**plan, "total": n_params * sum(terms)}


def to_gb(nbytes):
    return nbytes * 1e-9 if isinstance(nbytes, float) else nbytes / 1_000_000_000


def to_gib(nbytes):
    return nbytes / (1 << 30)


def _each(n_params, stage):
    """Return the bytes of every part of bf16_mixed, and whether the stage shards it."""
    if stage not in (0, 1, 2, 3):
        raise ValueError(f"no such stage: {stage}")
    plan = training_state(n_params, "bf16_mixed")
    first = {"weights": 3, "grads": 2}
    return [(plan[key], stage >= first.get(key, 1)) for key in KEYS]


def zero_bytes_per_gpu(n_params, stage, world):
    return sum(size / world if sharded else size for size, sharded in _each(n_params, stage))


def min_gpus(n_params, usable_bytes, stage=3):
    parts = _each(n_params, stage)
    free = usable_bytes - sum(size for size, sharded in parts if not sharded)
    shared = sum(size for size, sharded in parts if sharded)
    if free < 0 or (shared and not free):
        return None
    if not shared:
        return 1
    whole, rest = divmod(shared, free)
    return whole + bool(rest)


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
