"""What each property of the pipeline needs: documents that carry their number."""

import contextlib
import itertools
import json

import numpy as np
import task

CHANGED = 0.15 * 15 / 16  # of tokens that any of 16 replaces with probability 0.15
# Multiples of ten and powers of two: for seeds that are sums with weights, or made of bits.
STARTS = (0, 1, 10, 16, 64, 69, 100)


def _numbered(sizes):
    """Return shards of documents of one token, which is 100 times the shard plus the document."""
    return [[np.array([100 * s + d]) for d in range(size)] for s, size in enumerate(sizes)]


def _read(reader, count):
    return [int(reader.next()[0]) for _ in range(count)]


def order_lists(program, count, seeds):
    """Return the orders of twelve epochs, the third once more, and those of another seed."""
    count, seed = int(count), int(seeds[0])

    def order(epoch, seed):
        return [int(k) for k in program.order(count, epoch, seed)]

    found = [order(epoch, seed) for epoch in range(12)]
    return found, order(2, seed), [order(epoch, seed + 1) for epoch in range(12)]


def orders(found, again, others):
    """Judge the orders of twelve epochs.

    Returns the numbers of each in rising order, how many of the orders differ, how many wherever
    each is taken to begin, whether one that is asked for again is the same, and whether another
    seed gives other ones.
    """
    from_least = [np.roll(one, -int(np.argmin(one))).tolist() for one in found]
    different, turned = (len({tuple(one) for one in some}) for some in (found, from_least))
    other = not {tuple(one) for one in others} & {tuple(one) for one in found}
    return [sorted(one) for one in found], different, turned, again == found[2], other


def read_epochs(program, sizes, seeds):
    """Return what a reader gives in three epochs, and the orders of their shards."""
    seed = int(seeds[0])
    reader = program.Reader(_numbered(sizes), seed)
    found = [_read(reader, sum(sizes)) for _ in range(3)]
    return found, [[int(s) for s in program.order(len(sizes), e, seed)] for e in range(3)]


def reads(found, turns, sizes):
    """Return whether three epochs of documents come in the orders of their shards."""
    wanted = [[100 * s + d for s in one for d in range(int(sizes[s]))] for one in turns]
    return [one == other for one, other in zip(found, wanted, strict=True)]


def draws(program, workers, epochs, seeds):
    """Return what generators begin with: by seed, epoch, worker and start; and one once more."""
    seed = int(seeds[0])

    def begins(seed, epoch, worker, start):
        return program.worker_rng(seed, epoch, worker, start).random(4)

    every = [
        [
            [[begins(s, e, w, b) for b in STARTS] for w in range(int(workers))]
            for e in range(int(epochs))
        ]
        for s in (seed, seed + 1, seed ^ 256)
    ]
    return np.array(every), np.array(begins(seed, 1, 2, 69))


def noise(every, again):
    """Judge the generators of workers: how many of them begin differently, by what they are for.

    Returns that for the workers, for the epochs, for 7 starts within an epoch, for 3 seeds, and
    for all together; and whether one that is asked for again begins the same.
    """
    alike = [every[0, 1, :, 0], every[0, :, 1, 0], every[0, 1, 1], every[:, 1, 1, 0], every]
    different = [len({tuple(one) for one in some.reshape(-1, 4).tolist()}) for some in alike]
    return different, bool((again == every[0, 1, 2, STARTS.index(69)]).all())


def seen(program, segments):
    """What the tokens of documents see; padding may see whatever it likes."""
    mask = np.asarray(program.visible(segments.copy())).astype(bool)
    return mask & (segments >= 0)[:, :, None]


def packed(program, lengths, length):
    """The documents that come out of rows, in order, how many each row has, and the rows' lengths.

    Documents carry their number in every token.
    """
    documents = [np.full(n, k + 1) for k, n in enumerate(lengths)]
    tokens, segments = (np.asarray(of) for of in program.pack(documents, length))
    counts = [int(row.max()) + 1 for row in segments]
    found = [
        tokens[r][segments[r] == s].tolist() for r, count in enumerate(counts) for s in range(count)
    ]
    padding = tokens[segments < 0]
    return found, counts, list(tokens.shape), list(segments.shape), int(np.abs(padding).sum())


def stopped(program, sizes, stops, seeds):
    """Return two epochs of documents as they are read without restarts, and with some."""
    seed, total = int(seeds[0]), int(np.sum(sizes))
    straight = _read(program.Reader(_numbered(sizes), seed), 2 * total)
    reader, found, before = program.Reader(_numbered(sizes), seed), [], 0
    for stop in [*map(int, stops), 2 * total]:
        found += _read(reader, stop - before)
        state = json.loads(json.dumps(reader.state()))
        reader, before = program.Reader(_numbered(sizes), seed), stop
        reader.load(state)
    return straight, found


def restarts(straight, found, sizes):
    """Judge two epochs that are read with restarts.

    Returns how many documents are read twice in an epoch, how many are missed, and whether all come
    as they do without a restart.
    """
    every = {int(d[0]) for shard in _numbered(sizes) for d in shard}
    total = len(every)
    parts = found[:total], found[total:]
    twice = sum(len(part) - len(set(part)) for part in parts)
    missed = sum(len(every - set(part)) for part in parts)
    return twice, missed, found == straight


class _Given:
    """A reader of documents that are given, of ones."""

    def __init__(self, lengths):
        self.documents = iter([np.ones(int(n), dtype=np.int64) for n in lengths])

    def next(self):
        return next(self.documents)


def batched(program, lengths, seeds):
    """The lengths of the documents that come out of batches, in order."""
    got = program.batches(_Given(lengths), len(lengths), int(seeds[0]), 0, 0)
    rows = [np.asarray(row) for _, segments in got for row in segments]
    return [int((row == s).sum()) for row in rows for s in range(int(row.max()) + 1)]


class _Same:
    """A reader that gives one document again and again, of one token."""

    def __init__(self, length, token):
        self.document = np.full(length, token)

    def next(self):
        return self.document


def noisy(program, documents, token, seeds):
    """Return what noise makes of documents of 32 equal tokens.

    Returns the tokens that come out, the shapes of the batches, and three readings of 40 documents:
    of an epoch, after a restart in it, and of the next epoch.
    """

    def read(count, epoch, begin):
        given = _Same(32, int(token))
        got = list(program.batches(given, int(count), int(seeds[0]), epoch, begin))
        tokens = np.concatenate([np.asarray(t)[np.asarray(s) >= 0] for t, s in got])
        return got, tokens.astype(np.int32)

    got, tokens = read(documents, 1, 0)
    readings = [read(40, *at)[1] for at in ((1, 0), (1, 69), (2, 0))]
    return tokens, [list(np.shape(t)) for t, _ in got], readings


def replaced(tokens, shapes, readings, token):
    """Judge what noise makes of documents of 32 equal tokens.

    Returns the share of other tokens, or what it should be if it is as near as chance allows, how
    many tokens there are, which ones, whether the others are equally frequent, whether nearly every
    document has two that differ, the largest batch: rows and their length, and how many of three
    readings differ.
    """
    others = [len(set(one[one != token].tolist())) for one in tokens.reshape(-1, 32)]
    share, which = float(np.mean(tokens != token)), np.unique(tokens)
    share = CHANGED if abs(share - CHANGED) < 0.0047 else share
    _, counts = np.unique(tokens[tokens != token], return_counts=True)
    even = counts.size > 0 and bool(counts.max() < 1.5 * counts.min())
    each = float(np.mean(np.array(others) > 1)) > 0.8
    different = len({tuple(one.tolist()) for one in readings})
    return share, tokens.size, which, even, each, max(shapes), different


def _batches(program, seed):
    """Return the batches of twelve epochs that are read here, with the restart, and held-out rows.

    Each has tokens, segments, and what the program says is visible.
    """
    shards, held = task.documents()
    total = sum(map(len, shards))
    reader, epochs = program.Reader(shards, seed), []
    for epoch in range(12):
        found = []
        stops = [0, task.AFTER, total] if epoch == task.STOPS else [0, total]
        for begin, end in itertools.pairwise(stops):
            if begin:
                state, reader = reader.state(), program.Reader(shards, seed)
                reader.load(state)
            for tokens, segments in program.batches(reader, end - begin, seed, epoch, begin):
                found.append([tokens, segments, program.visible(segments)])
        epochs.append(found)
    rows = [program.pack([document], 32) for document in held]
    alone = [np.concatenate(of) for of in zip(*rows, strict=True)]
    return epochs, [*alone, program.visible(alone[1])]


@contextlib.contextmanager
def _watched(kind):
    """Yield the states that readers give and load: the number of a reader, and JSON."""
    readers, given, loaded = [], [], []
    state, load = kind.state, kind.load

    def number(reader):
        if not any(one is reader for one in readers):
            readers.append(reader)
        return [one is reader for one in readers].index(True)

    def give(self):
        found = state(self)
        given.append([number(self), json.dumps(found)])
        return found

    def take(self, found):
        loaded.append([number(self), json.dumps(found)])
        return load(self, found)

    kind.state, kind.load = give, take
    try:
        yield given, loaded
    finally:
        kind.state, kind.load = state, load


def runs(program, seeds):
    """Return the losses of train, what its readers gave and loaded, and batches that are read here.

    The last result has the rows that are held out.
    """
    seed = int(seeds[0])
    batches, held = _batches(program, seed)
    with _watched(program.Reader) as (given, loaded):
        run = program.train(seed)
    return run, [given, loaded], batches, held


def _losses(batches, held):
    """Return the losses of a run on batches: of each epoch in training, and held out at its end."""
    weights, losses = task.start(), {"train": [], "held": []}
    for epoch in batches:
        found = []
        for batch in epoch:
            loss, grads = task.loss_and_grads(weights, *map(np.asarray, batch))
            weights = {name: w - 8.0 * grads[name] for name, w in weights.items()}
            found.append(loss)
        losses["train"].append(float(np.mean(found)))
        losses["held"].append(task.loss_and_grads(weights, *map(np.asarray, held))[0])
    return losses


def trained(run, states, batches, held):
    """Judge the losses of train: of how many epochs, in which they are right, and if it restarts.

    A mean over tokens is as good as one over batches, which is why losses of training may differ by
    a tenth. Those held out depend on the weights alone. It restarts if a reader loads the state
    that another one gave.
    """
    right = _losses(batches, held)
    epochs = [len(run[name]) for name in ("train", "held")]
    train_matches, held_matches = (
        [abs(a - b) < near for a, b in zip(run[name], right[name], strict=False)]
        for name, near in (("train", 0.1), ("held", 1e-4))
    )
    given, loaded = states
    restarted = any(a != b and text == was for a, text in loaded for b, was in given)
    return epochs, train_matches, held_matches, restarted
