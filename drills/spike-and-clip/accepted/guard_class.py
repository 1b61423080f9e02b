"""An object that looks at a batch's gradients, and decides what becomes of them."""

import math

import numpy as np

WHY = dict(next="c", climb="a", stuck="b")


class Gradients:
    def __init__(self, arrays):
        self.arrays = arrays

    @property
    def finite(self):
        return not any((~np.isfinite(a)).any() for a in self.arrays)

    @property
    def norm(self):
        squares = (np.vdot(a, a) for a in map(np.float64, self.arrays))
        return math.sqrt(sum(squares))

    def shorten(self, limit):
        before = self.norm
        if before > limit:
            for a in self.arrays:
                a /= before / limit
        return before


def clip(grads, max_norm):
    return Gradients(grads).shorten(max_norm)


def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, arrays = loss_and_grads(params, batch)
    grads = Gradients(arrays)
    log = {"loss": loss, "grad_norm": math.inf, "skipped": False}
    if math.isfinite(loss) and grads.finite:
        log["grad_norm"] = grads.shorten(max_norm)
        opt.step(params, grads.arrays)
    else:
        log["skipped"] = True
    return log


class Alarm:
    def __init__(self, window, factor):
        self.window, self.factor, self.seen = window, factor, []

    def rings(self, norm):
        usual = [n for n in self.seen[-self.window :] if math.isfinite(n)]
        self.seen.append(norm)
        if math.isfinite(norm):
            return bool(usual) and norm > self.factor * np.median(usual)
        return True


def find_spikes(norms, window=100, factor=100.0):
    alarm = Alarm(window, factor)
    return [step for step, norm in enumerate(norms) if alarm.rings(norm)]
