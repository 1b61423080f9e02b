# %% callable_instances
"""Style: instances of classes with __call__ take the place of functions."""

import numpy as np


class LogSoftmax:
    def __call__(self, z):
        shifted = z - z.max(axis=self.axis, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=self.axis, keepdims=True))

    def __init__(self, axis):
        self.axis = axis


class Step:
    def __init__(self, rule):
        self.rule = rule

    def __call__(self, first, second=None):
        return self.rule(first) if second is None else self.rule(first, second)


class CrossEntropy:
    def __init__(self, log_probabilities):
        self.log_probabilities = log_probabilities

    def split(self, z, target, ignore_index):
        rows = np.where(target != ignore_index)[0]
        return rows, target[rows], self.log_probabilities(z)

    def __call__(self, z, target, ignore_index=-100):
        rows, classes, lp = self.split(z, target, ignore_index)
        return -lp[rows, classes].mean() if rows.size else 0.0


class CrossEntropyGradient(CrossEntropy):
    def __call__(self, z, target, ignore_index=-100):
        rows, classes, lp = self.split(z, target, ignore_index)
        grad = np.zeros(lp.shape, lp.dtype)
        grad[rows] = np.exp(lp[rows])
        grad[rows, classes] -= 1
        return grad / max(rows.size, 1)


log_softmax = LogSoftmax(axis=-1)
dloss_dp = Step(lambda p, y: np.where(y == 0, 0, -y / np.where(y == 0, 1, p)).astype(p.dtype))
softmax_jacobian = Step(lambda p: np.diag(p) - p[:, None] * p)
contract = Step(lambda jacobian, g: g @ jacobian)
cross_entropy = CrossEntropy(log_softmax)
cross_entropy_grad = CrossEntropyGradient(log_softmax)

dloss_dz = Step(lambda p, y: p * y.sum() - y)
softmax_vjp = Step(lambda p, g: p * g - p * (p * g).sum(axis=-1, keepdims=True))


class Answers(dict):
    """Letters by question."""


WHY = Answers({"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"})


# %% closures
"""Style: closures built by factories, nothing kept between calls."""

import math

import numpy as np


def _along(axis):
    def stable(z):
        top = z.max(axis=axis, keepdims=True)
        return (z - top) - np.log(np.exp(z - top).sum(axis=axis, keepdims=True))

    return stable


def _over_counted(reduce):
    def run(z, target, ignore_index=-100):
        def counted():
            for row, label in enumerate(target):
                if label != ignore_index:
                    yield row, int(label)

        return reduce(z, list(counted()))

    return run


def _loss(z, counted):
    if not counted:
        return 0.0
    lp = log_softmax(z)
    return sum(float(-lp[place]) for place in counted) / len(counted)


def _gradient(z, counted):
    grad = np.zeros_like(z, subok=False)
    lp = log_softmax(z)
    for row, label in counted:
        grad[row] = np.exp(lp[row])
        grad[row, label] -= 1
        grad[row] /= len(counted)
    return grad


log_softmax = _along(-1)
cross_entropy = _over_counted(_loss)
cross_entropy_grad = _over_counted(_gradient)


def dloss_dp(p, y):
    out = p.copy()
    out[y != 0] = -y[y != 0] / p[y != 0]
    out[y == 0] = 0
    return out


def softmax_jacobian(p):
    def entry(i, j):
        return p[i] * ((i == j) - p[j])

    return np.array([[entry(i, j) for j in range(len(p))] for i in range(len(p))], dtype=p.dtype)


def contract(jacobian, g):
    return np.array([np.vdot(column, g) for column in jacobian.T], dtype=jacobian.dtype)


def dloss_dz(p, y):
    total = math.fsum(y)
    return np.array([total * float(p_k) - float(y_k) for p_k, y_k in zip(p, y)], dtype=p.dtype)


def _of_each_row(rule):
    def run(p, g):
        out = np.empty_like(p, subok=False, order="C")
        for row in range(len(p)):
            out[row] = rule(p[row], g[row])
        return out

    return run


softmax_vjp = _of_each_row(lambda p, g: p * (g - np.vdot(p, g)))

WHY = dict([("loss-fell", "b"), ("would-have-shown-it", "a"), ("transpose", "c")])


# %% dataclass_of_a_batch
"""Style: a frozen dataclass for the counted part of a batch, with methods for loss and gradient."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Counted:
    z: np.ndarray
    rows: np.ndarray
    labels: np.ndarray

    @classmethod
    def of(cls, z: np.ndarray, target: np.ndarray, ignore_index: int) -> Counted:
        rows = np.array([i for i, t in enumerate(target) if t != ignore_index], dtype=np.intp)
        return cls(z, rows, target[rows].astype(np.intp))

    @cached_property
    def log_probabilities(self) -> np.ndarray:
        return log_softmax(self.z[self.rows])

    def loss(self) -> float:
        if not len(self.rows):
            return 0.0
        return float(-self.log_probabilities[np.arange(len(self.rows)), self.labels].mean())

    def gradient(self) -> np.ndarray:
        grad = np.zeros(self.z.shape, self.z.dtype)
        if len(self.rows):
            one_hot = (np.arange(self.z.shape[1]) == self.labels[:, None]).astype(self.z.dtype)
            grad[self.rows] = (np.exp(self.log_probabilities) - one_hot) / len(self.rows)
        return grad


def log_softmax(z):
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log1p(np.exp(shifted).sum(axis=-1, keepdims=True) - 1)


def dloss_dp(p, y):
    return np.nan_to_num(-y / np.where(y > 0, p, 1))


def softmax_jacobian(p):
    return np.diag(p) - np.kron(p, p).reshape(len(p), len(p))


def contract(jacobian, g):
    return np.matmul(jacobian.T, g)


def cross_entropy(z, target, ignore_index=-100):
    return Counted.of(z, target, ignore_index).loss()


def cross_entropy_grad(z, target, ignore_index=-100):
    return Counted.of(z, target, ignore_index).gradient()


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


# %% differences_of_logits
"""From differences of logits: log p_t = -log sum_k exp(z_k - z_t), the large ones taken out."""

from functools import reduce

import numpy as np


def log_softmax(z):
    columns = z.T
    top = reduce(np.maximum, columns)
    total = reduce(np.add, (np.exp(column - top) for column in columns))
    return np.stack([column - top - np.log(total) for column in columns], axis=1)


def dloss_dp(p, y):
    out = np.zeros(len(p), p.dtype)
    (some,) = np.nonzero(y)
    out[some] = -y[some] / p[some]
    return out


def softmax_jacobian(p):
    return np.diagflat(p) - p[:, None] @ p[None, :]


def contract(jacobian, g):
    return np.einsum("ij,i->j", jacobian, g)


class _Counted:
    def __init__(self, z, target, ignore_index):
        self.rows = np.array(
            [i for i, t in enumerate(target.tolist()) if t != ignore_index], np.intp
        )
        self.labels = np.array([target[i] for i in self.rows], np.intp)
        self.log_p = log_softmax(z[self.rows])

    def loss(self):
        return (
            np.negative(self.log_p[np.arange(self.rows.size), self.labels]).sum() / self.rows.size
        )

    def gradient(self, out):
        out[self.rows] = np.exp(self.log_p) / self.rows.size
        np.subtract.at(out, (self.rows, self.labels), np.array(1 / self.rows.size, out.dtype))
        return out


def cross_entropy(z, target, ignore_index=-100):
    counted = _Counted(z, target, ignore_index)
    return counted.loss() if counted.rows.size else 0.0


def cross_entropy_grad(z, target, ignore_index=-100):
    counted, out = _Counted(z, target, ignore_index), np.zeros(z.shape, z.dtype)
    return counted.gradient(out) if counted.rows.size else out


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


# %% in_place_on_own_copies
"""Style: in-place arithmetic and out= arguments, on copies of our own."""

import numpy as np


def log_softmax(z):
    out = z.copy()
    out -= out.max(axis=1, keepdims=True)
    scratch = np.exp(out)
    total = scratch.sum(axis=1, keepdims=True)
    np.log(total, out=total)
    out -= total
    return out


def dloss_dp(p, y):
    out = y.copy()
    np.negative(out, out=out)
    np.divide(out, p, out=out, where=out != 0)
    return out


def softmax_jacobian(p):
    out = np.empty((p.size, p.size), dtype=p.dtype)
    np.multiply(p[:, None], p, out=out)
    np.negative(out, out=out)
    diagonal = np.einsum("ii->i", out)
    diagonal += p
    return out


def contract(jacobian, g):
    out = np.empty(g.shape, dtype=g.dtype)
    np.matmul(jacobian.T.copy(), g.copy(), out=out)
    return out


def cross_entropy(z, target, ignore_index=-100):
    labels = np.array(target, dtype=np.int64)
    kept = labels != ignore_index
    labels[~kept] = 0
    losses = log_softmax(z)[np.arange(labels.size), labels]
    losses[~kept] = 0
    np.negative(losses, out=losses)
    return float(losses.sum()) / max(int(kept.sum()), 1)


def cross_entropy_grad(z, target, ignore_index=-100):
    labels = np.array(target, dtype=np.int64)
    kept = labels != ignore_index
    labels[~kept] = 0
    out = log_softmax(z)
    np.exp(out, out=out)
    out[np.arange(labels.size), labels] -= 1
    out /= max(int(kept.sum()), 1)
    out[~kept] = 0
    return out


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


# %% logaddexp_reduce
"""Style: the normalizer by np.logaddexp.reduce, which needs no maximum of our own."""

import numpy as np


def log_softmax(z):
    # The maximum is taken off first so that the last subtraction loses no digits.
    shifted = z - z.max(axis=1)[:, np.newaxis]
    return shifted - np.logaddexp.reduce(shifted, axis=1)[:, np.newaxis]


def dloss_dp(p, y):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(y == 0, 0, -y / p).astype(p.dtype)


def softmax_jacobian(p):
    jacobian = -np.multiply.outer(p, p)
    jacobian.ravel()[:: p.size + 1] += p
    return jacobian


def contract(jacobian, g):
    return np.dot(g, jacobian)


def cross_entropy(z, target, ignore_index=-100):
    keep = target != ignore_index
    if not keep.any():
        return 0.0
    z, target = z[keep], target[keep]
    return float(np.mean([-row[t] for row, t in zip(log_softmax(z), target, strict=True)]))


def cross_entropy_grad(z, target, ignore_index=-100):
    keep = target != ignore_index
    grad = np.zeros(z.shape, z.dtype)
    if keep.any():
        inner = np.exp(log_softmax(z[keep]))
        inner[np.arange(len(inner)), target[keep]] -= 1
        grad[keep] = inner / len(inner)
    return grad


def dloss_dz(p, y):
    return np.add.reduce(y) * p - y


def softmax_vjp(p, g):
    mean = np.add.reduce(p * g, axis=1, keepdims=True)
    return np.multiply(np.subtract(g, mean), p)


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


# %% online_normalizer
"""One pass per row with a running maximum and a running sum, as a fused kernel does it."""

import math

import numpy as np


def _normalizer(row):
    """Return the maximum of a row, and the logarithm of the sum of exponentials below it."""
    top, total = -math.inf, 0.0
    for value in row.tolist():
        if value > top:
            total = total * math.exp(top - value) + 1.0
            top = value
        elif value > -math.inf:
            total += math.exp(value - top)
    return top, math.log(total)


def log_softmax(z):
    out = np.empty(z.shape, z.dtype)
    for i, row in enumerate(z):
        top, rest = _normalizer(row)
        out[i] = [(value - top) - rest for value in row.tolist()]
    return out


def dloss_dp(p, y):
    return np.array([-b / a if b else 0.0 for a, b in zip(p, y, strict=True)], p.dtype)


def softmax_jacobian(p):
    size = len(p)
    out = np.empty((size, size), p.dtype)
    for i in range(size):
        for j in range(size):
            out[i, j] = p[i] - p[i] * p[i] if i == j else -p[i] * p[j]
    return out


def contract(jacobian, g):
    return np.add.reduce(jacobian * g[:, None], axis=0)


def cross_entropy(z, target, ignore_index=-100):
    losses = [-row[t] for row, t in zip(log_softmax(z), target, strict=True) if t != ignore_index]
    return math.fsum(losses) / len(losses) if losses else 0.0


def cross_entropy_grad(z, target, ignore_index=-100):
    counted = [i for i, t in enumerate(target) if t != ignore_index]
    grad = np.zeros_like(z, order="C")
    for i in counted:
        row = np.exp(log_softmax(z[i : i + 1])[0])
        row[target[i]] -= 1
        grad[i] = row / len(counted)
    return grad


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


# %% partials
"""Style: functools.partial over one general kernel that gives the loss and the gradient."""

from functools import partial

import numpy as np


def _normalize(z, axis, logarithm):
    shifted = z - np.amax(z, axis=axis, keepdims=True)
    e = np.exp(shifted)
    total = e.sum(axis=axis, keepdims=True)
    return shifted - np.log(total) if logarithm else e / total


def _kernel(z, target, ignore_index=-100, *, want):
    rows = np.flatnonzero(np.asarray(target != ignore_index))
    picked = (rows, target[rows])
    if want == "loss":
        return float(np.average(-log_softmax(z)[picked])) if rows.size else 0.0
    p = _normalize(z, -1, logarithm=False)
    p[picked] -= 1
    grad = np.zeros(z.shape, z.dtype)
    if rows.size:
        grad[rows] = p[rows] / rows.size
    return grad


log_softmax = partial(_normalize, axis=-1, logarithm=True)
cross_entropy = partial(_kernel, want="loss")
cross_entropy_grad = partial(_kernel, want="gradient")


def dloss_dp(p, y):
    return np.array([-w / q if w else 0 for q, w in zip(p, y, strict=True)], dtype=p.dtype)


def softmax_jacobian(p):
    columns = [-p * p[j] for j in range(len(p))]
    for j, column in enumerate(columns):
        column[j] += p[j]
    return np.stack(columns, axis=1)


def contract(jacobian, g):
    return np.tensordot(g, jacobian, axes=(0, 0))


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


# %% plain_loops
"""Style: plain loops over Python floats, arrays only at the borders."""

import math

import numpy as np


def _row(values):
    top = max(values)
    total = math.fsum(math.exp(v - top) for v in values)
    return [(v - top) - math.log(total) for v in values]


def log_softmax(z):
    out = np.empty(z.shape, dtype=z.dtype)
    for b in range(z.shape[0]):
        out[b] = _row([float(v) for v in z[b]])
    return out


def dloss_dp(p, y):
    out = np.zeros(len(p), dtype=p.dtype)
    for k in range(len(p)):
        if y[k] != 0:
            out[k] = -float(y[k]) / float(p[k])
    return out


def softmax_jacobian(p):
    size = len(p)
    out = np.empty((size, size), dtype=p.dtype)
    for i in range(size):
        for j in range(size):
            out[i, j] = float(p[i]) * ((1.0 if i == j else 0.0) - float(p[j]))
    return out


def contract(jacobian, g):
    size = len(g)
    out = np.empty(size, dtype=jacobian.dtype)
    for j in range(size):
        out[j] = math.fsum(float(jacobian[i, j]) * float(g[i]) for i in range(size))
    return out


def cross_entropy(z, target, ignore_index=-100):
    losses = []
    for b, t in enumerate(target.tolist()):
        if t != ignore_index:
            losses.append(-_row([float(v) for v in z[b]])[t])
    return math.fsum(losses) / len(losses) if losses else 0.0


def cross_entropy_grad(z, target, ignore_index=-100):
    labels = target.tolist()
    n = sum(t != ignore_index for t in labels)
    out = np.zeros(z.shape, dtype=z.dtype)
    for b, t in enumerate(labels):
        if t == ignore_index:
            continue
        for c, lp in enumerate(_row([float(v) for v in z[b]])):
            out[b, c] = (math.exp(lp) - (c == t)) / n
    return out


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


# %% rows_in_turn
"""Row by row, each from its own largest logit, and every sum a dot product."""

import numpy as np

WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


def dloss_dp(p, y):
    return np.divide(-y, p, out=np.zeros_like(p), where=y != 0)


def softmax_jacobian(p):
    return np.diag(p) - np.outer(p, p)


def contract(jacobian, g):
    return jacobian.T @ g


def dloss_dz(p, y):
    return y.sum() * p - y


def log_softmax(z):
    out = np.empty(z.shape, z.dtype)
    for row, values in zip(out, z):
        np.subtract(values, values.max(), out=row)
        row -= np.log(np.exp(row).sum())
    return out


def cross_entropy(z, target, ignore_index=-100):
    rows = np.flatnonzero(target != ignore_index)
    return -log_softmax(z)[rows, target[rows]].mean() if rows.size else 0.0


def cross_entropy_grad(z, target, ignore_index=-100):
    rows = np.flatnonzero(target != ignore_index)
    grad = np.zeros_like(z, subok=False)
    grad[rows] = np.exp(log_softmax(z[rows])) if rows.size else 0
    grad[rows, target[rows]] -= 1
    return grad / max(rows.size, 1)


def softmax_vjp(p, g):
    return np.stack([a * (b - a @ b) for a, b in zip(p, g)])


# %% scatter_add
"""Style: scatter-add with np.add.at, counting with bincount."""

import numpy as np


def log_softmax(z):
    shifted = np.subtract(z, np.maximum.reduce(z, axis=1, keepdims=True))
    return np.subtract(shifted, np.log(np.add.reduce(np.exp(shifted), axis=1, keepdims=True)))


def dloss_dp(p, y):
    g = np.zeros(p.shape, p.dtype)
    places = np.nonzero(y)[0]
    np.subtract.at(g, places, y[places] / p[places])
    return g


def softmax_jacobian(p):
    jacobian = np.zeros((p.size, p.size), p.dtype)
    i, j = np.indices(jacobian.shape)
    np.subtract.at(jacobian, (i, j), p[i] * p[j])
    np.add.at(jacobian, (np.arange(p.size), np.arange(p.size)), p)
    return jacobian


def contract(jacobian, g):
    out = np.zeros(jacobian.shape[1], jacobian.dtype)
    for row, weight in zip(jacobian, g, strict=True):
        out += weight * row
    return out


def cross_entropy(z, target, ignore_index=-100):
    keep = np.equal(target, ignore_index) == 0
    counted, n = np.bincount(keep.astype(np.intp), minlength=2).tolist()[0:2]
    if n == 0:
        return 0
    rows = np.arange(counted + n)[keep]
    return -np.add.reduce(log_softmax(z)[rows, target[rows].astype(np.intp)]) / n


def cross_entropy_grad(z, target, ignore_index=-100):
    rows = np.argwhere(target != ignore_index)[:, 0]
    grad = np.zeros(z.shape, z.dtype)
    if len(rows):
        grad[rows] += np.exp(log_softmax(z))[rows]
        np.add.at(grad, (rows, target[rows].astype(np.intp)), -1)
        grad /= len(rows)
    return grad


def dloss_dz(p, y):
    out = p * y.sum(dtype=p.dtype)
    np.subtract.at(out, np.arange(y.size), y)
    return out


def softmax_vjp(p, g):
    out = p * g
    out -= p * np.add.reduce(out, axis=1, keepdims=True)
    return out


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


# %% style_a
"""Style: that of finite_masks and others, repaired."""

import numpy as np


def log_softmax(z):
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def dloss_dp(p, y):
    return np.divide(-y, p, out=np.zeros_like(p), where=y != 0)


def softmax_jacobian(p):
    return np.diag(p) - np.outer(p, p)


def contract(jacobian, g):
    return jacobian.T @ g


def cross_entropy(z, target, ignore_index=-100):
    rows = np.flatnonzero(target != ignore_index)
    if rows.size == 0:
        return 0.0
    return float(-log_softmax(z)[rows, target[rows]].mean())


def cross_entropy_grad(z, target, ignore_index=-100):
    rows = np.flatnonzero(target != ignore_index)
    grad = np.zeros(z.shape, z.dtype)
    if rows.size == 0:
        return grad
    p = np.exp(log_softmax(z))
    p[rows, target[rows]] -= 1
    grad[rows] = p[rows] / rows.size
    return grad


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


# %% style_b
"""Style: that of vjp_by_matrices and others, repaired."""

import numpy as np

WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


def dloss_dp(p, y):
    return np.divide(-y, p, out=np.zeros_like(p), where=y != 0)


def softmax_jacobian(p):
    return np.diag(p) - np.outer(p, p)


def contract(jacobian, g):
    return jacobian.T @ g


def dloss_dz(p, y):
    return y.sum() * p - y


def log_softmax(z):
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def cross_entropy(z, target, ignore_index=-100):
    rows = np.flatnonzero(target != ignore_index)
    return -log_softmax(z)[rows, target[rows]].mean() if rows.size else 0.0


def cross_entropy_grad(z, target, ignore_index=-100):
    rows = np.flatnonzero(target != ignore_index)
    grad = np.zeros_like(z, subok=False)
    grad[rows] = np.exp(log_softmax(z[rows])) if rows.size else 0
    grad[rows, target[rows]] -= 1
    return grad / max(rows.size, 1)


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


# %% weights_per_row
"""Every row has a weight, 1/n or 0, and all else is done for the whole batch at once."""

import numpy as np


def _weights(target, ignore_index, dtype):
    counts = (target != ignore_index).astype(dtype)
    return counts / dtype.type(max(counts.sum(), 1))


def _safe(target, ignore_index):
    return np.where(target == ignore_index, 0, target).astype(np.intp)


def log_softmax(z):
    distance = z - np.amax(z, axis=1, keepdims=True)
    return distance - np.log(np.sum(np.exp(distance), axis=1, keepdims=True))


def dloss_dp(p, y):
    positive = y > 0
    return -y / np.where(positive, p, 1)


def softmax_jacobian(p):
    return (np.identity(p.size, p.dtype) - p) * p[:, None]


def contract(jacobian, g):
    return np.inner(jacobian.T, g)


def cross_entropy(z, target, ignore_index=-100):
    if not len(z):
        return 0.0
    weights = _weights(target, ignore_index, z.dtype)
    picked = np.choose(
        weights > 0, [0, log_softmax(z)[np.arange(len(z)), _safe(target, ignore_index)]]
    )
    return -float(picked @ weights)


def cross_entropy_grad(z, target, ignore_index=-100):
    if not len(z):
        return np.zeros(z.shape, z.dtype)
    weights = _weights(target, ignore_index, z.dtype)
    hot = np.equal.outer(_safe(target, ignore_index), np.arange(z.shape[1]))
    return (np.exp(log_softmax(z)) - hot) * weights[:, None]


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
