# %% one-number
"""A position is the number of documents read."""

import numpy as np
import task

WORKERS, LENGTH, ROWS, NOISE, RATE, EPOCHS = 4, 32, 4, 0.15, 8.0, 12

def order(count, epoch, seed):
    return np.random.default_rng((seed, epoch)).permutation(count)

def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng((1, seed, epoch, worker, begin))

def pack(documents, length):
    tokens, segments = [], []
    for document in documents:
        document = [int(t) for t in document]
        if not tokens or len(tokens[-1]) + len(document) > length:
            tokens.append([])
            segments.append([])
        number = segments[-1][-1] + 1 if segments[-1] else 0
        tokens[-1] += document
        segments[-1] += [number] * len(document)
    for row, of in zip(tokens, segments):
        row += [0] * (length - len(row))
        of += [-1] * (length - len(of))
    return np.array(tokens), np.array(segments)

def visible(segments):
    length = segments.shape[1]
    i, j = np.indices((length, length))
    return np.stack([(row[i] == row[j]) & (j <= i) & (row[i] >= 0) for row in segments])

class Reader:
    """Where it is, is one number: how many documents have been read."""

    def __init__(self, shards, seed):
        self.shards, self.seed, self.read = shards, seed, 0
        self.size = sum(map(len, shards))

    def next(self):
        epoch, left = divmod(self.read, self.size)
        self.read += 1
        for s in order(len(self.shards), epoch, self.seed):
            if left < len(self.shards[s]):
                return self.shards[s][left]
            left -= len(self.shards[s])

    def state(self):
        return self.read

    def load(self, state):
        self.read = state

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

# %% wound-forward
"""A generator that is wound forward."""

import numpy as np
import task

WORKERS, LENGTH, ROWS, NOISE, RATE, EPOCHS = 4, 32, 4, 0.15, 8.0, 12

def order(count, epoch, seed):
    keys = np.random.default_rng([seed, epoch, 0, 7]).random(count)
    return [int(k) for k in np.argsort(keys)]

def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, epoch, begin, worker)))

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
    rows, length = segments.shape
    mask = np.zeros((rows, length, length), bool)
    for r in range(rows):
        for i in range(length):
            for j in range(i, -1, -1):
                if segments[r, j] != segments[r, i]:
                    break
                mask[r, i, j] = True
    return mask

class Reader:
    """A generator, which is wound forward after a restart."""

    def __init__(self, shards, seed):
        self.args = shards, seed
        self.load({"read": 0})

    def _all(self):
        shards, seed = self.args
        epoch = 0
        while True:
            for s in order(len(shards), epoch, seed):
                yield from shards[s]
            epoch += 1

    def next(self):
        self.read += 1
        return next(self.stream)

    def state(self):
        return {"read": self.read}

    def load(self, state):
        self.stream, self.read = self._all(), 0
        while self.read < state["read"]:
            self.next()

def batches(reader, count, seed, epoch, begin):
    documents = [reader.next() for _ in range(count)]
    for w in range(WORKERS):
        rng = worker_rng(seed, epoch, w, begin)
        for k in range(w, count, WORKERS):
            noise = rng.integers(0, task.TOKENS, size=documents[k].shape)
            keep = rng.random(documents[k].shape) >= NOISE
            documents[k] = np.where(keep, documents[k], noise)
    tokens, segments = pack(documents, LENGTH)
    count = -(-len(tokens) // ROWS)
    return list(zip(np.array_split(tokens, range(ROWS, len(tokens), ROWS)), np.array_split(segments, range(ROWS, len(tokens), ROWS))))[:count]

def epoch_of(weights, pairs):
    losses = []
    for tokens, segments in pairs:
        loss, grads = task.loss_and_grads(weights, tokens, segments, visible(segments))
        weights = {name: weights[name] - RATE * grads[name] for name in weights}
        losses.append(loss)
    return weights, losses


def train(seed):
    shards, held = task.documents()
    total = sum(len(shard) for shard in shards)
    reader, weights = Reader(shards, seed), task.start()
    test = [np.concatenate(part) for part in zip(*(pack([d], LENGTH) for d in held))]
    of_train, of_held = [], []
    for epoch in range(EPOCHS):
        first = task.AFTER if epoch == task.STOPS else total
        weights, losses = epoch_of(weights, batches(reader, first, seed, epoch, 0))
        if first < total:
            state = reader.state()
            reader = Reader(shards, seed)
            reader.load(state)
            weights, more = epoch_of(weights, batches(reader, total - first, seed, epoch, first))
            losses += more
        of_train.append(float(np.mean(losses)))
        of_held.append(task.loss_and_grads(weights, *test, visible(test[1]))[0])
    return {"train": of_train, "held": of_held}

def causes():
    return ["workers", "resume", "packing", "epoch"]

# %% the-rest-as-a-list
"""The state is the rest of the epoch."""

import hashlib

import numpy as np
import task

WORKERS, LENGTH, ROWS, NOISE, RATE, EPOCHS = 4, 32, 4, 0.15, 8.0, 12

def order(count, epoch, seed):
    rng = np.random.default_rng(seed)
    for _ in range(epoch + 1):
        found = rng.permutation(count)
    return found

def worker_rng(seed, epoch, worker, begin):
    digest = hashlib.sha256(f"{seed}/{epoch}/{worker}/{begin}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))

def pack(documents, length):
    tokens, segments = [], []
    for document in documents:
        document = [int(t) for t in document]
        if not tokens or len(tokens[-1]) + len(document) > length:
            tokens.append([])
            segments.append([])
        number = segments[-1][-1] + 1 if segments[-1] else 0
        tokens[-1] += document
        segments[-1] += [number] * len(document)
    for row, of in zip(tokens, segments):
        row += [0] * (length - len(row))
        of += [-1] * (length - len(of))
    return np.array(tokens), np.array(segments)

def visible(segments):
    # from the first token of the document to this one
    place = np.arange(segments.shape[1])
    new = np.diff(segments, axis=1, prepend=-2) != 0
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    return (place >= first[:, :, None]) & (place <= place[:, None])

class Reader:
    """The rest of the epoch as a list of pairs."""

    def __init__(self, shards, seed):
        self.shards, self.seed, self.epoch = shards, seed, -1
        self.left = []

    def _fill(self):
        self.epoch += 1
        numbers = order(len(self.shards), self.epoch, self.seed)
        self.left = [[int(s), d] for s in numbers for d in range(len(self.shards[s]))]

    def next(self):
        if not self.left:
            self._fill()
        s, d = self.left.pop(0)
        return self.shards[s][d]

    def state(self):
        return [self.epoch, self.left]

    def load(self, state):
        self.epoch, self.left = state[0], [list(pair) for pair in state[1]]

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

def epoch_of(weights, pairs):
    losses = []
    for tokens, segments in pairs:
        loss, grads = task.loss_and_grads(weights, tokens, segments, visible(segments))
        weights = {name: weights[name] - RATE * grads[name] for name in weights}
        losses.append(loss)
    return weights, losses


def train(seed):
    shards, held = task.documents()
    total = sum(len(shard) for shard in shards)
    reader, weights = Reader(shards, seed), task.start()
    test = [np.concatenate(part) for part in zip(*(pack([d], LENGTH) for d in held))]
    of_train, of_held = [], []
    for epoch in range(EPOCHS):
        first = task.AFTER if epoch == task.STOPS else total
        weights, losses = epoch_of(weights, batches(reader, first, seed, epoch, 0))
        if first < total:
            state = reader.state()
            reader = Reader(shards, seed)
            reader.load(state)
            weights, more = epoch_of(weights, batches(reader, total - first, seed, epoch, first))
            losses += more
        of_train.append(float(np.mean(losses)))
        of_held.append(task.loss_and_grads(weights, *test, visible(test[1]))[0])
    return {"train": of_train, "held": of_held}

def causes():
    return ["workers", "resume", "packing", "epoch"]

# %% three-numbers
"""Epoch, shard and document, and the order once per epoch."""

import numpy as np
import task

WORKERS, LENGTH, ROWS, NOISE, RATE, EPOCHS = 4, 32, 4, 0.15, 8.0, 12

def order(count, epoch, seed):
    source = np.random.SeedSequence(seed, spawn_key=(0, epoch))
    found = np.arange(count)
    np.random.default_rng(source).shuffle(found)
    return found

def worker_rng(seed, epoch, worker, begin):
    key = np.array([seed, 1], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=[0, epoch, worker, begin]))

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
    documents = [reader.next() for _ in range(count)]
    for w in range(WORKERS):
        rng = worker_rng(seed, epoch, w, begin)
        for k in range(w, count, WORKERS):
            noise = rng.integers(0, task.TOKENS, size=documents[k].shape)
            keep = rng.random(documents[k].shape) >= NOISE
            documents[k] = np.where(keep, documents[k], noise)
    tokens, segments = pack(documents, LENGTH)
    count = -(-len(tokens) // ROWS)
    return list(zip(np.array_split(tokens, range(ROWS, len(tokens), ROWS)), np.array_split(segments, range(ROWS, len(tokens), ROWS))))[:count]

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

# %% shuffled-by-python
"""The order from the standard library."""

import random

import numpy as np
import task

WORKERS, LENGTH, ROWS, NOISE, RATE, EPOCHS = 4, 32, 4, 0.15, 8.0, 12

def order(count, epoch, seed):
    numbers = list(range(count))
    random.Random(f"order {seed} {epoch}").shuffle(numbers)
    return numbers

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
    # from the first token of the document to this one
    place = np.arange(segments.shape[1])
    new = np.diff(segments, axis=1, prepend=-2) != 0
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    return (place >= first[:, :, None]) & (place <= place[:, None])

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

def epoch_of(weights, pairs):
    losses = []
    for tokens, segments in pairs:
        loss, grads = task.loss_and_grads(weights, tokens, segments, visible(segments))
        weights = {name: weights[name] - RATE * grads[name] for name in weights}
        losses.append(loss)
    return weights, losses


def train(seed):
    shards, held = task.documents()
    total = sum(len(shard) for shard in shards)
    reader, weights = Reader(shards, seed), task.start()
    test = [np.concatenate(part) for part in zip(*(pack([d], LENGTH) for d in held))]
    of_train, of_held = [], []
    for epoch in range(EPOCHS):
        first = task.AFTER if epoch == task.STOPS else total
        weights, losses = epoch_of(weights, batches(reader, first, seed, epoch, 0))
        if first < total:
            state = reader.state()
            reader = Reader(shards, seed)
            reader.load(state)
            weights, more = epoch_of(weights, batches(reader, total - first, seed, epoch, first))
            losses += more
        of_train.append(float(np.mean(losses)))
        of_held.append(task.loss_and_grads(weights, *test, visible(test[1]))[0])
    return {"train": of_train, "held": of_held}

def causes():
    return ["workers", "resume", "packing", "epoch"]

# %% sequences-of-seeds
"""Everything from one SeedSequence."""

import numpy as np
import task

WORKERS, LENGTH, ROWS, NOISE, RATE, EPOCHS = 4, 32, 4, 0.15, 8.0, 12

def order(count, epoch, seed):
    source = np.random.SeedSequence(seed, spawn_key=(0, epoch))
    found = np.arange(count)
    np.random.default_rng(source).shuffle(found)
    return found

def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, epoch, begin, worker)))

def pack(documents, length):
    tokens, segments = [], []
    for document in documents:
        document = [int(t) for t in document]
        if not tokens or len(tokens[-1]) + len(document) > length:
            tokens.append([])
            segments.append([])
        number = segments[-1][-1] + 1 if segments[-1] else 0
        tokens[-1] += document
        segments[-1] += [number] * len(document)
    for row, of in zip(tokens, segments):
        row += [0] * (length - len(row))
        of += [-1] * (length - len(of))
    return np.array(tokens), np.array(segments)

def visible(segments):
    length = segments.shape[1]
    i, j = np.indices((length, length))
    return np.stack([(row[i] == row[j]) & (j <= i) & (row[i] >= 0) for row in segments])

class Reader:
    """The rest of the epoch as a list of pairs."""

    def __init__(self, shards, seed):
        self.shards, self.seed, self.epoch = shards, seed, -1
        self.left = []

    def _fill(self):
        self.epoch += 1
        numbers = order(len(self.shards), self.epoch, self.seed)
        self.left = [[int(s), d] for s in numbers for d in range(len(self.shards[s]))]

    def next(self):
        if not self.left:
            self._fill()
        s, d = self.left.pop(0)
        return self.shards[s][d]

    def state(self):
        return [self.epoch, self.left]

    def load(self, state):
        self.epoch, self.left = state[0], [list(pair) for pair in state[1]]

def batches(reader, count, seed, epoch, begin):
    documents = [reader.next() for _ in range(count)]
    for w in range(WORKERS):
        rng = worker_rng(seed, epoch, w, begin)
        for k in range(w, count, WORKERS):
            noise = rng.integers(0, task.TOKENS, size=documents[k].shape)
            keep = rng.random(documents[k].shape) >= NOISE
            documents[k] = np.where(keep, documents[k], noise)
    tokens, segments = pack(documents, LENGTH)
    count = -(-len(tokens) // ROWS)
    return list(zip(np.array_split(tokens, range(ROWS, len(tokens), ROWS)), np.array_split(segments, range(ROWS, len(tokens), ROWS))))[:count]

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

# %% keys-sorted
"""Shards sorted by random keys, seeds by a hash."""

import hashlib

import numpy as np
import task

WORKERS, LENGTH, ROWS, NOISE, RATE, EPOCHS = 4, 32, 4, 0.15, 8.0, 12

def order(count, epoch, seed):
    keys = np.random.default_rng([seed, epoch, 0, 7]).random(count)
    return [int(k) for k in np.argsort(keys)]

def worker_rng(seed, epoch, worker, begin):
    digest = hashlib.sha256(f"{seed}/{epoch}/{worker}/{begin}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))

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
    rows, length = segments.shape
    mask = np.zeros((rows, length, length), bool)
    for r in range(rows):
        for i in range(length):
            for j in range(i, -1, -1):
                if segments[r, j] != segments[r, i]:
                    break
                mask[r, i, j] = True
    return mask

class Reader:
    """Where it is, is one number: how many documents have been read."""

    def __init__(self, shards, seed):
        self.shards, self.seed, self.read = shards, seed, 0
        self.size = sum(map(len, shards))

    def next(self):
        epoch, left = divmod(self.read, self.size)
        self.read += 1
        for s in order(len(self.shards), epoch, self.seed):
            if left < len(self.shards[s]):
                return self.shards[s][left]
            left -= len(self.shards[s])

    def state(self):
        return self.read

    def load(self, state):
        self.read = state

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

def epoch_of(weights, pairs):
    losses = []
    for tokens, segments in pairs:
        loss, grads = task.loss_and_grads(weights, tokens, segments, visible(segments))
        weights = {name: weights[name] - RATE * grads[name] for name in weights}
        losses.append(loss)
    return weights, losses


def train(seed):
    shards, held = task.documents()
    total = sum(len(shard) for shard in shards)
    reader, weights = Reader(shards, seed), task.start()
    test = [np.concatenate(part) for part in zip(*(pack([d], LENGTH) for d in held))]
    of_train, of_held = [], []
    for epoch in range(EPOCHS):
        first = task.AFTER if epoch == task.STOPS else total
        weights, losses = epoch_of(weights, batches(reader, first, seed, epoch, 0))
        if first < total:
            state = reader.state()
            reader = Reader(shards, seed)
            reader.load(state)
            weights, more = epoch_of(weights, batches(reader, total - first, seed, epoch, first))
            losses += more
        of_train.append(float(np.mean(losses)))
        of_held.append(task.loss_and_grads(weights, *test, visible(test[1]))[0])
    return {"train": of_train, "held": of_held}

def causes():
    return ["workers", "resume", "packing", "epoch"]

# %% lower-triangle
"""The mask is the lower half of a comparison."""

import random

import numpy as np
import task

WORKERS, LENGTH, ROWS, NOISE, RATE, EPOCHS = 4, 32, 4, 0.15, 8.0, 12

def order(count, epoch, seed):
    numbers = list(range(count))
    random.Random(f"order {seed} {epoch}").shuffle(numbers)
    return numbers

def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, epoch, begin, worker)))

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
    return np.tril(segments[:, :, None] == segments[:, None])

class Reader:
    """Where it is, is one number: how many documents have been read."""

    def __init__(self, shards, seed):
        self.shards, self.seed, self.read = shards, seed, 0
        self.size = sum(map(len, shards))

    def next(self):
        epoch, left = divmod(self.read, self.size)
        self.read += 1
        for s in order(len(self.shards), epoch, self.seed):
            if left < len(self.shards[s]):
                return self.shards[s][left]
            left -= len(self.shards[s])

    def state(self):
        return self.read

    def load(self, state):
        self.read = state

def batches(reader, count, seed, epoch, begin):
    documents = [reader.next() for _ in range(count)]
    for w in range(WORKERS):
        rng = worker_rng(seed, epoch, w, begin)
        for k in range(w, count, WORKERS):
            noise = rng.integers(0, task.TOKENS, size=documents[k].shape)
            keep = rng.random(documents[k].shape) >= NOISE
            documents[k] = np.where(keep, documents[k], noise)
    tokens, segments = pack(documents, LENGTH)
    count = -(-len(tokens) // ROWS)
    return list(zip(np.array_split(tokens, range(ROWS, len(tokens), ROWS)), np.array_split(segments, range(ROWS, len(tokens), ROWS))))[:count]

def epoch_of(weights, pairs):
    losses = []
    for tokens, segments in pairs:
        loss, grads = task.loss_and_grads(weights, tokens, segments, visible(segments))
        weights = {name: weights[name] - RATE * grads[name] for name in weights}
        losses.append(loss)
    return weights, losses


def train(seed):
    shards, held = task.documents()
    total = sum(len(shard) for shard in shards)
    reader, weights = Reader(shards, seed), task.start()
    test = [np.concatenate(part) for part in zip(*(pack([d], LENGTH) for d in held))]
    of_train, of_held = [], []
    for epoch in range(EPOCHS):
        first = task.AFTER if epoch == task.STOPS else total
        weights, losses = epoch_of(weights, batches(reader, first, seed, epoch, 0))
        if first < total:
            state = reader.state()
            reader = Reader(shards, seed)
            reader.load(state)
            weights, more = epoch_of(weights, batches(reader, total - first, seed, epoch, first))
            losses += more
        of_train.append(float(np.mean(losses)))
        of_held.append(task.loss_and_grads(weights, *test, visible(test[1]))[0])
    return {"train": of_train, "held": of_held}

def causes():
    return ["workers", "resume", "packing", "epoch"]

# %% counters
"""A counter-based generator."""

import numpy as np
import task

WORKERS, LENGTH, ROWS, NOISE, RATE, EPOCHS = 4, 32, 4, 0.15, 8.0, 12

def order(count, epoch, seed):
    rng = np.random.default_rng(seed)
    for _ in range(epoch + 1):
        found = rng.permutation(count)
    return found

def worker_rng(seed, epoch, worker, begin):
    key = np.array([seed, 1], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=[0, epoch, worker, begin]))

def pack(documents, length):
    tokens, segments = [], []
    for document in documents:
        document = [int(t) for t in document]
        if not tokens or len(tokens[-1]) + len(document) > length:
            tokens.append([])
            segments.append([])
        number = segments[-1][-1] + 1 if segments[-1] else 0
        tokens[-1] += document
        segments[-1] += [number] * len(document)
    for row, of in zip(tokens, segments):
        row += [0] * (length - len(row))
        of += [-1] * (length - len(of))
    return np.array(tokens), np.array(segments)

def visible(segments):
    # from the first token of the document to this one
    place = np.arange(segments.shape[1])
    new = np.diff(segments, axis=1, prepend=-2) != 0
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    return (place >= first[:, :, None]) & (place <= place[:, None])

class Reader:
    """A generator, which is wound forward after a restart."""

    def __init__(self, shards, seed):
        self.args = shards, seed
        self.load({"read": 0})

    def _all(self):
        shards, seed = self.args
        epoch = 0
        while True:
            for s in order(len(shards), epoch, seed):
                yield from shards[s]
            epoch += 1

    def next(self):
        self.read += 1
        return next(self.stream)

    def state(self):
        return {"read": self.read}

    def load(self, state):
        self.stream, self.read = self._all(), 0
        while self.read < state["read"]:
            self.next()

def batches(reader, count, seed, epoch, begin):
    documents = [reader.next() for _ in range(count)]
    for w in range(WORKERS):
        rng = worker_rng(seed, epoch, w, begin)
        for k in range(w, count, WORKERS):
            noise = rng.integers(0, task.TOKENS, size=documents[k].shape)
            keep = rng.random(documents[k].shape) >= NOISE
            documents[k] = np.where(keep, documents[k], noise)
    tokens, segments = pack(documents, LENGTH)
    count = -(-len(tokens) // ROWS)
    return list(zip(np.array_split(tokens, range(ROWS, len(tokens), ROWS)), np.array_split(segments, range(ROWS, len(tokens), ROWS))))[:count]

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
