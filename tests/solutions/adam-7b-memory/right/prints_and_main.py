"""Prints its working and has a demonstration under __main__."""

import sys

PARTS = ["weights", "grads", "exp_avg", "exp_avg_sq", "master"]
SHEET = """
bf16_mixed           2 2 4 4 4
bf16_mixed_fp32grad  2 4 4 4 4
bf16_no_master       2 2 4 4 0
torch_pure_bf16      2 2 2 2 0
torch_autocast       4 4 4 4 0
"""


def training_state(n_params, recipe):
    print("planning", recipe, "for", n_params, "parameters")
    for line in SHEET.strip().splitlines():
        name, *columns = line.split()
        if name == recipe:
            break
    else:
        raise ValueError("not on the sheet: " + str(recipe))
    plan = {}
    for part, column in zip(PARTS, columns):
        plan[part] = int(column) * n_params
        print(f"  {part:>10} {plan[part]}", file=sys.stderr)
    plan["total"] = sum(plan.values())
    print("  total", plan["total"], flush=True)
    return plan


def to_gb(nbytes):
    print(nbytes, "bytes")
    return nbytes / 1000 / 1000 / 1000


def to_gib(nbytes):
    print(nbytes, "bytes")
    return nbytes / 1024**3


def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = _terms(n_params, stage)
    print(f"{whole} + {split} / {world}")
    return whole + split / world


def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = _terms(n_params, stage)
    world = 1
    while whole * world + split > usable_bytes * world:
        if world % 1000 == 0:
            print("not yet at", world)
        world += 1
        if whole >= usable_bytes:
            return None
    return world


def _terms(n_params, stage):
    if stage not in (0, 1, 2, 3):
        raise ValueError(stage)
    split = sum([12, 2, 2][:stage])
    return (16 - split) * n_params, split * n_params


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


if __name__ == "__main__":
    print(training_state(7_000_000_000, "bf16_mixed"))
    raise SystemExit(min_gpus(7_000_000_000, 24_000_000_000))
