"""As in write-ups of mixed precision: model and master copies, an overflow check by the sum."""

import numpy as np


def has_overflow(grads):
    for g in grads:
        total = float(g.astype(np.float64).sum())
        if total in (float("inf"), float("-inf")) or total != total:
            return True
    return False


def step(master, grads, scale, lr):
    if has_overflow(grads):
        print("overflow, skipping step")
        master_params = [p.copy() for p in master]
    else:
        master_grads = [g.astype("float32") / scale for g in grads]
        master_params = [p - lr * g for p, g in zip(master, master_grads)]
    model_params = [p.astype("float16") for p in master_params]
    return master_params, model_params
