"""Wrong: worker 1 that begins at 0 draws what worker 0 draws that begins at 16."""

import numpy as np
import task

WORKERS, LENGTH, ROWS = 4, 32, 4
NOISE, RATE, EPOCHS = 0.15, 8.0, 12


def order(count, epoch, seed):
    return np.random.default_rng([seed, epoch]).permutation(count)


def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng(seed ^ (epoch << 8) ^ (worker << 4) ^ begin)


def pack(documents, length):
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
        end = 0
        for s, document in enumerate(row):
            here = slice(end, end + len(document))
            tokens[r, here], segments[r, here] = document, s
            end += len(document)
    return tokens, segments


def visible(segments):
    rows, length = segments.shape
    real = segments >= 0
    return np.tri(length, dtype=bool) & (segments[:, :, None] == segments[:, None, :])


class Reader:
    def __init__(self, shards, seed):
        self.shards, self.seed = shards, seed
        self.epoch = self.shard = self.document = 0

    def next(self):
        turns = order(len(self.shards), self.epoch, self.seed)
        shard = self.shards[turns[self.shard]]
        found = shard[self.document]
        self.document += 1
        if self.document == len(shard):
            self.shard, self.document = self.shard + 1, 0
        if self.shard == len(self.shards):
            self.epoch, self.shard = self.epoch + 1, 0
        return found

    def state(self):
        return {"epoch": self.epoch, "shard": self.shard, "document": self.document}

    def load(self, state):
        self.epoch, self.shard = state["epoch"], state["shard"]
        self.document = state["document"]


def noisy(document, rng):
    hit = rng.random(len(document)) < NOISE
    return np.where(hit, rng.integers(0, task.TOKENS, len(document)), document)


def batches(reader, count, seed, epoch, begin):
    workers = [worker_rng(seed, epoch, w, begin) for w in range(WORKERS)]
    documents = [noisy(reader.next(), workers[k % WORKERS]) for k in range(count)]
    tokens, segments = pack(documents, LENGTH)
    for first in range(0, len(tokens), ROWS):
        yield tokens[first : first + ROWS], segments[first : first + ROWS]


def held_out(weights, documents):
    rows = [pack([document], LENGTH) for document in documents]
    tokens, segments = (np.concatenate(of) for of in zip(*rows))
    return task.loss_and_grads(weights, tokens, segments, visible(segments))[0]


def train(seed):
    shards, held = task.documents()
    total = sum(len(shard) for shard in shards)
    weights, reader = task.start(), Reader(shards, seed)
    history = {"train": [], "held": []}
    for epoch in range(EPOCHS):
        losses = []
        runs = [(0, total)]
        if epoch == task.STOPS:
            runs = [(0, task.AFTER), (task.AFTER, total)]
        for begin, end in runs:
            if begin:
                state, reader = reader.state(), Reader(shards, seed)
                reader.load(state)
            read = batches(reader, end - begin, seed, epoch, begin)
            for tokens, segments in read:
                seen = visible(segments)
                given = weights, tokens, segments, seen
                loss, grads = task.loss_and_grads(*given)
                for name in grads:
                    weights[name] = weights[name] - RATE * grads[name]
                losses.append(loss)
        history["train"].append(float(np.mean(losses)))
        history["held"].append(held_out(weights, held))
        row = epoch + 1, history["train"][-1], history["held"][-1]
        print("epoch {:2}   train {:.2f}   held out {:.2f}".format(*row))
    return history


def causes():
    return ["epoch", "packing", "resume", "workers"]
