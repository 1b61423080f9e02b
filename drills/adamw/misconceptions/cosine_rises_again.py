"""Nothing ends the cosine at `total`."""


def lr_at(step, peak, warmup, total):
    if step <= warmup:
        return peak * step / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))
