"""What the server gives: a model with a cache, the filter by top_p, a draw. Given and right."""

import numpy as np


class Model:
    """A language model that keeps a cache of the tokens it was fed."""

    def __init__(self, logits_after):
        """Start with an empty cache; logits_after(tokens) gives (V,) logits of the next token."""
        self.tokens = []
        self._logits_after = logits_after

    def extend(self, tokens):
        """Feed tokens; return logits (len(tokens), V), row i about the token after tokens[i].

        Row i depends on all that the cache held before, and on tokens[: i + 1].
        """
        rows = []
        for token in tokens:
            self.tokens.append(int(token))
            rows.append(self._logits_after(self.tokens))
        return np.array(rows)

    def truncate(self, n):
        """Forget all but the first n tokens of the cache; nothing if it holds no more."""
        del self.tokens[n:]


def probs(logits, top_p=1.0):
    """Return the probabilities at temperature 1, filtered by top_p.

    Args:
        logits: (..., V).
        top_p: the share that the most probable tokens have to reach; the others get 0.
    """
    e = np.exp(logits - np.max(logits, axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    if top_p < 1:
        order = np.argsort(-p, axis=-1, kind="stable")
        ranked = np.take_along_axis(p, order, axis=-1)
        ranked[np.cumsum(ranked, axis=-1) - ranked >= top_p] = 0
        np.put_along_axis(p, order, ranked, axis=-1)
        p /= p.sum(axis=-1, keepdims=True)
    return p


def draw(p, u):
    """Return the first token at which the running total of p exceeds u.

    If the total never does, it is the last token with p above 0.
    """
    above = np.flatnonzero(np.cumsum(p) > u)
    return int(above[0]) if len(above) else int(np.flatnonzero(p)[-1])
