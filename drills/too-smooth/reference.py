"""The input pipeline of a small language model: shards, workers, rows, and a restart.

What is random depends on the seed, the epoch, the worker and where it started together, so that
nothing is drawn twice and everything can be drawn again. A reader is at an epoch, at a shard in the
order of that epoch, and at a document of the shard.
"""

import numpy as np
import task

WORKERS, LENGTH, ROWS = 4, 32, 4
NOISE, RATE, EPOCHS = 0.15, 8.0, 12


def order(count, epoch, seed):
    """Return the numbers 0 to count - 1 in the order of an epoch."""
    return np.random.default_rng([seed, epoch]).permutation(count)


def worker_rng(seed, epoch, worker, begin):
    """Return the generator of a worker that starts with document `begin` of an epoch.

    Zeros at the end of a seed change nothing, so a worker is counted from 1.
    """
    return np.random.default_rng([seed, epoch, worker + 1, begin])


def pack(documents, length):
    """Return rows of documents, one after the other, and which document each token is of.

    Args:
        documents: arrays of ints, of at most `length` each.
        length: of a row.

    Returns:
        tokens: (rows, length) ints, 0 for padding.
        segments: (rows, length) ints, counted in each row; -1 for padding.
    """
    rows, room = [], 0
    for document in documents:
        if len(document) > room:
            rows.append([])
            room = length
        rows[-1].append(document)
        room -= len(document)
    tokens = np.zeros((len(rows), length), dtype=np.int64)
    segments = np.full((len(rows), length), -1)
    for r, row in enumerate(rows):
        ends = np.cumsum([len(document) for document in row])
        tokens[r, : ends[-1]] = np.concatenate(row)
        segments[r, : ends[-1]] = np.repeat(np.arange(len(row)), np.diff(ends, prepend=0))
    return tokens, segments


def visible(segments):
    """Return which positions each one sees: those of its document, up to itself."""
    same = segments[:, :, None] == segments[:, None, :]
    return same & np.tri(segments.shape[1], dtype=bool)


class Reader:
    """Reads the documents of all shards, one epoch after the other."""

    def __init__(self, shards, seed):
        """Begin with the first epoch."""
        self.shards, self.seed = shards, seed
        self.epoch = self.shard = self.document = 0

    def next(self):
        """Return the next document."""
        shard = self.shards[order(len(self.shards), self.epoch, self.seed)[self.shard]]
        found = shard[self.document]
        self.document += 1
        if self.document == len(shard):
            self.shard, self.document = self.shard + 1, 0
        if self.shard == len(self.shards):
            self.epoch, self.shard = self.epoch + 1, 0
        return found

    def state(self):
        """Return what a restart needs, in plain data."""
        return {"epoch": self.epoch, "shard": self.shard, "document": self.document}

    def load(self, state):
        """Go on where `state` was taken."""
        self.epoch, self.shard = state["epoch"], state["shard"]
        self.document = state["document"]


def batches(reader, count, seed, epoch, begin):
    """Return the next documents in batches of rows; each worker puts noise into its own.

    Args:
        reader: a Reader, at document `begin` of an epoch.
        count: how many documents are read.
        seed: of the run.
        epoch: the epoch.
        begin: how many of its documents have been read.
    """
    workers = [worker_rng(seed, epoch, w, begin) for w in range(WORKERS)]
    documents = [_noisy(reader.next(), workers[k % WORKERS]) for k in range(count)]
    tokens, segments = pack(documents, LENGTH)
    cuts = range(0, len(tokens), ROWS)
    return [(tokens[c : c + ROWS], segments[c : c + ROWS]) for c in cuts]


def train(seed):
    """Train, with a restart in the middle; return the losses of each, trained on and held out."""
    shards, held = task.documents()
    total = sum(len(shard) for shard in shards)
    weights, reader = task.start(), Reader(shards, seed)
    history = {"train": [], "held": []}
    for epoch in range(EPOCHS):
        losses = []
        runs = [(0, total)] if epoch != task.STOPS else [(0, task.AFTER), (task.AFTER, total)]
        for begin, end in runs:
            if begin:
                state, reader = reader.state(), Reader(shards, seed)
                reader.load(state)
            for tokens, segments in batches(reader, end - begin, seed, epoch, begin):
                loss, grads = task.loss_and_grads(weights, tokens, segments, visible(segments))
                weights = {name: w - RATE * grads[name] for name, w in weights.items()}
                losses.append(loss)
        history["train"].append(float(np.mean(losses)))
        history["held"].append(_held_out(weights, held))
    return history


def causes():
    """Return the ids of what was wrong with the script as it came."""
    return ["epoch", "packing", "resume", "workers"]


def _noisy(document, rng):
    """Return a document with some of its tokens replaced."""
    hit = rng.random(len(document)) < NOISE
    return np.where(hit, rng.integers(0, task.TOKENS, len(document)), document)


def _held_out(weights, documents):
    """Return the loss of documents that are in rows of their own."""
    rows = [pack([document], LENGTH) for document in documents]
    tokens, segments = (np.concatenate(of) for of in zip(*rows, strict=True))
    return task.loss_and_grads(weights, tokens, segments, visible(segments))[0]
