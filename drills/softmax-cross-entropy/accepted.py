# %% einsum-and-one-hot
"""Style: einsum for every sum, and a one-hot matrix by comparison with arange."""

import numpy as np

def log_softmax(z):
    m = z.max(-1)
    s = z - m[:, None]
    total = np.einsum("bc->b", np.exp(s))
    return s - np.log(total)[:, None]

def dloss_dp(p, y):
    g = np.zeros_like(p)
    some = y > 0
    g[some] = -y[some] / p[some]
    return g

def softmax_jacobian(p):
    eye = np.eye(p.size, dtype=p.dtype)
    return np.einsum("i,ij->ij", p, eye) - np.einsum("i,j->ij", p, p)

def contract(jacobian, g):
    return np.einsum("ij,i->j", jacobian, g)

def _one_hot(z, target):
    return np.arange(z.shape[1]) == target[:, None]

def cross_entropy(z, target):
    return float(-np.sum(log_softmax(z), where=_one_hot(z, target)) / len(target))

def cross_entropy_grad(z, target):
    difference = np.exp(log_softmax(z)) - _one_hot(z, target)
    return np.einsum("bc,b->bc", difference, np.full(len(z), 1 / max(len(z), 1), z.dtype))

def dloss_dz(p, y):
    return np.einsum("k,j->j", y, p) - y

def softmax_vjp(p, g):
    return np.einsum("bc,bc->bc", p, g - np.einsum("bc,bc->b", p, g)[:, None])

WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}

# %% float64-inside
"""Style: everything is computed in float64 and cast to the dtype of the input at the end."""

import numpy as np

def _wide(array):
    return np.array(array, dtype=np.float64)

def log_softmax(z):
    wide = _wide(z)
    wide -= wide.max(axis=-1, keepdims=True)
    wide -= np.log(np.exp(wide).sum(axis=-1, keepdims=True))
    return wide.astype(z.dtype)

def dloss_dp(p, y):
    wide = np.zeros(p.shape)
    np.divide(_wide(-y), _wide(p), out=wide, where=y != 0)
    return wide.astype(p.dtype)

def softmax_jacobian(p):
    wide = _wide(p)
    return (np.diag(wide) - np.outer(wide, wide)).astype(p.dtype)

def contract(jacobian, g):
    return (_wide(jacobian).T @ _wide(g)).astype(jacobian.dtype)

def cross_entropy(z, target):
    lp = log_softmax(_wide(z))
    return -lp[np.arange(len(lp)), target].mean()

def cross_entropy_grad(z, target):
    out = np.zeros(z.shape, z.dtype)
    for row in range(len(z)):  # a row at a time: the whole batch in float64 would be twice as much
        p = np.exp(log_softmax(_wide(z[row : row + 1])))[0]
        p[target[row]] -= 1
        out[row] = p / len(z)
    return out

def dloss_dz(p, y):
    return (_wide(p) * _wide(y).sum() - _wide(y)).astype(p.dtype)

def softmax_vjp(p, g):
    out = np.zeros(p.shape, p.dtype)
    for row, (probabilities, incoming) in enumerate(zip(p, g)):
        wide = _wide(probabilities)
        out[row] = wide * (_wide(incoming) - wide @ _wide(incoming))
    return out

WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}

# %% where-and-take-along-axis
"""Style: np.where and take_along_axis."""

import numpy as np

def log_softmax(z):
    top = np.max(z, axis=1, keepdims=True)
    return z - top - np.log(np.sum(np.exp(z - top), axis=1, keepdims=True))

def dloss_dp(p, y):
    safe = np.where(y == 0, np.ones_like(p), p)
    return np.where(y == 0, np.zeros_like(p), -y / safe)

def softmax_jacobian(p):
    return p[:, None] * (np.eye(len(p), dtype=p.dtype) - p[None, :])

def contract(jacobian, g):
    return (jacobian * g[:, None]).sum(axis=0)

def cross_entropy(z, target):
    return -np.take_along_axis(log_softmax(z), target[:, None], axis=1).mean()

def cross_entropy_grad(z, target):
    p = np.exp(log_softmax(z))
    hit = np.take_along_axis(p, target[:, None], axis=1) - 1
    np.put_along_axis(p, target[:, None], hit, axis=1)
    return p / max(len(z), 1)

def dloss_dz(p, y):
    return np.where(p == 0, -y, p * y.sum() - y)

def softmax_vjp(p, g):
    return p * (g - (p[:, None, :] @ g[:, :, None])[:, 0])

WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}

# %% by-hand-in-a-lecture
# part: 1
"""Style: a lecture that goes backward through every intermediate by hand."""

import numpy as np

def log_softmax(logits):
    logit_maxes = logits.max(1, keepdims=True)
    norm_logits = logits - logit_maxes
    counts = np.exp(norm_logits)
    counts_sum = counts.sum(1, keepdims=True)
    return np.log(counts * counts_sum**-1)

def cross_entropy(logits, Yb):
    n = logits.shape[0]
    return -log_softmax(logits)[range(n), Yb].mean()

def cross_entropy_grad(logits, Yb):
    n = logits.shape[0]
    dlogprobs = np.zeros_like(logits)
    dlogprobs[range(n), Yb] = -1.0 / n
    counts = np.exp(logits - logits.max(1, keepdims=True))
    counts_sum = counts.sum(1, keepdims=True)
    probs = counts * counts_sum**-1
    dprobs = (1.0 / probs) * dlogprobs
    dcounts = counts_sum**-1 * dprobs
    dcounts_sum = (-(counts_sum**-2)) * (counts * dprobs).sum(1, keepdims=True)
    dcounts += np.ones_like(counts) * dcounts_sum
    return counts * dcounts

def dloss_dp(p, y):
    return (1.0 / p) * -y

def softmax_jacobian(p):
    return np.eye(len(p)) * p[:, None] - p[:, None] @ p[None, :]

def contract(jacobian, g):
    return (jacobian * g[:, None]).sum(0)

def dloss_dz(p, y):
    return contract(softmax_jacobian(p), dloss_dp(p, y))

# %% clipped-probabilities
# part: 1
"""Style: a small framework's layers, whose probabilities are clipped at 1e-7."""

import numpy as np

EPSILON = 1e-7

class Softmax:
    def forward(self, inputs):
        exp_values = np.exp(inputs - np.max(inputs, axis=1, keepdims=True))
        self.output = exp_values / np.sum(exp_values, axis=1, keepdims=True)
        return self.output

    @staticmethod
    def jacobian(single_output):
        single_output = single_output.reshape(-1, 1)
        return np.diagflat(single_output) - single_output @ single_output.T

class CategoricalCrossentropy:
    def forward(self, y_pred, y_true):
        clipped = np.clip(y_pred, EPSILON, 1 - EPSILON)
        return np.mean(-np.log(clipped[range(len(y_pred)), y_true]))

    def backward(self, y_pred, y_true):
        dinputs = y_pred.copy()
        dinputs[range(len(y_pred)), y_true] -= 1
        return dinputs / len(y_pred)

def log_softmax(z):
    return np.log(np.clip(Softmax().forward(z), EPSILON, 1 - EPSILON))

def cross_entropy(z, target):
    return CategoricalCrossentropy().forward(Softmax().forward(z), target)

def cross_entropy_grad(z, target):
    return CategoricalCrossentropy().backward(Softmax().forward(z), target)

def dloss_dp(p, y):
    return -(y / p)

def softmax_jacobian(p):
    return Softmax.jacobian(p)

def contract(jacobian, g):
    return jacobian.T.dot(g)

def dloss_dz(p, y):
    return np.sum(y) * p - y

# %% course-assignment
# part: 1
"""Style: a course assignment, with loops over the rows and a one-hot matrix for the gradient."""

import numpy as np

def softmax(z):
    exps = np.exp(z - np.max(z))
    return exps / np.sum(exps)

def dloss_dp(p, y):
    return -y / p

def softmax_jacobian(p):
    s = p.reshape(-1, 1)
    return np.diagflat(s) - np.dot(s, s.T)

def contract(jacobian, g):
    return np.dot(g, jacobian)

def dloss_dz(p, y):
    return contract(softmax_jacobian(p), dloss_dp(p, y))

def log_softmax(z):
    return np.array([np.log(softmax(row)) for row in z])

def cross_entropy(X, y):
    num_train = X.shape[0]
    loss = 0.0
    for i in range(num_train):
        loss += -np.log(softmax(X[i])[y[i]])
    loss /= num_train
    return loss

def cross_entropy_grad(X, y):
    num_train, num_classes = X.shape
    probs = np.array([softmax(row) for row in X])
    y_one_hot = np.zeros((num_train, num_classes))
    y_one_hot[np.arange(num_train), y] = 1
    return (probs - y_one_hot) / num_train
