"""Wrong: means of the pieces are averaged, and that of an empty piece is NaN."""
# named: mean-of-means

import numpy as np

class Accumulator:
    def __init__(self, E, U, pad):
        self.E, self.U, self.pad = E, U, pad
        self.clear()

    def clear(self):
        self.loss, self.count = np.float64(0), 0
        self.dE, self.dU = np.zeros_like(self.E), np.zeros_like(self.U)

    def add(self, tokens):
        for row in tokens:
            real = row[1:] != self.pad
            if real.any():
                self._add_row(row[:-1][real], row[1:][real])
        return self

    def _add_row(self, x, y):
        i = np.arange(y.size)
        z = self.E[x] @ self.U
        z = z - z.max(axis=-1)[:, None]
        p = np.exp(z)
        norm = p.sum(axis=-1)
        self.loss += (np.log(norm) - z[i, y]).sum()
        p /= norm[:, None]
        p[i, y] -= 1
        for source, g in zip(x, p @ self.U.T):
            self.dE[source] += g
        self.dU += np.tensordot(self.E[x], p, (0, 0))
        self.count += y.size

    def divided(self, by):
        return self.loss / by, self.dE / by, self.dU / by

    def mean(self):
        with np.errstate(invalid="ignore"):
            return self.divided(np.float64(self.count))

def loss_and_grad(E, U, tokens, pad=0):
    return Accumulator(E, U, pad).add(tokens).mean()

def step(E, U, pieces, lr, pad=0):
    loss, dE, dU = 0.0, 0.0, 0.0
    for tokens in pieces:
        parts = [part / len(pieces) for part in loss_and_grad(E, U, tokens, pad)]
        loss, dE, dU = loss + parts[0], dE + parts[1], dU + parts[2]
    return E - lr * dE, U - lr * dU, loss

def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for start in range(0, len(pieces), accumulate):
        E, U, loss = step(E, U, pieces[start : start + accumulate], lr, pad)
        losses.append(loss)
    return E, U, losses

def rank_gradient(E, U, tokens, counts, pad=0):
    return Accumulator(E, U, pad).add(tokens).divided(sum(counts) / len(counts))[1:]
