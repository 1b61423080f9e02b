# %% bias-in-shares
"""b2 / R on each rank before the sum; the target's logit by a one-hot product."""
import numpy as np
from norms import rms_backward

def mlp(x, w1, b1, w2, b2, all_reduce):
    n = len(x)
    return all_reduce([np.clip(x[r] @ w1[r] + b1[r], 0, None) @ w2[r] + b2[r] / n for r in range(n)])

def mlp_backward(grad_y, x, w1, b1, w2, b2, all_reduce):
    z = [x[r] @ w1[r] + b1[r] for r in range(len(x))]
    gz = [np.where(a > 0, g @ w.T, 0) for a, g, w in zip(z, grad_y, w2)]
    gx = all_reduce([g @ w.T for g, w in zip(gz, w1)])
    gw2 = [np.where(a > 0, a, 0).T @ g for a, g in zip(z, grad_y)]
    return gx, [a.T @ g for a, g in zip(x, gz)], [g.sum(0) for g in gz], gw2, [g.sum(0) for g in grad_y]

def norm_backward(grad_h, x, gain, all_reduce):
    cut = np.cumsum([len(a) for a in x])[:-1]
    pairs = [rms_backward(np.split(g, cut)[r], x[r], gain[r]) for r, g in enumerate(grad_h)]
    return [p[0] for p in pairs], all_reduce([p[1] for p in pairs])

def vocab_loss(logits, targets, all_reduce):
    n, widths = len(targets[0]), [z.shape[1] for z in logits]
    hot, start = [], 0
    for t, w in zip(targets, widths):
        hot.append((t[:, None] == np.arange(start, start + w)).astype(float))
        start += w
    m = all_reduce([z.max(axis=-1, keepdims=True) for z in logits], "max")
    e = [np.exp(z - a) for z, a in zip(logits, m)]
    total = all_reduce([a.sum(1) for a in e])
    mine = all_reduce([((z - a) * h).sum(1) for z, a, h in zip(logits, m, hot)])
    losses = [np.mean(np.log(s) - c) for s, c in zip(total, mine)]
    return losses, [(a / s[:, None] - h) / n for a, s, h in zip(e, total, hot)]

def traffic(n, d, ranks, itemsize):
    sent = 0
    for _ in range(4):  # all-reduces
        for _ in range(2):  # ways
            for _ in range(ranks - 1):  # messages
                sent += n * d * itemsize // ranks
    return {"reduced": 4 * n * d * itemsize, "sent": sent, "sent_sp": sent}

# %% bias-on-rank-0
"""b2 on rank 0 before the sum; log-sum-exp per rank, joined afterward."""
import numpy as np
from norms import rms_backward

def mlp(x, w1, b1, w2, b2, all_reduce):
    out = []
    for r in range(len(x)):
        h = x[r] @ w1[r] + b1[r]
        h[h < 0] = 0
        y = h @ w2[r]
        out.append(y + b2[r] if r == 0 else y)
    return all_reduce(out)

def mlp_backward(grad_y, x, w1, b1, w2, b2, all_reduce):
    ranks = range(len(x))
    h = [np.maximum(x[r] @ w1[r] + b1[r], 0) for r in ranks]
    gh = [np.where(h[r] > 0, grad_y[r] @ w2[r].T, 0) for r in ranks]
    gx = all_reduce([np.einsum("nf,df->nd", gh[r], w1[r]) for r in ranks])
    return (
        gx,
        [np.einsum("nd,nf->df", x[r], gh[r]) for r in ranks],
        [gh[r].sum(0) for r in ranks],
        [h[r].T @ grad_y[r] for r in ranks],
        [grad_y[r].sum(0) for r in ranks],
    )

def norm_backward(grad_h, x, gain, all_reduce):
    first, rows, gains = 0, [], []
    for r, mine in enumerate(x):
        last = first + mine.shape[0]
        a, b = rms_backward(grad_h[r][first:last, :], mine, gain[r])
        rows.append(a)
        gains.append(b)
        first = last
    return rows, all_reduce(gains)

def vocab_loss(logits, targets, all_reduce):
    n = len(targets[0])
    m = [z.max(1) for z in logits]
    own = [a + np.log(np.exp(z - a[:, None]).sum(1)) for z, a in zip(logits, m)]
    top = all_reduce(own, "max")
    starts = np.concatenate([[0], np.cumsum([z.shape[1] for z in logits])])
    parts = []
    for r, z in enumerate(logits):
        held = np.zeros(n)
        for i, t in enumerate(targets[r]):
            if starts[r] <= t < starts[r + 1]:
                held[i] = z[i, t - starts[r]] - top[r][i]
        parts.append(np.column_stack([np.exp(own[r] - top[r]), held]))
    joined = all_reduce(parts)
    losses, grads = [], []
    for r, z in enumerate(logits):
        lse = top[r] + np.log(joined[r][:, 0])
        losses.append(float(np.log(joined[r][:, 0]).mean() - joined[r][:, 1].mean()))
        p = np.exp(z - lse[:, None])
        for i, t in enumerate(targets[r]):
            if starts[r] <= t < starts[r + 1]:
                p[i, t - starts[r]] -= 1
        grads.append(p / n)
    return losses, grads

def traffic(n, d, ranks, itemsize):
    gather = scatter = (ranks - 1) * (n // ranks) * d * itemsize
    return {"reduced": 4 * n * d * itemsize, "sent": 8 * gather, "sent_sp": 4 * (gather + scatter)}

# %% a-class-per-rank
"""An object per rank, with the bias as one more row of the matrix."""
from dataclasses import dataclass

import numpy as np
from norms import rms_backward

@dataclass
class Rank:
    x: np.ndarray
    up: np.ndarray  # w1 over b1
    down: np.ndarray

    def z(self):
        return np.hstack([self.x, np.ones((len(self.x), 1))]) @ self.up

    def forward(self):
        return np.maximum(self.z(), 0) @ self.down

    def backward(self, g):
        z = self.z()
        dz = (g @ self.down.T) * np.heaviside(z, 0)
        both = np.hstack([self.x, np.ones((len(self.x), 1))]).T @ dz
        return dz @ self.up[:-1].T, both[:-1], both[-1], (z * (z > 0)).T @ g

def ranks_of(x, w1, b1, w2):
    return [Rank(a, np.vstack([w, b]), v) for a, w, b, v in zip(x, w1, b1, w2)]

def mlp(x, w1, b1, w2, b2, all_reduce):
    total = all_reduce([rank.forward() for rank in ranks_of(x, w1, b1, w2)])
    for y, b in zip(total, b2):
        y += b
    return total

def mlp_backward(grad_y, x, w1, b1, w2, b2, all_reduce):
    found = [rank.backward(g) for rank, g in zip(ranks_of(x, w1, b1, w2), grad_y)]
    gx, gw1, gb1, gw2 = map(list, zip(*found))
    return all_reduce(gx), gw1, gb1, gw2, [np.ones(len(g)) @ g for g in grad_y]

def norm_backward(grad_h, x, gain, all_reduce):
    ends = np.add.accumulate([len(a) for a in x])
    out = [rms_backward(g[e - len(a) : e], a, k) for g, e, a, k in zip(grad_h, ends, x, gain)]
    return [a for a, _ in out], all_reduce([b for _, b in out])

class Shard:
    def __init__(self, logits, start, targets):
        self.z, self.n = logits, len(targets)
        self.rows = np.flatnonzero((targets >= start) & (targets < start + logits.shape[1]))
        self.cols = targets[self.rows] - start

    def say(self, top):
        self.e = np.exp(self.z - top[:, None])
        out = np.zeros((self.n, 2))
        out[:, 0] = self.e.sum(1)
        out[self.rows, 1] = self.z[self.rows, self.cols] - top[self.rows]
        return out

    def grad(self, said):
        g = self.e / said[:, :1] / self.n
        g[self.rows, self.cols] -= 1 / self.n
        return g

def vocab_loss(logits, targets, all_reduce):
    shards, start = [], 0
    for z, t in zip(logits, targets):
        shards.append(Shard(z, start, t))
        start += z.shape[1]
    tops = all_reduce([s.z.max(1) for s in shards], "max")
    said = all_reduce([s.say(t) for s, t in zip(shards, tops)])
    losses = [(np.log(a[:, 0]) - a[:, 1]).sum() / len(a) for a in said]
    return losses, [s.grad(a) for s, a in zip(shards, said)]

def traffic(n, d, ranks, itemsize):
    whole = n * d * itemsize
    return dict(reduced=whole * 4, sent=whole * 8 - whole * 8 / ranks, sent_sp=8 * whole * (1 - 1 / ranks))

# %% a-column-for-the-others
"""Logits padded with a column for the targets of other ranks; masks by index arithmetic."""
import numpy as np
from norms import rms_backward

def mlp(x, w1, b1, w2, b2, all_reduce):
    parts = []
    for a, u, c, v, _ in zip(x, w1, b1, w2, b2):
        h = a @ u
        np.add(h, c, out=h)
        parts.append(np.dot(np.where(h > 0, h, 0.0), v))
    return [np.add(y, b) for y, b in zip(all_reduce(parts), b2)]

def mlp_backward(grad_y, x, w1, b1, w2, b2, all_reduce):
    gx, gw1, gb1, gw2, gb2 = [], [], [], [], []
    for r in range(len(x)):
        z = x[r].dot(w1[r]) + b1[r]
        dh = grad_y[r].dot(w2[r].T)
        dh[z <= 0] = 0
        gx.append(dh.dot(w1[r].T))
        gw1.append(x[r].T.dot(dh))
        gb1.append(np.add.reduce(dh))
        gw2.append(np.fmax(z, 0).T.dot(grad_y[r]))
        gb2.append(np.add.reduce(grad_y[r]))
    gx = all_reduce(gx)
    return [gx, gw1, gb1, gw2, gb2]

def norm_backward(grad_h, x, gain, all_reduce):
    owner = np.repeat(np.arange(len(x)), [len(a) for a in x])
    both = [rms_backward(grad_h[r][owner == r], x[r], gain[r]) for r in range(len(x))]
    gx, gg = zip(*both)
    return list(gx), all_reduce(list(gg))

def vocab_loss(logits, targets, all_reduce):
    n = len(targets[0])
    begin = [sum(z.shape[1] for z in logits[:r]) for r in range(len(logits))]
    top = all_reduce([np.amax(z, axis=1) for z in logits], "max")
    say = []
    for r, z in enumerate(logits):
        shifted = np.hstack([z - top[r][:, None], np.zeros((n, 1))])
        at = targets[r] - begin[r]
        at = np.where((at < 0) | (at >= z.shape[1]), z.shape[1], at)
        say.append((np.exp(shifted[:, :-1]), at, shifted[np.arange(n), at]))
    sums = all_reduce([np.concatenate([e.sum(1), c]) for e, _, c in say])
    losses, grads = [], []
    for (e, at, _), s in zip(say, sums):
        losses.append(float(np.log(s[:n]).mean() - s[n:].mean()))
        g = np.hstack([e / s[:n, None], np.zeros((n, 1))])
        np.subtract.at(g, (np.arange(n), at), 1.0)
        grads.append(g[:, :-1] / n)
    return losses, grads

def traffic(n, d, ranks, itemsize):
    piece = n * d * itemsize / ranks
    messages = 4 * 2 * (ranks - 1)
    return {"sent_sp": messages * piece, "sent": messages * piece, "reduced": 4 * ranks * piece}

# %% loops
# part: 1
"""Plain loops over rows and features."""
import numpy as np

def mlp(x, w1, b1, w2, b2, all_reduce):
    parts = []
    for r in range(len(x)):
        rows = []
        for row in x[r]:
            h = [max(sum(a * w for a, w in zip(row, w1[r][:, f])) + b1[r][f], 0.0) for f in range(w1[r].shape[1])]
            rows.append([sum(a * v for a, v in zip(h, w2[r][:, e])) for e in range(w2[r].shape[1])])
        parts.append(np.array(rows))
    out = []
    for y, b in zip(all_reduce(parts), b2):
        out.append(np.array([[v + c for v, c in zip(row, b)] for row in y]))
    return out

# %% generators
"""A coroutine per rank, advanced in lockstep; pure functions otherwise."""
import numpy as np
from norms import rms_backward

def lockstep(tasks, all_reduce):
    tasks, said, done = list(tasks), None, []
    while True:
        asks = []
        for r, task in enumerate(tasks):
            try:
                asks.append(task.send(None if said is None else said[r]))
            except StopIteration as stop:
                done.append(stop.value)
        if done:
            return done
        said = all_reduce([a for a, _ in asks], *asks[0][1])

def mlp(x, w1, b1, w2, b2, all_reduce):
    def rank(x, w1, b1, w2, b2):
        y = yield (np.maximum(x @ w1 + b1, 0) @ w2, ())
        return y + b2
    return lockstep((rank(*own) for own in zip(x, w1, b1, w2, b2)), all_reduce)

def mlp_backward(grad_y, x, w1, b1, w2, b2, all_reduce):
    def rank(g, x, w1, b1, w2):
        h = np.maximum(x @ w1 + b1, 0)
        gz = g @ w2.T * np.sign(h)
        gx = yield (gz @ w1.T, ())
        return gx, x.T @ gz, gz.sum(0), h.T @ g, g.sum(0)
    return tuple(map(list, zip(*lockstep((rank(*own) for own in zip(grad_y, x, w1, b1, w2)), all_reduce))))

def norm_backward(grad_h, x, gain, all_reduce):
    def rank(r, g, own, gain):
        before = sum(len(a) for a in x[:r])
        gx, gg = rms_backward(g[before : before + len(own)], own, gain)
        return gx, (yield (gg, ()))
    found = lockstep((rank(r, *own) for r, own in enumerate(zip(grad_h, x, gain))), all_reduce)
    return [a for a, _ in found], [b for _, b in found]

def vocab_loss(logits, targets, all_reduce):
    def rank(r, z, t):
        t = t - sum(a.shape[1] for a in logits[:r])
        hot = np.zeros(z.shape)
        own = (0 <= t) & (t < z.shape[1])
        hot[own, t[own]] = 1
        top = yield (z.max(1), ("max",))
        z = z - top[:, None]
        total = yield (np.exp(z).sum(1), ())
        mine = yield (np.einsum("nv,nv->n", z, hot), ())
        return float((np.log(total) - mine).mean()), (np.exp(z) / total[:, None] - hot) / len(z)
    found = lockstep((rank(r, z, t) for r, (z, t) in enumerate(zip(logits, targets))), all_reduce)
    return [a for a, _ in found], [b for _, b in found]

def traffic(n, d, ranks, itemsize):
    shard = n // ranks * d * itemsize
    all_gather = reduce_scatter = (ranks - 1) * shard
    layer = 4 * (all_gather + reduce_scatter)
    return {"reduced": 4 * ranks * shard, "sent": layer, "sent_sp": layer}

# %% one-rank-after-the-other
"""Sums with numpy's tensordot and matmul on stacked lists; adds b2 by broadcasting over a stack."""
import numpy as np
from norms import rms_backward

def mlp(x, w1, b1, w2, b2, all_reduce):
    def part(r):
        z = np.tensordot(x[r], w1[r], axes=(1, 0)) + b1[r][None, :]
        return np.tensordot(z * (z > 0), w2[r], axes=1)
    y = np.stack(all_reduce(list(map(part, range(len(x))))))
    return list(y + np.stack(b2)[:, None, :])

def mlp_backward(grad_y, x, w1, b1, w2, b2, all_reduce):
    grads = {"x": [], "w1": [], "b1": [], "w2": [], "b2": []}
    for g, a, u, c, v in zip(grad_y, x, w1, b1, w2):
        z = a @ u + c
        on = z > 0
        dz = np.where(on, g @ v.T, 0)
        for name, value in {"x": dz @ u.T, "w1": a.T @ dz, "b1": dz.sum(0), "w2": (z * on).T @ g, "b2": g.sum(0)}.items():
            grads[name].append(value)
    grads["x"] = all_reduce(grads["x"])
    return tuple(grads.values())

def norm_backward(grad_h, x, gain, all_reduce):
    sizes = np.array([a.shape[0] for a in x])
    offsets = np.cumsum(sizes) - sizes
    grad_x, parts = [], []
    for r, o in enumerate(offsets):
        index = np.arange(o, o + sizes[r])
        gx, gg = rms_backward(np.take(grad_h[r], index, axis=0), x[r], gain[r])
        grad_x.append(gx)
        parts.append(gg)
    return grad_x, all_reduce(parts)

def vocab_loss(logits, targets, all_reduce):
    sizes = np.array([z.shape[1] for z in logits])
    offsets = np.cumsum(sizes) - sizes
    n = targets[0].size
    tops = all_reduce([np.max(z, axis=1) for z in logits], "max")
    local = [t - o for t, o in zip(targets, offsets)]
    own = [(a >= 0) & (a < s) for a, s in zip(local, sizes)]
    picked = [np.where(m, np.take_along_axis(z, np.clip(a, 0, s - 1)[:, None], 1)[:, 0] - t, 0)
              for m, z, a, s, t in zip(own, logits, local, sizes, tops)]
    sums = all_reduce([np.stack((np.exp(z - t[:, None]).sum(1), p)) for z, t, p in zip(logits, tops, picked)])
    losses = [float(np.sum(np.log(a) - b) / n) for a, b in sums]
    grads = []
    for z, t, s, m, a in zip(logits, tops, sums, own, local):
        g = np.exp(z - (t + np.log(s[0]))[:, None])
        i = np.nonzero(m)[0]
        g[i, a[i]] -= 1.0
        grads.append(g / n)
    return losses, grads

def traffic(n, d, ranks, itemsize):
    collectives = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1}
    part = n * d * itemsize * (ranks - 1) / ranks
    return {"reduced": n * d * itemsize * 4, "sent": 4 * collectives["all_reduce"] * part,
            "sent_sp": 4 * (collectives["all_gather"] + collectives["reduce_scatter"]) * part}

# %% column-at-a-time
"""Reduces parts in float64 from columns; the gradient by log-probabilities; b2 by a rank of its own sum."""
import numpy as np
from norms import rms_backward

relu = lambda z: 0.5 * (z + abs(z))

def mlp(x, w1, b1, w2, b2, all_reduce):
    parts = []
    for a, u, c, v in zip(x, w1, b1, w2):
        y = np.zeros((a.shape[0], v.shape[1]))
        for f in range(u.shape[1]):
            y += np.outer(relu(a @ u[:, f] + c[f]), v[f])
        parts.append(y)
    return [b + y for b, y in zip(b2, all_reduce(parts))]

def mlp_backward(grad_y, x, w1, b1, w2, b2, all_reduce):
    out = []
    for g, a, u, c, v in zip(grad_y, x, w1, b1, w2):
        gx, gu, gc, gv = np.zeros_like(a), np.zeros_like(u), np.zeros_like(c), np.zeros_like(v)
        for f in range(u.shape[1]):
            z = a @ u[:, f] + c[f]
            dz = (g @ v[f]) * (z > 0)
            gx += np.outer(dz, u[:, f])
            gu[:, f], gc[f], gv[f] = a.T @ dz, dz.sum(), relu(z) @ g
        out.append((gx, gu, gc, gv, g.sum(axis=0)))
    columns = [[one[k] for one in out] for k in range(5)]
    return (all_reduce(columns[0]), *columns[1:])

def norm_backward(grad_h, x, gain, all_reduce):
    grads = [iter(g) for g in grad_h]
    out = []
    for r in range(len(x)):
        rows = list(grads[r])
        begin = sum(map(len, x[:r]))
        out.append(rms_backward(np.array(rows[begin : begin + len(x[r])]), x[r], gain[r]))
    return [a for a, _ in out], all_reduce([b for _, b in out])

def vocab_loss(logits, targets, all_reduce):
    start, top = 0, all_reduce([z.max(1) for z in logits], "max")
    held, sums = [], []
    for z, t, m in zip(logits, targets, top):
        mine = {i: int(k) - start for i, k in enumerate(t) if start <= k < start + z.shape[1]}
        start += z.shape[1]
        held.append(mine)
        sums.append([[float(np.exp(z[i] - m[i]).sum()), float(z[i, mine[i]] - m[i]) if i in mine else 0.0] for i in range(len(t))])
    sums = all_reduce([np.array(s) for s in sums])
    losses, grads = [], []
    for z, m, s, mine in zip(logits, top, sums, held):
        log_p = z - m[:, None] - np.log(s[:, :1])
        g = np.exp(log_p)
        for i, k in mine.items():
            g[i, k] -= 1
        losses.append(float(-(s[:, 1] - np.log(s[:, 0])).mean()))
        grads.append(g / len(s))
    return losses, grads

def traffic(n, d, ranks, itemsize):
    reduced = sum(n * d * itemsize for _ in ("attention", "mlp") for _ in ("forward", "backward"))
    return {"reduced": reduced, "sent": reduced * 2 * (ranks - 1) / ranks, "sent_sp": reduced * 2 * (ranks - 1) / ranks}
