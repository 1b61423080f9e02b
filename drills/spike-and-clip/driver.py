"""Lists of gradients, steps on batches that are written out, the run of task.py, and logs."""

import numpy as np
import optim
import task


def _copied(array, strided):
    """A writeable copy; with `strided` some columns of a wider array, which no vector can view."""
    if not strided or array.ndim == 0:
        return np.array(array)
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1), array.dtype)
    view = wide[..., 1::2]
    view[...] = array
    return view


def clipped(program, a, b, c, max_norm, strided):
    """The three arrays after `clip`, and what it returned."""
    grads = [_copied(g, strided) for g in (a, b, c)]
    norm = program.clip(list(grads), max_norm)
    return (*grads, float(norm))


class _Steps:
    """Steps on a loss and gradients that are given for each, and what they leave.

    The sum of the weights is added to the loss, so that it matters when somebody asks for it.
    """

    def __init__(self, program, opt, params, losses, grads, max_norm, doublings=0):
        self.times = 2.0**doublings
        self.after, self.logs, self.moments, self.counts = [], [], [], []
        for batch in zip(losses, *grads, strict=True):
            self.logs.append(program.train_step(params, batch, self.loss_and_grads, opt, max_norm))
            self.after.append([np.array(p) for p in params])
            moments = (opt.m, opt.v) if isinstance(opt, optim.Adam) else (opt.velocity,)
            self.moments.append(np.concatenate([m.ravel() for kind in moments for m in kind]))
            self.counts.append(getattr(opt, "t", 0))

    def loss_and_grads(self, params, batch):
        loss, *grads = batch
        grads = [np.array(g) for g in grads]
        for g in grads:
            g *= self.times
        return float(loss) + sum(float(p.sum()) for p in params), grads

    def weights(self):
        return tuple(np.stack(w) for w in zip(*self.after, strict=True))

    def log(self, name):
        return [float(info[name]) for info in self.logs]

    def skipped(self):
        return [bool(info["skipped"]) for info in self.logs]


def logged(program, p, q, losses, grads_p, grads_q, max_norm):
    """Weights after each step of SGD with momentum, stacked, and the logged losses and norms."""
    params = [np.array(p), np.array(q)]
    opt = optim.SGD(params, lr=0.5, momentum=0.9)
    steps = _Steps(program, opt, params, losses, (grads_p, grads_q), max_norm)
    return (*steps.weights(), steps.log("loss"), steps.log("grad_norm"))


def guarded(program, p, q, losses, grads_p, grads_q, max_norm, doublings):
    """Weights after each step of SGD without momentum, and which steps were skipped."""
    params = [np.array(p), np.array(q)]
    opt = optim.SGD(params, lr=0.5)
    steps = _Steps(program, opt, params, losses, (grads_p, grads_q), max_norm, doublings)
    return (*steps.weights(), steps.skipped())


def remembered(program, p, q, losses, grads_p, grads_q, max_norm):
    """Weights, moments and count of Adam after each step, and which steps were skipped."""
    params = [np.array(p), np.array(q)]
    opt = optim.Adam(params, lr=0.1)
    steps = _Steps(program, opt, params, losses, (grads_p, grads_q), max_norm)
    return (*steps.weights(), np.stack(steps.moments), steps.counts, steps.skipped())


def trained(program, fault, seeds):
    """Return the losses of all batches of the run with SGD."""
    params = task.start(int(seeds[0]))
    opt = optim.SGD(params, lr=0.1)
    losses, _ = task.run(program.train_step, params, opt, fault, seed=int(seeds[0]))
    return [float(loss) for loss in losses]


def means(losses):
    """Return the mean loss of each 50 batches, the bad batch left out."""
    return [float(np.mean([x for i, x in enumerate(losses[k : k + 50], k) if i != task.BAD]))
            for k in range(0, len(losses), 50)]  # fmt: skip


def _flags(found, steps):
    flags = np.zeros(steps, dtype=np.int64)
    for step in found:
        flags[int(step)] = 1
    return flags, len(found)


def spikes(program, norms, window, factor):
    """Whether each step is a spike, and how many there are."""
    found = program.find_spikes([float(n) for n in norms], window, factor)
    return _flags(found, len(norms))


def usual_spikes(program, low, high, end):
    """The same with the window and the factor left out, for three logs one after another."""
    norms = [float(n) for n in np.concatenate([low, high, end])]
    return _flags(program.find_spikes(norms), len(norms))


def why(program):
    """WHY, the letters by question; None where there are no answers."""
    return getattr(program, "WHY", None)
