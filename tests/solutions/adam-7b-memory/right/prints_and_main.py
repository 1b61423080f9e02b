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


def min_gpus(n_params, gpu_bytes, stage=3):
    whole, split = _terms(n_params, stage)
    world = 1
    while whole * world + split > gpu_bytes * world:
        if world % 1000 == 0:
            print("not yet at", world)
        world += 1
        if whole >= gpu_bytes:
            return None
    return world


def _terms(n_params, stage):
    if stage not in (0, 1, 2, 3):
        raise ValueError(stage)
    split = sum([12, 2, 2][:stage])
    return (16 - split) * n_params, split * n_params


if __name__ == "__main__":
    print(training_state(7_000_000_000, "bf16_mixed"))
    raise SystemExit(min_gpus(7_000_000_000, 24_000_000_000))
