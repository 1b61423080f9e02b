"""The cosine takes `total` steps after the warm-up."""


def lr_at(step, peak, warmup, total):
    if step <= warmup:
        return peak * step / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * min(1.0, (step - warmup) / total)))
