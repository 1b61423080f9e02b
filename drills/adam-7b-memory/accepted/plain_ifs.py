"""Plain ifs; GPUs are counted one by one, in whole numbers."""


def training_state(n_params, recipe):
    if recipe == "bf16_mixed":
        w, g, m, v, c = 2, 2, 4, 4, 4
    elif recipe == "bf16_mixed_fp32grad":
        w, g, m, v, c = 2, 4, 4, 4, 4
    elif recipe == "bf16_no_master":
        w, g, m, v, c = 2, 2, 4, 4, 0
    elif recipe == "torch_pure_bf16":
        w, g, m, v, c = 2, 2, 2, 2, 0
    elif recipe == "torch_autocast":
        w, g, m, v, c = 4, 4, 4, 4, 0
    else:
        raise ValueError(recipe)
    return {
        "weights": w * n_params,
        "grads": g * n_params,
        "exp_avg": m * n_params,
        "exp_avg_sq": v * n_params,
        "master": c * n_params,
        "total": (w + g + m + v + c) * n_params,
    }


def to_gb(nbytes):
    return nbytes / 1e9


def to_gib(nbytes):
    return nbytes / 1024 / 1024 / 1024


def zero_bytes_per_gpu(n_params, stage, world):
    if stage == 0:
        return 16 * n_params
    if stage == 1:
        return 4 * n_params + 12 * n_params / world
    if stage == 2:
        return 2 * n_params + 14 * n_params / world
    if stage == 3:
        return 16 * n_params / world
    raise ValueError(stage)


def min_gpus(n_params, usable_bytes, stage=3):
    if stage == 0:
        whole, split = 16, 0
    elif stage == 1:
        whole, split = 4, 12
    elif stage == 2:
        whole, split = 2, 14
    elif stage == 3:
        whole, split = 0, 16
    else:
        raise ValueError(stage)
    world = 1
    while world <= 20000:
        if whole * n_params * world + split * n_params <= usable_bytes * world:
            return world
        world += 1
    return None


def fits(n_params, recipe, card_mib):
    if training_state(n_params, recipe)["total"] > card_mib * 1024 * 1024:
        return False
    return True


def fsdp_bytes(model, world):
    shard = model["params"] * 4 // world  # whole bytes
    return {
        "weights": shard,
        "grads": shard,
        "exp_avg": shard,
        "exp_avg_sq": shard,
        "gathered": 2 * 2 * model["largest_unit"] + (2 + 4) * model["largest_unit"],
    }


def activation_bytes(model, tokens, checkpoint):
    d = model["d"]
    kv = d // model["heads"] * model["kv_heads"]
    layer = 2 * d + 2 * d + 2 * d + 2 * kv + 2 * kv + 2 * d + 2 * d + 2 * d
    layer += 4 * 2 * model["f"]
    layer += 4 + 4 + 4 * model["heads"]
    head = 2 * d + 2 * d + 4 + 3 * 4 * model["vocab"]
    if checkpoint:
        total = model["layers"] * 2 * d
        if head > layer - 2 * d:
            total += head
        else:
            total += layer - 2 * d
    else:
        total = model["layers"] * layer + head
    return tokens * total


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    card = card_mib * 1024 * 1024
    used = sum(fsdp_bytes(model, world).values())
    room = card - card * headroom - used
    if room <= 0:
        return 0
    return room // activation_bytes(model, 1, checkpoint)
