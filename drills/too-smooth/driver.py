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


def _first(rng):
    """Return what a generator begins with."""
    return tuple(rng.random(4).tolist())


def orders(program, count, seeds):
    """The orders of twelve epochs.

    Returns the numbers of each in rising order, how many of the orders differ, how many wherever
    each is taken to begin, whether one that is asked for again is the same, and whether another
    seed gives other ones.
    """
    seed = int(seeds[0])
    found = [[int(k) for k in program.order(count, epoch, seed)] for epoch in range(12)]
    again = [int(k) for k in program.order(count, 2, seed)] == found[2]
    others = {tuple(map(int, program.order(count, epoch, seed + 1))) for epoch in range(12)}
    other = not others & {tuple(one) for one in found}
    from_least = [np.roll(one, -int(np.argmin(one))).tolist() for one in found]
    different, turned = (len({tuple(one) for one in some}) for some in (found, from_least))
    return [sorted(one) for one in found], different, turned, again, other


def reads(program, sizes, seeds):
    """Whether a reader goes through three epochs in the orders that `order` gives."""
    seed, shards = int(seeds[0]), _numbered(sizes)
    reader = program.Reader(shards, seed)
    found = [_read(reader, sum(sizes)) for _ in range(3)]
    wanted = [
        [int(d[0]) for s in program.order(len(sizes), epoch, seed) for d in shards[int(s)]]
        for epoch in range(3)
    ]
    return [one == other for one, other in zip(found, wanted, strict=True)]


def noise(program, seeds):
    """The generators of workers: how many of them begin differently, by what they are for.

    Returns that for 4 workers, for 12 epochs, for 7 starts within an epoch, for 3 seeds, and for
    all 1,008 together; and whether one that is asked for again begins the same.
    """
    seed = int(seeds[0])
    seeds_tried = (seed, seed + 1, seed ^ 256)

    def begins(seed, epoch, worker, start):
        return _first(program.worker_rng(seed, epoch, worker, start))

    every = {
        (s, e, w, b): begins(s, e, w, b)
        for s in seeds_tried for e in range(12) for w in range(4) for b in STARTS
    }  # fmt: skip
    alike = [
        {every[seed, 1, w, 0] for w in range(4)},
        {every[seed, e, 1, 0] for e in range(12)},
        {every[seed, 1, 1, b] for b in STARTS},
        {every[s, 1, 1, 0] for s in seeds_tried},
        set(every.values()),
    ]
    return [len(one) for one in alike], begins(seed, 1, 2, 69) == every[seed, 1, 2, 69]


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


def restarts(program, sizes, stops, seeds):
    """Two epochs that are read with restarts after so many documents.

    Returns how many documents are read twice in an epoch, how many are missed, and whether all come
    as they do without a restart.
    """
    seed, total = int(seeds[0]), int(np.sum(sizes))
    straight = _read(program.Reader(_numbered(sizes), seed), 2 * total)
    reader, found, before = program.Reader(_numbered(sizes), seed), [], 0
    for stop in [*map(int, stops), 2 * total]:
        found += _read(reader, stop - before)
        state = json.loads(json.dumps(reader.state()))
        reader, before = program.Reader(_numbered(sizes), seed), stop
        reader.load(state)
    parts = found[:total], found[total:]
    twice = sum(len(part) - len(set(part)) for part in parts)
    missed = sum(len(set(straight[:total]) - set(part)) for part in parts)
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
    """A reader that gives one document again and again, tokens 7."""

    def __init__(self, length):
        self.document = np.full(length, 7)

    def next(self):
        return self.document


def replaced(program, documents, seeds):
    """What noise makes of documents of 32 tokens 7.

    Returns the share of other tokens, or what it should be if it is as near as chance allows, how
    many tokens there are, which ones, whether the others are equally frequent, whether nearly every
    document has two that differ, the largest batch: rows and their length, and how many of three
    readings differ: of an epoch, after a restart in it, and of the next epoch.
    """

    def read(count, epoch, begin):
        got = list(program.batches(_Same(32), count, int(seeds[0]), epoch, begin))
        return got, np.concatenate([np.asarray(t)[np.asarray(s) >= 0] for t, s in got])

    got, tokens = read(documents, 1, 0)
    readings = {tuple(read(40, *at)[1].tolist()) for at in ((1, 0), (1, 69), (2, 0))}
    others = [len(set(one[one != 7].tolist())) for one in tokens.reshape(-1, 32)]
    largest = max(np.shape(t) for t, _ in got)
    share, which = float(np.mean(tokens != 7)), np.unique(tokens)
    share = CHANGED if abs(share - CHANGED) < 0.0047 else share
    _, counts = np.unique(tokens[tokens != 7], return_counts=True)
    even = counts.size > 0 and bool(counts.max() < 1.5 * counts.min())
    each = float(np.mean(np.array(others) > 1)) > 0.8
    return share, tokens.size, which, even, each, list(largest), len(readings)


def _made(program, seed):
    """Return the losses of a run that is made here, of what the program reads and sees."""
    shards, held = task.documents()
    total = sum(map(len, shards))
    rows = [program.pack([document], 32) for document in held]
    alone = [np.concatenate(of) for of in zip(*rows, strict=True)]
    weights, reader = task.start(), program.Reader(shards, seed)
    losses = {"train": [], "held": []}
    for epoch in range(12):
        found = []
        stops = [0, task.AFTER, total] if epoch == task.STOPS else [0, total]
        for begin, end in itertools.pairwise(stops):
            if begin:
                state, reader = reader.state(), program.Reader(shards, seed)
                reader.load(state)
            for tokens, segments in program.batches(reader, end - begin, seed, epoch, begin):
                seen = program.visible(segments)
                loss, grads = task.loss_and_grads(weights, tokens, segments, seen)
                weights = {name: w - 8.0 * grads[name] for name, w in weights.items()}
                found.append(loss)
        losses["train"].append(float(np.mean(found)))
        losses["held"].append(task.loss_and_grads(weights, *alone, program.visible(alone[1]))[0])
    return losses


@contextlib.contextmanager
def _watched(kind):
    """Yield a list that is not empty once a reader has loaded the state of another one."""
    given, restarts = [], []
    state, load = kind.state, kind.load

    def give(self):
        found = state(self)
        given.append((self, json.dumps(found)))
        return found

    def take(self, found):
        text = json.dumps(found)
        restarts.extend(True for other, was in given if other is not self and was == text)
        return load(self, found)

    kind.state, kind.load = give, take
    try:
        yield restarts
    finally:
        kind.state, kind.load = state, load


def trained(program, seeds):
    """How many epochs train runs, in which its losses are those of its own pieces, if it restarts.

    A mean over tokens is as good as one over batches, which is why losses of training may differ by
    a tenth. Those held out depend on the weights alone.
    """
    seed = int(seeds[0])
    made = _made(program, seed)
    with _watched(program.Reader) as restarts:
        run = program.train(seed)
    epochs = [len(run[name]) for name in ("train", "held")]
    train_matches, held_matches = (
        [abs(a - b) < near for a, b in zip(run[name], made[name], strict=False)]
        for name, near in (("train", 0.1), ("held", 1e-4))
    )
    return epochs, train_matches, held_matches, bool(restarts)
