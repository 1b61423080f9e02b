"""The cosine begins at step 0 and is cut by the warm-up."""


def lr_at(step, peak, warmup, total):
    if step <= warmup:
        return peak * step / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * min(1.0, step / total)))
