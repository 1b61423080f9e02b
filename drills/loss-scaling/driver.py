"""Loops around the steps. p and q are two parameters throughout, S steps, K micro-batches.

Gradients are true ones where a scale adapts itself: they are multiplied by the program's scale and
rounded to float16, as a backward pass would give them. Results are copies.
"""

import numpy as np

SPOILED = (0, 1)  # the entry of q's gradient in which an overflow is


def halves(_program, *arrays):
    """Return float16 copies."""
    return [a.astype(np.float16) for a in arrays]


def micro_batches(program, p, q, next_p, next_q):
    """Return the gradients of two micro-batches, in float16."""
    return [halves(program, p, q), halves(program, next_p, next_q)]


def gave(arrays):
    """Return copies of what a step returned for p and q."""
    p, q = arrays
    return np.array(p), np.array(q)


def one(program, p, q, grad_p, grad_q, scale, lr):
    """Return new and half of one step, for p and q, from gradients that are scaled."""
    new, half = program.step([p, q], halves(program, grad_p, grad_q), scale, lr)
    return *gave(new), *gave(half)


def many(program, p, q, grads_p, grads_q, scale, lr):
    """Return the weights after each of S steps, and half after the last."""
    master, after = [p, q], []
    for g, h in zip(grads_p, grads_q, strict=True):
        master, half = program.step(list(master), halves(program, g, h), scale, lr)
        after.append(gave(master))
    return *(np.stack(w) for w in zip(*after, strict=True)), *gave(half)


def backward(program, state, g, h, spoiled):
    """Return the float16 gradients of the scaled loss, with an overflow where it is asked for."""
    scale = float(program.loss_scale(state))
    grads = [(a * scale).astype(np.float16) for a in (g, h)]
    if spoiled:
        grads[1][SPOILED] = np.inf
    return grads


class Training:
    """The weights, the state and what has been seen of them."""

    def __init__(self, program, p, q, scale, growth, backoff, interval):
        """Begin with a scale."""
        self.program, self.master, self.half = program, [p, q], None
        self.state = program.init(scale, growth, backoff, interval)
        self.scales, self.after = [self.scale()], []

    def scale(self):
        """Return the scale for the next loss."""
        return float(self.program.loss_scale(self.state))

    def take(self, result):
        """Go on with what a step returned."""
        new, half, self.state = result
        self.master, self.half = list(new), gave(half)
        self.scales.append(self.scale())
        self.after.append(gave(new))

    def results(self):
        """Return the scales (S + 1), and the weights after each step."""
        return self.scales, *(np.stack(w) for w in zip(*self.after, strict=True))


def train(program, p, q, grads_p, grads_q, overflows, scale, growth, backoff, interval, lr):
    """Return the scales, the weights after each step, and half after the last."""
    run = Training(program, p, q, scale, growth, backoff, interval)
    for g, h, spoiled in zip(grads_p, grads_q, overflows, strict=True):
        grads = backward(program, run.state, g, h, spoiled)
        run.take(program.train_step(list(run.master), grads, run.state, lr))
    return *run.results(), *run.half


def two(program, p, q, grads_p, grads_q, overflows, scale, growth, backoff, interval, lr):
    """Return the scales of two runs that take turns; the second begins with twice the scale."""
    runs = [Training(program, p, q, s, growth, backoff, interval) for s in (scale, 2 * scale)]
    for turn, (g, h, spoiled) in enumerate(zip(grads_p, grads_q, overflows, strict=True)):
        run = runs[turn % 2]
        grads = backward(program, run.state, g, h, spoiled)
        run.take(program.train_step(list(run.master), grads, run.state, lr))
    return runs[0].scales, runs[1].scales


def big(program, p, q, grads_p, grads_q, overflows, scale, growth, backoff, interval, lr, max_norm):
    """Return what `train` does, for S big steps; gradients are (S, K, ...), overflows (S, K)."""
    run = Training(program, p, q, scale, growth, backoff, interval)
    for several in zip(grads_p, grads_q, overflows, strict=True):
        batches = [
            backward(program, run.state, g, h, bad) for g, h, bad in zip(*several, strict=True)
        ]
        run.take(program.big_step(list(run.master), batches, run.state, lr, max_norm))
    return *run.results(), *run.half
