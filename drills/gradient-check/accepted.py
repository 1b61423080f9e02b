# %% best-of-steps
"""Style: all entries as one batch of moves, three step sizes, the best agreement counts."""

import numpy as np

def gradient_is_right(forward, backward, x, rng):
    x = np.where(x == 0, 1 / 3, x)
    grad_y = rng.normal(size=np.asarray(forward(x)).shape)
    passed_y, passed_x = np.copy(grad_y), np.copy(x)
    grad_x = backward(passed_y, passed_x)
    if not np.array_equal(passed_y, grad_y) or not np.array_equal(passed_x, x):
        return False
    if np.shape(grad_x) != x.shape or np.isnan(grad_x).any():
        return False
    basis = np.eye(x.size).reshape(-1, *x.shape)
    errors = []
    for h in (1e-4, 1e-5, 1e-6):
        up = np.array([np.tensordot(grad_y, forward(m), grad_y.ndim) for m in x + h * basis])
        down = np.array([np.tensordot(grad_y, forward(m), grad_y.ndim) for m in x - h * basis])
        measured = (up - down).reshape(x.shape) / (2 * h)
        scale = max(np.abs(measured).max(), np.abs(grad_x).max())
        errors.append(np.abs(measured - grad_x).max() / scale if scale else 0.0)
    return min(errors) < 1e-4

# %% jacobian-like-torch
# part: 1
"""Both Jacobians, one by columns and one by rows, with the eps, atol and rtol of torch.gradcheck."""

import numpy as np

EPS, ATOL, RTOL = 1e-6, 1e-5, 1e-3

def get_numerical_jacobian(fn, x):
    columns = []
    for place in np.ndindex(x.shape):
        outputs = []
        for delta in (EPS, -EPS):
            moved = x.copy()
            moved[place] += delta
            outputs.append(fn(moved).reshape(-1).copy())
        columns.append((outputs[0] - outputs[1]) / (2 * EPS))
    return np.stack(columns)

def get_analytical_jacobian(backward, x, output):
    jacobian = np.zeros((x.size, output.size))
    for i in range(output.size):
        grad_output = np.zeros_like(output)
        grad_output.flat[i] = 1.0
        jacobian[:, i] = backward(grad_output, x).reshape(-1)
    return jacobian

def gradient_is_right(forward, backward, x, rng):
    output = forward(x).copy()
    analytical = get_analytical_jacobian(backward, x, output)
    numerical = get_numerical_jacobian(forward, x)
    return np.allclose(analytical, numerical, rtol=RTOL, atol=ATOL)

# %% long-double
"""Style: long double inside, one-sided differences."""

import numpy as np

def gradient_is_right(forward, backward, x, rng):
    wide = x.astype(np.longdouble)
    wide[wide == 0] = 0.125
    narrow = wide.astype(np.float64)
    first = np.array(forward(wide))
    grad_y = rng.normal(size=first.shape)
    argument, cotangent = narrow.copy(), grad_y.copy()
    grad_x = backward(cotangent, argument)
    if (argument != narrow).any() or (cotangent != grad_y).any():
        return False
    if grad_x.shape != x.shape:
        return False
    h = np.longdouble(1e-8)
    worst = largest = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            moved = wide.copy()
            moved[i, j] += h
            slope = ((forward(moved) - first) * grad_y).sum() / h
            if not np.isfinite(grad_x[i, j]):
                return False
            worst = max(worst, abs(slope - grad_x[i, j]))
            largest = max(largest, abs(slope))
    return bool(worst <= 3e-6 * largest)

# %% numerical-gradient
# part: 1
"""A numerical gradient for a given df, entry by entry in place, and a relative error."""

import numpy as np

def eval_numerical_gradient_array(f, x, df, h=1e-5):
    grad = np.zeros_like(x)
    it = np.nditer(x, flags=["multi_index"], op_flags=[["readwrite"]])
    while not it.finished:
        ix = it.multi_index
        oldval = x[ix]
        x[ix] = oldval + h
        pos = f(x).copy()
        x[ix] = oldval - h
        neg = f(x).copy()
        x[ix] = oldval
        grad[ix] = np.sum((pos - neg) * df) / (2 * h)
        it.iternext()
    return grad

def rel_error(x, y):
    return np.max(np.abs(x - y) / np.maximum(1e-8, np.abs(x) + np.abs(y)))

def gradient_is_right(forward, backward, x, rng):
    dout = rng.standard_normal(forward(x).shape)
    dx_num = eval_numerical_gradient_array(forward, x, dout)
    dx = backward(dout, x)
    return rel_error(dx, dx_num) < 1e-5

# %% other-x
"""Style: x is replaced by random numbers of the same signs, and the copies are compared as bytes."""

import numpy as np

def gradient_is_right(forward, backward, x, rng):
    signs = np.where(x < 0, -1.0, 1.0)
    for _ in range(3):
        x = signs * rng.uniform(0.3, 2.5, x.shape)
        y = forward(x)
        grad_y = rng.exponential(size=y.shape) * rng.choice([-1, 1], y.shape)
        before = x.tobytes(), grad_y.tobytes()
        grad_x = backward(grad_y, x)
        if (x.tobytes(), grad_y.tobytes()) != before:
            return False
        if np.shape(grad_x) != np.shape(x) or not np.all(np.isfinite(grad_x)):
            return False
        measured = np.zeros_like(x)
        for i in range(x.size):
            old = x.flat[i]
            x.flat[i] = old + 1e-5
            high = np.vdot(forward(x), grad_y)
            x.flat[i] = old - 1e-5
            low = np.vdot(forward(x), grad_y)
            x.flat[i] = old
            measured.flat[i] = (high - low) / 2e-5
        if np.abs(measured - grad_x).max() > 1e-5 * np.abs(measured).max():
            return False
    return True

# %% random-directions
"""Style: inner products along random directions, no entry by itself."""

import numpy as np

def gradient_is_right(forward, backward, x, rng):
    x = x + 0.25 * (x == 0)
    y_shape = np.shape(forward(x))
    for _ in range(6):
        grad_y = rng.standard_normal(y_shape)
        mine = [grad_y.copy(), x.copy()]
        grad_x = np.array(backward(*mine))
        if not (np.array_equal(mine[0], grad_y) and np.array_equal(mine[1], x)):
            return False
        if grad_x.shape != x.shape or not np.isfinite(grad_x).all():
            return False
        for _ in range(4):
            v = rng.standard_normal(x.shape)
            h = 1e-6
            above = np.vdot(grad_y, forward(x + h * v))
            below = np.vdot(grad_y, forward(x - h * v))
            if not abs((above - below) / (2 * h) - np.vdot(grad_x, v)) <= 1e-6 * np.linalg.norm(grad_x):
                return False
    return True

# %% read-only
"""Style: read-only arguments, so that changing one raises; entries at a kink are left out."""

import numpy as np

def frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array

def gradient_is_right(forward, backward, x, rng):
    x = frozen(x)
    grad_y = frozen(rng.normal(size=forward(x).shape))
    try:
        grad_x = backward(grad_y, x)
    except ValueError:
        return False
    if not isinstance(grad_x, np.ndarray) or grad_x.shape != x.shape:
        return False
    claimed, measured = [], []
    for place, value in np.ndenumerate(x):
        if value == 0:
            continue
        sides = []
        for h in (1e-5, -1e-5):
            moved = x.copy()
            moved[place] = value + h
            sides.append(np.einsum("i,i->", grad_y.ravel(), forward(moved).ravel()))
        measured.append((sides[0] - sides[1]) / 2e-5)
        claimed.append(grad_x[place])
    off = np.subtract(claimed, measured)
    return np.max(np.abs(off)) <= 1e-5 * np.max(np.abs(measured))

# %% richardson
"""Style: Richardson extrapolation from two central differences with large steps."""

import numpy as np

def gradient_is_right(forward, backward, x, rng):
    x = np.where(x == 0.0, -0.3, x)
    g = rng.uniform(-1, 1, np.shape(forward(x)))

    def loss(place, h):
        moved = np.array(x)
        moved[place] += h
        return float((g * forward(moved)).sum())

    def central(place, h):
        return (loss(place, h) - loss(place, -h)) / (2 * h)

    x_given, g_given = x.copy(), g.copy()
    claimed = backward(g_given, x_given)
    if (x_given != x).any() or (g_given != g).any() or claimed.shape != x.shape:
        return False
    found = np.zeros(x.shape)
    for place in np.ndindex(*x.shape):
        found[place] = (4 * central(place, 5e-4) - central(place, 1e-3)) / 3
    return bool(np.all(np.abs(claimed - found) <= 1e-6 * np.max(np.abs(found))))

# %% ridders
"""Style: Ridders' extrapolation, from a large step down, in a class."""

import numpy as np

class Check:
    def __init__(self, forward, x, grad_y):
        self.forward, self.x, self.grad_y = forward, x, grad_y

    def loss(self, place, h):
        x = self.x.copy()
        x[place] += h
        return np.sum(self.grad_y * self.forward(x))

    def derivative(self, place, h=0.1, factor=1.6, levels=7):
        table = []
        best, error = 0.0, np.inf
        for level in range(levels):
            row = [(self.loss(place, h) - self.loss(place, -h)) / (2 * h)]
            for k in range(level):
                f = factor ** (2 * (k + 1))
                row.append((row[k] * f - table[-1][k]) / (f - 1))
                now = max(abs(row[-1] - row[-2]), abs(row[-1] - table[-1][k]))
                if now <= error:
                    best, error = row[-1], now
            table.append(row)
            h /= factor
        return best

def gradient_is_right(forward, backward, x, rng):
    x = np.where(x == 0, 0.2, x)
    grad_y = rng.normal(size=forward(x).shape)
    a, b = grad_y.copy(), x.copy()
    grad_x = backward(a, b)
    if grad_x.shape != x.shape or (a != grad_y).any() or (b != x).any():
        return False
    check = Check(forward, x, grad_y)
    measured = np.array([[check.derivative((i, j)) for j in range(4)] for i in range(3)])
    return bool((abs(grad_x - measured) <= 1e-5 * abs(measured).max()).all())

# %% whole-jacobian
"""Style: the whole Jacobian, once, and then several grad_y against it, one-hot ones included."""

import numpy as np

H = 2.0**-17

def jacobian(forward, x):
    rows = []
    for step in np.eye(x.size):
        step = H * step.reshape(x.shape)
        plus = np.array(forward(x + step), copy=True)
        minus = np.array(forward(x - step), copy=True)
        rows.append((plus - minus).ravel() / (2 * H))
    return np.stack(rows)

def gradient_is_right(forward, backward, x, rng):
    x = x.copy()
    x[x == 0] = rng.choice([-0.2, 0.2], size=np.count_nonzero(x == 0))
    shape = forward(x).shape
    J = jacobian(forward, x)
    cotangents = [*rng.normal(size=(5, J.shape[1])), *np.eye(J.shape[1])]
    for g in cotangents:
        given = (g.reshape(shape).copy(), x.copy())
        got = np.array(backward(*given))
        if not np.array_equal(given[0].ravel(), g) or not np.array_equal(given[1], x):
            return np.False_
        if got.shape != x.shape:
            return np.False_
        if not np.allclose(got.ravel(), J @ g, rtol=0, atol=1e-6 * np.abs(J).max()):
            return np.False_
    return np.True_
