"""The layers that a test is tried on, right and wrong ones, and what a test says of each.

All this runs where no submission does: a test gets functions that it can call, and nothing else.
"""

import numpy as np

MOST_CALLS = 200
MOST_KEPT = 1000  # of the x that a test calls forward with
TINY_STEP, LARGE_STEP = 1e-9, 1e-2


def judge(program, layer, xs, seed):
    """Call the test on fresh copies of a layer, once for every draw of x.

    Args:
        program: the functions under test; only `gradient_is_right` is called.
        layer: a name in LAYERS.
        xs: (draws, rows, columns), float64: one x for every draw.
        seed: an int; every draw has a generator of its own.

    Returns:
        What was said in words, and by how many calls of forward the worst draw is above MOST_CALLS.
        A verdict that is wrong comes with what was odd about the calls, if anything was.
    """
    right, make = LAYERS[layer]
    logs, verdicts = [], []
    for number, x in enumerate(xs):
        log = Log(x, *make())
        rng = np.random.default_rng([seed, number])
        with np.errstate(all="ignore"):
            verdicts.append(program.gradient_is_right(log.forward, log.backward, x.copy(), rng))
        logs.append(log)
    extra_calls = max(0, max(log.calls for log in logs) - MOST_CALLS)
    return in_words(verdicts, logs, right), extra_calls


def in_words(verdicts, logs, right):
    """Sum up the verdicts on all draws."""
    for verdict in verdicts:
        if not isinstance(verdict, (bool, np.bool_)):
            return f"no verdict, of type {type(verdict).__name__}"
    if len({bool(verdict) for verdict in verdicts}) > 1:
        return f"accepted in {sum(map(bool, verdicts))} of {len(verdicts)} draws"
    said = bool(verdicts[0])
    text = "accepted" if said else "rejected"
    odd = oddity(logs, accepted=said) if said != right else ""
    return f"{text} ({odd})" if odd else text


def oddity(logs, *, accepted):
    """Say what all the logs have in common that a good test has not."""
    if not any(log.moved for log in logs):
        return "forward was never called"
    if all(log.narrow for log in logs):
        return "forward got float32 only"
    steps = [step for log in logs for step in log.steps()]
    if steps and max(steps) < TINY_STEP:
        return "every step was below 1e-9"
    if steps and min(steps) > LARGE_STEP:
        return "every step was above 0.01"
    if all(log.only_up() for log in logs):
        return "entries were moved up, never down"
    if accepted and logs[0].reach() == 1:
        return "one entry of x was moved"
    return ""


class Log:
    """A layer that remembers how it was called."""

    def __init__(self, x, forward, backward):
        """Begin a log for one x; it has no calls yet."""
        self.base, self.moved = x, []
        self.narrow, self.calls = True, 0
        self._forward, self._backward = forward, backward

    def forward(self, x):
        """Call forward and remember x."""
        x = np.asarray(x)
        self.narrow &= x.dtype.itemsize < 8
        self.calls += 1
        if self.calls <= MOST_KEPT:
            self.moved.append(np.array(x))
        return self._forward(x)

    def backward(self, grad_y, x):
        """Call backward and remember x before."""
        self.base = np.array(x)
        return self._backward(grad_y, x)

    def differences(self):
        """How far each call of forward was from where backward was asked."""
        return [x - self.base for x in self.moved if x.shape == self.base.shape]

    def steps(self):
        """Return the sizes of all moves, without 0."""
        sizes = [np.abs(difference).max(initial=0.0) for difference in self.differences()]
        return [size for size in sizes if size > 0]

    def only_up(self):
        """Return whether entries were moved, and none of them down."""
        return bool(self.steps()) and not any((d < -TINY_STEP).any() for d in self.differences())

    def reach(self):
        """How many entries of x were ever moved."""
        return int(np.any([d != 0 for d in self.differences()], axis=0).sum())


# --- layers whose gradient is right ---


def sine(scale=1.0):
    """The layer y = scale * sin(x)."""
    return lambda x: scale * np.sin(x), lambda g, x: scale * g * np.cos(x)


def softmax_of(x):
    """Return the softmax of each row."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def softmax():
    """A layer with y (rows, columns): the softmax of each row."""

    def backward(g, x):
        p = softmax_of(x)
        return p * (g - (p * g).sum(axis=1, keepdims=True))

    return softmax_of, backward


def softmax_loops():
    """The same in loops."""

    def forward(x):
        p = np.empty_like(x)
        for row, out in zip(x, p, strict=True):
            e = [np.exp(v) for v in row]
            out[:] = [v / sum(e) for v in e]
        return p

    def backward(g, x):
        p, grad_x = forward(x), np.empty_like(x)
        for i, row in enumerate(p):
            for j, pj in enumerate(row):
                grad_x[i, j] = pj * (
                    g[i, j] - sum(gk * pk for gk, pk in zip(g[i], row, strict=True))
                )
        return grad_x

    return forward, backward


def weights(x):
    """Return the (columns, 5) weights of the linear layer."""
    return np.cos(np.arange(x.shape[1] * 5)).reshape(x.shape[1], 5).astype(x.dtype)


def linear():
    """A layer with y (rows, 5) = x @ weights."""
    return lambda x: x @ weights(x), lambda g, x: g @ weights(x).T


def leaky_relu():
    """The layer y = x where that is positive, a quarter of it elsewhere."""
    return lambda x: np.where(x > 0, x, x / 4), lambda g, x: np.where(x > 0, g, g / 4)


def flat():
    """The layer y = 0, a branch that is switched off."""
    return lambda x: np.zeros_like(x), lambda _g, x: np.zeros_like(x)


def first_column():
    """A layer with y (rows, 2, 3): the sine of the first column, six times with other factors."""

    def factors(x):
        return np.arange(1.0, 7.0).reshape(2, 3).astype(x.dtype)

    def backward(g, x):
        grad_x = np.zeros_like(x)
        grad_x[:, 0] = np.cos(x[:, 0]) * (g * factors(x)).sum(axis=(1, 2))
        return grad_x

    return lambda x: np.sin(x[:, 0])[:, None, None] * factors(x), backward


def reuses_buffer():
    """The layer y = sin(x), always in the same memory."""
    kept = {}

    def forward(x):
        out = kept.setdefault((x.shape, x.dtype), np.empty(x.shape, x.dtype))
        np.sin(x, out=out)
        return out

    return forward, sine()[1]


# --- layers whose gradient is wrong ---


def with_gradient(made, change):
    """A layer with `change(grad_x, g, x)` for its gradient."""
    forward, backward = made
    return forward, lambda g, x: change(backward(g, x), g, x)


def sign():
    """Wrong by the factor -1."""
    return with_gradient(sine(), lambda grad_x, _g, _x: -grad_x)


def off_by_two_permille():
    """Wrong by the factor 1.002."""
    return with_gradient(sine(), lambda grad_x, _g, _x: 1.002 * grad_x)


def ignores_cotangent():
    """The gradient for a grad_y of ones."""
    return with_gradient(sine(), lambda _grad_x, _g, x: np.cos(x))


def diagonal_softmax():
    """The diagonal of the Jacobian only."""
    return with_gradient(softmax(), lambda _grad_x, g, x: g * softmax_of(x) * (1 - softmax_of(x)))


def zero_softmax():
    """The gradient of the sum of all outputs, whatever grad_y is."""
    return with_gradient(softmax(), lambda _grad_x, _g, x: np.zeros_like(x))


def mean_for_sum():
    """A layer with y (rows,): the sum of squares, with the gradient of their mean."""
    return lambda x: (x * x).sum(axis=1), lambda g, x: 2 * g[:, None] * x / x.shape[1]


def last_entry():
    """Wrong in the last entry, by twice the largest one."""

    def change(grad_x, _g, _x):
        grad_x[-1, -1] += 2 * np.abs(grad_x).max()
        return grad_x

    return with_gradient(sine(), change)


def negative_half():
    """Half the slope where x is negative."""
    return with_gradient(sine(), lambda grad_x, _g, x: np.where(x < 0, grad_x / 2, grad_x))


def rows_mixed():
    """Right values, each in the row after its own."""
    return with_gradient(sine(), lambda grad_x, _g, _x: np.roll(grad_x, 1, axis=0))


def tiny_zero():
    """0 in the place of gradients around 1e-9."""
    return with_gradient(sine(1e-9), lambda _grad_x, _g, x: np.zeros_like(x))


def huge_offset():
    """Gradients around 1e9, all off by half a percent of the largest."""
    return with_gradient(sine(1e9), lambda grad_x, _g, _x: grad_x + 0.005 * np.abs(grad_x).max())


def overwrites_x():
    """The right gradient; x is halved."""

    def change(grad_x, _g, x):
        x *= 0.5
        return grad_x

    return with_gradient(sine(), change)


def overwrites_grad_y():
    """The right gradient; grad_y is halved."""

    def change(grad_x, g, _x):
        g *= 0.5
        return grad_x

    return with_gradient(sine(), change)


def not_a_number():
    """The layer y = log(1 + max(x, 0)), with 0 * log(x) in the branch that is not taken."""

    def backward(g, x):
        with np.errstate(all="ignore"):
            return g * np.where(x > 0, 1 / (1 + x), 0 * np.log(x))

    return lambda x: np.log1p(np.maximum(x, 0)), backward


def one_column():
    """A layer with y (rows,): the sum of a row; grad_x has one column for all."""
    return lambda x: x.sum(axis=1), lambda g, _x: g[:, None].copy()


LAYERS = {
    "softmax": (True, softmax),
    "softmax-loops": (True, softmax_loops),
    "linear": (True, linear),
    "huge": (True, lambda: sine(1e9)),
    "tiny": (True, lambda: sine(1e-9)),
    "leaky-relu": (True, leaky_relu),
    "flat": (True, flat),
    "first-column": (True, first_column),
    "reuses-buffer": (True, reuses_buffer),
    "sign": (False, sign),
    "off-by-two-permille": (False, off_by_two_permille),
    "ignores-cotangent": (False, ignores_cotangent),
    "diagonal-softmax": (False, diagonal_softmax),
    "zero-softmax": (False, zero_softmax),
    "mean-for-sum": (False, mean_for_sum),
    "last-entry": (False, last_entry),
    "negative-half": (False, negative_half),
    "rows-mixed": (False, rows_mixed),
    "tiny-zero": (False, tiny_zero),
    "huge-offset": (False, huge_offset),
    "overwrites-x": (False, overwrites_x),
    "overwrites-grad-y": (False, overwrites_grad_y),
    "not-a-number": (False, not_a_number),
    "one-column": (False, one_column),
}
