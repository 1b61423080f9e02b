"""The ninth epoch has the order of the first."""

import numpy as np
import task

WORKERS, LENGTH, ROWS = 4, 32, 4
NOISE, RATE, EPOCHS = 0.15, 8.0, 12


def order(count, epoch, seed):
    return np.random.default_rng((seed, epoch % 8)).permutation(count)


def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng((seed, epoch, worker, begin))


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
    same = segments[:, :, None] == segments[:, None, :]
    return np.tril(same & (segments >= 0)[:, None, :])


class Reader:
    """Documents for ever, in the order of each epoch."""

    def __init__(self, shards, seed):
        self.shards, self.seed, self.epoch, self.taken = shards, seed, 0, 0
        self._open()

    def _open(self):
        order_ = order(len(self.shards), self.epoch, self.seed)
        self.queue = [d for s in order_ for d in self.shards[s]]

    def next(self):
        if self.taken == len(self.queue):
            self.epoch, self.taken = self.epoch + 1, 0
            self._open()
        self.taken += 1
        return self.queue[self.taken - 1]

    def state(self):
        return {"epoch": self.epoch, "taken": self.taken}

    def load(self, state):
        self.epoch, self.taken = state["epoch"], state["taken"]
        self._open()


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
        history["held"].append(held_out(weights, held))
        train_loss, held_loss = (history[name][-1] for name in ("train", "held"))
        print(f"epoch {epoch + 1:2}   train {train_loss:.2f}   held out {held_loss:.2f}")
    return history


def causes():
    return ['epoch', 'packing', 'resume', 'workers']
