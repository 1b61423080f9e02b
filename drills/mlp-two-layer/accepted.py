# %% closures
"""The cache is a function that knows all that backward needs."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}

def forward(x, W1, b1, W2, b2, act):
    def hidden():
        z = x @ W1.T + b1
        if act == "relu":
            return np.where(z > 0, z, np.zeros_like(z))
        with np.errstate(over="ignore"):
            return np.reciprocal(1 + np.exp(-z))

    h = hidden()

    def pull(grad_y):
        grad_h = grad_y @ W2
        grad_z = np.where(h > 0, grad_h, 0) if act == "relu" else grad_h * h * (1 - h)
        ones = np.ones(len(x), x.dtype)
        return grad_z @ W1, grad_z.T @ x, ones @ grad_z, grad_y.T @ h, ones @ grad_y

    return h @ W2.T + b2, pull

def half_squared_error(y, t, keep=None):
    if keep is None:
        keep = np.full(len(y), True)
    grad = np.zeros_like(y)
    grad[keep] = y[keep] - t[keep]
    rows = max(int(np.count_nonzero(keep)), 1)
    return 0.5 * float(np.vdot(grad, grad)) / rows, grad / rows

def backward(grad_y, cache):
    return cache(grad_y)

# %% einsum-and-z
"""Einsum throughout; z is kept, and h is computed from it again."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}

def _act(z, act):
    if act == "relu":
        return z * (z > 0)
    # The hyperbolic tangent never overflows.
    return 0.5 * np.tanh(0.5 * z) + 0.5

def forward(x, W1, b1, W2, b2, act):
    z = np.einsum("bd,md->bm", x, W1) + b1
    y = np.einsum("bm,om->bo", _act(z, act), W2) + b2
    return y, {"x": x, "z": z, "W": (W1, W2), "act": act}

def half_squared_error(y, t, keep=None):
    mask = np.ones(y.shape, bool) if keep is None else np.repeat(keep[:, None], y.shape[1], axis=1)
    residual = np.subtract(y, t, where=mask, out=np.zeros_like(y))
    count = int(mask[:, 0].sum())
    if count == 0:
        return 0.0, residual
    return np.einsum("bo,bo->", residual, residual) / (2 * count), residual / count

def backward(grad_y, cache):
    x, z, (W1, W2) = cache["x"], cache["z"], cache["W"]
    h = _act(z, cache["act"])
    slope = (z > 0).astype(z.dtype) if cache["act"] == "relu" else h - h * h
    grad_z = np.einsum("bo,om,bm->bm", grad_y, W2, slope)
    return (
        np.einsum("bm,md->bd", grad_z, W1),
        np.einsum("bm,bd->md", grad_z, x),
        np.einsum("bm->m", grad_z),
        np.einsum("bo,bm->om", grad_y, h),
        np.einsum("bo->o", grad_y),
    )

# %% float64-inside
"""Everything is computed in float64 and rounded once, at the end."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}

def sigmoid(z):
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-z))

def forward(x, W1, b1, W2, b2, act):
    dtype = x.dtype
    x, W1, b1, W2, b2 = (np.asarray(a, np.float64) for a in (x, W1, b1, W2, b2))
    z = x @ W1.T + b1
    h = sigmoid(z) if act == "sigmoid" else np.maximum(z, 0.0)
    return (h @ W2.T + b2).astype(dtype), (x, W1, W2, h, act == "sigmoid", dtype)

def half_squared_error(y, t, keep=None):
    weight = np.ones((len(y), 1)) if keep is None else keep[:, None].astype(float)
    weight = weight / max(weight.sum(), 1.0)
    residual = y.astype(np.float64) - np.where(weight > 0, t, y)
    return float((weight * residual**2).sum() / 2), (weight * residual).astype(y.dtype)

def backward(grad_y, cache):
    x, W1, W2, h, smooth, dtype = cache
    grad_y = grad_y.astype(np.float64)
    grad_z = grad_y @ W2 * (h * (1.0 - h) if smooth else h > 0)
    grads = grad_z @ W1, grad_z.T @ x, grad_z.sum(0), grad_y.T @ h, grad_y.sum(0)
    return tuple(g.astype(dtype) for g in grads)

# %% layers-as-objects
"""A small library of layers, each of which remembers what its own backward needs."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}

class Linear:
    def __init__(self, weight, bias):
        self.weight, self.bias = weight, bias

    def __call__(self, inputs):
        self.inputs = inputs
        return inputs @ self.weight.T + self.bias

    def pull(self, grad):
        return grad @ self.weight, grad.T @ self.inputs, grad.sum(0)

class Relu:
    def __call__(self, z):
        self.open = z > 0
        return np.where(self.open, z, 0)

    def pull(self, grad):
        return grad * self.open

class Sigmoid:
    def __call__(self, z):
        small = np.exp(-np.abs(z))  # never above 1
        self.h = np.where(z >= 0, 1, small) / (1 + small)
        return self.h

    def pull(self, grad):
        return grad * self.h * (1 - self.h)

class Network:
    def __init__(self, W1, b1, W2, b2, act):
        self.first, self.second = Linear(W1, b1), Linear(W2, b2)
        self.between = {"relu": Relu, "sigmoid": Sigmoid}[act]()

    def __call__(self, x):
        return self.second(self.between(self.first(x)))

    def pull(self, grad_y):
        grad_h, *second = self.second.pull(grad_y)
        grad_x, *first = self.first.pull(self.between.pull(grad_h))
        return (grad_x, *first, *second)

def forward(x, W1, b1, W2, b2, act):
    network = Network(W1, b1, W2, b2, act)
    return network(x), network

def half_squared_error(y, t, keep=None):
    index = np.arange(len(y)) if keep is None else np.flatnonzero(keep)
    grad = np.zeros_like(y)
    if not len(index):
        return 0.0, grad
    residual = y[index] - t[index]
    grad[index] = residual / len(index)
    return 0.5 * (residual**2).sum(axis=1).mean(), grad

def backward(grad_y, cache):
    return cache.pull(grad_y)

# %% nothing-kept
"""The hidden layer is computed a second time: the cache refers to the arguments, and that is all."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}

def hidden(x, W1, b1, act):
    z = np.add(np.dot(x, W1.T), b1)
    if act == "relu":
        return z.clip(min=0)
    return 1 / (1 + np.exp(-z.clip(-80, 80)))

def forward(*given):
    x, W1, b1, W2, b2, act = given
    return np.add(np.dot(hidden(x, W1, b1, act), W2.T), b2), given

def half_squared_error(y, t, keep=None):
    loss, counted, grad = 0.0, 0, np.zeros_like(y)
    for row in range(len(y)):
        if keep is None or keep[row]:
            grad[row] = y[row] - t[row]
            loss += float(grad[row] @ grad[row]) / 2
            counted += 1
    return (loss / counted, grad / counted) if counted else (0.0, grad)

def backward(grad_y, cache):
    x, W1, b1, W2, b2, act = cache
    h = hidden(x, W1, b1, act)
    grad_z = np.dot(grad_y, W2) * (np.sign(h) if act == "relu" else h * (1 - h))
    return np.dot(grad_z, W1), np.dot(x.T, grad_z).T, np.add.reduce(grad_z), np.dot(h.T, grad_y).T, np.add.reduce(grad_y)

# %% ones-for-the-biases
"""A column of ones on the inputs of each layer, so that a bias is one more weight."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}

def with_ones(a):
    return np.hstack([a, np.ones((a.shape[0], 1), a.dtype)])

def forward(x, W1, b1, W2, b2, act):
    first, second = np.column_stack([W1, b1]), np.column_stack([W2, b2])
    h = with_ones(x) @ first.T
    if act == "relu":
        np.maximum(h, 0, out=h)
    else:
        np.tanh(h / 2, out=h)
        h += 1
        h /= 2
    return with_ones(h) @ second.T, [x, h, first, second, act]

def half_squared_error(y, t, keep=None):
    target = t.copy()
    rows = len(y)
    if keep is not None:
        target[~keep] = y[~keep]
        rows = max(sum(keep.tolist()), 1)
    residual = y - target
    return np.square(residual).sum() / (2 * rows), residual / rows

def backward(grad_y, cache):
    x, h, first, second, act = cache
    grad_second = grad_y.T @ with_ones(h)
    grad_z = grad_y @ second[:, :-1]
    grad_z *= (h > 0) if act == "relu" else h * (1 - h)
    grad_first = grad_z.T @ with_ones(x)
    grad_x = grad_z @ first[:, :-1]
    return grad_x, grad_first[:, :-1].copy(), grad_first[:, -1].copy(), grad_second[:, :-1].copy(), grad_second[:, -1].copy()

# %% outer-products
"""Row by row: each row adds its outer products."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}

def forward(x, W1, b1, W2, b2, act):
    rows, kept = [], []
    for row in x:
        z = W1 @ row + b1
        with np.errstate(over="ignore"):
            h = np.maximum(z, 0) if act == "relu" else 1 / (1 + np.exp(-z))
        kept.append((row, h))
        rows.append(W2 @ h + b2)
    return np.stack(rows), (kept, W1, W2, act)

def half_squared_error(y, t, keep=None):
    if keep is not None and not keep.all():
        chosen = keep.nonzero()[0]
        loss, part = half_squared_error(y[chosen], t[chosen]) if len(chosen) else (0.0, 0)
        whole = np.zeros_like(y)
        whole[chosen] = part
        return loss, whole
    residual = y - t
    return np.mean([row @ row / 2 for row in residual]), residual / len(y)

def backward(grad_y, cache):
    kept, W1, W2, act = cache
    grad_W1, grad_W2 = np.zeros_like(W1), np.zeros_like(W2)
    grad_b1, grad_b2 = np.zeros_like(W1[:, 0]), np.zeros_like(W2[:, 0])
    grad_x = []
    for g, (row, h) in zip(grad_y, kept):
        grad_W2 += np.outer(g, h)
        grad_b2 += g
        grad_z = W2.T @ g * ((h > 0) if act == "relu" else h * (1 - h))
        grad_W1 += np.outer(grad_z, row)
        grad_b1 += grad_z
        grad_x.append(W1.T @ grad_z)
    return np.stack(grad_x), grad_W1, grad_b1, grad_W2, grad_b2

# %% assignment-two-layer-net
# part: 1
"""As in a well-known course: affine layers with caches, out of which a network is made."""

import numpy as np

def affine_forward(x, w, b):
    out = x.reshape(x.shape[0], -1).dot(w) + b
    return out, (x, w, b)

def affine_backward(dout, cache):
    x, w, b = cache
    dx = dout.dot(w.T).reshape(x.shape)
    dw = x.reshape(x.shape[0], -1).T.dot(dout)
    db = np.sum(dout, axis=0)
    return dx, dw, db

def relu_forward(x):
    return np.maximum(0, x), x

def relu_backward(dout, cache):
    dx = np.array(dout, copy=True)
    dx[cache <= 0] = 0
    return dx

def sigmoid_forward(x):
    out = 1.0 / (1.0 + np.exp(-x))
    return out, out

def sigmoid_backward(dout, cache):
    return dout * cache * (1 - cache)

def forward(x, W1, b1, W2, b2, act):
    a, fc1_cache = affine_forward(x, W1.T, b1)
    h, act_cache = relu_forward(a) if act == "relu" else sigmoid_forward(a)
    scores, fc2_cache = affine_forward(h, W2.T, b2)
    return scores, (fc1_cache, act_cache, fc2_cache, act)

def half_squared_error(y, t):
    N = y.shape[0]
    loss = 0.5 * np.sum((y - t) ** 2) / N
    return loss, (y - t) / N

def backward(dout, cache):
    fc1_cache, act_cache, fc2_cache, act = cache
    dh, dW2, db2 = affine_backward(dout, fc2_cache)
    da = relu_backward(dh, act_cache) if act == "relu" else sigmoid_backward(dh, act_cache)
    dx, dW1, db1 = affine_backward(da, fc1_cache)
    return dx, dW1.T, db1, dW2.T, db2

# %% modules-with-grads
# part: 1
"""As in frameworks written for practice: modules that remember their input and hold gradients."""

import numpy as np

class Module:
    def __call__(self, *args):
        return self.forward(*args)

class Linear(Module):
    def __init__(self, weight, bias):
        self.weight, self.bias = weight, bias

    def forward(self, x):
        self.x = x
        return np.matmul(x, self.weight.T) + self.bias

    def backward(self, grad_output):
        self.weight_grad = np.matmul(grad_output.T, self.x)
        self.bias_grad = grad_output.sum(0)
        return np.matmul(grad_output, self.weight)

class ReLU(Module):
    def forward(self, x):
        self.mask = x > 0
        return x * self.mask

    def backward(self, grad_output):
        return grad_output * self.mask

class Sigmoid(Module):
    def forward(self, x):
        self.out = 1 / (1 + np.exp(-x))
        return self.out

    def backward(self, grad_output):
        return grad_output * self.out * (1.0 - self.out)

class Sequential(Module):
    def __init__(self, *layers):
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def backward(self, grad):
        for layer in reversed(self.layers):
            grad = layer.backward(grad)
        return grad

def forward(x, W1, b1, W2, b2, act):
    if act not in {"relu", "sigmoid"}:
        raise ValueError(f"unknown activation: {act}")
    model = Sequential(Linear(W1, b1), ReLU() if act == "relu" else Sigmoid(), Linear(W2, b2))
    return model(x), model

def half_squared_error(y, t):
    diff = y - t
    return np.mean(np.sum(diff**2, axis=1) / 2), diff / diff.shape[0]

def backward(grad_y, model):
    grad_x = model.backward(grad_y)
    first, _, second = model.layers
    return grad_x, first.weight_grad, first.bias_grad, second.weight_grad, second.bias_grad
