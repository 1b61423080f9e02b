"""The warm-up has one step more, so that the peak comes after it."""

right_lr_at = lr_at


def lr_at(step, peak, warmup, total):
    if step <= warmup:
        return peak * step / (warmup + 1)
    return right_lr_at(step, peak, warmup, total)
