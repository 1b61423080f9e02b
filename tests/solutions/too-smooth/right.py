# %% a_generator_read_forward
"""A generator gives the documents, and a restart reads it forward."""

import numpy as np
import task

WORKERS, LENGTH, ROWS = 4, 32, 4
NOISE, RATE, EPOCHS = 0.15, 8.0, 12


def order(count, epoch, seed):
    return np.random.default_rng((seed, epoch)).permutation(count)


def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng((seed, epoch, worker + 1, begin))


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
    def __init__(self, shards, seed):
        self.shards, self.seed, self.read = shards, seed, 0
        self.stream = self._documents()

    def _documents(self):
        epoch = 0
        while True:
            for s in order(len(self.shards), epoch, self.seed):
                yield from self.shards[s]
            epoch += 1

    def next(self):
        self.read += 1
        return next(self.stream)

    def state(self):
        return self.read

    def load(self, state):
        for _ in range(state):
            self.next()


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


# %% one_worker
"""One worker, whose generator makes the noise of all documents."""

import numpy as np
import task

LENGTH, ROWS = 32, 4
NOISE, RATE, EPOCHS = 0.15, 8.0, 12


def order(count, epoch, seed):
    return np.random.default_rng([seed, epoch]).permutation(count)


def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng([seed, epoch, worker + 1, begin])


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
    return np.tri(segments.shape[1], dtype=bool) & same


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
    rng = worker_rng(seed, epoch, 0, begin)
    documents = [noisy(reader.next(), rng) for _ in range(count)]
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
    return ["epoch", "workers", "packing", "resume"]


# %% seeds_from_text
"""Seeds are the bytes of a text of all four numbers."""

import numpy as np
import task

WORKERS, LENGTH, ROWS = 4, 32, 4
NOISE, RATE, EPOCHS = 0.15, 8.0, 12


def order(count, epoch, seed):
    return np.random.default_rng((seed, epoch)).permutation(count)


def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng(list(f'{seed}/{epoch}/{worker}/{begin}'.encode()))


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


# %% style_a
"""Style: that of restart_loads_nothing and others, repaired."""

import numpy as np
import task

WORKERS, LENGTH, ROWS, NOISE, RATE, EPOCHS = 4, 32, 4, 0.15, 8.0, 12

def order(count, epoch, seed):
    return np.random.default_rng((seed, epoch)).permutation(count)

def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng((1, seed, epoch, worker, begin))

def pack(documents, length):
    count = len(documents)
    tokens = np.zeros((count, length), int)
    segments = np.full((count, length), -1)
    row, end, number = 0, 0, 0
    for document in documents:
        if end + len(document) > length:
            row, end, number = row + 1, 0, 0
        tokens[row, end : end + len(document)] = document
        segments[row, end : end + len(document)] = number
        end, number = end + len(document), number + 1
    return tokens[: row + 1], segments[: row + 1]

def visible(segments):
    length = segments.shape[1]
    i, j = np.indices((length, length))
    return np.stack([(row[i] == row[j]) & (j <= i) & (row[i] >= 0) for row in segments])

class Reader:
    def __init__(self, shards, seed):
        self.shards, self.seed = shards, seed
        self.load([0, 0, 0])

    def next(self):
        epoch, s, d = self.at
        shard = self.shards[self.numbers[s]]
        if d + 1 < len(shard):
            self.at = [epoch, s, d + 1]
        elif s + 1 < len(self.shards):
            self.at = [epoch, s + 1, 0]
        else:
            self.load([epoch + 1, 0, 0])
        return shard[d]

    def state(self):
        return list(self.at)

    def load(self, state):
        self.at = list(state)
        self.numbers = list(order(len(self.shards), state[0], self.seed))

def batches(reader, count, seed, epoch, begin):
    rngs = [worker_rng(seed, epoch, w, begin) for w in range(WORKERS)]
    documents = []
    for k in range(count):
        document, rng = np.array(reader.next()), rngs[k % WORKERS]
        for i in np.flatnonzero(rng.random(len(document)) < NOISE):
            document[i] = rng.integers(task.TOKENS)
        documents.append(document)
    tokens, segments = pack(documents, LENGTH)
    for first in range(0, len(tokens), ROWS):
        yield tokens[first : first + ROWS], segments[first : first + ROWS]

def train(seed):
    shards, held = task.documents()
    total = sum(map(len, shards))
    weights, reader = task.start(), Reader(shards, seed)
    alone = [pack([document], LENGTH) for document in held]
    tokens, segments = (np.concatenate(part) for part in zip(*alone))
    history = {"train": [], "held": []}
    for epoch in range(EPOCHS):
        losses = []
        stops = [0, task.AFTER, total] if epoch == task.STOPS else [0, total]
        for begin, end in zip(stops, stops[1:]):
            if begin:
                again = Reader(shards, seed)
                again.load(reader.state())
                reader = again
            for t, s in batches(reader, end - begin, seed, epoch, begin):
                loss, grads = task.loss_and_grads(weights, t, s, visible(s))
                losses.append(loss)
                for name, grad in grads.items():
                    weights[name] = weights[name] - RATE * grad
        history["train"].append(sum(losses) / len(losses))
        history["held"].append(task.loss_and_grads(weights, tokens, segments, visible(segments))[0])
    return history

def causes():
    return ["workers", "resume", "packing", "epoch"]
