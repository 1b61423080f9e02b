# %% as-it-came
# killed_by: [orders, noise, documents, restarts]
"""What your order, your worker_rng, your visible and your Reader compute is what they computed in the
script that you were given, and each breaks a property. The training loss is the last thing that
shows it: call them by hand."""

def order(count, epoch, seed):
    return np.random.default_rng(seed).permutation(count)

def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng(seed)

def visible(segments):
    return np.tri(segments.shape[1], dtype=bool) & (segments >= 0)[:, None, :]

right_load = Reader.load

def load(self, state):
    right_load(self, state | {"document": 0})

Reader.load = load

def causes():
    return []

# %% same-order-each-epoch
# killed_by: orders
"""Your order does not depend on the epoch. Every epoch has the same batches, whose steps follow each
other in the same way. Draw it from the seed and the epoch together, as a sampler does after
set_epoch."""

def order(count, epoch, seed):
    return np.random.default_rng(seed).permutation(count)

# %% nothing-shuffled
# killed_by: orders
"""Your order is 0, 1, 2 and so on in every epoch. Shards come as they lie on the disk. Draw a
permutation for each epoch."""

def order(count, epoch, seed):
    return np.arange(count)

# %% drawn-with-replacement
# killed_by: orders
"""Your order draws each number by itself, so that some come twice and others never. An epoch reads
each shard once: draw a permutation."""

def order(count, epoch, seed):
    return np.random.default_rng([seed, epoch]).integers(0, count, count)

# %% one-order-for-every-seed
# killed_by: orders
"""Your order depends on the epoch and not on the seed, so every run reads in the same orders. Draw it
from both."""

def order(count, epoch, seed):
    return np.random.default_rng([12345, epoch]).permutation(count)

# %% one-seed-for-all-workers
# killed_by: noise
"""Your generators depend on the seed of the run alone. All workers draw the same noise, and draw it
again in each epoch and after each restart. Draw from seed, epoch, worker and begin together."""

def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng(seed)

# %% workers-alike
# killed_by: noise
"""Within an epoch all of your workers draw the same: the number of the worker is not part of the
seed."""

def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng([seed, epoch, 1, begin])

# %% noise-repeats-each-epoch
# killed_by: noise
"""Each of your workers draws in every epoch what it drew in the first: the epoch is not part of the
seed. Noise that repeats can be learned by heart."""

def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng([seed, 1, worker + 1, begin])

# %% noise-repeats-after-a-restart
# killed_by: noise
"""After a restart within an epoch each of your workers draws what it drew at the beginning of that
epoch, for other documents: begin is not part of the seed."""

def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng([seed, epoch, worker + 1])

# %% seeds-added-up
# killed_by: noise
"""You make one number of what the generator belongs to, by a sum, by shifts or by an exclusive or. For
other arguments it is often the same: in a plain sum worker 1 of epoch 0 draws what worker 0 draws in
epoch 1. Give numpy the numbers as a list, which it mixes."""

def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng(seed + epoch + worker + begin)

# %% seeds-added-up / by-powers-of-two
def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng((seed << 20) + (epoch << 10) + (worker << 6) + begin)

# %% seeds-added-up / by-exclusive-or
def worker_rng(seed, epoch, worker, begin):
    return np.random.default_rng(seed ^ (epoch << 8) ^ (worker << 4) ^ begin)

# %% other-documents-seen
# killed_by: documents
"""Your tokens see the documents before theirs in the row. In training they learn from neighbors that
nobody has later, where a document comes alone. Compare segments: a token sees those of its own."""

def visible(segments):
    return np.tri(segments.shape[1], dtype=bool) & (segments >= 0)[:, None, :]

# %% future-seen
# killed_by: documents
"""Your tokens see all of their document, the next token included, which they are to predict. Add the
causal mask: up to itself."""

def visible(segments):
    return segments[:, :, None] == segments[:, None, :]

# %% itself-not-seen
# killed_by: documents
"""Your tokens do not see themselves, and the first of a document sees nothing. Up to itself means the
diagonal as well."""

def visible(segments):
    same = segments[:, :, None] == segments[:, None, :]
    return same & np.tri(segments.shape[1], k=-1, dtype=bool)

# %% seen-by-later-ones
# killed_by: documents
"""Your mask has its two axes exchanged: [r, i, j] says whether j sees i, so that each token sees
itself and what comes after it. Axis 1 is the one that looks."""

def visible(segments):
    same = segments[:, :, None] == segments[:, None, :]
    return same & np.tri(segments.shape[1], dtype=bool).T

# %% shard-read-again
# killed_by: restarts
"""After a restart your Reader begins the shard again in which it was, so that documents that have been
read come twice in that epoch. Keep the number of the document in the state."""

right_load = Reader.load

def load(self, state):
    right_load(self, state | {"document": 0})

Reader.load = load

# %% shard-left-out
# killed_by: restarts
"""After a restart your Reader goes on with the next shard, and what was left of the one in which it
was is never read. Keep the number of the document in the state."""

right_load = Reader.load

def load(self, state):
    if state["document"]:
        state = state | {"shard": state["shard"] + 1, "document": 0}
    if state["shard"] == len(self.shards):
        state = state | {"epoch": state["epoch"] + 1, "shard": 0}
    right_load(self, state)

Reader.load = load

# %% epoch-begun-again
# killed_by: restarts
"""After a restart your Reader begins the epoch again. Keep the shard and the document in the state,
besides the epoch."""

right_load = Reader.load

def load(self, state):
    right_load(self, state | {"shard": 0, "document": 0})

Reader.load = load

# %% epoch-forgotten
# killed_by: restarts
"""After a restart your Reader goes on in the order of the first epoch: where it is in the shards is
known, and which order they are in is not. Keep the epoch in the state."""

right_load = Reader.load

def load(self, state):
    right_load(self, state | {"epoch": 0})

Reader.load = load

# %% document-read-again
# killed_by: restarts
"""After a restart your Reader gives the last document once more. The state has to point at the next
one to be read."""

right_load = Reader.load

def load(self, state):
    right_load(self, state | {"document": max(0, state["document"] - 1)})

Reader.load = load

# %% reader-stays-in-the-first-epoch
# killed_by: reads
"""Your Reader asks for the order of epoch 0 whatever the epoch is. order is right, and nobody tells it
the epoch: this is what a missing set_epoch does."""

def _next(self):
    # the order of epoch 0, whatever the epoch
    shard = self.shards[order(len(self.shards), 0, self.seed)[self.shard]]
    found = shard[self.document]
    self.document += 1
    if self.document == len(shard):
        self.shard, self.document = self.shard + 1, 0
    if self.shard == len(self.shards):
        self.epoch, self.shard = self.epoch + 1, 0
    return found

Reader.next = _next

# %% documents-cut
# killed_by: rows
"""Your rows are filled to the end, with documents cut where a row ends. What is left of a document
begins the next row as one of its own. The contract has whole documents."""

def pack(documents, length):
    tokens = np.concatenate(documents)
    which = np.repeat(np.arange(len(documents)), [len(d) for d in documents])
    pad = -len(tokens) % length
    tokens = np.pad(tokens, (0, pad)).reshape(-1, length)
    which = np.pad(which, (0, pad), constant_values=-1).reshape(-1, length)
    first = np.maximum(which[:, :1], 0)
    return tokens, np.where(which < 0, -1, which - first)

# %% one-document-per-row
# killed_by: rows
"""Each of your rows has one document, and the rest is padding. No token sees another document, and
most of the work is done for padding. Fill rows with as many as fit."""

right_pack = pack

def pack(documents, length):
    rows = [right_pack([document], length) for document in documents]
    tokens, segments = (np.concatenate(of) for of in zip(*rows, strict=True))
    return tokens, segments

# %% no-noise
# killed_by: replaced
"""Your batches replace no tokens. Workers that draw nothing cannot draw the same, and the noise was to
stay."""

NOISE = 0.0

# %% one-large-batch
# killed_by: replaced
"""Your batches have more than 4 rows. An epoch in one step is smooth, and is another training."""

ROWS = 64

# %% fewer-epochs
# killed_by: trains
"""Your train does not run 12 epochs. Each property holds, and the run is another one."""

EPOCHS = 4

# %% smaller-steps
# killed_by: trains
"""Your run ends at another loss than the one that was asked for, though it reads the right documents:
its steps are too short or too long, or it leaves some out. The learning rate was right."""

RATE = 0.5

# %% never-stopped
# killed_by: trains
"""Your train reads the seventh epoch in one go. Losses and weights are those of another run from there
on: the noise of a run that is stopped begins anew, and the rows before end there. Keep the restart."""

right_train = train

def train(seed):
    stops, task.STOPS = task.STOPS, EPOCHS
    try:
        return right_train(seed)
    finally:
        task.STOPS = stops

# %% noise-from-the-beginning
# killed_by: replaced
"""After a restart your batches begin with the generators of the beginning of the epoch. What worker_rng
can do is not asked for: give it the document at which the run goes on."""

right_batches = batches

def batches(reader, count, seed, epoch, begin):
    return right_batches(reader, count, seed, epoch, 0)

# %% orders-turned
# killed_by: orders
"""Your orders are one and the same, begun at another place in each epoch. What follows what never
changes. Draw a permutation for each epoch."""

def order(count, epoch, seed):
    return np.roll(np.random.default_rng(seed).permutation(count), epoch)

# %% sorted-by-length
# killed_by: sequence
"""Your batches sort documents by length before they pack them. Every epoch then goes from the short ones
to the long ones, whatever order has shuffled. Pack documents as they are read."""

right_batches = batches

class Sorted:
    def __init__(self, reader, count):
        self.left = iter(sorted((reader.next() for _ in range(count)), key=len))

    def next(self):
        return next(self.left)

def batches(reader, count, seed, epoch, begin):
    return right_batches(Sorted(reader, count), count, seed, epoch, begin)
