"""After the warm-up the rate falls along a straight line."""


def lr_at(step, peak, warmup, total):
    if step < warmup:
        return peak * step / warmup
    return peak * max(0.0, (total - step) / (total - warmup))
