"""The training losses are means over all epochs so far."""

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
    losses = []
    for epoch in range(EPOCHS):
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
