"""Documents, and a small language model. Both are right, and stay as they are."""

import numpy as np

TOKENS, SHARDS, PER_SHARD = 16, 8, 16
SEED = 1  # of the documents, which are the same in every run
STOPS, AFTER = 6, 69  # the epoch in which the run is stopped, and after how many documents


def documents():
    """Return the shards, lists of documents, and documents that are held out.

    A document is an array of ints. Those of a shard come from one source, with words of its own.
    """
    rng = np.random.default_rng(SEED)
    next_token = rng.dirichlet(np.full(TOKENS, 0.15), TOKENS)
    shards, held = [], []
    for _ in range(SHARDS):
        words = rng.dirichlet(np.full(TOKENS, 0.15))
        found = [_document(next_token, words, rng) for _ in range(PER_SHARD + 4)]
        shards.append(found[:PER_SHARD])
        held += found[PER_SHARD:]
    return shards, held


def _document(next_token, words, rng):
    tokens = [rng.choice(TOKENS, p=words)]
    for _ in range(rng.integers(2, 6)):
        p = 0.3 * next_token[tokens[-1]] + 0.7 * words
        tokens.append(rng.choice(TOKENS, p=p))
    return np.array(tokens)


def start():
    """Return the weights to begin with."""
    return {"word": np.zeros((TOKENS, TOKENS)), "context": np.zeros((TOKENS, TOKENS))}


def loss_and_grads(weights, tokens, segments, mask):
    """Return the mean loss of predicting each next token of the same document, and gradients.

    Args:
        weights: as `start` returns them.
        tokens: (rows, length) ints.
        segments: (rows, length) ints, the document of a row that a token belongs to; -1 is padding.
        mask: (rows, length, length) bools: whether the position at axis 1 sees that at axis 2.
    """
    seen = np.eye(TOKENS)[tokens]
    share = mask / np.maximum(mask.sum(axis=2, keepdims=True), 1)
    context = share @ seen
    logits = seen @ weights["word"] + context @ weights["context"]
    logits -= logits.max(axis=2, keepdims=True)
    p = np.exp(logits)
    p /= p.sum(axis=2, keepdims=True)
    counts = (segments[:, 1:] == segments[:, :-1]) & (segments[:, 1:] >= 0)
    total = counts.sum()
    right = np.take_along_axis(p[:, :-1], tokens[:, 1:, None], 2)[..., 0]
    loss = -np.log(right[counts]).sum() / total
    grad = (p[:, :-1] - seen[:, 1:]) * counts[..., None] / total
    grad = grad.reshape(-1, TOKENS)
    return float(loss), {
        "word": seen[:, :-1].reshape(-1, TOKENS).T @ grad,
        "context": context[:, :-1].reshape(-1, TOKENS).T @ grad,
    }
