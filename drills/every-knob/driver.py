"""What each property of the script needs: rows that carry their number, weights of other sizes."""

import numpy as np
import task

HIDDEN = 64
KEPT = "loss", "accuracy"


def _params(inputs, hidden, classes, seed):
    """Weights of a network, from no function of the script."""
    rng = np.random.default_rng(seed)
    return {
        "w1": rng.standard_normal((inputs, hidden)) * np.sqrt(2 / inputs),
        "b1": 0.1 * rng.standard_normal(hidden),
        "w2": rng.standard_normal((hidden, classes)) / np.sqrt(hidden),
        "b2": 0.1 * rng.standard_normal(classes),
    }


def _copied(params):
    return {name: p.copy() for name, p in params.items()}


def _loss(params, x, y):
    """The mean loss without dropout."""
    hidden = np.maximum(x @ params["w1"] + params["b1"], 0)
    logits = hidden @ params["w2"] + params["b2"]
    logits = logits - logits.max(axis=1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return float(-log_p[np.arange(len(y)), y].mean())


def one_pass(program, rows, seeds):
    """Send rows and labels that carry their number through one pass of batches.

    Returns the numbers of the rows as they come, and with another generator; the labels that come
    with the first; and the sizes of all their pieces, batch by batch with a 0 between them.
    """
    number, seed = np.arange(int(rows)), int(seeds[0])
    x, y = np.stack([number, number**2], axis=1).astype(np.float64), number.copy()
    orders = []
    for rng in (np.random.default_rng(seed), np.random.default_rng(seed + 1)):
        given = [list(pieces) for pieces in program.batches(x.copy(), y.copy(), rng)]
        orders.append([np.asarray(px) for pieces in given for px, _ in pieces])
        if len(orders) == 1:
            labels = np.concatenate([np.asarray(py) for pieces in given for _, py in pieces])
            sizes = [n for pieces in given for n in (*(len(py) for _, py in pieces), 0)]
    first, second = (np.concatenate(order)[:, 0] for order in orders)
    return first, second, labels, sizes


def pairs(first, second, labels, rows):
    """Judge one pass of batches.

    Returns the numbers of the rows in rising order, how far each label is from its row, and whether
    rows come in another order than before, and in another one with another generator.
    """
    moved = [not np.array_equal(first, one) for one in (np.arange(int(rows)), second)]
    return np.sort(first), np.abs(first - labels), moved


def one_step(program, x, y, cuts, hidden):
    """One step without dropout, on rows that are cut into pieces of the sizes `cuts`."""
    params = _params(x.shape[1], hidden, 4, len(y))
    ends = np.cumsum(cuts)
    pieces = [(x[a:b], y[a:b]) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    new, loss = program.step(params, pieces, np.random.default_rng(1), drop=0.0, lr=0.1)
    return new["w1"], new["b1"], new["w2"], new["b2"], float(loss)


def fitted(program, seeds):
    """Return weights of networks after five steps on 64 rows, at the script's own rate."""
    found = []
    for seed in map(int, seeds):
        x, y = (rows[:64] for rows in task.rows(seed)[:2])
        params, rng = _params(x.shape[1], 64, 4, seed), np.random.default_rng(seed)
        for _ in range(5):
            params, _ = program.step(_copied(params), [(x.copy(), y.copy())], rng, drop=0.0)
        found.append(params)
    return found


def one_batch(found, seeds):
    """Return the losses of the 64 rows that weights were fitted to, the worst one last."""
    rows = [task.rows(int(seed))[:2] for seed in seeds]
    return sorted(_loss(p, x[:64], y[:64]) for p, (x, y) in zip(found, rows, strict=True))


def _equal_units(scale):
    """Return a network whose hidden units are all 1, and whose first logit is `scale`."""
    return {
        "w1": np.zeros((3, HIDDEN)), "b1": np.ones(HIDDEN),
        "w2": np.tile([float(scale) / HIDDEN, 0, 0, 0], (HIDDEN, 1)), "b2": np.zeros(4),
    }  # fmt: skip


def dropped(program, rows, drop, scale, seeds):
    """Return losses, w2 and b1 after steps on rows that differ only in the units that are dropped.

    The steps are one on all rows, the same with another generator, and one on a single row.
    """
    seed, found = int(seeds[0]), []
    for count, of_rng in ((rows, seed), (rows, seed + 1), (1, seed)):
        piece = np.zeros((count, 3)), np.zeros(count, dtype=np.int64)
        rng = np.random.default_rng(of_rng)
        new, loss = program.step(_equal_units(scale), [piece], rng, drop=drop, lr=1.0)
        found.append((float(loss), new["w2"], new["b1"]))
    losses, w2, b1 = zip(*found, strict=True)
    return list(losses), list(w2), list(b1)


def noise(losses, w2, b1, scale):
    """Judge the steps on rows that differ only in the units that are dropped.

    Returns the loss, how far the weights behind and before the hidden layer move, in the mean,
    whether another generator gives another loss, how many units were dropped for all rows, and
    whether the units that one row keeps are the same on both sides of the layer.
    """
    old = _equal_units(scale)
    behind = (w2[0] - old["w2"]).mean(axis=0)
    before = float((b1[0] - old["b1"]).mean() * HIDDEN)
    idle = int(np.sum(np.all(w2[0] == old["w2"], axis=1)))
    kept = np.any(w2[2] != old["w2"], axis=1), b1[2] != old["b1"]
    agree = bool(np.array_equal(*kept) and not kept[0].all())
    return losses[0], behind, before, bool(losses[0] != losses[1]), idle, agree


def twice(program, x, y, seeds):
    """The accuracy with two generators, and what the first one draws afterwards."""
    seed = int(seeds[0])
    params = _params(x.shape[1], 32, 4, seed)
    rng = np.random.default_rng(seed)
    first = program.evaluate(_copied(params), x.copy(), y.copy(), rng)
    second = program.evaluate(_copied(params), x.copy(), y.copy(), np.random.default_rng(seed + 1))
    return float(first), float(second), float(rng.random())


def runs(program, seeds):
    """Return the losses and accuracies of runs, by epoch."""
    runs = [program.train(int(seed)) for seed in seeds]
    return [{name: [float(one) for one in run[name]] for name in KEPT} for run in runs]


def trained(runs):
    """Judge how runs end: accuracies, the worst last, the mean of the last losses, and lengths."""
    accuracies = sorted((run["accuracy"][-1] for run in runs), reverse=True)
    last_loss = float(np.mean([run["loss"][-1] for run in runs]))
    return accuracies, last_loss, [len(run[name]) for run in runs for name in KEPT]
